"""Selection steps in plain loops over rearranged columns: slow, and easy to check.

Rows come from the schemes, which have twins of their own; all values come from
`mutual_information` of one rearranged column after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import naive
from pidselect import mutual_information
from pidselect.data import Block, read_block
from pidselect.significance.surrogates import SURROGATES

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rules:
    """How values are computed and tested."""

    estimator: str
    n_draws: int
    alpha: float = 0.05


class Asked(NamedTuple):
    """One candidate before the test: its column, what is given, and the rows of every draw.

    Residuals are tested against those of the target, `y`.
    """

    x: Array
    given: Array | None
    rows: Sequence[Array]
    y: Array | None = None


class Scored(NamedTuple):
    """One candidate: its bits, and those of each draw."""

    observed: float
    drawn: list[float]


class Outcome(NamedTuple):
    """One step: all p-values are the largest over the tests, the rest is of the deciding test."""

    chosen: str
    p_values: dict[str, float]
    deciding: str
    scores: dict[str, float]
    critical_value: float


#: One test: the scored candidates by name.
Contest = Mapping[str, Scored]


def orders(scheme: str, given: Array | None, words: Sequence[int], n: int, m: int) -> list[Array]:
    """Return the rows of the data as observed and of m draws."""
    block = Block() if given is None else read_block(given, "given")
    return [np.arange(n), *SURROGATES[scheme](block, n, None)(tuple(words), range(1, m + 1))]


def contest(asked: Mapping[str, Asked], y: Array, rules: Rules) -> Contest:
    """Score all candidates of a test in bits."""
    scored = {}
    for name, one in asked.items():
        observed, *drawn = [
            mutual_information(
                one.x[r], y if one.y is None else one.y, one.given, estimator=rules.estimator
            )
            for r in one.rows
        ]
        scored[name] = Scored(observed, drawn)
    return scored


def up_to_the_first_without_any(contests: Mapping[str, Contest], rules: Rules) -> list[str]:
    """Return the tests up to the first in which no candidate is significant."""
    run = []
    for test, contest in contests.items():
        run.append(test)
        null = naive.maximum_statistic(np.array([scored.drawn for scored in contest.values()]))
        p = [naive.p_value(scored.observed, null) for scored in contest.values()]
        if min(p) > rules.alpha + 1e-12:
            break
    return run


def judge(contests: Mapping[str, Contest], rules: Rules) -> Outcome:
    """Choose a candidate by the test that speaks least for it; the largest p-value decides."""
    contests = {test: contests[test] for test in up_to_the_first_without_any(contests, rules)}
    names = list(next(iter(contests.values())))
    null = {
        test: naive.maximum_statistic(np.array([contest[name].drawn for name in names]))
        for test, contest in contests.items()
    }
    p = {
        test: {name: naive.p_value(contest[name].observed, null[test]) for name in names}
        for test, contest in contests.items()
    }
    weakest = [min(c[name].observed for c in contests.values()) for name in names]
    chosen = names[naive.strongest(weakest)]
    deciding = min(contests, key=lambda test: (-p[test][chosen], contests[test][chosen].observed))
    ruling = contests[deciding]
    return Outcome(
        chosen,
        {name: max(p[test][name] for test in contests) for name in names},
        deciding,
        {name: ruling[name].observed for name in names},
        naive.critical_value(null[deciding], rules.alpha),
    )


def step_down(contests: Mapping[str, Contest], order: Sequence[str]) -> dict[str, float]:
    """Return p-values of the strongest down to the weakest, each against those not before it."""
    final: dict[str, float] = {}
    for rank, name in enumerate(order):
        for contest in contests.values():
            null = [
                max(values)
                for values in zip(*(contest[left].drawn for left in order[rank:]), strict=True)
            ]
            p = naive.p_value(contest[name].observed, null)
            final[name] = max([p, *final.values()]) if name not in final else max(p, final[name])
    return final
