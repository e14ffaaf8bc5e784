"""An experiment of the paper: runs, and tables, claims and figures computed from their outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reproduction.agreement import Agreement, AgreementRule, Decided, estimate

#: Arguments of a run, such as {"model": 1, "settings": "cmi"}: plain values.
Arguments = Mapping[str, Any]

#: What a run returns: plain values, lists and dicts, as JSON has them.
Outcome = dict[str, Any]

Values = Sequence[float] | NDArray[Any]


class NotRunError(Exception):
    """A table, claim or panel needs runs that do not exist."""


class RunRecord(NamedTuple):
    """One run: its part, arguments and seed, its outcome, its time and its environment."""

    part: str
    point: Arguments
    seed: int
    outcome: Outcome
    seconds: float
    environment: str


class Results:
    """The outcomes of an experiment's runs.

    Examples
    --------
    >>> results = Results([RunRecord("toss", {"coin": 1}, 0, {"heads": 1}, 0.1, "here")])
    >>> results.of("toss", coin=1)
    [{'heads': 1}]
    """

    def __init__(self, records: Iterable[RunRecord]) -> None:
        self._records = sorted(records, key=lambda record: record.seed)

    def of(self, part: str, **point: Any) -> list[Outcome]:
        """Return the outcomes of a part with these arguments, ordered by seed."""
        found = [
            record.outcome
            for record in self._records
            if record.part == part
            and all(record.point.get(name) == value for name, value in point.items())
        ]
        if not found:
            raise NotRunError(part)
        return found


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns, and an empty list if runs are missing for it."""
    try:
        return function(*arguments)
    except NotRunError:
        return []


@dataclass(frozen=True)
class Part:
    """One kind of run, repeated with different seeds at each point.

    Parameters
    ----------
    name : str
    run : callable
        ``run(seed, **point)`` returns the outcome; a module-level function of its arguments only.
    points : sequence of Arguments
    runs : int
        Repetitions of each point.
    quick_points : sequence of Arguments, optional
        The points of a quick reproduction, if these are not all.
    quick_runs : int
        Repetitions in a quick reproduction.
    seconds : float
        Rough time of a run on one core: longer runs start first.
    uses_device : bool
        Whether the run takes ``device="cpu"`` or ``"cuda"``, and all cores on a CPU.
    cpu_runs : int, optional
        Repetitions without a GPU, if that is fewer.
    """

    name: str
    run: Callable[..., Outcome]
    points: Sequence[Arguments] = ({},)
    runs: int = 100
    quick_points: Sequence[Arguments] | None = None
    quick_runs: int = 3
    seconds: float = 1.0
    uses_device: bool = False
    cpu_runs: int | None = None


#: Values of a claim: one value a run, or several such sequences by label.
ClaimValues = Values | Decided | Mapping[str, Values | Decided]

#: How the values of each claim of an experiment are computed, one function for each condition.
Claims = dict[str, Any]


class Condition(NamedTuple):
    """A rule, the quantity it is applied to, and how that is computed from the results.

    If `values` returns several sequences by label, each must satisfy the rule, and the least
    favourable one is shown.
    """

    rule: AgreementRule
    measured: str
    values: Callable[[Results], ClaimValues]


@dataclass(frozen=True)
class Claim:
    """A statement of the paper in our words, and the conditions by which our runs decide it.

    `identity` says why no data could contradict it: it is then no evidence.
    """

    name: str
    statement: str
    remark: str
    conditions: Sequence[Condition]
    identity: str = ""

    def evaluate(self, results: Results) -> dict[str, Any]:
        """Return estimate, verdict and quantity of the least favourable condition."""
        found = []
        for rule, measured, function in self.conditions:
            values = attempt(function, results)
            by_label = values if isinstance(values, Mapping) else {"": values}
            for label, one in by_label.items():
                ours, holds = one if isinstance(one, Decided) else (estimate(one), None)
                margin = rule.margin(ours)
                order = list(Agreement).index(rule.judge(ours, holds))
                several = f", the least favourable of {len(by_label)}" if len(by_label) > 1 else ""
                text = measured + (f" ({label}{several})" if label else "")
                found.append((order, -math.inf if math.isnan(margin) else margin, text, ours))
        order, _, measured, ours = min(found, key=lambda one: one[:2])
        verdict = self.counted(list(Agreement)[order])
        return {"name": self.name, "measured": measured, "ours": ours, "verdict": verdict}

    def counted(self, verdict: Agreement) -> Agreement:
        """Return the verdict, where an identity that holds does not count as agreeing."""
        return Agreement.IDENTITY if self.identity and verdict == Agreement.AGREES else verdict


