"""Criteria: given the features selected so far, what a candidate is measured by.

A criterion turns candidates and selected features into `CandidateScores`. To add one, write a
class with these two methods and add its line to `CRITERIA`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from pidselect.selection.context import SelectionContext
from pidselect.selection.pairwise_criteria import (
    CIFE,
    CMIM,
    DISR,
    ICAP,
    JMI,
    MIFS,
    MIM,
    MRMR,
    UniqueInContext,
)
from pidselect.selection.pool import Feature
from pidselect.selection.scoring import CandidateScores, SubsetIntersection, given_all


class Criterion(Protocol):
    """What candidates are ranked and tested by."""

    @property
    def is_cmi(self) -> bool:
        """Whether it is the information given what is selected, as all other phases test it."""
        ...

    @property
    def prunes(self) -> bool:
        """Whether backward elimination follows; not if redundancy is in the criterion's values."""
        ...

    @property
    def takes_portfolio(self) -> bool:
        """Whether values may be standardised by surrogates, as those of several estimators are."""
        ...

    def given(self, kept: Sequence[Feature], selected: Sequence[Feature]) -> Sequence[Feature]:
        """Return the features that it looks at besides the candidate."""
        ...

    def ask(
        self,
        context: SelectionContext,
        candidates: Sequence[Feature],
        known: tuple[Sequence[Feature], Sequence[Feature]],
        stream_key: tuple[int, ...],
    ) -> CandidateScores:
        """Ask for the candidates' values, given those kept and those selected."""
        ...


@dataclass(frozen=True)
class Conditional:
    """I(c; y | S): what a candidate adds, alone or together with the selected ones.

    Parameters
    ----------
    most : int, optional
        Condition on at most this many selected features at a time: a candidate must then add
        something to every such subset of them (Fleuret 2004, for one). Kept ones are always given.
    """

    most: int | None = None
    is_cmi: bool = True
    prunes: bool = True
    takes_portfolio: bool = True

    def given(self, kept: Sequence[Feature], selected: Sequence[Feature]) -> Sequence[Feature]:
        """Return all of them."""
        return [*kept, *selected]

    def ask(
        self,
        context: SelectionContext,
        candidates: Sequence[Feature],
        known: tuple[Sequence[Feature], Sequence[Feature]],
        stream_key: tuple[int, ...],
    ) -> CandidateScores:
        """Ask for the information given all selected features, or every subset of them."""
        kept, selected = known
        if self.most is None or len(selected) <= self.most:
            return given_all(context, candidates, [*kept, *selected], stream_key)
        subsets = list(combinations(selected, self.most))
        return SubsetIntersection(
            tuple(
                given_all(context, candidates, [*kept, *subset], stream_key, share=len(subsets))
                for subset in subsets
            ),
            tuple(tuple(feature.name for feature in (*kept, *subset)) for subset in subsets),
        )


@dataclass(frozen=True)
class Unconditional:
    """I(c; y): blind to redundancy and to synergy."""

    is_cmi: bool = False
    prunes: bool = True
    takes_portfolio: bool = True

    def given(self, kept: Sequence[Feature], selected: Sequence[Feature]) -> Sequence[Feature]:
        """Return none of them."""
        return ()

    def ask(
        self,
        context: SelectionContext,
        candidates: Sequence[Feature],
        known: tuple[Sequence[Feature], Sequence[Feature]],
        stream_key: tuple[int, ...],
    ) -> CandidateScores:
        """Ask for the information of each candidate alone."""
        return given_all(context, candidates, (), stream_key)


#: Criteria by name.
CRITERIA: dict[str, Criterion] = {
    "cmi": Conditional(),
    "mi": Unconditional(),
    "mim": MIM(),
    "mifs": MIFS(),
    "mrmr": MRMR(),
    "cife": CIFE(),
    "jmi": JMI(),
    "cmim": CMIM(),
    "disr": DISR(),
    "icap": ICAP(),
    "pid": UniqueInContext(),
}
