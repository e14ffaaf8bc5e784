r"""Doubt: how far the atoms of a sample can be trusted.

**Is an atom more than chance?** Each atom is tested against "source i is independent of the target
and of all other sources". Permuting the rows of source i makes that true and leaves the rest as it
was, so that

.. math:: p_i = \frac{1 + \#\{\text{null} \ge \text{observed}\}}{1 + n}

is at most alpha with a probability of at most alpha, whatever the distribution. An atom is more
than chance only if this can be excluded for every source that it names, so its p-value is the
largest of them: an intersection-union test (Berger 1982).

**How large is it without its bias?** Relative frequencies make every variable look as if it told
something, the more so the more states there are for a sample. Permuting the target shows how much.
Let R be a redundancy, that is the sum of the atoms at and below a node of the lattice, R_0 its mean
when the target is permuted, and H the entropy of the target. Then

.. math:: R_c = \frac{R - R_0}{1 - R_0 / H}

is 0 where nothing is known, H where all is known, and a straight line in between: a bias that was
R_0 shrinks as the target is determined. Corrected atoms are the Moebius inversion of corrected
redundancies, so that all identities of atoms hold for them, too; they may be negative. The same
adjustment for chance is known from comparing clusterings (Vinh, Epps and Bailey 2010). For
measure="gaussian" H is infinite, and R_0 is subtracted. Nearest neighbours ("sx-ksg") correct for
chance by themselves: there is no corrected value.

**Within which bounds does it lie?** Rows are drawn with replacement. The basic bootstrap interval,
the observed value twice less the quantiles of the resamples, takes off a small bias and holds true
values of 0, which percentiles miss; but it fails where samples are few for the states. The
quantiles of corrected resamples, moved to the corrected value, hold there, but miss atoms that are
0 in every sample. The interval spans both, and what a corrected value scatters by chance alone: it
becomes wide where the two ways to see the bias disagree. How often it holds the true value is shown
in ``docs/doubt.md``.

References
----------
R. L. Berger (1982), "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24.
N. X. Vinh, J. Epps and J. Bailey (2010), "Information theoretic measures for clusterings
comparison: variants, properties, normalization and correction for chance", JMLR 11.
A. C. Davison and D. V. Hinkley (1997), "Bootstrap methods and their application", chapter 5.
J. Shao and C. F. J. Wu (1989), "A general theory for jackknife variance estimation", Annals of
Statistics 17.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.special import ndtri

from pidselect.data import FloatArray
from pidselect.decomposition.lattice import Lattice
from pidselect.decomposition.subjects import Arrangement, Rows, Subject
from pidselect.significance import permutations
from pidselect.significance.surrogates import BOOTSTRAP, DECOMPOSITION, resamples
from pidselect.significance.tests import TIE

Arrange = Callable[[Rows], Arrangement]
Draw = Callable[[tuple[int, ...], range, int], Rows]

#: Numbers in the row orders of one task; with it, the memory that a task needs.
TASK_SIZE = 2**20

#: There are at least so many tasks, if there are as many draws, to keep all workers busy.
N_TASKS = 16

#: The mean of the null is known well enough after so many draws.
CORRECTION_DRAWS = 50


class Request(NamedTuple):
    """What is asked: how many draws of either sort, from which seed, in how many threads."""

    n_permutations: int
    n_bootstrap: int
    confidence: float
    seed: int
    n_jobs: int | None = None


class Doubt(NamedTuple):
    """What was found, in the order of the lattice, in nats; None what was not asked for."""

    corrected: FloatArray | None = None
    p_values: FloatArray | None = None
    intervals: FloatArray | None = None  # (n_atoms, 2)


def n_draws(subject: Subject, request: Request) -> int:
    """Return how many decompositions a request takes."""
    asked = request.n_permutations * subject.lattice.n_sources + request.n_bootstrap
    return asked + CORRECTION_DRAWS if asked else 0


def doubt(subject: Subject, observed: FloatArray, request: Request) -> Doubt:
    """Test, correct and bound the atoms, as far as draws are asked for."""
    if not request.n_permutations and not request.n_bootstrap:
        return Doubt()
    chance = by_chance(subject, request) if subject.is_plug_in else None
    return Doubt(
        None if chance is None else correct(observed, chance, subject),
        p_values_of(subject, observed, request) if request.n_permutations else None,
        intervals_of(subject, observed, chance, request) if request.n_bootstrap else None,
    )


def p_values_of(subject: Subject, observed: FloatArray, request: Request) -> FloatArray:
    """Return each atom's p-value, the largest over the sources that it names."""
    largest = np.zeros(len(observed))
    for source in range(subject.lattice.n_sources):
        null = _permuted(subject, source, request.n_permutations, request)
        reached = np.count_nonzero(null >= observed - TIE, axis=0)
        p = (1.0 + reached) / (1.0 + request.n_permutations)
        largest = np.where(_names(subject.lattice, source), np.maximum(largest, p), largest)
    return largest


def _names(lattice: Lattice, source: int) -> NDArray[np.bool_]:
    return np.array([any(mask >> source & 1 for mask in node) for node in lattice.antichains])


def by_chance(subject: Subject, request: Request) -> FloatArray:
    """Return the atoms with the target permuted, so that nothing tells about it, for each draw."""
    return _permuted(subject, subject.lattice.n_sources, CORRECTION_DRAWS, request)


