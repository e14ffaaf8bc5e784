"""Experiment III: Friedman's three regression models with nuisance columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.datasets import SyntheticDataset, friedman
from reproduction import regression
from reproduction.agreement import (
    Decided,
    equal_columns,
)
from reproduction.experiment import (
    Cell,
    Claims,
    Outcome,
    Part,
    Results,
    attempt,
    difference,
    line,
    mean_panel,
    panel,
    percent,
    share,
)
from reproduction.information import ALPHA, ATOMS, BINNINGS, N_SAMPLES, atoms, selected, term

Array = NDArray[np.float64]

MODELS: dict[int, str] = {1: "I", 2: "II", 3: "III"}
RELEVANT = {1: [f"X{i}" for i in range(1, 6)]} | {m: [f"X{i}" for i in range(1, 5)] for m in (2, 3)}
NUISANCE = {m: [f"Z{i}" for i in range(1, 11 - len(RELEVANT[m]))] for m in MODELS}
COLUMNS = {m: RELEVANT[m] + NUISANCE[m] for m in MODELS}

SETTINGS = {
    "cmi": "CMI",
    "cmi-toolbox": "CMI, as the toolbox",
    "mi": "MI",
    "mi-toolbox": "MI, as the toolbox",
    "mi-unpruned": "MI, no backward",
    "defaults": "our defaults",
}
CRITERIA = {"cmi": "CMI", "mi": "MI"}
METHODS = {"lars": "LARS", "forest": "forest"}

#: Columns that a forward selection selects, and numbers of neighbours other than the paper's 5.
N_SELECT = {1: 7, 2: 5, 3: 5}
OTHER_K = (3, 10)

# ------------------------------------------------------------------------------------------- runs


def _data(seed: int, model: Any) -> SyntheticDataset:
    return friedman(N_SAMPLES, model=model, random_state=seed)


def run_selection(seed: int, *, model: Any, settings: str) -> Outcome:
    """Select features."""
    return selected(_data(seed, model), seed, settings)


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
                **(atoms([x, rest], y, binning=binning) if binning else {}),
            }
        found[data.names[column]] = of_column
    return found


def run_methods(seed: int, *, model: Any) -> Outcome:
    """Return the importances of each column, and LARS's for one standard deviation."""
    data = _data(seed, model)
    standardised = regression.linear_importances(data, seed, standardise=True)
    return {**regression.importances(data, seed), "lars-standardised": standardised["lars"]}


def run_forward(seed: int, *, model: Any, method: str) -> Outcome:
    """Select as many columns as the paper does by sequential forward selection."""
    data = _data(seed, model)
    return {"selected": regression.forward_selection(data, N_SELECT[model], seed, method)}


def run_neighbours(seed: int, *, model: Any, k: int) -> Outcome:
    """Return the prediction error of each set of columns, and of the median."""
    data = _data(seed, model)
    errors = regression.subset_errors(data, seed, k=k)
    without = float(np.abs(data.y - np.median(data.y)).mean())
    return {"errors": [float(f"{error:.5g}") for error in errors], "without": without}


# --------------------------------------------------------------------------- values of the claims

Selections = list[list[str]]


def _selections(r: Results, model: int, settings: str) -> Selections:
    return [run["selected"] for run in r.of("selection", model=model, settings=settings)]


def _shares(selections: Selections, names: Sequence[str]) -> Array:
    """Return the percentage of some columns that each selection has."""
    return np.array([share(selected, names) for selected in selections])


def _found(r: Results, model: int, settings: str) -> Array:
    return _shares(_selections(r, model, settings), RELEVANT[model])


def _false(r: Results, model: int, settings: str) -> Array:
    return _shares(_selections(r, model, settings), NUISANCE[model])


def _forward(r: Results, model: int, method: str, steps: int | None = None) -> Selections:
    runs = r.of(f"forward-{method}", model=model, method=method)
    return [run["selected"][:steps] for run in runs]


