"""Draw the importance of features in the tables of the gallery: three real, one generated.

Run it with ``python examples/draw_importance.py [FOLDER]``; it needs matplotlib and pandas. Without
a FOLDER it renews docs/images/importance_*.png, of which the README shows one.
"""

import sys
import warnings
from pathlib import Path
from runpy import run_path

from pidselect import NearDuplicateWarning

HERE = Path(__file__).parent
EXAMPLES = ("12_breast_cancer", "13_diabetes", "14_wine", "15_credit")


def main(folder: Path) -> None:
    """Run the examples and save the chart of each."""
    warnings.simplefilter("ignore", NearDuplicateWarning)  # those of breast cancer are known
    folder.mkdir(exist_ok=True)
    for example in EXAMPLES:
        names = run_path(str(HERE / f"plot_{example}.py"))
        table = example.partition("_")[2]
        names["importance"].save(folder / f"importance_{table}.png")
        print(f"{table}: selected {', '.join(names['selector'].selection_.features)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "images")
