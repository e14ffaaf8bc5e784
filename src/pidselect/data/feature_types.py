"""Feature types: continuous, ordinal or nominal, inferred by thresholds or stated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np

from .column import FEATURE_TYPES, Column, FeatureType, FloatArray
from .messages import check_choice, did_you_mean, plain
from .raw_column import RawColumn
from .text_numbers import example_of, notation_of

FeatureTypes = Mapping[str, FeatureType] | Sequence[FeatureType]

# Whole numbers are counts or grades while a level is met twice on average. Past that they are
# measurements in a fine unit (prices in cents, times in ms).
INTEGER_SHARE = 1 / 2

# Decimals are levels only if each is met twenty times: enough for a frequency to mean something,
# and rounding to a few digits alone does not bring a measurement there.
DECIMAL_SHARE = 1 / 20

# A text that fewer than every second row shares identifies the row.
IDENTIFIER_SHARE = 1 / 2

# A target of so few levels names classes: a digit's classes have numbers, but no distances.
CLASS_LEVELS = 20

TARGET = "target"


def count_levels(values: FloatArray) -> int:
    """Return the number of different values."""
    ordered = np.sort(values)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (len(ordered) > 0)


def infer_feature_type(raw: RawColumn) -> FeatureType:
    """Return the feature type that the values of a column suggest.

    Texts, bools and unordered categories are nominal, ordered categories ordinal, times
    continuous. Numbers are ordinal if they have few levels for the number of samples (at most
    a half of it for whole numbers, whatever their dtype, a twentieth for others), otherwise
    continuous.
    """
    match raw.form:
        case "bool" | "text" | "category":
            return "nominal"
        case "graded":
            return "ordinal"
        case "time":
            return "continuous"
    values = raw.present()
    share = INTEGER_SHARE if np.array_equal(values, np.floor(values)) else DECIMAL_SHARE
    most = share * len(values)
    # A part that has more levels already settles it, and is sorted much sooner than all.
    part = values[: int(2 * most) + 1]
    is_few = count_levels(part) <= most
    if is_few and len(part) < len(values):
        is_few = count_levels(values) <= most
    return "ordinal" if is_few else "continuous"


class Identifier(str):
    """The reason for skipping a column in which nearly every row has a different text."""

    __slots__ = ()


class TextNumbers(str):
    """The reason for skipping a column of numbers that are stored as text."""

    __slots__ = ()


def identifier(raw: RawColumn) -> Identifier | TextNumbers | None:
    """Return why texts that differ in most rows are no labels, None for any other column."""
    if raw.form not in ("text", "category"):
        return None
    values = raw.present()
    levels = count_levels(values)
    if levels <= IDENTIFIER_SHARE * len(values):
        return None
    if example := number_as_text(raw):
        return TextNumbers(f"numbers stored as text, such as {example!r}")
    return Identifier(f"identifier: {levels} different texts in {len(values)} rows")


def number_as_text(raw: RawColumn) -> str | None:
    """Return an example of the numbers that a column holds as text, None if it holds none."""
    if raw.form != "text" or raw.is_categorical or not raw.labels:
        return None
    return example_of(raw.labels) if notation_of(raw.labels) else None


def is_number_as_label(raw: RawColumn) -> bool:
    """Return whether a column would use numbers as labels that are no codes of a few classes."""
    labels = raw.labels or ()
    is_code = len(labels) <= CLASS_LEVELS and all(one.strip().isdecimal() for one in labels)
    return not is_code and number_as_text(raw) is not None


def to_column(raw: RawColumn, stated: FeatureType | None = None) -> Column:
    """Return the column with its stated feature type, or the inferred one."""
    feature_type = stated or infer_feature_type(raw)
    wordy = raw.form == "text" or (
        raw.form in ("category", "graded") and feature_type == "continuous"
    )
    if wordy and feature_type != "nominal":
        row = int(np.argmin(np.isnan(raw.values)))
        raise ValueError(
            f"column {raw.name!r} cannot be {feature_type}, as it holds texts ({raw.shown(row)} "
            f"in row {row}); turn them into numbers first, or use 'nominal'"
        )
    return Column(raw.name, feature_type, raw.values, raw.labels)


def to_target(raw: RawColumn, stated: FeatureType | None = None) -> Column:
    """Return a target column: as `to_column`, but few levels are class labels, hence nominal."""
    reason = None if stated is not None else identifier(raw)
    if isinstance(reason, TextNumbers):
        raise ValueError(
            f"the target {raw.name!r} holds {reason}; convert it, as with pd.to_numeric, or state "
            "feature_types={'target': 'nominal'} if these are classes"
        )
    if reason:
        raise ValueError(
            f"the target {raw.name!r} looks like an {reason}; choose another target, "
            "or state feature_types={'target': 'nominal'} if these are classes"
        )
    column = to_column(raw, stated)
    few = stated is None and column.is_discrete and count_levels(raw.present()) <= CLASS_LEVELS
    return Column(column.name, "nominal", column.values, column.labels) if few else column


def stated_feature_types(
    feature_types: FeatureTypes | None, names: Sequence[str]
) -> tuple[FeatureType | None, ...]:
    """Return the type stated for each column, None where it is to be inferred.

    The key "target" is left to `stated_target_type`, unless a column is called so.
    """
    if feature_types is None:
        return (None,) * len(names)
    if isinstance(feature_types, Mapping):
        stated = {str(name): feature_type for name, feature_type in feature_types.items()}
        for name, feature_type in stated.items():
            if name not in names and name != TARGET:
                raise ValueError(
                    f"feature_types names no column {name!r}{did_you_mean(name, names)}"
                )
            check_choice(feature_type, FEATURE_TYPES, f"feature_types[{name!r}]")
        return tuple(plain(stated.get(name)) for name in names)
    if isinstance(feature_types, str) or not hasattr(feature_types, "__len__"):
        raise TypeError(
            f"feature_types must map names to types or list one per column, got {feature_types!r}; "
            "for example feature_types={'x0': 'nominal'}"
        )
    if len(feature_types) != len(names):
        raise ValueError(
            f"feature_types lists {len(feature_types)} types for {len(names)} columns; list one "
            "per column, or use a mapping for some of them: feature_types={'x0': 'nominal'}"
        )
    for name, feature_type in zip(names, feature_types, strict=True):
        check_choice(feature_type, FEATURE_TYPES, f"feature_types for column {name!r}")
    return tuple(map(plain, feature_types))


def stated_target_type(
    feature_types: FeatureTypes | None, names: Sequence[str]
) -> FeatureType | None:
    """Return the type stated for the target by the key "target", if it is no feature's name."""
    if not isinstance(feature_types, Mapping) or TARGET in names or TARGET not in feature_types:
        return None
    check_choice(feature_types[TARGET], FEATURE_TYPES, "feature_types['target']")
    return cast(FeatureType, plain(feature_types[TARGET]))
