"""The PID of features and the selected set by either method; sentences, tables and frames."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pidselect.decomposition.source_pair import (
    EstimatorMMI,
    NotEstimable,
    PairAtoms,
    PIDStrategy,
    PlugInPID,
    SourcePair,
    bounded_atoms,
    to_states,
)

from pidselect import datasets, mutual_information
from pidselect.data import Block, Column
from pidselect.decomposition.explain import AssessedFeature, explain, sentence
from pidselect.decomposition.explanation import FeatureExplanation
from pidselect.estimators import KSG, Copula, Discrete, Gaussian, Mixed

BIT = np.log(2)
ESTIMATORS = [KSG(), KSG(algorithm=2), KSG(scale="rank"), Mixed(), Gaussian(), Copula()]


def levels(values, name="x"):
    return Block((Column(name, "nominal", np.asarray(values, dtype=float)),))


def measured(values, name="x"):
    return Block((Column(name, "continuous", np.asarray(values, dtype=float)),))


def fixed(**blocks):
    return [AssessedFeature(name, "fixed", True, block) for name, block in blocks.items()]


def gate(name, repeats=60):
    """Return the sources and the target of a gate, each state as often as it is likely."""
    states = np.argwhere(np.repeat(datasets.gate(name)[..., np.newaxis], repeats, axis=-1) > 0)
    first, second, target, _ = states.T
    return levels(first), levels(second), levels(target, "y")


def line(n=300, seed=0):
    """Return two features and the noisy sum of them."""
    rng = np.random.default_rng(seed)
    first, second, noise = rng.normal(size=(3, n))
    return measured(first), measured(second), measured(first + second + 0.5 * noise, "y")


# --- known systems ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("XOR", (0, 0, 1), (0, 0, 1)),
        ("RDN", (0, 1, 0), (0, 1, 0)),
        ("COPY", (1, 0, 0), (1, 0, 0)),
        ("COPY1", (1, 0, 0), (0, 0, 0)),
        ("AND", (0, 0.311, 0.5), (0, 0.311, 0.5)),
    ],
)
def test_gates(name, first, second):
    a, b, target = gate(name)
    explanation = explain(fixed(a=a, b=b), target, PIDStrategy(Discrete()))
    for feature, expected in zip(explanation, (first, second), strict=True):
        found = (feature.unique, feature.shared, feature.synergy)
        assert found == pytest.approx(expected, abs=0.02)
        assert feature.method == "broja"
        assert feature.relevance == feature.unique + feature.synergy
        assert feature.information == feature.unique + feature.shared


@pytest.mark.parametrize("seed", range(4))
def test_toy_system_as_in_the_paper(seed):
    """Given X1: X2 is mainly redundant, eta almost exclusively synergistic."""
    toy = datasets.toy(1000, random_state=seed)
    X1, X2, eta = (measured(column) for column in toy.X.T)
    method = PlugInPID(measured(toy.y))
    redundant, synergistic = method.decompose([SourcePair(X2, X1), SourcePair(eta, X1)])
    assert redundant.shared > 0.95 * (redundant.unique + redundant.shared)
    assert redundant.shared > 10 * redundant.synergy
    assert synergistic.synergy > 3 * (abs(synergistic.unique) + abs(synergistic.shared))


def test_bias_is_corrected():
    """Three independent variables: the uncorrected synergy is 0.08 bit."""
    rng = np.random.default_rng(0)
    a, b, target = (levels(column) for column in rng.integers(0, 5, size=(3, 700)))
    (atoms,) = PlugInPID(target).decompose([SourcePair(a, b)])
    np.testing.assert_allclose(atoms, 0, atol=0.03)


# --- identities ---------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 3), st.integers(2, 4))
def test_counted_atoms_add_up(seed, n_levels, n_targets):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, n_levels, size=(2, 400))
    target = levels((a * rng.integers(0, 2, 400) + b) % n_targets, "y")
    a, b = levels(a), levels(b)
    method = PlugInPID(target)
    atoms, alone, other, both = method.decompose(
        [
            SourcePair(a, b),
            SourcePair(a, Block()),
            SourcePair(b, Block()),
            SourcePair(a + b, Block()),
        ]
    )
    assert (alone.shared, alone.synergy) == pytest.approx((0, 0), abs=1e-8)
    assert atoms.unique + atoms.shared == pytest.approx(alone.unique, abs=1e-8)
    assert atoms.unique + atoms.synergy == pytest.approx(both.unique - other.unique, abs=1e-8)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_estimated_atoms_add_up(estimator):
    a, b, target = line()
    wide = b + line(seed=1)[0]
    (atoms,) = EstimatorMMI(target, estimator).decompose([SourcePair(a, wide)])
    x, y = a.columns[0].values, target.columns[0].values
    S = np.column_stack([column.values for column in wide.columns])
    alone, known = (mutual_information(v, y, estimator=estimator) for v in (x, S))
    given_S = mutual_information(x, y, given=S, estimator=estimator)
    assert (atoms.unique + atoms.shared) / BIT == pytest.approx(alone, abs=1e-10)
    assert (atoms.unique + atoms.synergy) / BIT == pytest.approx(given_S, abs=1e-10)
    assert atoms.shared / BIT == pytest.approx(min(alone, known), abs=1e-10)


@pytest.mark.parametrize(
    "strategy",
    [PIDStrategy(Copula()), PIDStrategy(Gaussian()), PIDStrategy(Copula(), measure="sx")],
    ids=["copula", "gaussian", "sx"],
)
def test_nothing_exceeds_the_entropy_of_a_discrete_target(strategy):
    """The Gaussian estimators attribute more than one bit about a binary target to a and b."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    b, c, noise = rng.normal(size=(3, 60))
    a, c = y + 2 * b + 0.01 * noise, c + y
    target = levels(y, "y")
    weak = AssessedFeature("c", "weakly relevant", False, measured(c))
    explanation = explain([*fixed(a=measured(a), b=measured(b)), weak], target, strategy)
    for f in explanation:
        assert max(f.unique, f.shared, f.synergy, f.relevance, f.information, f.total) < 1 + 1e-12
    if strategy.measure == "auto":
        assert explanation.information == pytest.approx(1.0)
    assert explanation.pairs.redundancy.max() < 1 + 1e-12 > explanation.pairs.synergy.max()


