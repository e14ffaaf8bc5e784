"""The information of features in random subsamples of the rows, for confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from joblib import Parallel, delayed

from pidselect.data import Block, FloatArray, IntArray
from pidselect.estimators import Batch, Estimator
from pidselect.estimators.mutual_information import varying
from pidselect.estimators.predictive import gains
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, Features, joint_block
from pidselect.selection.scoring import BIT


def subsample_information(
    context: SelectionContext,
    features: Mapping[str, Feature],
    sets: Mapping[str, Features],
    subsamples: IntArray,
) -> dict[str, FloatArray]:
    """Return I(f; y) and I(f; y | S) in bits in each subsample, shape (n_subsamples, 2).

    What regressions on S leave of f and y is that of all rows: intervals do not include the error
    of the regressions.
    """
    usable = {name: feature for name, feature in features.items() if len(feature.block)}
    marginal = _values(context, list(usable.values()), (), subsamples)
    found = {name: np.zeros((len(subsamples), 2)) for name in features}
    for name, values in marginal.items():
        found[name][:, 0] = values
    by_set: dict[Features, list[Feature]] = {}
    for name, feature in usable.items():
        by_set.setdefault(tuple(sets[name]), []).append(feature)
    for given, some in by_set.items():
        conditional = _values(context, some, given, subsamples) if given else marginal
        for feature in some:
            found[feature.name][:, 1] = conditional[feature.name]
    return {name: np.clip(values, 0.0, context.max_bits) for name, values in found.items()}


def _values(
    context: SelectionContext, features: list[Feature], given: Features, subsamples: IntArray
) -> dict[str, FloatArray]:
    """Return the information of features given one set in bits, in each subsample."""
    target, block = context.target, joint_block(given)
    blocks = {feature.name: feature.block for feature in features}
    if context.score_test is not None:
        each = gains(target, block, list(blocks.values()), context.groups)
        means = each[:, subsamples].mean(axis=2)
        return dict(zip(blocks, means, strict=True))
    estimator = context.estimator.estimator
    run = Parallel(n_jobs=context.executor.n_jobs, prefer="threads")
    values = run(
        delayed(_subsample)(estimator, target, block, list(blocks.values()), rows)
        for rows in subsamples
    )
    columns_of_values = np.array(values).reshape(len(subsamples), len(blocks)).T
    return dict(zip(blocks, columns_of_values, strict=True))


def _subsample(
    estimator: Estimator, target: Block, given: Block, blocks: list[Block], rows: IntArray
) -> list[float]:
    """Return the information of each block in some of the rows, in bits."""
    some_target, some_given = varying(target.take(rows)), varying(given.take(rows))
    if not len(some_target):
        return [0.0] * len(blocks)
    taken = [varying(block.take(rows)) for block in blocks]
    if len(blocks) == 1 and len(taken[0]) and hasattr(estimator, "estimate"):
        return [estimator.estimate(taken[0], some_target, some_given) / BIT]
    scorer = estimator.bind(some_target, some_given)
    scores = (scorer.score(Batch.observed(one))[0] if len(one) else 0.0 for one in taken)
    return [float(score) / BIT for score in scores]
