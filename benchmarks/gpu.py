"""How fast on a GPU: a step and all pairs, with values as on the CPU, and Appendix C."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from json import dumps
from math import comb
from multiprocessing.pool import ThreadPool
from typing import Any

import numpy as np
from common import best_of, parser, write
from numpy.typing import NDArray
from sklearn.datasets import make_regression

from pidselect import PIDSelector
from pidselect.data import Block, Column
from pidselect.estimators import KSG, Batch
from pidselect.estimators.cuda.device import cuda
from pidselect.estimators.cuda.scorer import bind_on
from pidselect.significance.cuda import CudaPermutations, CudaScan
from pidselect.significance.interactions import InteractionScan
from pidselect.significance.rng import permutations

N_DRAWS, N_DRAWS_CPU, N_CANDIDATES = 201, 32, 5
FloatArray = NDArray[np.float64]


def to_block(values: FloatArray) -> Block:
    """Take columns for one continuous variable."""
    return Block(
        tuple(Column(f"x{i}", "continuous", column.copy()) for i, column in enumerate(values.T))
    )


def regression(n_samples: int, n_given: int, seed: int = 0) -> tuple[Block, Block, list[Block]]:
    """Return a target that depends on all that is given, and candidates."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_given + N_CANDIDATES))
    y = X[:, : n_given + 2].sum(axis=1) + rng.standard_normal(n_samples)
    candidates = [to_block(column[:, None]) for column in X.T[n_given:]]
    return to_block(y[:, None]), to_block(X[:, :n_given]), candidates


def step(n_samples: int, n_jobs: int) -> list[dict[str, Any]]:
    """Time the same work on both: binding, and one candidate's share of a step."""
    results = []
    for given in (1, 3, 6):
        target, known, (x, *_) = regression(n_samples, given)
        rows = permutations((0,), range(1, 1 + N_DRAWS_CPU), n_samples)
        parts = [Batch(x, part) for part in np.array_split(rows, n_jobs)]
        start = time.perf_counter()
        bound = KSG().bind(target, known)
        bind_seconds = time.perf_counter() - start
        bound.score(Batch(x, rows[:1]))  # compiles
        with ThreadPool(n_jobs) as pool:
            start = time.perf_counter()
            on_cpu = np.concatenate(pool.map(bound.score, parts))
            cpu_ms = 1e3 * (time.perf_counter() - start) / len(rows)
        there = bind_on(cuda(), KSG(), target, known, 2**30)
        drawn = CudaPermutations(cuda(), n_samples)((0,), range(1, 1 + N_DRAWS))
        (seconds,) = best_of(3, lambda t=there, x=x, r=drawn: t.score(Batch(x, r)))
        gpu_ms = 1e3 * seconds / N_DRAWS
        results.append(
            {
                "n": n_samples,
                "given": given,
                "cpu threads": n_jobs,
                "cpu bind s": bind_seconds,
                "cpu ms": cpu_ms,
                "gpu ms": gpu_ms,
                "ratio": cpu_ms / gpu_ms,
                "error": float(np.abs(there.score(Batch(x, rows)) - on_cpu).max()),
            }
        )
        print("step", results[-1], flush=True)
    return results


def interactions() -> list[dict[str, Any]]:
    """Time the scan of all pairs, and of all triples, beside one block on the CPU."""
    results = []
    cases = (("genotypes", 2000, 10_000, False), ("continuous", 1000, 2048, False))
    for kind, n, n_columns, with_triples in (*cases, ("binary", 1000, 500, True)):
        rng = np.random.default_rng(0)
        if kind == "continuous":
            X = rng.standard_normal((n, n_columns))
        else:
            X = rng.binomial(2 if kind == "genotypes" else 1, 0.4, (n, n_columns)).astype(float)
        feature_type = "continuous" if kind == "continuous" else "nominal"
        features = [
            Block((Column(f"x{i}", feature_type, column.copy()),)) for i, column in enumerate(X.T)
        ]
        target = Block((Column("y", "nominal", rng.integers(0, 2, n).astype(float)),))
        found = scan_times(
            InteractionScan.of(features, target, None, "all" if with_triples else "none")
        )
        results.append({"columns": f"{n_columns} {kind}", "n": n, "triples": with_triples, **found})
        print("interactions", results[-1], flush=True)
    return results


def scan_times(scan: InteractionScan) -> dict[str, Any]:
    """Time a whole scan on the GPU, and the tables of its last block on one core of the CPU."""
    there, blocks, last = CudaScan(cuda(), scan), range(len(scan.blocks)), [len(scan.blocks) - 1]
    rows = CudaPermutations(cuda(), len(scan.classes))((0,), range(N_DRAWS))
    values = there.largest_values(blocks, rows)  # compiles
    (seconds,) = best_of(3, lambda: there.largest_values(blocks, rows))
    expected = scan.largest_values(last, rows.on_cpu)  # compiles
    (cpu_seconds,) = best_of(3, lambda: scan.largest_values(last, rows.on_cpu[:N_DRAWS_CPU]))
    place, columns = scan.blocks[-1]
    n_tables = sum(comb(i, scan.tables[place].order - 1) for i in columns)
    return {
        "tables": scan.n_tables,
        "equal": bool((values[last] == expected).all()),
        "gpu s": seconds,
        "gpu ns": 1e9 * seconds / scan.n_tables / N_DRAWS,
        "cpu ns, last block": 1e9 * cpu_seconds / n_tables / N_DRAWS_CPU,
    }


def appendix(n_samples: int, **settings: Any) -> dict[str, Any]:
    """Select 10 of 50 features of a linear regression, as in the paper's Appendix C."""
    X, y, weights = make_regression(
        n_samples=n_samples, n_features=50, n_informative=10, coef=True, random_state=0
    )
    selector = PIDSelector(
        estimator="ksg", surrogates="global", shared_permutations=False, random_state=0, **settings
    )
    start = time.perf_counter()
    selector.fit(X, y)
    seconds = time.perf_counter() - start
    selected = [int(column) for column in selector.selected_]
    result = {
        "n": n_samples,
        "seconds": seconds,
        "selected": selected,
        "informative": np.flatnonzero(weights).tolist(),
        "steps": [str(s) for s in selector.selection_.steps],
        **settings,
    }
    print(dumps(result, indent=1), flush=True)
    return result


def main() -> None:
    options = parser(__doc__ or "", runs=1, help_runs="not used: every part runs once")
    options.add_argument("--only", choices=("step", "interactions", "appendix"), help="one part")
    options.add_argument("--n-samples", type=int, default=50_000, help="of step and appendix")
    options.add_argument("--n-permutations", default=200)
    options.add_argument("--jobs", type=int, default=2, help="threads of the CPU")
    chosen = options.parse_args()
    n, n_permutations = chosen.n_samples, int(chosen.n_permutations)
    work: dict[str, Callable[[], Any]] = {
        "step": partial(step, n, chosen.jobs),
        "interactions": interactions,
        "appendix": partial(appendix, n, device="cuda", n_permutations=n_permutations),
    }
    parts = [chosen.only] if chosen.only else [*work]
    write("gpu", chosen, {part: work[part]() for part in parts}, gpu=cuda().name)


if __name__ == "__main__":
    main()
