"""Renew the picture of a report: malignant and benign tumours.

Run it with ``python examples/draw_report_page.py [PICTURE]``; it needs pandas, Pillow,
jinja2 and a Chromium: the one that the environment variable CHROMIUM names, or one on the path.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from sklearn.datasets import load_breast_cancer

from pidselect import PIDSelector, write_report

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "report_page.png"

#: Of the picture, in pixels.
WIDTH, HEIGHT = 1240, 1500


def photograph(page: Path, picture: Path) -> None:
    """Open a page in a headless browser and save a screenshot."""
    browser = (
        os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    )
    if not browser:
        raise SystemExit("there is no Chromium: install one, or name it by CHROMIUM=/path/to/one")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    where = [f"--screenshot={picture}", f"--window-size={WIDTH},{HEIGHT}", page.as_uri()]
    subprocess.run([browser, *options, *where], check=True, capture_output=True, timeout=60)
    with Image.open(picture) as image:
        image.convert("RGB").quantize().save(picture, optimize=True)


def main(picture: Path) -> None:
    """Select features of scikit-learn's table of tumours, and photograph the report."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    diagnosis = y.map({0: "malignant", 1: "benign"}).rename("diagnosis")
    selector = PIDSelector(random_state=0, n_jobs=-1).fit(X, diagnosis)
    with TemporaryDirectory() as folder:
        page = write_report(selector, X, diagnosis, Path(folder) / "report.html")
        photograph(page, picture)
    print(f"selected {', '.join(selector.selection_.features)}; drawn to {picture.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else PICTURE)
