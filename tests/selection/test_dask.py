"""A Dask cluster of two workers on this machine does the work of a fit."""

from __future__ import annotations

import joblib
import pytest
import worker_cases
from mortal import within
from systems import numbers, quick

from pidselect import stability

dask = pytest.importorskip("dask", reason="there is no Dask: pip install 'pidselect[dask]'")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.dask


@pytest.fixture(scope="module")
def context():
    """A cluster that can be reached from this machine only, and that ends with these tests."""
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=2,  # a single thread would be left to this process
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        client.wait_for_workers(2, timeout=60)
        yield lambda: joblib.parallel_config(backend="dask", client=client)


def test_same_record(context):
    worker_cases.same_record(context)


def test_errors_pass(context):
    worker_cases.errors_pass(context)


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
    worker_cases.survives_a_death(context, tmp_path)


def test_all_workers_killed(context, tmp_path):
    worker_cases.ends_clearly(context, tmp_path, n_lives=100)
