"""What the tests of commands begin with."""

from __future__ import annotations

from pathlib import Path

import pytest
from calling import made, write


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A made table in an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    return write(Path("made.csv"), made())
