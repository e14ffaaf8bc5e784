"""Experiment IV: the model of Runge et al., with drivers Z and W and redundant children X."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, combinations
from typing import Any

import numpy as np

from pidselect.datasets import SyntheticDataset
from pidselect.datasets import runge as runge_data
from reproduction.experiment import Claims, Outcome, Part, Results, each
from reproduction.information import BINNINGS, N_SAMPLES, atom_labels, atoms, selected, term
from reproduction.methods import FORWARD, Array, Model, rates
from reproduction.quantities import Quantity, grid, percent, quantity
from reproduction.regression import forward_selection, importances, subset_errors

#: The variables of each set, in the order of columns.
GROUPS = {"Z": ("Z1", "Z2", "Z3"), "W": ("W1", "W2", "W3", "W4"), "X": ("X1", "X2")}
Z, W, X = GROUPS.values()
MODEL = Model("Runge", (*Z, *W), X, {})

#: The paper's TP, TN, FP and FN in percent, which are compared with each type of elimination.
CMI_RATES, MI_RATES = (99.6, 97.0, 3.0, 0.4), (54.7, 92.5, 7.5, 45.3)

SELECTIONS: dict[str, tuple[str, Sequence[float | None]]] = {
    "cmi": ("CMI", CMI_RATES),
    "mi": ("MI", MI_RATES),
    "mi-toolbox": ("MI, as the toolbox", MI_RATES),
    "mi-unpruned": ("MI, no backward", MI_RATES),
    "defaults": ("our defaults", (None, None, None, None)),
}
ESTIMATORS = {
    "ksg": "KSG",
    "count": "plug-in, equal counts",
    "width": "plug-in, equal width",
}


def _data(seed: int) -> SyntheticDataset:
    return runge_data(N_SAMPLES, random_state=seed)


def run_terms(seed: int) -> Outcome:
    """Estimate the information of variables and sets, and atoms within and between the sets.

    Returns, for each estimator, "mi" of each variable and "cmi" of Z1 given Z2 and Z3; and for each
    binning "atoms" of the first variable and the others of a set, and of Z and W.
    """
    data = _data(seed)
    columns = dict(zip(data.names, data.X.T, strict=True))
    sets = {name: np.column_stack([columns[each] for each in GROUPS[name]]) for name in "ZW"}
    found: Outcome = {"mi": {}, "cmi": {}, "atoms": {}}
    for binning in (None, *BINNINGS):
        how: dict[str, Any] = {"binning": binning, "seed": seed}
        by = binning or "ksg"
        found["mi"][by] = {name: term(x, data.y, **how) for name, x in columns.items()}
        found["cmi"][by] = term(columns["Z1"], data.y, sets["Z"][:, 1:], **how)["bits"]
    sources = {name: [joint[:, 0], joint[:, 1:]] for name, joint in sets.items()}
    sources["Z and W"] = [sets["Z"], sets["W"]]
    for binning in BINNINGS:
        found["atoms"][binning] = {
            name: atoms(pair, data.y, binning=binning) for name, pair in sources.items()
        }
    return found


def _more(how: str, other: str, names: Sequence[str]) -> Quantity:
    """Return how much more of some variables a criterion selects than the other."""
    return MODEL.selected(how, names) - MODEL.selected(other, names)


def _late(how: str, names: Sequence[str]) -> Quantity:
    """Return the number of variables of a set from the fourth step on."""
    return MODEL.each(how, lambda one: len(set(one[3:]) & set(names)))


@quantity
def _part(r: Results, how: str, names: Sequence[str], steps: slice) -> list[float]:
    """Return the percentage of the variables of some steps that belong to a set."""
    runs = [one[steps] for one in MODEL.selections(r, how)]
    late = [one for one in runs if one or not steps.start]
    return [100.0 * len(set(one) & set(names)) / max(1, len(one)) for one in late]


def _rank_in(one: list[str], names: Sequence[str]) -> float:
    """Return the mean rank of a set in the order of inclusion; what is not selected is tenth."""
    ranks = [one.index(name) + 1 if name in one else len(MODEL.columns) + 1 for name in names]
    return float(np.mean(ranks))


def _rank(how: str, group: str) -> Quantity:
    return MODEL.each(how, lambda one: _rank_in(one, GROUPS[group]))


@quantity
def _mi(r: Results, names: Sequence[str], by: str = "ksg", key: str = "bits") -> Array:
    """Return the mean mutual information, or critical value, of the variables of a set."""
    runs = [run["mi"][by] for run in r.of("terms")]
    return np.array([np.mean([run[name][key] for name in names]) for run in runs])


@quantity
def _atom(r: Results, binning: str, group: str, atom: str = "synergy") -> Array:
    return np.array([run["atoms"][binning][group][atom] for run in r.of("terms")])


@quantity
def _relative_synergy(r: Results, binning: str) -> Array:
    """Return the synergy within Z relative to the mean within W."""
    of_z, of_w = (np.asarray(_atom(binning, group)(r)) for group in "ZW")
    return of_z / max(of_w.mean(), 1e-9)


def _importance(method: str, group: str) -> Quantity:
    return MODEL.importance(method, *GROUPS[group])


@quantity
def _least_important(r: Results) -> Array:
    """Return the percentage of runs in which X is least important to the forest."""
    of_z, of_w, of_x = (np.asarray(_importance("forest-training", group)(r)) for group in GROUPS)
    return percent(of_x < np.minimum(of_z, of_w))


@quantity
def _best_other(r: Results, sizes: Iterable[int]) -> Array:
    """Return the error of the best set of these sizes, except Z, less that of Z."""
    means = MODEL.errors(r).mean(axis=0)
    sets = [one for size in sizes for one in combinations(MODEL.columns, size) if one != Z]
    best = min(sets, key=lambda one: (means[MODEL.place(one)], MODEL.place(one)))
    return np.asarray((MODEL.error(best) - MODEL.error(Z))(r))


def _error_above(names: Sequence[str], base: Sequence[str]) -> Quantity:
    """Return how much larger the error of a set is than that of Z or W, in percent."""
    return 100.0 * (MODEL.error(names) / MODEL.error(base) - 1.0)


def _forward(names: Sequence[str], minus: Sequence[str] = ()) -> dict[str, Quantity]:
    """Return the percentage of some variables, less that of others, in each forward selection."""
    labels = {"lars": "by LARS", "forest": "by the forest"}
    return {
        label: MODEL.selected(by, names) - (MODEL.selected(by, minus) if minus else 0.0)
        for by, label in labels.items()
    }


SELECTION_CLAIMS: Claims = {
    "CMI finds true features reliably": MODEL.found("cmi"),
    "MI misses more true features": MODEL.found("cmi") - MODEL.found("mi"),
    "MI selects more X": _more("mi", "cmi", X),
    "MI finds fewer W": _more("cmi", "mi", W),
    "MI loses W more than Z": _more("cmi", "mi", W) - _more("cmi", "mi", Z),
    "MI does not fail on Z": MODEL.selected("mi", Z) - MODEL.selected("mi", W),
    "Z most informative, X least": {
        "I(Z;Y) - I(W;Y)": _mi(Z) - _mi(W),
        "I(W;Y) - I(X;Y)": _mi(W) - _mi(X),
    },
    "single Z is significant": _mi(Z) - _mi(Z, key="critical_value"),
    "Z1 more informative given Z2 and Z3": lambda r: [
        run["cmi"]["ksg"] - run["mi"]["ksg"]["Z1"]["bits"] for run in r.of("terms")
    ],
    **{
        claim + suffix: value
        for by, suffix in (("count", ""), ("width", " (equal width)"))
        for claim, value in (
            ("synergy within Z comparable to within W", _relative_synergy(by)),
            ("a product has less synergy than a sum", _atom(by, "W") - _atom(by, "Z")),
        )
    },
    **{
        f"order of inclusion Z, W, X ({how.upper()})": {
            f"{later} - {sooner}": _rank(how, later) - _rank(how, sooner)
            for sooner, later in (("Z", "W"), ("W", "X"))
        }
        for how in ("cmi", "mi")
    },
    "first three steps are Z": {
        f"by {how.upper()}": _part(how, Z, slice(3)) - 50 for how in ("cmi", "mi")
    },
    **{
        f"next steps are W ({how.upper()})": _part(how, W, slice(3, None)) - 50
        for how in ("cmi", "mi")
    },
    "from step 4 CMI selects more W": _late("cmi", W) - _late("mi", W),
    "from step 4 MI selects more X": _late("mi", X) - _late("cmi", X),
}

METHOD_CLAIMS: Claims = {
    "LARS importance high for W only": {
        other: _importance("lars", "W") - 2 * _importance("lars", other) for other in "ZX"
    },
    "LARS gives Z and X the same small importance": (
        _importance("lars", "Z") - _importance("lars", "X")
    ),
    "linear methods agree": MODEL.lowest_correlation(),
    "forest importance high for W and Z, small for X": {
        other: _importance("forest-training", other) - 2 * _importance("forest-training", "X")
        for other in "ZW"
    },
    "X is least important to the forest": _least_important(),
    "forward LARS selects W with 4 features": MODEL.selected("lars", W, 4),
    "forward forest selects W in about 60 %, with 4": MODEL.selected("forest", W, 4),
    "forward forest selects Z in 20 to 25 %, with 4": MODEL.selected("forest", Z, 4),
    "forward forest selects X as often, with 4": (
        MODEL.selected("forest", X, 4) - MODEL.selected("forest", Z, 4)
    ),
    "with 7 both select W": _forward(W),
    "with 7 X in 70 to 80 %": _forward(X),
    "with 7 Z in 50 to 60 %": _forward(Z),
    "forward selection selects W first": {
        f"{other}, by {label}": _rank(how, other) - _rank(how, "W")
        for other in "ZX"
        for how, label in (("lars", "LARS"), ("forest", "the forest"))
    },
    "forward selection selects false features and misses true ones": _forward(X),
    "forward selection does not follow the importances": _forward(X, minus=Z),
    "Z alone best in the nearest-neighbour test": _best_other(range(1, 10)),
    "Z best of all sets of three": _best_other([3]),
    "no smaller set predicts as well as Z": _best_other([1, 2]),
    "Z and W comparable to Z alone": _error_above(MODEL.relevant, Z),
    "W alone much worse": _error_above(W, Z) - 10,
    "W and X equally bad": _error_above((*W, *X), W),
}

CLAIMS: Claims = {**SELECTION_CLAIMS, **METHOD_CLAIMS}


PARTS = (
    Part(
        "selection",
        lambda seed, settings: selected(_data(seed), seed, settings),
        each(settings=SELECTIONS),
        quick_runs=2,
        seconds=1.6,
    ),
    Part("terms", run_terms, quick_runs=2, seconds=1.6),
    Part("methods", lambda seed: importances(_data(seed), seed), quick_runs=2, seconds=1.5),
    *(
        Part(
            f"forward-{by}",
            # The first four features are those of a selection of four.
            lambda seed, method: {"selected": forward_selection(_data(seed), 7, seed, method)},
            each(method=[by]),
            runs,
            quick_runs=quick_runs,
            seconds=seconds,
        )
        for by, runs, quick_runs, seconds in (("lars", 100, 2, 0.4), ("forest", 50, 1, 5.0))
    ),
    Part(
        "neighbours",
        lambda seed: {"errors": subset_errors(_data(seed), seed)},
        quick_runs=2,
        seconds=1.2,
    ),
)

VARIABLES = {name: name for name in MODEL.columns}
CRITERIA = {"cmi": "CMI", "mi": "MI"}

TABLES = {
    "rates": lambda r: chain.from_iterable(
        rates(label, "", MODEL, how, paper)(r) for how, (label, paper) in SELECTIONS.items()
    ),
    "selected": grid(
        lambda name, how: MODEL.selected(how, [name]), VARIABLES, {**CRITERIA, **FORWARD}
    ),
    "importances": grid(
        lambda name, method: MODEL.importance(method, name),
        VARIABLES,
        {"lars": "LARS", "forest-training": "forest"},
    ),
    "information": grid(lambda name, by: _mi([name], by), VARIABLES, ESTIMATORS),
    "atoms": grid(
        lambda group, atom: _atom("count", group, atom),
        {"Z": "Z", "W": "W", "Z and W": "Z and W"},
        atom_labels("unique, first", "unique, others"),
    ),
}
