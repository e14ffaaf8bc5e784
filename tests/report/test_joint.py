"""The target over pairs: cells against a plain loop, levels, and the pairs that are shown."""

from dataclasses import replace

import hostile
import numpy as np
import pandas as pd
import pytest

from pidselect import JointDisplay, PIDSelector
from pidselect.data import Column, read_dataset
from pidselect.report.levels import MAX_LEVELS, MIN_ROWS, column_levels, joint_table, joint_tables

NAMES = ("wind", "rain", "day", "hour")
RNG = np.random.default_rng(0)
TABLE = pd.DataFrame(RNG.integers(0, 3, size=(300, 4)), columns=NAMES)
NUMBERS = pd.Series(RNG.normal(size=300), name="sales")
CLASSES = pd.Series(RNG.integers(0, 2, size=300), name="y").map({0: "no", 1: "yes"})


def naive(mask):
    """Return counts and values of each cell of wind and rain by a loop."""
    counts, values = [], []
    for first in range(3):
        rows = [mask[(TABLE.wind == first) & (TABLE.rain == second)] for second in range(3)]
        counts.append([len(cell) for cell in rows])
        values.append([cell.mean() if len(cell) else None for cell in rows])
    return counts, values


def levels(values, feature_type="continuous", labels=None):
    return column_levels(Column("x", feature_type, np.asarray(values, dtype=float), labels))


# ----------------------------------------------------------------------------------------- cells


def test_means_of_a_numeric_target():
    found = joint_table(read_dataset(TABLE, NUMBERS), ("wind", "rain"))
    counts, values = naive(NUMBERS)
    assert found["counts"] == counts
    assert found["values"] == [pytest.approx(row) for row in values]
    assert found["overall"] == pytest.approx(NUMBERS.mean())
    assert found["range"] == pytest.approx([np.min(values), np.max(values)])
    assert (found["quantity"], found["levels"]) == ("mean of sales", [["0", "1", "2"]] * 2)


def test_of_two_classes_the_share_of_the_second():
    found = joint_table(read_dataset(TABLE, CLASSES), ("wind", "rain"))
    assert found["quantity"] == "share of y = yes"
    assert found["values"] == [pytest.approx(row) for row in naive(CLASSES == "yes")[1]]


