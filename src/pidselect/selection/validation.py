"""Validation of the selector's parameters, once per fit, and of the columns passed after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
from sklearn.utils.validation import validate_data

from pidselect.data import Missing, Table, check_choice
from pidselect.data.messages import quoted
from pidselect.estimators.cuda.device import cuda
from pidselect.selection.backward import STATISTICS
from pidselect.selection.criteria import CRITERIA, Conditional
from pidselect.selection.executor import DEVICES
from pidselect.selection.lookahead import Lookahead
from pidselect.selection.scoring import Criterion
from pidselect.significance.permutation_test import check_resolution
from pidselect.significance.row_orders import GIVEN_ONLY
from pidselect.significance.staged import STAGES, ScoreTest
from pidselect.significance.surrogates import SURROGATES
from pidselect.significance.validation import check_count, check_jobs

if TYPE_CHECKING:
    from pidselect.selection.selector import PIDSelector

#: Bytes of the surrogate values of a test.
MAX_SURROGATE_BYTES = 2**30

#: Value and name of a parameter -> the value to use; raises if it is invalid.
Constraint = Callable[[Any, str], Any]


@dataclass(frozen=True, eq=False)
class Parameters:
    """The parameters of a selector that do not depend on the data, checked and converted."""

    is_scored: bool  # whether the score test decides
    criterion: Criterion
    alpha: float
    n_permutations: int | None  # None for a sequential test, 0 for no test
    surrogates: tuple[str, ...]
    shared_permutations: bool
    backward: str | None
    lookahead: int | Literal["auto"]
    n_random_starts: int
    select: str
    max_features: int | None
    max_conditioning: int | None
    missing: Missing
    max_samples: int | Literal["auto"] | None
    checkpoint: Path | None
    device: str
    n_jobs: int | None
    verbose: int

    @property
    def search(self) -> Lookahead:
        """What is searched if no single candidate is significant."""
        is_tested = self.criterion.is_cmi and self.n_permutations != 0
        return Lookahead(self.lookahead if is_tested else 1, self.n_random_starts)

    @property
    def smallest_alpha(self) -> float:
        """The smallest level of the tests that share alpha; "auto" leaves out what is too small."""
        order = 1 if self.lookahead == "auto" and not self.is_scored else self.lookahead
        has_tuples = order != 1 and self.criterion.is_cmi
        share = 1.0
        if has_tuples or self.n_random_starts:
            order = 2 if has_tuples else 1
            share = self.search.share_of_joint(order)
            if self.is_scored:
                share = min(share, self.search.share_of_singles(order) * STAGES[-1].share)
        elif self.is_scored:
            share = STAGES[-1].share
        return self.alpha * share


def one_of(*known: object) -> Constraint:
    """Return the constraint to be one of some values."""

    def check(value: object, parameter: str) -> object:
        plain = value.item() if isinstance(value, np.generic) else value
        check_choice(plain, known, parameter)
        return plain

    return check


def at_least(least: int, or_none: bool = False) -> Constraint:
    """Return the constraint to be an integer that is not smaller."""

    def check(value: object, parameter: str) -> int | None:
        return None if or_none and value is None else check_count(value, parameter, least)

    return check


def to_alpha(alpha: object, parameter: str = "alpha") -> float:
    """Return a number between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < float(alpha) < 1:
        raise ValueError(f"{parameter}={alpha!r} must be a number between 0 and 1.")
    return float(alpha)


