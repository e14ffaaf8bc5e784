"""What is sent to the workers of a cluster, and when it is sent again."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from pidselect.data import Block, Column
from pidselect.selection.clusters import Sent, assign


class Common:
    """What all tasks of a step share."""


class Workers:
    """Workers that keep what they are sent: `put` and `has` of `Sent.send`."""

    def __init__(self):
        self.kept = {}
        self.sent = []
        self.lost = set()

    def put(self, values, worker):
        handles = []
        for value in values:
            handles.append(len(self.kept))
            self.kept[handles[-1]] = value
            names = [column.name for column in value] if isinstance(value, list) else "common"
            self.sent.append((worker, names))
        return handles

    def has(self, handle):
        return handle not in self.lost

    def take_sent(self):
        taken, self.sent = self.sent, []
        return taken


@pytest.fixture
def workers():
    return Workers()


def columns_of(names):
    return [Column(name, "continuous", np.zeros(2)) for name in names]


def tasks_of(groups):
    """Return a task for each group of columns, every column a block."""
    return [([Block((column,)) for column in group], "more") for group in groups]


def send(sent, workers, common, tasks, chunks, n_threads=None, cluster="here"):
    threads = {"v": 1, "w": 1} if n_threads is None else n_threads
    handle, remote = sent.send(cluster, threads, common, tasks, chunks, workers.put, workers.has)
    assert workers.kept[handle] is common
    for task, found in zip(tasks, remote, strict=True):
        blocks, *others = found.take([workers.kept[parcel] for parcel in found.parcels])
        assert [block.columns for block in blocks] == [block.columns for block in task[0]]
        assert others == ["more"]
    return [task.worker for task in remote]


def test_columns_are_sent_once(workers):
    """In a later step only the common object and residuals, to the worker of their chunk."""
    sent, (a, b, c, d) = Sent(), columns_of("abcd")
    sent.divide(2)
    first, second = Common(), Common()
    assert send(sent, workers, first, tasks_of([[a, c], [b, d]]), [0, 1]) == ["v", "w"]
    assert workers.take_sent() == [(None, "common"), ("v", ["a", "c"]), ("w", ["b", "d"])]
    send(sent, workers, first, tasks_of([[a], [c], [d]]), [0, 0, 1])
    assert workers.take_sent() == []
    (residual,) = columns_of(["left of d"])
    send(sent, workers, second, tasks_of([[c], [b, residual]]), [0, 1])
    assert workers.take_sent() == [(None, "common"), ("w", ["left of d"])]


def test_few_columns_are_sent_to_all(workers):
    """As long as there is the common object."""
    sent, columns, common = Sent(), columns_of("ab"), Common()
    assert send(sent, workers, common, tasks_of([columns]), [None]) == [None]
    send(sent, workers, common, tasks_of([columns]), [None])
    assert workers.take_sent() == [(None, "common"), (None, ["a", "b"])]
    workers.kept.clear()
    del common
    gc.collect()
    assert not sent.common


def test_columns_are_forgotten_with_the_client_copy(workers):
    sent, (a, b) = Sent(), columns_of("ab")
    sent.divide(1)
    send(sent, workers, Common(), tasks_of([[a], [b]]), [0, 0])
    workers.kept.clear()
    del a
    gc.collect()
    assert [column.name for column in sent.columns] == ["b"]


def test_lost_columns_are_sent_again(workers):
    """To a worker that is left, and only those."""
    sent, (a, b), common = Sent(), columns_of("ab"), Common()
    sent.divide(2)
    tasks = tasks_of([[a], [b]])
    send(sent, workers, common, tasks, [0, 1])
    workers.take_sent()
    workers.lost.add(sent.columns[b].parcel)
    assert send(sent, workers, common, tasks, [0, 1], {"v": 1}) == ["v", "v"]
    assert workers.take_sent() == [("v", ["b"])]


def test_another_cluster_has_nothing(workers):
    sent, (a,), common = Sent(), columns_of("a"), Common()
    sent.divide(1)
    for cluster in ("here", "there"):
        send(sent, workers, common, tasks_of([[a]]), [0], cluster=cluster)
        assert len(workers.take_sent()) == 2


def test_chunks_are_as_many_as_ever_needed():
    sent = Sent()
    assert [sent.divide(n) for n in (8, 6, 12, 8)] == [8, 8, 12, 12]


@pytest.mark.parametrize("n_threads", [{"a": 1, "b": 1, "c": 1}, {"a": 4, "b": 2}, {"a": 1}])
def test_chunks_are_divided_by_threads(n_threads):
    """None has more than its share, rounded up."""
    owners = assign(24, n_threads, {})
    shares = {name: 24 * n / sum(n_threads.values()) for name, n in n_threads.items()}
    assert sorted(owners) == list(range(24))
    assert {name: list(owners.values()).count(name) for name in n_threads} == shares


def test_few_chunks_move():
    """Those of a worker that ended; and a new one takes what others have too much of."""
    owners = assign(12, {"a": 1, "b": 1, "c": 1}, {})
    without = assign(12, {"a": 1, "b": 1}, owners)
    assert all(without[chunk] == worker for chunk, worker in owners.items() if worker != "c")
    after = assign(12, {"a": 1, "b": 1, "d": 1}, without)
    assert sum(after[chunk] != worker for chunk, worker in without.items()) == 4
    assert list(after.values()).count("d") == 4


def test_no_worker_to_choose():
    """Ray's scheduler chooses."""
    assert assign(3, {}, {}) == {}
