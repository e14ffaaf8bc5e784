"""Candidate pool: fixed features, candidates, and the columns that are neither."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from pidselect.data import Block, IntArray, Table, find_duplicates, is_constant

#: Columns as users give them, by name or by position: one, or several in any container.
ColumnChoice = str | int | Iterable[str | int]

#: Feature groups as users give them, with or without names.
FeatureGroups = Mapping[str, ColumnChoice] | Iterable[Iterable[str | int]]


@dataclass(frozen=True, eq=False)
class Feature:
    """One column, or a group of columns that are included and removed as one."""

    name: str
    columns: tuple[int, ...]  # positions
    block: Block  # in the samples used, without constant columns


#: Several features, in order.
Features = Sequence[Feature]


def joint_block(features: Iterable[Feature]) -> Block:
    """Return the columns of several features as one variable."""
    return Block(tuple(column for feature in features for column in feature.block.columns))


def joint_name(features: Features) -> str:
    """Return the name of several features, such as "width & height"."""
    return " & ".join(feature.name for feature in features)


def columns_of(features: Iterable[Feature]) -> list[tuple[int, ...]]:
    """Return the columns of each of several features, by which a fit knows them."""
    return [feature.columns for feature in features]


def count_columns(features: Iterable[Feature]) -> int:
    """Return the number of columns of several features."""
    return sum(len(feature.columns) for feature in features)


@dataclass(frozen=True, eq=False)
class FeaturePool:
    """The features of a selection: fixed ones and candidates, and the columns left out."""

    fixed: tuple[Feature, ...]
    candidates: tuple[Feature, ...]
    duplicates: dict[int, int]  # and the column that represents each
    skipped: dict[int, str]  # constant columns and identifiers, and the reason

    def remaining_columns(self, max_features: int | None) -> float:
        """Return how many columns may be selected besides the fixed ones."""
        if max_features is None:
            return inf
        n_fixed = count_columns(self.fixed)
        if n_fixed > max_features:
            raise ValueError(
                f"fixed_features names {n_fixed} columns, which count towards "
                f"max_features={max_features}: fix fewer columns, or use max_features={n_fixed} "
                "or more."
            )
        return max_features - n_fixed


def build_pool(
    table: Table,
    fixed_features: ColumnChoice | None = None,
    groups: FeatureGroups | None = None,
    rows: IntArray | None = None,
    by_rank: bool = False,
) -> FeaturePool:
    """Sort the columns of a table into fixed features, candidates and duplicates.

    Constant columns, identifiers and duplicates of other columns are no candidates. The columns of
    feature groups are not searched for duplicates. With `by_rank`, columns of equal ranks are
    duplicates, too. All of this is decided on the whole table; a column that is constant in the
    `rows` used is no candidate either.
    """
    fixed = (
        () if fixed_features is None else column_positions(table, fixed_features, "fixed_features")
    )
    grouped = {} if groups is None else read_groups(table, groups)
    for name, columns in grouped.items():
        inside, outside = ([i for i in columns if (i in fixed) is known] for known in (True, False))
        if inside and outside:
            raise ValueError(
                f"fixed_features names column {table.names[inside[0]]!r} of the feature group "
                f"{name!r}, but not {table.names[outside[0]]!r}: fix all columns of a group or "
                "none."
            )
    in_group = {index for columns in grouped.values() for index in columns}
    duplicates = find_duplicates(table, prefer=fixed, without=in_group, by_rank=by_rank)
    duplicates = {copy: original for copy, original in duplicates.items() if copy not in fixed}
    singles = {
        name: (index,)
        for index, name in enumerate(table.names)
        if index not in in_group and index not in duplicates
    }
    used = table
    if rows is not None:
        used = table.take(rows, f"constant in the max_samples={len(rows)} samples used")
    features = [
        Feature(name, columns, used.block(i for i in columns if i not in used.skipped))
        for name, columns in sorted({**singles, **grouped}.items(), key=lambda item: item[1])
    ]
    return FeaturePool(
        fixed=tuple(f for f in features if f.columns[0] in fixed),
        candidates=tuple(f for f in features if f.columns[0] not in fixed and len(f.block)),
        duplicates=duplicates,
        skipped=dict(used.skipped),
    )


def column_positions(table: Table, wanted: ColumnChoice, parameter: str) -> tuple[int, ...]:
    """Return the positions of the columns that a parameter names."""
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        wanted = (wanted,)
    _refuse_iterator(wanted, parameter)
    try:
        indices = tuple(table.index(column) for column in wanted)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{parameter}: {error}") from None
    for index in indices:
        name = table.names[index]
        if indices.count(index) > 1:
            raise ValueError(f"{parameter} names column {name!r} twice.")
        if index in table.skipped and not is_constant(table.columns[index].values):
            raise ValueError(
                f"{parameter} names column {name!r}, which is skipped ({table.skipped[index]}). "
                f'State its feature type to use it, such as feature_types={{{name!r}: "nominal"}}.'
            )
    return indices


def read_groups(table: Table, groups: FeatureGroups) -> dict[str, tuple[int, ...]]:
    """Return the columns of every feature group by its name; the default name lists them."""
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise TypeError(
            f"feature_groups must map names to columns or list groups of columns, got {groups!r}; "
            "for example feature_groups=[['x0', 'x1']]"
        )
    _refuse_iterator(groups, "feature_groups")
    if isinstance(groups, Mapping):
        read = [(str(n), column_positions(table, c, "feature_groups")) for n, c in groups.items()]
    else:
        if any(isinstance(group, str) or not isinstance(group, Iterable) for group in groups):
            raise TypeError(
                f"feature_groups must list groups of columns, but {groups!r} lists columns; one "
                f"group of them is feature_groups=[{groups!r}]"
            )
        read = []
        for group in groups:
            columns = column_positions(table, group, "feature_groups")
            names = [table.names[index] for index in columns]
            parts = [repr(name) if "+" in name and len(names) > 1 else name for name in names]
            read.append(("+".join(parts), columns))
    group_of: dict[int, str] = {}
    for name, columns in read:
        if not columns:
            raise ValueError(f"The feature group {name!r} is empty.")
        for index in columns:
            if index in group_of:
                raise ValueError(
                    f"Column {table.names[index]!r} is in the feature groups {group_of[index]!r} "
                    f"and {name!r}; a column can be in one group only."
                )
            group_of[index] = name
        if name in table.names and table.index(name) not in columns:
            raise ValueError(
                f"The feature group {name!r} has the name of a column outside of it; give the "
                "group another name, as in feature_groups={'name': [...]}."
            )
    named = dict(read)
    if len(named) < len(read):
        repeated = next(name for name, columns in read if named[name] != columns)
        raise ValueError(f"Two feature groups are named {repeated!r}; give each its own name.")
    return named


def _refuse_iterator(wanted: object, parameter: str) -> None:
    """Refuse an iterator, which the first fit would exhaust."""
    if isinstance(wanted, Iterator):
        raise TypeError(
            f"{parameter} holds an iterator ({type(wanted).__name__}), which can be read only "
            "once: pass a list, list(...)."
        )