def test_of_three_classes_the_one_whose_share_varies_most():
    rare = (TABLE.wind == 1) & (TABLE.rain == 1)
    other = np.where(RNG.random(300) < 0.5, "a", "b")
    y = pd.Series(np.where(rare, "c", other), name="y")
    found = joint_table(read_dataset(TABLE, y), ("wind", "rain"))
    assert found["quantity"] == "share of y = c"
    assert found["values"] == [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def test_empty_cells_are_none_and_few_rows_do_not_count_for_the_range():
    X = pd.DataFrame({"a": [0] * 40 + [1] * 3, "b": [0] * 20 + [1] * 20 + [0] * 3})
    y = pd.Series([0] * 15 + [1] * 5 + [0] * 5 + [1] * 15 + [1] * 3, name="y")
    found = joint_table(read_dataset(X, y), ("a", "b"))
    assert found["values"] == [[0.25, 0.75], [1.0, None]]
    assert found["counts"] == [[20, 20], [3, 0]]
    assert found["range"] == [0.25, 0.75]
    few = joint_table(read_dataset(X[30:], y[30:].where(lambda y: y.index < 42, 0)), ("a", "b"))
    assert max(map(max, few["counts"])) == MIN_ROWS


# ---------------------------------------------------------------------------------------- levels


def test_numbers_are_in_filled_bins_with_readable_edges():
    values = np.random.default_rng(1).normal(-1000, 40, size=500)
    names, codes = levels(values)
    assert names[1:4] == ["−1031 to −1009", "−1009 to −992", "−992 to −973"]
    assert np.bincount(codes).min() > 50
    assert values[codes == 0].max() < -1031 <= values[codes == 1].min()


@pytest.mark.parametrize(
    "values",
    [
        np.r_[np.zeros(80), np.arange(20)],
        np.r_[np.zeros(99), np.arange(1, 9)],
        1e9 + np.arange(50) / 1e3,
        np.arange(50) * 1e-12,
        np.r_[np.arange(7.0), np.full(90, 6.0)],
        np.r_[np.zeros(60), np.full(30, 1.5), 3.2 + np.arange(10)],
    ],
)
def test_no_bin_is_empty_whatever_the_values(values):
    names, codes = levels(values)
    assert 2 <= len(names) == len(set(names)) == len(np.unique(codes)) <= 5


def test_few_levels_stay_and_rare_labels_are_lumped():
    assert levels([3, 1, 1, 2.5])[0] == ["1", "2.5", "3"]
    codes = np.repeat(np.arange(8), [9, 1, 8, 7, 2, 6, 5, 1])
    names, found = levels(codes, "nominal", tuple("abcdefgh"))
    assert names == ["a", "c", "d", "f", "g", "other"]
    assert len(names) == MAX_LEVELS
    assert np.bincount(found).tolist() == [9, 8, 7, 6, 5, 4]


@pytest.mark.parametrize("n_levels", [3, 9])
@pytest.mark.parametrize("feature_type", ["nominal", "ordinal"])
def test_missing_values_are_the_last_level(feature_type, n_levels):
    values = np.r_[np.arange(n_levels).repeat(5), [np.nan] * 4]
    names, codes = levels(values, feature_type)
    assert names[-1] == "missing"
    assert (codes == len(names) - 1).tolist() == np.isnan(values).tolist()


def test_intervals_of_whole_numbers_name_the_numbers_that_they_hold():
    values = np.repeat([0, 1, 2, 3, 5, 8, 9, 12], 10)
    names, codes = levels(values, "ordinal")
    assert names == ["≤ 0", "1 to 2", "3 to 4", "5 to 8", "≥ 9"]
    held = [sorted({int(value) for value in values[codes == place]}) for place in range(5)]
    assert held == [[0], [1, 2], [3], [5, 8], [9, 12]]


# ----------------------------------------------------------------------------------------- pairs


def record(included, selected, given=()):
    """Return a selection in which forward finds nothing, and look-ahead some features."""
    nothing = hostile.step(NAMES, given, False, 0)
    found = replace(hostile.step(NAMES, given, True, 1, "lookahead"), jointly_included=included)
    steps = [nothing, found]
    steps += [hostile.step((name,), given, True, 2) for name in selected if name not in included]
    return hostile.selection(NAMES, 0, features=selected, steps=tuple(steps), p_values={})


def pairs(selection, X=TABLE, y=CLASSES):
    return joint_tables(selection, read_dataset(X, y))


def test_a_pair_and_its_sentence():
    (found,) = pairs(record(("wind", "rain"), ("wind", "rain")))
    assert found["features"] == ["wind", "rain"]
    low, high = found["range"]
    assert found["sentence"] == (
        "Jointly included: wind and rain. Neither is significant alone. The share of y = yes "
        f"ranges from {low:.2f} to {high:.2f} over their combinations."
    )
    (found,) = pairs(record(("wind", "rain"), ("wind", "rain"), given=("hour",)))
    assert "given the features selected before" in found["sentence"]


def test_a_triple_has_a_table_of_two_for_each_level_of_the_third():
    X = TABLE.assign(day=TABLE.day % 2)
    found = pairs(record(NAMES[:3], NAMES[:3]), X)
    assert [one["within"] for one in found] == [["day", "0"], ["day", "1"]]
    assert [one["features"] for one in found] == [["wind", "rain"]] * 2
    for day, one in enumerate(found):
        cells = X[X.day == day].groupby(["wind", "rain"]).size()
        assert one["counts"] == cells.unstack().to_numpy().tolist()
    assert "None of them is significant alone." in found[0]["sentence"]
    assert found[1]["sentence"] == ""
    assert found[0]["range"] == found[1]["range"]  # one scale for all


def test_of_more_than_three_some_pairs():
    found = pairs(record(NAMES, NAMES))
    expected = [["wind", "rain"], ["wind", "day"], ["wind", "hour"]]
    assert [one["features"] for one in found] == expected
    assert "may need all of them" in found[0]["sentence"]


def test_only_features_that_are_still_selected():
    assert pairs(record(("wind", "rain"), ("wind",))) == []
    assert pairs(hostile.selection(NAMES, 2)) == []  # one after the other


def test_groups_and_several_targets_have_a_reason_instead():
    without = TABLE.rename(columns={"rain": "r1"})
    (found,) = pairs(record(("wind", "rain"), ("wind", "rain")), without)
    assert found["counts"] == []
    assert "No heat map: rain is a group of columns." in found["sentence"]
    (found,) = pairs(record(("wind", "rain"), ("wind", "rain")), y=TABLE[["day", "hour"]])
    assert found["sentence"].endswith("the target has several columns.")


# --------------------------------------------------------------------------------------- display


@pytest.fixture(scope="module")
def selector():
    lamp = (TABLE.wind + TABLE.rain) % 3 == 0
    return PIDSelector(lookahead=2, random_state=0).fit(TABLE, lamp), lamp


def test_a_display_of_the_pair_or_of_any_two_columns(selector):
    fitted, lamp = selector
    display = JointDisplay.from_selector(fitted, TABLE, lamp)
    assert display.features == ("wind", "rain")
    assert display.describe().startswith("wind and rain: share of class True from 0.00 to 1.00")
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts[0] == f"1.00\n{display.counts[0, 0]} rows"
    other = JointDisplay.from_selector(fitted, TABLE, lamp, features=("day", "hour"))
    assert other.ax_.get_xlabel() == "hour"
    for wrong in ("wind", ["wind"]):
        with pytest.raises(ValueError, match="features="):
            JointDisplay.from_selector(fitted, TABLE, lamp, features=wrong)


def test_empty_cells_are_marked_in_the_display():
    X = TABLE[(TABLE.wind != 1) | (TABLE.rain != 2)]
    display = JointDisplay.from_dict(
        joint_table(read_dataset(X, NUMBERS[X.index]), ("wind", "rain"))
    ).plot()
    assert [text.get_text() for text in display.ax_.texts].count("empty") == 1
    assert display.describe().endswith("1 cell empty.")


def test_without_a_pair_the_display_says_so():
    fitted = PIDSelector(random_state=0).fit(TABLE, TABLE.day)
    display = JointDisplay.from_selector(fitted, TABLE, TABLE.day)
    assert "no two single columns" in repr(display)
    assert len(display.ax_.texts) == 1
