"""A fit that is killed at any moment is resumed and gives the same result."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from systems import PAPER, gates, noise, numbers, quick, wide, xor

from pidselect import stability
from pidselect.estimators import Discrete
from pidselect.selection import checkpoint
from pidselect.selection.callbacks import Callback, use_callback
from pidselect.selection.checkpoint import CheckpointFile, Journal
from pidselect.significance import interactions

GATES, NUMBERS, XOR = gates(), numbers(60), xor()
GROUPS = np.repeat(np.arange(40), 5)

#: Every phase and type of scores: settings, data, and other arguments of `fit`.
CASES = {
    "portfolio": ({}, NUMBERS, {}),
    "independent permutations": (PAPER, NUMBERS, {}),
    "sequential": ({"n_permutations": "auto"}, GATES, {}),
    "wide": ({"n_permutations": "auto"}, wide(), {}),
    "no test": ({"n_permutations": 0, "max_features": 2}, GATES, {}),
    "pairs": ({"lookahead": 2, "n_permutations": 99}, XOR, {}),
    "pairs, sequential": ({"n_permutations": "auto"}, XOR, {}),
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
    "groups of rows": ({"surrogates": ("global", "blocks")}, GATES, {"groups": GROUPS}),
    "some samples": ({"max_samples": 120, "backward": "maximum"}, GATES, {}),
}


class Interrupted(BaseException):
    """Raised from outside of a fit."""


def interrupt(monkeypatch, after):
    """Interrupt after so many tasks."""
    left = iter(range(after - 1, -1, -1))

    def write_if_due(journal):
        if next(left) == 0:
            raise Interrupted

    monkeypatch.setattr(Journal, "write_if_due", write_if_due)


def fit_with_interruptions(monkeypatch, path, arguments, data, more, jobs=(1,), after=1):
    """Fit until it is finished; return the selector and the number of interruptions."""
    for n_interrupted in range(500):
        selector = quick(**arguments, checkpoint=path, n_jobs=jobs[n_interrupted % len(jobs)])
        with monkeypatch.context() as patched:
            interrupt(patched, after)
            with suppress(Interrupted):
                return selector.fit(*data, **more), n_interrupted
    raise AssertionError("the fit is never finished")


def assert_identical(first, second):
    assert first.selection_.to_dict() == second.selection_.to_dict()
    for name in ("selected_", "ranking_", "scores_", "pvalues_"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("case", CASES)
def test_interrupted_after_every_task(case, tmp_path, monkeypatch):
    arguments, data, more = CASES[case]
    whole = quick(**arguments).fit(*data, **more)
    path = tmp_path / "fit.json"
    selector, n = fit_with_interruptions(monkeypatch, path, arguments, data, more, after=2)
    assert_identical(selector, whole)
    assert n >= 3
    assert [file.name for file in tmp_path.iterdir()] == ["fit.json"]


@pytest.mark.filterwarnings("ignore:No feature was selected")
@pytest.mark.parametrize("order", [2, 3])
def test_interrupted_while_tuples_are_scanned(order, tmp_path, monkeypatch):
    """In several blocks, so that a permutation is known in part."""
    X, y = xor(120)
    X = np.column_stack([X, np.random.default_rng(1).normal(size=(120, 3))])
    arguments = {"lookahead": order, "n_permutations": 99}
    whole = quick(**arguments).fit(X, y)
    assert whole.selection_.steps[1].phase == "lookahead"
    monkeypatch.setattr(interactions, "BLOCK_SIZE", 4)
    found, n = fit_with_interruptions(
        monkeypatch, tmp_path / "fit.json", arguments, (X, y), {}, jobs=(1, 3)
    )
    assert_identical(found, whole)
    assert n > 15


@pytest.mark.filterwarnings("ignore:No feature was selected")
def test_interrupted_where_there_is_nothing_to_scan(tmp_path, monkeypatch):
    """The target is a function of what is selected: that there is no tuple is on file, too."""
    X = np.random.default_rng(0).integers(0, 6, (240, 4))
    arguments = {"n_permutations": 99, "estimator": "discrete", "n_random_starts": 2, "alpha": 0.1}
    data = X, 2 * X[:, 0]
    whole = quick(**arguments).fit(*data)
    path = tmp_path / "fit.json"
    found, _ = fit_with_interruptions(monkeypatch, path, arguments, data, {})
    assert_identical(found, whole)
    assert_identical(quick(**arguments, checkpoint=path).fit(*data), whole)


@pytest.mark.parametrize("case", ["portfolio", "independent permutations", "jmi"])
def test_resume_with_another_number_of_jobs(case, tmp_path, monkeypatch):
    """The split into tasks differs: tasks that are known in part are run again."""
    arguments, data, more = CASES[case]
    found, _ = fit_with_interruptions(
        monkeypatch, tmp_path / "fit.json", arguments, data, more, jobs=(1, 2, 5)
    )
    assert_identical(found, quick(**arguments).fit(*data, **more))


def count_tasks(monkeypatch):
    """Count the tasks that are done from now on."""
    done = []
    monkeypatch.setattr(Journal, "write_if_due", lambda journal: done.append(journal))
    return done


def test_nothing_is_computed_twice(tmp_path, monkeypatch):
    done = count_tasks(monkeypatch)
    quick(checkpoint=tmp_path / "whole.json").fit(*GATES)
    n_tasks = len(done)
    _, n = fit_with_interruptions(monkeypatch, tmp_path / "fit.json", {}, GATES, {})
    assert n == n_tasks


def test_a_finished_fit_computes_nothing(tmp_path, monkeypatch):
    """Nothing is bound or computed, and nothing is written."""
    path = tmp_path / "fit.json"
    whole = quick(checkpoint=path).fit(*GATES)
    before = path.read_bytes()
    monkeypatch.setattr(Discrete, "bind", None)
    again = quick(checkpoint=path).fit(*GATES)
    assert_identical(again, whole)
    assert path.read_bytes() == before


def test_the_file_is_written_in_time(tmp_path, monkeypatch):
    """After each step, and within a step after the interval."""
    path = tmp_path / "fit.json"
    written = []
    write = CheckpointFile.write

    def recording(file, record):
        written.append(record)
        write(file, record)

    monkeypatch.setattr(CheckpointFile, "write", recording)
    selector = quick(checkpoint=path).fit(*GATES)
    n_steps = len(selector.selection_.steps)
    assert len(written) == 1 + n_steps + 1  # first of all, after each step, and at the end
    assert [len(record["entries"]) for record in written] == [*range(n_steps + 1), n_steps]
    assert not any(record["partial"] for record in written[:-1])  # at the end: column scores

    del written[:]
    path.unlink()
    eager = partial(Journal, interval=0.0, max_write_share=1e9)
    monkeypatch.setattr(checkpoint, "Journal", eager)
    quick(checkpoint=path).fit(*GATES)
    assert sum(bool(record["partial"]) for record in written) > n_steps


def test_writing_takes_a_small_part_of_the_time(tmp_path, monkeypatch):
    """The slower a write is, the less often the file is written."""
    now = iter(np.arange(0.0, 1e6, 10.0))  # every look at the clock takes ten seconds
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: next(now))
    written = []
    monkeypatch.setattr(CheckpointFile, "write", lambda file, record: written.append(record))
    journal = Journal(CheckpointFile(tmp_path / "fit.json"), {}, checkpoint.SavedState())
    for _ in range(100):
        journal.write_if_due()
    assert len(written) == 5  # after 60 s, then every 20 times 10 s


def test_large_steps_are_saved_in_part(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "Journal", partial(Journal, max_bytes=3000))
    arguments, data, more = CASES["sequential"]
    whole = quick(**arguments).fit(*data, **more)
    path = tmp_path / "fit.json"
    found, _ = fit_with_interruptions(monkeypatch, path, arguments, data, more, after=30)
    assert_identical(found, whole)


def test_surrogates_are_not_kept(tmp_path):
    """An entry has the statistic of every permutation, and step-down p-values."""
    path = tmp_path / "fit.json"
    X, y = NUMBERS
    X = np.column_stack([X, noise(60, n_columns=40)[0]])
    quick(checkpoint=path).fit(X, y)
    pages = json.loads(path.read_text())["record"]["entries"]
    assert [len(page["step_down"]) for page in pages] == [*[0] * (len(pages) - 1), 2]
    n_values = 2 * 44 * 39  # of tests, candidates and permutations of a forward step
    assert max(len(json.dumps(page)) for page in pages) < 8 * n_values / 3


def test_a_fresh_seed_is_kept(tmp_path):
    """Without random_state, the first seed is used again."""
    path = tmp_path / "fit.json"
    first = quick(random_state=None, checkpoint=path).fit(*GATES)
    again = quick(random_state=None, checkpoint=path).fit(*GATES)
    assert_identical(first, again)
    seed = first.selection_.settings.seed
    assert_identical(quick(random_state=seed, checkpoint=path).fit(*GATES), first)
    with pytest.raises(ValueError, match=f"seed was {seed} and is {seed ^ 1}"):
        quick(random_state=seed ^ 1, checkpoint=path).fit(*GATES)


def test_keyboard_interrupt_loses_nothing(tmp_path, monkeypatch):
    path = tmp_path / "fit.json"
    with monkeypatch.context() as patched:
        patched.setattr(Journal, "write_if_due", _press_keys)
        with pytest.raises(KeyboardInterrupt):
            quick(checkpoint=path).fit(*GATES)
    assert json.loads(path.read_text())["record"]["partial"]


def _press_keys(journal):
    raise KeyboardInterrupt


def fill_disk(monkeypatch, broken):
    """Let a system call fail as on a full disk."""

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, broken, full)


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_full_disk(broken, tmp_path, monkeypatch):
    """The fit raises, the former file is intact, and the fit is resumed from it."""
    path = tmp_path / "fit.json"
    with monkeypatch.context() as patched:
        fill_disk(patched, broken)
        with pytest.raises(OSError, match="No space left"):
            quick(checkpoint=path).fit(*GATES)
        assert not list(tmp_path.iterdir())

    with monkeypatch.context() as patched:
        finish = Journal.add_result

        def finish_one_step(journal, *result):
            finish(journal, *result)
            fill_disk(patched, broken)

        patched.setattr(Journal, "add_result", finish_one_step)
        with pytest.raises(OSError, match=r"fit\.json.*No space left"):
            quick(checkpoint=path).fit(*GATES)
    assert [file.name for file in tmp_path.iterdir()] == ["fit.json"]
    assert len(json.loads(path.read_text())["record"]["entries"]) == 1
    assert_identical(quick(checkpoint=path).fit(*GATES), quick().fit(*GATES))


class GoOn(Callback):
    """Goes on without a checkpoint."""

    def __init__(self):
        self.errors = []

    def on_checkpoint_error(self, error):
        self.errors.append(str(error))
        return True


@pytest.mark.parametrize("broken", ["fsync", "replace"])
def test_a_callback_may_go_on_without_a_checkpoint(broken, tmp_path, monkeypatch):
    """As the command line does."""
    callback = GoOn()
    with monkeypatch.context() as patched, use_callback(callback):
        fill_disk(patched, broken)
        found = quick(checkpoint=tmp_path / "fit.json").fit(*GATES)
    assert_identical(found, quick().fit(*GATES))
    assert callback.errors
    assert all("fit.json" in error for error in callback.errors)
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_is_written_again_once_the_disk_has_space(tmp_path, monkeypatch):
    path = tmp_path / "fit.json"

    class FreeDisk(GoOn):
        def on_step(self, step):
            monkeypatch.undo()

    callback = FreeDisk()
    with use_callback(callback):
        fill_disk(monkeypatch, "fsync")
        found = quick(checkpoint=path).fit(*GATES)
    assert callback.errors
    assert json.loads(path.read_text())["record"]["is_finished"]
    assert_identical(quick(checkpoint=path).fit(*GATES), found)


def test_a_callback_may_go_on_beside_another_fit(tmp_path):
    """The file of the other fit is left intact, and its path is not used once that has ended."""
    path = tmp_path / "fit.json"

    class Meet(GoOn):
        def on_stage(self, stage):
            if not self.errors:
                path.write_bytes(b'{"what": "pidselect checkpoint", "written": "0123-0"}')

        def on_step(self, step):
            path.unlink(missing_ok=True)

    callback = Meet()
    with use_callback(callback):
        found = quick(checkpoint=path).fit(*GATES)
    assert_identical(found, quick().fit(*GATES))
    (error,) = callback.errors
    assert "Another fit" in error
    assert not path.exists()


def test_two_fits_do_not_share_a_path(tmp_path, monkeypatch):
    """The fit that finds the other's file raises, and the file is left intact."""
    path = tmp_path / "fit.json"
    finish = Journal.add_result

    def meet(journal, *result):
        monkeypatch.setattr(Journal, "add_result", finish)
        path.unlink()
        quick(checkpoint=path).fit(*XOR)
        finish(journal, *result)

    monkeypatch.setattr(Journal, "add_result", meet)
    with (
        pytest.warns(UserWarning, match="No feature"),
        pytest.raises(RuntimeError, match=r"fit\.json"),
    ):
        quick(checkpoint=path).fit(*GATES)
    with pytest.warns(UserWarning, match="No feature"):
        quick(checkpoint=path).fit(*XOR)


