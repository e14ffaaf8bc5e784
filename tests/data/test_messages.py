"""Choices: known ones are accepted in any type that is equal, others are named with a remedy."""

from __future__ import annotations

import numpy as np
import pytest

from pidselect import PIDSelector
from pidselect.data import Table, check_choice, read_dataset


def test_scalars_of_numpy_are_choices():
    check_choice(np.str_("drop"), ("error", "drop"), "missing")
    check_choice(np.int64(2), (1, 2), "algorithm")
    check_choice(np.bool_(True), (True, False), "flag")
    for wrong in (np.bool_(True), True, np.float64(1.5), np.array([1]), None):
        with pytest.raises(ValueError, match="algorithm="):
            check_choice(wrong, (1, 2), "algorithm")


def test_scalars_of_numpy_are_printed_plainly():
    with pytest.raises(ValueError, match=r"missing='dorp' is unknown; .*'drop'. Known are 'error'"):
        check_choice(np.str_("dorp"), np.array(["error", "drop"]), "missing")
    with pytest.raises(ValueError, match=r"algorithm=3 is unknown; known are 1, 2"):
        check_choice(np.int64(3), (1, 2), "algorithm")
    table = Table.read([[0, 1.5], [1, 2.5]])
    with pytest.raises(ValueError, match=r"no column 'X1'; did you mean 'x1'"):
        table.index(np.str_("X1"))


def test_settings_of_numpy():
    X = np.random.default_rng(0).normal(size=(40, 2)).round()
    types = {"x0": np.str_("nominal"), "target": np.str_("continuous")}
    dataset = read_dataset(X, X[:, 0], feature_types=types, missing=np.str_("drop"))
    assert [type(t) for t in (*dataset.table.feature_types, *dataset.target.feature_types)] == [
        str
    ] * 3
    (listed,) = {
        type(t) for t in Table.read(X, feature_types=np.array(["nominal"] * 2)).feature_types
    }
    assert listed is str
    selector = PIDSelector(missing=np.str_("drop"), n_permutations=0, max_features=np.int64(1))
    assert selector.fit(X, X[:, 0]).selected_.tolist() == [0]
