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

import numpy as np

from pidselect.data import Block, FloatArray, IntArray
from pidselect.selection.backward import backward
from pidselect.selection.evidence import Evidence, find_strongest
from pidselect.selection.features import Feature
from pidselect.selection.inquiry import Inquiry
from pidselect.selection.question import Information, Question, given_all
from pidselect.selection.record import Phase, Step
from pidselect.selection.sheets import Pending, fill
from pidselect.significance import LOOKAHEAD, START, maximum_statistic, permutations
from pidselect.significance.standards import Standard

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
    n_starts: int = 0

    @property
    def n_levels(self) -> int:
        """How many tests share alpha: single candidates, tuples of each size, random starts."""
        return self.order + (self.n_starts > 0)

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
    inquiry: Inquiry,
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
    inquiry = replace(inquiry, shared=True)
    steps: list[Step] = []
    for order in range(2, search.order + 1):
        level = inquiry.at(search.share(inquiry.alpha, order))
        if found := _try_tuples(level, known, candidates, order, room, steps):
            return _prune(level, known, found, steps), steps
    if search.n_starts:
        level = inquiry.at(search.share(inquiry.alpha, search.n_levels))
        if found := _try_starts(level, known, candidates, search.n_starts, room, steps):
            return _prune(level, known, found, steps), steps
    return [], steps


def can_look_ahead(
    inquiry: Inquiry,
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
    return bool(_draw_starts(inquiry, known, candidates, search.n_starts, room)[1])


def _prune(
    inquiry: Inquiry, known: Sequence[Feature], found: Sequence[Feature], steps: list[Step]
) -> list[Feature]:
    """Leave only those that each add something to all others."""
    stay, more, _ = backward(inquiry, known, found, maximum_statistic, "members")
    steps += more
    return stay


def _try_tuples(
    inquiry: Inquiry,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    order: int,
    room: float,
    steps: list[Step],
) -> list[Feature]:
    """Test the joint information of all tuples, or of as many as the budget allows."""
    n_tuples = comb(len(candidates), order)
    words = (LOOKAHEAD, order, len(known))
    if n_tuples <= MOST_TUPLES:
        tuples = _fitting_tuples(candidates, order, room)
        note = f"all {len(tuples)} {_called(order)} searched"
        if len(tuples) < n_tuples:
            note = f"{len(tuples)} of {n_tuples} {_called(order)} searched, the others too wide"
        if not tuples:
            return []
        question: Question = given_all(inquiry, [_joined(t) for t in tuples], known, words)
    else:
        fitting = _narrow(candidates, order, room)
        if len(fitting) < order:
            return []
        question = screened(inquiry, known, fitting, order, words)
        tuples = question.tuples
        note = (
            f"{len(tuples)} of {n_tuples} {_called(order)} searched, those of the strongest "
            "single candidates, in every draw anew"
        )
    strongest, evidence = find_strongest(question, "lookahead")
    step = _to_step(evidence, "lookahead", known, strongest, tuples[strongest])
    steps.append(inquiry.took(replace(step, note=joined(note, step.note))))
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
    inquiry: Inquiry,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    n_starts: int,
    room: float,
    steps: list[Step],
) -> list[Feature]:
    """Test every candidate given each of several random subsets of the others."""
    starts, pairs = _draw_starts(inquiry, known, candidates, n_starts, room)
    if not pairs:
        return []
    question = _beside_starts(inquiry, known, pairs, (START, len(known), 1))
    strongest, evidence = find_strongest(question, "starts")
    candidate, start = pairs[strongest]
    step = _to_step(evidence, "starts", known, strongest, (candidate, *start))
    note = f"{len(starts)} different random starts of {len(start)} features searched"
    steps.append(inquiry.took(replace(step, note=joined(note, step.note))))
    return [candidate, *start] if step.accepted else []


