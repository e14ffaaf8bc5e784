"""Validation of the selector's parameters, and of the columns passed after a fit."""

from __future__ import annotations

import re
from fractions import Fraction
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.validation import validate_data

from pidselect.data import Table, check_choice
from pidselect.data.messages import quoted
from pidselect.estimators.cuda.scorer import cuda
from pidselect.selection.backward import STATISTICS
from pidselect.selection.criteria import CRITERIA, Criterion
from pidselect.selection.lookahead import Lookahead
from pidselect.significance import SURROGATES, check_resolution
from pidselect.significance.validation import check_count, check_jobs

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector

#: Share of max_memory for columns, ranks and codes; the rest is for neighbour searches.
STORE_SHARE = 1 / 4


def check_parameters(selector: PIDSelector) -> None:
    """Raise if a parameter of a selector is invalid."""
    to_criterion(selector.criterion)
    to_schemes(selector.surrogates)
    check_choice(selector.backward, (*STATISTICS, None), "backward")
    alpha: object = selector.alpha
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < float(alpha) < 1:
        raise ValueError(f"alpha={alpha!r} must be a number between 0 and 1.")
    shared: object = selector.shared_permutations
    if not isinstance(shared, bool | np.bool_):
        raise ValueError(f"shared_permutations={shared!r} must be True or False.")
    check_limit(selector.max_features, "max_features")
    check_limit(selector.max_samples, "max_samples", at_least=2)
    check_lookahead(selector)
    check_device(selector.device)
    check_jobs(selector.n_jobs)
    to_bytes(selector.max_memory)
    path: object = selector.checkpoint
    if path is not None and not (isinstance(path, str | PathLike) and str(path).strip()):
        raise ValueError(
            f"checkpoint={path!r} is not a file path: pass a string such as 'fit.json', a "
            "pathlib.Path, or None."
        )


def to_criterion(criterion: object) -> Criterion:
    """Return the criterion of a name, or the object passed.

    Examples
    --------
    >>> to_criterion("mi")
    Unconditional(is_cmi=False, prunes=True, takes_portfolio=True)
    """
    if isinstance(criterion, type):
        raise TypeError(f"criterion={criterion!r} is a class; use {criterion.__name__}().")
    if not isinstance(criterion, str) and hasattr(criterion, "candidate_scores"):
        return cast(Criterion, criterion)
    check_choice(criterion, CRITERIA, "criterion")
    return CRITERIA[str(criterion)]


def to_schemes(surrogates: object) -> tuple[str, ...]:
    """Return the names of one or several surrogate schemes as a tuple."""
    names = tuple(surrogates) if isinstance(surrogates, tuple | list) else (surrogates,)
    for name in names:
        check_choice(name, SURROGATES, "surrogates")
        if names.count(name) > 1:
            raise ValueError(f"surrogates={surrogates!r} names {name!r} twice.")
    if not names:
        raise ValueError(f"surrogates={surrogates!r} names no scheme: pass one, such as 'global'.")
    return names


def to_n_permutations(n_permutations: object) -> int | None:
    """Return the number of permutations of a test; 0 for no test, None for a sequential test."""
    if isinstance(n_permutations, str):
        if n_permutations != "auto":
            raise ValueError(
                f"n_permutations={n_permutations!r} must be an integer of at least 0, or "
                "'auto' for a sequential test."
            )
        return None
    return check_count(n_permutations, "n_permutations", at_least=0)


def check_lookahead(selector: PIDSelector) -> Lookahead:
    """Return the look-ahead of a selector; raise if its parameters exclude each other."""
    search = Lookahead(
        check_count(selector.lookahead, "lookahead"),
        check_count(selector.n_random_starts, "n_random_starts", at_least=0),
    )
    check_limit(selector.max_conditioning, "max_conditioning")
    if not to_criterion(selector.criterion).is_cmi:
        for name, default in (("lookahead", 1), ("n_random_starts", 0), ("max_conditioning", None)):
            if getattr(selector, name) != default:
                raise ValueError(
                    f"{name}={getattr(selector, name)!r} requires criterion='cmi', not "
                    f"{selector.criterion!r}: leave it at {default!r}."
                )
    n_permutations = to_n_permutations(selector.n_permutations)
    if n_permutations == 0:
        if selector.max_features is None:
            raise ValueError(
                "n_permutations=0 omits the test that ends a selection: set max_features, or use "
                "n_permutations='auto' or a number such as 200."
            )
        if search.n_levels > 1:
            raise ValueError(
                "lookahead and n_random_starts follow a test that finds no single candidate: they "
                "need n_permutations='auto' or a number such as 200."
            )
    elif n_permutations is not None:
        alpha = float(selector.alpha)
        try:
            check_resolution(search.alpha_at(alpha, search.n_levels), n_permutations)
        except ValueError as error:
            if search.n_levels == 1:
                raise
            raise ValueError(
                f"With look-ahead, alpha={alpha:g} is divided among {search.n_levels} tests. "
                f"{error}"
            ) from None
    return search


def check_limit(value: object, parameter: str, at_least: int = 1) -> None:
    """Raise unless the value is an integer of at least `at_least`, or None for no limit."""
    if value is not None:
        check_count(value, parameter, at_least)


def check_device(device: object) -> None:
    """Raise if a device is unknown or not available."""
    check_choice(device, ("cpu", "cuda"), "device")
    if device == "cuda":
        cuda()


def to_bytes(memory: int | str) -> int:
    """Return an amount of memory in bytes.

    Examples
    --------
    >>> to_bytes("1GiB"), to_bytes("500 MB"), to_bytes(1024)
    (1073741824, 500000000, 1024)
    """
    size = 0
    if isinstance(memory, Integral) and not isinstance(memory, bool):
        size = int(memory)
    elif found := re.fullmatch(r"\s*(\d+\.?\d*)\s*([KMGT]?)(i?)B\s*", str(memory), re.IGNORECASE):
        power = " KMGT".index(found[2].upper() or " ")
        size = int(Fraction(found[1]) * (1024 if found[3] else 1000) ** power)
    if size < 1:
        raise ValueError(
            f"max_memory={memory!r} is not an amount of memory: pass bytes, or a string such as "
            '"1GiB".'
        )
    return size


def record_columns(selector: PIDSelector, X: Any) -> None:
    """Set ``n_features_in_`` and, if the columns have names, ``feature_names_in_``."""
    if not isinstance(X, Table):
        validate_data(selector, X, skip_check_array=True)
        return
    selector.n_features_in_ = len(X)
    selector.feature_names_in_ = np.array(X.names, dtype=object)


def check_columns(selector: PIDSelector, X: Any) -> None:
    """Raise if the columns are not those of the fit."""
    if not isinstance(X, Table):
        validate_data(selector, X, skip_check_array=True, reset=False)
        return
    fitted = list(getattr(selector, "feature_names_in_", X.names))
    if len(X) != selector.n_features_in_ or list(X.names) != fitted:
        raise ValueError(
            f"the table has {len(X)} columns, {quoted(X.names)}, but the selector was fitted on "
            f"{selector.n_features_in_}, {quoted(fitted)}. Pass the same columns in the same "
            "order, without the target (see Table.split)."
        )
