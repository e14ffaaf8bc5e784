"""Errors name the column, the value and the remedy."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from estimators.samples import NOTHING, block
from pidselect.data.column import Block, Column
from pidselect.estimators import (
    KSG,
    Batch,
    Copula,
    Discrete,
    Gaussian,
    Mixed,
    mutual_information,
    resolve,
)

NUMBERS = np.random.default_rng(0).normal(size=(3, 40))
COLOURS = pd.Series(["red", "green", "blue", "green"] * 10, name="colour")
NAMES = ("auto", "ksg", "ksg-rank", "mixed", "mixed-rank", "discrete", "gaussian", "copula")


def mentions(*words: str) -> str:
    """Return a pattern for a message that holds all the words, in any order."""
    return "(?is)" + "".join(f"(?=.*{re.escape(word)})" for word in words)


def run(estimator, x: Block, y: Block, s: Block = NOTHING) -> float:
    return estimator.bind(y, s).score(Batch.observed(x))[0]


# --- too few, or not matching -------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [KSG(k=4), KSG(k=4, algorithm=2), Mixed(k=4)])
@pytest.mark.parametrize("n", [2, 5])
def test_too_few_samples(estimator, n):
    x, y, s = NUMBERS[:, :n]
    with pytest.raises(ValueError, match=mentions("samples", str(n), "k")):
        mutual_information(x, y, s, estimator=estimator)
    with pytest.raises(ValueError, match=mentions("samples", str(n), "k")):
        run(estimator, block(x[:, None]), block(y[:, None]))


@pytest.mark.parametrize("estimator", NAMES)
def test_different_lengths(estimator):
    x, y, s = np.repeat([NUMBERS[0].round()], 3, axis=0)
    with pytest.raises(ValueError, match=mentions("40", "39")):
        mutual_information(x[:39], y, estimator=estimator)
    with pytest.raises(ValueError, match=mentions("40", "38")):
        mutual_information(x, y, s[:38], estimator=estimator)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([0, 1, 2, 40], ("rows[1, 3]", "40")),
        ([0, 1, 2, -1], ("rows[1, 3]", "-1")),
        ([0, 1, 1, 3], ("rows[1, 2]", "1")),
        ([0, 1, 2, 2**32 + 3], ("rows[1, 3]", str(2**32 + 3))),
    ],
)
@pytest.mark.parametrize("estimator", [KSG(), KSG(algorithm=2), Mixed(), Gaussian(), Copula()])
def test_rows_that_are_no_permutation(estimator, row, words):
    """Kernels read the sample that a row names, wherever that is."""
    x, y = block(NUMBERS[0][:, None]), block(NUMBERS[1][:, None])
    rows = np.tile(np.arange(40), (2, 1))
    rows[1, : len(row)] = row
    with pytest.raises(ValueError, match=mentions(*words)):
        estimator.bind(y, NOTHING).score(Batch(x, rows))


@pytest.mark.parametrize("rows", [np.arange(40), np.arange(39)[None], np.arange(40.0)[None]])
def test_rows_of_another_shape_or_type(rows):
    with pytest.raises(ValueError, match=mentions("rows", "40", str(rows.shape), str(rows.dtype))):
        Batch(block(NUMBERS[0][:, None]), rows)


def test_rows_of_any_integers():
    x, y = block(NUMBERS[0][:, None]), block(NUMBERS[1][:, None])
    rows = np.random.default_rng(0).permutation(40)[None]
    expected = KSG().bind(y, NOTHING).score(Batch(x, rows.astype(np.int32)))
    for dtype in (np.uint8, np.int64, np.uint64):
        batch = Batch(x, rows.astype(dtype))
        assert batch.rows.dtype == np.int32
        np.testing.assert_array_equal(KSG().bind(y, NOTHING).score(batch), expected)


# --- columns an estimator cannot take -----------------------------------------------------------


@pytest.mark.parametrize("estimator", [KSG(), KSG(scale="rank"), KSG(scale=None, algorithm=2)])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_ksg_refuses_missing_values(estimator, place):
    blocks = [block(values[:, None], name=f"part{i}_") for i, values in enumerate(NUMBERS)]
    values = np.where(np.arange(40) < 3, np.nan, NUMBERS[place])
    blocks[place] = Block((Column("income", "continuous", values),))
    with pytest.raises(ValueError, match=mentions("income", "missing")):
        run(estimator, *blocks)


@pytest.mark.parametrize("estimator", [KSG(), KSG(scale="rank"), KSG(algorithm=2)])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_numbers_only_in_blocks(estimator, place):
    blocks = [block(values[:, None], name=f"part{i}_") for i, values in enumerate(NUMBERS)]
    codes = np.arange(40.0) % 2
    blocks[place] = Block((Column("colour", "nominal", codes, ("blue", "red")),))
    with pytest.raises(ValueError, match=mentions("colour", 'estimator="mixed"')):
        run(estimator, *blocks)


@pytest.mark.parametrize("place", ["x", "y", "given"])
def test_levels_only(place):
    levels = np.arange(40) % 3
    income = pd.Series(NUMBERS[0], name="income")
    parts = {"x": levels, "y": levels, "given": levels, place: income}
    with pytest.raises(ValueError, match=mentions("income", "continuous")):
        mutual_information(**parts, estimator="discrete")
    blocks = [block(levels[:, None])] * 3
    index = ["x", "y", "given"].index(place)
    blocks[index] = Block((Column("income", "continuous", NUMBERS[0]),))
    with pytest.raises(ValueError, match=mentions("income", "continuous")):
        run(Discrete(), *blocks)


# --- settings -----------------------------------------------------------------------------------


def test_unknown_estimator_lists_the_known_ones():
    with pytest.raises(ValueError, match=mentions("kgs", *NAMES)):
        mutual_information(NUMBERS[0], NUMBERS[1], estimator="kgs")
    with pytest.raises(ValueError, match=mentions("kgs", *NAMES)):
        resolve("kgs", ["continuous"])


@pytest.mark.parametrize("estimator", [("ksg", "copula"), ["ksg"], ()])
def test_one_value_needs_one_estimator(estimator):
    with pytest.raises(TypeError, match=mentions("estimator=")):
        mutual_information(NUMBERS[0], NUMBERS[1], estimator=estimator)


@pytest.mark.parametrize("estimator", [3, None, KSG])
def test_not_an_estimator(estimator):
    with pytest.raises(TypeError, match=mentions("estimator")):
        mutual_information(NUMBERS[0], NUMBERS[1], estimator=estimator)


def test_unknown_unit():
    with pytest.raises(ValueError, match=mentions("hartley", "bit", "nat")):
        mutual_information(NUMBERS[0], NUMBERS[1], estimator="ksg", unit="hartley")


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (lambda: KSG(k=0), ("k", "0")),
        (lambda: KSG(k=-1), ("k", "-1")),
        (lambda: KSG(k=1.5), ("k", "1.5")),
        (lambda: KSG(k="4"), ("k", "'4'")),
        (lambda: KSG(k=True), ("k", "True")),
        (lambda: Mixed(k=0), ("k", "0")),
        (lambda: Mixed(k=1.5), ("k", "1.5")),
        (lambda: KSG(algorithm=3), ("algorithm", "3", "1", "2")),
        (lambda: KSG(scale="minmax"), ("scale", "minmax", "zscore", "rank", "None")),
        (lambda: Mixed(scale="minmax"), ("scale", "minmax", "zscore", "rank", "None")),
        (lambda: Discrete(correction="jackknife"), ("correction", "jackknife", "miller-madow")),
    ],
)
def test_bad_settings(estimator, words):
    """Settings are checked when used, if not before: scikit-learn leaves constructors alone."""
    levels = np.arange(40) % 3
    x, y = (levels, levels) if "correction" in words else NUMBERS[:2]
    with pytest.raises((ValueError, TypeError), match=mentions(*words)):
        mutual_information(x, y, estimator=estimator())