def _importances(r: Results, model: int, method: str, names: Sequence[str]) -> Array:
    """Return the importances of some columns, shape (n_runs, n_names)."""
    return np.array([[run[method][name] for name in names] for run in r.of("methods", model=model)])


def _importance(r: Results, model: int, method: str, *names: str) -> Array:
    return _importances(r, model, method, names).mean(axis=1)


def _others(model: int, *names: str) -> list[str]:
    return [name for name in COLUMNS[model] if name not in names]


def _errors(r: Results, model: int, k: int = 5) -> Array:
    """Return the error of each set of columns, shape (n_runs, 1023)."""
    part = "neighbours" if k == 5 else "neighbours-other-k"
    return np.array([run["errors"] for run in r.of(part, model=model, k=k)])


def _place(model: int, names: Sequence[str]) -> int:
    """Return the position of a set of columns among the errors."""
    return sum(1 << COLUMNS[model].index(name) for name in names) - 1


def _excess(r: Results, model: int, names: Sequence[str], k: int = 5) -> Array:
    """Return the error of a set of columns less that of the best other set."""
    errors, place = _errors(r, model, k), _place(model, names)
    means = errors.mean(axis=0)
    means[place] = np.inf
    return errors[:, place] - errors[:, means.argmin()]


def _bits(r: Results, model: int, by: str, what: str, names: Sequence[str]) -> Array:
    """Return a term or an atom of some features, shape (n_runs, n_names)."""
    runs = r.of("terms", model=model)
    return np.array([[run[name][by][what] for name in names] for run in runs])


def _mean_bits(r: Results, model: int, by: str, what: str, *names: str) -> Array:
    return _bits(r, model, by, what, names or RELEVANT[model]).mean(axis=1)


def _equal(selections: Selections, names: Sequence[str]) -> Decided:
    return equal_columns(np.array([_shares(selections, [name]) for name in names]).T)


def _by_method(values: Callable[[str], Any]) -> dict[str, Any]:
    return {f"by {label}": attempt(values, method) for method, label in METHODS.items()}


def _by_criterion(values: Callable[[str], Any]) -> dict[str, Any]:
    return {f"by {label}": attempt(values, criterion) for criterion, label in CRITERIA.items()}


def _by_both(values: Callable[[str, str], Any]) -> dict[str, Any]:
    return {
        f"{label} and {name}": attempt(values, method, criterion)
        for method, label in METHODS.items()
        for criterion, name in CRITERIA.items()
    }


def _least_gains(r: Results) -> dict[str, Array]:
    """Return the gain of each criterion over the other in the model where it is least."""
    gains = [difference(_found(r, m, "cmi"), _found(r, m, "mi")) for m in MODELS]
    means = [gain.mean() for gain in gains]
    return {"of CMI": gains[int(np.argmin(means))], "of MI": -gains[int(np.argmax(means))]}


def _lowest_correlation(r: Results, model: int) -> list[float]:
    tables = [_importances(r, model, one, COLUMNS[model]) for one in ("lars", "lasso", "svr")]
    return [
        float(min(np.corrcoef(lars, other)[0, 1] for other in others))
        for lars, *others in zip(*tables, strict=True)
    ]


def _most_important_first(r: Results, method: str) -> Array:
    """Return 100 for runs that first select the three most important columns of model I."""
    pairs = zip(_importances(r, 1, method, COLUMNS[1]), _forward(r, 1, method, 3), strict=False)
    return percent({COLUMNS[1][i] for i in values.argsort()[-3:]} == set(s) for values, s in pairs)


def _missing(selections: Selections, names: Sequence[str]) -> Array:
    return np.array([len(set(names) - set(selected)) for selected in selections], dtype=float)


# ----------------------------------------------------------------------------------------- claims

PAIR = ["X2", "X3"]


def _fewer_found(model: Any) -> Claims:
    return {
        f"{MODELS[model]}: fewer found than in I": lambda r: _by_criterion(
            lambda by: difference(_found(r, 1, by), _found(r, model, by))
        )
    }