@given(st.lists(st.floats(-2, 2), min_size=3, max_size=3), st.sampled_from([0.0, 1.0, np.inf]))
def test_bounded_atoms_add_up(informations, most):
    own, added, shared = informations
    atoms = bounded_atoms(own, added, shared, most)
    assert max(atoms) <= most + 1e-12
    assert atoms.unique + atoms.shared == pytest.approx(min(own, most), abs=1e-12)
    assert atoms.unique + atoms.synergy == pytest.approx(min(added, most), abs=1e-12)
    if max(shared, own - shared, added - own + shared) <= most:
        assert atoms.shared == shared


@pytest.mark.parametrize(
    "strategy", [PIDStrategy(KSG()), PIDStrategy(KSG(), measure="imin")], ids=["auto", "imin"]
)
def test_n_jobs_does_not_matter(strategy):
    a, b, target = line(200)
    features = [*fixed(a=a, b=b), AssessedFeature("c", "weakly relevant", False, line(200, 1)[0])]
    several = PIDStrategy(strategy.estimator, strategy.measure, n_jobs=2, max_memory=10**6)
    one, two = (explain(features, target, how).to_dict() for how in (strategy, several))
    assert one == two


# --- which method -------------------------------------------------------------------------------


def test_states_are_counted_where_samples_suffice():
    a, b, target = line(1000)
    explanation = explain(fixed(a=a, b=b), target, PIDStrategy(KSG()))
    assert {feature.method for feature in explanation} == {"broja, 5 bins"}
    assert explanation.pairs.method == "broja, 5 bins"
    assert explanation.information == pytest.approx(
        explanation["a"].relevance + explanation["b"].information, abs=1e-8
    )


