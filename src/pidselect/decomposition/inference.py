r"""Permutation tests of the sources, bias correction and confidence intervals of the atoms.

**Tests.** The rows of each source x are permuted to test that its mutual information with the
target y is 0, and that its conditional mutual information given all other sources is 0: then within
the joint states of these, or for continuous measures among samples that are near in them (Runge
2018). The tests are exact (but for the local permutations) and do not depend on the measure. Atoms
have no p-values: no permutation makes one atom 0 and leaves the others unchanged.

**Bias correction.** Let R be a redundancy (the sum of the atoms at and below a node of the
lattice), R_0 its mean under permutations of the target, and H the entropy of the target. Then

.. math:: R_c = \frac{R - R_0}{1 - R_0 / H}

is 0 on average under independence and H where the target is determined, the adjustment for chance
known from comparing clusterings (Vinh, Epps and Bailey 2010). Corrected atoms are the Moebius
inversion of corrected redundancies. For measure="gaussian" H is infinite and R_0 is subtracted.
Nearest neighbours ("sx-ksg") have little bias: there is no corrected value.

**Intervals.** The basic bootstrap interval, twice the observed value minus the quantiles of the
resamples, covers true values of 0, which percentile intervals miss, but fails with few samples per
state. The quantiles of corrected resamples, centred on the corrected value, cover there, but miss
atoms that are 0 in every sample. The interval is the union of both and of the spread of corrected
values under the null.

If sources are equally informative, a redundancy is a minimum of two equal amounts, which a sample
underestimates by about c / sqrt(N). Permutations and resamples do not show this bias, but it
doubles in a quarter of the samples. So what redundancies lose in quarters, relative to the
informations that they are the minimum of, estimates it (`minimum_bias`); the interval also includes
the above shifted by that amount. ``benchmarks/decompositions.md`` reports the coverage.

**Agreement.** A nonnegative atom is positive only if the informations that it is part of are: its
interval is extended to 0 unless all of these are significant at level 1 - confidence.

References
----------
J. Runge (2018), "Conditional independence testing based on a nearest-neighbor estimator of
conditional mutual information", AISTATS.
N. X. Vinh, J. Epps and J. Bailey (2010), "Information theoretic measures for clusterings
comparison: variants, properties, normalization and correction for chance", JMLR 11.
A. C. Davison and D. V. Hinkley (1997), "Bootstrap methods and their application", chapter 5.
J. Shao and C. F. J. Wu (1989), "A general theory for jackknife variance estimation", Annals of
Statistics 17.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy.special import ndtri

from pidselect.data import Block, FloatArray
from pidselect.decomposition.lattice import BoolArray, Lattice
from pidselect.decomposition.samples import Rows, Sample
from pidselect.estimators import Batch, Scorer
from pidselect.significance.permutation_test import TIE, is_significant
from pidselect.significance.rng import BOOTSTRAP, DECOMPOSITION, permutations, resamples
from pidselect.significance.surrogates import PermutationSampler

#: Entries of the row indices of one task, which bounds its memory.
TASK_SIZE = 2**20

#: The least number of tasks, where there are as many permutations, to keep all workers busy.
N_TASKS = 16

#: Permutations of the target for the mean under the null.
N_CORRECTION_PERMUTATIONS = 50

#: Random splits of the samples into quarters, for `minimum_bias`.
N_SPLITS = 13
N_QUARTERS = 4

#: The fraction of permutations or resamples that may be degenerate and is left out.
MOST_DEGENERATE = {"resamples": 0.1, "permutations": 0.5}


class InferenceSettings(NamedTuple):
    """Numbers of permutations (of each source) and bootstrap resamples, seed and threads."""

    n_permutations: int
    n_bootstrap: int
    confidence: float
    seed: int
    n_jobs: int | None = None


#: Of every source x, I(x;y) and I(x;y|rest) in nats, and the p-values, (n_sources, 2) each.
InformationTests = tuple[FloatArray, FloatArray]


def infer(
    sample: Sample, observed: FloatArray, settings: InferenceSettings
) -> tuple[FloatArray | None, InformationTests | None, FloatArray | None]:
    """Correct the observed atoms, test the sources and compute intervals, None if not requested.

    Results are in nats, of atoms in the order of the lattice; intervals have shape (n_atoms, 2).
    """
    if not settings.n_permutations and not settings.n_bootstrap:
        return None, None, None
    null = null_atoms(sample, settings) if sample.is_plug_in else None
    corrected = None if null is None else correct_bias(observed, null, sample)
    tests = source_tests(sample, observed, settings) if settings.n_permutations else None
    intervals = atom_intervals(sample, observed, null, settings) if settings.n_bootstrap else None
    if intervals is not None and tests is not None and sample.is_nonnegative:
        is_open = part_of_insignificant(sample.lattice, tests[1], 1 - settings.confidence)
        intervals[is_open] = span([intervals[is_open], np.zeros((np.count_nonzero(is_open), 2))])
    return corrected, tests, intervals


def source_tests(
    sample: Sample, atoms: FloatArray, settings: InferenceSettings
) -> InformationTests:
    """Test I(x;y) = 0 and I(x;y|rest) = 0 for every source; their values follow from the atoms."""
    lattice, (*sources, target) = sample.lattice, sample.blocks
    sums = dict(zip(lattice.antichains, lattice.cumulate(atoms), strict=True))
    joint = 2**lattice.n_sources - 1
    anywhere: PermutationSampler = partial(permutations, n_samples=sample.n_samples)
    informations, p_values = np.empty((2, lattice.n_sources, 2))
    for i, x in enumerate(sources):
        rest = sum((*sources[:i], *sources[i + 1 :]), Block())
        informations[i] = sums[1 << i,], sums[joint,] - sums[joint ^ 1 << i,]
        samplers = anywhere, sample.permutations_given(rest)
        for column, given in enumerate((Block(), rest)):
            scorer, stream = sample.estimator.bind(target, given), (DECOMPOSITION, i, column)
            p_values[i, column] = _p_value(scorer, x, samplers[column], stream, settings)
    return informations, p_values


def _p_value(
    scorer: Scorer,
    x: Block,
    sampler: PermutationSampler,
    stream: tuple[int, ...],
    settings: InferenceSettings,
) -> float:
    """Return the p-value of the information of x, which is bound to all others.

    A degenerate permutation, of infinite information, counts as at least the observed value.
    """

    def score(indices: range) -> FloatArray:
        rows = sampler((settings.seed, *stream), indices)
        return scorer.score(Batch.of_permutations(x, rows))

    (observed,) = scorer.score(Batch.observed(x))
    null = _map_tasks(score, settings.n_permutations, x.n_samples, settings)
    return (1.0 + np.count_nonzero(~(null < observed - TIE))) / (1.0 + len(null))


def part_of_insignificant(lattice: Lattice, p_values: FloatArray, alpha: float) -> BoolArray:
    """Return which atoms are part of an I(x;y) or I(x;y|rest) that is not significant."""
    is_part = np.zeros(len(lattice.labels), dtype=np.bool_)
    for source, (marginal, conditional) in enumerate(p_values):
        mask, rest = 1 << source, 2**lattice.n_sources - 1 - (1 << source)
        if not is_significant(marginal, alpha):
            is_part |= lattice.upsets[:, mask]
        if not is_significant(conditional, alpha):
            is_part |= ~lattice.upsets[:, rest]
    return is_part


def null_atoms(sample: Sample, settings: InferenceSettings) -> FloatArray:
    """Return the atoms under permutations of the target, (n_permutations, n_atoms)."""
    n_sources, n = sample.lattice.n_sources, N_CORRECTION_PERMUTATIONS

    def atoms_of(rows: Rows) -> FloatArray:
        return sample.atoms([*[None] * n_sources, rows])

    sampler = partial(permutations, n_samples=sample.n_samples)
    null = _map_rows(sample, sampler, (DECOMPOSITION, n_sources), n, atoms_of, settings)
    return _without_degenerate(null, sample, "permutations")


def correct_bias(atoms: FloatArray, null: FloatArray, sample: Sample) -> FloatArray:
    """Return bias-corrected atoms, (n_atoms,) or (n_resamples, n_atoms), by those of the null.

    Where the mean redundancy under the null equals the entropy of the target, since every sample
    has its own state, the corrected redundancy is 0.
    """
    expected = sample.lattice.cumulate(null.mean(axis=0))
    entropy = sample.target_entropy
    left = 1.0 - expected / entropy if entropy > 0 else np.ones_like(expected)
    scale = np.divide(1.0, left, out=np.zeros_like(left), where=left > TIE)
    redundancies = (sample.lattice.cumulate(atoms.T).T - expected) * scale
    return sample.lattice.moebius(redundancies.T).T


def atom_intervals(
    sample: Sample, observed: FloatArray, null: FloatArray | None, settings: InferenceSettings
) -> FloatArray:
    """Return the confidence interval of each atom, shape (n_atoms, 2)."""
    resampled = bootstrap_atoms(sample, observed, settings)
    basic = basic_interval(observed, resampled, settings.confidence)
    if null is None:
        return basic
    adjusted = adjusted_intervals(observed, resampled, null, sample, settings.confidence)
    bias = minimum_bias(sample, correct_bias(observed, null, sample), settings)[:, np.newaxis]
    intervals = [basic, *adjusted]
    return span([*intervals, *(interval - bias for interval in intervals)])


def adjusted_intervals(
    observed: FloatArray,
    resampled: FloatArray,
    null: FloatArray,
    sample: Sample,
    confidence: float,
) -> list[FloatArray]:
    """Return two intervals around the corrected atoms, each of shape (n_atoms, 2).

    Their widths are the spread of corrected resamples, and that of corrected values under the null.
    """
    corrected = correct_bias(observed, null, sample)
    centred = correct_bias(resampled, null, sample)
    centred += corrected - centred.mean(axis=0)
    spread = ndtri((1 + confidence) / 2) * correct_bias(null, null, sample).std(axis=0, ddof=1)
    ends = np.stack([corrected - spread, corrected + spread], axis=1)
    return [_quantiles(centred, confidence), ends]


def minimum_bias(sample: Sample, corrected: FloatArray, settings: InferenceSettings) -> FloatArray:
    """Return the bias of corrected atoms because redundancies are minima, shape (n_atoms,).

    It is at most 0 for redundancies. Each sample is in one of the four quarters of a split, so
    that terms linear in the samples cancel.
    """
    if sample.n_samples < 2 * N_QUARTERS:
        return np.zeros_like(corrected)
    split = _quarter_atoms(sample, settings)
    finite = split[np.isfinite(split).all(axis=(1, 2))]
    if len(finite) < len(split) / 2:  # a quarter of the samples is too few
        return np.zeros_like(corrected)
    change = correct_bias(finite[:, 0], finite[:, 1], sample).mean(axis=0) - corrected
    lattice = sample.lattice
    redundancies = dict(zip(lattice.antichains, lattice.cumulate(change), strict=True))
    relative = [
        redundancies[members] - np.mean([redundancies[(member,)] for member in members])
        for members in lattice.antichains
    ]
    return lattice.moebius(np.minimum(relative, 0.0))


def _quarter_atoms(sample: Sample, settings: InferenceSettings) -> FloatArray:
    """Return atoms of quarters with their own and another's target, (n_quarters, 2, n_atoms)."""
    n_sources, size = sample.lattice.n_sources, sample.n_samples // N_QUARTERS

    def atoms_of(rows: Rows) -> FloatArray:
        quarters = rows[: N_QUARTERS * size].reshape(N_QUARTERS, size)
        pairs = zip(quarters, np.roll(quarters, 1, axis=0), strict=True)
        return np.array(
            [[sample.atoms([*[own] * n_sources, y]) for y in (own, other)] for own, other in pairs]
        )

    splits = partial(permutations, n_samples=sample.n_samples)
    found = _map_rows(sample, splits, (BOOTSTRAP, N_QUARTERS), N_SPLITS, atoms_of, settings)
    return found.reshape(-1, 2, len(sample.lattice.antichains))


