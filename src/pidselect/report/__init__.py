"""Displays and reports of results.

Names are imported on first use: displays need matplotlib, reports need jinja2.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pidselect.report.displays import AtomBarsDisplay as AtomBarsDisplay
    from pidselect.report.displays import LatticeDisplay as LatticeDisplay
    from pidselect.report.displays import SelectionPathDisplay as SelectionPathDisplay
    from pidselect.report.displays import StabilityDisplay as StabilityDisplay
    from pidselect.report.displays import SynergyMatrixDisplay as SynergyMatrixDisplay
    from pidselect.report.page import write_report as write_report

__all__ = [
    "AtomBarsDisplay",
    "LatticeDisplay",
    "SelectionPathDisplay",
    "StabilityDisplay",
    "SynergyMatrixDisplay",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'pidselect.report' has no attribute {name!r}")
    module = "page" if name == "write_report" else "displays"
    return getattr(import_module(f"pidselect.report.{module}"), name)
