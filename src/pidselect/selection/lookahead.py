"""Look-ahead: include synergistic features jointly if no single candidate is significant.

If no single candidate is significant, all pairs are tested by their interaction, and triples where
their number allows: see `significance.interactions`. The scan looks at the target, so that each
permutation repeats all of it. Alternatively, candidates are tested given random subsets of the
other candidates (the paper's discussion names both). Each of these tests has a part of alpha, so
that the family-wise error rate of a step is at most alpha. Features that are included jointly are
then subject to backward elimination with the maximum statistic: each must add to the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import comb
from typing import Literal, cast

import numpy as np

from pidselect.data.messages import counted
from pidselect.selection.backward import backward
from pidselect.selection.context import SelectionContext
from pidselect.selection.interaction_test import run_interaction_test
from pidselect.selection.pool import (
    Feature,
    Features,
    count_columns,
    joint_block,
    joint_name,
)
from pidselect.selection.result import SINGLE_SHARE, Step
from pidselect.selection.scoring import scores_given
from pidselect.selection.step_test import run_test
from pidselect.significance.interactions import (
    Triples,
    count_levels,
    count_operations,
    pair_bytes,
    target_classes,
)
from pidselect.significance.permutation_test import (
    fewest_permutations,
    is_significant,
    maximum_statistic,
)
from pidselect.significance.rng import LOOKAHEAD, START
from pidselect.significance.rng import permutations as random_permutations
from pidselect.significance.surrogates import count_block_orders

#: Candidates, each with a random subset of the others.
Starts = list[tuple[Feature, tuple[Feature, ...]]]

#: Operations on words up to which `lookahead="auto"` searches pairs, and triples: about 20 and 5
#: seconds of a processor if a tuple is found, and a tenth of that if there is none.
MAX_OPERATIONS, MAX_TRIPLE_OPERATIONS = 3e11, 8e10

#: Operations up to which `lookahead=3` searches all triples, about ten minutes of a processor.
MAX_REQUESTED_OPERATIONS = 1e13

#: Bytes of the counts of all pairs, which each thread has for triples, at most.
MAX_PAIR_BYTES = 2**28

#: Usual permutations of a sequential test that finds a tuple.
SEQUENTIAL_PERMUTATIONS = 200

#: Features in a random subset, at most.
START_SIZE = 3


@dataclass(frozen=True)
class Lookahead:
    """What to search if no single candidate is significant."""

    order: int | Literal["auto"] = 1  # the size of the largest tuples; 1 for none
    n_random_starts: int = 0  # random subsets that candidates are tested given

    def share_of_singles(self, order: int) -> float:
        """Return the share of alpha of single candidates, if tuples up to a size are searched."""
        return SINGLE_SHARE if order > 1 or self.n_random_starts else 1.0

    def share_of_joint(self, order: int) -> float:
        """Return the share of alpha of the scan of tuples, and of random starts.

        Examples
        --------
        >>> plan = Lookahead(2, n_random_starts=5)
        >>> plan.share_of_singles(2), round(plan.share_of_joint(2), 3)
        (0.8, 0.1)
        """
        n_tests = (order > 1) + (self.n_random_starts > 0)
        return (1 - SINGLE_SHARE) / max(1, n_tests)


@dataclass(frozen=True, eq=False)
class JointSearch:
    """Search for features to include jointly: at most `max_columns` columns."""

    context: SelectionContext
    given: Features
    candidates: Features
    lookahead: Lookahead
    max_columns: float

    @cached_property
    def order(self) -> int:
        """The size of the largest tuples that are searched; 1 for none.

        It is decided by counts alone: the same data have the same answer on any machine.
        """
        order, n_narrow = self.lookahead.order, len(self._narrow(2))
        if order == 1 or n_narrow < 2:
            return 1
        is_auto = order == "auto"
        if is_auto and not self._can_be_significant():
            return 1
        if is_auto and self._operations(2) > MAX_OPERATIONS:
            return 1
        n_triple = len(self._narrow(3))
        has_triples = order != 2 and n_triple == n_narrow and n_triple >= 3
        if has_triples:
            most = MAX_TRIPLE_OPERATIONS if is_auto else MAX_REQUESTED_OPERATIONS
            has_triples = self._operations(3) <= most and self._pair_bytes() <= MAX_PAIR_BYTES
        return 3 if has_triples else 2

    @property
    def triples(self) -> Triples:
        """Which triples are searched."""
        if self.order == 3:
            return "all"
        has_given = self.order == 2 and len(joint_block(self.given)) > 0
        return "given" if has_given and self._pair_bytes() <= MAX_PAIR_BYTES else "none"

    def _pair_bytes(self) -> int:
        """Return the bytes that triples take, given columns included."""
        return pair_bytes(len(self._n_levels) + len(joint_block(self.given)), self._n_classes)

    @property
    def share_of_singles(self) -> float:
        """The share of alpha of single candidates: all of it if nothing else is searched."""
        has_starts = bool(self._random_starts()[1])
        lookahead = self.lookahead if has_starts else replace(self.lookahead, n_random_starts=0)
        return lookahead.share_of_singles(self.order)

    @property
    def _level_of_joint(self) -> float:
        """The level of the scan of tuples."""
        return self.context.alpha * self.lookahead.share_of_joint(2)

    @property
    def note(self) -> str:
        """What is not searched, and why; nothing if all is that was requested."""
        wanted = self.lookahead.order
        if self.order > 1 or self._random_starts()[1]:
            return ""
        if wanted == 1:
            none = "no random starts: max_features is too small for one"
            return none if self.lookahead.n_random_starts else ""
        if len(self.candidates) < 2:  # there is no tuple
            return "" if wanted == "auto" else "no look-ahead: too few candidates"
        if len(self._narrow(2)) < 2:
            return "no look-ahead: max_features is too small for a tuple"
        n_pairs = comb(len(self._narrow(2)), 2)
        if not self._can_be_significant():
            needed = fewest_permutations(self._level_of_joint)
            n = self.context.n_permutations
            if n is None or n >= needed:
                return "no look-ahead: too few groups for its level"
            return f"no look-ahead: too few permutations, {needed} are needed for its level"
        return f"no look-ahead: {n_pairs:,} pairs are searched with lookahead=2 only"

    def _can_be_significant(self) -> bool:
        """Return whether there are permutations enough for a tuple to be significant."""
        n, groups = self.context.n_permutations, self.context.groups
        p = 0.0 if n is None else 1 / (1 + n)
        if groups is not None and "blocks" in self.context.surrogates:
            p = max(p, 1 / count_block_orders(groups))
        return is_significant(p, self._level_of_joint)

    def _operations(self, order: int) -> float:
        """Return the operations that all permutations take at most."""
        n = self.context.n_permutations or SEQUENTIAL_PERMUTATIONS
        n_samples = self.context.target.n_samples
        return (1 + n) * count_operations(self._n_levels, n_samples, self._n_classes, order)

    @cached_property
    def _n_levels(self) -> list[int]:
        return [count_levels(column) for f in self._narrow(2) for column in f.block.columns]

    @cached_property
    def _n_classes(self) -> int:
        return len(np.unique(target_classes(self.context.target)))

    def _narrow(self, order: int) -> list[Feature]:
        """Return the candidates of which any tuple has at most `max_columns` columns."""
        return [c for c in self.candidates if order * len(c.columns) <= self.max_columns]

    def run(self) -> tuple[list[Feature], list[Step]]:
        """Test tuples, then random starts; return the features to include, and the steps."""
        steps: list[Step] = []
        share = self.lookahead.share_of_joint(self.order)
        # All columns of a tuple are permuted alike, so that their joint distribution is kept.
        context = replace(self.context, shared_permutations=True)
        for search in (self._test_tuples, self._test_starts):
            tested = search(context.at_share(share))
            if tested is None:
                continue
            step, found, note = tested
            names = tuple(feature.name for feature in found)
            step = replace(step, jointly_included=names).with_note(note)
            steps.append(context.executor.observer.on_step(step))
            if step.accepted:
                remaining, more, _ = backward(
                    context,
                    self.given,
                    found,
                    maximum_statistic,
                    "joint_backward",
                    n_candidates=len(self.candidates),
                )
                return remaining, steps + more
        return [], steps

    def _test_tuples(self, context: SelectionContext) -> tuple[Step, Features, str] | None:
        """Test the largest interaction over all pairs, and triples."""
        if self.order == 1:
            return None
        candidates = self._narrow(2)
        tested = context.at_level()
        stream_key = LOOKAHEAD, len(self.given)
        result = run_interaction_test(tested, self.given, candidates, stream_key, self.triples)
        if not result.found:
            return None
        found = [candidates[place] for place in result.found]
        searched = [counted(comb(len(candidates), 2), "pair")]
        searched += [counted(comb(len(candidates), 3), "triple")] * (self.triples == "all")
        note = "all " * (len(candidates) > 2) + f"{' and '.join(searched)} searched"
        if self.given and self.triples in ("given", "all"):
            note += ", pairs also with each selected feature"
        if self.lookahead.order == 3 and self.order == 2 and len(candidates) > 2:
            note += f", no triples: {self._why_no_triples()}"
        if len(candidates) < len(self.candidates):
            note += ", others exceed max_features"
        given = tuple(feature.name for feature in self.given)
        step = result.to_step(tested, joint_name(found), given)
        if context.share < 1.0:
            p_value = min(1.0, cast(float, step.p_value) / context.share)
            step = replace(step, p_value=p_value, p_values=(p_value,), alpha=context.alpha)
        return step, found, note

    def _why_no_triples(self) -> str:
        """Return why requested triples are not searched, and the remedy."""
        if len(self._narrow(3)) < len(self._narrow(2)):
            return "max_features is too small for those of feature groups"
        n_triples = comb(len(self._n_levels), 3)
        return f"{n_triples:,} are too many; search fewer columns, or with fewer permutations"

    def _test_starts(self, context: SelectionContext) -> tuple[Step, Features, str] | None:
        """Test every candidate given each of several random subsets of the others."""
        starts, pairs = self._random_starts()
        if not pairs:
            return None
        subsets = list(dict.fromkeys(start for _, start in pairs))  # each is bound once
        scores = scores_given(
            context,
            [replace(c, name=f"{c.name} given {joint_name(start)}") for c, start in pairs],
            [(*self.given, *start) for start in subsets],
            [subsets.index(start) for _, start in pairs],
            (START, len(self.given), 1),
            n_concurrent=len(subsets),
        )
        result = run_test(scores, "random_starts")
        candidate, start = pairs[result.chosen]
        step = result.to_step("random_starts", tuple(feature.name for feature in self.given))
        note = f"{len(starts)} different random starts of {len(start)} features searched"
        return step, (candidate, *start), note

    def _random_starts(self) -> tuple[list[tuple[Feature, ...]], Starts]:
        """Return random subsets, and all pairs of a candidate and a subset within `max_columns`."""
        size = min(START_SIZE, len(self.candidates) - 1)
        if size < 1 or not self.lookahead.n_random_starts:
            return [], []
        stream_key = (self.context.seed, START, len(self.given), 0)
        numbers = range(1, self.lookahead.n_random_starts + 1)
        orders = random_permutations(stream_key, numbers, len(self.candidates))
        subsets = sorted({tuple(sorted(order[:size].tolist())) for order in orders})
        starts = [tuple(self.candidates[place] for place in subset) for subset in subsets]
        pairs = [(c, start) for start in starts for c in self.candidates if c not in start]
        return starts, [(c, s) for c, s in pairs if count_columns([c, *s]) <= self.max_columns]
