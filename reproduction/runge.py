"""Experiment IV: the model of Runge et al., with drivers Z and W and redundant children X."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.datasets import SyntheticDataset
from pidselect.datasets import runge as runge_data
from reproduction import regression
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
from reproduction.information import BINNINGS, N_SAMPLES, atoms, selected, term

Array = NDArray[np.float64]

#: The variables of each set, in the order of columns.
GROUPS = {"Z": ("Z1", "Z2", "Z3"), "W": ("W1", "W2", "W3", "W4"), "X": ("X1", "X2")}
VARIABLES = tuple(name for names in GROUPS.values() for name in names)
DRIVERS = (*GROUPS["Z"], *GROUPS["W"])

#: The paper's TP, TN, FP and FN in percent.
CMI_RATES, MI_RATES = (99.6, 97.0, 3.0, 0.4), (54.7, 92.5, 7.5, 45.3)

#: Labels of the settings and the paper's rates, which are compared with each type of backward
#: elimination.
SELECTIONS: dict[str, tuple[str, Sequence[float | None]]] = {
    "cmi": ("CMI", CMI_RATES),
    "mi": ("MI", MI_RATES),
    "mi-toolbox": ("MI, as the toolbox", MI_RATES),
    "mi-unpruned": ("MI, no backward", MI_RATES),
    "defaults": ("our defaults", (None, None, None, None)),
}
ESTIMATORS = {
    "ksg": ("KSG", "mi"),
    "count": ("plug-in, equal counts", "mi2"),
    "width": ("plug-in, equal width", "second"),
}
ATOM_LABELS = {
    "unique1": ("unique, first", "unique1"),
    "unique2": ("unique, others", "unique2"),
    "shared": ("shared", "shared"),
    "synergy": ("synergy", "synergy"),
}
IMPORTANCES = {
    "lars": ("LARS", "first"),
    "forest-training": ("Random forest, training samples", "second"),
    "lasso": ("Lasso", "third"),
    "svr": ("Linear SVR", "fourth"),
    "forest": ("Random forest, unseen samples", "second"),
}
LINEAR = ("lars", "lasso", "svr")
FORWARD = {"forward": ("LARS", "first"), "forward-forest": ("Random forest", "second")}

#: Sets that are marked in the figure of prediction errors.
MARKED: dict[str, tuple[Sequence[str], str]] = {
    "W and X": ((*GROUPS["W"], *GROUPS["X"]), "fourth"),
    "W": (GROUPS["W"], "second"),
    "all": (VARIABLES, "joint"),
    "Z and W": (DRIVERS, "third"),
    "Z": (GROUPS["Z"], "first"),
}

#: Features of a forward selection; the first four are those of a selection of four.
N_SELECT = 7

#: Key of the random stream of the shuffled target.
STREAM = 21

# ------------------------------------------------------------------------------------------- runs


def _data(seed: int) -> SyntheticDataset:
    return runge_data(N_SAMPLES, random_state=seed)


def run_selection(seed: int, settings: str) -> Outcome:
    """Select features."""
    return selected(_data(seed), seed, settings)


def run_terms(seed: int) -> Outcome:
    """Estimate the information of variables and sets, and atoms within and between the sets.

    Returns, for each estimator, "mi" of each variable, "cmi" of Z1 given Z2 and Z3, and "sets", the
    joint information of each set; and for each binning "atoms" of the first variable and the
    others of a set, and of Z and W; and the same for a "shuffled" target.
    """
    data = _data(seed)
    columns = dict(zip(data.names, data.X.T, strict=True))
    sets = {name: np.column_stack([columns[each] for each in GROUPS[name]]) for name in GROUPS}
    found: Outcome = {"mi": {}, "cmi": {}, "sets": {}}
    for binning in (None, *BINNINGS):
        how: dict[str, Any] = {"binning": binning, "seed": seed}
        by = binning or "ksg"
        found["mi"][by] = {name: term(x, data.y, **how) for name, x in columns.items()}
        found["cmi"][by] = term(columns["Z1"], data.y, sets["Z"][:, 1:], **how)
        found["sets"][by] = {
            name: term(joint, data.y, n_permutations=0, **how)["bits"]
            for name, joint in sets.items()
        }
    sources = {name: [sets[name][:, 0], sets[name][:, 1:]] for name in ("Z", "W")}
    sources["Z and W"] = [sets["Z"], sets["W"]]
    shuffled = np.random.default_rng((seed, STREAM)).permutation(data.y)
    for key, y in (("atoms", data.y), ("shuffled", shuffled)):
        found[key] = {
            binning: {name: atoms(pair, y, binning=binning) for name, pair in sources.items()}
            for binning in BINNINGS
        }
    return found


def run_methods(seed: int) -> Outcome:
    """Return importances, and the linear ones for one standard deviation of each column."""
    data = _data(seed)
    return {
        "importances": regression.importances(data, seed),
        "standardised": regression.linear_importances(data, seed, standardise=True),
    }


def run_forward(seed: int, method: str) -> Outcome:
    """Select seven variables by sequential forward selection."""
    return {"selected": regression.forward_selection(_data(seed), N_SELECT, seed, method)}


def run_neighbours(seed: int) -> Outcome:
    """Return the prediction error of each set of variables."""
    return {"errors": regression.subset_errors(_data(seed), seed)}


# --------------------------------------------------------------------------- values of the claims


def _selections(r: Results, settings: str) -> list[list[str]]:
    return [run["selected"] for run in r.of("selection", settings=settings)]


def _shares(selections: list[list[str]], names: Sequence[str], first: int | None = None) -> Array:
    """Return the percentage of some variables among the first of each selection."""
    return np.array([share(one[:first], names) for one in selections])


def _rate(r: Results, settings: str, group: str) -> Array:
    names = DRIVERS if group == "drivers" else GROUPS[group]
    return _shares(_selections(r, settings), names)


def _late(r: Results, settings: str, group: str) -> Array:
    """Return the number of variables of a set from the fourth step on."""
    runs = _selections(r, settings)
    return np.array([float(len(set(one[3:]) & set(GROUPS[group]))) for one in runs])


def _part(selections: Iterable[list[str]], group: str) -> Array:
    """Return the percentage of the selected variables that belong to a set."""
    return np.array([100.0 * len(set(s) & set(GROUPS[group])) / max(1, len(s)) for s in selections])


def _rank(selections: list[list[str]], group: str) -> Array:
    """Return the mean rank of a set in the order of inclusion; what is not selected is tenth."""
    last = len(VARIABLES) + 1
    return np.array(
        [
            np.mean([one.index(name) + 1 if name in one else last for name in GROUPS[group]])
            for one in selections
        ]
    )


def _mi(r: Results, group: str, by: str = "ksg", key: str = "bits") -> Array:
    """Return the mean mutual information, or critical value, of the variables of a set."""
    runs = [run["mi"][by] for run in r.of("terms")]
    return np.array([np.mean([run[name][key] for name in GROUPS[group]]) for run in runs])


def _synergy(r: Results, binning: str, group: str) -> Array:
    return np.array([run["atoms"][binning][group]["synergy"] for run in r.of("terms")])


def _importance(r: Results, method: str, group: str, kind: str = "importances") -> Array:
    runs = [run[kind][method] for run in r.of("methods")]
    return np.array([np.mean([run[name] for name in GROUPS[group]]) for run in runs])


def _lowest_correlation(r: Results) -> list[float]:
    found = []
    for run in r.of("methods"):
        lars, *others = ([run["importances"][by][name] for name in VARIABLES] for by in LINEAR)
        found.append(float(min(np.corrcoef(lars, other)[0, 1] for other in others)))
    return found


def _forward(r: Results, part: str) -> list[list[str]]:
    return [run["selected"] for run in r.of(part)]


def _by_method(values: Callable[[list[list[str]]], Any], r: Results) -> dict[str, Any]:
    labels = {"forward": "by LARS", "forward-forest": "by the forest"}
    return {label: attempt(lambda one: values(_forward(r, one)), p) for p, label in labels.items()}


def _number(names: Iterable[str]) -> int:
    """Return the number of a set of variables in `subset_errors`."""
    return sum(1 << VARIABLES.index(name) for name in names)


def _errors(r: Results, *names: str) -> Array:
    return np.array([run["errors"][_number(names) - 1] for run in r.of("neighbours")])


def _best_other(r: Results, sets: Iterable[int]) -> Array:
    """Return the error of the best set, except Z, less that of Z."""
    errors = np.array([run["errors"] for run in r.of("neighbours")])
    means = errors.mean(axis=0)
    others = [number for number in sets if number != _number(GROUPS["Z"])]
    best = min(others, key=lambda number: means[number - 1])
    return errors[:, best - 1] - _errors(r, *GROUPS["Z"])


def _more(r: Results, names: Sequence[str], base: str) -> Array:
    """Return how much larger the error of a set is than that of Z or W, in percent."""
    return 100.0 * (_errors(r, *names) / _errors(r, *GROUPS[base]) - 1.0)


# ----------------------------------------------------------------------------------------- claims

SELECTION_CLAIMS: Claims = {
    "CMI finds true features reliably": lambda r: _rate(r, "cmi", "drivers"),
    "MI misses more true features": lambda r: difference(
        _rate(r, "cmi", "drivers"), _rate(r, "mi", "drivers")
    ),
    "MI selects more X": lambda r: difference(_rate(r, "mi", "X"), _rate(r, "cmi", "X")),
    "MI finds fewer W": lambda r: difference(_rate(r, "cmi", "W"), _rate(r, "mi", "W")),
    "MI loses W more than Z": lambda r: (
        difference(_rate(r, "cmi", "W"), _rate(r, "mi", "W"))
        - difference(_rate(r, "cmi", "Z"), _rate(r, "mi", "Z"))
    ),
    "MI does not fail on Z": lambda r: difference(_rate(r, "mi", "Z"), _rate(r, "mi", "W")),
    "Z most informative, X least": lambda r: {
        "I(Z;Y) - I(W;Y)": _mi(r, "Z") - _mi(r, "W"),
        "I(W;Y) - I(X;Y)": _mi(r, "W") - _mi(r, "X"),
    },
    "single Z is significant": lambda r: _mi(r, "Z") - _mi(r, "Z", key="critical_value"),
    "Z1 more informative given Z2 and Z3": lambda r: np.array(
        [run["cmi"]["ksg"]["bits"] - run["mi"]["ksg"]["Z1"]["bits"] for run in r.of("terms")]
    ),
    **{
        f"synergy within Z comparable to within W{suffix}": lambda r, by=by: (
            _synergy(r, by, "Z") / max(_synergy(r, by, "W").mean(), 1e-9)
        )
        for by, suffix in (("count", ""), ("width", " (equal width)"))
    },
    **{
        f"a product has less synergy than a sum{suffix}": lambda r, by=by: (
            _synergy(r, by, "W") - _synergy(r, by, "Z")
        )
        for by, suffix in (("count", ""), ("width", " (equal width)"))
    },
    **{
        f"order of inclusion Z, W, X ({name.upper()})": lambda r, name=name: {
            f"{later} - {sooner}": _rank(_selections(r, name), later)
            - _rank(_selections(r, name), sooner)
            for sooner, later in (("Z", "W"), ("W", "X"))
        }
        for name in ("cmi", "mi")
    },
    "first three steps are Z": lambda r: {
        f"by {name.upper()}": _part([one[:3] for one in _selections(r, name)], "Z") - 50
        for name in ("cmi", "mi")
    },
    **{
        f"next steps are W ({name.upper()})": lambda r, name=name: (
            _part([one[3:] for one in _selections(r, name) if one[3:]], "W") - 50
        )
        for name in ("cmi", "mi")
    },
    "from step 4 CMI selects more W": lambda r: difference(
        _late(r, "cmi", "W"), _late(r, "mi", "W")
    ),
    "from step 4 MI selects more X": lambda r: difference(
        _late(r, "mi", "X"), _late(r, "cmi", "X")
    ),
}

METHOD_CLAIMS: Claims = {
    "LARS importance high for W only": lambda r: {
        other: _importance(r, "lars", "W") - 2 * _importance(r, "lars", other)
        for other in ("Z", "X")
    },
    "LARS gives Z and X the same small importance": lambda r: (
        _importance(r, "lars", "Z") - _importance(r, "lars", "X")
    ),
    "linear methods agree": _lowest_correlation,
    "forest importance high for W and Z, small for X": lambda r: {
        other: _importance(r, "forest-training", other) - 2 * _importance(r, "forest-training", "X")
        for other in ("Z", "W")
    },
    "X is least important to the forest": lambda r: percent(
        _importance(r, "forest-training", "X")
        < np.minimum(*(_importance(r, "forest-training", one) for one in ("Z", "W")))
    ),
    "forward LARS selects W with 4 features": lambda r: _shares(
        _forward(r, "forward"), GROUPS["W"], 4
    ),
    "forward forest selects W in about 60 %, with 4": lambda r: _shares(
        _forward(r, "forward-forest"), GROUPS["W"], 4
    ),
    "forward forest selects Z in 20 to 25 %, with 4": lambda r: _shares(
        _forward(r, "forward-forest"), GROUPS["Z"], 4
    ),
    "forward forest selects X as often, with 4": lambda r: (
        _shares(_forward(r, "forward-forest"), GROUPS["X"], 4)
        - _shares(_forward(r, "forward-forest"), GROUPS["Z"], 4)
    ),
    "with 7 both select W": lambda r: _by_method(lambda runs: _shares(runs, GROUPS["W"]), r),
    **{
        f"with 7 {group} in {low} to {high} %": lambda r, group=group: _by_method(
            lambda s: _shares(s, GROUPS[group]), r
        )
        for group, low, high in (("X", 70, 80), ("Z", 50, 60))
    },
    "forward selection selects W first": lambda r: {
        f"{other}, {label}": difference(ranks, base)
        for other in ("Z", "X")
        for (label, ranks), base in zip(
            _by_method(lambda s: _rank(s, other), r).items(),  # noqa: B023
            _by_method(lambda s: _rank(s, "W"), r).values(),
            strict=True,
        )
    },
    "forward selection selects false features and misses true ones": lambda r: _by_method(
        lambda runs: _shares(runs, GROUPS["X"]), r
    ),
    "forward selection does not follow the importances": lambda r: _by_method(
        lambda s: _shares(s, GROUPS["X"]) - _shares(s, GROUPS["Z"]), r
    ),
    "Z alone best in the nearest-neighbour test": lambda r: _best_other(
        r, range(1, 2 ** len(VARIABLES))
    ),
    "Z best of all sets of three": lambda r: _best_other(
        r, [_number(names) for names in combinations(VARIABLES, 3)]
    ),
    "no smaller set predicts as well as Z": lambda r: _best_other(
        r, [n for n in range(1, 2**9) if n.bit_count() < 3]
    ),
    "Z and W comparable to Z alone": lambda r: _more(r, DRIVERS, "Z"),
    "W alone much worse": lambda r: _more(r, GROUPS["W"], "Z") - 10,
    "W and X equally bad": lambda r: _more(r, (*GROUPS["W"], *GROUPS["X"]), "W"),
}

# ------------------------------------------------------------------------------ tables and figures


def _rates_table(r: Results) -> Iterable[Cell]:
    for settings, (row, paper) in SELECTIONS.items():
        found = np.array(attempt(_rate, r, settings, "drivers"))
        false = np.array(attempt(_rate, r, settings, "X"))
        values = (found, 100.0 - false, false, 100.0 - found)
        for column, ours, theirs in zip(("TP", "TN", "FP", "FN"), values, paper, strict=True):
            yield Cell(row, column, ours, theirs)


def _terms_table(r: Results) -> Iterable[Cell]:
    runs = attempt(r.of, "terms")
    for by, (column, _) in ESTIMATORS.items() if runs else ():
        joint = {group: np.array([run["sets"][by][group] for run in runs]) for group in GROUPS}
        yield from (Cell(f"{group}, alone", column, _mi(r, group, by)) for group in GROUPS)
        yield Cell("Z1, given Z2 and Z3", column, [run["cmi"][by]["bits"] for run in runs])
        yield from (Cell(f"{group}, together", column, bits) for group, bits in joint.items())
        for group, names in GROUPS.items():
            values = joint[group] - len(names) * _mi(r, group, by)
            yield Cell(f"{group}, more than its parts", column, values)


def _atoms_table(r: Results) -> Iterable[Cell]:
    runs = attempt(r.of, "terms")
    for kind, suffix in (("atoms", ""), ("shuffled", ", shuffled target")) if runs else ():
        for sources in ("Z", "W", "Z and W"):
            for atom, (label, _) in ATOM_LABELS.items():
                for by in BINNINGS:
                    values = [run[kind][by][sources][atom] for run in runs]
                    yield Cell(f"{sources}, {label}{suffix}", ESTIMATORS[by][0], values)


def _importances_table(r: Results) -> Iterable[Cell]:
    if not attempt(r.of, "methods"):
        return
    rows = [(one, "importances", " (unit)" if one in LINEAR else "") for one in IMPORTANCES]
    rows += [(one, "standardised", " (standard deviation)") for one in LINEAR]
    for method, kind, unit in rows:
        for group in GROUPS:
            yield Cell(IMPORTANCES[method][0] + unit, group, _importance(r, method, group, kind))


def _forward_table(r: Results) -> Iterable[Cell]:
    for part, (label, _) in FORWARD.items():
        for n_select in (4, 7):
            for group, names in GROUPS.items():
                if runs := attempt(_forward, r, part):
                    values = _shares(runs, names, n_select)
                    yield Cell(label, f"{group}, {n_select} features", values)


def _errors_table(r: Results) -> Iterable[Cell]:
    runs = attempt(r.of, "neighbours")
    if not runs:
        return
    errors = np.array([run["errors"] for run in runs])
    best = int(errors.mean(axis=0).argmin()) + 1
    names = [name for column, name in enumerate(VARIABLES) if best >> column & 1]
    rows = {label: _number(MARKED[label][0]) for label in ("Z", "Z and W", "W", "W and X", "all")}
    rows[f"best set: {', '.join(names)}"] = best
    only_z = _errors(r, *GROUPS["Z"])
    for row, number in rows.items():
        found = errors[:, number - 1]
        yield Cell(row, "error", found)
        yield Cell(row, "percent more than Z", 100.0 * (found / only_z - 1.0))


def _inclusion(r: Results, settings: str) -> Outcome:
    series = []
    groups = (("true feature", "right", DRIVERS), ("spurious feature", "wrong", GROUPS["X"]))
    for label, role, names in groups:
        series += _share_panel(_selections(r, settings), names, {"": (label, role)})["series"]
    title = f"Included: {SELECTIONS[settings][0]}"
    return panel(title, "stacked", series, y_label="percent of runs", top=100.0)


def _share_panel(
    runs: list[list[str]], names: Sequence[str], series: dict[str, tuple[str, str]]
) -> Outcome:
    return mean_panel("", "bars", runs, names, series, lambda one, _, name: share(one, [name]))


def _importance_panel(r: Results, methods: Sequence[str], title: str) -> Outcome:
    return mean_panel(
        title,
        "bars",
        r.of("methods"),
        VARIABLES,
        {one: IMPORTANCES[one] for one in methods},
        lambda run, method, name: run["importances"][method][name],
        y_label="relative importance",
    )


def _marginal_panel(r: Results) -> Outcome:
    return mean_panel(
        "Mutual information of each variable",
        "bars",
        r.of("terms"),
        VARIABLES,
        ESTIMATORS,
        lambda run, by, name: run["mi"][by][name]["bits"],
        lambda run, by, name: run["mi"][by][name]["critical_value"],
        y_label="I(·; Y), bit",
    )


def _joint_panel(r: Results) -> Outcome:
    values: dict[str, Callable[[Outcome, str], float]] = {
        "Z1": lambda run, by: run["mi"][by]["Z1"]["bits"],
        "Z1 given Z2, Z3": lambda run, by: run["cmi"][by]["bits"],
        "Z": lambda run, by: run["sets"][by]["Z"],
    }
    return mean_panel(
        "Z1, and its set",
        "bars",
        r.of("terms"),
        values,
        ESTIMATORS,
        lambda run, by, name: values[name](run, by),
        y_label="bit",
    )


def _atoms_panel(r: Results, kind: str, binning: str, title: str) -> Outcome:
    return mean_panel(
        title,
        "bars",
        r.of("terms"),
        ("Z", "W", "Z and W"),
        ATOM_LABELS,
        lambda run, atom, sources: run[kind][binning][sources][atom],
        y_label="bit",
    )


def _order_panel(r: Results) -> Any:
    series: list[Outcome] = []
    for settings in ("cmi", "mi"):
        runs = attempt(_selections, r, settings)
        labels = {"": (SELECTIONS[settings][0], settings)}
        one = mean_panel(
            "", "bars", runs, GROUPS, labels, lambda run, _, group: _rank([run], group)[0]
        )
        series += one["series"] if runs else []
    return series and panel("Order of inclusion", "bars", series, y_label="mean rank")


def _steps_panel(r: Results, settings: str) -> Outcome:
    runs = _selections(r, settings)
    steps = range(max(map(len, runs)))
    series = [
        line(
            group,
            role,
            [str(step + 1) for step in steps],
            [
                percent(set(one[step : step + 1]) & set(names) for one in runs).mean()
                for step in steps
            ],
        )
        for (group, names), role in zip(GROUPS.items(), ("first", "second", "wrong"), strict=True)
    ]
    title = f"Set of the variable of each step: {SELECTIONS[settings][0]}"
    labels = {"x_label": "step", "y_label": "percent of runs"}
    return panel(title, "stacked", series, **labels, top=100.0)


def _forward_panel(r: Results, n_select: int) -> Any:
    series: list[Outcome] = []
    for part, label in FORWARD.items():
        runs = [one[:n_select] for one in attempt(_forward, r, part)]
        series += _share_panel(runs, VARIABLES, {"": label})["series"] if runs else []
    title = f"Forward selection of {n_select}"
    return series and panel(title, "bars", series, y_label="percent of runs", top=100.0)


def _neighbours_panel(r: Results) -> Outcome:
    means = np.mean([run["errors"] for run in r.of("neighbours")], axis=0)
    sizes = [float(number.bit_count()) for number in range(1, 1 + len(means))]
    series = [line("other sets", "plain", sizes, means)]
    for label, (names, role) in MARKED.items():
        series.append(line(label, role, [float(len(names))], [means[_number(names) - 1]]))
    labels = {"x_label": "number of variables", "y_label": "mean absolute error"}
    return panel("Prediction by nearest neighbours", "points", series, **labels)


def _panels_of_the_paper(r: Results) -> Iterable[Any]:
    yield attempt(_inclusion, r, "cmi")
    yield attempt(_inclusion, r, "mi")
    yield attempt(_importance_panel, r, ("lars", "forest-training"), "Importance")
    yield attempt(_marginal_panel, r)
    yield attempt(_joint_panel, r)
    yield attempt(_atoms_panel, r, "atoms", "count", "Atoms, equal counts")
    yield attempt(_order_panel, r)
    yield from (attempt(_forward_panel, r, n_select) for n_select in (4, 7))
    yield attempt(_neighbours_panel, r)


def _other_panels(r: Results) -> Iterable[Any]:
    yield from (attempt(_inclusion, r, one) for one in ("mi-unpruned", "defaults"))
    yield from (attempt(_steps_panel, r, one) for one in ("cmi", "mi", "defaults"))
    yield attempt(_importance_panel, r, ("lasso", "svr", "forest"), "Importance, other methods")
    yield attempt(_atoms_panel, r, "atoms", "width", "Atoms, equal width")
    yield attempt(_atoms_panel, r, "shuffled", "count", "Atoms, shuffled target, equal counts")
    yield attempt(_atoms_panel, r, "shuffled", "width", "Atoms, shuffled target, equal width")


PARTS = (
    Part(
        "selection",
        run_selection,
        [{"settings": name} for name in SELECTIONS],
        quick_runs=2,
        seconds=1.6,
    ),
    Part("terms", run_terms, quick_runs=2, seconds=1.6),
    Part("methods", run_methods, quick_runs=2, seconds=1.5),
    Part("forward", run_forward, [{"method": "lars"}], quick_runs=2, seconds=0.4),
    Part("forward-forest", run_forward, [{"method": "forest"}], 50, quick_runs=1, seconds=5.0),
    Part("neighbours", run_neighbours, quick_runs=2, seconds=1.2),
)

TABLES = {
    "rates": _rates_table,
    "terms": _terms_table,
    "atoms": _atoms_table,
    "importances": _importances_table,
    "forward": _forward_table,
    "errors": _errors_table,
}

FIGURES = {
    "runge": _panels_of_the_paper,
    "runge-more": _other_panels,
}

CLAIMS: Claims = {**SELECTION_CLAIMS, **METHOD_CLAIMS}
