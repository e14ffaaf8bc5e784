"""Feature selection by conditional mutual information and partial information decomposition.

Public names are imported on first use, so that ``import pidselect`` is fast.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pidselect import datasets as datasets
    from pidselect.data import Table as Table
    from pidselect.decomposition import Decomposition as Decomposition
    from pidselect.decomposition import decompose as decompose
    from pidselect.decomposition import decompose_distribution as decompose_distribution
    from pidselect.estimators import mutual_information as mutual_information
    from pidselect.exceptions import EmptySelectionWarning as EmptySelectionWarning
    from pidselect.exceptions import IdentifierWarning as IdentifierWarning
    from pidselect.exceptions import LeakageWarning as LeakageWarning
    from pidselect.exceptions import NearDuplicateWarning as NearDuplicateWarning
    from pidselect.exceptions import PIDSelectWarning as PIDSelectWarning
    from pidselect.exceptions import RowNumberWarning as RowNumberWarning
    from pidselect.exceptions import SelectionWarning as SelectionWarning
    from pidselect.exceptions import TextNumbersWarning as TextNumbersWarning
    from pidselect.report.displays import AtomBarsDisplay as AtomBarsDisplay
    from pidselect.report.displays import ImportanceDisplay as ImportanceDisplay
    from pidselect.report.displays import JointDisplay as JointDisplay
    from pidselect.report.displays import LatticeDisplay as LatticeDisplay
    from pidselect.report.displays import SelectionPathDisplay as SelectionPathDisplay
    from pidselect.report.displays import StabilityDisplay as StabilityDisplay
    from pidselect.report.page import write_report as write_report
    from pidselect.selection import PIDSelector as PIDSelector
    from pidselect.selection.stability import stability as stability
    from pidselect.significance.staged import ScoreTest as ScoreTest

__version__ = "0.1.0"

# Without it, Python prints warnings of loggers that nobody has configured.
logging.getLogger("pidselect").addHandler(logging.NullHandler())

_MODULES = {
    "AtomBarsDisplay": "pidselect.report.displays",
    "Decomposition": "pidselect.decomposition",
    "EmptySelectionWarning": "pidselect.exceptions",
    "IdentifierWarning": "pidselect.exceptions",
    "ImportanceDisplay": "pidselect.report.displays",
    "JointDisplay": "pidselect.report.displays",
    "LatticeDisplay": "pidselect.report.displays",
    "LeakageWarning": "pidselect.exceptions",
    "NearDuplicateWarning": "pidselect.exceptions",
    "PIDSelectWarning": "pidselect.exceptions",
    "PIDSelector": "pidselect.selection",
    "RowNumberWarning": "pidselect.exceptions",
    "ScoreTest": "pidselect.significance.staged",
    "SelectionPathDisplay": "pidselect.report.displays",
    "SelectionWarning": "pidselect.exceptions",
    "StabilityDisplay": "pidselect.report.displays",
    "Table": "pidselect.data",
    "TextNumbersWarning": "pidselect.exceptions",
    "decompose": "pidselect.decomposition",
    "decompose_distribution": "pidselect.decomposition",
    "mutual_information": "pidselect.estimators",
    "stability": "pidselect.selection.stability",
    "write_report": "pidselect.report.page",
}

__all__ = ["datasets", *_MODULES]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return import_module("pidselect.datasets")
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'pidselect' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])
