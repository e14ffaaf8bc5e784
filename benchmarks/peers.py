"""One estimate by nearest neighbours: ours beside scipy, scikit-learn, ennemi and tigramite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma
from sklearn.feature_selection import mutual_info_regression

from pidselect import mutual_information
from pidselect.data import Block, Column
from pidselect.estimators import KSG, Batch
from pidselect.significance.rng import FORWARD, permutations

FloatArray = NDArray[np.float64]

K = 4
N_CANDIDATES, N_SURROGATES = 10, 200
N_SURROGATES_PEERS = 3  # of one candidate: all of them would take minutes

#: The most that values may differ from ours, in nats. All take the same formula, but ennemi takes
#: an expansion of the digamma function, which is 6e-8 off at k=4; scikit-learn adds noise of 1e-10
#: to the data and returns nothing below zero; tigramite adds noise of 1e-6. Where noise changes the
#: order of two neighbours, a count changes by one.
TOLERANCES = {"scipy": 1e-10, "scikit-learn": 1e-5, "ennemi": 1e-6, "tigramite": 1e-3}
CLIPPED = ("scikit-learn",)

HERE = Path(__file__).parent
#: tigramite is GPL: measured against, never needed. Its estimator imports numba.
OUTSIDE = ("ennemi==1.5.0", "tigramite==5.2.10.1", "numba")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


# ---------------------------------------------------------------------------- the question


@dataclass(frozen=True)
class CandidateScores:
    """The work of one selection step: its variables, and surrogates of every candidate."""

    target: FloatArray  # (n_samples,)
    given: FloatArray  # (n_samples, n_given)
    candidates: FloatArray  # (n_samples, N_CANDIDATES)
    rows: list[NDArray[np.int32]]  # for each candidate (N_SURROGATES, n_samples)

    @property
    def few(self) -> FloatArray:
        """The first surrogates of the first candidate, shape (N_SURROGATES_PEERS, n_samples)."""
        return self.candidates[:, 0][self.rows[0][:N_SURROGATES_PEERS]]


def ask(n_samples: int, n_given: int, seed: int) -> CandidateScores:
    """Make a target that depends on all that is given and on half of the candidates; z-scores."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, n_given + N_CANDIDATES))
    y = X[:, : n_given + N_CANDIDATES // 2].sum(axis=1) + rng.standard_normal(n_samples)
    rows = [
        permutations((seed, FORWARD, 0, candidate), range(1, 1 + N_SURROGATES), n_samples)
        for candidate in range(N_CANDIDATES)
    ]
    return CandidateScores(scaled(y), scaled(X[:, :n_given]), scaled(X[:, n_given:]), rows)


def scaled(values: FloatArray) -> FloatArray:
    """Return z-scores, as our estimator takes them by itself."""
    return (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)


class Told(NamedTuple):
    """What one who takes part says: seconds for each estimate, and values in nats."""

    seconds: float
    values: FloatArray  # of the few surrogates, or of the first of them


# ---------------------------------------------------------------------------- ours


def in_a_step(question: CandidateScores) -> Told:
    """Score all surrogates of all candidates, the sorting included."""
    start = time.perf_counter()
    bound = KSG(k=K).bind(to_block(question.target[:, None]), to_block(question.given))
    values = np.array(
        [
            bound.score(Batch(to_block(column[:, None]), rows))
            for column, rows in zip(question.candidates.T, question.rows, strict=True)
        ]
    )
    return Told((time.perf_counter() - start) / values.size, values[0, :N_SURROGATES_PEERS])


def to_block(values: FloatArray) -> Block:
    """Take columns for one continuous variable."""
    return Block(
        tuple(Column(f"x{i}", "continuous", column.copy()) for i, column in enumerate(values.T))
    )


def alone(question: CandidateScores) -> Told:
    """Estimate once by the public function: the sorting is done for this one value."""
    x, given = question.few[0], question.given if question.given.shape[1] else None
    start = time.perf_counter()
    value = mutual_information(x, question.target, given, estimator=KSG(k=K), unit="nat")
    return Told(time.perf_counter() - start, np.array([value]))


# ---------------------------------------------------------------------------- peers in here


class Trees:
    """The same estimate the usual way: a tree for each space, (y, S) and S bound once."""

    def __init__(self, target: FloatArray, given: FloatArray) -> None:
        self.given = given
        self.target_given = np.column_stack([target, given])
        self.target_given_tree = cKDTree(self.target_given)
        self.given_tree = cKDTree(given) if given.shape[1] else None

    def score(self, x: FloatArray) -> float:
        """Return I(x; y | S) in nats."""
        joint = np.column_stack([x, self.target_given])
        distance = cKDTree(joint).query(joint, k=K + 1, p=np.inf)[0][:, K]
        inside = np.nextafter(distance, 0.0)  # strictly nearer than the k-th neighbour
        x_given = np.column_stack([x, self.given])
        mean = -np.mean(
            digamma(count(cKDTree(x_given), x_given, inside))
            + digamma(count(self.target_given_tree, self.target_given, inside))
        )
        if self.given_tree is None:
            mean += digamma(len(x))
        else:
            mean += np.mean(digamma(count(self.given_tree, self.given, inside)))
        return float(digamma(K) + mean)


def count(tree: cKDTree, points: FloatArray, radius: FloatArray) -> NDArray[np.int64]:
    """Return the number of points within each point's radius, the point itself being the +1."""
    return tree.query_ball_point(points, radius, p=np.inf, return_length=True)


def by_scipy(question: CandidateScores) -> Told:
    """Score the few surrogates; the trees built once are shared out over a whole step."""
    few = question.few
    start = time.perf_counter()
    trees = Trees(question.target, question.given)
    bound = time.perf_counter()
    values = np.array([trees.score(x) for x in few])
    shared = (bound - start) / (N_CANDIDATES * N_SURROGATES)
    return Told(shared + (time.perf_counter() - bound) / len(few), values)


def by_sklearn(question: CandidateScores) -> Told:
    """Score the few surrogates in one call; nothing can be given."""
    columns = np.ascontiguousarray(question.few.T)
    start = time.perf_counter()
    values = mutual_info_regression(
        columns, question.target, n_neighbors=K, discrete_features=False, random_state=0, n_jobs=1
    )
    return Told((time.perf_counter() - start) / len(values), values)


# ---------------------------------------------------------------------------- peers outside


@dataclass(frozen=True)
class Outside:
    """Packages in an environment of their own, in a process that waits for questions."""

    process: subprocess.Popen[str] | None
    trouble: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    def tell(self, peer: str, question: CandidateScores) -> Told | str:
        """Return what a peer says of a question, or why it says nothing."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "question.npz"
            np.savez(file, target=question.target, given=question.given, few=question.few)
            reply = self.request(peer=peer, file=str(file), k=K)
        if "trouble" in reply:
            return str(reply["trouble"])
        return Told(reply["seconds"] / len(reply["values"]), np.array(reply["values"]))

    def request(self, **request: Any) -> dict[str, Any]:
        """Send a line of JSON and wait for the one that comes back."""
        if self.process is None or self.process.stdin is None or self.process.stdout is None:
            return {"trouble": self.trouble}
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        except (OSError, json.JSONDecodeError):
            return {"trouble": "its process has ended"}


@contextmanager
def outside(python: Path | None = None) -> Iterator[Outside]:
    """Start the process, with this python or in an environment made for it."""
    python = python or HERE / "out" / "peers-env" / "bin" / "python"
    trouble = "" if python.exists() else install(python, OUTSIDE)
    if trouble:
        yield Outside(None, trouble)
        return
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    command, environment = [python, HERE / "peers_outside.py"], os.environ | ONE_THREAD
    with (
        suppress(BrokenPipeError),  # at the end, if the process is there no more
        subprocess.Popen(command, env=environment, **pipes) as process,
    ):
        yield Outside(process, versions=Outside(process).request(peer="versions"))


def install(python: Path, packages: Sequence[str]) -> str:
    """Make an environment with these packages; return what went wrong."""
    print(f"installing {', '.join(packages)} into {python.parents[1]} ...", flush=True)
    commands = [
        [sys.executable, "-m", "venv", str(python.parents[1])],
        [str(python), "-m", "pip", "install", "--quiet", *packages],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            python.unlink(missing_ok=True)  # so that the next run tries again
            return f"not installed: {done.stderr.strip().splitlines()[-1]}"
    return ""


# ---------------------------------------------------------------------------- the comparison


def compare(question: CandidateScores, rounds: int, peers: Outside) -> list[dict[str, Any]]:
    """Time all on the same surrogates, taking turns, and check that they say the same.

    Returns
    -------
    list of dict
        A row for each who takes part: the time of an estimate, how many a second, how many times
        as long as ours in a step and as ours alone, and the largest difference in nats.
    """
    works: dict[str, Callable[[CandidateScores], Told | str]] = {
        "pidselect": in_a_step,
        "scipy": by_scipy,
        "scikit-learn": by_sklearn,
        "ennemi": partial(peers.tell, "ennemi"),
        "tigramite": partial(peers.tell, "tigramite"),
        "pidselect, alone": alone,
    }
    if question.given.shape[1]:
        del works["scikit-learn"]
    turns = [[work(question) for work in works.values()] for _ in range(rounds)]
    best = {name: fastest(said) for name, said in zip(works, zip(*turns, strict=True), strict=True)}
    return [
        {"samples": len(question.target), "given": question.given.shape[1], "by": name}
        | (row(name, said, best) if isinstance(said, Told) else {"trouble": said})
        for name, said in best.items()
    ]


def fastest(said: Sequence[Told | str]) -> Told | str:
    """Return the best round, or the first trouble there was."""
    troubles = [one for one in said if isinstance(one, str)]
    return troubles[0] if troubles else min(said, key=lambda told: told.seconds)


def row(name: str, told: Told, best: dict[str, Any]) -> dict[str, Any]:
    """Put one who takes part beside ours; stop everything if it says something else."""
    truth = best["pidselect"].values[: len(told.values)]
    expected = np.maximum(truth, 0.0) if name in CLIPPED else truth
    difference = float(np.abs(told.values - expected).max())
    if not difference <= TOLERANCES.get(name, TOLERANCES["scipy"]):
        sys.exit(f"{name} differs from pidselect by {difference:.3g} nats.")
    return {
        "ms": 1e3 * told.seconds,
        "per_second": 1.0 / told.seconds,
        "ratio": told.seconds / best["pidselect"].seconds,
        "ratio_alone": told.seconds / best["pidselect, alone"].seconds,
        "largest_difference_nat": difference,
    }
