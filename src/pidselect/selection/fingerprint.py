"""Identity: whether two fits are of the same data and settings, and in what they differ."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from pidselect.data import Column, Dataset, IntArray
from pidselect.data.messages import quoted, to_plain

#: Values that are read at once.
AT_ONCE = 2**20

#: Differences that are named.
SHOWN = 5


def describe_data(problem: Dataset, groups: IntArray | None) -> dict[str, Any]:
    """Return by what data are recognised: names, kinds and digests, from which no value is told."""
    return {
        "n_samples": problem.target.n_samples,
        "columns": [_described(column) for column in problem.table.columns],
        "target": [_described(column) for column in problem.target.columns],
        "groups": None if groups is None else digest(groups),
    }


def _described(column: Column) -> list[str]:
    return [column.name, column.feature_type, digest(column.values, column.labels)]


def digest(values: Any, labels: Iterable[str] | None = None) -> str:
    """Return a text by which the same values are recognised, read a part at a time.

    Examples
    --------
    >>> digest(np.array([1.0, 2.0])) == digest(np.array([1.0, 2.0]))
    True
    >>> digest(np.array([0.0, 1.0]), ["a", "b"]) == digest(np.array([0.0, 1.0]), ["a", "c"])
    False
    """
    hashed = blake2b(json.dumps(None if labels is None else list(labels)).encode(), digest_size=16)
    for start in range(0, len(values), AT_ONCE):
        hashed.update(np.ascontiguousarray(values[start : start + AT_ONCE]).data)
    return hashed.hexdigest()


def plain(value: Any) -> Any:
    """Return settings as dicts, lists, strings and numbers; objects by their class and parameters.

    Examples
    --------
    >>> from pidselect.estimators import KSG
    >>> plain({"alpha": np.float64(0.05), "estimator": KSG(k=10)})["estimator"]["k"]
    10
    """
    if isinstance(value, np.generic | np.ndarray):
        return plain(value.tolist())
    if value is None or isinstance(value, str | int | float):
        return to_plain(value)
    if isinstance(value, Mapping):
        return {str(name): plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if callable(value) and hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__}"
    of = type(value)
    return {"class": f"{of.__module__}.{of.__qualname__}", **plain(_parameters(value))}


def _parameters(value: Any) -> dict[str, Any]:
    if hasattr(value, "get_params"):
        return dict(value.get_params(deep=False))
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, partial):
        return {"function": value.func, "arguments": value.args, "named": value.keywords}
    if isinstance(value, set | frozenset):
        return {"items": sorted(map(repr, value))}
    if hasattr(value, "__dict__"):
        return dict(vars(value))
    slots = {name: getattr(value, name, None) for name in getattr(value, "__slots__", ())}
    return slots or {"value": repr(value)}  # such as a date: its text says all


def differences(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Say in what two fits differ; nothing if they do not.

    Examples
    --------
    >>> before = {"pidselect": "1.0", "settings": {"alpha": 0.05}, "data": {}}
    >>> differences(before, {**before, "settings": {"alpha": 0.01}})
    'alpha was 0.05 and is 0.01'
    """
    if before["pidselect"] != now["pidselect"]:
        return f"pidselect was {before['pidselect']} and is {now['pidselect']}"
    said = _of_data(before["data"], now["data"])
    if said:  # settings that follow from the data would differ, too
        return _listed(said)
    first, second = before["settings"], now["settings"]
    return _listed(
        f"{name} was {first.get(name)!r} and is {second.get(name)!r}"
        for name in {**first, **second}
        if first.get(name) != second.get(name)
    )


def _of_data(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    if before == now:
        return []
    if before["n_samples"] != now["n_samples"]:
        return [f"there were {before['n_samples']} samples and are {now['n_samples']}"]
    said = _of_columns(before["columns"], now["columns"], "column")
    said += _of_columns(before["target"], now["target"], "target")
    return said + (["the groups are others"] if before["groups"] != now["groups"] else [])


def _of_columns(before: list[list[str]], now: list[list[str]], what: str) -> list[str]:
    names, others = [name for name, *_ in before], [name for name, *_ in now]
    if names != others:
        if gone := [name for name in names if name not in set(others)]:
            return [f"{what} {quoted(gone)} is gone"]
        if new := [name for name in others if name not in set(names)]:
            return [f"{what} {quoted(new)} is new"]
        return [f"{what}s come in another order"]
    said = []
    for (name, feature_type, values), (_, now_kind, now_values) in zip(before, now, strict=True):
        if feature_type != now_kind:
            said.append(f"{what} {name!r} was {feature_type} and is {now_kind}")
        elif values != now_values:
            said.append(f"{what} {name!r} has other values")
    return said


def _listed(said: Iterable[str]) -> str:
    every = list(said)
    more = len(every) - SHOWN
    return "; ".join(every[:SHOWN]) + (f"; and {more} more" if more > 0 else "")
