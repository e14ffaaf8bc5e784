"""A checkpoint of other data or settings, or any other file, is refused and left unchanged."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from systems import gates, quick

from pidselect.estimators import KSG
from pidselect.selection import checkpoint
from pidselect.selection.checkpoint import (
    CheckpointFile,
    CheckpointRefusedError,
    decode,
    encode,
)
from pidselect.selection.pairwise_criteria import LinearCriterion

GATES = gates()
GROUPS = np.repeat(np.arange(40), 5)

OTHER_SETTINGS = {
    "alpha was 0.05 and is 0.1": {"alpha": 0.1},
    "n_permutations was 39 and is 'auto'": {"n_permutations": "auto"},
    "criterion was 'cmi' and is 'mi'": {"criterion": "mi"},
    "backward was 'maximum' and is None": {"backward": None},
    "max_features was None and is 1": {"max_features": 1},
    "max_samples was 'auto' and is 150": {"max_samples": 150},
    r"fixed_features was \[\] and is \['x3'\]": {"fixed_features": "x3"},
    r"feature_groups was {} and is {'x0\+x1': \['x0', 'x1'\]}": {"feature_groups": [["x0", "x1"]]},
    "missing was 'error' and is 'drop'": {"missing": "drop"},
    "estimator was .*Discrete.* and is .*KSG.*'k': 3": {"estimator": KSG(k=3)},
    "column 'x1' was ordinal and is nominal": {"feature_types": {"x1": "nominal"}},
    "shared_permutations was True and is False": {"shared_permutations": False},
    "seed was 0 and is 1": {"random_state": 1},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A checkpoint, and its bytes."""
    path = tmp_path_factory.mktemp("finished") / "fit.json"
    quick(checkpoint=path).fit(*GATES)
    return path, path.read_bytes()


@pytest.mark.parametrize("said", OTHER_SETTINGS)
def test_other_settings_are_refused(said, finished):
    path, content = finished
    with pytest.raises(ValueError, match=rf"fit\.json.*{said}"):
        quick(**OTHER_SETTINGS[said], checkpoint=path).fit(*GATES)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "change",
    [{"n_jobs": 2}, {"verbose": 1}, {"random_state": None}],
    ids=str,
)
def test_settings_that_do_not_matter(change, finished):
    path, content = finished
    again = quick(**change, checkpoint=path).fit(*GATES)
    assert again.selection_.to_dict() == quick().fit(*GATES).selection_.to_dict()
    assert path.read_bytes() == content


def _changed():
    X, y = GATES
    other = X.copy()
    other[7, 3] ^= 1
    return {
        "column 'x3'": (other, y, None),
        "target 'target'": (X, 1 - y, None),
        "n_samples was 200 and is 190": (X[:190], y[:190], None),
        "column 'x4'": (X[:, :4], y, None),
        "column 'x5'": (np.column_stack([X, other[:, 3]]), y, None),
        "groups": (X, y, GROUPS),
        "order of columns": (
            pd.DataFrame(X[:, ::-1], columns=["x4", "x3", "x2", "x1", "x0"]),
            y,
            None,
        ),
    }


@pytest.mark.parametrize("said", _changed())
def test_other_data_are_refused(said, finished):
    path, content = finished
    with pytest.raises(ValueError, match=rf"fit\.json.*{said}"):
        quick(checkpoint=path).fit(*_changed()[said])
    assert path.read_bytes() == content


def test_another_version_is_refused(finished, tmp_path, monkeypatch):
    path, content = finished
    monkeypatch.setattr(checkpoint, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"pidselect was .* and is 99.0"):
        quick(checkpoint=path).fit(*GATES)
    newer = tmp_path / "newer.json"
    newer.write_bytes(content.replace(b'"format": 4', b'"format": 5'))
    with pytest.raises(ValueError, match=r"newer\.json.*format 4"):
        quick(checkpoint=newer).fit(*GATES)


