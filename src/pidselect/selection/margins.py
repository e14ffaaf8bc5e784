"""The surrogate scheme "margins": contingency tables drawn with the margins of the observed ones.

It needs no rows, only counts, which may come from partitions. Each candidate has random numbers of
its own: tables of different candidates are drawn independently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from pidselect.data import Block, FloatArray, IntArray
from pidselect.data.counts import CountedColumn, count_codes
from pidselect.estimators import Batch, Discrete, Estimator
from pidselect.estimators.discrete import check_discrete
from pidselect.significance.margins import ContingencyTable


@dataclass(frozen=True)
class TableKeys:
    """The random numbers of drawn tables, in place of the row orders of permutations."""

    stream_key: tuple[int, ...]
    permutations: range


@dataclass(frozen=True, eq=False)
class MarginScorer:
    """Scores candidates by their contingency tables, observed and drawn."""

    tables: Mapping[tuple[str, ...], ContingencyTable]  # by the names of a candidate's columns

    def score(self, batch: Batch) -> FloatArray:
        """Refuse row orders: there are no rows."""
        raise NotImplementedError("contingency tables are drawn, not permuted: use score_together")

    def score_together(self, blocks: Sequence[Block], keys: TableKeys) -> FloatArray:
        """Return I(x; y | S) in nats, shape (n_candidates, n_permutations)."""
        return np.array(
            [
                self.tables[block.names].score(
                    (*keys.stream_key, _key_of_names(block.names)), keys.permutations
                )
                for block in blocks
            ]
        )


def _key_of_names(names: Sequence[str]) -> int:
    digest = blake2b("\0".join(names).encode("utf-8", "surrogatepass"), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def margin_scorers(
    estimators: Sequence[Estimator], target: Block, given: Block, blocks: Sequence[Block]
) -> tuple[MarginScorer, ...]:
    """Return the scorers of discrete estimators for all candidates given one conditioning set."""
    check_discrete(Block((*target.columns, *given.columns)))
    for block in blocks:
        check_discrete(block)
    found = []
    for estimator in estimators:
        assert isinstance(estimator, Discrete)
        weight = -0.5 if estimator.correction == "miller-madow" else 0.0
        tables = [
            ContingencyTable.from_cells(*cells, cell_weight=weight)
            for cells in _cells(target, given, blocks)
        ]
        found.append(
            MarginScorer({b.names: table for b, table in zip(blocks, tables, strict=True)})
        )
    return tuple(found)


def _cells(
    target: Block, given: Block, blocks: Sequence[Block]
) -> list[tuple[IntArray, IntArray, IntArray, IntArray]]:
    """Return the levels of candidate, target and conditioning set in each cell, and its rows."""
    first = target.columns[0]
    if isinstance(first, CountedColumn):
        counted = first.joint.count(
            (*target.names, *given.names), [block.names for block in blocks]
        )
        return [
            (one.codes(block.names), one.codes(target.names), one.codes(given.names), one.counts)
            for block, one in zip(blocks, counted, strict=True)
        ]
    y, joint = target.codes(), (target + given).codes()
    s = given.codes() if len(given) else np.zeros(len(y), dtype=np.int64)
    _, some_row = np.unique(joint, return_index=True)  # of each joint level of y and S
    cells = []
    for block in blocks:
        x = block.codes()
        n_levels = int(x.max()) + 1
        occupied, counts = count_codes(joint * n_levels + x, len(some_row) * n_levels)
        rows = some_row[occupied // n_levels]
        cells.append((occupied % n_levels, y[rows], s[rows], counts))
    return cells
