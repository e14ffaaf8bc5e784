"""A fit that is ended at any moment is resumed from its file and gives the same result."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from systems import PAPER, gates, numbers, quick, wide, xor

from pidselect import stability
from pidselect.estimators import KSG, Discrete, Mixed
from pidselect.selection import resume
from pidselect.selection.pairwise_criteria import LinearCriterion
from pidselect.selection.resume import CheckpointError, Results, pack, to_json, unpack
from pidselect.significance import interactions

GATES, NUMBERS, XOR = gates(), numbers(60), xor()
GROUPS = np.repeat(np.arange(40), 5)
LEVELS = np.random.default_rng(0).integers(0, 6, (240, 4))

#: Every phase and type of scores: settings, data, and other arguments of `fit`.
CASES = {
    "defaults": ({}, NUMBERS, {}),
    "ranks": ({"estimator": "copula"}, NUMBERS, {}),
    "independent permutations": (PAPER, NUMBERS, {}),
    "wide": ({"n_permutations": "auto", "estimator": "copula"}, wide(), {}),
    "no test": ({"n_permutations": 0, "max_features": 2}, GATES, {}),
    "pairs": ({"lookahead": 2, "n_permutations": 199}, XOR, {}),
    "pairs, sequential": ({"n_permutations": "auto", "estimator": "discrete"}, XOR, {}),
    "random starts": (
        {"n_random_starts": 3, "n_permutations": 99, "lookahead": 1, "estimator": "discrete"},
        XOR,
        {},
    ),
    "subsets": ({"max_conditioning": 1, "estimator": "discrete"}, GATES, {}),
    "jmi": ({"criterion": "jmi"}, GATES, {}),
    "jmi, sequential": ({"criterion": "jmi", "n_permutations": "auto"}, GATES, {}),
    "final p-values": ({"backward": None}, GATES, {}),
    "relevant": ({"select": "relevant"}, NUMBERS, {}),
    "fixed and grouped": ({"fixed_features": "x2", "feature_groups": [["x0", "x1"]]}, GATES, {}),
    "groups of rows": (
        {"estimator": "discrete", "surrogates": ("global", "blocks")},
        GATES,
        {"groups": GROUPS},
    ),
    "some samples": ({"max_samples": 120, "backward": "maximum"}, GATES, {}),
    "infinite values": (
        {"estimator": "gaussian", "surrogates": "global"},
        (NUMBERS[0], NUMBERS[0][:, 0] + NUMBERS[0][:, 1]),
        {},
    ),
    "nothing to scan": (
        {"n_permutations": 99, "estimator": "discrete", "n_random_starts": 2, "alpha": 0.1},
        (LEVELS, 2 * LEVELS[:, 0]),
        {},
    ),
}


class Interrupted(BaseException):
    """Raised from outside of a fit."""


def fit_with_interruptions(path, arguments, data, more, ends=((2, 1),)):
    """Fit until it is finished, ended after so many tasks by so many jobs; count the ends."""
    for n_ends in range(500):
        after, n_jobs = ends[n_ends % len(ends)]
        try:
            with pytest.MonkeyPatch.context() as patch:
                end_after(patch, after)
                found = quick(**arguments, checkpoint=path, n_jobs=n_jobs).fit(*data, **more)
        except Interrupted:
            continue
        return found, n_ends
    raise AssertionError("the fit is never finished")


def end_after(patch, n_tasks):
    put, left = Results.put, iter(range(n_tasks - 1, -1, -1))

    def put_or_end(*task):
        put(*task)
        if next(left) == 0:
            raise Interrupted

    patch.setattr(Results, "put", put_or_end)


def assert_identical(first, second):
    assert first.selection_.to_dict() == second.selection_.to_dict()
    for name in ("selected_", "ranking_", "scores_", "pvalues_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def keys(path):
    with closing(sqlite3.connect(path)) as database:
        return {key for (key,) in database.execute("SELECT key FROM known")}


@pytest.mark.parametrize("case", CASES)
def test_interrupted_again_and_again(case, tmp_path):
    """The file of the finished fit holds the results of tests, and not their tasks."""
    arguments, data, more = CASES[case]
    whole = quick(**arguments).fit(*data, **more)
    path, at_once = tmp_path / "fit.sqlite", tmp_path / "at_once.sqlite"
    found, n_ends = fit_with_interruptions(path, *CASES[case])
    assert_identical(found, whole)
    assert n_ends >= 3
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert_identical(quick(**arguments, checkpoint=path).fit(*data, **more), whole)
    quick(**arguments, checkpoint=at_once).fit(*data, **more)
    assert keys(path) == keys(at_once)


@pytest.mark.parametrize("case", ["ranks", "independent permutations", "jmi"])
def test_resumed_with_another_number_of_jobs(case, tmp_path):
    """The split into tasks differs: those of the test in progress are run again."""
    arguments, data, more = CASES[case]
    ends = ((9, 1), (13, 2), (17, 5), (99, 1), (999, 2))
    found, n_ends = fit_with_interruptions(tmp_path / "fit.sqlite", *CASES[case], ends)
    assert_identical(found, quick(**arguments).fit(*data, **more))
    assert n_ends >= 1


def test_interrupted_while_tuples_are_scanned(tmp_path, monkeypatch):
    """In several blocks, so that a permutation is known in part."""
    X, y = xor(120)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(120, 3))])
    arguments = {"lookahead": 2, "n_permutations": 199}
    whole = quick(**arguments).fit(X, y)
    assert whole.selection_.steps[1].phase == "lookahead"
    monkeypatch.setattr(interactions, "BLOCK_SIZE", 4)
    path = tmp_path / "fit.sqlite"
    found, n_ends = fit_with_interruptions(path, arguments, (X, y), {}, ((3, 1), (7, 3)))
    assert_identical(found, whole)
    assert n_ends >= 3


def test_hardly_anything_is_computed_twice(tmp_path, monkeypatch):
    """A value that a finished test had for itself may be; nothing after the end of the fit."""
    _, n_ends = fit_with_interruptions(tmp_path / "fit.sqlite", {}, GATES, {}, ((1, 1),))
    put, done = Results.put, []
    monkeypatch.setattr(Results, "put", lambda *task: (put(*task), done.append(task)))
    whole = quick(checkpoint=tmp_path / "whole.sqlite").fit(*GATES)
    assert len(done) <= n_ends < 1.2 * len(done)
    monkeypatch.setattr(Discrete, "bind", None)
    before = (tmp_path / "whole.sqlite").read_bytes()
    assert_identical(quick(checkpoint=tmp_path / "whole.sqlite").fit(*GATES), whole)
    assert (tmp_path / "whole.sqlite").read_bytes() == before


def test_a_fresh_seed_is_kept(tmp_path):
    """Without random_state, the first seed is used again."""
    path = tmp_path / "fit.sqlite"
    first = quick(random_state=None, checkpoint=path).fit(*GATES)
    assert_identical(quick(random_state=None, checkpoint=path).fit(*GATES), first)
    seed = first.selection_.settings.seed
    assert_identical(quick(random_state=seed, checkpoint=path).fit(*GATES), first)
    with pytest.raises(CheckpointError, match=f"seed was {seed} and is {seed ^ 1}"):
        quick(random_state=seed ^ 1, checkpoint=path).fit(*GATES)


def test_a_full_disk(tmp_path, monkeypatch):
    """The fit ends in words, and is resumed from what was written before."""
    monkeypatch.setattr(resume, "INTERVAL", 0.0)
    path, put, n_done = tmp_path / "fit.sqlite", Results.put, []

    def put_on_a_full_disk(results, key, *values):
        n_done.append(key)
        if len(n_done) == 3:
            results._database.execute("PRAGMA max_page_count = 1")  # no more than there are
            values = (np.zeros(10**5),)
        put(results, key, *values)

    with monkeypatch.context() as patched:
        patched.setattr(Results, "put", put_on_a_full_disk)
        with pytest.raises(CheckpointError, match=r"fit\.sqlite.*full"):
            quick(checkpoint=path).fit(*GATES)
    assert len(keys(path)) >= 2  # the identity of the fit, and values
    assert_identical(quick(checkpoint=path).fit(*GATES), quick().fit(*GATES))


def test_two_fits_at_a_time(tmp_path, monkeypatch):
    """The second one is refused, also where it would read the seed; the first goes on."""
    path, put, refused = tmp_path / "fit.sqlite", Results.put, []

    def put_and_meet(*task):
        put(*task)
        for seed in (0, None):
            with pytest.raises(CheckpointError, match=r"fit\.sqlite.*in use by another fit"):
                quick(checkpoint=path, random_state=seed).fit(*GATES)
            refused.append(seed)

    with monkeypatch.context() as patched:
        patched.setattr(Results, "put", put_and_meet)
        found = quick(checkpoint=path).fit(*GATES)
    assert refused
    assert_identical(found, quick().fit(*GATES))
    assert_identical(quick(checkpoint=path).fit(*GATES), found)


def test_links_and_working_directories(tmp_path, monkeypatch):
    """A link is preserved, and the path does not depend on later working directories."""
    (tmp_path / "far").mkdir()
    (tmp_path / "near").symlink_to(tmp_path / "far" / "fit.sqlite")
    monkeypatch.chdir(tmp_path)
    put = Results.put
    with monkeypatch.context() as patched:
        patched.setattr(Results, "put", lambda *task: (os.chdir("/"), put(*task)))
        whole = quick(checkpoint="near").fit(*GATES)
    assert (tmp_path / "near").is_symlink()
    assert_identical(quick(checkpoint=tmp_path / "far" / "fit.sqlite").fit(*GATES), whole)


def test_hostile_names(tmp_path):
    X, y = GATES
    names = ["a\nb", '"}]', "\ud800", "\x00", "é\u202e"]
    frame = pd.DataFrame(X, columns=pd.Index(names, dtype=object))
    arguments = {"fixed_features": names[2], "feature_groups": {"\udfff": names[:2]}}
    found, _ = fit_with_interruptions(tmp_path / ":memory:", arguments, (frame, y), {})
    assert_identical(found, quick(**arguments).fit(frame, y))
    assert (tmp_path / ":memory:").exists()


def test_copies_of_a_selector(tmp_path):
    """Stability ignores the checkpoint; a search over many fits is refused."""
    selector = quick(checkpoint=tmp_path / "fit.sqlite").fit(*GATES)
    assert stability(selector, *GATES, n_subsamples=2, random_state=0).selections
    pipeline = make_pipeline(selector, GaussianNB())
    grid = {"pidselector__alpha": [0.05]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise")
    with pytest.raises(CheckpointError, match="n_samples was 200 and is 100"):
        search.fit(*GATES)


KILLED = """
import os, signal, sqlite3, sys
from pidselect.selection import resume
from systems import gates, quick

