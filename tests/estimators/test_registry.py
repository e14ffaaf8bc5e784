"""Estimators by name, and those chosen by feature types."""

from __future__ import annotations

import re

import numpy as np
import pytest

from estimators.samples import block
from pidselect.data.column import Block, Column
from pidselect.estimators import (
    ESTIMATORS,
    KSG,
    Batch,
    Copula,
    Discrete,
    Gaussian,
    resolve,
)
from pidselect.estimators.registry import BY_TYPES

RNG = np.random.default_rng(0)
MEASURED = block(RNG.normal(size=(60, 2)))
TWENTY = block(np.arange(60)[:, None] % 20)
GAPS = Block((Column("gaps", "continuous", np.where(np.arange(60) < 5, np.nan, np.arange(60.0))),))
LABELS = block(RNG.integers(0, 4, (60, 2)), nominal=(0, 1))
GRADES = block(RNG.integers(0, 4, (60, 1)))
YES_OR_NO = block(RNG.integers(0, 2, (60, 1)))
MANY = block(np.arange(60)[:, None] // 2, nominal=(0,))


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (MEASURED, "ksg-rank"),
        (LABELS, "discrete"),
        (LABELS + YES_OR_NO, "discrete"),
        (LABELS + GRADES + TWENTY, "discrete"),
        (MEASURED + LABELS, "mixed-rank"),
        (MEASURED + GRADES, "mixed-rank"),
        (GAPS, "mixed-rank"),
        (LABELS + MANY, "mixed-rank"),
    ],
)
def test_default_estimators(columns, name):
    assert repr(resolve("auto", columns)) == repr(ESTIMATORS[name]())


COUNTS = block(np.arange(60)[:, None] // 2)


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (MEASURED, "ksg"),
        (MEASURED + COUNTS, "ksg"),
        (COUNTS, "ksg"),
        (GAPS, "ksg"),
        (LABELS, "discrete"),
        (LABELS + GRADES + TWENTY + MANY, "discrete"),
    ],
)
def test_estimators_of_the_paper(columns, name):
    assert repr(resolve("paper", columns)) == repr(ESTIMATORS[name]())


@pytest.mark.parametrize("levels", [LABELS, GRADES, MANY], ids=["labels", "grades", "many"])
@pytest.mark.parametrize("numbers", [MEASURED, COUNTS], ids=["measured", "counts"])
def test_the_paper_has_no_estimator_of_mixtures(levels, numbers):
    for columns in (levels + numbers, numbers + levels):
        with pytest.raises(ValueError, match=r'column .* levels and .*estimator="mixed"'):
            resolve("paper", columns)


def test_names_may_be_strings_of_numpy():
    for name in (*BY_TYPES, *ESTIMATORS):
        assert repr(resolve(np.str_(name), LABELS)) == repr(resolve(name, LABELS))


def test_an_estimator_is_used_as_it_is():
    mine = KSG(k=3)
    assert resolve(mine, MEASURED) is mine


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        ("kgs", ValueError, "estimator='kgs'"),
        ((), TypeError, "estimator=()"),
        (("ksg", "copula"), TypeError, "holds several"),
        ([KSG(k=3)], TypeError, "[KSG(k=3)]"),
        (3, TypeError, "estimator=3"),
        (KSG, TypeError, "KSG()"),
    ],
)
def test_what_is_no_estimator(estimator, error, message):
    with pytest.raises(error, match=re.escape(message)):
        resolve(estimator, MEASURED)


@pytest.mark.parametrize("estimator", [Discrete(), Gaussian(), Copula()])
def test_null_distribution_is_chi_square(estimator):
    """Mean of 2 N times the estimate of nothing: (3 - 1)(3 - 1), the degrees of freedom."""
    x, y = RNG.integers(0, 3, (2, 200, 1))
    rows = np.stack([RNG.permutation(200) for _ in range(500)]).astype(np.int32)
    target, columns = block(y, (0,)), block(x, (0,))
    found = estimator.bind(target, Block()).score(Batch(columns, rows))
    assert (400 * found).mean() == pytest.approx(4.0, abs=0.6)
    assert (400 * found).var() == pytest.approx(8.0, abs=3.0)
