"""Results in, something to look at out: figures and pages."""

from pidselect.report.figures import Figure, Node, Panel, Series

__all__ = ["Figure", "Node", "Panel", "Series"]
