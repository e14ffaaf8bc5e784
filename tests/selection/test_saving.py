"""A fitted selector is saved by pickle, joblib and skops."""

from __future__ import annotations

import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from systems import numbers, quick, season

from pidselect.estimators import KSG

#: Our own classes in a file of skops, which its reader must trust; all others are known to it.
TRUSTED = {
    "pidselect.estimators.gaussian.Copula",
    "pidselect.estimators.ksg.KSG",
    "pidselect.estimators.mixed.Mixed",
    "pidselect.selection.result.Selection",
    "pidselect.selection.result.Settings",
    "pidselect.selection.result.Step",
    "pidselect.selection.selector.PIDSelector",
    "pidselect.significance.staged.ScoreTest",
}


def by_pickle(selector):
    return pickle.loads(pickle.dumps(selector))


def by_joblib(selector):
    joblib.dump(selector, file := io.BytesIO())
    file.seek(0)
    return joblib.load(file)


def by_skops(selector):
    file = skops.io.dumps(selector)
    assert set(skops.io.get_untrusted_types(data=file)) <= TRUSTED
    return skops.io.loads(file, trusted=sorted(TRUSTED))


WAYS = pytest.mark.parametrize("again", [by_pickle, by_joblib, by_skops])


@WAYS
def test_attributes_and_results(again):
    columns, y = season()
    X = pd.DataFrame(columns)
    selector = quick().fit(X, pd.Series(y, name="catch")).set_output(transform="pandas")
    loaded = again(selector)
    assert vars(loaded).keys() == vars(selector).keys()
    for name in ("support_", "ranking_", "scores_", "pvalues_", "selected_", "feature_names_in_"):
        before, after = getattr(selector, name), getattr(loaded, name)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    assert loaded.selection_ == selector.selection_
    assert loaded.roles_ == selector.roles_
    pd.testing.assert_frame_equal(loaded.transform(X), selector.transform(X))


@WAYS
def test_rows_of_the_fit_are_recognised(again):
    X, y = numbers(50)
    selector = quick(estimator=KSG(k=3)).fit(X, y)
    loaded = again(selector)
    assert loaded.estimator.k == loaded.estimator_.k == 3
    assert loaded.explain(X, y).to_dict() == selector.explain(X, y).to_dict()
    assert loaded.explain(X, y).in_sample
    assert not loaded.explain(X[:40], y[:40]).in_sample
    assert loaded.fit(X, y).selection_ == selector.selection_
