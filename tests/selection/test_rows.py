"""The rows of a fit: max_samples="auto" limits nearest neighbours to a part of many rows."""

from __future__ import annotations

import json
import logging

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from systems import noise, numbers, quick

from pidselect.data import read_block
from pidselect.estimators import ESTIMATORS, KSG, Copula, Discrete, Mixed
from pidselect.report.sentences import significance
from pidselect.selection import rows as rows_module
from pidselect.selection.context import NamedEstimator
from pidselect.selection.rows import choose_rows, random_part, sample_rows
from pidselect.significance.staged import ScoreTest


@pytest.fixture
def log(caplog):
    """The log from the level of information on."""
    with caplog.at_level(logging.INFO, logger="pidselect"):
        yield caplog


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Let 100 rows be many, of which nearest neighbours use 60."""
    monkeypatch.setattr(rows_module, "MAX_ROWS", 100)
    monkeypatch.setattr(rows_module, "NEIGHBOUR_ROWS", 60)


def choose(n_samples, estimator, max_samples="auto", surrogates=("global", "local"), groups=None):
    target = read_block(np.random.default_rng(0).normal(size=n_samples), "y")
    named = NamedEstimator("one", estimator)
    return choose_rows(max_samples, named, surrogates, target, groups, 3)


# --- which rows -----------------------------------------------------------------------------------


def test_the_estimators_that_are_limited():
    found = [NamedEstimator(name, make()) for name, make in ESTIMATORS.items()]
    limited = {named.name for named in found if named.has("uses_neighbours")}
    assert limited == {"ksg", "ksg-rank", "mixed", "mixed-rank"}


@pytest.mark.parametrize("estimator", [KSG(), Mixed()], ids=str)
@pytest.mark.parametrize("n_samples", [100, 101, 300])
def test_neighbours_use_a_part_of_many_rows(n_samples, estimator):
    used = choose(n_samples, estimator)
    assert used.n_samples == n_samples
    assert (None if used.rows is None else len(used.rows)) == (None if n_samples == 100 else 60)
    assert used.n_neighbour_samples == (None if n_samples == 100 else 60)


@pytest.mark.parametrize("n_samples", [100, 101])
def test_the_score_test_uses_a_million_rows(n_samples, monkeypatch):
    monkeypatch.setattr(rows_module, "MAX_SCORED_ROWS", 100)
    used = choose(n_samples, ScoreTest(), surrogates=("global",))
    assert (used.n_samples, used.n_neighbour_samples) == (100, None)
    assert (used.rows is None) == (n_samples == 100)
    assert choose(n_samples, ScoreTest(), surrogates=("shift",)).rows is None


@pytest.mark.parametrize(
    ("settings", "n_rows"),
    [
        ({"estimator": Discrete()}, None),
        ({"estimator": Copula()}, None),
        ({"max_samples": None}, None),
        ({"max_samples": 400}, None),
        ({"max_samples": 70}, 70),
        ({"surrogates": ("global", "shift")}, None),
        ({"surrogates": ("blocks",), "groups": np.arange(300) // 10}, None),
    ],
    ids=["counts", "copula", "None", "more than there are", "70", "shift", "blocks"],
)
def test_otherwise_rows_are_as_requested(settings, n_rows):
    used = choose(300, **{"estimator": KSG(), **settings})
    assert (None if used.rows is None else len(used.rows)) == n_rows
    assert (used.n_samples, used.n_neighbour_samples) == (n_rows or 300, None)


def test_small_groups_stay_whole():
    """A few rows of every group would leave nothing to permute within groups."""
    groups = np.random.default_rng(0).permutation(np.repeat(np.arange(20), 20))
    part = random_part(60, read_block(np.arange(400.0), "y"), groups, 0)
    assert sorted(np.unique(groups[part], return_counts=True)[1]) == [20, 20, 20]


def test_large_groups_are_all_there():
    groups = np.repeat([0, 1, 2], [1000, 500, 500])
    part = random_part(240, read_block(np.arange(2000.0), "y"), groups, 0)
    assert np.bincount(groups[part]).min() >= 50


def test_classes_keep_their_shares():
    classes = np.repeat([0, 1, 2], [1400, 595, 5])
    part = random_part(200, read_block(classes, "y"), None, 0)
    counts = np.bincount(classes[part])
    assert counts.tolist() == pytest.approx([140, 59.5, 0.5], abs=1)
    assert counts.min() == 1


def test_the_part_depends_on_the_seed_and_is_in_order():
    target = read_block(np.arange(400.0), "y")
    first, again, other = (random_part(60, target, None, seed) for seed in (0, 0, 1))
    assert (first == again).all()
    assert (first != other).any()
    assert (np.diff(first) > 0).all()


def test_a_sample_is_uniform():
    """Every row is in as many samples as any other, also beside its neighbours."""
    target = read_block(np.arange(200.0), "y")
    chosen = np.zeros((2000, 200), dtype=bool)
    for seed in range(2000):
        chosen[seed, sample_rows(50, target, seed)] = True
    assert (chosen.sum(axis=1) == 50).all()
    assert abs(chosen.sum(axis=0) - 500).max() < 5 * np.sqrt(2000 * 0.25 * 0.75)
    pairs, expected = np.count_nonzero(chosen[:, 1:] & chosen[:, :-1]), 2000 * 199 * 0.25 * 49 / 199
    assert abs(pairs - expected) < 5 * np.sqrt(expected)


# --- fits -----------------------------------------------------------------------------------------


def fitted(n=250, **settings):
    X, y = numbers(n)
    return quick(**{"estimator": "ksg-rank", **settings}).fit(X, y)


def test_fits_are_of_the_part():
    auto = fitted(estimator="ksg")
    part = random_part(60, read_block(numbers(250)[1], "y"), None, 0)
    X, y = numbers(250)
    alone = quick(estimator="ksg").fit(X[part], y[part])
    assert auto.selection_.steps == alone.selection_.steps


def test_labels_and_rare_levels():
    """A level of three rows is in the part or not: both are fine."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    X["label"] = rng.choice(["u", "v", "w"], 600)
    X["rare"] = np.where(np.isin(np.arange(600), [7, 300, 500]), "yes", "no")
    y = np.where(X["a"] + 2 * (X["label"] == "u") + rng.normal(size=600) / 2 > 0.5, "up", "down")
    for seed in range(4):
        selector = quick(estimator="mixed-rank", random_state=seed).fit(X, y)
        assert set(selector.selection_.features) >= {"label"}
        assert selector.selection_.settings.n_neighbour_samples == 60


