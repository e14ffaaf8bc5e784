"""The slow, obvious twin of the criteria of pairs: every one from its definition, by counting.

A column is a list of labels. Every term is computed from entropies of its own, none from another
term by the chain rule. Values are in nats.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from math import log

Labels = Sequence[int]
Criterion = Callable[[Labels, Sequence[Labels], Labels], float]


def entropy(*columns: Labels) -> float:
    """Return H of several columns together."""
    n = len(columns[0])
    return -sum(
        count / n * log(count / n) for count in Counter(zip(*columns, strict=True)).values()
    )


def mi(x: Labels, y: Labels) -> float:
    """Return I(x; y)."""
    return entropy(x) + entropy(y) - entropy(x, y)


def cmi(x: Labels, y: Labels, s: Labels) -> float:
    """Return I(x; y | s)."""
    return entropy(x, s) + entropy(y, s) - entropy(x, y, s) - entropy(s)


def joint(c: Labels, s: Labels, y: Labels) -> float:
    """Return I(cs; y)."""
    return entropy(c, s) + entropy(y) - entropy(c, s, y)


def linear(beta: float, gamma: float) -> Criterion:
    """Return J' with these weights."""

    def rate(c: Labels, selected: Sequence[Labels], y: Labels) -> float:
        value = mi(c, y)
        for s in selected:
            value += -beta * mi(c, s) + gamma * cmi(c, s, y)
        return value

    return rate


def mrmr(c: Labels, selected: Sequence[Labels], y: Labels) -> float:
    return linear(1 / max(1, len(selected)), 0)(c, selected, y)


def jmi(c: Labels, selected: Sequence[Labels], y: Labels) -> float:
    return linear(1 / max(1, len(selected)), 1 / max(1, len(selected)))(c, selected, y)


def cmim(c: Labels, selected: Sequence[Labels], y: Labels) -> float:
    return min([cmi(c, y, s) for s in selected], default=mi(c, y))


def icap(c: Labels, selected: Sequence[Labels], y: Labels) -> float:
    return mi(c, y) - sum(max(0.0, mi(c, s) - cmi(c, s, y)) for s in selected)


def disr(c: Labels, selected: Sequence[Labels], y: Labels) -> float:
    """Return the gain in symmetrical relevance; a ratio of 1 comes as log 2, as one bit does."""
    if not selected:
        return mi(c, y)
    return log(2) * sum(
        joint(c, s, y) / entropy(c, s, y) - mi(s, y) / entropy(s, y) for s in selected
    )


def pid(c: Labels, selected: Sequence[Labels], y: Labels) -> float:
    """Return the largest over partners of the smallest unique information."""
    if not selected:
        return mi(c, y)
    contexts = []
    for place, t in enumerate(selected):
        told = cmi(c, y, t)
        others = [*selected[:place], *selected[place + 1 :]]
        unique = [told, *(told - min(told, cmi(s, y, t), mi(c, s)) for s in others)]
        contexts.append(min(unique))
    return max(contexts)


CRITERIA: dict[str, Criterion] = {
    "mim": linear(0, 0),
    "mifs": linear(1, 0),
    "mrmr": mrmr,
    "cife": linear(1, 1),
    "jmi": jmi,
    "cmim": cmim,
    "disr": disr,
    "icap": icap,
    "pid": pid,
}
