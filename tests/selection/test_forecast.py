"""The forecast of a long selection: near the time that follows, cheap, and with remedies."""

from __future__ import annotations

import logging
import re
from functools import partial
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from systems import noise, numbers, quick

from pidselect.estimators import Gaussian
from pidselect.selection import lookahead
from pidselect.selection import rows as rows_module
from pidselect.selection.callbacks import Callback, CallbackList
from pidselect.selection.forecast import MIN_SAMPLES, Forecast, fewer_samples

# A fit is timed from 1e5 samples times scores on: 100 samples, 4 candidates and 299 permutations.
TIMED = {"estimator": "gaussian", "n_permutations": 299}


@pytest.fixture
def announcing(monkeypatch):
    """Return a function that sets what counts as long, and the clock."""

    def announce(**settings):
        changed = partial(Forecast, **settings)
        monkeypatch.setattr("pidselect.selection.selector.Forecast", changed)

    return announce


def slow(clock, seconds, to_compile=0.0, by_neighbours=False):
    """Return an estimator that takes time by the clock.

    `seconds` is a function of the number of samples, that of conditioning columns and the feature
    type: those of one score. The first binding takes the seconds `to_compile`.
    """

    class Slow(Gaussian):
        uses_neighbours = by_neighbours

        def bind(self, target, given, **settings):
            if not clock.now:
                clock.now += to_compile
            bound = super().bind(target, given, **settings)

            def score(batch):
                kind = batch.block.feature_types[0]
                clock.now += len(batch) * seconds(target.n_samples, len(given), kind)
                return bound.score(batch)

            return SimpleNamespace(score=score)

    return Slow()


@pytest.mark.parametrize("settings", [{}, TIMED], ids=["too little work", "timed"])
def test_a_short_selection_is_not_announced(caplog, settings):
    with caplog.at_level(logging.DEBUG, logger="pidselect"):
        quick(**settings).fit(*numbers())
    assert {record.name for record in caplog.records} == {
        "pidselect.selection.callbacks",  # steps
        "pidselect.selection.selector",  # the result
    }


@pytest.mark.parametrize("settings", [{}, {"fixed_features": [0]}, {"feature_groups": [[0, 1]]}])
def test_a_long_selection_is_announced(caplog, announcing, settings):
    """Its first step before it, and all of it after that."""
    X, y = numbers(200)
    expected = quick(**TIMED, **settings).fit(X, y).selection_
    assert caplog.records == []
    announcing(long=1e-9)
    assert quick(**TIMED, **settings).fit(X, y).selection_ == expected
    assert {(one.name, one.levelname) for one in caplog.records} == {("pidselect", "WARNING")}
    first, total = (one.getMessage() for one in caplog.records)
    n_candidates = len(expected.steps[0].candidates)
    for message in (first, total):
        assert f"{n_candidates} candidates, 200 samples" in message
    assert "first step" in first
    assert re.search(r"selection of \d feature", total)


