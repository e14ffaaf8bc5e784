"""Surrogate schemes in plain loops over full distance matrices: slow, and easy to check."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

import naive
from pidselect.data import Block


def numbers(stream_key: Sequence[int]) -> Iterator[int]:
    """Fold the entries into one key; the t-th number is mix(key + t * GOLDEN), of 64 bits."""
    key = 0
    for entry in stream_key:
        key = naive.mix(((key ^ entry) + naive.GOLDEN) & naive.MASK)
    while True:
        key = (key + naive.GOLDEN) & naive.MASK
        yield naive.mix(key)


def below(bound: int, random: Iterator[int]) -> int:
    return next(random) * bound >> 64


def shuffle(values: list[int], random: Iterator[int]) -> None:
    for i in range(len(values) - 1, 0, -1):
        j = below(i + 1, random)
        values[i], values[j] = values[j], values[i]


def members_of(groups: Sequence[int]) -> list[list[int]]:
    return [[i for i, g in enumerate(groups) if g == group] for group in sorted(set(groups))]


def within(stream_key: Sequence[int], groups: Sequence[int]) -> list[int]:
    """Shuffle the rows of every group, one group after the other."""
    random, rows = numbers(stream_key), list(range(len(groups)))
    for members in members_of(groups):
        values = members.copy()
        shuffle(values, random)
        for i, value in zip(members, values, strict=True):
            rows[i] = value
    return rows


def shift(stream_key: Sequence[int], groups: Sequence[int]) -> list[int]:
    """Move the rows of every group round by a number of its own."""
    random, rows = numbers(stream_key), list(range(len(groups)))
    for members in members_of(groups):
        start = below(len(members), random)
        for i, value in zip(members, members[start:] + members[:start], strict=True):
            rows[i] = value
    return rows


def blocks(stream_key: Sequence[int], groups: Sequence[int]) -> list[int]:
    """Shuffle groups of equal size, the smallest first, and lay their rows side by side."""
    found = members_of(groups)
    order = within(stream_key, [len(members) for members in found])
    rows = list(range(len(groups)))
    for members, other in zip(found, order, strict=True):
        for i, value in zip(members, found[other], strict=True):
            rows[i] = value
    return rows


def local(stream_key: Sequence[int], neighbours: Sequence[Sequence[int]]) -> list[int]:
    """In random order, let each sample change places with a random neighbour, each only once."""
    random, order = numbers(stream_key), list(range(len(neighbours)))
    shuffle(order, random)
    partner: dict[int, int] = {}
    for i in order:
        free = [j for j in neighbours[i] if j != i and j not in partner]
        if i not in partner:
            j = free[below(len(free), random)] if free else i
            partner[i], partner[j] = j, i
    return [partner[i] for i in range(len(neighbours))]


def squared_distances(given: Block, n: int) -> np.ndarray:
    """Return (2 n distance)^2 for all pairs of samples, which are integers."""
    squared = np.zeros((n, n))
    for column in given.columns:
        values = column.values
        rank = [(values < value).sum() + (values == value).sum() / 2 for value in values]
        for i in range(n):
            for j in range(n):
                if math.isnan(values[i]) or math.isnan(values[j]):
                    apart = n * (math.isnan(values[i]) != math.isnan(values[j]))
                elif column.feature_type == "nominal":
                    apart = n * (values[i] != values[j])
                else:
                    apart = rank[i] - rank[j]
                squared[i, j] += (2 * apart) ** 2
    return squared
