"""Look-ahead: features that tell something only together, as no single one does.

Where no single candidate is significant, pairs are tested by their joint information given S, then
triples, and so on. Another way is to start from random subsets: a candidate may be significant
given a few others that were taken at random (the paper's discussion names both). Each of these
levels has its share of alpha, so that the family-wise error of a step stays at most alpha. Those
that come in together must then stand the test one by one, at the level that let them in: each must
add something to all others, against the maximum statistic, as the minimum statistic hardly prunes.

The number of tuples grows fast. There is a budget; beyond it the tuples of the candidates that are
strongest by themselves are searched. That screen looks at the target, so it is repeated in every
draw: the strongest candidates of a draw, not of the data, make the tuples of that draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from math import comb

from pidselect.selection.backward import backward
from pidselect.selection.context import SelectionContext
from pidselect.selection.partial_scores import LazyScorer
from pidselect.selection.pool import Feature, as_one, listed
from pidselect.selection.result import Phase, Step
from pidselect.selection.scoring import CandidateScores, ConditionalMI, given_all
from pidselect.selection.screening import screened
from pidselect.selection.step_test import PermutationTestResult, evaluate_strongest
from pidselect.significance import LOOKAHEAD, START, maximum_statistic, permutations

#: The most tuples that are searched at a step.
MOST_TUPLES = 2000

#: The number of features in a random start.
START_SIZE = 3

NAMES = {1: "candidates", 2: "pairs", 3: "triples"}


@dataclass(frozen=True)
class Search:
    """How far to look ahead.

    Parameters
    ----------
    order : int
        The size of the largest tuples; 1 for no look-ahead.
    n_starts : int
        The number of random starting subsets.
    """

    order: int = 1
    n_random_starts: int = 0

    @property
    def n_levels(self) -> int:
        """How many tests share alpha: single candidates, tuples of each size, random starts."""
        return self.order + (self.n_random_starts > 0)

    def share(self, alpha: float, level: int) -> float:
        """Return the share of alpha at a level, 1 for single candidates.

        Half of it goes to the first level, half of the rest to the next, and so on; the last one
        takes all that is left.

        Examples
        --------
        >>> [Search(order=3).share(0.08, level) for level in (1, 2, 3)]
        [0.04, 0.02, 0.02]
        """
        return alpha / 2 ** min(level, self.n_levels - 1)


def look_ahead(
    context: SelectionContext,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    search: Search,
    room: float,
) -> tuple[list[Feature], list[Step]]:
    """Find features that tell something together.

    Parameters
    ----------
    inquiry : Inquiry
    known : sequence of Feature
        Kept or selected.
    candidates : sequence of Feature
    search : Search
    room : float
        The most columns that may come in.

    Returns
    -------
    found : list of Feature
    steps : list of Step
    """
    # All tuples are rearranged alike in a draw: a feature in several of them is the same in each.
    context = replace(context, shared_permutations=True)
    steps: list[Step] = []
    for order in range(2, search.order + 1):
        level = context.at(search.share(context.alpha, order))
        if found := _try_tuples(level, known, candidates, order, room, steps):
            return _prune(level, known, found, steps), steps
    if search.n_random_starts:
        level = context.at(search.share(context.alpha, search.n_levels))
        if found := _try_starts(level, known, candidates, search.n_random_starts, room, steps):
            return _prune(level, known, found, steps), steps
    return [], steps


def can_look_ahead(
    context: SelectionContext,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    search: Search,
    room: float,
) -> bool:
    """Return whether `look_ahead` has anything to test, which looks at no values."""
    for order in range(2, search.order + 1):
        if comb(len(candidates), order) <= MOST_TUPLES:
            if _fitting_tuples(candidates, order, room):
                return True
        elif len(_narrow(candidates, order, room)) >= order:
            return True
    return bool(_draw_starts(context, known, candidates, search.n_random_starts, room)[1])


def _prune(
    context: SelectionContext, known: Sequence[Feature], found: Sequence[Feature], steps: list[Step]
) -> list[Feature]:
    """Leave only those that each add something to all others."""
    stay, more, _ = backward(context, known, found, maximum_statistic, "joint_backward")
    steps += more
    return stay


def _try_tuples(
    context: SelectionContext,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    order: int,
    room: float,
    steps: list[Step],
) -> list[Feature]:
    """Test the joint information of all tuples, or of as many as the budget allows."""
    n_tuples = comb(len(candidates), order)
    stream_key = (LOOKAHEAD, order, len(known))
    if n_tuples <= MOST_TUPLES:
        tuples = _fitting_tuples(candidates, order, room)
        note = f"all {len(tuples)} {_called(order)} searched"
        if len(tuples) < n_tuples:
            note = f"{len(tuples)} of {n_tuples} {_called(order)} searched, the others too wide"
        if not tuples:
            return []
        question: CandidateScores = given_all(
            context, [as_one(t) for t in tuples], known, stream_key
        )
    else:
        fitting = _narrow(candidates, order, room)
        if len(fitting) < order:
            return []
        question = screened(context, known, fitting, order, stream_key, MOST_TUPLES)
        tuples = question.tuples
        note = (
            f"{len(tuples)} of {n_tuples} {_called(order)} searched, those of the strongest "
            "single candidates, in every draw anew"
        )
    strongest, evidence = evaluate_strongest(question, "lookahead")
    step = _to_step(evidence, "lookahead", known, strongest, tuples[strongest])
    steps.append(context.on_step(replace(step, note=note)))
    return list(tuples[strongest]) if step.accepted else []


def _fitting_tuples(
    candidates: Sequence[Feature], order: int, room: float
) -> list[tuple[Feature, ...]]:
    """Return all tuples for which there is room."""
    return [members for members in combinations(candidates, order) if _width(members) <= room]


def _narrow(candidates: Sequence[Feature], order: int, room: float) -> list[Feature]:
    """Return the candidates of which any tuple has room.

    The others are left out beforehand: that choice does not look at the target.
    """
    return [c for c in candidates if order * len(c.columns) <= room]


def _try_starts(
    context: SelectionContext,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    n_random_starts: int,
    room: float,
    steps: list[Step],
) -> list[Feature]:
    """Test every candidate given each of several random subsets of the others."""
    starts, pairs = _draw_starts(context, known, candidates, n_random_starts, room)
    if not pairs:
        return []
    question = _beside_starts(context, known, pairs, (START, len(known), 1))
    strongest, evidence = evaluate_strongest(question, "random_starts")
    candidate, start = pairs[strongest]
    step = _to_step(evidence, "random_starts", known, strongest, (candidate, *start))
    note = f"{len(starts)} different random starts of {len(start)} features searched"
    steps.append(context.on_step(replace(step, note=note)))
    return [candidate, *start] if step.accepted else []


def _draw_starts(
    context: SelectionContext,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    n_random_starts: int,
    room: float,
) -> tuple[list[list[Feature]], list[tuple[Feature, list[Feature]]]]:
    """Return random subsets, and every candidate beside each for which there is room."""
    size = min(START_SIZE, len(candidates) - 1)
    if size < 1 or not n_random_starts:
        return [], []
    stream_key = (context.seed, START, len(known), 0)
    orders = permutations(stream_key, range(1, n_random_starts + 1), len(candidates))
    places = sorted({tuple(sorted(order[:size].tolist())) for order in orders})
    starts = [[candidates[place] for place in start] for start in places]
    pairs = [(c, start) for start in starts for c in candidates if c not in start]
    return starts, [(c, start) for c, start in pairs if _width([c, *start]) <= room]


def _beside_starts(
    context: SelectionContext,
    known: Sequence[Feature],
    pairs: Sequence[tuple[Feature, Sequence[Feature]]],
    stream_key: tuple[int, ...],
) -> ConditionalMI:
    """Ask for the information of each candidate given its start, bound once for every start."""
    starts = {id(start): start for _, start in pairs}
    bound = {
        key: LazyScorer(
            partial(context.bind, [*known, *start], context.surrogates, share=len(starts))
        )
        for key, start in starts.items()
    }
    return ConditionalMI(
        context,
        tuple(replace(c, name=f"{c.name} beside {listed(start)}") for c, start in pairs),
        context.surrogates,
        tuple(bound[id(start)] for _, start in pairs),
        stream_key,
    )


def _to_step(
    evidence: PermutationTestResult,
    phase: Phase,
    known: Sequence[Feature],
    chosen: int,
    members: Sequence[Feature],
) -> Step:
    given = tuple(feature.name for feature in known)
    step = evidence.to_step(phase, given, chosen, maximum_statistic)
    return replace(step, jointly_included=tuple(feature.name for feature in members))


def _called(order: int) -> str:
    return NAMES.get(order, f"tuples of {order}")


def _width(features: Sequence[Feature]) -> int:
    return sum(len(feature.columns) for feature in features)