def labelled(n):
    """Half of the columns are labels, which come last; three columns are relevant."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(n, 12)), columns=list("abcdefghijkl"))
    for name in "opqrstuvwxyz":
        X[name] = rng.choice(["one", "two", "three"], n)
    return X, X["a"] + X["b"] + 2 * (X["u"] == "one") + rng.normal(size=n) / 4


#: Seconds of a score by the number of samples, that of conditioning columns and the type.
COSTS = {
    "constant": lambda n, given, kind: 0.01,
    "linear": lambda n, given, kind: 1e-5 * n,
    "power": lambda n, given, kind: 3e-7 * n**1.6,
    "conditioning": lambda n, given, kind: 2e-6 * n * (1 + 3 * given),
    "labels": lambda n, given, kind: 1e-6 * n * (20 if kind == "nominal" else 1),
}


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize(
    "settings",
    [
        {"n_permutations": 199},
        {"n_permutations": "auto"},
        {"n_permutations": 199, "surrogates": "global", "backward": None},
        {"n_permutations": 199, "criterion": "mi", "max_features": 2},
    ],
    ids=["200", "auto", "one scheme", "mi"],
)
def test_the_forecast_is_near_the_truth(monkeypatch, clock, cost, settings):
    """By a factor of two, with little time spent on it."""
    forecasts = []

    class Recording(Forecast):
        def __init__(self, *fit):
            super().__init__(*fit, long=1e-9, clock=clock)
            self.spent = self.total = 0.0
            forecasts.append(self)

        def _remedies(self, work, times, features):
            self.total = sum(work.seconds(times, self._workers))
            return ()

        def announce(self):
            self.timed(super().announce)

        def on_step(self, step):
            self.timed(partial(super().on_step, step))

        def timed(self, work):
            start = clock.now
            work()
            self.spent += clock.now - start

    monkeypatch.setattr("pidselect.selection.selector.Forecast", Recording)
    settings = {"estimator": slow(clock, COSTS[cost]), "max_samples": None, **settings}
    quick(**settings).fit(*labelled(3000))
    (forecast,) = forecasts
    took = clock.now - forecast.spent
    assert took / 2 < forecast.total < 2 * took
    assert forecast.spent < 0.1 * took


def test_a_long_first_step_is_announced(caplog, announcing, clock):
    """4 candidates of 300 scores each at 0.06 s: 72 s, then 54 s and 36 s; twice 18 s backward."""
    announcing(clock=clock)
    estimator = slow(clock, lambda *_: 0.06)
    quick(estimator=estimator, surrogates="global", n_permutations=299).fit(*numbers())
    first, total = (record.getMessage() for record in caplog.records)
    assert "the first step takes about 72 s" in first
    assert "the selection of 2 features takes about 3 min" in total


def test_a_short_first_step_is_not_announced(caplog, announcing, clock):
    """It takes 6 s, later ones 60 s and more."""
    announcing(clock=clock)
    estimator = slow(clock, lambda n, given, _: 0.005 * (1 + 10 * given))
    quick(estimator=estimator, surrogates="global", n_permutations=299).fit(*numbers())
    (record,) = caplog.records
    assert "selection of 2 features" in record.getMessage()


def test_a_selection_that_goes_on_is_announced_later(caplog, announcing, clock):
    """x1 is significant only given x0: the first step does not show how long it will take."""
    announcing(clock=clock)
    rng = np.random.default_rng(0)
    y, x1, *others = rng.normal(size=(4, 200))
    X = np.column_stack([y + 3 * x1, x1, *others])
    estimator = slow(clock, lambda n, given, _: 0.003 * (1 + 10 * given))
    found = quick(estimator=estimator, surrogates="global", n_permutations=299).fit(X, y)
    assert found.selected_.tolist() == [0, 1]
    (record,) = caplog.records
    assert "selection of 2 features" in record.getMessage()


def test_the_first_step_corrects_the_forecast(caplog, announcing, clock):
    """After half a minute all is three times slower: 9 min in place of 3 min."""
    announcing(clock=clock)

    def seconds(*_):
        return 0.06 if clock.now < 30 else 0.18

    estimator = slow(clock, seconds)
    quick(estimator=estimator, surrogates="global", n_permutations=299).fit(*numbers())
    first, total = (record.getMessage() for record in caplog.records)
    assert "72 s" in first
    assert int(re.search(r"about (\d+) min", total)[1]) in range(6, 13)


@pytest.mark.filterwarnings("ignore::pidselect.exceptions.EmptySelectionWarning")
@pytest.mark.parametrize(
    ("order", "speed", "is_announced"),
    [(1, 1e3, False), (2, 1e3, True), ("auto", 1e3, True), (2, 1e10, False)],
)
def test_what_follows_if_nothing_is_significant(
    monkeypatch, caplog, announcing, clock, order, speed, is_announced
):
    """A scan of so many operations in a second."""
    monkeypatch.setattr(lookahead, "OPERATIONS_PER_SECOND", speed)
    announcing(clock=clock)
    estimator = slow(clock, lambda *_: 0.01)
    X, y = noise(150, n_columns=14)
    quick(estimator=estimator, n_permutations=99, lookahead=order).fit(X, y)
    assert [record.levelname for record in caplog.records] == ["WARNING"] * is_announced


def test_compilation_is_not_announced(caplog, announcing, clock):
    announcing(clock=clock)
    estimator = slow(clock, lambda *_: 0.0, to_compile=50.0)
    quick(estimator=estimator, n_permutations=299).fit(*numbers())
    assert clock.now == 50.0
    assert caplog.records == []


def test_a_single_candidate_can_be_announced(caplog, announcing):
    announcing(long=1e-9)
    X, y = numbers(400)
    quick(**TIMED).fit(X[:, :1], y)
    assert "1 candidate," in caplog.text


@pytest.mark.parametrize(
    ("settings", "n"), [({}, "of 2 features"), ({"max_features": 1}, "of 1 feature ")]
)
def test_the_number_of_features_that_is_assumed(caplog, announcing, settings, n):
    """As many as are significant at the first step."""
    announcing(long=1e-9)
    quick(**TIMED, **settings).fit(*numbers(200))
    assert n in caplog.text


def test_no_announcement_without_candidates(caplog, announcing):
    announcing(long=1e-9)
    X, y = numbers()
    quick(**TIMED, fixed_features=range(4)).fit(X, y)
    assert caplog.records == []


def test_a_target_that_is_constant_in_the_rows_timed(announcing):
    announcing(long=1e-9)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(3000, 4)), np.isin(np.arange(3000), np.arange(1, 3000, 700))
    X[:, 0] += 9 * y
    assert 0 in quick(**TIMED).fit(X, y).selected_


def test_a_part_of_the_rows_for_neighbours(monkeypatch, caplog, announcing):
    monkeypatch.setattr(rows_module, "MAX_ROWS", 2000)
    monkeypatch.setattr(rows_module, "NEIGHBOUR_ROWS", 1000)
    announcing(long=1e-9)
    X, y = numbers(3000)
    assert sorted(quick(n_permutations=19).fit(X, y).selected_) == [0, 1]
    assert "3,000 samples" in caplog.text
    # A number of samples is for all estimators, so that 1,000 or more would take longer.
    assert {int(n) for n in re.findall(r"max_samples=(\d+)", caplog.text)} <= {*range(500, 1000)}


# --- remedies -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_jobs", "is_advised"), [(1, joblib.cpu_count() > 1), (-1, False)])
def test_all_cores_are_advised_unless_they_are_used(caplog, announcing, clock, n_jobs, is_advised):
    announcing(clock=clock)
    estimator = slow(clock, lambda *_: 0.2)
    quick(estimator=estimator, n_permutations=299, n_jobs=n_jobs).fit(*numbers(200))
    assert ("n_jobs=-1" in caplog.text) == is_advised


def test_remedies_are_ranked_by_what_they_cost_in_power(caplog, announcing, clock, monkeypatch):
    monkeypatch.setattr(joblib, "cpu_count", lambda: 4)
    announcing(clock=clock)
    estimator = slow(clock, lambda n, *_: 1e-4 * n, by_neighbours=True)
    X, y = numbers(1200)
    quick(estimator=estimator, n_permutations=299, n_jobs=1).fit(X, y)
    message = caplog.records[0].getMessage()
    settings = re.findall(r"(\S+=\S+) takes about \d", message)
    assert settings == [
        "n_jobs=-1",
        'n_permutations="auto"',
        'estimator="copula"',
        f"max_samples={MIN_SAMPLES}",
    ]


@pytest.mark.parametrize("n_samples", [2, 500, 501, 1000, 123_456])
@pytest.mark.parametrize("seconds", [60.0, 61.0, 1e3, 1e6])
def test_fewer_samples(n_samples, seconds):
    fewer = fewer_samples(n_samples, seconds, 30.0, 1.5)
    assert MIN_SAMPLES <= fewer < n_samples if fewer else n_samples <= 500


def test_a_forecast_does_not_ask_for_progress():
    class Silent(Callback):
        pass

    assert not CallbackList(forecast=Silent())
    assert CallbackList([Silent()])
