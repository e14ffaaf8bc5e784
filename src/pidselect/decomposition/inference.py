r"""Doubt: how far the atoms of a sample can be trusted.

**Do the sources that an atom names belong here?** Each atom is tested against "source i is
independent of the target and of all other sources". Permuting the rows of source i makes that true
and leaves the rest as it was, so that

.. math:: p_i = \frac{1 + \#\{\text{null} \ge \text{observed}\}}{1 + n}

is at most alpha with a probability of at most alpha, whatever the distribution. An atom's p-value
is the largest over the sources that it names: it is small only if none of them is independent of
the rest, an intersection-union test (Berger 1982). That does not say that the atom is above 0, as
these sources may tell what they tell by other atoms: of that the interval speaks.

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
becomes wide where the two ways to see the bias disagree.

Where sources are equally good, a redundancy takes the smaller of two amounts, and of a sample the
one that is smaller by accident: it has a kink, and is too small by about c / sqrt(N), which neither
chance nor resampling shows. But it doubles in a quarter of the samples. So what redundancies lose
in quarters, beside the informations that they are the smaller of, is what they lack in the sample;
the interval spans the same once more without that. How often it holds the true value is shown in
``docs/doubt.md``.

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
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from scipy.special import ndtri

from pidselect.data import FloatArray
from pidselect.decomposition.lattice import Lattice
from pidselect.decomposition.samples import DiscreteSample, Rows, Sample
from pidselect.significance import permutations
from pidselect.significance.permutation_test import TIE
from pidselect.significance.rng import BOOTSTRAP, DECOMPOSITION, resamples

AtomsOf = Callable[[Rows], FloatArray]
Draw = Callable[[tuple[int, ...], range, int], Rows]

#: Numbers in the row orders of one task; with it, the memory that a task needs.
TASK_SIZE = 2**20

#: There are at least so many tasks, if there are as many draws, to keep all workers busy.
N_TASKS = 16

#: The mean of the null is known well enough after so many draws.
CORRECTION_DRAWS = 50

#: The samples are split so often, each time into four quarters, to see the bias of a kink.
SPLITS = 13
QUARTERS = 4

#: The share of draws that may be degenerate: left out, they hardly move a quantile, or a mean.
MOST_DEGENERATE = {"resamples": 0.1, "permutations": 0.5}


class Request(NamedTuple):
    """What is asked: how many draws of either sort, from which seed, in how many threads."""

    n_permutations: int
    n_bootstrap: int
    confidence: float
    seed: int
    n_jobs: int | None = None


class AtomInference(NamedTuple):
    """What was found, in the order of the lattice, in nats; None what was not asked for."""

    corrected: FloatArray | None = None
    p_values: FloatArray | None = None
    intervals: FloatArray | None = None  # (n_atoms, 2)


def n_draws(subject: Sample, request: Request) -> int:
    """Return how many decompositions a request takes."""
    asked = request.n_permutations * subject.lattice.n_sources + request.n_bootstrap
    if asked and subject.is_plug_in:
        asked += CORRECTION_DRAWS + (2 * SPLITS * QUARTERS if request.n_bootstrap else 0)
    return asked


def doubt(
    subject: Sample, observed: FloatArray, request: Request, gap: float = 0.0
) -> AtomInference:
    """Test, correct and bound the atoms, as far as draws are asked for.

    Parameters
    ----------
    subject : Subject
    observed : array, shape (n_atoms,)
        Its atoms in nats.
    request : Request
    gap : float
        How far these can be from the true values for the sample, in nats.
    """
    if not request.n_permutations and not request.n_bootstrap:
        return AtomInference()
    chance = null_atoms(subject, request) if subject.is_plug_in else None
    return AtomInference(
        None if chance is None else correct(observed, chance, subject),
        p_values_of(subject, observed, request, gap) if request.n_permutations else None,
        intervals_of(subject, observed, chance, request) if request.n_bootstrap else None,
    )


def p_values_of(
    subject: Sample, observed: FloatArray, request: Request, gap: float = 0.0
) -> FloatArray:
    """Return each atom's p-value, the largest over the sources that it names.

    What the solver leaves open, in the observed atoms and in those of a draw, is a tie. A draw that
    is degenerate, of infinite information, reaches whatever was observed.
    """
    largest = np.zeros(len(observed))
    tie = max(TIE, 2 * gap)
    for source in range(subject.lattice.n_sources):
        null = _permuted(subject, source, request.n_permutations, request)
        reached = np.count_nonzero(~(null < observed - tie), axis=0)
        p = (1.0 + reached) / (1.0 + request.n_permutations)
        largest = np.where(_names(subject.lattice, source), np.maximum(largest, p), largest)
    return largest


def _names(lattice: Lattice, source: int) -> NDArray[np.bool_]:
    return np.array([any(mask >> source & 1 for mask in node) for node in lattice.antichains])


def null_atoms(subject: Sample, request: Request) -> FloatArray:
    """Return the atoms with the target permuted, so that nothing tells about it, for each draw."""
    drawn = _permuted(subject, subject.lattice.n_sources, CORRECTION_DRAWS, request)
    return _without_degenerate(drawn, subject, "permutations")


def correct(atoms: FloatArray, chance: FloatArray, subject: Sample) -> FloatArray:
    """Return atoms adjusted for chance.

    Parameters
    ----------
    atoms : array, shape (n_atoms,) or (n_draws, n_atoms)
    chance : array, shape (n_permutations, n_atoms)
        See `null_atoms`.
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
    subject: Sample, observed: FloatArray, chance: FloatArray | None, request: Request
) -> FloatArray:
    """Return the interval of each atom, shape (n_atoms, 2)."""
    drawn = resample(subject, observed, request)
    basic = basic_interval(observed, drawn, request.confidence)
    if chance is None:
        return basic
    adjusted = adjusted_intervals(observed, drawn, chance, subject, request.confidence)
    off = minimum_bias(subject, correct(observed, chance, subject), request)[:, np.newaxis]
    intervals = [basic, *adjusted]
    return span([*intervals, *(interval - off for interval in intervals)])


