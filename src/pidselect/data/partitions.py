"""Tables in partitions, which no machine holds as a whole: Dask, Ray, a folder of Parquet files.

Functions are sent to the partitions, and what they return comes back: counts, or the rows of a
sample. A function is called with a dataframe of some columns of one partition and the number of
its first row in the whole table, so that results do not depend on the partitioning.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from .formats import FileError
from .input import select_rows, unique_names
from .messages import did_you_mean

#: Dataframe of a partition, number of its first row, further arguments -> result.
PartitionFunction = Callable[..., Any]

#: Function, what all tasks have in common, tasks -> results in the order of the tasks.
Run = Callable[[Callable[..., Any], Any, Sequence[tuple[Any, ...]]], Iterator[Any]]

#: Partitions of a Dask DataFrame that are computed at a time where there is no cluster.
PARTITIONS_AT_A_TIME = 64

#: How often Ray gives a task to another worker.
RETRIES = 3

#: Columns that a task reads, besides target and conditioning set, so that no worker holds all of a
#: wide table.
COLUMNS_PER_TASK = 64

#: Keys of rows that are computed at a time.
KEYS_AT_A_TIME = 2**22

#: The remedy for a damaged file.
COPY = "Copy it again, or remove it"

_WORKER_ENDED = (
    "A worker process ended before its partition was read, and no other worker could do it. "
    "Operating systems end processes when memory runs out: use smaller partitions, or fewer "
    "workers per machine. The logs of the workers show the cause."
)

# SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), as for permutations.
_GAMMA, _MIX_1, _MIX_2 = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


class Partitions(Protocol):
    """A table in partitions."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def n_rows(self) -> int:
        """The number of rows of all partitions."""

    def map(
        self, function: PartitionFunction, columns: Sequence[str], *arguments: Any
    ) -> Iterator[Any]:
        """Yield ``function(frame, first_row, *arguments)`` of every partition, in order.

        The function runs where the partition is, and only these columns of it are read.
        """

    def select(self, columns: Sequence[str]) -> Any:
        """Return the table with these columns only, in the type of its library."""

    def using(self, run: Run) -> Partitions:
        """Return the same table, read by `run` if it does not have an engine of its own."""


def to_partitions(X: object) -> Partitions | None:
    """Return a Dask DataFrame, a Ray Dataset or a path as partitions; None for anything else."""
    if isinstance(X, str | PathLike):
        return ParquetFiles(Path(X))
    module = type(X).__module__.partition(".")[0]
    if module.startswith("dask") and hasattr(X, "map_partitions") and hasattr(X, "columns"):
        return DaskFrame(X)
    if module == "ray" and hasattr(X, "map_batches"):
        return RayDataset(X)
    return None


