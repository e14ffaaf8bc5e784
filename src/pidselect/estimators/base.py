"""The contract of estimators, `bind` once and `score` many times, and what estimators share.

`Estimator.bind` takes the target y and the conditioning set S and computes all that depends on
them alone; `Scorer.score` then estimates I(x; y | S) for a candidate x and its surrogates. Values
are in nats and never clipped: estimates for independent variables scatter around zero, and
truncation would bias sums and differences of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from pidselect.data import Block, FloatArray, IntArray
from pidselect.data.raw_column import BOOLS

Unit = Literal["bit", "nat"]
NATS_PER_UNIT: dict[str, float] = {"bit": math.log(2.0), "nat": 1.0}


@dataclass(frozen=True, eq=False)
class Batch:
    """A candidate and m permutations of its samples.

    `rows` have the shape (m, n_samples): in permutation m, sample i has the value of sample
    ``rows[m, i]``. Every row must hold each of 0 to n_samples - 1 once, which is checked: scorers
    need not.

    Examples
    --------
    The observed values, two permutations of them, and what is refused:

    >>> import numpy as np
    >>> from pidselect.data import read_block
    >>> from pidselect.estimators import Batch
    >>> x = read_block([0.5, 1.5, 2.5], "x")
    >>> len(Batch.observed(x)), len(Batch(x, np.array([[2, 0, 1], [1, 0, 2]])))
    (1, 2)
    >>> Batch(x, np.array([[0, 0, 1]]))
    Traceback (most recent call last):
    ...
    ValueError: rows[0, 1] is 0 for the second time: every row must hold each of 0 to 2 once.
    """

    block: Block
    rows: NDArray[np.int32]

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", check_permutations(self.rows, self.block.n_samples))

    @classmethod
    def of_permutations(cls, block: Block, rows: Any) -> Batch:
        """Return a batch of rows that are known to be permutations, unchecked."""
        batch = object.__new__(cls)
        object.__setattr__(batch, "block", block)
        object.__setattr__(batch, "rows", rows)
        return batch

    @classmethod
    def observed(cls, block: Block) -> Batch:
        """Return the observed candidate as a batch of one."""
        rows = np.arange(block.n_samples, dtype=np.int32)[np.newaxis]
        return cls.of_permutations(block, rows)

    def __len__(self) -> int:
        return len(self.rows)


def check_permutations(rows: Any, n_samples: int) -> NDArray[np.int32]:
    """Return rows of int32; refuse rows that do not hold each of 0 to n_samples - 1 once.

    Examples
    --------
    >>> check_permutations([[2, 0, 1], [2, 0, 2]], 3)
    Traceback (most recent call last):
    ValueError: rows[1, 2] is 2 for the second time: every row must hold each of 0 to 2 once.
    """
    given = np.asarray(rows)
    if given.ndim != 2 or given.shape[1] != n_samples or given.dtype.kind not in "iu":
        raise ValueError(
            f"rows must be integers of shape (m, n_samples={n_samples}), but are {given.dtype} of "
            f"shape {given.shape}."
        )
    # Numbers that do not fit into 32 bits become -1, not another sample.
    fits = given.dtype.itemsize < 4 or given.dtype == np.int32
    is_sample = (given >= 0) & (given < n_samples)
    small = given if fits else np.where(is_sample, given.astype(np.int64), -1)
    checked = np.ascontiguousarray(small, dtype=np.int32)
    differs = np.sort(checked, axis=1) != np.arange(n_samples)
    is_wrong = differs.any(axis=1)
    if is_wrong.any():
        m = int(is_wrong.argmax())
        is_first = np.zeros(n_samples, dtype=bool)
        is_first[np.unique(checked[m], return_index=True)[1]] = True
        i = int(np.argmin(is_first & is_sample[m]))
        fault = " for the second time" if is_sample[m, i] else ", no sample"
        raise ValueError(
            f"rows[{m}, {i}] is {given[m, i]}{fault}: every row must hold each of "
            f"0 to {n_samples - 1} once."
        )
    return checked


class Scorer(Protocol):
    """An estimator bound to a target and a conditioning set.

    Examples
    --------
    A permutation test of one candidate, all of it in one call:

    >>> import numpy as np
    >>> from pidselect.data import Block, read_block
    >>> from pidselect.estimators import Batch, Copula
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.normal(size=(2, 200))
    >>> scorer = Copula().bind(read_block(x + noise, "y"), Block())
    >>> rows = np.stack([np.arange(200), *(rng.permutation(200) for _ in range(99))])
    >>> values = scorer.score(Batch(read_block(x, "x"), rows))
    >>> observed, null = values[0], values[1:]
    >>> print((1 + sum(null >= observed)) / (1 + len(null)))
    0.01
    """

    def score(self, batch: Batch) -> FloatArray:
        """Return I(x; y | S) in nats for every permutation of the candidate, shape (m,)."""
        ...


class Estimator(Protocol):
    """An estimator of conditional mutual information.

    Optional class attributes, False by default: ``uses_ranks_only = True`` if the estimate is
    invariant under strictly monotone maps of a column, so that columns of equal ranks are
    duplicates; ``needs_levels = True`` if it counts levels, so that no residuals can take their
    place; ``uses_neighbours = True`` if its time grows faster than the number of samples, so
    that ``max_samples="auto"`` limits it to a part of many rows. An optional method ``estimate(x,
    target, given)`` returns a single value in nats, where that is faster than to bind.

    Examples
    --------
    The target and the conditioning set are bound once, then any number of candidates is scored.
    Here x is informative about y, but not given S.

    >>> import numpy as np
    >>> from pidselect.data import Block, read_block
    >>> from pidselect.estimators import KSG, Batch
    >>> common, error, noise = np.random.default_rng(0).normal(size=(3, 500))
    >>> x, y = read_block(common + error / 4, "x"), read_block(common + noise / 4, "y")
    >>> estimator = KSG().set_params(k=10)
    >>> for given in (Block(), read_block(common, "S")):
    ...     value = estimator.bind(y, given).score(Batch.observed(x))[0]
    ...     print(f"{abs(value):.1f} nat given {given.names}, k = {estimator.get_params()['k']}")
    1.1 nat given (), k = 10
    0.0 nat given ('S',), k = 10
    """

    def bind(self, target: Block, given: Block) -> Scorer:
        """Compute all that depends on the target and the conditioning set alone."""
        ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        ...

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name."""
        ...


