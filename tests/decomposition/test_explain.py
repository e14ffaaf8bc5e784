"""`explain`: atoms, pairs, which features are redundant or overlap; tables, frames and JSON."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pidselect import datasets
from pidselect.data import Block, Column
from pidselect.decomposition.atoms import Atoms
from pidselect.decomposition.explain import Samples, _agreeing, explain, independence_p_value
from pidselect.decomposition.explanation import VALUES, FeatureExplanation
from pidselect.decomposition.posterior import SharedFraction
from pidselect.estimators import NATS_PER_UNIT, Batch
from pidselect.estimators.registry import resolve

N_HALVES = 5


def labels(values, name="x"):
    return Block((Column(name, "nominal", np.asarray(values, dtype=float)),))


def measured(values, name="x"):
    return Block((Column(name, "continuous", np.asarray(values, dtype=float)),))


def information(x, y, given=None):
    """Return I(x; y | given) in bits, at least 0."""
    given = given or Block()
    if not len(x):
        return 0.0
    scorer = resolve("auto", x + y + given).bind(y, given)
    return max(0.0, float(scorer.score(Batch.observed(x))[0]) / NATS_PER_UNIT["bit"])


def explain_blocks(target, selected, others=None, aside=(), intervals=False, **settings):
    """Explain selected features and others by their names, the set S in the order given."""
    others = others or {}
    halves = np.array(
        [np.random.default_rng(i).permutation(target.n_samples) for i in range(N_HALVES)]
    )[:, : target.n_samples // 2]
    assessed, resampled = [], {}
    blocks = {**selected, **others}
    for name, block in blocks.items():
        rest = sum((one for other, one in selected.items() if other != name), Block())
        of_halves = [
            (
                information(block.take(rows), target.take(rows)),
                information(block.take(rows), target.take(rows), rest.take(rows)),
            )
            for rows in (halves if intervals else ())
        ]
        resampled[name] = np.reshape(of_halves, (-1, 2))
        assessed.append(
            FeatureExplanation(
                name,
                "strongly relevant" if name in selected else "weakly relevant",
                name in selected,
                "continuous",
                information(block, target),
                information(block, target, rest),
            )
        )
    names, added, before = list(selected), {}, Block()
    for name in names:
        added[name] = round(information(selected[name], target, before), 3)
        before += selected[name]
    pairwise = [
        [information(selected[f], target, selected[g]) if f != g else 0.0 for g in names]
        for f in names
    ]
    return explain(
        [*assessed, *(one for one, _ in aside)],
        Samples({**blocks, **{one.name: block for one, block in aside}}, resampled),
        target,
        SharedFraction(
            target, **{k: settings.pop(k) for k in ("measure", "bins") if k in settings}
        ),
        bits_added=added,
        pairwise=np.array(pairwise).reshape(len(names), len(names)),
        subsamples=halves,
        **settings,
    )


def gate(name, repeats=200):
    """Return the sources and the target of a gate, each state as often as it is likely."""
    states = np.argwhere(np.repeat(datasets.gate(name)[..., np.newaxis], repeats, axis=-1) > 0)
    first, second, target, _ = states.T
    return {"a": labels(first, "a"), "b": labels(second, "b")}, labels(target, "y")


def line(n=300, seed=0):
    """Return two features and the noisy sum of them."""
    first, second, noise = np.random.default_rng(seed).normal(size=(3, n))
    blocks = {"a": measured(first, "a"), "b": measured(second, "b")}
    return blocks, measured(first + second + 0.5 * noise, "y")


def atoms(feature):
    return feature.unique, feature.shared, feature.synergy


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
    selected, target = gate(name)
    explanation = explain_blocks(target, selected)
    assert atoms(explanation["a"]) == pytest.approx(first, abs=0.01)
    assert atoms(explanation["b"]) == pytest.approx(second, abs=0.01)
    assert explanation["a"].method == "broja, posterior states"


# --- identities ---------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", ["auto", "broja", "imin", "mmi", "ccs", "sx"])
def test_identities(measure):
    rng = np.random.default_rng(0)
    a, b, c = rng.integers(0, 3, size=(3, 400))
    columns = {"a": a, "b": b, "c": c}
    selected = {name: labels(values, name) for name, values in columns.items()}
    target = labels((a * (c > 0) + b) % 3, "y")
    others = {"d": labels(a ^ (rng.random(400) < 0.1), "d")}
    explanation = explain_blocks(target, selected, others, measure=measure, intervals=True)
    for feature in explanation:
        values = {name: round(1000 * getattr(feature, name)) for name in VALUES}
        assert values["unique"] + values["shared"] == values["information"]
        assert values["unique"] + values["synergy"] == values["added"]
        for name, (lower, upper) in feature.intervals.items():
            assert lower <= getattr(feature, name) <= upper
    assert set(explanation["d"].intervals) == set(VALUES)


def test_not_estimable():
    """A named measure counts joint states: here those of 700 labels by 700 by 20."""
    first, second, y = np.random.default_rng(0).integers(0, 1100, (3, 1500))
    selected, target = {"one": labels(first, "one")}, labels(y % 20, "y")
    explanation = explain_blocks(target, selected, {"many": labels(second, "many")}, measure="imin")
    feature = explanation["many"]
    assert feature.unique is feature.shared is feature.synergy is None
    assert feature.information is not None
    assert (feature.method, feature.intervals) == ("not estimable", {})
    assert "states" in feature.reason
    assert json.loads(json.dumps(explanation.to_dict()))["features"][-1]["unique"] is None
    assert explanation.to_frame()["unique"].isna().tolist() == [False, True]


def test_infinite_estimates_are_not_decomposed():
    selected, target = line(60)
    features = [
        FeatureExplanation(name, "fixed", True, "continuous", 0.5, math.inf) for name in selected
    ]
    explanation = explain(
        features,
        Samples(selected),
        target,
        SharedFraction(target),
        bits_added={"a": 0.5, "b": math.inf},
        pairwise=np.array([[0.0, math.inf], [math.inf, 0.0]]),
        subsamples=np.empty((0, 30), dtype=np.int64),
    )
    assert explanation["a"].unique is None
    assert "infinite" in explanation["a"].reason
    assert explanation.information == math.inf
    assert explanation["a"].share == 1.0
    json.dumps(explanation.to_dict(), allow_nan=False)


# --- conditioning sets --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [60, 1000])
def test_single_feature_is_all_unique(n):
    selected, target = line(n)
    explanation = explain_blocks(target, {"a": selected["a"]})
    feature = explanation["a"]
    assert (feature.shared, feature.synergy) == (0, 0)
    assert feature.unique == feature.added == feature.information == explanation.information
    assert explanation.pairs.redundancy.tolist() == [[feature.information]]


def test_without_a_selection_the_conditioning_set_is_empty():
    blocks, target = line()
    explanation = explain_blocks(target, {}, {"a": blocks["a"]})
    assert explanation.information == 0
    assert explanation["a"].unique == explanation["a"].information > 0.1
    assert explanation.pairs.names == ()


def test_nothing_at_all():
    explanation = explain_blocks(line()[1], {})
    assert len(explanation) == 0
    assert list(explanation.to_frame().columns)[:3] == ["name", "feature_type", "role"]
    assert len(explanation.to_frame()) == len(explanation.pairs.to_frame()) == 0
    assert "0 selected" in str(explanation)


def test_constant_features_have_no_information():
    selected, target = line()
    explanation = explain_blocks(target, {"a": selected["a"], "b": Block()})
    assert atoms(explanation["b"]) == (0, 0, 0)
    assert explanation["a"].shared == 0


def test_order():
    """Selected ones, then the others, each by role and added bits; then what took no part."""
    selected, target = line()
    noise = {f"z{i}": line(seed=5 + i)[0]["a"] for i in range(2)}
    aside = [
        (FeatureExplanation("e", "skipped", False, reason="constant"), Block()),
        (FeatureExplanation("d", "duplicate", False, reason="a"), Block()),
        (FeatureExplanation("i", "irrelevant", False, "continuous", 0.9, 0.9), noise["z0"]),
    ]
    explanation = explain_blocks(target, selected, noise, aside)
    names = [feature.name for feature in explanation]
    assert set(names[:2]) == {"a", "b"}
    assert names[4:] == ["i", "d", "e"]
    for pair in (names[:2], names[2:4]):
        assert explanation[pair[0]].added >= explanation[pair[1]].added
    assert explanation["d"].unique is None
    assert explanation["d"].method == ""


# --- redundant or overlapping -------------------------------------------------------------------


def test_redundant_with_those_it_shares_most_with():
    rng = np.random.default_rng(0)
    first, second, third = rng.integers(0, 2, size=(3, 800))
    target = labels(first + 2 * second + 4 * third, "y")
    columns = {"a": first, "b": second, "c": third}
    selected = {name: labels(values, name) for name, values in columns.items()}
    others = {
        "like a": labels(first ^ (rng.random(800) < 0.1), "like a"),
        "b and c": labels(second & third, "b and c"),
    }
    explanation = explain_blocks(target, selected, others)
    assert explanation["like a"].redundant_with == ("a",)
    assert explanation["like a"].overlaps_with == ()
    assert set(explanation["b and c"].redundant_with) == {"b", "c"}
    assert explanation["a"].redundant_with == ()
    assert explanation["a"].shared < 0.02


def test_copies_are_redundant_and_causes_of_a_sum_overlap():
    """BROJA calls information shared that two independent causes have in common, too."""
    rng = np.random.default_rng(0)
    a, b, noise = rng.normal(size=(3, 1000))
    target = measured(a + b + 0.3 * noise, "y")
    selected = {"a": measured(a, "a"), "b": measured(b, "b")}
    copy = {"copy": measured(a + 0.3 * rng.normal(size=1000), "copy")}
    explanation = explain_blocks(target, selected, copy)
    assert explanation["a"].shared > 0.05
    assert (explanation["a"].redundant_with, explanation["a"].overlaps_with) == ((), ("b",))
    assert "a" in explanation["copy"].redundant_with
    assert "a" not in explanation["copy"].overlaps_with
    assert not explanation.pairs.dependent[0, 1]
    together = explain_blocks(target, {"a": selected["a"], **copy}).pairs
    assert together.dependent.all()
    frame = explanation.to_frame().set_index("name")
    assert frame.loc["a", ["redundant_with", "overlaps_with"]].tolist() == ["", "b"]


def test_tests_of_dependence_share_the_level():
    """Three features are tested for six pairs: p = 0.024 is not significant at level 0.05."""
    states = np.array(list(np.ndindex(2, 2, 2)))
    columns = np.repeat(states, [29, 29, 21, 21, 21, 21, 29, 29], axis=0).T
    assert independence_p_value(*columns[:2]) == pytest.approx(0.0237, abs=1e-4)
    selected = {name: labels(column, name) for name, column in zip("abc", columns, strict=True)}
    target = labels(columns.T @ [1, 2, 4], "y")
    for alpha, expected in ((0.05, False), (0.2, True)):
        assert explain_blocks(target, selected, alpha=alpha).pairs.dependent[0, 1] == expected


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 5))
def test_independence_is_symmetric_and_does_not_depend_on_the_rows(seed, m, n):
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, m, 200), rng.integers(0, n, 200)
    order = rng.permutation(200)
    p_value = independence_p_value(first, second)
    assert 0 <= p_value <= 1
    assert independence_p_value(second, first) == pytest.approx(p_value)
    assert independence_p_value(first[order], second[order]) == pytest.approx(p_value)


def test_independence_p_value():
    rng = np.random.default_rng(0)
    p_values = [independence_p_value(*rng.integers(0, 3, (2, 500))) for _ in range(400)]
    assert 0.02 <= np.mean(np.array(p_values) <= 0.05) <= 0.09
    first = rng.integers(0, 3, 500)
    assert independence_p_value(first, np.where(rng.random(500) < 0.3, first, 0)) < 1e-6
    assert independence_p_value(first, np.zeros(500, dtype=np.int64)) == 1.0


# --- pairs --------------------------------------------------------------------------------------


def test_pairs_of_bits():
    """y = a xor b with c beside it: only a and b are synergistic, c and its copy redundant."""
    a, b, c = (np.arange(800) >> i & 1 for i in range(3))
    columns = {"a": a, "b": b, "c": c, "again": c}
    selected = {name: labels(values, name) for name, values in columns.items()}
    pairs = explain_blocks(labels(2 * (a ^ b) + c, "y"), selected).pairs
    redundancy, synergy = np.zeros((2, 4, 4))
    redundancy[2:, 2:] = synergy[0, 1] = synergy[1, 0] = 1
    np.testing.assert_allclose(pairs.redundancy, redundancy, atol=0.01)
    np.testing.assert_allclose(pairs.synergy, synergy, atol=0.01)
    dependent = np.eye(4, dtype=bool)
    dependent[2:, 2:] = True
    np.testing.assert_array_equal(pairs.dependent, dependent)
    assert len(str(pairs).splitlines()) == 2 + 6


@pytest.mark.parametrize("seed", range(3))
def test_pairs_are_symmetric_and_not_negative(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 4))
    X[:, 3] += X[:, 0]
    selected = {f"x{j}": measured(v, f"x{j}") for j, v in enumerate(X.T)}
    target = measured(X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=200), "y")
    explanation = explain_blocks(target, selected)
    pairs = explanation.pairs
    assert min(pairs.redundancy.min(), pairs.synergy.min()) >= 0
    for matrix in (pairs.redundancy, pairs.synergy, pairs.dependent, pairs.estimable):
        np.testing.assert_array_equal(matrix, matrix.T)
    own = [explanation[name].information for name in pairs.names]
    assert np.diag(pairs.redundancy).tolist() == own
    assert not np.diag(pairs.synergy).any()
    assert (pairs.redundancy <= np.minimum.outer(own, own)).all()
    assert json.loads(json.dumps(pairs.to_dict()))["estimable"] == [[True] * 4] * 4


def test_pairs_do_not_depend_on_the_order():
    selected, target = line(150)
    one = explain_blocks(target, selected).pairs
    two = explain_blocks(target, dict(reversed(selected.items()))).pairs
    assert one.synergy[0, 1] == two.synergy[0, 1]
    assert one.redundancy[0, 1] == two.redundancy[0, 1]


# --- shares -------------------------------------------------------------------------------------


def test_shares_of_classes_and_of_numbers():
    selected, target = gate("AND")
    explanation = explain_blocks(target, selected)
    assert explanation.entropy == pytest.approx(0.811, abs=0.001)
    assert explanation["a"].share == pytest.approx(0.5 / 0.811, abs=0.01)
    assert explanation.share(explanation.information) == pytest.approx(1, abs=0.01)
    assert "H(y)" in explanation.share_name
    blocks, numbers = line()
    explanation = explain_blocks(numbers, blocks)
    assert explanation.entropy is None
    assert explanation["a"].share == 1 - 2 ** (-2 * explanation["a"].added)
    assert (explanation.share(0.0), explanation.share(None)) == (0.0, None)


# --- text, access, frames -----------------------------------------------------------------------


def test_prints_within_the_width():
    blocks, target = line(100)
    selected = {"a rather long name of a column": blocks["a"], "another of these": blocks["b"]}
    others = {f"z{i}": line(100, i)[0]["a"] for i in range(9)}
    explanation = explain_blocks(target, selected, others, notes=["a note of the caller."])
    text = str(explanation)
    assert max(map(len, text.split("\n"))) <= 100
    assert "2 selected, 100 samples" in text
    assert text.endswith("a note of the caller.")
    assert repr(explanation).endswith(text)


def test_many_features_are_cut_short():
    blocks, target = line(60)
    others = {f"z{i}": blocks["b"] for i in range(25)}
    text = str(explain_blocks(target, {"a": blocks["a"]}, others))
    assert "... and 5 more, see .to_frame()." in text


def test_access_by_name():
    blocks, target = line(100)
    explanation = explain_blocks(target, {"first": blocks["a"], "second": blocks["b"]})
    assert explanation["second"] in explanation.features
    assert str(explanation["first"]) == explanation["first"].sentence
    assert explanation["first"].sentence.startswith("first")
    with pytest.raises(KeyError, match="did you mean 'second'"):
        explanation["Secnd"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library):
    blocks, target = line(100)
    aside = [(FeatureExplanation("c", "duplicate", False, reason="a"), Block())]
    explanation = explain_blocks(target, {"a": blocks["a"]}, {"b": blocks["b"]}, aside)
    explanation = explanation.in_library(library)
    for frame, n_rows in ((explanation.to_frame(), 3), (explanation.pairs.to_frame(), 0)):
        assert type(frame).__module__.split(".")[0] == library
        assert frame.shape[0] == n_rows
    frame = explanation.to_frame()
    columns = set(getattr(frame, "column_names", None) or list(frame.columns))
    assert {*VALUES, "role", "share", "added_lower", "added_upper", "p_value"} <= columns


def test_intervals_agree_with_tests():
    """What is not significant has intervals that include 0, and is no lower bound."""
    intervals = dict.fromkeys(VALUES, (0.1, 0.5))
    atoms = Atoms(0.3, 0.3, 0.2, 0.1, 0.1, intervals, is_lower_bound=True)

    def agreeing(p_value, marginal, role="strongly relevant"):
        tested = FeatureExplanation("x", role, True, p_value=p_value, marginal_p_value=marginal)
        found = _agreeing(atoms, tested, 0.05)
        above = {name for name, (low, _) in found.intervals.items() if low > 0}
        return above, found.is_lower_bound

    assert agreeing(None, None) == agreeing(0.01, 0.05) == (set(VALUES), True)
    assert agreeing(0.06, 0.01) == ({"information", "shared"}, False)
    assert agreeing(0.01, 0.06) == ({"added", "synergy"}, True)
    assert agreeing(1.0, 1.0) == (set(), False)
    # A step may have had a smaller level: the role decides.
    assert agreeing(0.045, 0.01, "weakly relevant") == ({"information", "shared"}, False)
