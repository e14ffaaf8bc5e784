"""What holds on every cluster: the same record, data sent once, recovery from killed workers."""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import pytest
from mortal import (
    PATIENCE,
    Counting,
    Failing,
    Mortal,
    Watching,
    deaths,
    most_columns,
    notes,
    within,
)
from recording_callbacks import Recorder
from systems import PAPER, gates, n_computed, numbers, quick, season

from pidselect.estimators import Gaussian
from pidselect.selection.callbacks import use_callback


@contextmanager
def start(n_workers=2, **settings):
    """A cluster that can be reached from this machine only, and that ends with the context."""
    import dask
    import distributed

    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
            **settings,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        if n_workers:
            client.wait_for_workers(n_workers, timeout=60)
        yield client


SETTINGS = {
    "defaults": (numbers, {}),
    "sequential": (numbers, {"n_permutations": "auto"}),
    "independent permutations": (numbers, PAPER),
    "bits": (gates, {}),
    "pairwise": (gates, {"criterion": "jmi", "estimator": "discrete"}),
    "pairs": (gates, {"lookahead": 2, "n_permutations": 99}),
}


def mixed_table():
    columns, y = season()
    return np.array(list(zip(*columns.values(), strict=True)), dtype=object), y


def same_record(context):
    """The same to the bit as without workers, for all types of scores."""
    for name, (system, settings) in {**SETTINGS, "mixed": (mixed_table, {})}.items():
        data = system()
        expected = quick(n_jobs=1, **settings).fit(*data).selection_

        def fit(data=data, settings=settings):
            with context():
                return quick(**settings).fit(*data).selection_

        assert within(fit) == expected, name


def sent_once(context, folder, n_permutations):
    """What is bound is packed once for all rounds of its test, and unpacked once by a worker."""

    def fit():
        with context():
            return quick(estimator=Counting(str(folder)), n_permutations=n_permutations).fit(
                *numbers()
            )

    within(fit)
    home = os.getpid()
    packed = [name for name, process in notes(folder, "packed") if process == home]
    unpacked = notes(folder, "unpacked")
    used = set(notes(folder, "used"))
    assert sorted(packed) == sorted({name for name, _ in used})
    assert len(packed) >= 3  # two features, and a step that found no third
    assert len(unpacked) == len(set(unpacked))
    assert home not in {process for _, process in used}
    assert len({process for _, process in used}) == 2


def progress_is_reported(context):
    """Result by result."""
    recorder = Recorder()

    def fit():
        with context(), use_callback(recorder):
            return quick().fit(*gates()).selection_

    selection = within(fit)
    counts = recorder.all("progress")
    assert tuple(recorder.all("step")) == selection.steps
    assert sum(counts) == n_computed(selection)
    assert len(counts) > len(selection.steps)


def errors_pass(context):
    """An error of a task is raised as it is, and the work is not done again."""

    def fit():
        with context():
            quick(estimator=Failing()).fit(*numbers())

    with pytest.raises(ValueError, match=r"^no value for x\d$"):
        within(fit)


def survives_a_death(context, folder):
    """One worker is killed in the middle of a fit; the record is the same."""
    data = numbers()
    expected = quick(estimator=Mortal(str(folder), os.getpid(), 0)).fit(*data).selection_

    def fit():
        with context():
            return quick(estimator=Mortal(str(folder), os.getpid(), 1)).fit(*data).selection_

    found = within(fit)
    assert deaths(folder) == 1
    settings = replace(found.settings, estimator=expected.settings.estimator)
    assert replace(found, settings=settings) == expected


def wide_table(n=300, n_columns=400, seed=0):
    """y = x0 + x1 + noise; a quarter of the other columns depend on x0."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_columns))
    X[:, -n_columns // 4 :] += X[:, :1]
    return X, X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=n)


#: Beside "global" and "residual" tests of shared permutations.
WIDE_SETTINGS = (
    {"estimator": Gaussian(), "shared_permutations": False},
    {"estimator": Gaussian(), "feature_groups": [[0, 119], [2, 3, 118]]},
    {"estimator": "auto", "max_features": 1},
)


def same_record_of_a_wide_table(context):
    """Also with groups of columns, of which some depend on the selected ones, and a portfolio."""
    data, few = wide_table(100, 120), {"lookahead": 1, "max_features": 2, "n_permutations": 19}
    for settings in WIDE_SETTINGS:
        expected = quick(**few | settings).fit(*data).selection_

        def fit(settings=settings):
            with context():
                return quick(**few | settings).fit(*data).selection_

        assert within(fit) == expected, settings


def divides_a_wide_table(context, folder, n_lives):
    """Return the most columns that a worker has had at a time; the record is the same."""
    data = wide_table()
    settings = {"fixed_features": 0, "max_features": 2, "lookahead": 1, "n_permutations": 19}
    watching = Watching(str(folder), os.getpid(), n_lives)
    expected = quick(estimator=Gaussian(), **settings).fit(*data).selection_

    def fit():
        with context():
            return quick(estimator=watching, **settings).fit(*data).selection_

    found = within(fit, 2 * PATIENCE)
    assert deaths(folder) == n_lives
    for step, same in zip(found.steps, expected.steps, strict=True):
        assert replace(step, estimators=same.estimators) == same
    return most_columns(folder)


def ends_clearly(context, folder):
    """Every worker that is given the task is killed: one error says what happened."""

    def fit():
        with context():
            quick(estimator=Mortal(str(folder), os.getpid(), 100)).fit(*numbers())

    with pytest.raises(RuntimeError, match="max_memory") as caught:
        within(fit)
    assert caught.value.__cause__ is not None
    assert deaths(folder) >= 1


def one_job_is_done_here(context, folder):
    with context():
        quick(estimator=Counting(str(folder)), n_jobs=1).fit(*numbers())
    assert {process for _, process in notes(folder, "used")} == {os.getpid()}


@dataclass(frozen=True, eq=False)
class Number:
    value: int


def add(number, other):
    return number.value + other
