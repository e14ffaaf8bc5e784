"""Fits of tables in partitions: a sample of rows, or counts of all rows if columns are discrete.

Nearest neighbours and ranks need rows: they use a random sample, the same for any partitioning.
Discrete columns need their contingency tables alone, which are summed over the partitions, and the
null distribution is drawn from the margins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pidselect.data import CLASS_LEVELS, Dataset, Missing, select_columns
from pidselect.data.counts import JointCounts, Levels, find_levels, with_counts
from pidselect.data.messages import counted, quoted
from pidselect.data.partitions import (
    DaskFrame,
    Partitions,
    Run,
    gather_sample,
    known_names,
    to_partitions,
)
from pidselect.estimators import Discrete
from pidselect.selection.criteria import Conditional
from pidselect.selection.executor import Executor
from pidselect.selection.validation import Parameters, check_parameters
from pidselect.significance import GIVEN_ONLY, MARGINS

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector

#: Rows that are sampled where max_samples is "auto". A sample of 30 columns is 24 MB; estimators
#: other than nearest neighbours use all of it.
SAMPLE_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class PartitionedSample:
    """A random sample of the rows of a table in partitions, and where it comes from."""

    X: Any
    y: Any
    groups: Any
    partitions: Partitions
    n_rows: int  # of all partitions

    @property
    def is_all(self) -> bool:
        """Whether the sample has all rows."""
        return self.n_rows <= len(self.X)


def read_sample(
    X: Any,
    y: Any,
    groups: Any,
    max_samples: int | Literal["auto"] | None,
    seed: int,
    run: Run,
) -> PartitionedSample | None:
    """Return a sample of a table in partitions; None if X is none.

    `y` and `groups` are names of columns of X; of a Dask DataFrame, `y` may be a series with the
    same partitions.
    """
    partitions = to_partitions(X)
    if partitions is None:
        return None
    if isinstance(partitions, DaskFrame) and hasattr(y, "to_frame"):
        name = str(y.name)
        if name in partitions.names:
            raise ValueError(
                f"y has the name of a column of X, {name!r}: pass y={name!r} if the target is that "
                "column, or rename y."
            )
        partitions, y = DaskFrame(X.assign(**{name: y})), name
    partitions = partitions.using(run)
    targets = _names(y, partitions, "y")
    grouped = () if groups is None else _names(groups, partitions, "groups")
    n_rows = partitions.n_rows
    if not n_rows:
        raise ValueError("X has no rows: all of its partitions are empty.")
    size = max_samples if isinstance(max_samples, int) else SAMPLE_ROWS
    sample = gather_sample(partitions, min(size, n_rows), seed)
    names = partitions.names
    features = [i for i, name in enumerate(names) if name not in (*targets, *grouped)]
    if not features:
        raise ValueError("X has no columns besides y and groups.")
    return PartitionedSample(
        select_columns(sample, features),
        select_columns(sample, [names.index(name) for name in targets]),
        select_columns(sample, [names.index(name) for name in grouped]) if grouped else None,
        partitions,
        n_rows,
    )


def sample_of_fit(selector: PIDSelector, X: Any, y: Any, groups: Any) -> PartitionedSample | None:
    """Return the sample of a table in partitions that a fit of it would draw; None if X is none."""
    parameters, seed = check_parameters(selector), selector.selection_.settings.seed
    run = Executor(parameters.n_jobs).run
    return read_sample(X, y, groups, parameters.max_samples, seed, run)


def _names(wanted: Any, partitions: Partitions, argument: str) -> tuple[str, ...]:
    """Return the columns that an argument names."""
    names = (wanted,) if isinstance(wanted, str) else wanted
    if (
        not isinstance(names, tuple | list)
        or not names
        or not all(isinstance(n, str) for n in names)
    ):
        raise TypeError(
            f"{argument} of a table in partitions is the name of a column of X, got "
            f"{type(wanted).__name__}; for example {argument}={partitions.names[-1]!r}"
        )
    try:
        return tuple(known_names(names, partitions.names))
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None


def count_all_rows(
    dataset: Dataset, sample: PartitionedSample, parameters: Parameters, estimator: Any
) -> Dataset | None:
    """Return the sampled dataset with the counts of all rows; None if the sample is to be used.

    Counts are used for discrete columns with few levels if there are more rows than sampled, and
    wherever the scheme "margins" is requested, unless `max_samples` is a number.
    """
    if isinstance(parameters.max_samples, int):
        return None
    is_requested = parameters.surrogates == (MARGINS,)
    is_auto = isinstance(estimator, str) and estimator == "auto"
    if not is_requested:
        schemes_fit = not GIVEN_ONLY.isdisjoint(parameters.surrogates)
        is_counted = is_auto or isinstance(estimator, Discrete) or estimator == "discrete"
        by_cmi = isinstance(parameters.criterion, Conditional)
        if sample.is_all or sample.groups is not None:
            return None
        if not (schemes_fit and is_counted and by_cmi and _is_discrete(dataset)):
            return None
    table, skipped = dataset.table, dataset.table.skipped
    used = [
        column.name
        for place, column in enumerate(table.columns)
        if column.is_discrete and skipped.get(place, "constant") == "constant"
    ]
    levels = find_levels(sample.partitions, [*used, *dataset.target.names])
    if is_auto and not is_requested and not all(map(_is_few, levels.values())):
        return None
    return with_counts(dataset, _joint_counts(sample.partitions, levels, parameters.missing))


def with_all_counts(dataset: Dataset, sample: PartitionedSample, missing: Missing) -> Dataset:
    """Return the sampled dataset with the counts of all rows of its discrete columns."""
    used = [column.name for column in dataset.table.columns if column.is_discrete]
    levels = find_levels(sample.partitions, [*used, *dataset.target.names])
    return with_counts(dataset, _joint_counts(sample.partitions, levels, missing))


def _is_few(levels: Levels | None) -> bool:
    return levels is not None and len(levels) <= CLASS_LEVELS


def _is_discrete(dataset: Dataset) -> bool:
    """Return whether the target and all columns that are not skipped are discrete."""
    skipped = dataset.table.skipped
    used = (c for place, c in enumerate(dataset.table.columns) if place not in skipped)
    return all(column.is_discrete for column in (*used, *dataset.target.columns))


def _joint_counts(
    partitions: Partitions, levels: dict[str, Levels | None], missing: Missing
) -> JointCounts:
    known = {name: one for name, one in levels.items() if one is not None}
    if many := [name for name in levels if name not in known]:
        raise ValueError(
            f"{counted(len(many), 'column')} with too many levels to count: {quoted(many)}. Leave "
            'them out, or use estimator="auto", which takes a sample of rows.'
        )
    gaps = [f"{name!r} ({one.n_missing} missing)" for name, one in known.items() if one.n_missing]
    if gaps and missing != "category":
        raise ValueError(
            f"Input X contains NaN: {', '.join(gaps)}. Use missing='category' to treat them as a "
            "separate level, or drop their rows first, as with X.dropna()."
        )
    return JointCounts(partitions, known, partitions.n_rows)
