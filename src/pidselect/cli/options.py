"""The options that commands share: each set of them is one frozen dataclass."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pidselect.cli.choices import CRITERIA, ESTIMATORS, SCHEMES, WHOLE, completing, one_of, real
from pidselect.cli.columns import complete_column
from pidselect.cli.errors import WrongCallError

if TYPE_CHECKING:  # loaded by what needs it: help and errors come at once
    from pidselect.data.text_format import TextFormat

#: Headings of the help.
READING = "How the table is read"
SELECTING = "How features are selected"
WRITING = "What is written, and where"
GOING_ON = "Stopping and going on"

#: Characters that are hard to type, by name.
DELIMITERS = {"tab": "\t", r"\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "pipe": "|"}


def _option(panel: str | None, *names: str, **more: Any) -> Any:
    return typer.Option(*names, rich_help_panel=panel, **more)


@dataclass(frozen=True)
class TableOptions:
    """A file, its target, and how it is read."""

    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            show_default=False,
            help="CSV, TSV, JSON lines (each also .gz), Parquet, Feather, Arrow or .npy.",
        ),
    ]
    target: Annotated[
        list[str],
        _option(
            None,
            show_default=False,
            autocompletion=complete_column,
            help="The column to be explained; repeat it for a joint target.",
        ),
    ]
    feature_types: Annotated[
        list[str] | None,
        _option(
            READING,
            metavar="NAME=KIND",
            help="continuous, ordinal or nominal, where what is inferred is wrong. Repeat it, or "
            "separate by commas.",
        ),
    ] = None
    missing: Annotated[
        str,
        _option(
            READING,
            **one_of("error", "drop", "category"),
            help="Refuse missing values, leave out their rows, or take them as a level of "
            "their own.",
        ),
    ] = "error"
    delimiter: Annotated[
        str | None,
        _option(READING, help="Of a text file, such as ';' or tab; found out unless given."),
    ] = None
    encoding: Annotated[str, _option(READING, help="Of a text file, such as latin-1.")] = "utf-8"
    decimal: Annotated[
        str | None, _option(READING, help="The decimal sign; found out unless given.")
    ] = None
    na: Annotated[
        list[str] | None,
        _option(
            READING, metavar="TEXT", help="A text that stands for a missing value, besides NA etc."
        ),
    ] = None

    def text_format(self) -> TextFormat:
        """Return how text is read."""
        from pidselect.data.text_format import TextFormat

        usual = TextFormat()
        delimiter = self.delimiter
        return TextFormat(
            delimiter=None if delimiter is None else DELIMITERS.get(delimiter.lower(), delimiter),
            encoding=self.encoding,
            decimal=self.decimal,
            missing=tuple(dict.fromkeys((*usual.missing, *(self.na or ())))),
        )


@dataclass(frozen=True)
class SelectionOptions:
    """How features are selected; see `PIDSelector`, whose parameters these are."""

    drop: Annotated[
        list[str] | None,
        _option(
            SELECTING,
            metavar="NAME",
            autocompletion=complete_column,
            help="Columns that take no part. Repeat it, or separate by commas.",
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        _option(
            SELECTING,
            metavar="NAME",
            autocompletion=complete_column,
            help="Columns that are selected from the start, never tested.",
        ),
    ] = None
    feature_groups: Annotated[
        list[str] | None,
        _option(
            SELECTING,
            metavar="[NAME=]A,B",
            help="Columns that enter and leave together, such as place=lat,lon; repeat it for more "
            "groups.",
        ),
    ] = None
    groups: Annotated[
        str | None,
        _option(
            SELECTING,
            metavar="NAME",
            autocompletion=complete_column,
            help="The column that says which rows belong together, such as those of one person. It "
            "is no feature.",
        ),
    ] = None
    criterion: Annotated[
        str,
        _option(
            SELECTING,
            autocompletion=completing(CRITERIA),
            help=f"What candidates are ranked by: {', '.join(CRITERIA)}.",
        ),
    ] = "cmi"
    estimator: Annotated[
        str,
        _option(
            SELECTING,
            autocompletion=completing(ESTIMATORS),
            help=f"{', '.join(ESTIMATORS)}; several, separated by commas, are a portfolio.",
        ),
    ] = "auto"
    alpha: Annotated[
        float,
        _option(
            SELECTING,
            parser=real,
            metavar="RATE",
            help="The rate at which chance may pass for a feature at a step.",
        ),
    ] = 0.05
    permutations: Annotated[
        str,
        _option(
            SELECTING,
            metavar="N|auto",
            help="Surrogates of each candidate; auto draws until the test is decided.",
        ),
    ] = "200"
    surrogates: Annotated[
        str,
        _option(
            SELECTING,
            autocompletion=completing(SCHEMES),
            help=f"How they are made: {', '.join(SCHEMES)}; of several, separated by commas, all "
            "must reject. shift is for rows in the order of time.",
        ),
    ] = "global,local"
    backward: Annotated[
        str,
        _option(
            SELECTING,
            **one_of("minimum", "maximum", "none"),
            help="How selected features are tested once more, if at all.",
        ),
    ] = "minimum"
    lookahead: Annotated[
        int,
        _option(
            SELECTING,
            **WHOLE,
            help="Search pairs (2) or triples (3) where nothing single is found.",
        ),
    ] = 1
    starts: Annotated[
        int,
        _option(
            SELECTING,
            **WHOLE,
            help="Where nothing is found, test again given N random subsets of the others.",
        ),
    ] = 0
    max_features: Annotated[
        int | None, _option(SELECTING, **WHOLE, help="The most columns to be selected.")
    ] = None
    max_conditioning: Annotated[
        int | None,
        _option(
            SELECTING,
            **WHOLE,
            help="Going forward, condition on N features at a time, for small samples.",
        ),
    ] = None
    max_samples: Annotated[
        int | None, _option(SELECTING, **WHOLE, help="Score a random part of so many rows.")
    ] = None
    max_memory: Annotated[
        str, _option(SELECTING, help="Memory to take; with less, it takes longer.")
    ] = "1GiB"
    stability: Annotated[
        int | None,
        _option(
            SELECTING,
            **WHOLE,
            help="Also select on N random halves of the rows, to see what comes back.",
        ),
    ] = None
    seed: Annotated[int, _option(SELECTING, **WHOLE, help="The same seed, the same result.")] = 0
    jobs: Annotated[int, _option(SELECTING, **WHOLE, help="Threads; -1 stands for all cores.")] = -1
    device: Annotated[str, _option(SELECTING, **one_of("cpu", "cuda"), help="cuda is a GPU.")] = (
        "cpu"
    )


@dataclass(frozen=True)
class OutputOptions:
    """What is written, and how to go on with what was stopped."""

    json: Annotated[
        str | None,
        _option(WRITING, metavar="FILE", help="The whole record; - for standard output."),
    ] = None
    report: Annotated[
        Path | None, _option(WRITING, metavar="FILE.html", help="A page to read in a browser.")
    ] = None
    output: Annotated[
        Path | None,
        _option(
            WRITING,
            metavar="FILE",
            help="The reduced table: selected columns, then the target. Its format goes by its "
            "name.",
        ),
    ] = None
    quiet: Annotated[bool, _option(WRITING, "--quiet", "-q", help="Only the result.")] = False
    checkpoint: Annotated[
        Path | None,
        _option(
            GOING_ON,
            metavar="FILE",
            help="Where to keep what is known; by default TABLE.pidselect-run.json in this folder, "
            "removed at the end.",
        ),
    ] = None
    resume: Annotated[
        bool, _option(GOING_ON, "--resume", help="Go on from what a stopped run has found.")
    ] = False
    restart: Annotated[
        bool, _option(GOING_ON, "--restart", help="Forget what a stopped run has found.")
    ] = False


def one_or_several(text: str) -> str | tuple[str, ...]:
    """Return a name, or several that commas separate.

    Examples
    --------
    >>> one_or_several("ksg"), one_or_several("ksg-rank, copula")
    ('ksg', ('ksg-rank', 'copula'))
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    return names if len(names) > 1 else text.strip()


def to_permutations(text: str) -> int | str:
    """Return the number of draws, or "auto".

    Examples
    --------
    >>> to_permutations("50"), to_permutations("auto")
    (50, 'auto')
    """
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise WrongCallError(
            f"--permutations {text} is neither a whole number nor auto, for as many as it takes."
        ) from None
