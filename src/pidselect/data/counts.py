"""Contingency tables of discrete columns in partitions: counted there, summed here."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from .column import Block, Column, IntArray
from .messages import counted, quoted
from .partitions import COLUMNS_PER_TASK, Partitions
from .raw_column import from_series
from .table import Dataset, Table

#: Levels of a column up to which they are counted.
MAX_LEVELS = 2**14

#: Cells that joint levels are numbered by: their numbers are 64-bit integers.
MAX_CELLS = 2**62

#: Cells up to which all are counted, occupied or not, for any number of rows.
DENSE_CELLS = 2**16

#: Cells of tables that are kept for later tests: half a gigabyte.
KEPT_CELLS = 2**25

#: A level as text or number.
Level = str | float


@dataclass(frozen=True)
class Levels:
    """The different values of a column in all partitions, in order; a missing value is the last."""

    values: tuple[Level, ...]
    counts: tuple[int, ...]
    n_missing: int = 0

    def __len__(self) -> int:
        return len(self.values) + (self.n_missing > 0)


@dataclass(frozen=True, eq=False)
class CellCounts:
    """The occupied cells of the joint levels of some columns, and their numbers of rows.

    A cell is numbered as digits are, one for each column, the last column changing fastest.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]  # numbers of levels
    cells: IntArray  # in ascending order
    counts: IntArray

    def codes(self, names: Sequence[str]) -> IntArray:
        """Return the joint level of some of the columns in every cell."""
        codes = np.zeros(len(self.cells), dtype=np.int64)
        for name in names:
            place = self.names.index(name)
            below = math.prod(self.sizes[place + 1 :])
            codes = codes * self.sizes[place] + self.cells // below % self.sizes[place]
        return codes


