"""Compiled functions are kept for all installations, and follow the sources they are made of."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pidselect

CALL = """
import logging
logging.basicConfig(format="%(name)s: %(message)s")
logging.getLogger("pidselect").setLevel(logging.INFO)
import numpy as np
from pidselect.estimators.knn.neighbour_lists import _guess_radius
from pidselect.estimators.knn.spaces import Space
space = Space(np.arange(10.0)[np.newaxis], np.array([np.inf]))
print(_guess_radius(space, 0, 3, np.empty(10)))
print(sum(_guess_radius.stats.cache_hits.values()))
"""


class Called(NamedTuple):
    """The radius computed by an outer function, how often it was found on disk, and messages."""

    radius: float
    hits: int
    said: str


def call(source: Path, **environment: str) -> Called:
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        env={**os.environ, "NUMBA_CACHE_DIR": "", "PYTHONPATH": str(source), **environment},
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    radius, hits = done.stdout.split()
    return Called(float(radius), int(hits), done.stderr)


def copy(target: Path) -> Path:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(pidselect.__file__).parent, target / "pidselect", ignore=ignored)
    return target


def test_installations_share_kernels_until_one_is_changed(tmp_path):
    """They are in the user's cache; then a function that the outer one calls is changed."""
    first, second = copy(tmp_path / "first"), copy(tmp_path / "second")
    user = {"XDG_CACHE_HOME": str(tmp_path / "user"), "HOME": str(tmp_path / "user")}
    compiled = call(first, **user)
    assert compiled[:2] == (3.0, 0)
    assert compiled.said.count("Compiling kernels") == 1
    assert call(second, **user) == (3.0, 1, "")
    for path in (tmp_path / "user").rglob("*.kernel"):
        path.write_bytes(b"damaged")
    assert call(first, **user)[:2] == (3.0, 0)
    inner = second / "pidselect" / "estimators" / "knn" / "spaces.py"
    text = inner.read_text(encoding="utf-8")
    changed = text.replace(
        "abs(values[j] - here), max_distance", "abs(values[j] - here) * 2, np.inf"
    )
    assert changed != text
    inner.write_text(changed, encoding="utf-8")
    assert call(second, **user)[:2] == (6.0, 0)


def test_a_folder_that_cannot_be_written_is_no_failure(tmp_path):
    file = tmp_path / "file"
    file.touch()
    source = Path(pidselect.__file__).parents[1]
    called = call(source, NUMBA_CACHE_DIR=str(file / "folder"))
    assert called[:2] == (3.0, 0)
    assert called.said.count("NUMBA_CACHE_DIR") == 1
