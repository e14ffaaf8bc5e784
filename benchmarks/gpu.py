"""How fast on a GPU: values as on the CPU, times of an estimate and of all pairs, Appendix C."""

from __future__ import annotations

import argparse
import logging
import os
import platform
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from json import dumps
from math import comb
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_regression

from pidselect import PIDSelector
from pidselect.data import Block, Column
from pidselect.estimators import KSG, Batch, Mixed
from pidselect.estimators.cuda.device import cuda
from pidselect.estimators.cuda.scorer import CudaScorer, bind_on
from pidselect.significance import permutations
from pidselect.significance.cuda import CudaPermutations
from pidselect.significance.cuda_interactions import CudaScan
from pidselect.significance.interactions import InteractionScan

PARTS = ("draws", "correct", "estimates", "step", "interactions", "appendix")
SIZES, N_GIVEN = (10_000, 50_000), (0, 1, 2, 3, 6, 10)
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


def draws() -> dict[str, Any]:
    """Compare permutations with those of the CPU, and time them."""
    gpu, words, results = cuda(), (7, 1, 0, 3), {}
    for n in (2, 33, 1000, 50_000, 65_536, 100_000):
        drawn = CudaPermutations(gpu, n)
        there = np.asarray(drawn(words, range(0, 65)))
        same = bool((there[1:] == permutations(words, range(1, 65), n)).all())
        seconds = best_of(lambda d=drawn: (d(words, range(N_DRAWS)), synchronise()))
        results[f"{n}"] = {"equal": same, "ms for 201": 1e3 * seconds}
        print(f"draws N={n}: equal {same}, {1e3 * seconds:.2f} ms for {N_DRAWS}", flush=True)
    return results


def correct() -> list[dict[str, Any]]:
    """Score the same on both, with and without ties."""
    gpu, results = cuda(), []
    cases = [
        (n, given, k, ties, kind)
        for n in (300, 1000, 5000)
        for given in (0, 1, 2, 3, 6)
        for k in (1, 4, 10)
        for ties in (False, True)
        for kind in (KSG, Mixed)
        if (n < 5000 or k == 4) and (kind is KSG or k == 4)
    ]
    for n, given, k, ties, kind in cases:
        target, known, (x, *_) = regression(n, given, seed=k)
        if ties:
            target, known, x = (
                Block(tuple(Column(c.name, c.kind, c.values.round(1)) for c in block.columns))
                for block in (target, known, x)
            )
        estimator = kind(k=k)
        rows = np.concatenate(
            [np.arange(n, dtype=np.int32)[None], permutations((k,), range(1, 65), n)]
        )
        expected = estimator.bind(target, known).score(Batch(x, rows))
        bound = bind_on(gpu, estimator, target, known, 2**30)
        assert isinstance(bound, CudaScorer)
        error = float(np.abs(bound.score(Batch(x, rows)) - expected).max())
        results.append(
            {"n": n, "given": given, "k": k, "ties": ties, "by": kind.__name__, "error": error}
        )
        if error:
            print("DIFFERENT", results[-1], flush=True)
    worst = max(results, key=lambda result: result["error"])
    print(f"{len(results)} cases, the worst one: {worst}", flush=True)
    return results


def estimates() -> list[dict[str, Any]]:
    """Time one estimate, and what is done once for all of a step."""
    gpu, results = cuda(), []
    for n in SIZES:
        for given in N_GIVEN:
            target, known, candidates = regression(n, given)
            bind_on(gpu, KSG(), target, known, 2**30)  # compiles, and fills what is kept
            bind_ms = 1e3 * best_of(
                lambda t=target, g=known: (bind_on(gpu, KSG(), t, g, 2**30), synchronise())
            )
            bound = bind_on(gpu, KSG(), target, known, 2**30)
            rows = CudaPermutations(gpu, n)((0,), range(N_DRAWS))
            bound.score(Batch(candidates[0], rows))
            score_ms = 1e3 * best_of(
                lambda b=bound, c=candidates, r=rows: [b.score(Batch(x, r)) for x in c]
            )
            each = score_ms / (N_DRAWS * len(candidates))
            kept = list_facts(bound)
            results.append({"n": n, "given": given, "bind ms": bind_ms, "ms": each, **kept})
            print(f"N={n} given={given}: bind {bind_ms:.1f} ms, {each:.4f} ms an estimate", kept)
            try:
                print("   kernels:", kernel_times(bound, candidates[0], rows), flush=True)
            except Exception:
                traceback.print_exc()
    return results