@pytest.mark.parametrize("spoil", ["empty", "half", "pickle", "number", "nested", "text", "digit"])
def test_other_files_are_left_unchanged(spoil, finished, tmp_path):
    content = finished[1]
    content_now = {
        "empty": b"",
        "half": content[: len(content) // 2],
        "pickle": b"\x80\x04cos\nsystem\n(S'exit 1'\ntR.",
        "number": b"1",
        "nested": b'{"what": "pidselect checkpoint", "record": ' + b"[" * 100_000,
        "text": b'{"important": "notes"}',
        "digit": content.replace(b'"seed": 0', b'"seed": 1'),
    }[spoil]
    path = tmp_path / "notes.json"
    path.write_bytes(content_now)
    with pytest.raises(ValueError, match=r"notes\.json"):
        quick(checkpoint=path).fit(*GATES)
    assert path.read_bytes() == content_now


def spoil_shape(record):
    """A test of another number of candidates."""
    entry = record["entries"][0]
    entry["observed"] = encode(decode(entry["observed"])[:, :-1])


def spoil_null(record):
    """Fewer permutations."""
    entry = record["entries"][0]
    entry["null"] = [encode(decode(null)[..., :-1]) for null in entry["null"]]


def spoil_estimator(record):
    entry = record["entries"][0]
    entry["estimators"] = encode(decode(entry["estimators"]) + 7)


def spoil_choice(record):
    record["entries"][0]["chosen"] = 99


def spoil_dtype(record):
    record["entries"][0]["information"]["dtype"] = "O"


def spoil_partial_scores(record):
    """Scores of the test in progress that would need an exabyte."""
    record["entries"], record["is_finished"] = [], False
    record["partial"] = [{"shape": [1, 2**60, 1, 40], "permutations": [0, 40]}]


def spoil_entries(record):
    record["entries"] = [1, 2, 3]


def spoil_data(record):
    record["data"] = {"n_samples": 200}


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_shape,
        spoil_null,
        spoil_estimator,
        spoil_choice,
        spoil_dtype,
        spoil_partial_scores,
        spoil_entries,
        spoil_data,
    ],
)
def test_a_modified_file_with_a_valid_checksum_is_refused(spoil, finished, tmp_path):
    """And not written over, although the fit has begun."""
    path = tmp_path / "fit.json"
    path.write_bytes(finished[1])
    file = CheckpointFile(path)
    record = file.read()
    spoil(record)
    file.write(record)
    content = path.read_bytes()
    with pytest.raises(CheckpointRefusedError, match=r"fit\.json"):
        quick(checkpoint=path).fit(*GATES)
    assert path.read_bytes() == content


def test_places_where_no_file_can_be(tmp_path):
    with pytest.raises(ValueError, match=re.escape(str(tmp_path))):
        quick(checkpoint=tmp_path).fit(*GATES)
    with pytest.raises(OSError, match=r"nowhere.*No such file or directory"):
        quick(checkpoint=tmp_path / "nowhere" / "fit.json").fit(*GATES)
    for no_path in ("", 3, b"fit.json", True):
        with pytest.raises(ValueError, match=f"checkpoint={no_path!r}"):
            quick(checkpoint=no_path).fit(*GATES)


def test_groups_of_equal_names_and_other_columns_are_refused(tmp_path):
    """The name does not identify the columns."""
    path = tmp_path / "fit.json"
    X, y = GATES
    quick(checkpoint=path, feature_groups={"x0": ["x0", "x1"]}).fit(X, y)
    with pytest.raises(ValueError, match="feature_groups"):
        quick(checkpoint=path, feature_groups={"x0": ["x0", "x2"]}).fit(X, y)


@pytest.mark.parametrize(("one", "other"), [(Fraction(5), Fraction(0)), (0.5, 0.25)])
def test_other_parameters_of_a_criterion_are_refused(tmp_path, one, other):
    path = tmp_path / "fit.json"
    X, y = GATES
    quick(checkpoint=path, criterion=LinearCriterion(beta=one)).fit(X, y)
    with pytest.raises(ValueError, match="criterion"):
        quick(checkpoint=path, criterion=LinearCriterion(beta=other)).fit(X, y)


def test_a_whole_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "fit.json"
    CheckpointFile(path).write({"format": 1})
    with pytest.raises(ValueError, match=r"fit\.json"):
        quick(checkpoint=path).fit(*GATES)
