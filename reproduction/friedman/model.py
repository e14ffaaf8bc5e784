"""The runs of Friedman's models as claims and figures need them, and conditions on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from pidselect.decomposition.binning import Binning
from reproduction.agreement import (
    FEW_RUNS,
    Claim,
    Verdict,
    estimate,
    is_about,
    is_above,
    is_at_least,
    is_at_most,
    is_not_below,
)
from reproduction.averages import share
from reproduction.experiment import Results

#: What "always", "in all cases" and "reliably" must reach, in percent.
ALWAYS = 95.0

#: "Negligible" and "about zero", as a part of the largest importance.
NEGLIGIBLE = 0.1

#: How precise a percentage such as "about 60 %" is, and a part such as "around half".
ROUNDED, ROUGHLY = 10.0, 0.1

#: What cannot be told apart from nuisance, as a part of the largest importance.
SAME = 0.02

#: Numbers of neighbours other than the paper's 5.
OTHER_K = (3, 10)

#: How many columns a forward selection takes.
N_SELECT = {1: 7, 2: 5, 3: 5}

BINNINGS: tuple[Binning, ...] = ("count", "width")

LABELS = {"cmi": "CMI", "mi": "MI", "mi-unpruned": "MI, no backward", "defaults": "our defaults"}

ROMAN = {1: "I", 2: "II", 3: "III"}
CRITERIA = {"cmi": "CMI", "mi": "MI"}
METHODS = {"lars": "LARS", "forest": "forest"}

Selections = list[list[str]]


@dataclass(frozen=True)
class Model:
    """The runs of one model, as claims, table and figures need them."""

    results: Results
    number: int

    @property
    def roman(self) -> str:
        """The number as the paper has it."""
        return ROMAN[self.number]

    @property
    def relevant(self) -> list[str]:
        """The inputs of the model."""
        return [f"X{place}" for place in range(1, 6 if self.number == 1 else 5)]

    @property
    def nuisance(self) -> list[str]:
        """The columns without influence."""
        return [f"Z{place}" for place in range(1, 11 - len(self.relevant))]

    @property
    def names(self) -> list[str]:
        """All ten columns."""
        return self.relevant + self.nuisance

    def but(self, *names: str) -> list[str]:
        """All columns but these."""
        return [name for name in self.names if name not in names]

    def selected(self, settings: str) -> Selections:
        """Return what each run selected, in the order of inclusion."""
        runs = self.results.of("selection", model=self.number, settings=settings)
        return [run["selected"] for run in runs]

    def found(self, settings: str) -> list[float]:
        """Return the percentage of relevant features that each run selected."""
        return percent(self.selected(settings), self.relevant)

    def false(self, settings: str) -> list[float]:
        """Return the percentage of nuisance columns that each run selected."""
        return percent(self.selected(settings), self.nuisance)

    def forward(self, method: str, steps: int | None = None) -> Selections:
        """Return the first columns that a forward selection took in each run."""
        runs = self.results.of(f"forward-{method}", model=self.number, method=method)
        return [run["selected"][:steps] for run in runs]

    def importances(self, method: str, names: Sequence[str]) -> NDArray[np.float64]:
        """Return the importance of these columns, shape (n_runs, n_names)."""
        runs = self.results.of("methods", model=self.number)
        table = [[run[method][name] for name in names] for run in runs]
        return np.array(table).reshape(len(runs), len(names))

    def importance(self, method: str, *names: str) -> list[float]:
        """Return the mean importance of these columns in each run."""
        return floats(self.importances(method, names).mean(axis=1))

    def highest(self, method: str, names: Sequence[str]) -> list[float]:
        """Return the highest importance among these columns in each run."""
        return floats(self.importances(method, names).max(axis=1))

    def errors(self, k: int = 5) -> NDArray[np.float64]:
        """Return the error of every set of columns, shape (n_runs, 1023)."""
        part = "neighbours" if k == 5 else "neighbours-other-k"
        runs = self.results.of(part, model=self.number, k=k)
        return np.array([run["errors"] for run in runs]).reshape(len(runs), 2**10 - 1)

    def place_of(self, names: Sequence[str]) -> int:
        """Return where a set of columns stands among the errors."""
        return sum(1 << self.names.index(name) for name in names) - 1

    def bits(self, estimator: str, what: str, names: Sequence[str]) -> NDArray[np.float64]:
        """Return a term, or an atom, of these features, shape (n_runs, n_names)."""
        runs = self.results.of("terms", model=self.number)
        table = [[run[name][estimator][what] for name in names] for run in runs]
        return np.array(table).reshape(len(runs), len(names))

    def mean_bits(self, estimator: str, what: str, names: Sequence[str]) -> list[float]:
        """Return a term, or an atom, in each run as the mean over features."""
        return floats(self.bits(estimator, what, names).mean(axis=1))


def percent(selections: Selections, names: Sequence[str]) -> list[float]:
    """Return how many of these columns each selection has, in percent."""
    return [share(selected, names) for selected in selections]


# ------------------------------------------------------------------------------------ conditions


def above(larger: Sequence[float], smaller: Sequence[float], measured: str) -> Claim:
    """Decide whether one value lies above another, run by run."""
    return is_above("", "", larger, smaller, measured=measured)


def not_above(smaller: Sequence[float], larger: Sequence[float], measured: str) -> Claim:
    """Decide whether one value is at most another; the first less the second is shown."""
    claim = is_not_below("", "", larger, smaller, measured=measured)
    rule = "mean difference not more than 2.58 standard errors above 0"
    return replace(claim, ours=claim.ours._replace(mean=0.0 - claim.ours.mean), rule=rule)


def at_least(values: Sequence[float], limit: float, measured: str) -> Claim:
    """Decide whether a value reaches a limit."""
    return is_at_least("", "", values, limit, measured=measured)


def at_most(values: Sequence[float], limit: float, measured: str) -> Claim:
    """Decide whether a value stays within a limit."""
    return is_at_most("", "", values, limit, measured=measured)


def about(values: Sequence[float], paper: float, tolerance: float, measured: str) -> Claim:
    """Decide whether a value is near the paper's."""
    return is_about("", "", values, paper, tolerance=tolerance, measured=measured)


