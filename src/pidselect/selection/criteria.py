"""Selection criteria: the quantity by which candidates are ranked and tested.

A criterion turns candidates, fixed and selected features into `CandidateScores`. To add one, write
a subclass of `Criterion` and add it to `CRITERIA`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from pidselect.selection.context import SelectionContext
from pidselect.selection.pairwise_criteria import (
    CMIM,
    DISR,
    ICAP,
    LinearCriterion,
    LinearMean,
    UniqueInContext,
)
from pidselect.selection.pool import Features
from pidselect.selection.scoring import CandidateScores, Criterion, SubsetIntersection, cmi_given


@dataclass(frozen=True)
class Conditional(Criterion):
    """Conditional mutual information I(c; y | S).

    Parameters
    ----------
    max_conditioning : int, optional
        Condition on at most this many selected features at a time: a candidate must then be
        significant given every such subset (as in Fleuret 2004 for single features). Fixed features
        are always in the conditioning set.
    """

    max_conditioning: int | None = None
    is_cmi: bool = True

    def candidate_scores(
        self,
        context: SelectionContext,
        candidates: Features,
        fixed: Features,
        selected: Features,
        stream_key: tuple[int, ...],
    ) -> CandidateScores:
        """Return the values given all selected features, or given every subset of limited size."""
        most = self.max_conditioning
        if most is None or len(selected) <= most:
            given = self.conditioning_set(fixed, selected)
            return cmi_given(context, candidates, given, stream_key)
        subsets = [(*fixed, *subset) for subset in combinations(selected, most)]
        scores = tuple(
            cmi_given(context, candidates, subset, stream_key, n_concurrent=len(subsets))
            for subset in subsets
        )
        schemes = tuple(scheme for one in scores for scheme in one.schemes)
        return SubsetIntersection(context, tuple(candidates), schemes, scores)


@dataclass(frozen=True)
class Unconditional(Conditional):
    """Mutual information I(c; y), which ignores redundancy and synergy."""

    is_cmi: bool = False

    def conditioning_set(self, fixed: Features, selected: Features) -> Features:
        """Return the empty set."""
        return ()


#: Criteria by name.
CRITERIA: dict[str, Criterion] = {
    "cmi": Conditional(),
    "mi": Unconditional(),
    "mim": LinearCriterion(beta=0.0, gamma=0.0),
    "mifs": LinearCriterion(beta=1.0, gamma=0.0),  # Battiti 1994
    "mrmr": LinearMean(beta=1.0, gamma=0.0),  # Peng et al. 2005
    "cife": LinearCriterion(beta=1.0, gamma=1.0),  # Lin and Tang 2006
    "jmi": LinearMean(beta=1.0, gamma=1.0),  # Yang and Moody 1999: the mean of I(c; y | s)
    "cmim": CMIM(),
    "disr": DISR(),
    "icap": ICAP(),
    "pid": UniqueInContext(),
}
