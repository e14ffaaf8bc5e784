"""A Ray instance of two worker processes on this machine does the work of a fit."""

from __future__ import annotations

import os
from pathlib import Path

import joblib
import pytest
import worker_cases

ray = pytest.importorskip("ray", reason="there is no Ray: pip install 'pidselect[ray]'")

pytestmark = pytest.mark.ray

#: Every round starts two processes.
LONG = 240.0

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
        yield lambda: joblib.parallel_config(backend="ray", n_jobs=2)
    finally:
        ray.shutdown()
        patch.undo()


def test_same_record(context):
    worker_cases.same_record(context, ["two rounds"], LONG)


def test_one_worker_killed(context, tmp_path):
    worker_cases.ends_clearly(context, tmp_path, 1, LONG, **worker_cases.TWO_ROUNDS)
