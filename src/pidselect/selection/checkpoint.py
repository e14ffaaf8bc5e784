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
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from hashlib import blake2b
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect import __version__
from pidselect.data import Column, Dataset, FloatArray, IntArray
from pidselect.data.io import atomic_write
from pidselect.data.messages import quoted, to_plain
from pidselect.selection.json_file import DamagedFileError, compose, file_header, parse
from pidselect.significance.validation import to_seed

WHAT, FORMAT = "pidselect checkpoint", 4

#: The first bytes of every checkpoint.
FILE_HEADER = file_header(WHAT)

#: The identifier of the last write, found in the first bytes of the file.
WRITE_ID = re.compile(rb'"written": "([0-9a-f]+-[0-9]+)"')
HEADER_SIZE = 256

#: Temporary files older than this, in seconds, were left behind by processes that were killed.
STALE = 3600.0

#: The keys of the content of a checkpoint.
KEYS = {"pidselect", "settings", "data", "entries", "partial", "is_finished"}


# --- the file -----------------------------------------------------------------------------------


class CheckpointRefusedError(ValueError):
    """A file is no checkpoint, or not one of this fit; it is left as it is.

    Examples
    --------
    A file belongs to one fit: another needs another path.

    >>> from tempfile import TemporaryDirectory
    >>> from pidselect import PIDSelector, datasets
    >>> X, y = datasets.sample(datasets.gate("AND"), 100, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     path = f"{folder}/fit.json"
    ...     _ = PIDSelector(checkpoint=path, n_permutations=50, random_state=0).fit(X, y)
    ...     _ = PIDSelector(checkpoint=path, n_permutations=99, random_state=0).fit(X, y)
    Traceback (most recent call last):
    ...
    pidselect.selection.checkpoint.CheckpointRefusedError: ...n_permutations was 50 and is 99...
    """


