"""How fast decompositions are: BROJA beside Clarabel, ECOS and dit, bootstrap, I_min beside dit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from common import best_of, parser, seconds, show, write
from numpy.typing import NDArray
from pid_clarabel import BIT, Answer, ask, configurations, fastest
from threadpoolctl import threadpool_limits

from pidselect import decompose
from pidselect.decomposition.broja import broja
from pidselect.decomposition.lattice import lattice
from pidselect.decomposition.minimum import imin

FloatArray = NDArray[np.float64]

SIZES = ((2, 2, 2), (5, 5, 5), (5, 25, 5), (5, 125, 5))  # first source, second source, target
N_DISTRIBUTIONS = 5  # of each size
GAP = 1e-9  # bits: of ours, and asked of the peers
RELAXED_GAP = 1e-8
AGREEMENT = 1e-7  # bits: further apart, one of two solvers is wrong

N_SAMPLES, N_RESAMPLES = 1000, 1000
IMIN_SOURCES = (3, 4)
DIT_ROUNDS = {3: 3, 4: 1}  # dit takes many seconds for four sources
DIT_SECONDS = 180  # after which it is stopped

HERE = Path(__file__).parent
PEERS = ("dit==2.3", "ecos")  # ECOS is GPL: measured against, never needed
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def dense(shape: tuple[int, ...], seed: int) -> FloatArray:
    """Return a random distribution in which no two states of a source say the same."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(np.prod(shape))).reshape(shape)


# ---------------------------------------------------------------------------- peers


class Peers:
    """An environment of their own for packages that ours is compared with."""

    def __init__(self, python: Path | None) -> None:
        self.python = python or HERE / "out" / "peers" / "bin" / "python"
        self.trouble = None if self.python.exists() else self.install()
        self.versions: dict[str, str] = {}

    def install(self) -> str | None:
        """Make the environment; return what went wrong."""
        print(f"installing {' and '.join(PEERS)} into {self.python.parents[1]} ...", flush=True)
        commands = [
            [sys.executable, "-m", "venv", str(self.python.parents[1])],
            [str(self.python), "-m", "pip", "install", "--quiet", *PEERS],
        ]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                self.python.unlink(missing_ok=True)  # so that the next run tries again
                return f"not installed: {last_line(done.stderr)}"
        return None

    def ask(self, task: str, pmfs: Sequence[FloatArray], rounds: int) -> list[dict[str, Any]] | str:
        """Return the answers to a task of pid_peers.py, or why there are none."""
        if self.trouble:
            return self.trouble
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "distributions.npz"
            np.savez(file, *pmfs)
            command = [self.python, HERE / "pid_peers.py", task, file, str(rounds)]
            try:
                done = subprocess.run(
                    command,
                    capture_output=True,
                    text=True,
                    check=False,
                    timeout=DIT_SECONDS,
                    env=os.environ | ONE_THREAD,
                )
            except subprocess.TimeoutExpired:
                return f"stopped after {DIT_SECONDS} s"
        if done.returncode:
            return f"failed: {last_line(done.stderr)}"
        told = json.loads(done.stdout.splitlines()[-1])
        self.versions = told["versions"]
        return told["answers"]


def last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]


# ---------------------------------------------------------------------------- BROJA