def list_facts(bound: Any) -> dict[str, float]:
    """Return how long lists are, and how far they are filled."""
    facts = {}
    for name, lists in zip(("joint", "given"), bound.spaces.kept[2:4], strict=True):
        if lists.arrays:
            lengths = bound.device.get(lists.arrays[2])
            facts[f"{name} list"] = lists.fields[-1]
            facts[f"{name} filled"] = float(lengths.mean())
            facts[f"{name} shortest"] = int(lengths.min())
    return facts


def kernel_times(bound: Any, block: Block, rows: Any) -> dict[str, float]:
    """Return the milliseconds of each kernel of a score, by the GPU's own clock."""
    gpu = bound.device
    events = gpu.cupy.cuda.Event
    times: dict[str, float] = {}
    launch = gpu.launch

    def timed(kernel: Any, *arguments: Any) -> None:
        start, stop = events(), events()
        start.record()
        launch(kernel, *arguments)
        stop.record()
        stop.synchronize()
        spent = gpu.cupy.cuda.get_elapsed_time(start, stop)
        times[kernel.name] = times.get(kernel.name, 0.0) + round(spent, 3)

    gpu.launch = timed
    try:
        bound.score(Batch(block, rows))
    finally:
        del gpu.launch
    return times


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
        gpu_ms = 1e3 * best_of(lambda t=there, x=x, r=drawn: t.score(Batch(x, r))) / N_DRAWS
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
    seconds = best_of(lambda: there.largest_values(blocks, rows))
    expected = scan.largest_values(last, rows.on_cpu)  # compiles
    cpu_seconds = best_of(lambda: scan.largest_values(last, rows.on_cpu[:N_DRAWS_CPU]))
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


def best_of(work: Callable[[], Any], rounds: int = 3) -> float:
    """Return the shortest time of several, in seconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def synchronise() -> None:
    """Wait until the GPU is done."""
    cuda().cupy.cuda.get_current_stream().synchronize()


def environment() -> dict[str, Any]:
    """Return what the figures were measured with."""
    found: dict[str, Any] = {"python": platform.python_version(), "cores": os.cpu_count()}
    for name in ("numpy", "numba", "scipy", "scikit-learn", "joblib", "cupy-cuda13x", "narwhals"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = None
    gpu = cuda()
    found["gpu"] = gpu.name
    found["driver"] = gpu.cupy.cuda.runtime.driverGetVersion()
    found["runtime"] = gpu.cupy.cuda.runtime.runtimeGetVersion()
    found["free GiB"] = gpu.free_bytes() / 2**30
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS)
    options.add_argument("--n-samples", type=int, default=50_000, help="of step and appendix")
    options.add_argument("--n-permutations", default=200)
    options.add_argument("--jobs", type=int, default=2, help="threads of the CPU")
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "gpu.json")
    chosen = options.parse_args()
    logging.basicConfig(level=logging.INFO)
    results: dict[str, Any] = {}
    record = {
        "benchmark": "gpu",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": environment(),
        "results": results,
    }
    print(dumps(record, indent=1), flush=True)
    n = chosen.n_samples
    work: dict[str, Callable[[], Any]] = {
        "draws": draws,
        "correct": correct,
        "estimates": estimates,
        "step": partial(step, n, chosen.jobs),
        "interactions": interactions,
        "appendix": partial(appendix, n, device="cuda", n_permutations=int(chosen.n_permutations)),
    }
    for part in chosen.parts:
        start = time.perf_counter()
        try:
            results[part] = work[part]()
        except Exception:  # the others still tell something
            traceback.print_exc()
            results[part] = {"failed": traceback.format_exc()}
        print(f"== {part}: {time.perf_counter() - start:.1f} s\n", flush=True)
        chosen.out.parent.mkdir(parents=True, exist_ok=True)
        chosen.out.write_text(dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
