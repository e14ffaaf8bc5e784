"""`explain`: the information of each feature beside the (other) selected ones, and its atoms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from pidselect.data import Block
from pidselect.data.feature_types import TARGET
from pidselect.decomposition.explanation import (
    ATOMS,
    DIGITS,
    Explanation,
    FeatureExplanation,
    Pairs,
    Role,
)
from pidselect.decomposition.sentences import sentence
from pidselect.decomposition.source_pair import NotEstimable, PairAtoms, PIDStrategy, SourcePair
from pidselect.estimators.base import NATS_PER_UNIT
from pidselect.estimators.discrete import target_entropy

#: The name of a target without a name of its own, or of several columns.
UNNAMED_TARGET = "the target"

BIT = NATS_PER_UNIT["bit"]

#: Roles in the order of an explanation.
ROLES: tuple[Role, ...] = (
    "strongly relevant",
    "fixed",
    "adds to the selected set",
    "weakly relevant",
    "untested",
    "irrelevant",
    "duplicate",
    "skipped",
)


@dataclass(frozen=True, eq=False)
class AssessedFeature:
    """A feature with its role in a selection; not decomposed if skipped or a duplicate."""

    name: str
    role: Role
    selected: bool  # or fixed
    block: Block  # its columns that are not constant in the samples
    reason: str = ""  # why it was skipped, or which feature it duplicates
    feature_type: str = ""
    p_value: float | None = None
    marginal_p_value: float | None = None
    added_in_fit: float | None = None


def explain(
    assessed: Sequence[AssessedFeature],
    target: Block,
    strategy: PIDStrategy,
    notes: Sequence[str] = (),
    alpha: float = 0.05,
    is_sequential: bool = False,
) -> Explanation:
    """Decompose the information of every feature and the set S of the (other) selected features."""
    selected = [f for f in assessed if f.selected]
    everything = sum((f.block for f in selected), Block())
    features = []
    for one in assessed:
        explained = FeatureExplanation(
            one.name,
            one.role,
            one.selected,
            one.feature_type,
            p_value=one.p_value,
            marginal_p_value=one.marginal_p_value,
            added_in_fit=one.added_in_fit,
            reason=one.reason,
        )
        if one.role not in ("duplicate", "skipped"):
            rest = sum((g.block for g in selected if g is not one), Block())
            pair = SourcePair(one.block, rest)
            method = strategy.choose(target, [pair])
            (found,) = method.decompose([pair])
            if isinstance(found, NotEstimable):
                explained = replace(explained, method="not estimable", reason=found.reason)
            else:
                own = round(max(0.0, (found.unique + found.shared) / BIT), DIGITS)
                added = round(max(0.0, (found.unique + found.synergy) / BIT), DIGITS)
                unique = round(min(max(0.0, found.unique / BIT), own, added), DIGITS)
                values = {
                    "information": own,
                    "added": added,
                    "unique": unique,
                    "shared": round(own - unique, DIGITS),
                    "synergy": round(added - unique, DIGITS),
                }
                intervals = {
                    name: (round(0.8 * value, DIGITS), round(1.2 * value, DIGITS))
                    for name, value in values.items()
                }
                explained = replace(
                    explained, **values, intervals=intervals, method=method.name([pair])
                )
        features.append(explained)
    bits_added, before = {}, Block()
    for one in selected:
        pair = SourcePair(one.block, before)
        (found,) = strategy.choose(target, [pair]).decompose([pair])
        bits = (found.unique + found.synergy) / BIT
        bits_added[one.name] = round(max(0.0, bits), DIGITS)
        before = before + one.block
    n = len(selected)
    redundancy = np.diag([features[i].information or 0.0 for i in range(n)])
    is_named = len(target) == 1 and target.names != (TARGET,)
    explanation = Explanation(
        features=tuple(
            sorted(features, key=lambda f: (not f.selected, ROLES.index(f.role), -(f.added or 0.0)))
        ),
        bits_added=bits_added,
        pairs=Pairs(
            tuple(f.name for f in selected),
            redundancy,
            np.zeros((n, n)),
            np.zeros((n, n), bool),
            np.ones((n, n), bool),
            "",
        ),
        n_samples=target.n_samples,
        target=target.names[0] if is_named else UNNAMED_TARGET,
        entropy=target_entropy(target),
        alpha=alpha,
        is_sequential=is_sequential,
        notes=tuple(notes),
    )
    described = [
        replace(f, share=explanation.share(f.added), sentence=sentence(f, explanation))
        for f in explanation.features
    ]
    return replace(explanation, features=tuple(described))
