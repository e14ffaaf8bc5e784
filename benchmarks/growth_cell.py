"""Time and memory of one step and of a whole selection, in a process of their own.

Arguments: a JSON object that describes the cell. Each part done is a line of JSON on standard
output, so that what is done stays known if the process is stopped.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from common import fit
from memory import peak_mb, reset_peak
from models import AS_THE_PAPER
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pidselect import PIDSelector

FloatArray = NDArray[np.float64]

N_RELEVANT = 3  # so that every selection has the same steps, given none to three columns
X_LEVELS, Y_LEVELS = 3, 4
N_CLASSES = 2
PARTS = ("step", "selection")


@dataclass(frozen=True)
class Cell:
    """What one process measures."""

    estimator: str
    n_samples: int
    n_columns: int
    parts: tuple[str, ...] = PARTS
    rounds: int = 1
    seed: int = 0


def make(cell: Cell) -> tuple[FloatArray | pd.DataFrame, NDArray[Any]]:
    """Return a table and a target that depends on its first columns alone.

    For the discrete estimator all is cut into levels of equal count, for the mixed one every
    other column. With labels, these columns are text and the target has classes.
    """
    rng = np.random.default_rng(cell.seed)
    X = rng.standard_normal((cell.n_samples, cell.n_columns))
    y = X[:, :N_RELEVANT].sum(axis=1) + 0.5 * rng.standard_normal(cell.n_samples)
    if cell.estimator == "discrete":
        return to_levels(X, X_LEVELS), to_levels(y, Y_LEVELS)
    if cell.estimator == "mixed":
        X[:, ::2] = to_levels(X[:, ::2], X_LEVELS)
    if cell.estimator == "labels":
        return with_labels(X), to_text(to_levels(y, N_CLASSES))
    return X, y


def with_labels(X: FloatArray) -> pd.DataFrame:
    """Turn every other column into text."""
    columns = {f"x{place}": column for place, column in enumerate(X.T)}
    for name in list(columns)[::2]:
        columns[name] = to_text(to_levels(columns[name], X_LEVELS))
    return pd.DataFrame(columns)


def to_text(levels: FloatArray) -> NDArray[Any]:
    """Return a name for each level."""
    return np.array(["low", "medium", "high"])[levels.astype(int)]


def to_levels(values: FloatArray, n_levels: int) -> FloatArray:
    """Cut each column into levels of equal count."""
    ranks = values.argsort(axis=0).argsort(axis=0)
    return (ranks * n_levels // len(values)).astype(float)


def selector(cell: Cell, part: str) -> PIDSelector:
    """Return what selects in the paper's way; with labels, by default settings.

    The step is the last one, given all that is relevant. It ends a selection because nothing is
    left to be found or, one time in twenty, because no more may be selected.
    """
    settings = {} if cell.estimator == "labels" else AS_THE_PAPER | {"estimator": cell.estimator}
    settings |= {"n_jobs": 1, "random_state": cell.seed}
    if part == "step":
        settings |= {"fixed_features": list(range(N_RELEVANT)), "max_features": N_RELEVANT + 1}
    return PIDSelector(**settings)


def measure(cell: Cell, part: str, X: Any, y: NDArray[Any]) -> dict[str, Any]:
    """Return the shortest time and the most memory that the process held, in 10^6 bytes."""
    chosen, took, held = selector(cell, part), [], []
    for _ in range(cell.rounds):
        reset_peak()
        start = time.perf_counter()
        fit(chosen, X, y)
        took.append(time.perf_counter() - start)
        held.append(peak_mb())
    selected = len(chosen.selected_)
    return {"part": part, "seconds": min(took), "whole_peak_mb": max(held), "selected": selected}


def main(cell: Cell) -> None:
    """Measure part after part; memory counts on top of the packages, the kernels and the data."""
    logging.getLogger("pidselect").setLevel(logging.ERROR)  # that it takes long is known
    X, y = make(cell)
    few = X.iloc[:300, :10] if isinstance(X, pd.DataFrame) else X[:300, :10]
    for part in cell.parts:
        fit(selector(cell, part), few, y[:300])  # kernels are loaded here
    before = reset_peak()
    for part in cell.parts:
        found = measure(cell, part, X, y)
        found["peak_mb"] = max(0.0, found["whole_peak_mb"] - before)
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        main(Cell(**json.loads(sys.argv[1])))
