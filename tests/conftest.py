"""Settings shared by all tests."""

from hypothesis import settings

# The same examples on every run, and no deadline: the first call of a kernel compiles it.
settings.register_profile("repeatable", deadline=None, derandomize=True, database=None)
settings.load_profile("repeatable")
