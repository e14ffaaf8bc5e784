"""Scores, p-values and ranks of all columns: the attributes of scikit-learn's selectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray, IntArray
from pidselect.estimators import NATS_PER_UNIT
from pidselect.selection.backward import cmi_given_others
from pidselect.selection.callbacks import CallbackList
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, FeaturePool
from pidselect.selection.result import Step
from pidselect.selection.scoring import cmi_given
from pidselect.significance import FINAL


@dataclass(frozen=True, eq=False)
class ColumnScores:
    """One entry per column of X; see the attributes of `PIDSelector`."""

    scores: FloatArray
    p_values: FloatArray
    ranking: IntArray


def score_columns(
    context: SelectionContext,
    pool: FeaturePool,
    selected: Sequence[Feature],
    steps: Sequence[Step],
    final: Mapping[str, float],
    n_columns: int,
    by_cmi: bool,
) -> ColumnScores:
    """Score every column given the selected ones; p-values are those of the tests of the fit.

    `by_cmi` is whether forward selection tested the conditional mutual information.
    """
    bits = _bits_given_selected(context, pool, selected)
    p_of = dict(final)
    if by_cmi or not (pool.fixed or selected):  # by any criterion, the first step tests I(c; y)
        p_of |= _p_of_others(pool, selected, steps)
    scores, p_values = np.full(n_columns, np.nan), np.full(n_columns, np.nan)
    is_selected = np.zeros(n_columns, dtype=bool)
    for feature in (*pool.fixed, *pool.candidates):
        columns = list(feature.columns)
        scores[columns] = bits.get(feature.name, np.nan)
        p_values[columns] = p_of.get(feature.name, np.nan)
        is_selected[columns] = feature in pool.fixed or feature in selected
    for copy, original in pool.duplicates.items():
        # Given its original, a duplicate has no information.
        scores[copy] = 0.0 if is_selected[original] else scores[original]
        p_values[copy] = np.nan if is_selected[original] else p_values[original]
    return ColumnScores(scores, p_values, _ranking(scores, p_values, is_selected))


def _bits_given_selected(
    context: SelectionContext, pool: FeaturePool, selected: Sequence[Feature]
) -> dict[str, float]:
    """Return the observed values of all features, by the first estimator of a portfolio."""
    quiet, first = replace(context.executor, callbacks=CallbackList()), context.estimators[:1]
    observed = replace(
        context, estimators=first, is_portfolio=False, n_permutations=0, executor=quiet
    )
    given = [feature for feature in (*pool.fixed, *selected) if len(feature.block)]
    others = [candidate for candidate in pool.candidates if candidate not in selected]
    values: list[FloatArray] = []
    # One after the other: what is bound to the first is released before the second is bound.
    if given:
        values.append(cmi_given_others(observed, (), given, (FINAL, 1)).score(range(1)))
    if others:
        values.append(cmi_given(observed, others, given, (FINAL, 2)).score(range(1)))
    nats = [value for some in values for value in some[0, :, 0, 0]]
    shown = np.clip(np.array(nats) / NATS_PER_UNIT["bit"], 0.0, context.max_bits).tolist()
    return dict(zip((feature.name for feature in (*given, *others)), shown, strict=True))


def _p_of_others(
    pool: FeaturePool, selected: Sequence[Feature], steps: Sequence[Step]
) -> dict[str, float]:
    """Return p-values of the last forward step, if it was a test given all selected features."""
    forward = [step for step in steps if step.phase == "forward"]
    names = {feature.name for feature in (*pool.fixed, *selected)}
    if not forward or forward[-1].accepted or set(forward[-1].conditioning_set) != names:
        return {}
    return dict(zip(forward[-1].candidates, forward[-1].p_values, strict=False))


def _ranking(scores: FloatArray, p_values: FloatArray, is_selected: NDArray[np.bool_]) -> IntArray:
    """Return 1 for selected columns, and 2, 3, ... for the others; those without a p-value last.

    Examples
    --------
    >>> _ranking(np.array([0.5, 0.1, 0.0, 0.2]), np.array([0.01, 0.3, np.nan, 0.3]),
    ...          np.array([True, False, False, False]))
    array([1, 3, 4, 2])
    """
    order = np.lexsort((-np.nan_to_num(scores, nan=-1.0), p_values))
    others = order[~is_selected[order]]
    ranking = np.ones(len(scores), dtype=np.int64)
    ranking[others] = np.arange(2, len(others) + 2)
    return ranking
