"""Commands whose options are the fields of dataclasses, and how they are typed again."""

from __future__ import annotations

import inspect
import shlex
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, get_type_hints

import typer

#: Options that say how to begin, not what to do.
BEGINNINGS = ("resume", "restart")


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function that typer can read: its arguments are the fields of the dataclasses."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    bundles: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    plain = inspect.signature(function).parameters
    parameters: list[inspect.Parameter] = []

    def add(name: str, annotation: Any, default: Any) -> None:
        shown = inspect.Parameter.empty if default is MISSING else default
        kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=shown, annotation=annotation))

    for name, annotation in hints.items():
        if name in bundles:
            inner = get_type_hints(annotation, include_extras=True)
            for one in fields(annotation):
                add(one.name, inner[one.name], one.default)
        else:
            default = plain[name].default
            add(name, annotation, MISSING if default is inspect.Parameter.empty else default)

    def run(**given: Any) -> None:
        built = {
            name: kind(**{one.name: given.pop(one.name) for one in fields(kind)})
            for name, kind in bundles.items()
        }
        function(**built, **given)

    run.__doc__ = function.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def as_typed(context: typer.Context, *more: str) -> str:
    """Return the command as it was typed, but for how to begin, ready to be typed again.

    Parameters
    ----------
    context : typer.Context
    more : str
        What to add at the end.
    """
    positional, named = [], []
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if source is None or source.name != "COMMANDLINE" or name in BEGINNINGS:
            continue
        value = context.params[name]
        values = value if isinstance(value, list | tuple) else [value]
        option = max(parameter.opts, key=len)
        if parameter.param_type_name == "argument":
            positional += [str(one) for one in values]
        elif isinstance(value, bool):
            named += [option] * value
        else:
            named += [word for one in values for word in _words(option, str(one))]
    path = [str(context.info_name)]
    return shlex.join(["pidselect", *path, *_guarded(positional), *named, *more])


def _words(option: str, value: str) -> list[str]:
    """Return an option and its value, in one word where the value looks like an option."""
    return [f"{option}={value}"] if value.startswith("-") and value != "-" else [option, value]


def _guarded(values: list[str]) -> list[str]:
    """Return paths that no command takes for options."""
    return [f"./{value}" if value.startswith("-") else value for value in values]
