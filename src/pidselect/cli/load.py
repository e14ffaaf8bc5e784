"""From a file and options to what is fitted: which column plays which part, and their values."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pidselect.cli.columns import split_kinds, split_names
from pidselect.cli.errors import WrongCallError
from pidselect.cli.options import SelectionOptions, TableOptions

if TYPE_CHECKING:  # loaded by what needs it: help and errors come at once
    from pidselect.data import IntArray, Table

#: Of the memory that may be taken, what the columns of the file take before they go to the disk.
TABLE_SHARE = 4

#: Columns with missing values that are named.
MOST_NAMED = 8


@dataclass(frozen=True)
class Roles:
    """Which column plays which part, by name.

    Parameters
    ----------
    targets, drop, keep : tuple of str
    groups : str, optional
        The column that says which rows belong together.
    feature_groups : dict of str to tuple of str
        Columns that enter and leave together, by the group's name.
    kinds : dict of str to str
        As stated.
    """

    targets: tuple[str, ...]
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    groups: str | None
    feature_groups: dict[str, tuple[str, ...]]
    feature_types: dict[str, str]


@dataclass(frozen=True, eq=False)
class Data:
    """What a selection is made from.

    Parameters
    ----------
    X, y : Table
    groups : array of int64, optional
        The group of every row.
    roles : Roles
    n_rows : int
        Of the file.
    """

    X: Table
    y: Table
    groups: IntArray | None
    roles: Roles
    n_rows: int

    @property
    def target(self) -> str:
        """What the target is called."""
        return ", ".join(self.y.names)

    @property
    def feature_types(self) -> dict[str, Any] | None:
        """The kind stated for the target, which its own column cannot say."""
        stated = {self.roles.feature_types.get(name) for name in self.y.names}
        if len(stated) != 1 or None in stated or "target" in self.X.names:
            return None
        return {"target": stated.pop()}


def read_roles(table: TableOptions, how: SelectionOptions) -> Roles:
    """Read the names of the columns alone, and find those that options name."""
    from pidselect.data.disk import header

    return find_roles(table, how, header(table.table, table.text_format()))


def find_roles(table: TableOptions, how: SelectionOptions, known: tuple[str, ...]) -> Roles:
    """Return the columns that options name; refuse what is not there, or there twice."""
    targets = split_names(table.target, known, "--target")
    groups = None if how.groups is None else split_names([how.groups], known, "--groups")
    if groups is not None and len(groups) > 1:
        raise WrongCallError(f"--groups takes one column, not {len(groups)}.")
    roles = Roles(
        targets=targets,
        drop=split_names(how.drop or (), known, "--drop"),
        keep=split_names(how.keep or (), known, "--keep"),
        groups=None if groups is None else groups[0],
        feature_groups=_groups(how.feature_groups or (), known),
        feature_types=split_kinds(table.feature_types or (), known),
    )
    inside = [name for names in roles.feature_groups.values() for name in names]
    taken = {"--target": targets, "--groups": groups or (), "--drop": roles.drop}
    for option, names in {**taken, "--keep": roles.keep, "--feature-groups": inside}.items():
        for other, others in taken.items():
            if other != option and (both := [name for name in names if name in others]):
                raise WrongCallError(f"{option} and {other} both name {both[0]!r}: it can be one.")
    if not set(known) - {*targets, *roles.drop, *(groups or ())}:
        raise WrongCallError(
            f"No column is left to select from: the table has {len(known)}, and the target"
            f"{', --drop and --groups take' if roles.drop or groups else ' takes'} all of them."
        )
    return roles


def _groups(values: Iterable[str], known: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return groups by name: ``lat,lon`` or ``place=lat,lon``."""
    groups: dict[str, tuple[str, ...]] = {}
    for value in values:
        title, columns = _group(value, known)
        if title in groups:
            raise WrongCallError(f"--feature-groups names {title!r} twice.")
        groups[title] = columns
    return groups