def dying(left):
    def count():
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
    return count

quick().fit(*gates())  # loads what all of them need
connect, resume.INTERVAL = sqlite3.connect, 0.0
for moment in map(int, sys.argv[2:]):
    if (child := os.fork()) == 0:
        def connect_to_die(*arguments, **named):
            database = connect(*arguments, **named)
            database.set_progress_handler(dying(moment), 10)  # within statements
            return database
        sqlite3.connect = connect_to_die
        quick(checkpoint=sys.argv[1], n_jobs=2).fit(*gates())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(os.WTERMSIG(status) if os.WIFSIGNALED(status) else "survived")
"""


@pytest.mark.kill
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_killed_again_and_again(tmp_path):
    """While the file is read or written."""
    path = tmp_path / "fit.sqlite"
    moments = [1, 5, 10, 15, 20, 30]
    done = subprocess.run(
        [sys.executable, "-c", KILLED, path, *map(str, moments)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.split() == [str(signal.SIGKILL.value)] * len(moments), done.stderr
    assert_identical(quick(checkpoint=path).fit(*GATES), quick().fit(*GATES))


# --- other files, data and settings ---------------------------------------------------------------


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A checkpoint, and its bytes."""
    path = tmp_path_factory.mktemp("finished") / "fit.sqlite"
    quick(checkpoint=path).fit(*GATES)
    return path, path.read_bytes()


