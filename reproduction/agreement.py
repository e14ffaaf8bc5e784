"""When a number agrees with the paper, and when a statement holds: the stated rules.

A number of the paper is one draw and so is ours. If its 100 runs spread as our n do, the difference
has a standard error of ours times the square root of 1 + n / 100; beyond 2.58 of these it is no
chance, at the 1 % level. A statement about an order is tested on differences run by run: their mean
must lie 2.58 standard errors beyond zero, again the 1 % level. Other statements name their limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np

#: Standard errors beyond which a difference is no chance, at the 1 % level.
SURE = 2.58

#: The runs behind a number of the paper's tables.
PAPER_RUNS = 100

#: So many other parts of a claim are named with their numbers.
FEW_PARTS = 3

#: With fewer runs, a difference within chance says nothing yet.
FEW_RUNS = 20


class Verdict(StrEnum):
    """What comes of a comparison."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNDECIDED = "undecided"
    NOT_RUN = "not run"


class Estimate(NamedTuple):
    """The mean of the runs, its standard error, and their number."""

    mean: float
    standard_error: float
    runs: int


def estimate(values: Sequence[float]) -> Estimate:
    """Return mean and standard error.

    Of one run alone the error is not known (NaN), and of none the mean neither.

    Examples
    --------
    >>> estimate([1.0, 2.0, 3.0]).mean, estimate([]).runs
    (2.0, 0)
    """
    if not len(values):
        return Estimate(math.nan, math.nan, 0)
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else math.nan
    return Estimate(float(np.mean(values)), float(error), len(values))


# --------------------------------------------------------------------------- numbers of a table


@dataclass(frozen=True)
class Cell:
    """One number of a table, beside the paper's where it has one.

    Parameters
    ----------
    row, column : str
        Where it stands.
    ours : Estimate
    paper : float, optional
    verdict : Verdict, optional
        Only where the paper has a number.
    """

    row: str
    column: str
    ours: Estimate
    paper: float | None = None
    verdict: Verdict | None = None


@dataclass(frozen=True)
class Comparison:
    """A table: cells, with what one has to know to read them.

    Parameters
    ----------
    name : str
        Short, unique within the experiment, such as "rates".
    title : str
    caption : str
        What is measured, how, in which unit; also the explanation where a cell differs.
    cells : sequence of Cell
    digits : int
        After the point.
    """

    name: str
    title: str
    caption: str
    cells: Sequence[Cell]
    digits: int = 1


def cell(row: str, column: str, values: Sequence[float], paper: float | None = None) -> Cell:
    """Return a cell with its verdict.

    Where all runs are alike there is no spread to measure a difference by; then the spread is that
    of shares (all in percent) whose mean is halfway to the paper's, as for two shares that are
    supposed to be one.

    Examples
    --------
    >>> cell("Friedman I", "CMI: TP", [100.0, 80.0, 100.0] * 10, paper=95.0).verdict.value
    'agrees'
    >>> cell("Friedman I", "CMI: TP", [20.0, 40.0, 20.0] * 10, paper=95.0).verdict.value
    'differs'
    >>> cell("Friedman I", "CMI: TP", [100.0, 80.0, 100.0], paper=95.0).verdict.value
    'undecided'
    """
    ours = estimate(values)
    if paper is None:
        return Cell(row, column, ours)
    return Cell(row, column, ours, paper, _agrees(ours, paper))


def _agrees(ours: Estimate, paper: float) -> Verdict:
    if ours.runs == 0:
        return Verdict.NOT_RUN
    if ours.runs < FEW_RUNS:
        is_exact = ours.mean == paper and not ours.standard_error > 0
        return Verdict.AGREES if is_exact else Verdict.UNDECIDED
    error = ours.standard_error
    if error == 0:
        share = (ours.mean + paper) / 2.0
        error = math.sqrt(max(0.0, share * (100.0 - share)) / ours.runs)
    within = abs(ours.mean - paper) <= _tolerated(error, ours.runs)
    return Verdict.AGREES if within else Verdict.DIFFERS


def _tolerated(error: float, runs: int) -> float:
    """Return the difference from the paper that is chance, if its runs spread as ours do."""
    return SURE * error * math.sqrt(1.0 + runs / PAPER_RUNS)