def _draw_starts(
    inquiry: Inquiry,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    n_starts: int,
    room: float,
) -> tuple[list[list[Feature]], list[tuple[Feature, list[Feature]]]]:
    """Return random subsets, and every candidate beside each for which there is room."""
    size = min(START_SIZE, len(candidates) - 1)
    if size < 1 or not n_starts:
        return [], []
    words = (inquiry.seed, START, len(known), 0)
    orders = permutations(words, range(1, n_starts + 1), len(candidates))
    places = sorted({tuple(sorted(order[:size].tolist())) for order in orders})
    starts = [[candidates[place] for place in start] for start in places]
    pairs = [(c, start) for start in starts for c in candidates if c not in start]
    return starts, [(c, start) for c, start in pairs if _width([c, *start]) <= room]


def _beside_starts(
    inquiry: Inquiry,
    known: Sequence[Feature],
    pairs: Sequence[tuple[Feature, Sequence[Feature]]],
    words: tuple[int, ...],
) -> Information:
    """Ask for the information of each candidate given its start, bound once for every start."""
    starts = {id(start): start for _, start in pairs}
    bound = {
        key: Pending(partial(inquiry.bind, [*known, *start], inquiry.surrogates, share=len(starts)))
        for key, start in starts.items()
    }
    return Information(
        inquiry,
        tuple(replace(c, name=f"{c.name} beside {_listed(start)}") for c, start in pairs),
        inquiry.surrogates,
        tuple(bound[id(start)] for _, start in pairs),
        words,
    )


def _to_step(
    evidence: Evidence,
    phase: Phase,
    known: Sequence[Feature],
    chosen: int,
    members: Sequence[Feature],
) -> Step:
    given = tuple(feature.name for feature in known)
    step = evidence.to_step(phase, given, chosen, maximum_statistic)
    return replace(step, together=tuple(feature.name for feature in members))


