"""Explain a selection: every feature taken apart beside the others, by the best method at hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from pidselect.data import Block
from pidselect.data.feature_types import TARGET
from pidselect.decomposition.decompose import FEWEST_PER_STATE
from pidselect.decomposition.explanation import Explanation, FeatureExplanation, Pairs, Role
from pidselect.decomposition.sentences import sentence
from pidselect.decomposition.source_pair import Atoms, PIDStrategy, SourcePair
from pidselect.estimators.information import NATS_PER_UNIT

__all__ = ["Explanation", "FeatureExplanation", "Pairs", "RoleAssignment", "explain"]

#: A weakly relevant feature is redundant with the selected one it has most in common with, and with
#: those that have at least this share of that, but with no more than so many.
ALSO = 0.5
MOST_NAMES = 3

NOT_ESTIMABLE = "not estimable"

#: What sentences call a target without a name of its own, or of several columns.
THE_TARGET = "the target"

#: Bits by which estimates may contradict each other before a note says so.
THIN = 0.05

AMOUNTS = (
    "mmi takes the smaller of two amounts as shared, be it the same information or not, so that "
    "atoms are bounds, as far as estimates go: at least so much is unique, at most so much shared "
    "or synergistic."
)
TOO_THIN = (
    "all selected features together seem to tell less than one of them by itself: for so many "
    "columns there are too few samples, and values are too low, the more so the more stand beside."
)
TWO_METHODS = (
    "selected and other features are taken apart by different methods: compare their shares of "
    "I(S; y), not their bits."
)

BIT = NATS_PER_UNIT["bit"]


@dataclass(frozen=True, eq=False)
class RoleAssignment:
    """What a selection says about one feature.

    Parameters
    ----------
    name : str
    role : Role
    selected : bool
        Whether it is in the selected set; kept ones are.
    block : Block
        Its columns, as far as they vary in the samples at hand.
    reason : str
        Why it was skipped, or of what it is a copy: such ones are not taken apart.
    """

    name: str
    role: Role
    selected: bool
    block: Block
    reason: str = ""


def explain(
    verdicts: Sequence[RoleAssignment],
    target: Block,
    approach: PIDStrategy,
    notes: Sequence[str] = (),
) -> Explanation:
    r"""Take every feature apart beside the selected ones.

    A selected feature f stands beside the rest of the selected set, any other beside all of it.
    With S for what it stands beside and y for the target,

    .. math:: I(f; y) = \mathrm{unique} + \mathrm{shared}, \qquad
              I(f; y | S) = \mathrm{unique} + \mathrm{synergy} .

    The latter is its relevance; the former is all that a ranking of single features sees.

    Parameters
    ----------
    verdicts : sequence of Verdict
        In the order in which selected features are to be listed.
    target : Block
    approach : Approach
        How to estimate.
    notes : sequence of str
        To be added to those of the explanation.

    Returns
    -------
    Explanation

    Notes
    -----
    Roles are taken as given; how they were found is for the notes to say. By the definitions of
    John, Kohavi and Pfleger, a strongly relevant feature adds something to all others, a weakly
    relevant one only to some of them, and an irrelevant one to none, whatever is given. Tests see
    no more than samples and a part of all subsets.

    References
    ----------
    G. H. John, R. Kohavi, K. Pfleger, Irrelevant features and the subset selection problem.
    International Conference on Machine Learning (1994). P. Wollstadt, S. Schmitt, M. Wibral,
    Journal of Machine Learning Research 24 (2023).

    Examples
    --------
    Of two switches and one lamp, each switch tells something only together with the other.

    >>> from pidselect.data import read_block
    >>> from pidselect.estimators import Discrete
    >>> states = np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1], [1, 1, 0]] * 50)
    >>> up, down, lamp = (read_block(column, "") for column in states.T)
    >>> verdicts = [Verdict("up", "fixed", True, up), Verdict("down", "fixed", True, down)]
    >>> explanation = explain(verdicts, lamp, Approach(Discrete()))
    >>> round(explanation["up"].synergy, 2), round(explanation.information, 2)
    (1.0, 1.0)
    """
    selected = [v for v in verdicts if v.selected]
    aside = [v for v in verdicts if not v.selected and v.role in ("duplicate", "skipped")]
    rejected = [v for v in verdicts if not v.selected and v not in aside]
    everything = _joined(selected)
    among = [SourcePair(v.block, _joined([w for w in selected if w is not v])) for v in selected]
    against = [SourcePair(v.block, everything) for v in rejected]
    inside = _take_apart(selected, among, target, approach, everything)
    outside = _take_apart(rejected, against, target, approach, everything)
    outside = _name_redundant(outside, rejected, selected, target, approach)
    outside.sort(key=lambda f: -np.inf if f.relevance is None else f.relevance, reverse=True)
    features = inside + outside + [_set_aside(v) for v in aside]
    names, about = [v.name for v in selected], _target_name(target)
    kept = [v.name for v in selected if v.role == "fixed"]
    return Explanation(
        features=tuple(
            replace(f, sentence=sentence(f, about, [n for n in names if n != f.name], kept))
            for f in features
        ),
        information=inside[0].total if inside else 0.0,
        pairs=_pairs(selected, target, approach),
        n_samples=target.n_samples,
        target=about,
        notes=(*_notes(features), *notes),
    )


def _joined(verdicts: Sequence[RoleAssignment]) -> Block:
    return Block(tuple(column for verdict in verdicts for column in verdict.block.columns))


def _take_apart(
    verdicts: Sequence[RoleAssignment],
    contrasts: Sequence[SourcePair],
    target: Block,
    approach: PIDStrategy,
    everything: Block,
) -> list[FeatureExplanation]:
    """Return the values of features that are to be compared, all by one method."""
    method = approach.choose(target, contrasts)
    name = method.name(contrasts)
    *answers, whole = method.answer([*contrasts, SourcePair(everything, Block())])
    total = whole.unique / BIT if isinstance(whole, Atoms) else None
    features = []
    for verdict, contrast, answer in zip(verdicts, contrasts, answers, strict=True):
        feature = FeatureExplanation(verdict.name, verdict.role, verdict.selected)
        if isinstance(answer, Atoms):
            unique, shared, synergy = (value / BIT for value in answer)
            feature = replace(feature, unique=unique, shared=shared, synergy=synergy, total=total)
            feature = replace(feature, method=name, reason=method.doubt_about(contrast))
        else:
            feature = replace(feature, method=NOT_ESTIMABLE, reason=answer)
        features.append(feature)
    return features


def _set_aside(verdict: RoleAssignment) -> FeatureExplanation:
    return FeatureExplanation(verdict.name, verdict.role, False, reason=verdict.reason)


def _name_redundant(
    features: Sequence[FeatureExplanation],
    verdicts: Sequence[RoleAssignment],
    selected: Sequence[RoleAssignment],
    target: Block,
    approach: PIDStrategy,
) -> list[FeatureExplanation]:
    """Name the selected features with which weakly relevant ones have most in common."""
    weak = [verdict for verdict in verdicts if verdict.role == "weakly relevant"]
    questions = [(v, w) for v in weak for w in selected]
    contrasts = [SourcePair(v.block, w.block) for v, w in questions]
    method = approach.choose(target, contrasts)
    common: dict[str, dict[str, float]] = {verdict.name: {} for verdict in weak}
    for (v, w), answer in zip(questions, method.answer(contrasts), strict=True):
        if isinstance(answer, Atoms):
            common[v.name][w.name] = answer.overlap
    return [replace(f, redundant_with=_largest(common.get(f.name, {}))) for f in features]


def _largest(common: dict[str, float]) -> tuple[str, ...]:
    """Return the names of the largest amounts.

    Examples
    --------
    >>> _largest({"a": 0.1, "b": 0.5, "c": 0.3, "d": -0.2})
    ('b', 'c')
    """
    ordered = sorted(common, key=lambda name: -common[name])
    least = ALSO * max(common.values(), default=0.0)
    return tuple(name for name in ordered if common[name] >= least > 0)[:MOST_NAMES]


def _pairs(selected: Sequence[RoleAssignment], target: Block, approach: PIDStrategy) -> Pairs:
    """Take every two selected features apart; estimates that depend on their order are averaged."""
    n = len(selected)
    indices = list(combinations(range(n), 2))
    blocks = [verdict.block for verdict in selected]
    alone = [SourcePair(block, Block()) for block in blocks]
    contrasts = [SourcePair(blocks[i], blocks[j]) for i, j in indices]
    method = approach.choose(target, contrasts + alone)
    if not method.is_symmetric:
        indices += [(j, i) for i, j in indices]
        contrasts += [SourcePair(second, first) for first, second in contrasts]
    values, estimable = np.zeros((2, n, n)), np.zeros((n, n), dtype=bool)
    for (i, j), answer in zip(indices, method.answer(contrasts), strict=True):
        if isinstance(answer, Atoms):
            values[:, i, j] = answer.shared, answer.synergy
            estimable[i, j] = True
    if method.is_symmetric:
        values, estimable = values + values.swapaxes(1, 2), estimable | estimable.T
    else:
        values, estimable = (values + values.swapaxes(1, 2)) / 2, estimable & estimable.T
    for i, answer in enumerate(method.answer(alone)):
        if isinstance(answer, Atoms):
            values[0, i, i], estimable[i, i] = answer.unique, True
    redundancy, synergy = np.where(estimable, values / BIT, 0.0)
    names = tuple(verdict.name for verdict in selected)
    return Pairs(names, redundancy, synergy, estimable, method.name(contrasts + alone))


def _target_name(target: Block) -> str:
    """Return a single target's name, unless it has none or the one that stands for none."""
    return THE_TARGET if len(target) > 1 or target.names == (TARGET,) else target.names[0]


def _notes(features: Sequence[FeatureExplanation]) -> list[str]:
    """Return what to know before trusting the numbers."""
    taken_apart = [feature for feature in features if feature.unique is not None]
    methods = {feature.method for feature in taken_apart}
    doubtful = sum(bool(feature.reason) for feature in taken_apart)
    notes = []
    if any(feature.has_bounds for feature in taken_apart):
        notes.append(AMOUNTS)
    if any((f.information or 0.0) > (f.total or 0.0) + THIN for f in taken_apart if f.selected):
        notes.append(TOO_THIN)
    if len(methods) > 1:
        notes.append(TWO_METHODS)
    if doubtful:
        notes.append(
            f"for {doubtful} of {len(taken_apart)} features there are fewer than "
            f"{FEWEST_PER_STATE} samples to a joint state, so that values are mostly bias and what "
            'a correction leaves of it; measure="auto" would not count states there.'
        )
    return notes
