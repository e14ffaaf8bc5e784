"""Selection steps in plain loops over rearranged columns: slow, and easy to check.

Rows come from the schemes, which have twins of their own; all values come from
`mutual_information` of one rearranged column after the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import copysign, exp, isfinite, log, sqrt
from statistics import mean, median, stdev
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import naive
from pidselect import mutual_information
from pidselect.data import Block, read_block
from pidselect.significance import SURROGATES

Array = NDArray[np.float64]

#: Estimators whose square root is taken before values are compared.
SKEWED = ("gaussian", "copula", "discrete")

#: A standard deviation below this is rounding.
NO_SCALE = 1e-12

#: The square root of 2 N values that are skewed has no scale below this.
LEAST_SCALE = 0.5

#: Fewer candidates have centres and scales of their own.
FEWEST_TO_SHARE = 4

#: Those so many standard errors from the median are of another kind.
UNLIKE = 4


@dataclass(frozen=True)
class Rules:
    """How values are compared and tested; without pilot draws they are compared in bits."""

    estimators: tuple[str, ...]
    n_draws: int
    n_pilot: int = 0
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
    """One candidate: its score, that of each draw, and by which estimator, with its bits."""

    observed: float
    drawn: list[float]
    bits: float
    estimator: str


class Outcome(NamedTuple):
    """One step: all p-values are the largest over the tests, the rest is of the deciding test."""

    chosen: str
    p_values: dict[str, float]
    deciding: str
    scores: dict[str, float]
    bits: dict[str, float]
    estimators: dict[str, str]
    critical_value: float


#: One test: the scored candidates by name.
Contest = Mapping[str, Scored]


def orders(scheme: str, given: Array | None, words: Sequence[int], n: int, m: int) -> list[Array]:
    """Return the rows of the data as observed and of m draws."""
    block = Block() if given is None else read_block(given, "given")
    return [np.arange(n), *SURROGATES[scheme](block, n, None)(tuple(words), range(1, m + 1))]


def contest(asked: Mapping[str, Asked], y: Array, rules: Rules) -> Contest:
    """Score all candidates of a test: of each draw, the largest over the estimators counts.

    What each of them told comes first, as centres and scales are fixed for all of them together.
    """
    nats = {
        estimator: [
            [
                mutual_information(
                    one.x[r],
                    y if one.y is None else one.y,
                    one.given,
                    estimator=estimator,
                    unit="nat",
                )
                for r in one.rows
            ]
            for one in asked.values()
        ]
        for estimator in rules.estimators
    }
    scores = {name: scaled(values, name, rules, len(y)) for name, values in nats.items()}
    scored = {}
    for place, name in enumerate(asked):
        best = max(scores, key=lambda estimator: scores[estimator][place][0])
        drawn = [max(draw) for draw in zip(*(s[place] for s in scores.values()), strict=True)]
        bits = nats[best][place][0] / log(2)
        scored[name] = Scored(scores[best][place][0], drawn[1 + rules.n_pilot :], bits, best)
    return scored


def scaled(
    nats: Sequence[Sequence[float]], estimator: str, rules: Rules, n_samples: int
) -> list[list[float]]:
    """Return every candidate's values in bits, or in scales above the centre of its pilot draws.

    The pilot draws come after the first value, which is that of the data as observed.
    """
    if not rules.n_pilot:
        return [[value / log(2) for value in values] for values in nats]
    if estimator in SKEWED:
        nats = [[copysign(sqrt(abs(value)), value) for value in values] for values in nats]
    least = LEAST_SCALE / sqrt(2 * n_samples) if estimator in SKEWED else 0.0
    fixed = standards([values[1 : 1 + rules.n_pilot] for values in nats], least)
    return [
        [(value - centre) / scale if scale > 0 else 0.0 for value in values]
        for values, (centre, scale) in zip(nats, fixed, strict=True)
    ]


def standards(pilots: Sequence[Sequence[float]], least: float = 0.0) -> list[tuple[float, float]]:
    """Return centre and scale of each candidate; a scale of 0 says that it has none.

    Scales are drawn together first, as logarithms; then centres, whose errors follow from scales.
    """
    found = [(0.0, 0.0)] * len(pilots)
    n = len(pilots[0])
    usable = [
        place
        for place, pilot in enumerate(pilots)
        if all(map(isfinite, pilot)) and stdev(pilot) > NO_SCALE
    ]
    logarithms = [log(stdev(pilots[place])) for place in usable]
    scales = [exp(value) for value in drawn_together(logarithms, [0.5 / (n - 1)] * len(usable))]
    centres = drawn_together([mean(pilots[place]) for place in usable], [s**2 / n for s in scales])
    for place, centre, scale in zip(usable, centres, scales, strict=True):
        found[place] = centre, max(scale, least)
    for place, pilot in enumerate(pilots):
        if place not in usable and least > 0 and all(map(isfinite, pilot)):
            found[place] = mean(pilot), least
    return found


def drawn_together(values: Sequence[float], variances: Sequence[float]) -> list[float]:
    """Move estimates towards their mean, by the part of their variance that is due to chance.

    Those far from the median are of another kind: they neither move nor count.
    """
    alike = [
        place
        for place, (value, variance) in enumerate(zip(values, variances, strict=True))
        if abs(value - median(values)) <= UNLIKE * sqrt(variance)
    ]
    moved = list(values)
    if len(alike) < FEWEST_TO_SHARE:
        return moved
    middle = mean(values[place] for place in alike)
    apart = sum((values[place] - middle) ** 2 for place in alike) / (len(alike) - 1)
    null_atoms = mean(variances[place] for place in alike)
    due_to_chance = null_atoms / apart if apart > null_atoms else 1.0
    for place in alike:
        moved[place] = values[place] - due_to_chance * (values[place] - middle)
    return moved


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
        {name: ruling[name].bits for name in names},
        {name: ruling[name].estimator for name in names},
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