def _mi_beyond_cmi(cmi: str, mi: str, suffix: str) -> Claims:
    """Return the claims that MI selects more than CMI, by the kind of backward elimination."""
    return {
        f"II: MI selects X1 more often than CMI{suffix}": lambda r: difference(
            _shares(_selections(r, 2, mi), ["X1"]), _shares(_selections(r, 2, cmi), ["X1"])
        ),
        **{
            f"{MODELS[m]}: MI has more false positives{suffix}": lambda r, m=m: difference(
                _false(r, m, mi), _false(r, m, cmi)
            )
            for m in (2, 3)
        },
    }


SELECTION_CLAIMS: Claims = {
    "I: CMI finds all": lambda r: _found(r, 1, "cmi"),
    "I: false positives below alpha": lambda r: _false(r, 1, "cmi"),
    "I: MI finds fewer": lambda r: difference(_found(r, 1, "cmi"), _found(r, 1, "mi")),
    "I: MI misses X3 and X5": lambda r: (
        _missing(_selections(r, 1, "mi"), ["X3", "X5"])
        - _missing(_selections(r, 1, "mi"), ["X1", "X2", "X4"])
    ),
    "I: MI false positives above alpha": lambda r: _false(r, 1, "mi") - 100 * ALPHA,
    "I: MI has more false positives": lambda r: difference(_false(r, 1, "mi"), _false(r, 1, "cmi")),
    **_fewer_found(2),
    **_fewer_found(3),
    "II: CMI finds X2 and X3 only": lambda r: percent(
        sorted(set(selected) & set(RELEVANT[2])) == PAIR for selected in _selections(r, 2, "cmi")
    ),
    "II: both find X2 and X3": lambda r: _by_criterion(
        lambda by: _shares(_selections(r, 2, by), PAIR)
    ),
    **_mi_beyond_cmi("cmi", "mi", ""),
    **_mi_beyond_cmi("cmi-toolbox", "mi-toolbox", " (as the toolbox)"),
    **_mi_beyond_cmi("cmi", "mi-unpruned", " (no backward)"),
    "III: hardly anything selected": lambda r: _by_criterion(lambda by: _found(r, 3, by)),
    "no clear advantage of either criterion over all three": _least_gains,
}

GROWN = "forest-training"


def _ranked(r: Results) -> dict[str, Array]:
    """Return differences between groups of inputs of model I that should be positive."""
    groups = (("X4",), ("X1", "X2"), ("X3", "X5"))
    return {
        f"{' and '.join(high)} - {' and '.join(low)} by {label}": _importance(r, 1, by, *high)
        - _importance(r, 1, by, *low)
        for by, label in METHODS.items()
        for high, low in pairwise(groups)
    }