def cochran_q(table: NDArray[np.float64]) -> float:
    """Return how unequal the columns of a table are that has a row for each run.

    If columns could change places in every row, the sums of their distances from the mean of the
    row all have the same variance, and their squares over it are distributed as chi squared. Of
    entries 0 and 1 this is Cochran's Q.
    """
    excess = table - table.mean(axis=1, keepdims=True)
    variance = float((excess**2).sum()) / (table.shape[1] - 1)
    return float((excess.sum(axis=0) ** 2).sum()) / variance if variance > 0 else 0.0


def alike(table: NDArray[np.float64], measured: str) -> Claim:
    """Decide whether the columns of a table that has a row for each run are alike."""
    rule = "Cochran's Q (chi squared of the columns' sums) shows no difference at the 1 % level"
    if not len(table):
        return Claim("", "", estimate([]), measured, rule, Verdict.NOT_RUN)
    order = table.mean(axis=0).argsort()
    ours = estimate(floats(table[:, order[-1]] - table[:, order[0]]))
    if ours.runs > 1 and chi2.sf(cochran_q(table), table.shape[1] - 1) >= 0.01:
        verdict = Verdict.AGREES
    else:
        verdict = Verdict.UNDECIDED if ours.runs < FEW_RUNS else Verdict.DIFFERS
    return Claim("", "", ours, measured, rule, verdict)


def equally_often(selections: Selections, names: Sequence[str], measured: str) -> Claim:
    """Decide whether columns are taken equally often."""
    table = np.array([percent(selections, [name]) for name in names]).T
    return alike(table, f"most often less least often taken of {measured}, % of runs")


def how_often(selections: Selections, holds: Callable[[list[str]], bool]) -> list[float]:
    """Return 100 for each selection of which something holds, and 0 for others."""
    return [100.0 * holds(selected) for selected in selections]


def floats(values: NDArray[np.float64]) -> list[float]:
    """Return plain numbers."""
    return [float(value) for value in values]
