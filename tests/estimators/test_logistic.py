"""Regressions of classes: the fit, samples left out of it, and what is used of several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from pidselect.data import Block, Column
from pidselect.estimators import logistic
from pidselect.estimators.logistic import fit_classes
from pidselect.estimators.regression import Smoother

pytestmark = pytest.mark.filterwarnings("error")

seeds = st.integers(0, 2**32 - 1)


def indicators(codes):
    return (np.asarray(codes)[:, np.newaxis] == np.arange(max(codes) + 1)).astype(float)


def smoother_of(*columns, feature_type="continuous"):
    named = enumerate(columns)
    return Smoother.of(
        Block(tuple(Column(f"s{i}", feature_type, np.asarray(v, float)) for i, v in named))
    )


def softmax(logits):
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def classes_of(rng, n, n_classes, strength=1.5):
    """Return axes of a basis, and classes that depend on the first."""
    axes, _ = np.linalg.qr(rng.normal(size=(n, 3)))
    axes -= axes.mean(axis=0)
    logits = np.zeros((n, n_classes))
    logits[:, 1:] = strength * np.sqrt(n) * axes[:, [0]] * np.arange(1, n_classes)
    codes = np.array([rng.choice(n_classes, p=p) for p in softmax(logits)])
    codes[:n_classes] = np.arange(n_classes)
    return axes, indicators(codes)


def naive_fit(axes, penalty, classes, rows):
    """Minimise the penalised deviance of some rows; return the logits of all."""
    n, n_classes = classes.shape
    frequency = classes.mean(axis=0)
    design = np.column_stack([np.ones(n), axes * np.sqrt(n)])
    weight = np.concatenate([[1e-6], n * (frequency * (1 - frequency)).mean() * penalty])

    def loss(flat):
        coefficients = flat.reshape(design.shape[1], n_classes)
        probabilities = softmax(design @ coefficients)
        own = (probabilities * classes).sum(axis=1)[rows]
        gradient = design[rows].T @ (probabilities - classes)[rows]
        gradient += weight[:, np.newaxis] * coefficients
        size = 0.5 * (weight[:, np.newaxis] * coefficients**2).sum()
        return -np.log(own).sum() + size, gradient.ravel()

    start = np.zeros(design.shape[1] * n_classes)
    found = minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-8, "maxiter": 2000})
    return design @ found.x.reshape(design.shape[1], n_classes)


@drawn(seeds, st.sampled_from([2, 3]))
@settings(max_examples=5, deadline=None)
def test_left_out_samples_equal_fits_without_them(seed, n_classes):
    """One Newton step is near the fit: for three classes less so, as each logit moves alone."""
    rng = np.random.default_rng(seed)
    n = 60
    axes, classes = classes_of(rng, n, n_classes)
    penalty = np.full(3, 0.1)
    found = logistic._fit(axes, penalty, classes).probabilities
    plain = softmax(naive_fit(axes, penalty, classes, np.arange(n)))
    for i in range(0, n, 6):
        others = np.delete(np.arange(n), i)
        expected = softmax(naive_fit(axes, penalty, classes, others))[i]
        change = np.abs(expected - plain[i]).max()
        assert (
            np.abs(found[i] - expected).max() < 1e-3 + (0.15 if n_classes == 2 else 0.75) * change
        )


@drawn(seeds, st.sampled_from([2, 3, 5]))
@settings(max_examples=10, deadline=None)
def test_a_fit_that_is_shrunk_to_nothing_has_the_frequencies_of_the_others(seed, n_classes):
    rng = np.random.default_rng(seed)
    axes, classes = classes_of(rng, 100, n_classes)
    found = logistic._fit(axes, np.full(3, 1e12), classes).probabilities
    np.testing.assert_allclose(found, np.tile(classes.mean(axis=0), (100, 1)), atol=0.08)
    own = found[classes > 0]
    assert (own < classes.mean(axis=0)[classes.argmax(axis=1)]).all()  # without the sample itself


@pytest.mark.parametrize("n_classes", [2, 3, 12])
def test_the_deviance_is_that_of_the_probabilities(n_classes):
    rng = np.random.default_rng(n_classes)
    s = rng.normal(size=240)
    codes = np.argsort(np.argsort(s + rng.normal(size=240))) * n_classes // 240
    classes = indicators(codes)
    fit = fit_classes(smoother_of(s), classes)
    np.testing.assert_allclose(fit.probabilities.sum(axis=1), 1)
    assert (fit.probabilities > 0).all()
    own = [fit.probabilities[i, code] for i, code in enumerate(codes)]
    assert fit.deviance == pytest.approx(-2 * np.log(own).sum())
    frequency = classes.mean(axis=0)
    assert fit.deviance < -2 * 240 * (frequency * np.log(frequency)).sum()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_that_depend_on_nothing_are_left_with_their_frequencies(n_classes):
    n_informed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        classes = indicators(np.arange(150) % n_classes)
        fit = fit_classes(smoother_of(rng.normal(size=150)), classes)
        n_informed += not np.allclose(fit.probabilities, classes.mean(axis=0))
    assert n_informed <= 10


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separable_classes(n_classes):
    s = np.random.default_rng(0).normal(size=200)
    codes = np.argsort(np.argsort(s)) * n_classes // 200
    fit = fit_classes(smoother_of(s), indicators(codes))
    assert np.isfinite(fit.probabilities).all()
    assert (fit.probabilities.argmax(axis=1) == codes).mean() > 0.95
    frequency = indicators(codes).mean(axis=0)
    assert fit.deviance < 0.2 * -2 * 200 * (frequency * np.log(frequency)).sum()


def test_the_probabilities_are_found():
    rng = np.random.default_rng(0)
    s, t = rng.normal(size=(2, 1500))
    logits = np.stack([0 * s, 1.5 * s, s**2 - 1 + t], axis=1)
    codes = np.array([rng.choice(3, p=p) for p in softmax(logits)])
    fit = fit_classes(smoother_of(s, t), indicators(codes))
    assert np.abs(fit.probabilities - softmax(logits)).mean() < 0.04


@drawn(seeds)
@settings(max_examples=5, deadline=None)
def test_neither_the_order_of_classes_nor_of_rows_matters(seed):
    rng = np.random.default_rng(seed)
    s = rng.normal(size=100)
    classes = indicators(np.digitize(s + rng.normal(size=100), [-0.7, 0.4]))
    expected = fit_classes(smoother_of(s), classes).probabilities
    found = fit_classes(smoother_of(s), classes[:, [2, 0, 1]]).probabilities
    np.testing.assert_allclose(found, expected[:, [2, 0, 1]], atol=1e-6)
    rows = rng.permutation(100)
    found = fit_classes(smoother_of(s[rows]), classes[rows]).probabilities
    np.testing.assert_allclose(found, expected[rows], atol=1e-3)


def test_labels_given_have_frequencies_of_their_own():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 3, 600)
    codes = (rng.random(600) < np.array([0.1, 0.5, 0.9])[label]).astype(int)
    fit = fit_classes(smoother_of(label, feature_type="nominal"), indicators(codes))
    for level in range(3):
        own = label == level
        assert fit.probabilities[own, 1].mean() == pytest.approx(codes[own].mean(), abs=0.03)


def test_waves_of_many_columns_are_found(monkeypatch):
    """By a penalty for the functions of each: with one for all nothing is explained."""
    rng = np.random.default_rng(0)
    columns = rng.normal(size=(12, 500))
    log_odds = 2.0 * np.sin(3 * columns).sum(axis=0)
    classes = indicators((rng.random(500) < 1 / (1 + np.exp(-log_odds))).astype(int))
    share = fit_classes(smoother_of(*columns), classes).deviance / (-2 * 500 * np.log(0.5))
    monkeypatch.setattr(Smoother, "weighted", lambda *_, **__: [])
    of_kernels = fit_classes(smoother_of(*columns), classes).deviance / (-2 * 500 * np.log(0.5))
    assert share < 0.7 < 0.8 < of_kernels
