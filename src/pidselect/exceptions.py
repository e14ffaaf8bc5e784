"""Warnings that can be filtered by category, as with ``warnings.filterwarnings``."""

from __future__ import annotations

from collections.abc import Sequence

#: A parameter with its value.
Setting = tuple[str, object]


class PIDSelectWarning(UserWarning):
    """Base class: a property of the data or of a result that may mislead.

    Attributes
    ----------
    columns : tuple of str
        The columns that it is about.
    setting : tuple of str and object, or None
        A parameter that reads or uses the columns otherwise, with its value.
    """

    def __init__(
        self, message: str, columns: Sequence[str] = (), setting: Setting | None = None
    ) -> None:
        super().__init__(message, columns, setting)
        self.columns, self.setting = tuple(columns), setting

    def __str__(self) -> str:
        return str(self.args[0])


class IdentifierWarning(PIDSelectWarning):
    """Text columns were skipped as identifiers, as nearly every row has a different text."""


class TextNumbersWarning(PIDSelectWarning):
    """Columns hold numbers as text, and were skipped or used as labels."""


class SelectionWarning(PIDSelectWarning):
    """Base class of the warnings about a result, given at the end of a fit."""


class EmptySelectionWarning(SelectionWarning):
    """No feature was selected."""


class LeakageWarning(SelectionWarning):
    """Columns determine the target almost exactly, mostly because they were made from it."""


class RowNumberWarning(SelectionWarning):
    """Selected columns grow or fall strictly from row to row."""


class NearDuplicateWarning(SelectionWarning):
    """Selected columns have near-duplicates, so that which one is selected is nearly random."""
