"""Experiment II, Section 4.2: two inputs added or multiplied, with opposite weights."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproduction.agreement import (
    ABOVE,
    Decided,
    at_least,
    at_most,
    extreme_place,
    located_at,
)
from reproduction.data import combine, statistical_model
from reproduction.experiment import (
    Cell,
    Claim,
    Comparison,
    Experiment,
    Figure,
    Note,
    NotRunError,
    Outcome,
    Part,
    Results,
    attempt,
    difference,
    mean_panel,
    percent,
)
from reproduction.information import ATOMS, BINNINGS, N_PERMUTATIONS, N_SAMPLES
from reproduction.information import atoms as decompose_pair
from reproduction.information import selected, term

KINDS = ("additive", "multiplicative")
DISTRIBUTIONS = ("uniform", "binomial", "poisson", "exponential")
SIGMAS = (0.1, 1.0, 10.0)

#: Integer inputs, whose terms are also estimated for mixed data.
DISCRETE = ("binomial", "poisson")

#: The distribution and noise that the paper shows, the only ones with critical values here.
SHOWN = ("uniform", 0.1)

#: Uniform inputs on [0, 1] instead of [1, 2].
FROM_ZERO = "uniform from 0"

TERMS = {
    "mi1": ("I(X1;Y)", "mi"),
    "mi2": ("I(X2;Y)", "mi2"),
    "cmi1": ("I(X1;Y|X2)", "cmi"),
    "cmi2": ("I(X2;Y|X1)", "cmi2"),
    "joint": ("I(X1,X2;Y)", "joint"),
}
ATOM_LABELS = {
    "unique1": ("unique to X1", "unique1"),
    "unique2": ("unique to X2", "unique2"),
    "shared": ("shared", "shared"),
    "synergy": ("synergy", "synergy"),
}

SETTINGS = {"paper": "as the paper", "defaults": "our defaults"}
SELECTED_AT = (0.0, 0.25, 0.5, 1.0, 1.5)

# ------------------------------------------------------------------------------------------- runs


def run_curve(seed: int, kind: str, step: float) -> Outcome:
    """Compute terms and atoms over alpha for uniform inputs and noise 0.1, with critical values."""
    return _sweep(seed, kind, *SHOWN, step, N_PERMUTATIONS)


def run_others(seed: int, kind: str, distribution: str, sigma: float, step: float) -> Outcome:
    """Compute terms and atoms over alpha for other inputs and noise."""
    return _sweep(seed, kind, distribution, sigma, step, 0)


def run_selection(seed: int, kind: str, alpha: float, settings: str) -> Outcome:
    """Select from the two inputs."""
    data = statistical_model(N_SAMPLES, kind=kind, alpha=alpha, random_state=seed)
    return {**selected(data, seed, settings), "relevant": list(data.relevant_names)}


def _sweep(
    seed: int, kind: str, distribution: str, sigma: float, step: float, n_permutations: int
) -> Outcome:
    """Return "alpha" and, by estimator, the curve of each term and atom."""
    grid = [round(step * place, 10) for place in range(round(2 / step) + 1)]
    found: dict[str, list[dict[str, float]]] = {}
    estimators = ("ksg", "mixed") if distribution in DISCRETE else ("ksg",)
    for alpha in grid:
        X, y = _data(seed, kind, distribution, sigma, alpha)
        for binning in BINNINGS:
            row = decompose_pair([X[:, 0], X[:, 1]], y, binning=binning)
            found.setdefault(binning, []).append(row | _sums(row))
        for estimator in estimators:
            terms = _terms(X, y, n_permutations, estimator=estimator, seed=seed)
            found.setdefault(estimator, []).append({key: at["bits"] for key, at in terms.items()})
            if n_permutations:
                limits = {key: at["critical_value"] for key, at in terms.items() if key != "joint"}
                found.setdefault("critical_values", []).append(limits)
    curves = {
        name: {key: [row[key] for row in rows] for key in rows[0]} for name, rows in found.items()
    }
    return {"alpha": grid, **curves}


def _sums(found: dict[str, float]) -> dict[str, float]:
    return {
        "mi1": found["unique1"] + found["shared"],
        "mi2": found["unique2"] + found["shared"],
        "cmi1": found["unique1"] + found["synergy"],
        "cmi2": found["unique2"] + found["synergy"],
        "joint": sum(found.values()),
    }


def _terms(X: NDArray[Any], y: NDArray[Any], n_permutations: int, **options: Any) -> Outcome:
    X1, X2 = X.T
    pairs = {"mi1": (X1, None), "mi2": (X2, None), "cmi1": (X1, X2), "cmi2": (X2, X1)}
    found = {
        name: term(x, y, given, n_permutations=n_permutations, **options)
        for name, (x, given) in pairs.items()
    }
    return found | {"joint": term(X, y, n_permutations=0, **options)}


def _data(
    seed: int, kind: str, distribution: str, sigma: float, alpha: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a sample; inputs on [0, 1] are those on [1, 2], shifted, with the same noise."""
    name = "uniform" if distribution == FROM_ZERO else distribution
    options: dict[str, Any] = {"kind": kind, "alpha": alpha, "sigma": sigma, "distribution": name}
    data = statistical_model(N_SAMPLES, **options, random_state=seed)
    if distribution != FROM_ZERO:
        return data.Xy
    noise = data.y - combine(kind, alpha, *data.X.T)
    shifted = data.X - 1.0
    return shifted, combine(kind, alpha, *shifted.T) + noise


