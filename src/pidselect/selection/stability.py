r"""Stability of a selection: the frequency of each feature over random subsamples of the rows.

With M selections of d features, mean size :math:`\bar k` and frequencies :math:`\hat p_f`, the
stability of S. Nogueira, K. Sechidis and G. Brown (Journal of Machine Learning Research 18, 2018),

.. math:: \hat\Phi = 1 - \frac{\frac1d \sum_f \frac{M}{M-1} \hat p_f (1 - \hat p_f)}
                              {\frac{\bar k}{d} \left(1 - \frac{\bar k}{d}\right)}

is 1 if all selections are equal, and 0 in expectation if features are selected at random.
"""

from __future__ import annotations

import warnings
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from pidselect.data import Block, IntArray, collect, frame_library, n_rows
from pidselect.data.feature_types import TARGET, to_target
from pidselect.data.input import column_names, read_vectors, select_rows
from pidselect.data.messages import counted, shown, to_plain
from pidselect.decomposition.explanation import SHOWN_FEATURES
from pidselect.exceptions import SelectionWarning
from pidselect.selection.executor import Executor
from pidselect.selection.progress import current_observer, observing
from pidselect.selection.validation import to_alpha
from pidselect.significance.rng import STABILITY, permutations
from pidselect.significance.surrogates import check_groups
from pidselect.significance.validation import RandomState, check_count, check_jobs, to_seed
from pidselect.tabular import TabularResult, TextTable, to_frame

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

    Examples
    --------
    >>> from pidselect.selection.stability import Stability
    >>> result = Stability(("a", "b"), (("a",), ("a",), ("a", "b")), frame_library="pandas")
    >>> result.to_frame().columns.tolist(), len(result.notes), result.to_dict()["stability"]
    (['feature', 'selected', 'frequency', 'lower', 'upper'], 3, 0.25)
    >>> result.most_frequent, result.counts, result.frequencies["a"], result.intervals["a"][1]
    (('a',), {'a': 3, 'b': 1}, 1.0, 1.0)
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
        """95 % Wilson intervals of the frequencies over all possible subsamples of these rows."""
        counts, n = self.counts, len(self.selections)
        ends = {k: binomtest(k, n).proportion_ci(method="wilson") for k in {*counts.values()}}
        return {name: (float(ends[k].low), float(ends[k].high)) for name, k in counts.items()}

    @property
    def most_frequent(self) -> tuple[str, ...]:
        """The most frequent selection; of several, the first."""
        return Counter(self.selections).most_common(1)[0][0]

    @property
    def stability(self) -> float | None:
        """The measure of Nogueira et al.; None if all selections are empty or all are full."""
        n_selections, frequency = len(self.selections), np.array([*self.frequencies.values()])
        filled = frequency.mean()
        if filled in (0.0, 1.0):
            return None
        variance = n_selections / (n_selections - 1) * frequency * (1 - frequency)
        return float(1 - variance.mean() / (filled * (1 - filled)))

    @property
    def notes(self) -> list[str]:
        """Sentences on the selected sets as a whole."""
        n, count = len(self.selections), self.selections.count(self.most_frequent)
        names = ", ".join(map(shown, self.most_frequent)) or "no feature"
        size, n_sets = sum(map(len, self.selections)) / n, len(set(self.selections))
        share = f"{n} subsamples of {100 * self.sample_fraction:g} % of the rows"
        notes = [
            f"{share}, {size:.1f} features selected on average.",
            f"{counted(n_sets, 'distinct selection')}, most frequent ({count} of {n}): {names}.",
        ]
        if self.stability is not None:
            notes.append(f"Stability {self.stability:.2f} (1: equal, 0: random selections).")
        if never := list(self.counts.values()).count(0):
            notes.append(f"Never selected: {never} of {len(self.features)} features.")
        if n_empty := self.selections.count(()):
            notes.append(f"Empty selections: {n_empty} of {n}.")
        return notes

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists, strings and numbers, ready for JSON."""
        names = ("frequencies", "intervals", "most_frequent", "stability")
        return {**super().to_dict(), **to_plain({name: getattr(self, name) for name in names})}

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
        found = [row for row in self._rows() if row["selected"]]
        cells = [("feature", "selected", "frequency", "95 % interval")]
        for row in sorted(found, key=lambda row: -row["selected"])[:SHOWN_FEATURES]:
            name, count, *shares = row.values()
            frequency, low, high = (f"{share:.2f}" for share in shares)
            cells.append((shown(name), str(count), frequency, f"{low} to {high}"))
        more = f"... and {len(found) - SHOWN_FEATURES} more, see .to_frame()."
        return [[TextTable(cells), *[more] * (len(found) > SHOWN_FEATURES), *self.notes]]


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
        Subsamples are stratified by class if it has classes.
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
    >>> X = rng.normal(size=(60, 3))
    >>> y = X[:, 0] + 0.9 * X[:, 1] + rng.normal(size=60)
    >>> stability(SelectKBest(f_regression, k=1), X, y, n_subsamples=20, random_state=0)
    Stability over 20 subsamples
    feature  selected  frequency  95 % interval
    x0             14       0.70   0.48 to 0.85
    x1              6       0.30   0.15 to 0.52
    20 subsamples of 50 % of the rows, 1.0 features selected on average.
    2 distinct selections, most frequent (14 of 20): x0.
    Stability 0.34 (1: equal, 0: random selections).
    Never selected: 1 of 3 features.
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
    names, n_samples = column_names(X), n_rows(X)
    codes = check_groups(groups, n_samples)
    units, strata = stratify(_classes(y, n_samples), codes)
    passed = codes if has_fit_parameter(selector, "groups") else None

    def select(seed: int, number: int) -> tuple[str, ...]:
        rows = subsample(units, strata, fraction, seed, number)
        key = np.random.SeedSequence((seed, STABILITY, number)).generate_state(1)
        own = {"random_state": int(key[0]), "checkpoint": None}  # that is of the fit of all rows
        fitted = clone(selector)
        known = fitted.get_params(deep=False)
        fitted.set_params(**{name: own[name] for name in own.keys() & known})
        in_groups = {} if passed is None else {"groups": passed[rows]}
        fitted.fit(select_rows(X, rows), y if y is None else select_rows(y, rows), **in_groups)
        return tuple(names[place] for place in np.flatnonzero(fitted.get_support()))

    tasks, selections = [(number,) for number in range(1, n_subsamples + 1)], []
    observer = current_observer()
    observer.on_stage("stability", len(names), n_subsamples)
    with observing(None), warnings.catch_warnings():
        warnings.simplefilter("ignore", SelectionWarning)  # all threads share the filters
        with closing(Executor(n_jobs).run(select, seed, tasks)) as results:
            for selection in results:
                selections.append(selection)
                observer.on_progress(1)
    return Stability(names, tuple(selections), fraction, frame_library(X))


def subsample(
    units: IntArray, strata: IntArray, fraction: float, seed: int, number: int
) -> IntArray:
    """Return the rows of a random subsample, a pure function of seed and number, in order.

    A fraction of each stratum, and at least one, of the units, rows or groups, is sampled; `units`
    has shape (n_samples,), `strata` has shape (n_units,).
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


def _classes(y: Any, n_samples: int) -> IntArray:
    """Return the class of every row; a single one if the target has no classes."""
    if y is None:
        return np.zeros(n_samples, dtype=np.int64)
    target = Block(tuple(map(to_target, read_vectors(y, TARGET))))
    if target.n_samples != n_samples:
        raise ValueError(
            f"X has {n_samples} rows, but y has {target.n_samples}: pass one value of y per row."
        )
    is_nominal = all(feature_type == "nominal" for feature_type in target.feature_types)
    return target.codes() if is_nominal else np.zeros(n_samples, dtype=np.int64)
