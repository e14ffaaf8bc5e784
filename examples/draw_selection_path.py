"""Draw the steps of a selection: scores of the candidates and critical values.

Run it with ``python examples/draw_selection_path.py [FILE]``; it needs matplotlib and pandas.
Without a FILE it renews the picture in docs/index.md, docs/images/selection_path.png.
"""

import sys
from pathlib import Path

import pandas as pd

from pidselect import PIDSelector, SelectionPathDisplay, datasets

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "selection_path.png"


def main(path: Path) -> None:
    """Select features of Friedman's first model, and draw the steps."""
    problem = datasets.friedman(random_state=0)
    X = pd.DataFrame(problem.X, columns=problem.names)
    selection = PIDSelector(random_state=0).fit(X, problem.y).selection_
    SelectionPathDisplay.from_selection(selection).save(path)
    print(f"selected {', '.join(selection.features)}; drawn to {path.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
