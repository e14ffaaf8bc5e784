"""Options of the commands: each set of them is a frozen dataclass, each field an option.

An option that is a parameter of the library has its name, with dashes.
"""

# ruff: noqa: RUF009  (the default of a field is its option)

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from pidselect.cli.columns import complete_column
from pidselect.cli.messages import plain_errors
from pidselect.names import (
    BY_TYPES_NAMES,
    CRITERION_NAMES,
    ESTIMATOR_NAMES,
    SURROGATE_NAMES,
    ContinuousMeasureName,
    CriterionName,
    MeasureName,
)

#: Delimiters by name, as some are hard to type.
DELIMITERS = {"tab": "\t", r"\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "pipe": "|"}


def option(panel: str | None, default: Any, help_text: str, *names: str, **more: Any) -> Any:
    """Return a field that is an option, in a panel of the help."""
    shown = typer.Option(*names, rich_help_panel=panel, help=help_text, **more)
    return field(default=default, metadata={"typer": shown})


required = partial(option, None, MISSING, show_default=False)
reading = partial(option, "Input")
selecting = partial(option, "Selection")
decomposing = partial(option, "Decomposition")
computing = partial(option, "Computation")
writing = partial(option, "Output")

COLUMNS: dict[str, Any] = {"metavar": "NAME", "autocompletion": complete_column}


def some_of(*names: str) -> dict[str, Any]:
    """Return the settings of an option that takes one or several names, separated by commas.

    Examples
    --------
    >>> some_of("global", "residual")["autocompletion"]("global,re")
    ['global,residual']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names if name.startswith(last)]

    return {"metavar": "NAME[,NAME]", "autocompletion": complete}


def integer_or(*words: str) -> dict[str, Any]:
    """Return the settings of an option that takes an integer or a word; the library checks it."""

    def parse(text: Any) -> Any:
        return int(text) if str(text).removeprefix("-").isdecimal() else text

    return {"parser": parse, "metavar": "|".join(["N", *words])}


def use_paper(context: typer.Context, is_paper: bool) -> bool:
    """Make the settings of the paper the defaults of a command."""
    if is_paper:
        from pidselect.selection import PIDSelector

        context.default_map = {**PIDSelector.paper().get_params(), "max_samples": "all"}
    return is_paper


FORMATS = "CSV, TSV, JSON lines (each also .gz, .zst), Parquet, Feather, Arrow or .npy"

TABLE = typer.Argument(
    metavar="TABLE", show_default=False, help=f"{FORMATS}; - for standard input."
)


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """A file, its target, and how it is read."""

    table: Path = field(metadata={"typer": TABLE})
    target: list[str] = required(
        "The target column; repeat it for a joint target.", autocompletion=complete_column
    )
    delimiter: str | None = reading(
        None, "Of a text file, such as ';' or tab; detected by default."
    )
    encoding: str = reading("utf-8", "Of a text file, such as latin-1.")
    decimal: str | None = reading(None, "Decimal mark of a text file; detected by default.")
    na_values: list[str] | None = reading(
        None,
        "A text that denotes a missing value, in addition to NA and others.",
        *("--na-values", "--na"),
        metavar="TEXT",
    )
    feature_types: list[str] | None = reading(
        None,
        "continuous, ordinal or nominal, where the inferred type is wrong. Repeat it, or separate "
        "by commas.",
        metavar="NAME=TYPE",
    )
    missing: Literal["error", "drop", "category"] = reading(
        "error", "Refuse missing values, drop their rows, or treat them as a separate category."
    )

    @property
    def text(self) -> dict[str, Any]:
        """The parameters of `Table.open` for a text file."""
        from pidselect.data.files import MISSING_WORDS

        name = self.delimiter
        return {
            "delimiter": None if name is None else DELIMITERS.get(name.lower(), name),
            "encoding": self.encoding,
            "decimal": self.decimal,
            "na_values": dict.fromkeys((*MISSING_WORDS, *(self.na_values or ()))),
        }


@dataclass(frozen=True)
class SelectionOptions:
    """How features are selected: the roles of columns and the parameters of `PIDSelector`."""

    drop: list[str] | None = selecting(
        None,
        "Columns to exclude. Repeat it, or separate by commas.",
        *("--drop", "--without"),
        **COLUMNS,
    )
    fixed_features: list[str] | None = selecting(
        None, "Columns selected from the start and never tested.", **COLUMNS
    )
    feature_groups: list[str] | None = selecting(
        None,
        "Columns included and removed jointly, such as place=lat,lon; repeat it for more groups.",
        metavar="[NAME=]A,B",
    )
    groups: str | None = selecting(
        None,
        "The column with the group of each row, such as the person measured; not a feature.",
        **COLUMNS,
    )
    paper: bool = selecting(
        False,
        "The settings of the paper, where no other option changes them.",
        "--paper",
        is_eager=True,
        callback=use_paper,
    )
    criterion: CriterionName = selecting(
        "cmi",
        f"The criterion that ranks candidates: {', '.join(CRITERION_NAMES)}.",
        metavar="NAME",
    )
    estimator: str = selecting(
        "auto",
        "auto is the score test; or an estimator of mutual information: paper (by feature types), "
        f"{', '.join(ESTIMATOR_NAMES)}.",
        **{**some_of(*BY_TYPES_NAMES, *ESTIMATOR_NAMES), "metavar": "NAME"},
    )
    alpha: float = selecting(0.05, "False-positive rate of each test.")
    n_permutations: Any = selecting(
        "auto",
        "Permutations of each test; auto for as many as its level needs.",
        *("--n-permutations", "--permutations"),
        **integer_or("auto"),
    )
    surrogates: str = selecting(
        "auto",
        f"Surrogate schemes: {', '.join(SURROGATE_NAMES)}; of several, all must reject. shift is "
        "for time series. auto is global, with an estimator global,residual.",
        **some_of(*SURROGATE_NAMES),
    )
    backward: Literal["minimum", "maximum", "none"] = selecting(
        "maximum", "Test statistic of backward elimination, or none."
    )
    lookahead: Any = selecting(
        "auto",
        "Test all pairs (2) and triples (3) where no single candidate is significant; 1 for none.",
        **integer_or("auto"),
    )
    n_random_starts: int = selecting(
        0, "Where nothing is significant, condition on N random subsets of the candidates."
    )
    select: Literal["minimal", "relevant"] = selecting(
        "minimal",
        "The minimal set, or in addition all features with significant marginal information.",
    )
    max_features: int | None = selecting(None, "Maximum number of selected columns.")
    max_conditioning: int | None = selecting(
        None, "Condition on at most N features at a time in forward steps, for small samples."
    )
    stability: int | None = selecting(
        None, "Repeat the selection on N random halves of the rows: selection frequencies."
    )
    max_samples: Any = computing(
        "auto",
        "Use a random subset of N rows; all for all rows. auto is at most 1000000, of "
        "nearest-neighbour estimators 5000 if there are more than 20000.",
        **integer_or("auto", "all"),
    )
    device: Literal["cpu", "cuda"] = computing("cpu", "cuda is a GPU.")
    n_jobs: int = computing(-1, "Threads; -1 for all cores.", "--n-jobs", "--jobs")
    random_state: int = computing(0, "Seed of the permutations.", "--random-state", "--seed")


@dataclass(frozen=True)
class ExplanationOptions:
    """How the information of features is decomposed."""

    measure: Literal["auto", MeasureName] = decomposing(
        "auto", "The measure of shared information; auto chooses by sample size."
    )
    bins: int = decomposing(5, "Bins of a continuous column.")


@dataclass(frozen=True)
class DecompositionOptions:
    """The sources of a decomposition, and how it is computed."""

    source: list[str] = required(
        "A column, or several as one variable (lat,lon). Repeat it for each source.", **COLUMNS
    )
    measure: Literal[MeasureName, ContinuousMeasureName] = decomposing(
        "broja", "broja and ccs are for two sources."
    )
    bins: Any = decomposing(
        5,
        "Bins of a column of numbers with many values; none makes every value a state.",
        **integer_or("none"),
    )
    n_permutations: int = decomposing(
        0, "Permutations for p-values; 0 for none.", "--n-permutations", "--permutations"
    )
    n_bootstrap: int = decomposing(
        0, "Bootstrap samples for confidence intervals; 0 for none.", "--n-bootstrap", "--bootstrap"
    )
    unit: Literal["bit", "nat"] = decomposing("bit", "Unit of information.")
    n_jobs: int = computing(-1, "Threads; -1 for all cores.", "--n-jobs", "--jobs")
    random_state: int = computing(0, "Seed of the permutations.", "--random-state", "--seed")


@dataclass(frozen=True)
class PrintOptions:
    """Results as text and as JSON."""

    json: str | None = writing(None, "All results as JSON; - for standard output.", metavar="FILE")
    quiet: bool = writing(False, "Only the result.", "--quiet", "-q")


@dataclass(frozen=True)
class OutputOptions(PrintOptions):
    """Files to write."""

    report: Path | None = writing(None, "The report as a web page.", metavar="FILE.html")
    output: Path | None = writing(
        None,
        "The reduced table: selected columns and target, in the format of the name.",
        metavar="FILE",
    )
    checkpoint: Path | None = writing(
        None,
        "Results so far: after an interruption the same command resumes from them.",
        metavar="FILE",
    )


@dataclass(frozen=True)
class DemoOptions:
    """Files to write."""

    report: Path = writing(Path("pidselect-demo.html"), "Path of the report.", metavar="FILE.html")
    table: Path | None = writing(None, "Also write the simulated table.", metavar="FILE.csv")
    quiet: bool = writing(False, "Only the result.", "--quiet", "-q")


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer, with the fields of the dataclasses as its parameters."""
    hints = get_type_hints(function)
    bundles: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    parameters = []
    for bundle in bundles.values():
        types = get_type_hints(bundle)
        for one in fields(bundle):
            default = inspect.Parameter.empty if one.default is MISSING else one.default
            kind: Any = Annotated[types[one.name], one.metadata["typer"]]
            where = inspect.Parameter.KEYWORD_ONLY
            parameters.append(inspect.Parameter(one.name, where, default=default, annotation=kind))

    def run(**values: Any) -> None:
        with plain_errors():
            function(
                **{
                    name: bundle(**{one.name: values[one.name] for one in fields(bundle)})
                    for name, bundle in bundles.items()
                }
            )

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run
