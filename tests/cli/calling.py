"""Helpers of the tests of the command line: calls, simulated tables, and a real terminal."""

from __future__ import annotations

import csv
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from pidselect.cli import app

#: Quick, and the same everywhere.
QUICK = ("--estimator", "gaussian", "--n-permutations", "20", "--n-jobs", "1")

ESCAPE = "\x1b"


def call(*arguments: object, read: bytes | None = None) -> Result:
    """Call a command; `read` is on standard input."""
    typed = [str(argument) for argument in arguments]
    with patch.object(sys, "argv", ["pidselect", *typed]):
        return CliRunner().invoke(app, typed, input=read)


def select(*arguments: object) -> Result:
    return call("select", *arguments, *QUICK)


def words(text: str) -> str:
    return " ".join(text.split())


def write(path: Path, columns: Mapping[str, Sequence[Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def made(n_samples: int = 120) -> dict[str, list[Any]]:
    """y = 2 length + width, an exact copy of length, a label, noise, a constant, and a target."""
    rng = np.random.default_rng(3)
    length, width, noise, more = rng.normal(size=(4, n_samples)).round(4)
    return {
        "length": length.tolist(),
        "noise": noise.tolist(),
        "width": width.tolist(),
        "length_mm": (10 * length).round(3).tolist(),
        "colour": rng.choice(["red", "green"], n_samples).tolist(),
        "planet": ["earth"] * n_samples,
        "y": (2 * length + width + 0.3 * more).round(4).tolist(),
    }


def read_json(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def names_of(path: Path) -> list[str]:
    """Return the features that a record has as selected."""
    return [one["name"] for one in read_json(path)["selected"]]


def screen(said: str, columns: int) -> list[str]:
    """Return the lines that a terminal shows at the end of some output.

    It implements what a bar needs: wrapping full lines, moving up and back, and erasing.
    """
    lines, row, column = [""], 0, 0
    for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[^\x1b]", said):
        if piece == "\r":
            column = 0
        elif piece == "\n":
            row += 1
        elif piece.endswith("A") and piece.startswith(ESCAPE):
            row = max(0, row - int(piece[2:-1] or 1))
        elif piece == f"{ESCAPE}[2K":
            lines[row] = ""
        elif not piece.startswith(ESCAPE):
            if column == columns:
                row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
            before = lines[row].ljust(column)
            lines[row] = before[:column] + piece + before[column + 1 :]
            column += 1
        lines += [""] * (row + 1 - len(lines))
    return lines


class Terminal:
    """A command in a terminal of 40 lines."""

    def __init__(
        self, arguments: Sequence[str], folder: Path, columns: int = 120, **environment: str
    ) -> None:
        inherited = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")}
        self.pexpect = pytest.importorskip("pexpect", reason="Windows has no such terminals")
        self.child = self.pexpect.spawn(
            sys.executable,
            ["-m", "pidselect", *arguments],
            cwd=str(folder),
            env={**inherited, "TERM": "xterm-256color", "PYTHONUTF8": "1", **environment},
            dimensions=(40, columns),
            encoding="utf-8",
            timeout=120,
        )
        self.said = ""

    def until(self, pattern: str) -> str:
        """Wait for a pattern, and return the output up to its end."""
        self.child.expect(pattern)
        new = str(self.child.before) + str(self.child.after)
        self.said += new
        return new

    def ended(self) -> int:
        """Wait for the end, and return the exit code."""
        self.child.expect(self.pexpect.EOF)
        self.said += str(self.child.before)
        self.child.close()
        return int(self.child.exitstatus)

    @property
    def text(self) -> str:
        """All output, without colours and cursor moves."""
        return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.said).replace("\r", "\n")