def adjusted_intervals(
    observed: FloatArray,
    drawn: FloatArray,
    chance: FloatArray,
    subject: Sample,
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


def minimum_bias(subject: Sample, corrected: FloatArray, request: Request) -> FloatArray:
    """Return by how much corrected atoms are off as redundancies have kinks, shape (n_atoms,).

    That is 0 or less for redundancies. Of the four quarters of a split every sample is in one, so
    that what is linear in the samples cancels out.
    """
    if subject.n_samples < 2 * QUARTERS:
        return np.zeros_like(corrected)
    split = _quarters(subject, request)
    complete = split[np.isfinite(split).all(axis=(1, 2))]
    if len(complete) < len(split) / 2:  # a quarter of the samples is too few
        return np.zeros_like(corrected)
    as_they_are, unrelated = complete[:, 0], complete[:, 1]
    grown = correct(as_they_are, unrelated, subject).mean(axis=0) - corrected
    lattice = subject.lattice
    redundancies = dict(zip(lattice.antichains, lattice.cumulate(grown), strict=True))
    beside = [
        redundancies[members] - np.mean([redundancies[(member,)] for member in members])
        for members in lattice.antichains
    ]
    return lattice.moebius(np.minimum(beside, 0.0))


def _quarters(subject: Sample, request: Request) -> FloatArray:
    """Return the atoms of quarters, each also with another's target: (n_quarters, 2, n_atoms)."""
    size = subject.n_samples // QUARTERS

    def atoms_of(rows: Rows) -> FloatArray:
        quarters = rows[: QUARTERS * size].reshape(QUARTERS, size)
        others = np.roll(quarters, 1, axis=0)
        return np.array(
            [
                [_atoms_of_fewer(subject, own, own), _atoms_of_fewer(subject, own, other)]
                for own, other in zip(quarters, others, strict=True)
            ]
        )

    stream_key = (request.seed, BOOTSTRAP, QUARTERS)
    drawn = _draw(subject, permutations, stream_key, SPLITS, atoms_of, request.n_jobs)
    return drawn.reshape(-1, 2, len(subject.lattice.antichains))


def _atoms_of_fewer(subject: Sample, of_sources: Rows, of_target: Rows) -> FloatArray:
    """Return the atoms of some rows of the sources beside as many of the target."""
    arrangement = [*[of_sources] * subject.lattice.n_sources, of_target]
    if not isinstance(subject, DiscreteSample):
        return subject.atoms(arrangement)
    codes = zip(subject.codes, arrangement, strict=True)
    fewer = replace(subject, codes=tuple(code[rows] for code, rows in codes))
    return fewer.atoms([None] * len(arrangement))


def span(intervals: Sequence[FloatArray]) -> FloatArray:
    """Return the least intervals that hold all of these, shape (n_atoms, 2).

    Examples
    --------
    >>> span([np.array([[0.0, 2.0]]), np.array([[1.0, 3.0]])])
    array([[0., 3.]])
    """
    low, high = np.min(intervals, axis=0)[:, 0], np.max(intervals, axis=0)[:, 1]
    return np.stack([low, high], axis=1)


def resample(subject: Sample, observed: FloatArray, request: Request) -> FloatArray:
    """Return the atoms of bootstrap resamples, shape (n_bootstrap, n_atoms).

    Where no row may occur twice, halves of the samples without replacement stand in, moved to the
    observed value: they scatter as much as resamples do (Shao and Wu 1989).
    """
    n_variables = subject.lattice.n_sources + 1
    stream_key = (request.seed, BOOTSTRAP)

    def atoms_of(rows: Rows) -> FloatArray:
        return subject.atoms([rows] * n_variables)

    draw = resamples if subject.is_plug_in else _halves
    drawn = _draw(subject, draw, stream_key, request.n_bootstrap, atoms_of, request.n_jobs)
    drawn = _without_degenerate(drawn, subject, "resamples")
    return drawn if subject.is_plug_in else drawn - drawn.mean(axis=0) + observed


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


def _halves(stream_key: tuple[int, ...], draws: range, n_samples: int) -> Rows:
    return permutations(stream_key, draws, n_samples)[:, : n_samples // 2]


def _permuted(subject: Sample, variable: int, n_draws: int, request: Request) -> FloatArray:
    """Return the atoms with the rows of one variable permuted, shape (n_draws, n_atoms)."""
    n_variables = subject.lattice.n_sources + 1

    def atoms_of(rows: Rows) -> FloatArray:
        return subject.atoms([rows if place == variable else None for place in range(n_variables)])

    stream_key = (request.seed, DECOMPOSITION, variable)
    return _draw(subject, permutations, stream_key, n_draws, atoms_of, request.n_jobs)


def _without_degenerate(drawn: FloatArray, subject: Sample, sort: str) -> FloatArray:
    """Leave out draws that have no atoms, such as those of infinite information."""
    left = drawn[np.isfinite(drawn).all(axis=1)]
    if len(drawn) - len(left) > MOST_DEGENERATE[sort] * len(drawn):
        raise ValueError(
            f"{len(drawn) - len(left)} of {len(drawn)} {sort} of these {subject.n_samples} samples "
            "are degenerate: too few different rows, or the target an exact function of the "
            "sources, so that nothing can be said of how sure the atoms are. Bring more samples, "
            "or decompose with n_bootstrap=0 and n_permutations=0."
        )
    return left


def _draw(
    subject: Sample,
    draw: Draw,
    stream_key: tuple[int, ...],
    n_draws: int,
    atoms_of: AtomsOf,
    n_jobs: int | None,
) -> FloatArray:
    """Return the atoms of every draw, the same whatever the number of workers."""
    size = max(1, min(TASK_SIZE // subject.n_samples, -(-n_draws // N_TASKS)))
    tasks = [range(i, min(i + size, n_draws + 1)) for i in range(1, n_draws + 1, size)]

    def work(draws: range) -> FloatArray:
        return np.stack([atoms_of(rows) for rows in draw(stream_key, draws, subject.n_samples)])

    # Threads whatever backend is set around the call. Joblib then heeds only a number that is told.
    n_jobs = effective_n_jobs(None) if n_jobs is None else n_jobs
    parts = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(work)(draws) for draws in tasks)
    return np.concatenate(list(parts))
