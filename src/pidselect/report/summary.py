"""A selection as a plain summary: all that its report says, ready for JSON and for templates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from math import isnan
from typing import Any

import numpy as np

from pidselect.data import Dataset
from pidselect.data.diagnostics import Finding, alarms
from pidselect.data.messages import shown, to_plain
from pidselect.decomposition.result import Explanation, FeatureExplanation
from pidselect.report.environment import environment
from pidselect.report.sentences import answer, certainty, named, untold
from pidselect.selection.explain import recorded_roles
from pidselect.selection.result import Selection, Step
from pidselect.selection.stability import Stability

#: Of the summary: another number as soon as a key is taken away or means something else.
FORMAT = 1

#: Of a step's candidates, so many are listed; the strongest ones, going backward the weakest.
MOST_CANDIDATES = 50

#: Of selected features, so many are compared by twos.
MOST_PAIRED = 30

#: Phases in which the weakest is tested.
GOES_OUT = ("backward", "joint_backward")


@dataclass(frozen=True)
class About:
    """What a record does not know of itself: whose data, from where, how asked for.

    Parameters
    ----------
    target : str
        What the target is called.
    n_rows, n_columns : int
        Of the table, without the target.
    kinds : mapping of str to kind
        Of every column, by its name.
    source : str
        Where the table is from, such as the name of a file.
    command : str
        What to type to do it again: a command, or lines of Python.
    is_complete : bool
        Whether the selection came to its end.
    title : str
        Of the report; without one it names the target.
    entropy : float, optional
        What there is to know about the target, in bits; None where it is not of classes.

    Examples
    --------
    >>> from pidselect.data import read_problem
    >>> problem = read_problem([[1.5], [2.5], [0.5], [0.1]], ["a", "a", "b", "b"])
    >>> about = About.of(problem, source="four.csv")
    >>> about.target, about.n_rows, about.kinds, about.entropy
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
    def of(cls, problem: Dataset, **more: Any) -> About:
        """Return what the data say; `more` are the other fields, by their names."""
        table, target = problem.table, problem.target
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
    remarks: Iterable[Finding] = (),
    about: About,
) -> dict[str, Any]:
    """Return all that a report says, as plain dicts, lists, strings and numbers.

    Parameters
    ----------
    selection : Selection
    explanation : Explanation, optional
        Without it, roles are those of the record, and there is nothing on how features tell.
    stability : Stability, optional
    remarks : iterable of Remark
        On the data, see `pidselect.data.diagnostics.inspect_data`.
    about : About

    Returns
    -------
    dict
        Numbers that are infinite are the texts "inf" and "-inf", as in ``Selection.to_dict``. The
        lists "answer", "alarms" and "certainty" are sentences.
    """
    is_complete = about.is_complete and selection.is_complete
    remarks = tuple(remarks)
    features = _features(selection, explanation, about, stability)
    return to_plain(
        {
            "format": FORMAT,
            "title": about.title or f"What tells something about {named(about.target)}",
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "about": asdict(about),
            "is_complete": is_complete,
            "answer": answer(selection, explanation, about, is_complete),
            "advice": _advice(selection) if is_complete else "",
            "alarms": alarms(remarks, (*selection.fixed_features, *selection.features)),
            "certainty": certainty(selection, explanation, stability, about.n_rows),
            "selected": _selected(selection, explanation, about, stability),
            "selection": selection.to_dict(),
            "steps": [_step(number, step) for number, step in enumerate(selection.steps, start=1)],
            "features": features,
            "is_explained": explanation is not None,
            "has_atoms": any(feature["unique"] is not None for feature in features),
            "pairs": _pairs(explanation),
            "stability": None if stability is None else stability.to_dict(),
            "remarks": [remark.to_dict() for remark in remarks],
            "notes": [] if explanation is None else list(explanation.notes),
            "settings": dict(selection.settings),
            "environment": environment(),
        }
    )


def _advice(selection: Selection) -> str:
    """Return what may help where nothing was selected; that it was so is in the answer."""
    return "" if selection.features else selection.empty_reason()


# --------------------------------------------------------------------------- what was selected