def known_names(wanted: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the wanted columns; refuse those that the table does not have."""
    for name in wanted:
        if name not in names:
            raise ValueError(f"there is no column {name!r}{did_you_mean(name, names)}")
    return list(wanted)


def run_here(
    function: Callable[..., Any], common: Any, tasks: Sequence[tuple[Any, ...]]
) -> Iterator[Any]:
    """Run tasks one by one in this thread."""
    return (function(common, *task) for task in tasks)


# --- Parquet ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ParquetFiles:
    """A folder of Parquet files, read in the order of their names; a partition is a row group.

    Subfolders such as ``year=2026`` are a column.
    """

    path: Path
    run: Run = field(default=run_here, repr=False)

    @cached_property
    def _dataset(self) -> Any:
        try:
            import pyarrow
            import pyarrow.dataset
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                "to read Parquet files needs pyarrow: pip install 'pidselect[arrow]'"
            ) from error
        if not self.path.exists():
            raise FileError(self.path, "there is no such folder or file", "Check the path")
        remedy = "Pass the path of a folder of Parquet files; other files are read by Table.open"
        try:
            dataset = pyarrow.dataset.dataset(self.path, format="parquet", partitioning="hive")
        except (pyarrow.ArrowException, OSError) as error:
            raise FileError(self.path, f"it is not Parquet ({error})", remedy) from error
        if not dataset.files:
            raise FileError(self.path, "there is no file in this folder", remedy)
        return dataset

    @cached_property
    def _groups(self) -> list[tuple[Any, int]]:
        """The row groups of all files, each with its number of rows."""
        groups = []
        for file in self._files:
            try:
                parts = file.split_by_row_group()
                groups += [(part, sum(g.num_rows for g in part.row_groups)) for part in parts]
            except (ValueError, OSError) as error:
                raise FileError(file.path, f"it cannot be read ({error})", COPY) from error
        return groups

    @cached_property
    def _files(self) -> list[Any]:
        """The files, in the order of their names."""
        return sorted(self._dataset.get_fragments(), key=lambda file: file.path)

    @cached_property
    def _schema(self) -> Any:
        """The types of the columns, each wide enough for all files."""
        import pyarrow

        schema = self._dataset.schema
        for file in self._files:
            try:
                types = file.physical_schema.remove_metadata()
                schema = pyarrow.unify_schemas([schema, types], promote_options="permissive")
            except pyarrow.ArrowTypeError as error:
                remedy = "Write all files with the same types"
                problem = f"its types are not those of the files before it ({error})"
                raise FileError(file.path, problem, remedy) from error
            except (ValueError, OSError) as error:
                raise FileError(file.path, f"it cannot be read ({error})", COPY) from error
        return schema

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return unique_names(self._schema.names)

    @cached_property
    def n_rows(self) -> int:
        """The number of rows, from the files' metadata."""
        return sum(n_rows for _, n_rows in self._groups)

    def map(
        self, function: PartitionFunction, columns: Sequence[str], *arguments: Any
    ) -> Iterator[Any]:
        """Yield the function's result for every row group."""
        common = _Reading(self._schema, list(columns), function, arguments)
        first_rows = accumulate((n_rows for _, n_rows in self._groups), initial=0)
        groups = [group for group, _ in self._groups]
        return self.run(_on_row_group, common, list(zip(groups, first_rows, strict=False)))

    def select(self, columns: Sequence[str]) -> Any:
        """Refuse: all rows would have to be read here."""
        raise TypeError(
            "transform cannot return the rows of Parquet files. Read the selected columns instead, "
            f"as with pyarrow.dataset.dataset({os.fspath(self.path)!r}).to_table(columns="
            "selector.get_feature_names_out().tolist())"
        )

    def using(self, run: Run) -> ParquetFiles:
        """Return the same files, read by `run`."""
        read = replace(self, run=run)
        for name in (
            "_dataset",
            "_files",
            "_groups",
            "_schema",
        ):  # what is known of the files is not read again
            if name in self.__dict__:
                read.__dict__[name] = self.__dict__[name]
        return read


@dataclass(frozen=True, eq=False)
class _Reading:
    """What all row groups have in common: what to read, and what to do with it."""

    schema: Any
    columns: list[str]
    function: PartitionFunction
    arguments: tuple[Any, ...]


def _on_row_group(common: _Reading, group: Any, first_row: int) -> Any:
    import pyarrow

    try:
        # In one thread: there are as many tasks as workers.
        frame = group.to_table(schema=common.schema, columns=common.columns, use_threads=False)
    except (pyarrow.ArrowException, OSError) as error:
        raise FileError(group.path, f"it cannot be read ({error})", COPY) from error
    return common.function(frame, first_row, *common.arguments)


# --- Dask ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class DaskFrame:
    """A Dask DataFrame; its partitions are computed by Dask at every pass unless it persists."""

    frame: Any

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return unique_names(list(self.frame.columns))

    @cached_property
    def _lengths(self) -> list[int]:
        """The number of rows of every partition."""
        some = self.frame.iloc[:, :1]  # a column will do to count rows
        return [int(n_rows) for n_rows in _compute(map(_delayed(len), some.to_delayed()))]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self._lengths)

    def map(
        self, function: PartitionFunction, columns: Sequence[str], *arguments: Any
    ) -> Iterator[Any]:
        """Yield the function's result for every partition."""
        parts = self.select(columns).to_delayed()
        common = _delayed(arguments)  # sent once to a worker, not with every task
        first_rows = accumulate(self._lengths, initial=0)
        return _compute(
            _delayed(_on_partition)(part, function, columns, first, common)
            for part, first in zip(parts, first_rows, strict=False)
        )

    def select(self, columns: Sequence[str]) -> Any:
        """Return the Dask DataFrame of these columns."""
        keys = dict(zip(self.names, self.frame.columns, strict=True))
        return self.frame[[keys[name] for name in known_names(columns, self.names)]]

    def using(self, run: Run) -> DaskFrame:
        """Return itself: Dask does the work."""
        return self


