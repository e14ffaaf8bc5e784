"""The paper, one file per experiment, its numbers beside ours.

`reproduce` runs what is asked for and writes the page; an experiment's module says what is run, and
makes tables, statements and figures from what came out. Like the package itself, this one loads its
names when they are first used: making runs needs no library that only the page needs.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reproduction.registry import EXPERIMENTS as EXPERIMENTS
    from reproduction.registry import find as find
    from reproduction.reproduction import Report as Report
    from reproduction.reproduction import redraw as redraw
    from reproduction.reproduction import reproduce as reproduce

_HOME = {
    "EXPERIMENTS": "registry",
    "Report": "reproduction",
    "find": "registry",
    "redraw": "reproduction",
    "reproduce": "reproduction",
}

__all__ = ["EXPERIMENTS", "Report", "find", "redraw", "reproduce"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
