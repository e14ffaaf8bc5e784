"""The rows of a fit: max_samples="auto" limits nearest neighbours to a part of many rows."""

from __future__ import annotations

import json
import logging
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from systems import noise, numbers, quick

from pidselect import mutual_information
from pidselect.data import Block, read_block
from pidselect.estimators import ESTIMATORS, KSG, Batch, Copula, Discrete, Gaussian, Mixed
from pidselect.estimators.conditional import ConditionalNeighbours
from pidselect.estimators.regression import Regression
from pidselect.estimators.subsample import Subsample, SubsampleScorer
from pidselect.report.sentences import significance
from pidselect.selection import rows as rows_module
from pidselect.selection.context import NamedEstimator
from pidselect.selection.rows import choose_rows, random_part, sample_rows
from pidselect.significance import bind_in_parts, bind_scheme

PORTFOLIO = ("ksg-rank", "copula")


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


def named(*estimators):
    return [NamedEstimator(type(one).__name__, one) for one in estimators]


def choose(n_samples, estimators, max_samples="auto", surrogates=("global", "local"), groups=None):
    target = read_block(np.random.default_rng(0).normal(size=n_samples), "y")
    return choose_rows(max_samples, named(*estimators), surrogates, target, groups, 3)


# --- which rows -----------------------------------------------------------------------------------


def test_the_estimators_that_are_limited():
    found = [NamedEstimator(name, make()) for name, make in ESTIMATORS.items()]
    limited = {named.name for named in found if named.has("uses_neighbours")}
    assert limited == {"ksg", "ksg-rank", "mixed", "mixed-rank"}


@pytest.mark.parametrize("n_samples", [100, 101])
def test_a_part_of_many_rows(n_samples):
    used = choose(n_samples, [KSG(), Copula()])
    assert (used.n_samples, used.rows) == (n_samples, None)
    assert used.n_neighbour_samples == (None if n_samples == 100 else 60)
    limits = [one.subsample for one in used.limit(named(KSG(), Copula()))]
    assert [part is not None for part in limits] == [n_samples > 100, False]


@pytest.mark.parametrize("estimators", [[KSG()], [KSG(), Mixed()]])
def test_neighbours_alone_use_a_subsample(estimators):
    used = choose(300, estimators)
    assert used.n_samples == 300
    assert len(used.rows) == 60
    assert all(one.subsample is None for one in used.limit(named(*estimators)))