def _others():
    """What is said of another fit: its settings, data and groups."""
    X, y = GATES
    other = X.copy()
    other[7, 3] ^= 1
    reverse = pd.DataFrame(X[:, ::-1], columns=["x4", "x3", "x2", "x1", "x0"])
    settings = {
        "alpha was 0.05 and is 0.1": {"alpha": 0.1},
        "n_permutations was 'auto' and is 199": {"n_permutations": 199},
        "criterion was 'cmi' and is 'mi'": {"criterion": "mi"},
        "criterion was 'cmi' and is .*Linear.*0.25": {"criterion": LinearCriterion(0.25)},
        "backward was 'maximum' and is None": {"backward": None},
        "max_features was None and is 1": {"max_features": 1},
        "max_samples was 'auto' and is 150": {"max_samples": 150},
        r"fixed_features was \[\] and is \['x3'\]": {"fixed_features": "x3"},
        "feature_groups was {} and is .*'x0', 'x1'": {"feature_groups": {"x0": [0, 1]}},
        "missing was 'error' and is 'drop'": {"missing": "drop"},
        "estimator was .*ScoreTest.* and is .*Mixed.*'k': 3": {"estimator": Mixed(k=3)},
        "column 'x1' was 'ordinal.* and is 'nominal": {"feature_types": {"x1": "nominal"}},
        "shared_permutations was True and is False": {"shared_permutations": False},
        "seed was 0 and is 1": {"random_state": 1},
    }
    data = {
        "column 'x3'": (other, y),
        "target 'target'": (X, 1 - y),
        "n_samples was 200 and is 190": (X[:190], y[:190]),
        "column 'x4' was 'ordinal.* and is None": (X[:, :4], y),
        "column 'x5' was None and is 'ordinal": (np.column_stack([X, other[:, 3]]), y),
        "groups": (X, y, GROUPS),
        "order of columns": (reverse, y),
    }
    return {said: (one, GATES) for said, one in settings.items()} | {
        said: ({}, one) for said, one in data.items()
    }


