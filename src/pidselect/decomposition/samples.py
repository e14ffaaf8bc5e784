"""Subjects: sources and a target whose atoms can be asked for again with rows rearranged."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pidselect.data import Block, FloatArray, IntArray
from pidselect.decomposition.binning import Binning, check_size, count_states, join_codes, to_codes
from pidselect.decomposition.continuous import DegenerateError, gaussian, sx_ksg
from pidselect.decomposition.lattice import Lattice, lattice
from pidselect.decomposition.measures import MEASURES
from pidselect.decomposition.pmf import Parts, entropy, information

Rows = NDArray[np.int32]

#: For each variable, the target last, the rows to take; None leaves it as it is.
Arrangement = Sequence[Rows | None]


class ContinuousMeasure(NamedTuple):
    """A measure of continuous samples, and whether it is a plug-in estimator."""

    decompose: Callable[[Sequence[Block], Block], Parts]
    is_plug_in: bool


#: Every measure that needs no states. To add one, add its line.
CONTINUOUS: dict[str, ContinuousMeasure] = {
    "gaussian": ContinuousMeasure(gaussian, True),
    "sx-ksg": ContinuousMeasure(sx_ksg, False),
}


@dataclass(frozen=True, eq=False)
class DiscreteSample:
    """Variables as states, the target last, and a measure of their joint distribution.

    A plug-in estimator takes the sample for the distribution. So rows may occur twice, which
    nearest neighbours cannot bear, and chance adds to its values, which those correct for.
    """

    codes: tuple[IntArray, ...]
    measure: Callable[[FloatArray], Parts]
    is_plug_in = True

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return len(self.codes[0])

    @cached_property
    def n_states(self) -> int:
        """The number of different joint states that occur."""
        return int(join_codes(self.codes).max()) + 1

    @property
    def samples_per_state(self) -> float:
        """The mean number of samples in a joint state that occurs."""
        return self.n_samples / self.n_states

    @property
    def lattice(self) -> Lattice:
        """The lattice of the atoms."""
        return lattice(len(self.codes) - 1)

    @cached_property
    def target_entropy(self) -> float:
        """In nats."""
        return entropy(np.bincount(self.codes[-1]) / self.n_samples)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of states of every variable."""
        return tuple(int(code.max()) + 1 for code in self.codes)

    @cached_property
    def _steps(self) -> list[NDArray[np.int32]]:
        """What each variable adds to the number of a sample's cell in the table of all states."""
        sizes = np.append(np.cumprod(self.shape[:0:-1])[::-1], 1)
        return [
            (code * size).astype(np.int32) for code, size in zip(self.codes, sizes, strict=True)
        ]

    @cached_property
    def _cells(self) -> NDArray[np.int32]:
        return np.sum(self._steps, axis=0, dtype=np.int32)

    def parts(self) -> tuple[Parts, float]:
        """Return the parts as observed, and the information of all sources."""
        pmf = count_states(self.codes)
        return self.measure(pmf), information(pmf)

    def atoms(self, arrangement: Arrangement) -> FloatArray:
        """Return the atoms in nats, each variable by these rows or as it is."""
        first = arrangement[0]
        if all(rows is first for rows in arrangement):
            cells = self._cells if first is None else self._cells[first]
        else:
            moved = zip(self._steps, arrangement, strict=True)
            cells = self._cells + sum(step[rows] - step for step, rows in moved if rows is not None)
        counts = np.bincount(cells, minlength=math.prod(self.shape))
        return self.measure((counts / self.n_samples).reshape(self.shape)).atoms


@dataclass(frozen=True, eq=False)
class ContinuousSample:
    """Variables as blocks of measurements, the target last, and a measure that takes those."""

    blocks: tuple[Block, ...]
    measure: ContinuousMeasure
    target_entropy = math.inf  # that of an ever finer measurement

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return self.blocks[0].n_samples

    @property
    def lattice(self) -> Lattice:
        """The lattice of the atoms."""
        return lattice(len(self.blocks) - 1)

    @property
    def is_plug_in(self) -> bool:
        """Whether the measure takes the sample for the distribution."""
        return self.measure.is_plug_in

    def parts(self) -> tuple[Parts, float]:
        """Return the parts as observed, and the information of all sources."""
        parts = self.measure.decompose(self.blocks[:-1], self.blocks[-1])
        return parts, float(parts.atoms.sum())

    def atoms(self, arrangement: Arrangement) -> FloatArray:
        """Return the atoms in nats, each variable by these rows or as it is.

        They are NaN where rows so arranged have none: if the target becomes an exact function of
        the sources, or a column constant.
        """
        *sources, target = (
            block if rows is None else block.take(rows.astype(np.int64))
            for block, rows in zip(self.blocks, arrangement, strict=True)
        )
        try:
            return self.measure.decompose(sources, target).atoms
        except DegenerateError:
            return np.full(len(self.lattice.antichains), np.nan)


Sample = DiscreteSample | ContinuousSample


def to_sample(
    sources: Sequence[Block], target: Block, measure: str, bins: int, binning: Binning = "count"
) -> Sample:
    """Return what a measure is to be applied to: states, or measurements as they are."""
    blocks = (*sources, target)
    if measure in CONTINUOUS:
        MEASURES["sx"].check(len(sources), measure)  # the lattice alone sets the limit, as there
        return ContinuousSample(blocks, CONTINUOUS[measure])
    MEASURES[measure].check(len(sources), measure)
    codes = tuple(to_codes(block, bins, binning) for block in blocks)
    check_size(codes)
    return DiscreteSample(codes, MEASURES[measure].decompose)