# ------------------------------------------------------------------------------------ statements


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and what the runs say about it.

    Parameters
    ----------
    name : str
        Short and unique within the experiment, such as "synergy peaks at 0.5 (additive)".
    statement : str
        What the paper says, in our words.
    ours : Estimate
        The number it is decided by.
    measured : str
        What that number is, with its unit, such as "synergy at 0.5 less synergy at 1, bit".
    rule : str
        When it agrees.
    verdict : Verdict
    remark : str
        An explanation, where it differs or needs one.
    """

    name: str
    statement: str
    ours: Estimate
    measured: str
    rule: str
    verdict: Verdict
    remark: str = ""


def is_above(
    name: str,
    statement: str,
    larger: Sequence[float],
    smaller: Sequence[float] | float,
    *,
    measured: str,
    remark: str = "",
) -> Claim:
    """Decide whether one value lies above another, run by run.

    Examples
    --------
    >>> claim = is_above("a", "A > B.", [2.0, 2.1, 2.2], [1.0, 1.0, 1.1], measured="A less B")
    >>> str(claim.verdict)
    'agrees'
    """
    ours = estimate(_differences(larger, smaller))
    rule = "mean difference more than 2.58 standard errors above 0"
    agrees = ours.mean > SURE * ours.standard_error and ours.mean > 0
    return Claim(name, statement, ours, measured, rule, _judge(agrees, ours), remark)


def is_not_below(
    name: str,
    statement: str,
    larger: Sequence[float],
    smaller: Sequence[float] | float,
    *,
    measured: str,
    remark: str = "",
) -> Claim:
    """Decide whether one value is at least another, run by run.

    Examples
    --------
    >>> str(is_not_below("a", "A is B.", [1.0, 1.1, 0.9] * 7, 1.0, measured="A less B").verdict)
    'agrees'
    """
    ours = estimate(_differences(larger, smaller))
    rule = "mean difference not more than 2.58 standard errors below 0"
    agrees = ours.mean >= 0 or ours.mean >= -SURE * ours.standard_error
    verdict = _judge(agrees, ours, by_chance=True)
    return Claim(name, statement, ours, measured, rule, verdict, remark)


def is_at_most(
    name: str,
    statement: str,
    values: Sequence[float],
    limit: float,
    *,
    measured: str,
    remark: str = "",
) -> Claim:
    """Decide whether a value is as small as a limit that stands for "none" or "hardly any"."""
    ours = estimate(values)
    verdict, said = _judge(ours.mean <= limit, ours), remark + _how_near(ours, limit)
    return Claim(name, statement, ours, measured, f"mean at most {limit:g}", verdict, said.strip())


def is_at_least(
    name: str,
    statement: str,
    values: Sequence[float],
    limit: float,
    *,
    measured: str,
    remark: str = "",
) -> Claim:
    """Decide whether a value is as large as a limit that stands for "most" or "nearly all"."""
    ours = estimate(values)
    verdict, said = _judge(ours.mean >= limit, ours), remark + _how_near(ours, limit)
    return Claim(name, statement, ours, measured, f"mean at least {limit:g}", verdict, said.strip())


def _how_near(ours: Estimate, limit: float) -> str:
    """Say where other runs might well decide otherwise."""
    near = ours.standard_error > 0.0 and abs(ours.mean - limit) <= SURE * ours.standard_error
    return " The mean is less than 2.58 standard errors from its limit." if near else ""


def is_about(
    name: str,
    statement: str,
    values: Sequence[float],
    paper: float,
    *,
    tolerance: float,
    measured: str,
    remark: str = "",
) -> Claim:
    """Decide whether a value is near the one that the paper reads off a figure.

    Parameters
    ----------
    tolerance : float
        How precise the paper's word is, such as 10 for "about 60 %".
    """
    ours = estimate(values)
    error = 0.0 if math.isnan(ours.standard_error) else ours.standard_error
    agrees = abs(ours.mean - paper) <= tolerance + _tolerated(error, ours.runs)
    rule = f"within {tolerance:g} + 2.58 · √(1 + n/{PAPER_RUNS}) standard errors of {paper:g}"
    verdict = _judge(agrees, ours, by_chance=True)
    return Claim(name, statement, ours, measured, rule, verdict, remark)


def peaks_at(
    name: str,
    statement: str,
    grid: Sequence[float],
    curves: Sequence[Sequence[float]],
    at: float,
    *,
    within: tuple[float, float],
    lowest: bool = False,
    remark: str = "",
) -> Claim:
    """Decide whether the mean curve has its largest (or lowest) value at a place.

    Parameters
    ----------
    grid : sequence of float
        Where the curve is known.
    curves : sequence of sequences of float, shape (n_runs, n_grid)
    at : float
        Where the paper sees it.
    within : pair of float
        Only this part of the grid is looked at.
    lowest : bool
        Look for the lowest value instead.

    Examples
    --------
    >>> curves = [[0, 2, 1], [0, 3, 1]]
    >>> claim = peaks_at("a", "It peaks at 0.5.", [0, 0.5, 1], curves, 0.5, within=(0, 1))
    >>> claim.ours.mean, str(claim.verdict)
    (0.5, 'agrees')
    """
    inside = [place for place, value in enumerate(grid) if within[0] <= value <= within[1]]
    extreme = "lowest" if lowest else "largest"
    measured = f"place of the {extreme} value between {within[0]:g} and {within[1]:g}"
    step = max(np.diff(np.asarray(grid, dtype=float)[inside]))
    rule = f"the mean curve's is at {at:g}, or one step of {step:g} beside it"
    if not len(curves):
        ours = Estimate(math.nan, math.nan, 0)
        return Claim(name, statement, ours, measured, rule, Verdict.NOT_RUN, remark)
    seen = np.asarray(curves, dtype=float)[:, inside] * (-1.0 if lowest else 1.0)
    places = [float(grid[inside[place]]) for place in seen.argmax(axis=1)]
    best = float(grid[inside[int(seen.mean(axis=0).argmax())]])
    ours = Estimate(best, estimate(places).standard_error, len(places))
    agrees = abs(best - at) <= step + 1e-9
    return Claim(name, statement, ours, measured, rule, _judge(agrees, ours), remark)


def all_of(name: str, statement: str, *parts: Claim, remark: str = "") -> Claim:
    """Join claims that must all hold: the one that holds least stands for all.

    What is measured also names the others with their numbers, where these are few.

    Examples
    --------
    >>> low, high = ([value] * FEW_RUNS for value in (1.0, 3.0))
    >>> few = is_at_most("", "", low, 2.0, measured="X taken")
    >>> many = is_at_most("", "", high, 2.0, measured="Z taken")
    >>> claim = all_of("few taken", "Hardly any are taken.", few, many)
    >>> claim.verdict.value, claim.measured
    ('differs', 'Z taken; X taken: 1')
    """
    order = (Verdict.DIFFERS, Verdict.NOT_RUN, Verdict.UNDECIDED, Verdict.AGREES)
    shown = min(parts, key=lambda part: order.index(part.verdict))
    others = [part for part in parts if part is not shown]
    said = [f"{part.measured}: {part.ours.mean:.3g}" for part in others if part.ours.runs]
    if len(others) > FEW_PARTS:
        said = [f"one of {len(parts)} conditions"]
    return replace(
        shown,
        name=name,
        statement=statement,
        measured="; ".join([shown.measured, *said]),
        remark=remark or shown.remark,
    )


def _differences(larger: Sequence[float], smaller: Sequence[float] | float) -> list[float]:
    """Return differences run by run; of runs that only one of them has, none."""
    others = [smaller] * len(larger) if isinstance(smaller, int | float) else smaller
    return [float(a - b) for a, b in zip(larger, others, strict=False)]


def _judge(agrees: bool, ours: Estimate, *, by_chance: bool = False) -> Verdict:
    """Return the verdict; with few runs, what does not agree is left open.

    So is, with few runs, what agrees only since it does not differ by more than chance: the fewer
    the runs, the easier that would be.
    """
    if ours.runs == 0:
        return Verdict.NOT_RUN
    if agrees and ours.runs >= (FEW_RUNS if by_chance else 2):
        return Verdict.AGREES
    return Verdict.UNDECIDED if ours.runs < FEW_RUNS else Verdict.DIFFERS
