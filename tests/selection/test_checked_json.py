"""A file that is whole at any moment."""

from __future__ import annotations

import os

from hypothesis import given, settings
from hypothesis import strategies as st

from pidselect.selection.checked_json import SafeFile

texts = st.dictionaries(
    st.text(st.characters()),
    st.none() | st.text(st.characters()) | st.floats(allow_nan=False, allow_infinity=False),
)


@settings(max_examples=30)
@given(texts)
def test_files_come_back(tmp_path_factory, record):
    path = tmp_path_factory.mktemp("files") / "file.json"
    SafeFile(path).write(record)
    assert SafeFile(path).read() == record


def test_who_may_read_it_stays_as_it_was(tmp_path):
    path = tmp_path / "fit.json"
    file = SafeFile(path)
    file.write({})
    path.chmod(0o600)
    file.write({"more": 1})
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_was_left_behind_is_removed(tmp_path):
    young, old, others = (
        tmp_path / name for name in (".pidselect-1.part", ".pidselect-2.part", "old.part")
    )
    for file in (young, old, others):
        file.write_bytes(b"half")
    for file in (old, others):
        os.utime(file, (0, 0))
    SafeFile(tmp_path / "fit.json").write({})
    assert {file.name for file in tmp_path.iterdir()} == {"fit.json", young.name, others.name}