def _group(value: str, known: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the name and the columns of a group; what is a column as a whole is no name."""
    name, sign, rest = value.partition("=")
    try:
        columns = split_names([value], known, "--feature-groups")
    except WrongCallError:
        if not sign:
            raise
        return name.strip(), split_names([rest], known, "--feature-groups")
    return "+".join(columns), columns


def read_data(table: TableOptions, roles: Roles, max_memory: str) -> Data:
    """Read the columns that take part."""
    from pidselect.selection.validation import to_bytes

    stated: dict[str, Any] = {k: v for k, v in roles.feature_types.items() if k not in roles.drop}
    everything = open_table(
        table,
        feature_types=stated,
        missing="category",  # decided upon below, by what takes part
        max_memory=max(1, to_bytes(max_memory) // TABLE_SHARE),
        without=roles.drop,
    )
    n_rows = everything.n_samples
    refuse_missing(everything, table, ", or leave out such columns with --drop")
    if table.missing == "drop" and roles.groups is not None:
        everything = _without_gaps(everything, roles.groups)
    rest, y = everything.split(roles.targets)
    if roles.groups is None:
        _note_identifiers(rest)
        return Data(rest, y, None, roles, n_rows)
    X, of_rows = rest.split(roles.groups)
    _note_identifiers(X)
    return Data(X, y, of_rows.columns[0].codes(), roles, n_rows)


def open_table(table: TableOptions, **how: Any) -> Table:
    """Open the file, without a word of columns that are skipped: not all of them are features."""
    from pidselect.data import Table

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="skipped columns where", category=UserWarning)
        return Table.open(table.table, text=table.text_format(), **how)


def identifiers(table: Table) -> dict[str, str]:
    """Return the columns where nearly every row has its own text, with how many there are."""
    return {
        table.names[index]: reason.partition(": ")[2]
        for index, reason in table.skipped.items()
        if reason.startswith("identifier")
    }


def _note_identifiers(X: Table) -> None:
    if found := identifiers(X):
        named = ", ".join(f"{name!r} ({counted})" for name, counted in found.items())
        warnings.warn(
            f"skipped columns where nearly every row has its own text: {named}. If they are meant "
            f"as labels, feature_types={dict.fromkeys(found, 'nominal')} keeps them",
            stacklevel=2,
        )


def refuse_missing(table: Table, options: TableOptions, way_out: str = "") -> None:
    """Refuse missing values unless it was said what to do with them, with all ways out."""
    if options.missing != "error":
        return
    import numpy as np

    gaps = {column.name: np.isnan(column.values) for column in table.columns}
    counts = {name: int(np.count_nonzero(gap)) for name, gap in gaps.items() if gap.any()}
    if not counts:
        return
    n_rows = int(np.count_nonzero(np.logical_or.reduce([gaps[name] for name in counts])))
    raise WrongCallError(
        f"{str(options.table)!r} has missing values: {_counted(counts)}; they are in {n_rows} of "
        f"{table.n_samples} rows. Ways out: --missing drop leaves out these rows; --missing "
        "category takes missing values as a level of their own; --missing error, the default, "
        f"refuses them, so fill them in first{way_out}."
    )


def _counted(counts: dict[str, int]) -> str:
    named = [f"{name!r} ({count})" for name, count in list(counts.items())[:MOST_NAMED]]
    more = len(counts) - len(named)
    return ", ".join(named) + (f" and {more} more columns" if more > 0 else "")


def _without_gaps(table: Table, name: str) -> Table:
    """Return the table without the rows of which nobody knows where they belong."""
    import numpy as np

    values = table.columns[table.index(name)].values
    return table.take(np.flatnonzero(~np.isnan(values))) if np.isnan(values).any() else table


def part_of(table: Table, names: Sequence[str]) -> Table:
    """Return some columns of a table, in this order."""
    from pidselect.data import Table

    return Table(tuple(table.columns[table.index(name)] for name in names))
