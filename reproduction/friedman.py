"""Experiment III: Friedman's three regression models with nuisance columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, pairwise, takewhile
from typing import Any

import numpy as np

from pidselect.datasets import SyntheticDataset, friedman
from reproduction.agreement import equal_columns
from reproduction.experiment import Claims, Outcome, Part, Results, each
from reproduction.information import (
    ALPHA,
    BINNINGS,
    N_SAMPLES,
    atom_labels,
    atoms,
    selected,
    term,
)
from reproduction.methods import FORWARD, Array, Model, rates
from reproduction.quantities import Quantity, grid, percent, quantity
from reproduction.regression import forward_selection, importances, subset_errors


def _model(number: int, name: str, n_relevant: int) -> Model:
    relevant = [f"X{i}" for i in range(1, 1 + n_relevant)]
    nuisance = [f"Z{i}" for i in range(1, 11 - n_relevant)]
    return Model(name, relevant, nuisance, {"model": number})


MODELS = ONE, TWO, THREE = _model(1, "I", 5), _model(2, "II", 4), _model(3, "III", 4)

SETTINGS = {
    "cmi": "CMI",
    "cmi-toolbox": "CMI, as the toolbox",
    "mi": "MI",
    "mi-toolbox": "MI, as the toolbox",
    "mi-unpruned": "MI, no backward",
    "defaults": "our defaults",
}
NUMBERS = (1, 2, 3)

CRITERIA = {"cmi": "CMI", "mi": "MI"}
ATOM_LABELS = atom_labels("unique to the input", "unique to the others")
BY = {"ksg": "KSG", "count": "bins of equal counts", "width": "bins of equal width"}

#: Columns that a forward selection selects, and numbers of neighbours other than the paper's 5.
N_SELECT = {1: 7, 2: 5, 3: 5}
OTHER_K = (3, 10)


def _data(seed: int, model: Any) -> SyntheticDataset:
    return friedman(N_SAMPLES, model=model, random_state=seed)


def run_terms(seed: int, *, model: Any) -> Outcome:
    """Estimate MI, CMI given the other inputs, and atoms of each input and the other inputs.

    The other inputs are those of the model: on five bins of nine columns each sample would have a
    state of its own.
    """
    data = _data(seed, model)
    found: Outcome = {}
    for column in data.relevant:
        x, y = data.X[:, column], data.y
        rest = data.X[:, [other for other in data.relevant if other != column]]
        of_column: Outcome = {}
        for binning in (None, *BINNINGS):
            mi = term(x, y, binning=binning, seed=seed)
            cmi = term(x, y, rest, binning=binning, seed=seed)
            of_column[binning or "ksg"] = {
                "mi": mi["bits"],
                "mi critical_value": mi["critical_value"],
                "cmi": cmi["bits"],
                "cmi critical_value": cmi["critical_value"],
                **(atoms([x, rest], y) if binning == "count" else {}),
            }
        found[data.names[column]] = of_column
    return found


def run_neighbours(seed: int, *, model: Any, k: int) -> Outcome:
    """Return the prediction error of each set of columns, and of the median."""
    data = _data(seed, model)
    errors = subset_errors(data, seed, k=k)
    without = float(np.abs(data.y - np.median(data.y)).mean())
    return {"errors": [float(f"{error:.5g}") for error in errors], "without": without}


@quantity
def _excess(r: Results, /, model: Model, names: Sequence[str], **point: Any) -> Array:
    """Return the error of a set of columns less that of the best other set."""
    found, here = model.errors(r, **point), model.place(names)
    means = found.mean(axis=0)
    means[here] = np.inf
    return found[:, here] - found[:, means.argmin()]


@quantity
def _best_error(r: Results) -> list[float]:
    """Return the error of the best set of model III in percent of that of the median."""
    best = int(THREE.errors(r).mean(axis=0).argmin())
    runs = r.of("neighbours", **THREE.point)
    return [100.0 * run["errors"][best] / run["without"] for run in runs]


@quantity
def _bits(r: Results, model: Model, by: str, what: str, *names: str) -> Array:
    """Return the mean of a term or an atom of some features."""
    runs = r.of("terms", **model.point)
    return np.array([np.mean([run[name][by][what] for name in names]) for run in runs])


@quantity
def _not_significant(r: Results) -> Array:
    """Return the percentage of terms of model III that do not exceed their critical value."""
    below = [
        (_bits(THREE, "ksg", of, x) - _bits(THREE, "ksg", f"{of} critical_value", x))(r) <= 0.0
        for of in ("mi", "cmi")
        for x in THREE.relevant
    ]
    return 100.0 * np.mean(below, axis=0)


@quantity
def _synergistic(r: Results) -> Array:
    """Return the synergy of model III in percent of all but what is unique to the other inputs."""
    atoms = ("unique1", "shared", "synergy")
    values = [_bits(THREE, "count", atom, *THREE.relevant)(r) for atom in atoms]
    return 100 * values[2] / sum(values)


@quantity
def _least_gains(r: Results) -> dict[str, Array]:
    """Return the gain of each criterion over the other in the model where it is least."""
    gains = [(model.found("cmi") - model.found("mi"))(r) for model in MODELS]
    means = [gain.mean() for gain in gains]
    return {"of CMI": gains[int(np.argmin(means))], "of MI": -gains[int(np.argmax(means))]}


@quantity
def _most_important_first(r: Results, method: str) -> Array:
    """Return the percentage of runs that first select the most important columns of model I."""
    values = ONE.importances(r, method, ONE.columns).argsort()[:, -3:]
    pairs = zip(values, ONE.selections(r, method, 3), strict=False)
    return percent({ONE.columns[i] for i in most} == set(first) for most, first in pairs)


def _by(labels: Mapping[str, str], values: Callable[[str], Any]) -> dict[str, Any]:
    return {f"by {label}": values(key) for key, label in labels.items()}


def _by_both(values: Callable[[str, str], Any]) -> dict[str, Any]:
    return {
        f"{label} and {name}": values(method, criterion)
        for method, label in FORWARD.items()
        for criterion, name in CRITERIA.items()
    }


PAIR = ["X2", "X3"]

#: Columns that have no influence of their own, or hardly any, in models II and III.
WEAK_2, WEAK_3 = (["X4", *model.other] for model in (TWO, THREE))

GROWN = "forest-training"


def _mi_beyond_cmi(cmi: str, mi: str, suffix: str) -> Claims:
    """Return the claims that MI selects more than CMI, by the kind of backward elimination."""
    first = TWO.selected(mi, ["X1"]) - TWO.selected(cmi, ["X1"])
    return {f"II: MI selects X1 more often than CMI{suffix}": first} | {
        f"{model.name}: MI has more false positives{suffix}": model.false(mi) - model.false(cmi)
        for model in (TWO, THREE)
    }


def _each_model(model: Model) -> Claims:
    """Return the claims that models II and III have in common."""
    return {
        f"{model.name}: fewer found than in I": _by(
            CRITERIA, lambda by: ONE.found(by) - model.found(by)
        ),
        f"{model.name}: three forward steps find more": _by_both(
            lambda by, criterion: model.found(by, 3) - model.found(criterion)
        ),
        f"{model.name}: five forward steps select more nuisance": _by_both(
            lambda by, criterion: model.false(by) - model.false(criterion)
        ),
    }


SELECTION_CLAIMS: Claims = {
    "I: CMI finds all": ONE.found("cmi"),
    "I: false positives below alpha": ONE.false("cmi"),
    "I: MI finds fewer": ONE.found("cmi") - ONE.found("mi"),
    "I: MI misses X3 and X5": Quantity(
        lambda r: [
            float(("X1" in one) + ("X2" in one) + ("X4" in one) - ("X3" in one) - ("X5" in one) - 1)
            for one in ONE.selections(r, "mi")
        ]
    ),
    "I: MI false positives above alpha": ONE.false("mi") - 100 * ALPHA,
    "I: MI has more false positives": ONE.false("mi") - ONE.false("cmi"),
    **_each_model(TWO),
    **_each_model(THREE),
    "II: CMI finds X2 and X3 only": TWO.holds(
        "cmi", lambda one: sorted(set(one) & set(TWO.relevant)) == PAIR
    ),
    "II: both find X2 and X3": _by(CRITERIA, lambda by: TWO.selected(by, PAIR)),
    **_mi_beyond_cmi("cmi", "mi", ""),
    **_mi_beyond_cmi("cmi-toolbox", "mi-toolbox", " (as the toolbox)"),
    **_mi_beyond_cmi("cmi", "mi-unpruned", " (no backward)"),
    "III: hardly anything selected": _by(CRITERIA, lambda by: THREE.found(by)),
    "no clear advantage of either criterion over all three": _least_gains(),
}

IMPORTANCE_CLAIMS: Claims = {
    "I: nuisance of low importance": _by(FORWARD, lambda by: ONE.importance(by, *ONE.other)),
    "I: X4 first, then X1 and X2, then X5 and X3": {
        f"{' and '.join(high)} - {' and '.join(low)} by {label}": ONE.importance(by, *high)
        - ONE.importance(by, *low)
        for by, label in FORWARD.items()
        for high, low in pairwise((("X4",), ("X1", "X2"), ("X3", "X5")))
    },
    "I: X4 always highest": _by(
        FORWARD, lambda by: lambda r: percent(ONE.importances(r, by, ["X4"]) == 1.0)
    ),
    "I: LARS blind to X3": ONE.importance("lars", "X3") - ONE.importance("lars", *ONE.other),
    "I: forest sees X3 a little": (
        ONE.importance("forest", "X3") - ONE.importance("forest", *ONE.other),
        ONE.importance("forest", "X3"),
    ),
    "I: importances low where MI misses": _by(
        FORWARD,
        lambda by: (
            ONE.importance(by, "X1", "X2", "X4", of=np.min)
            - ONE.importance(by, "X3", "X5", of=np.max)
        ),
    ),
    "II: forest importance X2 and X3": (
        TWO.importance("forest", "X1", *WEAK_2, of=np.max),
        {name: TWO.importance("forest", name) for name in PAIR},
    ),
    "II: LARS importance X3 only": TWO.importance("lars", "X1", "X2", *WEAK_2, of=np.max),
    "II: forest gives X1 as little as nuisance": (
        TWO.importance("forest", "X1") - TWO.importance("forest", *TWO.other)
    ),
    "III: highest importance X3": {
        f"{name} by {method}": THREE.importance(by, "X3") - THREE.importance(by, name)
        for by, method in (("lars", "LARS"), (GROWN, "forest"))
        for name in ("X1", "X2", *WEAK_3)
    },
    "III: forest gives X1, X2 half": THREE.importance(GROWN, "X1", "X2"),
    "III: forest gives X4 and Z a third": THREE.importance(GROWN, *WEAK_3),
    "III: forest gives X4 and Z the same": Quantity(
        lambda r: equal_columns(THREE.importances(r, GROWN, WEAK_3))
    ),
    "III: LARS gives X1, X2, X4 about zero": THREE.importance("lars", "X1", "X2", "X4", of=np.max),
    "III: LARS gives Z a small finite importance": (
        THREE.importance("lars", *THREE.other) - THREE.importance("lars", "X1", "X2", "X4")
    ),
    **{f"{model.name}: linear methods agree": model.lowest_correlation() for model in MODELS},
}


def _starts(one: list[str]) -> bool:
    return one[0] == "X4" and sorted(one[1:3]) == ["X1", "X2"]


FORWARD_CLAIMS: Claims = {
    "I: forward selection follows the importances": _by(FORWARD, _most_important_first),
    "I: forward LARS selects X4, X1/X2, X5": {
        "X4, then X1 and X2": ONE.holds("lars", _starts),
        "X5 as fourth": ONE.holds("lars", lambda one: one[3] == "X5"),
    },
    "I: forward forest selects X4, X1/X2": ONE.holds("forest", _starts),
    "I: forward selects X1 and X2 in either order": _by(
        FORWARD, lambda by: ONE.holds(by, lambda one: one[1] == "X1")
    ),
    "I: forward forest selects X5 in 60 %, X3 in 30 % as fourth": (
        ONE.holds("forest", lambda one: one[3] == "X5"),
        ONE.holds("forest", lambda one: one[3] == "X3"),
    ),
    "I: forward forest finds all of X": ONE.holds(
        "forest", lambda one: set(one) >= set(ONE.relevant)
    ),
    "I: forward forest adds any nuisance": ONE.equal("forest", ONE.other),
    "I: forward LARS selects X3 no more often than Z": (
        ONE.selected("lars", ["X3"]) - ONE.false("lars"),
        ONE.equal("lars", ["X3", *ONE.other]),
    ),
    "I: both select nuisance when more are asked for": _by(
        FORWARD, lambda by: ONE.holds(by, lambda one: bool(set(one) & set(ONE.other)))
    ),
    "II: forward forest always adds X1": TWO.holds(
        "forest", lambda one: "X1" in takewhile(lambda name: name.startswith("X"), one)
    ),
    "II: forward LARS X3 then X2": TWO.holds("lars", lambda one: one[:2] == ["X3", "X2"]),
    "II: forward LARS then X1 more often than others": (
        TWO.selected("lars", ["X1"]) - TWO.selected("lars", WEAK_2)
    ),
    "II: forward LARS selects the others equally often": TWO.equal("lars", WEAK_2),
    "II: forest selects X4 like nuisance": TWO.equal("forest", WEAK_2),
    "III: forward selects X1, X2, X3 first": {
        f"{name} by {label}": THREE.selected(by, [name]) - THREE.selected(by, WEAK_3)
        for by, label in FORWARD.items()
        for name in ("X1", "X2", "X3")
    },
    "III: forward LARS selects X1 and X2 after X3": THREE.holds(
        "lars", lambda one: one[0] == "X3" and sorted(one[1:3]) == ["X1", "X2"]
    ),
    "III: others equally likely": _by(FORWARD, lambda by: THREE.equal(by, WEAK_3)),
}

OTHER_CLAIMS: Claims = {
    "CMI's set has the lowest MAE (model I)": _excess(ONE, ONE.relevant, k=5),
    "CMI's set has the lowest MAE (model II)": _excess(TWO, PAIR, k=5),
    "best sets hold for other k": {
        f"model {model.name}, k = {k}": _excess(model, names, part="neighbours-other-k", k=k)
        for model, names in ((ONE, ONE.relevant), (TWO, PAIR))
        for k in OTHER_K
    },
    "II: all inputs are not the best set": TWO.error(TWO.relevant) - TWO.error(PAIR),
    "III: no set predicts well": _best_error(),
    **{
        f"{model.name}: synergy explains CMI above MI": {
            f"{more} - {less}{suffix}": _bits(model, by, more.lower(), *names)
            - _bits(model, by, less.lower(), *names)
            for more, less, suffix, by in (
                ("CMI", "MI", " by KSG", "ksg"),
                ("synergy", "shared", "", "count"),
            )
        }
        for model, names in ((ONE, ONE.relevant), (TWO, PAIR))
    },
    "II: features with high synergy also carry redundancy": {
        label: _bits(TWO, "count", what, *PAIR) - _bits(TWO, "count", what, "X1", "X4")
        for what, label in (("synergy", "synergy"), ("shared", "shared"), ("mi", "MI"))
    },
    "III: below threshold for most": _not_significant(),
    "III: almost only synergy": _synergistic(),
}

CLAIMS: Claims = {**SELECTION_CLAIMS, **IMPORTANCE_CLAIMS, **FORWARD_CLAIMS, **OTHER_CLAIMS}

#: The paper's true positives, true negatives, false positives and false negatives, in percent.
PAPER_RATES: dict[str, dict[str, tuple[float, ...]]] = {
    "I": {"cmi": (100.0, 98.8, 1.2, 0.0), "mi": (81.0, 99.2, 0.8, 18.4)},
    "II": {"cmi": (50.5, 99.8, 0.2, 49.5), "mi": (56.8, 99.2, 0.8, 43.3)},
    "III": {"cmi": (3.5, 100.0, 0.0, 96.5), "mi": (3.3, 99.5, 0.5, 96.8)},
}


def _rates(r: Results) -> Iterable[Any]:
    for model in MODELS:
        for settings, label in SETTINGS.items():
            paper = PAPER_RATES[model.name].get(settings.partition("-")[0], (None,) * 4)
            yield rates(f"Friedman {model.name}", f"{label}: ", model, settings, paper)(r)


PARTS = (
    Part(
        "selection",
        lambda seed, model, settings: selected(_data(seed, model), seed, settings),
        each(settings=SETTINGS, model=NUMBERS),
        quick_runs=2,
        seconds=0.8,
    ),
    Part("terms", run_terms, each(model=NUMBERS), quick_runs=1, seconds=0.3),
    Part(
        "methods",
        lambda seed, model: importances(_data(seed, model), seed),
        each(model=NUMBERS),
        quick_runs=1,
        seconds=1.6,
    ),
    *(
        Part(
            f"forward-{by}",
            lambda seed, model, method: {
                "selected": forward_selection(_data(seed, model), N_SELECT[model], seed, method)
            },
            each(model=NUMBERS, method=[by]),
            runs,
            quick_runs=1,
            seconds=seconds,
        )
        for by, runs, seconds in (("lars", 100, 0.4), ("forest", 60, 4.4))
    ),
    Part("neighbours", run_neighbours, each(model=NUMBERS, k=[5]), quick_runs=1, seconds=2.4),
    Part("neighbours-other-k", run_neighbours, each(model=(1, 2), k=OTHER_K), 20, [], seconds=2.4),
)

_ROWS = {
    (place, x): f"{model.name}: {x}" for place, model in enumerate(MODELS) for x in model.columns
}

TABLES = {
    "rates": lambda r: chain.from_iterable(_rates(r)),
    "selected": grid(
        lambda row, how: MODELS[row[0]].selected(how, row[1:]), _ROWS, {**SETTINGS, **FORWARD}
    ),
    "importances": grid(
        lambda row, method: MODELS[row[0]].importance(method, row[1]),
        _ROWS,
        {"lars": "LARS", GROWN: "forest"},
    ),
    "information": grid(
        lambda row, column: _bits(MODELS[row[0]], *column, row[1]),
        {row: label for row, label in _ROWS.items() if "Z" not in label},
        {
            **{(by, of): f"{CRITERIA[of]}, {how}" for of in CRITERIA for by, how in BY.items()},
            **{("count", atom): label for atom, label in ATOM_LABELS.items()},
        },
    ),
}
