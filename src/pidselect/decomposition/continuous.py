"""Measures of continuous samples, without bins: Gaussian, and a variant of shared exclusions.

Both return the atoms in nats in the order of `lattice(n_sources).labels`.
"""

from __future__ import annotations

from collections.abc import Sequence
from zlib import crc32

import numpy as np
from scipy.special import digamma, ndtri
from scipy.stats import rankdata

from pidselect.data import Block, Column, FloatArray, IntArray, is_constant
from pidselect.data.messages import quoted
from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.minimum import lattice_of_minima
from pidselect.decomposition.pmf import PIDAtoms
from pidselect.decomposition.shared_exclusions_kernels import Antichains, Spaces, count_exclusions
from pidselect.estimators import KSG, Batch, Gaussian
from pidselect.estimators.gaussian import MIN_SAMPLES
from pidselect.estimators.knn.spaces import sort_column

#: Seeds of the tie-breaking order, which differs between a source and a target of equal ranks.
SOURCE, TARGET = 0, 1


class DegenerateError(ValueError):
    """Samples for which a measure is undefined, although every value is valid."""


def gaussian(sources: Sequence[Block], target: Block) -> PIDAtoms:
    r"""Decompose the information of jointly Gaussian sources about a univariate Gaussian target.

    .. math:: I_\cap(\alpha) = \min_{A \in \alpha} I(T; A), \qquad
              I(T; A) = -\tfrac12 \ln (1 - R_A^2),

    where R² is the coefficient of determination of the linear regression on the sources in A. For
    two sources it equals BROJA and every other measure whose redundancy depends on the marginals
    (target, source) alone (Barrett 2015, see `mmi`): one source has no unique information. For more
    sources it is MMI.

    Examples
    --------
    A noisy sum of two sources: shared, unique 1, unique 2, synergy, in bits.

    >>> from pidselect.data import read_block
    >>> rng = np.random.default_rng(0)
    >>> x1, x2, noise = rng.normal(size=(3, 10_000))
    >>> total = read_block(x1 + x2 + noise, "total")
    >>> parts = gaussian([read_block(x1, "x1"), read_block(x2, "x2")], total)
    >>> (parts.atoms / np.log(2)).round(1)
    array([0.3, 0. , 0. , 0.5])
    """
    _check([*sources, target])
    if len(target) != 1:
        raise ValueError(
            f"The target has {len(target)} columns ({quoted(target.names)}), but "
            "measure='gaussian' needs one. Decompose each column separately, or use "
            "measure='sx-ksg'."
        )
    if target.n_samples < MIN_SAMPLES:
        raise DegenerateError(
            f"A covariance needs at least {MIN_SAMPLES} samples, but n_samples={target.n_samples}."
        )
    bound = Gaussian().bind(target, Block())
    masks = range(1, 2 ** len(sources))
    values = [0.0, *(bound.score(Batch.observed(_joint(sources, mask)))[0] for mask in masks)]
    for mask, value in enumerate(values):
        if not np.isfinite(value):
            columns = quoted(_joint(sources, mask).names)
            raise DegenerateError(
                f"Column {target.names[0]!r} is an exact linear function of {columns} in these "
                f"{target.n_samples} samples: the information is infinite and atoms are undefined. "
                "Leave out sources that determine the target, use more samples than columns, or "
                'use measure="broja", which bins columns.'
            )
    return PIDAtoms(lattice_of_minima(np.array(values)))


def sx_ksg(sources: Sequence[Block], target: Block, *, k: int = 4) -> PIDAtoms:
    r"""Decompose by a variant of continuous shared exclusions, estimated from nearest neighbours.

    The pointwise redundancy of an antichain is the information of the event A = a or B = b or ...
    (Makkeh et al. 2021), for continuous variables in the limit of shrinking neighbourhoods. With
    neighbourhoods of equal probability for all members,

    .. math:: I_\cap(\alpha) = \mathrm{E} \ln \Bigl( \frac{1}{|\alpha|}
              \sum_{A \in \alpha} \frac{f(t|a)}{f(t)} \Bigr) .

    It differs from the measure of Ehrlich et al. (2024) in the scales on which sources are
    compared; for two sources of one column each the two agree on ranks. Their estimator extends KSG
    to unions of neighbourhoods. The distance of two samples is the maximum of their distance in the
    target and of the smallest distance in any member. With n samples strictly nearer than the k-th
    neighbour in the target, and n' in any member,

    .. math:: I_\cap(\alpha) = \psi(k) + \psi(N) - \langle \psi(n'+1) + \psi(n+1) \rangle .

    Each column is replaced by its normal scores, the quantiles n / (N + 1) of the ranks n; ties are
    put in a random order, which is a function of the data. An antichain with one member is
    estimated by KSG (algorithm 1). In one with several members the distance to a sample is the
    number of samples that are at most as far, not the same radius for all as in Ehrlich et al.: n
    samples around a target of d columns correspond to N (n / N)^(D/d) around a member, where D is
    the number of columns of the smallest member. See ``docs/mathematics.md`` for the reasons.

    References
    ----------
    D. A. Ehrlich et al. (2024), "Partial information decomposition for continuous variables based
    on shared exclusions: analytical formulation and estimation", Physical Review E 110, 014115.
    A. Makkeh, A. J. Gutknecht and M. Wibral (2021), "Introducing a differentiable measure of
    pointwise shared information", Physical Review E 103, 032149.
    K. Schick-Poland et al. (2021), "A partial information decomposition for discrete and
    continuous variables", arXiv:2106.12393.
    """
    sets = lattice(len(sources))
    _check([*sources, target])
    if target.n_samples < k + 2:
        raise DegenerateError(
            f"measure='sx-ksg' with {k} neighbours needs at least {k + 2} samples, but there are "
            f"{target.n_samples}."
        )
    scored = [_normal_scores(block, SOURCE) for block in sources]
    redundancies = _redundancies(scored, _normal_scores(target, TARGET), sets.antichains, k)
    return PIDAtoms(sets.moebius(redundancies))


