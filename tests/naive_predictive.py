"""Predictive information of one set of columns after the other, each row left out by a new fit.

Functions are written out value by value, groups of them are never removed, and the fit without a
row is the weighted regression of all other rows. Logarithms are natural.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import cos, exp, inf, isnan, log, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from pidselect.data import Block, Column
from pidselect.estimators import evidence, predictive

Array = NDArray[np.float64]

#: The normal distribution of mean 0 and standard deviation 1.
NORMAL = NormalDist()


def gains(target: Block, given: Block, candidate: Block, n_products: int) -> Array:
    """Return log2 q(y | S, x) - log2 q(y | S) of every row, for a target of one column."""
    column = target.columns[0]
    values = column.values.tolist()
    is_class = column.feature_type == "nominal" or len(set(values)) <= 2
    log_ratios = log_ratios_of_classes if is_class else log_ratios_of_numbers
    n_products = min(n_products, len(values) // 2)
    both = [*given.columns, *(c for c in candidate.columns if c not in given.columns)]
    found = [
        log_ratios(values, groups_of(columns, n_products)) for columns in (both, given.columns)
    ]
    return np.array([(one - other) / log(2) for one, other in zip(*found, strict=True)])


# --- functions ------------------------------------------------------------------------------------


def share_below(values: list[float]) -> list[float]:
    """Return the share of values below each, half of those that are equal to it included."""
    return [sum((v < x) + 0.5 * (v == x) for v in values) / len(values) for x in values]


def centred(column: list[float]) -> Array:
    return np.array(column, dtype=float) - np.mean(column)


def functions_of(column: Column) -> tuple[list[Array], list[Array], list[Array]]:
    """Return lines or effects, curves, and functions that enter products."""
    values = [None if isnan(v) else v for v in column.values.tolist()]
    counts = Counter(values)
    if column.feature_type == "nominal" or len(counts) <= 2:
        levels = sorted(counts, key=lambda v: (-counts[v], v is None, v or 0.0))
        frequent = [v for v in levels[: evidence.MAX_LEVELS] if counts[v] >= evidence.MIN_ROWS]
        if len(counts) <= 2:
            pairs = [centred([v == level for v in values]) for level in frequent[1:]]
            effects = [effect / effect.std() for effect in pairs]
        else:
            effects = [centred([v == level for v in values]) for level in frequent]
        return effects, [], effects
    present = [v for v in values if v is not None]
    below = dict(zip(present, share_below(present), strict=True))
    shares = [0.5 if v is None else below[v] for v in values]
    scores = [NORMAL.inv_cdf(share) for share in shares]
    line = centred(scores)
    shapes = [lambda u, t: u**2 / 4, lambda u, t: (u**3 - 3 * u) / 9]
    orders = range(2, evidence.N_CURVES)
    shapes += [lambda u, t, k=k: 2 * cos(pi * k * t) / k**1.5 for k in orders]
    curves = []
    for shape in shapes:
        raw = [
            0.0 if v is None else shape(u, t)
            for u, t, v in zip(scores, shares, values, strict=True)
        ]
        curve = centred(raw)
        curves.append(curve - line * (line @ curve) / (line @ line))
    lines = [line, centred([v is None for v in values])] if None in counts else [line]
    return lines, curves, [line, *curves][: evidence.N_IN_PRODUCTS]


def groups_of(columns: list[Column], n_products: int) -> list[tuple[list[Array], bool]]:
    """Return the groups of functions of a set, and whether they are of one column."""
    if not columns:
        return []
    found = [functions_of(column) for column in columns]
    n_curves = max(1, min(len(columns[0].values) // 8, evidence.MAX_CURVES // len(columns)))
    groups = [(lines, True) for lines, _, _ in found]
    groups += [(curves[:n_curves], True) for _, curves, _ in found]
    n_pairs = len(columns) * (len(columns) - 1) // 2
    n_each = int(sqrt(n_products / n_pairs)) if n_pairs else 0
    for (_, _, first), (_, _, second) in combinations(found, 2):
        products = [centred(a * b) for a in first[:n_each] for b in second[:n_each]]
        groups.append((products, False))
    return [(functions, is_single) for functions, is_single in groups if functions]


# --- fits -----------------------------------------------------------------------------------------


def left_out(groups: list[tuple[list[Array], bool]], response: Array, is_class: bool) -> Array:
    """Return the prediction of each row by a fit to the others, with penalties found by all."""
    n = len(response)
    features = np.column_stack([np.ones(n), *(f for functions, _ in groups for f in functions)])
    places, start = [], 1
    for functions, _ in groups:
        places.append(range(start, start + len(functions)))
        start += len(functions)
    unit = [1 / max(sum((f**2).mean() for f in functions), 1e-12) for functions, _ in groups]
    variance = [evidence.FIRST_VARIANCE * one for one in unit]
    weight, working, fitted = np.ones(n), response, np.zeros(n)
    coefficients, left_in = np.zeros(features.shape[1]), np.ones(features.shape[1])
    noise = 1.0 if is_class else 0.5 * response.var()
    for iteration in range(evidence.N_ITERATIONS):
        if is_class:
            share = np.array([1 / (1 + exp(-x)) for x in fitted])
            if iteration in evidence.UPDATES or left_in.sum() <= evidence.FEW_FUNCTIONS:
                weight = np.array([max(p * (1 - p), evidence.LEAST_WEIGHT) for p in share])
            working = fitted + (response - share) / weight
        penalty = np.zeros(features.shape[1])
        for place, one in zip(places, variance, strict=True):
            penalty[list(place)] = 1 / one
        before = coefficients
        covariance, coefficients = solved(features, weight / noise, working, penalty)
        fitted = features @ coefficients
        if is_class:
            fitted = np.clip(fitted, -evidence.MAX_ODDS, evidence.MAX_ODDS)
        moved = features @ (left_in * (coefficients - before))
        change = (weight * moved**2).mean() / noise
        if change < evidence.TOLERANCE or iteration == evidence.N_ITERATIONS - 1:
            break
        freedom = [sum(1 - covariance[j, j] * penalty[j] for j in place) for place in places]
        if not is_class:
            least = max(evidence.LEAST_VARIANCE * response.var(), 1e-12)
            left = max(n - 1 - sum(max(f, 0.0) for f in freedom), 1.0)
            noise = max(float(((response - fitted) ** 2).sum()) / left, least)
        for g, (place, (_, is_single)) in enumerate(zip(places, groups, strict=True)):
            doubt = evidence.DOUBT if is_single else evidence.DOUBT_OF_PRODUCTS
            squares = sum(coefficients[j] ** 2 for j in place)
            ratio = squares / (max(freedom[g], 0.0) + doubt) / variance[g]
            variance[g] *= min(max(ratio**2 if ratio < 1 else ratio, 0.02), 20.0)
            variance[g] = min(variance[g], 1e4 * unit[g])
            if freedom[g] <= evidence.NO_FREEDOM:
                variance[g] = 1e-12 * unit[g]
                left_in[list(place)] = 0.0
    found = np.empty(n)
    for i in range(n):
        leverage = features[i] @ covariance @ features[i] * weight[i] / noise
        others = np.arange(n) != i
        without = solved(features[others], weight[others] / noise, working[others], penalty)[1]
        found[i] = features[i] @ without
        is_at_limit = is_class and abs(fitted[i]) == evidence.MAX_ODDS
        if is_at_limit or leverage > evidence.MAX_LEVERAGE:
            share = min(leverage, evidence.MAX_LEVERAGE)
            found[i] = fitted[i] - share / (1 - share) * (working[i] - fitted[i])
    return found


def solved(features: Array, weight: Array, response: Array, penalty: Array) -> tuple[Array, Array]:
    """Return covariance and mean of the coefficients."""
    covariance = np.linalg.inv(features.T @ np.diag(weight) @ features + np.diag(penalty))
    return covariance, covariance @ features.T @ (weight * response)


# --- predictive distributions ---------------------------------------------------------------------


def log_ratios_of_numbers(values: list[float], groups: list[tuple[list[Array], bool]]) -> Array:
    """Return log q(y | A) / p(y) of every row."""
    n = len(values)
    if not groups:
        return np.zeros(n)
    scores = np.array([NORMAL.inv_cdf(share) for share in share_below(values)])
    mean = left_out(groups, scores, False)
    squares = (scores - mean) ** 2
    constant = max(squares.mean(), evidence.LEAST_VARIANCE)
    logs = np.log(squares / constant + 0.02)
    change = left_out([g for g in groups if g[1]], logs - logs.mean(), False)
    varying = np.exp(np.clip(change, -4, 4))
    varying = varying * max((squares / varying).mean(), evidence.LEAST_VARIANCE)
    rows = []
    for i, value in enumerate(values):
        below, equal = sum(v < value for v in values), values.count(value)
        low = NORMAL.inv_cdf(below / n) if below else -inf
        high = NORMAL.inv_cdf((below + equal) / n) if below + equal < n else inf
        row = [0.0]
        for variance in (constant, varying[i]):
            a, b = (low - mean[i]) / sqrt(variance), (high - mean[i]) / sqrt(variance)
            mass = ndtr(-a) - ndtr(-b) if a + b > 0 else ndtr(b) - ndtr(a)
            row.append(log(max(mass, evidence.LEAST_MASS) * n / equal))
        rows.append(row)
    return log_mixture(rows)


def log_ratios_of_classes(values: list[float], groups: list[tuple[list[Array], bool]]) -> Array:
    """Return log q(y | A) / p(y) of every row."""
    n = len(values)
    if not groups:
        return np.zeros(n)
    keys = [inf if isnan(v) else v for v in values]
    counts = Counter(keys)
    levels = sorted(counts, key=lambda v: (-counts[v], v))
    classes = [min(levels.index(v), predictive.MAX_CLASSES - 1) for v in keys]
    n_classes = max(classes) + 1
    odds = [
        left_out(groups, np.array([float(c == k) for c in classes]), True) for k in range(n_classes)
    ]
    rows = []
    for i, own in enumerate(classes):
        shares = [1 / (1 + exp(-min(max(o[i], -15.0), 15.0))) for o in odds]
        rows.append([0.0, log(shares[own] / sum(shares) * n / classes.count(own))])
    return log_mixture(rows)


def log_mixture(rows: list[list[float]]) -> Array:
    """Return the logarithm of the mixture of the members (of each row) that predicts best."""
    n_members = len(rows[0])
    weights = [1 / n_members] * n_members
    for _ in range(predictive.N_WEIGHTS):
        mixed = [sum(w * exp(x) for w, x in zip(weights, row, strict=True)) for row in rows]
        weights = [
            weights[m]
            * sum(exp(row[m]) / q for row, q in zip(rows, mixed, strict=True))
            / len(rows)
            for m in range(n_members)
        ]
    return np.array(
        [log(sum(w * exp(x) for w, x in zip(weights, row, strict=True))) for row in rows]
    )
