"""Surrogate schemes: permutations of a candidate that remove its dependence on the target.

A scheme is bound to the conditioning set S and the groups of rows, and then samples permutations:
in permutation m, sample i has the value of sample ``rows[m, i]``.

==========  ===================================================================================
"global"    permutes all samples, or those of a group: exact if the candidate is independent of
            (y, S)
"local"     local permutation among samples near in S (Runge 2018): keeps the dependence on S
"residual"  the same, of what a regression on S leaves of the candidate, with what it leaves of the
            target: for candidates that S nearly determines
"shift"     circular shift of all rows: keeps the candidate's autocorrelation
"blocks"    permutes whole groups: keeps rows of a group together
==========  ===================================================================================

References
----------
Runge (2018), Conditional independence testing based on a nearest-neighbor estimator of
conditional mutual information, AISTATS.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.data import Block, IntArray, read_block
from pidselect.estimators.base import check_permutations
from pidselect.significance.rng import permutations
from pidselect.significance.row_orders import RowOrders

#: Stream key and numbers of permutations -> rows, int32 of shape (len(numbers), n_samples), which
#: may be in the memory of a GPU.
PermutationSampler = Callable[[tuple[int, ...], range], Any]

#: Conditioning set, number of samples and group of every row -> sampler.
SurrogateScheme = Callable[[Block, int, IntArray | None], PermutationSampler]


def permute_globally(given: Block, n_samples: int, groups: IntArray | None) -> PermutationSampler:
    """Permute all samples, or those of every group; S is ignored."""
    if groups is None:
        return partial(permutations, n_samples=n_samples)
    return RowOrders("global", n_samples, groups)


def permute_locally(given: Block, n_samples: int, groups: IntArray | None) -> PermutationSampler:
    """Permute samples among those near in S, which keeps the dependence of a candidate on S.

    If all of S is discrete, and its joint levels are large enough, samples are permuted within
    these levels, which is exact. Otherwise integers are numbers, and pairs of near samples are
    exchanged: in random order, each with a random one of its nearest in S that has no partner yet.
    So each value is used once, unlike in Runge's scheme, where about one in ten occurs twice.
    """
    if not len(given):
        return permute_globally(given, n_samples, groups)
    return RowOrders.given("local", given, n_samples, groups)


def shift(given: Block, n_samples: int, groups: IntArray | None) -> PermutationSampler:
    """Shift all rows circularly by one random number, or those of every group by its own.

    For rows ordered in time. All shifts are equally likely, zero included, so that p-values are
    exact for a stationary circular series.
    """
    return RowOrders("shift", n_samples, groups)


def permute_blocks(given: Block, n_samples: int, groups: IntArray | None) -> PermutationSampler:
    """Permute whole groups of equal size, which keeps the order of rows within each.

    For rows of a group that are not independent samples. A group of unique size is not permuted.
    """
    if groups is None:
        raise ValueError(
            'surrogates="blocks" permutes whole groups of rows, but groups=None: pass the group '
            "of every row as groups, or choose other surrogates."
        )
    sizes = np.bincount(groups)
    sizes = sizes[sizes > 0]
    if len(np.unique(sizes)) == len(sizes):
        listed = ", ".join(map(str, sizes[:10])) + (", ..." if len(sizes) > 10 else "")
        raise ValueError(
            'surrogates="blocks" permutes groups of the same number of rows, but all '
            f'{len(sizes)} groups differ in size: {listed} rows. surrogates="global" with groups '
            "permutes rows within each instead; or make groups equally long."
        )
    return RowOrders("blocks", n_samples, groups)


#: Every named scheme.
SURROGATES: dict[str, SurrogateScheme] = {
    "global": permute_globally,
    "local": permute_locally,
    "residual": permute_locally,
    "shift": shift,
    "blocks": permute_blocks,
}

#: Schemes of exchangeable rows, of which a random part can be used.
WITHIN_PARTS = frozenset({"global", "local", "residual"})

#: Schemes that are known to return permutations; what is registered later is checked.
OWN_SCHEMES = frozenset(SURROGATES.values())


def bind_scheme(
    scheme: str, given: Block, n_samples: int, groups: IntArray | None
) -> PermutationSampler:
    """Return the sampler of a named scheme; its permutation 0 is the observed data."""
    bind = SURROGATES[scheme]
    sampler = bind(given, n_samples, groups)
    if bind not in OWN_SCHEMES:
        sampler = partial(_checked, sampler, n_samples)
    return partial(_observed_first, sampler, n_samples)


def _checked(
    sampler: PermutationSampler, n_samples: int, stream_key: tuple[int, ...], numbers: range
) -> NDArray[np.int32]:
    """Refuse rows that are no permutations, which kernels would read beyond their arrays for."""
    return check_permutations(sampler(stream_key, numbers), n_samples)


def _observed_first(
    sampler: PermutationSampler, n_samples: int, stream_key: tuple[int, ...], numbers: range
) -> NDArray[np.int32]:
    if numbers.start > 0:
        return np.asarray(sampler(stream_key, numbers))
    observed = np.arange(n_samples, dtype=np.int32)[np.newaxis]
    return np.concatenate([observed, sampler(stream_key, range(1, numbers.stop))])


def count_block_orders(groups: IntArray) -> int:
    """Return the number of permutations of whole groups, of at most 20 of a size."""
    groups_of_size = np.bincount(np.bincount(groups))
    return math.prod(math.factorial(min(int(count), 20)) for count in groups_of_size[1:])


def check_groups(groups: Any, n_samples: int) -> IntArray | None:
    """Return the groups of the rows, of any type, as 0, 1, ... in order of appearance."""
    if groups is None:
        return None
    block = read_block(groups, "groups")
    if len(block) != 1:
        raise ValueError(
            f"groups must have one value for every row, but has {len(block)} columns: pass one "
            "of them, or join them into one label."
        )
    if block.n_samples != n_samples:
        raise ValueError(
            f"groups has {block.n_samples} values, but there are {n_samples} rows: pass one value "
            "for every row."
        )
    # By first row, so that permutations do not depend on the names of groups.
    codes = block.columns[0].codes()
    _, first = np.unique(codes, return_index=True)
    appearance = np.argsort(np.argsort(first))
    return np.asarray(appearance[codes], dtype=np.int64)
