"""`decompose`: the partial information decomposition of samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil
from numbers import Number, Real
from typing import Any

import numpy as np

from pidselect.data import (
    CLASS_LEVELS,
    Block,
    Column,
    FeatureType,
    FeatureTypes,
    check_choice,
    is_frame,
    warn_caller,
)
from pidselect.data.feature_types import TARGET, stated_feature_types, to_column, to_target
from pidselect.data.input import frame_library, read_vectors
from pidselect.data.raw_column import RawColumn
from pidselect.decomposition.binning import BINNINGS, Binning, count_bins, is_binned
from pidselect.decomposition.inference import InferenceSettings, infer
from pidselect.decomposition.measures import MEASURES, to_decomposition
from pidselect.decomposition.result import Decomposition, SourceTest
from pidselect.decomposition.samples import CONTINUOUS, DiscreteSample, to_sample
from pidselect.estimators.base import NATS_PER_UNIT, Unit
from pidselect.significance.permutation_test import fewest_permutations
from pidselect.significance.validation import RandomState, check_count, check_jobs, to_seed

#: With fewer samples per joint state that occurs, the bias of all atoms together is 0.1 bit or
#: more. States of equal p(target | state) are not merged first: many of those that occur once are
#: equal by chance, and merging would hide that samples are few.
FEWEST_PER_STATE = 5


def decompose(
    sources: Iterable[Any],
    target: Any,
    *,
    measure: str = "broja",
    bins: int | None = 5,
    binning: Binning = "count",
    unit: Unit = "bit",
    feature_types: FeatureTypes | None = None,
    n_permutations: int = 0,
    n_bootstrap: int = 0,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: RandomState = None,
) -> Decomposition:
    """Decompose the information of several sources about a target, from samples.

    Parameters
    ----------
    sources : sequence of arrays, series or dataframes, each (n_samples,) or (n_samples, n_columns)
        One for each source; several columns are one joint variable.
    target : array, series or dataframe
        One or several columns, one joint variable.
    measure : str
        Measures of discrete states, see `decompose_distribution`: "broja", "ccs" (exactly two
        sources), "imin", "mmi", "sx" (two to five). Measures of continuous columns (two to five
        sources): "gaussian" and "sx-ksg".
    bins : int or None
        The number of bins of a column of numbers with many values (continuous, or more than 20
        integers), for measures of discrete states. Up to 20 integers, bools and labels are states
        as they are; `binned` of the result has the columns that are not. None for no bins: every
        value is a state. The type "nominal" exempts a single column.
    binning : {"count", "width"}
        Bins of equal count, or of equal width.
    unit : {"bit", "nat"}
    feature_types : mapping of name to type, or sequence of types, optional
        "continuous", "ordinal" or "nominal", to override the inferred type. Names are "source 1",
        "source 2", ..., "target", or those of columns in dataframes and series. A sequence has one
        type for each source, and optionally one for the target.
    n_permutations : int
        If above 0, test for each source x, the others being the rest, the null hypotheses
        I(x; target) = 0 and I(x; target | rest) = 0 by this many permutations.
    n_bootstrap : int
        If above 0, compute a confidence interval for each atom from this many resamples, with the
        bins unchanged. With permutations, too, and a measure of nonnegative atoms, it contains 0
        unless the informations that the atom is part of are significant at level 1 - confidence.
        Permutations or resamples also give bias-corrected values, except for "sx-ksg". See
        `pidselect.decomposition.inference`.
    confidence : float
        The confidence level of the intervals.
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

    See Also
    --------
    decompose_distribution : The same of a known distribution.
    AtomBarsDisplay, LatticeDisplay : Plot the result.

    Examples
    --------
    The parity of two bits is synergistic:

    >>> import numpy as np
    >>> from pidselect import decompose
    >>> rng = np.random.default_rng(0)
    >>> x1, x2 = rng.integers(0, 2, size=(2, 500))
    >>> result = decompose([x1, x2], x1 ^ x2)
    >>> round(result.synergy, 2), round(result.shared, 2)
    (0.99, 0.0)
    """
    check_choice(measure, (*MEASURES, *CONTINUOUS), "measure")
    check_choice(binning, BINNINGS, "binning")
    check_choice(unit, tuple(NATS_PER_UNIT), "unit")
    if bins is not None:
        check_count(bins, "bins", at_least=2)
    _check_inference(n_permutations, n_bootstrap, confidence)
    check_jobs(n_jobs)
    listed = _list(sources)
    blocks = read_sources(listed, target, feature_types)
    sample = to_sample(blocks[:-1], blocks[-1], measure, bins, binning)
    settings = InferenceSettings(
        n_permutations, n_bootstrap, confidence, to_seed(random_state), n_jobs
    )
    binned: dict[str, int] = {}
    if isinstance(sample, DiscreteSample):
        if bins is not None:
            for block in blocks:
                binned |= count_bins(block, bins, binning, CLASS_LEVELS)
        if sample.n_samples < FEWEST_PER_STATE * sample.n_states:
            warn_caller(_few_samples_message(sample, bins, blocks))
        if n_permutations or n_bootstrap:
            # Observed states may be merged before solving; those of permutations may differ.
            MEASURES[measure].check_shape(sample.shape)
    found, total = sample.decompose()
    corrected, tests, intervals = infer(sample, found.atoms, settings)
    labelled, scale = sample.lattice.labelled, 1.0 / NATS_PER_UNIT[unit]
    defaults = [*(f"source {number}" for number in range(1, len(blocks))), TARGET]
    is_named = [block.names[0].removesuffix("[0]") for block in blocks] != defaults
    names = [", ".join(block.names) for block in blocks] if is_named else defaults
    source_tests = None
    if tests is not None:
        rows = np.stack([tests[0] * scale, tests[1]], axis=2).reshape(-1, 4).tolist()
        tested = zip(names[:-1], rows, strict=True)
        source_tests = tuple(SourceTest(name, *row) for name, row in tested)
    return replace(
        to_decomposition(found, total, len(listed), measure, unit),
        n_samples=sample.n_samples,
        corrected=None if corrected is None else labelled(corrected, scale),
        source_tests=source_tests,
        intervals=None if intervals is None else labelled(intervals, scale),
        confidence=None if intervals is None else confidence,
        binned=binned or None,
        variables=tuple(names) if is_named else None,
        frame_library=frame_library(*listed, target),
    )


def _few_samples_message(sample: DiscreteSample, bins: int | None, blocks: Sequence[Block]) -> str:
    columns = sum(blocks, Block()).columns
    numbers = [column for column in columns if is_binned(column, CLASS_LEVELS)]
    remedies = ["more samples"]
    if numbers and bins is None:
        most = max(numbers, key=Column.levels)
        remedies.append(f"bins=5 to bin columns such as {most.name!r}, of {most.levels()} values")
    elif numbers:
        remedies.append(f"fewer bins (now {bins})")
    remedies += ["fewer columns per source", 'measure="gaussian" or "sx-ksg", which need no states']
    return (
        f"{sample.n_samples} samples over {sample.n_states} joint states of the sources and the "
        f"target are {sample.n_samples / sample.n_states:.1f} per state; with fewer than "
        f"{FEWEST_PER_STATE} the atoms are strongly biased. Use {', '.join(remedies)}; "
        "n_permutations=200 also returns bias-corrected atoms."
    )


def _check_inference(n_permutations: object, n_bootstrap: object, confidence: object) -> None:
    """Raise for invalid settings, and for too few of them for the confidence level."""
    n = check_count(n_permutations, "n_permutations", at_least=0)
    number = check_count(n_bootstrap, "n_bootstrap", at_least=0)
    if not isinstance(confidence, Real) or not 0 < float(confidence) < 1:  # True is 1
        raise ValueError(f"confidence={confidence!r} must lie between 0 and 1, such as 0.95.")
    needed = ceil(2 / (1 - float(confidence)) - 1e-6)  # but for rounding
    if 0 < number < needed:
        raise ValueError(
            f"n_bootstrap={n_bootstrap} is too few for confidence={confidence}: no resample would "
            f"lie outside the interval. Use n_bootstrap={needed} or more."
        )
    alpha = 1 - float(confidence)
    if number and n and n < (needed := fewest_permutations(alpha)):
        raise ValueError(
            f"n_permutations={n} is too few for intervals of confidence={confidence}: no p-value "
            f"would be at most {alpha:.3g}. Use n_permutations={needed} or more."
        )


def read_sources(
    listed: Sequence[Any], target: Any, feature_types: FeatureTypes | None
) -> list[Block]:
    """Return the blocks of all sources and, last, the target; complete and of one length."""
    names = [f"source {number}" for number in range(1, len(listed) + 1)]
    raws = {name: _read(values, name) for name, values in zip(names, listed, strict=True)}
    raws[TARGET] = _read(target, TARGET)
    n_samples = {name: len(columns[0].values) for name, columns in raws.items()}
    for name, n in n_samples.items():
        if n != n_samples[TARGET]:
            raise ValueError(
                f"{name} has {n} samples and the target has {n_samples[TARGET]}: each needs one "
                "value per sample."
            )
    stated, blocks = _stated_types(feature_types, raws), []
    for name, columns in raws.items():
        make = to_target if name == TARGET else to_column
        types = [stated.get(raw.name, stated.get(name)) for raw in columns]
        blocks.append(Block(tuple(map(make, columns, types))))
    return blocks


def _list(sources: Any) -> list[Any]:
    """Return the sources one by one; raise with a remedy for anything but a list of them."""
    remedy = None
    if is_frame(sources):
        remedy = "[frame[name] for name in frame.columns] makes every column a source"
    elif isinstance(sources, np.ndarray):
        remedy = f"got one array of shape {sources.shape}; list(X.T) makes every column a source"
    elif isinstance(sources, Mapping):
        remedy = "pass list(sources.values()) of a mapping"
    elif isinstance(sources, str) or not isinstance(sources, Iterable):
        remedy = f"got {sources!r}"
    listed = [] if remedy else list(sources)
    if single := [one for one in listed if one is None or isinstance(one, str | Number)]:
        remedy = f"{single[0]!r} is a single value. Pass the values of columns, not their names"
    if remedy is not None:
        raise TypeError(
            f"sources must be a list with one array, series or dataframe for each source, such as "
            f"[x1, x2], followed by the target: {remedy}. (An array of several columns in the list "
            "is one joint source.)"
        )
    return listed


def _read(values: Any, name: str) -> tuple[RawColumn, ...]:
    """Read the columns of one variable; raise if values are missing."""
    try:
        raws = read_vectors(values, name)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error
    for raw in raws:
        bad = ~np.isfinite(raw.values)
        if bad.any():
            column = "" if raw.name == name else f", column {raw.name!r},"
            row = int(np.argmax(bad))
            raise ValueError(
                f"{name}{column} has {np.count_nonzero(bad)} missing or infinite values, the first "
                f"in row {row} ({raw.values[row]}). Drop these rows in all variables, or impute "
                "the values first."
            )
    return raws


def _stated_types(
    feature_types: FeatureTypes | None, raws: Mapping[str, tuple[RawColumn, ...]]
) -> dict[str, FeatureType]:
    """Return the stated feature types by the name of a variable or of a column."""
    names = list(raws)
    if isinstance(feature_types, Mapping):
        columns = [raw.name for columns in raws.values() for raw in columns]
        names = list(dict.fromkeys([*names, *columns]))
    elif isinstance(feature_types, Sequence) and len(feature_types) < len(names):
        names.remove(TARGET)  # whose type is optional
    types = zip(names, stated_feature_types(feature_types, names), strict=True)
    return {name: stated for name, stated in types if stated is not None}
