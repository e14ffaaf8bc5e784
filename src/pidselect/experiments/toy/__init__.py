"""Section 3.3.3: a selection followed step by step, on three inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray

from pidselect.datasets import Problem, toy
from pidselect.decomposition.states import BINNINGS, Binning
from pidselect.experiments.agreement import (
    Claim,
    Comparison,
    cell,
    estimate,
    is_above,
    is_at_least,
    is_at_most,
)
from pidselect.experiments.averages import mean_series, percent
from pidselect.experiments.experiment import Experiment, Findings, Note, Outcome, Part, Results
from pidselect.experiments.terms import ALPHA, AS_THE_PAPER, N_SAMPLES, atoms, select, term
from pidselect.report import Figure, Panel
from pidselect.report.figures import Role

#: Every term of the paper's path: what it is called, its input, and what is given.
TERMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "I(X1;Y)": ("X1", ()),
    "I(X2;Y)": ("X2", ()),
    "I(eta;Y)": ("eta", ()),
    "I(X2;Y|X1)": ("X2", ("X1",)),
    "I(eta;Y|X1)": ("eta", ("X1",)),
    "I(X2;Y|X1,eta)": ("X2", ("X1", "eta")),
}

#: Every decomposition of the path: its name, the input looked at, and what is selected by then.
DECOMPOSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "step 2: X2": ("X2", ("X1",)),
    "step 2: eta": ("eta", ("X1",)),
    "step 3: X2": ("X2", ("X1", "eta")),
}

SETTINGS = ("paper", "defaults")
ESTIMATES: dict[str, tuple[str, Binning | None]] = {
    "ksg": ("nearest neighbours", None),
    "count": ("plug-in, equal counts", "count"),
    "width": ("plug-in, equal widths", "width"),
}
RULES = {"paper": "as the paper", "defaults": "our defaults"}

#: What most runs must do for an example of one run to be typical.
TYPICAL = 80.0


# ------------------------------------------------------------------------------------------- runs


def run_selection(seed: int, settings: str) -> Outcome:
    """Select from the three inputs, as the paper does or with our defaults."""
    problem = toy(N_SAMPLES, random_state=seed)
    return select(problem, seed, AS_THE_PAPER if settings == "paper" else None)


def run_terms(seed: int) -> Outcome:
    """Estimate all terms of the paper's path, whether or not this run's selection takes it."""
    problem = toy(N_SAMPLES, random_state=seed)
    return {
        estimator: {
            name: term(
                _columns(problem, (of,)),
                problem.y,
                _columns(problem, given) if given else None,
                binning=binning,
                seed=seed,
            )
            for name, (of, given) in TERMS.items()
        }
        for estimator, (_, binning) in ESTIMATES.items()
    }


def run_atoms(seed: int) -> Outcome:
    """Decompose what an input and the selected ones tell; the input is source 2."""
    problem = toy(N_SAMPLES, random_state=seed)
    return {
        binning: {
            name: atoms(
                [_columns(problem, given), _columns(problem, (of,))], problem.y, binning=binning
            )
            for name, (of, given) in DECOMPOSED.items()
        }
        for binning in BINNINGS
    }


def _columns(problem: Problem, names: Sequence[str]) -> NDArray[Any]:
    return problem.X[:, [problem.names.index(name) for name in names]]


# ----------------------------------------------------------------------------------------- report


def report(results: Results) -> Findings:
    """Put the paths, terms and atoms beside what the paper says of its one run."""
    return Findings(
        comparisons=[_compare_sets(results)],
        claims=[*_claim_path(results), *_claim_terms(results), *_claim_atoms(results)],
        figures=_draw(results),
    )


def _compare_sets(results: Results) -> Comparison:
    cells = []
    for settings in SETTINGS:
        found = [set(run["selected"]) for run in results.of("selection", settings=settings)]
        kinds = {
            "exactly X1 and eta": [names == {"X1", "eta"} for names in found],
            "X2 besides": [names == {"X1", "X2", "eta"} for names in found],
            "something else": [not {"X1", "eta"} <= names for names in found],
        }
        cells += [cell(RULES[settings], kind, percent(are)) for kind, are in kinds.items()]
    return Comparison(
        name="sets",
        title="Selected sets",
        caption=(
            "Share of runs, in percent. The paper shows one run, which ends with X1 and eta. Where "
            "X2 comes along with the paper's settings, it is by its test: permuting X2 over all "
            "samples also breaks its tie to X1, and without it estimates are lower, -0.022 bit on "
            "average instead of -0.015 for X2 drawn anew with that tie, at a spread of 0.014. So "
            "one in eight passes instead of one in twenty. Our defaults also ask for significance "
            "among samples alike in what is selected, which keeps the tie."
        ),
        cells=cells,
    )


def _claim_path(results: Results) -> list[Claim]:
    runs = results.of("selection", settings="paper")
    first = [_significant(run, []) for run in runs]
    second = [_significant(run, ["X1"]) for run in runs]
    third = [_significant(run, ["X1", "eta"]) for run in runs]
    forward = [_chosen(run) for run in runs]
    stayed = [run for run, names in zip(runs, forward, strict=True) if names == ["X1", "eta"]]
    return [
        _typical(
            "toy: only X1 and X2 significant at step 1",
            "Alone, X1 and X2 are significant, and eta is not.",
            [found == {"X1", "X2"} for found in first],
            "runs where just these two pass the test of step 1, %",
        ),
        _typical(
            "toy: only eta significant at step 2",
            "Given X1, eta is significant, and X2 is not.",
            [found == {"eta"} for found in second],
            "runs where X1 came first and just eta passes the test of step 2, %",
            remark="X2 does add to X1, 0.027 bit by numerical integration: its own noise is not "
            "that of X1, so that both together know the signal better. At 1,000 samples some runs "
            "see this. What is included is eta, the stronger, in any case.",
        ),
        _typical(
            "toy: X2 not significant at step 3",
            "Given X1 and eta, X2 is not significant, and the inclusion ends.",
            [found == set() for found in third],
            "runs where X1 and eta came first and X2 does not pass the test of step 3, %",
            remark="The others take X2 along: see the table of selected sets for why.",
        ),
        _typical(
            "toy: backward elimination keeps both",
            "Going backward, the weaker of X1 and eta is still significant, and both stay.",
            [set(run["selected"]) == {"X1", "eta"} for run in stayed],
            "of the runs that included X1 and eta and no more, those that keep both, %",
        ),
        _typical(
            "toy: X1 and eta selected",
            "The final set is X1 and eta.",
            [set(run["selected"]) == {"X1", "eta"} for run in runs],
            "runs that end with exactly these, %",
        ),
    ]


def _claim_terms(results: Results) -> list[Claim]:
    runs = results.of("terms")

    def bits(name: str) -> list[float]:
        return [run["ksg"][name]["bits"] for run in runs]

    return [
        is_above(
            "toy: X1 tells more than X2",
            "X1 tells more about Y than X2 does, and is included first.",
            bits("I(X1;Y)"),
            bits("I(X2;Y)"),
            measured="I(X1;Y) less I(X2;Y), nearest neighbours, bit",
        ),
        is_at_most(
            "toy: eta tells nothing alone",
            "Alone, eta has no information about Y.",
            bits("I(eta;Y)"),
            0.02,
            measured="I(eta;Y), nearest neighbours, bit",
        ),
        is_at_most(
            "toy: CMI of X2 low at step 3",
            "Given X1 and eta, X2 adds little.",
            bits("I(X2;Y|X1,eta)"),
            0.02,
            measured="I(X2;Y|X1,eta), nearest neighbours, bit",
        ),
    ]


def _claim_atoms(results: Results) -> list[Claim]:
    runs = results.of("atoms")
    claims = []
    for binning in BINNINGS:
        how = f"equal {binning}s"

        def shares(name: str, atom: str, binning: str = binning) -> list[float]:
            found = [run[binning][name] for run in runs]
            return [
                100.0 * at[atom] / (at["unique2"] + at["shared"] + at["synergy"]) for at in found
            ]

        claims += [
            is_at_least(
                f"toy: X2 mainly redundant at step 2 ({how})",
                "Beside X1, most of what X2 tells is redundant.",
                shares("step 2: X2", "shared"),
                50.0,
                measured="shared part of X2's unique, shared and synergistic information, %",
            ),
            is_at_least(
                f"toy: eta almost only synergistic at step 2 ({how})",
                "Beside X1, what eta contributes is almost exclusively synergy.",
                shares("step 2: eta", "synergy"),
                80.0,
                measured="synergy in eta's unique, shared and synergistic information, %",
            ),
            is_at_least(
                f"toy: X2 redundant at step 3 ({how})",
                "Beside X1 and eta, what X2 tells is redundant.",
                shares("step 3: X2", "shared"),
                50.0,
                measured="shared part of X2's unique, shared and synergistic information, %",
            ),
        ]
    return claims


def _typical(
    name: str, statement: str, holds: Sequence[bool], measured: str, *, remark: str = ""
) -> Claim:
    return is_at_least(name, statement, percent(holds), TYPICAL, measured=measured, remark=remark)


def _significant(run: Outcome, given: Sequence[str]) -> set[str] | None:
    """Return what passes the forward test given these; None if the run has no such step."""
    for step in run["steps"]:
        if step["phase"] == "forward" and step["given"] == list(given):
            pairs = zip(step["candidates"], step["p_values"], strict=True)
            return {name for name, p_value in pairs if p_value <= ALPHA}
    return None


def _chosen(run: Outcome) -> list[str]:
    """Return what is included going forward, in that order."""
    steps = [step for step in run["steps"] if step["phase"] == "forward" and step["accepted"]]
    return [step["chosen"] for step in steps]


# ---------------------------------------------------------------------------------------- figures


def _draw(results: Results) -> list[Figure]:
    panels = [*_draw_terms(results), *_draw_atoms(results)]
    if not panels:
        return []
    caption = (
        "First the information of every input in the paper's three steps, in bits, with the line "
        "of its own permutations, dashed; then the atoms of each remaining input (source 2) beside "
        "what is selected (source 1), by BROJA on five bins. Means and standard errors."
        f"{_say_significant(results)}"
    )
    return [Figure("toy-steps", "The toy system, step by step", caption, panels, n_columns=2)]


def _say_significant(results: Results) -> str:
    runs = results.of("selection", settings="paper")
    if not runs:
        return ""
    shares = []
    for name, (of, given) in TERMS.items():
        tests = [_significant(run, given) for run in runs]
        share = estimate(percent([found is not None and of in found for found in tests])).mean
        shares.append(f"{name} in {share:.0f} %")
    return (
        " With the paper's settings, against the maximum over the candidates of a step, "
        f"significant are {', '.join(shares)} of {len(runs)} runs."
    )


def _draw_terms(results: Results) -> list[Panel]:
    runs = results.of("terms")
    roles: tuple[Role, ...] = ("first", "second", "third")
    steps = {
        "Step 1: mutual information": [name for name, (_, given) in TERMS.items() if not given],
        "Steps 2 and 3: conditional mutual information": [
            name for name, (_, given) in TERMS.items() if given
        ],
    }
    return [
        Panel(
            title,
            "bars",
            [
                mean_series(
                    label,
                    role,
                    names,
                    [[run[key][name]["bits"] for name in names] for run in runs],
                    [[run[key][name]["line"] for name in names] for run in runs],
                )
                for (key, (label, _)), role in zip(ESTIMATES.items(), roles, strict=True)
            ],
            y_label="information (bit)",
        )
        for title, names in steps.items()
        if runs
    ]


def _draw_atoms(results: Results) -> list[Panel]:
    runs = results.of("atoms")
    names = list(DECOMPOSED)
    shown: dict[Role, str] = {
        "unique1": "unique to the selected",
        "unique2": "unique to the input",
        "shared": "shared",
        "synergy": "synergy",
    }
    return [
        Panel(
            f"Atoms, bins of equal {binning}s",
            "bars",
            [
                mean_series(
                    label, atom, names, [[run[binning][at][atom] for at in names] for run in runs]
                )
                for atom, label in shown.items()
            ],
            y_label="information (bit)",
        )
        for binning in BINNINGS
        if runs
    ]


EXPERIMENT = Experiment(
    name="toy",
    title="A selection step by step",
    where="Section 3.3.3 with its figure",
    about=(
        "Y is the sine of a normal signal with little noise. X1 is the signal with the noise eta "
        "on it, X2 a mixture of the signal with another one, and eta itself is the third input. X2 "
        "repeats what X1 tells; eta tells nothing alone, but cleans X1.",
        "The paper follows one selection by conditional mutual information. Here it is made 100 "
        "times, as the paper makes it and with our defaults, and the terms and atoms of the "
        "paper's path are estimated in each run.",
    ),
    parts=(
        Part(
            "selection",
            run_selection,
            points=tuple({"settings": settings} for settings in SETTINGS),
            quick_runs=2,
            seconds=0.4,
        ),
        Part("terms", run_terms, quick_runs=2, seconds=0.25),
        Part("atoms", run_atoms, quick_runs=2, seconds=0.02),
    ),
    report=report,
    notes=(
        Note(
            found="The figure is of one run; how often a selection takes this path is not said.",
            done=f"A step counts as reproduced if at least {TYPICAL:g} % of the runs take it.",
        ),
        Note(
            found="All that X2 tells is said to be in X1 as well. Given X1 alone, X2 adds 0.027 "
            "bit about Y; only given X1 and eta, which make the signal known, does it add nothing.",
            done="Taken as it is; the second step's test of X2 shows it in some runs.",
        ),
        Note(
            found="The text names the set given at the second and at the third step by the same "
            "index, and its caption calls three inputs and a target a four-way example.",
            done="Step 2 is given X1, step 3 X1 and eta, as the values listed say.",
        ),
    ),
)
