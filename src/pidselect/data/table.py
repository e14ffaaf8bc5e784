"""Table: what every other room sees of the caller's X."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np

from .column import Block, Columns, FeatureType, IntArray, is_constant
from .column_store import ColumnStore
from .feature_types import FeatureTypes, identifier, stated_feature_types, to_column
from .frames import keep, read_columns
from .io import read_file
from .messages import did_you_mean, warn_caller
from .missing import Missing, kept_rows
from .raw import RawColumn
from .text_io import ColumnChoice, TextFormat

MEMORY_OF_A_FILE = 2**28  # what the columns of a file take before they go to temporary files

SHOWN_COLUMNS = 20  # a wide table prints its first columns, and the number of the others


@dataclass(frozen=True, eq=False, repr=False)
class Table(Columns):
    """Named columns of one length, each with its kind.

    Parameters
    ----------
    columns : tuple of Column
        All columns, in their order in the input.
    skipped : mapping of int to str
        The columns that cannot tell anything, by index, and why: they are constant or only
        identify the row.

    Examples
    --------
    >>> import pandas as pd
    >>> Table.read(
    ...     pd.DataFrame({
    ...         "age": [31.5, 44.2, 27.1, 63.0],
    ...         "children": [0, 2, 0, 2],
    ...         "smoker": [False, False, True, False],
    ...         "country": "IT",
    ...     })
    ... )
    Table of 4 samples and 4 columns
      age       continuous  4 levels
      children  ordinal     2 levels
      smoker    nominal     2 levels
      country   nominal     1 level   skipped, constant
    """

    skipped: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def read(
        cls, X: Any, *, feature_types: FeatureTypes | None = None, missing: Missing = "error"
    ) -> Table:
        """Read any two-dimensional input.

        Parameters
        ----------
        X : dataframe, 2-D array or list of rows
            The columns of arrays and lists are called x0, x1, ...
        kinds : mapping of name to kind, or sequence of one kind per column, optional
            "continuous", "ordinal" or "nominal" where the inferred kind is not wanted. The key
            "target" is of no effect here, unless a column is called so.
        missing : {"error", "drop", "category"}
            Refuse missing values, leave out the rows that have any, or keep them as a level.

        Returns
        -------
        Table
            Its values are copies: writing to them does not change X.

        Warns
        -----
        UserWarning
            Where texts are skipped because nearly every row has its own, or where integers are
            too large to be told apart in float64.
        """
        raws = read_columns(X)
        rows = kept_rows({"X": raws}, missing)
        return build_table(take_rows(raws, rows), feature_types_over(X, feature_types))

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        feature_types: FeatureTypes | None = None,
        missing: Missing = "error",
        max_memory: int = MEMORY_OF_A_FILE,
        columns: str | Iterable[str] | None = None,
        without: str | Iterable[str] = (),
        text: TextFormat | None = None,
    ) -> Table:
        r"""Read a file that may be larger than memory: a CSV, JSON lines, Parquet, Arrow or NumPy.

        Of a text, only a block is in memory at a time, and the different texts of columns that
        hold texts. What a column holds is told from all of its values:

        - numbers: as Python writes them, blanks around them are fine. ``1_000`` is a text; ``007``
          is the number 7, as for pandas: feature_types={"zip": "nominal"} reads labels.
        - truth values: ``true`` and ``false``, also in capital letters.
        - times: ISO dates, with or without a time (UTC unless it says otherwise), or times of day.
        - texts: everything else, as it is written, also numbers with words among them.

        Parameters
        ----------
        path : str or path
            A file of delimited fields (.csv, .tsv, .txt) with the columns' names in its first
            line, or of JSON lines (.jsonl, .ndjson), and each packed by gzip (.csv.gz); a Parquet
            file (.parquet), an Arrow or Feather file (.arrow, .feather, .ipc), or an array saved
            by NumPy (.npy). Names have no blanks around them; a column without a name is called
            "column 1" if it is the first, and so on.
        kinds, missing
            See `read`.
        max_memory : int
            The bytes that columns take in memory. Those for which there is no room lie in
            temporary files (see the environment variable ``TMPDIR``), from which the system reads
            what is needed; they are gone with the table.
        columns : str or iterable of str, optional
            Only the columns of these names, in the order of the file. The others are not parsed.
        without : str or iterable of str
            All columns but those of these names.
        text : TextFormat, optional
            The delimiter, the encoding, the decimal mark and the words for missing values of a
            text file, where they are not found out or are not the usual ones.

        Returns
        -------
        Table
            With `split` it comes apart into features and target; `PIDSelector` takes both.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "people.csv")
        ...     _ = path.write_text("age,city,size\n31,Rome,1.6\n44,Oslo,1.8\n27,Rome,1.7\n")
        ...     X, y = Table.open(path, feature_types={"city": "nominal"}).split("size")
        >>> X.names, y.names
        (('age', 'city'), ('size',))
        """
        store = ColumnStore(max_memory)
        raws = read_file(path, store, ColumnChoice.of(columns, without), text)
        rows = kept_rows({str(path): raws}, missing)
        return build_table(take_rows(raws, rows, store), feature_types)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of samples and of columns."""
        return self.n_samples, len(self)

    def split(self, target: str | int | Sequence[str | int]) -> tuple[Table, Table]:
        """Return the table without some columns, and the table of these columns alone.

        Parameters
        ----------
        target : name or position, or several of them

        Examples
        --------
        >>> X, y = Table.read([[0, 1.5, 2.5], [0, 2.5, 3.5], [1, 3.5, 4.5]]).split("x1")
        >>> X.names, y.names
        (('x0', 'x2'), ('x1',))
        """
        wanted = [target] if isinstance(target, str | int | np.integer) else list(target)
        chosen = list(dict.fromkeys(self.index(column) for column in wanted))
        if not 0 < len(chosen) < len(self):
            raise ValueError(
                f"split({target!r}) leaves no target or no features of {len(self)} columns; name "
                "at least one column, and not all."
            )
        return self._only([i for i in range(len(self)) if i not in chosen]), self._only(chosen)

    def _only(self, indices: Sequence[int]) -> Table:
        skipped = {new: self.skipped[i] for new, i in enumerate(indices) if i in self.skipped}
        return Table(tuple(self.columns[index] for index in indices), skipped)

    def stored_in(self, store: ColumnStore | None) -> Table:
        """Return the table with a place where what is made of its columns is kept."""
        columns = tuple(replace(column, store=store) for column in self.columns)
        return Table(columns, self.skipped)

    def block(self, indices: Iterable[int]) -> Block:
        """Return some columns as one joint variable.

        Examples
        --------
        >>> Table.read([[0, 1.5, 2], [0, 2.5, 2], [1, 3.5, 3]]).block([2, 0]).names
        ('x2', 'x0')
        """
        return Block(tuple(self.columns[index] for index in indices))

    def take(self, rows: IntArray, reason: str = "constant") -> Table:
        """Return the table restricted to `rows`; what is constant there is skipped, too.

        Parameters
        ----------
        rows : array of int64
        reason : str
            Why columns are skipped that were not constant before.

        Examples
        --------
        >>> table = Table.read([[0, 1.5], [0, 2.5], [1, 3.5]])
        >>> dict(table.take(np.array([0, 1]), "constant in the first two rows").skipped)
        {0: 'constant in the first two rows'}
        """
        columns = tuple(replace(c, values=c.values[rows]) for c in self.columns)
        constant = {i: reason for i, column in enumerate(columns) if is_constant(column.values)}
        return Table(columns, dict(sorted((constant | {**self.skipped}).items())))

    def index(self, column: str | int) -> int:
        """Return the position of a column given by its name or its position.

        Examples
        --------
        >>> table = Table.read([[0, 1.5], [1, 2.5]])
        >>> table.index("x1"), table.index(1)
        (1, 1)
        >>> table.index("X1")
        Traceback (most recent call last):
        ...
        ValueError: there is no column 'X1'; did you mean 'x1'? Known are 'x0', 'x1'
        """
        if isinstance(column, str):
            if column not in self.names:
                raise ValueError(f"there is no column {column!r}{did_you_mean(column, self.names)}")
            return self.names.index(column)
        if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
            raise TypeError(f"a column is given by its name or its position, got {column!r}")
        if not 0 <= column < len(self.columns):
            raise ValueError(
                f"there is no column at position {column}; the {len(self.columns)} columns have "
                f"positions 0 to {len(self.columns) - 1}"
            )
        return int(column)

    def __repr__(self) -> str:
        shown = self.columns[:SHOWN_COLUMNS]
        width = max((len(column.name) for column in shown), default=0)
        lines = [f"Table of {self.n_samples} samples and {len(self.columns)} columns"]
        for index, column in enumerate(shown):
            count = column.levels()
            levels = f"{count} level" + "s" * (count != 1)
            reason = f"  skipped, {self.skipped[index]}" if index in self.skipped else ""
            line = f"  {column.name:{width}}  {column.feature_type:10}  {levels:8}{reason}"
            lines.append(line.rstrip())
        if more := len(self.columns) - len(shown):
            lines.append(f"  ... and {more} more")
        return "\n".join(lines)