def to_bool(value: object, parameter: str) -> bool:
    """Return True or False."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{parameter}={value!r} must be True or False.")
    return bool(value)


def to_verbose(verbose: object, parameter: str) -> int:
    """Return an integer."""
    number = int(verbose) if isinstance(verbose, bool | np.bool_) else verbose
    return check_count(number, parameter, 0)


def to_criterion(criterion: object, parameter: str = "criterion") -> Criterion:
    """Return the criterion of a name, or the object passed."""
    if isinstance(criterion, type):
        raise TypeError(f"{parameter}={criterion!r} is a class; use {criterion.__name__}().")
    if not isinstance(criterion, str) and hasattr(criterion, "candidate_scores"):
        return cast(Criterion, criterion)
    return CRITERIA[str(one_of(*CRITERIA)(criterion, parameter))]


def to_schemes(surrogates: object, parameter: str) -> tuple[str, ...]:
    """Return the names of one or several surrogate schemes as a tuple."""
    several = isinstance(surrogates, tuple | list | np.ndarray)
    named = tuple(cast(Any, surrogates)) if several else (surrogates,)
    known = SURROGATES if several else ("auto", *SURROGATES)
    names = tuple(str(one_of(*known)(name, parameter)) for name in named)
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{parameter}={surrogates!r} names {repeated!r} twice.")
    if not names:
        raise ValueError(f"{parameter}={surrogates!r} names no scheme: pass one, such as 'global'.")
    return names


def to_n_permutations(n_permutations: object, parameter: str) -> int | None:
    """Return the number of permutations of a test; 0 for no test, None for a sequential test."""
    if isinstance(n_permutations, str) and n_permutations == "auto":
        return None
    if (
        isinstance(n_permutations, bool)
        or not isinstance(n_permutations, Integral)
        or (n_permutations < 0)
    ):
        raise ValueError(
            f"{parameter}={n_permutations!r} must be an integer of at least 0, or 'auto' for a "
            "sequential test."
        )
    return int(n_permutations)


def to_max_samples(max_samples: object, parameter: str) -> int | Literal["auto"] | None:
    """Return a number of samples, "auto", or None for all of them."""
    if isinstance(max_samples, str) and max_samples == "auto":
        return "auto"
    if isinstance(max_samples, str):
        raise ValueError(
            f"{parameter}={max_samples!r} must be an integer of at least 2, 'auto', or None for "
            "all samples."
        )
    return None if max_samples is None else check_count(max_samples, parameter, 2)


def to_path(path: object, parameter: str) -> Path | None:
    """Return a path of a file, or None."""
    if path is not None and not (isinstance(path, str | PathLike) and str(path).strip()):
        raise ValueError(
            f"{parameter}={path!r} is not a file path: pass a string such as 'fit.sqlite', a "
            "pathlib.Path, or None."
        )
    return None if path is None else Path(path)


def to_device(device: object, parameter: str) -> str:
    """Return a device that is available."""
    name = str(one_of(*DEVICES)(device, parameter))
    if name == "cuda":
        cuda()
    return name


#: The constraint of every parameter. The others need the data (estimator, fixed_features,
#: feature_groups, feature_types), or change when they are read (random_state, a generator).
CONSTRAINTS: dict[str, Constraint] = {
    "criterion": to_criterion,
    "alpha": to_alpha,
    "n_permutations": to_n_permutations,
    "surrogates": to_schemes,
    "shared_permutations": to_bool,
    "backward": one_of(*STATISTICS, None),
    "lookahead": one_of("auto", 1, 2, 3),
    "n_random_starts": at_least(0),
    "select": one_of("minimal", "relevant"),
    "max_features": at_least(1, or_none=True),
    "max_conditioning": at_least(1, or_none=True),
    "missing": one_of(*get_args(Missing)),
    "max_samples": to_max_samples,
    "checkpoint": to_path,
    "device": to_device,
    "n_jobs": check_jobs,
    "verbose": to_verbose,
}


def check_parameters(selector: PIDSelector) -> Parameters:
    """Return the parameters of a selector; raise if one is invalid or excludes another."""
    checked = {
        name: constraint(getattr(selector, name), name) for name, constraint in CONSTRAINTS.items()
    }
    is_scored = uses_score_test(selector, checked)
    checked["surrogates"] = resolve_schemes(checked["surrogates"], is_scored)
    parameters = Parameters(is_scored=is_scored, **checked)
    joint = {"lookahead": ("auto", 1), "n_random_starts": (0,)}
    if not parameters.criterion.is_cmi:
        for name, allowed in (*joint.items(), ("max_conditioning", (None,))):
            if checked[name] not in allowed:
                raise ValueError(
                    f"{name}={checked[name]!r} requires criterion='cmi', not "
                    f"{selector.criterion!r}: leave it at {allowed[0]!r}."
                )
    n_permutations = parameters.n_permutations
    n_joint = sum(checked[name] not in allowed for name, allowed in joint.items())
    if n_permutations == 0:
        if parameters.max_features is None:
            raise ValueError(
                "n_permutations=0 omits the test that ends a selection: set max_features, or use "
                "n_permutations='auto' or a number such as 200."
            )
        if parameters.select == "relevant":
            raise ValueError(
                "select='relevant' is a test of every feature: it needs n_permutations='auto' or a "
                "number such as 200."
            )
        if n_joint:
            raise ValueError(
                "lookahead and n_random_starts follow a test that finds no single candidate: they "
                "need n_permutations='auto' or a number such as 200."
            )
    elif n_permutations is not None:
        try:
            check_resolution(parameters.smallest_alpha, n_permutations)
        except ValueError as error:
            if parameters.smallest_alpha == parameters.alpha:
                raise
            raise ValueError(
                f"alpha={parameters.alpha:g} is divided among the tests of a step, of which the "
                f"smallest share is {parameters.smallest_alpha:.3g}. {error} Or use 'auto'."
            ) from None
    return parameters


def uses_score_test(selector: PIDSelector, checked: Mapping[str, Any]) -> bool:
    """Return whether the score test decides; refuse it where it does not apply."""
    estimator = selector.estimator
    is_asked = isinstance(estimator, ScoreTest)
    applies = isinstance(checked["criterion"], Conditional) and checked["n_permutations"] != 0
    if is_asked and not applies:
        raise ValueError(
            f"estimator={estimator!r} is a test of I(x; y | S) = 0, and no estimator: it needs "
            "criterion='cmi' or 'mi', and permutations. Use estimator='auto', which is then an "
            "estimator by feature types."
        )
    return applies and (is_asked or (isinstance(estimator, str) and estimator == "auto"))


def resolve_schemes(schemes: tuple[str, ...], is_scored: bool) -> tuple[str, ...]:
    """Return the schemes that "auto" stands for; refuse those that do not apply."""
    if not is_scored:
        return ("global", "residual") if schemes == ("auto",) else schemes
    if schemes == ("auto",):
        return ("global",)
    if len(schemes) > 1 or schemes[0] in GIVEN_ONLY:
        raise ValueError(
            f"surrogates={schemes!r}: the score test permutes residuals, by one of 'global', "
            "'shift' and 'blocks'; 'local' and 'residual' need an estimator, such as "
            "estimator='mixed'."
        )
    return schemes


def check_size(parameters: Parameters, n_candidates: int, n_samples: int) -> None:
    """Refuse more surrogates in a test than memory is meant to hold."""
    if parameters.n_permutations is None:
        return
    count, of_what = n_candidates * len(parameters.surrogates), f"{n_candidates} candidates"
    if parameters.is_scored and n_samples > count:  # rows are permuted once for all candidates
        count, of_what = n_samples, f"{n_samples} rows"
    most = MAX_SURROGATE_BYTES // max(1, 8 * count)
    if parameters.n_permutations > most:
        raise ValueError(
            f"n_permutations={parameters.n_permutations} needs "
            f"{8 * count * parameters.n_permutations / 2**30:.3g} GiB for the surrogates of "
            f"{of_what}: use at most n_permutations={most}, or 'auto'."
        )


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