def correct(atoms: FloatArray, chance: FloatArray, subject: Subject) -> FloatArray:
    """Return atoms adjusted for chance.

    Parameters
    ----------
    atoms : array, shape (n_atoms,) or (n_draws, n_atoms)
    chance : array, shape (n_permutations, n_atoms)
        See `by_chance`.
    subject : Subject

    Notes
    -----
    A redundancy that is complete by chance, as every sample has a state of its own, says nothing:
    it is set to 0.
    """
    expected = subject.lattice.cumulate(chance.mean(axis=0))
    entropy = subject.target_entropy
    left = 1.0 - expected / entropy if entropy > 0 else np.ones_like(expected)
    scale = np.divide(1.0, left, out=np.zeros_like(left), where=left > TIE)
    redundancies = (subject.lattice.cumulate(atoms.T).T - expected) * scale
    return subject.lattice.moebius(redundancies.T).T


def intervals_of(
    subject: Subject, observed: FloatArray, chance: FloatArray | None, request: Request
) -> FloatArray:
    """Return the interval of each atom, shape (n_atoms, 2)."""
    drawn = resample(subject, observed, request)
    basic = basic_interval(observed, drawn, request.confidence)
    if chance is None:
        return basic
    return span([basic, *adjusted_intervals(observed, drawn, chance, subject, request.confidence)])


def adjusted_intervals(
    observed: FloatArray,
    drawn: FloatArray,
    chance: FloatArray,
    subject: Subject,
    confidence: float,
) -> list[FloatArray]:
    """Return two intervals about the corrected atoms, each of shape (n_atoms, 2).

    They are as wide as corrected resamples scatter, and as corrected values do by chance.
    """
    corrected = correct(observed, chance, subject)
    moved = correct(drawn, chance, subject)
    moved += corrected - moved.mean(axis=0)
    scatter = ndtri((1 + confidence) / 2) * correct(chance, chance, subject).std(axis=0, ddof=1)
    return [
        _quantiles(moved, confidence),
        np.stack([corrected - scatter, corrected + scatter], axis=1),
    ]


def span(intervals: Sequence[FloatArray]) -> FloatArray:
    """Return the least intervals that hold all of these, shape (n_atoms, 2).

    Examples
    --------
    >>> span([np.array([[0.0, 2.0]]), np.array([[1.0, 3.0]])])
    array([[0., 3.]])
    """
    low, high = np.min(intervals, axis=0)[:, 0], np.max(intervals, axis=0)[:, 1]
    return np.stack([low, high], axis=1)


def resample(subject: Subject, observed: FloatArray, request: Request) -> FloatArray:
    """Return the atoms of bootstrap resamples, shape (n_bootstrap, n_atoms).

    Where no row may occur twice, halves of the samples without replacement stand in, moved to the
    observed value: they scatter as much as resamples do (Shao and Wu 1989).
    """
    n_variables = subject.lattice.n_sources + 1
    words = (request.seed, BOOTSTRAP)

    def everywhere(rows: Rows) -> Arrangement:
        return [rows] * n_variables

    if subject.is_plug_in:
        return _draw(subject, resamples, words, request.n_bootstrap, everywhere, request.n_jobs)
    halves = _draw(subject, _halves, words, request.n_bootstrap, everywhere, request.n_jobs)
    return halves - halves.mean(axis=0) + observed


def basic_interval(observed: FloatArray, drawn: FloatArray, confidence: float) -> FloatArray:
    """Return the observed value twice less the quantiles of the resamples, shape (n_atoms, 2).

    Examples
    --------
    >>> basic_interval(np.array([2.0]), np.linspace(2.0, 3.0, 41)[:, np.newaxis], 0.95)
    array([[1.025, 1.975]])
    """
    return 2 * observed[:, np.newaxis] - _quantiles(drawn, confidence)[:, ::-1]


def _quantiles(draws: FloatArray, confidence: float) -> FloatArray:
    """Return what leaves equally much on either side, shape (n_atoms, 2)."""
    return np.quantile(draws, ((1 - confidence) / 2, (1 + confidence) / 2), axis=0).T


def _halves(words: tuple[int, ...], draws: range, n_samples: int) -> Rows:
    return permutations(words, draws, n_samples)[:, : n_samples // 2]


def _permuted(subject: Subject, variable: int, n_draws: int, request: Request) -> FloatArray:
    """Return the atoms with the rows of one variable permuted, shape (n_draws, n_atoms)."""
    n_variables = subject.lattice.n_sources + 1

    def only_there(rows: Rows) -> Arrangement:
        return [rows if place == variable else None for place in range(n_variables)]

    words = (request.seed, DECOMPOSITION, variable)
    return _draw(subject, permutations, words, n_draws, only_there, request.n_jobs)


def _draw(
    subject: Subject,
    draw: Draw,
    words: tuple[int, ...],
    n_draws: int,
    arrange: Arrange,
    n_jobs: int | None,
) -> FloatArray:
    """Return the atoms of every draw, the same whatever the number of workers."""
    size = max(1, min(TASK_SIZE // subject.n_samples, -(-n_draws // N_TASKS)))
    tasks = [range(i, min(i + size, n_draws + 1)) for i in range(1, n_draws + 1, size)]

    def work(draws: range) -> FloatArray:
        drawn = draw(words, draws, subject.n_samples)
        return np.stack([subject.atoms(arrange(rows)) for rows in drawn])

    parts = Parallel(n_jobs=n_jobs, prefer="threads")(delayed(work)(draws) for draws in tasks)
    return np.concatenate(list(parts))