@pytest.mark.parametrize("said", _others())
def test_other_fits_are_refused(said, finished):
    (path, content), (settings, data) = finished, _others()[said]
    with pytest.raises(CheckpointError, match=rf"fit\.sqlite.*{said}.*another path"):
        quick(**settings, checkpoint=path).fit(*data)
    assert path.read_bytes() == content


@pytest.mark.parametrize("change", [{"n_jobs": 2}, {"verbose": 1}, {"random_state": None}], ids=str)
def test_settings_that_do_not_matter(change, finished):
    path, content = finished
    assert_identical(quick(**change, checkpoint=path).fit(*GATES), quick().fit(*GATES))
    assert path.read_bytes() == content


def test_other_groups_of_as_many_rows_are_refused(tmp_path):
    """No other setting tells them apart."""
    path = tmp_path / "fit.sqlite"
    quick(checkpoint=path).fit(*GATES, groups=GROUPS)
    with pytest.raises(CheckpointError, match="groups"):
        quick(checkpoint=path).fit(*GATES, groups=np.arange(200) % 40)


def test_another_version_is_refused(finished, monkeypatch):
    monkeypatch.setattr(resume, "__version__", "99.0")
    with pytest.raises(CheckpointError, match=r"pidselect was .* and is '99.0'"):
        quick(checkpoint=finished[0]).fit(*GATES)


