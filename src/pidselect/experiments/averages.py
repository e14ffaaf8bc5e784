"""Means over runs, as figures and tables show them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pidselect.experiments.agreement import estimate
from pidselect.report import Series
from pidselect.report.figures import Role


def percent(holds: Sequence[bool]) -> list[float]:
    """Return 100 where something holds and 0 where not, so that the mean is a percentage.

    Examples
    --------
    >>> percent([True, False])
    [100.0, 0.0]
    """
    return [100.0 if value else 0.0 for value in holds]


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
    found = [estimate(values) for values in zip(*runs, strict=True)]
    error = [value.standard_error for value in found] if len(runs) > 1 else None
    threshold = None if lines is None else [float(value) for value in np.mean(lines, axis=0)]
    return Series(label, role, x, [value.mean for value in found], error, threshold)
