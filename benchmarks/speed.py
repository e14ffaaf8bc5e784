"""How fast: one estimate beside scipy's trees, whole selections, imports and the first call."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import best_of, parser, seconds, show, write
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.special import digamma
from threadpoolctl import threadpool_limits

from pidselect import PIDSelector, datasets
from pidselect.data import Block, Column
from pidselect.estimators import KSG, Batch
from pidselect.significance import FORWARD, permutations

FloatArray = NDArray[np.float64]

N_SAMPLES, K = 1000, 4
N_GIVEN = (0, 1, 3, 6)
N_CANDIDATES, N_SURROGATES = 10, 200
N_SURROGATES_SCIPY = 3  # of one candidate: all of them would take minutes
TOLERANCE = 1e-10  # nats


# ---------------------------------------------------------------------------- one estimate


@dataclass(frozen=True)
class Question:
    """The work of one selection step: its variables, and surrogates of every candidate."""

    target: FloatArray  # (n_samples,)
    given: FloatArray  # (n_samples, n_given)
    candidates: FloatArray  # (n_samples, N_CANDIDATES)
    rows: list[NDArray[np.int32]]  # for each candidate (N_SURROGATES, n_samples)


def ask(n_given: int, seed: int) -> Question:
    """Make a target that depends on all that is given and on half of the candidates."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_SAMPLES, n_given + N_CANDIDATES))
    y = X[:, : n_given + N_CANDIDATES // 2].sum(axis=1) + rng.standard_normal(N_SAMPLES)
    rows = [
        permutations((seed, FORWARD, 0, candidate), range(1, 1 + N_SURROGATES), N_SAMPLES)
        for candidate in range(N_CANDIDATES)
    ]
    return Question(y, X[:, :n_given], X[:, n_given:], rows)


def answer(question: Question) -> FloatArray:
    """Score all surrogates of all candidates, shape (N_CANDIDATES, N_SURROGATES)."""
    bound = KSG(k=K).bind(to_block(question.target[:, None]), to_block(question.given))
    return np.array(
        [
            bound.score(Batch(to_block(column[:, None]), rows))
            for column, rows in zip(question.candidates.T, question.rows, strict=True)
        ]
    )


def to_block(values: FloatArray) -> Block:
    """Take columns for one continuous variable."""
    return Block(
        tuple(Column(f"x{i}", "continuous", column.copy()) for i, column in enumerate(values.T))
    )


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


def scaled(values: FloatArray) -> FloatArray:
    """Return z-scores, as the estimator takes them by itself."""
    return (values - values.mean(axis=0)) / values.std(axis=0, ddof=1)


def count(tree: cKDTree, points: FloatArray, radius: FloatArray) -> NDArray[np.int64]:
    """Return the number of points within each point's radius, the point itself being the +1."""
    return tree.query_ball_point(points, radius, p=np.inf, return_length=True)


def compare(n_given: int, rounds: int, seed: int) -> dict[str, Any]:
    """Time both on the same surrogates, and check that they say the same."""
    question = ask(n_given, seed)
    target, given = scaled(question.target), scaled(question.given)
    surrogates = scaled(question.candidates[:, 0])[question.rows[0][:N_SURROGATES_SCIPY]]
    trees = Trees(target, given)
    difference = np.abs(
        answer(question)[0, :N_SURROGATES_SCIPY] - [trees.score(x) for x in surrogates]
    ).max()
    if not difference <= TOLERANCE:
        sys.exit(f"The values differ by {difference:.3g} nats with {n_given} given.")
    ours, binding, scoring = best_of(
        rounds,
        lambda: answer(question),
        lambda: Trees(target, given),
        lambda: [trees.score(x) for x in surrogates],
    )
    n_estimates = N_CANDIDATES * N_SURROGATES
    ours_ms = 1e3 * ours / n_estimates
    scipy_ms = 1e3 * (binding / n_estimates + scoring / len(surrogates))
    return {
        "given": n_given,
        "pidselect_ms": ours_ms,
        "scipy_ms": scipy_ms,
        "ratio": scipy_ms / ours_ms,
        "largest_difference_nat": float(difference),
    }


# ---------------------------------------------------------------------------- selections


def time_selection(problem: datasets.Problem, rounds: int, seed: int) -> dict[str, Any]:
    """Time a whole selection on one thread."""
    selector = PIDSelector(estimator="ksg", n_permutations=200, n_jobs=1, random_state=seed)
    (best,) = best_of(rounds, lambda: selector.fit(problem.X, problem.y))
    selected = set(selector.selected_.tolist())
    return {
        "problem": problem.description,
        "seconds": best,
        "best_of": rounds,
        "relevant_selected": len(selected & set(problem.relevant)),
        "relevant": len(problem.relevant),
        "others_selected": len(selected - set(problem.relevant)),
    }


# ---------------------------------------------------------------------------- fresh processes

FIRST_CALL = """
from pidselect import PIDSelector, datasets
problem = datasets.friedman(200, random_state=0)
selector = PIDSelector(n_permutations=50, n_jobs=1, random_state=0)
start = time.perf_counter()
selector.fit(problem.X, problem.y)
first = time.perf_counter() - start
start = time.perf_counter()
selector.fit(problem.X, problem.y)
print(first, time.perf_counter() - start)
"""

IMPORTS = ("import sklearn.base", "import pidselect", "from pidselect import PIDSelector")


def fresh(code: str) -> list[float]:
    """Run code in a new process and return the numbers it prints."""
    command = [sys.executable, "-c", f"import time\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(number) for number in done.stdout.split()]


def time_imports(rounds: int) -> dict[str, float]:
    """Time imports, the interpreter's own start left out, in seconds."""
    code = "start = time.perf_counter()\n{}\nprint(time.perf_counter() - start)"
    times = [[fresh(code.format(line))[0] for line in IMPORTS] for _ in range(rounds)]
    return dict(zip(IMPORTS, map(min, zip(*times, strict=True)), strict=True))


def time_first_call(rounds: int) -> dict[str, float]:
    """Time the first and the second of two equal fits, the kernels being on disk already."""
    fresh(FIRST_CALL)  # compiles what is not
    times = [fresh(FIRST_CALL) for _ in range(rounds)]
    return dict(zip(("first", "second"), map(min, zip(*times, strict=True)), strict=True))


# ---------------------------------------------------------------------------- all of it


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print and write."""
    options = parser(__doc__, runs=5, help_runs="rounds, of which the best counts")
    options = options.parse_args(arguments)
    results: dict[str, Any] = {}
    with threadpool_limits(1):
        took = seconds(lambda: measure(options.runs, options.seed, results))
    print(f"\n{took:.0f} s in all")
    write("speed", options, results)


def measure(rounds: int, seed: int, results: dict[str, Any]) -> None:
    """Fill in the results, a table at a time."""
    results["estimate"] = [compare(n_given, rounds, seed) for n_given in N_GIVEN]
    show(
        f"One estimate by nearest neighbours, N={N_SAMPLES}, k={K}, one thread",
        ("given", "pidselect ms", "scipy ms", "ratio", "difference"),
        [tuple(row.values()) for row in results["estimate"]],
    )
    results["selection"] = [
        time_selection(datasets.friedman(N_SAMPLES, random_state=seed), min(rounds, 3), seed),
        time_selection(datasets.regression(N_SAMPLES, random_state=seed), 1, seed),
    ]
    show(
        f"Whole selections, N={N_SAMPLES}, 200 permutations, one thread",
        ("problem", "seconds", "best of", "relevant found", "others"),
        [
            (
                row["problem"],
                row["seconds"],
                row["best_of"],
                f"{row['relevant_selected']} of {row['relevant']}",
                row["others_selected"],
            )
            for row in results["selection"]
        ],
    )
    results["import_seconds"] = time_imports(rounds)
    show(
        "Imports in a fresh process",
        ("statement", "ms"),
        [(line, 1e3 * took) for line, took in results["import_seconds"].items()],
    )
    results["first_call_seconds"] = time_first_call(rounds)
    show(
        "A small fit in a fresh process, kernels on disk",
        ("call", "ms"),
        [(call, 1e3 * took) for call, took in results["first_call_seconds"].items()],
    )


if __name__ == "__main__":
    main()
