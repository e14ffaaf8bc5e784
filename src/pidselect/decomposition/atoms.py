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

#: The bias of nearest neighbours decreases with the number of samples to the power of about this:
#: with their distance, in two dimensions of x and y and two of S.
BIAS_EXPONENT = 1 / 4


@dataclass(frozen=True)
class Atoms:
    """The information of a feature f beside a set S in bits, as multiples of 0.001 bit.

    `information` is I(f; y), `added` I(f; y | S). `intervals` are by the name of the value, empty
    if they were not computed; `is_lower_bound` is whether `added` is only a lower bound.

    Examples
    --------
    The candidates of a step in the record of ``explain(path=True)``:

    >>> from pidselect import PIDSelector, datasets
    >>> X, y = datasets.sample(datasets.gate("AND"), 300, random_state=0)
    >>> selector = PIDSelector(random_state=0).fit(X, y)
    >>> step = selector.explain(X, y, path=True).path.steps[1]
    >>> step.conditioning_set
    ('x1',)
    >>> step.atoms[step.chosen]
    Atoms(information=0.347, added=0.535, unique=0.0, shared=0.347, synergy=0.535)
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
    subsamples: IntArray | None = None,
    resampled: FloatArray | None = None,
    most_shared: float = math.inf,
) -> Atoms | None:
    """Return the atoms for the states of a feature and of a set; None if not estimable.

    `most_shared` is I(S; y), which shared information cannot exceed. `subsamples` are some of the
    rows each, drawn without replacement, `resampled` I(f; y) and I(f; y | S) in them. Rows are
    never repeated, as in a bootstrap: neighbours at distance 0 would appear as dependence.
    """
    is_alone, non_negative = others.max() == 0, fraction.is_non_negative
    share = 0.0 if is_alone else fraction.of(feature, others)
    if not math.isfinite(share + information + added):
        return None
    if non_negative and information > 0:
        share = min(share, most_shared / information)
    atoms = atoms_of(information, added, share, non_negative)
    if subsamples is None or resampled is None or not len(resampled):
        return atoms
    values = []
    for rows, (some_information, some_added) in zip(subsamples, resampled, strict=True):
        part = 0.0 if is_alone else fraction.of(feature, others, rows, corrected=False)
        found = atoms_of(some_information, some_added, part, non_negative)
        values.append(_values(found))
    row_share = subsamples.shape[1] / len(feature)
    return _with_intervals(atoms, np.array(values), row_share, fraction.max_bits)


def _with_intervals(atoms: Atoms, resampled: FloatArray, share: float, most: float) -> Atoms:
    """Add intervals by values in subsamples of a share of the rows; none exceeds `most`.

    The variance of a mean in a subsample around that of all rows is (1 / share - 1) times that of
    all rows around its expectation. The difference of the means shows the bias, by which intervals
    are extended.
    """
    quantile = student.ppf(0.5 + LEVEL / 2, len(resampled) - 1)
    width = quantile * resampled.std(axis=0, ddof=1) / math.sqrt(1 / share - 1)
    bias = (_values(atoms) - resampled.mean(axis=0)) / (share**-BIAS_EXPONENT - 1)
    lower = _values(atoms) - width + np.minimum(bias, 0.0)
    upper = _values(atoms) + width + np.maximum(bias, 0.0)
    intervals = {}
    for name, low, high in zip(VALUES, lower.tolist(), upper.tolist(), strict=True):
        value = getattr(atoms, name)
        low, high = low if value < 0 else max(0.0, low), max(value, min(high, most))
        intervals[name] = (round(low, DIGITS), round(high, DIGITS))
    place = VALUES.index("added")
    return replace(atoms, intervals=intervals, is_lower_bound=bool(bias[place] > width[place]))


def _values(atoms: Atoms) -> FloatArray:
    return np.array([getattr(atoms, value) for value in VALUES])
