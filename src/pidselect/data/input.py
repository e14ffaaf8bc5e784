"""Dataframes, arrays and lists as raw columns, and selected columns in the type of the input."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray
from scipy import sparse

from .column import Column, Columns
from .messages import quoted
from .raw_column import BOOLS, Form, RawColumn, from_array, from_series


def is_frame(X: object) -> bool:
    """Return whether X is a dataframe (pandas, polars, pyarrow, ...) held in memory."""
    return bool(nw.dependencies.is_into_dataframe(X))


def collect(X: Any) -> Any:
    """Return a lazy frame, or an Arrow stream, as a dataframe in memory; all else as it is.

    What exports the Arrow PyCapsule interface (``__arrow_c_stream__``), such as a relation of
    DuckDB, becomes a table of pyarrow, or a dataframe of polars.
    """
    if isinstance(X, Columns | np.ndarray) or is_frame(X) or nw.dependencies.is_into_series(X):
        return X
    native = nw.from_native(X, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        return native.collect().to_native()
    if not hasattr(X, "__arrow_c_stream__"):
        return X
    for library, name in (("pyarrow", "table"), ("polars", "DataFrame")):
        if find_spec(library):
            return getattr(import_module(library), name)(X)
    raise ModuleNotFoundError(
        f"to read {type(X).__name__} needs pyarrow or polars: pip install polars"
    )


def read_columns(X: Any) -> tuple[RawColumn, ...]:
    """Read a table's columns; those of an array are called x0, x1, ... as in scikit-learn.

    They are copied one by one; those of a `Table` are not copied.
    """
    X = collect(X)
    if isinstance(X, Columns):
        return tuple(map(_as_read, X.columns))
    if is_frame(X):
        frame = _frame(X)
        _check_shape(frame.shape)
        names = unique_names(frame.columns)
        return tuple(map(from_series, names, map(frame.get_column, frame.columns)))
    matrix = to_matrix(X)
    _check_shape(matrix.shape)
    return tuple(from_array(f"x{place}", column) for place, column in enumerate(matrix.T))


def column_names(X: Any) -> tuple[str, ...]:
    """Return the names of a table's columns, without reading them."""
    if isinstance(X, Columns):
        return X.names
    if is_frame(X):
        return unique_names(_frame(X).columns)
    return tuple(f"x{i}" for i in range(to_matrix(X).shape[1]))


def n_rows(X: Any) -> int:
    """Return the number of rows of a table or a vector."""
    if isinstance(X, Columns):
        return X.n_samples
    return len(X if hasattr(X, "__len__") else _array(X, "X"))


def has_names(values: Any) -> bool:
    """Return whether the columns of a variable have names of their own."""
    if nw.dependencies.is_into_series(values):
        return nw.from_native(values, series_only=True).name not in (None, "")
    return is_frame(values) or isinstance(values, Columns)


def read_vectors(values: Any, name: str) -> tuple[RawColumn, ...]:
    """Read one variable, of one or several columns; `name` stands in where they have none."""
    values = collect(values)
    if is_frame(values) or isinstance(values, Columns):
        return read_columns(values)
    if nw.dependencies.is_into_series(values):
        series = nw.from_native(values, series_only=True)
        _check_shape((len(series), 1))
        return (from_series(str(series.name) if has_names(values) else name, series),)
    array = _array(values, name)
    if array.ndim not in (1, 2):
        raise ValueError(
            f"{name} must have one dimension, or two for several columns; "
            f"got {type(values).__name__} with {array.ndim}"
        )
    matrix = array[:, np.newaxis] if array.ndim == 1 else array
    _check_shape(matrix.shape)
    several = matrix.shape[1] > 1
    names = (f"{name}[{i}]" if several else name for i in range(matrix.shape[1]))
    return tuple(map(from_array, names, matrix.T))


def select_columns(X: Any, indices: Sequence[int] | NDArray[np.integer[Any]]) -> Any:
    """Return only these columns of X, in this order, in a table of the same type.

    Dataframes keep dtypes, names and index; lists and `Table` become arrays. Where no column is
    left, older versions of polars cannot keep the number of rows.
    """
    chosen = [int(index) for index in indices]
    if isinstance(X, Columns):
        return _decoded([X.columns[index] for index in chosen], X.n_samples)
    if not is_frame(X):
        return to_matrix(X)[:, chosen]
    frame = _frame(X)
    # An empty list may be one of names or of positions.
    selected = frame[:, chosen] if chosen else frame.drop(frame.columns)
    return selected if isinstance(X, nw.DataFrame) else selected.to_native()


def convert(X: Any, library: str) -> Any:
    """Return a dataframe as one of "pandas" or "polars", or as an array ("default")."""
    frame = _frame(X)
    if library == frame.implementation.value:
        return X
    if library == "polars":
        return frame.to_polars()
    if library == "pandas":
        # Integers beside missing ones would become floats, which do not hold all of them.
        return frame.to_arrow().to_pandas(integer_object_nulls=True)
    columns = [np.asarray(frame.get_column(name).to_numpy()) for name in frame.columns]
    dtypes = {column.dtype for column in columns}
    kinds = "bmMiuf" if len(dtypes) == 1 else "iuf"
    is_typed = all(dtype.kind in kinds for dtype in dtypes)
    common = np.result_type(*dtypes) if is_typed else np.dtype(object)
    matrix = np.empty(frame.shape, dtype=common)
    for place, column in enumerate(columns):  # times in a list stay times
        matrix[:, place] = list(column) if common.kind == "O" else column
    return matrix


