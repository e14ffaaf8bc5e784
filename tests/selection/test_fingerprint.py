"""The same data and settings are recognised, and no others."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pidselect import PIDSelector
from pidselect.estimators import KSG
from pidselect.selection.fingerprint import digest, plain
from pidselect.selection.pairwise_criteria import LinearCriterion


@given(st.lists(st.floats(), min_size=1), st.data())
def test_digests_see_every_bit(values, data):
    array = np.array(values)
    place, bit = data.draw(st.integers(0, len(values) - 1)), data.draw(st.integers(0, 63))
    other = array.copy()
    other.view(np.uint64)[place] ^= np.uint64(1) << np.uint64(bit)
    assert digest(array) == digest(array.copy())
    assert digest(array) != digest(other)


def test_digests_of_long_and_strided_columns(monkeypatch):
    table = np.arange(60.0).reshape(20, 3)
    whole = digest(table[:, 1])
    monkeypatch.setattr("pidselect.selection.fingerprint.AT_ONCE", 7)
    assert digest(table[:, 1]) == digest(table[:, 1].copy()) == whole


def test_objects_are_known_by_their_parameters():
    assert plain(KSG(k=np.int64(3))) == plain(KSG(k=3)) != plain(KSG(k=4))
    assert plain(LinearCriterion(beta=0.5)) != plain(LinearCriterion(beta=float("inf")))
    assert plain(PIDSelector) == "pidselect.selection.selector.PIDSelector"
    json.dumps(plain(PIDSelector(criterion=LinearCriterion())), allow_nan=False)
