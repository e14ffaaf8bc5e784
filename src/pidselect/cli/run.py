"""``pidselect select`` and ``pidselect explain``: read, fit, explain, print and write."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pidselect.cli.columns import Roles, find_roles
from pidselect.cli.messages import INTERRUPTED, as_typed, say, warnings_as_notes
from pidselect.cli.options import (
    ExplanationOptions,
    OutputOptions,
    SelectionOptions,
    TableOptions,
    command,
)
from pidselect.names import BY_TYPES_NAMES, ESTIMATOR_NAMES

if TYPE_CHECKING:  # imported where it is used: help must be quick
    from pidselect.cli.load import SelectionData
    from pidselect.decomposition.explanation import Explanation
    from pidselect.selection import PIDSelector
    from pidselect.selection.result import Selection
    from pidselect.selection.stability import Stability

#: \b keeps the lines of the paragraph that follows.
SELECT_HELP = """Select the features of a table that are informative about its target.

Each step includes the candidate with the largest conditional mutual
information, if it is significant.

\b
Examples:
  pidselect select bikes.csv --target rides
  pidselect select bikes.csv --target rides --drop id,notes --report page.html
  pidselect select bikes.csv --target rides --feature-types gate=nominal --missing drop
  pidselect select bikes.parquet --target rides --output small.parquet
  pidselect select bikes.csv --target rides --json - --quiet | jq .selected
"""

EXPLAIN_HELP = """Select features, and decompose the information of each one about the target.

For each feature: its relevance by tests, and its unique, shared and
synergistic information.

\b
Examples:
  pidselect explain bikes.csv --target rides
  pidselect explain bikes.csv --target rides --report bikes.html
  pidselect explain bikes.csv --target rides --measure mmi --bins 4
