"""Rank estimators: no strictly monotone map of any column changes the selection.

Regressions do depend on the map, so that this holds for schemes without them.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from systems import numbers, quick, season

MAPS = {
    "itself": lambda v: v,
    "mirrored": lambda v: -v,
    "exponential": np.exp,
    "decaying": lambda v: np.exp(-2.0 * v),
    "cubed": lambda v: v**3,
    "saturating": np.arctan,
    "in other units": lambda v: 273.15 - 1.8 * v,
}
maps = st.sampled_from(sorted(MAPS))

BOTH = ("global", "local")

ESTIMATORS = pytest.mark.parametrize(
    "changes",
    [
        {"surrogates": BOTH, "estimator": "ksg-rank", "n_permutations": "auto"},
        {"surrogates": BOTH, "estimator": "ksg-rank"},
        {"surrogates": BOTH, "estimator": "copula"},
        {"surrogates": BOTH, "estimator": "ksg-rank", "shared_permutations": False},
        {"estimator": "mixed-rank", "surrogates": "local"},
    ],
    ids=["sequential", "ksg-rank", "copula", "independent permutations", "mixed-rank"],
)


def mapped(values, name):
    image = MAPS[name](values)
    assert len(np.unique(image)) == len(np.unique(values))  # so that rounding has made no ties
    return image


@ESTIMATORS
@given(st.lists(maps, min_size=5, max_size=5), st.integers(0, 3))
@settings(max_examples=4)
def test_numbers_may_be_mapped_to_any_others(changes, names, seed):
    X, y = numbers(seed=seed)
    expected = quick(**changes).fit(X, y)
    images = np.column_stack([mapped(*pair) for pair in zip(X.T, names[:4], strict=True)])
    found = quick(**changes).fit(images, mapped(y, names[4]))
    np.testing.assert_array_equal(found.selected_, expected.selected_)
    assert found.selection_.p_values == expected.selection_.p_values
    for step, twin in zip(found.selection_.steps, expected.selection_.steps, strict=True):
        assert step == twin


@given(maps, maps, st.sampled_from([1, -1, 7]))
@settings(max_examples=4)
def test_numbers_among_labels_may_be_mapped_too(wind, target, factor):
    """Whole numbers to whole numbers, so that they stay levels."""
    columns, y = season()
    table = pd.DataFrame(columns)
    expected = quick(estimator="mixed-rank", surrogates=BOTH).fit(table, y)
    image = table.assign(wind=mapped(table["wind"].to_numpy(), wind), boats=factor * table["boats"])
    found = quick(estimator="mixed-rank", surrogates=BOTH).fit(image, mapped(y, target))
    np.testing.assert_array_equal(found.selected_, expected.selected_)
    for step, twin in zip(found.selection_.steps, expected.selection_.steps, strict=True):
        np.testing.assert_allclose(step.scores, twin.scores, rtol=1e-9)
        assert (step.chosen, step.p_value) == (twin.chosen, twin.p_value)


def test_where_distances_count_a_map_does_change_values():
    """Otherwise the tests above would be void."""
    X, y = numbers()
    plain, image = (
        quick(estimator="ksg").fit(values, y).selection_.steps[0] for values in (X, X**3)
    )
    assert plain.scores != image.scores
