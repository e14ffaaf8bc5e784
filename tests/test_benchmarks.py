"""Benchmarks are no tests, but they must start: they import what the package has."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import numpy as np
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


@pytest.fixture
def systems(monkeypatch):
    """Systems of known truth, as `explanations.py` has them."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.delitem(sys.modules, "explanation_systems", raising=False)
    return importlib.import_module("explanation_systems")


def test_truth_by_integration_is_that_of_the_formula(systems):
    weights = [2.0, 1.0]
    known = systems.Normal(weights).truth(0)
    channel = systems.Channel(lambda X: X @ weights, [systems.normal] * 2, noise=1.0)
    found = channel.truth(0)
    for value in ("information", "added", "rest", "unique", "shared", "synergy"):
        assert getattr(found, value) == pytest.approx(getattr(known, value), abs=0.01), value


def test_truth_of_labels_is_that_of_their_atoms(systems):
    truth = systems.SYSTEMS["labels"][0].truth(0)
    found = truth.unique, truth.shared, truth.synergy
    assert found == pytest.approx((0.112, 0.549, 0.282), abs=1e-3)


def test_samples_of_systems_have_texts_for_labels_and_classes(systems):
    for name, (system, features) in systems.SYSTEMS.items():
        X, y = systems.read(system, 50, seed=0)
        assert X.shape == (50, system.n_features), name
        assert max(features) < system.n_features, name
        assert isinstance(y[0], str) == system.has_classes, name
        texts = tuple(place for place in range(X.shape[1]) if isinstance(X[0, place], str))
        assert texts == system.labels, name


def test_errors_and_coverage_of_explanations(systems):
    explanations = importlib.import_module("explanations")
    truth = systems.Truth(information=0.3, added=0.5, rest=0.9, unique=0.1)
    values = {"explain": [0.3, 0.4, 0.0, 0.3, 0.4], "counting": None}
    ends = np.array([[0.2, 0.4], [0.2, 0.4], [0.0, 0.2], [0.1, 0.3], [0.3, 0.4]])
    outcomes = [[explanations.Outcome(values, ends, is_lower_bound=flag)] for flag in (False, True)]
    cell = explanations.Cell("sum of 4", 300)
    (row,) = explanations.summarise(cell, [truth], outcomes)
    assert row["explain"]["bias"]["added"] == pytest.approx(-0.1)
    assert row["explain"]["rmse"]["unique"] == pytest.approx(0.1)
    assert row["counting"] is None
    assert list(row["covered"].values()) == [100.0, 0.0, 100.0, 100.0, 100.0]
    assert row["too_low"]["added"] == 100.0
    assert (row["flagged"], row["flagged_too_low"], row["unique_above_0"]) == (1, 1, 0)
