"""Settings shared by all tests."""

import os

import pytest
from hypothesis import settings

# Before NumPy is imported: beside other processes of tests, threads of BLAS wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# The same examples on every run, and no deadline: the first call of a kernel compiles it.
settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")

#: Tests with these marks are slow: `make test-slow` runs them, one after the other, so that none
#: waits for the processes of another.
SLOW = {
    "benchmark", "browser", "cuda", "dask", "install", "kill", "oldest", "ray", "reproduction",
}  # fmt: skip


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark slow tests, which `-m "not slow"` leaves out."""
    for item in items:
        if SLOW & {mark.name for mark in item.iter_markers()}:
            item.add_marker("slow")


@pytest.fixture(autouse=True, scope="session")
def _silent_compilation():
    """Compile kernels without a message, as there is one only in the first run of the tests."""
    from pidselect import jit

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jit, "announce", lambda: None)
        yield
