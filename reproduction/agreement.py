"""Rules that decide whether a number or a statement of the paper agrees with our runs.

A number of the paper is a mean of 100 runs. If these vary as our n runs do, the difference of the
two means has a standard error of ours times the square root of 1 + n / 100, and beyond 2.58 of
these it is significant at the 1 % level. A statement about an order is tested on differences run by
run, at the same level. Other statements name their limit. A statement that holds for any data, by
definition or by counting, is an identity: it is computed, but does not count as agreeing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
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


#: Results of statements that our runs could contradict.
TESTED = (Agreement.AGREES, Agreement.DIFFERS, Agreement.UNDECIDED, Agreement.NOT_RUN)


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


@dataclass(frozen=True)
class AgreementRule:
    """A condition on the mean of the runs.

    Parameters
    ----------
    text : str
    margin : callable
        By how much an estimate satisfies the condition; negative where it does not.
    min_runs : int
        Number of runs from which on a condition that holds agrees.
    deciding_runs : int
        Number of runs from which on a condition that does not hold differs; 1 for a number without
        sampling error.
    checked : bool
        Whether the statement is checked at all.
    """

    text: str
    margin: Callable[[Estimate], float]
    min_runs: int = 2
    deciding_runs: int = FEW_RUNS
    checked: bool = True

    def judge(self, ours: Estimate, holds: bool | None = None) -> Agreement:
        """Return whether the paper's statement agrees.

        Parameters
        ----------
        ours : Estimate
        holds : bool, optional
            Whether the condition holds, where the estimate does not decide it.
        """
        if not self.checked:
            return Agreement.UNCHECKED
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


def _above(ours: Estimate) -> float:
    margin = ours.mean - CRITICAL * ours.standard_error
    return margin if ours.mean > 0.0 else min(margin, -math.ulp(0.0))  # 0 is not above 0


def _no_margin(ours: Estimate) -> float:
    return 0.0


#: The mean is significantly positive, not significantly negative, not significantly positive.
ABOVE = AgreementRule(f"mean more than {CRITICAL} standard errors above 0", _above)
NOT_BELOW = AgreementRule(
    f"mean not more than {CRITICAL} standard errors below 0",
    lambda ours: max(ours.mean, ours.mean + CRITICAL * ours.standard_error),
    FEW_RUNS,
)
NOT_ABOVE = AgreementRule(
    f"mean not more than {CRITICAL} standard errors above 0",
    lambda ours: max(-ours.mean, CRITICAL * ours.standard_error - ours.mean),
    FEW_RUNS,
)

#: The columns of a table are exchangeable: see `equal_columns`.
EQUAL = AgreementRule("Cochran's Q finds no difference at the 1 % level", _no_margin)

#: Of a statement that no run decides: it is listed with the reason.
UNCHECKED = AgreementRule("not checked", _no_margin, checked=False)


def at_least(limit: float) -> AgreementRule:
    """Return the rule that the mean reaches a limit."""
    return AgreementRule(f"mean at least {limit:g}", lambda ours: ours.mean - limit)


def at_most(limit: float) -> AgreementRule:
    """Return the rule that the mean does not exceed a limit."""
    return AgreementRule(f"mean at most {limit:g}", lambda ours: limit - ours.mean)


def between(low: float, high: float, runs: float = FEW_RUNS) -> AgreementRule:
    """Return the rule that the mean lies between two limits; so many runs decide."""
    text = f"mean between {low:g} and {high:g}"
    if runs != FEW_RUNS:
        text += f" ({runs:g} runs decide)"
    return AgreementRule(
        text, lambda ours: min(ours.mean - low, high - ours.mean), deciding_runs=int(runs)
    )


def about(paper: float, tolerance: float) -> AgreementRule:
    """Return the rule that the mean is near a value that the paper states roughly."""
    text = f"within {tolerance:g} + {CRITICAL} · √(1 + n/{PAPER_RUNS}) standard errors of {paper:g}"
    return AgreementRule(
        text, lambda ours: tolerance + ours.tolerance - abs(ours.mean - paper), FEW_RUNS
    )


def located_at(place: float, tolerance: float) -> AgreementRule:
    """Return the rule that an extreme of the mean curve lies at a place of the grid."""
    text = f"extreme of the mean curve at {place:g} ± {tolerance:g}"
    return AgreementRule(text, lambda ours: tolerance + 1e-9 - abs(ours.mean - place))


def exactly(low: float, high: float) -> AgreementRule:
    """Return the rule that a number without sampling error lies between limits."""
    limits = f"at most {high:g}" if low == -math.inf else f"between {low:g} and {high:g}"
    limits = f"at least {low:g}" if high == math.inf else limits
    text = f"exactly {low:g}" if low == high else f"exact, {limits}"
    return AgreementRule(
        text, lambda ours: min(ours.mean - low, high - ours.mean), min_runs=1, deciding_runs=1
    )


RULES: dict[str, AgreementRule | Callable[..., AgreementRule]] = {
    "above": ABOVE,
    "not below": NOT_BELOW,
    "not above": NOT_ABOVE,
    "equal": EQUAL,
    "at least": at_least,
    "at most": at_most,
    "between": between,
    "about": about,
    "located at": located_at,
    "exactly": exactly,
    "unchecked": UNCHECKED,
}


def parse_rule(text: str) -> AgreementRule:
    """Return the rule of a row of ``claims.csv``, such as "at least 95" or "about 60 10".

    Examples
    --------
    >>> parse_rule("at least 95").text
    'mean at least 95'
    """
    name, numbers = next(
        (one, text.removeprefix(one).split()) for one in RULES if text.startswith(one)
    )
    rule = RULES[name]
    return rule if isinstance(rule, AgreementRule) else rule(*map(float, numbers))


def extreme_place(
    grid: Sequence[float], curves: NDArray[Any], low: float, high: float, lowest: bool = False
) -> Decided:
    """Return the place of the largest (lowest) value of the mean curve, within limits.

    Parameters
    ----------
    grid : sequence of float, shape (n_places,)
    curves : array, shape (n_runs, n_places)

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
