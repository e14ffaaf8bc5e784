"""Options of the commands: each set of them is a frozen dataclass, each field an option.

An option that is a parameter of the library has its name, with dashes.
"""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from pidselect.cli.columns import complete_column
from pidselect.names import CRITERION_NAMES, ESTIMATOR_NAMES, SURROGATE_NAMES

if TYPE_CHECKING:  # imported where it is used: help must be quick
    from pidselect.data import TextFormat

#: Delimiters by name, as some are hard to type.
DELIMITERS = {"tab": "\t", r"\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "pipe": "|"}

#: Options that determine how a run starts, not what it computes.
START_OPTIONS = ("resume", "restart")


def one_of(*names: str) -> dict[str, Any]:
    """Return the settings of an option that takes one of some names.

    Examples
    --------
    >>> device = one_of("cpu", "cuda")
    >>> device["metavar"], device["autocompletion"]("cu")
    ('cpu|cuda', ['cuda'])
    """

    def parse(text: str) -> str:
        if text not in names:
            from pidselect.data.messages import did_you_mean

            raise typer.BadParameter(f"{text!r} is unknown{did_you_mean(text, names)}")
        return text

    return {"parser": parse, "metavar": "|".join(names), "autocompletion": completing(*names)}


def some_of(*names: str) -> dict[str, Any]:
    """Return the settings of an option that takes one or several names, separated by commas."""
    one = one_of(*names)["parser"]

    def parse(text: str) -> str:
        return ",".join(one(name.strip()) for name in text.split(","))

    return {"parser": parse, "metavar": "NAME[,NAME]", "autocompletion": completing(*names)}


def completing(*names: str) -> Callable[[str], list[str]]:
    """Return a function that completes the last of some names, separated by commas.

    Examples
    --------
    >>> completing("ksg", "copula")("ksg,co")
    ['ksg,copula']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names if name.startswith(last)]

    return complete


def _parser(convert: Callable[[Any], Any], expected: str) -> Callable[[Any], Any]:
    """Return a parser whose error names the text."""

    def parse(text: Any) -> Any:
        try:
            return convert(text)
        except ValueError:
            raise typer.BadParameter(f"{text!r} is not {expected}.") from None

    return parse


def _panel(heading: str | None) -> Callable[..., Any]:
    """Return a function that makes options under a heading of the help."""

    def option(help_text: str, *names: str, **more: Any) -> Any:
        return typer.Option(*names, rich_help_panel=heading, help=help_text, **more)

    return option


required = _panel(None)
reading = _panel("Input")
selecting = _panel("Selection")
decomposing = _panel("Decomposition")
computing = _panel("Computation")
writing = _panel("Output")
resuming = _panel("Interrupted runs")

INTEGER: dict[str, Any] = {"parser": _parser(int, "an integer"), "metavar": "N"}
REAL: dict[str, Any] = {"parser": _parser(float, "a number"), "metavar": "X"}
INTEGER_OR_AUTO: dict[str, Any] = {
    "parser": _parser(lambda text: text if text == "auto" else int(text), "an integer, nor auto"),
    "metavar": "N|auto",
}
COLUMNS: dict[str, Any] = {"metavar": "NAME", "autocompletion": complete_column}

Bins = Annotated[int, decomposing("Bins of a continuous column.", **INTEGER)]
Seed = Annotated[int, computing("Seed of the permutations.", "--random-state", "--seed", **INTEGER)]
Jobs = Annotated[int, computing("Threads; -1 for all cores.", "--n-jobs", "--jobs", **INTEGER)]
Json = Annotated[str | None, writing("All results as JSON; - for standard output.", metavar="FILE")]
Quiet = Annotated[bool, writing("Only the result.", "--quiet", "-q")]


@dataclass(frozen=True)
class TableOptions:
    """A file, its target, and how it is read."""

    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            show_default=False,
            help="CSV, TSV, JSON lines (each also .gz), Parquet, Feather, Arrow or .npy; - for "
            "standard input.",
        ),
    ]
    target: Annotated[
        list[str],
        required(
            "The target column; repeat it for a joint target.",
            autocompletion=complete_column,
            show_default=False,
        ),
    ]
    feature_types: Annotated[
        list[str] | None,
        reading(
            "continuous, ordinal or nominal, where the inferred type is wrong. Repeat it, or "
            "separate by commas.",
            metavar="NAME=TYPE",
        ),
    ] = None
    missing: Annotated[
        str,
        reading(
            "Refuse missing values, drop their rows, or treat them as a separate category.",
            **one_of("error", "drop", "category"),
        ),
    ] = "error"
    delimiter: Annotated[
        str | None, reading("Of a text file, such as ';' or tab; detected by default.")
    ] = None
    encoding: Annotated[str, reading("Of a text file, such as latin-1.")] = "utf-8"
    decimal: Annotated[str | None, reading("Decimal mark of a text file; detected by default.")] = (
        None
    )
    na_values: Annotated[
        list[str] | None,
        reading(
            "A text that denotes a missing value, in addition to NA and others.",
            "--na-values",
            "--na",
            metavar="TEXT",
        ),
    ] = None

    @property
    def text_format(self) -> TextFormat:
        """The format of a text file."""
        from pidselect.data import TextFormat

        name = self.delimiter
        return TextFormat(
            delimiter=None if name is None else DELIMITERS.get(name.lower(), name),
            encoding=self.encoding,
            decimal=self.decimal,
            na_values=tuple(dict.fromkeys((*TextFormat().na_values, *(self.na_values or ())))),
        )


@dataclass(frozen=True)
class SelectionOptions:
    """How features are selected: the roles of columns and the parameters of `PIDSelector`."""

    drop: Annotated[
        list[str] | None,
        selecting(
            "Columns to exclude. Repeat it, or separate by commas.",
            "--drop",
            "--without",
            **COLUMNS,
        ),
    ] = None
    fixed_features: Annotated[
        list[str] | None, selecting("Columns selected from the start and never tested.", **COLUMNS)
    ] = None
    feature_groups: Annotated[
        list[str] | None,
        selecting(
            "Columns included and removed jointly, such as place=lat,lon; repeat it for more "
            "groups.",
            metavar="[NAME=]A,B",
        ),
    ] = None
    groups: Annotated[
        str | None,
        selecting(
            "The column with the group of each row, such as the person measured; not a feature.",
            **COLUMNS,
        ),
    ] = None
    criterion: Annotated[
        str,
        selecting(
            f"The criterion that ranks candidates: {', '.join(CRITERION_NAMES)}.",
            **{**one_of(*CRITERION_NAMES), "metavar": "NAME"},
        ),
    ] = "cmi"
    estimator: Annotated[
        str,
        selecting(
            f"auto, {', '.join(ESTIMATOR_NAMES)}; several are a portfolio.",
            **some_of("auto", *ESTIMATOR_NAMES),
        ),
    ] = "auto"
    alpha: Annotated[float, selecting("False-positive rate of each test.", **REAL)] = 0.05
    n_permutations: Annotated[
        Any,
        selecting(
            "Permutations per candidate; auto for a sequential test, which stops early.",
            "--n-permutations",
            "--permutations",
            **INTEGER_OR_AUTO,
        ),
    ] = 200
    surrogates: Annotated[
        str,
        selecting(
            f"Surrogate schemes: {', '.join(SURROGATE_NAMES)}; of several, all must reject. "
            "shift is for time series.",
            **some_of(*SURROGATE_NAMES),
        ),
    ] = "global,local"
    backward: Annotated[
        str,
        selecting(
            "Test statistic of backward elimination, or none.",
            **one_of("minimum", "maximum", "none"),
        ),
    ] = "minimum"
    lookahead: Annotated[
        int,
        selecting(
            "Test pairs (2) or triples (3) where no single candidate is significant.", **INTEGER
        ),
    ] = 1
    n_random_starts: Annotated[
        int,
        selecting(
            "Where nothing is significant, condition on N random subsets of the candidates.",
            **INTEGER,
        ),
    ] = 0
    max_features: Annotated[
        int | None, selecting("Maximum number of selected columns.", **INTEGER)
    ] = None
    max_conditioning: Annotated[
        int | None,
        selecting(
            "Condition on at most N features at a time in forward steps, for small samples.",
            **INTEGER,
        ),
    ] = None
    stability: Annotated[
        int | None,
        selecting(
            "Repeat the selection on N random halves of the rows: selection frequencies.",
            **INTEGER,
        ),
    ] = None
    max_samples: Annotated[int | None, computing("Use a random subset of N rows.", **INTEGER)] = (
        None
    )
    max_memory: Annotated[str, computing("Memory to use; less memory takes more time.")] = "1GiB"
    device: Annotated[str, computing("cuda is a GPU.", **one_of("cpu", "cuda"))] = "cpu"
    n_jobs: Jobs = -1
    random_state: Seed = 0


@dataclass(frozen=True)
class OutputOptions:
    """Files to write, and how to start after an interruption."""

    json: Json = None
    report: Annotated[Path | None, writing("The report as a web page.", metavar="FILE.html")] = None
    output: Annotated[
        Path | None,
        writing(
            "The reduced table: selected columns and target, in the format of the name.",
            metavar="FILE",
        ),
    ] = None
    quiet: Quiet = False
    checkpoint: Annotated[
        Path | None,
        resuming(
            "The checkpoint; by default TABLE.pidselect-run.json in the current folder, deleted "
            "at the end.",
            metavar="FILE",
        ),
    ] = None
    resume: Annotated[bool, resuming("Continue from the checkpoint.", "--resume")] = False
    restart: Annotated[bool, resuming("Delete the checkpoint and start again.", "--restart")] = (
        False
    )


def one_or_several(text: str) -> str | tuple[str, ...]:
    """Return a name, or a tuple of several that are separated by commas.

    Examples
    --------
    >>> one_or_several("ksg"), one_or_several("ksg-rank,copula")
    ('ksg', ('ksg-rank', 'copula'))
    """
    names = tuple(text.split(","))
    return names if len(names) > 1 else text


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer, with the fields of the dataclasses as its parameters."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    bundles: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    plain = inspect.signature(function).parameters
    parameters: list[inspect.Parameter] = []

    def add(name: str, annotation: Any, default: Any) -> None:
        default = inspect.Parameter.empty if default is MISSING else default
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, keyword, default=default, annotation=annotation))

    for name, annotation in hints.items():
        if name in bundles:
            inner = get_type_hints(annotation, include_extras=True)
            for field in fields(annotation):
                add(field.name, inner[field.name], field.default)
        else:
            add(name, annotation, plain[name].default)

    def run(**values: Any) -> None:
        built = {
            name: bundle(**{field.name: values.pop(field.name) for field in fields(bundle)})
            for name, bundle in bundles.items()
        }
        function(**built, **values)

    run.__doc__ = function.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def as_typed(context: typer.Context) -> str:
    """Return the command, ready to be typed again; without the options to resume or restart."""
    positional, named = [], []
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in START_OPTIONS:
            continue
        value = context.params[name]
        values = [str(one) for one in (value if isinstance(value, list | tuple) else [value])]
        if parameter.param_type_name == "argument":
            positional += [f"./{one}" if _is_option(one) else one for one in values]
        elif isinstance(value, bool):
            named += [parameter.opts[0]] * value
        else:
            for one in values:
                option = parameter.opts[0]
                named += [f"{option}={one}"] if _is_option(one) else [option, one]
    return shlex.join(["pidselect", str(context.info_name), *positional, *named])


def _is_option(value: str) -> bool:
    return value.startswith("-") and value != "-"
