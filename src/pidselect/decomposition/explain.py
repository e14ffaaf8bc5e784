"""`explain`: from estimated information to atoms, intervals, roles and sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, get_args

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.stats import chi2

from pidselect.data import Block, FloatArray, IntArray
from pidselect.data.feature_types import TARGET
from pidselect.decomposition.atoms import LEVEL, Atoms, decompose_feature
from pidselect.decomposition.explanation import (
    DIGITS,
    Explanation,
    FeatureExplanation,
    Pairs,
    Role,
)
from pidselect.decomposition.posterior import SharedFraction
from pidselect.decomposition.sentences import sentence
from pidselect.estimators.discrete import target_entropy
from pidselect.significance.permutation_test import is_significant

#: A feature is reported as redundant with the selected feature that shares most with it and with
#: those that share at least this fraction of that, up to a number of names.
LEAST_OVERLAP = 0.5
MOST_NAMES = 3

#: The name of a target without a name of its own, or of several columns.
UNNAMED_TARGET = "the target"

#: For each feature the selected ones it is compared with: the fraction of its information that
#: they share, and whether the two depend on each other.
Overlaps = Mapping[str, Mapping[str, tuple[float, bool]]]


class Samples(NamedTuple):
    """What atoms are computed from, by the name of the feature.

    `blocks` are its columns that are not constant in the samples; `resampled` its I(f; y) and
    I(f; y | S) in subsamples, shape (n_subsamples, 2), without which it has no intervals;
    `information_of_others` is I(S; y).
    """

    blocks: Mapping[str, Block]
    resampled: Mapping[str, FloatArray] = {}
    information_of_others: Mapping[str, float] = {}


def explain(
    features: Sequence[FeatureExplanation],
    samples: Samples,
    target: Block,
    fraction: SharedFraction,
    *,
    bits_added: Mapping[str, float],
    pairwise: FloatArray,
    subsamples: IntArray,
    alpha: float = 0.05,
    is_sequential: bool = False,
    notes: Sequence[str] = (),
    n_jobs: int | None = None,
) -> Explanation:
    r"""Decompose the information of every feature and the set S of the (other) selected features.

    S is the rest of the selected set for a selected feature, and all of it for any other. With the
    fraction :math:`\rho` of I(f; y) that is shared with S,

    .. math:: \mathrm{shared} = \rho I(f; y), \quad
              \mathrm{unique} = I(f; y) - \mathrm{shared}, \quad
              \mathrm{synergy} = I(f; y | S) - \mathrm{unique} .

    `pairwise` are I(f; y | g) of the selected features in bits, shape (n, n); `subsamples` are some
    of the rows each, for intervals. `bits_added` is the information that the selected features add
    one after the other. `features` have roles, tests, I(f; y) and I(f; y | S), or None where there
    is nothing to estimate.
    """
    blocks = samples.blocks
    selected = [one for one in features if one.selected]
    estimated = [one for one in features if one.information is not None]
    states = {one.name: fraction.states_of_feature(blocks[one.name]) for one in estimated}
    run = Parallel(n_jobs=n_jobs, prefer="threads")
    everything = sum((blocks[one.name] for one in selected), Block())
    rests = [sum((blocks[g.name] for g in selected if g is not f), Block()) for f in selected]
    *of_rests, of_all = run(delayed(fraction.states_of_set)(rest) for rest in (*rests, everything))
    others = {one.name: of_all for one in estimated}
    others |= {one.name: rest for one, rest in zip(selected, of_rests, strict=True)}
    overlaps = _overlaps(estimated, selected, states, fraction, alpha)
    explained = run(
        delayed(_decomposed)(one, states, others, fraction, subsamples, samples, overlaps, alpha)
        for one in features
    )
    roles = get_args(Role)
    is_named = len(target) == 1 and target.names != (TARGET,)
    is_nominal = all(kind == "nominal" for kind in target.feature_types)
    explanation = Explanation(
        features=tuple(
            sorted(
                explained,
                key=lambda one: (not one.selected, roles.index(one.role), -(one.added or 0.0)),
            )
        ),
        bits_added=dict(bits_added),
        pairs=_pairs(selected, pairwise, overlaps, fraction),
        n_samples=target.n_samples,
        target=target.names[0] if is_named else UNNAMED_TARGET,
        entropy=target_entropy(target) if is_nominal else None,
        alpha=alpha,
        level=LEVEL,
        is_sequential=is_sequential,
        notes=tuple(notes),
    )
    described = [
        replace(one, share=explanation.share(one.added), sentence=sentence(one, explanation))
        for one in explanation
    ]
    return replace(explanation, features=tuple(described))


def _decomposed(
    one: FeatureExplanation,
    states: Mapping[str, IntArray],
    others: Mapping[str, IntArray],
    fraction: SharedFraction,
    subsamples: IntArray,
    samples: Samples,
    overlaps: Overlaps,
    alpha: float,
) -> FeatureExplanation:
    """Return a feature with its atoms, and with the features that it overlaps with."""
    if one.information is None or one.added is None:
        return one
    atoms = decompose_feature(
        fraction,
        states[one.name],
        others[one.name],
        one.information,
        one.added,
        subsamples,
        samples.resampled.get(one.name),
        samples.information_of_others.get(one.name, math.inf),
    )
    if atoms is None:
        information, added = round(one.information, DIGITS), round(one.added, DIGITS)
        is_finite = math.isfinite(information + added)
        reason = "too many joint states to count" if is_finite else "the estimate is infinite"
        return replace(
            one, information=information, added=added, method="not estimable", reason=reason
        )
    redundant, overlapping = _overlapping(overlaps[one.name]) if atoms.shared > 0 else ((), ())
    return replace(
        one,
        **vars(_agreeing(atoms, one, alpha)),
        redundant_with=redundant,
        overlaps_with=overlapping,
        method=fraction.name,
    )


def _agreeing(atoms: Atoms, one: FeatureExplanation, alpha: float) -> Atoms:
    """Return atoms whose intervals include 0 where a test does not reject it.

    An interval above 0 beside a p-value that is not significant would be read as a contradiction;
    including 0 cannot lower the coverage. Nor is what is not significant a lower bound.
    """
    is_lower_bound, intervals = atoms.is_lower_bound, dict(atoms.intervals)
    is_out = one.role in ("weakly relevant", "irrelevant")
    for names, p_value, level in (
        # Steps may have a smaller level than alpha: their role decides.
        (("added", "unique", "synergy"), one.p_value, 0.0 if is_out else alpha),
        (("information", "unique", "shared"), one.marginal_p_value, alpha),
    ):
        if p_value is None or is_significant(p_value, level):
            continue
        is_lower_bound = is_lower_bound and "added" not in names
        for name in intervals.keys() & names:
            low, high = intervals[name]
            intervals[name] = (min(0.0, low), high)
    return replace(atoms, intervals=intervals, is_lower_bound=is_lower_bound)


def _overlaps(
    features: Sequence[FeatureExplanation],
    selected: Sequence[FeatureExplanation],
    states: Mapping[str, IntArray],
    fraction: SharedFraction,
    alpha: float,
) -> Overlaps:
    """Compare selected and relevant features with all (other) selected ones."""
    compared = [one for one in features if one.selected or one.role != "irrelevant"]
    pairs = [(one.name, g.name) for one in compared for g in selected if g is not one]
    level = alpha / max(1, len(pairs))
    found: dict[str, dict[str, tuple[float, bool]]] = {one.name: {} for one in features}
    for name, other in pairs:
        codes = states[name], states[other]
        known = found[other].get(name)
        dependent = independence_p_value(*codes) <= level if known is None else known[1]
        found[name][other] = fraction.of(*codes, corrected=False), dependent
    return found


def _overlapping(
    others: Mapping[str, tuple[float, bool]],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the selected features that share most with a feature: dependent ones, others."""
    shares = {g: share for g, (share, _) in others.items() if not math.isnan(share)}
    least = LEAST_OVERLAP * max(shares.values(), default=0.0)
    most = [g for g in sorted(shares, key=lambda g: -shares[g]) if shares[g] >= least > 0]
    redundant = tuple(g for g in most if others[g][1])
    return redundant[:MOST_NAMES], tuple(g for g in most if not others[g][1])[:MOST_NAMES]