@pytest.mark.parametrize(
    ("estimator", "name"), [(KSG(), "mmi by KSG(k=4)"), (Gaussian(), "mmi by Gaussian()")]
)
def test_estimator_is_used_where_they_do_not(estimator, name):
    a, b, target = line(100)
    explanation = explain(fixed(a=a, b=b), target, PIDStrategy(estimator))
    assert {feature.method for feature in explanation} == {name}
    assert all(feature.has_bounds for feature in explanation)
    assert any("mmi" in note for note in explanation.notes)
    assert explanation["a"].shared > 0


def test_features_of_a_part_have_one_method():
    """One candidate of many levels makes the estimator the method of all."""
    a, _, target = line(1000)
    many = Block((Column("n", "nominal", np.arange(1000.0) // 2),))
    few = levels(np.arange(1000) % 2)
    others = {"m": many, "f": few}
    features = fixed(a=a)
    features += [AssessedFeature(n, "irrelevant", False, b) for n, b in others.items()]
    explanation = explain(features, target, PIDStrategy(Mixed()))
    assert explanation["a"].method == "broja, 5 bins"
    assert explanation["m"].method == explanation["f"].method == "mmi by Mixed(k=4)"
    assert any("different methods" in note for note in explanation.notes)


def test_not_estimable():
    """The discrete estimator counts states itself, so there is no fallback."""
    rng = np.random.default_rng(0)
    a, b, target = (levels(column) for column in rng.integers(0, 9, size=(3, 300)))
    weak = AssessedFeature("c", "weakly relevant", False, levels(rng.integers(0, 9, 300)))
    explanation = explain([*fixed(a=a, b=b), weak], target, PIDStrategy(Discrete()))
    for feature in explanation:
        assert feature.unique is feature.shared is feature.synergy is None
        assert feature.relevance is feature.information is feature.share("unique") is None
        assert feature.method == "not estimable"
        assert "300 samples" in feature.reason
        assert feature.reason in feature.sentence
    assert explanation.information is None
    assert not explanation.pairs.estimable.any()
    assert not explanation.pairs.synergy.any()
    assert "-" in str(explanation.pairs)
    assert json.loads(json.dumps(explanation.to_dict()))["features"][0]["unique"] is None


def test_measure_by_name_is_always_used():
    a, b, target = line(100)
    explanation = explain(fixed(a=a, b=b), target, PIDStrategy(KSG(), measure="imin", bins=4))
    assert explanation["a"].method == "imin, 4 bins"
    assert explanation["a"].shared is not None
    assert any("fewer than 5 samples" in note for note in explanation.notes)


def test_too_large_a_table_is_not_counted():
    n = 1000
    blocks = [Block((Column("n", "nominal", np.arange(float(n))),)) for _ in range(3)]
    (result,) = PlugInPID(blocks[2], strict=False).decompose([SourcePair(*blocks[:2])])
    assert "1e+09 cells" in result.reason
    (result,) = PlugInPID(blocks[2].take(np.arange(100)), strict=False).decompose(
        [SourcePair(*(block.take(np.arange(100)) for block in blocks[:2]))]
    )
    assert isinstance(result, NotEstimable)
    assert "'broja': 100 or more states" in result.reason


def test_counts_of_many_levels_are_binned():
    counts = Column("n", "ordinal", np.arange(100.0))
    grades = Column("g", "ordinal", np.arange(100.0) % 20)
    assert len(np.unique(to_states(Block((counts,)), 5, 100))) == 5
    assert len(np.unique(to_states(Block((grades,)), 5, 100))) == 20


def test_infinite_estimates_are_not_estimable():
    a, b, _ = line(50)
    target = measured(a.columns[0].values + b.columns[0].values, "y")
    explanation = explain(fixed(a=a, b=b), target, PIDStrategy(Gaussian()))
    assert explanation["a"].unique is None
    assert "infinite" in explanation["a"].reason
    assert explanation.information is None
    few = line(20)[0]
    single = explain(fixed(a=few), few, PIDStrategy(Gaussian()))
    assert single["a"].unique is None
    assert not single.pairs.estimable.any()
    assert np.isfinite(explanation.pairs.synergy).all()


# --- conditioning sets --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 1000])
def test_single_feature_is_all_unique(n):
    a, _, target = line(n)
    explanation = explain(fixed(a=a), target, PIDStrategy(KSG()))
    feature = explanation["a"]
    assert (feature.shared, feature.synergy) == pytest.approx((0, 0), abs=1e-12)
    assert feature.share("unique") == pytest.approx(1)
    assert feature.unique == pytest.approx(explanation.information)
    assert explanation.pairs.redundancy == pytest.approx(feature.information)


@pytest.mark.parametrize("n", [60, 1000])
def test_without_a_selection_the_conditioning_set_is_empty(n):
    a, _, target = line(n)
    features = [AssessedFeature("a", "irrelevant", False, a)]
    explanation = explain(features, target, PIDStrategy(KSG()))
    assert explanation.information == 0
    assert explanation["a"].unique > 0.1
    assert explanation["a"].share("unique") is None
    assert explanation.pairs.names == ()


def test_nothing_at_all():
    explanation = explain([], line()[2], PIDStrategy(KSG()))
    assert len(explanation) == 0
    assert list(explanation.to_frame().columns)[:3] == ["name", "role", "selected"]
    assert len(explanation.to_frame()) == len(explanation.pairs.to_frame()) == 0
    assert "0 selected" in str(explanation)


@pytest.mark.parametrize("n", [60, 1000])
def test_constant_features_have_no_information(n):
    a, _, target = line(n)
    explanation = explain(fixed(a=a, b=Block()), target, PIDStrategy(KSG()))
    b = explanation["b"]
    assert (b.unique, b.shared, b.synergy) == pytest.approx((0, 0, 0), abs=1e-12)
    assert explanation["a"].shared == pytest.approx(0, abs=1e-12)


def test_order():
    """Selected ones in their order, others by relevance, then duplicates and skipped columns."""
    a, b, target = line()
    noise = line(seed=5)[0]
    aside = [
        AssessedFeature("d", "duplicate", False, Block(), "a"),
        AssessedFeature("e", "skipped", False, Block(), "constant"),
    ]
    others = [
        AssessedFeature("z", "irrelevant", False, noise),
        AssessedFeature("b", "weakly relevant", False, b),
    ]
    explanation = explain([*aside, *others, *fixed(a=a)], target, PIDStrategy(Gaussian()))
    assert [feature.name for feature in explanation] == ["a", "b", "z", "d", "e"]
    assert explanation["d"].unique is None
    assert explanation["d"].method == ""


def test_redundant_with_those_it_has_most_in_common_with():
    rng = np.random.default_rng(0)
    first, second, third = rng.integers(0, 2, size=(3, 800))
    target = levels(first + 2 * second + 4 * third, "y")
    selected = fixed(a=levels(first), b=levels(second), c=levels(third))
    noisy = levels(first ^ (rng.random(800) < 0.1))
    features = [
        *selected,
        AssessedFeature("like a", "weakly relevant", False, noisy),
        AssessedFeature("b and c", "weakly relevant", False, levels(second & third)),
        AssessedFeature("noise", "irrelevant", False, levels(rng.integers(0, 2, 800))),
    ]
    explanation = explain(features, target, PIDStrategy(Discrete()))
    assert explanation["like a"].redundant_with == ("a",)
    assert set(explanation["b and c"].redundant_with) == {"b", "c"}
    assert explanation["noise"].redundant_with == ()


def test_redundancy_is_named_where_all_amounts_are_shared():
    """By mmi a weak feature shares all of its information with either one; the overlap decides."""
    rng = np.random.default_rng(0)
    first, second, noise = rng.normal(size=(3, 200))
    target = measured(first + second, "y")
    selected = fixed(a=measured(first), b=measured(second))
    weak = AssessedFeature("c", "weakly relevant", False, measured(second + noise))
    explanation = explain([*selected, weak], target, PIDStrategy(KSG()))
    assert explanation["c"].method == "mmi by KSG(k=4)"
    assert explanation["c"].redundant_with == ("b",)


# --- pairs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [200, 1000])
def test_pairs(n):
    a, b, target = line(n)
    c = line(n, seed=3)[0]
    pairs = explain(fixed(a=a, b=b, c=c), target, PIDStrategy(KSG())).pairs
    assert pairs.names == ("a", "b", "c")
    assert pairs.estimable.all()
    np.testing.assert_array_equal(pairs.synergy, pairs.synergy.T)
    np.testing.assert_array_equal(pairs.redundancy, pairs.redundancy.T)
    np.testing.assert_array_equal(np.diag(pairs.synergy), 0)
    assert pairs.redundancy[0, 0] > 0.3
    assert pairs.synergy[0, 1] > 3 * abs(pairs.synergy[0, 2])
    assert len(str(pairs).splitlines()) == 5
    assert json.loads(json.dumps(pairs.to_dict()))["estimable"] == [[True] * 3] * 3


def test_pairs_by_an_estimator_do_not_depend_on_the_order():
    a, b, target = line(100)
    one, two = (
        explain(features, target, PIDStrategy(KSG())).pairs
        for features in (fixed(a=a, b=b), fixed(b=b, a=a))
    )
    assert one.synergy[0, 1] == pytest.approx(two.synergy[0, 1])


# --- states -------------------------------------------------------------------------------------


def test_missing_values_are_a_state_of_their_own():
    values = np.arange(100.0)
    values[::4] = np.nan
    states = to_states(measured(values), 5, 100)
    assert np.bincount(states).tolist() == [15, 15, 15, 15, 15, 25]
    assert set(states[::4]) == {5}


def test_no_columns_are_one_state():
    assert to_states(Block(), 5, 3).tolist() == [0, 0, 0]


# --- sentences ----------------------------------------------------------------------------------


def explained(role="strongly relevant", unique=0.0, shared=0.0, synergy=0.0, **more):
    return FeatureExplanation("f", role, role != "weakly relevant", unique, shared, synergy, **more)


@pytest.mark.parametrize(
    ("feature", "parts", "absent"),
    [
        (
            explained(unique=0.31, shared=0.4, synergy=0.21),
            ["f (unique 0.31 bit, synergy 0.21 bit, shared 0.40 bit)", "strongly relevant"],
            ["at least", "redundant"],
        ),
        (explained("fixed", -0.003, -0.1, 0.2), ["unique 0.00", "shared -0.10", "fixed"], []),
        (explained(unique=0.3, shared=0.1, synergy=-0.4), ["strongly relevant", "-0.10 bit"], []),
        (
            explained(shared=0.33, synergy=0.64, has_bounds=True),
            ["unique at least 0.00", "synergy at most 0.64", "shared at most 0.33"],
            [],
        ),
        (
            explained("weakly relevant", 0.2, 0.4, -0.2, redundant_with=("a", "b", "c")),
            ["weakly relevant", "redundant with a, b and c"],
            [],
        ),
        (explained("weakly relevant", 0.0, 0.3, 0.5, redundant_with=("a",)), [], ["redundant"]),
        (explained("weakly relevant", 0.0, -0.1, redundant_with=("a",)), [], ["redundant"]),
        (FeatureExplanation("f", "irrelevant", False), ["f", "irrelevant"], ["bit"]),
        (FeatureExplanation("f", "duplicate", False, reason="a"), ["duplicate of a"], []),
        (FeatureExplanation("f", "skipped", False, reason="constant"), ["constant"], []),
    ],
)
def test_sentences(feature, parts, absent):
    text = sentence(feature)
    assert text.startswith("f")
    assert all(part in text for part in parts)
    assert not any(part in text for part in absent)


NAMES = ["a\nb", "", " ", "\x1b[31mred", "tab\t", "\u202eabc", "x" * 200, "größe", "a, b", "{}%s"]


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_cannot_break_the_text(name):
    a, b, target = line(60)
    target = Block((Column(name, "continuous", target.columns[0].values),))
    features = [*fixed(**{name: a}), AssessedFeature("other", "weakly relevant", False, b)]
    explanation = explain(features, target, PIDStrategy(KSG()))
    text = str(explanation)
    assert all(line.isprintable() for line in text.split("\n"))
    table = text.split("\n\n")[1].split("\n")
    assert len(table) == 5
    assert all(len(line) <= 100 for line in table)
    assert explanation[name].name == name
    assert explanation.target == name


def test_prints_within_the_width():
    a, b, target = line(100)
    features = fixed(**{"a rather long name of a column": a, "another one of these names": b})
    features += [AssessedFeature(f"z{i}", "irrelevant", False, line(100, i)[0]) for i in range(9)]
    explanation = explain(features, target, PIDStrategy(KSG()), ["a note of the caller."])
    text = str(explanation)
    assert max(map(len, text.split("\n"))) <= 100
    assert "2 selected, 100 samples" in text
    assert text.endswith("a note of the caller.")
    assert repr(explanation).endswith(text)
    for feature in explanation:
        assert feature.sentence.split()[0] in text


def test_many_features_are_cut_short():
    a, _, target = line(100)
    features = fixed(a=a)
    features += [AssessedFeature(f"z{i}", "irrelevant", False, line(100, 1)[0]) for i in range(25)]
    text = str(explain(features, target, PIDStrategy(Gaussian())))
    assert "... and 5 more, see .to_frame()." in text


# --- access -------------------------------------------------------------------------------------


def test_access_by_name():
    a, b, target = line(100)
    explanation = explain(fixed(first=a, second=b), target, PIDStrategy(Gaussian()))
    assert explanation["second"] is explanation.features[1]
    assert str(explanation["first"]) == explanation["first"].sentence
    with pytest.raises(KeyError, match="did you mean 'second'"):
        explanation["Secnd"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library):
    a, b, target = line(100)
    features = [*fixed(a=a), AssessedFeature("b", "weakly relevant", False, b)]
    features.append(AssessedFeature("c", "duplicate", False, Block(), "a"))
    explanation = explain(features, target, PIDStrategy(Gaussian()))
    frame = replace(explanation, frame_library=library).to_frame()
    assert type(frame).__module__.split(".")[0] == library
    assert frame.shape[0] == 3
    assert {"name", "role", "unique", "relevance_share", "sentence"} <= set(
        getattr(frame, "column_names", None) or list(frame.columns)
    )


def test_everything_is_ready_for_json():
    a, b, target = line(1000)
    features = [*fixed(a=a, b=b), AssessedFeature("c", "weakly relevant", False, line(1000, 1)[0])]
    explanation = explain(features, target, PIDStrategy(KSG()))
    record = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))
    assert record["features"][0]["relevance"] == explanation["a"].relevance
    assert record["features"][0]["shared_share"] == explanation["a"].share("shared")
    assert record["n_samples"] == 1000


def test_discrete_names_no_bins():
    a, b, target = gate("AND")
    assert PlugInPID(target).name([SourcePair(a, b)]) == "broja"
    assert isinstance(PlugInPID(target).decompose([SourcePair(a, b)])[0], PairAtoms)
