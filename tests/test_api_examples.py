"""Every public name and method has an example, and a reader can copy it as it is.

Public is what ``docs/api/index.rst`` lists, without the methods in ``docs/api/internal.txt``. The
examples themselves run with all doctests.
"""

from __future__ import annotations

import ast
import builtins
import doctest
import inspect
import re
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

API = Path(__file__).parents[1] / "docs" / "api"
NAMES = re.findall(r"^   (\w[\w.]*)$", (API / "index.rst").read_text(encoding="utf-8"), re.M)
PUBLIC = [name for name in NAMES if name != "names"]  # a page of that name
INTERNAL = {
    line
    for line in (API / "internal.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
}


#: The sections of the cookbook, and the marks around a block of code.
GUIDE = (API.parent / "guide.md").read_text(encoding="utf-8")
RECIPES = GUIDE.partition("\n## Cookbook\n")[2].split("\n### ")[1:]
FENCE = re.compile(r"^```.*$", re.MULTILINE)

MEMBER_TYPES = (FunctionType, classmethod, staticmethod, property, cached_property)


def public_object(name: str) -> Any:
    parent, _, last = f"pidselect.{name}".rpartition(".")
    return getattr(import_module(parent), last)


def owner(cls: type, member: str) -> type:
    """Return the class that defines a member."""
    return next(base for base in cls.__mro__ if member in vars(base))


def members(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class that this package defines."""
    for name in dir(cls):
        base = owner(cls, name)
        is_ours = base.__module__.split(".")[0] == "pidselect"
        if not is_ours or name.startswith("_") or f"{base.__name__}.{name}" in INTERNAL:
            continue
        value = inspect.getattr_static(cls, name)
        if isinstance(value, MEMBER_TYPES):
            yield name, getattr(value, "__func__", value)


CLASSES = [name for name in PUBLIC if inspect.isclass(public_object(name))]
MEMBERS = [(name, member) for name in CLASSES for member, _ in members(public_object(name))]
PROTOCOLS = [name for name in CLASSES if getattr(public_object(name), "_is_protocol", False)]


def examples(value: Any) -> str:
    """Return the code of the examples of an object."""
    found = doctest.DocTestParser().get_examples(inspect.getdoc(value) or "")
    return "\n".join(example.source for example in found)


@cache
def page_examples(name: str) -> tuple[str, ...]:
    """Return the examples on the page of a name: its own, and those of its members."""
    value = public_object(name)
    described = [one for _, one in members(value)] if inspect.isclass(value) else []
    return tuple(map(examples, (value, *described)))


@pytest.mark.parametrize("name", PUBLIC)
def test_public_name_has_an_example(name):
    assert page_examples(name)[0], f"{name} has no example in its docstring"


@pytest.mark.parametrize(("name", "member"), MEMBERS, ids=lambda part: part)
def test_public_method_has_an_example(name, member):
    """The page of its class shows it, or that of the protocol that it implements."""
    protocols = [one for one in PROTOCOLS if hasattr(public_object(one), member)]
    code = "\n".join(part for one in (name, *protocols) for part in page_examples(one))
    is_shown = re.search(rf"\.{member}\b|\bdef {member}\(", code)
    assert is_shown, f"no example of {name} shows {member}"


@pytest.mark.parametrize("name", PUBLIC)
def test_examples_import_what_they_use(name):
    for code in page_examples(name):
        missing = used_names(code) - set(vars(builtins))
        assert not missing, f"an example of {name} uses {sorted(missing)} without import"


def test_examples_of_registered_names():
    failed, attempted = doctest.testfile(
        str(API / "names.rst"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert attempted > 0
    assert failed == 0


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.splitlines()[0])
def test_recipes_import_what_they_use(recipe):
    """Each section of the cookbook can be copied without those above it."""
    found = doctest.DocTestParser().get_examples(FENCE.sub("", recipe))
    code = "\n".join(example.source for example in found)
    assert used_names(code) <= set(vars(builtins))


def used_names(code: str) -> set[str]:
    """Return the names that code uses, and neither imports nor defines."""
    used, defined = set(), set()
    for node in ast.walk(ast.parse(code)):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                defined.add(name)
            case ast.Name(id=name):
                used.add(name)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                defined.add(name)
            case ast.ExceptHandler(name=str(name)):
                defined.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                defined |= {alias.asname or alias.name for alias in names}
    return used - defined


def test_internal_methods_exist():
    """A line of ``internal.txt`` that names nothing is out of date."""
    known = {
        f"{base.__name__}.{member}"
        for name in CLASSES
        for base in public_object(name).__mro__
        for member in vars(base)
    }
    assert known >= INTERNAL
