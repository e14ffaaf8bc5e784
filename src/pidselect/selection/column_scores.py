"""Scores, p-values and ranks of all columns: the attributes of scikit-learn's selectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray, IntArray
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, FeaturePool
from pidselect.selection.result import Step, last_step
from pidselect.selection.scoring import information_given

#: Columns outside the selected set whose information is estimated beside the score test, at most.
MOST_ESTIMATED = 200


def score_columns(
    context: SelectionContext,
    pool: FeaturePool,
    selected: Sequence[Feature],
    steps: Sequence[Step],
    final: Mapping[str, float],
    n_columns: int,
    by_cmi: bool,
    also_relevant: Sequence[Feature] = (),
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Return scores given the selected columns, p-values of the tests and ranks of all columns.

    `by_cmi` is whether forward selection tested the conditional mutual information. Features that
    are `also_relevant` are of rank 1, but not conditioned on.
    """
    p_of, known = dict(final), dict[str, float]()
    names = {feature.name for feature in (*pool.fixed, *selected)}
    last = last_step(steps, "forward")
    # By any criterion, the first step tests I(c; y).
    if last and not last.accepted and (by_cmi or not names) and {*last.conditioning_set} == names:
        p_of |= dict(zip(last.candidates, last.p_values, strict=False))
        known |= dict(zip(last.candidates, last.values, strict=True))
    last = last_step(steps, "backward")
    if last and last.accepted and {*last.conditioning_set} == names:
        known |= dict(zip(last.candidates, last.values, strict=True))
    known = {name: value for name, value in known.items() if not np.isnan(value)}
    given = [feature for feature in (*pool.fixed, *selected) if len(feature.block)]
    inside = [feature for feature in given if feature.name not in known]
    outside = [c for c in pool.candidates if c not in selected and c.name not in known]
    if context.score_test is not None and len(outside) > MOST_ESTIMATED:
        outside = []
    sets = [[other for other in given if other is not feature] for feature in inside]
    values = information_given(context, [*inside, *outside], sets + [given] * len(outside))
    unknown = (feature.name for feature in (*inside, *outside))
    bits = known | dict(zip(unknown, values.tolist(), strict=True))
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
    for feature in also_relevant:
        is_selected[list(feature.columns)] = True
    return scores, p_values, _ranking(scores, p_values, is_selected)


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