@dataclass(eq=False)
class JointCounts:
    """The joint counts of discrete columns in partitions; those of earlier tests are kept.

    `n_passes` and `n_bytes` tell how often partitions were read, and how many bytes of counts came
    back.
    """

    partitions: Partitions | None  # None in another process, which counts nothing
    levels: dict[str, Levels]
    n_rows: int
    n_passes: int = 0
    n_bytes: int = 0
    _kept: OrderedDict[frozenset[str], CellCounts] = field(default_factory=OrderedDict)

    def __reduce__(self) -> tuple[type[JointCounts], tuple[Any, ...]]:
        """Pickle what is known of the columns, without the partitions."""
        return JointCounts, (None, self.levels, self.n_rows)

    def count(
        self, common: tuple[str, ...], others: Sequence[tuple[str, ...]]
    ) -> tuple[CellCounts, ...]:
        """Return the counts of the common columns jointly with each of the others."""
        wanted = [frozenset((*common, *names)) for names in others]
        new = {
            key: names for key, names in zip(wanted, others, strict=True) if key not in self._kept
        }
        for some in _chunks(list(new.values())):
            self._count(common, some)
        found = tuple(self._kept[key] for key in wanted)
        for key in wanted:
            self._kept.move_to_end(key)
        while len(self._kept) > 1 and sum(len(c.cells) for c in self._kept.values()) > KEPT_CELLS:
            self._kept.popitem(last=False)
        return found

    def _count(self, common: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> None:
        tables = [(*common, *(n for n in names if n not in common)) for names in others]
        columns = list(dict.fromkeys(name for names in tables for name in names))
        levels = {name: self.levels[name] for name in columns}
        for names in tables:
            self._check_cells(names)
        assert self.partitions is not None
        sums: list[tuple[IntArray, IntArray]] | None = None
        self.n_passes += 1
        for part in self.partitions.map(count_cells, columns, common, tables, levels):
            self.n_bytes += sum(cells.nbytes + counts.nbytes for cells, counts in part)
            sums = part if sums is None else list(map(_added, sums, part))
        assert sums is not None
        for names, (cells, counts) in zip(tables, sums, strict=True):
            sizes = tuple(len(self.levels[name]) for name in names)
            self._kept[frozenset(names)] = CellCounts(names, sizes, cells, counts)

    def _check_cells(self, names: Sequence[str]) -> None:
        if math.prod(len(self.levels[name]) for name in names) > MAX_CELLS:
            raise ValueError(
                f"The joint levels of {counted(len(names), 'column')} are too many to count, among "
                f"them {quoted(names[:3])}: use a smaller max_features, or max_conditioning."
            )


def _chunks(others: Sequence[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    """Yield some at a time, of at most `COLUMNS_PER_TASK` columns unless one has more."""
    chunk: list[tuple[str, ...]] = []
    for names in others:
        if chunk and sum(map(len, chunk)) + len(names) > COLUMNS_PER_TASK:
            yield chunk
            chunk = []
        chunk.append(names)
    if chunk:
        yield chunk


def _added(
    one: tuple[IntArray, IntArray], other: tuple[IntArray, IntArray]
) -> tuple[IntArray, IntArray]:
    """Return the sum of two tables, each as cells and counts."""
    if np.array_equal(one[0], other[0]):
        return one[0], one[1] + other[1]
    cells, places = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.zeros(len(cells), dtype=np.int64)
    np.add.at(counts, places, np.concatenate([one[1], other[1]]))
    return cells, counts


@dataclass(frozen=True, eq=False)
class CountedColumn(Column):
    """A discrete column in partitions: its counts are of all rows, its values of a sample."""

    joint: JointCounts = field(kw_only=True, repr=False)

    def levels(self) -> int:
        """Return the number of different values in all rows."""
        return len(self.joint.levels[self.name])

    @classmethod
    def of(cls, column: Column, joint: JointCounts) -> CountedColumn:
        """Return a column with its counts."""
        return cls(
            column.name,
            column.feature_type,
            column.values,
            column.labels,
            column.store,
            joint=joint,
        )


def with_counts(dataset: Dataset, joint: JointCounts) -> Dataset:
    """Return a dataset of sampled rows with the counts of all rows.

    A column that is constant in the sample, but not in all rows, is not skipped.
    """

    def counted(column: Column) -> Column:
        return CountedColumn.of(column, joint) if column.name in joint.levels else column

    table, target = dataset.table, dataset.target
    skipped = {
        place: reason
        for place, reason in table.skipped.items()
        if reason != "constant" or len(joint.levels.get(table.names[place], " ")) == 1
    }
    columns = tuple(map(counted, table.columns))
    return replace(
        dataset,
        table=Table(columns, skipped),
        target=Block(tuple(map(counted, target.columns))),
    )


def digest_of_counts(column: Column) -> str:
    """Return a digest of the rows of each level in all partitions; nothing if values are all."""
    if not isinstance(column, CountedColumn):
        return ""
    levels = column.joint.levels[column.name]
    return blake2b(repr((levels.counts, levels.n_missing)).encode(), digest_size=16).hexdigest()


def confirm_duplicates(table: Table, duplicates: dict[int, int]) -> dict[int, int]:
    """Return the duplicates of a sample that are duplicates in all rows, up to a relabelling."""
    columns = table.columns
    pairs = {
        (copy, original): (columns[copy].name, columns[original].name)
        for copy, original in duplicates.items()
        if isinstance(columns[copy], CountedColumn)
    }
    if not pairs:
        return duplicates
    first = columns[next(iter(pairs))[0]]
    assert isinstance(first, CountedColumn)
    tables = first.joint.count((), list(pairs.values()))
    different = {
        copy
        for (copy, _), counts in zip(pairs, tables, strict=True)
        if any(len(counts.cells) != size for size in counts.sizes)
    }
    return {copy: one for copy, one in duplicates.items() if copy not in different}


def level_counts(block: Block) -> IntArray:
    """Return the number of rows of each joint level of a block, those in partitions included."""
    first = block.columns[0]
    if not isinstance(first, CountedColumn):
        return np.bincount(block.codes())
    (counts,) = first.joint.count((), [block.names])
    return counts.counts


def find_levels(partitions: Partitions, columns: Sequence[str]) -> dict[str, Levels | None]:
    """Return the levels of columns in all rows; None for those with too many."""
    found: dict[str, Levels | None] = {}
    for start in range(0, len(columns), COLUMNS_PER_TASK):
        some = columns[start : start + COLUMNS_PER_TASK]
        found |= dict.fromkeys(some, Levels((), ()))
        for part in partitions.map(scan_levels, some):
            for name, levels in zip(some, part, strict=True):
                try:
                    found[name] = merge_levels(found[name], levels)
                except TypeError as error:
                    raise TypeError(
                        f"column {name!r} has different types in different partitions: {error}; "
                        "convert it to one of them"
                    ) from None
    return found


# --- functions of a partition -------------------------------------------------------------------


def scan_levels(frame: Any, first_row: int) -> list[Levels | None]:
    """Return the levels of every column of a partition; None if there are too many.

    Raises for an infinite number.
    """
    table = _to_arrow(frame)
    return [_levels(*_encoded(name, table.column(name))) for name in table.column_names]


def _levels(codes: NDArray[Any], levels: Sequence[Level | None]) -> Levels | None:
    if len(levels) > MAX_LEVELS:
        return None
    n_missing, *counts = np.bincount(codes + 1, minlength=len(levels) + 1).tolist()
    found: Counter[Level] = Counter()  # of equal texts, too, as of categories 1 and "1"
    for level, n in zip(levels, counts, strict=True):
        if level is None:
            n_missing += n
        elif n:
            found[level] += n
    return Levels(tuple(found), tuple(found.values()), n_missing)


def merge_levels(one: Levels | None, other: Levels | None) -> Levels | None:
    """Return the levels of two parts together, in order; None if there are too many.

    Examples
    --------
    >>> merge_levels(Levels(("b", "c"), (5, 1)), Levels(("a", "b"), (2, 2), n_missing=2))
    Levels(values=('a', 'b', 'c'), counts=(2, 7, 1), n_missing=2)
    """
    if one is None or other is None:
        return None
    found: Counter[Any] = Counter()
    for part in (one, other):
        found.update(dict(zip(part.values, part.counts, strict=True)))
    if len(found) > MAX_LEVELS:
        return None
    if len({type(value) for value in found}) > 1:
        text, number = (next(v for v in found if isinstance(v, kind)) for kind in (str, float))
        raise TypeError(f"it holds texts, such as {text!r}, and numbers, such as {number:g}")
    values = sorted(found)
    counts = tuple(found[value] for value in values)
    return Levels(tuple(values), counts, one.n_missing + other.n_missing)


def count_cells(
    frame: Any,
    first_row: int,
    common: tuple[str, ...],
    tables: Sequence[tuple[str, ...]],
    levels: dict[str, Levels],
) -> list[tuple[IntArray, IntArray]]:
    """Return the occupied cells of each table, which begins with the common columns, and counts."""
    table = _to_arrow(frame)
    n_rows, codes = table.num_rows, dict[str, NDArray[Any]]()

    def extended(joint: IntArray, names: Sequence[str]) -> IntArray:
        for name in names:
            if name not in codes:
                codes[name] = _global_codes(name, table.column(name), levels[name])
            joint = joint * len(levels[name]) + codes[name]
        return joint

    base = extended(np.zeros(n_rows, dtype=np.int64), common)
    found = []
    for names in tables:
        n_cells = math.prod(len(levels[name]) for name in names)
        found.append(count_codes(extended(base, names[len(common) :]), n_cells))
    return found


def count_codes(joint: IntArray, n_cells: int) -> tuple[IntArray, IntArray]:
    """Return the codes that occur, in order, and how often; all are below `n_cells`."""
    if n_cells > max(DENSE_CELLS, len(joint)):
        cells, counts = np.unique(joint, return_counts=True)
        return cells, counts.astype(np.int64)
    counts = np.bincount(joint, minlength=n_cells)
    cells = np.flatnonzero(counts)
    return cells, counts[cells]


def _global_codes(name: str, column: Any, levels: Levels) -> NDArray[Any]:
    """Return the level of every row by its number among all levels."""
    codes, own = _encoded(name, column)
    number: dict[Level | None, int] = {level: i for i, level in enumerate(levels.values)}
    number[None] = len(levels.values)
    try:
        # The last one is for rows without a value, of code -1.
        places = np.array([*(number[level] for level in own), number[None]], dtype=np.int64)
    except KeyError as error:
        raise ValueError(
            f"column {name!r} holds {error.args[0]!r}, which it did not when its levels were "
            "listed: the data have changed during the fit. Copy or persist them first."
        ) from None
    return places[codes]


def _encoded(name: str, column: Any) -> tuple[NDArray[Any], list[Level | None]]:
    """Return codes into different values, -1 for null, and these values; None for a missing one."""
    import pyarrow

    is_label = pyarrow.types.is_dictionary(column.type)
    encoded = column if is_label else column.dictionary_encode()
    array = encoded.unify_dictionaries().combine_chunks()
    if isinstance(array, pyarrow.ChunkedArray):  # older versions, and columns without rows
        array = array.chunk(0) if array.num_chunks else pyarrow.array([], encoded.type)
    codes = array.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    if is_label:
        labels = array.dictionary.to_pylist()
        return codes, [None if label is None or label != label else str(label) for label in labels]
    if not len(array.dictionary):
        return codes, []
    series = nw.from_native(pyarrow.chunked_array([array.dictionary]), series_only=True)
    raw = from_series(name, series)
    if np.isinf(raw.values).any():
        raise ValueError(
            f"Input X contains infinity or a value too large for dtype('float64'). Column {name!r} "
            "holds it; replace it by a number, or by NaN together with missing='category'"
        )
    return codes, [
        None if np.isnan(value) else raw.labels[int(value)] if raw.labels else float(value) + 0.0
        for value in raw.values.tolist()
    ]


def _to_arrow(frame: Any) -> Any:
    """Return a dataframe of pandas or pyarrow as one of pyarrow."""
    import pyarrow

    if isinstance(frame, pyarrow.Table):
        return frame
    return pyarrow.Table.from_pandas(frame, preserve_index=False)
