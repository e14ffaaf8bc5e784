"""The tables of the comparison, and what is measured of a selection from them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import synergy_data
from blankets import targets_of
from networks import Network, load_network
from numpy.typing import NDArray
from prediction import N_PROBES, TABLES, Problem, copies, with_probes
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, StratifiedKFold

Array = NDArray[Any]
Measures = dict[str, float]

N_BLANKET, N_TARGETS = 1000, 2
N_NULL, N_NULL_COLUMNS = 200, 20
N_LOCI_SAMPLES = 800
N_FOLDS = 5

#: Networks of blankets.py, without the largest.
NETWORKS = ("asia", "sachs", "win95pts", "hepar2", "hailfinder")
REAL = ("iris", "wine", "breast_cancer", "diabetes")
#: Rows and columns of the tables that are timed.
SIZES = ((300, 10), (300, 40), (1000, 10), (1000, 40))


@dataclass(frozen=True, eq=False)
class Table:
    """A table, its target (integers are classes), and the truth as far as it is known."""

    X: Array
    y: Array
    groups: tuple[frozenset[int], ...] = ()  # one column of each is to be found
    nominal: Sequence[int] = ()  # columns of labels
    probes: Sequence[int] = ()
    test: tuple[Array, Array] | None = None  # rows left out, for predictors

    def to_arrays(self) -> dict[str, Array]:
        """Return what a worker reads."""
        mask = np.arange(self.X.shape[1])
        arrays = {"X": self.X, "y": self.y, "n_features": np.array(len(self.groups))}
        arrays |= {"nominal": np.isin(mask, self.nominal), "probes": np.isin(mask, self.probes)}
        if self.test is not None:
            arrays |= {"X_test": self.test[0], "y_test": self.test[1]}
        return arrays


# ---------------------------------------------------------------------------- measures


def agreement(table: Table, selected: set[int]) -> Measures:
    """Return recall, precision (none if nothing is selected) and F1; copies count as false."""
    n_found = sum(bool(selected & group) for group in table.groups)
    found: Measures = {
        "recall": n_found / len(table.groups),
        "f1": 2 * n_found / (len(selected) + len(table.groups)),
        "false": len(selected) - n_found,
    }
    return found | ({"precision": n_found / len(selected)} if selected else {})


def planted(table: Table, selected: set[int]) -> Measures:
    """Return the same, with the number of further copies and of probes apart."""
    in_groups = sum(len(selected & group) for group in table.groups)
    found = agreement(table, selected)
    copies = in_groups - round(found["recall"] * len(table.groups))
    return found | {"copies": copies, "probes": len(selected & {*table.probes})}


def counts(table: Table, selected: set[int]) -> Measures:
    """Return the number of selected columns, and of probes among them."""
    return {"columns": len(selected), "probes": len(selected & {*table.probes})}


def false_positives(table: Table, selected: set[int]) -> Measures:
    """Return whether anything is selected, and how many columns."""
    return {"any": float(bool(selected)), "columns": len(selected)}


# ---------------------------------------------------------------------------- tables


@cache
def network(name: str) -> Network:
    """Read a network once."""
    return load_network(name)


def blanket(name: str, place: int, seed: int) -> Table:
    """Return a sample without the target; the blanket is to be found."""
    net = network(name)
    target = targets_of(net, N_TARGETS)[place]
    sample = net.sample(N_BLANKET, np.random.default_rng([seed, len(net.names)]))
    y, members = sample.pop(target), net.blanket(target)
    groups = tuple(frozenset([i]) for i, column in enumerate(sample) if column in members)
    return Table(np.column_stack([*sample.values()]), y, groups, range(len(sample)))


def joint(make: Callable[[np.random.Generator], synergy_data.Problem], seed: int) -> Table:
    """Return one of the tables of synergy.py."""
    problem = make(np.random.default_rng(seed))
    groups = tuple(frozenset([column]) for column in sorted(problem.relevant))
    labels = [int(name[1:]) for name in problem.types]
    return Table(problem.X, problem.y, groups, labels)


def with_copies(has_classes: bool, seed: int) -> Table:
    """Return six relevant columns, each with a noisy copy, two with exact ones, and probes.

    300 rows; the target is a number, or whether it is above its median.
    """
    problem = with_probes(copies(seed), N_PROBES, seed)
    y = (problem.y > np.median(problem.y)).astype(int) if has_classes else problem.y
    groups = tuple(frozenset({i, 6 + i, *([12 + i] if i < 2 else [])}) for i in range(6))
    return Table(problem.X, y, groups, probes=problem.probes)


def real(name: str, seed: int) -> Table:
    """Return the training and test rows of one outer fold, with probes; five seeds are a round."""
    made = Problem(*load_iris(return_X_y=True)) if name == "iris" else TABLES[name]()
    round_, fold = divmod(seed, N_FOLDS)
    problem = with_probes(made, N_PROBES, round_)
    splitter = KFold if problem.is_numeric else StratifiedKFold
    folds = splitter(N_FOLDS, shuffle=True, random_state=round_).split(problem.X, problem.y)
    train, test = [*folds][fold]
    X, y = problem.X, problem.y
    return Table(X[train], y[train], probes=problem.probes, test=(X[test], y[test]))


def unrelated(sort: str, seed: int) -> Table:
    """Return a table in which no column is relevant: continuous, mixed, or of two classes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_NULL, N_NULL_COLUMNS))
    y: Array = rng.standard_normal(N_NULL)
    labels: Sequence[int] = ()
    if sort == "mixed":
        labels = range(0, N_NULL_COLUMNS, 2)
        X[:, labels] = rng.integers([2 + place % 4 for place in labels], size=(N_NULL, len(labels)))
    if sort == "classes":
        y = rng.integers(2, size=N_NULL)
    return Table(X, y, nominal=labels)


