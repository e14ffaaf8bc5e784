"""Table and Dataset: features, and features with a target, as the other packages read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from os import PathLike
from typing import Any

import numpy as np

from pidselect.exceptions import IdentifierWarning, TextNumbersWarning

from .column import Block, Columns, FeatureType, IntArray, is_constant
from .feature_types import (
    TARGET,
    FeatureTypes,
    Identifier,
    TextNumbers,
    identifier,
    infer_feature_type,
    is_number_as_label,
    number_as_text,
    stated_feature_types,
    stated_target_type,
    to_column,
    to_target,
)
from .files import MISSING_WORDS, check_path, format_of, read_file
from .input import collect, has_names, read_columns, read_vectors
from .messages import SHOWN_NAMES, did_you_mean, plain, warn_caller
from .missing import Missing, check_no_gaps, kept_rows
from .raw_column import RawColumn

SHOWN_COLUMNS = 20  # columns that are printed


@dataclass(frozen=True, eq=False, repr=False)
class Table(Columns):
    """Named columns of one length, each with its feature type.

    Parameters
    ----------
    columns : tuple of Column
        In the order of the input.
    skipped : mapping of int to str
        Columns that cannot be informative, by index, with the reason: constant, identifier, or
        numbers stored as text.

    Examples
    --------
    >>> import pandas as pd
    >>> from pidselect import Table
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
            Also a lazy frame, or an object with the Arrow PyCapsule interface. Columns of arrays
            and lists are named x0, x1, ...
        feature_types : mapping of name to feature type, or sequence of one per column, optional
            "continuous", "ordinal" or "nominal", instead of the inferred type.
        missing : {"error", "drop", "category"}
            Refuse missing values, drop the rows that have any, or keep them as a level.

        Returns
        -------
        Table
            With copies of the values of X.

        Warns
        -----
        UserWarning
            If identifiers are skipped, numbers are stored as text, or integers become equal as
            float64.

        Examples
        --------
        Three cities are labels; with missing values as a category, no row is lost.

        >>> import pandas as pd
        >>> from pidselect import Table
        >>> X = pd.DataFrame({"city": [1, 2, 3, 1, 2, 3], "mass": [1.5, None, 0.5, 2.5, 3.5, 4.5]})
        >>> table = Table.read(X, feature_types={"city": "nominal"}, missing="category")
        >>> table.shape, table.feature_types
        ((6, 2), ('nominal', 'continuous'))
        >>> Table.read(X, missing="drop").n_samples
        5
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
        columns: str | Iterable[str] | None = None,
        without: str | Iterable[str] = (),
        delimiter: str | None = None,
        encoding: str = "utf-8",
        decimal: str | None = None,
        na_values: Sequence[str] = MISSING_WORDS,
    ) -> Table:
        r"""Read a file: CSV, JSON lines, Parquet, Arrow or NumPy.

        The form of a text column is determined by all of its values: numbers as Python writes
        them, booleans (``true``, ``False``), ISO dates and times (UTC unless a zone is written),
        times of day, else texts. Reading needs polars, but for arrays.

        Parameters
        ----------
        path : str or path
            Delimited fields with a header (.csv, .tsv, .txt), JSON lines (.jsonl, .ndjson), each
            also compressed (.csv.gz, .csv.zst); Parquet (.parquet), Arrow or Feather (.arrow,
            .feather, .ipc, streams .arrows), a 2-D array (.npy); "-" is standard input. Names are
            stripped of blanks; an empty name in the first column becomes "column 1", and so on.
        feature_types, missing
            See `read`.
        columns : str or iterable of str, optional
            Only these columns, in the order of the file.
        without : str or iterable of str
            All columns but these.
        delimiter : str, optional
            The character between two fields of a text. By default the one of comma, semicolon,
            tab and ``|`` that splits the first records into the same number of fields.
        encoding : str
            Of a text. A byte order mark of UTF-8 is accepted.
        decimal : {".", ","}, optional
            The decimal mark of a text. By default the point; in files delimited by semicolons also
            the comma, but not both in one file.
        na_values : sequence of str
            The texts that denote a missing value, with or without blanks around them.

        Raises
        ------
        pidselect.data.FileError
            A ValueError that names the file, the line of a text, and the remedy.

        Examples
        --------
        A file in Latin-1 with decimal commas, and -9 for values that are missing:

        >>> import tempfile
        >>> from pathlib import Path
        >>> from pidselect import Table
        >>> lines = "größe|alter\n1,62|31\n1,80|-9\n1,75|27\n1,71|44\n"
        >>> how = {"encoding": "latin-1", "decimal": ",", "na_values": ["-9"]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "leute.csv")
        ...     _ = path.write_bytes(lines.encode("latin-1"))
        ...     Table.open(path, missing="drop", **how)
        Table of 3 samples and 2 columns
          größe  continuous  3 levels
          alter  continuous  3 levels
        """
        raws = read_file(
            path,
            columns,
            without,
            delimiter=delimiter,
            encoding=encoding,
            decimal=decimal,
            na_values=na_values,
        )
        rows = kept_rows({str(path): raws}, missing)
        is_delimited = format_of(check_path(path)) == "delimited"  # its reader warns
        return build_table(take_rows(raws, rows), feature_types, warns_of_numbers=not is_delimited)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of columns."""
        return self.n_samples, len(self)

    def split(self, target: str | int | Sequence[str | int]) -> tuple[Table, Table]:
        """Return the table without some columns, and the table of these columns alone.

        Examples
        --------
        >>> from pidselect import Table
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

    def block(self, indices: Iterable[int]) -> Block:
        """Return some columns as one joint variable."""
        return Block(tuple(self.columns[index] for index in indices))

    def take(self, rows: IntArray, reason: str = "constant") -> Table:
        """Return the table restricted to `rows`; what is constant there is skipped for a reason."""
        columns = tuple(column.take(rows) for column in self.columns)
        constant = {i: reason for i, column in enumerate(columns) if is_constant(column.values)}
        return Table(columns, dict(sorted((constant | {**self.skipped}).items())))

    def index(self, column: str | int) -> int:
        """Return the position of a column given by its name or its position.

        Examples
        --------
        >>> from pidselect import Table
        >>> table = Table.read([[0.5, 1.5], [2.5, 3.5]])
        >>> table.index("x1"), table.index(1)
        (1, 1)
        >>> table.index("x2")
        Traceback (most recent call last):
        ...
        ValueError: there is no column 'x2'; known are 'x0', 'x1'
        """
        if isinstance(column, str):
            if column not in self.names:
                raise ValueError(
                    f"there is no column {plain(column)!r}{did_you_mean(column, self.names)}"
                )
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


