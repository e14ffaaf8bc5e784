"""Information terms and atoms as the paper's figures have them, and selections as it makes them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.data import Block, read_block
from pidselect.datasets import SyntheticDataset
from pidselect.decomposition import decompose
from pidselect.decomposition.binning import Binning, to_codes
from pidselect.estimators import ESTIMATORS
from pidselect.estimators.base import NATS_PER_UNIT, Batch
from pidselect.selection import PIDSelector
from pidselect.significance import critical_value, permutations
from reproduction.experiment import Outcome

#: The paper's level of significance, and the number of permutations named in one of its captions.
ALPHA, N_PERMUTATIONS = 0.05, 200

#: Samples of a run, unless said otherwise, and bins of a continuous column.
N_SAMPLES, BINS = 1000, 5

#: How the paper selects. It states neither k nor the version of its toolbox; k=4 is that toolbox's
#: own default.
AS_THE_PAPER: dict[str, Any] = {
    "criterion": "cmi",
    "estimator": "ksg",
    "alpha": ALPHA,
    "n_permutations": N_PERMUTATIONS,
    "surrogates": "global",
    "shared": False,
    "backward": "minimum",
}

#: Ways to select, as points name them. "mi-unpruned" shows what the backward step does to MI.
WAYS: dict[str, dict[str, Any]] = {
    "paper": AS_THE_PAPER,
    "cmi": AS_THE_PAPER,
    "mi": {**AS_THE_PAPER, "criterion": "mi"},
    "mi-unpruned": {**AS_THE_PAPER, "criterion": "mi", "backward": None},
    "defaults": {},
    "lookahead": {"lookahead": 3},
    "copula": {"estimator": "copula"},
}

#: What draws are for: keeps the permutations of terms apart from those of a selection.
TERMS = 20


def select(problem: SyntheticDataset, seed: int, settings: dict[str, Any] | None = None) -> Outcome:
    """Run one selection, on one core unless told otherwise; without settings, with our defaults.

    Returns
    -------
    dict with "selected", names in the order of inclusion, and "steps", the whole record of tests.
    """
    selector = PIDSelector(**({"n_jobs": 1} | (settings or {})), random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that nothing is selected is a result here
        selector.fit(problem.X, problem.y)
    names = problem.names
    steps = [
        {
            "phase": step.phase,
            "given": [_named(text, names) for text in step.conditioning_set],
            "candidates": [_named(text, names) for text in step.candidates],
            "bits": list(step.values),
            "chosen": _named(step.chosen, names),
            "critical_value": step.critical_value,
            "p_value": step.p_value,
            "p_values": list(step.p_values),
            "accepted": step.accepted,
        }
        for step in selector.selection_.steps
    ]
    return {"selected": [names[column] for column in selector.selected_], "steps": steps}


def _named(text: str, names: Sequence[str]) -> str:
    """Put the names of a problem in the place of those of columns without one: x0, x1, ..."""
    return re.sub(r"\bx(\d+)\b", lambda found: names[int(found[1])], text)


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
    """Estimate I(x; y | given) and the line above which it is significant by itself.

    Parameters
    ----------
    x, y, given : arrays, each (n_samples,) or (n_samples, n_columns)
        Several columns are one joint variable. A `y` of few whole numbers counts as classes.
    estimator : str
        A name such as "ksg" or "mixed".
    binning : {"count", "width"}, optional
        Take the plug-in estimate of 5 bins a column instead.
    n_permutations : int
        Of x as a whole; with 0, no line.
    seed : int

    Returns
    -------
    dict with "bits", and with "line" in bits where there are permutations.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x, noise = rng.standard_normal((2, 500))
    >>> found = term(x, x + noise, estimator="gaussian")
    >>> print(f"{found['bits']:.2f} bit, significant above {found['line']:.3f}")
    0.56 bit, significant above 0.006
    """
    blocks = [_block(x, "x", binning), _block(y, "y", binning, target=True)]
    known = Block(()) if given is None else _block(given, "given", binning)
    scorer = ESTIMATORS["discrete" if binning else estimator]().bind(blocks[1], known)
    rows = np.arange(len(y), dtype=np.int32)[np.newaxis]
    if n_permutations:
        draws = permutations((seed, TERMS), range(1, 1 + n_permutations), len(y))
        rows = np.concatenate([rows, draws])
    bits = scorer.score(Batch(blocks[0], rows)) / NATS_PER_UNIT["bit"]
    if not n_permutations:
        return {"bits": float(bits[0])}
    return {"bits": float(bits[0]), "line": critical_value(bits[1:], ALPHA)}


def _block(
    values: NDArray[Any], name: str, binning: Binning | None, *, target: bool = False
) -> Block:
    block = read_block(values, name, target=target)
    if binning is None:
        return block
    return read_block(
        to_codes(block, BINS, binning), name, feature_types=["nominal"], target=target
    )


def atoms(
    sources: Sequence[NDArray[Any]], y: NDArray[Any], *, binning: Binning = "count"
) -> dict[str, float]:
    """Decompose what two sources tell about y, in bits, by BROJA on 5 bins a column.

    Returns
    -------
    dict with "unique1", "unique2", "shared" and "synergy"

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
    return {
        "unique1": found.unique[0],
        "unique2": found.unique[1],
        "shared": found.shared,
        "synergy": found.synergy,
    }