def take_rows(
    raws: Sequence[RawColumn], rows: IntArray, store: ColumnStore | None = None
) -> tuple[RawColumn, ...]:
    """Return the columns restricted to `rows`, the same ones if that is all.

    Examples
    --------
    >>> [raw.values for raw in take_rows([Raw("a", "number", np.arange(3.0))], np.array([2]))]
    [array([2.])]
    """
    if all(len(rows) == len(raw.values) for raw in raws):
        return tuple(raws)
    return tuple(keep(raw.take(rows), store) for raw in raws)


def feature_types_over(X: Any, feature_types: FeatureTypes | None) -> FeatureTypes | None:
    """Return the stated kinds, with those of the columns themselves where X is a table."""
    if not isinstance(X, Table):
        return feature_types
    own: dict[str, FeatureType] = dict(zip(X.names, X.feature_types, strict=True))
    if feature_types is None or isinstance(feature_types, Mapping):
        return {**own, **(feature_types or {})}
    return feature_types


class IdentifierWarning(UserWarning):
    """Text columns skipped as identifiers, as nearly every row has a different text.

    Attributes
    ----------
    columns : dict of str to str
        The reason for each column.
    setting : tuple of str and dict
        The parameter that uses them as labels, with its value.
    """

    def __init__(self, columns: Mapping[str, str]) -> None:
        super().__init__(columns)
        self.columns = dict(columns)
        self.setting = ("feature_types", dict.fromkeys(columns, "nominal"))

    def __str__(self) -> str:
        named = "; ".join(f"{name!r} ({reason})" for name, reason in self.columns.items())
        return f"skipped columns: {named}. If they are labels, use feature_types={self.setting[1]}"


def build_table(
    raws: Sequence[RawColumn],
    feature_types: FeatureTypes | None = None,
    skipped: Mapping[int, str] | None = None,
) -> Table:
    """Return the table of raw columns, sorting out those that cannot tell anything.

    Parameters
    ----------
    raws : sequence of Raw
    kinds : Kinds, optional
    skipped : mapping of int to str, optional
        Columns that were sorted out before.
    """
    stated = stated_feature_types(feature_types, [raw.name for raw in raws])
    columns = tuple(map(to_column, raws, stated))
    constant = {i: "constant" for i, raw in enumerate(raws) if is_constant(raw.values)}
    identifiers = {
        i: reason
        for i, raw in enumerate(raws)
        if stated[i] is None and i not in constant and (reason := identifier(raw))
    }
    if identifiers:
        named = {columns[i].name: reason for i, reason in identifiers.items()}
        warn_caller(IdentifierWarning(named))
    return Table(columns, dict(sorted({**(skipped or {}), **constant, **identifiers}.items())))
