"""Means over runs, as figures and tables show them."""

from __future__ import annotations

from collections.abc import Sequence

from reproduction.agreement import estimate
from reproduction.figures import Role, Series


def percent(holds: Sequence[bool]) -> list[float]:
    """Return 100 where something holds and 0 where not, so that the mean is a percentage.

    Examples
    --------
    >>> percent([True, False])
    [100.0, 0.0]
    """
    return [100.0 if value else 0.0 for value in holds]


def share(names: Sequence[str], group: Sequence[str]) -> float:
    """Return how many of a group are among the names, in percent.

    Examples
    --------
    >>> share(["Z1", "W2", "W3"], ["W1", "W2", "W3", "W4"])
    50.0
    """
    return 100.0 * len(set(names) & set(group)) / len(group)


def mean_series(
    label: str,
    role: Role,
    x: Sequence[str] | Sequence[float],
    runs: Sequence[Sequence[float]],
    lines: Sequence[Sequence[float]] | None = None,
) -> Series:
    """Return the means over runs, with their standard errors where there are several.

    Parameters
    ----------
    label, role, x
        As a series has them.
    runs : sequence of sequences, shape (n_runs, n_values)
    lines : sequence of sequences, shape (n_runs, n_values), optional
        Lines of significance, of which the mean is shown.

    Examples
    --------
    >>> mean_series("MI", "mi", ["X1", "X2"], [[1.0, 0.0], [3.0, 0.0]])
    Series(label='MI', role='mi', x=['X1', 'X2'], y=[2.0, 0.0], error=[1.0, 0.0], threshold=None)
    """
    values = list(zip(*runs, strict=True))
    by_value = None if lines is None else list(zip(*lines, strict=True))
    return mean_bars(label, role, x, values, by_value)


def mean_bars(
    label: str,
    role: Role,
    x: Sequence[str] | Sequence[float],
    values: Sequence[Sequence[float]],
    lines: Sequence[Sequence[float]] | None = None,
) -> Series:
    """Do the same for values that are given category by category, of as many runs as each has.

    Examples
    --------
    >>> mean_bars("MI", "mi", ["X1", "X2"], [[1.0, 3.0], [0.0, 0.0, 0.0]]).y
    [2.0, 0.0]
    """
    found = [estimate(runs) for runs in values]
    several = all(each.runs > 1 for each in found)
    error = [each.standard_error for each in found] if several else None
    threshold = None if lines is None else [estimate(runs).mean for runs in lines]
    return Series(label, role, x, [each.mean for each in found], error, threshold)
