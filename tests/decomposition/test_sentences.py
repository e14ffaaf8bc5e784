"""Sentences on features: one template for each role, with the numbers of the explanation."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest

from pidselect.decomposition.explanation import Explanation, FeatureExplanation, Pairs
from pidselect.decomposition.sentences import sentence, short_sentence

VALUES = {"information": 0.33, "added": 0.6, "unique": 0.27, "shared": 0.06, "synergy": 0.33}
X4 = FeatureExplanation(
    "X4", "strongly relevant", True, **VALUES, p_value=0.005, redundant_with=("X1",)
)
X7 = FeatureExplanation(
    "X7",
    "weakly relevant",
    False,
    **{"information": 0.545, "added": 0.015, "unique": 0.01, "shared": 0.535, "synergy": 0.005},
    p_value=0.657,
    marginal_p_value=0.005,
    redundant_with=("A", "B"),
)


def explain(*features, others=("X1", "X2"), **more):
    """Return an explanation in which X1 and X2 are selected, too."""
    names = (*others, *(feature.name for feature in features if feature.selected))
    values = np.zeros((len(names), len(names)))
    is_all = np.ones(values.shape, dtype=bool)
    pairs = Pairs(names, values, values, is_all, is_all, "made up")
    return Explanation(features, dict.fromkeys(names, 0.1), pairs, 200, **more)


def say(feature, **more):
    return sentence(feature, explain(feature, **more))


def test_a_selected_feature():
    assert say(X4) == (
        "X4 adds 0.600 bits beyond the other selected features (0.270 unique, 0.330 synergistic; "
        "p = 0.005); its marginal information is 0.330 bits, of which 0.060 are redundant with X1."
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"redundant_with": (), "overlaps_with": ("X1",)}, "0.060 overlap with what X1 predicts."),
        ({"overlaps_with": ("X2",)}, "0.060 are redundant with X1."),  # stronger than an overlap
        ({"shared": 0.0, "information": 0.27}, "its marginal information is 0.270 bits."),
        ({"role": "weakly relevant", "p_value": 0.2}, "synergistic; not significant, p = 0.200);"),
        ({"role": "fixed", "p_value": None}, "X4 is a fixed feature and adds 0.600 bits"),
        ({"is_lower_bound": True}, "adds at least 0.600 bits"),
        ({"added_in_fit": 0.7}, "redundant with X1; in the fit it added 0.700 bits."),
        ({"information": inf, "shared": inf}, "its marginal information is infinitely many bits"),
    ],
)
def test_what_a_sentence_says_of_a_selected_feature(change, expected):
    assert expected in say(replace(X4, **change))


def test_sequential_tests_say_only_whether_p_is_below_the_level():
    assert "p < 0.05)" in say(X4, is_sequential=True)
    assert "p > 0.05)" in say(X7, is_sequential=True)


def test_the_only_selected_feature():
    alone = replace(X4, shared=0.0, synergy=0.0, information=0.6, unique=0.6)
    assert say(alone, others=()) == (
        "X4 is the only selected feature; its marginal information is 0.600 bits (p = 0.005)."
    )


def test_features_that_are_not_selected():
    assert say(X7) == (
        "X7 has a marginal information of 0.545 bits, of which 0.535 are redundant with A and B, "
        "but is not significant beyond the selected features (would add 0.015 bits, p = 0.657)."
    )
    out = replace(X7, role="irrelevant", information=0.003, shared=0.0, marginal_p_value=0.9)
    assert say(out) == (
        "X7 is not significant: its marginal information is 0.003 bits (p = 0.900), and it would "
        "add 0.015 bits to the selected features (p = 0.657)."
    )
    assert say(replace(X7, role="adds to the selected set", p_value=0.0001)) == (
        "X7 is not selected, but would add 0.015 bits to the selected features (0.010 unique, "
        "0.005 synergistic; p < 0.001)."
    )
    assert say(replace(X7, role="untested", p_value=None)).startswith("X7 was not tested; it would")
    assert "0.535 are shared with the selected features, but is not significant beyond them" in (
        say(replace(X7, redundant_with=()))
    )
    none = say(out, others=())
    assert none == "X7 is not significant: its marginal information is 0.003 bits (p = 0.657)."


def test_features_without_values():
    duplicate = FeatureExplanation("a\nb", "duplicate", False, reason="X1")
    assert say(duplicate) == "'a\\nb' is a duplicate of X1."
    skipped = FeatureExplanation("X5", "skipped", False, reason="constant")
    assert say(skipped) == "X5 was skipped: constant."
    unknown = FeatureExplanation(
        "X6", "strongly relevant", True, p_value=0.005, reason="too few samples"
    )
    assert say(unknown) == (
        "X6 is strongly relevant (p = 0.005); its information is not estimable: too few samples."
    )
    rows = [short_sentence(feature, explain(feature)) for feature in (duplicate, skipped, unknown)]
    assert rows == ["Duplicate of X1.", "Skipped: constant.", "Not estimable: too few samples."]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({}, "0.270 unique, 0.330 synergistic; 0.060 redundant with X1."),
        ({"added": 0.0, "shared": 0.0}, ""),
    ],
)
def test_a_short_sentence_leaves_out_what_the_table_shows(change, expected):
    feature = replace(X4, **change)
    assert short_sentence(feature, explain(feature)) == expected
    assert short_sentence(feature, explain(feature, others=())) == "The only selected feature."


def test_many_and_long_names_are_cut():
    feature = replace(X4, redundant_with=("w" * 300, *(f"x{place}" for place in range(9))))
    assert len(say(feature)) < 300
    assert "and 7 more" in say(feature)
