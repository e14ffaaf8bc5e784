"""Values of JIDT on fixed arrays, to 1e-10: the twin and the fast path both reproduce them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import naive
from estimators.samples import NOTHING, block
from pidselect.estimators import KSG, Batch, Discrete, Gaussian, mutual_information

GOLDEN = Path(__file__).parents[1] / "golden" / "information"

# Where x is a near-copy of z (1e-6 apart) the determinants cancel, and `closed_form_numpy` carries
# that rounding error: 1.7e-6 for N=50 and 5.1e-5 for N=1000. These are the values of the same
# formula on the same arrays in exact rational arithmetic.
NEAR_COPIES = {
    "neardup_cond_cmi1_N50.npz": 0.011530099829834117,
    "neardup_cond_cmi1_N1000.npz": 0.0008814638228746836,
}


def load(name: str) -> list[dict]:
    return json.loads((GOLDEN / f"{name}.json").read_text())["cases"]


def arrays(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    with np.load(GOLDEN / name) as data:
        return data["x"], data["y"], data.get("z")


def estimate(estimator, x, y, z) -> float:
    given = NOTHING if z is None else block(z, name="z")
    scorer = estimator.bind(block(y, name="y"), given)
    values = scorer.score(Batch.observed(block(x, name="x")))
    assert values.shape == (1,)
    assert values.dtype == np.float64
    return values[0]


def settled(case: dict, key: str) -> bool:
    """Whether the value does not hinge on how tied distances are rounded."""
    return not case["ties"] or case["abs_dev_per_key"].get(key, np.inf) < 1e-10


KSG_VALUES = [
    pytest.param(case["name"], *map(int, re.findall(r"alg(\d)_k(\d+)_norm(\d)", key)[0]), value)
    for case in load("ksg")
    for key, value in case["values"].items()
    if settled(case, key)
]


@pytest.mark.parametrize(("name", "algorithm", "k", "norm", "value"), KSG_VALUES)
def test_ksg(name, algorithm, k, norm, value):
    x, y, z = arrays(f"{name}.npz")
    estimator = KSG(k=k, algorithm=algorithm, scale="zscore" if norm else None)
    assert estimate(estimator, x, y, z) == pytest.approx(value, rel=0, abs=1e-10)


@pytest.mark.parametrize(("name", "algorithm", "k", "norm", "value"), KSG_VALUES)
def test_naive_ksg(name, algorithm, k, norm, value):
    blocks = arrays(f"{name}.npz")
    if norm:
        blocks = [None if b is None else naive.zscore(b) for b in blocks]
    twin = naive.ksg1 if algorithm == 1 else naive.ksg2
    assert twin(*blocks, k=k) == pytest.approx(value, rel=0, abs=1e-10)


@pytest.mark.parametrize("case", load("gaussian"), ids=lambda case: case["data"])
def test_gaussian(case):
    x, y, z = arrays(case["data"])
    closed_form = case["closed_form_numpy"]
    exact = NEAR_COPIES.get(case["data"], closed_form)
    assert naive.gaussian(x, y, z) == pytest.approx(closed_form, rel=0, abs=1e-4)
    if exact == closed_form:
        assert naive.gaussian(x, y, z) == pytest.approx(exact, rel=0, abs=1e-10)
    assert estimate(Gaussian(), x, y, z) == pytest.approx(exact, rel=0, abs=1e-10)


@pytest.mark.parametrize("case", load("discrete"), ids=lambda case: case["name"])
def test_discrete(case):
    with np.load(GOLDEN / "discrete_data.npz") as data:
        x, y = (data[f"{case['name']}/{part}"][:, None].astype(float) for part in "xy")
        z = data[f"{case['name']}/z"].astype(float) if case["dz"] else None
    nats, bits = case["value_nats"], case["value_bits"]
    assert naive.discrete(x, y, z) == pytest.approx(nats, rel=0, abs=1e-10)
    assert estimate(Discrete(), x, y, z) == pytest.approx(nats, rel=0, abs=1e-10)
    for unit, value in (("nat", nats), ("bit", bits)):
        found = mutual_information(x, y, z, estimator="discrete", unit=unit)
        assert found == pytest.approx(value, rel=0, abs=1e-10)
