r"""Stability of a selection: the frequency of each feature over random subsamples of the rows.

With M selections of d features, mean size :math:`\bar k` and frequencies :math:`\hat p_f`, the
stability of Nogueira et al.,

.. math:: \hat\Phi = 1 - \frac{\frac1d \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
                              {\frac{\bar k}{d} \left(1 - \frac{\bar k}{d}\right)}

is 1 if all selections are equal, and 0 in expectation if features are selected at random.

References
----------
N. Meinshausen, P. Bühlmann, Stability selection. Journal of the Royal Statistical Society B 72
(2010). S. Nogueira, K. Sechidis, G. Brown, On the stability of feature selection algorithms.
Journal of Machine Learning Research 18 (2018). E. B. Wilson, Probable inference, the law of
succession, and statistical inference. Journal of the American Statistical Association 22 (1927).
"""

from __future__ import annotations

import logging
import warnings
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pidselect.data import Block, IntArray, collect, frame_library
from pidselect.data.feature_types import TARGET, to_target
from pidselect.data.input import read_columns, read_vectors, select_rows
from pidselect.data.messages import shown, to_plain
from pidselect.exceptions import SelectionWarning
from pidselect.selection.callbacks import active_callbacks, use_callback
from pidselect.selection.executor import discard
from pidselect.selection.validation import to_alpha
from pidselect.significance import STABILITY, check_groups, permutations
from pidselect.significance.validation import RandomState, check_count, check_jobs, to_seed
from pidselect.tabular import TabularResult, TextTable, to_frame

#: The largest number of features that are printed.
MAX_PRINTED = 20

#: The 97.5 % quantile of the standard normal distribution.
NORMAL_QUANTILE = 1.959963984540054

#: The columns of `Stability.to_frame`, and their types.
COLUMNS = {"feature": str, "selected": int, "frequency": float, "lower": float, "upper": float}


@dataclass(frozen=True, repr=False)
class Stability(TabularResult):
    """Selections on random subsamples of the rows.

    Parameters
    ----------
    features : tuple of str
        All features that could be selected.
    selections : tuple of tuples of str
        The features selected on each subsample, in the order of `features`.
    sample_fraction : float
        The fraction of the rows in each subsample.

    Examples
    --------
    >>> from pidselect.selection.stability import Stability
    >>> result = Stability(("a", "b"), (("a",), ("a",), ("a", "b")), frame_library="pandas")
    >>> result.to_frame().round(2)
      feature  selected  frequency  lower  upper
    0       a         3       1.00   0.44   1.00
    1       b         1       0.33   0.06   0.79
    >>> result.most_frequent, result.n_sets, result.n_empty, round(result.mean_size, 2)
    (('a',), 2, 0, 1.33)
    >>> result.counts, round(result.frequencies["b"], 2), round(result.intervals["b"][0], 2)
    ({'a': 3, 'b': 1}, 0.33, 0.06)
    >>> result.notes[0]
    '3 subsamples of 50 % of the rows, 1.3 features selected on average.'
    >>> result.to_dict()["most_frequent"]
    ['a']
    """

    features: tuple[str, ...]
    selections: tuple[tuple[str, ...], ...]
    sample_fraction: float = 0.5
    frame_library: str | None = None

    @property
    def counts(self) -> dict[str, int]:
        """The number of subsamples on which each feature was selected."""
        found = Counter(name for selection in self.selections for name in selection)
        return {name: found[name] for name in self.features}

    @property
    def frequencies(self) -> dict[str, float]:
        """The fraction of subsamples on which each feature was selected."""
        return {name: count / len(self.selections) for name, count in self.counts.items()}

    @property
    def intervals(self) -> dict[str, tuple[float, float]]:
        """95 % Wilson intervals of the frequencies over all possible subsamples of these rows.

        They do not account for the sampling of the rows themselves.
        """
        return {name: wilson(count, len(self.selections)) for name, count in self.counts.items()}

    @property
    def mean_size(self) -> float:
        """The mean number of selected features."""
        return sum(map(len, self.selections)) / len(self.selections)

    @property
    def n_sets(self) -> int:
        """The number of distinct selections."""
        return len(set(self.selections))

    @property
    def most_frequent(self) -> tuple[str, ...]:
        """The most frequent selection; of several, the first."""
        return Counter(self.selections).most_common(1)[0][0]

    @property
    def n_empty(self) -> int:
        """The number of subsamples on which no feature was selected."""
        return self.selections.count(())

    @property
    def stability(self) -> float | None:
        """The measure of Nogueira et al.; None if all selections are empty or all are full."""
        chosen = [set(selection) for selection in self.selections]
        return nogueira(np.array([[name in one for name in self.features] for one in chosen]))

    @property
    def notes(self) -> list[str]:
        """Sentences on the selected sets as a whole."""
        n, count = len(self.selections), self.selections.count(self.most_frequent)
        names = ", ".join(map(shown, self.most_frequent)) or "no feature"
        sets = f"{self.n_sets} distinct selections, most frequent ({count} of {n}): {names}."
        if count in (1, n):
            sets = f"All selections are equal: {names}." if count == n else "All selections differ."
        share = f"{n} subsamples of {100 * self.sample_fraction:g} % of the rows"
        notes = [f"{share}, {self.mean_size:.1f} features selected on average.", sets]
        if self.stability is not None:
            scale = "1: equal selections; 0: random selections"
            notes.append(f"Stability {self.stability:.2f} ({scale}).")
        if never := list(self.counts.values()).count(0):
            notes.append(f"Never selected: {never} of {len(self.features)} features.")
        if self.n_empty:
            notes.append(f"Empty selections: {self.n_empty} of {n}.")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, strings and numbers, ready for JSON."""
        names = (
            *("frequencies", "intervals", "selections", "sample_fraction", "mean_size"),
            *("n_sets", "most_frequent", "n_empty", "stability"),
        )
        return to_plain({name: getattr(self, name) for name in names})

    def to_frame(self) -> Any:
        """Return a frame with one row per feature, in the caller's frame library."""
        return to_frame(self._rows(), COLUMNS, self.frame_library)

    def _rows(self) -> list[dict[str, Any]]:
        """Return the values of `COLUMNS` of each feature."""
        frequencies, intervals = self.frequencies, self.intervals
        return [
            dict(zip(COLUMNS, (name, count, frequencies[name], *intervals[name]), strict=True))
            for name, count in self.counts.items()
        ]

    def _title(self) -> str:
        return f"Stability over {len(self.selections)} subsamples"

    def _blocks(self) -> list[list[str | TextTable]]:
        """Return a table of the features selected at least once, then the notes."""
        found = sorted(self._rows(), key=lambda row: -row["selected"])
        found = [row for row in found if row["selected"]]
        cells = [("feature", "selected", "frequency", "95 % interval")]
        for row in found[:MAX_PRINTED]:
            interval = f"{row['lower']:.2f} to {row['upper']:.2f}"
            count, frequency = str(row["selected"]), f"{row['frequency']:.2f}"
            cells.append((shown(row["feature"]), count, frequency, interval))
        more = f"... and {len(found) - MAX_PRINTED} more, see .to_frame()."
        return [[TextTable(cells), *[more] * (len(found) > MAX_PRINTED), *self.notes]]


