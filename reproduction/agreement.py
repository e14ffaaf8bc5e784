"""Rules that decide whether a number or a statement of the paper agrees with our runs.

A number of the paper is a mean of 100 runs. If these vary as our n runs do, the difference of the
two means has a standard error of ours times the square root of 1 + n / 100, and beyond 2.58 of
these it is significant at the 1 % level. A statement about an order is tested on differences run by
run, at the same level. Other statements name their limit. A statement that holds for any data, by
definition or by counting, is an identity: it is computed, but does not count as agreeing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

#: Standard errors beyond which a difference is significant at the 1 % level.
CRITICAL = 2.58

#: Number of runs behind a number of the paper's tables.
PAPER_RUNS = 100

#: With fewer runs, a difference is not decided.
FEW_RUNS = 20


class Agreement(StrEnum):
    """Result of a comparison with the paper, the least favourable first."""

    DIFFERS = "differs"
    NOT_RUN = "not run"
    UNDECIDED = "undecided"
    UNCHECKED = "unchecked"
    IDENTITY = "identity"
    AGREES = "agrees"


class Estimate(NamedTuple):
    """Mean of the runs, its standard error, and their number."""

    mean: float
    standard_error: float
    runs: int

    @property
    def tolerance(self) -> float:
        """Largest difference from a mean of the paper that is not significant."""
        error = 0.0 if math.isnan(self.standard_error) else self.standard_error
        return CRITICAL * error * math.sqrt(1.0 + self.runs / PAPER_RUNS)


def estimate(values: Sequence[float] | NDArray[Any]) -> Estimate:
    """Return mean and standard error; NaN where there are too few runs for them.

    Examples
    --------
    >>> estimate([1.0, 2.0, 3.0]).mean, estimate([]).runs
    (2.0, 0)
    """
    runs = len(values)
    mean = float(np.mean(values)) if runs else math.nan
    error = float(np.std(values, ddof=1) / np.sqrt(runs)) if runs > 1 else math.nan
    return Estimate(mean, error, runs)


def compare(ours: Estimate, paper: float) -> Agreement:
    """Compare a mean with a number of the paper.

    Where all runs are equal, the standard error is that of a percentage halfway between both
    numbers, as for two percentages that are assumed to be equal.

    Examples
    --------
    >>> [str(compare(Estimate(mean, 2.0, 100), paper=95.0)) for mean in (93.0, 20.0)]
    ['agrees', 'differs']
    """
    if ours.runs == 0:
        return Agreement.NOT_RUN
    if ours.runs < FEW_RUNS:
        is_exact = ours.mean == paper and not ours.standard_error > 0
        return Agreement.AGREES if is_exact else Agreement.UNDECIDED
    if ours.standard_error == 0:
        share = (ours.mean + paper) / 2.0
        error = math.sqrt(max(0.0, share * (100.0 - share)) / ours.runs)
        ours = ours._replace(standard_error=error)
    within = abs(ours.mean - paper) <= ours.tolerance
    return Agreement.AGREES if within else Agreement.DIFFERS


class Rule(NamedTuple):
    """A condition on the mean of the runs.

    `margin` is by how much an estimate satisfies the condition. One that holds agrees from
    `min_runs` on, one that does not differs from `deciding_runs` on: 1 for exact numbers.
    """

    text: str
    margin: Callable[[Estimate], float] = lambda ours: 0.0
    min_runs: int = 2
    deciding_runs: int = FEW_RUNS

    def judge(self, ours: Estimate, holds: bool | None = None) -> Agreement:
        """Return whether the paper's statement agrees.

        `holds` says whether the condition holds, where the estimate does not decide it.
        """
        if ours.runs == 0:
            return Agreement.NOT_RUN
        if holds is None:
            holds = self.margin(ours) >= 0.0
        if holds and ours.runs >= self.min_runs:
            return Agreement.AGREES
        is_decided = ours.runs >= self.deciding_runs
        return Agreement.DIFFERS if is_decided else Agreement.UNDECIDED


class Decided(NamedTuple):
    """An estimate with the decision on it, where that follows from more than the mean."""

    ours: Estimate
    holds: bool | None = None


def parse_rule(text: str) -> Rule | None:
    """Return the rule of a row of ``claims.csv``; None for a statement that no run decides.

    Examples
    --------
    >>> parse_rule("at least 95").text
    'mean at least 95'
    """
    name = re.sub(r"( -?[\d.]+(e-?\d+)?| -?inf)+$", "", text)
    numbers = [float(number) for number in text.removeprefix(name).split()]
    match name, numbers:
        case "unchecked", []:
            return None
        case "above", []:
            # Zero is not above zero.
            return Rule(
                f"mean more than {CRITICAL} standard errors above 0",
                lambda ours: (
                    ours.mean - CRITICAL * ours.standard_error - (0.0 if ours.mean > 0 else 5e-324)
                ),
            )
        case "not below" | "not above", []:
            sign, where = (1.0, "below") if name == "not below" else (-1.0, "above")
            return Rule(
                f"mean not more than {CRITICAL} standard errors {where} 0",
                lambda ours: sign * ours.mean + max(0.0, CRITICAL * ours.standard_error),
                FEW_RUNS,
            )
        case "equal", []:  # the columns of a table are exchangeable: see `equal_columns`
            return Rule("Cochran's Q finds no difference at the 1 % level")
        case "at least", [limit]:
            return Rule(f"mean at least {limit:g}", lambda ours: ours.mean - limit)
        case "at most", [limit]:
            return Rule(f"mean at most {limit:g}", lambda ours: limit - ours.mean)
        case "between", [low, high, *runs]:
            shown = f"mean between {low:g} and {high:g}"
            shown += "".join(f" ({number:g} runs decide)" for number in runs)
            deciding = int(runs[0]) if runs else FEW_RUNS
            return Rule(shown, _within(low, high), deciding_runs=deciding)
        case "about", [paper, tolerance]:
            errors = f"{CRITICAL} · √(1 + n/{PAPER_RUNS}) standard errors"
            return Rule(
                f"within {tolerance:g} + {errors} of {paper:g}",
                lambda ours: tolerance + ours.tolerance - abs(ours.mean - paper),
                FEW_RUNS,
            )
        case "located at", [place, tolerance]:
            return Rule(
                f"extreme of the mean curve at {place:g} ± {tolerance:g}",
                lambda ours: tolerance + 1e-9 - abs(ours.mean - place),
            )
        case "exactly", [low, high]:
            limits = f"at most {high:g}" if low == -math.inf else f"between {low:g} and {high:g}"
            limits = f"at least {low:g}" if high == math.inf else limits
            shown = f"exactly {low:g}" if low == high else f"exact, {limits}"
            return Rule(shown, _within(low, high), min_runs=1, deciding_runs=1)
    raise ValueError(f"There is no rule {text!r}.")


def _within(low: float, high: float) -> Callable[[Estimate], float]:
    return lambda ours: min(ours.mean - low, high - ours.mean)


def extreme_place(
    grid: Sequence[float], curves: NDArray[Any], low: float, high: float, lowest: bool = False
) -> Decided:
    """Return the place of the largest (lowest) value of the mean curve, within limits.

    Examples
    --------
    >>> extreme_place([0, 0.5, 1], np.array([[0, 2, 1], [0, 3, 1]]), 0, 1).ours.mean
    0.5
    """
    places = np.asarray(grid, dtype=float)
    inside = (places >= low) & (places <= high)
    seen, places = np.asarray(curves)[:, inside] * (-1.0 if lowest else 1.0), places[inside]
    error = estimate(places[seen.argmax(axis=1)]).standard_error
    return Decided(Estimate(float(places[seen.mean(axis=0).argmax()]), error, len(seen)))


def cochran_q(table: NDArray[Any]) -> float:
    """Return Cochran's Q, generalised to entries other than 0 and 1, of a row for each run.

    If columns are exchangeable within rows, the column sums of the differences from the row means
    have equal variances; the sum of their squares over it is chi-squared distributed.
    """
    excess = table - table.mean(axis=1, keepdims=True)
    variance = float((excess**2).sum()) / (table.shape[1] - 1)
    return float((excess.sum(axis=0) ** 2).sum()) / variance if variance > 0 else 0.0


def equal_columns(table: NDArray[Any]) -> Decided:
    """Return the largest less the smallest column mean, and whether Cochran's Q accepts them."""
    order = table.mean(axis=0).argsort()
    holds = chi2.sf(cochran_q(table), table.shape[1] - 1) >= 0.01
    return Decided(estimate(table[:, order[-1]] - table[:, order[0]]), bool(holds))
