"""Where nearest neighbours end: dimensions, and the choice of k."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import numpy as np
from common import fit, interval, parser, repeat, show, write
from numpy.typing import NDArray

from pidselect import PIDSelector
from pidselect.estimators import KSG

Array = NDArray[np.float64]

#: Columns given beside x, and the samples of a data set.
GIVEN = (0, 1, 2, 3, 4, 6, 8)
SIZES = (100, 300, 1000)

#: Neighbours, and what they are to find: a weak line in 500 samples.
NEIGHBOURS = (4, 20)
SLOPE, WEAK_SIZE = 0.25, 500

N_PERMUTATIONS = 39
SURROGATES = ("global", "local")


def includes(X: Array, y: Array, seed: int, **settings: Any) -> bool:
    """Return whether the last column is included beside all others, which are kept."""
    last = X.shape[1] - 1
    settings |= {"n_permutations": N_PERMUTATIONS, "backward": None, "surrogates": SURROGATES}
    settings |= {"fixed_features": list(range(last))}
    selector = PIDSelector(**settings, n_jobs=1, random_state=seed)
    fit(selector, X, y)
    return last in selector.selected_


def beside_sum(estimator: str, n_given: int, n_samples: int, seed: int) -> bool:
    """Look for x in y = x / 2 + the given columns + noise."""
    rng = np.random.default_rng(seed)
    X, noise = rng.normal(size=(n_samples, n_given + 1)), rng.normal(size=n_samples)
    y = X[:, -1] / 2 + X[:, :-1].sum(axis=1) + noise
    return includes(X, y, seed, estimator=estimator)


def weak_line(k: int, seed: int) -> bool:
    """Look for x in y = x / 4 + noise by so many neighbours."""
    x, noise = np.random.default_rng(seed).normal(size=(2, WEAK_SIZE))
    y = SLOPE * x + noise
    return includes(x[:, None], y, seed, estimator=KSG(k=k))


def count(found: Sequence[bool], **case: Any) -> dict[str, Any]:
    """Return in how many data sets of a case x was included."""
    low, high = interval(sum(found), len(found))
    return {**case, "data sets": len(found), "included": sum(found), "low": low, "high": high}


def dimensions(options: Namespace) -> list[dict[str, Any]]:
    """Count over estimators, sizes and the number of given columns."""
    return [
        count(
            repeat(beside_sum, estimator, n_given, n_samples, options=options),
            estimator=estimator,
            n_samples=n_samples,
            n_given=n_given,
        )
        for estimator in ("ksg", "copula")
        for n_samples in SIZES
        for n_given in GIVEN
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    command = parser(__doc__, runs=50, help_runs="data sets of each row")
    command.add_argument("--jobs", type=int, default=1, help="processes (1)")
    options = command.parse_args(arguments)
    results = {
        "dimensions": dimensions(options),
        "k": [count(repeat(weak_line, k, options=options), k=k) for k in NEIGHBOURS],
    }
    for title, rows in results.items():
        show(title, list(rows[0]), [list(row.values()) for row in rows])
    write("neighbours", options, results)


if __name__ == "__main__":
    main()
