"""Synthetic results of features with hostile names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pidselect.data import Block, Column, Dataset, Table
from pidselect.data.diagnostics import Finding
from pidselect.decomposition.explanation import Explanation, FeatureExplanation, Pairs
from pidselect.decomposition.sentences import sentence
from pidselect.report.levels import joint_table, target_profiles
from pidselect.report.summary import ReportMetadata, summarise
from pidselect.selection.result import Selection, Settings, Step
from pidselect.selection.stability import Stability

IMAGE = "<img src=x onerror=alert(1)>"
NAMES = (
    IMAGE,
    "</script><script>alert(2)</script>",
    "{{7*7}}",
    "abc\u202edcba\u202c",
    "two\nlines\tand\x00nothing",
    "W" * 300,
    "many words " * 30,
    "\U0001f321\ufe0f warm",
    "<!-- ]]> &amp; \"quotes\" 'too' $x_1$",
    "half \ud83d of a pair",
    "</style><style>*{display:none}",
    "#feature-1",
    "",
    " ",
    "טמפרטורה",
)
TARGET = "<b onmouseover=alert(3)>rentals</b>"


def plain_names(count: int) -> tuple[str, ...]:
    return tuple(f"column {place}" for place in range(count))


def step(
    names: Sequence[str], given: Sequence[str], accepted: bool, seed: int, phase: Any = "forward"
) -> Step:
    """Return a test of the first of the names, which has the largest value."""
    values = np.sort(np.random.default_rng(seed).normal(0.05, 0.02, len(names)))
    ordered = values if phase == "backward" else values[::-1]
    first = [float(ordered[0]) + (0.4 if accepted else 0.0), *map(float, ordered[1:])]
    p_values = [0.005 if accepted else 0.4, *[0.6] * (len(names) - 1)]
    return Step(
        phase=phase,
        conditioning_set=tuple(given),
        candidates=tuple(names),
        values=tuple(first),
        scores=tuple(60 * value for value in first),
        unit="",
        estimators=("line",) * len(names),
        p_values=tuple(p_values),
        chosen=names[0],
        critical_value=7.5,
        p_value=p_values[0],
        alpha=0.05,
        surrogates="global",
        n_permutations=200,
        accepted=accepted,
    )


SETTINGS = Settings(
    criterion="cmi",
    estimator="ScoreTest()",
    alpha=0.05,
    n_permutations=200,
    surrogates=("global",),
    shared_permutations=True,
    n_groups=None,
    backward="minimum",
    lookahead=1,
    seed=7,
    n_samples=400,
    target_types=("continuous",),
)


def selection(names: Sequence[str] = NAMES, n_selected: int = 3, **more: Any) -> Selection:
    """Return the record of a selection of the first few names."""
    steps = [step(names[place:], names[:place], True, place) for place in range(n_selected)]
    if n_selected < len(names):
        steps.append(step(names[n_selected:], names[:n_selected], False, n_selected))
    if n_selected > 1:
        back = names[n_selected - 1 :: -1]
        steps.append(step(back, names[:n_selected], True, n_selected + 1, "backward"))
    record: dict[str, Any] = {
        "features": tuple(names[:n_selected]),
        "fixed_features": (),
        "steps": tuple(steps),
        "p_values": dict.fromkeys(names[:n_selected], 0.005),
        "bits_added": {name: 0.5 / (place + 1) for place, name in enumerate(names[:n_selected])},
        "settings": SETTINGS,
    }
    return Selection(**{**record, **more})


def explanation(names: Sequence[str] = NAMES, n_selected: int = 3, **more: Any) -> Explanation:
    """Return roles of all kinds with values that add up, of which some are unknown."""
    rng = np.random.default_rng(0)
    selected = tuple(names[:n_selected])
    features = []
    for place, name in enumerate(names):
        is_selected = place < n_selected
        role: Any = "strongly relevant"
        if not is_selected:
            role = ("irrelevant", "weakly relevant", "duplicate", "skipped")[place % 4]
        known = role not in ("duplicate", "skipped")
        unique, shared, synergy = map(int, rng.integers(0, 400, 3) if known else (0, 0, 0))
        bits = {"information": unique + shared, "added": unique + synergy}
        bits |= {"unique": unique, "shared": shared, "synergy": synergy}
        features.append(
            FeatureExplanation(
                name,
                role,
                is_selected,
                ("continuous", "ordinal", "nominal")[place % 3],
                **{key: value / 1000 if known else None for key, value in bits.items()},
                intervals={
                    key: (value // 2 / 1000, 2 * value / 1000)
                    for key, value in bits.items()
                    if known
                },
                p_value=(0.005 if is_selected else 0.4) if known else None,
                marginal_p_value=0.6 if known else None,
                redundant_with=tuple(one for one in selected[:1] if one != name),
                overlaps_with=tuple(one for one in selected[:2] if one != name),
                method="broja" if known else "",
                reason="" if known else selected[0] if selected else "constant",
            )
        )
    explained = Explanation(
        tuple(features),
        bits_added=dict.fromkeys(selected, 0.1),
        pairs=pairs(selected),
        n_samples=400,
        target=TARGET,
        notes=(f"a note on {names[0]}.",),
    )
    explained = replace(explained, **more)
    return replace(
        explained,
        features=tuple(
            replace(one, share=explained.share(one.added), sentence=sentence(one, explained))
            for one in features
        ),
    )


def pairs(names: tuple[str, ...]) -> Pairs:
    """Return pairs of which the first is not estimable, and the others depend in turns."""
    shape = (len(names), len(names))
    values = np.random.default_rng(0).integers(0, 200, (2, *shape)) / 1000
    redundancy, synergy = np.maximum(values, values.transpose(0, 2, 1))
    dependent = np.add.outer(np.arange(len(names)), np.arange(len(names))) % 2 == 0
    estimable = np.ones(shape, dtype=bool)
    if len(names) > 1:
        estimable[1, 0] = estimable[0, 1] = False
    return Pairs(names, redundancy, synergy, dependent, estimable, "broja")


def stability(names: Sequence[str] = NAMES, n_selected: int = 3) -> Stability:
    found = tuple(names[:n_selected])
    return Stability(tuple(names), (found, found, found[:-1], found))


def metadata(names: Sequence[str] = NAMES, **more: Any) -> ReportMetadata:
    types = ("continuous", "ordinal", "nominal")
    facts: dict[str, Any] = {
        "target": TARGET,
        "n_rows": 400,
        "n_columns": len(names),
        "feature_types": {name: types[place % 3] for place, name in enumerate(names)},
        "source": f"{IMAGE}.csv",
        "command": f"pidselect select '{IMAGE}.csv' --target '{TARGET}'\n  --seed 7",
    }
    return ReportMetadata(**{**facts, **more})


def dataset(names: Sequence[str] = NAMES) -> Dataset:
    """Return labels, numbers and whole numbers with a target of three hostile classes."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, size=400).astype(float)
    numbers = np.where(codes == 2, -1e6, rng.normal(size=400))
    columns = [
        Column(names[0], "nominal", codes, tuple(NAMES[:3])),
        Column(names[1], "continuous", numbers),
        *(Column(name, "ordinal", rng.integers(0, 9, 400).astype(float)) for name in names[2:]),
    ]
    classes = Column(TARGET, "nominal", rng.integers(0, 3, size=400).astype(float), NAMES[3:6])
    return Dataset(Table(tuple(columns)), Block((classes,)), np.arange(400))


def joint(names: Sequence[str] = NAMES) -> list[dict[str, Any]]:
    """Return a heat map with hostile levels and an empty cell, one within a level, and none."""
    sentence = f"Jointly included: {names[0]} and {names[1]}."
    table = {**joint_table(dataset(names), names[:2]), "sentence": sentence}
    within = {**table, "sentence": "", "within": [names[0], NAMES[0]]}
    without = {"features": list(names[:2]), "counts": [], "within": None, "sentence": "None."}
    return [table, within, without]


def summary(names: Sequence[str] = NAMES, n_selected: int = 3) -> dict[str, Any]:
    """Return a summary with all there can be in one; names repeat if there are too few of them."""
    return summarise(
        selection(names, n_selected),
        explanation=explanation(names, n_selected),
        stability=stability(names, n_selected),
        findings=[Finding(f"topic of {IMAGE}", tuple(names), f"A sentence on {names[0]}.")],
        joint=joint(names) if n_selected > 1 else (),
        profiles=target_profiles(names[:n_selected], dataset(names)),
        metadata=metadata(names),
    )
