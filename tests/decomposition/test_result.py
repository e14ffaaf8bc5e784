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


def test_table():
    assert str(PLAIN).split("\n") == [
        "atom                 bit",
        "{1}{2}  shared    0.3113",
        "{1}     unique 1  0.0000",
        "{2}     unique 2  0.0000",
        "{1,2}   synergy   0.5000",
    ]


def test_table_with_all_there_is():
    """Atoms have intervals, sources have p-values, and no line has both."""
    lines = str(FULL).split("\n")
    assert [" ".join(line.split()) for line in lines[:3]] == [
        "atom bit corrected 90 % interval",
        "{1}{2} shared 0.3113 0.3000 0.0000 to 0.2500",
        "{1} unique 1 0.0000 -0.0100 0.0000 to 0.2500",
    ]
    assert lines[5:8] == [
        "source  I(x;y)  p-value  I(x;y|rest)  p-value",
        "rain    0.3100   0.0050       0.5000   0.0100",
        "wind    0.0000   1.0000       0.1000   0.2000",
    ]
    assert lines[-1].startswith("p-value:")


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


def test_three_sources_are_shown_whole():
    three = Decomposition(dict.fromkeys(lattice(3).labels, 0.5), 9.0, "imin")
    assert str(three).split("\n")[1:] == [f"{label:<15}  0.5000" for label in lattice(3).labels]


@pytest.mark.parametrize("decomposition", [PLAIN, FULL])
def test_json(decomposition):
    plain = decomposition.to_dict()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["atoms"] == dict(decomposition.atoms)
    assert plain["measure"] == "broja"
    assert None not in plain.values()
    assert ("intervals" in plain) == ("source_tests" in plain) == (decomposition is FULL)


def test_infinite_atoms_become_texts():
    plain = replace(PLAIN, information=float("inf")).to_dict()
    assert plain["information"] == "inf"
    assert "inf bit" in repr(replace(PLAIN, information=float("inf")))
