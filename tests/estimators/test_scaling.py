"""Neither the order of the samples nor the unit of a column changes an estimate."""

from __future__ import annotations

import numpy as np
import pytest

import naive
from estimators.samples import block
from pidselect.estimators import ESTIMATORS, KSG, Batch
from pidselect.estimators.scaling import zscores

UNITS = {
    "inches": lambda values: 2.54 * values + 32.0,
    "thousands": lambda values: values / 1000,
    "negated": np.negative,
    "Kelvin": lambda values: values + 273.15,
}
EVERY = {
    name: make() for name, make in ESTIMATORS.items() if name not in ("discrete", "ksg-rank")
} | {"ksg2": KSG(algorithm=2), "ksg-rank": KSG(scale="rank")}


def dependent(seed: int, n: int) -> list[np.ndarray]:
    """Return x, y and two columns of S, normal, with standard deviations of a few units."""
    rng = np.random.default_rng(seed)
    s = rng.normal(size=(n, 2))
    y = s[:, 0] + rng.normal(size=n)
    x = y + s[:, 1] + rng.normal(size=n)
    return [3.0 * x[:, None], 5.0 * y[:, None], 4.0 * s]


def value(estimator, x, y, s) -> float:
    (found,) = estimator.bind(block(y), block(s)).score(Batch.observed(block(x)))
    return found


@pytest.mark.parametrize("name", EVERY)
def test_order_and_units_of_rounded_columns_do_not_matter(name):
    for seed in range(60):
        decimals, width = seed % 2, seed // 2 % 3
        x, y, s = (np.round(part, decimals) for part in dependent(seed, 200))
        parts = [x, y, s[:, :width]]
        expected = value(EVERY[name], *parts)
        rows = np.random.default_rng(seed).permutation(200)
        found = {"order": value(EVERY[name], *(part[rows] for part in parts))}
        for unit, convert in UNITS.items():
            for place in range(3 if width else 2):
                changed = [*parts[:place], convert(parts[place]), *parts[place + 1 :]]
                found[f"{unit} {place}"] = value(EVERY[name], *changed)
        assert found == pytest.approx(dict.fromkeys(found, expected), rel=0, abs=1e-9), seed


@pytest.mark.parametrize("name", EVERY)
def test_order_and_units_of_levels_do_not_matter(name):
    """Few levels: where S has only these, too, samples are scored by stratum."""
    for seed in range(20):
        x, y, s = dependent(seed, 300)
        parts = [np.round(x, 1), np.round(y / 5), np.round(s[:, : seed % 2] / 8)]
        expected = value(EVERY[name], *parts)
        rows = np.random.default_rng(seed).permutation(300)
        assert value(EVERY[name], *(part[rows] for part in parts)) == pytest.approx(
            expected, abs=1e-9
        )
        for convert in UNITS.values():
            # Units that keep levels whole numbers keep them ordinal.
            x, y, s = convert(parts[0]), 3 - 2 * parts[1], 10 * parts[2]
            assert value(EVERY[name], x, y, s) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("unit", UNITS)
def test_copies_in_other_units_are_copies(name, unit):
    """All distances in x and in its copy are equal, though the numbers are not rounded."""
    for seed in range(10):
        x, y, _ = dependent(seed, 200)
        copy = UNITS[unit](x)
        if name not in ("gaussian", "copula"):  # infinite there
            assert value(EVERY[name], x, copy, x[:, :0]) == value(EVERY[name], x, x, x[:, :0])
        assert value(EVERY[name], x, y, copy) == pytest.approx(
            value(EVERY[name], x, y, x), rel=0, abs=1e-9
        )


def columns(seed: int, n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    values = 10.0 ** rng.uniform(-2, 2) * rng.normal(size=n) + rng.choice([0.0, 100.0])
    rounded = np.round(values, 1)
    return {
        "normal": values,
        "tenths": rounded,
        "integers": np.round(values),
        "duplicates": rng.choice(values, n),
        "few levels": rng.choice(rng.normal(size=3), n),
        "heavy tails": np.round(100 * rng.standard_cauchy(n), 1),
        "outlier": np.append(rounded[1:], -99999.0),
        "mean imputed": np.append(rounded[1:], np.mean(rounded[1:])),
        "missing": np.where(rng.random(n) < 0.2, np.nan, rounded),
        "huge": rounded * 1e305,
        "denormal": np.round(values) * 5e-324,
        "float32": values.astype(np.float32).astype(np.float64),
    }


@pytest.mark.parametrize("n", [2, 5, 20, 100])
@pytest.mark.parametrize("seed", range(10))
def test_scores_equal_their_slow_twin(seed, n):
    for sort, values in columns(seed, n).items():
        expected = naive.zscore(values[:, None])[:, 0]
        np.testing.assert_array_equal(gaps(zscores(values)), gaps(expected), err_msg=sort)


@pytest.mark.parametrize("n", [2, 5, 20, 200])
@pytest.mark.parametrize("seed", range(10))
def test_scores_are_invariant_under_order_and_units(seed, n):
    rows = np.random.default_rng(seed).permutation(n)
    for sort, values in columns(seed, n).items():
        scores = zscores(values)
        np.testing.assert_array_equal(zscores(values[rows]), scores[rows], err_msg=sort)
        np.testing.assert_array_equal(gaps(zscores(-values)), gaps(-scores), err_msg=sort)
        if sort in ("tenths", "integers", "heavy tails", "missing"):
            for convert in UNITS.values():
                found = gaps(zscores(convert(values)) * (1 if convert is not np.negative else -1))
                np.testing.assert_array_equal(found, gaps(scores), err_msg=sort)


def gaps(scores: np.ndarray) -> np.ndarray:
    """Return the distances to the smallest score, 0 where it is missing."""
    return np.nan_to_num(scores - np.nanmin(scores, initial=np.inf))


@pytest.mark.parametrize("n", [20, 50, 200])
@pytest.mark.parametrize("seed", range(10))
def test_single_precision_is_no_unit(seed, n):
    """Tenths of 32 bits tie as those of 64 bits do, in units computed in 32 bits, too."""
    values = np.round(5 * np.random.default_rng(seed).normal(size=n), 1)
    single = values.astype(np.float32)
    for numbers in (single, np.float32(1.8) * single + np.float32(32)):
        np.testing.assert_array_equal(
            gaps(zscores(numbers.astype(np.float64))), gaps(zscores(values))
        )


@pytest.mark.parametrize("noise", [1e-12, 1e-10, 1e-6])
@pytest.mark.parametrize("n", [3, 20, 200])
def test_noise_that_breaks_ties_is_kept(noise, n):
    rng = np.random.default_rng(n)
    values = np.round(rng.normal(size=n), 1) + noise * rng.normal(size=n)
    assert len(np.unique(zscores(values))) == len(np.unique(values))
