"""The terms and atoms of the toy system's three steps, and their figure."""

from __future__ import annotations

from collections.abc import Sequence

from pidselect.decomposition.binning import BINNINGS, Binning
from reproduction.agreement import estimate
from reproduction.averages import mean_series, percent
from reproduction.experiment import Outcome, Results
from reproduction.figures import Figure, Panel, Role
from reproduction.terms import ALPHA, N_PERMUTATIONS

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

ESTIMATES: dict[str, tuple[str, Binning | None]] = {
    "ksg": ("nearest neighbours", None),
    "count": ("plug-in, equal counts", "count"),
    "width": ("plug-in, equal widths", "width"),
}


def significant(run: Outcome, given: Sequence[str]) -> set[str] | None:
    """Return what passes the forward test given these; None if the run has no such step."""
    for step in run["steps"]:
        if step["phase"] == "forward" and step["given"] == list(given):
            pairs = zip(step["candidates"], step["p_values"], strict=True)
            return {name for name, p_value in pairs if p_value <= ALPHA}
    return None


def draw(results: Results) -> list[Figure]:
    """Return the figure of the terms and the atoms, step by step."""
    panels = [*_draw_terms(results), *_draw_atoms(results)]
    if not panels:
        return []
    caption = (
        "First the information of every input in the paper's three steps, with the line of its own "
        f"{N_PERMUTATIONS} permutations, dashed: by nearest neighbours, and by plug-in on five "
        "bins. Then the atoms of each remaining input beside what is selected, by BROJA on the "
        "same bins. Means of all runs, with standard errors."
        f"{_say_significant(results)}"
    )
    return [Figure("toy-steps", "The toy system, step by step", caption, panels, n_columns=2)]


def _say_significant(results: Results) -> str:
    runs = results.of("selection", settings="paper")
    if not runs:
        return ""
    shares = []
    for name, (of, given) in TERMS.items():
        tests = [significant(run, given) for run in runs]
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
