"""Results as text, as HTML, as frames and as plain values, each from the same rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from pidselect.data import make_frame
from pidselect.data.messages import align, to_plain


@dataclass(frozen=True)
class TextTable:
    """The cells of a table, the header first; in text the first columns are flush left."""

    cells: Sequence[Sequence[str]]
    n_left: int = 1

    def __str__(self) -> str:
        return "\n".join(align(self.cells, self.n_left))

    def to_html(self) -> str:
        """Return the table as HTML."""
        rows = []
        for tag, row in zip(["th", *["td"] * (len(self.cells) - 1)], self.cells, strict=True):
            rows.append("".join(f"<{tag}>{_escaped(cell)}</{tag}>" for cell in row))
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


class TabularResult:
    """A result of sentences and tables, which a subclass returns; text and HTML render them."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain dicts, lists, strings and numbers, ready for JSON.

        JSON has no infinite numbers: they are the strings "inf" and "-inf", which ``float``
        converts back. An unknown number is None.

        Examples
        --------
        >>> import json
        >>> from pidselect import PIDSelector, datasets
        >>> X, y = datasets.sample(datasets.gate("AND"), 200, random_state=0)
        >>> record = PIDSelector(random_state=0).fit(X, y).selection_
        >>> read = json.loads(json.dumps(record.to_dict()))
        >>> read["features"], read["settings"]["estimator"], len(read["steps"])
        (['x1', 'x0'], 'ScoreTest()', 3)
        """
        plain: dict[str, Any] = to_plain(self)
        return plain

    def _title(self) -> str:
        """Return the first line of the repr."""
        raise NotImplementedError

    def _blocks(self) -> list[list[str | TextTable]]:
        """Return paragraphs of sentences and tables."""
        raise NotImplementedError

    def __str__(self) -> str:
        return "\n\n".join("\n".join(map(str, block)) for block in self._blocks())

    def __repr__(self) -> str:
        return f"{self._title()}\n{self}"

    def _repr_html_(self) -> str:
        parts = [self._title(), *(part for block in self._blocks() for part in block)]
        return "\n".join(
            part.to_html() if isinstance(part, TextTable) else f"<p>{_escaped(part)}</p>"
            for part in parts
        )


def to_frame(
    rows: Sequence[Mapping[str, Any]], types: Mapping[str, type], library: str | None
) -> Any:
    """Return the columns with a type as a frame of a library; None for any that is installed."""
    return make_frame({name: [row[name] for row in rows] for name in types}, library, types)


def _escaped(text: str) -> str:
    """Escape a text; surrogates, which no encoding accepts, become backslash escapes."""
    return escape(text).encode("utf-8", "backslashreplace").decode("utf-8")
