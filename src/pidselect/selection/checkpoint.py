"""Checkpoints: a file from which an interrupted fit is resumed.

A fit is a pure function of its data, settings and seed. To resume it, it is run again, and known
values are read instead of computed: of a finished test the statistic in every permutation, of the
test in progress the values computed so far. Values are stored exactly, so that a resumed fit gives
the same result to the bit.

The file is JSON with a checksum, and reading it runs no code. It is written to a temporary file
that then replaces the former one, so that a complete file exists at any moment.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from hashlib import blake2b, sha256
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pidselect import __version__
from pidselect.data import Column, Dataset, IntArray
from pidselect.data.io import atomic_write
from pidselect.data.messages import quoted, to_plain
from pidselect.selection.context import SelectionContext
from pidselect.selection.fit import record_settings
from pidselect.selection.pool import FeaturePool
from pidselect.selection.scoring import PartialScores
from pidselect.significance.validation import to_seed

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector

FORMAT = 1

#: The first bytes of every checkpoint.
FILE_HEADER = b'{"what": "pidselect checkpoint", '

#: The identifier of the last write, found in the first bytes of the file.
WRITE_ID = re.compile(rb'"written": "([0-9a-f]+-[0-9]+)"')
HEADER_SIZE = 256

#: Temporary files older than this, in seconds, were left behind by processes that were killed.
STALE = 3600.0

#: The keys of the content of a checkpoint.
KEYS = {"pidselect", "settings", "data", "entries", "partial", "is_finished"}


# --- the file -----------------------------------------------------------------------------------


class CheckpointFile:
    """A JSON file with a checksum, used by one process at a time.

    The checksum detects a truncated or modified file, the identifier of the last write detects that
    another process has written in the meantime.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = CheckpointFile(Path(folder, "fit.json"))
    ...     print(file.read())
    ...     file.write({"bits": [0.5]})
    ...     print(CheckpointFile(Path(folder, "fit.json")).read())
    None
    {'bits': [0.5]}
    """

    def __init__(self, path: Path) -> None:
        self._path = Path(os.path.realpath(path))  # links and the working directory may change
        self._write_id: str | None = None
        self._process = secrets.token_hex(8)
        self._n_written = 0

    def __fspath__(self) -> str:
        return str(self._path)

    @property
    def exists(self) -> bool:
        """Whether the file was read or written."""
        return self._write_id is not None

    def refusal(self, reason: str) -> ValueError:
        """Return the error that a file cannot be used."""
        return ValueError(
            f"The checkpoint {str(self._path)!r} {reason}. Use another path, or delete the file to "
            "start again."
        )

    def read(self) -> dict[str, Any] | None:
        """Return the content, None if there is no file; refuse any other file."""
        if self._path.exists() and not self._path.is_file():
            raise ValueError(
                f"checkpoint={str(self._path)!r} is a folder or a device: use the path of a file."
            )
        try:
            with self._path.open("rb") as file:
                content = file.read(HEADER_SIZE)
                if not content.startswith(FILE_HEADER):  # the file may be of any size
                    raise self.refusal("is no checkpoint, and is left unchanged")
                content += file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise OSError(
                error.errno,
                f"The checkpoint {str(self._path)!r} cannot be read ({error.strerror})",
            ) from error
        try:
            found = json.loads(content)
            record = found.get("record")
            body = _to_bytes(record)  # refuses NaN and infinity
        except (ValueError, RecursionError) as error:
            raise self.refusal("is truncated or modified, and is left unchanged") from error
        if found.get("format") != FORMAT:
            raise self.refusal(
                f"has format {found.get('format')!r} of another version of pidselect; this version "
                f"reads format {FORMAT}"
            )
        if not isinstance(record, dict) or found.get("checksum") != sha256(body).hexdigest():
            raise self.refusal("is modified or damaged, as its checksum is wrong")
        self._write_id = str(found.get("written"))
        return record

    def write(self, record: Mapping[str, Any]) -> None:
        """Replace the content."""
        try:
            self._check_single_writer()
            write_id = f"{self._process}-{self._n_written}"
            body = _to_bytes(record)
            # The identifier comes first, so that it is found without reading the whole file.
            head = {"format": FORMAT, "written": write_id, "checksum": sha256(body).hexdigest()}
            self._replace(FILE_HEADER, _to_bytes(head)[1:-1], b', "record": ', body, b"}\n")
        except OSError as error:
            raise OSError(
                error.errno,
                f"The checkpoint {str(self._path)!r} could not be written ({error.strerror}). The "
                "former content is intact: fit again to resume from it, or use another path",
            ) from error
        self._write_id, self._n_written = write_id, self._n_written + 1

    def _check_single_writer(self) -> None:
        try:
            with self._path.open("rb") as file:
                found = WRITE_ID.search(file.read(HEADER_SIZE))
        except FileNotFoundError:
            return
        if found is None or found[1].decode() != self._write_id:
            raise RuntimeError(
                f"Another fit has written to the checkpoint {str(self._path)!r} in the meantime. "
                "A checkpoint belongs to one fit: use a path for each."
            )

    def _replace(self, *parts: bytes) -> None:
        folder = self._path.parent
        if not self._n_written:
            _remove_stale(folder)
        with atomic_write(self._path) as file:
            file.writelines(parts)
        with suppress(OSError):  # not every system can synchronise folders
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


def _to_bytes(record: Mapping[str, Any]) -> bytes:
    """Return JSON in ASCII, which holds any name, lone surrogates included."""
    return json.dumps(record, ensure_ascii=True, allow_nan=False).encode("ascii")


def _remove_stale(folder: Path) -> None:
    for file in folder.glob(".pidselect-*.part"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > STALE:
                file.unlink()


# --- the log of a fit ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SavedState:
    """The values of a fit so far.

    `entries` are finished tests and scores computed between tests, in order; `partial` are the
    scores of the next entry.
    """

    entries: tuple[Mapping[str, Any], ...] = ()
    partial: tuple[PartialScores, ...] = ()
    is_finished: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain types, for JSON."""
        return {
            "is_finished": self.is_finished,
            "entries": list(self.entries),
            "partial": [scores.to_dict() for scores in self.partial],
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> SavedState:
        """Return the state that `to_dict` has stored."""
        partial_scores = tuple(map(PartialScores.from_dict, stored["partial"]))
        return cls(tuple(stored["entries"]), partial_scores, stored["is_finished"])


class Journal:
    """The log of a checkpoint: known values are read in the order of the fit, new ones are added.

    Parameters
    ----------
    file : CheckpointFile
    identity : mapping
        Version, settings and data of the fit.
    state : SavedState
    interval : float
        Seconds between two writes within a test.
    max_write_share : float
        The largest share of the time to spend on writing.
    max_bytes : int
        The largest size of the scores of a single step that are saved.
    """

    def __init__(
        self,
        file: CheckpointFile,
        identity: Mapping[str, Any],
        state: SavedState,
        interval: float = 60.0,
        max_write_share: float = 1 / 20,
        max_bytes: int = 2**26,
    ) -> None:
        self._file = file
        self._identity = identity
        # Replaced as a whole: an interrupt finds the former or the new state, never a mixture.
        self._state = state
        self._interval = interval
        self._max_write_share = max_write_share
        self._max_bytes = max_bytes
        self._n_read = 0  # entries
        self._n_requested = 0  # partial scores
        self._is_testing = False
        self._due = time.monotonic() + interval

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to compute."""
        return self._state.is_finished

    def partial_scores(self, shape: tuple[int, ...], permutations: range) -> PartialScores:
        """Return the next scores to compute, with their known values."""
        if not self._is_testing and self._n_read < len(self._state.entries):
            return self._read_scores(shape, permutations)
        number, saved = self._n_requested, self._state.partial
        self._n_requested += 1
        if number < len(saved) and saved[number].fits(shape, permutations):
            return saved[number]
        scores = PartialScores.empty(shape, permutations)
        before = saved[:number]
        size = sum(one.values.nbytes for one in (*before, scores))
        if number == len(before) and size <= self._max_bytes:
            self._state = replace(self._state, partial=(*before, scores))
        return scores

    def _read_scores(self, shape: tuple[int, ...], permutations: range) -> PartialScores:
        entry = self._state.entries[self._n_read]
        if "values" not in entry:  # a test: the scores before it were too large to be saved
            return PartialScores.empty(shape, permutations)
        self._n_read += 1
        scores = PartialScores.from_dict(entry)
        return (
            scores if scores.fits(shape, permutations) else PartialScores.empty(shape, permutations)
        )

    def find_result(self, test_id: str) -> Mapping[str, Any] | None:
        """Return the result of a finished test; None if the test is to be run now."""
        entries = self._state.entries
        if self._n_read < len(entries):
            entry = entries[self._n_read]
            self._n_read += 1
            if entry.get("test") != test_id:
                raise self._file.refusal("does not match the tests of this fit")
            return entry
        if self._n_requested:  # scores computed since the previous test
            computed = tuple(one.to_dict() for one in self._state.partial[: self._n_requested])
            self._state = SavedState((*entries, *computed))
            self._n_read = len(self._state.entries)
        self._n_requested, self._is_testing = 0, True
        return None

    def add_result(self, test_id: str, entry: Mapping[str, Any]) -> None:
        """Save the result of the test in progress.

        The surrogates of all candidates are kept for the last test only: what follows an earlier
        one needs no more than its statistic.
        """
        former = tuple(
            {key: value for key, value in one.items() if key != "surrogates"}
            for one in self._state.entries
        )
        self._state = SavedState((*former, {"test": test_id, **entry}))
        self._n_read = len(self._state.entries)
        self._n_requested, self._is_testing = 0, False
        self.write()

    def write_if_due(self) -> None:
        """Write the file if the interval has passed."""
        if time.monotonic() >= self._due:
            self.write()

    def write(self) -> None:
        """Write the file."""
        start = time.monotonic()
        self._file.write({**self._identity, **self._state.to_dict()})
        end = time.monotonic()
        self._due = end + max(self._interval, (end - start) / self._max_write_share)

    @contextmanager
    def recording(self, context: SelectionContext) -> Iterator[SelectionContext]:
        """Save what a fit computes in this block, also if it is interrupted."""
        if not self._file.exists:
            self.write()  # a path that cannot be written to raises before any work is done
        try:
            yield replace(context, journal=self)
        except BaseException:
            with suppress(Exception):  # the first error is the one to raise
                self.write()
            raise
        if not self.is_finished:
            self._state = replace(self._state, is_finished=True)
            self.write()


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A checkpoint file and its content at the start of the fit."""

    file: CheckpointFile
    stored: Mapping[str, Any] | None

    @classmethod
    def read(cls, path: str | PathLike[str] | None) -> Checkpoint | None:
        """Read a file, if there is one; refuse any file that is no checkpoint of a fit.

        A path may be a `CheckpointFile`, which decides what happens if it cannot be written.
        """
        if path is None:
            return None
        file = path if isinstance(path, CheckpointFile) else CheckpointFile(Path(path))
        stored = file.read()
        if stored is not None and not stored.keys() >= KEYS:
            raise file.refusal("is no checkpoint of a fit")
        return cls(file, stored)

    def seed(self, random_state: Any) -> int:
        """Return the seed: that of the file, unless another one is given."""
        if random_state is None and self.stored is not None:
            return int(self.stored["settings"]["seed"])
        return to_seed(random_state)

    def journal(
        self, selector: PIDSelector, dataset: Dataset, pool: FeaturePool, context: SelectionContext
    ) -> Journal:
        """Return the log of the fit; refuse that of another one."""
        identity = {
            "pidselect": __version__,
            "settings": describe_settings(selector, dataset, pool, context),
            "data": describe_data(dataset, context.groups),
        }
        identity = json.loads(json.dumps(identity))
        if self.stored is None:
            return Journal(self.file, identity, SavedState())
        if found := differences(self.stored, identity):
            raise self.file.refusal(f"is of another fit: {found}")
        return Journal(self.file, identity, SavedState.from_dict(self.stored))


# --- the identity of a fit ----------------------------------------------------------------------


def describe_settings(
    selector: PIDSelector, dataset: Dataset, pool: FeaturePool, context: SelectionContext
) -> dict[str, Any]:
    """Return all settings that the result depends on, as plain types."""
    names = dataset.table.names
    groups = {
        feature.name: [names[column] for column in feature.columns]
        for feature in (*pool.fixed, *pool.candidates)
        if len(feature.columns) > 1 or feature.name != names[feature.columns[0]]
    }
    return plain(
        {
            **record_settings(selector, context),
            "criterion": selector.criterion,
            "estimator": [(named.name, named.estimator) for named in context.estimators],
            "fixed_features": [feature.name for feature in pool.fixed],
            "feature_groups": groups,
            "max_features": selector.max_features,
            "max_samples": selector.max_samples,
            "missing": selector.missing,
        }
    )


def describe_data(dataset: Dataset, groups: IntArray | None) -> dict[str, Any]:
    """Return names, feature types and digests of all columns, but none of their values."""

    def describe(column: Column) -> list[str]:
        return [column.name, column.feature_type, digest(column.values, column.labels)]

    return {
        "n_samples": dataset.target.n_samples,
        "columns": [describe(column) for column in dataset.table.columns],
        "target": [describe(column) for column in dataset.target.columns],
        "groups": None if groups is None else digest(groups),
    }


def digest(values: Any, labels: Iterable[str] | None = None, chunk: int = 2**20) -> str:
    """Return a hash of values and labels, reading `chunk` values at a time.

    Examples
    --------
    >>> digest(np.array([1.0, 2.0])) == digest(np.array([1.0, 2.0]))
    True
    >>> digest(np.array([0.0, 1.0]), ["a", "b"]) == digest(np.array([0.0, 1.0]), ["a", "c"])
    False
    """
    hashed = blake2b(json.dumps(None if labels is None else list(labels)).encode(), digest_size=16)
    for start in range(0, len(values), chunk):
        hashed.update(np.ascontiguousarray(values[start : start + chunk]).data)
    return hashed.hexdigest()


def plain(value: Any) -> Any:
    """Return settings as plain types, objects as their class and parameters.

    Examples
    --------
    >>> from pidselect.estimators import KSG
    >>> plain({"alpha": np.float64(0.05), "estimator": KSG(k=10)})["estimator"]["k"]
    10
    """
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if value is None or isinstance(value, str | int | float):
        return to_plain(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    cls = type(value)
    return {"class": f"{cls.__module__}.{cls.__qualname__}", **plain(_parameters(value))}


def _parameters(value: Any) -> dict[str, Any]:
    if hasattr(value, "get_params"):
        return dict(value.get_params(deep=False))
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, partial):
        return {"function": value.func, "arguments": value.args, "named": value.keywords}
    if isinstance(value, set | frozenset):
        return {"items": sorted(map(repr, value))}
    if hasattr(value, "__dict__"):
        return dict(vars(value))
    slots = {name: getattr(value, name, None) for name in getattr(value, "__slots__", ())}
    return slots or {"value": repr(value)}  # such as a date


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Describe how two fits differ; empty if they do not.

    Examples
    --------
    >>> before = {"pidselect": "1.0", "settings": {"alpha": 0.05}, "data": {}}
    >>> differences(before, {**before, "settings": {"alpha": 0.01}})
    'alpha was 0.05 and is 0.01'
    """
    if before["pidselect"] != now["pidselect"]:
        return f"pidselect was {before['pidselect']} and is {now['pidselect']}"
    found = _data_differences(before["data"], now["data"])
    if not found:  # otherwise, settings may differ as they depend on the data
        first, second = before["settings"], now["settings"]
        found = [
            f"{name} was {first.get(name)!r} and is {second.get(name)!r}"
            for name in {**first, **second}
            if first.get(name) != second.get(name)
        ]
    n_more = len(found) - 5
    return "; ".join(found[:5]) + (f"; and {n_more} more" if n_more > 0 else "")


def _data_differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    if before == now:
        return []
    if before["n_samples"] != now["n_samples"]:
        return [f"n_samples was {before['n_samples']} and is {now['n_samples']}"]
    found = _column_differences(before["columns"], now["columns"], "column")
    found += _column_differences(before["target"], now["target"], "target")
    return found + (["groups differ"] if before["groups"] != now["groups"] else [])


def _column_differences(before: list[list[str]], now: list[list[str]], what: str) -> list[str]:
    former, names = [name for name, *_ in before], [name for name, *_ in now]
    if former != names:
        if removed := [name for name in former if name not in set(names)]:
            return [f"{what} {quoted(removed)} is missing"]
        if new := [name for name in names if name not in set(former)]:
            return [f"{what} {quoted(new)} is new"]
        return [f"the order of {what}s differs"]
    found = []
    for (name, old_type, old_values), (_, new_type, new_values) in zip(before, now, strict=True):
        if old_type != new_type:
            found.append(f"{what} {name!r} was {old_type} and is {new_type}")
        elif old_values != new_values:
            found.append(f"{what} {name!r} has other values")
    return found
