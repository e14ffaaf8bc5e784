"""Benchmarks are no tests, but they must start: they import what the package has."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


def imported_names(path):
    """Yield module and name of every import from this package."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pidselect"):
            yield from ((node.module, alias.name) for alias in node.names)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_benchmarks_import_what_is_there(path, monkeypatch):
    for module, name in imported_names(path):
        found = importlib.import_module(module)
        assert hasattr(found, name) or importlib.util.find_spec(f"{module}.{name}"), name


@pytest.mark.parametrize("name", ["common", "models"])
def test_what_benchmarks_share(name, monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    for shared in ("common", "models"):
        monkeypatch.delitem(sys.modules, shared, raising=False)
    assert importlib.import_module(name)
