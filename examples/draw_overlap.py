"""Draw redundant and overlapping features, and the atoms of every step of a selection.

Run it with ``python examples/draw_overlap.py [FOLDER]``; it needs matplotlib. Without a FOLDER it
renews the pictures overlap.png and path_atoms.png in docs/explanation.md.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pidselect import PIDSelector, datasets
from pidselect.report.displays import AtomBarsDisplay

PICTURES = Path(__file__).parents[1] / "docs" / "images"

N_SAMPLES = 1000


def cases() -> dict[str, tuple[pd.DataFrame, np.ndarray]]:
    """Return two tables with their targets: copies of one cause, and independent causes."""
    rng = np.random.default_rng(0)
    cause, noise = rng.normal(size=(2, N_SAMPLES))
    copies = cause + 0.5 * rng.normal(size=(2, N_SAMPLES))
    causes = rng.normal(size=(2, N_SAMPLES))
    return {
        "redundant: two readings of one cause": (
            pd.DataFrame(copies.T, columns=["reading 1", "reading 2"]),
            cause + 0.7 * noise,
        ),
        "overlapping: two independent causes of a sum": (
            pd.DataFrame(causes.T, columns=["cause 1", "cause 2"]),
            causes.sum(axis=0) + noise,
        ),
    }


def draw_overlap(path: Path) -> None:
    """Draw the two features against each other, coloured by the target, and their atoms."""
    figure = Figure(figsize=(8.4, 4.6), layout="constrained")
    axes = figure.subplots(2, 2, height_ratios=(3, 2))
    for column, (title, (table, target)) in enumerate(cases().items()):
        first, second = table.columns
        ax = axes[0, column]
        ax.scatter(table[first], table[second], c=target, s=5, cmap="viridis", linewidths=0)
        ax.set(title=title, xlabel=first, ylabel=second)
        ax.title.set_size(10)
        selector = PIDSelector(fixed_features=list(table.columns), random_state=0)
        explanation = selector.fit(table, target).explain(table, target)
        AtomBarsDisplay.from_explanation(explanation, ax=axes[1, column])
    figure.savefig(path, dpi=110)


def draw_path(path: Path) -> None:
    """Draw the atoms of the candidates of every step for the toy system of the paper."""
    toy = datasets.toy(random_state=1)
    table = pd.DataFrame(toy.X, columns=toy.names)
    selector = PIDSelector(random_state=0).fit(table, toy.y)
    AtomBarsDisplay.from_path(selector.explain(table, toy.y, path=True)).save(path)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES
    folder.mkdir(exist_ok=True)
    draw_overlap(folder / "overlap.png")
    draw_path(folder / "path_atoms.png")
    print("drawn: overlap, path_atoms")
