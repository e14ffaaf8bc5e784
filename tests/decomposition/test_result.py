"""Access, tables and storage of a `Decomposition`."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.result import Decomposition, SourceTest

TWO = lattice(2).labels
PLAIN = Decomposition(dict(zip(TWO, (0.31128, -1e-17, 0.0, 0.5), strict=True)), 0.81128, "broja")
FULL = replace(
    PLAIN,
    n_samples=100,
    corrected=dict(zip(TWO, (0.3, -0.01, 0.0, 0.49), strict=True)),
    intervals=dict.fromkeys(TWO, (-0.00001, 0.25)),
    confidence=0.9,
    source_tests=(
        SourceTest("rain", 0.31, 0.005, 0.5, 0.01),
        SourceTest("wind", 0.0, 1.0, 0.1, 0.2),
    ),
)


def test_plain_names_are_for_two_sources():
    three = Decomposition(dict.fromkeys(lattice(3).labels, 0.0), 0.0, "imin")
    for name in ("shared", "unique", "synergy"):
        with pytest.raises(AttributeError, match=rf"\.{name} "):
            getattr(three, name)


def test_title():
    assert repr(PLAIN).split("\n")[0] == "0.8113 bit decomposed by 'broja'"
    assert repr(FULL).split("\n")[0] == "0.8113 bit decomposed by 'broja' from 100 samples"
    assert "gap 1e-04" in repr(replace(PLAIN, gap=1e-4))
    assert "gap" not in repr(replace(PLAIN, gap=1e-9))


def test_only_the_largest_of_many_atoms_are_shown():
    labels = lattice(4).labels
    values = [((-1) ** i) * i / 1000 for i in range(len(labels))]
    many = Decomposition(dict(zip(labels, values, strict=True)), sum(values), "sx", "nat")
    lines = str(many).split("\n")
    assert len(lines) == 1 + 18 + 1
    assert labels[-1] in lines[-2]
    assert labels[0] not in str(many)
    assert f"{sum(values[:-18]):.4f} nat" in lines[-1]


@pytest.mark.parametrize("decomposition", [PLAIN, FULL])
def test_json(decomposition):
    plain = decomposition.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["atoms"] == dict(decomposition.atoms)
    assert plain["measure"] == "broja"
    assert None not in plain.values()
    assert ("intervals" in plain) == ("source_tests" in plain) == (decomposition is FULL)
