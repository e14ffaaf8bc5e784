"""Fits of tables in partitions: a sample of rows, or counts of all rows if columns are discrete.

Nearest neighbours and ranks need rows: they use a random sample, the same for any partitioning.
Discrete columns need their contingency tables alone, which are summed over the partitions, and the
null distribution is drawn from the margins.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
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
from pidselect.selection.result import Settings
from pidselect.selection.validation import Parameters, check_parameters
from pidselect.significance import GIVEN_ONLY, MARGINS, WITHIN_PARTS

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
    if both := set(targets) & set(grouped):
        raise ValueError(f"y and groups both name {quoted(sorted(both))}: pass different columns.")
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
    known = partitions.names
    names = (wanted,) if isinstance(wanted, str) else wanted
    if (
        not isinstance(names, tuple | list)
        or not names
        or not all(isinstance(n, str) for n in names)
    ):
        raise TypeError(
            f"{argument} of a table in partitions is the name of a column of X, got "
            f"{type(wanted).__name__}; for example {argument}={known[-1]!r}"
        )
    if len(set(names)) < len(names):
        raise ValueError(f"{argument}={wanted!r} names a column twice.")
    try:
        return tuple(known_names(names, known))
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None


def use_partitions(
    dataset: Dataset, sample: PartitionedSample, parameters: Parameters, estimator: Any
) -> tuple[Dataset, Parameters]:
    """Return the sampled dataset, with counts of all rows where these are used, and parameters."""
    with_counts = count_all_rows(dataset, sample, parameters, estimator)
    target = (dataset if with_counts is None else with_counts).target
    if all(column.levels() == 1 for column in target.columns):
        is_known = with_counts is not None or sample.is_all
        rows = "all" if is_known else f"a sample of {len(sample.X):,} of {sample.n_rows:,}"
        remedy = "pass a target that varies" if is_known else "use a larger max_samples"
        raise ValueError(f"the target is constant in {rows} rows; {remedy}")
    if with_counts is not None:
        return with_counts, replace(parameters, surrogates=(MARGINS,))
    if parameters.max_samples is None and not sample.is_all:
        raise ValueError(
            f"max_samples=None would gather all {sample.n_rows:,} rows of the partitions: use a "
            "number of rows, or fit a table in memory."
        )
    return dataset, parameters


def count_all_rows(
    dataset: Dataset, sample: PartitionedSample, parameters: Parameters, estimator: Any
) -> Dataset | None:
    """Return the sampled dataset with the counts of all rows; None if the sample is to be used.

    Counts are used for discrete columns with few levels if there are more rows than sampled, and
    wherever the scheme "margins" is requested, unless `max_samples` is a number.
    """
    if not _may_count(parameters):
        return None
    is_requested = parameters.surrogates == (MARGINS,)
    is_auto = isinstance(estimator, str) and estimator == "auto"
    if not is_requested:
        schemes = set(parameters.surrogates)
        schemes_fit = bool(schemes & GIVEN_ONLY) and schemes <= WITHIN_PARTS
        is_counted = is_auto or isinstance(estimator, Discrete) or estimator == "discrete"
        by_cmi = isinstance(parameters.criterion, Conditional)
        if sample.is_all or sample.groups is not None:
            return None
        if not (schemes_fit and is_counted and by_cmi and _is_discrete(dataset)):
            return None
    reasons = dataset.table.skipped.items()
    skipped = {dataset.table.names[place] for place, why in reasons if why != "constant"}
    levels = _find_levels(dataset, sample, skipped)
    if is_auto and not is_requested and not all(map(_is_few, levels.values())):
        return None
    return with_counts(dataset, _joint_counts(sample.partitions, levels, parameters.missing))


def with_all_counts(
    dataset: Dataset, sample: PartitionedSample, missing: Missing, skipped: Collection[str]
) -> Dataset:
    """Return the sampled dataset with the counts of all rows of its discrete columns."""
    levels = _find_levels(dataset, sample, skipped)
    return with_counts(dataset, _joint_counts(sample.partitions, levels, missing))


def _find_levels(
    dataset: Dataset, sample: PartitionedSample, skipped: Collection[str]
) -> dict[str, Levels | None]:
    """Return the levels of the target and of the discrete columns that are not skipped."""
    columns = (c for c in dataset.table.columns if c.is_discrete and c.name not in skipped)
    return find_levels(sample.partitions, [*(c.name for c in columns), *dataset.target.names])


def counts_rows(settings: Settings, parameters: Parameters) -> bool:
    """Return whether a fit of a table in partitions counted all rows."""
    return settings.surrogates == (MARGINS,) and _may_count(parameters)


def _may_count(parameters: Parameters) -> bool:
    """Return whether no number of samples is requested, which are then drawn."""
    return not isinstance(parameters.max_samples, int)


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
            f"missing values in the partitions: {', '.join(gaps)}. Use missing='category' to treat "
            "them as a separate level, or drop their rows first, as with X.dropna(): where rows "
            "are counted, missing='drop' is not available."
        )
    return JointCounts(partitions, known, partitions.n_rows)