def span(intervals: Sequence[FloatArray]) -> FloatArray:
    """Return the smallest intervals that contain all of these, shape (n_atoms, 2)."""
    low, high = np.min(intervals, axis=0)[:, 0], np.max(intervals, axis=0)[:, 1]
    return np.stack([low, high], axis=1)


def bootstrap_atoms(
    sample: Sample, observed: FloatArray, settings: InferenceSettings
) -> FloatArray:
    """Return the atoms of bootstrap resamples, shape (n_bootstrap, n_atoms).

    Nearest neighbours do not allow repeated rows: halves of the samples without replacement are
    used instead, centred on the observed value; their spread is the same (Shao and Wu 1989).
    """
    n_variables = sample.lattice.n_sources + 1
    size = sample.n_samples if sample.is_plug_in else sample.n_samples // 2

    def atoms_of(rows: Rows) -> FloatArray:
        return sample.atoms([rows[:size]] * n_variables)

    generate = partial(resamples if sample.is_plug_in else permutations, n_samples=sample.n_samples)
    found = _map_rows(sample, generate, (BOOTSTRAP,), settings.n_bootstrap, atoms_of, settings)
    found = _without_degenerate(found, sample, "resamples")
    return found if sample.is_plug_in else found - found.mean(axis=0) + observed


