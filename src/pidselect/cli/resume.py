"""The checkpoint of a run: its path, and whether to resume from it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pidselect.cli.messages import WrongCallError
from pidselect.cli.options import OutputOptions
from pidselect.cli.output import can_write

#: Ending of the default checkpoint of a table.
ENDING = ".pidselect-run.json"


@dataclass(frozen=True)
class SavedRun:
    """The checkpoint of a run.

    Parameters
    ----------
    path : Path, optional
        None if there is no checkpoint.
    is_named : bool
        Whether its path was stated, so that it is not deleted at the end.
    note : str
    """

    path: Path | None
    is_named: bool = False
    note: str = ""

    @property
    def exists(self) -> bool:
        """Whether the run can be resumed."""
        return self.path is not None and self.path.exists()

    def remove(self) -> None:
        """Delete the checkpoint of a finished run, unless its path was stated."""
        if self.path is not None and not self.is_named:
            with suppress(OSError):
                self.path.unlink()


def prepare_checkpoint(table: Path, out: OutputOptions) -> SavedRun:
    """Find the checkpoint; refuse to overwrite that of another run, or to resume unasked."""
    if out.resume and out.restart:
        raise WrongCallError("--resume and --restart exclude each other: use one of them.")
    if out.checkpoint is None and str(table) == "-":
        return SavedRun(None)
    path = out.checkpoint or Path(f"{table.name}{ENDING}")
    is_named = out.checkpoint is not None
    if path.exists():
        return _existing(path, is_named, out)
    if not is_named and not can_write(Path.cwd()):
        note = (
            f"the folder {str(Path.cwd())!r} is not writable, so the run cannot be resumed if "
            "interrupted; --checkpoint FILE saves it elsewhere"
        )
        return SavedRun(None, note=note)
    note = f"there is no checkpoint {str(path)!r}: starting anew" if out.resume else ""
    return SavedRun(path, is_named, note)


def _existing(path: Path, is_named: bool, out: OutputOptions) -> SavedRun:
    from pidselect.selection.checkpoint import FILE_HEADER

    with path.open("rb") as file:
        if file.read(len(FILE_HEADER)) != FILE_HEADER:
            raise WrongCallError(
                f"{str(path)!r} exists and is not a checkpoint: use --checkpoint FILE."
            )
    if out.restart:
        path.unlink()
    elif not out.resume:
        raise WrongCallError(
            f"{str(path)!r} is the checkpoint of an earlier run: use --resume to continue it, "
            "--restart to delete it, or --checkpoint FILE for another one."
        )
    return SavedRun(path, is_named)
