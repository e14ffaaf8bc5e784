"""Displays: results as pictures, in scikit-learn's manner.

A display holds numbers and can be drawn again, into axes of one's own or into a new figure. Nothing
here knows pyplot: no window, no current figure, and no setting of matplotlib stays changed.
"""

from pidselect.report import style as _style  # says what to install where matplotlib is missing
from pidselect.report.displays.atoms import AtomBar, AtomBarsDisplay
from pidselect.report.displays.lattice import LatticeDisplay
from pidselect.report.displays.matrix import SynergyMatrixDisplay
from pidselect.report.displays.path import PathStep, SelectionPathDisplay
from pidselect.report.displays.stability import StabilityDisplay

__all__ = [
    "AtomBar",
    "AtomBarsDisplay",
    "LatticeDisplay",
    "PathStep",
    "SelectionPathDisplay",
    "StabilityDisplay",
    "SynergyMatrixDisplay",
]

del _style
