"""Values come back from JSON as they went in."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from pidselect.selection.partial_scores import PartialScores, decode, encode

any_float64 = arrays(np.uint64, array_shapes(max_dims=4)).map(lambda bits: bits.view(np.float64))


@given(any_float64)
def test_arrays_come_back_to_the_bit(array):
    again = decode(json.loads(json.dumps(encode(array), allow_nan=False)))
    assert again.shape == array.shape
    assert again.tobytes() == array.tobytes()


@given(arrays(np.bool_, array_shapes(min_dims=2, max_dims=2)), st.integers(0, 10**6), st.data())
def test_sheets_come_back_to_the_bit(known, first, data):
    (n_candidates, n_draws), (n_tests, n_members) = known.shape, (2, 3)
    shape = (n_tests, n_candidates, n_members, n_draws)
    values = data.draw(arrays(np.uint64, shape)).view(np.float64)
    sheet = PartialScores(values, known, range(first, first + n_draws))
    again = PartialScores.from_dict(json.loads(json.dumps(sheet.to_dict(), allow_nan=False)))
    assert again.fits(shape, sheet.draws)
    np.testing.assert_array_equal(again.known, known)
    cells = values.transpose(1, 3, 0, 2)[known], again.values.transpose(1, 3, 0, 2)[known]
    assert cells[0].tobytes() == cells[1].tobytes()
