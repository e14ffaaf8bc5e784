"""Fill a folder with real tables from public copies: MADELON, abalone and penguins.

    python benchmarks/fill_tables.py benchmarks/out/tables [--have FOLDER]

`--have` is a folder in which `madelon.mat` (of github.com/jundongl/scikit-feature), `abalone.data`
(UCI) or the wheel of `palmerpenguins` (PyPI) lie already; what is not there is downloaded. The
tables are not part of this repository, and their shapes are checked.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.io import loadmat

ADDRESSES = {
    "madelon.mat": "https://raw.githubusercontent.com/jundongl/scikit-feature/master/skfeature/data/",
    "abalone.data": "https://archive.ics.uci.edu/ml/machine-learning-databases/abalone/",
}
ABALONE = ("sex", "length", "diameter", "height", "whole", "shucked", "viscera", "shell", "rings")
PENGUINS = "palmerpenguins/data/penguins.csv"


def downloaded(name: str, have: Path) -> Path:
    """Return a file of the folder, downloaded if it is not there."""
    path = have / name
    if not path.exists():
        urllib.request.urlretrieve(ADDRESSES[name] + name, path)
    return path


def wheel(have: Path) -> Path:
    """Return the wheel of palmerpenguins, downloaded if it is not there."""
    if not list(have.glob("palmerpenguins-*.whl")):
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--quiet",
            "palmerpenguins",
        ]
        subprocess.run(command, cwd=have, check=True)
    return next(have.glob("palmerpenguins-*.whl"))


def check(name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Raise if a table has another shape than the published one."""
    if shape != expected:
        raise SystemExit(f"{name} has shape {shape}, not {expected}: this is another copy.")
    print(f"{name}: {shape[0]:,} x {shape[1]}")


def fill(folder: Path, have: Path) -> None:
    """Write the tables into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    data = loadmat(downloaded("madelon.mat", have))
    check("madelon", data["X"].shape, (2600, 500))
    X, y = data["X"].astype(np.int16), data["Y"].ravel().astype(np.int8)
    np.savez_compressed(folder / "madelon.npz", X=X, y=(y > 0).astype(np.int8))
    abalone = pd.read_csv(downloaded("abalone.data", have), header=None)
    check("abalone", abalone.shape, (4177, 9))
    abalone.set_axis([*ABALONE], axis=1).to_csv(folder / "abalone.csv", index=False)
    with zipfile.ZipFile(wheel(have)) as archive, archive.open(PENGUINS) as file:
        penguins = pd.read_csv(file)
    check("penguins", penguins.shape, (344, 8))
    penguins.to_csv(folder / "penguins.csv", index=False)


def main() -> None:
    """Read the arguments, and fill the folder."""
    command = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    command.add_argument("folder", type=Path, help="which is filled")
    command.add_argument("--have", type=Path, help="a folder with files that are there already")
    options = command.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fill(options.folder, options.have or Path(folder))


if __name__ == "__main__":
    main()
