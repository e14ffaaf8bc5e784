"""What users set is read as they mean it, or refused with a reason."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pidselect import PIDSelector
from pidselect.selection.criteria import Conditional, Unconditional
from pidselect.selection.validation import (
    check_parameters,
    to_criterion,
    to_n_permutations,
)
from pidselect.significance.validation import check_count, check_jobs, to_seed


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"criterion": "mi"},
        {"backward": None},
        {"backward": "maximum"},
        {"alpha": 0.5, "n_permutations": 12},
        {"alpha": np.float64(0.05), "n_permutations": np.int64(124)},
        {"n_permutations": "auto"},
        {"n_permutations": 0, "max_features": 2},
        {"criterion": Conditional(2)},
        {"surrogates": "local", "estimator": "mixed"},
        {"surrogates": ("global", "local"), "criterion": "mrmr"},
        {"surrogates": ["shift"]},
        {"shared_permutations": np.False_},
    ],
)
def test_good_settings_pass(changes):
    check_parameters(PIDSelector(**changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"criterion": "cmmi"}, "criterion='cmmi'.*did you mean 'cmi'.*'cmi', 'mi'"),
        ({"criterion": None}, "criterion=None.*'cmi', 'mi'"),
        ({"surrogates": "local!"}, "surrogates='local!'.*'global'"),
        ({"backward": "min"}, "backward='min'.*'minimum', 'maximum', None"),
        ({"backward": True}, "backward=True"),
        ({"alpha": 0}, "alpha=0.*between 0 and 1"),
        ({"alpha": 1.0}, "alpha=1.0.*between 0 and 1"),
        ({"alpha": -0.1}, "alpha=-0.1"),
        ({"alpha": float("nan")}, "alpha=nan"),
        ({"alpha": "0.05"}, "alpha='0.05'"),
        ({"alpha": True}, "alpha=True"),
        ({"n_permutations": -1}, "n_permutations=-1.*at least 0"),
        ({"n_permutations": True}, "n_permutations=True"),
        ({"n_permutations": None}, "n_permutations=None"),
        ({"n_permutations": 20.0}, "n_permutations=20.0"),
        ({"n_permutations": "20"}, "n_permutations='20'.*'auto'"),
        ({"n_permutations": "Auto"}, "n_permutations='Auto'.*'auto'"),
        ({"surrogates": ()}, r"surrogates=\(\) names no scheme.*'global'"),
        ({"surrogates": ("global", "globl")}, "surrogates='globl'.*did you mean 'global'"),
        (
            {"surrogates": ["local", "local"]},
            r"surrogates=\['local', 'local'\] names 'local' twice",
        ),
        ({"surrogates": None}, "surrogates=None.*'global'"),
        ({"max_features": 0}, "max_features=0.*at least 1"),
        ({"max_samples": 1}, "max_samples=1.*at least 2"),
        ({"max_samples": 0.5}, "max_samples=0.5"),
        ({"n_jobs": 0}, "n_jobs=0.*-1"),
        ({"checkpoint": " "}, "checkpoint=' '"),
        *[
            ({"shared_permutations": bad}, f"shared_permutations={bad!r}")
            for bad in ("yes", 1, None)
        ],
    ],
)
def test_bad_settings_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        check_parameters(PIDSelector(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"alpha": 0.5, "n_permutations": 1, "estimator": "copula"},
        {"n_permutations": 124, "lookahead": 2},
        {"n_permutations": 199, "lookahead": 3, "n_random_starts": 3},
        {"n_permutations": "auto", "lookahead": 3, "alpha": 1e-6},
        {"n_permutations": 99, "lookahead": 1},
        {"n_permutations": 19, "estimator": "copula"},
    ],
)
def test_good_searches_pass(changes):
    selector = PIDSelector(**changes)
    search = check_parameters(selector).search
    assert (search.order, search.n_random_starts) == (selector.lookahead, selector.n_random_starts)


@pytest.mark.parametrize(
    "changes",
    [
        {"n_permutations": 0, "max_features": 3},
        {"n_permutations": 0, "max_features": 3, "alpha": 1e-6},
        {"criterion": "mi"},
        {"criterion": "mrmr", "lookahead": 1},
    ],
)
def test_without_tests_of_cmi_nothing_else_is_searched(changes):
    assert check_parameters(PIDSelector(**changes)).search.order == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"n_permutations": 18, "estimator": "copula"},
            "^n_permutations=18.*alpha=0.05.*n_permutations=19 or more",
        ),
        (
            {"n_permutations": 123},
            "^alpha=0.05 is divided .* smallest share is 0.008.*=124 or more.*'auto'",
        ),
        (
            {"n_permutations": 300, "alpha": 0.01, "lookahead": 3, "n_random_starts": 1},
            "^alpha=0.01 is divided .* smallest share is 0.001.*=999 or more",
        ),
        ({"n_permutations": 0}, "n_permutations=0.*max_features.*'auto'"),
        ({"n_permutations": 0, "max_features": 2, "lookahead": 2}, "need n_permutations='auto'"),
        (
            {"n_permutations": 0, "max_features": 2, "n_random_starts": 2},
            "need n_permutations='auto'",
        ),
        *[({"lookahead": bad}, f"lookahead={bad!r}") for bad in (0, 4, None, "all", 2.5, True)],
        ({"n_random_starts": -1}, "n_random_starts=-1 .*at least 0"),
        ({"n_random_starts": 1.0}, "n_random_starts=1.0"),
        ({"max_conditioning": 0}, "max_conditioning=0 .*at least 1"),
        ({"criterion": "mi", "lookahead": 2}, "lookahead=2 requires criterion='cmi'.*'mi'"),
        (
            {"criterion": "mi", "n_random_starts": 1},
            "n_random_starts=1 requires criterion='cmi'",
        ),
        ({"criterion": "mi", "max_conditioning": 1}, "max_conditioning=1 requires .*leave it at"),
    ],
)
def test_bad_searches_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        check_parameters(PIDSelector(**changes))


def test_numbers_of_permutations():
    assert to_n_permutations("auto", "n_permutations") is None
    for number in (0, 200, np.int32(19)):
        assert to_n_permutations(number, "n_permutations") == number
        assert type(to_n_permutations(number, "n_permutations")) is int


def test_criteria_by_name_or_as_objects():
    assert (to_criterion("cmi"), to_criterion("mi")) == (Conditional(), Unconditional())
    given = Conditional(1)
    assert to_criterion(given) is given


@given(st.integers(0, 2**64 - 1))
def test_a_number_is_its_own_seed(number):
    assert to_seed(number) == number


@pytest.mark.parametrize("number", [-1, 2**64, -(2**64), np.int64(-5)])
def test_a_number_out_of_range_is_no_seed(number):
    with pytest.raises(ValueError, match=rf"random_state=.*{number}.*from 0 to 2\*\*64 - 1"):
        to_seed(number)


def test_numbers_of_workers():
    for good in (None, 1, -1, np.int64(2)):
        check_jobs(good)
    for bad in (0, 1.0, True, "2", "all"):
        with pytest.raises(ValueError, match=f"n_jobs={bad!r} .*-1"):
            check_jobs(bad)


def test_generators_give_seeds():
    assert to_seed(np.random.default_rng(3)) == to_seed(np.random.default_rng(3))
    assert to_seed(np.random.RandomState(3)) == to_seed(np.random.RandomState(3))
    generator = np.random.default_rng(3)
    assert to_seed(generator) != to_seed(generator)
    assert type(to_seed(np.int64(3))) is int


def test_without_a_seed_a_fresh_one_and_nobody_elses_state():
    random.seed(1)
    legacy, plain = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
    seeds = {to_seed(None) for _ in range(5)}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**53 for seed in seeds)
    np.testing.assert_array_equal(np.random.get_state()[1], legacy)  # noqa: NPY002
    assert random.getstate() == plain


@pytest.mark.parametrize("bad", [True, 1.0, "1", [1]])
def test_no_seed(bad):
    with pytest.raises(ValueError, match=r"random_state="):
        to_seed(bad)


@pytest.mark.parametrize("bad", [True, False, np.True_, 1.0, "1", -1])
def test_what_is_no_count(bad):
    """No flag is one, though Python takes True for 1."""
    with pytest.raises(ValueError, match=f"n_bootstrap={bad!r} .*at least 0"):
        check_count(bad, "n_bootstrap", at_least=0)
    with pytest.raises(ValueError, match=f"max_features={bad!r} "):
        check_parameters(PIDSelector(max_features=bad))
