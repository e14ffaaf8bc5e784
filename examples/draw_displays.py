"""Draw one plot of every kind: of a selection, its explanation, its stability, and atoms.

Run it with ``python examples/draw_displays.py [FOLDER]``; it needs matplotlib and pandas. Without a
FOLDER it renews the pictures of docs/report.md, docs/images/display_*.png.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from pidselect import (
    AtomBarsDisplay,
    ImportanceDisplay,
    JointDisplay,
    LatticeDisplay,
    PIDSelector,
    SelectionPathDisplay,
    StabilityDisplay,
    decompose,
    stability,
)

PICTURES = Path(__file__).parents[1] / "docs" / "images"


def make_house(n_samples: int = 500) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table of a lamp that two switches control while there is power.

    The meter shows the power with errors; the other columns are irrelevant.
    """
    rng = np.random.default_rng(3)
    upstairs, downstairs, power = rng.integers(0, 2, size=(3, n_samples))
    table = {
        "upstairs": upstairs,
        "downstairs": downstairs,
        "power": power | (rng.random(n_samples) < 0.3),
        "meter": np.where(rng.random(n_samples) < 0.9, power, 1 - power),
        **{f"noise_{place}": rng.integers(0, 3, size=n_samples) for place in range(1, 7)},
    }
    lamp = (upstairs ^ downstairs) & table["power"]
    return pd.DataFrame(table).astype(int), np.where(rng.random(n_samples) < 0.03, 1 - lamp, lamp)


def main(folder: Path) -> None:
    """Select, explain and decompose, and draw it all."""
    X, lamp = make_house()
    selector = PIDSelector(random_state=0).fit(X, lamp)
    explanation = selector.explain(X, lamp)
    often = stability(selector, X, lamp, n_subsamples=20, random_state=0)
    sources = [X[name] for name in ("upstairs", "downstairs", "power")]
    atoms = decompose(sources, pd.Series(lamp, name="lamp"), measure="sx")
    displays = {
        "importance": ImportanceDisplay.from_explanation(explanation),
        "path": SelectionPathDisplay.from_selection(selector.selection_),
        "atoms": AtomBarsDisplay.from_explanation(explanation),
        "joint": JointDisplay.from_selector(selector, X, pd.Series(lamp, name="lamp")),
        "stability": StabilityDisplay.from_stability(often),
        "lattice": LatticeDisplay.from_decomposition(atoms),
    }
    folder.mkdir(exist_ok=True)
    for name, display in displays.items():
        display.save(folder / f"display_{name}.png")
    print(f"drawn: {', '.join(displays)}; selected {', '.join(selector.selection_.features)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