"""


@dataclass(frozen=True)
class Call:
    """A command with its options.

    Without `explain` there is no explanation unless a report needs one. `source` is the name of the
    table in messages and in the report, by default that of the file.
    """

    table: TableOptions
    how: SelectionOptions
    out: OutputOptions
    explain: ExplanationOptions | None = None
    source: str = ""

    @property
    def name(self) -> str:
        """The name of the table."""
        path = str(self.table.table)
        return self.source or ("standard input" if path == "-" else path)


@dataclass(frozen=True, eq=False)
class Result:
    """Results, as far as they were computed before an interruption."""

    data: SelectionData
    selection: Selection
    selected: tuple[str, ...] = ()
    explanation: Explanation | None = None
    stability: Stability | None = None
    is_complete: bool = True


@command
def select_command(table: TableOptions, how: SelectionOptions, out: OutputOptions) -> None:
    """Select the features of a table that are informative about its target."""
    run(Call(table, how, out))


@command
def explain_command(
    table: TableOptions, how: SelectionOptions, explain: ExplanationOptions, out: OutputOptions
) -> None:
    """Select features, and decompose the information of each one about the target."""
    run(Call(table, how, out, explain))


def run(call: Call) -> Result:
    """Compute what a call asks for, print it, and write files."""
    from pidselect.cli.output import check_places
    from pidselect.data.files import header
    from pidselect.significance.validation import check_count

    roles = find_roles(call.table, call.how, header(call.table.table, **call.table.text))
    check_places(call.table.table, call.out)
    selector = make_selector(call.how, call.table, call.out.checkpoint)
    if call.explain is not None:
        check_count(call.explain.bins, "bins", at_least=2)
    result = _compute(call, roles, selector)
    if not result.is_complete:
        _show_interrupted(call, result)
        raise typer.Exit(INTERRUPTED)
    _show(call, result)
    return result


def make_selector(
    how: SelectionOptions, table: TableOptions, checkpoint: Path | None = None
) -> PIDSelector:
    """Return the selector without the parameters that name columns, checked."""
    from pidselect.data.messages import check_choice
    from pidselect.selection import PIDSelector
    from pidselect.selection.validation import at_least, check_parameters

    settings = asdict(how)
    for name in ("drop", "fixed_features", "feature_groups", "groups", "stability"):
        del settings[name]
    several = tuple(one.strip() for one in how.surrogates.split(","))
    settings["surrogates"] = several if len(several) > 1 else how.surrogates
    check_choice(how.estimator, (*BY_TYPES_NAMES, *ESTIMATOR_NAMES), "estimator")
    settings["backward"] = None if how.backward == "none" else how.backward
    settings["max_samples"] = None if how.max_samples == "all" else how.max_samples
    make = PIDSelector.paper if settings.pop("paper") else PIDSelector
    selector = make(**settings, missing=table.missing, checkpoint=checkpoint)
    check_parameters(selector)
    at_least(2, or_none=True)(how.stability, "stability")
    return selector


def _compute(call: Call, roles: Roles, selector: PIDSelector) -> Result:
    """Read, fit and explain, with progress; return what was computed before an interruption."""
    from pidselect.cli.load import read_data
    from pidselect.exceptions import SelectionWarning
    from pidselect.selection.progress import observing, show_progress

    with show_progress(call.out.quiet) as progress, warnings_as_notes(progress.message):
        warnings.simplefilter("ignore", SelectionWarning)  # shown with the result
        progress.status(f"reading {call.name}")
        data = read_data(call.table, roles)
        (n_rows, n_columns), targets = data.X.shape, ", ".join(data.y.names)
        progress.status(f"{n_rows} rows, {n_columns} columns, target {targets}")
        selector.set_params(
            fixed_features=list(roles.fixed_features) or None,
            feature_groups=roles.feature_groups or None,
            feature_types=data.feature_types,
        )
        result = None
        try:
            with observing(progress):
                selector.fit(data.X, data.y, data.groups)
                names = tuple(data.X.names[column] for column in selector.selected_)
                result = Result(data, selector.selection_, names)
                return _explain(call, selector, result)
        except KeyboardInterrupt:
            if result is not None:
                return replace(result, is_complete=False)
            if progress.interrupted is None:
                raise
            return Result(data, progress.interrupted, is_complete=False)


def _explain(call: Call, selector: PIDSelector, result: Result) -> Result:
    """Add the explanation, which a report shows, too, and the stability."""
    data, how = result.data, call.how
    if call.explain is not None or call.out.report is not None:
        settings = asdict(call.explain or ExplanationOptions())
        explanation = selector.explain(data.X, data.y, data.groups, **settings)
        result = replace(result, explanation=explanation)
    if how.stability is not None:
        from pidselect.selection.stability import stability

        given: dict[str, Any] = {"groups": data.groups, "random_state": how.random_state}
        found = stability(selector, data.X, data.y, how.stability, **given)
        result = replace(result, stability=found)
    return result


def summary_of(call: Call, result: Result) -> dict[str, Any]:
    """Return all results, ready for JSON and for the report."""
    from pidselect.data import read_dataset
    from pidselect.report.levels import joint_tables, target_profiles
    from pidselect.report.summary import ReportMetadata, summarise
    from pidselect.selection.notices import fit_findings

    data, missing = result.data, call.table.missing
    with warnings_as_notes(lambda text: None):  # shown by the fit
        dataset = read_dataset(data.X, data.y, feature_types=data.feature_types, missing=missing)
    metadata = ReportMetadata.of(
        dataset, source=call.name, command=as_typed(), is_complete=result.is_complete
    )
    selection = result.selection
    return summarise(
        selection,
        explanation=result.explanation,
        stability=result.stability,
        findings=fit_findings(dataset, selection, data.n_rows),
        joint=joint_tables(selection, dataset),
        profiles=target_profiles((*selection.fixed_features, *selection.selected), dataset),
        metadata=metadata,
    )


def _show(call: Call, result: Result) -> None:
    """Print the result and write the files; JSON on standard output is alone there."""
    from pidselect.cli.output import selection_text, wrapped, write_json, write_page, write_table

    out, is_piped = call.out, call.out.json == "-"
    is_shown = not (is_piped and out.quiet)
    summary = summary_of(call, result)
    if is_shown:
        text = selection_text(result.selection, result.data.n_rows)
        if call.explain is not None:
            text = str(result.explanation)
        stability = "" if result.stability is None else str(result.stability)
        notices = wrapped([f"Warning: {warning}" for warning in summary["warnings"]])
        say("\n\n".join(filter(None, [text, stability, notices])), err=is_piped)
    lines = []
    if out.report is not None:
        lines.append(write_page(summary, out.report))
    if out.json is not None:
        lines.append(write_json(summary, out.json))
    if out.output is not None:
        names = (*result.selected, *result.data.y.names)
        lines.append(write_table(call.table, out.output, names))
    if any(lines) and is_shown:
        say("\n" + "\n".join(filter(None, lines)), err=is_piped)


def _show_interrupted(call: Call, result: Result) -> None:
    """Print the selection so far, write it as JSON, and print how to resume."""
    from pidselect.cli.output import selection_text, write_json

    is_piped = call.out.json == "-"
    is_selected = result.selection.is_complete
    what = "Selection complete, explanation missing" if is_selected else "Selection so far"
    say(f"\nInterrupted. {what}:\n", err=True)
    say(selection_text(result.selection, result.data.n_rows), err=is_piped)
    if call.out.json is not None and (line := write_json(summary_of(call, result), call.out.json)):
        say(line, err=is_piped)
    if call.out.checkpoint is None:
        say("\nThe run cannot be resumed: --checkpoint FILE saves its progress.", err=True)
    else:
        say(f"\nThe progress is saved. Resume with\n  {as_typed()}", err=True)
