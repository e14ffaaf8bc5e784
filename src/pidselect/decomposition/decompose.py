"""From samples to a decomposition in one call."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from numbers import Number, Real
from time import perf_counter
from typing import Any

import numpy as np

from pidselect.data import (
    CLASS_LEVELS,
    FEATURE_TYPES,
    Block,
    FeatureType,
    FeatureTypes,
    FloatArray,
    check_choice,
    is_frame,
    warn_caller,
)
from pidselect.data.feature_types import to_column, to_target
from pidselect.data.frames import library_of, read_vectors
from pidselect.data.messages import did_you_mean
from pidselect.data.raw import RawColumn
from pidselect.decomposition.binning import BINNINGS, Binning
from pidselect.decomposition.inference import Request, doubt, n_draws
from pidselect.decomposition.measures import MEASURES, to_decomposition
from pidselect.decomposition.result import Decomposition
from pidselect.decomposition.samples import CONTINUOUS, DiscreteSample, Sample, to_sample
from pidselect.estimators.information import NATS_PER_UNIT, Unit
from pidselect.significance.validation import RandomState, check_count, check_jobs, to_seed

logger = logging.getLogger(__name__)

#: Seconds from which on work is long.
LONG = 60

#: With fewer samples for each joint state that occurs, the bias of all atoms together is 0.1 bit or
#: more. States that say the same of the target are not merged first: among those met once there are
#: many such, and to merge them would hide that samples are few.
FEWEST_PER_STATE = 5

TARGET = "target"

#: What rounding may have done to a number of draws.
ROUNDING = 1e-6


def decompose(
    sources: Iterable[Any],
    target: Any,
    *,
    measure: str = "broja",
    bins: int = 5,
    binning: Binning = "count",
    unit: Unit = "bit",
    feature_types: FeatureTypes | None = None,
    n_permutations: int = 0,
    n_bootstrap: int = 0,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Decomposition:
    """Decompose what several sources tell about a target, from samples.

    Parameters
    ----------
    sources : sequence of arrays, series or dataframes, each (n_samples,) or (n_samples, n_columns)
        One for each source; several columns are one joint variable.
    target : array, series or dataframe
        One or several columns, one joint variable.
    measure : str
        "broja", "ccs" (two sources), "imin", "mmi", "sx" (two to five) count states, see
        `decompose_distribution`. "gaussian" and "sx-ksg" take measurements as they are.
    bins : int
        The number of bins of a continuous column, for measures that count states. Whole numbers
        with few levels, bools and labels are states as they are.
    binning : {"count", "width"}
        Bins of equally many samples, or of equal width.
    unit : {"bit", "nat"}
    kinds : mapping of name to kind, or sequence of a kind for each source (and target), optional
        "continuous", "ordinal" or "nominal" where the inferred kind is not wanted. Names are
        "source 1", "source 2", ..., "target", or those of columns in dataframes and series.
    n_permutations : int
        If above 0, a p-value for each atom, from so many permutations of each source.
    n_bootstrap : int
        If above 0, an interval for each atom, from so many resamples; bins stay as they are. Either
        of the two also gives values corrected for bias, but for "sx-ksg", which has hardly any.
        The page docs/doubt.md shows what all of these are worth.
    confidence : float
        Of the intervals.
    n_jobs : int, optional
        The number of threads; the result does not depend on it.
    random_state : int, Generator, RandomState or None
        The seed of permutations and resamples.

    Returns
    -------
    Decomposition

    Warns
    -----
    UserWarning
        If there are fewer than five samples for each joint state that occurs.

    Examples
    --------
    Whether the lamp is on: two switches, each of which alone says nothing.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> upstairs, downstairs = rng.integers(0, 2, size=(2, 500))
    >>> result = decompose([upstairs, downstairs], upstairs ^ downstairs)
    >>> round(result.synergy, 2), round(result.shared, 2)
    (0.99, 0.0)
    """
    check_choice(measure, (*MEASURES, *CONTINUOUS), "measure")
    check_choice(binning, BINNINGS, "binning")
    check_choice(unit, tuple(NATS_PER_UNIT), "unit")
    check_count(bins, "bins", at_least=2)
    check_draws(n_permutations, n_bootstrap, confidence)
    check_jobs(n_jobs)
    listed = _list(sources)
    blocks = read_sources(listed, target, feature_types)
    subject = to_sample(blocks[:-1], blocks[-1], measure, bins, binning)
    if isinstance(subject, DiscreteSample) and subject.samples_per_state < FEWEST_PER_STATE:
        warn_caller(_too_few(subject, bins, blocks))
    request = Request(n_permutations, n_bootstrap, confidence, to_seed(random_state), n_jobs)
    if isinstance(subject, DiscreteSample) and n_draws(subject, request):
        # As observed, states that say the same of the target are merged; in draws they may differ.
        reason = MEASURES[measure].too_large(subject.shape)
        if reason:
            raise ValueError(reason)
    return replace(
        describe(subject, measure, unit, request),
        variables=_names(blocks),
        frame_library=library_of(*listed, target),
    )


def _names(blocks: Sequence[Block]) -> tuple[str, ...] | None:
    """Return what the sources and the target are called, if any of them has a name of its own."""
    names = tuple(", ".join(block.names) for block in blocks)
    own = [name for name in names if name != TARGET and not name.startswith("source ")]
    return names if own else None


def _too_few(subject: DiscreteSample, bins: int, blocks: Sequence[Block]) -> str:
    columns = [column for block in blocks for column in block.columns]
    fewer = (
        f"fewer bins (now {bins}), " if any(c.feature_type == "continuous" for c in columns) else ""
    )
    levels = {
        c.name: c.levels() for c in columns if c.feature_type == "ordinal" and c.labels is None
    }
    most = max(levels, key=lambda name: levels[name], default="")
    if levels.get(most, 0) > CLASS_LEVELS:
        # Counts of many levels fill more states than anything else, and can be binned.
        stated = f"feature_types={{{most!r}: 'continuous'}}"
        fewer = f"{stated}, as {most!r} has {levels[most]} levels that are not binned, {fewer}"
    return (
        f"{subject.n_samples} samples fill {subject.n_states} joint states of the sources and the "
        f"target, {subject.samples_per_state:.1f} each: with fewer than {FEWEST_PER_STATE} a good "
        f"part of the atoms is bias. What helps: more samples, {fewer}fewer columns in a source, "
        'or measure="gaussian" or "sx-ksg", which count no states. n_permutations=200 corrects '
        "atoms for what chance tells."
    )


def describe(subject: Sample, measure: str, unit: Unit, request: Request) -> Decomposition:
    """Return the atoms of a sample, with as much doubt as is asked for."""
    started = perf_counter()
    parts, total = subject.parts()
    _announce(perf_counter() - started, subject, request)
    found = doubt(subject, parts.atoms, request, parts.gap)
    labels, scale = subject.lattice.labels, 1.0 / NATS_PER_UNIT[unit]

    def by_label(values: FloatArray | None) -> dict[str, Any] | None:
        return None if values is None else dict(zip(labels, values.tolist(), strict=True))

    intervals = None
    if found.intervals is not None:
        ends = (found.intervals * scale).tolist()
        intervals = {label: (low, high) for label, (low, high) in zip(labels, ends, strict=True)}
    return replace(
        to_decomposition(parts, total, subject.lattice.n_sources, measure, unit),
        n_samples=subject.n_samples,
        corrected=by_label(None if found.corrected is None else found.corrected * scale),
        p_values=by_label(found.p_values),
        intervals=intervals,
        confidence=None if intervals is None else request.confidence,
    )


def _announce(seconds: float, subject: Sample, request: Request) -> None:
    """Say so if the draws will take more than a minute, going by what one decomposition took."""
    expected = seconds * n_draws(subject, request)
    if expected < LONG:
        return
    started = perf_counter()
    subject.parts()  # once more: the first call may have compiled
    expected *= (perf_counter() - started) / seconds
    if expected >= LONG:
        logger.warning(
            "Permutations and resamples need %d decompositions, which take about %.0f minutes on "
            "one core. Fewer states or draws take less; n_jobs=-1 uses all cores.",
            n_draws(subject, request),
            expected / 60,
        )


def check_draws(n_permutations: object, n_bootstrap: object, confidence: object) -> None:
    """Refuse numbers of draws that are none, or too few for the intervals asked for."""
    check_count(n_permutations, "n_permutations", at_least=0)
    number = check_count(n_bootstrap, "n_bootstrap", at_least=0)
    if (
        isinstance(confidence, bool)
        or not isinstance(confidence, Real)
        or not 0 < float(confidence) < 1
    ):
        raise ValueError(
            f"confidence={confidence!r} must lie between 0 and 1, such as 0.95 for intervals that "
            "hold the true value in 95 of 100 samples."
        )
    needed = ceil(2 / (1 - float(confidence)) - ROUNDING)
    if 0 < number < needed:
        raise ValueError(
            f"n_bootstrap={n_bootstrap} is too few for confidence={confidence}: not one resample "
            f"would lie beyond either end. Use n_bootstrap={needed} or more."
        )


def read_sources(
    sources: Iterable[Any], target: Any, feature_types: FeatureTypes | None = None
) -> list[Block]:
    """Read all sources and, last, the target; they must be complete and of one length."""
    listed = _list(sources)
    names = [f"source {number}" for number in range(1, len(listed) + 1)]
    raws = {name: _read(values, name) for name, values in zip(names, listed, strict=True)}
    raws[TARGET] = _read(target, TARGET)
    n_samples = len(raws[TARGET][0].values)
    for name in names:
        if len(raws[name][0].values) != n_samples:
            raise ValueError(
                f"{name} has {len(raws[name][0].values)} samples and the target has {n_samples}: "
                "each needs one value per sample."
            )
    stated = _stated(feature_types, raws)

    def to_block(name: str) -> Block:
        make = to_target if name == TARGET else to_column
        kinds_of = [stated.get(raw.name, stated.get(name)) for raw in raws[name]]
        return Block(tuple(map(make, raws[name], kinds_of)))

    return [to_block(name) for name in raws]


def _list(sources: Any) -> list[Any]:
    """Return the sources one by one, or say how to take apart what is not a list of them."""
    way_out = None
    if is_frame(sources):
        way_out = "[frame[name] for name in frame.columns] makes every column a source"
    elif isinstance(sources, np.ndarray):
        way_out = f"got one array of shape {sources.shape}; list(X.T) makes every column a source"
    elif isinstance(sources, Mapping):
        way_out = "list(sources.values()) takes those of a mapping"
    elif isinstance(sources, str) or not isinstance(sources, Iterable):
        way_out = f"got {sources!r}"
    if way_out is not None:
        raise TypeError(
            "sources must be a list with one array, series or dataframe for each source, such as "
            f"[x1, x2]: {way_out}. (An array of several columns in the list is one joint source.)"
        )
    listed = list(sources)
    for source in listed:
        if source is None or isinstance(source, str | Number):
            raise TypeError(
                "sources must be a list with one array, series or dataframe for each source, such "
                f"as [x1, x2], and the target comes second; but {source!r} in it is a single "
                "value. Pass columns by their values, not by their names."
            )
    return listed


def _read(values: Any, name: str) -> tuple[RawColumn, ...]:
    """Read the columns of one variable, in which nothing may be missing."""
    try:
        raws = read_vectors(values, name)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error
    for raw in raws:
        column = "" if raw.name == name else f", column {raw.name!r},"
        bad = ~np.isfinite(raw.values)
        if bad.any():
            row = int(np.argmax(bad))
            raise ValueError(
                f"{name}{column} has {np.count_nonzero(bad)} missing or infinite values, the first "
                f"in row {row} ({raw.values[row]}). Leave out these rows in all variables, or fill "
                "in the values first."
            )
    return raws


def _stated(
    feature_types: Any, raws: Mapping[str, tuple[RawColumn, ...]]
) -> dict[str, FeatureType]:
    """Return the kinds stated, by the name of a variable or of a column."""
    if feature_types is None:
        return {}
    if not isinstance(feature_types, Mapping):
        n_sources = len(raws) - 1
        if not isinstance(feature_types, Sequence) or isinstance(feature_types, str):
            raise TypeError(
                f"feature_types={feature_types!r} must map names to types, such as "
                "{'source 1': 'nominal'}, or list one for each source."
            )
        if len(feature_types) not in (n_sources, n_sources + 1):
            raise ValueError(
                f"feature_types={feature_types!r} must list one type for each of the {n_sources} "
                "sources (and one more for the target), or map names to types, such as "
                "{'source 1': 'nominal', 'target': 'continuous'}."
            )
        feature_types = dict(zip(raws, feature_types, strict=False))  # the target comes last
    known = dict.fromkeys([*raws, *(raw.name for columns in raws.values() for raw in columns)])
    for name, feature_type in feature_types.items():
        if name not in known:
            raise ValueError(f"kinds names no variable {name!r}{did_you_mean(name, known)}")
        check_choice(feature_type, FEATURE_TYPES, f"kinds[{name!r}]")
    return dict(feature_types)
