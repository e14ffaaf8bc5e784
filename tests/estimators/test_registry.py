"""Estimators by name, default estimators and portfolios."""

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
    Mixed,
    is_portfolio,
    resolve,
    resolve_portfolio,
)
from pidselect.estimators.registry import BY_TYPES

RNG = np.random.default_rng(0)
MEASURED = block(RNG.normal(size=(60, 2)))
GAPS = Block((Column("gaps", "continuous", np.where(np.arange(60) < 5, np.nan, np.arange(60.0))),))
LABELS = block(RNG.integers(0, 4, (60, 2)), nominal=(0, 1))
GRADES = block(RNG.integers(0, 4, (60, 1)))
YES_OR_NO = block(RNG.integers(0, 2, (60, 1)))
MANY = block(np.arange(60)[:, None] // 2, nominal=(0,))


def names(estimator, columns: Block) -> tuple[str, ...]:
    return tuple(name for name, _ in resolve_portfolio(estimator, columns))


@pytest.mark.parametrize(
    ("columns", "single", "portfolio"),
    [
        (MEASURED, "ksg-rank", ("ksg-rank", "copula")),
        (LABELS, "discrete", ("discrete",)),
        (LABELS + YES_OR_NO, "discrete", ("discrete",)),
        (LABELS + GRADES, "discrete", ("discrete", "copula")),
        (MEASURED + LABELS, "mixed-rank", ("mixed-rank", "copula")),
        (MEASURED + GRADES, "mixed-rank", ("mixed-rank", "copula")),
        (GAPS, "mixed-rank", ("mixed-rank", "copula")),
        (LABELS + MANY, "mixed-rank", ("mixed-rank", "copula")),
    ],
)
def test_default_estimators(columns, single, portfolio):
    assert repr(resolve("auto", columns)) == repr(ESTIMATORS[single]())
    members = resolve_portfolio("auto", columns)
    assert [name for name, _ in members] == list(portfolio)
    assert [repr(one) for _, one in members] == [repr(ESTIMATORS[name]()) for name in portfolio]


COUNTS = block(np.arange(60)[:, None] // 2)


@pytest.mark.parametrize(
    ("columns", "name"),
    [
        (MEASURED, "ksg"),
        (MEASURED + COUNTS, "ksg"),
        (COUNTS, "ksg"),
        (GAPS, "ksg"),
        (LABELS, "discrete"),
        (LABELS + GRADES + MANY, "discrete"),
    ],
)
def test_estimators_of_the_paper(columns, name):
    assert repr(resolve("paper", columns)) == repr(ESTIMATORS[name]())
    assert names("paper", columns) == (name,)
    assert not is_portfolio("paper")


@pytest.mark.parametrize("levels", [LABELS, GRADES, MANY], ids=["labels", "grades", "many"])
@pytest.mark.parametrize("numbers", [MEASURED, COUNTS], ids=["measured", "counts"])
def test_the_paper_has_no_estimator_of_mixtures(levels, numbers):
    for columns in (levels + numbers, numbers + levels):
        with pytest.raises(ValueError, match=r'column .* levels and .*estimator="mixed"'):
            resolve_portfolio("paper", columns)


def test_the_general_estimator_of_the_portfolio_is_the_single_one():
    for columns in (MEASURED, LABELS, LABELS + GRADES, MEASURED + LABELS, GAPS):
        (_, general), *_ = resolve_portfolio("auto", columns)
        assert repr(resolve("auto", columns)) == repr(general)


def test_names_may_be_strings_of_numpy():
    for name in (*BY_TYPES, *ESTIMATORS):
        assert repr(resolve(np.str_(name), LABELS)) == repr(resolve(name, LABELS))
    found = names((np.str_("ksg"), np.str_("copula")), MEASURED)
    assert found == ("ksg", "copula")
    assert all(type(name) is str for name in found)
    assert names(np.str_("auto"), MEASURED) == ("ksg-rank", "copula")


def test_members_have_names_of_their_own():
    mine = KSG(k=3)
    given = ["copula", mine, Mixed(), KSG(k=5), "ksg", Mixed(k=1), KSG(k=7)]
    assert names(given, MEASURED) == (
        "copula",
        "KSG",
        "Mixed",
        "KSG 2",
        "ksg",
        "Mixed 2",
        "KSG 3",
    )
    assert resolve_portfolio(given, MEASURED)[1][1] is mine


def test_one_estimator_is_no_portfolio():
    assert names("ksg", MEASURED) == ("ksg",)
    assert names(KSG(k=3), MEASURED) == ("KSG",)
    assert not is_portfolio("ksg")
    assert not is_portfolio(KSG())
    assert is_portfolio("auto")
    assert is_portfolio(("ksg",))
    assert is_portfolio(["ksg", "copula"])


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        ((), ValueError, "estimator=()"),
        (("ksg", "auto"), ValueError, '"auto"'),
        (("paper", "copula"), ValueError, 'estimator="paper", or name'),
        (("ksg", "copula", "ksg"), ValueError, "'ksg' twice"),
        ((KSG(k=3), "copula", KSG(k=3)), ValueError, "KSG(k=3) twice"),
        (("ksg", KSG()), ValueError, "KSG() twice"),
        (("ksg", "kgs"), ValueError, "estimator='kgs'"),
        (("ksg", ("copula",)), TypeError, "estimator='copula'"),
        (("ksg", 3), TypeError, "estimator=3"),
        (3, TypeError, "estimator=3"),
        ((KSG,), TypeError, "KSG()"),
    ],
)
def test_what_cannot_be_a_portfolio(estimator, error, message):
    with pytest.raises(error, match=re.escape(message)):
        resolve_portfolio(estimator, MEASURED)


@pytest.mark.parametrize("estimator", [Discrete(), Gaussian(), Copula()])
def test_null_distribution_is_chi_square(estimator):
    """Mean of 2 N times the estimate of nothing: (3 - 1)(3 - 1), the degrees of freedom."""
    x, y = RNG.integers(0, 3, (2, 200, 1))
    rows = np.stack([RNG.permutation(200) for _ in range(500)]).astype(np.int32)
    target, columns = block(y, (0,)), block(x, (0,))
    found = estimator.bind(target, Block()).score(Batch(columns, rows))
    assert (400 * found).mean() == pytest.approx(4.0, abs=0.6)
    assert (400 * found).var() == pytest.approx(8.0, abs=3.0)
