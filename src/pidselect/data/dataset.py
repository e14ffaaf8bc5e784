"""Problem: a table with its target, read together so that their rows stay matched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from .column import Block, FeatureType, IntArray, is_constant
from .column_store import ColumnStore
from .feature_types import (
    TARGET,
    FeatureTypes,
    infer_feature_type,
    stated_feature_types,
    stated_target_type,
    to_column,
    to_target,
)
from .frames import read_columns, read_vectors
from .missing import Missing, check_no_gaps, kept_rows
from .raw import RawColumn
from .table import Table, build_table, feature_types_over, take_rows


@dataclass(frozen=True, eq=False)
class Dataset:
    """What is to be explained, and what it may be explained by.

    Parameters
    ----------
    table : Table
        The features.
    target : Block
        The target: one column, or several that are one joint variable.
    rows : array of int64
        The rows of the input that are left, in order; all unless ``missing="drop"``.
    """

    table: Table
    target: Block
    rows: IntArray


def read_dataset(
    X: Any,
    y: Any,
    *,
    feature_types: FeatureTypes | None = None,
    missing: Missing = "error",
    store: ColumnStore | None = None,
) -> Dataset:
    """Read features and target together.

    Parameters
    ----------
    X : dataframe, 2-D array, list of rows or Table
        The features, see `Table.read`. A table's columns are used as they are, its kinds unless
        others are stated.
    y : list, array, series or dataframe
        The target; two-dimensional input is one joint target of several columns. It goes by
        its own name, or else "target". At most 20 levels count as class labels.
    kinds : mapping of name to kind, or sequence of one kind per feature, optional
        Stated kinds. The key "target" states the target's (of all its columns), unless a feature
        is called "target": then it means the feature, and the target's kind is inferred.
    missing : {"error", "drop", "category"}
        Refuse missing values, leave out the rows where a feature or the target is missing, or
        keep them as a level.
    store : Store, optional
        Where to keep copies of the columns, and what is made of them.

    Returns
    -------
    Problem

    Examples
    --------
    >>> problem = read_problem(
    ...     [[1.5], [2.5], [None], [0.5], [0.1]], ["a", "a", "a", "b", "b"], missing="drop"
    ... )
    >>> problem.rows, problem.target.columns[0].labels
    (array([0, 1, 3, 4]), ('a', 'b'))
    """
    if y is None:
        raise ValueError("this feature selection requires y to be passed, but the target y is None")
    raws, targets = read_columns(X, store), read_vectors(y, TARGET)
    n_rows, n_targets = len(raws[0].values), len(targets[0].values)
    if n_rows != n_targets:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"X has {n_rows}, y has {n_targets}. Give y one value per row of X"
        )
    rows = kept_rows({"X": raws, "y": targets}, missing)
    raws, targets = take_rows(raws, rows, store), take_rows(targets, rows)
    if all(is_constant(raw.values) for raw in targets):
        values = ", ".join(f"{raw.shown(0)} in {raw.name!r}" for raw in targets)
        raise ValueError(
            f"the target is constant, so that there is nothing to explain: one class or value "
            f"only ({values}) in {len(rows)} sample{'s' * (len(rows) != 1)}; "
            "pass a target that varies"
        )
    stated = stated_target_type(feature_types, [raw.name for raw in raws])
    pairs = zip(targets, _target_kinds(y, targets, stated), strict=True)
    target = Block(
        tuple(replace(to_target(raw, feature_type), store=store) for raw, feature_type in pairs)
    )
    table = build_table(
        raws, feature_types_over(X, feature_types), X.skipped if isinstance(X, Table) else {}
    )
    return Dataset(table.stored_in(store), target, rows)


def _target_kinds(
    y: Any, targets: Sequence[RawColumn], stated: FeatureType | None
) -> tuple[FeatureType | None, ...]:
    """Return the kind stated for each target; of a table, one that is not what it would infer."""
    if stated is not None or not isinstance(y, Table):
        return (stated,) * len(targets)
    pairs = zip(targets, y.feature_types, strict=True)
    return tuple(
        feature_type if feature_type != infer_feature_type(raw) else None
        for raw, feature_type in pairs
    )


def read_block(
    values: Any, name: str, *, feature_types: FeatureTypes | None = None, target: bool = False
) -> Block:
    """Read one variable of one or several columns, which must not have missing values.

    Parameters
    ----------
    values : list, array, series or dataframe
        Of one or two dimensions.
    name : str
        The name of a column without one; several are called ``name[0]``, ``name[1]``, ...
    kinds : mapping of name to kind, or sequence of one kind per column, optional
        Stated kinds; for a target also by the key "target".
    target : bool
        Whether few levels count as class labels, and texts that identify rows are an error.
        Elsewhere texts are nominal however many there are, as there is nothing to skip.

    Returns
    -------
    Block

    Examples
    --------
    >>> block = read_block([[0.1, 1], [0.7, 0], [0.4, 1], [0.9, 0]], "x")
    >>> block.names, block.kinds
    (('x[0]', 'x[1]'), ('continuous', 'ordinal'))
    """
    raws = read_vectors(values, name)
    check_no_gaps(name, raws)
    names = [raw.name for raw in raws]
    stated = stated_feature_types(feature_types, names)
    if not target:
        return Block(tuple(map(to_column, raws, stated)))
    common = (
        stated_target_type(feature_types, names) if isinstance(feature_types, Mapping) else None
    )
    return Block(
        tuple(
            to_target(raw, feature_type or common)
            for raw, feature_type in zip(raws, stated, strict=True)
        )
    )