def compare_broja(shape: tuple[int, ...], rounds: int, seed: int, peers: Peers) -> dict[str, Any]:
    """Time all solvers on the same distributions; times are means over these, in ms."""
    pmfs = [dense(shape, seed + i) for i in range(N_DISTRIBUTIONS)]
    each = [beside_clarabel(pmf, rounds) for pmf in pmfs]
    columns = {key: [figures[key] for figures in each] for key in each[0]}
    row: dict[str, Any] = {"size": "x".join(map(str, shape))}
    for key, values in columns.items():
        row[key] = max(values) if key.endswith("gap_bit") else float(np.mean(values))
    row["ratio"] = row["clarabel_ms"] / row["pidselect_ms"]
    row["whole_ratio"] = row["ratio"] + row["clarabel_building_ms"] / row["pidselect_ms"]
    row["relaxed_ratio"] = row["relaxed_ms"] / row["pidselect_ms"]
    answers = peers.ask("broja", pmfs, rounds)
    if isinstance(answers, str):
        return row | {"dit": answers}
    difference = max(
        float(np.abs(broja(pmf).atoms[1:3] / BIT - answer["unique"]).max())
        for pmf, answer in zip(pmfs, answers, strict=True)
    )
    if not difference <= AGREEMENT:
        sys.exit(f"dit's unique information differs by {difference:.3g} bit at {row['size']}.")
    return row | {
        "ecos_ms": 1e3 * float(np.mean([answer["ecos_seconds"] for answer in answers])),
        "dit_ms": 1e3 * float(np.mean([answer["dit_seconds"] for answer in answers])),
        "dit_difference_bit": difference,
    }


def beside_clarabel(pmf: FloatArray, rounds: int) -> dict[str, float]:
    """Time ours whole, and Clarabel in whichever way is fastest for this distribution.

    Clarabel is chosen from all configurations after the fact, once among those whose gap is no
    larger than ours may be, and once among those within ten times that.
    """
    P1, P2 = np.ascontiguousarray(pmf.sum(axis=1).T), np.ascontiguousarray(pmf.sum(axis=0).T)
    answers = [
        min(ask(P1, P2, configuration), ask(P1, P2, configuration), key=lambda a: a.solving)
        for configuration in configurations()
    ]
    equal, relaxed = fastest(answers, GAP), fastest(answers, RELAXED_GAP)
    again: dict[str, list[Answer]] = {"equal": [], "relaxed": []}
    ours, _, _ = best_of(
        rounds,
        lambda: broja(pmf),
        lambda: again["equal"].append(ask(P1, P2, equal.configuration)),
        lambda: again["relaxed"].append(ask(P1, P2, relaxed.configuration)),
    )
    return {
        "pidselect_ms": 1e3 * ours,
        "gap_bit": float(broja(pmf).gap / BIT),
        "clarabel_ms": 1e3 * min(answer.solving for answer in again["equal"]),
        "clarabel_building_ms": 1e3 * min(answer.building for answer in again["equal"]),
        "clarabel_gap_bit": equal.gap,
        "relaxed_ms": 1e3 * min(answer.solving for answer in again["relaxed"]),
        "relaxed_gap_bit": relaxed.gap,
    }


# ---------------------------------------------------------------------------- bootstrap


def time_bootstrap(rounds: int, seed: int) -> dict[str, Any]:
    """Time resamples of a source of 5 states beside one of three columns, 125 states."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(N_SAMPLES, 4))
    weights = np.array([1.0, 1.0, 0.5, -0.5])
    noisy = X @ weights + rng.standard_normal(N_SAMPLES)
    y = np.searchsorted(np.quantile(noisy, [0.2, 0.4, 0.6, 0.8]), noisy)

    def resample(n: int) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of few samples for so many states
            decompose([X[:, 0], X[:, 1:]], y, n_bootstrap=n, n_jobs=1, random_state=seed)

    resample(100)  # compiles
    (best,) = best_of(rounds, lambda: resample(N_RESAMPLES))
    return {
        "size": "5x125x5",
        "samples": N_SAMPLES,
        "resamples": N_RESAMPLES,
        "seconds": best,
        "ms_each": 1e3 * best / N_RESAMPLES,
    }


# ---------------------------------------------------------------------------- I_min


def compare_imin(n_sources: int, rounds: int, seed: int, peers: Peers) -> dict[str, Any]:
    """Time Williams and Beer's measure on binary variables; the atoms must agree."""
    pmf = dense((2,) * (n_sources + 1), seed)
    parts = imin(pmf)  # builds the lattice, which is kept
    (ours,) = best_of(max(rounds, 20), lambda: imin(pmf))
    row = {"sources": n_sources, "atoms": len(parts.atoms), "pidselect_ms": 1e3 * ours}
    answers = peers.ask("imin", [pmf], DIT_ROUNDS[n_sources])
    if isinstance(answers, str):
        return row | {"dit": answers}
    (answer,) = answers
    theirs = {tuple(antichain): bits for antichain, bits in answer["atoms"]}
    antichains = [tuple(sorted(antichain)) for antichain in lattice(n_sources).antichains]
    difference = np.abs(parts.atoms / BIT - [theirs[antichain] for antichain in antichains]).max()
    if not difference <= AGREEMENT:
        sys.exit(f"dit's atoms differ by {difference:.3g} bit with {n_sources} sources.")
    dit_ms = 1e3 * answer["dit_seconds"]
    return row | {
        "dit_ms": dit_ms,
        "ratio": dit_ms / row["pidselect_ms"],
        "difference_bit": float(difference),
    }


