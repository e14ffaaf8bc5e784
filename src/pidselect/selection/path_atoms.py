"""The atoms of the candidates of each step, beside the set selected so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from pidselect.data import IntArray
from pidselect.decomposition.atoms import Atoms, decompose_feature
from pidselect.decomposition.posterior import SharedFraction
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, joint_block
from pidselect.selection.result import Selection, Step
from pidselect.selection.scoring import bits_shown, information_given, information_of_set
from pidselect.selection.subsamples import subsample_information

#: Candidates of a step that are decomposed: those with the most information.
MOST_CANDIDATES = 50


def with_path_atoms(
    record: Selection,
    context: SelectionContext,
    features: Mapping[str, Feature],
    information: Mapping[str, float],
    fraction: SharedFraction,
    rows: IntArray,
    subsamples: IntArray,
) -> Selection:
    """Return the record of a fit with the atoms of its steps.

    `information` is I(f; y) of all features in bits. `rows` are those of the states of `fraction`,
    `subsamples` some of them each, for the intervals of the chosen candidates. Tuples of look-ahead
    are not decomposed.
    """
    varying = {name: feature for name, feature in features.items() if len(feature.block)}
    steps: list[Step] = []
    for step in record.steps:
        order = np.lexsort((-np.array(step.scores), -np.array(step.values)))  # NaN last
        names = dict.fromkeys((step.chosen, *(step.candidates[place] for place in order)))
        candidates = [varying[name] for name in names if name in varying][:MOST_CANDIDATES]
        given = [varying[name] for name in step.conditioning_set if name in varying]
        sets = {one.name: tuple(f for f in given if f is not one) for one in candidates}
        added = information_given(context, candidates, [sets[one.name] for one in candidates])
        joint = math.fsum(bits_shown(context, given).values())
        chosen = {one.name: one for one in candidates if one.name == step.chosen}
        resampled = subsample_information(context, chosen, sets, rows[subsamples])
        states = {
            some: fraction.states_of_set(joint_block(some).take(rows)) for some in sets.values()
        }
        atoms: dict[str, Atoms] = {}
        for one, bits in zip(candidates, added.tolist(), strict=True):
            others = [other.name for other in sets[one.name]]
            found = decompose_feature(
                fraction,
                fraction.states_of_feature(one.block.take(rows)),
                states[sets[one.name]],
                information[one.name],
                bits,
                subsamples,
                resampled.get(one.name),
                information_of_set(information, bits if one in given else 0.0, joint, others),
            )
            if found is not None:
                atoms[one.name] = found
        steps.append(replace(step, atoms=atoms))
    return replace(record, steps=tuple(steps))
