r"""Stability of a selection: the frequency of each feature over random subsamples of the rows.

With M selections of d features, mean size :math:`\bar k` and selection frequencies
:math:`\hat p_f`, the stability of Nogueira et al.,

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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pidselect.data import Block, IntArray, collect, frame_library, make_frame
from pidselect.data.feature_types import TARGET, to_target
from pidselect.data.input import read_columns, read_vectors, select_rows
from pidselect.data.messages import shown, to_plain
from pidselect.exceptions import SelectionWarning
from pidselect.selection.callbacks import active_callbacks, use_callback
from pidselect.selection.executor import discard
from pidselect.selection.validation import to_alpha
from pidselect.significance import STABILITY, check_groups, permutations
from pidselect.significance.validation import RandomState, check_count, check_jobs, to_seed
from pidselect.tabular import TabularResult, TextTable

#: The largest number of features that are printed.
MAX_PRINTED = 20

#: The 97.5 % quantile of the standard normal distribution.
NORMAL_QUANTILE = 1.959963984540054

#: The columns of `Stability.to_frame`, and their types.
FRAME_COLUMNS = {
    "feature": str,
    "selected": int,
    "frequency": float,
    "lower": float,
    "upper": float,
}


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
    How often each feature is selected on subsamples of 30 of 60 rows:

    >>> import numpy as np
    >>> from sklearn.feature_selection import SelectKBest, f_regression
    >>> from pidselect import stability
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 0] + 0.9 * X[:, 1] + rng.normal(size=60)
    >>> result = stability(SelectKBest(f_regression, k=1), X, y, n_subsamples=20, random_state=0)
    >>> result.counts
    {'x0': 14, 'x1': 6, 'x2': 0}
    >>> result.frequencies["x0"], [round(end, 2) for end in result.intervals["x0"]]
    (0.7, [0.48, 0.85])
    >>> result.most_frequent, result.n_sets, result.n_empty, result.mean_size
    (('x0',), 2, 0, 1.0)
    >>> round(result.stability, 2), result.notes[-1]
    (0.34, 'Never selected: 1 of 3 features.')
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
        if self.n_sets == 1:
            sets = f"All selections are equal: {names}."
        elif count == 1:
            sets = "All selections differ."
        else:
            sets = f"{self.n_sets} distinct selections, most frequent ({count} of {n}): {names}."
        notes = [
            f"{n} subsamples of {100 * self.sample_fraction:g} % of the rows, {self.mean_size:.1f} "
            "features selected on average.",
            sets,
        ]
        if self.stability is not None:
            notes.append(
                f"Stability {self.stability:.2f} (1: equal selections; 0: random selections)."
            )
        if never := list(self.counts.values()).count(0):
            notes.append(f"Never selected: {never} of {len(self.features)} features.")
        if self.n_empty:
            notes.append(f"Empty selections: {self.n_empty} of {n}.")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, strings and numbers, ready for JSON.

        Examples
        --------
        >>> from pidselect.selection.stability import Stability
        >>> Stability(("a", "b"), (("a",), ("a",), ("a", "b"))).to_dict()["most_frequent"]
        ['a']
        """
        names = (
            *("frequencies", "intervals", "selections", "sample_fraction", "mean_size"),
            *("n_sets", "most_frequent", "n_empty", "stability"),
        )
        return to_plain({name: getattr(self, name) for name in names})

    def to_frame(self) -> Any:
        """Return a frame with one row per feature, in the caller's frame library.

        Examples
        --------
        >>> from pidselect.selection.stability import Stability
        >>> result = Stability(("a", "b"), (("a",), ("a",), ("a", "b")), frame_library="pandas")
        >>> result.to_frame().round(2)
          feature  selected  frequency  lower  upper
        0       a         3       1.00   0.44   1.00
        1       b         1       0.33   0.06   0.79
        """
        lower, upper = zip(*self.intervals.values(), strict=True)
        values = (self.features, self.counts.values(), self.frequencies.values(), lower, upper)
        columns = dict(zip(FRAME_COLUMNS, map(list, values), strict=True))
        return make_frame(columns, self.frame_library, FRAME_COLUMNS)

    def _title(self) -> str:
        return f"Stability over {len(self.selections)} subsamples"

    def _blocks(self) -> list[list[str | TextTable]]:
        """Return a table of the features selected at least once, then the notes."""
        counts, frequencies, intervals = self.counts, self.frequencies, self.intervals
        found = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
        rows: list[Sequence[str]] = [("feature", "selected", "frequency", "95 % interval")]
        for name in found[:MAX_PRINTED]:
            interval = "{:.2f} to {:.2f}".format(*intervals[name])
            rows.append((shown(name), str(counts[name]), f"{frequencies[name]:.2f}", interval))
        lines: list[str | TextTable] = [TextTable(rows)]
        if len(found) > MAX_PRINTED:
            lines.append(f"... and {len(found) - MAX_PRINTED} more, see .to_frame().")
        return [[*lines, *self.notes]]


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

    Returns
    -------
    Stability

    See Also
    --------
    StabilityDisplay : Plot the frequencies.

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
    n_samples = len(columns[0].values)
    codes = check_groups(groups, n_samples)
    units, strata = stratify(_classes(y, n_samples), codes)
    passed = codes if has_fit_parameter(selector, "groups") else None
    tasks = (
        delayed(_select)(
            selector, X, y, passed, subsample(units, strata, fraction, seed, i), seed, i
        )
        for i in range(1, n_subsamples + 1)
    )
    with warnings.catch_warnings():  # not in each thread: all threads share the filters
        warnings.simplefilter("ignore", SelectionWarning)
        supports = _collect(tasks, n_subsamples, n_jobs, len(columns))
    names = tuple(column.name for column in columns)
    return Stability(
        features=names,
        selections=tuple(tuple(names[place] for place in support) for support in supports),
        sample_fraction=fraction,
        frame_library=frame_library(X),
    )


