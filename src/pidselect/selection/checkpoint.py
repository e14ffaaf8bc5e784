"""Checkpoints: what a fit has found so far, in a file from which it goes on after it was killed.

A fit is a pure function of its data, its settings and its seed. So it is simply run again, and
what was found before is read instead of computed: of a test that was finished what chance reached
in every draw, of the one under way the values that had come in. Numbers are kept to the bit, so
that nobody can tell a fit that was killed from one that was not.

The file is JSON and nothing but data: reading it runs no code. It is written beside its place and
then moved there, so that at any moment there is a whole one, of before or of after.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pidselect import __version__
from pidselect.data import Dataset
from pidselect.selection.checked_json import SafeFile
from pidselect.selection.context import SelectionContext
from pidselect.selection.fingerprint import describe_data, differences, plain
from pidselect.selection.fit import describe
from pidselect.selection.partial_scores import PartialScores
from pidselect.selection.pool import FeaturePool
from pidselect.significance.validation import to_seed

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector

#: So many seconds after what is known was written, it is written again.
INTERVAL = 60.0

#: But not before so many times the time has passed that writing took.
TIMES_WRITING = 20.0

#: No more bytes of values of a single step are kept, in memory and in the file.
MOST_BYTES = 2**26

#: What is found in the file of any fit.
KEYS = {"pidselect", "settings", "data", "pages", "under_way", "is_finished"}


@dataclass(frozen=True, eq=False)
class SavedState:
    """What a fit has found.

    Parameters
    ----------
    pages : tuple of dict
        Of what is finished, in order: tests, and sheets that were filled between them.
    under_way : tuple of Sheet
        What has come in for the next page.
    is_finished : bool
        Whether that is all.
    """

    pages: tuple[Mapping[str, Any], ...] = ()
    under_way: tuple[PartialScores, ...] = ()
    is_finished: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return what is known, ready for JSON."""
        return {
            "is_finished": self.is_finished,
            "pages": list(self.pages),
            "under_way": [sheet.to_dict() for sheet in self.under_way],
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> SavedState:
        """Return what `to_dict` has told."""
        sheets = tuple(map(PartialScores.from_dict, stored["under_way"]))
        return cls(tuple(stored["pages"]), sheets, stored["is_finished"])


class Journal:
    """What is known of a fit: read in the order in which it is asked for, and written to a file.

    Parameters
    ----------
    file : SafeFile
    identity : mapping
        What the fit is of: data and settings.
    known : Known
    """

    def __init__(self, file: SafeFile, identity: Mapping[str, Any], known: SavedState) -> None:
        self._file = file
        self._identity = identity
        # One object, put in place of the one before at once: an interruption finds either whole.
        self._known = known
        self._n_read = 0  # pages
        self._n_asked = 0  # sheets under way
        self._is_testing = False
        self._due = time.monotonic() + INTERVAL

    @property
    def is_finished(self) -> bool:
        """Whether there is nothing left to compute."""
        return self._known.is_finished

    def sheet(self, shape: tuple[int, ...], draws: range) -> PartialScores:
        """Return the next sheet to be filled, with what is known of it."""
        pages, under_way = self._known.pages, self._known.under_way
        if not self._is_testing and self._n_read < len(pages):
            return self._sheet_of_page(shape, draws)
        number = self._n_asked
        self._n_asked += 1
        if number < len(under_way) and under_way[number].fits(shape, draws):
            return under_way[number]
        sheet = PartialScores.blank(shape, draws)
        kept = under_way[:number]
        size = sum(one.values.nbytes for one in (*kept, sheet))
        if number == len(kept) and size <= MOST_BYTES:
            self._known = replace(self._known, under_way=(*kept, sheet))
        return sheet

    def _sheet_of_page(self, shape: tuple[int, ...], draws: range) -> PartialScores:
        page = self._known.pages[self._n_read]
        if "values" not in page:  # it was too large to be kept
            return PartialScores.blank(shape, draws)
        self._n_read += 1
        sheet = PartialScores.from_dict(page)
        return sheet if sheet.fits(shape, draws) else PartialScores.blank(shape, draws)

    def recall(self, asked: str) -> Mapping[str, Any] | None:
        """Return what a test has found; None if it is not finished, so that it begins now.

        Parameters
        ----------
        asked : str
            A text by which the test is known.
        """
        pages = self._known.pages
        if self._n_read < len(pages):
            page = pages[self._n_read]
            self._n_read += 1
            if page.get("asked") != asked:
                raise self._file.refusal("does not go with what this fit asks for")
            return page
        if self._n_asked:  # sheets that were filled since the test before
            filled = tuple(sheet.to_dict() for sheet in self._known.under_way[: self._n_asked])
            self._known = SavedState((*pages, *filled))
            self._n_read = len(self._known.pages)
        self._n_asked, self._is_testing = 0, True
        return None

    def finish(self, asked: str, page: Mapping[str, Any]) -> None:
        """Write down what the test under way has found.

        All surrogates of a test are kept for the last one only: what comes after another test
        needs no more than what chance reached in it.
        """
        before = tuple(_without(one, "surrogates") for one in self._known.pages)
        self._known = SavedState((*before, {"asked": asked, **page}))
        self._n_read = len(self._known.pages)
        self._n_asked, self._is_testing = 0, False
        self.write()

    def pause(self) -> None:
        """Write what is known if the time has come."""
        if time.monotonic() >= self._due:
            self.write()

    def write(self) -> None:
        """Write what is known."""
        start = time.monotonic()
        self._file.write({**self._identity, **self._known.to_dict()})
        end = time.monotonic()
        self._due = end + max(INTERVAL, TIMES_WRITING * (end - start))

    @contextmanager
    def kept(self, context: SelectionContext) -> Iterator[SelectionContext]:
        """Keep what an inquiry finds, also if it is interrupted."""
        if not self._file.is_there:
            self.write()  # what cannot be written is known before any work is done
        try:
            yield replace(context, journal=self)
        except BaseException:
            with suppress(Exception):  # what happened first is what is to be seen
                self.write()
            raise
        if not self.is_finished:
            self._known = replace(self._known, is_finished=True)
            self.write()


def _without(page: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    return {key: value for key, value in page.items() if key != name}


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A file, and what was in it when the fit began.

    Parameters
    ----------
    file : SafeFile
    stored : mapping, optional
    """

    file: SafeFile
    stored: Mapping[str, Any] | None

    @classmethod
    def at(cls, path: str | PathLike[str] | None) -> Checkpoint | None:
        """Read the file at a path, if there is one; refuse what is no checkpoint."""
        if path is None:
            return None
        file = SafeFile(Path(path))
        stored = file.read()
        if stored is not None and not stored.keys() >= KEYS:
            raise file.refusal("is no checkpoint of a fit")
        return cls(file, stored)

    def seed(self, random_state: Any) -> int:
        """Return the seed: that of the file, unless another is asked for."""
        if random_state is None and self.stored is not None:
            return int(self.stored["settings"]["seed"])
        return to_seed(random_state)

    def journal(
        self, selector: PIDSelector, problem: Dataset, line: FeaturePool, context: SelectionContext
    ) -> Journal:
        """Return what is known of a fit; refuse what is known of another one."""
        identity = json.loads(
            json.dumps(
                {
                    "pidselect": __version__,
                    "settings": describe_settings(selector, problem, line, context),
                    "data": describe_data(problem, context.groups),
                }
            )
        )
        if self.stored is None:
            return Journal(self.file, identity, SavedState())
        if found := differences(self.stored, identity):
            raise self.file.refusal(f"is of another fit: {found}")
        return Journal(self.file, identity, SavedState.from_dict(self.stored))


def describe_settings(
    selector: PIDSelector, problem: Dataset, line: FeaturePool, context: SelectionContext
) -> dict[str, Any]:
    """Return all settings that have a say in the result, ready for JSON."""
    record = describe(selector, context)
    names = problem.table.names
    groups = {
        feature.name: [names[column] for column in feature.columns]
        for feature in (*line.kept, *line.candidates)
        if len(feature.columns) > 1 or feature.name != names[feature.columns[0]]
    }
    return plain(
        {
            **record,
            "criterion": selector.criterion,
            "estimator": [(member.name, member.estimator) for member in context.members],
            "fixed_features": [feature.name for feature in line.kept],
            "feature_groups": groups,
            "max_features": selector.max_features,
            "max_samples": selector.max_samples,
            "missing": selector.missing,
        }
    )
