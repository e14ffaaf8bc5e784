"""The paper's models and rates, and how a selection from them is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from common import fit

from pidselect import PIDSelector, datasets

#: The paper's settings.
AS_THE_PAPER: dict[str, Any] = {
    "estimator": "ksg",
    "surrogates": "global",
    "shared_permutations": False,
    "backward": "minimum",
    "lookahead": 1,
}

Rates = tuple[float, float]  # percent of the relevant features found, and of the others taken

#: The paper's own rates, by conditional mutual information.
PAPER: dict[str, Rates] = {
    "friedman1": (100.0, 1.2),
    "friedman2": (50.5, 0.2),
    "friedman3": (3.5, 0.0),
    "runge": (99.6, 3.0),
}

MAKE: dict[str, Callable[..., datasets.SyntheticDataset]] = {
    "toy": datasets.toy,
    "friedman1": partial(datasets.friedman, model=1),
    "friedman2": partial(datasets.friedman, model=2),
    "friedman3": partial(datasets.friedman, model=3),
    "runge": datasets.runge,
}


class Tally(NamedTuple):
    """Mean of the runs, in percent, and its standard error."""

    mean: float
    standard_error: float


def select(name: str, settings: Mapping[str, Any], seed: int) -> tuple[int, ...]:
    """Run one selection on fresh data, and return the columns in order."""
    problem = MAKE[name](1000, random_state=seed)
    selector = PIDSelector(**settings, n_jobs=1, random_state=seed)
    fit(selector, problem.X, problem.y)
    return tuple(selector.selected_.tolist())


def share(columns: set[int], selections: Sequence[tuple[int, ...]]) -> Tally:
    """Return how many of these columns a run selects on average."""
    percent = [100.0 * len(columns & set(selected)) / len(columns) for selected in selections]
    if len(percent) == 1:
        return Tally(percent[0], 0.0)
    return Tally(float(np.mean(percent)), float(np.std(percent, ddof=1) / np.sqrt(len(percent))))