IMPORTANCE_CLAIMS: Claims = {
    "I: nuisance of low importance": lambda r: _by_method(
        lambda by: _importance(r, 1, by, *NUISANCE[1])
    ),
    "I: X4 first, then X1 and X2, then X5 and X3": _ranked,
    "I: X4 always highest": lambda r: _by_method(
        lambda by: percent(_importance(r, 1, by, "X4") == 1.0)
    ),
    "I: LARS blind to X3": lambda r: (
        _importance(r, 1, "lars", "X3") - _importance(r, 1, "lars", *NUISANCE[1])
    ),
    "I: forest sees X3 a little": (
        lambda r: _importance(r, 1, "forest", "X3") - _importance(r, 1, "forest", *NUISANCE[1]),
        lambda r: _importance(r, 1, "forest", "X3"),
    ),
    "I: importances low where MI misses": lambda r: _by_method(
        lambda by: (
            _importances(r, 1, by, ["X1", "X2", "X4"]).min(axis=1)
            - _importances(r, 1, by, ["X3", "X5"]).max(axis=1)
        )
    ),
    "II: forest importance X2 and X3": (
        lambda r: _importances(r, 2, "forest", _others(2, *PAIR)).max(axis=1),
        lambda r: {name: _importance(r, 2, "forest", name) for name in PAIR},
    ),
    "II: LARS importance X3 only": lambda r: _importances(r, 2, "lars", _others(2, "X3")).max(
        axis=1
    ),
    "II: forest gives X1 as little as nuisance": lambda r: (
        _importance(r, 2, "forest", "X1") - _importance(r, 2, "forest", *NUISANCE[2])
    ),
    "III: highest importance X3": lambda r: {
        f"{name} by {method}": _importance(r, 3, by, "X3") - _importance(r, 3, by, name)
        for by, method in (("lars", "LARS"), (GROWN, "forest"))
        for name in _others(3, "X3")
    },
    "III: forest gives X1, X2 half": lambda r: _importance(r, 3, GROWN, "X1", "X2"),
    "III: forest gives X4 and Z a third": lambda r: _importance(r, 3, GROWN, "X4", *NUISANCE[3]),
    "III: forest gives X4 and Z the same": lambda r: equal_columns(
        _importances(r, 3, GROWN, ["X4", *NUISANCE[3]])
    ),
    "III: LARS gives X1, X2, X4 about zero": lambda r: _importances(
        r, 3, "lars", ["X1", "X2", "X4"]
    ).max(axis=1),
    "III: LARS gives Z a small finite importance": lambda r: (
        _importance(r, 3, "lars", *NUISANCE[3]) - _importance(r, 3, "lars", "X1", "X2", "X4")
    ),
    **{
        f"{MODELS[m]}: linear methods agree": lambda r, m=m: _lowest_correlation(r, m)
        for m in MODELS
    },
}


def _starts(r: Results, method: str) -> Array:
    """Return 100 for runs that first select X4, then X1 and X2."""
    runs = _forward(r, 1, method)
    return percent(one[0] == "X4" and sorted(one[1:3]) == ["X1", "X2"] for one in runs)


def _in_sum(model: Any) -> Claims:
    return {
        f"{MODELS[model]}: three forward steps find more": lambda r: _by_both(
            lambda by, criterion: difference(
                _shares(_forward(r, model, by, 3), RELEVANT[model]),
                _found(r, model, criterion),
            )
        ),
        f"{MODELS[model]}: five forward steps select more nuisance": lambda r: _by_both(
            lambda by, criterion: difference(
                _shares(_forward(r, model, by), NUISANCE[model]), _false(r, model, criterion)
            )
        ),
    }


