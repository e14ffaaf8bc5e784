"""Interaction test: the permutation test of the strongest of all pairs and triples.

The maximum over all tuples is compared with that of every permutation, which repeats the scan.
Most tests end early: once too many permutations have reached the observed value, none that follows
can make it significant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pidselect.data import FloatArray
from pidselect.selection.context import SelectionContext
from pidselect.selection.executor import ScoringJob
from pidselect.selection.pool import Features, columns_of, joint_block
from pidselect.selection.result import Step
from pidselect.selection.scoring import added_bits
from pidselect.significance.interactions import InteractionScan, Scanner, Triples
from pidselect.significance.permutation_test import is_significant
from pidselect.significance.row_orders import RowOrders, find_strata
from pidselect.significance.sequential import max_permutations
from pidselect.significance.surrogates import PermutationSampler

#: Permutations of the first batch, with the observed data; each further one doubles their number.
FIRST_BATCH = 16


def score_pairs(
    common: tuple[Scanner, PermutationSampler, tuple[int, ...]],
    places: list[int],
    permutations: range,
) -> FloatArray:
    """Return the largest interaction of each family in some blocks."""
    scanner, sampler, stream_key = common
    return scanner.largest_values(places, sampler(stream_key, permutations))[np.newaxis]


@dataclass(frozen=True, eq=False)
class InteractionTestResult:
    """The tuple with the largest interaction, and the maximum statistic of every permutation."""

    found: tuple[int, ...]  # positions of the candidates; none if there is no tuple that varies
    bits: float  # their joint conditional mutual information
    observed: float
    schemes: tuple[str, ...]
    null: tuple[FloatArray, ...]  # of each scheme, (n_permutations,)

    def to_step(self, context: SelectionContext, name: str, given: tuple[str, ...]) -> Step:
        """Return the step of the record; the scheme with the largest p-value decides."""
        observed = np.array([self.observed])
        p = [float(context.p_values(observed, null)[0]) for null in self.null]
        deciding = int(np.argmax(p))
        null, p_value = self.null[deciding], p[deciding]
        return Step(
            phase="lookahead",
            conditioning_set=given,
            candidates=(name,),
            values=(self.bits,),
            scores=(self.observed,),
            unit="",
            estimators=("interaction",),
            p_values=(p_value,),
            chosen=name,
            critical_value=context.critical_value(null),
            p_value=p_value,
            alpha=context.alpha,
            surrogates=self.schemes[deciding],
            n_permutations=len(null),
            accepted=is_significant(p_value, context.alpha),
            close_call=context.is_close_call(p_value),
        )


def run_interaction_test(
    context: SelectionContext,
    given: Features,
    candidates: Features,
    stream_key: tuple[int, ...],
    triples: Triples,
) -> InteractionTestResult:
    """Find the tuple with the largest interaction, and compute the permutations its test needs.

    As for single candidates, the tests of all surrogate schemes must reject; the first that does
    not ends the test. A test that the checkpoint holds is only read. No tuple is found if fewer
    than two features, or not the target, vary given S.
    """
    schemes = context.schemes_of_tuples(given)
    features = columns_of(given), columns_of(candidates)
    key = context.key, stream_key, schemes, features, triples
    run = partial(_run_test, context, given, candidates, stream_key, triples, schemes, key)
    executor = context.executor
    found, (bits, observed), *null = executor.recall(executor.key(key), run)
    places, used = tuple(found.astype(int).tolist()), schemes[: len(null)]
    return InteractionTestResult(places, float(bits), float(observed), used, tuple(null))


def _run_test(
    context: SelectionContext,
    given: Features,
    candidates: Features,
    stream_key: tuple[int, ...],
    triples: Triples,
    schemes: tuple[str, ...],
    key: Any,
) -> tuple[FloatArray, ...]:
    """Run a test; return the arrays of its result."""
    executor = context.executor
    # Given a continuous S, columns and target are the residuals that single candidates are tested
    # by; given a discrete one, a numeric target is ranked within its levels.
    block, columns = joint_block(given), list(joint_block(candidates).columns)
    regression, strata = None, None
    target, groups = context.target, context.groups
    if "residual" in schemes:
        regression = executor.regressions.find(target, columns, block, groups)
        target = regression.target
    else:  # whole groups are permuted beyond the levels of S, and rows within their group
        strata = find_strata(block, None if "blocks" in schemes else groups)
    blocks = [feature.block for feature in candidates]
    if regression is not None:
        blocks = [regression.residual(one) for one in blocks]
    scan = InteractionScan.of(blocks, target, strata, triples, block)
    if not scan.tables:
        return np.empty(0), np.zeros(2)
    n_most = 1 + (context.n_permutations or max_permutations(context.alpha))
    n_values = len(scan.blocks) * len(scan.families) * len(schemes) * n_most
    executor.observer.on_stage("lookahead", scan.n_tables, n_values)
    scanner, shape = executor.device.scanner(scan), (1, len(scan.blocks), len(scan.families))
    statistics: list[FloatArray] = []
    found: tuple[int, ...] = ()
    bind = executor.device.sampler if context.score_test is None else RowOrders.given
    for scheme in schemes:
        sampler = bind(scheme, block, target.n_samples, groups)
        common = scanner, sampler, (context.seed, *stream_key)
        job = ScoringJob(
            (key, scheme),
            shape,
            len(scan.classes),
            executor.device.is_cpu,  # a block is a task of the CPU; a GPU has several at a time
            score_pairs,
            partial(tuple, common),
            lambda *task: task,
        )
        largest = executor.compute(job, range(min(FIRST_BATCH, n_most)))[0]
        found = found or _strongest(scan, largest[..., 0])
        statistics.append(scan.statistic(largest))
        while (decided := context.decide(statistics[-1][0], statistics[-1][1:])) == "open":
            start = len(statistics[-1])
            more = executor.compute(job, range(start, min(2 * start, n_most)))[0]
            statistics[-1] = np.concatenate([statistics[-1], scan.statistic(more)])
        if decided == "not significant":
            break
    of_found = added_bits(context, [candidates[place] for place in found], given)
    bits = sum(of_found.values())  # by the chain rule
    null = [statistic[1:] for statistic in statistics]
    return np.array(found, dtype=float), np.array([bits, statistics[0][0]]), *null


def _strongest(scan: InteractionScan, largest: FloatArray) -> tuple[int, ...]:
    """Return the tuple with the largest interaction in the data, (n_blocks, n_families)."""
    of_families = largest.max(axis=0)
    # The larger value decides where p-values are 1, so that there is a tuple.
    family = np.lexsort((-of_families, -scan.quantiles(of_families)))[0]
    block = int(np.argmax(largest[:, family]))
    _, tuples = scan.largest(block, np.arange(len(scan.classes), dtype=np.int32)[np.newaxis])
    return tuple(sorted(int(place) for place in tuples[family, 0] if place >= 0))
