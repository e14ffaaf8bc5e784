"""Tables in partitions: seconds and bytes over rows, partitions and columns, by each engine.

Counts: eleven discrete columns, three of them relevant, in files of a million rows. Sample: ten
continuous columns, of which the default 100,000 rows are drawn and fitted with the copula
estimator; here one file is linked as often as rows are asked for. Partitions: the first table of
ten million rows in row groups of different sizes. Wide: 400,000 rows of many discrete columns.

Seconds are of the whole fit, and of what is read from the partitions in it. Bytes are what came
back from the partitions: counts, or the rows of the sample.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import repeat
from pathlib import Path
from typing import Any

import joblib
import matplotlib
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
from common import RESULTS, parser, write
from matplotlib.figure import Figure

from pidselect import PIDSelector
from pidselect.data import counts, partitions
from pidselect.selection import partitioned

MILLION = 10**6
IMAGE = Path(__file__).parent.parent / "docs" / "images" / "partitions.png"

#: Colours that the colour-blind tell apart (Okabe and Ito), and markers for print in grey.
LOOKS = {"parquet": ("#0072B2", "o"), "dask": ("#D55E00", "s"), "ray": ("#009E73", "^")}
NAMES = {"parquet": "Parquet, 2 threads", "dask": "Dask, 2 processes", "ray": "Ray, 2 processes"}


# --- data ---------------------------------------------------------------------------------------


def discrete(n_rows: int, seed: int = 0, n_columns: int = 10) -> pa.Table:
    rng = np.random.default_rng(seed)
    columns = {f"x{i}": rng.integers(0, 2 + i % 4, n_rows, dtype=np.int8) for i in range(n_columns)}
    text = pa.array(["north", "south", "west"]).take(rng.integers(0, 3, n_rows))
    is_west = pa.compute.equal(text, "west").to_numpy(zero_copy_only=False)
    score = columns["x1"] + 2 * columns["x2"] + is_west + rng.normal(size=n_rows)
    return pa.table({**columns, "text": text, "y": np.where(score > 4, 1, 0).astype(np.int8)})


def continuous(n_rows: int) -> pa.Table:
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.normal(size=n_rows) for i in range(10)}
    y = columns["x1"] - columns["x2"] + rng.normal(size=n_rows)
    return pa.table({**columns, "y": y})


def fill(folder: Path, tables: Iterator[pa.Table], row_group: int | None = None) -> None:
    """Write tables; the same object again is linked."""
    folder.mkdir()
    last: tuple[Any, Path] = None, folder
    for number, table in enumerate(tables):
        path = folder / f"{number:05}.parquet"
        if table is last[0]:
            path.hardlink_to(last[1])
        else:
            pq.write_table(table, path, row_group_size=row_group or len(table))
            last = table, path


# --- engines ------------------------------------------------------------------------------------


@contextmanager
def parquet() -> Iterator[Callable[[Path], Any]]:
    with joblib.parallel_config(backend="threading", n_jobs=2):
        yield lambda folder: folder


@contextmanager
def dask() -> Iterator[Callable[[Path], Any]]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    places = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, **places) as cluster, Client(cluster):
        yield lambda folder: dd.read_parquet(folder, split_row_groups=True)


@contextmanager
def ray() -> Iterator[Callable[[Path], Any]]:
    import ray as library

    library.init(
        num_cpus=2,
        address="local",
        include_dashboard=False,
        log_to_driver=False,
        logging_level="error",
        _node_ip_address="127.0.0.1",
    )
    library.data.DataContext.get_current().enable_progress_bars = False
    try:
        yield lambda folder: library.data.read_parquet(str(folder))
    finally:
        library.shutdown()


ENGINES = {"parquet": parquet, "dask": dask, "ray": ray}


# --- measuring ----------------------------------------------------------------------------------


class Meter:
    """The seconds and bytes of everything that is read from partitions."""

    def __init__(self) -> None:
        self.seconds, self.n_bytes, self.n_passes, self.n_results = 0.0, 0, 0, 0

    @contextmanager
    def running(self) -> Iterator[None]:
        kinds = (partitions.ParquetFiles, partitions.DaskFrame, partitions.RayDataset)
        plain = {kind: kind.map for kind in kinds}

        def metered(kind: Any) -> Any:
            def read(this: Any, *arguments: Any) -> Iterator[Any]:
                self.n_passes += 1
                results = plain[kind](this, *arguments)
                while True:
                    start = time.perf_counter()
                    result = next(results, self)
                    self.seconds += time.perf_counter() - start
                    if result is self:
                        return
                    self.n_results += 1
                    self.n_bytes += size_of(result)
                    yield result

            return read

        for kind in kinds:
            kind.map = metered(kind)
        try:
            yield
        finally:
            for kind in kinds:
                kind.map = plain[kind]


def size_of(result: Any) -> int:
    """Return the bytes of counts, levels or rows."""
    if isinstance(result, list):
        return sum(map(size_of, result))
    if isinstance(result, tuple):
        return sum(part.nbytes for part in result)
    if isinstance(result, counts.Levels):
        return 8 * len(result)
    if isinstance(result, pa.Table):
        return int(result.nbytes)
    return 0 if result is None else int(result.memory_usage(index=False).sum())


def measure(table: Any, settings: dict[str, Any], cell: dict[str, Any]) -> dict[str, Any]:
    meter = Meter()
    selector = PIDSelector(n_permutations="auto", lookahead=1, random_state=0, **settings)
    start = time.perf_counter()
    with meter.running():
        selector.fit(table, "y")
    total = time.perf_counter() - start
    n_rows = selector.selection_.settings.n_rows
    return {
        **cell,
        "n_rows": n_rows,
        "seconds": round(total, 2),
        "reading": round(meter.seconds, 2),
        "per_million": round(meter.seconds / meter.n_passes / n_rows * MILLION, 4),
        "n_passes": meter.n_passes,
        "megabytes": round(meter.n_bytes / 1e6, 3),
        "selected": sorted(selector.get_feature_names_out().tolist()),
    }


def run(options: Any) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as place:
        cells = write_tables(Path(place), options)
        rows = []
        for engine in options.engines:
            with ENGINES[engine]() as opened:
                for name, cell, settings in cells:
                    cell = {"engine": engine, **cell}
                    rows.append(measure(opened(Path(place) / name), settings, cell))
                    print(rows[-1], flush=True)
        return rows


def write_tables(folder: Path, options: Any) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Write the tables; return the folder, the description and the settings of each."""
    cells, unit = [], options.unit
    for size in options.millions:
        fill(folder / f"counts{size}", (discrete(unit, seed) for seed in range(size)))
        cells.append((f"counts{size}", {"kind": "counts", "n_partitions": size}, {}))
    one = continuous(unit)
    for size in options.millions:
        fill(folder / f"sample{size}", repeat(one, size))
        settings = {"estimator": "copula"}
        cells.append((f"sample{size}", {"kind": "sample", "n_partitions": size}, settings))
    for n_groups in (1, 4, 16):
        name = f"groups{n_groups}"
        fill(folder / name, (discrete(unit, seed) for seed in range(10)), unit // n_groups)
        cells.append((name, {"kind": "partitions", "n_partitions": 10 * n_groups}, {}))
    for n_columns in options.columns:
        tables = (discrete(unit // 10, seed, n_columns) for seed in range(4))
        fill(folder / f"wide{n_columns}", tables)
        cells.append((f"wide{n_columns}", {"kind": "wide", "n_columns": n_columns}, {}))
    return cells


# --- the picture --------------------------------------------------------------------------------


def draw(rows: list[dict[str, Any]]) -> Figure:
    text = "#333333"
    style = {"font.size": 11, "text.color": text, "axes.labelcolor": text}
    panels = [
        ("counts", "n_rows", "reading", "Counts of all rows", "rows", "seconds of reading"),
        ("counts", "n_rows", "megabytes", "", "rows", "MB moved"),
        ("sample", "n_rows", "reading", "A sample of 100,000 rows", "rows", "seconds of reading"),
        (
            "partitions",
            "n_partitions",
            "megabytes",
            "10 million rows",
            "partitions",
            "megabytes moved",
        ),
    ]
    with matplotlib.rc_context(style):
        figure = Figure(figsize=(10, 7), dpi=72, layout="constrained")
        for axes, (kind, along, what, title, x, y) in zip(
            figure.subplots(2, 2).flat, panels, strict=True
        ):
            for engine, (color, marker) in LOOKS.items():
                some = [r for r in rows if r["kind"] == kind and r["engine"] == engine]
                if some:
                    axes.plot(
                        [r[along] for r in some],
                        [r[what] for r in some],
                        color=color,
                        marker=marker,
                        label=NAMES[engine],
                    )
            scale = "linear" if what == "megabytes" else "log"
            axes.set(xscale="log", yscale=scale, xlabel=f"number of {x}", ylabel=y)
            axes.set_ylim(bottom=0 if scale == "linear" else None)
            axes.set_title(title or "Counts of all rows", color=text)
            axes.grid(color="#DDDDDD")
            axes.spines[["top", "right"]].set_visible(False)
        drawn = figure.axes[0].get_legend_handles_labels()
        figure.legend(*drawn, loc="outside lower center", ncols=3, frameon=False)
    return figure


def main() -> None:
    options = parser(__doc__.split("\n")[0], runs=1, help_runs="not used")
    options.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    options.add_argument("--millions", nargs="+", type=int, default=[1, 3, 10, 30, 100])
    options.add_argument("--columns", nargs="+", type=int, default=[100, 1000])
    options.add_argument("--unit", type=int, default=MILLION, help="rows of a file (10^6)")
    options.add_argument("--draw", action="store_true", help="draw the picture from the results")
    chosen = options.parse_args()
    if chosen.draw:
        stored = json.loads((RESULTS / "partitions.json").read_text())
        draw(stored["results"]["cells"]).savefig(IMAGE)
        return
    assert partitioned.SAMPLE_ROWS == 100_000
    write("partitions", chosen, {"cells": run(chosen)})


if __name__ == "__main__":
    main()
