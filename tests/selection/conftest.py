"""Fixtures of the tests of selections."""

import pytest


class Clock:
    """Time that passes only where a test says so."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()
