"""What an experiment is: parts that are run many times, and a report made from their runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reproduction.agreement import Claim, Comparison
from reproduction.figures import Figure

#: What a run is of, such as {"model": 1, "criterion": "cmi"}: plain values only.
Point = Mapping[str, str | int | float | bool]

#: What a run gives: plain values, lists and dicts, as JSON has them.
Outcome = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One kind of run, made for every point again and again with different seeds.

    Parameters
    ----------
    name : str
    run : callable
        ``run(seed, **point)`` returns the outcome of one run. It is a function of a module, so
        that other processes find it, and it depends on nothing but its arguments.
    points : sequence of Point
    runs : int
        For each point, in the full reproduction.
    quick_points : sequence of Point, optional
        The points of a quick reproduction, if these are not all.
    quick_runs : int
        For each point, in a quick reproduction.
    seconds : float
        Roughly, of one run on one core: longer ones go first, and the time left is told from it.
    on_gpu : bool
        Whether the run also takes ``device="cpu"`` or ``"cuda"``.
    gpu_seconds : float, optional
        Roughly, of one run on a GPU.
    cpu_runs : int, optional
        For each point where there is no GPU, if that is fewer.
    """

    name: str
    run: Callable[..., Outcome]
    points: Sequence[Point] = ({},)
    runs: int = 100
    quick_points: Sequence[Point] | None = None
    quick_runs: int = 3
    seconds: float = 1.0
    on_gpu: bool = False
    gpu_seconds: float | None = None
    cpu_runs: int | None = None


class Results:
    """The outcomes of an experiment's runs.

    Parameters
    ----------
    runs : mapping of part name to list of (point, seed, outcome)

    Examples
    --------
    >>> results = Results({"toss": [({"coin": 1}, 1, {"heads": 0}), ({"coin": 1}, 0, {"heads": 1}),
    ...                             ({"coin": 2}, 0, {"heads": 1})]})
    >>> results.of("toss", coin=1)
    [{'heads': 1}, {'heads': 0}]
    >>> results.of("throw")
    []
    """

    def __init__(self, runs: Mapping[str, Sequence[tuple[Point, int, Outcome]]]) -> None:
        self._runs = runs

    def of(self, part: str, **point: str | int | float | bool) -> list[Outcome]:
        """Return the outcomes of a part at points that have these values, ordered by seed.

        Empty if it was not run: a report shows what there is.
        """
        found = [
            (seed, outcome)
            for where, seed, outcome in self._runs.get(part, ())
            if all(where.get(key) == value for key, value in point.items())
        ]
        return [outcome for _, outcome in sorted(found, key=lambda pair: pair[0])]

    def points(self, part: str) -> list[Point]:
        """Return the points at which a part was run, in an order that depends on them alone."""
        seen = {str(sorted(where.items())): where for where, _, _ in self._runs.get(part, ())}
        return [seen[text] for text in sorted(seen)]


@dataclass(frozen=True)
class Note:
    """Something the paper leaves open or misprints, and what was done here."""

    found: str
    done: str


@dataclass(frozen=True)
class Findings:
    """What comes out of an experiment, ready to be shown."""

    comparisons: Sequence[Comparison] = ()
    claims: Sequence[Claim] = ()
    figures: Sequence[Figure] = ()


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper.

    Parameters
    ----------
    name : str
        As ``--only`` takes it.
    title : str
    where : str
        In the paper: section, table, figure.
    about : sequence of str
        Paragraphs: what the system is, what is estimated and how, what "our defaults" adds.
    parts : sequence of Part
    report : callable
        Makes findings from results, of whatever parts were run.
    notes : sequence of Note
    """

    name: str
    title: str
    where: str
    about: Sequence[str]
    parts: Sequence[Part]
    report: Callable[[Results], Findings]
    notes: Sequence[Note] = ()
