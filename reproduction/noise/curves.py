"""Curves over the strength of a distractor (Experiment V), read from their runs."""

from __future__ import annotations

import numpy as np

from pidselect.data import FloatArray
from reproduction.experiment import Results

#: Steps between strengths of a curve: of the full reproduction, and of a quick one.
STEP, QUICK_STEP = 0.25, 0.5


class Curves:
    """The runs of one model as arrays: a row for each run, a column for each strength."""

    def __init__(self, results: Results, kind: str) -> None:
        fine = results.of("curve", kind=kind, step=STEP)
        runs = fine or results.of("curve", kind=kind, step=QUICK_STEP)
        self.grid: list[float] = runs[0]["a"] if runs else [0.0, 0.5, 1.0]
        self._runs = [run["curves"] for run in runs]

    def __len__(self) -> int:
        return len(self._runs)

    def of(self, estimator: str, name: str) -> FloatArray:
        """Return the values of a term or an atom, in bits; no rows where nothing was run."""
        values = [run[f"{estimator} {name}"] for run in self._runs]
        return np.array(values, dtype=float).reshape(len(values), len(self.grid))

    def lines(self, estimator: str, name: str) -> FloatArray | None:
        """Return the lines above which a term is significant, where all runs have them."""
        key = f"{estimator} {name} line"
        if not self._runs or any(key not in run for run in self._runs):
            return None
        return np.array([run[key] for run in self._runs], dtype=float)

    def rises_above_zero(self, differences: FloatArray) -> str:
        """Say between which strengths a mean difference last comes above 0."""
        below = [place for place, mean in enumerate(differences.mean(axis=0)) if mean <= 0]
        if not below or below[-1] + 1 == len(self.grid):
            return ""
        return f"between a = {self.grid[below[-1]]:g} and {self.grid[below[-1] + 1]:g}"
