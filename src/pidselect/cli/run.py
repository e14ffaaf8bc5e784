"""What ``select`` and ``explain`` have in common: read, fit, take apart, write, tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import typer

from pidselect.cli.choices import ESTIMATORS, check_names
from pidselect.cli.commands import as_typed
from pidselect.cli.errors import INTERRUPTED, as_options, plain_errors
from pidselect.cli.formatting import alarms_text, selection_text
from pidselect.cli.load import Data, Roles, read_data, read_roles
from pidselect.cli.options import (
    OutputOptions,
    SelectionOptions,
    TableOptions,
    one_or_several,
    to_permutations,
)
from pidselect.cli.output import say, warnings_as_notes
from pidselect.cli.progress import Progress, showing
from pidselect.cli.resume import Saved, prepare
from pidselect.cli.writing import check_places, write_json, write_page, write_table

if TYPE_CHECKING:  # loaded by what needs it: help and errors come at once
    from pidselect.decomposition.explanation import Explanation
    from pidselect.selection import PIDSelector
    from pidselect.selection.result import Selection
    from pidselect.selection.stability import Stability


@dataclass(frozen=True)
class Call:
    """A command as it was given.

    Parameters
    ----------
    table : TableOptions
    how : SelectionOptions
    out : OutputOptions
    typed : str
        The command, to be written down.
    measure : str, optional
        By which features are taken apart; None if that is not asked for.
    bins : int
    is_kept : bool
        Whether the run is kept in a file, from which it goes on after it was stopped.
    called : str
        What the table is called where it is spoken of; unless given, as it was typed.
    """

    table: TableOptions
    how: SelectionOptions
    out: OutputOptions
    typed: str
    measure: str | None = None
    bins: int = 5
    is_kept: bool = True
    called: str = ""

    @classmethod
    def of(
        cls, context: typer.Context, table: TableOptions, how: SelectionOptions, out: OutputOptions
    ) -> Call:
        """Return the call that typer has read."""
        return cls(table, how, out, as_typed(context))

    @property
    def source(self) -> str:
        """What the table is called."""
        return self.called or str(self.table.table)

    @property
    def explains(self) -> bool:
        """Whether features are taken apart: a page shows that, too."""
        return self.measure is not None or self.out.report is not None


@dataclass(frozen=True, eq=False)
class Found:
    """What came out, as far as it went."""

    data: Data
    selection: Selection
    selected: tuple[str, ...] = ()
    explanation: Explanation | None = None
    stability: Stability | None = None
    is_complete: bool = True


def run(call: Call, text: Callable[[Found], str]) -> None:
    """Do what a call asks for, and tell what came out.

    Parameters
    ----------
    call : Call
    text : callable
        What to print of what was found.
    """
    with plain_errors():
        roles = read_roles(call.table, call.how)  # first: it takes no time
        check_places(call.table.table, call.out)
        selector = make_selector(call.how, call.table)
        saved = prepare(call.table.table, call.out) if call.is_kept else Saved(None)
        found = _work(call, roles, selector, saved)
        if found.is_complete:
            try:
                _tell(call, found, text(found))
            except Exception:
                _say_how_to_go_on(call, saved)
                raise
            saved.remove()
            return
        _tell_stopped(call, found, saved)
        raise typer.Exit(INTERRUPTED)


def make_selector(how: SelectionOptions, table: TableOptions) -> PIDSelector:
    """Return the selector that options describe, as far as no column is needed; refuse nonsense."""
    from pidselect.selection import PIDSelector
    from pidselect.selection.validation import check_limit, check_parameters
    from pidselect.significance.validation import to_seed

    selector = PIDSelector(
        criterion=how.criterion,
        estimator=one_or_several(how.estimator),
        alpha=how.alpha,
        n_permutations=to_permutations(how.permutations),  # type: ignore[arg-type]
        surrogates=one_or_several(how.surrogates),
        backward=None if how.backward == "none" else how.backward,  # type: ignore[arg-type]
        lookahead=how.lookahead,
        n_random_starts=how.starts,
        max_features=how.max_features,
        max_conditioning=how.max_conditioning,
        missing=table.missing,  # type: ignore[arg-type]
        max_samples=how.max_samples,
        max_memory=how.max_memory,
        device=how.device,  # type: ignore[arg-type]
        n_jobs=how.jobs,
        random_state=how.seed,
    )
    check_names(one_or_several(how.estimator), ESTIMATORS, "estimator")
    check_parameters(selector)
    check_limit(how.stability, "stability", at_least=2)
    to_seed(how.seed)
    return selector


def _work(call: Call, roles: Roles, selector: PIDSelector, saved: Saved) -> Found:
    """Read, fit, and take apart; what was found before an interruption is found all the same."""
    progress = Progress()
    try:
        with (
            showing(call.out.quiet) as progress,
            warnings_as_notes(lambda text: progress.notes(_advice(text, call.how.jobs))),
        ):
            if saved.note:
                progress.notes(saved.note)
            selector.set_params(checkpoint=saved.path)
            return _found(call, roles, selector, progress)
    except Exception:
        if progress.stopped_at is not None:
            _say_how_to_go_on(call, saved)
        raise


def _say_how_to_go_on(call: Call, saved: Saved) -> None:
    if saved.is_there:
        say(f"\nNothing is lost. Go on with\n  {call.typed} --resume", err=True)


def _advice(text: str, jobs: int) -> str:
    """Return what the library says in words of the command line, without what is done anyway."""
    said = as_options(text)
    return said.removesuffix("--jobs -1 uses all cores.").rstrip("; ") if jobs == -1 else said


def _found(call: Call, roles: Roles, selector: PIDSelector, progress: Progress) -> Found:
    from pidselect.selection.callbacks import use_callback

    progress.says(f"reading {call.source}")
    data = read_data(call.table, roles, call.how.max_memory)
    selector.set_params(
        fixed_features=list(data.roles.keep) or None,
        feature_groups=data.roles.feature_groups or None,
        feature_types=data.feature_types,
    )
    try:
        with use_callback(progress):
            selection = _fit(selector, data, progress)
    except KeyboardInterrupt:
        if progress.stopped_at is None:
            raise
        return Found(data, progress.stopped_at, is_complete=False)
    names = tuple(data.X.names[column] for column in selector.selected_)
    found = Found(data, selection, names)
    try:
        with use_callback(progress):
            return _taken_apart(call, selector, found)
    except KeyboardInterrupt:
        return replace(found, is_complete=False)


def _fit(selector: PIDSelector, data: Data, progress: Progress) -> Selection:
    n_rows, n_columns = data.X.shape
    progress.says(f"{n_rows} rows, {n_columns} columns beside {data.target}")
    selector.fit(data.X, data.y, data.groups)
    return selector.selection_


def _taken_apart(call: Call, selector: PIDSelector, found: Found) -> Found:
    """Add what is asked for besides the selection."""
    data = found.data
    if call.explains:
        explanation = selector.explain(
            data.X, data.y, data.groups, measure=call.measure or "auto", bins=call.bins
        )
        found = replace(found, explanation=explanation)
    if call.how.stability is not None:
        from pidselect.selection.stability import stability

        checked = stability(
            selector,
            data.X,
            data.y,
            call.how.stability,
            groups=data.groups,
            random_state=call.how.seed,
        )
        found = replace(found, stability=checked)
    return found


def summary_of(call: Call, found: Found) -> dict[str, Any]:
    """Return all that is known, ready for JSON and for the page."""
    from pidselect.data import ColumnStore, read_dataset
    from pidselect.data.diagnostics import inspect_data
    from pidselect.report.summary import About, summarise
    from pidselect.selection.validation import STORE_SHARE, to_bytes

    data = found.data
    with warnings_as_notes(lambda text: None):  # said before
        problem = read_dataset(
            data.X,
            data.y,
            feature_types=data.feature_types,
            missing=call.table.missing,  # type: ignore[arg-type]
            store=ColumnStore(int(STORE_SHARE * to_bytes(call.how.max_memory))),
        )
    about = About.of(problem, source=call.source, command=call.typed, is_complete=found.is_complete)
    return summarise(
        found.selection,
        explanation=found.explanation,
        stability=found.stability,
        remarks=inspect_data(problem, data.n_rows),
        about=about,
    )


def result_text(found: Found) -> str:
    """Return what ``select`` prints."""
    text = selection_text(found.selection, found.data.n_rows)
    return text if found.stability is None else f"{text}\n\n{found.stability}"


def _tell(call: Call, found: Found, text: str) -> None:
    """Print the result and write the files; standard output is JSON alone if that goes there."""
    out, is_piped = call.out, call.out.json == "-"
    is_told = not (is_piped and out.quiet)
    summary = summary_of(call, found)
    if is_told:  # all at once: who reads the first lines only is no failure
        alarms = alarms_text(summary["alarms"])
        say(f"{text}\n\n{alarms}" if alarms else text, err=is_piped)
    lines = []
    if out.report is not None:
        lines.append(write_page(summary, out.report))
    if out.json is not None:
        lines.append(write_json(summary, out.json))
    if out.output is not None:
        names = (*found.selected, *found.data.y.names)
        lines.append(write_table(call.table, out.output, names))
    if any(lines) and is_told:
        say("\n" + "\n".join(line for line in lines if line), err=is_piped)


def _tell_stopped(call: Call, found: Found, saved: Saved) -> None:
    """Print what is known so far, write it down if asked for, and say how to go on."""
    is_piped = call.out.json == "-"
    is_selected = found.selection.is_complete
    what = "The selection is finished, what follows it is not" if is_selected else "So far"
    say(f"\nStopped. {what}:\n", err=True)
    say(selection_text(found.selection, found.data.n_rows), err=is_piped)
    if call.out.json is not None and (line := write_json(summary_of(call, found), call.out.json)):
        say(line, err=is_piped)
    _say_how_to_go_on(call, saved)
    if not saved.is_there:
        say("\nNothing is kept of this run: it would begin anew.", err=True)
