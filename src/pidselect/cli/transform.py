"""``pidselect transform``: apply a saved selector to another file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from pidselect.cli.messages import WrongCallError, plain_errors, say, warnings_as_notes
from pidselect.cli.options import ModelOptions, TextOptions, TransformOptions, command

if TYPE_CHECKING:  # imported where it is used: help must be quick
    from pidselect.selection import PIDSelector

#: \b keeps the lines of the paragraph that follows.
HELP = """Write the selected columns of another table, by a selector that was saved.

Columns are found by their names; others, such as the target, are left out.

\b
Examples:
  pidselect select bikes.csv --target rides --save model.json
  pidselect transform model.json new_bikes.csv small.csv
  pidselect transform model.json new_bikes.parquet small.parquet
"""


@command
def transform_command(saved: ModelOptions, table: TextOptions, out: TransformOptions) -> None:
    """Write the selected columns of another table."""
    with plain_errors(), warnings_as_notes(lambda text: None):  # columns are only copied
        from pidselect.cli.output import write_table

        try:
            names = _selected(saved.model, table, out.output)
            line = write_table(table, out.output, names)
        except ValueError as error:
            if getattr(error, "setting", None):
                raise
            raise WrongCallError(str(error)) from error  # parameters are those of the fit
        if not out.quiet:
            say(line)


def _selected(model: Path, table: TextOptions, output: Path) -> tuple[str, ...]:
    """Return the columns to write; refuse a table or a path that cannot be used."""
    from pidselect.cli.load import open_table, read_header
    from pidselect.data import check_complete
    from pidselect.data.io import check_target
    from pidselect.selection import PIDSelector

    selector = PIDSelector.load(model)
    known = read_header(table)
    check_target(output, table.table)
    if output.exists() and output.samefile(model):
        raise WrongCallError(f"OUTPUT {str(output)!r} is the selector itself: use another path.")
    names = find_selected(selector, known, str(model), str(table.table))
    if selector.missing == "error":
        check_complete(open_table(table, missing="category", columns=names))
    return names


def find_selected(
    selector: PIDSelector, known: Sequence[str], model: str, table: str
) -> tuple[str, ...]:
    """Return the selected columns of a table in the order of the fit.

    They are found by name or, if the columns of the fit had no names, by position.
    """
    from pidselect.data.messages import counted, did_you_mean

    places = selector.get_support(indices=True)
    if not len(places):
        raise WrongCallError(f"{model!r} has no selected column: there is none to write.")
    fitted = getattr(selector, "feature_names_in_", None)
    if fitted is None:
        if len(known) != selector.n_features_in_:
            raise WrongCallError(
                f"{table!r} has {counted(len(known), 'column')}, but {model!r} was fitted on "
                f"{selector.n_features_in_} without names: pass the same columns in the same order."
            )
        return tuple(known[place] for place in places)
    names = tuple(str(fitted[place]) for place in places)
    for name in names:
        if name not in known:
            raise WrongCallError(
                f"{table!r} has no column {name!r}, which {model!r} has selected"
                f"{did_you_mean(name, known)}"
            )
    return names
