"""The content of a report as plain values, for JSON and for templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from math import inf, isnan
from typing import Any

import numpy as np

from pidselect.data import Dataset
from pidselect.data.diagnostics import Finding, alarms
from pidselect.data.messages import shown, to_plain
from pidselect.decomposition import Explanation, FeatureExplanation
from pidselect.report.environment import environment
from pidselect.report.sentences import conclusions, record_sentence, significance, target_name
from pidselect.selection.explain import recorded_roles
from pidselect.selection.result import INCLUSION_PHASES, Selection, Step
from pidselect.selection.stability import Stability

#: Increased whenever a key is removed or changes its meaning.
FORMAT = 2

#: Candidates listed for a step: the strongest, in a backward phase the weakest.
MAX_CANDIDATES = 50

#: Selected features with pairwise PID.
MAX_PAIRED = 30


@dataclass(frozen=True)
class ReportMetadata:
    """Facts about data and command that the record of a selection does not hold.

    Parameters
    ----------
    target : str
    n_rows, n_columns : int
        Of the table, without the target.
    feature_types : mapping of str to str
        By column name.
    source : str
        Such as the name of a file.
    command : str
        The command or the Python code that reproduces the result.
    is_complete : bool
        False if the run was interrupted.
    title : str
    entropy : float, optional
        Of the target, in bits; None if it is not nominal.

    Examples
    --------
    >>> from pidselect.data import read_dataset
    >>> dataset = read_dataset([[1.5], [2.5], [0.5], [0.1]], ["a", "a", "b", "b"])
    >>> metadata = ReportMetadata.of(dataset, source="four.csv")
    >>> metadata.target, metadata.n_rows, metadata.feature_types, metadata.entropy
    ('target', 4, {'x0': 'continuous'}, 1.0)
    """

    target: str
    n_rows: int
    n_columns: int
    feature_types: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    command: str = ""
    is_complete: bool = True
    title: str = ""
    entropy: float | None = None

    @classmethod
    def of(cls, dataset: Dataset, **more: Any) -> ReportMetadata:
        """Read the facts from a data set; `more` are other fields."""
        table, target = dataset.table, dataset.target
        found: dict[str, Any] = {
            "target": " and ".join(target.names),
            "n_rows": table.n_samples,
            "n_columns": len(table),
            "feature_types": dict(zip(table.names, table.feature_types, strict=True)),
        }
        if all(feature_type == "nominal" for feature_type in target.feature_types):
            shares = np.bincount(target.codes()) / target.n_samples
            found["entropy"] = float(-(shares * np.log2(shares)).sum())
        return cls(**{**found, **more})


def summarise(
    selection: Selection,
    *,
    explanation: Explanation | None = None,
    stability: Stability | None = None,
    findings: Iterable[Finding] = (),
    metadata: ReportMetadata,
) -> dict[str, Any]:
    """Return the content of a report as plain dicts, lists, strings and numbers.

    Parameters
    ----------
    selection : Selection
    explanation : Explanation, optional
        Without it, roles are those of the record, and there is no PID.
    stability : Stability, optional
    findings : iterable of Finding
        On the data, see `pidselect.data.diagnostics.inspect_data`.
    metadata : ReportMetadata

    Returns
    -------
    dict
        Infinite numbers are the texts "inf" and "-inf", as in ``Selection.to_dict``. The lists
        "conclusions", "warnings" and "significance" hold sentences.
    """
    is_complete = metadata.is_complete and selection.is_complete
    findings = tuple(findings)
    features = _features(selection, explanation, stability, metadata)
    selected = (*selection.fixed_features, *selection.features)
    return to_plain(
        {
            "format": FORMAT,
            "title": metadata.title or f"Feature selection report: {target_name(metadata.target)}",
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "metadata": asdict(metadata),
            "is_complete": is_complete,
            "conclusions": conclusions(selection, explanation, metadata, is_complete),
            "empty_reason": ""
            if selection.features or not is_complete
            else selection.empty_reason(),
            "warnings": alarms(findings, selected),
            "significance": significance(selection, explanation, stability, metadata.n_rows),
            "selected": [
                _selected(order, name, selection, explanation, stability, metadata)
                for order, name in enumerate(selected, start=1)
            ],
            "selection": selection.to_dict(),
            "steps": [_step(number, step) for number, step in enumerate(selection.steps, start=1)],
            "features": features,
            "is_explained": explanation is not None,
            "has_atoms": any(feature["unique"] is not None for feature in features),
            "pairs": _pairs(explanation),
            "stability": None if stability is None else stability.to_dict(),
            "findings": [finding.to_dict() for finding in findings],
            "notes": [] if explanation is None else list(explanation.notes),
            "settings": asdict(selection.settings),
            "environment": environment(),
        }
    )


def _selected(
    order: int,
    name: str,
    selection: Selection,
    explanation: Explanation | None,
    stability: Stability | None,
    metadata: ReportMetadata,
) -> dict[str, Any]:
    """Return a row of the table of selected features."""
    is_fixed = name in selection.fixed_features
    explained = {} if explanation is None else {one.name: one.sentence for one in explanation}
    row: dict[str, Any] = {
        "order": order,
        "name": name,
        "feature_type": metadata.feature_types.get(name, "group"),
        "is_fixed": is_fixed,
        **dict.fromkeys(("step", "bits", "estimator", "p_value")),
        "final_p": selection.p_values.get(name),
        "jointly_included": [],
        "frequency": None if stability is None else stability.frequencies.get(name),
        "sentence": explained.get(name) or record_sentence(name, selection),
    }
    if not is_fixed:
        step = selection.inclusion_step(name)
        row |= {
            "step": selection.steps.index(step) + 1,
            "bits": step.value,
            "estimator": step.estimator,
            "p_value": step.p_value,
            "jointly_included": [other for other in step.jointly_included if other != name],
        }
    return row


def _step(number: int, step: Step) -> dict[str, Any]:
    """Return a step, with its candidates nearest to the chosen one."""
    p_values: Sequence[float | None] = step.p_values or (None,) * len(step.candidates)
    candidates = [
        {
            "name": name,
            "bits": step.values[place],
            "score": step.scores[place],
            "estimator": step.estimators[place],
            "p_value": p_values[place],
            "is_chosen": name == step.chosen,
        }
        for place, name in enumerate(step.candidates)
    ]
    is_inclusion = step.phase in INCLUSION_PHASES
    sign = -1.0 if is_inclusion else 1.0

    def rank(row: Mapping[str, Any]) -> tuple[bool, float]:
        score = sign * row["score"]
        return not row["is_chosen"], inf if isnan(score) else score

    return {
        "number": number,
        "phase": step.phase,
        "is_inclusion": is_inclusion,
        "chosen": step.chosen,
        "jointly_included": list(step.jointly_included),
        "n_conditioning": len(step.conditioning_set),
        "bits": step.value,
        "score": step.score,
        "unit": step.unit,
        "estimator": step.estimator,
        "critical_value": step.critical_value,
        "p_value": step.p_value,
        "alpha": step.alpha,
        "surrogates": step.surrogates,
        "n_permutations": step.n_permutations,
        "accepted": step.accepted,
        "outcome": step.outcome,
        "close_call": step.close_call,
        "note": step.comment,
        "n_candidates": len(candidates),
        "candidates": sorted(candidates, key=rank)[:MAX_CANDIDATES],
    }


def _features(
    selection: Selection,
    explanation: Explanation | None,
    stability: Stability | None,
    metadata: ReportMetadata,
) -> list[dict[str, Any]]:
    """Return a row for each feature: selected ones first, duplicates and skipped ones last."""
    found = _from_record(selection) if explanation is None else explanation.features
    frequencies = {} if stability is None else stability.frequencies
    marginal = {} if explanation is not None else _marginal_information(selection)
    return [
        {
            "order": order,
            "name": feature.name,
            "feature_type": metadata.feature_types.get(feature.name, "group"),
            "role": feature.role,
            "selected": feature.selected,
            "unique": feature.unique,
            "shared": feature.shared,
            "synergy": feature.synergy,
            "relevance": feature.relevance,
            "information": marginal.get(feature.name, feature.information),
            "method": feature.method,
            "has_bounds": feature.has_bounds,
            "frequency": frequencies.get(feature.name),
            "sentence": feature.sentence,
        }
        for order, feature in enumerate(found, start=1)
    ]


def _from_record(selection: Selection) -> list[FeatureExplanation]:
    """Return the features with their roles by the record, without PID."""
    selected = (*selection.fixed_features, *selection.features)
    rows = [
        FeatureExplanation(name, role, name in selected, sentence=record_sentence(name, selection))
        for name, role in recorded_roles(selection).items()
    ]
    for name, original in selection.duplicates.items():
        sentence = f"{shown(name)} is a duplicate of {shown(original)}."
        rows.append(FeatureExplanation(name, "duplicate", False, sentence=sentence))
    for name, reason in selection.skipped.items():
        sentence = f"{shown(name)} was skipped: {reason}."
        rows.append(FeatureExplanation(name, "skipped", False, sentence=sentence))
    return rows


def _marginal_information(selection: Selection) -> dict[str, float]:
    """Return the mutual information of the candidates, if the first step estimated it."""
    if selection.fixed_features or not selection.steps or selection.steps[0].phase != "forward":
        return {}
    first = selection.steps[0]
    return dict(zip(first.candidates, first.values, strict=True))


def _pairs(explanation: Explanation | None) -> dict[str, Any] | None:
    """Return the pairwise PID of the first selected features; None if there is no pair."""
    if explanation is None or len(explanation.pairs.names) < 2:
        return None
    pairs = explanation.pairs
    first = slice(MAX_PAIRED)
    return {
        "names": list(pairs.names[first]),
        "n_features": len(pairs.names),
        "redundancy": pairs.redundancy[first, first].tolist(),
        "synergy": pairs.synergy[first, first].tolist(),
        "estimable": pairs.estimable[first, first].tolist(),
        "method": pairs.method,
    }