def friedman(n_samples: int, n_columns: int, seed: int) -> Table:
    """Return Friedman's first function of five columns among uniform ones, to be timed."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n_samples, n_columns))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    y += 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(n_samples)
    return Table(X, y, tuple(frozenset([column]) for column in range(5)))


# ---------------------------------------------------------------------------- tasks


class Case(NamedTuple):
    """Tables of one sort, by seed; means are those of all cases of the same title."""

    title: str
    make: Callable[[int], Table]


@dataclass(frozen=True)
class Task:
    """What is to be found in the tables of some cases, and how many tables there are of each."""

    title: str
    cases: dict[str, Case]
    measure: Callable[[Table, set[int]], Measures]
    runs: int
    runs_slow: int | None = None  # of methods that take long
    extra: tuple[str, ...] = field(default=())  # methods besides the selectors

    def n_runs(self, is_slow: bool) -> int:
        """Return the number of tables of each case."""
        return self.runs_slow if is_slow and self.runs_slow else self.runs


JOINT: dict[str, tuple[str, Callable[[np.random.Generator], synergy_data.Problem]]] = {
    "loci": (
        f"two of 20 loci without marginal effects, N = {N_LOCI_SAMPLES}",
        partial(synergy_data.loci, n_samples=N_LOCI_SAMPLES),
    ),
    "xor": ("class: sign of x1 x2, 20 columns, N = 1,000", synergy_data.xor),
    "labels": ("class: (a + b) mod 3 of labels, 20 columns, N = 1,000", synergy_data.three_labels),
    "product": ("number: x1 x2 + noise, 20 columns, N = 1,000", synergy_data.product_normal),
    "given": ("number: 2 s + x1 x2 + noise, 20 columns, N = 1,000", synergy_data.given_number),
}


def blanket_cases() -> Iterator[tuple[str, Case]]:
    """Yield some targets of every network."""
    for name in NETWORKS:
        for place in range(N_TARGETS):
            yield f"{name} {place + 1}", Case(name, partial(blanket, name, place))


TASKS = {
    "blankets": Task("Markov blankets", dict(blanket_cases()), agreement, 4),
    "synergy": Task(
        "Synergy",
        {name: Case(title, partial(joint, make)) for name, (title, make) in JOINT.items()},
        agreement,
        20,
        10,
    ),
    "copies": Task(
        "Copies and probes",
        {
            "number": Case("numeric target", partial(with_copies, False)),
            "class": Case("two classes", partial(with_copies, True)),
        },
        planted,
        20,
        10,
    ),
    "prediction": Task(
        "Prediction",
        {name: Case(name.replace("_", " "), partial(real, name)) for name in REAL},
        counts,
        5,
        extra=("all",),
    ),
    "seconds": Task(
        "Time",
        {f"{n} x {p}": Case(f"{n:,} x {p}", partial(friedman, n, p)) for n, p in SIZES},
        agreement,
        3,
        1,
    ),
    "null": Task(
        "No relevant column",
        {
            "continuous": Case(
                "continuous columns, numeric target", partial(unrelated, "continuous")
            ),
            "mixed": Case(
                "half of the columns labels, numeric target", partial(unrelated, "mixed")
            ),
            "classes": Case("continuous columns, two classes", partial(unrelated, "classes")),
        },
        false_positives,
        100,
        20,
    ),
}
