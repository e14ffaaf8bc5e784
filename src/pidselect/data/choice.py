"""Choice: which columns of a file are wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .messages import did_you_mean, quoted

Names = str | Iterable[str]


@dataclass(frozen=True)
class Choice:
    """Which columns of a file are wanted.

    Parameters
    ----------
    columns : frozenset of str, optional
        All unless given.
    without : frozenset of str
        Those that are left out.

    Examples
    --------
    >>> Choice.of(None, "b").among(("a", "b", "c"), "table.csv")
    ('a', 'c')
    >>> Choice.of(["A"]).among(("a", "b", "c"), "table.csv")
    Traceback (most recent call last):
    ...
    ValueError: 'table.csv' has no column 'A'; did you mean 'a'? Known are 'a', 'b', 'c'
    """

    columns: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    @classmethod
    def of(cls, columns: Names | None = None, without: Names = ()) -> Choice:
        """Return the choice of one name or several."""
        return cls(None if columns is None else _to_set(columns), _to_set(without))

    def among(self, names: Sequence[str], path: object) -> tuple[str, ...]:
        """Return the wanted ones of these names, in their order."""
        for name in sorted({*(self.columns or ()), *self.without} - set(names)):
            raise ValueError(f"{str(path)!r} has no column {name!r}{did_you_mean(name, names)}")
        left = tuple(name for name in names if self.has(name))
        if not left:
            raise ValueError(f"no column of {str(path)!r} is left; it has {quoted(names)}")
        return left

    def has(self, name: str) -> bool:
        """Return whether a column is wanted."""
        return (self.columns is None or name in self.columns) and name not in self.without


def _to_set(names: Names) -> frozenset[str]:
    return frozenset([names] if isinstance(names, str) else names)
