r"""Stability: how often each feature is selected when only a part of the rows is there.

A selector is fitted anew to many random halves of the rows. A feature that comes up in nearly all
of them was not selected for the sake of a few rows. With M selections out of d features, of mean
size :math:`\bar k`, and with :math:`\hat p_f` for the share of them that have feature f,

.. math:: \hat\Phi = 1 - \frac{\frac1d \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
                              {\frac{\bar k}{d} \left(1 - \frac{\bar k}{d}\right)}

is 1 if all selections are the same, and 0 on average if features are taken at random.

References
----------
N. Meinshausen, P. Bühlmann, Stability selection. Journal of the Royal Statistical Society B 72
(2010), for halves of the rows. S. Nogueira, K. Sechidis, G. Brown, On the stability of feature
selection algorithms. Journal of Machine Learning Research 18 (2018), for the measure. E. B. Wilson,
Probable inference, the law of succession, and statistical inference. Journal of the American
Statistical Association 22 (1927), for the intervals.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from math import sqrt
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import has_fit_parameter

from pidselect.data import frame_library, make_frame
from pidselect.data.frames import read_columns
from pidselect.data.messages import align, shown, to_plain
from pidselect.selection.short_form import stability_form
from pidselect.selection.subsamples import Subsamples, SubsampleTask, classes_of, select_on_all
from pidselect.significance import check_groups
from pidselect.significance.validation import RandomState, check_count, check_jobs, to_seed

#: Of features that were selected at least once, so many are printed.
SHOWN = 20

#: Standard deviations on either side of the middle of a normal distribution that hold 95 %.
TWO_SIDED_95 = 1.959963984540054

HEADER = ("feature", "selected", "frequency", "95 % interval")

#: The columns of the frame, and their types.
FRAME_COLUMNS = {
    "feature": str,
    "selected": int,
    "frequency": float,
    "lower": float,
    "upper": float,
}


@dataclass(frozen=True, repr=False)
class Stability:
    """Selections on many random parts of the rows.

    Parameters
    ----------
    features : tuple of str
        All features that could be selected.
    selections : tuple of tuples of str
        What was selected on each part, in the order of `features`.
    share : float
        Of the rows in each part.
    """

    features: tuple[str, ...]
    selections: tuple[tuple[str, ...], ...]
    share: float = 0.5
    frame_library: str | None = None

    @property
    def counts(self) -> dict[str, int]:
        """How often each feature was selected."""
        found = Counter(name for selection in self.selections for name in selection)
        return {name: found[name] for name in self.features}

    @property
    def frequencies(self) -> dict[str, float]:
        """The share of selections that have each feature."""
        return {name: count / len(self.selections) for name, count in self.counts.items()}

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """What the frequencies over all possible parts of these rows may be, with 95 % confidence.

        They are about chance in drawing the parts. All come from the same rows, so that other rows
        may well give frequencies outside of the intervals.
        """
        return {name: wilson(count, len(self.selections)) for name, count in self.counts.items()}

    @property
    def mean_size(self) -> float:
        """The number of features of a selection, on average."""
        return sum(map(len, self.selections)) / len(self.selections)

    @property
    def n_sets(self) -> int:
        """How many different selections there are."""
        return len(set(self.selections))

    @property
    def most_frequent(self) -> tuple[str, ...]:
        """The selection that came up most often; of several, the one that came up first."""
        return Counter(self.selections).most_common(1)[0][0]

    @property
    def n_empty(self) -> int:
        """How many parts selected nothing."""
        return self.selections.count(())

    @property
    def stability(self) -> float | None:
        """The measure of Nogueira et al.; None where all selections are empty or all are full."""
        chosen = [set(selection) for selection in self.selections]
        return nogueira(np.array([[name in one for name in self.features] for one in chosen]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, strings and numbers, ready for JSON."""
        return to_plain(
            {
                "frequencies": self.frequencies,
                "intervals": self.intervals,
                "selections": self.selections,
                "share": self.share,
                "mean_size": self.mean_size,
                "n_sets": self.n_sets,
                "most_frequent": self.most_frequent,
                "n_empty": self.n_empty,
                "stability": self.stability,
            }
        )

    def to_frame(self) -> Any:
        """Return a frame, one row for each feature, in the caller's library."""
        intervals = list(self.intervals.values())
        columns: dict[str, list[Any]] = {
            "feature": list(self.features),
            "selected": list(self.counts.values()),
            "frequency": list(self.frequencies.values()),
            "lower": [lower for lower, _ in intervals],
            "upper": [upper for _, upper in intervals],
        }
        return make_frame(columns, self.frame_library, FRAME_COLUMNS)

    def __repr__(self) -> str:
        return f"Stability over {len(self.selections)} subsamples\n{self}"

    def __str__(self) -> str:
        """Return a table of the features that were selected at all, and what to say of the sets."""
        counts, frequencies, intervals = self.counts, self.frequencies, self.intervals
        found = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
        rows = [
            (shown(name), str(counts[name]), f"{frequencies[name]:.2f}", _range(intervals[name]))
            for name in found[:SHOWN]
        ]
        lines = align([HEADER, *rows], n_left=1)
        if more := len(found) - len(rows):
            lines.append(f"... and {more} more, see .to_frame().")
        return "\n".join([*lines, *self.notes])

    def _repr_html_(self) -> str:
        return stability_form(self)

    @property
    def notes(self) -> list[str]:
        """Return what to say of the sets: how large and how alike they are, in sentences."""
        n, often = len(self.selections), self.selections.count(self.most_frequent)
        members = ", ".join(map(shown, self.most_frequent)) or "nothing"
        if self.n_sets == 1:
            sets = [f"always the same set: {members}."]
        elif often == 1:
            sets = ["no set came up twice."]
        else:
            sets = [f"{self.n_sets} different sets;", f"most often, {often} times: {members}."]
        remarks = [
            f"{n} subsamples of {100 * self.share:g} % of the rows: {self.mean_size:.1f} features "
            f"on average, {sets[0]}",
            *sets[1:],
        ]
        if self.stability is not None:
            remarks.append(f"Stability {self.stability:.2f} (1: always the same; 0: as by chance).")
        if never := list(self.counts.values()).count(0):
            remarks.append(f"Never selected: {never} of {len(self.features)} features.")
        if self.n_empty:
            remarks.append(f"{self.n_empty} of {n} subsamples selected nothing.")
        return remarks


