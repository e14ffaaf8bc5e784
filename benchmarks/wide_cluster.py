"""What a wide table costs on a Dask cluster of this machine: bytes to its workers, and seconds.

Columns are sent in chunks, each to one worker and once per fit, or all to every worker at each
step, as narrow tables are.
"""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import joblib
import numpy as np
from common import parser, show, write
from distributed import Client, LocalCluster

from pidselect import PIDSelector
from pidselect.selection.executor import Executor

MIB = 2**20

#: What decides the number of chunks, by what is compared.
DIVISIONS = {
    "in chunks": Executor._count_chunks,
    "all columns to every worker": lambda executor, job: 1,
}


def table(n_samples: int, n_columns: int, seed: int) -> tuple[Any, Any]:
    """Return a target that depends on two columns; one in a hundred columns depends on the first.

    The others are independent noise, as most columns of wide tables given a few of them are.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_samples, n_columns))
    X[:, 100::100] += X[:, :1]
    return X, X[:, 0] + X[:, 1] + rng.normal(size=n_samples)


@contextmanager
def counting(client: Client) -> Iterator[Counter[str]]:
    """Count the pickled bytes that are scattered to each worker."""
    received: Counter[str] = Counter()
    scatter = client.scatter

    def counted(values: Any, workers: Any = None, **settings: Any) -> Any:
        n_bytes = sum(len(pickle.dumps(value, protocol=5)) for value in values)
        for worker in workers or client.nthreads():
            received[worker] += n_bytes
        return scatter(values, workers, **settings)

    with patch.object(client, "scatter", counted):
        yield received


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit serially and on a cluster, print and write."""
    command = parser(__doc__, runs=1, help_runs="rounds of fits; the best time counts")
    command.add_argument("--samples", type=int, default=2000)
    command.add_argument("--columns", type=int, default=5000)
    command.add_argument("--workers", type=int, default=4)
    options = command.parse_args(arguments)
    X, y = table(options.samples, options.columns, options.seed)
    selector = PIDSelector(
        estimator="gaussian", n_permutations=100, max_features=2, lookahead=1, random_state=0
    )

    def fit() -> tuple[float, Any]:
        start = time.perf_counter()
        selection = selector.fit(X, y).selection_
        return time.perf_counter() - start, selection

    fit()  # kernels are loaded or compiled here
    runs = [fit() for _ in range(options.runs)]
    expected = runs[0][1]
    rows = [{"columns": "one process", "seconds": min(took for took, _ in runs)}]
    places = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(n_workers=options.workers, threads_per_worker=1, **places) as cluster,
        Client(cluster) as client,
        joblib.parallel_config(backend="dask", client=client),
    ):
        for name, count_chunks in DIVISIONS.items():
            with patch.object(Executor, "_count_chunks", count_chunks):
                with counting(client) as received:
                    fit()
                runs = [fit() for _ in range(options.runs)]
            rows.append(
                {
                    "columns": name,
                    "seconds": min(took for took, _ in runs),
                    "MiB per worker": max(received.values()) / MIB,
                    "MiB in all": sum(received.values()) / MIB,
                    "equal": all(found == expected for _, found in runs),
                }
            )
    title = (
        f"{options.samples:,} samples, {options.columns:,} columns ({X.nbytes / MIB:.0f} MiB), "
        f"{options.workers} Dask workers, {len(expected.steps)} steps"
    )
    header = tuple(rows[-1])
    show(title, header, [tuple(row.get(key) for key in header) for row in rows])
    write("wide_cluster", options, {"n_steps": len(expected.steps), "rows": rows})


if __name__ == "__main__":
    main()
