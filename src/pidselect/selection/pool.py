"""Features: what enters and leaves a selection as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pidselect.data import Block, IntArray, Table, find_duplicates

#: Columns as users give them, by name or by position: one, or several in any container.
ColumnChoice = str | int | Iterable[str | int]

#: Feature groups as users give them: by name, or without.
FeatureGroups = Mapping[str, ColumnChoice] | Iterable[Iterable[str | int]]


@dataclass(frozen=True, eq=False)
class Feature:
    """One column, or a group of columns that enter and leave together.

    Parameters
    ----------
    name : str
    columns : tuple of int
        The positions of its columns.
    block : Block
        The columns that can tell something, in the samples used: constant ones are left out.
    """

    name: str
    columns: tuple[int, ...]
    block: Block

    def take(self, rows: IntArray) -> Feature:
        """Return the feature restricted to `rows`."""
        return Feature(self.name, self.columns, self.block.take(rows))


def as_one(features: Sequence[Feature]) -> Feature:
    """Return several features as one."""
    return Feature(
        name=listed(features),
        columns=tuple(column for feature in features for column in feature.columns),
        block=Block(tuple(column for feature in features for column in feature.block.columns)),
    )


def listed(features: Sequence[Feature]) -> str:
    """Return what several features are called together, such as "width & height"."""
    return " & ".join(feature.name for feature in features)


@dataclass(frozen=True, eq=False)
class FeaturePool:
    """Who takes part: features kept from the start and candidates; and who does not, and why."""

    kept: tuple[Feature, ...]
    candidates: tuple[Feature, ...]
    copies: dict[int, int]
    skipped: dict[int, str]

    def room(self, max_features: int | None) -> int | None:
        """Return how many columns may be selected besides the kept ones, None for any number."""
        if max_features is None:
            return None
        n_kept = sum(len(feature.columns) for feature in self.kept)
        if n_kept > max_features:
            raise ValueError(
                f"fixed_features names {n_kept} columns, but max_features={max_features} counts "
                f"them, too: fix fewer of them, or use max_features={n_kept} or more."
            )
        return max_features - n_kept


def build_pool(
    table: Table,
    fixed_features: ColumnChoice | None = None,
    groups: FeatureGroups | None = None,
    rows: IntArray | None = None,
    by_rank: bool = False,
) -> FeaturePool:
    """Sort a table's columns into kept features, candidates and copies.

    Constant columns and identifiers are no candidates, neither is a copy of another column. Copies
    are not looked for within feature groups, whose columns were put together on purpose. With
    `by_rank`, columns of the same ranks are copies, too.

    All of that is decided on the whole table. Where only some rows are used, features have the
    values in those, and a column that is constant in them is no candidate either.
    """
    kept = () if fixed_features is None else _indices(table, fixed_features, "fixed_features")
    grouped = {} if groups is None else read_groups(table, groups)
    _check_kept_whole(table, kept, grouped)
    in_group = {index for columns in grouped.values() for index in columns}
    copies = find_duplicates(table, prefer=kept, without=in_group, by_rank=by_rank)
    copies = {copy: original for copy, original in copies.items() if copy not in kept}
    singles = {
        name: (index,)
        for index, name in enumerate(table.names)
        if index not in in_group and index not in copies
    }
    used = table
    if rows is not None:
        used = table.take(rows, f"constant in the max_samples={len(rows)} samples used")
    features = [
        Feature(name, columns, used.block(i for i in columns if i not in used.skipped))
        for name, columns in sorted({**singles, **grouped}.items(), key=lambda item: item[1])
    ]
    return FeaturePool(
        kept=tuple(f for f in features if f.columns[0] in kept),
        candidates=tuple(f for f in features if f.columns[0] not in kept and len(f.block)),
        copies=copies,
        skipped=dict(used.skipped),
    )


def _indices(table: Table, wanted: ColumnChoice, parameter: str) -> tuple[int, ...]:
    """Return the positions of the columns that a parameter names."""
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        wanted = (wanted,)
    _refuse_iterator(wanted, parameter)
    try:
        indices = tuple(table.index(column) for column in wanted)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{parameter}: {error}") from None
    for index in indices:
        if indices.count(index) > 1:
            raise ValueError(f"{parameter} names column {table.names[index]!r} twice.")
        if table.skipped.get(index, "constant") != "constant":
            raise ValueError(
                f"{parameter} names column {table.names[index]!r}, which is skipped "
                f"({table.skipped[index]}). State its kind to use it, such as "
                f'feature_types={{{table.names[index]!r}: "nominal"}}.'
            )
    return indices


def read_groups(table: Table, groups: FeatureGroups) -> dict[str, tuple[int, ...]]:
    """Return the columns of every group by its name, unnamed ones called after their columns."""
    if isinstance(groups, str) or not isinstance(groups, Iterable):
        raise TypeError(
            f"feature_groups must map names to columns or list groups of columns, got {groups!r}; "
            "for example feature_groups=[['x0', 'x1']]"
        )
    _refuse_iterator(groups, "feature_groups")
    if isinstance(groups, Mapping):
        read = [(str(n), _indices(table, c, "feature_groups")) for n, c in groups.items()]
    else:
        if any(isinstance(group, str) or not isinstance(group, Iterable) for group in groups):
            raise TypeError(
                f"feature_groups must list groups of columns, but {groups!r} lists columns; one "
                f"group of them is feature_groups=[{groups!r}]"
            )
        unnamed = [_indices(table, columns, "feature_groups") for columns in groups]
        read = [(_joined([table.names[i] for i in columns]), columns) for columns in unnamed]
    owner: dict[int, str] = {}
    for name, columns in read:
        if not columns:
            raise ValueError(f"The feature group {name!r} is empty.")
        for index in columns:
            if index in owner:
                raise ValueError(
                    f"Column {table.names[index]!r} is in the feature groups {owner[index]!r} and "
                    f"{name!r}; it can be in one only."
                )
            owner[index] = name
        if name in table.names and table.index(name) not in columns:
            raise ValueError(
                f"The feature group {name!r} has the name of another column; give it one of its "
                "own, as in feature_groups={'mine': [...]}."
            )
    named = dict(read)
    if len(named) < len(read):
        doubled = next(name for name, columns in read if named[name] != columns)
        raise ValueError(f"Two feature groups are called {doubled!r}; give each its own name.")
    return named


def _refuse_iterator(wanted: object, parameter: str) -> None:
    """Refuse what a first fit would use up, so that a second one would find it empty."""
    if isinstance(wanted, Iterator):
        raise TypeError(
            f"{parameter} holds an iterator ({type(wanted).__name__}), which can be read only "
            "once: pass a list of what it gives, list(...)."
        )


def _joined(names: list[str]) -> str:
    """Return a group's name, from which those of its columns can be read: a+b, or 'a+b'+c."""
    if len(names) == 1:
        return names[0]
    return "+".join(repr(name) if "+" in name else name for name in names)


def _check_kept_whole(
    table: Table, kept: tuple[int, ...], grouped: Mapping[str, tuple[int, ...]]
) -> None:
    """Refuse to keep a part of a group."""
    for name, columns in grouped.items():
        inside = [index for index in columns if index in kept]
        if inside and len(inside) < len(columns):
            left_out = next(index for index in columns if index not in kept)
            raise ValueError(
                f"fixed_features names column {table.names[inside[0]]!r} of the feature group "
                f"{name!r}, but not {table.names[left_out]!r}: a group is kept whole or not at all."
            )