# ----------------------------------------------------------------------------------------- claims


def _finest(runs: list[Outcome]) -> list[Outcome]:
    """Return the runs on the finest grid: quick and full ones may be in one log."""
    most = max(len(run["alpha"]) for run in runs)
    return [run for run in runs if len(run["alpha"]) == most]


def _curves(results: Results, kind: str, distribution: str, sigma: float) -> list[Outcome]:
    if (distribution, sigma) == SHOWN:
        return _finest(results.of("curve", kind=kind))
    return _finest(results.of("others", kind=kind, distribution=distribution, sigma=sigma))


def _at(runs: list[Outcome], name: str, alpha: float, by: str = "count") -> NDArray[np.float64]:
    """Return a term or atom at one alpha, run by run."""
    return np.array([run[by][name][run["alpha"].index(alpha)] for run in runs])


def _rise(results: Results, kind: str, names: Iterable[str], low: float, high: float) -> Any:
    """Return the smallest increase of some terms or atoms from one alpha to another."""
    runs = _curves(results, kind, *SHOWN)
    return np.min([_at(runs, name, high) - _at(runs, name, low) for name in names], axis=0)


def _place(
    results: Results, kind: str, atom: str, low: float, high: float, lowest: bool
) -> Decided:
    runs = _curves(results, kind, *SHOWN)
    curves = np.array([run["count"][atom] for run in runs])
    return extreme_place(runs[0]["alpha"], curves, low, high, lowest)


def _lowered(results: Results, kind: str) -> list[float]:
    """Return the percentage of terms and atoms that more noise lowers, averaged over alpha."""
    held = []
    for distribution in DISTRIBUTIONS:
        sweeps = [attempt(_curves, results, kind, distribution, sigma) for sigma in SIGMAS]
        by = "mixed" if distribution in DISCRETE else "ksg"
        asked = [(by, name) for name in TERMS if name != "joint"]
        asked += [("count", name) for name in ATOMS]
        for quiet, loud in pairwise(sweeps):
            for estimator, name in asked:
                pairs = zip(quiet, loud, strict=False)
                found = [_mean_falls(one, other, estimator, name) for one, other in pairs]
                held += [found] if found else []
    if not held:
        raise NotRunError
    return [100.0 * float(np.mean(one)) for one in zip(*held, strict=False)]


def _mean_falls(quiet: Outcome, loud: Outcome, by: str, name: str) -> bool:
    common = [alpha for alpha in quiet["alpha"] if alpha in loud["alpha"]]
    low, high = (
        np.mean([run[by][name][run["alpha"].index(alpha)] for alpha in common])
        for run in (loud, quiet)
    )
    return bool(low < high)


