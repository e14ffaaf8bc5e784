"""Compiled functions follow the sources of the functions they call."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pidselect

CALL = """
import numpy as np
from pidselect.estimators.knn.neighbour_lists import _guess_radius
from pidselect.estimators.knn.spaces import Space
space = Space(np.arange(10.0)[np.newaxis], np.array([np.inf]))
print(_guess_radius(space, 0, 3, np.empty(10)))
print(sum(_guess_radius.stats.cache_hits.values()))
"""


def call(source: Path, **environment: str) -> tuple[float, int]:
    """Return the radius computed by an outer function, and how often it was found on disk."""
    done = subprocess.run(
        [sys.executable, "-c", CALL],
        env={**os.environ, "PYTHONPATH": str(source), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    radius, hits = done.stdout.split()
    return float(radius), int(hits)


@pytest.mark.parametrize("folder", ["kernels", ""])
def test_a_changed_inner_function_is_compiled_again(tmp_path, folder):
    """By default next to the sources, or in the folder that is named."""
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(pidselect.__file__).parent, source / "pidselect", ignore=ignored)
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / folder) if folder else ""}
    assert call(source, **cache) == (3.0, 0)
    assert call(source, **cache) == (3.0, 1)
    inner = source / "pidselect" / "estimators" / "knn" / "spaces.py"
    text = inner.read_text(encoding="utf-8")
    changed = text.replace(
        "abs(values[j] - here), max_distance", "abs(values[j] - here) * 2, np.inf"
    )
    assert changed != text
    inner.write_text(changed, encoding="utf-8")
    assert call(source, **cache) == (6.0, 0)
    assert call(source, **cache) == (6.0, 1)
