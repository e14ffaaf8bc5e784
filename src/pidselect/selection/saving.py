"""Saved selectors: the JSON file of `PIDSelector.save` and `PIDSelector.load`.

The file holds parameters and fitted attributes, but no rows. A value in it is a number, a text, a
list or a mapping; an object is the name of a class that is registered here, with its parameters.
Nothing else can be built from a file, and nothing in it is executed or imported. All of it is
checked before a selector is built, and a file that fails any check is refused as a `FileError`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import lru_cache
from math import isfinite
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import sklearn

from pidselect import __version__
from pidselect.data import FEATURE_TYPES, Column, FeatureType, Table
from pidselect.data.formats import FileError
from pidselect.data.io import atomic_write
from pidselect.data.messages import quoted, to_plain
from pidselect.decomposition.explanation import Role
from pidselect.estimators import ESTIMATORS
from pidselect.selection.criteria import CRITERIA
from pidselect.selection.executor import DEVICES
from pidselect.selection.json_file import (
    DamagedFileError,
    OtherFormatError,
    compose,
    file_header,
    parse,
)
from pidselect.selection.pairwise_criteria import LinearCriterion
from pidselect.selection.pool import column_positions, read_groups
from pidselect.selection.result import Selection, Step
from pidselect.selection.validation import CONSTRAINTS, one_of, to_alpha, to_schemes
from pidselect.significance.validation import MAX_SEED, to_seed

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector

Loaded = TypeVar("Loaded", bound="PIDSelector")

WHAT, FORMAT = "pidselect selector", 1

#: The largest file that is read; that of a fit of a million columns has about 350 MB.
MAX_BYTES = 2**31

AGAIN = "Copy it again, or save the selector again"

#: Classes of objects in parameters, by name: those of the registries, and the general criterion.
ESTIMATOR_TYPES = {cls.__name__: cls for cls in (type(make()) for make in ESTIMATORS.values())}
CRITERION_TYPES = {cls.__name__: cls for cls in (*map(type, CRITERIA.values()), LinearCriterion)}
TYPES: Mapping[str, type[Any]] = {**ESTIMATOR_TYPES, **CRITERION_TYPES}

#: Libraries of dataframes that a fit can have had its columns from.
LIBRARIES = ("pandas", "polars", "pyarrow", "modin", "cudf", "dask", None)


@dataclass(frozen=True, eq=False)
class FittedState:
    """The fitted attributes of a selector, without those that follow from others."""

    feature_types: Mapping[str, FeatureType]
    has_names: bool  # of columns, else they have the default names
    target_names: tuple[str, ...] | None
    ranking: tuple[int, ...]
    scores: tuple[float, ...]
    p_values: tuple[float, ...]
    selected: tuple[int, ...]
    roles: Mapping[str, Role]
    selection: Selection
    digest: str  # of the data, by which `explain` recognises the rows of the fit
    output: Literal["default", "pandas", "polars"] | None  # of set_output
    fit_request: Mapping[str, bool | str | None] | None  # of set_fit_request

    @classmethod
    def of(cls, selector: PIDSelector) -> FittedState:
        """Return the state of a fitted selector."""
        request = getattr(selector, "_metadata_request", None)
        return cls(
            feature_types=selector.feature_types_,
            has_names=hasattr(selector, "feature_names_in_"),
            target_names=selector._target,
            ranking=tuple(selector.ranking_.tolist()),
            scores=tuple(selector.scores_.tolist()),
            p_values=tuple(selector.pvalues_.tolist()),
            selected=tuple(selector.selected_.tolist()),
            roles=selector.roles_,
            selection=selector.selection_,
            digest=selector._digest,
            output=getattr(selector, "_sklearn_output_config", {}).get("transform"),
            fit_request=None if request is None else request.fit.requests,
        )

    def restore(self, selector: PIDSelector) -> None:
        """Set the fitted attributes."""
        n_columns, names = len(self.ranking), list(self.feature_types)
        selector.n_features_in_ = n_columns
        if self.has_names:
            selector.feature_names_in_ = np.array(names, dtype=object)
        selector._digest, selector._target = self.digest, self.target_names
        selector.feature_types_ = dict(self.feature_types)
        selector.selected_ = np.array(self.selected, dtype=int)
        selector.n_features_ = len(self.selected)
        selector.ranking_ = np.array(self.ranking, dtype=np.int64)
        selector.support_ = selector.ranking_ == 1
        selector.scores_, selector.pvalues_ = np.array(self.scores), np.array(self.p_values)
        selector.selection_, selector.roles_ = self.selection, dict(self.roles)
        if self.output is not None:
            selector.set_output(transform=self.output)
        if self.fit_request is not None:
            with sklearn.config_context(enable_metadata_routing=True):
                cast(Any, selector).set_fit_request(**self.fit_request)

    def check(self, parameters: Mapping[str, Any], estimator: Any) -> None:
        """Raise a ValueError unless the attributes fit each other and the parameters."""
        names, record = list(self.feature_types), self.selection
        n_targets = len(record.settings.target_types)
        is_named = self.target_names is None or len(self.target_names) == n_targets
        _require(is_named, "the target has not one type for each column")
        for values in (self.ranking, self.scores, self.p_values):
            _require(len(values) == len(names), "a list has not one value for each column")
        places = [place for place, rank in enumerate(self.ranking) if rank == 1]
        _require(sorted(self.selected) == places, "selected columns are not those of rank 1")
        _check_p_values(self.p_values)
        others = sorted(rank for rank in self.ranking if rank != 1)
        _require(others == [*range(2, len(others) + 2)], "ranks are not 1, 2, 3, ...")
        columns = [Column(name, kind, np.zeros(2)) for name, kind in self.feature_types.items()]
        table, groups = Table(tuple(columns)), parameters["feature_groups"]
        known = {*names, *(() if groups is None else read_groups(table, groups))}
        if (fixed := parameters["fixed_features"]) is not None:
            column_positions(table, fixed, "fixed_features")
        for name in self.roles:
            _require(name in known, f"{name!r} is neither a column nor one of feature_groups")
        _require(record.frame_library in LIBRARIES, "the library of dataframes is unknown")
        _check_record(record, known)
        is_portfolio = not isinstance(record.settings.estimator, str)
        used = estimator if is_portfolio else (estimator,)
        n_recorded = len(record.settings.estimator) if is_portfolio else 1
        is_recorded = isinstance(used, tuple) and len(used) == n_recorded
        _require(is_recorded and all(map(_is_estimator, used)), "estimators are not as recorded")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _check_record(record: Selection, known: set[str]) -> None:
    """Raise a ValueError unless the record is one of a fit of these features."""
    settings = record.settings
    to_alpha(settings.alpha)
    to_schemes(settings.surrogates, "surrogates")
    to_seed(settings.seed)
    counts = (settings.n_samples, settings.n_pilot, settings.n_random_starts)
    _require(min(counts) >= 0, "a number of samples or permutations is negative")
    if isinstance(settings.n_permutations, int):
        _require(settings.n_permutations >= 0, "a number of permutations is negative")
    _require(len(settings.target_types) > 0, "there is no target")
    included = (*record.fixed_features, *record.selected)
    several = (*included, *record.p_values, *record.bits_added, *record.skipped)
    for name in (*several, *record.duplicates, *record.duplicates.values()):
        _require(name in known, f"{name!r} is no feature")
    _check_p_values(record.p_values.values())
    for step in record.tests:
        _check_step(step)
    for name in record.selected:
        try:
            record.inclusion_step(name)
        except KeyError:
            raise ValueError(f"{name!r} was never included") from None


def _check_step(step: Step) -> None:
    n = len(step.candidates)
    for values in (step.values, step.scores, step.estimators):
        _require(len(values) == n, "a step has not one value for each candidate")
    _require(len(step.p_values) in (0, n), "a step has not one p-value for each candidate")
    _require(step.chosen in step.candidates, "a step has no chosen candidate")
    _check_p_values((*step.p_values, *(() if step.p_value is None else (step.p_value,))))


def _check_p_values(values: Iterable[float]) -> None:
    _require(not any(p < 0 or p > 1 for p in values), "a p-value is not between 0 and 1")


# --- the file -----------------------------------------------------------------------------------


def save_selector(selector: PIDSelector, path: str | PathLike[str]) -> None:
    """Write a fitted selector to a file; raise a ValueError if it cannot be saved."""
    place = Path(path)
    if not place.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(place.parent)!r}; create it first")
    parameters = selector.get_params(deep=False)
    if isinstance(parameters["random_state"], np.random.Generator | np.random.RandomState):
        parameters["random_state"] = selector.selection_.settings.seed
    record = {
        "pidselect": __version__,
        "parameters": {name: encode(value, name) for name, value in parameters.items()},
        "estimator": encode(selector.estimator_, "estimator"),
        "fitted": to_plain(asdict(FittedState.of(selector))),
    }
    content = b"".join(compose(WHAT, FORMAT, record))
    try:
        if json.loads(content)["record"] != record:
            raise ValueError("a name holds surrogates in pairs: rename the column")
        _read(content, type(selector))
    except (DamagedFileError, *UNREADABLE) as error:
        raise ValueError(f"The selector cannot be saved, as {error}.") from error
    with atomic_write(place) as file:
        file.write(content)


def load_selector(cls: type[Loaded], path: str | PathLike[str]) -> Loaded:
    """Return the selector of a file; raise a `FileError` if anything in it is wrong."""
    place = Path(path)
    if place.is_dir():
        raise FileError(path, "it is a folder", "Give the path of a file in it")
    header = file_header(WHAT)
    with place.open("rb") as file:
        content = file.read(len(header))
        if content != header:  # the file may be of any size
            remedy = "Give the path of a file that was written by PIDSelector.save"
            raise FileError(path, "it is no saved selector", remedy)
        content += file.read(MAX_BYTES)
        if file.read(1):
            raise FileError(path, f"it is larger than {MAX_BYTES / 2**20:.0f} MiB", AGAIN)
    try:
        return _read(content, cls)
    except OtherFormatError as error:
        remedy = "Load it with that version, or fit and save the selector again"
        raise FileError(path, f"it {error}", remedy) from error
    except DamagedFileError as error:
        raise FileError(path, f"it {error}", AGAIN) from error
    except UNREADABLE as error:
        raise FileError(path, f"it is modified: {error}", AGAIN) from error


#: What a file causes that has a right checksum and wrong values.
UNREADABLE = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)


def _read(content: bytes, cls: type[Loaded]) -> Loaded:
    """Return the selector of a file; raise unless everything in it is valid."""
    record = parse(content, FORMAT)["record"]
    _require(record.keys() == {"pidselect", "parameters", "estimator", "fitted"}, "keys differ")
    from_plain(str, record["pidselect"])
    parameters = {name: decode(value) for name, value in record["parameters"].items()}
    check_parameters(parameters)
    estimator, state = decode(record["estimator"]), from_plain(FittedState, record["fitted"])
    state.check(parameters, estimator)
    selector = cls(**parameters)
    selector.estimator_ = estimator
    state.restore(selector)
    return selector


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise a ValueError unless these are the parameters of a selector; its device may be absent.

    Columns that they name are checked with the fitted attributes.
    """
    columns = {"fixed_features", "feature_groups"}
    others = {"estimator", "feature_types", "random_state"}
    if changed := parameters.keys() ^ {*CONSTRAINTS, *columns, *others}:
        raise ValueError(f"the parameters {quoted(sorted(changed))} are unknown or missing")
    constraints = {**CONSTRAINTS, "device": one_of(*DEVICES)}
    for name, constraint in constraints.items():
        constraint(parameters[name], name)
    to_seed(parameters["random_state"])
    several = parameters["estimator"]
    for one in several if isinstance(several, tuple | list) else [several]:
        _require(_is_estimator(one) or one in ("auto", *ESTIMATORS), "an estimator is unknown")
    _require(several not in ((), []), "there is no estimator")
    types = parameters["feature_types"] or ()
    for one in types.values() if isinstance(types, dict) else types:
        one_of(*FEATURE_TYPES, None)(one, "feature_types")


