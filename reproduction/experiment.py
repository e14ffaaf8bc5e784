"""An experiment of the paper: runs, and tables and claims computed from their outcomes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

from numpy.typing import NDArray

from reproduction.agreement import Agreement, Decided, Rule, estimate

#: Arguments of a run, such as {"model": 1, "settings": "cmi"}: plain values.
Arguments = Mapping[str, Any]

#: What a run returns: plain values, lists and dicts, as JSON has them.
Outcome = dict[str, Any]

Values = Sequence[float] | NDArray[Any]


class NotRunError(Exception):
    """A table or claim needs runs that do not exist."""


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


def each(**values: Iterable[Any]) -> list[Arguments]:
    """Return the arguments of all combinations of some values.

    Examples
    --------
    >>> each(model=[1, 2], k=[5])
    [{'model': 1, 'k': 5}, {'model': 2, 'k': 5}]
    """
    return [dict(zip(values, one, strict=True)) for one in product(*values.values())]


def finest(runs: Sequence[Outcome], grid: str) -> list[Outcome]:
    """Return the runs on the finest grid: quick and full ones may be in one folder."""
    most = max(len(run[grid]) for run in runs)
    return [run for run in runs if len(run[grid]) == most]


@dataclass(frozen=True)
class Part:
    """One kind of run, repeated with different seeds at each point.

    ``run(seed, **point)`` returns the outcome. A quick reproduction makes `quick_runs` at the
    `quick_points`, if these are not all points. `seconds` is the rough time of a run: longer runs
    start first. A run that takes ``device="cpu"``, with all cores, or "cuda" has `cpu_runs`.
    """

    name: str
    run: Callable[..., Outcome]
    points: Sequence[Arguments] = ({},)
    runs: int = 100
    quick_points: Sequence[Arguments] | None = None
    quick_runs: int = 3
    seconds: float = 1.0
    cpu_runs: int | None = None


#: How the values of each claim are computed: values of each run, several of them by label, or one
#: of these for each condition.
Claims = dict[str, Any]


class Condition(NamedTuple):
    """A rule (None if no run decides), the quantity it is for, and how that is computed."""

    rule: Rule | None
    measured: str
    values: Any


class Claim(NamedTuple):
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
            by_label = function if isinstance(function, Mapping) else attempt(function, results)
            by_label = by_label if isinstance(by_label, Mapping) else {"": by_label}
            for label, one in by_label.items():
                values = attempt(one, results) if callable(one) else one
                decided = values if isinstance(values, Decided) else Decided(estimate(values))
                margin = math.nan if rule is None else rule.margin(decided.ours)
                verdict = Agreement.UNCHECKED if rule is None else rule.judge(*decided)
                several = f", the least favourable of {len(by_label)}" if len(by_label) > 1 else ""
                text = measured + (f" ({label}{several})" if label else "")
                order = list(Agreement).index(verdict)
                margin = -math.inf if math.isnan(margin) else margin
                found.append((order, margin, text, decided.ours))
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


class Experiment(NamedTuple):
    """An experiment of the paper: its texts, its runs, and what is computed from them."""

    name: str
    text: Mapping[str, Any]
    parts: Sequence[Part]
    tables: Mapping[str, Callable[[Results], Iterable[Cell]]]
    claims: Sequence[Claim]
