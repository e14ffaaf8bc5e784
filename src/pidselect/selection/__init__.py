"""Feature selection: forward selection and backward elimination with permutation tests."""

from pidselect.selection.pairwise_criteria import LinearCriterion
from pidselect.selection.result import Selection, Step
from pidselect.selection.selector import PIDSelector

__all__ = [
    "LinearCriterion",
    "PIDSelector",
    "Selection",
    "Step",
]
