"""``pidselect decompose``: what a few columns share, and tell only together."""

from __future__ import annotations

from shlex import quote
from typing import Annotated, Any

import typer

from pidselect.cli.choices import CONTINUOUS, MEASURES, WHOLE, one_of
from pidselect.cli.columns import complete_column, split_kinds, split_names
from pidselect.cli.commands import command
from pidselect.cli.errors import WrongCallError, as_options, plain_errors
from pidselect.cli.load import identifiers, open_table, part_of, refuse_missing
from pidselect.cli.options import WRITING, TableOptions
from pidselect.cli.output import say, warnings_as_notes
from pidselect.cli.writing import write_json

#: What the help says; \b keeps the lines of the paragraph that follows.
HELP = """Split what a few columns tell about a target into unique, shared and synergistic bits.

Sources are columns, or several columns as one, separated by commas.

\b
Examples:
  pidselect decompose bikes.csv --target rides --source market --source ferry
  pidselect decompose bikes.csv --target rides --source lat,lon --source hour
  pidselect decompose bikes.csv --target rides --source market --source ferry \\\\
    --permutations 200 --bootstrap 200
"""

HOW = "How it is split"

MISSING = (
    "--missing category does not go with decompose, which counts states of what is there: give "
    "--missing drop, or fill in the values first."
)


def _option(**more: Any) -> Any:
    return typer.Option(rich_help_panel=HOW, **more)


@command
def decompose_command(
    table: TableOptions,
    source: Annotated[
        list[str],
        typer.Option(
            show_default=False,
            autocompletion=complete_column,
            help="A column, or several as one variable (lat,lon). Give it for each source.",
        ),
    ],
    measure: Annotated[
        str,
        _option(
            **{**one_of(*MEASURES, *CONTINUOUS), "metavar": "NAME"},
            help=f"{', '.join((*MEASURES, *CONTINUOUS))}; broja and ccs are for two sources.",
        ),
    ] = "broja",
    bins: Annotated[int, _option(**WHOLE, help="Bins of a continuous column.")] = 5,
    permutations: Annotated[int, _option(**WHOLE, help="Draws for p-values; 0 for none.")] = 0,
    bootstrap: Annotated[int, _option(**WHOLE, help="Resamples for intervals; 0 for none.")] = 0,
    unit: Annotated[str, _option(**one_of("bit", "nat"), help="Of all amounts.")] = "bit",
    seed: Annotated[int, _option(**WHOLE, help="The same seed, the same result.")] = 0,
    jobs: Annotated[int, _option(**WHOLE, help="Threads; -1 stands for all cores.")] = -1,
    json: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=WRITING, metavar="FILE", help="All numbers; - for standard output."
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", rich_help_panel=WRITING, help="Only the result.")
    ] = False,
) -> None:
    """Split what a few columns tell about a target into unique, shared and synergistic bits."""

    def note(text: str) -> None:
        if not quiet:
            say(f"Note: {as_options(text)}", err=True)

    with plain_errors(), warnings_as_notes(note):
        variables, feature_types = _read(table, source)
        from pidselect.decomposition import decompose

        result = decompose(
            variables[:-1],
            variables[-1],
            measure=measure,
            bins=bins,
            unit=unit,  # type: ignore[arg-type]
            feature_types=feature_types,
            n_permutations=permutations,
            n_bootstrap=bootstrap,
            n_jobs=jobs,
            random_state=seed,
        )
        if json != "-":
            say(repr(result))
        if json is not None and (line := write_json(result.to_dict(), json)):
            say(f"\n{line}")


def _read(table: TableOptions, sources: list[str]) -> tuple[list[Any], dict[str, Any]]:
    """Return the sources and, last, the target, as tables; and the kinds that are stated."""
    from pidselect.data.disk import header

    if table.missing == "category":
        raise WrongCallError(MISSING)
    known = header(table.table, table.text_format())
    names = [split_names([one], known, "--source") for one in sources]
    names.append(split_names(table.target, known, "--target"))
    used = [name for some in names for name in some]
    for name in used:
        if used.count(name) > 1:
            raise WrongCallError(f"{name!r} is named twice: a column can be one source, or target.")
    feature_types: Any = {
        k: v for k, v in split_kinds(table.feature_types or (), known).items() if k in used
    }
    policy: Any = "drop" if table.missing == "drop" else "category"
    opened = open_table(table, feature_types=feature_types, missing=policy, columns=used)
    refuse_missing(opened, table)
    for name, counted in identifiers(opened).items():
        raise WrongCallError(
            f"{name!r} is an identifier: nearly every row has its own text ({counted}). If they "
            f"are meant as labels, state --kinds {quote(f'{name}=nominal')}."
        )
    return [part_of(opened, some) for some in names], feature_types