class CheckpointConflictError(RuntimeError):
    """Another fit has written to the same file.

    Examples
    --------
    Two fits at the same time need two files. Here one starts within another:

    >>> from tempfile import TemporaryDirectory
    >>> from pidselect import PIDSelector, datasets
    >>> from pidselect.selection.callbacks import Callback, use_callback
    >>> X, y = datasets.sample(datasets.gate("AND"), 100, random_state=0)
    >>> class FitAgain(Callback):
    ...     def on_step(self, step):
    ...         with use_callback():
    ...             selector.fit(X, y)
    >>> with TemporaryDirectory() as folder, use_callback(FitAgain()):
    ...     selector = PIDSelector(checkpoint=f"{folder}/a.json", n_permutations=50, random_state=0)
    ...     selector.fit(X, y)
    Traceback (most recent call last):
    ...
    pidselect.selection.checkpoint.CheckpointConflictError: Another fit has written to ...
    """


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
        self.write_id: str | None = None  # of the content that was read or written last
        self._process = secrets.token_hex(8)
        self._n_written = 0

    def refusal(self, reason: str) -> CheckpointRefusedError:
        """Return the error that a file cannot be used."""
        return CheckpointRefusedError(
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
            text = f"The checkpoint {str(self._path)!r} cannot be read ({error.strerror})"
            raise OSError(error.errno, text) from error
        try:
            found = parse(content, FORMAT, "written")
        except DamagedFileError as error:
            raise self.refusal(str(error)) from error
        self.write_id = str(found["written"])
        return dict(found["record"])

    def write(self, record: Mapping[str, Any]) -> None:
        """Replace the content."""
        try:
            self._check_single_writer()
            write_id = f"{self._process}-{self._n_written}"
            # The identifier comes first, so that it is found without reading the whole file.
            content = compose(WHAT, FORMAT, record, written=write_id)
            if not self._n_written:
                _remove_stale(self._path.parent)
            with atomic_write(self._path) as file:
                file.writelines(content)
            _synchronise(self._path.parent)
        except OSError as error:
            raise OSError(
                error.errno,
                f"The checkpoint {str(self._path)!r} could not be written ({error.strerror}). The "
                "former content is intact: fit again to resume from it, or use another path",
            ) from error
        self.write_id, self._n_written = write_id, self._n_written + 1

    def _check_single_writer(self) -> None:
        try:
            with self._path.open("rb") as file:
                found = WRITE_ID.search(file.read(HEADER_SIZE))
        except FileNotFoundError:
            return
        if found is None or found[1].decode() != self.write_id:
            raise CheckpointConflictError(
                f"Another fit has written to the checkpoint {str(self._path)!r} in the meantime. "
                "A checkpoint belongs to one fit: use a path for each."
            )


def _synchronise(folder: Path) -> None:
    with suppress(OSError):  # not every system can
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remove_stale(folder: Path) -> None:
    for file in folder.glob(".pidselect-*.part"):
        with suppress(OSError):
            if time.time() - file.stat().st_mtime > STALE:
                file.unlink()


# --- values in the file -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PartialScores:
    """Values of candidates, of which some may not be computed yet."""

    values: FloatArray  # (n_tests, n_candidates, n_estimators, n_permutations)
    computed: NDArray[np.bool_]  # (n_candidates, n_permutations)
    permutations: range

    @classmethod
    def empty(cls, shape: tuple[int, ...], permutations: range) -> PartialScores:
        """Return scores of which none is computed."""
        return cls(np.zeros(shape), np.zeros((shape[1], shape[3]), dtype=bool), permutations)

    def has(self, places: list[int], permutations: range) -> bool:
        """Return whether all values of some candidates and permutations are computed."""
        return bool(self.computed[places, self._columns(permutations)].all())

    def put(self, values: FloatArray, places: list[int], permutations: range) -> None:
        """Store the values of some candidates and permutations."""
        columns = self._columns(permutations)
        self.values[:, places, :, columns] = values
        self.computed[places, columns] = True  # last, as an interrupt may happen before

    def _columns(self, permutations: range) -> slice:
        first = self.permutations.start
        return slice(permutations.start - first, permutations.stop - first)

    def to_dict(self) -> dict[str, Any]:
        """Return the computed values as plain types, for JSON.

        Examples
        --------
        >>> scores = PartialScores.empty((1, 2, 1, 3), range(5, 8))
        >>> scores.put(np.array([[[[0.5, -0.0]]]]), [1], range(6, 8))
        >>> again = PartialScores.from_dict(scores.to_dict(), (1, 2, 1, 3), range(5, 8))
        >>> again.values[0, 1]
        array([[ 0. ,  0.5, -0. ]])
        """
        return {
            "shape": list(self.values.shape),
            "permutations": [self.permutations.start, self.permutations.stop],
            "computed": encode(np.packbits(self.computed)),
            "values": encode(self.values.transpose(1, 3, 0, 2)[self.computed]),
        }

    @classmethod
    def from_dict(
        cls, stored: Mapping[str, Any], shape: tuple[int, ...], permutations: range
    ) -> PartialScores:
        """Return the scores that `to_dict` has stored; raise unless they are of this shape."""
        numbers = [permutations.start, permutations.stop]
        if stored["shape"] != list(shape) or stored["permutations"] != numbers:
            raise ValueError(f"the scores are of shape {stored['shape']!r}, not {shape!r}")
        scores = cls.empty(shape, permutations)
        bits = np.unpackbits(decode(stored["computed"]), count=scores.computed.size)
        scores.computed[:] = bits.reshape(scores.computed.shape)
        scores.values.transpose(1, 3, 0, 2)[scores.computed] = decode(stored["values"])
        return scores


def encode(array: NDArray[Any]) -> dict[str, Any]:
    """Return an array, exact to the bit, as plain types for JSON.

    Examples
    --------
    >>> encode(np.array([1.0, np.nan]))
    {'dtype': '<f8', 'shape': [2], 'bytes': 'AAAAAAAA8D8AAAAAAAD4fw=='}
    """
    dtype = array.dtype.newbyteorder("<")
    return {
        "dtype": dtype.str,
        "shape": list(array.shape),
        "bytes": b64encode(np.ascontiguousarray(array, dtype=dtype).data).decode("ascii"),
    }


def decode(stored: Mapping[str, Any]) -> NDArray[Any]:
    """Return the array that `encode` has stored."""
    dtype = np.dtype(stored["dtype"])
    array = np.frombuffer(b64decode(stored["bytes"]), dtype=dtype).reshape(stored["shape"])
    return array.astype(dtype.newbyteorder("="))  # a copy, as that of the buffer is read-only


# --- the log of a fit ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SavedState:
    """The values of a fit so far.

    `entries` are finished tests and scores computed between tests, in order; `partial` are the
    scores of the next entry, those of the file as plain types.
    """

    entries: tuple[Mapping[str, Any], ...] = ()
    partial: tuple[PartialScores | Mapping[str, Any], ...] = ()
    is_finished: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain types, for JSON."""
        return {
            "is_finished": self.is_finished,
            "entries": list(self.entries),
            "partial": [
                scores.to_dict() if isinstance(scores, PartialScores) else scores
                for scores in self.partial
            ],
        }


class Journal:
    """The log of a checkpoint: known values are read in the order of the fit, new ones are added.

    `identity` are version, settings and data of the fit. If an error of writing is one that
    `ignores` accepts, the fit goes on; the next state is written again on a disk that was full,
    but not to the file of another fit. Within a test, `interval` seconds lie between two writes, or
    more if writing would take more than `max_write_share` of the time. The scores of a step are
    saved up to `max_bytes`.
    """

    def __init__(
        self,
        file: CheckpointFile,
        identity: Mapping[str, Any],
        state: SavedState,
        ignores: Callable[[Exception], bool] = lambda error: False,
        interval: float = 60.0,
        max_write_share: float = 1 / 20,
        max_bytes: int = 2**26,
    ) -> None:
        self._file = file
        self._identity = identity
        # Replaced as a whole: an interrupt finds the former or the new state, never a mixture.
        self._state = state
        self._ignores = ignores
        self._interval = interval
        self._max_write_share = max_write_share
        self._max_bytes = max_bytes
        self._n_read = 0  # entries
        self._n_requested = 0  # partial scores
        self._is_testing = False
        self._is_shared = False  # the file belongs to another fit, even after that has ended
        self._due = time.monotonic() + interval

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to compute."""
        return self._state.is_finished

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Refuse the file if its values, read in this block, are not those of this fit."""
        try:
            yield
        except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
            raise self._file.refusal("does not match the tests of this fit") from error

    def partial_scores(self, shape: tuple[int, ...], permutations: range) -> PartialScores:
        """Return the next scores to compute, with their known values."""
        if not self._is_testing and self._n_read < len(self._state.entries):
            entry = self._state.entries[self._n_read]
            if "values" not in entry:  # a test: the scores before it were too large to be saved
                return PartialScores.empty(shape, permutations)
            self._n_read += 1
            with self.reading():
                return PartialScores.from_dict(entry, shape, permutations)
        number, saved = self._n_requested, self._state.partial
        self._n_requested += 1
        if number < len(saved):
            scores = saved[number]
            if not isinstance(scores, PartialScores):
                with self.reading():
                    scores = PartialScores.from_dict(scores, shape, permutations)
        else:
            scores = PartialScores.empty(shape, permutations)
        size = scores.values.nbytes + sum(
            one.values.nbytes for one in saved[:number] if isinstance(one, PartialScores)
        )
        if number <= len(saved) and size <= self._max_bytes:
            partial_scores = (*saved[:number], scores, *saved[number + 1 :])
            self._state = replace(self._state, partial=partial_scores)
        return scores

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
            computed = self._state.to_dict()["partial"][: self._n_requested]
            self._state = SavedState((*entries, *computed))
            self._n_read = len(self._state.entries)
        self._n_requested, self._is_testing = 0, True
        return None

    def add_result(self, test_id: str, entry: Mapping[str, Any]) -> None:
        """Save the result of the test in progress."""
        self._state = SavedState((*self._state.entries, {"test": test_id, **entry}))
        self._n_read = len(self._state.entries)
        self._n_requested, self._is_testing = 0, False
        self.write()

    def write_if_due(self) -> None:
        """Write the file if the interval has passed."""
        if time.monotonic() >= self._due:
            self.write()

    def write(self) -> None:
        """Write the file; raise if that fails, unless the error is ignored."""
        if self._is_shared:
            return
        start = time.monotonic()
        try:
            self._file.write({**self._identity, **self._state.to_dict()})
        except (OSError, CheckpointConflictError) as error:
            self._is_shared = isinstance(error, CheckpointConflictError)
            if not self._ignores(error):
                raise
        end = time.monotonic()
        self._due = end + max(self._interval, (end - start) / self._max_write_share)

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Save what a fit computes in this block, also if it is interrupted."""
        if self._file.write_id is None:
            self.write()  # a path that cannot be written to raises before any work is done
        try:
            yield
        except CheckpointRefusedError:
            raise  # the file is left as it is
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
        """Read a file, if there is one; refuse any file that is no checkpoint of a fit."""
        if path is None:
            return None
        file = CheckpointFile(Path(path))
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
        self,
        settings: Mapping[str, Any],
        dataset: Dataset,
        groups: IntArray | None,
        ignores: Callable[[Exception], bool],
    ) -> Journal:
        """Return the log of a fit with these settings and data; refuse that of another one."""
        identity = {
            "pidselect": __version__,
            "settings": plain(settings),
            "data": describe_data(dataset, groups),
        }
        identity = json.loads(json.dumps(identity))
        state = SavedState()
        if self.stored is not None:
            try:
                if found := differences(self.stored, identity):
                    raise self.file.refusal(f"is of another fit: {found}")
                entries, scores = (tuple(map(dict, self.stored[k])) for k in ("entries", "partial"))
            except (TypeError, KeyError, IndexError, AttributeError) as error:
                raise self.file.refusal("is modified, as parts of it are missing") from error
            state = SavedState(entries, scores, bool(self.stored["is_finished"]))
        return Journal(self.file, identity, state, ignores)


# --- the identity of a fit ----------------------------------------------------------------------


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
    """Return a hash of values and labels, reading `chunk` values at a time."""
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
    found = []
    for what in ("column", "target"):
        key = "columns" if what == "column" else what
        old, new = ({name: rest for name, *rest in data[key]} for data in (before, now))
        if missing := [name for name in old if name not in new]:
            found.append(f"{what} {quoted(missing)} is missing")
        elif added := [name for name in new if name not in old]:
            found.append(f"{what} {quoted(added)} is new")
        elif list(old) != list(new):
            found.append(f"the order of {what}s differs")
        else:
            changed = [name for name in old if old[name] != new[name]]
            found += [
                f"{what} {name!r} has other values"
                if old[name][0] == new[name][0]
                else f"{what} {name!r} was {old[name][0]} and is {new[name][0]}"
                for name in changed
            ]
    return found + (["groups differ"] if before["groups"] != now["groups"] else [])