FORWARD_CLAIMS: Claims = {
    "I: forward selection follows the importances": lambda r: _by_method(
        lambda by: _most_important_first(r, by)
    ),
    "I: forward LARS selects X4, X1/X2, X5": lambda r: {
        "X4, then X1 and X2": _starts(r, "lars"),
        "X5 as fourth": percent(one[3] == "X5" for one in _forward(r, 1, "lars")),
    },
    "I: forward forest selects X4, X1/X2": lambda r: _starts(r, "forest"),
    "I: forward selects X1 and X2 in either order": lambda r: _by_method(
        lambda by: percent(one[1] == "X1" for one in _forward(r, 1, by))
    ),
    "I: forward forest selects X5 in 60 %, X3 in 30 % as fourth": (
        lambda r: percent(one[3] == "X5" for one in _forward(r, 1, "forest")),
        lambda r: percent(one[3] == "X3" for one in _forward(r, 1, "forest")),
    ),
    "I: forward forest finds all of X": lambda r: percent(
        _shares(_forward(r, 1, "forest"), RELEVANT[1]) == 100
    ),
    "I: forward forest adds any nuisance": lambda r: _equal(_forward(r, 1, "forest"), NUISANCE[1]),
    "I: forward LARS selects X3 no more often than Z": (
        lambda r: (
            _shares(_forward(r, 1, "lars"), ["X3"]) - _shares(_forward(r, 1, "lars"), NUISANCE[1])
        ),
        lambda r: _equal(_forward(r, 1, "lars"), ["X3", *NUISANCE[1]]),
    ),
    "I: both select nuisance when more are asked for": lambda r: _by_method(
        lambda by: percent(_shares(_forward(r, 1, by), NUISANCE[1]) > 0)
    ),
    "II: forward forest always adds X1": lambda r: percent(
        "X1" in takewhile(lambda name: name.startswith("X"), one)
        for one in _forward(r, 2, "forest")
    ),
    "II: forward LARS X3 then X2": lambda r: percent(
        one[:2] == ["X3", "X2"] for one in _forward(r, 2, "lars")
    ),
    "II: forward LARS then X1 more often than others": lambda r: (
        _shares(_forward(r, 2, "lars"), ["X1"])
        - _shares(_forward(r, 2, "lars"), ["X4", *NUISANCE[2]])
    ),
    "II: forward LARS selects the others equally often": lambda r: _equal(
        _forward(r, 2, "lars"), ["X4", *NUISANCE[2]]
    ),
    "II: forest selects X4 like nuisance": lambda r: _equal(
        _forward(r, 2, "forest"), ["X4", *NUISANCE[2]]
    ),
    "III: forward selects X1, X2, X3 first": lambda r: {
        f"{name} by {label}": _shares(_forward(r, 3, by), [name])
        - _shares(_forward(r, 3, by), ["X4", *NUISANCE[3]])
        for by, label in METHODS.items()
        for name in ("X1", "X2", "X3")
    },
    "III: forward LARS selects X1 and X2 after X3": lambda r: percent(
        one[0] == "X3" and sorted(one[1:3]) == ["X1", "X2"] for one in _forward(r, 3, "lars")
    ),
    "III: others equally likely": lambda r: _by_method(
        lambda by: _equal(_forward(r, 3, by), ["X4", *NUISANCE[3]])
    ),
    **_in_sum(2),
    **_in_sum(3),
}


def _best_error(r: Results) -> list[float]:
    """Return the error of the best set of model III in percent of that of the median."""
    best = int(_errors(r, 3).mean(axis=0).argmin())
    runs = r.of("neighbours", model=3, k=5)
    return [100.0 * run["errors"][best] / run["without"] for run in runs]


NEIGHBOUR_CLAIMS: Claims = {
    "CMI's set has the lowest MAE (model I)": lambda r: _excess(r, 1, RELEVANT[1]),
    "CMI's set has the lowest MAE (model II)": lambda r: _excess(r, 2, PAIR),
    "best sets hold for other k": lambda r: {
        f"model {MODELS[m]}, k = {k}": _excess(r, m, names, k)
        for m, names in ((1, RELEVANT[1]), (2, PAIR))
        for k in OTHER_K
    },
    "II: all inputs are not the best set": lambda r: (
        _errors(r, 2)[:, _place(2, RELEVANT[2])] - _errors(r, 2)[:, _place(2, PAIR)]
    ),
    "III: no set predicts well": _best_error,
}


def _synergy_explains(model: Any, names: Sequence[str]) -> Claims:
    return {
        f"{MODELS[model]}: synergy explains CMI above MI": lambda r: {
            "CMI - MI by KSG": _mean_bits(r, model, "ksg", "cmi", *names)
            - _mean_bits(r, model, "ksg", "mi", *names),
            "synergy - shared": _mean_bits(r, model, "count", "synergy", *names)
            - _mean_bits(r, model, "count", "shared", *names),
        }
    }


def _not_significant(r: Results) -> Array:
    """Return the percentage of terms of model III that do not exceed their critical value."""
    below = [
        _bits(r, 3, "ksg", one, RELEVANT[3])
        <= _bits(r, 3, "ksg", f"{one} critical_value", RELEVANT[3])
        for one in ("mi", "cmi")
    ]
    return 100.0 * np.mean(np.concatenate(below, axis=1), axis=1)


