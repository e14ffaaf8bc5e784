"""Values come back from JSON as they went in."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pidselect.selection.checkpoint import PartialScores, decode, encode

any_float64 = arrays(np.uint64, array_shapes(max_dims=4)).map(lambda bits: bits.view(np.float64))


@given(any_float64)
def test_arrays_come_back_to_the_bit(array):
    again = decode(json.loads(json.dumps(encode(array), allow_nan=False)))
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()


@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2)), st.integers(0, 10**6), st.data())
def test_partial_scores_come_back_to_the_bit(computed, first, data):
    (n_candidates, n_permutations), (n_tests, n_estimators) = computed.shape, (2, 3)
    shape = (n_tests, n_candidates, n_estimators, n_permutations)
    values = data.draw(arrays(np.uint64, shape)).view(np.float64)
    scores = PartialScores(values, computed, range(first, first + n_permutations))
    stored = json.loads(json.dumps(scores.to_dict(), allow_nan=False))
    again = PartialScores.from_dict(stored, shape, scores.permutations)
    np.testing.assert_array_equal(again.computed, computed)
    cells = values.transpose(1, 3, 0, 2)[computed], again.values.transpose(1, 3, 0, 2)[computed]
    assert cells[0].tobytes() == cells[1].tobytes()
