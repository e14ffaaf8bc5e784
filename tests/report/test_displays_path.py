"""The selection path: dots, diamonds, critical values, crosses, and infinite scores."""

import made_up_results
import numpy as np
import pytest
from matplotlib.colors import to_hex

from pidselect.report.displays import SelectionPathDisplay
from pidselect.report.displays.path import CHOSEN, CRITICAL
from pidselect.selection import PIDSelector
from pidselect.significance.score import NOTHING


def draw(record, **more):
    return SelectionPathDisplay.from_dict({**record, **more}).plot()


def marks(display, marker):
    return [line for line in display.ax_.lines if line.get_marker() == marker]


def texts(display):
    return [text.get_text() for text in display.ax_.texts]


def ticks(display):
    return [label.get_text() for label in display.ax_.get_xticklabels()]


def legend(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_a_real_selection_is_drawn_and_its_record_gives_the_same():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    selector = PIDSelector(estimator="gaussian", n_permutations=30, random_state=0)
    selection = selector.fit(X, X[:, 1] + 0.3 * rng.normal(size=80)).selection_
    display = SelectionPathDisplay.from_selection(selection)
    assert display.features == selection.features
    assert display.unit == "bit"
    assert display.steps[0].scores == selection.steps[0].scores
    again = SelectionPathDisplay.from_dict(selection.to_dict())
    assert again.describe() == display.describe()
    assert "x1 at" in display.describe()


def test_every_candidate_is_a_dot_or_the_mark_of_its_step():
    display = draw(made_up_results.selection(6, 4))
    dots = sum(len(cloud.get_offsets()) for cloud in display.ax_.collections)
    assert dots == (6 - 1) + (5 - 1) + (4 - 1) + (3 - 1)
    diamonds = marks(display, "D")
    assert [mark.get_ydata()[0] for mark in diamonds] == [30.0, 29.5, 29.0, 2.5]
    faces = [to_hex(mark.get_markerfacecolor()) for mark in diamonds]
    assert faces == [CHOSEN.lower()] * 3 + ["#ffffff"]
    lines = [line for line in display.ax_.lines if line.get_color() == CRITICAL]
    assert [line.get_ydata()[0] for line in lines] == [4.0] * 4


def test_a_feature_stands_at_the_same_place_in_every_column():
    record = made_up_results.selection(6, 4)
    display = draw(record)
    left, last = display.steps[0], display.steps[-1]
    offsets = np.concatenate([cloud.get_offsets() for cloud in display.ax_.collections])
    shared = [name for name in last.candidates if name not in (left.chosen, last.chosen)]
    for name in shared:
        first = offsets[np.isclose(offsets[:, 1], left.scores[left.candidates.index(name)]), 0]
        later = offsets[np.isclose(offsets[:, 1], last.scores[last.candidates.index(name)]), 0]
        assert later - first == pytest.approx(3.0)


def test_removed_features_are_crossed_out():
    display = draw(made_up_results.selection(6, 4, removed=2))
    gone = [step.chosen for step in display.steps[:2]]
    assert display.removed == tuple(gone)
    crosses = marks(display, "x")
    assert [mark.get_ydata()[0] for mark in crosses] == [30.0, 29.5]
    assert "removed later" in legend(display)
    assert f"{gone[0]} and {gone[1]}" in " ".join(display.ax_.get_xlabel().split())
    assert f"{gone[0]} and {gone[1]}." in display.describe()


def test_some_jointly_included_features_can_be_removed():
    record = made_up_results.selection(4, 2)
    pair = made_up_results.step(["b & c", "b & d"], [20.0, 1.0], "b & c", True, ["a"])
    pair |= {"phase": "lookahead", "jointly_included": ["b", "c"]}
    gone = made_up_results.step(["b", "c"], [0.1, 9.0], "b", False, ["a"]) | {
        "phase": "joint_backward"
    }
    display = draw({**record, "steps": [*record["steps"], pair, gone], "features": ["a", "c"]})
    last = display.steps[-1]
    assert (last.included, last.removed, last.is_removed) == (("b", "c"), ("b",), False)
    assert marks(display, "x") == []
    assert ticks(display)[-1] == "b & c\nlookahead"
    assert "b" in display.ax_.get_xlabel().split(": ")[1]


def test_infinite_scores_stand_at_the_edge():
    record = made_up_results.selection(4, 2)
    record["steps"][0]["scores"] = ["inf", "-inf", 1.0, "nan"]
    record["steps"][0]["chosen"] = "feature_0"
    display = draw(record)
    low, high = display.ax_.get_ylim()
    assert high > marks(display, "D")[0].get_ydata()[0] > 4.0
    assert sum(len(cloud.get_offsets()) for cloud in display.ax_.collections) == 2 + 2
    assert low < -2.0
    assert "feature_0 at inf" in display.describe()


def test_a_dot_above_the_mark_is_explained():
    record = made_up_results.selection(4, 2)
    assert "above" not in draw(record).ax_.get_xlabel()
    chosen = record["steps"][0]["candidates"].index(record["steps"][0]["chosen"])
    record["steps"][0]["scores"][chosen - 1] = 31.0
    display = draw(record)
    assert "less information" in display.ax_.get_xlabel()
    assert "less information" in display.describe()
    in_bits = draw({**record, "steps": [{**step, "unit": "bit"} for step in record["steps"]]})
    assert "another test" in in_bits.describe()


def test_small_statistics_are_seen_beside_large_ones_and_what_is_determined_is_not_drawn():
    record = made_up_results.selection(4, 2)
    record["steps"][0]["scores"] = [400.0, 4.0, NOTHING, 0.0]
    record["steps"][0]["chosen"] = "feature_0"
    display = draw(record)
    height = display.ax_.transAxes.inverted().transform
    (_, large), (_, small), (_, none) = height(
        display.ax_.transData.transform([[1.0, value] for value in (400.0, 4.0, 0.0)])
    )
    assert (small - none) / (large - none) == pytest.approx(0.1)
    assert np.isnan(display.steps[0].scores[2])
    assert sum(len(cloud.get_offsets()) for cloud in display.ax_.collections) == 2 + 2


def test_very_many_dots_become_a_picture():
    few = SelectionPathDisplay.from_dict(made_up_results.selection(20, 3)).to_svg()
    many = SelectionPathDisplay.from_dict(made_up_results.selection(300, 3)).to_svg()
    assert "data:image/png" not in few
    assert "data:image/png" in many
    assert len(many) < 150_000


def test_steps_of_different_units_are_compared_in_bits():
    record = made_up_results.selection(4, 2)
    record["steps"][1]["unit"] = "bit"
    display = draw(record)
    assert display.unit == "bit"
    assert display.steps[0].scores == tuple(record["steps"][0]["values"])
    assert display.steps[0].critical_value is None
    assert display.steps[1].critical_value == 4.0


def test_nothing_selected_and_nothing_tried():
    display = draw(made_up_results.selection(3, 1))
    assert display.features == ()
    assert "no feature" in display.describe()
    assert "included" not in legend(display)
    empty = draw(made_up_results.selection(3, 1), steps=[])
    assert texts(empty) == [empty.describe()]


def test_without_a_critical_value_and_a_score():
    record = made_up_results.selection(3, 1)
    record["steps"][0] |= {"critical_value": None, "scores": [None, None, None]}
    display = draw(record)
    assert marks(display, "D") == []
    assert not any("critical" in words for words in legend(display))
    assert "not estimable, not included" in display.describe()
