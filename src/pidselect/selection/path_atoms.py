"""The atoms of the candidates of each step, beside the set selected so far."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from pidselect.data import IntArray
from pidselect.decomposition.atoms import Atoms, decompose_feature
from pidselect.decomposition.posterior import SharedFraction
from pidselect.selection.context import SelectionContext
from pidselect.selection.pool import Feature, Features, joint_block
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
    steps = [
        _with_atoms(step, context, features, information, fraction, rows, subsamples)
        for step in record.steps
    ]
    return replace(record, steps=tuple(steps))


def _with_atoms(
    step: Step,
    context: SelectionContext,
    features: Mapping[str, Feature],
    information: Mapping[str, float],
    fraction: SharedFraction,
    rows: IntArray,
    subsamples: IntArray,
) -> Step:
    order = sorted(zip(step.candidates, step.values, strict=True), key=lambda one: -one[1])
    names = dict.fromkeys((step.chosen, *(name for name, _ in order)))
    candidates = [
        features[name] for name in names if name in features and len(features[name].block)
    ][:MOST_CANDIDATES]
    varying = [
        features[name]
        for name in step.conditioning_set
        if name in features and len(features[name].block)
    ]
    sets: dict[str, Features] = {
        one.name: tuple(other for other in varying if other is not one) for one in candidates
    }
    added = information_given(context, candidates, [sets[one.name] for one in candidates])
    joint = math.fsum(bits_shown(context, varying).values())
    chosen = {one.name: one for one in candidates if one.name == step.chosen}
    resampled = subsample_information(context, chosen, sets, rows[subsamples])
    states = {
        given: fraction.states_of_set(joint_block(given).take(rows)) for given in sets.values()
    }
    atoms: dict[str, Atoms] = {}
    for place, one in enumerate(candidates):
        found = decompose_feature(
            fraction,
            fraction.states_of_feature(one.block.take(rows)),
            states[sets[one.name]],
            information[one.name],
            float(added[place]),
            subsamples,
            resampled.get(one.name),
            information_of_set(
                information,
                float(added[place]) if one in varying else 0.0,
                joint,
                [other.name for other in sets[one.name]],
            ),
        )
        if found is not None:
            atoms[one.name] = found
    return replace(step, atoms=atoms)