class Cell(NamedTuple):
    """One number of a table: where it stands, its runs, and the paper's number."""

    row: str
    column: str
    values: Values
    paper: float | None = None


@dataclass(frozen=True)
class Comparison:
    """A table of our numbers, beside the paper's where it has them."""

    name: str
    cells: Callable[[Results], Iterable[Cell]]
    title: str
    caption: str
    digits: int = 1


@dataclass(frozen=True)
class Figure:
    """Panels that are shown together; `panels` returns what `panel` makes, or [] if not run."""

    name: str
    panels: Callable[[Results], Iterable[Any]]
    title: str
    caption: str
    n_columns: int = 3


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper.

    `about` explains data, estimates and settings. `notes` are pairs of what the paper leaves open
    or misprints, and of what was done here.
    """

    name: str
    title: str
    where: str
    about: Sequence[str]
    parts: Sequence[Part]
    comparisons: Sequence[Comparison]
    claims: Sequence[Claim]
    figures: Sequence[Figure]
    notes: Sequence[Sequence[str]]


# ------------------------------------------------------------------------------ values of figures


def panel(title: str, kind: str, series: Sequence[Outcome], **options: Any) -> Outcome:
    """Return the numbers of one set of axes.

    Parameters
    ----------
    title : str
    kind : {"bars", "stacked", "lines", "points", "lattice"}
    series : sequence of dict
        See `line` and `means`.
    **options
        x_label, y_label, marks (vertical lines), top (least upper limit of y), nodes, edges.
    """
    defaults: Outcome = {
        "x_label": "",
        "y_label": "",
        "nodes": [],
        "edges": [],
        "marks": [],
        "top": None,
    }
    return {"title": title, "kind": kind, "series": list(series), **defaults, **options}


def line(label: str, role: str, x: Iterable[Any], y: Values, **options: Any) -> Outcome:
    """Return a series of a panel; its role decides the colour (see `reproduction.plots.LOOKS`)."""
    numbers = [float(value) for value in y]
    series = {"label": label, "role": role, "x": list(x), "y": numbers}
    return {**series, "error": None, "threshold": None, **options}


def means(
    label: str,
    role: str,
    x: Iterable[Any],
    values: Iterable[Values],
    critical_values: Iterable[Values] | None = None,
) -> Outcome:
    """Return a series of means over runs, with standard errors and mean critical values.

    Examples
    --------
    >>> means("MI", "mi", ["X1", "X2"], [[1.0, 3.0], [0.0, 0.0]])["error"]
    [1.0, 0.0]
    """
    found = [estimate(runs) for runs in values]
    several = all(one.runs > 1 for one in found)
    error = [one.standard_error for one in found] if several else None
    limits = critical_values
    threshold = None if limits is None else [estimate(runs).mean for runs in limits]
    return line(label, role, x, [one.mean for one in found], error=error, threshold=threshold)


def mean_panel(
    title: str,
    kind: str,
    runs: Sequence[Any],
    x: Iterable[Any],
    series: Mapping[str, tuple[str, str]],
    get: Callable[[Any, str, Any], float],
    limit: Callable[[Any, str, Any], float] | None = None,
    **options: Any,
) -> Outcome:
    """Return a panel of means over runs.

    Parameters
    ----------
    x : iterable
        Categories of bars, or numbers.
    series : mapping of key to (label, role)
    get : callable
        ``get(run, key, x)`` returns a value of one run.
    limit : callable, optional
        Returns the critical value of the same term.
    """
    x = list(x)
    shown = []
    for key, (label, role) in series.items():
        values = [[get(run, key, one) for run in runs] for one in x]
        limits = [[limit(run, key, one) for run in runs] for one in x] if limit else None
        shown.append(means(label, role, x, values, limits))
    return panel(title, kind, shown, **options)


# ------------------------------------------------------------------------------ values of claims


def percent(holds: Iterable[Any]) -> NDArray[np.float64]:
    """Return 100 where something holds and 0 elsewhere: the mean is a percentage."""
    return np.array([100.0 if value else 0.0 for value in holds])


def share(names: Sequence[str], group: Sequence[str]) -> float:
    """Return the percentage of a group that is among the names.

    Examples
    --------
    >>> share(["Z1", "W2", "W3"], ["W1", "W2", "W3", "W4"])
    50.0
    """
    return 100.0 * len(set(names) & set(group)) / len(group)


def difference(first: Values, second: Values) -> NDArray[np.float64]:
    """Return differences run by run, of the runs that both have."""
    runs = min(len(first), len(second))
    return np.asarray(first, dtype=float)[:runs] - np.asarray(second, dtype=float)[:runs]