def _damaged(content):
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE mine (notes TEXT)")
        other = database.serialize()
    value = content.index(b"NUMPY")
    return {
        "half": content[: len(content) // 2],
        "all but a byte": content[:-1],
        "a digit of the seed": content.replace(b'"seed": 0', b'"seed": 1'),
        "a bit of a value": content[:value] + bytes([content[value] ^ 1]) + content[value + 1 :],
        "a pickle": b"\x80\x04cos\nsystem\n(S'exit 1'\ntR.",
        "a text": b"mine",
        "another database": other,
    }


@pytest.mark.parametrize("spoil", _damaged(b"NUMPY"))
@pytest.mark.parametrize("seed", [0, None])
def test_other_files_are_left_unchanged(spoil, seed, finished, tmp_path):
    path, content = tmp_path / "notes", _damaged(finished[1])[spoil]
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="notes"):
        quick(checkpoint=path, random_state=seed).fit(*GATES)
    assert path.read_bytes() == content


def test_damage_anywhere(finished, tmp_path):
    """A bit that is not as written is found, or is one that nothing depends on."""
    path, content, rng = tmp_path / "fit.sqlite", finished[1], np.random.default_rng(0)
    whole, n_refused = quick().fit(*GATES), 0
    for place in rng.integers(0, len(content), 40):
        damaged = bytearray(content)
        damaged[place] ^= 1 << rng.integers(8)
        path.write_bytes(damaged)
        try:
            assert_identical(quick(checkpoint=path).fit(*GATES), whole)
        except CheckpointError:
            n_refused += 1
        assert path.read_bytes() == damaged
    assert n_refused > 5


def test_an_empty_file_is_as_none(tmp_path):
    """A fit that was killed at its start may leave one."""
    path = tmp_path / "fit.sqlite"
    path.touch()
    assert_identical(quick(checkpoint=path, random_state=0).fit(*GATES), quick().fit(*GATES))


def test_places_where_no_file_can_be(tmp_path):
    for place in (tmp_path, Path(os.devnull), tmp_path / "nowhere" / "fit.sqlite"):
        with pytest.raises(CheckpointError, match=place.name):
            quick(checkpoint=place).fit(*GATES)
    for no_path in ("", 3, b"fit.sqlite", True):
        with pytest.raises(ValueError, match=f"checkpoint={no_path!r}"):
            quick(checkpoint=no_path).fit(*GATES)


# --- values and keys ------------------------------------------------------------------------------


@given(
    st.lists(
        arrays(np.uint64, array_shapes(min_dims=0, max_dims=4, min_side=0)).map(
            lambda bits: bits.view(np.float64)
        )
    )
)
def test_arrays_come_back_to_the_bit(packed):
    found = unpack(pack(packed))
    assert [array.shape for array in found] == [array.shape for array in packed]
    assert [array.tobytes() for array in found] == [array.tobytes() for array in packed]


def test_objects_are_known_by_their_parameters():
    assert to_json(KSG(k=np.int64(3))) == to_json(KSG(k=3)) != to_json(KSG(k=4))
    assert to_json(LinearCriterion(beta=0.5)) != to_json(LinearCriterion(beta=float("inf")))
    assert json.loads(to_json(to_json)) == "pidselect.selection.resume.to_json"


def test_the_same_codes_of_other_labels_are_refused(tmp_path):
    (X, y), path = GATES, tmp_path / "fit.sqlite"
    selector = quick(n_permutations=0, max_features=1, checkpoint=path)
    before, now = np.array(["no", "yes"], dtype=object), np.array(["no", "oui"], dtype=object)
    selector.fit(before[X], before[y])
    for said, data in {"column 'x0'": (now[X], before[y]), "target": (before[X], now[y])}.items():
        with pytest.raises(CheckpointError, match=f"of another fit: {said} "):
            selector.fit(*data)