def _delayed(value: Any) -> Any:
    from dask import delayed

    return delayed(value, pure=False)


def _on_partition(
    frame: Any,
    function: PartitionFunction,
    columns: Sequence[str],
    first_row: int,
    arguments: tuple[Any, ...],
) -> Any:
    return function(frame.set_axis(list(columns), axis=1), first_row, *arguments)


def _compute(tasks: Iterator[Any]) -> Iterator[Any]:
    """Yield the results in order: by the cluster if a client is connected, else on this machine."""
    import dask

    wanted = list(tasks)
    if "distributed" not in sys.modules or not (client := _dask_client()):
        for start in range(0, len(wanted), PARTITIONS_AT_A_TIME):
            yield from dask.compute(*wanted[start : start + PARTITIONS_AT_A_TIME])
        return
    from distributed import KilledWorker

    futures = client.compute(wanted)
    try:
        while futures:
            yield futures[0].result()
            del futures[0]  # so that the cluster may forget it
    except KilledWorker as error:
        raise RuntimeError(_WORKER_ENDED) from error
    finally:
        client.cancel(futures)


def _dask_client() -> Any:
    from distributed import default_client

    try:
        return default_client()
    except ValueError:
        return None


# --- Ray ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RayDataset:
    """A Ray Dataset; it is executed at every pass unless it is materialized."""

    dataset: Any

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return unique_names(self.dataset.columns())

    @cached_property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.dataset.count())

    def map(
        self, function: PartitionFunction, columns: Sequence[str], *arguments: Any
    ) -> Iterator[Any]:
        """Yield the function's result for every block."""
        import ray
        from ray.exceptions import RayError, RayTaskError

        some = self.select(columns)
        some.context.execution_options.preserve_order = True
        blocks = some.to_arrow_refs()
        on_block = ray.remote(num_cpus=1, max_retries=RETRIES)(_on_block)
        try:
            lengths = ray.get([on_block.remote(block, _count_rows, 0, ()) for block in blocks])
            first_rows = accumulate(lengths, initial=0)
            common = ray.put(arguments)
            results = [
                on_block.remote(block, function, first, common)
                for block, first in zip(blocks, first_rows, strict=False)
            ]
            del blocks
            while results:
                yield ray.get(results[0])
                del results[0]  # so that Ray may forget it
        except RayTaskError as error:
            raise error.cause from error
        except RayError as error:
            raise RuntimeError(_WORKER_ENDED) from error

    def select(self, columns: Sequence[str]) -> Any:
        """Return the Ray Dataset of these columns."""
        return self.dataset.select_columns(known_names(columns, self.names))

    def using(self, run: Run) -> RayDataset:
        """Return itself: Ray does the work."""
        return self


def _on_block(
    block: Any, function: PartitionFunction, first_row: int, arguments: tuple[Any, ...]
) -> Any:
    return function(block, first_row, *arguments)


