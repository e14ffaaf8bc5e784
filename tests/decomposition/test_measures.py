from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive_decomposition as naive
from naive_decomposition import largest_difference, pmfs
from pidselect import datasets, decompose_distribution
from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.measures import MEASURES
from pidselect.decomposition.pmf import check_pmf

every = pytest.mark.parametrize("measure", MEASURES)


@every
@pytest.mark.parametrize("n_sources", [3, 4, 5])
def test_more_sources_where_the_measure_is_defined(measure, n_sources):
    pmf = datasets.gate("SUM", n_sources=n_sources)
    if n_sources <= MEASURES[measure].most_sources:
        result = decompose_distribution(pmf, measure=measure)
        assert len(result.atoms) == len(lattice(n_sources).labels)
        assert sum(result.atoms.values()) == pytest.approx(result.information)
        with pytest.raises(AttributeError, match="shared"):
            _ = result.shared
    else:
        with pytest.raises(ValueError, match=f"'{measure}'.* 2 sources"):
            decompose_distribution(pmf, measure=measure)


def test_six_sources_are_too_many_for_all():
    with pytest.raises(ValueError, match="got 6"):
        decompose_distribution(datasets.gate("AND", n_sources=6), measure="imin")


@every
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_constant_variable_is_no_trouble(measure, axis):
    pmf = datasets.gate("AND").sum(axis=axis, keepdims=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = decompose_distribution(pmf, measure=measure)
    values = np.array(list(result.atoms.values()))
    assert np.isfinite(values).all()
    assert values.sum() == pytest.approx(result.information, abs=1e-9)
    if axis == 2:
        assert values == pytest.approx(np.zeros(4), abs=1e-9)


def test_units():
    bits = decompose_distribution(datasets.gate("AND"), measure="sx")
    nats = decompose_distribution(datasets.gate("AND"), measure="sx", unit="nat")
    assert (bits.unit, nats.unit) == ("bit", "nat")
    for name in ("atoms", "informative", "misinformative"):
        one, other = getattr(bits, name), getattr(nats, name)
        assert other == pytest.approx({label: value * np.log(2) for label, value in one.items()})
    assert nats.information == pytest.approx(bits.information * np.log(2))


@pytest.mark.parametrize(
    ("pmf", "message"),
    [
        ([[[0.5, 0.6], [0.2, -0.3]]], r"pmf\[0, 1, 1\] is -0.3"),
        ([[[0.5, np.nan], [0.2, 0.3]]], r"pmf\[0, 0, 1\] is nan"),
        ([[[0.5, 0.5], [0.5, 0.5]]], "sums to 2"),
        ([[0.5, 0.5]], r"shape \(1, 2\)"),
        (np.zeros((2, 0, 2)), r"shape \(2, 0, 2\)"),
        (np.zeros((2, 2, 2)), "sums to 0"),
    ],
)
def test_invalid_distributions(pmf, message):
    with pytest.raises(ValueError, match=message):
        decompose_distribution(pmf)


@pytest.mark.parametrize(
    "pmf",
    [
        "AND",
        None,
        [[["a", "b"]]],
        [[[1.0], [2.0, 3.0]]],
        np.full((1, 1, 1), 1 + 0j),
        np.ma.masked_array(np.ones((1, 1, 1))),
    ],
)
def test_invalid_arrays(pmf):
    with pytest.raises(TypeError, match="pmf"):
        decompose_distribution(pmf)


def test_unknown_names():
    with pytest.raises(ValueError, match=r"measure='brojan'.*'broja'"):
        decompose_distribution(datasets.gate("AND"), measure="brojan")
    with pytest.raises(ValueError, match=r"unit='bits'.*'bit'"):
        decompose_distribution(datasets.gate("AND"), unit="bits")
    with pytest.raises(ValueError, match="measure='gaussian'"):
        decompose_distribution(datasets.gate("AND"), measure="gaussian")


def test_numbers_of_few_digits_are_forgiven_their_rounding():
    pmf = np.random.default_rng(0).random((5, 5, 5)).astype(np.float32)
    single = decompose_distribution(pmf / pmf.sum())
    assert single.shared == pytest.approx(decompose_distribution(check_pmf(pmf / pmf.sum())).shared)


def test_whole_numbers_are_a_distribution_if_they_sum_to_one():
    certain = np.zeros((2, 2, 2), dtype=int)
    certain[0, 0, 0] = 1
    assert decompose_distribution(certain).information == 0


# --- identities ---------------------------------------------------------------------------------

#: Of atoms in nats: that of BROJA is the gap that its solver reaches, for two distributions.
TOLERANCES = {"broja": 2e-9 * np.log(2), "ccs": 1e-11}


def atoms_of(measure, pmf):
    atoms = MEASURES[measure].decompose(pmf).atoms
    return dict(zip(lattice(pmf.ndim - 1).labels, atoms.tolist(), strict=True))


@every
@given(pmf=pmfs(2, most_states=5))
@settings(max_examples=60)
def test_two_sources_add_up(measure, pmf):
    atoms = atoms_of(measure, pmf)
    for labels, information in (
        (("{1}", "{1}{2}"), naive.information(pmf, [1])),
        (("{2}", "{1}{2}"), naive.information(pmf, [2])),
        (("{1}", "{1,2}"), naive.information(pmf, [1], given=[2])),
        (("{2}", "{1,2}"), naive.information(pmf, [2], given=[1])),
        (tuple(atoms), naive.information(pmf, [1, 2])),
    ):
        assert sum(atoms[label] for label in labels) == pytest.approx(information, rel=0, abs=1e-12)
    if MEASURES[measure].is_nonnegative:
        assert min(atoms.values()) > -TOLERANCES.get(measure, 1e-12)


@every
@given(data=st.data(), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_order_and_names_of_states_and_sources_do_not_matter(measure, data, seed):
    """Nor do impossible states, nor splitting a state by a coin; but of a source for "sx"."""
    n_sources = min(3, MEASURES[measure].most_sources)
    pmf = data.draw(pmfs(n_sources, most_states=4 if n_sources == 2 else 3))
    order = data.draw(st.permutations(range(n_sources)))
    axis = data.draw(st.integers(n_sources if measure == "sx" else 0, n_sources))
    atoms, tolerance = atoms_of(measure, pmf), TOLERANCES.get(measure, 1e-12)
    for changed in (
        naive.permute_states(pmf, seed),
        naive.add_impossible_states(pmf, seed),
        naive.split_state(pmf, axis),
    ):
        assert largest_difference(atoms_of(measure, changed), atoms) < tolerance
    swapped = {naive.swap_label(label, order): atom for label, atom in atoms.items()}
    found = atoms_of(measure, naive.swap_sources(pmf, order))
    assert largest_difference(found, swapped) < tolerance


@every
@pytest.mark.parametrize("tiny", [1e-20, 1e-200, 5e-324])
def test_probabilities_next_to_nothing(measure, tiny):
    pmf = np.array([[[0.5, 0.0], [tiny, tiny]], [[0.0, tiny], [0.25, 0.25]]])
    without = np.where(pmf > 0.1, pmf, 0)
    difference = largest_difference(atoms_of(measure, pmf), atoms_of(measure, without))
    gap = MEASURES[measure].decompose(pmf).gap  # that of BROJA is infinite near the smallest float
    assert difference < TOLERANCES.get(measure, 1e-12) + gap
    assert gap < 1e-9 or tiny < 1e-300