def test_links_and_working_directories(tmp_path, monkeypatch):
    """A link is preserved, and the path does not depend on later working directories."""
    (tmp_path / "far").mkdir()
    (tmp_path / "near.json").symlink_to(tmp_path / "far" / "fit.json")
    monkeypatch.chdir(tmp_path)
    finish = Journal.add_result

    def change_folder(journal, *result):
        os.chdir("/")
        finish(journal, *result)

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "add_result", change_folder)
        whole = quick(checkpoint="near.json").fit(*GATES)
    assert (tmp_path / "near.json").is_symlink()
    assert_identical(quick(checkpoint=tmp_path / "far" / "fit.json").fit(*GATES), whole)


def test_hostile_names(tmp_path, monkeypatch):
    X, y = GATES
    names = ["a\nb", '"}]', "\ud800", "\x00", "é\u202e"]
    frame = pd.DataFrame(X, columns=pd.Index(names, dtype=object))
    arguments = {"fixed_features": names[2], "feature_groups": {"\udfff": names[:2]}}
    found, _ = fit_with_interruptions(
        monkeypatch, tmp_path / "fit.json", arguments, (frame, y), {}, after=3
    )
    assert_identical(found, quick(**arguments).fit(frame, y))


def test_infinite_values(tmp_path, monkeypatch):
    """A Gaussian estimate is infinite where y is a function of the features."""
    X, _ = NUMBERS
    arguments, data = {"estimator": "gaussian", "surrogates": "global"}, (X, X[:, 0] + X[:, 1])
    whole = quick(**arguments).fit(*data)
    assert "inf" in json.dumps(whole.selection_.to_dict())
    found, _ = fit_with_interruptions(monkeypatch, tmp_path / "fit.json", arguments, data, {})
    assert_identical(found, whole)