# ---------------------------------------------------------------------------- all of it


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write."""
    options = parser(__doc__, runs=5, help_runs="rounds, of which the best counts")
    options.add_argument(
        "--peers", type=Path, help="a python that has dit and ECOS (one is made in out/peers)"
    )
    options = options.parse_args(arguments)
    peers = Peers(options.peers)
    results: dict[str, Any] = {}
    with threadpool_limits(1):
        took = seconds(lambda: measure(options.runs, options.seed, peers, results))
    print(f"\n{took:.0f} s in all")
    del options.peers  # a path says nothing; the versions do
    results["peers"] = {"clarabel": version("clarabel"), **peers.versions}
    write("pid", options, results)


def measure(rounds: int, seed: int, peers: Peers, results: dict[str, Any]) -> None:
    """Fill in the results, a table at a time."""
    broja(dense((2, 2, 2), 0))  # compiles
    results["broja"] = [compare_broja(shape, rounds, seed, peers) for shape in SIZES]
    columns = {
        "x1, x2, t": "size",
        "pidselect ms": "pidselect_ms",
        "gap": "gap_bit",
        "Clarabel ms": "clarabel_ms",
        "building": "clarabel_building_ms",
        "its gap": "clarabel_gap_bit",
        "ratio": "ratio",
        "with building": "whole_ratio",
        "at 1e-8 ms": "relaxed_ms",
        "then ratio": "relaxed_ratio",
        "ECOS ms": "ecos_ms",
        "dit ms": "dit_ms",
        "difference": "dit_difference_bit",
    }
    show_columns(
        f"BROJA, mean of {N_DISTRIBUTIONS} dense distributions, one thread, bits",
        columns,
        results["broja"],
    )
    results["bootstrap"] = time_bootstrap(min(rounds, 3), seed)
    show(
        "Bootstrap intervals of a decomposition by BROJA, one thread",
        ("x1, x2, t", "samples", "resamples", "seconds", "ms each"),
        [tuple(results["bootstrap"].values())],
    )
    results["imin"] = [compare_imin(n, rounds, seed, peers) for n in IMIN_SOURCES]
    columns = {
        "sources": "sources",
        "atoms": "atoms",
        "pidselect ms": "pidselect_ms",
        "dit ms": "dit_ms",
        "ratio": "ratio",
        "difference": "difference_bit",
    }
    show_columns("I_min of binary variables, one thread", columns, results["imin"])
    for complaint in {row["dit"] for row in results["broja"] + results["imin"] if "dit" in row}:
        print(f"dit: {complaint}")


def show_columns(title: str, columns: dict[str, str], rows: Sequence[dict[str, Any]]) -> None:
    """Print some entries of each row, a dash where there is none."""
    show(title, tuple(columns), [tuple(row.get(key) for key in columns.values()) for row in rows])


if __name__ == "__main__":
    main()