def select_rows(values: Any, rows: Sequence[int] | NDArray[np.integer[Any]]) -> Any:
    """Return only these rows of a table or a vector, in this order, as the same type.

    Dataframes and series keep dtypes, names and index; lists become arrays.
    """
    chosen = np.asarray(rows, dtype=np.int64)
    if isinstance(values, Columns):
        return cast(Any, values).take(chosen)
    if is_frame(values):
        some = _frame(values)[chosen, :]
        return some if isinstance(values, nw.DataFrame) else some.to_native()
    if nw.dependencies.is_into_series(values):
        part = nw.from_native(values, series_only=True)[chosen]
        return part if isinstance(values, nw.Series) else part.to_native()
    return _array(values, "the input")[chosen]


def to_matrix(X: Any) -> NDArray[Any]:
    """Return an array or a list of rows as a two-dimensional array."""
    array = _array(X, "X")
    if array.ndim == 2:
        return array
    if array.ndim == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array instead: X of shape {array.shape}. Reshape your data "
            "using X.reshape(-1, 1) if it is one column, or X.reshape(1, -1) if it is one sample"
        )
    raise ValueError(
        "X must be a table: a dataframe, a 2-D array or a list of rows; "
        f"got {type(X).__name__} with {array.ndim} dimensions"
    )


def frame_library(*values: object) -> str | None:
    """Return the name of the library of the first dataframe or series; None if there is none."""
    for value in values:
        if is_frame(value):
            return _frame(value).implementation.value
        if nw.dependencies.is_into_series(value):
            return str(nw.from_native(cast(Any, value), series_only=True).implementation.value)
    return None


#: The types of columns of `make_frame`.
DTYPES = {bool: nw.Boolean, float: nw.Float64, int: nw.Int64, str: nw.String}


def make_frame(
    columns: Mapping[str, Sequence[Any]],
    library: str | None = None,
    types: Mapping[str, type] | None = None,
) -> Any:
    """Return the columns as a dataframe of a library, by default the first that is installed.

    `types` are those of all columns, as they cannot be inferred where all values are None.
    """
    installed = [name for name in ("pandas", "polars", "pyarrow") if find_spec(name)]
    if library is None and not installed:
        raise ModuleNotFoundError("a frame needs pandas, polars or pyarrow: install one of them")
    backend: Any = library or installed[0]
    schema: Any = None if types is None else {name: DTYPES[types[name]] for name in columns}
    return nw.from_dict(dict(columns), schema, backend=backend).to_native()


def unique_names(names: Sequence[Any]) -> tuple[str, ...]:
    """Return the names as text, checked to be different from each other."""
    texts = tuple(str(name) for name in names)
    if doubles := [name for name, count in Counter(texts).items() if count > 1]:
        raise ValueError(
            f"column names must be unique, but found more than one of {quoted(doubles)}; rename "
            "the columns, in pandas for example by "
            "df.columns = [f'x{i}' for i in range(df.shape[1])]"
        )
    return texts


def _as_read(column: Column) -> RawColumn:
    """Return a column without its feature type, which is then to be stated."""
    form: Form = "number"
    if column.labels == BOOLS:
        form = "bool"
    elif column.labels is not None:
        form = "text" if column.feature_type == "nominal" else "graded"
    return RawColumn(column.name, form, column.values, column.labels)


def _decoded(columns: Sequence[Column], n_samples: int) -> NDArray[Any]:
    """Return columns side by side: numbers, or objects where there are texts among them."""
    texts = [column.labels not in (None, BOOLS) for column in columns]
    matrix = np.empty((n_samples, len(columns)), dtype=object if any(texts) else np.float64)
    for place, (column, is_text) in enumerate(zip(columns, texts, strict=True)):
        matrix[:, place] = column.values
        if is_text:
            labels = np.array([*(column.labels or ()), np.nan], dtype=object)
            codes = np.where(np.isnan(column.values), -1, column.values)
            matrix[:, place] = labels[codes.astype(np.int64)]
    return matrix


def _frame(X: Any) -> nw.DataFrame[Any]:
    try:
        return nw.from_native(X, eager_only=True)
    except DuplicateError:
        names = getattr(X, "column_names", None)  # pyarrow; its .columns are the data
        unique_names(list(X.columns if names is None else names))
        raise


def _array(values: Any, name: str) -> NDArray[Any]:
    """Return an array that has not turned numbers into texts, nor masked values into data."""
    if sparse.issparse(values):
        raise TypeError(
            f"{name} is sparse ({type(values).__name__}), which is not supported; "
            f"pass {name}.toarray() if it fits into memory"
        )
    if isinstance(values, np.ma.MaskedArray):
        if not np.ma.is_masked(values):
            return np.asarray(values.data)
        is_time = values.dtype.kind in "mM"  # as objects, those of some units are integers
        filled: NDArray[Any] = np.array(values.data, dtype=None if is_time else object)
        filled[np.ma.getmaskarray(values)] = "NaT" if is_time else None
        return filled
    try:
        array = np.asarray(values)
        if array.dtype.kind in "USm" and not isinstance(values, np.ndarray):
            # [[1, "a"]] would come as two texts, a number beside a duration as another duration:
            # keep each value's own type.
            array = np.asarray(values, dtype=object)
    except ValueError as error:
        raise ValueError(f"{name} has rows of different lengths: {error}") from error
    if array.dtype.names is not None:
        raise TypeError(
            f"{name} is a structured array; pass a dataframe, e.g. pandas.DataFrame({name})"
        )
    return array


def _check_shape(shape: tuple[int, ...]) -> None:
    for size, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required."
            )