@pytest.mark.parametrize(
    ("settings", "n_rows"),
    [
        ({"estimators": [Discrete(), Copula(), Gaussian()]}, None),
        ({"max_samples": None}, None),
        ({"max_samples": 400}, None),
        ({"max_samples": 70}, 70),
        ({"surrogates": ("global", "shift")}, None),
        ({"surrogates": ("blocks",), "groups": np.arange(300) // 10}, None),
    ],
    ids=["exact estimators", "None", "more than there are", "70", "shift", "blocks"],
)
def test_otherwise_all_estimators_use_the_same_rows(settings, n_rows):
    used = choose(300, **{"estimators": [KSG(), Copula()], **settings})
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


# --- permutations within parts --------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["global", "local"])
@pytest.mark.parametrize("with_groups", [False, True])
def test_permutations_within_parts(scheme, with_groups):
    rng = np.random.default_rng(0)
    given = read_block(rng.normal(size=80), "s")
    groups = rng.integers(0, 3, 80) if with_groups else None
    part = Subsample(np.sort(rng.permutation(80)[:30]), 80)
    sampler = pickle.loads(pickle.dumps(bind_in_parts(scheme, given, part.parts, groups)))
    permuted = sampler((5, 1), range(12))
    assert (permuted[0] == np.arange(80)).all()
    assert (np.sort(permuted) == np.arange(80)).all()
    assert np.isin(permuted[:, part.rows], part.rows).all()
    assert len(np.unique(permuted, axis=0)) == 12
    if with_groups:
        assert (groups[permuted] == groups).all()
    # What the part sees is what it would see alone.
    own = bind_scheme(
        scheme, given.take(part.rows), 30, None if groups is None else groups[part.rows]
    )
    assert (part.take_permutations(permuted) == own((5, 1), range(12))).all()
    assert (sampler((5, 1), range(4, 9)) == permuted[4:9]).all()


def test_parts_are_permuted_independently():
    """Two parts of two samples each: all four pairs of permutations are as likely."""
    sampler = bind_in_parts("global", Block(), [np.array([0, 2]), np.array([1, 3])], None)
    permuted = sampler((0,), range(1, 2001))
    both, first = (permuted[:, 0] == 2) & (permuted[:, 1] == 3), permuted[:, 0] == 2
    assert binomtest(int(both.sum()), 2000, 0.25).pvalue > 1e-3
    assert binomtest(int(first.sum()), 2000, 0.5).pvalue > 1e-3


# --- scores of a part -----------------------------------------------------------------------------


def test_a_scorer_of_a_part():
    rng = np.random.default_rng(1)
    x, y, s = (read_block(values, "v") for values in rng.normal(size=(3, 90)))
    part = Subsample(np.sort(rng.permutation(90)[:40]), 90)
    rows = bind_in_parts("global", s, part.parts, None)((0,), range(5))
    limited = SubsampleScorer(KSG().bind(part.take(y), part.take(s)), part)
    alone = KSG().bind(y.take(part.rows), s.take(part.rows))
    expected = alone.score(Batch(x.take(part.rows), part.take_permutations(rows)))
    assert (limited.score(Batch(x, rows)) == expected).all()
    assert (limited.score_together([x, x], rows) == expected).all()


def test_columns_that_are_constant_in_the_part():
    """They have no information there, and leave the conditioning set as it is."""
    rng = np.random.default_rng(1)
    part = Subsample(np.arange(40), 90)
    x, y, rare = rng.normal(size=90), rng.normal(size=90), np.arange(90) == 80
    x, y, rare = (read_block(values, "v") for values in (x, y, rare))
    rows = bind_in_parts("global", Block(), part.parts, None)((0,), range(3))
    with_rare = SubsampleScorer(Mixed().bind(part.take(y), part.take(rare)), part)
    without = SubsampleScorer(Mixed().bind(part.take(y), Block()), part)
    for scorer in (with_rare, without):
        values = scorer.score_together([x, rare, x + rare], rows)
        assert (values[0] == without.score(Batch(x, rows))).all()
        assert (values[1] == 0.0).all()
        assert (values[2] == values[0]).all()


def test_a_column_is_taken_once():
    part, block = Subsample(np.arange(3), 5), read_block(np.arange(5.0), "x")
    assert part.take(block).columns[0] is part.take(block).columns[0]


# --- fits -----------------------------------------------------------------------------------------


def fitted(n=250, **settings):
    X, y = numbers(n)
    return quick(**{"estimator": PORTFOLIO, **settings}).fit(X, y)


@pytest.mark.parametrize("first", PORTFOLIO)
def test_each_estimator_uses_its_rows(first):
    """Bits of ksg-rank are of 60 rows, those of copula of all; the first is shown."""
    X, y = numbers(250)
    selector = quick(estimator=sorted(PORTFOLIO, key=lambda name: name != first)).fit(X, y)
    part = random_part(60, read_block(y, "y"), None, 0)
    used = part if first == "ksg-rank" else np.arange(250)
    for column, bits in enumerate(selector.selection_.steps[0].values):
        expected = mutual_information(X[used, column], y[used], estimator=first)
        assert bits == pytest.approx(max(expected, 0.0))


def test_the_scores_are_of_the_part():
    """Nearest neighbours are of 60 rows; the regressions before them use all."""
    X, y = numbers(250)
    selector = quick(estimator=PORTFOLIO).fit(X, y)
    assert sorted(selector.selected_) == [0, 1]
    part = random_part(60, read_block(y, "y"), None, 0)
    x, target, given = read_block(X[:, 2], "x"), read_block(y, "y"), read_block(X[:, :2], "given")
    regression = Regression.of(target, list(x.columns), given)
    blocks = regression.residual(x), regression.target, given
    expected = ConditionalNeighbours().estimate(*(block.take(part) for block in blocks))
    assert selector.scores_[2] == pytest.approx(max(expected, 0.0) / np.log(2))


def test_neighbours_alone_are_as_with_a_number():
    auto = fitted(estimator="ksg")
    part = random_part(60, read_block(numbers(250)[1], "y"), None, 0)
    X, y = numbers(250)
    alone = quick(estimator="ksg").fit(X[part], y[part])
    assert auto.selection_.steps == alone.selection_.steps


def test_a_weak_monotone_effect_needs_all_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 4))
    y = np.abs(X[:, 0]) + 0.15 * X[:, 1] + rng.normal(size=2000) / 4
    assert sorted(quick().fit(X, y).selected_) == [0, 1]
    assert quick(estimator="ksg-rank").fit(X, y).selected_.tolist() == [0]
    assert quick(estimator="copula").fit(X, y).selected_.tolist() == [1]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"shared_permutations": False},
        {"n_permutations": "auto"},
        {"lookahead": 2, "n_permutations": 99},
        {"max_conditioning": 1},
        {"backward": "maximum", "fixed_features": [3]},
    ],
    ids=str,
)
def test_workers_do_not_show(settings):
    expected = fitted(**settings)
    assert fitted(**settings, n_jobs=2).selection_ == expected.selection_
    with joblib.parallel_config("loky", n_jobs=2):
        other = fitted(**settings)
    assert other.selection_ == expected.selection_
    np.testing.assert_array_equal(other.scores_, expected.scores_)


def test_labels_and_rare_levels():
    """A level of three rows is in the part or not: both are fine."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    X["label"] = rng.choice(["u", "v", "w"], 600)
    X["rare"] = np.where(np.isin(np.arange(600), [7, 300, 500]), "yes", "no")
    y = np.where(X["a"] + 2 * (X["label"] == "u") + rng.normal(size=600) / 2 > 0.5, "up", "down")
    for seed in range(4):
        selector = quick(random_state=seed).fit(X, y)
        assert set(selector.selection_.features) >= {"a", "label"}
        assert "rare" in selector.selection_.steps[0].candidates
        assert selector.selection_.settings.n_neighbour_samples == 60


def test_groups():
    rng = np.random.default_rng(0)
    who = np.repeat(np.arange(30), 20)
    X = rng.normal(size=(600, 3)) + who[:, np.newaxis]
    y = X[:, 0] - who + who % 7 + rng.normal(size=600) / 4
    found = quick().fit(X, y, who)
    assert found.selected_.tolist() == [0]
    assert found.selection_.settings.n_groups == 30


@pytest.mark.filterwarnings("ignore::pidselect.exceptions.EmptySelectionWarning")
def test_false_positives():
    """Null tables of dependent columns, of which neighbours use 60 of 150 rows."""
    n_selected = 0
    for seed in range(200):
        X, y = noise(150, seed)
        X = X + X[:, :1]
        selector = quick(estimator=PORTFOLIO, n_permutations=19, max_features=1, random_state=seed)
        n_selected += len(selector.fit(X, y).selected_)
    assert binomtest(n_selected, 200, 0.05, alternative="greater").pvalue > 1e-3


def test_explanations_are_of_the_part():
    X, y = numbers(250)
    selector = quick(estimator=PORTFOLIO).fit(X, y)
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


@pytest.mark.parametrize("estimator", [PORTFOLIO, "ksg"])
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