def _same_shape(results: Results, kind: str, sigmas: Iterable[float]) -> list[float]:
    """Return the percentage of other inputs and noise whose synergy is largest at alpha 0.5."""
    held = []
    for distribution, sigma in ((one, sigma) for sigma in sigmas for one in DISTRIBUTIONS):
        runs = attempt(_curves, results, kind, distribution, sigma)
        if len(runs) and (distribution, sigma) != SHOWN:
            start, middle, end = (_at(runs, "synergy", alpha) for alpha in (0.0, 0.5, 1.0))
            held.append(percent(middle > np.maximum(start, end)))
    if not held:
        raise NotRunError
    return [float(np.mean(values)) for values in zip(*held, strict=False)]


def _synergy(results: Results, kind: str, alphas: Iterable[float] | None) -> NDArray[np.float64]:
    """Return the mean synergy over some alphas, or over all between 0 and 1."""
    runs = _curves(results, kind, *SHOWN)
    inside = alphas or [alpha for alpha in runs[0]["alpha"] if 0 < alpha < 1]
    return np.mean([_at(runs, "synergy", alpha) for alpha in inside], axis=0)


def _model_difference(results: Results) -> NDArray[np.float64]:
    added, multiplied = (_curves(results, kind, *SHOWN) for kind in KINDS)
    return np.max(
        [
            np.abs(difference(_at(added, atom, 1.0), _at(multiplied, atom, 1.0)))
            for atom in ("synergy", "shared")
        ],
        axis=0,
    )


#: Name, statement, atom, place, range of alpha, minimum or maximum, and over all alpha up to 2.
PLACES = (
    ("synergy peaks at alpha 0.5", "Synergy has a maximum", "synergy", 0.5, 0, 1, False, "2"),
    ("redundancy peaks at alpha 0.5", "Redundancy has a maximum", "shared", 0.5, 0, 1, False, "0.5"),
    ("synergy lowest at alpha 1", "Synergy has a minimum", "synergy", 1.0, 0.5, 1.5, True, ""),
    ("redundancy lowest at alpha 1", "Redundancy has a minimum", "shared", 1.0, 0.5, 1.5, True, ""),
    ("unique X2 highest at alpha 0", "Unique X2 is highest", "unique2", 0.0, 0, 1, False, "0"),
    ("unique X1 highest at alpha 1", "Unique X1 is highest", "unique1", 1.0, 0, 1, False, "1.1"),
)


def _place_claim(kind: str, row: tuple[Any, ...]) -> Claim:
    name, statement, atom, at, low, high, lowest, overall = row
    extreme = "lowest" if lowest else "largest"
    return Claim(
        f"{name} ({kind})",
        f"{statement} at alpha {at:g}.",
        located_at(at, 0.1),
        f"place of the {extreme} value between {low:g} and {high:g}",
        lambda r: _place(r, kind, atom, low, high, lowest),
        f"With bins of equal width, at {at:g}."
        + (f" Over all alpha up to 2, at {overall}." if overall else ""),
    )