def _is_estimator(value: object) -> bool:
    return type(value) in ESTIMATOR_TYPES.values()


# --- parameters as JSON -------------------------------------------------------------------------


def encode(value: Any, parameter: str) -> Any:
    """Return a parameter as plain types; arrays become lists, scalars of NumPy those of Python.

    Examples
    --------
    >>> from pidselect.estimators import KSG
    >>> encode(("copula", KSG(k=10)), "estimator")["items"][1]
    {'type': 'KSG', 'parameters': {'algorithm': 1, 'k': 10, 'scale': 'zscore'}}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float) and not isfinite(value):
        return {"type": "float", "text": str(float(value))}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, str):  # of a subclass, as in arrays of NumPy
        return str(value)
    if isinstance(value, list):
        return [encode(item, parameter) for item in value]
    if isinstance(value, tuple):
        return {"type": "tuple", "items": [encode(item, parameter) for item in value]}
    if isinstance(value, Mapping):
        pairs = [[encode(one, parameter) for one in pair] for pair in value.items()]
        return {"type": "dict", "items": pairs}
    if isinstance(value, PathLike):
        return {"type": "path", "text": str(value)}
    name = type(value).__name__
    if TYPES.get(name) is type(value):
        settings = {one: encode(getattr(value, one), parameter) for one in _settings(type(value))}
        return {"type": name, "parameters": settings}
    raise ValueError(
        f"{parameter}={value!r} cannot be saved: {type(value).__name__} is no number, text, list, "
        f"tuple or mapping, nor one of {', '.join(TYPES)}. Use one of these, or pickle and joblib, "
        "which save objects of any class."
    )


def decode(stored: Any) -> Any:
    """Return the parameter that `encode` has stored; raise a ValueError for anything else."""
    if isinstance(stored, list):
        return [decode(item) for item in stored]
    if not isinstance(stored, dict):
        return stored
    match stored:
        case {"type": "float", "text": "nan" | "inf" | "-inf" as text, **rest} if not rest:
            return float(text)
        case {"type": "path", "text": str(text), **rest} if not rest:
            return Path(text)
        case {"type": "tuple", "items": list(items), **rest} if not rest:
            return tuple(map(decode, items))
        case {"type": "dict", "items": list(items), **rest} if not rest:
            pairs = [(decode(key), decode(value)) for key, value in items]
            _require(all(map(_is_key, (key for key, _ in pairs))), "a key is no name or position")
            _require(len(dict(pairs)) == len(pairs), "a key is there twice")
            return dict(pairs)
        case {"type": str(name), "parameters": dict(settings), **rest} if not rest:
            _require(name in TYPES, f"there is no class {name!r} of pidselect")
            cls, values = TYPES[name], {key: decode(value) for key, value in settings.items()}
            _require(values.keys() == set(_settings(cls)), f"the parameters of {name} differ")
            for key, value in values.items():  # an integer may be passed for a number
                hint = _types(cls.__init__)[key]
                from_plain(hint, float(value) if hint is float and type(value) is int else value)
            return cls(**values)
    raise ValueError("a parameter is of no known type")


def _is_key(key: Any) -> bool:
    """Return whether a value is a name, or a position: other integers may have equal hashes."""
    return isinstance(key, str) or (isinstance(key, int) and abs(key) < 2**31)


def _settings(cls: type[Any]) -> tuple[str, ...]:
    """Return the names of the parameters of a registered class."""
    if is_dataclass(cls):
        return tuple(field.name for field in fields(cls))
    return tuple(cast(Any, cls)._get_param_names())


# --- records as JSON ----------------------------------------------------------------------------


def from_plain(hint: Any, value: Any) -> Any:
    """Return what `to_plain` has made plain types of, by its type; raise a ValueError otherwise.

    Examples
    --------
    >>> from_plain(tuple[float, ...], [0.5, "inf"])
    (0.5, inf)
    >>> from_plain(tuple[float, ...], [0.5, "many"])
    Traceback (most recent call last):
    ...
    ValueError: 'many' is found in place of float
    """
    origin, of = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _from_union(of, value)
    if hint is float and value in ("nan", "inf", "-inf"):
        return float(value)
    if hint is int and type(value) is int:
        _require(-MAX_SEED <= value <= MAX_SEED, "an integer has more than 64 bits")
        return value
    if hint in (str, float, bool, NoneType) and type(value) is hint:
        return value
    if origin is Literal and type(value) in (str, NoneType) and value in of:
        return value
    if origin is tuple and isinstance(value, list):
        if of[1:] == (...,):
            of = of[:1] * len(value)
        if len(of) == len(value):
            return tuple(map(from_plain, of, value))
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        if isinstance(value, dict):
            return {key: from_plain(of[1], item) for key, item in value.items()}
    elif is_dataclass(hint) and isinstance(value, dict):
        types = _types(cast(Any, hint))
        if value.keys() == types.keys():
            return cast(Any, hint)(**{key: from_plain(types[key], value[key]) for key in value})
    name = getattr(hint, "__name__", str(hint))
    raise ValueError(f"{value!r:.60} is found in place of {name}")


def _from_union(hints: tuple[Any, ...], value: Any) -> Any:
    for hint in hints:
        try:
            return from_plain(hint, value)
        except ValueError:
            continue
    raise ValueError(f"{value!r:.60} is found in place of {' or '.join(map(str, hints))}")


@lru_cache
def _types(annotated: Any) -> dict[str, Any]:
    return get_type_hints(annotated)
