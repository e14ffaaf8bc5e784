"""Displays in scikit-learn's manner: they hold the numbers and can be redrawn."""

from pidselect.report import style  # noqa: F401  (names the extra if there is no matplotlib)
from pidselect.report.displays.bars import AtomBar, AtomBarsDisplay, ImportanceDisplay
from pidselect.report.displays.joint import JointDisplay
from pidselect.report.displays.lattice import LatticeDisplay
from pidselect.report.displays.path import PathStep, SelectionPathDisplay
from pidselect.report.displays.stability import StabilityDisplay

__all__ = [
    "AtomBar",
    "AtomBarsDisplay",
    "ImportanceDisplay",
    "JointDisplay",
    "LatticeDisplay",
    "PathStep",
    "SelectionPathDisplay",
    "StabilityDisplay",
]
