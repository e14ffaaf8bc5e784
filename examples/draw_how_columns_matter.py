"""Draw the unique, shared and synergistic information of the columns of scikit-learn's wine data.

Run it with ``python examples/draw_how_columns_matter.py [FILE]``; it needs matplotlib and pandas.
Without a FILE it renews the picture in the README, docs/images/how_columns_matter.png.
"""

import sys
from pathlib import Path

from sklearn.datasets import load_wine

from pidselect import AtomBarsDisplay, PIDSelector

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "how_columns_matter.png"


def main(path: Path) -> None:
    """Select features of the wine data, explain them, and draw the explanation."""
    X, y = load_wine(return_X_y=True, as_frame=True)
    selector = PIDSelector(random_state=0).fit(X, y)
    AtomBarsDisplay.from_explanation(selector.explain(X, y)).save(path)
    print(f"selected {', '.join(selector.selection_.features)}; drawn to {path.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
