from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_decomposition as naive
from pidselect.decomposition.lattice import lattice

GOLDEN = Path(__file__).parents[1] / "golden" / "pid"
SIZES = {2: 4, 3: 18, 4: 166, 5: 7579}

every = pytest.mark.parametrize("n_sources", SIZES)
small = pytest.mark.parametrize("n_sources", [2, 3, 4])


def to_sets(antichain):
    """Return the members of an antichain, bit masks, as sets of sources."""
    return frozenset(
        frozenset(source + 1 for source in range(5) if mask >> source & 1) for mask in antichain
    )


@every
def test_counts_and_labels(n_sources):
    found = lattice(n_sources)
    assert found.n_sources == n_sources
    assert len(set(found.labels)) == len(found.labels) == SIZES[n_sources]
    assert len(found.antichains) == SIZES[n_sources]
    assert found.upsets.shape == found.members.shape == (SIZES[n_sources], 2**n_sources)
    numbers = [str(source + 1) for source in range(n_sources)]
    assert found.labels[0] == "{" + "}{".join(numbers) + "}"
    assert found.labels[-1] == "{" + ",".join(numbers) + "}"
    assert [naive.label(to_sets(antichain)) for antichain in found.antichains] == list(found.labels)


@small
def test_antichains_are_all_there_are(n_sources):
    assert {naive.label(antichain) for antichain in naive.antichains(n_sources)} == set(
        lattice(n_sources).labels
    )


@every
def test_members_and_upsets(n_sources):
    found = lattice(n_sources)
    for row in np.random.default_rng(0).integers(0, SIZES[n_sources], 200):
        antichain = found.antichains[row]
        assert sorted(antichain) == np.flatnonzero(found.members[row]).tolist()
        containing = [any(m & a == a for a in antichain) for m in range(2**n_sources)]
        assert containing == found.upsets[row].tolist()
        assert not any(a != b and a & b == a for a in antichain for b in antichain)


@small
def test_order_is_a_partial_order_and_lower_comes_first(n_sources):
    found = lattice(n_sources)
    upsets = found.upsets.astype(int)
    below = upsets @ (1 - upsets.T) == 0  # [upper, lower]: no set is in the upper's up-set only
    assert below.diagonal().all()
    assert not (below & below.T & ~np.eye(len(below), dtype=bool)).any()
    assert not ((below.astype(int) @ below.astype(int) > 0) & ~below).any()
    assert not np.triu(below, 1).any()
    sets = [to_sets(antichain) for antichain in found.antichains]
    for upper, lower in np.random.default_rng(0).integers(0, len(sets), (500, 2)):
        assert below[upper, lower] == naive.is_below(sets[lower], sets[upper])


@small
def test_cumulate_sums_all_at_and_below(n_sources):
    found = lattice(n_sources)
    atoms = np.random.default_rng(1).integers(-9, 10, len(found.labels)).astype(float)
    by_label = dict(zip(found.labels, atoms, strict=True))
    sums = {
        naive.label(antichain): by_label[naive.label(antichain)]
        + sum(by_label[naive.label(other)] for other in lower)
        for antichain, lower in naive.below(n_sources).items()
    }
    assert found.cumulate(atoms).tolist() == [sums[label] for label in found.labels]


@every
@given(seed=st.integers(0, 2**32 - 1), columns=st.sampled_from([(), (1,), (3,)]))
@settings(max_examples=20)
def test_moebius_and_cumulate_undo_each_other(n_sources, seed, columns):
    found = lattice(n_sources)
    shape = (len(found.labels), *columns)
    values = np.random.default_rng(seed).integers(-99, 100, shape).astype(float)
    before = values.copy()
    assert np.array_equal(found.cumulate(found.moebius(values)), values)
    assert np.array_equal(found.moebius(found.cumulate(values)), values)
    assert np.array_equal(values, before)


@small
def test_moebius_by_recursion(n_sources):
    found = lattice(n_sources)
    values = np.random.default_rng(3).integers(-9, 10, len(found.labels)).astype(float)
    by_label = dict(zip(found.labels, values, strict=True))
    atoms = naive.atoms(lambda antichain: by_label[naive.label(antichain)], n_sources)
    assert found.moebius(values).tolist() == [atoms[label] for label in found.labels]


def test_it_is_built_once_and_cannot_be_changed():
    assert lattice(3) is lattice(3)
    with pytest.raises(ValueError, match="read-only"):
        lattice(3).upsets[0, 0] = True


@pytest.mark.parametrize("n_sources", [-1, 0, 1, 6, 100])
def test_other_numbers_of_sources_are_refused(n_sources):
    with pytest.raises(ValueError, match=f"n_sources={n_sources}"):
        lattice(n_sources)


@pytest.mark.parametrize("values", [np.zeros(5), np.zeros((4, 18)), np.float64(1)])
def test_values_of_another_length_are_refused(values):
    for turn in (lattice(3).moebius, lattice(3).cumulate):
        with pytest.raises(ValueError, match="18 antichains"):
            turn(values)
