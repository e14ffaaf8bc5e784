"""Fits, explanations and decompositions give the values that are stored in tests/recorded."""

import json
import math

import pytest

from recorded.cases import compute
from recorded.default_cases import CASES
from recorded.record import load

RESULTS = load()


def differences(found, stored, where=""):
    """Return where two results differ: floats beyond rounding, everything else at all."""
    if isinstance(stored, dict) and isinstance(found, dict) and found.keys() == stored.keys():
        pairs = [(found[key], stored[key], f"{where}.{key}") for key in stored]
    elif isinstance(stored, list) and isinstance(found, list) and len(found) == len(stored):
        pairs = [(*pair, f"{where}[{i}]") for i, pair in enumerate(zip(found, stored, strict=True))]
    elif isinstance(stored, float) and isinstance(found, float):
        both_nan = math.isnan(found) and math.isnan(stored)
        # Residuals have 9 decimals: where products round otherwise, a statistic differs by more.
        is_statistic = ".scores[" in where or ".critical_value" in where
        close = 1e-6 if is_statistic else 1e-9
        same = both_nan or math.isclose(found, stored, rel_tol=close, abs_tol=1e-12)
        return [] if same else [f"{where}: {found!r}, stored {stored!r}"]
    else:
        same = type(found) is type(stored) and found == stored
        return [] if same else [f"{where}: {found!r}, stored {stored!r}"]
    return [line for pair in pairs for line in differences(*pair)]


def test_every_case_is_stored():
    assert list(CASES) == list(RESULTS)


@pytest.mark.parametrize("name", CASES)
def test_result_is_as_stored(name):
    found = json.loads(json.dumps(compute(name)))
    assert differences(found, RESULTS[name]) == []