def take_rows(raws: Sequence[RawColumn], rows: IntArray) -> tuple[RawColumn, ...]:
    """Return the columns restricted to `rows`."""
    if all(len(rows) == len(raw.values) for raw in raws):
        return tuple(raws)
    return tuple(replace(raw, values=raw.values[rows]) for raw in raws)


def feature_types_over(X: Any, feature_types: FeatureTypes | None) -> FeatureTypes | None:
    """Return the stated feature types; if X is a table, those of its columns by default."""
    if not isinstance(X, Table):
        return feature_types
    own: dict[str, FeatureType] = dict(zip(X.names, X.feature_types, strict=True))
    if feature_types is None or isinstance(feature_types, Mapping):
        return {**own, **(feature_types or {})}
    return feature_types


def build_table(
    raws: Sequence[RawColumn],
    feature_types: FeatureTypes | None = None,
    skipped: Mapping[int, str] | None = None,
    warns_of_numbers: bool = True,
) -> Table:
    """Return the table of raw columns; skip constants, identifiers, and those skipped before.

    `warns_of_numbers` is False if a warning of numbers stored as text was given before.
    """
    stated = stated_feature_types(feature_types, [raw.name for raw in raws])
    columns = tuple(map(to_column, raws, stated))
    constant = {i: "constant" for i, raw in enumerate(raws) if is_constant(raw.values)}
    inferred = {i: raw for i, raw in enumerate(raws) if stated[i] is None and i not in constant}
    reasons = {i: reason for i, raw in inferred.items() if (reason := identifier(raw))}
    if found := {i: reason for i, reason in reasons.items() if isinstance(reason, Identifier)}:
        warn_caller(identifier_warning({columns[i].name: why for i, why in found.items()}))
    if warns_of_numbers:
        _warn_of_numbers(
            [raw for i, raw in inferred.items() if isinstance(reasons.get(i), TextNumbers)],
            [raw for i, raw in inferred.items() if i not in reasons and is_number_as_label(raw)],
        )
    return Table(columns, dict(sorted({**(skipped or {}), **constant, **reasons}.items())))