def independence_p_value(first: IntArray, second: IntArray) -> float:
    """Return the p-value of Pearson's chi-square test of independence of two variables.

    The likelihood ratio test rejects far too often where counts are small.
    """
    shape = int(first.max()) + 1, int(second.max()) + 1
    counts = np.bincount(first * shape[1] + second, minlength=shape[0] * shape[1]).reshape(shape)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    known = expected > 0
    statistic = float(((counts - expected)[known] ** 2 / expected[known]).sum())
    return float(chi2.sf(statistic, max(1, (shape[0] - 1) * (shape[1] - 1))))


def _pairs(
    selected: Sequence[FeatureExplanation],
    pairwise: FloatArray,
    overlaps: Overlaps,
    fraction: SharedFraction,
) -> Pairs:
    """Decompose every pair of selected features; estimates in both orders are averaged."""
    n, names = len(selected), tuple(one.name for one in selected)
    own = np.array([round(one.information or 0.0, DIGITS) for one in selected])
    found = [overlaps[f].get(g, (0.0, f == g)) for f in names for g in names]
    shares = np.array([share for share, _ in found]).reshape(n, n)
    is_finite = np.isfinite(own)
    own = np.where(is_finite, own, 0.0)
    estimable: NDArray[np.bool_] = ~np.isnan(shares + shares.T) & np.logical_and.outer(
        is_finite, is_finite
    )
    shared = np.where(estimable, shares, 0.0) * own[:, np.newaxis]
    shared = np.minimum((shared + shared.T) / 2, np.minimum.outer(own, own))
    pairwise = np.where(np.isfinite(pairwise), pairwise, 0.0)
    synergy = np.maximum(pairwise - own[:, np.newaxis] + shared, 0.0)
    synergy = np.where(np.eye(n, dtype=bool), 0.0, (synergy + synergy.T) / 2)
    np.fill_diagonal(shared, own)
    dependent = np.array([is_dependent for _, is_dependent in found], dtype=bool)
    return Pairs(
        names,
        np.round(shared, DIGITS),
        np.where(estimable, np.round(synergy, DIGITS), 0.0),
        dependent.reshape(n, n),
        estimable,
        fraction.name,
    )