@pytest.mark.filterwarnings("ignore::pidselect.exceptions.EmptySelectionWarning")
def test_false_positives():
    """Null tables of dependent columns, of which neighbours use 60 of 150 rows."""
    n_selected = 0
    for seed in range(200):
        X, y = noise(150, seed)
        X = X + X[:, :1]
        selector = quick(estimator="ksg-rank", n_permutations=19, max_features=1, random_state=seed)
        n_selected += len(selector.fit(X, y).selected_)
    assert binomtest(n_selected, 200, 0.05, alternative="greater").pvalue > 1e-3


def test_explanations_are_of_the_part():
    X, y = numbers(250)
    selector = quick(estimator="ksg-rank").fit(X, y)
    explanation = selector.explain(X, y)
    assert explanation.n_samples == 60
    assert explanation.in_sample
    assert any("60 of 250 rows" in note for note in explanation.notes)
    assert explanation["x0"].role == "strongly relevant"


# --- what is said ---------------------------------------------------------------------------------


def test_the_message(log):
    fitted()
    (record,) = (one for one in log.records if one.name == "pidselect")
    assert record.levelno == logging.INFO
    assert "250 rows" in record.getMessage()
    assert "random 60" in record.getMessage()
    assert "max_samples=None" in record.getMessage()


@pytest.mark.parametrize("estimator", ["ksg-rank", "ksg"])
def test_the_record(estimator):
    selection = fitted(estimator=estimator).selection_
    settings = json.loads(json.dumps(selection.to_dict()))["settings"]
    assert (settings["n_samples"], settings["n_neighbour_samples"]) == (250, 60)
    for text in (
        str(selection),
        selection._repr_html_(),
        " ".join(significance(selection, None, None, 250)),
    ):
        assert "random 60 of 250 rows" in text
    assert "random" not in str(fitted(n=100).selection_)
