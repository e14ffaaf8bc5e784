"""Samples of sources and a target that a measure can decompose again with rows rearranged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.data import CLASS_LEVELS, Block, Column, FloatArray, IntArray
from pidselect.decomposition.binning import Binning, check_size, join_codes, to_codes
from pidselect.decomposition.continuous import DegenerateError, gaussian, sx_ksg
from pidselect.decomposition.lattice import Lattice, lattice
from pidselect.decomposition.measures import MEASURES
from pidselect.decomposition.pmf import PIDAtoms, entropy, information
from pidselect.estimators import KSG, Discrete, Estimator, Gaussian
from pidselect.significance.surrogates import (
    PermutationSampler,
    permute_globally,
    permute_locally,
)

Rows = NDArray[np.int32]

#: For each variable, the target last, the rows to take; None for the observed order.
Arrangement = Sequence[Rows | None]


@dataclass(frozen=True, eq=False)
class DiscreteSample:
    """Variables as integer codes, the target last, and a measure of their joint distribution.

    The measure is applied to relative frequencies (plug-in): its values are biased upward, and
    rows may occur more than once, as in bootstrap resamples.
    """

    codes: tuple[IntArray, ...]
    measure: Callable[[FloatArray], PIDAtoms]
    is_nonnegative: bool = False
    is_plug_in = True
    estimator = Discrete()  # of the mutual information that is decomposed

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.codes[0])

    @cached_property
    def n_states(self) -> int:
        """The number of joint states that occur."""
        return int(join_codes(self.codes).max()) + 1

    @property
    def lattice(self) -> Lattice:
        """The lattice of the atoms."""
        return lattice(len(self.codes) - 1)

    @cached_property
    def target_entropy(self) -> float:
        """H(target) in nats."""
        return entropy(np.bincount(self.codes[-1]) / self.n_samples)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of states of every variable."""
        return tuple(int(code.max()) + 1 for code in self.codes)

    @cached_property
    def _strides(self) -> list[NDArray[np.int32]]:
        """What each variable adds to the index of a sample's cell in the flattened table."""
        sizes = np.append(np.cumprod(self.shape[:0:-1])[::-1], 1)
        return [
            (code * size).astype(np.int32) for code, size in zip(self.codes, sizes, strict=True)
        ]

    @cached_property
    def _cells(self) -> NDArray[np.int32]:
        return np.sum(self._strides, axis=0, dtype=np.int32)

    def pmf(self, arrangement: Arrangement) -> FloatArray:
        """Return the relative frequency of every joint state, with the rows rearranged."""
        parts = self._strides
        if all(rows is arrangement[0] for rows in arrangement):
            parts, arrangement = [self._cells], arrangement[:1]  # moved once, not one by one
        moved = zip(parts, arrangement, strict=True)
        cells = reduce(np.add, (part if rows is None else part[rows] for part, rows in moved))
        counts = np.bincount(cells, minlength=math.prod(self.shape))
        return (counts / counts.sum()).reshape(self.shape)

    def decompose(self) -> tuple[PIDAtoms, float]:
        """Return the observed atoms and I(all sources; target), in nats."""
        pmf = self.pmf([None] * len(self.codes))
        return self.measure(pmf), information(pmf)

    def atoms(self, arrangement: Arrangement) -> FloatArray:
        """Return the atoms in nats with the rows of each variable rearranged."""
        return self.measure(self.pmf(arrangement)).atoms

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The variables as blocks of one nominal column, the target last."""
        return tuple(
            Block((Column(f"variable {i}", "nominal", code.astype(np.float64)),))
            for i, code in enumerate(self.codes, start=1)
        )

    def permutations_given(self, rest: Block) -> PermutationSampler:
        """Return the sampler of permutations within the joint states of the rest: exact."""
        return permute_globally(Block(), self.n_samples, rest.codes())


@dataclass(frozen=True, eq=False)
class ContinuousSample:
    """Variables as blocks of columns, the target last, and a measure of continuous samples.

    `estimator` is that of the mutual information that is decomposed, `is_plug_in` whether the
    measure is applied to the empirical distribution, `is_nonnegative` whether all its atoms are.
    """

    blocks: tuple[Block, ...]
    measure: Callable[[Sequence[Block], Block], PIDAtoms]
    estimator: Estimator
    is_plug_in: bool
    is_nonnegative: bool
    target_entropy = math.inf  # the limit of ever finer bins

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return self.blocks[0].n_samples

    @property
    def lattice(self) -> Lattice:
        """The lattice of the atoms."""
        return lattice(len(self.blocks) - 1)

    def decompose(self) -> tuple[PIDAtoms, float]:
        """Return the observed atoms and I(all sources; target), in nats."""
        found = self.measure(self.blocks[:-1], self.blocks[-1])
        return found, float(found.atoms.sum())

    def atoms(self, arrangement: Arrangement) -> FloatArray:
        """Return the atoms in nats with the rows of each variable rearranged.

        They are NaN where the rearranged rows are degenerate: the target an exact function of the
        sources, or a column constant.
        """
        *sources, target = (
            block if rows is None else block.take(rows.astype(np.int64))
            for block, rows in zip(self.blocks, arrangement, strict=True)
        )
        try:
            return self.measure(sources, target).atoms
        except DegenerateError:
            return np.full(len(self.lattice.antichains), np.nan)

    def permutations_given(self, rest: Block) -> PermutationSampler:
        """Return the sampler of local permutations, among samples that are near in the rest."""
        return permute_locally(rest, self.n_samples, None)


Sample = DiscreteSample | ContinuousSample

#: Measures that need no states, by name, with the further fields of a sample. To add one, add its
#: line.
CONTINUOUS: dict[str, tuple[Any, ...]] = {
    "gaussian": (gaussian, Gaussian(), True, True),
    "sx-ksg": (sx_ksg, KSG(scale="rank"), False, False),
}


def to_sample(
    sources: Sequence[Block],
    target: Block,
    measure: str,
    bins: int | None,
    binning: Binning = "count",
) -> Sample:
    """Return the sample a measure is applied to: states, or continuous columns as they are."""
    blocks = (*sources, target)
    if measure in CONTINUOUS:
        MEASURES["sx"].check(len(sources), measure)  # the same limits: those of the lattice
        return ContinuousSample(blocks, *CONTINUOUS[measure])
    MEASURES[measure].check(len(sources), measure)
    codes = tuple(to_codes(block, bins, binning, CLASS_LEVELS) for block in blocks)
    sample = DiscreteSample(codes, MEASURES[measure].decompose, MEASURES[measure].is_nonnegative)
    check_size(sample.shape)
    return sample
