"""A Dask cluster of two processes on this machine does the work of a fit."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import cluster_cases
import joblib
import pytest
from mortal import KILL, within
from systems import numbers, quick

from pidselect import stability

distributed = pytest.importorskip(
    "distributed", reason="there is no Dask: pip install 'pidselect[dask]'"
)


@pytest.fixture(scope="module")
def client():
    with start() as client:
        yield client


@contextmanager
def start(n_workers=2, **settings):
    """A cluster that can be reached from this machine only, and that ends with the context."""
    import dask

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


@pytest.fixture
def context(client):
    def enter():
        return joblib.parallel_config(backend="dask", client=client)

    return enter


def test_same_record(context):
    cluster_cases.same_record(context)


@pytest.mark.parametrize("n_permutations", [39, "auto"])
def test_sent_once(context, tmp_path, n_permutations):
    cluster_cases.sent_once(context, tmp_path, n_permutations)


def test_progress(context):
    cluster_cases.progress_is_reported(context)


def test_errors_pass(context):
    cluster_cases.errors_pass(context)


def test_one_job_is_done_here(context, tmp_path):
    cluster_cases.one_job_is_done_here(context, tmp_path)


def test_fits_within_tasks(context):
    """Subsamples run on workers, which do not wait for others."""
    X, y = numbers()
    settings = {"n_subsamples": 4, "random_state": 0}
    expected = stability(quick(estimator="gaussian"), X, y, **settings)

    def select():
        with context():
            return stability(quick(estimator="gaussian"), X, y, **settings)

    assert within(select) == expected


def test_one_worker_killed(context, tmp_path):
    cluster_cases.survives_a_death(context, tmp_path)


def test_all_workers_killed(context, tmp_path):
    cluster_cases.ends_clearly(context, tmp_path)


def test_same_record_of_a_wide_table(context):
    cluster_cases.same_record_of_a_wide_table(context)


@pytest.mark.parametrize(("n_workers", "n_killed", "most"), [(2, 0, 202), (3, 1, 399)])
def test_wide_table(tmp_path, n_workers, n_killed, most):
    """Each of two workers has half of the columns, and a few to choose from in later steps.

    If one is killed, others take its columns, but none has all of them.
    The workers are new: those that replace killed ones may not have arrived yet.
    """
    with start(n_workers) as client:
        n_most = cluster_cases.divides_a_wide_table(
            lambda: joblib.parallel_config(backend="dask", client=client), tmp_path, n_killed
        )
    assert 1 <= n_most <= most


def test_the_only_worker_killed(tmp_path, caplog):
    """What was sent is lost with it, and sent again to the worker that replaces it."""
    with start(n_workers=1) as client:
        cluster_cases.survives_a_death(
            lambda: joblib.parallel_config(backend="dask", client=client), tmp_path
        )
    assert "A worker process ended" in caplog.text


def test_no_worker_left(tmp_path):
    """If no worker replaces one that was killed, the fit raises."""
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    with start(n_workers=0) as client:
        options = "--no-nanny --nthreads 1 --host 127.0.0.1 --dashboard-address 127.0.0.1:0"
        command = ["-m", "distributed.cli.dask_worker", client.scheduler.address, *options.split()]
        worker = subprocess.Popen(  # without a process that restarts it
            [sys.executable, *command],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            cwd=tmp_path,
            stderr=subprocess.DEVNULL,
        )
        try:
            client.wait_for_workers(1, timeout=60)
            cluster_cases.ends_clearly(
                lambda: joblib.parallel_config(
                    backend="dask", client=client, wait_for_workers_timeout=1
                ),
                tmp_path,
            )
            assert worker.wait(60) == (KILL if os.name == "nt" else -KILL)
        finally:
            worker.kill()
            worker.wait(60)
