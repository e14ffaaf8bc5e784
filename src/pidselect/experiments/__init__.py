"""The paper, one file per experiment, its numbers beside ours.

`reproduce` runs what is asked for and writes the page; an experiment's module says what is run, and
makes tables, statements and figures from what came out.
"""

from pidselect.experiments.registry import EXPERIMENTS, find
from pidselect.experiments.reproduce import Report, redraw, reproduce

__all__ = ["EXPERIMENTS", "Report", "find", "redraw", "reproduce"]
