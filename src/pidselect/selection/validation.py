"""Checks of what users set, before any work is done."""

from __future__ import annotations

import re
from fractions import Fraction
from numbers import Integral, Real
from os import PathLike
from typing import Any, cast

import numpy as np

from pidselect.data import check_choice
from pidselect.estimators.cuda.scorer import cuda
from pidselect.selection.backward import STATISTICS
from pidselect.selection.criteria import CRITERIA, Criterion
from pidselect.selection.lookahead import Search
from pidselect.significance import SURROGATES, check_resolution
from pidselect.significance.validation import (
    LARGEST_SEED,
    SEED_BITS,
    RandomState,
    check_count,
    check_jobs,
    to_seed,
)

__all__ = [
    "LARGEST_SEED",
    "SEED_BITS",
    "RandomState",
    "check_count",
    "check_device",
    "check_flag",
    "check_jobs",
    "check_limit",
    "check_parameters",
    "check_path",
    "check_search",
    "check_settings",
    "to_bytes",
    "to_criterion",
    "to_draws",
    "to_schemes",
    "to_seed",
]


def check_parameters(selector: Any) -> None:
    """Refuse parameters of a selector that make no sense, before any work is done."""
    check_settings(
        selector.criterion,
        selector.surrogates,
        selector.backward,
        selector.alpha,
        selector.n_permutations,
    )
    check_flag(selector.shared_permutations, "shared_permutations")
    check_limit(selector.max_features, "max_features")
    check_limit(selector.max_samples, "max_samples", at_least=2)
    check_search(selector)
    check_device(selector.device)
    check_jobs(selector.n_jobs)
    to_bytes(selector.max_memory)
    check_path(selector.checkpoint, "checkpoint")


def check_settings(
    criterion: object, surrogates: object, backward: object, alpha: object, n_permutations: object
) -> None:
    """Refuse what a test cannot be run with."""
    to_criterion(criterion)
    to_schemes(surrogates)
    check_choice(backward, (*STATISTICS, None), "backward")
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < float(alpha) < 1:
        raise ValueError(f"alpha={alpha!r} is no error rate: it must lie between 0 and 1.")
    to_draws(n_permutations)


def to_criterion(criterion: object) -> Criterion:
    """Return the criterion that a name stands for, or the one given.

    Examples
    --------
    >>> to_criterion("mi")
    Unconditional(is_cmi=False, prunes=True, takes_portfolio=True)
    """
    if isinstance(criterion, type):
        raise TypeError(f"criterion={criterion!r} is a class; use {criterion.__name__}().")
    if not isinstance(criterion, str) and hasattr(criterion, "ask"):
        return cast(Criterion, criterion)
    check_choice(criterion, CRITERIA, "criterion")
    return CRITERIA[str(criterion)]


def to_schemes(surrogates: object) -> tuple[str, ...]:
    """Return the names of one or several schemes.

    Examples
    --------
    >>> to_schemes("global"), to_schemes(["global", "local"])
    (('global',), ('global', 'local'))
    """
    names = tuple(surrogates) if isinstance(surrogates, tuple | list) else (surrogates,)
    for name in names:
        check_choice(name, SURROGATES, "surrogates")
        if names.count(name) > 1:
            raise ValueError(f"surrogates={surrogates!r} names {name!r} twice.")
    if not names:
        raise ValueError(f"surrogates={surrogates!r} names no scheme: give one, such as 'global'.")
    return names


def to_draws(n_permutations: object) -> int | None:
    """Return the number of draws of a test, 0 for no test, None for as many as it takes."""
    if isinstance(n_permutations, str):
        if n_permutations != "auto":
            raise ValueError(
                f"n_permutations={n_permutations!r} must be a whole number of at least 0, or "
                "'auto' for as many draws as it takes."
            )
        return None
    return check_count(n_permutations, "n_permutations", at_least=0)


#: Of the memory, what columns and all that is made of them may take before files are used.
STORE_SHARE = 1 / 4


def check_search(selector: Any) -> Search:
    """Return how far to look ahead; refuse what does not go together.

    Parameters
    ----------
    selector : PIDSelector
    """
    search = Search(
        check_count(selector.lookahead, "lookahead"),
        check_count(selector.n_random_starts, "n_random_starts", at_least=0),
    )
    check_limit(selector.max_conditioning, "max_conditioning")
    if not to_criterion(selector.criterion).is_cmi:
        for name, plain in (("lookahead", 1), ("n_random_starts", 0), ("max_conditioning", None)):
            if getattr(selector, name) != plain:
                raise ValueError(
                    f"{name}={getattr(selector, name)!r} goes with criterion='cmi' only, not with "
                    f"{selector.criterion!r}: leave it at {plain!r}."
                )
    n_draws = to_draws(selector.n_permutations)
    if n_draws == 0:
        if selector.max_features is None:
            raise ValueError(
                "n_permutations=0 leaves out the test that ends a selection: say where to end "
                "with max_features, or use 'auto' or a number such as 200."
            )
        if search.n_levels > 1:
            raise ValueError(
                "lookahead and n_starts come into play where a test finds no single candidate: "
                "they need n_permutations='auto' or a number such as 200."
            )
    elif n_draws is not None:
        alpha = float(selector.alpha)
        try:
            check_resolution(search.share(alpha, search.n_levels), n_draws)
        except ValueError as error:
            if search.n_levels == 1:
                raise
            raise ValueError(
                f"With look-ahead, alpha={alpha:g} is shared by {search.n_levels} tests. {error}"
            ) from None
    return search


def check_limit(value: object, parameter: str, at_least: int = 1) -> None:
    """Refuse what is neither such a number nor None, which stands for no limit."""
    if value is not None:
        check_count(value, parameter, at_least)


def check_device(device: object) -> None:
    """Refuse a device that is unknown or not there, before any work is done."""
    check_choice(device, ("cpu", "cuda"), "device")
    if device == "cuda":
        cuda()


def check_flag(value: object, parameter: str) -> None:
    """Refuse what is neither true nor false."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{parameter}={value!r} must be True or False.")


def check_path(value: object, parameter: str) -> None:
    """Refuse what is neither the path of a file nor None."""
    if value is not None and not (isinstance(value, str | PathLike) and str(value).strip()):
        raise ValueError(
            f"{parameter}={value!r} is no path of a file: give text such as 'fit.json', a "
            "pathlib.Path, or None."
        )


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
            f'max_memory={memory!r} is no amount of memory: give bytes, or text such as "1GiB".'
        )
    return size
