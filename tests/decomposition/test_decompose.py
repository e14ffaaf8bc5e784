"""`decompose`: values, input types, and errors that name the variable and the remedy."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from decomposition.distributions import count_states
from pidselect import datasets
from pidselect.decomposition.decompose import decompose
from pidselect.decomposition.measures import MEASURES, decompose_distribution

TWO_BITS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 25)
FIRST, SECOND = TWO_BITS.T
OR = FIRST | SECOND
MEASURED = np.random.default_rng(1).normal(size=(200, 3))

every_measure = pytest.mark.parametrize("measure", MEASURES)


def close(value, tolerance=1e-9):
    return pytest.approx(value, rel=0, abs=tolerance)


# --- values -------------------------------------------------------------------------------------


@every_measure
def test_a_complete_sample_is_its_distribution(measure):
    found = decompose([FIRST, SECOND], OR, measure=measure)
    expected = decompose_distribution(datasets.gate("OR"), measure=measure)
    assert found.atoms == close(expected.atoms)
    assert found.information == close(expected.information)
    assert found.n_samples == 100
    assert found.measure == measure
    assert (found.corrected, found.source_tests, found.intervals) == (None, None, None)


@every_measure
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_atoms_sum_up(measure, seed):
    rng = np.random.default_rng(seed)
    x, y, t = rng.integers(0, rng.integers(2, 5, size=3)[:, np.newaxis], size=(3, 400))
    found = decompose([x, y], t, measure=measure)
    pmf = count_states([x, y, t])
    alone = decompose_distribution(pmf, measure="mmi")
    assert sum(found.atoms.values()) == close(alone.information, 1e-8)
    assert found.shared + found.unique[0] == close(alone.shared + alone.unique[0], 1e-8)
    assert found.shared + found.unique[1] == close(alone.shared + alone.unique[1], 1e-8)


def test_units():
    bits = decompose([FIRST, SECOND], OR, measure="imin", n_permutations=5, random_state=1)
    nats = decompose(
        [FIRST, SECOND], OR, measure="imin", unit="nat", n_permutations=5, random_state=1
    )
    assert nats.unit == "nat"
    for name in ("atoms", "corrected"):
        scaled = {label: np.log(2) * bit for label, bit in getattr(bits, name).items()}
        assert getattr(nats, name) == close(scaled)
    for nat, bit in zip(nats.source_tests, bits.source_tests, strict=True):
        assert (nat.p_value, nat.conditional_p_value) == (bit.p_value, bit.conditional_p_value)
        assert nat.information == close(np.log(2) * bit.information)
        assert nat.conditional_information == close(np.log(2) * bit.conditional_information)


def test_continuous_columns_are_binned():
    """Bins of equal count: any increasing map of a column changes nothing."""
    x, y, z = MEASURED.T
    found = decompose([x, y], x + z, bins=3)
    assert decompose([np.exp(x), y**3], x + z, bins=3).atoms == found.atoms
    wide = decompose([x, y], x + z, bins=3, binning="width")
    assert wide.atoms != found.atoms
    labels = [np.searchsorted(np.sort(column)[[65, 132]], column) for column in (x, y, x + z)]
    assert decompose(labels[:2], labels[2]).atoms == close(found.atoms)


AGES = np.random.default_rng(5).integers(18, 90, size=400)
FLAGS = np.random.default_rng(6).integers(0, 2, size=400)


@pytest.mark.parametrize("dtype", [int, float])
def test_integers_of_many_levels_are_binned(dtype):
    """As `explain` does it, for sources and target, also if stored as floats."""
    ages = AGES.astype(dtype)
    found = decompose([ages, FLAGS], ages + FLAGS)
    stated = {"source 1": "continuous", "target": "continuous"}
    assert found == decompose([ages, FLAGS], ages + FLAGS, feature_types=stated)
    assert found.binned == {"source 1": 5, "target": 5}
    assert str(found).split("\n")[-1:] == ["5 bins: source 1, target"]
    assert found.to_dict()["binned"] == {"source 1": 5, "target": 5}


def test_up_to_twenty_levels_are_states():
    levels = np.tile(np.arange(21), 20)
    assert decompose([levels % 20, levels % 2], levels % 3).binned is None
    assert decompose([levels, levels % 2], levels % 3).binned == {"source 1": 5}


def test_no_bins():
    """Every value is a state of its own."""
    with pytest.warns(UserWarning, match=r"bins=5 .*source 1.* 72 values"):
        found = decompose([AGES, FLAGS], FLAGS, bins=None)
    assert found.binned is None
    labels = pd.Series(AGES).astype(str)
    with pytest.warns(UserWarning, match="per state"):
        assert decompose([labels, FLAGS], FLAGS).atoms == close(found.atoms)


@pytest.mark.parametrize("labels", [AGES.astype(str), pd.Categorical(AGES), AGES])
def test_nominal_columns_are_never_binned(labels):
    with pytest.warns(UserWarning, match="per state"):
        found = decompose([labels, FLAGS], FLAGS, feature_types={"source 1": "nominal"})
    assert found.binned is None


def test_bins_that_occur_are_named():
    """By column, and fewer where values are equal."""
    visits = np.where(AGES < 60, 0, AGES)
    frame = pd.DataFrame({"age": AGES, "visits": visits})
    found = decompose([frame, FLAGS], FLAGS, bins=4)
    assert found.binned == {"age": 4, "visits": 3}
    assert "4 bins: age; 3 bins: visits" in str(found).split("\n")


def test_several_columns_are_one_source():
    third = np.tile([0, 1, 1, 0, 0], 20)
    joint = decompose([TWO_BITS, third], OR ^ third)
    coded = decompose([2 * FIRST + SECOND, third], OR ^ third)
    assert joint.atoms == close(coded.atoms)


@every_measure
def test_constants_have_no_information(measure):
    one = np.ones(100)
    for found in (
        decompose([one, one], OR, measure=measure),
        decompose([FIRST, SECOND], one, measure=measure, n_permutations=19, n_bootstrap=40),
        decompose([FIRST, np.full(100, "a")], np.full(100, "b"), measure=measure),
    ):
        assert list(found.atoms.values()) == close([0, 0, 0, 0])
        assert found.information == close(0)


def test_a_single_sample():
    with pytest.warns(UserWarning, match="1 samples"):
        found = decompose([[0], [1]], [1], n_permutations=19, n_bootstrap=40, random_state=0)
    assert set(found.atoms.values()) == {0.0}
    assert {test.p_value for test in found.source_tests} == {1.0}
    assert set(found.intervals.values()) == {(0.0, 0.0)}


# --- input types -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sources",
    [
        [FIRST.tolist(), SECOND.tolist()],
        (FIRST[:, np.newaxis], SECOND.astype(bool)),
        [pd.Series(FIRST), pl.Series(SECOND)],
        [pd.DataFrame({"a": FIRST}), np.where(SECOND, "yes", "no")],
        iter([FIRST.astype(float), pd.Categorical(SECOND)]),
    ],
)
def test_any_type_of_source(sources):
    target = pd.Series(np.where(OR, "wet", "dry"), name="lawn")
    assert decompose(sources, target, measure="mmi").synergy == close(0.5)


def test_feature_types():
    frame = pd.DataFrame({"a": MEASURED[:, 0], "b": np.tile(np.arange(20), 10)})
    target, feature_type = MEASURED[:, 1] > 0, "continuous"
    by_name = decompose(
        [frame[["a"]], frame["b"]], target, bins=3, feature_types={"b": feature_type}
    )
    listed = decompose(
        [frame["a"], frame["b"]], target, bins=3, feature_types=[feature_type, feature_type]
    )
    assert by_name.atoms == listed.atoms
    assert by_name.information < 0.2


@pytest.mark.parametrize(
    ("feature_types", "words"),
    [
        ({"source 3": "nominal"}, "'source 3'.*'source 2'"),
        ({"source 1": "discrete"}, r"feature_types\['source 1'\]='discrete'"),
        (["nominal"], "feature_types.*2 columns"),
        (["nominal", "real"], "feature_types.*'source 2'='real'"),
    ],
)
def test_invalid_feature_types(feature_types, words):
    with pytest.raises(ValueError, match=words):
        decompose([FIRST, SECOND], OR, feature_types=feature_types)


@pytest.mark.parametrize("feature_types", ["nominal", 5])
def test_feature_types_are_a_mapping_or_a_list(feature_types):
    with pytest.raises(TypeError, match="feature_types="):
        decompose([FIRST, SECOND], OR, feature_types=feature_types)


def test_permutations_are_not_started_if_there_are_too_many_states():
    rng = np.random.default_rng(0)
    x1, x2 = rng.integers(0, 300, size=(2, 3000))
    feature_types = dict.fromkeys(["source 1", "source 2"], "nominal")
    with pytest.warns(UserWarning, match="per state"):
        assert decompose([x1, x2], x1 // 15, feature_types=feature_types).synergy == close(0, 1e-6)
    with (
        pytest.warns(UserWarning, match="per state"),
        pytest.raises(ValueError, match=r"broja.* 300 .*imin"),
    ):
        decompose([x1, x2], x1 // 15, feature_types=feature_types, n_permutations=20)


# --- without states -----------------------------------------------------------------------------


def test_nearest_neighbours():
    """No bias correction, and halves of the samples instead of resamples."""
    x, y, noise = MEASURED.T
    target = x * y + noise / 3
    found, again = (
        decompose(
            [x, y],
            target,
            measure="sx-ksg",
            n_permutations=19,
            n_bootstrap=40,
            n_jobs=n_jobs,
            random_state=0,
        )
        for n_jobs in (1, 2)
    )
    assert found == again
    assert found.corrected is None
    assert {test.conditional_p_value for test in found.source_tests} == {0.05}
    low, high = found.intervals["{1,2}"]
    assert 0 < low < found.synergy < high < 3


def test_constants_are_independent_of_all():
    x, _, noise = MEASURED.T
    found = decompose([x, np.ones(200)], x + noise, measure="gaussian")
    assert list(found.atoms.values()) == close([0, found.information, 0, 0])
    with pytest.raises(ValueError, match="'source 2' is ordinal"):
        decompose([x, np.ones(200)], x + noise, measure="sx-ksg")


@pytest.mark.parametrize("measure", ["gaussian", "sx-ksg"])
def test_numbers_of_continuous_sources(measure):
    columns = list(np.random.default_rng(0).normal(size=(7, 50)))
    with pytest.raises(ValueError, match=f"'{measure}'.* 5 sources, got 6"):
        decompose(columns[:6], columns[6], measure=measure)
    with pytest.raises(ValueError, match="got 1"):
        decompose(columns[:1], columns[6], measure=measure)


# --- too few samples ----------------------------------------------------------------------------


def test_few_samples_for_many_states():
    with pytest.warns(UserWarning, match=r"200 samples.*bins \(now 5\)"):
        decompose([MEASURED[:, 0], MEASURED[:, 1:]], MEASURED[:, 0] ** 2)
    with pytest.warns(UserWarning, match=r"4.9 per state.*gaussian.*n_permutations") as caught:
        decompose([FIRST[:39], SECOND[:39]], np.repeat([0, 1], 20)[:39])
    assert "bins" not in str(caught[0].message)
    assert caught[0].filename == __file__


def test_enough_samples():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        decompose([FIRST[:20], SECOND[:20]], OR[:20])
        decompose([MEASURED[:, 0], MEASURED[:, 1]], MEASURED[:, 2], bins=3)


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        (TWO_BITS, r"one array of shape \(100, 2\); list\(X.T\)"),
        (pd.DataFrame(TWO_BITS), r"\[frame\[name\] for name in frame.columns\]"),
        ({"a": FIRST, "b": SECOND}, r"list\(sources.values\(\)\)"),
        ("ab", "got 'ab'"),
        (7, "got 7"),
    ],
)
def test_sources_must_be_a_list(sources, words):
    with pytest.raises(TypeError, match=words):
        decompose(sources, OR)


@pytest.mark.parametrize(
    ("sources", "target", "words"),
    [
        ([], OR, "got 0"),
        ([FIRST], OR, "got 1.*mutual_information"),
        ([FIRST, SECOND, OR], OR, "'broja'.* 2 sources, got 3.*'imin'"),
        ([FIRST, SECOND[:-1]], OR, "source 2 has 99 .*target has 100"),
        ([FIRST, SECOND], OR[:-1], "source 1 has 100 .*target has 99"),
        ([FIRST, []], OR, "source 2: .*0 sample"),
        ([np.empty((100, 0)), FIRST], OR, "source 1: .*0 feature"),
        ([FIRST, SECOND], [], "target: .*0 sample"),
        ([FIRST, np.zeros((100, 2, 2))], OR, "source 2.*dimension"),
        ([FIRST, [0.5, None, np.nan, *range(97)]], OR, "source 2 has 2 missing.*row 1"),
        ([FIRST, SECOND], np.where(OR, np.inf, 1.0), "target has 75 missing or infinite.*row 1"),
        ([pd.DataFrame({"a": [None, 1.0]}), [0, 1]], [0, 1], "source 1, column 'a', has 1 missing"),
        ([FIRST, [f"id{i}" for i in range(100)]], [f"t{i}" for i in range(100)], "identifier"),
    ],
)
def test_invalid_variables(sources, target, words):
    with pytest.raises(ValueError, match=words):
        decompose(sources, target)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"measure": "boja"}, "measure='boja'.*'broja'"),
        ({"binning": "counts"}, "binning='counts'.*'count', 'width'"),
        ({"unit": "bits"}, "unit='bits'"),
        ({"bins": 1}, "bins=1 .*at least 2"),
        ({"bins": "none"}, "bins='none'"),
        ({"bins": 2.5}, r"bins=2.5"),
        ({"n_permutations": -1}, "n_permutations=-1 .*at least 0"),
        ({"n_bootstrap": "many"}, "n_bootstrap='many'"),
        ({"n_bootstrap": 39}, "n_bootstrap=39 .*confidence=0.95.*n_bootstrap=40"),
        ({"n_bootstrap": 100, "confidence": 0.99}, "n_bootstrap=200"),
        ({"n_bootstrap": 40, "n_permutations": 18}, "n_permutations=18 .*n_permutations=19"),
        ({"confidence": 95}, "confidence=95"),
        ({"confidence": True}, "confidence=True"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"random_state": -1}, "random_state=-1"),
    ],
)
def test_invalid_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        decompose([FIRST, SECOND], OR, **settings)


def test_too_many_states():
    many = np.tile(np.arange(1000), 2)
    with pytest.raises(ValueError, match=r"source 1 has 1000 .*1e\+09.*gaussian"):
        decompose([many, many], many, bins=None)


@pytest.mark.parametrize("sources", [["x1", "x2"], [1.0, 2.0], (None, FIRST)])
def test_single_values_are_no_sources(sources):
    with pytest.raises(TypeError, match=f"{sources[0]!r}"):
        decompose(sources, OR)


def test_names_of_variables():
    first, second = pd.Series(FIRST, name="rain"), pd.Series(SECOND, name="two\nlines")
    result = decompose([first, second], OR)
    assert result.variables == ("rain", "two\nlines", "target")
    assert all(name in str(result).splitlines()[-1] for name in ("rain", r"'two\nlines'", "target"))
    assert decompose([FIRST, SECOND], OR).variables is None
