"""The content of a report as plain values, for JSON and for templates."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from math import inf, isnan
from pathlib import Path
from typing import Any

from pidselect import __version__
from pidselect.data import Dataset
from pidselect.data.diagnostics import Finding
from pidselect.data.messages import to_plain
from pidselect.decomposition import Explanation, FeatureExplanation
from pidselect.decomposition.explanation import Role
from pidselect.decomposition.sentences import short_sentence
from pidselect.report.sentences import conclusions, record_sentence, significance, target_name
from pidselect.selection.explain import recorded_roles
from pidselect.selection.result import (
    INCLUSION_PHASES,
    Selection,
    Step,
    candidate_rows,
    feature_rows,
)
from pidselect.selection.stability import Stability

#: Increased whenever a key is removed or changes its meaning.
FORMAT = 4

#: Candidates listed for a step: the strongest, in a backward phase the weakest.
MAX_CANDIDATES = 50

#: Libraries on whose version numbers may depend.
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")

#: Attributes of a step that are shown.
STEP_FACTS = (
    *("phase", "chosen", "jointly_included", "score", "unit", "estimator", "critical_value"),
    *("p_value", "alpha", "surrogates", "n_permutations", "accepted", "outcome", "close_call"),
)


@dataclass(frozen=True)
class ReportMetadata:
    """Facts about data and command that the record of a selection does not hold.

    `n_rows` and `n_columns` are those of the table without the target, `source` is such as the name
    of a file, `command` reproduces the result.

    Examples
    --------
    >>> from pidselect.data import read_dataset
    >>> dataset = read_dataset([[1.5], [2.5], [0.5], [0.1]], ["a", "a", "b", "b"])
    >>> metadata = ReportMetadata.of(dataset, source="four.csv")
    >>> metadata.target, metadata.n_rows, metadata.feature_types
    ('target', 4, {'x0': 'continuous'})
    """

    target: str
    n_rows: int
    n_columns: int
    feature_types: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    command: str = ""
    is_complete: bool = True
    title: str = ""

    @classmethod
    def of(cls, dataset: Dataset, **more: Any) -> ReportMetadata:
        """Read the facts from a data set; `more` are other fields."""
        table, target = dataset.table, " and ".join(dataset.target.names)
        types = dict(zip(table.names, table.feature_types, strict=True))
        return cls(target, table.n_samples, len(table), types, **more)


def summarise(
    selection: Selection,
    *,
    explanation: Explanation | None = None,
    stability: Stability | None = None,
    findings: Iterable[Finding] = (),
    joint: Sequence[Mapping[str, Any]] = (),
    profiles: Sequence[Mapping[str, Any]] = (),
    metadata: ReportMetadata,
) -> dict[str, Any]:
    """Return the content of a report as plain dicts, lists, strings and numbers.

    `joint` is the result of `pidselect.report.levels.joint_tables`, `profiles` that of
    `target_profiles`. Without an explanation, roles are those of the record, and there is no PID.
    Infinite numbers are the texts "inf" and "-inf", as in ``Selection.to_dict``.
    """
    is_complete = metadata.is_complete and selection.is_complete
    is_empty = is_complete and not selection.selected
    return to_plain(
        {
            "format": FORMAT,
            "title": metadata.title or f"Feature selection report: {target_name(metadata.target)}",
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "metadata": metadata,
            "is_complete": is_complete,
            "conclusions": conclusions(selection, explanation, metadata.n_columns, is_complete),
            "empty_reason": selection.empty_reason() if is_empty else "",
            "warnings": selection.warnings,
            "significance": significance(selection, explanation, stability, metadata.n_rows),
            "selected": feature_rows(selection),
            "selection": selection,
            "steps": [_step(number, step) for number, step in enumerate(selection.tests, start=1)],
            "features": _features(selection, explanation, stability, metadata),
            "explanation": _explained(explanation),
            "joint": joint,
            "profiles": profiles,
            "stability": None if stability is None else stability.to_dict(),
            "findings": list(findings),
            "settings": selection.settings,
            "is_sequential": selection.is_sequential,
            "environment": environment(),
        }
    )


def _step(number: int, step: Step) -> dict[str, Any]:
    """Return a step, with its candidates nearest to the chosen one."""
    is_inclusion, candidates = step.phase in INCLUSION_PHASES, candidate_rows(step)
    sign = -1.0 if is_inclusion else 1.0
    candidates.sort(
        key=lambda row: (not row["chosen"], inf if isnan(row["score"]) else sign * row["score"])
    )
    return {
        "number": number,
        "is_inclusion": is_inclusion,
        "n_conditioning": len(step.conditioning_set),
        "bits": step.value,
        **{name: getattr(step, name) for name in STEP_FACTS},
        "note": step.comment,
        "n_candidates": len(candidates),
        "candidates": [
            {
                "name": row["candidate"],
                **{key: row[key] for key in ("bits", "score", "estimator", "p_value")},
                "is_chosen": row["chosen"],
            }
            for row in candidates[:MAX_CANDIDATES]
        ],
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
    selected = {*selection.fixed_features, *selection.selected}
    rows = [
        {
            **feature.to_dict(),
            "feature_type": metadata.feature_types.get(feature.name, "group"),
            "selected": feature.name in selected,
            "is_minimal": feature.name not in selection.also_relevant,
            "frequency": frequencies.get(feature.name),
            "short": "" if explanation is None else short_sentence(feature, explanation),
        }
        for feature in found
    ]
    rows.sort(key=lambda row: not row["selected"])  # of all relevant, too
    return [{"order": order, **row} for order, row in enumerate(rows, start=1)]


def _explained(explanation: Explanation | None) -> dict[str, Any] | None:
    """Return the explanation but for its features and pairs, with the share of its information."""
    if explanation is None:
        return None
    record = explanation.to_dict()
    del record["features"], record["pairs"]
    share = explanation.share(explanation.information)
    return {**record, "share": share, "share_name": explanation.share_name}


def _from_record(selection: Selection) -> list[FeatureExplanation]:
    """Return the features with their roles by the record, without PID."""
    selected = (*selection.fixed_features, *selection.selected)
    roles: dict[str, Role] = {
        **recorded_roles(selection),
        **dict.fromkeys(selection.duplicates, "duplicate"),
        **dict.fromkeys(selection.skipped, "skipped"),
    }
    return [
        FeatureExplanation(
            name,
            role,
            name in selected,
            p_value=selection.p_values.get(name),
            sentence=record_sentence(name, selection),
        )
        for name, role in roles.items()
    ]


def environment() -> dict[str, str | int]:
    """Return the processor, the system, and the versions of Python and of the libraries."""
    return {
        "cpu": cpu_model(),
        "logical_cpus": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "pidselect": __version__,
        **{package: version(package) for package in PACKAGES},
    }


def cpu_model() -> str:
    """Return the name of the processor; Python's own is often empty on Linux."""
    cpuinfo = Path("/proc/cpuinfo")
    text = cpuinfo.read_text("utf-8", "replace") if cpuinfo.exists() else ""
    named = re.search(r"^model name\s*:(.*)", text, re.MULTILINE)
    return named[1].strip() if named else platform.processor() or "unknown"
