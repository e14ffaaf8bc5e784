"""Displays and pages of results.

Names are loaded when first used: only what draws needs matplotlib, only pages need jinja2.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pidselect.report.displays import AtomBarsDisplay as AtomBarsDisplay
    from pidselect.report.displays import LatticeDisplay as LatticeDisplay
    from pidselect.report.displays import SelectionPathDisplay as SelectionPathDisplay
    from pidselect.report.displays import StabilityDisplay as StabilityDisplay
    from pidselect.report.displays import SynergyMatrixDisplay as SynergyMatrixDisplay
    from pidselect.report.selection_page import write_report as write_report

_HOME = {
    "AtomBarsDisplay": "pidselect.report.displays",
    "LatticeDisplay": "pidselect.report.displays",
    "SelectionPathDisplay": "pidselect.report.displays",
    "StabilityDisplay": "pidselect.report.displays",
    "SynergyMatrixDisplay": "pidselect.report.displays",
    "write_report": "pidselect.report.selection_page",
}

__all__ = [
    "AtomBarsDisplay",
    "LatticeDisplay",
    "SelectionPathDisplay",
    "StabilityDisplay",
    "SynergyMatrixDisplay",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'pidselect.report' has no attribute {name!r}")