def _claims(kind: str) -> list[Claim]:
    additive = kind == "additive"
    joint = "I(X1,X2;Y), the sum of the atoms,"
    grow = "In the additive model all contributions increase for larger alpha"
    low_noise = ("60", "45", "45", "45", "20") if additive else ("50", "30", "40", "65", "25")
    short = "uniform inputs at noise 1 ({} %), and uniform ({} %), binomial ({} %), Poisson ({} %) "
    short += "and exponential inputs ({} %) at noise 10"
    sizes = ("1.52", "1.26", "0.75") if additive else ("1.55", "1.33", "0.74")
    beyond = [
        Claim(
            "contributions grow beyond alpha 1 (additive)",
            f"{grow}; here, their sum.",
            ABOVE,
            f"{joint} at alpha 2 - at 1, bit",
            lambda r: _rise(r, kind, ["joint"], 1.0, 2.0),
            "From alpha 1 to 2, in bins of equal counts: unique X1 1.19 to 0.75, unique X2 0.00 to "
            "0.02, shared 0.01 to 0.14, synergy 0.03 to 0.65 bit. The signal grows with alpha, the "
            "noise does not.",
        ),
        Claim(
            "each contribution grows beyond alpha 1 (additive)",
            f"{grow}; here, each of them.",
            ABOVE,
            "smallest increase of an atom from alpha 1 to 2, bit",
            lambda r: _rise(r, kind, ATOMS, 1.0, 2.0),
            "The unique information of X1 decreases: beyond alpha 1, more and more of its "
            "information is synergistic with X2. The numbers are given with the claim before.",
        ),
    ]
    shrinking = Claim(
        "contributions shrink beyond alpha 1 (multiplicative)",
        "In the multiplicative model contributions decrease for larger alpha.",
        ABOVE,
        f"{joint} at alpha 1 - at 2, bit",
        lambda r: -_rise(r, kind, ["joint"], 1.0, 2.0),
        "From alpha 1 to 2, in bins of equal counts: unique X1 1.19 to 0.74, unique X2 0.00 to "
        "0.04, shared 0.01 to 0.13, synergy 0.03 to 0.64 bit. With inputs on [1, 2] the power of X2 "
        "has no large values, and the signal grows with alpha as in the additive model; see the "
        "claim for inputs on [0, 1].",
    )
    return [
        *(_place_claim(kind, row) for row in PLACES),
        Claim(
            f"synergy and redundancy arise ({kind})",
            "Combining two independent inputs leads to both synergy and redundancy.",
            ABOVE,
            "smaller increase, of synergy or redundancy, from alpha 0 to 0.5, bit",
            lambda r: _rise(r, kind, ("synergy", "shared"), 0.0, 0.5),
        ),
        *(beyond if additive else [shrinking]),
        Claim(
            f"noise lowers all terms ({kind})",
            "More noise lowers MI, CMI and atoms.",
            at_least(90),
            "terms, inputs and steps in noise (0.1, 1, 10) that decrease, averaged over alpha, %",
            lambda r: _lowered(r, kind),
            "At least 98 % of each term and atom"
            + (". " if additive else ", but 88 % of synergy. ")
            + "Where few samples meet many states, bias remains when the signal is gone.",
        ),
        Claim(
            f"same shape for other inputs and noise ({kind})",
            "Other inputs and more noise give curves of the same shape.",
            at_least(90),
            "other inputs and noise where synergy at alpha 0.5 exceeds that at 0 and at 1, %",
            lambda r: _same_shape(r, kind, SIGMAS),
            f"Below 90 % are: {short.format(*low_noise)}. There noise hides the signal, the atoms "
            "are mostly bias, and their maximum is at random.",
        ),
        Claim(
            f"same shape for other inputs ({kind})",
            "The distribution of the inputs has no effect on their interaction.",
            at_least(90),
            "other inputs, at noise 0.1, where synergy at alpha 0.5 exceeds that at 0 and at 1, %",
            lambda r: _same_shape(r, kind, SIGMAS[:1]),
            "The synergy at alpha 0.5 differs: 0.60 (uniform), {} (binomial), {} (Poisson) and {} "
            "bit (exponential).".format(*sizes),
        ),
    ]


CLAIMS = [
    *(claim for kind in KINDS for claim in _claims(kind)),
    Claim(
        "contributions shrink beyond alpha 1 (multiplicative, inputs from 0, equal width)",
        "In the multiplicative model contributions decrease for larger alpha.",
        ABOVE,
        "I(X1,X2;Y), the sum of the atoms, at alpha 1 - at 2, bit",
        lambda r: (
            _at(_finest(r.of("zero")), "joint", 1.0, "width")
            - _at(_finest(r.of("zero")), "joint", 2.0, "width")
        ),
        "Near 0 the negative power of X2 has a few very large values, which fill the upper bins of "
        "equal width, so that nearly all samples are in the first. In bins of equal counts the "
        "contributions are unique X1 0.63, unique X2 0.20, shared 0.10, synergy 0.53 bit at alpha 2.",
    ),
    Claim(
        "additive synergy above multiplicative",
        "Adding gives more synergy than multiplying, as XOR does compared with AND.",
        ABOVE,
        "additive - multiplicative synergy at alpha 0.5, bit",
        lambda r: difference(_synergy(r, "additive", [0.5]), _synergy(r, "multiplicative", [0.5])),
        "+0.001 bit with bins of equal width, -0.005 bit with inputs on [0, 1]. The paper does not "
        "state it outright: it calls its two models in line with these gates. Between 1 and 2 a "
        "product is nearly a sum, as the logarithm is almost linear there.",
    ),
    Claim(
        "additive synergy above multiplicative, over the grid",
        "Adding gives more synergy than multiplying, as XOR does compared with AND.",
        ABOVE,
        "additive - multiplicative synergy, mean over alpha between 0 and 1, bit",
        lambda r: difference(_synergy(r, "additive", None), _synergy(r, "multiplicative", None)),
        "-0.005 bit with bins of equal width, -0.061 bit with inputs on [0, 1]. Where the weights "
        "differ, a product has slightly more: the effect of an input also depends on the value of "
        "the other.",
    ),
    Claim(
        "similar synergy and redundancy at alpha 1 in both models",
        "At alpha 1 synergy and redundancy are of similar size in both models.",
        at_most(0.01),
        "larger difference of the models, of synergy or redundancy, bit",
        _model_difference,
        "At alpha 1 both models are the same, Y = X1 with noise.",
    ),
]