def stability(
    selector: Any,
    X: Any,
    y: Any = None,
    n_subsamples: int = 50,
    *,
    sample_fraction: float = 0.5,
    groups: Any = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Stability:
    """Fit a selector to random subsamples of the rows, and count how often features are selected.

    Parameters
    ----------
    selector : object
        A scikit-learn selector, with ``fit`` and ``get_support``. Clones of it are fitted, each
        with its own ``random_state`` if it has one.
    X : dataframe or array, shape (n_samples, n_features)
    y : array-like, optional
        The target. Subsamples are stratified by class if it has classes.
    n_subsamples : int
    sample_fraction : float
        The fraction of the rows, or of the groups, in a subsample, without replacement.
    groups : array-like, shape (n_samples,), optional
        Rows of a group are in a subsample together or not at all. Groups are passed to ``fit`` if
        it takes them. If each group has a single class, groups are stratified by class.
    random_state : int, NumPy generator or None
    n_jobs : int, optional
        The number of subsamples fitted at a time, in threads.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest, f_regression
    >>> from pidselect import stability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 5))
    >>> y = X[:, 0] + 0.2 * X[:, 1] + rng.normal(size=60)
    >>> stability(SelectKBest(f_regression, k=2), X, y, n_subsamples=20, random_state=0)
    Stability over 20 subsamples
    feature  selected  frequency  95 % interval
    x0             20       1.00   0.84 to 1.00
    x1             14       0.70   0.48 to 0.85
    x4              4       0.20   0.08 to 0.42
    x3              2       0.10   0.03 to 0.30
    20 subsamples of 50 % of the rows, 2.0 features selected on average.
    3 distinct selections, most frequent (14 of 20): x0, x1.
    Stability 0.60 (1: equal selections; 0: random selections).
    Never selected: 1 of 5 features.
    """
    n_subsamples = check_count(n_subsamples, "n_subsamples", at_least=2)
    fraction = to_alpha(sample_fraction, "sample_fraction")
    check_jobs(n_jobs)
    if not hasattr(selector, "get_support"):
        raise TypeError(
            f"{type(selector).__name__} has no get_support: pass a selector such as PIDSelector, "
            "or the selector step of a pipeline."
        )
    seed = to_seed(random_state)
    X = collect(X)
    columns = read_columns(X)
    names, n_samples = tuple(column.name for column in columns), len(columns[0].values)
    codes = check_groups(groups, n_samples)
    units, strata = stratify(_classes(y, n_samples), codes)
    passed = codes if has_fit_parameter(selector, "groups") else None

    def select(number: int) -> tuple[str, ...]:
        rows = subsample(units, strata, fraction, seed, number)
        target = None if y is None else select_rows(y, rows)
        key = np.random.SeedSequence((seed, STABILITY, number)).generate_state(1)
        own = {"random_state": int(key[0]), "checkpoint": None}  # that is of the fit of all rows
        fitted = clone(selector)
        known = fitted.get_params(deep=False)
        fitted.set_params(**{name: own[name] for name in own.keys() & known})
        try:
            in_groups = {} if passed is None else {"groups": passed[rows]}
            fitted.fit(select_rows(X, rows), target, **in_groups)
        except Exception as error:
            error.add_note(f"This was subsample {number}, of {len(rows)} rows.")
            raise
        return tuple(names[place] for place in np.flatnonzero(fitted.get_support()))

    tasks = (delayed(select)(number) for number in range(1, n_subsamples + 1))
    with warnings.catch_warnings():  # not in each thread: all threads share the filters
        warnings.simplefilter("ignore", SelectionWarning)
        selections = _collect(tasks, n_subsamples, n_jobs, len(names))
    return Stability(names, tuple(selections), fraction, frame_library(X))


def subsample(
    units: IntArray, strata: IntArray, fraction: float, seed: int, number: int
) -> IntArray:
    """Return the rows of a random subsample, a pure function of seed and number, in order.

    Units, that is rows or groups, are sampled as a whole: a fraction of each stratum, and at least
    one. `units` has shape (n_samples,), `strata` has shape (n_units,).
    """
    order = permutations((seed, STABILITY), range(number, number + 1), len(strata))[0]
    is_sampled = np.zeros(len(strata), dtype=bool)
    for stratum in np.unique(strata):
        members = order[strata[order] == stratum]
        is_sampled[members[: max(1, round(fraction * len(members)))]] = True
    return np.flatnonzero(is_sampled[units]).astype(np.int64)


def stratify(classes: IntArray, groups: IntArray | None) -> tuple[IntArray, IntArray]:
    """Return the unit of each row and the stratum of each unit.

    Units are rows or groups. Strata are classes, unless a group has several of them.
    """
    units = np.arange(len(classes)) if groups is None else groups
    _, first = np.unique(units, return_index=True)
    strata = classes[first]
    if (strata[units] != classes).any():
        strata = np.zeros_like(strata)
    return units, strata


def _collect(
    tasks: Iterable[Any], n: int, n_jobs: int | None, n_features: int
) -> list[tuple[str, ...]]:
    """Run the tasks, and report each result; what all fits log is logged once."""
    callbacks, logger = active_callbacks(), logging.getLogger("pidselect")
    backend, _ = get_active_backend(prefer="threads")
    in_turn = bool(callbacks) and backend.supports_return_generator
    seen: set[str] = set()
    selections = []

    def is_new(record: logging.LogRecord) -> bool:
        n_before = len(seen)
        seen.add(record.getMessage())
        return len(seen) > n_before

    logger.addFilter(is_new)
    callbacks.on_stage("stability", n_features, n)
    run = Parallel(n_jobs, prefer="threads", return_as="generator" if in_turn else "list")
    results: Iterable[tuple[str, ...]] = ()
    try:
        with use_callback(None):  # the stages and steps of each fit are not reported
            results = run(tasks)
            for selection in results:
                selections.append(selection)
                callbacks.on_progress(1)
    finally:
        discard(results)
        logger.removeFilter(is_new)
    return selections


def _classes(y: Any, n_samples: int) -> IntArray:
    """Return the class of every row; a single one if the target has no classes."""
    if y is None:
        return np.zeros(n_samples, dtype=np.int64)
    target = Block(tuple(map(to_target, read_vectors(y, TARGET))))
    if target.n_samples != n_samples:
        raise ValueError(
            f"X has {n_samples} rows, but y has {target.n_samples}: pass one value of y per row."
        )
    if any(feature_type != "nominal" for feature_type in target.feature_types):
        return np.zeros(n_samples, dtype=np.int64)
    return target.codes()


def nogueira(chosen: NDArray[np.bool_]) -> float | None:
    """Return the stability of selections, shape (n_selections, n_features)."""
    n_selections = len(chosen)
    frequency = chosen.mean(axis=0)
    filled = chosen.mean()
    if filled in (0.0, 1.0):
        return None
    variance = n_selections / (n_selections - 1) * frequency * (1 - frequency)
    return float(1 - variance.mean() / (filled * (1 - filled)))


def wilson(count: int, n: int) -> tuple[float, float]:
    """Return the 95 % Wilson interval of a probability, from `count` successes in `n` trials."""
    square = NORMAL_QUANTILE**2
    middle = (count + square / 2) / (n + square)
    half = NORMAL_QUANTILE / (n + square) * sqrt(count * (n - count) / n + square / 4)
    return max(0.0, middle - half), min(1.0, middle + half)