def _selected(
    selection: Selection,
    explanation: Explanation | None,
    about: About,
    stability: Stability | None,
) -> list[dict[str, Any]]:
    """Return a row for each feature of the selected set, kept ones first."""
    told = {} if explanation is None else {feature.name: feature for feature in explanation}
    often = {} if stability is None else stability.frequencies
    rows: list[dict[str, Any]] = []
    for name in (*selection.fixed_features, *selection.features):
        is_kept = name in selection.fixed_features
        step = None if is_kept else selection.inclusion_step(name)
        rows.append(
            {
                "order": len(rows) + 1,
                "name": name,
                "kind": about.feature_types.get(name, "group"),
                "is_kept": is_kept,
                "step": None if step is None else selection.steps.index(step) + 1,
                "bits": None if step is None else step.value,
                "estimator": None if step is None else step.estimator,
                "p_value": None if step is None else step.p_value,
                "final_p": selection.p_values.get(name),
                "jointly_included": []
                if step is None
                else [n for n in step.jointly_included if n != name],
                "frequency": often.get(name),
                "sentence": told[name].sentence if name in told else untold(name, selection),
            }
        )
    return rows


# ------------------------------------------------------------------------------ step by step


def _step(number: int, step: Step) -> dict[str, Any]:
    """Return a step, with those of its candidates that came nearest to being chosen."""
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
    sign = 1.0 if step.phase in GOES_OUT else -1.0

    def rank(row: Mapping[str, Any]) -> tuple[bool, float]:
        score = sign * row["score"]
        return not row["is_chosen"], np.inf if isnan(score) else score

    return {
        "number": number,
        "phase": step.phase,
        "chosen": step.chosen,
        "jointly_included": list(step.jointly_included),
        "n_given": len(step.conditioning_set),
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
        "verdict": step.outcome,
        "note": step.comment,
        "n_candidates": len(candidates),
        "candidates": sorted(candidates, key=rank)[:MOST_CANDIDATES],
    }


# ---------------------------------------------------------------------------- feature by feature


def _features(
    selection: Selection,
    explanation: Explanation | None,
    about: About,
    stability: Stability | None,
) -> list[dict[str, Any]]:
    """Return a row for each feature: selected ones first, at the end copies and skipped ones."""
    found = _by_record(selection) if explanation is None else explanation.features
    often = {} if stability is None else stability.frequencies
    first = {} if explanation is not None else _at_first(selection)
    return [
        {
            "order": place,
            "name": feature.name,
            "kind": about.feature_types.get(feature.name, "group"),
            "role": feature.role,
            "selected": feature.selected,
            "unique": feature.unique,
            "shared": feature.shared,
            "synergy": feature.synergy,
            "relevance": feature.relevance,
            "information": first.get(feature.name, feature.information),
            "method": feature.method,
            "has_bounds": feature.has_bounds,
            "frequency": often.get(feature.name),
            "sentence": feature.sentence,
        }
        for place, feature in enumerate(found, start=1)
    ]


def _by_record(selection: Selection) -> list[FeatureExplanation]:
    """Return the features with what the record alone knows of them."""
    selected = (*selection.fixed_features, *selection.features)
    known = [
        FeatureExplanation(name, role, name in selected, sentence=untold(name, selection))
        for name, role in recorded_roles(selection).items()
    ]
    known += [
        FeatureExplanation(
            name,
            "duplicate",
            False,
            sentence=f"{shown(name)} is a copy of {shown(original)}: what is said of that holds "
            "for it.",
        )
        for name, original in selection.duplicates.items()
    ]
    return known + [
        FeatureExplanation(name, "skipped", False, sentence=f"{shown(name)} was skipped: {reason}.")
        for name, reason in selection.skipped.items()
    ]


def _at_first(selection: Selection) -> dict[str, float]:
    """Return what each candidate tells by itself, if the first step says so."""
    if selection.fixed_features or not selection.steps or selection.steps[0].phase != "forward":
        return {}
    first = selection.steps[0]
    return dict(zip(first.candidates, first.values, strict=True))


def _pairs(explanation: Explanation | None) -> dict[str, Any] | None:
    """Return the matrices of the first selected features; None if there are no two of them."""
    if explanation is None or len(explanation.pairs.names) < 2:
        return None
    pairs = explanation.pairs
    most = slice(MOST_PAIRED)
    return {
        "names": list(pairs.names[most]),
        "n_features": len(pairs.names),
        "redundancy": pairs.redundancy[most, most].tolist(),
        "synergy": pairs.synergy[most, most].tolist(),
        "estimable": pairs.estimable[most, most].tolist(),
        "method": pairs.method,
    }