def basic_interval(observed: FloatArray, resampled: FloatArray, confidence: float) -> FloatArray:
    """Return twice the observed value minus the quantiles of the resamples, shape (n_atoms, 2).

    Examples
    --------
    >>> basic_interval(np.array([2.0]), np.linspace(2.0, 3.0, 41)[:, np.newaxis], 0.95)
    array([[1.025, 1.975]])
    """
    return 2 * observed[:, np.newaxis] - _quantiles(resampled, confidence)[:, ::-1]


def _quantiles(values: FloatArray, confidence: float) -> FloatArray:
    return np.quantile(values, ((1 - confidence) / 2, (1 + confidence) / 2), axis=0).T


def _without_degenerate(atoms: FloatArray, sample: Sample, sort: str) -> FloatArray:
    """Drop permutations or resamples without finite atoms; raise if they are too many."""
    finite = atoms[np.isfinite(atoms).all(axis=1)]
    n_degenerate = len(atoms) - len(finite)
    if n_degenerate > MOST_DEGENERATE[sort] * len(atoms):
        raise ValueError(
            f"{n_degenerate} of {len(atoms)} {sort} of these {sample.n_samples} samples are "
            "degenerate (too few distinct rows, or the target an exact function of the sources): "
            "no inference is possible. Use more samples, or n_bootstrap=0 and n_permutations=0."
        )
    return finite


def _map_rows(
    sample: Sample,
    sampler: PermutationSampler,
    stream: tuple[int, ...],
    n: int,
    atoms_of: Callable[[Rows], FloatArray],
    settings: InferenceSettings,
) -> FloatArray:
    """Return the atoms for n sampled row orders."""

    def work(indices: range) -> FloatArray:
        return np.stack([atoms_of(rows) for rows in sampler((settings.seed, *stream), indices)])

    return _map_tasks(work, n, sample.n_samples, settings)


def _map_tasks(
    work: Callable[[range], FloatArray], n: int, n_samples: int, settings: InferenceSettings
) -> FloatArray:
    """Return the values of numbers 1 to n, the same for any number of workers."""
    size = max(1, min(TASK_SIZE // n_samples, -(-n // N_TASKS)))
    tasks = [range(i, min(i + size, n + 1)) for i in range(1, n + 1, size)]
    # Threads under any joblib backend; it then ignores a configured n_jobs, so pass it on.
    n_jobs = effective_n_jobs(None) if settings.n_jobs is None else settings.n_jobs
    found = Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(work)(task) for task in tasks)
    return np.concatenate(list(found))
