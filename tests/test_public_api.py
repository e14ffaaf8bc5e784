"""The public API is what was recorded: nothing changes unnoticed."""

from __future__ import annotations

from difflib import unified_diff

import numpy as np

import public_api
from pidselect import PIDSelector

INTENDED = (
    "The public API differs from tests/public_api.txt. If that is intended, write it anew by\n"
    "    python tests/public_api.py\n"
    "and add a line to CHANGELOG.md; docs/project/versioning.md says which changes need which "
    "version.\n"
)


def test_public_api_is_as_recorded():
    recorded = public_api.RECORDED.read_text(encoding="utf-8").splitlines()
    found = public_api.describe().splitlines()
    changes = unified_diff(recorded, found, "recorded", "found", lineterm="", n=1)
    assert found == recorded, INTENDED + "\n".join(changes)


def test_attributes_after_a_fit_are_documented():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    selector = PIDSelector("mi", "gaussian", n_permutations=0, max_features=1, lookahead=1)
    selector.fit(X, X[:, 0] + 0.1 * rng.normal(size=60))
    fitted = {name for name in vars(selector) if name.endswith("_") and not name.startswith("_")}
    recorded = public_api.RECORDED.read_text(encoding="utf-8")
    unknown = {name for name in fitted if f"pidselect.PIDSelector.{name}\n" not in recorded}
    assert not unknown - {"n_features_in_", "feature_names_in_"}, INTENDED
