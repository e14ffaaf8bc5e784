"""`PIDSelector.explain`: roles of the fit or by tests, values from the samples passed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from systems import gates, noise, numbers, quick, season

from pidselect import datasets, mutual_information
from pidselect.estimators import KSG
from pidselect.selection.explain import recorded_roles
from pidselect.selection.result import Selection, Settings, Step


def roles(explanation):
    return {feature.name: feature.role for feature in explanation}


def framed(problem):
    return pd.DataFrame(problem.X, columns=problem.names)


# --- the paper's systems ------------------------------------------------------------------------


def test_toy_system():
    toy = datasets.toy(random_state=1)
    explanation = quick().fit(framed(toy), toy.y).explain(framed(toy), toy.y)
    assert roles(explanation) == {
        "X1": "strongly relevant",
        "eta": "strongly relevant",
        "X2": "weakly relevant",
    }
    X1, eta, X2 = (explanation[name] for name in ("X1", "eta", "X2"))
    assert {feature.method for feature in explanation} == {"broja, posterior states"}
    assert X1.unique > 0.9 * X1.information
    assert eta.synergy > 5 * (eta.unique + eta.shared)
    assert X2.shared > 0.95 * X2.information
    assert X2.redundant_with == ("X1",)


def test_mixed_table():
    island = datasets.mixed_table(600, random_state=0)
    X, y = pd.DataFrame(island.columns), pd.Series(island.y, name="kilometres")
    selector = quick(max_features=3, estimator="mixed", surrogates="global").fit(X, y)
    explanation = selector.explain(X, y)
    assert explanation.target == "kilometres"
    assert explanation["temperature"].role == "duplicate"
    assert explanation["temperature"].reason == "temperature_fahrenheit"
    ice_creams, market = explanation["ice_creams_sold"], explanation["market"]
    assert ice_creams.redundant_with == ("temperature_fahrenheit",)
    assert market.redundant_with == ()  # it was left out for max_features only
    assert market.added > 0.2


# --- other data than those of the fit -----------------------------------------------------------


def test_held_out_rows():
    X, y = numbers(400)
    selector = quick().fit(X[:200], y[:200])
    explanation = selector.explain(X[200:350], y[200:350])
    assert explanation.n_samples == 150
    assert explanation["x0"].added > 0.3
    assert not explanation.in_sample
    in_sample = selector.explain(X[:200], y[:200])
    assert in_sample.in_sample
    for feature in explanation:
        assert feature.added_in_fit == in_sample[feature.name].added
        assert in_sample[feature.name].added_in_fit is None
    assert explanation["x0"].added != explanation["x0"].added_in_fit


@pytest.mark.parametrize("n_permutations", [39, "auto"])
def test_roles_are_tested_on_the_rows_that_are_passed(n_permutations):
    """What the fit found in other rows is no evidence for these."""
    selector = quick(estimator="gaussian", n_permutations=n_permutations).fit(*numbers())
    assert roles(selector.explain(*numbers()))["x0"] == "strongly relevant"
    assert max(selector.selection_.p_values.values()) <= 0.05
    elsewhere = roles(selector.explain(*noise(n_columns=4)))
    assert (elsewhere["x0"], elsewhere["x1"]) == ("weakly relevant", "weakly relevant")
    again = roles(selector.explain(*numbers(seed=1)))
    assert (again["x0"], again["x1"]) == ("strongly relevant", "strongly relevant")


def test_feature_types_are_those_of_the_fit():
    """The type inferred from 60 rows of counts up to 40 would be continuous."""
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 40, 400)
    X, y = pd.DataFrame({"n": counts, "z": rng.normal(size=400)}), counts + rng.normal(size=400)
    selector = quick().fit(X, y)
    assert selector.feature_types_["n"] == "ordinal"
    explanation = selector.explain(X[:60], y[:60])
    assert explanation["n"].role == "strongly relevant"
    assert explanation["n"].information > 0.5


def test_constant_columns_and_unseen_levels():
    columns, y = season(300)
    X = pd.DataFrame(columns)
    selector = quick(estimator="mixed").fit(X, y)
    assert set(selector.selection_.features) == {"wind", "port"}
    rest = X[200:].assign(boats=3, port="harbour")
    rest["flag"] = ["maybe"] * 50 + ["never"] * 50
    explanation = selector.explain(rest, y[200:])
    assert explanation["wind"].role == "strongly relevant"
    assert explanation["port"].role == "weakly relevant"  # where it does not vary, it adds nothing
    assert explanation["port"].added == 0
    assert explanation["boats"].information == 0


def test_names_may_be_missing():
    """As in transform: an array stands for the frame of the fit by position, with a warning."""
    X, y = numbers(100)
    frame = pd.DataFrame(X, columns=["target", "b", "c", "d"])
    selector = quick().fit(frame, y)
    with pytest.warns(UserWarning, match="valid feature names"):
        explanation = selector.explain(X, y)
    assert explanation["target"] == selector.explain(frame, y)["target"]


@pytest.mark.parametrize("missing", ["drop", "category"])
def test_missing_values(missing):
    X, y = numbers(300)
    X[::7, 2] = np.nan
    selector = quick(missing=missing).fit(X, y)
    explanation = selector.explain(X, y)
    assert explanation.n_samples == selector.selection_.settings.n_samples
    assert explanation["x0"].added > 0.2
    assert explanation["x2"].role == "irrelevant"


def test_several_targets():
    X, y = numbers(300)
    selector = quick().fit(X, np.column_stack([y, X[:, 2]]))
    explanation = selector.explain(X, np.column_stack([y, X[:, 2]]))
    assert explanation["x2"].role == "strongly relevant"
    assert explanation.target == "the target"
    mixed = quick().fit(X, pd.DataFrame({"number": y, "class": X[:, 2] > 0}))
    assert mixed.selection_.settings.target_types == ("continuous", "nominal")
    frame = pd.DataFrame({"number": y, "class": X[:, 2] > 0})
    assert mixed.explain(X[:50], frame[:50])["x0"].added > 0


# --- who is listed ------------------------------------------------------------------------------


def test_feature_groups():
    coins, parity = datasets.sample(datasets.gate("XOR"), 300, random_state=0)
    X = np.column_stack([coins, np.random.default_rng(0).integers(0, 2, (300, 2))])
    selector = quick(feature_groups={"coins": ["x0", "x1"], "others": ["x2", "x3"]})
    explanation = selector.fit(X, parity).explain(X, parity)
    assert roles(explanation) == {"coins": "strongly relevant", "others": "irrelevant"}
    assert explanation["coins"].unique == pytest.approx(1, abs=0.03)
    assert explanation["coins"].added == explanation["coins"].information
    assert explanation["coins"].feature_type == "group"


def test_columns_that_took_no_part():
    X, y = numbers(100)
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["constant"] = 1
    frame["id"] = [f"row {i}" for i in range(100)]
    frame["inches"] = frame["a"] * 2.54
    groups = {"wide": ["c", "d", "constant"]}
    selector = quick(feature_groups=groups, max_features=2)
    with pytest.warns(UserWarning, match="identifier"):
        selector.fit(frame, y)
    explanation = selector.explain(frame, y)
    assert (explanation["constant"].role, explanation["constant"].reason) == ("skipped", "constant")
    assert explanation["id"].reason == "identifier: 100 different texts in 100 rows"
    assert explanation["inches"].reason == "a"
    assert "max_features" in explanation["wide"].reason
    assert {f.name for f in explanation} == {"a", "b", "constant", "id", "inches", "wide"}


def test_fixed_constant_column():
    X, y = numbers(100)
    X[:, 3] = 1
    explanation = quick(fixed_features=["x3"]).fit(X, y).explain(X, y)
    assert [f.name for f in explanation].count("x3") == 1
    assert explanation["x3"].role == "fixed"
    assert explanation["x3"].information == 0


def test_nothing_selected():
    X, y = noise(seed=1)
    with pytest.warns(UserWarning, match="No feature was selected"):
        selector = quick().fit(X, y)
    explanation = selector.explain(X, y)
    assert explanation.information == 0
    assert set(roles(explanation).values()) == {"irrelevant"}


def step(phase, candidates, p_values, chosen, accepted):
    n, p = len(candidates), p_values[candidates.index(chosen)] if p_values else None
    return Step(
        phase=phase,
        conditioning_set=(),
        candidates=tuple(candidates),
        values=(0.1,) * n,
        scores=(0.1,) * n,
        unit="bit",
        estimators=("ksg",) * n,
        p_values=tuple(p_values),
        chosen=chosen,
        critical_value=0.1,
        p_value=p,
        alpha=0.05,
        surrogates="global",
        n_permutations=99 if p_values else 0,
        accepted=accepted,
    )


STEPS = (
    step("forward", "abcde", (0.01, 0.02, 0.05, 0.06, 0.06), "a", True),
    step("forward", "bcde", (0.01, 0.9, 0.06, 0.06), "b", True),
    step("forward", "cde", (0.9, 0.9, 0.05), "e", True),
    step("backward", "abe", (0.01, 0.3, 0.02), "b", False),
    step("backward", "ae", (0.01, 0.02), "e", True),
)


def test_roles_from_the_record():
    record = Selection(
        ("a", "e"), ("k",), STEPS, {"a": 0.01, "e": 0.2}, settings=Settings(alpha=0.05)
    )
    assert recorded_roles(record) == {
        "k": "fixed",
        "a": "strongly relevant",
        "e": "weakly relevant",
        "b": "weakly relevant",
        "c": "weakly relevant",
        "d": "irrelevant",
    }


@pytest.mark.parametrize("phase", ["lookahead", "random_starts"])
def test_a_feature_included_jointly_and_removed_is_not_relevant(phase):
    pair = step(phase, ["a & b", "a & c"], (0.01, 0.5), "a & b", True)
    steps = (
        step("forward", "abc", (0.3, 0.3, 0.3), "a", False),
        replace(pair, jointly_included=("a", "b")),
        step("joint_backward", "ab", (0.01, 0.3), "b", False),
    )
    record = Selection(("a",), (), steps, {"a": 0.01}, settings=Settings(alpha=0.05))
    expected = {"a": "strongly relevant", "b": "irrelevant", "c": "irrelevant"}
    assert recorded_roles(record) == expected


def test_roles_of_what_was_not_tested():
    steps = (step("forward", "abc", (), "a", True), step("forward", "bc", (), "b", True))
    record = Selection(("a", "b"), (), steps, settings=Settings(n_permutations=0))
    assert recorded_roles(record) == dict.fromkeys("abc", "untested")


def switch_system(n=300, seed=0):
    """A switch that turns the sign of another feature is relevant only given that feature."""
    rng = np.random.default_rng(seed)
    size, switch, other = rng.normal(size=n), rng.integers(0, 2, n), rng.normal(size=n)
    y = np.where(switch, size, -size) + 0.5 * size**2 + 0.1 * rng.normal(size=n)
    return pd.DataFrame({"size": size, "switch": switch, "other": other}), y


def test_held_out_roles_are_tested_beside_all_selected_features():
    """In the fit, the switch was only tested by itself, as it ended with one feature."""
    selector = quick(max_features=1).fit(*switch_system())
    assert selector.selection_.features == ("size",)
    assert roles(selector.explain(*switch_system()))["switch"] == "irrelevant"
    explanation = selector.explain(*switch_system(seed=1))
    assert roles(explanation) == {
        "size": "strongly relevant",
        "switch": "adds to the selected set",
        "other": "irrelevant",
    }
    switch = explanation["switch"]
    assert switch.p_value <= 0.05 < switch.marginal_p_value
    assert any("max_features" in note for note in explanation.notes)


def test_roles_of_the_rows_of_the_fit_are_those_of_its_tests():
    """Nothing is tested again, and p-values are those of the record."""
    X, y = numbers(200)
    selector = quick().fit(X, y)
    record, explanation = selector.selection_, selector.explain(X, y)
    assert roles(explanation) == recorded_roles(record)
    first = record.steps[0]
    for name, p_value in zip(first.candidates, first.p_values, strict=True):
        assert explanation[name].marginal_p_value == p_value
    final = dict(zip(selector.feature_types_, selector.pvalues_.tolist(), strict=True))
    for feature in explanation:
        assert feature.p_value == final[feature.name]
    assert any("tests of the fit" in note for note in explanation.notes)


def test_a_selected_feature_that_adds_nothing_is_weakly_relevant():
    """Two measurements of one quantity: ranking by marginal information selects both."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 4, 300)
    X = pd.DataFrame({"a": a, "coarse": a // 2, "coin": rng.integers(0, 2, 300)})
    y = a + rng.integers(0, 2, 300)
    selector = quick(criterion="mi", backward=None).fit(X, y)
    assert set(selector.selection_.features) == {"a", "coarse"}
    found = roles(selector.explain(X, y))
    assert found == {"a": "strongly relevant", "coarse": "weakly relevant", "coin": "irrelevant"}


def test_roles_are_tested_even_where_the_selection_was_not():
    """Three are requested, two are informative: the third is no more relevant than the fourth."""
    X, y = numbers(100)
    selector = quick(n_permutations=0, max_features=3, estimator="gaussian").fit(X, y)
    third = selector.selection_.features[2]
    explanation = selector.explain(X, y)
    assert explanation["x0"].role == explanation["x1"].role == "strongly relevant"
    assert explanation[third].role == "weakly relevant"
    assert not any("n_permutations=0" in note for note in explanation.notes)
    assert any("level 0.05" in note for note in explanation.notes)


def test_untested_roles_without_the_groups_of_the_fit():
    X, y = numbers(100)
    who = np.arange(100) % 5
    selector = quick(n_permutations=0, max_features=2, estimator="gaussian").fit(X, y, who)
    explanation = selector.explain(X, y)
    assert explanation["x0"].role == "untested"
    assert any("n_permutations=0" in note for note in explanation.notes)
    assert not any("n_permutations=0" in note for note in selector.explain(X, y, who).notes)


def test_recorded_roles_do_not_depend_on_the_samples():
    """Without the groups of the fit nothing is tested, so its final p-values still count."""

    def nested(seed):
        rng = np.random.default_rng(seed)
        fine, coins = rng.integers(0, 4, 300), rng.integers(0, 2, (2, 300))
        return np.column_stack([fine, fine // 2, coins[0]]), fine + coins[1]

    settings = {"criterion": "mi", "backward": None, "estimator": "discrete"}
    selector = quick(**settings).fit(*nested(0), np.arange(300) % 5)
    assert selector.selection_.p_values["x1"] > 0.05
    assert roles(selector.explain(*nested(0))) == roles(selector.explain(*nested(1)))


def test_another_target():
    X, y = numbers(100)
    both = pd.DataFrame({"u": y, "v": y > 0})
    selector = quick().fit(X, both)
    assert selector.explain(X, both.to_numpy(dtype=float)).n_samples == 100
    with pytest.raises(ValueError, match=r"'v', 'u'.*'u', 'v'"):
        selector.explain(X, both[["v", "u"]])


def test_candidates_are_tested_given_the_fixed_features():
    rng = np.random.default_rng(0)
    c = rng.integers(0, 2, 200)
    X = pd.DataFrame({"c": c, "b": c ^ (rng.random(200) < 0.1)})
    explanation = quick(fixed_features=["c"]).fit(X, c).explain(X, c)
    assert explanation["b"].role == "irrelevant"


def test_intervals_need_enough_rows():
    X, y = numbers(60)
    fitted = quick(estimator=KSG(k=12)).fit(X, y)
    assert fitted.explain(X, y)["x0"].intervals
    few = fitted.explain(X[:27], y[:27])["x0"]  # 13 rows have no 12 nearest neighbours
    assert few.unique is not None
    assert few.intervals == {}


def test_a_target_that_a_selected_feature_determines():
    """No residuals of the target are left, in halves of the rows as well."""
    X, _ = numbers(100)
    y = 3 * X[:, 0]
    explanation = quick(fixed_features=["x0"]).fit(X, y).explain(X, y)
    assert explanation["x1"].added == 0
    assert explanation["x1"].intervals["added"] == (0.0, 0.0)


# --- settings -----------------------------------------------------------------------------------


def test_workers_do_not_show():
    X, y = numbers(150)
    selector = quick().fit(X, y)
    one = selector.explain(X, y, path=True).to_dict()
    selector.set_params(n_jobs=2)
    assert selector.explain(X, y, path=True).to_dict() == one


def test_measure_and_bins():
    X, y = numbers(200)
    explanation = quick().fit(X, y).explain(X, y, measure="mmi", bins=3)
    assert explanation["x0"].method == "mmi, counted"
    more = quick().fit(X, y).explain(X, y, measure="mmi", bins=6)
    assert more["x0"].added == explanation["x0"].added  # bins are those of the atoms alone
    assert more["x0"].shared != explanation["x0"].shared


def test_own_estimator():
    X, y = numbers(100)
    explanation = quick(estimator=KSG(k=7)).fit(X, y).explain(X, y)
    expected = mutual_information(X[:, 0], y, X[:, 1], estimator=KSG(k=7))
    assert explanation["x0"].added == round(expected, 3)


# --- bad input ----------------------------------------------------------------------------------


def test_not_fitted():
    with pytest.raises(NotFittedError):
        quick().explain(*numbers())


@pytest.fixture(scope="module")
def fitted():
    X, y = numbers()
    return quick().fit(pd.DataFrame(X, columns=list("abcd")), y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X.rename(columns={"a": "A"}), y), "feature names"),
        (lambda X, y: (X[["a", "b"]], y), "feature"),
        (lambda X, y: (X[:-1], y), "X has 99, y has 100"),
        (lambda X, y: (X, np.column_stack([y, y[::-1]])), "y has 2 column"),
        (lambda X, y: (X, None), "y is None"),
        (lambda X, y: (X, np.ones(100)), "constant"),
        (lambda X, y: (X.assign(b="text"), y), "'b' cannot be continuous"),
        (lambda X, y: (X.assign(b=np.nan), y), "'b' .100 missing"),
    ],
    ids=["names", "columns", "rows", "targets", "no target", "constant", "texts", "missing"],
)
def test_bad_data(fitted, change, message):
    X, y = numbers()
    with pytest.raises(ValueError, match=message):
        fitted.explain(*change(pd.DataFrame(X, columns=list("abcd")), y))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"measure": "broia"}, "did you mean 'broja'"),
        ({"measure": "gaussian"}, "measure='gaussian' is unknown"),
        ({"bins": 1}, "bins=1 .*at least 2"),
        ({"bins": 2.5}, "bins=2.5"),
    ],
    ids=str,
)
def test_bad_settings(fitted, settings, message):
    X, y = numbers()
    with pytest.raises(ValueError, match=message):
        fitted.explain(pd.DataFrame(X, columns=list("abcd")), y, **settings)


def test_groups_changed_after_the_fit():
    X, y = numbers()
    selector = quick(feature_groups={"both": ["x0", "x1"]}).fit(X, y)
    with pytest.raises(ValueError, match=r"'both'.*changed after fit"):
        selector.set_params(feature_groups=None).explain(X, y)


# --- the name of the target -----------------------------------------------------------------------


def test_a_target_of_another_name_is_refused():
    X, y = gates()
    named = {"target_price": pd.Series(y, name="target_price"), "open": pd.Series(y, name="open")}
    selector = quick(n_permutations=0, max_features=1).fit(X, named["target_price"])
    with pytest.raises(ValueError, match=r"'open'.*'target_price'.*same target"):
        selector.explain(X, named["open"])
    with pytest.raises(ValueError, match=r"'target_price'.*'open'"):
        selector.fit(X, named["open"]).explain(X, named["target_price"])
    for target in (y, pd.Series(y), list(y)):  # without a name, any matches
        assert len(selector.explain(X, target))
        assert len(quick(n_permutations=0, max_features=1).fit(X, target).explain(X, named["open"]))
