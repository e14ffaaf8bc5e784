"""A Ray instance of two worker processes on this machine does the work of a fit."""

from __future__ import annotations

import os
from pathlib import Path

import cluster_cases
import joblib
import joblib.pool
import pytest
from cluster_cases import Number, add
from systems import gates, quick

from pidselect.selection.executor import Executor

ray = pytest.importorskip("ray", reason="there is no Ray: pip install 'pidselect[ray]'")

FOLDER = str(Path(__file__).parent)


@pytest.fixture(scope="module")
def context():
    from ray.util.joblib import register_ray

    register_ray()
    patch = pytest.MonkeyPatch()  # workers import estimators that tests define
    patch.setenv("PYTHONPATH", os.pathsep.join([FOLDER, os.environ.get("PYTHONPATH", "")]))
    ray.init(
        num_cpus=2,
        address="local",
        include_dashboard=False,
        log_to_driver=False,
        _node_ip_address="127.0.0.1",
    )
    try:
        yield lambda: joblib.parallel_config(backend="ray")
    finally:
        ray.shutdown()
        patch.undo()


def test_same_record(context):
    cluster_cases.same_record(context)


@pytest.mark.parametrize("n_permutations", [39, "auto"])
def test_sent_once(context, tmp_path, n_permutations):
    cluster_cases.sent_once(context, tmp_path, n_permutations)


def test_progress(context):
    cluster_cases.progress_is_reported(context)


def test_errors_pass(context):
    cluster_cases.errors_pass(context)


def test_one_worker_killed(context, tmp_path):
    cluster_cases.survives_a_death(context, tmp_path)


def test_all_workers_killed(context, tmp_path):
    """Ray itself starts four workers for a task; here one is enough."""
    once = {"max_retries": 0}
    cluster_cases.ends_clearly(
        lambda: joblib.parallel_config(backend="ray", ray_remote_args=once), tmp_path
    )


def test_one_job_is_done_here(context, tmp_path):
    cluster_cases.one_job_is_done_here(context, tmp_path)


def test_wide_table(context, tmp_path):
    """A worker has the columns of one task at a time: an eighth, and those that depend on S."""
    cluster_cases.same_record_of_a_wide_table(context)
    assert cluster_cases.divides_a_wide_table(context, tmp_path, 1) <= 2 * 50


def test_more_tasks_than_jobs(context):
    """Results come in the order of the tasks."""
    with joblib.parallel_config(backend="ray", n_jobs=2):
        tasks = [(number,) for number in range(7)]
        assert list(Executor().run(add, Number(3), tasks)) == [3, 4, 5, 6, 7, 8, 9]


def test_joblib_is_not_modified(context):
    """Its backend for Ray would replace the process pool."""
    before = joblib.pool.PicklingPool.__bases__
    with context():
        quick().fit(*gates())
    assert joblib.pool.PicklingPool.__bases__ == before