# ------------------------------------------------------------------------------- table and figures


def _exact(results: Results, **point: Any) -> NDArray[np.float64]:
    runs = results.of("selection", **point)
    return percent(set(run["selected"]) == set(run["relevant"]) for run in runs)


def _selections(results: Results) -> Iterable[Cell]:
    for kind in KINDS:
        for alpha in SELECTED_AT:
            for settings, label in SETTINGS.items():
                point = {"kind": kind, "alpha": alpha, "settings": settings}
                values = attempt(lambda at: _exact(results, **at), point)
                yield Cell(f"{kind}, alpha {alpha:g}", label, values)


def _over_alpha(
    title: str, runs: list[Outcome], by: str, series: dict[str, tuple[str, str]], label: str
) -> Outcome:
    grid = runs[0]["alpha"]
    limits = by == "ksg" and "critical_values" in runs[0]

    def limit(run: Outcome, key: str, alpha: float) -> float:
        return float(run["critical_values"].get(key, run[by][key])[grid.index(alpha)])

    found = mean_panel(
        title,
        "lines",
        runs,
        grid,
        series,
        lambda run, key, alpha: run[by][key][grid.index(alpha)],
        limit if limits else None,
        x_label="alpha",
        y_label=label,
        marks=[0.5, 1.0],
    )
    for one in found["series"]:  # the joint information has no critical value
        one["threshold"] = None if one["role"] == "joint" else one["threshold"]
    return found


def _model_panels(kind: str) -> Any:
    def panels(results: Results) -> Iterable[Any]:
        runs = attempt(_curves, results, kind, *SHOWN)
        if runs:
            rows = [(f"Atoms, bins of equal {by}s", by, ATOM_LABELS) for by in BINNINGS]
            rows.append(("Terms, nearest neighbours", "ksg", TERMS))
            rows += [(f"Terms, plug-in of equal {by}s", by, TERMS) for by in BINNINGS]
            for title, by, labels in rows:
                yield _over_alpha(title, runs, by, labels, "information (bit)")
        if zero := attempt(lambda: _finest(results.of("zero", kind=kind))):
            title = "Atoms, bins of equal widths, inputs from 0 to 1"
            yield _over_alpha(title, zero, "width", ATOM_LABELS, "information (bit)")

    return panels


def _synergy_panels(results: Results) -> Iterable[Any]:
    roles = dict(zip(KINDS, ("first", "second"), strict=True))
    for distribution in DISTRIBUTIONS:
        for sigma in SIGMAS:
            shown = None
            for kind, role in roles.items():
                runs = attempt(_curves, results, kind, distribution, sigma)
                if runs:
                    title = f"{distribution.capitalize()}, noise {sigma:g}"
                    labels = {"synergy": (kind, role)}
                    one = _over_alpha(title, runs, "count", labels, "synergy (bit)")
                    shown = shown or {**one, "series": []}
                    shown["series"] += one["series"]
            yield shown


OTHERS: list[dict[str, Any]] = [
    {"kind": kind, "distribution": distribution, "sigma": sigma, "step": 0.25}
    for kind in KINDS
    for distribution in DISTRIBUTIONS
    for sigma in SIGMAS
    if (distribution, sigma) != SHOWN
]
ZERO = {"kind": "multiplicative", "distribution": FROM_ZERO, "sigma": 0.1}
SELECTIONS = [
    {"kind": kind, "alpha": alpha, "settings": settings}
    for kind in KINDS
    for alpha in SELECTED_AT
    for settings in SETTINGS
]

