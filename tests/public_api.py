"""The public API as text: what the reference lists, the command line and the registered names.

``python tests/public_api.py`` writes it to public_api.txt, after an intended change.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORDED = Path(__file__).with_suffix(".txt")

#: How long the textual form of a default may be.
LONGEST = 120


def describe() -> str:
    """Return the public API, one name per line."""
    return "\n".join([*_names(), *_registered(), *_command_line()]) + "\n"


# ------------------------------------------------------------------------------------------ Python


def _names() -> Iterator[str]:
    """Yield all that docs/api/index.rst lists, in the order of the alphabet."""
    import pidselect

    reference = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([\w.]+)$", reference, re.MULTILINE)) - {"names"}
    for name in sorted(listed | {*pidselect.__all__} - {"datasets"}, key=str.lower):
        parent, _, last = f"pidselect.{name}".rpartition(".")
        value = getattr(import_module(parent), last)
        yield from (
            _class(f"{parent}.{last}", value)
            if inspect.isclass(value)
            else [f"{parent}.{last}{_signature(value)}"]
        )


def _class(name: str, cls: type) -> Iterator[str]:
    bases = ", ".join(base.__name__ for base in cls.__bases__ if base is not object)
    yield f"class {name}({bases})" if bases else f"class {name}"
    if "__init__" in _own(cls) and not getattr(cls, "_is_protocol", False):
        yield f"{name}.__init__{_signature(cls.__init__, is_method=True)}"
    is_record = dataclasses.is_dataclass(cls)
    names = [field.name for field in dataclasses.fields(cls)] if is_record else []
    members = {one: f"{name}.{one}" for one in (*names, *_documented(cls))}
    for member, value in _own(cls).items():
        if member.startswith("_") or type(value).__module__.startswith("sklearn"):
            continue  # scikit-learn adds set_fit_request
        members[member] = f"{name}.{member}{_signature_of_member(value)}"
    yield from (members[member] for member in sorted(members))


def _own(cls: type) -> dict[str, Any]:
    """Return what is defined by the class or by a base of this package."""
    own = [base for base in reversed(cls.__mro__) if base.__module__.startswith("pidselect")]
    return {name: value for base in own for name, value in vars(base).items()}


def _documented(cls: type) -> list[str]:
    """Return the attributes that the docstring of the class lists, as those after a fit."""
    _, _, section = inspect.cleandoc(cls.__doc__ or "").partition("\nAttributes\n----------\n")
    section = re.split(r"\n\n\w+\n---", section)[0]
    heads = re.findall(r"^(\w[\w, ]*) :", section, re.MULTILINE)
    return [name for head in heads for name in head.split(", ")]


def _signature_of_member(value: Any) -> str:
    if isinstance(value, staticmethod):
        return _signature(value.__func__)
    if isinstance(value, classmethod):
        return _signature(value.__func__, is_method=True)
    return _signature(value, is_method=True) if inspect.isfunction(value) else ""


def _signature(function: Any, is_method: bool = False) -> str:
    """Return the names, kinds and defaults of the parameters; types are left to the documents."""
    parameters = list(inspect.signature(function).parameters.values())[is_method:]
    plain = [
        one.replace(annotation=one.empty, default=_Text(one.default))
        if one.default is not one.empty
        else one.replace(annotation=one.empty)
        for one in parameters
    ]
    return str(inspect.Signature(plain))


class _Text:
    """The textual form of a default, which must not depend on an address in memory."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        text = repr(self.value)
        return text if len(text) <= LONGEST and " at 0x" not in text else "..."


# ----------------------------------------------------------------------- names and the command line


def _registered() -> Iterator[str]:
    from pidselect import names

    yield f"criteria: {', '.join(names.CRITERION_NAMES)}"
    yield f"estimators: {', '.join((*names.BY_TYPES_NAMES, *names.ESTIMATOR_NAMES))}"
    yield f"surrogates: {', '.join(names.SURROGATE_NAMES)}"
    yield f"measures: {', '.join((*names.MEASURE_NAMES, *names.CONTINUOUS_MEASURE_NAMES))}"


def _command_line() -> Iterator[str]:
    """Yield commands with their arguments and options, and what the package installs."""
    from typer.main import get_command

    from pidselect.cli import app, messages

    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    for script, target in project["scripts"].items():
        yield f"script {script} = {target}"
    extras = sorted({*project["optional-dependencies"]} - {"dev", "docs", "test"})
    yield f"extras: {', '.join(extras)}"
    yield f"exit codes: {messages.FAILED}, {messages.WRONG_CALL}, {messages.INTERRUPTED}"
    for name, command in sorted(get_command(app).commands.items()):
        yield f"$ pidselect {name}"
        for parameter in sorted(command.params, key=lambda one: one.opts):
            names = ", ".join((*parameter.opts, *parameter.secondary_opts))
            marks = [mark for mark in ("required", "multiple") if getattr(parameter, mark, False)]
            shown = parameter.default  # Click has objects of its own for none
            default = f" = {shown}" if isinstance(shown, bool | int | float | str | Path) else ""
            yield f"$ pidselect {name} {' '.join([names, *marks])}{default}"


if __name__ == "__main__":
    text = describe()
    RECORDED.write_text(text, encoding="utf-8", newline="\n")
    sys.stdout.write(f"{RECORDED}: {text.count(chr(10))} lines\n")
