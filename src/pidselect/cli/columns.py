"""Columns named on the command line: their roles, types and groups, and their completion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from pidselect.cli.messages import WrongCallError

if TYPE_CHECKING:
    from pidselect.cli.options import SelectionOptions, TableOptions

#: As in `pidselect.data.FeatureType`.
TYPES = ("continuous", "ordinal", "nominal")


@dataclass(frozen=True)
class Roles:
    """The columns that options name; `groups` has the group of each row."""

    targets: tuple[str, ...]
    drop: tuple[str, ...]
    fixed_features: tuple[str, ...]
    groups: str | None
    feature_groups: dict[str, tuple[str, ...]]
    feature_types: dict[str, str]


def find_roles(table: TableOptions, how: SelectionOptions, known: Sequence[str]) -> Roles:
    """Return the roles of columns; refuse unknown columns and columns with two roles."""
    targets = split_names(table.target, known, "--target")
    groups = () if how.groups is None else split_names([how.groups], known, "--groups")
    if len(groups) > 1:
        raise WrongCallError(f"--groups takes one column, got {len(groups)}.")
    drop = split_names(how.drop or (), known, "--drop")
    fixed = split_names(how.fixed_features or (), known, "--fixed-features")
    feature_groups = _feature_groups(how.feature_groups or (), known)
    grouped = tuple(name for names in feature_groups.values() for name in names)
    exclusive = {"--target": targets, "--groups": groups, "--drop": drop}
    others = {"--fixed-features": fixed, "--feature-groups": grouped}
    for option, names in {**exclusive, **others}.items():
        for other, columns in exclusive.items():
            if other != option and (both := [name for name in names if name in columns]):
                raise WrongCallError(f"{option} and {other} both name {both[0]!r}: use one.")
    if not set(known) - {*targets, *drop, *groups}:
        raise WrongCallError(
            f"No candidate is left: --target, --groups and --drop name all {len(known)} columns."
        )
    types = split_types(table.feature_types or (), known, targets)
    return Roles(targets, drop, fixed, next(iter(groups), None), feature_groups, types)


def split_names(values: Iterable[str], known: Sequence[str], option: str) -> tuple[str, ...]:
    """Return the columns that an option names, each once.

    A value is one name or several, separated by commas. As a name may contain commas, the longest
    text at the start of a value that is a column is used.
    """
    found: dict[str, None] = {}
    names = set(known)
    for value in values:
        pieces = value.split(",")
        start = 0
        while start < len(pieces):
            for end in range(len(pieces), start, -1):
                text = ",".join(pieces[start:end])
                name = text if text in names else text.strip()
                if name in names:
                    break
            else:
                raise _unknown_column(pieces[start].strip(), known, option)
            found[name] = None
            start = end
    return tuple(found)


def _unknown_column(name: str, known: Sequence[str], option: str) -> WrongCallError:
    from pidselect.data.messages import did_you_mean

    return WrongCallError(f"{option}: there is no column {name!r}{did_you_mean(name, known)}")


def split_types(
    values: Iterable[str], known: Sequence[str], targets: Sequence[str] = ()
) -> dict[str, str]:
    """Return the stated feature types by column; "target" stands for the targets."""
    types: dict[str, str] = {}
    for value in values:
        pair = ""
        for piece in value.split(","):  # a name may hold commas
            pair = f"{pair},{piece}".removeprefix(",")
            name, _, feature_type = (part.strip() for part in pair.rpartition("="))
            if feature_type in TYPES:
                if name not in known and name != "target":
                    raise _unknown_column(name, known, "--feature-types")
                names = [name] if name in known else targets
                types.update(dict.fromkeys(names, feature_type))
                pair = ""
        if pair:
            name = pair.rpartition("=")[0] or pair
            raise WrongCallError(
                f"--feature-types {pair!r}: use {name}=nominal, say; types are {', '.join(TYPES)}."
            )
    return types


def _feature_groups(values: Iterable[str], known: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return groups by name: ``lat,lon`` or ``place=lat,lon``."""
    groups: dict[str, tuple[str, ...]] = {}
    for value in values:
        title, sign, rest = value.partition("=")
        try:
            columns = split_names([value], known, "--feature-groups")
            title = "+".join(columns)
        except WrongCallError:
            if not sign:
                raise
            title, columns = title.strip(), split_names([rest], known, "--feature-groups")
        if title in groups:
            raise WrongCallError(f"--feature-groups names {title!r} twice.")
        groups[title] = columns
    return groups


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Return the columns that complete a word; none if the file cannot be read."""
    try:
        from pidselect.data.files import header

        options = context.params
        text = {name: options[name] for name in ("delimiter", "encoding") if options.get(name)}
        # An unfinished line is not always parsed: then its words are searched for a file.
        words = [Path(word).expanduser() for word in (options.get("table"), *context.args) if word]
        names = header(next(word for word in words if word.is_file()), **text)
    except Exception:  # no error may be printed into the line that is typed
        return []
    return [name for name in names if name.isprintable() and name.startswith(incomplete)]