TERM_CLAIMS: Claims = {
    **_synergy_explains(1, RELEVANT[1]),
    **_synergy_explains(2, PAIR),
    "II: features with high synergy also carry redundancy": lambda r: {
        label: _mean_bits(r, 2, "count", what, *PAIR) - _mean_bits(r, 2, "count", what, "X1", "X4")
        for what, label in (("synergy", "synergy"), ("shared", "shared"), ("mi", "MI"))
    },
    "III: below threshold for most": _not_significant,
    "III: almost only synergy": lambda r: (
        100
        * _mean_bits(r, 3, "count", "synergy")
        / sum(_mean_bits(r, 3, "count", atom) for atom in ("unique1", "shared", "synergy"))
    ),
}

# ------------------------------------------------------------------------------- table and figures

#: The paper's true positives, true negatives, false positives and false negatives, in percent.
PAPER_RATES: dict[int, dict[str, tuple[float, ...]]] = {
    1: {"cmi": (100.0, 98.8, 1.2, 0.0), "mi": (81.0, 99.2, 0.8, 18.4)},
    2: {"cmi": (50.5, 99.8, 0.2, 49.5), "mi": (56.8, 99.2, 0.8, 43.3)},
    3: {"cmi": (3.5, 100.0, 0.0, 96.5), "mi": (3.3, 99.5, 0.5, 96.8)},
}


def _rates(r: Results) -> Iterable[Cell]:
    for model, roman in MODELS.items():
        for settings, label in SETTINGS.items():
            found = np.array(attempt(_found, r, model, settings))
            false = np.array(attempt(_false, r, model, settings))
            paper = PAPER_RATES[model].get(settings.partition("-")[0], (None,) * 4)
            values = (found, 100.0 - false, false, 100.0 - found)
            for rate, ours, theirs in zip(("TP", "TN", "FP", "FN"), values, paper, strict=True):
                yield Cell(f"Friedman {roman}", f"{label}: {rate}", ours, theirs)


def _each_model(drawn: Callable[..., Outcome], *rows: Any) -> Callable[[Results], Iterable[Any]]:
    """Return a function of the results that draws a panel for each row and model."""
    return lambda r: [attempt(drawn, r, model, *row) for row in rows for model in MODELS]


def _selected_panel(r: Results, model: Any, settings: str) -> Outcome:
    runs = _selections(r, model, settings)
    groups = (("relevant", "right", RELEVANT[model]), ("nuisance", "wrong", NUISANCE[model]))
    series = []
    for label, role, names in groups:
        one = mean_panel(
            "", "bars", runs, names, {"": (label, role)}, lambda s, _, x: share(s, [x])
        )
        series += one["series"]
    title = f"{SETTINGS[settings]}, model {MODELS[model]}"
    return panel(title, "bars", series, y_label="runs with it, %", top=100.0)


def _importance_panel(
    r: Results, model: Any, how: str, methods: Mapping[str, tuple[str, str]]
) -> Outcome:
    return mean_panel(
        f"Model {MODELS[model]}, {how}",
        "bars",
        r.of("methods", model=model),
        COLUMNS[model],
        methods,
        lambda run, method, name: run[method][name],
        y_label="importance, largest = 1",
    )


def _forward_panel(r: Results, model: Any) -> Any:
    series: list[Outcome] = []
    for method, label, role in (("lars", "LARS", "first"), ("forest", "forest", "second")):
        runs = attempt(_forward, r, model, method)
        one = mean_panel(
            "", "bars", runs, COLUMNS[model], {"": (label, role)}, lambda s, _, x: share(s, [x])
        )
        series += one["series"] if runs else []
    title = f"Model {MODELS[model]}, {N_SELECT[model]} columns"
    return series and panel(title, "bars", series, y_label="runs with it, %", top=100.0)