def _count_rows(frame: Any, first_row: int) -> int:
    return len(frame)


# --- a sample of rows ---------------------------------------------------------------------------


def row_keys(seed: int, rows: range) -> NDArray[np.uint64]:
    """Return the random key of each row of a table, by its number: the smallest are a sample.

    Examples
    --------
    >>> keys = row_keys(0, range(6))
    >>> bool((row_keys(0, range(4, 6)) == keys[4:]).all())
    True
    """
    keys = np.arange(rows.start + 1, rows.stop + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        keys *= _GAMMA
        keys += _mixed(np.array([seed], dtype=np.uint64) + _GAMMA)
        return _mixed(keys)


def _mixed(keys: NDArray[np.uint64]) -> NDArray[np.uint64]:
    for shift, factor in ((30, _MIX_1), (27, _MIX_2)):
        keys ^= keys >> np.uint64(shift)
        keys *= factor
    keys ^= keys >> np.uint64(31)
    return keys


def largest_key(seed: int, n_rows: int, n_sampled: int) -> int:
    """Return the largest key of a sample of so many rows of a table."""
    if n_sampled >= n_rows:
        return 2**64 - 1
    # All but a share that certainly contains the sample is discarded at once.
    share = (n_sampled + 8 * n_sampled**0.5 + 16) / n_rows
    bound = np.uint64(min(2**64 - 1, int(share * 2**64)))
    found = []
    for start in range(0, n_rows, KEYS_AT_A_TIME):
        keys = row_keys(seed, range(start, min(start + KEYS_AT_A_TIME, n_rows)))
        found.append(keys[keys <= bound])
    small = np.concatenate(found)
    return int(np.partition(small, n_sampled - 1)[n_sampled - 1])


def gather_sample(partitions: Partitions, n_sampled: int, seed: int) -> Any:
    """Return random rows of all columns as one dataframe, in order; the same for any partitioning.

    Columns are gathered some at a time, so that no worker reads all of a wide table.
    """
    largest = largest_key(seed, partitions.n_rows, n_sampled)
    names, chunks = partitions.names, []
    for start in range(0, len(names), COLUMNS_PER_TASK):
        some = names[start : start + COLUMNS_PER_TASK]
        parts = list(partitions.map(take_sample, some, seed, largest))
        chunks.append(_stacked([part for part in parts if len(part)] or parts[:1]))
    # The index of pandas need not be the same in all.
    chunks = [nw.maybe_reset_index(chunk) for chunk in chunks]
    return nw.concat(chunks, how="horizontal").to_native()


def _stacked(parts: list[Any]) -> nw.DataFrame[Any]:
    """Return dataframes of the same columns below each other, each column of a common type."""
    frames = [nw.from_native(part, eager_only=True) for part in parts]
    if frames[0].implementation.is_pyarrow():
        import pyarrow

        try:
            whole = pyarrow.concat_tables(parts, promote_options="permissive")
        except pyarrow.ArrowException as error:
            raise TypeError(
                f"columns have different types in different partitions ({error}); convert them to "
                "the same type"
            ) from error
        return nw.from_native(whole, eager_only=True)
    for name in frames[0].columns:
        categories = [part[name].dtype for part in parts if str(part[name].dtype) == "category"]
        if len(categories) == len(parts) and any(one != categories[0] for one in categories):
            # Of different categories, pandas would make a column of objects.
            known = list(dict.fromkeys(label for one in categories for label in one.categories))
            parts = [part.assign(**{name: part[name].cat.set_categories(known)}) for part in parts]
    return nw.concat([nw.from_native(part, eager_only=True) for part in parts])


def take_sample(frame: Any, first_row: int, seed: int, largest: int) -> Any:
    """Return the rows of a partition whose keys are small enough, in order."""
    keys = row_keys(seed, range(first_row, first_row + len(frame)))
    return select_rows(frame, np.flatnonzero(keys <= np.uint64(largest)))
