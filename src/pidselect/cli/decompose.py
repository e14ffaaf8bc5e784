"""``pidselect decompose``: the partial information decomposition of a few columns."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from pidselect.cli.columns import split_names, split_types
from pidselect.cli.messages import WrongCallError, say, to_option, warnings_as_notes
from pidselect.cli.options import DecompositionOptions, PrintOptions, TableOptions, command

#: \b keeps the lines of the paragraph that follows.
HELP = """Decompose the information of a few columns about a target: unique, shared, synergistic.

A source is a column, or several columns as one variable, separated by commas.

\b
Examples:
  pidselect decompose bikes.csv --target rides --source market --source ferry
  pidselect decompose bikes.csv --target rides --source lat,lon --source hour
  pidselect decompose bikes.csv --target rides --source lat --source lon --n-bootstrap 200
"""


@command
def decompose_command(table: TableOptions, how: DecompositionOptions, out: PrintOptions) -> None:
    """Decompose the information of a few columns about a target."""
    with warnings_as_notes(lambda note: None if out.quiet else say(note, err=True)):
        from pidselect.cli.output import write_json

        variables, feature_types = _read(table, how.source)
        from pidselect.decomposition import decompose

        settings = asdict(how)
        del settings["source"]
        settings["bins"] = None if how.bins == "none" else how.bins
        result = decompose(variables[:-1], variables[-1], feature_types=feature_types, **settings)
        if out.json != "-":
            say(repr(result))
        if out.json is not None and (line := write_json(result.to_dict(), out.json)):
            say(f"\n{line}")


def _read(table: TableOptions, sources: list[str]) -> tuple[list[Any], dict[str, Any]]:
    """Return the sources and, last, the target as tables; and the stated feature types."""
    from pidselect.cli.load import identifiers, open_table
    from pidselect.data import Table
    from pidselect.data.files import header

    if table.missing == "category":
        raise WrongCallError("decompose takes no --missing category: use --missing drop.")
    known = header(table.table, **table.text)
    names = [split_names([one], known, "--source") for one in sources]
    if len(names) < 2:
        raise WrongCallError("decompose needs two or more sources: repeat --source.")
    names.append(split_names(table.target, known, "--target"))
    used = [name for some in names for name in some]
    for name in used:
        if used.count(name) > 1:
            raise WrongCallError(f"--source and --target name {name!r} twice.")
    stated = split_types(table.feature_types or (), known, names[-1])
    feature_types: Any = {name: stated[name] for name in stated if name in used}
    opened = open_table(table, feature_types=feature_types, missing=table.missing, columns=used)
    for name, reason in identifiers(opened).items():
        raise WrongCallError(
            f"column {name!r} cannot be used ({reason}). If it has labels, use "
            f"{to_option('feature_types', {name: 'nominal'})}."
        )
    column = dict(zip(opened.names, opened.columns, strict=True))
    return [Table(tuple(column[name] for name in some)) for some in names], feature_types
