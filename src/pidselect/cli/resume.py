"""The checkpoint of a run: a convenience, whose failure does not end the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pidselect import __version__
from pidselect.cli.messages import WrongCallError, one_line
from pidselect.cli.options import OutputOptions
from pidselect.data import Dataset
from pidselect.selection.callbacks import Callback
from pidselect.selection.checkpoint import (
    FILE_HEADER,
    Checkpoint,
    CheckpointConflictError,
    describe_data,
)

#: Ending of the default checkpoint of a table.
ENDING = ".pidselect-run.json"


class RunCheckpoint(Callback):
    """The checkpoint of a run, which continues if the file cannot be written.

    A file that the user named must be writable at the start, is not replaced unasked, and is kept
    at the end. `earlier` is the content of a file that the run may replace, `note` shows a line.
    """

    def __init__(self, path: Path, is_named: bool, note: Callable[[str], None]) -> None:
        self.path, self.is_named, self.note = path, is_named, note
        self.earlier: Mapping[str, Any] | None = None
        self._is_noted, self._is_shared = False, False

    @property
    def can_resume(self) -> bool:
        """Whether the run can be resumed."""
        return self.path.exists() and not self._is_shared

    def on_checkpoint_error(self, error: Exception) -> bool:
        """Say once that the file cannot be written, and go on."""
        is_shared = isinstance(error, CheckpointConflictError)
        if self.is_named and (is_shared or not self.path.exists()):
            return False
        self._is_shared |= is_shared
        if not self._is_noted:
            cause = error.__cause__ or error
            reason = getattr(cause, "strerror", None) or one_line(cause)
            is_lost = "can only be resumed from the state saved last"
            self.note(
                f"Note: the checkpoint {str(self.path)!r} could not be written "
                f"({'another run writes to it' if is_shared else reason}). The run continues; if "
                f"interrupted, it {is_lost if self.can_resume else 'cannot be resumed'}."
            )
        self._is_noted = True
        return True

    def replace_earlier(self, reason: str) -> None:
        """Delete the file of an earlier run that cannot be resumed."""
        self.path.unlink()
        self.note(f"Note: the checkpoint {str(self.path)!r} {reason}: it is replaced")

    def remove(self) -> None:
        """Delete the checkpoint of a finished run, unless its path was stated."""
        if self.can_resume and not self.is_named:
            with suppress(OSError):
                self.path.unlink()


def prepare_checkpoint(
    table: Path, out: OutputOptions, note: Callable[[str], None]
) -> RunCheckpoint | None:
    """Return the checkpoint; None if its default path cannot be used, which is noted."""
    if out.resume and out.restart:
        raise WrongCallError("--resume and --restart exclude each other: use one of them.")
    if out.checkpoint is None and str(table) == "-":
        return None
    path = out.checkpoint or Path(f"{table.name}{ENDING}")
    saved = RunCheckpoint(path, out.checkpoint is not None, note)
    try:
        _find_earlier(saved, out)
    except (OSError, WrongCallError) as error:
        if saved.is_named or out.resume:
            raise
        note(f"Note: {one_line(error)} The run continues, but cannot be resumed if interrupted.")
        return None
    return saved


def _find_earlier(saved: RunCheckpoint, out: OutputOptions) -> None:
    """Read the file of an earlier run; delete it if asked to, or if it cannot be resumed."""
    path = saved.path
    if not path.exists():
        if out.resume:
            saved.note(f"Note: there is no checkpoint {str(path)!r}: starting anew")
        return
    with path.open("rb") as file:
        if file.read(len(FILE_HEADER)) != FILE_HEADER:
            raise WrongCallError(
                f"{str(path)!r} exists and is not a checkpoint: use --checkpoint FILE."
            )
    if out.restart:
        path.unlink()
    elif saved.is_named:
        _refuse_unasked(saved, out)
    else:
        try:
            earlier = Checkpoint.read(path)
        except ValueError:
            saved.replace_earlier("is damaged or of another version")
            return
        saved.earlier = None if earlier is None else earlier.stored
        if saved.earlier is not None and saved.earlier["pidselect"] != __version__:
            saved.replace_earlier(f"is of version {saved.earlier['pidselect']}")
            saved.earlier = None


def _refuse_unasked(saved: RunCheckpoint, out: OutputOptions) -> None:
    if not out.resume:
        raise WrongCallError(
            f"{str(saved.path)!r} is the checkpoint of an earlier run: use --resume to continue "
            "it, --restart to delete it, or --checkpoint FILE for another one."
        )


def check_earlier(
    saved: RunCheckpoint, out: OutputOptions, missing: str, read: Callable[[], Dataset]
) -> None:
    """Delete the file of an earlier run on other data; refuse to resume a run unasked.

    Other columns or types, or rows dropped otherwise, are other options instead: with the former
    ones the run can still be resumed.
    """
    if saved.earlier is None:
        return
    before, now = saved.earlier["data"], describe_data(read(), None)
    keys = ("columns", "target")
    names = [[[column[0] for column in data[key]] for key in keys] for data in (before, now)]
    if names[0] == names[1] and saved.earlier["settings"].get("missing") == missing:
        pairs = [pair for key in keys for pair in zip(before[key], now[key], strict=True)]
        is_changed = any(old[1] == new[1] and old[2] != new[2] for old, new in pairs)
        if is_changed or before["n_samples"] != now["n_samples"]:
            saved.replace_earlier("is of other data")
            return
    _refuse_unasked(saved, out)
