"""Features: what enters and leaves a selection as one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pidselect.data import Block, Table, find_copies

#: Feature groups as users give them: by name, or without.
FeatureGroups = Mapping[str, Sequence[str | int]] | Sequence[Sequence[str | int]]


@dataclass(frozen=True, eq=False)
class Feature:
    """One column, or a group of columns that enter and leave together."""

    name: str
    columns: tuple[int, ...]
    block: Block


@dataclass(frozen=True, eq=False)
class Line:
    """Who takes part: features kept from the start, candidates, and copies left aside."""

    kept: tuple[Feature, ...]
    candidates: tuple[Feature, ...]
    copies: dict[int, int]


def line_up(
    table: Table,
    keep: Sequence[str | int] | None = None,
    groups: FeatureGroups | None = None,
) -> Line:
    """Sort a table's columns into kept features, candidates and copies.

    Constant columns and identifiers are no candidates, neither is a copy of another column. Copies
    are not looked for within feature groups, whose columns were put together on purpose.
    """
    kept_columns = _indices(table, keep or (), "keep")
    grouped = _read_groups(table, groups)
    for name, columns in grouped.items():
        inside = [index for index in columns if index in kept_columns]
        if inside and len(inside) < len(columns):
            left_out = next(index for index in columns if index not in kept_columns)
            raise ValueError(
                f"keep names column {table.names[inside[0]]!r} of the feature group {name!r}, but "
                f"not {table.names[left_out]!r}: a group is kept whole or not at all."
            )
    in_group = {index for columns in grouped.values() for index in columns}
    copies = {
        copy: original
        for copy, original in find_copies(table, prefer=kept_columns).items()
        if copy not in in_group and original not in in_group and copy not in kept_columns
    }
    singles = [
        Feature(table.names[index], (index,), table.block((index,)))
        for index in range(len(table))
        if index not in in_group and index not in copies
    ]
    together = [Feature(name, columns, table.block(columns)) for name, columns in grouped.items()]
    features = sorted(singles + together, key=lambda feature: feature.columns[0])
    return Line(
        kept=tuple(f for f in features if f.columns[0] in kept_columns),
        candidates=tuple(
            f
            for f in features
            if f.columns[0] not in kept_columns and not all(i in table.skipped for i in f.columns)
        ),
        copies=copies,
    )


def _indices(table: Table, wanted: Sequence[str | int], parameter: str) -> tuple[int, ...]:
    if isinstance(wanted, str | int):
        wanted = (wanted,)
    indices = tuple(table.index(column) for column in wanted)
    for index in indices:
        if indices.count(index) > 1:
            raise ValueError(f"{parameter} names column {table.names[index]!r} twice.")
        if table.skipped.get(index, "constant") != "constant":
            raise ValueError(
                f"{parameter} names column {table.names[index]!r}, which is skipped "
                f"({table.skipped[index]}). State its kind to use it, such as "
                f'kinds={{{table.names[index]!r}: "nominal"}}.'
            )
    return indices


def _read_groups(table: Table, groups: FeatureGroups | None) -> dict[str, tuple[int, ...]]:
    """Return the columns of every group by its name, unnamed ones called after their columns."""
    if groups is None:
        return {}
    if isinstance(groups, Mapping):
        named = {
            str(name): _indices(table, columns, "feature_groups")
            for name, columns in groups.items()
        }
    else:
        read = [_indices(table, columns, "feature_groups") for columns in groups]
        named = {"+".join(table.names[index] for index in columns): columns for columns in read}
    seen: dict[int, str] = {}
    for name, columns in named.items():
        if not columns:
            raise ValueError(f"The feature group {name!r} is empty.")
        for index in columns:
            if index in seen:
                raise ValueError(
                    f"Column {table.names[index]!r} is in the feature groups {seen[index]!r} and "
                    f"{name!r}; it can be in one only."
                )
            seen[index] = name
        if name in table.names and table.names.index(name) not in columns:
            raise ValueError(f"The feature group {name!r} has the name of another column.")
    return named
