"""Decisions in, a feature set out."""

from pidselect.selection.record import Selection, Step
from pidselect.selection.selector import PIDSelector

__all__ = ["PIDSelector", "Selection", "Step"]
