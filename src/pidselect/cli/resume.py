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
from pidselect.selection.checkpoint import (
    FILE_HEADER,
    Checkpoint,
    CheckpointFile,
    describe_data,
)

#: Ending of the default checkpoint of a table.
ENDING = ".pidselect-run.json"


class RunCheckpoint(CheckpointFile):
    """The checkpoint of a run, which continues if the file cannot be written.

    Parameters
    ----------
    path : Path
    is_named : bool
        Whether the path was stated. Then the file must be writable at the start, is never replaced
        unasked, and is kept at the end.
    note : callable
        Shows a line.
    """

    def __init__(self, path: Path, is_named: bool, note: Callable[[str], None]) -> None:
        super().__init__(path)
        self.path, self.is_named = path, is_named
        self._note = note
        self._has_failed = self._is_shared = False
        self._found: Mapping[str, Any] | None = None  # of an earlier run
        self._is_resumed = False

    @property
    def can_resume(self) -> bool:
        """Whether the run can be resumed."""
        return self.exists and not self._is_shared and self.path.exists()

    def find(self, out: OutputOptions) -> None:
        """Read the file of an earlier run; delete it if asked to, or if it cannot be resumed."""
        self._is_resumed = out.resume
        if not self.path.exists():
            if out.resume:
                self._note(f"Note: there is no checkpoint {str(self.path)!r}: starting anew")
            return
        with self.path.open("rb") as file:
            if file.read(len(FILE_HEADER)) != FILE_HEADER:
                raise WrongCallError(
                    f"{str(self.path)!r} exists and is not a checkpoint: use --checkpoint FILE."
                )
        if out.restart:
            self.path.unlink()
        elif self.is_named:
            self._refuse_unasked()
        else:
            self._found, problem = _read(self.path)
            if problem:
                self._replace_earlier(problem)

    def _replace_earlier(self, reason: str) -> None:
        self.path.unlink()
        self._note(
            f"Note: the checkpoint {str(self.path)!r} {reason} and cannot be resumed: it is "
            "replaced"
        )

    def _refuse_unasked(self) -> None:
        if not self._is_resumed:
            raise WrongCallError(
                f"{str(self.path)!r} is the checkpoint of an earlier run: use --resume to continue "
                "it, --restart to delete it, or --checkpoint FILE for another one."
            )

    def check(self, read: Callable[[], Dataset], missing: str) -> None:
        """Delete the file of an earlier run on other data; refuse to resume a run unasked."""
        if self._found is None:
            return
        if self._found["settings"].get("missing") == missing and _has_other_values(
            self._found["data"], describe_data(read(), None)
        ):
            self._replace_earlier("is of other data")
        else:
            self._refuse_unasked()

    def write(self, record: Mapping[str, Any]) -> None:
        """Replace the content; if that fails, say so once."""
        try:
            super().write(record)
        except OSError as error:
            if self.is_named and not self.exists:
                raise
            cause = error.__cause__ or error
            self._say_failure(getattr(cause, "strerror", None) or one_line(cause))
        except RuntimeError:
            if self.is_named:
                raise
            self._is_shared = True
            self._say_failure("another run writes to it")

    def _say_failure(self, reason: str) -> None:
        if self._has_failed:
            return
        self._has_failed = True
        loss = "can only be resumed from the state saved last"
        self._note(
            f"Note: the checkpoint {str(self.path)!r} could not be written ({reason}). The run "
            f"continues; if interrupted, it {loss if self.can_resume else 'cannot be resumed'}."
        )

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
        saved.find(out)
    except (OSError, WrongCallError) as error:
        if saved.is_named or out.resume:
            raise
        note(f"Note: {one_line(error)} The run continues, but cannot be resumed if interrupted.")
        return None
    return saved


def _read(path: Path) -> tuple[Mapping[str, Any] | None, str]:
    """Return the content of a checkpoint, or why it cannot be resumed."""
    try:
        earlier = Checkpoint.read(path)
    except ValueError:
        return None, "is damaged or of another version"
    found = None if earlier is None else earlier.stored
    if found is not None and found["pidselect"] != __version__:
        return None, f"is of version {found['pidselect']}"
    return found, ""


def _has_other_values(before: Mapping[str, Any], now: Mapping[str, Any]) -> bool:
    """Return whether columns have changed; other columns or types are other options instead."""
    pairs = []
    for key in ("columns", "target"):
        if [column[0] for column in before[key]] != [column[0] for column in now[key]]:
            return False
        pairs += list(zip(before[key], now[key], strict=True))
    return before["n_samples"] != now["n_samples"] or any(
        old[1] == new[1] and old[2] != new[2] for old, new in pairs
    )
