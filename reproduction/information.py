"""Selections, information terms and atoms with the paper's settings."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect import PIDSelector, decompose
from pidselect.data import Block, Column, read_block
from pidselect.datasets import SyntheticDataset
from pidselect.decomposition.binning import Binning, to_codes
from pidselect.estimators import ESTIMATORS
from pidselect.estimators.base import Batch
from pidselect.significance.permutation_test import (
    critical_value,
    first_smallest,
    minimum_statistic,
)
from pidselect.significance.rng import BACKWARD, permutations
from reproduction.experiment import Outcome

#: Level of significance, and the number of permutations, which one caption of the paper names.
ALPHA, N_PERMUTATIONS = 0.05, 200

#: Samples of a run, and bins of a continuous column.
N_SAMPLES, BINS = 1000, 5

#: Bins of equal counts and of equal width.
BINNINGS: tuple[Binning, ...] = ("count", "width")

ATOMS = ("unique1", "unique2", "shared", "synergy")


def atom_labels(first: str, second: str) -> dict[str, str]:
    """Return labels of atoms, from those of both unique ones."""
    return dict(zip(ATOMS, (first, second, "shared", "synergy"), strict=True))


#: The paper states neither k nor the version of its toolbox, IDTxl; k=4 is that toolbox's default.
PAPER: dict[str, Any] = {
    "criterion": "cmi",
    "estimator": "ksg",
    "alpha": ALPHA,
    "n_permutations": N_PERMUTATIONS,
    "surrogates": "global",
    "shared_permutations": False,
    "backward": "minimum",
    "lookahead": 1,
}

#: The settings of an estimator when the runs were made: without look-ahead or regressions on the
#: conditioning set.
EARLIER: dict[str, Any] = {
    "surrogates": ("global", "local"),
    "backward": "minimum",
    "lookahead": 1,
}

#: Settings of `PIDSelector` by the names that runs use.
SETTINGS: dict[str, dict[str, Any]] = {
    "paper": PAPER,
    "cmi": PAPER,
    "mi": {**PAPER, "criterion": "mi"},
    "cmi-unpruned": {**PAPER, "backward": None},
    "mi-unpruned": {**PAPER, "criterion": "mi", "backward": None},
    "defaults": {"lookahead": 1},
    "copula": {**EARLIER, "estimator": "copula"},
}

#: Settings of the forward selection before `toolbox_elimination`.
TOOLBOX = {"cmi-toolbox": "cmi-unpruned", "mi-toolbox": "mi-unpruned"}

#: Key of the random stream of `term`, which keeps it apart from that of a selection.
STREAM = 20


def select(data: SyntheticDataset, seed: int, settings: dict[str, Any]) -> Outcome:
    """Return the selected features in the order of inclusion, and the steps of the selection."""
    selector = PIDSelector(**({"n_jobs": 1} | settings), random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that nothing is selected is a result here
        selector.fit(data.X, data.y)

    def named(text: str) -> str:
        return re.sub(r"\bx(\d+)\b", lambda found: data.names[int(found[1])], text)

    steps = [
        {
            "phase": step.phase,
            "conditioning_set": [named(text) for text in step.conditioning_set],
            "candidates": [named(text) for text in step.candidates],
            "chosen": named(step.chosen),
            "p_values": list(step.p_values),
            "accepted": step.accepted,
        }
        for step in selector.selection_.steps
    ]
    return {"selected": [data.names[column] for column in selector.selected_], "steps": steps}


def selected(data: SyntheticDataset, seed: int, settings: str) -> Outcome:
    """Return the selected features alone; settings are a key of `SETTINGS` or of `TOOLBOX`."""
    if settings not in TOOLBOX:
        return {"selected": select(data, seed, SETTINGS[settings])["selected"]}
    found = select(data, seed, SETTINGS[TOOLBOX[settings]])["selected"]
    return {"selected": toolbox_elimination(data, found, seed)}


def toolbox_elimination(
    data: SyntheticDataset, names: Sequence[str], seed: int, n_permutations: int = N_PERMUTATIONS
) -> list[str]:
    r"""Remove features as the toolbox does: one conditioning set for the surrogates of all.

    The weakest feature :math:`w = \arg\min_f I(f; y | S \setminus f)` is tested against the
    smallest :math:`I(f'; y | S \setminus w)` over permutations f' of all features f, where
    `PIDSelector` conditions the permutations of f on the features other than f.
    """
    columns = {name: read_block(data.X[:, i], name) for i, name in enumerate(data.names)}
    y, remaining = read_block(data.y, "y", target=True), list(names)
    while remaining:
        scorers = [
            ESTIMATORS["ksg"]().bind(
                y, Block(tuple(c for f in remaining if f != name for c in columns[f].columns))
            )
            for name in remaining
        ]
        values = [
            float(scorer.score(Batch.observed(columns[name]))[0])
            for name, scorer in zip(remaining, scorers, strict=True)
        ]
        weakest = first_smallest(np.array(values))
        surrogates = []
        for name in remaining:
            key = (seed, BACKWARD, len(remaining), data.names.index(name))
            rows = permutations(key, range(1, 1 + n_permutations), len(data.y))
            surrogates.append(scorers[weakest].score(Batch(columns[name], rows)))
        null = minimum_statistic(np.array(surrogates))
        if values[weakest] > critical_value(null, ALPHA):
            break
        del remaining[weakest]
    return remaining


def term(
    x: NDArray[Any],
    y: NDArray[Any],
    given: NDArray[Any] | None = None,
    *,
    estimator: str = "ksg",
    binning: Binning | None = None,
    n_permutations: int = N_PERMUTATIONS,
    seed: int = 0,
) -> Outcome:
    """Return the "bits" of I(x; y | given) and its "critical_value" at level 0.05.

    Several columns are one joint variable. With `binning` it is the plug-in estimate on five bins
    a column. Without permutations of x there is no critical value.
    """
    x_block, y_block = _block(x, "x", binning), _block(y, "y", binning, target=True)
    given_block = Block(()) if given is None else _block(given, "given", binning)
    scorer = ESTIMATORS["discrete" if binning else estimator]().bind(y_block, given_block)
    rows = np.arange(len(y), dtype=np.int32)[np.newaxis]
    if n_permutations:
        permuted = permutations((seed, STREAM), range(1, 1 + n_permutations), len(y))
        rows = np.concatenate([rows, permuted])
    bits = scorer.score(Batch(x_block, rows)) / np.log(2.0)
    if not n_permutations:
        return {"bits": float(bits[0])}
    return {"bits": float(bits[0]), "critical_value": critical_value(bits[1:], ALPHA)}


#: Labels of the terms of two inputs.
TERMS = {
    "mi1": "I(X1;Y)",
    "mi2": "I(X2;Y)",
    "cmi1": "I(X1;Y|X2)",
    "cmi2": "I(X2;Y|X1)",
    "joint": "I(X1,X2;Y)",
}


def pair_terms(
    X: NDArray[Any], y: NDArray[Any], names: Sequence[str], **options: Any
) -> dict[str, Outcome]:
    """Estimate some of the terms of two inputs; the joint one comes last."""
    X1, X2 = X.T
    pairs = {"mi1": (X1, None), "mi2": (X2, None), "cmi1": (X1, X2), "cmi2": (X2, X1)}
    arguments = {**pairs, "joint": (X, None)}
    return {name: term(arguments[name][0], y, arguments[name][1], **options) for name in names}


def _block(
    values: NDArray[Any], name: str, binning: Binning | None, *, target: bool = False
) -> Block:
    block = read_block(values, name, target=target)
    if binning is None:
        return block
    codes = to_codes(block, BINS, binning).astype(np.float64)
    return Block((Column(name, "nominal", codes),))


def is_significant(found: Outcome) -> bool:
    """Return whether a term exceeds its critical value."""
    return bool(found["bits"] > found["critical_value"])


def atoms(
    sources: Sequence[NDArray[Any]], y: NDArray[Any], *, binning: Binning = "count"
) -> dict[str, float]:
    """Decompose the information of two sources about y by BROJA on five bins a column, in bits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> first, second = rng.integers(0, 2, size=(2, 500))
    >>> round(atoms([first, second], first ^ second)["synergy"], 2)
    0.99
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # few samples a state, as in the paper
        found = decompose(sources, y, bins=BINS, binning=binning)
    return dict(zip(ATOMS, (*found.unique, found.shared, found.synergy), strict=True))
