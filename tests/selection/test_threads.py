"""Concurrent fits, and workers that are threads or processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import joblib
import numpy as np
import pytest
import worker_cases
from mortal import PATIENCE, within
from systems import gates, numbers, quick

from pidselect.selection.executor import Executor


def same_time(functions):
    """Call functions in threads of their own that set out together."""
    together = threading.Barrier(len(functions))

    def work(function):
        together.wait(PATIENCE)
        return function()

    with ThreadPoolExecutor(len(functions)) as threads:
        return list(threads.map(work, functions, timeout=PATIENCE))


def fit(system, seed, backend=None, **settings):
    X, y = system(seed=seed)
    with joblib.parallel_config(backend=backend) if backend else joblib.parallel_config():
        return quick(random_state=seed, **settings).fit(X, y).selection_


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"n_jobs": 2},
        {"n_jobs": 2, "backend": "loky"},
        {"verbose": 1, "n_jobs": 2},
    ],
    ids=["defaults", "two jobs", "processes", "progress of two jobs"],
)
def test_fits_at_the_same_time(settings, capsys):
    """The same to the bit as one after the other, each with data and a seed of its own."""
    fits = [
        partial(fit, system, seed, **settings) for system in (numbers, gates) for seed in (1, 2)
    ]
    expected = [one() for one in fits]
    assert same_time(fits) == expected
    assert len(set(map(repr, expected))) == len(fits)
    assert capsys.readouterr().out == ""


def test_only_the_main_thread_has_a_bar(monkeypatch, capsys):
    """Two bars would overwrite each other; and standard output stays what it was."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    before = sys.stdout
    same_time([partial(fit, gates, seed, verbose=1) for seed in (1, 2)])
    assert sys.stdout is before
    assert capsys.readouterr().err == ""
    fit(gates, 1, verbose=1)
    assert "step 1, forward: 5 candidates" in capsys.readouterr().err


COLD = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pidselect import PIDSelector
import numpy as np

def fit(seed):
    X = np.random.default_rng(seed).integers(0, 2, (60, 3))
    selector = PIDSelector(estimator="discrete", n_permutations=19, random_state=seed)
    return selector.fit(X, X[:, 0] | X[:, 1]).selection_.to_dict()

with ThreadPoolExecutor(2) as threads:
    print(list(threads.map(fit, (1, 2))) == [fit(1), fit(2)])
"""


def test_kernels_compiled_at_the_same_time(tmp_path):
    """Nothing is compiled yet, and two threads want it at once."""
    done = subprocess.run(
        [sys.executable, "-c", COLD],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "True"


# --- workers -------------------------------------------------------------------------------------


def test_number_of_workers():
    assert Executor().count_workers() == 1
    with joblib.parallel_config(n_jobs=2):
        assert Executor().count_workers() == 2
        assert Executor(n_jobs=1).count_workers() == 1
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert Executor().count_workers() == 2


def thread_of(common, task):
    common.wait(PATIENCE)
    return threading.get_ident()


def test_a_context_without_a_backend_means_threads():
    """Two tasks that wait for each other are done at the same time, in this process."""

    def work():
        with joblib.parallel_config(n_jobs=2):
            return list(Executor().run(thread_of, threading.Barrier(2), [(0,), (1,)]))

    assert len(set(within(work))) == 2


def fail(common, task):
    common.append(task)
    raise ValueError("a bug")


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_of_tasks_are_raised(n_jobs):
    """And the work is not done again."""
    calls = []
    with pytest.raises(ValueError, match="a bug"):
        list(Executor(n_jobs).run(fail, calls, [(0,)]))
    assert calls == [0]


def process_of(common, task):
    return multiprocessing.current_process().name


def test_no_process_is_forked():
    """A process forked beside threads may deadlock."""
    with joblib.parallel_config(backend="multiprocessing", n_jobs=2):
        names = list(Executor().run(process_of, None, [(0,), (1,)]))
    assert all(name.startswith("Loky") for name in names)


# --- processes -----------------------------------------------------------------------------------


def processes():
    return joblib.parallel_config(backend="loky", n_jobs=2)


def test_same_record():
    worker_cases.same_record(processes)


def test_errors_pass():
    worker_cases.errors_pass(processes)


@pytest.mark.kill
def test_one_process_killed(tmp_path):
    worker_cases.ends_clearly(processes, tmp_path, n_lives=1)


def flags_of(common, task):
    """Return whether a large array is mapped from a file, and whether it is writeable."""
    return isinstance(common.values, np.memmap), common.values.flags.writeable


class Large:
    def __init__(self):
        self.values = np.zeros(2**18)


def test_large_arrays_are_shared():
    """In shared memory, and writeable as kernels expect."""
    with processes():
        assert set(Executor().run(flags_of, Large(), [(0,), (1,)])) == {(True, True)}


# --- one selector in several threads --------------------------------------------------------------


def test_a_fitted_selector_is_shared_by_threads():
    """It transforms and explains in all of them, over and over."""
    X, y = numbers()
    selector = quick().fit(X, y)

    def use():
        return selector.transform(X).tolist(), selector.explain(X, y).to_dict()

    expected = use()
    assert same_time([use] * 3) == [expected] * 3
