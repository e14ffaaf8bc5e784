"""Settings shared by all tests."""

from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every run, and no deadline: the first call of a kernel compiles it.
settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")

HERE = Path(__file__).parent

#: Tests of clusters, of killed processes and of Ctrl-C start several processes each. They are run
#: one after the other, so that none of them waits for those of another.
ONE_BY_ONE = {
    "cli/test_terminal.py",
    "reproduction/test_command.py",
    "selection/test_checkpoint.py",
    "selection/test_clusters.py",
    "selection/test_ray.py",
    "selection/test_threads.py",
    "test_portability.py",
}


@pytest.fixture(autouse=True, scope="session")
def announce():
    """Compile kernels without a message, as there is one only in the first run of the tests.

    Yields the function that would show it.
    """
    from pidselect import jit

    with pytest.MonkeyPatch.context() as patch:
        announces = jit._announce.__wrapped__
        patch.setattr(jit, "_announce", lambda packages: None)
        yield announces


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep tests of one file together, and those that must not run beside each other."""
    from xdist.scheduler import LoadFileScheduling

    missing = [name for name in ONE_BY_ONE if not (HERE / name).exists()]
    if missing:
        raise pytest.UsageError(f"tests/conftest.py names files that are not there: {missing}")

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid):
            path = super()._split_scope(nodeid)
            return "one by one" if path.removeprefix("tests/") in ONE_BY_ONE else path

    return Scheduling(config, log) if config.getoption("dist") == "loadfile" else None
