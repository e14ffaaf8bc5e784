"""JSON lines: an object in each line -> blocks of columns of values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from .choice import Choice
from .delimited import TextBlock
from .lines import Lines, read_lines, start_of
from .text_format import TextFormat

#: The names alone are those met in so many characters.
SAMPLE_CHARACTERS = 2**20


@dataclass(frozen=True)
class JsonLinesFile:
    """A file with a JSON object in each line, whose keys are the columns' names.

    Parameters
    ----------
    path : Path
    text : TextFormat
    """

    path: Path
    text: TextFormat

    hint_if_empty: ClassVar[str] = ": there is no object with values in its lines"

    def first_names(self) -> tuple[str, ...]:
        """Return the keys met at the beginning of the file, in their order."""
        block = next(read_lines(self.path, self.text, SAMPLE_CHARACTERS), None)
        names = _keys(self._objects(block, False)) if block else ()
        if not names:
            raise ValueError(f"{str(self.path)!r} has no rows{self.hint_if_empty}")
        return names

    def blocks(self, choice: Choice, as_text: bool = False) -> Iterator[TextBlock]:
        """Yield the wanted ones of all columns that were met so far, block by block.

        Parameters
        ----------
        choice : Choice
        as_text : bool
            Whether numbers and truth values come as the texts they are written with.
        """
        met: dict[str, None] = {}
        for block in read_lines(self.path, self.text):
            objects = self._objects(block, as_text)
            if not objects:
                continue
            if set().union(*objects) - met.keys():
                met |= dict.fromkeys(_keys(objects))
            names = tuple(filter(choice.has, met))
            columns = [[row.get(name) for row in objects] for name in names]
            for name, column in zip(names, columns, strict=True):
                if not {dict, list}.isdisjoint(map(type, column)):
                    self._raise_nested(block, name)
            if as_text:
                columns = [list(map(_as_written, column)) for column in columns]
            yield TextBlock(len(objects), columns, names, False)
        if met:
            choice.among(tuple(met), self.path)

    def _objects(self, block: Lines, as_text: bool) -> list[dict[str, Any]]:
        load = _verbatim if as_text else json.loads
        try:
            objects = [load(line) for line in block.lines if not line.isspace()]
        except (ValueError, RecursionError):
            self._raise_broken(block)
        if not set(map(type, objects)) <= {dict}:
            self._raise_broken(block)
        return objects

    def _raise_broken(self, block: Lines) -> NoReturn:
        """Say which line is no JSON object."""
        for number, line in enumerate(block.lines, block.first):
            if line.isspace():
                continue
            where = f"{str(self.path)!r}, line {number}"
            try:
                found = json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(
                    f"{where}: broken JSON at character {error.pos + 1} ({error.msg}): "
                    f"{start_of(line)}. Every line must hold one whole object, as "
                    '{"age": 31.5, "city": "Rome"}'
                ) from error
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{where}: {error}: {start_of(line)}") from error
            if not isinstance(found, dict):
                raise ValueError(
                    f"{where}: {start_of(line)} is no object. Every line must hold one whole "
                    'object, as {"age": 31.5, "city": "Rome"}'
                )
        raise ValueError(f"{str(self.path)!r} changed while it was read")

    def _raise_nested(self, block: Lines, name: str) -> NoReturn:
        lines = ((n, json.loads(x)) for n, x in enumerate(block.lines, block.first) if x.strip())
        number, value = next(
            (n, row[name]) for n, row in lines if isinstance(row.get(name), dict | list)
        )
        raise ValueError(
            f"{str(self.path)!r}, line {number}: {name!r} holds "
            f"{'an object' if isinstance(value, dict) else 'a list'}, {start_of(json.dumps(value))}"
            f". A column holds one value in each row: flatten it (pandas.json_normalize), or leave "
            f"it out by without=[{name!r}] (--drop {name!r})"
        )


def _keys(objects: Sequence[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for row in objects for key in row))


def _as_written(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _verbatim(line: str) -> Any:
    return json.loads(line, parse_float=str, parse_int=str, parse_constant=str)