def _neighbour_panel(r: Results, model: Any) -> Outcome:
    means = _errors(r, model).mean(axis=0)
    series = []

    def spread(place: int) -> float:
        """Return the size of a set, moved sideways: multiples of the golden ratio are uniform."""
        return (place + 1).bit_count() + 0.6 * ((place + 1) * 0.618034 % 1.0 - 0.5)

    here: Sequence[int]
    places: dict[str, tuple[str, Sequence[int]]] = {"every set": ("plain", range(len(means)))}
    for settings in ("mi", "cmi"):
        runs = attempt(_selections, r, model, settings)
        counts = Counter(tuple(sorted(one)) for one in runs)
        names = max(sorted(counts), key=lambda one: counts[one], default=())
        here = [_place(model, names)] if names else []
        places[f"most frequent by {SETTINGS[settings]}"] = (settings, here)
    for label, (role, here) in places.items():
        series += [line(label, role, map(spread, here), means[list(here)])] if len(here) else []
    labels = {"x_label": "number of columns", "y_label": "mean absolute error"}
    return panel(f"Model {MODELS[model]}", "points", series, **labels)


BY = {"ksg": "KSG", "count": "bins of equal counts", "width": "bins of equal width"}


def _term_panel(r: Results, model: Any, by: str) -> Outcome:
    return mean_panel(
        f"Model {MODELS[model]}, {BY[by]}",
        "bars",
        r.of("terms", model=model),
        RELEVANT[model],
        {"mi": ("MI", "mi"), "cmi": ("CMI given the rest", "cmi")},
        lambda run, what, name: run[name][by][what],
        lambda run, what, name: run[name][by][f"{what} critical_value"],
        y_label="bit",
    )


def _atom_panel(r: Results, model: Any, by: str) -> Outcome:
    labels = ("unique to the input", "unique to the rest", "shared", "synergy")
    return mean_panel(
        f"Model {MODELS[model]}, {BY[by]}",
        "stacked",
        r.of("terms", model=model),
        RELEVANT[model],
        {atom: (label, atom) for atom, label in zip(ATOMS, labels, strict=True)},
        lambda run, atom, name: run[name][by][atom],
        y_label="bit",
    )


_LARS, _FOREST = ("LARS", "first"), ("forest", "second")
_EACH = [{"model": model} for model in MODELS]

PARTS = (
    Part(
        "selection",
        run_selection,
        [{**point, "settings": settings} for settings in SETTINGS for point in _EACH],
        quick_runs=2,
        seconds=0.8,
    ),
    Part("terms", run_terms, _EACH, quick_runs=1, seconds=0.3),
    Part("methods", run_methods, _EACH, quick_runs=1, seconds=1.6),
    *(
        Part(
            f"forward-{method}",
            run_forward,
            [{**point, "method": method} for point in _EACH],
            runs,
            quick_runs=1,
            seconds=seconds,
        )
        for method, runs, seconds in (("lars", 100, 0.4), ("forest", 60, 4.4))
    ),
    Part(
        "neighbours",
        run_neighbours,
        [{**point, "k": 5} for point in _EACH],
        quick_runs=1,
        seconds=2.4,
    ),
    Part(
        "neighbours-other-k",
        run_neighbours,
        [{"model": model, "k": k} for model in (1, 2) for k in OTHER_K],
        20,
        [],
        seconds=2.4,
    ),
)

TABLES = {
    "rates": _rates,
}

FIGURES = {
    "friedman-selected": _each_model(_selected_panel, *((settings,) for settings in SETTINGS)),
    "friedman-importances": _each_model(
        _importance_panel,
        ("as the paper", {"lars": _LARS, GROWN: _FOREST}),
        ("comparable", {"lars-standardised": _LARS, "forest": _FOREST}),
    ),
    "friedman-forward": _each_model(_forward_panel, ()),
    "friedman-neighbours": _each_model(_neighbour_panel, ()),
    "friedman-information": _each_model(_term_panel, *((by,) for by in BY)),
    "friedman-atoms": _each_model(_atom_panel, *((by,) for by in BINNINGS)),
}

CLAIMS: Claims = {
    **SELECTION_CLAIMS,
    **IMPORTANCE_CLAIMS,
    **FORWARD_CLAIMS,
    **NEIGHBOUR_CLAIMS,
    **TERM_CLAIMS,
}