def as_numbers(block: Block, estimator: str) -> Block:
    """Return the block with nominal columns as ordinal; refuse text and missing values."""
    for column in block.columns:
        if column.labels not in (None, BOOLS):
            raise ValueError(
                f"{estimator} needs numbers, but column {column.name!r} holds labels such as "
                f'{column.labels[0]!r}. Use estimator="mixed" (or "auto"), which handles labels.'
            )
        if column.has_missing:
            raise ValueError(
                f"{estimator} does not handle the {int(np.isnan(column.values).sum())} missing "
                f'(NaN) values of column {column.name!r}. Use estimator="mixed" (or "auto"), or '
                'missing="drop".'
            )
    return Block(
        tuple(
            replace(c, feature_type="ordinal") if c.feature_type == "nominal" else c
            for c in block.columns
        )
    )


def check_same_length(block: Block, n_samples: int, name: str = "x") -> None:
    """Refuse a variable whose number of samples differs from that of the target."""
    if block.n_samples != n_samples:
        raise ValueError(
            f"{name} has {block.n_samples} samples and y has {n_samples}: "
            "each needs one value per sample."
        )


class Partition(NamedTuple):
    """Samples grouped by level: group g is ``samples[start[g]:start[g + 1]]``, in row order."""

    samples: NDArray[np.int64]
    start: NDArray[np.int64]


def partition(codes: NDArray[np.integer]) -> Partition:
    """Group samples by their code."""
    return Partition(np.argsort(codes, kind="stable").astype(np.int64), group_starts(codes))


def groups_of(codes: NDArray[np.integer]) -> list[IntArray]:
    """Return the samples of each group."""
    samples, start = partition(codes)
    return np.split(samples, start[1:-1])


def group_starts(codes: NDArray[np.integer]) -> IntArray:
    """Return where each group begins, and the end, once samples are sorted by code."""
    # np.unique drops the groups of codes without samples.
    ends = np.cumsum(np.bincount(codes))
    starts = np.unique(np.concatenate([[0], ends]))
    return starts.astype(np.int64)
