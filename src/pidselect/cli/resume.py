"""What a stopped run has found: where it is kept, and whether to go on from it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pidselect.cli.errors import WrongCallError
from pidselect.cli.options import OutputOptions
from pidselect.cli.writing import can_write

#: How the file's name ends that is made for a table.
ENDING = ".pidselect-run.json"


@dataclass(frozen=True)
class Saved:
    """Where a run is kept.

    Parameters
    ----------
    path : Path, optional
        None if nothing can be written there.
    is_named : bool
        Whether the file was asked for by name, so that it stays.
    note : str
        What to say of it.
    """

    path: Path | None
    is_named: bool = False
    note: str = ""

    @property
    def is_there(self) -> bool:
        """Whether there is something to go on from."""
        return self.path is not None and self.path.exists()

    def remove(self) -> None:
        """Remove what is of no use any more, as the run is finished."""
        if self.path is not None and not self.is_named:
            with suppress(OSError):
                self.path.unlink()


def prepare(table: Path, out: OutputOptions) -> Saved:
    """Find out where to keep the run; refuse to write over another one, or to go on unasked."""
    if out.resume and out.restart:
        raise WrongCallError("--resume goes on and --restart begins anew: give one of them.")
    is_named = out.checkpoint is not None
    path = out.checkpoint or Path(f"{table.name}{ENDING}")
    if path.is_dir():
        raise WrongCallError(f"--checkpoint {str(path)!r} is a folder: give the path of a file.")
    if path.exists():
        return _found(path, is_named, out)
    if not is_named and not can_write(Path.cwd()):
        note = (
            f"nothing can be written in {str(Path.cwd())!r}, so that nothing is left of this run "
            "if it is stopped. --checkpoint FILE keeps it elsewhere"
        )
        return Saved(None, note=note)
    note = f"there is nothing to go on from at {str(path)!r}: beginning anew" if out.resume else ""
    return Saved(path, is_named, note)


def _found(path: Path, is_named: bool, out: OutputOptions) -> Saved:
    """Go on, begin anew, or ask which of both."""
    from pidselect.selection.checkpoint import FILE_HEADER

    with path.open("rb") as file:
        if file.read(len(FILE_HEADER)) != FILE_HEADER:
            raise WrongCallError(
                f"{str(path)!r} is where this run would be kept, but it holds something else, "
                "which is left as it is. --checkpoint FILE keeps the run elsewhere."
            )
    if out.restart:
        path.unlink()
    elif not out.resume:
        raise WrongCallError(
            f"{str(path)!r} holds what an earlier run had found. Give --resume to go on from "
            "there, or --restart to forget it and begin anew; --checkpoint FILE keeps this run "
            "elsewhere."
        )
    return Saved(path, is_named)