def identifier_warning(reasons: Mapping[str, str]) -> IdentifierWarning:
    """Return the warning of columns skipped as identifiers, with the reason for each."""
    labels = dict.fromkeys(islice(reasons, SHOWN_NAMES), "nominal")
    listed = _shown_with({name: f"({reason})" for name, reason in reasons.items()}, "; ")
    message = f"skipped columns: {listed}. If they are labels, use feature_types={labels}"
    setting = ("feature_types", dict.fromkeys(reasons, "nominal"))
    return IdentifierWarning(message, tuple(reasons), setting)


def _warn_of_numbers(skipped: Sequence[RawColumn], labels: Sequence[RawColumn]) -> None:
    """Warn of numbers stored as text: of columns that are skipped, and of others used as labels."""
    names = [raw.name for raw in (*skipped, *labels)]
    if not names:
        return
    parts = [
        f"{used}: {_shown_with({raw.name: f'(such as {number_as_text(raw)!r})' for raw in raws})}"
        for used, raws in (("skipped", skipped), ("used as labels", labels))
        if raws
    ]
    message = (
        f"numbers stored as text, {'; '.join(parts)}. Convert them, as with pd.to_numeric"
        f"(X[{names[0]!r}]) after removing units and separators, or use "
        f"feature_types={{{names[0]!r}: 'nominal'}} if they are labels"
    )
    setting = ("feature_types", dict.fromkeys(names, "nominal"))
    warn_caller(TextNumbersWarning(message, names, setting))


def _shown_with(remarks: Mapping[str, str], separator: str = ", ") -> str:
    """Return the names of columns, each with a remark, a long list cut short."""
    shown = [f"{name!r} {remark}" for name, remark in islice(remarks.items(), SHOWN_NAMES)]
    more = f" and {len(remarks) - SHOWN_NAMES} more" * (len(remarks) > SHOWN_NAMES)
    return separator.join(shown) + more


@dataclass(frozen=True, eq=False)
class Dataset:
    """Features and target.

    `rows` are the rows of the input, all unless ``missing="drop"``; `has_target_names` is whether
    the columns of the target came with names.
    """

    table: Table
    target: Block
    rows: IntArray
    has_target_names: bool = False


def read_dataset(
    X: Any,
    y: Any,
    *,
    feature_types: FeatureTypes | None = None,
    missing: Missing = "error",
) -> Dataset:
    """Read features and target together, see `Table.read`.

    Several columns of y are one joint target. Without a name it is called "target"; that key of
    `feature_types` states its type, unless a feature is called so. At most 20 levels are class
    labels. The feature types of a table stay unless others are stated.
    """
    if y is None:
        raise ValueError("this feature selection requires y to be passed, but the target y is None")
    y = collect(y)
    raws, targets = read_columns(X), read_vectors(y, TARGET)
    n_rows, n_targets = len(raws[0].values), len(targets[0].values)
    if n_rows != n_targets:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows}, y has {n_targets}. Give y one value per row of X"
        )
    rows = kept_rows({"X": raws, "y": targets}, missing)
    raws, targets = take_rows(raws, rows), take_rows(targets, rows)
    if all(is_constant(raw.values) for raw in targets):
        values = ", ".join(f"{raw.shown(0)} in {raw.name!r}" for raw in targets)
        raise ValueError(
            f"the target is constant: one class or value only ({values}) in {len(rows)} "
            f"sample{'s' * (len(rows) != 1)}; pass a target that varies"
        )
    stated = stated_target_type(feature_types, [raw.name for raw in raws])
    target_types = [stated] * len(targets)
    if stated is None and isinstance(y, Table):  # those that differ from the inferred ones
        inferred = map(infer_feature_type, targets)
        pairs = zip(y.feature_types, inferred, strict=True)
        target_types = [None if own == other else own for own, other in pairs]
    target = Block(tuple(map(to_target, targets, target_types)))
    skipped = X.skipped if isinstance(X, Table) else {}
    table = build_table(raws, feature_types_over(X, feature_types), skipped)
    return Dataset(table, target, rows, has_names(y))


def read_block(values: Any, name: str, *, target: bool = False) -> Block:
    """Read one variable of one or several columns, which must not have missing values.

    A column without a name is called `name`, several ``name[0]``, ``name[1]``, ... Few levels of a
    target are class labels, and an identifier is an error.

    Examples
    --------
    >>> from pidselect.data import read_block
    >>> block = read_block([[0.1, 1], [0.7, 0], [0.4, 1], [0.9, 0]], "x")
    >>> block.names, block.feature_types
    (('x[0]', 'x[1]'), ('continuous', 'ordinal'))
    """
    raws = read_vectors(values, name)
    check_no_gaps(name, raws)
    return Block(tuple(map(to_target if target else to_column, raws)))
