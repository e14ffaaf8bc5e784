"""`explain`: decompose each feature against the (other) selected ones, with one sentence each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from pidselect.data import Block
from pidselect.data.feature_types import TARGET
from pidselect.data.messages import number, shown
from pidselect.decomposition.decompose import FEWEST_PER_STATE
from pidselect.decomposition.result import Explanation, FeatureExplanation, Pairs, Role
from pidselect.decomposition.source_pair import NotEstimable, PairAtoms, PIDStrategy, SourcePair
from pidselect.estimators.base import NATS_PER_UNIT

#: A weakly relevant feature is reported as redundant with the selected feature of largest overlap
#: and with those of at least this fraction of it, up to a number of names.
LEAST_OVERLAP = 0.5
MOST_REDUNDANT = 3

NOT_ESTIMABLE = "not estimable"

#: The name of a target without a name of its own, or of several columns.
UNNAMED_TARGET = "the target"

#: Bits by which I(f; y) of one feature may exceed I(S; y) of all before a note is added.
INCONSISTENT = 0.05

MMI_BOUNDS = (
    "mmi takes the minimum of two mutual informations as shared. For measures with non-negative "
    "atoms, and up to estimation error, unique is a lower bound, shared and synergy are upper "
    "bounds."
)
TOO_FEW_SAMPLES = (
    "the estimated information of all selected features is below that of one of them: there are "
    "too few samples for so many columns, and values are biased downward, more so for larger sets."
)
TWO_METHODS = (
    "selected and other features are decomposed by different methods: compare their shares of "
    "I(S; y), not their bits."
)

BIT = NATS_PER_UNIT["bit"]


@dataclass(frozen=True, eq=False)
class AssessedFeature:
    """A feature with its role in a selection; not decomposed if skipped or a duplicate."""

    name: str
    role: Role
    selected: bool  # or fixed
    block: Block  # its columns that are not constant in the samples
    reason: str = ""  # why it was skipped, or which feature it duplicates


def explain(
    assessed: Sequence[AssessedFeature],
    target: Block,
    strategy: PIDStrategy,
    notes: Sequence[str] = (),
) -> Explanation:
    r"""Decompose the information of every feature and the set S of the (other) selected features.

    S is the rest of the selected set for a selected feature, and all of it for any other:

    .. math:: I(f; y) = \mathrm{unique} + \mathrm{shared}, \qquad
              I(f; y | S) = \mathrm{unique} + \mathrm{synergy} .

    Roles are taken as they are, and `notes` are added to those of the explanation.
    """
    selected = [f for f in assessed if f.selected]
    excluded = [f for f in assessed if not f.selected and f.role in ("duplicate", "skipped")]
    rejected = [f for f in assessed if not f.selected and f not in excluded]
    everything = sum((f.block for f in selected), Block())
    others = [sum((g.block for g in selected if g is not f), Block()) for f in selected]
    inner = [SourcePair(f.block, rest) for f, rest in zip(selected, others, strict=True)]
    outer = [SourcePair(f.block, everything) for f in rejected]
    inside = _decompose(selected, inner, target, strategy, everything)
    outside = _decompose(rejected, outer, target, strategy, everything)
    outside = _with_redundant(outside, rejected, selected, target, strategy)
    outside.sort(key=lambda f: -np.inf if f.relevance is None else f.relevance, reverse=True)
    aside = [FeatureExplanation(f.name, f.role, False, reason=f.reason) for f in excluded]
    features = [replace(f, sentence=sentence(f)) for f in (*inside, *outside, *aside)]
    is_named = len(target) == 1 and target.names != (TARGET,)
    return Explanation(
        features=tuple(features),
        information=inside[0].total if inside else 0.0,
        pairs=_pairs(selected, target, strategy),
        n_samples=target.n_samples,
        target=target.names[0] if is_named else UNNAMED_TARGET,
        notes=(*_notes(features), *notes),
    )


def _decompose(
    assessed: Sequence[AssessedFeature],
    pairs: Sequence[SourcePair],
    target: Block,
    strategy: PIDStrategy,
    everything: Block,
) -> list[FeatureExplanation]:
    """Return the atoms of features, all by one method so that they are comparable."""
    method = strategy.choose(target, pairs)
    name = method.name(pairs)
    *results, joint = method.decompose([*pairs, SourcePair(everything, Block())])
    total = None if isinstance(joint, NotEstimable) else joint.unique / BIT
    features = []
    for feature, pair, result in zip(assessed, pairs, results, strict=True):
        explained = FeatureExplanation(feature.name, feature.role, feature.selected)
        if isinstance(result, NotEstimable):
            features.append(replace(explained, method=NOT_ESTIMABLE, reason=result.reason))
            continue
        atoms = {atom: nats / BIT for atom, nats in result._asdict().items()}
        reason, bounds = method.unreliable(pair), method.has_bounds and len(pair.others) > 0
        features.append(
            replace(explained, **atoms, total=total, method=name, reason=reason, has_bounds=bounds)
        )
    return features


def _with_redundant(
    features: Sequence[FeatureExplanation],
    assessed: Sequence[AssessedFeature],
    selected: Sequence[AssessedFeature],
    target: Block,
    strategy: PIDStrategy,
) -> list[FeatureExplanation]:
    """Name the selected features that weakly relevant ones overlap with most."""
    weak = [feature for feature in assessed if feature.role == "weakly relevant"]
    combined = [(f, g) for f in weak for g in selected]
    pairs = [SourcePair(f.block, g.block) for f, g in combined]
    method = strategy.choose(target, pairs)
    overlaps: dict[str, dict[str, float]] = {feature.name: {} for feature in weak}
    for (f, g), result in zip(combined, method.decompose(pairs), strict=True):
        if isinstance(result, PairAtoms):
            overlaps[f.name][g.name] = result.overlap
    return [replace(f, redundant_with=_largest(overlaps.get(f.name, {}))) for f in features]


def _largest(overlaps: dict[str, float]) -> tuple[str, ...]:
    """Return the names of the largest overlaps."""
    ordered = sorted(overlaps, key=lambda name: -overlaps[name])
    least = LEAST_OVERLAP * max(overlaps.values(), default=0.0)
    return tuple(name for name in ordered if overlaps[name] >= least > 0)[:MOST_REDUNDANT]


def _pairs(selected: Sequence[AssessedFeature], target: Block, strategy: PIDStrategy) -> Pairs:
    """Decompose every pair of selected features; asymmetric estimates are averaged."""
    n = len(selected)
    indices = list(combinations(range(n), 2))
    blocks = [feature.block for feature in selected]
    single = [SourcePair(block, Block()) for block in blocks]
    pairs = [SourcePair(blocks[i], blocks[j]) for i, j in indices]
    method = strategy.choose(target, pairs + single)
    orders = [*indices, *((j, i) for i, j in indices)]
    if method.is_symmetric:
        results = 2 * method.decompose(pairs)
    else:
        results = method.decompose([SourcePair(blocks[i], blocks[j]) for i, j in orders])
    values, estimable = np.zeros((2, n, n)), np.zeros((n, n), dtype=bool)
    for (i, j), result in zip(orders, results, strict=True):
        if isinstance(result, PairAtoms):
            values[:, i, j] = result.shared, result.synergy
            estimable[i, j] = True
    values, estimable = (values + values.swapaxes(1, 2)) / 2, estimable & estimable.T
    for i, result in enumerate(method.decompose(single)):
        if isinstance(result, PairAtoms):
            values[0, i, i], estimable[i, i] = result.unique, True
    redundancy, synergy = np.where(estimable, values / BIT, 0.0)
    names = tuple(feature.name for feature in selected)
    return Pairs(names, redundancy, synergy, estimable, method.name(pairs + single))


def _notes(features: Sequence[FeatureExplanation]) -> list[str]:
    """Return the caveats that apply to these estimates."""
    estimated = [feature for feature in features if feature.unique is not None]
    unreliable = sum(bool(feature.reason) for feature in estimated)
    notes = []
    if any(feature.has_bounds for feature in estimated):
        notes.append(MMI_BOUNDS)
    if any(
        (f.information or 0.0) > (f.total or 0.0) + INCONSISTENT for f in estimated if f.selected
    ):
        notes.append(TOO_FEW_SAMPLES)
    if len({feature.method for feature in estimated}) > 1:
        notes.append(TWO_METHODS)
    if unreliable:
        notes.append(
            f"{unreliable} of {len(estimated)} features have fewer than {FEWEST_PER_STATE} samples "
            "per joint state: their atoms are mostly bias, which the correction removes in part; "
            'measure="auto" does not count states there.'
        )
    return notes


def sentence(feature: FeatureExplanation) -> str:
    """Return the atoms and the role of a feature as one sentence.

    Examples
    --------
    >>> x1 = FeatureExplanation("X1", "strongly relevant", True, 0.27, 0.06, 0.33, 1.2, "broja")
    >>> print(sentence(x1))
    X1 (unique 0.27 bit, synergy 0.33 bit, shared 0.06 bit): strongly relevant.
    >>> x2 = replace(x1, name="X2", role="weakly relevant", selected=False, unique=0.0, shared=0.4,
    ...              synergy=0.0, redundant_with=("X1",))
    >>> print(sentence(x2))
    X2 (unique 0.00 bit, synergy 0.00 bit, shared 0.40 bit): weakly relevant, redundant with X1.
    """
    name = shown(feature.name)
    if feature.role == "duplicate":
        return f"{name}: duplicate of {shown(feature.reason)}."
    if feature.role == "skipped":
        return f"{name}: skipped, {feature.reason}."
    if feature.role == "irrelevant":
        return f"{name}: irrelevant, not significant given any conditioning set that was tested."
    role = "fixed, not tested" if feature.role == "fixed" else feature.role
    if feature.unique is None:
        return f"{name}: {role}; atoms not estimable: {feature.reason}."
    lower, upper = ("at least ", "at most ") if feature.has_bounds else ("", "")
    atoms = (
        f"unique {lower}{_bits(feature.unique)}, synergy {upper}{_bits(feature.synergy)}, "
        f"shared {upper}{_bits(feature.shared)}"
    )
    return f"{name} ({atoms}): {role}{_qualified(feature)}."


def _qualified(feature: FeatureExplanation) -> str:
    """Return what the role and the atoms do not show by themselves."""
    if feature.role == "strongly relevant" and not _is_positive(feature.relevance):
        return f", although the estimate of unique + synergy is {_bits(feature.relevance)}"
    # Shared information is redundant as far as it exceeds the synergy: the feature would add less
    # to the selected ones than its marginal mutual information.
    overlap = (feature.shared or 0.0) - max(feature.synergy or 0.0, 0.0)
    is_redundant = _is_positive(feature.information) and _is_positive(overlap)
    if feature.selected or feature.role == "adds to the selected set" or not is_redundant:
        return ""
    *first, last = map(shown, feature.redundant_with or ["the selected features"])
    names = f"{', '.join(first)} and {last}" if first else last
    return f", redundant with {names}"


def _bits(value: float | None) -> str:
    return f"{number(value, 2)} bit"


def _is_positive(value: float | None) -> bool:
    return value is not None and round(value, 2) > 0
