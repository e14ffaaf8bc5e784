"""Which column plays which part: target, feature, row group, or none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pidselect.cli.columns import split_kinds, split_names
from pidselect.cli.errors import WrongCallError
from pidselect.cli.options import SelectionOptions, TableOptions


@dataclass(frozen=True)
class Roles:
    """Which column plays which part, by name.

    Parameters
    ----------
    targets, drop, keep : tuple of str
    groups : str, optional
    feature_groups : dict of str to tuple, or list of tuples, optional
    kinds : dict of str to str
        As stated.
    """

    targets: tuple[str, ...]
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    groups: str | None
    feature_groups: dict[str, tuple[str, ...]]
    kinds: dict[str, str]


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
        kinds=split_kinds(table.kinds or (), known),
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
