"""The atoms of a feature beside a set: from its information and the fraction that is shared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.stats import t as student

from pidselect.data import FloatArray, IntArray
from pidselect.decomposition.explanation import DIGITS, VALUES
from pidselect.decomposition.posterior import SharedFraction

#: Level of the intervals.
LEVEL = 0.95

#: The bias of a value is about this multiple of what half of the samples lack, if it decreases with
#: the square root of their number; nearest neighbours in many dimensions are slower.
BIAS_OF_HALF = 1 / (math.sqrt(2.0) - 1)


@dataclass(frozen=True)
class Atoms:
    """The information of a feature f beside a set S in bits, as multiples of 0.001 bit.

    `information` is I(f; y), `added` I(f; y | S). `intervals` are by the name of the value, empty
    if they were not computed; `is_lower_bound` is whether `added` is only a lower bound.
    """

    information: float
    added: float
    unique: float
    shared: float
    synergy: float
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    is_lower_bound: bool = field(default=False, repr=False)


def atoms_of(
    information: float, added: float, fraction: float, is_non_negative: bool = True
) -> Atoms:
    """Return the atoms for the information of a feature and the fraction of it that is shared.

    Unique information is at most I(f; y | S). All values are rounded here, once, so that their sums
    hold to the last digit that is shown.

    Examples
    --------
    >>> atoms_of(0.3306, 0.6, 0.182)
    Atoms(information=0.331, added=0.6, unique=0.27, shared=0.061, synergy=0.33)
    """
    information, added = round(information, DIGITS), round(added, DIGITS)
    unique = (1.0 - fraction) * information
    if is_non_negative:
        unique = min(max(unique, 0.0), information, added)
    unique = round(unique, DIGITS)
    shared, synergy = round(information - unique, DIGITS), round(added - unique, DIGITS)
    return Atoms(information, added, unique, shared + 0.0, synergy + 0.0)


def decompose_feature(
    fraction: SharedFraction,
    feature: IntArray,
    others: IntArray,
    information: float,
    added: float,
    halves: IntArray | None = None,
    of_halves: FloatArray | None = None,
    most_shared: float = math.inf,
) -> Atoms | None:
    """Return the atoms for the states of a feature and of a set; None if not estimable.

    `most_shared` is I(S; y), which shared information cannot exceed. `halves` are the rows of half
    of the samples each, `of_halves` I(f; y) and I(f; y | S) in them.
    Halves drawn without replacement vary around the value of all rows as that varies around its
    mean. Rows are never repeated: nearest neighbours at distance 0 would appear as dependence.
    """
    is_alone, non_negative = others.max() == 0, fraction.is_non_negative
    share = 0.0 if is_alone else fraction.of(feature, others)
    if not math.isfinite(share + information + added):
        return None
    if non_negative and information > 0:
        share = min(share, most_shared / information)
    atoms = atoms_of(information, added, share, non_negative)
    if halves is None or of_halves is None or not len(of_halves):
        return atoms
    resampled = []
    for rows, (of_half, added_in_half) in zip(halves, of_halves, strict=True):
        codes = feature[rows], others[rows], fraction.target_states[rows]
        part = 0.0 if is_alone else fraction.of_rows(*codes, corrected=False)
        half = atoms_of(of_half, added_in_half, part, non_negative)
        resampled.append([getattr(half, value) for value in VALUES])
    return _with_intervals(atoms, np.array(resampled), fraction.max_bits)


def _with_intervals(atoms: Atoms, resampled: FloatArray, most: float) -> Atoms:
    """Return atoms with intervals, of which none exceeds the entropy of the target."""
    width = student.ppf(0.5 + LEVEL / 2, len(resampled) - 1) * resampled.std(axis=0, ddof=1)
    intervals = {}
    for name, half in zip(VALUES, width.tolist(), strict=True):
        value = getattr(atoms, name)
        lower = value - half if value < 0 else max(0.0, value - half)
        upper = max(value, min(value + half, most))
        intervals[name] = (round(lower, DIGITS), round(upper, DIGITS))
    place = VALUES.index("added")
    bias = BIAS_OF_HALF * (atoms.added - float(resampled[:, place].mean()))
    return replace(atoms, intervals=intervals, is_lower_bound=bool(bias > width[place]))
