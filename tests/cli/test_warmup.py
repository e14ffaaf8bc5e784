"""Kernels are compiled in advance, or in a second process while the first one selects."""

from __future__ import annotations

import sys

import pytest
from calling import call

from pidselect import jit
from pidselect.cli import warmup
from pidselect.significance import interactions


def test_kernels_are_compiled_and_their_folder_is_named():
    result = call("warmup", "explanations")
    assert result.exit_code == 0
    assert "explanations" in result.stdout
    assert str(jit.cache_folder()) in result.stdout
    assert jit.is_compiled("decomposition")


def test_an_unknown_part_is_refused():
    result = call("warmup", "everything")
    assert result.exit_code != 0
    assert "everything" in result.stderr
    assert "explanations" in result.stderr


@pytest.mark.parametrize("part", ["continuous", "classes"])
def test_kernels_of_lookahead_are_compiled(monkeypatch, part):
    used = set()
    for name in ("scan_pairs", "count_pairs", "scan_triples"):
        kernel = getattr(interactions, name)

        def recorded(*arguments, name=name, kernel=kernel):
            used.add(name)
            return kernel(*arguments)

        monkeypatch.setattr(interactions, name, recorded)
    warmup.PARTS[part]()
    assert used == {"scan_pairs", "count_pairs", "scan_triples"}


class Started(list):
    """Commands that would be started."""

    def __call__(self, command, **settings):
        self.append(command)
        return self

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def wait(self, timeout):
        return 0

    def poll(self):
        return 0


@pytest.mark.parametrize("is_needed", [True, False])
@pytest.mark.parametrize("is_compiled", [True, False])
def test_a_second_process_starts_only_for_missing_kernels(monkeypatch, is_needed, is_compiled):
    started = Started()
    monkeypatch.setattr("subprocess.Popen", started)
    monkeypatch.setattr(jit, "is_compiled", lambda package: is_compiled)
    with warmup.compiling_explanations(is_needed) as wait:
        wait()
    expected = [sys.executable, "-m", "pidselect", "warmup", "explanations"]
    assert started == ([expected] if is_needed and not is_compiled else [])