def stability(
    selector: Any,
    X: Any,
    y: Any = None,
    n: int = 50,
    *,
    share: float = 0.5,
    groups: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Stability:
    """Select features on many random parts of the rows, and see which ones come back.

    Parameters
    ----------
    selector : object
        Any scikit-learn selector, with ``fit`` and ``get_support``. Copies of it are fitted; where
        it has a ``random_state``, each gets its own.
    X : dataframe or array, shape (n_samples, n_features)
    y : array-like, optional
        The target. If it has classes, every class gets its share of the rows, and at least one.
    n : int
        The number of parts.
    share : float
        Of the rows, or of the groups, that make a part; drawn without replacement.
    groups : array-like, shape (n_samples,), optional
        Which rows belong together: a part has all rows of a group or none. A selector whose ``fit``
        takes groups is given them. If all rows of every group have the same class, every class
        gets its share of the groups.
    random_state : int, NumPy generator or None
    n_jobs : int, optional
        How many parts to work on at a time, in threads.

    Returns
    -------
    Stability
        It prints as a table.

    Examples
    --------
    >>> from sklearn.feature_selection import SelectKBest, f_regression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = X[:, 0] + 0.2 * X[:, 1] + rng.normal(size=60)
    >>> stability(SelectKBest(f_regression, k=2), X, y, n=20, random_state=0)
    Stability over 20 subsamples
    feature  selected  frequency  95 % interval
    x0             20       1.00   0.84 to 1.00
    x1             14       0.70   0.48 to 0.85
    x4              4       0.20   0.08 to 0.42
    x3              2       0.10   0.03 to 0.30
    20 subsamples of 50 % of the rows: 2.0 features on average, 3 different sets;
    most often, 14 times: x0, x1.
    Stability 0.60 (1: always the same; 0: as by chance).
    Never selected: 1 of 5 features.
    """
    n = check_count(n, "n", at_least=2)
    if isinstance(share, bool) or not isinstance(share, Real) or not 0 < float(share) < 1:
        raise ValueError(f"share={share!r} is no share of the rows: it must lie between 0 and 1.")
    check_jobs(n_jobs)
    if not hasattr(selector, "get_support"):
        raise TypeError(
            f"{type(selector).__name__} has no get_support to say what it selected: pass a "
            "selector such as PIDSelector, or the step of a pipeline that is one."
        )
    seed = to_seed(random_state)
    columns = read_columns(X)
    n_samples = len(columns[0].values)
    codes = check_groups(groups, n_samples)
    parts = Subsamples.of(classes_of(y, n_samples), codes, float(share), seed)
    task = SubsampleTask(selector, X, y, codes if has_fit_parameter(selector, "groups") else None)
    with warnings.catch_warnings():  # here, not in each thread: filters are common to all of them
        warnings.filterwarnings("ignore", message="No features? (was|were) selected")
        supports = select_on_all(task, parts, n, n_jobs, len(columns))
    names = tuple(column.name for column in columns)
    return Stability(
        features=names,
        selections=tuple(tuple(names[place] for place in support) for support in supports),
        share=float(share),
        frame_library=frame_library(X),
    )


def nogueira(chosen: NDArray[np.bool_]) -> float | None:
    """Return how alike selections are, shape (n_selections, n_features); see above.

    Examples
    --------
    >>> nogueira(np.array([[True, False, False], [True, False, False]]))
    1.0
    >>> nogueira(np.array([[True, False, True, False], [False, True, False, True]]))
    -1.0
    """
    n_selections = len(chosen)
    frequency = chosen.mean(axis=0)
    filled = chosen.mean()
    if filled in (0.0, 1.0):
        return None
    variance = n_selections / (n_selections - 1) * frequency * (1 - frequency)
    return float(1 - variance.mean() / (filled * (1 - filled)))


def wilson(count: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a probability, of which `count` of `n` tries were a success.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(10, 10)]
    [0.722, 1.0]
    """
    square = TWO_SIDED_95**2
    middle = (count + square / 2) / (n + square)
    half = TWO_SIDED_95 / (n + square) * sqrt(count * (n - count) / n + square / 4)
    return max(0.0, middle - half), min(1.0, middle + half)


def _range(interval: tuple[float, float]) -> str:
    return f"{interval[0]:.2f} to {interval[1]:.2f}"