EXPERIMENT = Experiment(
    name="models",
    title="Experiment II: statistical models",
    where="Section 4.2 with its figure and its table of distributions",
    about=(
        "Y is the weighted sum of two independent inputs, or the product of their weighted powers, "
        "plus normal noise. The weight alpha of X1 goes from 0 to 2, that of X2 is 1 - alpha: at 0 "
        "Y depends on X2 only, at 1 on X1 only, and beyond 1 the weight of X2 is negative.",
        "The paper shows uniform inputs with noise 0.1 and states that others look alike: binomial, "
        "Poisson and exponential inputs, noise 1 and 10. All of these are run here.",
        "Claims on atoms are decided by bins of equal counts. Integer inputs (binomial, Poisson) "
        "are not binned, the target always is. Their terms are estimated for mixed data, as "
        "nearest neighbours need continuous values.",
    ),
    parts=(
        Part(
            "curve",
            run_curve,
            [{"kind": kind, "step": 0.1} for kind in KINDS],
            100,
            [{"kind": kind, "step": 0.25} for kind in KINDS],
            2,
            seconds=2.5,
        ),
        Part(
            "others",
            run_others,
            OTHERS,
            20,
            [{**OTHERS[place], "step": 0.5} for place in (8, 9, 19, 20)],
            2,
            seconds=0.9,
        ),
        Part("zero", run_others, [{**ZERO, "step": 0.1}], 20, [{**ZERO, "step": 0.5}], 2, 1.2),
        Part(
            "selection",
            run_selection,
            SELECTIONS,
            20,
            [point for point in SELECTIONS if point["alpha"] == 0.5],
            1,
            seconds=0.2,
        ),
    ),
    comparisons=(
        Comparison(
            "selections",
            "Selected inputs",
            "Percentage of runs that select exactly the inputs of Y: X2 at alpha 0, X1 at alpha 1, "
            "else both; uniform inputs, noise 0.1. The paper does not select here. Overall: 97.0 % "
            "with the paper's settings, 100.0 % with our defaults.",
            _selections,
        ),
    ),
    claims=CLAIMS,
    figures=(
        *(
            Figure(
                f"models-{kind}",
                f"The {kind} model",
                f"The {kind} model over alpha, uniform inputs, noise 0.1: atoms by BROJA on five "
                "bins; terms by nearest neighbours, with critical values of 200 permutations "
                "(dashed); terms by plug-in estimates on the same bins. Means and standard errors. "
                "Vertical lines mark equal weights, alpha 0.5, and alpha 1, where X2 has weight 0.",
                _model_panels(kind),
            )
            for kind in KINDS
        ),
        Figure(
            "models-synergy",
            "Synergy in all combinations",
            "Synergy over alpha for all inputs and strengths of noise, by BROJA on five bins of "
            "equal counts; binomial and Poisson inputs are not binned. Means and standard errors. "
            "Where noise hides all signal, bias remains: the more states, the more.",
            _synergy_panels,
        ),
    ),
    notes=(
        Note(
            "The uniform distribution is printed with the limits b = 1 and a = 2, swapped.",
            "Uniform on [1, 2]. For the multiplicative model also on [0, 1], since the paper's "
            "contributions decrease beyond alpha 1: they do so with X2 near 0 and bins of equal "
            "width, but not in bins of equal counts. Which inputs the paper used is not known.",
        ),
        Note(
            "The two rates of the Poisson distribution have the same name.",
            "X1 has rate 4, X2 has rate 10. Their variances differ, so that equal influence is not "
            "at alpha 0.5.",
        ),
        Note(
            "The exponential distribution is printed with the formula of a Poisson one.",
            "Rate 1.5.",
        ),
        Note(
            "Beyond alpha 1 the multiplicative model has a negative power of X2, undefined where X2 "
            "is 0, as binomial and Poisson inputs may be.",
            "There, zeros of X2 are drawn again: one in 22,000 at most.",
        ),
    ),
)