def test_copies_of_a_selector(tmp_path):
    """Stability ignores the checkpoint; a search over many fits is refused."""
    path = tmp_path / "fit.json"
    X, y = GATES
    selector = quick(checkpoint=path).fit(X, y)
    assert stability(selector, X, y, n_subsamples=2, random_state=0).selections
    search = GridSearchCV(
        make_pipeline(quick(checkpoint=path), GaussianNB()),
        {"pidselector__alpha": [0.05]},
        cv=2,
        error_score="raise",
    )
    with pytest.raises(ValueError, match="n_samples was 200 and is 100"):
        search.fit(X, y)


KILLED = """
import os, signal, sys
from functools import partial
from pidselect.selection import checkpoint
from pidselect.selection.checkpoint import Journal
from systems import gates, quick

checkpoint.Journal = partial(Journal, interval=0.0, max_write_share=1e9)

def dying(function, left):
    def wrapper(*arguments, **named):
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*arguments, **named)
    return wrapper

quick().fit(*gates())  # loads what all of them need
for moment in sys.argv[2:]:
    where, number = moment.split(":")
    child = os.fork()
    if child == 0:
        home = Journal if where == "write_if_due" else os
        setattr(home, where, dying(getattr(home, where), int(number)))
        quick(checkpoint=sys.argv[1], n_jobs=2).fit(*gates())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    print(where, os.WTERMSIG(status) if os.WIFSIGNALED(status) else "survived")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_killed_again_and_again(tmp_path):
    """In a task, and before, during and after the replacement of the file."""
    path = tmp_path / "fit.json"
    places = ["fsync", "write_if_due", "replace", "open"] * 2
    moments = np.random.default_rng(0).integers(2, 6, len(places))
    here = Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", KILLED, path]
        + [f"{place}:{number}" for place, number in zip(places, moments, strict=True)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(here), *sys.path])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.stdout.split("\n")[:-1] == [f"{place} {signal.SIGKILL}" for place in places]
    known = CheckpointFile(path).read()
    assert known["entries"]
    assert not known["is_finished"]
    assert_identical(quick(checkpoint=path).fit(*GATES), quick().fit(*GATES))
