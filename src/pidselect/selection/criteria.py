"""Criteria: given the features selected so far, what a candidate is measured by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pidselect.selection.features import Feature

#: A criterion says which of the selected features a candidate's information is conditioned on.
Criterion = Callable[[Sequence[Feature]], Sequence[Feature]]


def conditional(selected: Sequence[Feature]) -> Sequence[Feature]:
    """Condition on all of them, I(c; y | S): what a candidate adds, alone or with them."""
    return selected


def unconditional(selected: Sequence[Feature]) -> Sequence[Feature]:
    """Condition on nothing, I(c; y): blind to redundancy and to synergy."""
    return ()


CRITERIA: dict[str, Criterion] = {"cmi": conditional, "mi": unconditional}