@dataclass(frozen=True, eq=False)
class Screened:
    """The tuples of the strongest single candidates, chosen anew in every draw.

    A place among the candidates of this question is not a tuple but a combination of ranks, such
    as the first and the third: which tuple that is differs from draw to draw.

    Parameters
    ----------
    singles : Information
        About the candidates one by one.
    standard : Standard or None
        What makes them comparable.
    order : int
        The size of a tuple.
    n_strongest : int
        How many of the strongest make tuples.
    tuples : list of tuples of Feature
        In the data as observed.
    """

    singles: Information
    standard: Standard | None
    order: int
    n_strongest: int
    tuples: list[tuple[Feature, ...]]

    @property
    def inquiry(self) -> Inquiry:
        """How to test."""
        return self.singles.inquiry

    @property
    def candidates(self) -> tuple[Feature, ...]:
        """The tuples in the data as observed."""
        return tuple(_joined(members) for members in self.tuples)

    @property
    def schemes(self) -> tuple[str, ...]:
        """The scheme of surrogates of each test."""
        return self.singles.schemes

    @property
    def n_values_per_draw(self) -> int:
        """How many values a draw takes, those of single candidates included."""
        n_scored = len(self.singles.candidates) + len(self.tuples)
        return len(self.schemes) * n_scored * len(self.inquiry.members)

    def score(self, draws: range) -> FloatArray:
        """Return the joint information of each draw's own tuples."""
        ranked = self.strongest(self.singles.score(draws))
        shape = (len(self.schemes), len(self.tuples), len(self.inquiry.members), len(draws))
        tasks = [(some,) for some in self.inquiry.split(draws, 1, len(self.tuples))]
        common = partial(self.ready, ranked, draws)
        return fill(self.inquiry, shape, tasks, draws, Ranked.score_part, common)

    def ready(self, ranked: IntArray, draws: range) -> Ranked:
        """Return what is to be done with ranked candidates, so that it can be sent elsewhere."""
        return Ranked(self.singles.ready, ranked, draws, self.order)

    def strongest(self, values: FloatArray) -> IntArray:
        """Return the places of the strongest single candidates in each draw, strongest first."""
        best = values.max(axis=2)
        if self.standard is not None:
            # By the standards of all tests alike: else the data as observed would have other
            # tuples in each test.
            every = replace(
                self.standard,
                centre=self.standard.centre[:, np.newaxis],
                scale=self.standard.scale[:, np.newaxis],
            )
            best = every.apply(values).max(axis=3).min(axis=0)
        return np.argsort(-best, axis=1, kind="stable")[:, : self.n_strongest].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Ranked:
    """Each draw's own tuples.

    Parameters
    ----------
    singles : Information
    ranked : array of int64, shape (n_tests, n_strongest, n_draws)
        The strongest of its candidates, in each draw.
    draws : range
        The numbers of the draws.
    order : int
        The size of a tuple.
    """

    singles: Information
    ranked: IntArray
    draws: range
    order: int

    def score_part(self, draws: range) -> FloatArray:
        """Return the joint information of the tuples of some draws."""
        ranked = self.ranked[..., draws.start - self.draws.start : draws.stop - self.draws.start]
        ranks = np.array(list(combinations(range(ranked.shape[1]), self.order)))
        bound, inquiry = self.singles.bound[0].bound, self.singles.inquiry
        rows = bound.rows((inquiry.seed, *self.singles.words), draws)
        values = np.empty((len(rows), len(ranks), len(inquiry.members), len(draws)))
        for test, orders in enumerate(rows):
            members = np.sort(ranked[test][ranks], axis=1)  # (n_tuples, order, n_draws)
            flat = members.transpose(0, 2, 1).reshape(-1, self.order)
            tuples, which, counts = np.unique(flat, axis=0, return_inverse=True, return_counts=True)
            cells = np.split(np.argsort(which, axis=None, kind="stable"), np.cumsum(counts)[:-1])
            for places, cell in zip(tuples, cells, strict=True):
                slot, draw = np.divmod(cell, len(draws))
                block = _joined([self.singles.candidates[place] for place in places]).block
                only = replace(bound, shuffles=bound.shuffles[test : test + 1])
                values[test, slot, :, draw] = only.score(block, [orders[draw]])[0].T
        return values


def screened(
    inquiry: Inquiry,
    known: Sequence[Feature],
    candidates: Sequence[Feature],
    order: int,
    words: tuple[int, ...],
) -> Screened:
    """Look at single candidates first, and leave room in the budget for all tuples of the best."""
    n_strongest = max(n for n in range(order, len(candidates) + 1) if comb(n, order) <= MOST_TUPLES)
    singles = given_all(inquiry, candidates, known, words)
    if inquiry.watch is not None:
        n_values = len(singles.schemes) * len(candidates) * len(inquiry.members)
        inquiry.watch.begins("lookahead", len(candidates), n_values * (1 + inquiry.n_pilot))
    first = singles.score(range(1 + inquiry.n_pilot))
    question = Screened(singles, inquiry.standard(first[..., 1:]), order, n_strongest, [])
    best = question.strongest(first[..., :1])[0, :, 0]
    tuples = [
        tuple(candidates[place] for place in sorted(best[list(ranks)]))
        for ranks in combinations(range(n_strongest), order)
    ]
    return replace(question, tuples=tuples)


def _joined(features: Sequence[Feature]) -> Feature:
    """Return several features as one."""
    return Feature(
        name=_listed(features),
        columns=tuple(column for feature in features for column in feature.columns),
        block=Block(tuple(column for feature in features for column in feature.block.columns)),
    )


def _listed(features: Sequence[Feature]) -> str:
    return " & ".join(feature.name for feature in features)


def joined(*notes: str) -> str:
    """Return notes as one."""
    return "; ".join(note for note in notes if note)


def _called(order: int) -> str:
    return NAMES.get(order, f"tuples of {order}")


def _width(features: Sequence[Feature]) -> int:
    return sum(len(feature.columns) for feature in features)