def subsample(
    units: IntArray, strata: IntArray, fraction: float, seed: int, number: int
) -> IntArray:
    """Return the rows of a random subsample, a pure function of seed and number, in order.

    Units, that is rows or groups, are sampled as a whole: a fraction of each stratum, and at least
    one. `units` has shape (n_samples,), `strata` has shape (n_units,).

    Examples
    --------
    >>> subsample(np.arange(6), np.array([0, 0, 0, 0, 1, 1]), 0.5, seed=0, number=1)
    array([0, 2, 5])
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


def _select(
    selector: Any, X: Any, y: Any, groups: IntArray | None, rows: IntArray, seed: int, number: int
) -> list[int]:
    """Return the columns that a clone of the selector selects on one subsample."""
    selector = clone(selector)
    parameters = selector.get_params(deep=False)
    if "random_state" in parameters:
        key = np.random.SeedSequence((seed, STABILITY, number)).generate_state(1)
        selector.set_params(random_state=int(key[0]))
    if "checkpoint" in parameters:  # it belongs to the fit of all rows
        selector.set_params(checkpoint=None)
    fit_parameters = {} if groups is None else {"groups": groups[rows]}
    try:
        selector.fit(
            select_rows(X, rows), None if y is None else select_rows(y, rows), **fit_parameters
        )
    except Exception as error:
        error.add_note(f"This was subsample {number}, of {len(rows)} rows.")
        raise
    return np.flatnonzero(selector.get_support()).tolist()


def _collect(tasks: Iterable[Any], n: int, n_jobs: int | None, n_features: int) -> list[list[int]]:
    """Run the tasks, and report each result to the active callback."""
    callbacks = active_callbacks()
    backend, _ = get_active_backend(prefer="threads")
    in_turn = bool(callbacks) and backend.supports_return_generator
    supports = []
    # The stages and steps of each fit are not reported, and what all of them log only once.
    with use_callback(None), _logging_once(logging.getLogger("pidselect")):
        callbacks.on_stage("stability", n_features, n)
        results = Parallel(n_jobs, prefer="threads", return_as="generator" if in_turn else "list")(
            tasks
        )
        try:
            for support in results:
                supports.append(support)
                callbacks.on_progress(1)
        finally:
            discard(results)
    return supports


@contextmanager
def _logging_once(logger: logging.Logger) -> Iterator[None]:
    """Let a logger pass on each message once."""
    seen: set[str] = set()

    def is_new(record: logging.LogRecord) -> bool:
        n_before = len(seen)
        seen.add(record.getMessage())
        return len(seen) > n_before

    logger.addFilter(is_new)
    try:
        yield
    finally:
        logger.removeFilter(is_new)


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
    """Return the stability of selections, shape (n_selections, n_features).

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
    """Return the 95 % Wilson interval of a probability, from `count` successes in `n` trials.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(10, 10)]
    [0.722, 1.0]
    """
    square = NORMAL_QUANTILE**2
    middle = (count + square / 2) / (n + square)
    half = NORMAL_QUANTILE / (n + square) * sqrt(count * (n - count) / n + square / 4)
    return max(0.0, middle - half), min(1.0, middle + half)
