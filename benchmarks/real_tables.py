"""Real tables: the columns that are selected, seconds of CPU and peak memory, beside peers.

Tables of scikit-learn, and those of the folder `--data`, which `fill_tables.py` fills: MADELON,
abalone and penguins. Each selection has a process and one thread of its own. Boruta needs
`--peers`, which installs it in an environment of its own; the other peers are of scikit-learn, or
textbook tests. Memory is on top of the data and the packages. `--tables 10` selects by ten seeds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from common import collect, mean_error, resumable, show, write
from numpy.typing import NDArray
from selectors_process import ask_once, find_peers
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

OURS = ("minimal", "relevant")
TEXTBOOK = ("cubic F", "spline F", "glm forward")
PEERS = ("kbest", "rfecv")
LIMIT = 3600.0  # seconds of a selection

FOLDER = Path(__file__).parent / "out" / "tables"

#: Columns of MADELON that are informative (from 0); the others are probes.
USEFUL = (
    *(28, 48, 64, 105, 128, 153, 241, 281, 318, 336),
    *(338, 378, 433, 442, 451, 453, 455, 472, 475, 493),
)


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


def available(folder: Path) -> list[str]:
    """Return the tables that are there, and say how the others are filled."""
    found = []
    for name, read in TABLES.items():
        try:
            read(folder)
        except FileNotFoundError:
            print(f"{name} is not in {folder}: python benchmarks/fill_tables.py {folder}")
        else:
            found.append(name)
    return found


def examine(name: str, method: str, seed: int, folder: Path, python: str) -> dict[str, Any]:
    """Return the columns that a method selects from a table, with time and memory."""
    table = TABLES[name](folder)
    told = ask_once(method, table.arrays(), seed, LIMIT, python if method == "boruta" else "")
    if "selected" in told:
        told["selected"] = [table.names[place] for place in told["selected"]]
    return told


def summarise(name: str, method: str, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return how often each column is selected, and means of time and memory."""
    done = [one for one in found if "note" not in one]
    row: dict[str, Any] = {"table": name, "method": method, "runs": len(done)}
    row["notes"] = sorted({one["note"][:80] for one in found if "note" in one})
    if done:
        times = Counter(column for one in done for column in one["selected"])
        row["columns"] = dict(times.most_common())
        row["n_columns"], row["n_error"] = mean_error([len(one["selected"]) for one in done])
        row["cpu_seconds"] = min(one["cpu_seconds"] for one in done)
        row["peak_mb"] = max(one["peak_mb"] for one in done)
    return row


def methods_of(has_peers: bool) -> tuple[list[str], str]:
    """Return all methods, and the Python that has Boruta if that is one of them."""
    if not has_peers:
        return [*OURS, *TEXTBOOK, *PEERS], ""
    found, trouble = find_peers()
    if trouble:
        raise SystemExit(trouble)
    return [*OURS, *TEXTBOOK, *PEERS, "boruta"], str(found)


def shown(row: dict[str, Any]) -> tuple[Any, ...]:
    """Return a row as it is printed, columns with the number of runs where not in all."""
    columns = [
        name if times == row["runs"] else f"{name} ({times})"
        for name, times in row.get("columns", {}).items()
    ]
    about = [row.get(key) for key in ("runs", "n_columns", "n_error", "cpu_seconds", "peak_mb")]
    return (row["method"], *about, ", ".join([*columns[:12], *row["notes"]]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Select, print and write."""
    command = resumable(__doc__ or "", runs=1, help_runs="seeds")
    command.add_argument("--data", type=Path, default=FOLDER, help=f"folder of tables ({FOLDER})")
    command.add_argument("--peers", action="store_true", help="Boruta, too")
    options = command.parse_args(arguments)
    methods, python = methods_of(options.peers)
    names = [name for name in available(options.data) if options.only in (None, name)]
    wanted = [
        (name, method, options.seed + number)
        for number in range(options.runs)
        for name in names
        for method in methods
    ]
    work = partial(examine, folder=options.data, python=python)
    rows: list[dict[str, Any]] = []
    found_by: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in collect("real_tables", wanted, work, options):
        found_by.setdefault(tuple(one["key"][:2]), []).append(one)
    for name in names:
        rows += [summarise(name, method, found_by[name, method]) for method in methods]
        header = ("method", "runs", "columns", "s.e.", "CPU s", "MB", "names (runs)")
        show(name, header, [shown(row) for row in rows if row["table"] == name])
    del options.data
    write("real_tables", options, {"rows": rows})


if __name__ == "__main__":
    main()
