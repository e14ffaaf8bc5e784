"""The file of a checkpoint, and the digests by which data and settings are recognised."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pidselect import PIDSelector
from pidselect.estimators import KSG
from pidselect.selection.checkpoint import CheckpointFile, digest, plain
from pidselect.selection.pairwise_criteria import LinearCriterion

texts = st.dictionaries(
    st.text(st.characters()),
    st.none() | st.text(st.characters()) | st.floats(allow_nan=False, allow_infinity=False),
)


@settings(max_examples=30)
@given(texts)
def test_content_is_read_as_written(tmp_path_factory, record):
    path = tmp_path_factory.mktemp("files") / "file.json"
    CheckpointFile(path).write(record)
    assert CheckpointFile(path).read() == record


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_permissions_are_kept(tmp_path):
    path = tmp_path / "fit.json"
    file = CheckpointFile(path)
    file.write({})
    path.chmod(0o600)
    file.write({"more": 1})
    assert path.stat().st_mode & 0o777 == 0o600


def test_stale_temporary_files_are_removed(tmp_path):
    young, old, others = (
        tmp_path / name for name in (".pidselect-1.part", ".pidselect-2.part", "old.part")
    )
    for file in (young, old, others):
        file.write_bytes(b"half")
    for file in (old, others):
        os.utime(file, (0, 0))
    CheckpointFile(tmp_path / "fit.json").write({})
    assert {file.name for file in tmp_path.iterdir()} == {"fit.json", young.name, others.name}


@given(st.lists(st.floats(), min_size=1), st.data())
def test_digests_depend_on_every_bit(values, data):
    array = np.array(values)
    place, bit = data.draw(st.integers(0, len(values) - 1)), data.draw(st.integers(0, 63))
    other = array.copy()
    other.view(np.uint64)[place] ^= np.uint64(1) << np.uint64(bit)
    assert digest(array) == digest(array.copy())
    assert digest(array) != digest(other)


def test_digests_of_long_and_strided_columns():
    column = np.arange(60.0).reshape(20, 3)[:, 1]
    assert digest(column) == digest(column.copy()) == digest(column, chunk=7)


def test_objects_are_described_by_their_parameters():
    assert plain(KSG(k=np.int64(3))) == plain(KSG(k=3)) != plain(KSG(k=4))
    assert plain(LinearCriterion(beta=0.5)) != plain(LinearCriterion(beta=float("inf")))
    assert plain(PIDSelector) == "pidselect.selection.selector.PIDSelector"
    json.dumps(plain(PIDSelector(criterion=LinearCriterion())), allow_nan=False)