def _joint(sources: Sequence[Block], mask: int) -> Block:
    return sum((block for i, block in enumerate(sources) if mask >> i & 1), Block())


def _redundancies(
    sources: Sequence[Block], target: Block, antichains: Sequence[tuple[int, ...]], k: int
) -> FloatArray:
    """Return the redundancy of each antichain in nats."""
    n_samples = target.n_samples
    spaces, by_mask, of_target = _to_spaces(sources, target)
    widths = [len(_joint(sources, mask)) for mask in range(2 ** len(sources))]
    smallest = [min(widths[mask] for mask in members) for members in antichains]
    sizes, scale = np.unique(smallest, return_inverse=True)
    exponents = sizes[:, np.newaxis] / len(target)
    grouped = Antichains(
        np.array([by_mask[mask] for members in antichains for mask in members]),
        np.cumsum([0, *map(len, antichains)]),
        scale,
        np.arange(n_samples) ** exponents * n_samples ** (1.0 - exponents),
        of_target,
    )
    formula = KSG(k).formula(n_samples)
    sums = np.empty(len(antichains), dtype=np.int64)
    count_exclusions(spaces, grouped, formula.rule, sums)
    return formula.offset + digamma(n_samples) - sums * formula.unit / n_samples


def _to_spaces(sources: Sequence[Block], target: Block) -> tuple[Spaces, dict[int, int], int]:
    """Return all spaces, the index of the space of each set of sources, and that of the target."""
    columns = [column.values for block in (*sources, target) for column in block.columns]
    joined: list[tuple[int, int]] = []

    def join(left: int, right: int) -> int:
        joined.append((left, right))
        return len(columns) + len(joined) - 1

    ends = np.cumsum([len(block) for block in (*sources, target)])
    variables = []
    for block, end in zip((*sources, target), ends, strict=True):
        space = end - len(block)
        for column in range(space + 1, end):
            space = join(space, column)
        variables.append(space)

    by_mask: dict[int, int] = {}
    for mask in range(1, 2 ** len(sources)):
        last = mask.bit_length() - 1
        others = mask - (1 << last)
        by_mask[mask] = join(by_mask[others], variables[last]) if others else variables[last]

    lines = [sort_column(values) for values in columns]
    spaces = Spaces(
        np.stack([line.ascending for line in lines]),
        np.stack([line.rank for line in lines]),
        np.stack([line.sample for line in lines]),
        np.array(joined, dtype=np.int64).reshape(-1, 2),
    )
    return spaces, by_mask, variables[-1]


def _normal_scores(block: Block, role: int) -> Block:
    """Return the normal scores of every column; raise for discrete or constant ones."""
    n = block.n_samples
    # From both ends, so that the scores of -x are exactly those of x with the sign reversed.
    tail = ndtri(np.arange(1, n // 2 + 1) / (n + 1))
    scores = np.concatenate([tail, np.zeros(n % 2), -tail[::-1]])
    columns = []
    for column in block.columns:
        if column.is_discrete:
            raise ValueError(
                f'measure="sx-ksg" needs continuous columns, but {column.name!r} is '
                f'{column.feature_type}, with {column.levels()} levels. Use measure="sx" or '
                f"\"broja\", or feature_types={{{column.name!r}: 'continuous'}} if it is a "
                "measurement."
            )
        if is_constant(column.values):
            raise DegenerateError(
                f'measure="sx-ksg": column {column.name!r} is constant. Leave it out.'
            )
        ranks = _ranks(column.values, role)
        columns.append(Column(column.name, "continuous", scores[ranks - 1]))
    return Block(tuple(columns))


def _ranks(values: FloatArray, role: int) -> IntArray:
    """Return the ranks 1, 2, ..., ties in random order.

    The seed is derived from the ranks: copies among the sources stay copies, and different columns
    are independent. The role makes a source and a target that are copies independent, too: the
    order of ties must not add information.
    """
    # SciPy 1.18 returns them as floats, whose bytes would be another seed.
    ranks = rankdata(values, method="min").astype(np.int64)
    random = np.random.default_rng([role, crc32(ranks.tobytes())]).random(len(values))
    ranks[np.lexsort((random, ranks))] = np.arange(1, len(values) + 1)
    return ranks


def _check(blocks: Sequence[Block]) -> None:
    """Raise for labels."""
    for column in (column for block in blocks for column in block.columns):
        if column.feature_type == "nominal":
            name, remedy = repr(column.name), ""
            if column.labels is None:
                remedy = f", or feature_types={{{name}: 'ordinal'}} if its numbers are amounts"
            raise ValueError(
                f"Column {name} is nominal: labels have no distance and no variance. Use "
                f'measure="broja" or "sx"{remedy}.'
            )
