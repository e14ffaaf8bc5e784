"""Published simulations: which share of the relevant columns is found, and which share is false.

The settings are those of the Gaussian simulations of nonparametric IPSS (Melikechi et al.,
Bioinformatics 2025), as in `simulation.py` and `generate_data.py` of the folder `simulations` of
github.com/omelikechi/ipss_bioinformatics: 500 rows and columns, normal with correlations
0.5^|i-j|, standardised; 5 to 15 relevant; y = sum of f(x) + noise, f = exp(-x^2), the variance of
the sum over that of the noise uniform in 0.5 to 2; of two classes the log odds are the centred sum
times a number uniform in 1 to 3. Groups (there, of columns of gene expression): each relevant
column is put into one of as many groups at random, and f is of the standardised sum of each group.
The other f and tables are ours. "small" tables have 100 rows of 10 columns, of which 3 are
relevant; "levels" are XOR of two flags, 95 % clean, and Friedman's first function, by alpha; in
"parts" the relevant columns stand beside a function of them and four of noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import textbook
from common import collect, fit, mean_error, resumable, show, write
from numpy.typing import NDArray
from scipy.signal import lfilter
from scipy.special import expit

from pidselect import PIDSelector

Array = NDArray[Any]
Generator = np.random.Generator
Made = tuple[Array, Array, list[int]]  # X, y, relevant columns

N_COLUMNS, CORRELATION = 500, 0.5
N_RELEVANT, RATIOS, STEEPNESS = (5, 15), (0.5, 2.0), (1.0, 3.0)

#: Published means: true positive rate, false discovery rate, by the title of a design.
PUBLISHED = {
    "exp(-x^2), N=500, numbers": {"IPSS": (0.713, 0.061), "Boruta": (0.662, 0.249)},
    "exp(-x^2), N=500, classes": {"IPSS": (0.382, 0.053)},
}

FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "exp(-x^2)": lambda x: np.exp(-(x**2)),
    "sin 3x": lambda x: np.sin(3 * x),
    "band": lambda x: 1.0 * (np.abs(x - 0.7) < 0.4),
    "step": lambda x: 1.0 * (x > 0.8),
    "tanh": np.tanh,
}


class Design(NamedTuple):
    """How tables are made, and by which methods columns are selected from them."""

    group: str
    make: Callable[[Generator], Made]
    methods: tuple[str, ...] = ("ours", "cubic F", "spline F")
    alpha: float = 0.05


def standardised(values: Array) -> Array:
    """Return columns of mean 0 and variance 1."""
    return np.asarray((values - values.mean(axis=0)) / values.std(axis=0))


def published(
    f: Callable[[Array], Array], n_rows: int, has_classes: bool = False, has_groups: bool = False
) -> Callable[[Generator], Made]:
    """Return a maker of tables of the published design with a function."""

    def make(rng: Generator) -> Made:
        size = rng.integers(N_RELEVANT[0], N_RELEVANT[1] + 1)
        ratio = rng.uniform(*(STEEPNESS if has_classes else RATIOS))
        own = rng.standard_normal((n_rows, N_COLUMNS))
        own[:, 1:] *= np.sqrt(1 - CORRELATION**2)
        X = standardised(lfilter([1.0], [1.0, -CORRELATION], own, axis=1))
        relevant = rng.choice(N_COLUMNS, size, replace=False)
        groups = rng.integers(size, size=size) if has_groups else np.arange(size)
        sums = [X[:, relevant[groups == group]].sum(axis=1) for group in np.unique(groups)]
        signal = f(standardised(np.column_stack(sums))).sum(axis=1)
        if has_classes:
            is_one = rng.random(n_rows) < expit(ratio * (signal - signal.mean()))
            return X, np.where(is_one, "yes", "no").astype(object), sorted(relevant.tolist())
        y = signal + np.sqrt(signal.var() / ratio) * rng.standard_normal(n_rows)
        return X, y - y.mean(), sorted(relevant.tolist())

    return make


def small(
    of_columns: Callable[[Array], Array], freedom: float | None = None
) -> Callable[[Generator], Made]:
    """Return a maker of 100 rows of 10 columns with an effect of the first three."""

    def make(rng: Generator) -> Made:
        X = rng.standard_normal((100, 10))
        noise = rng.standard_t(freedom, 100) if freedom else rng.standard_normal(100)
        return X, of_columns(X) + noise, [0, 1, 2]

    return make


def xor(rng: Generator) -> Made:
    """Return ten flags, and classes: XOR of two, 5 % of them wrong."""
    X = rng.integers(2, size=(1000, 10))
    y = X[:, 0] ^ X[:, 1] ^ (rng.random(1000) < 0.05)
    return X, np.where(y, "yes", "no").astype(object), [0, 1]


def friedman(rng: Generator) -> Made:
    """Return Friedman's first function of five among ten uniform columns."""
    X = rng.uniform(size=(1000, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    return X, y + 10 * X[:, 3] + 5 * X[:, 4] + rng.standard_normal(1000), [*range(5)]


def parts(of_y: Callable[[Array], Array]) -> Callable[[Generator], Made]:
    """Return a maker of three relevant columns, their total with little noise, and four others."""

    def make(rng: Generator) -> Made:
        X, noise = rng.standard_normal((1000, 8)), rng.standard_normal((2, 1000))
        X[:, 3] = X[:, :3].sum(axis=1) + 0.1 * noise[0]
        return X, of_y(X) + 0.3 * noise[1], [0, 1, 2]

    return make


PARTS: dict[str, Callable[[Array], Array]] = {
    "parts with weights": lambda X: X[:, :3] @ [1.0, 0.8, 0.6],
    "parts, not linear": lambda X: X[:, 0] ** 2 + X[:, 1] * X[:, 2] + X[:, 1],
    "parts, equal weights": lambda X: X[:, :3].sum(axis=1),
}
SMALL: dict[str, Callable[[Generator], Made]] = {
    "0.35 each": small(lambda X: 0.35 * X[:, :3].sum(axis=1)),
    "1, 0.5, 0.3": small(lambda X: X[:, :3] @ [1.0, 0.5, 0.3]),
    "noise t2": small(lambda X: X[:, :3] @ [1.0, 0.5, 0.3], freedom=2),
    "products": small(lambda X: X[:, 0] * X[:, 1] + X[:, 2] * X[:, 0]),
    "squares": small(lambda X: 0.7 * (X[:, :3] ** 2).sum(axis=1)),
}


def designs() -> dict[str, Design]:
    """Return all designs by title."""
    found = {}
    for n_rows in (500, 250):
        for sort in ("numbers", "classes"):
            for name, f in FUNCTIONS.items():
                make = published(f, n_rows, sort == "classes")
                found[f"{name}, N={n_rows}, {sort}"] = Design(name, make)
            make = published(FUNCTIONS["exp(-x^2)"], n_rows, sort == "classes", has_groups=True)
            found[f"groups, N={n_rows}, {sort}"] = Design("groups", make)
    for name, make in SMALL.items():
        found[f"{name}, N=100"] = Design("small", make, ("ours", "line", "cubic F"))
    for name, of_y in PARTS.items():
        found[f"{name}, N=1000"] = Design("parts", parts(of_y), ("ours", "line"))
    for name, make in {"xor": xor, "Friedman I": friedman}.items():
        for alpha in (0.05, 0.01, 0.001):
            found[f"{name}, alpha {alpha:g}"] = Design("levels", make, ("ours",), alpha)
    return found


DESIGNS = designs()


def examine(title: str, method: str, seed: int) -> dict[str, Any]:
    """Return how many columns a method selects from a table, and how many of them are relevant."""
    design = DESIGNS[title]
    X, y, relevant = design.make(np.random.default_rng(seed))
    if method == "ours":
        selector = PIDSelector(alpha=design.alpha, n_jobs=1, random_state=seed)
        fit(selector, X, y)
        selected = {int(place) for place in selector.selected_}
    else:
        selected = {*textbook.METHODS[method](list(X.T), y)}
    right = len(selected & {*relevant})
    return {"relevant": len(relevant), "right": right, "wrong": len(selected) - right}


def summarise(title: str, method: str, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the rates of a method, with standard errors."""
    done = [one for one in found if "note" not in one]
    row: dict[str, Any] = {"design": title, "method": method, "tables": len(done)}
    row["notes"] = sorted({one["note"][:80] for one in found if "note" in one})
    if done:
        tpr = [one["right"] / one["relevant"] for one in done]
        fdr = [one["wrong"] / max(1, one["right"] + one["wrong"]) for one in done]
        row["found"], row["relevant"] = (
            sum(one[name] for one in done) for name in ("right", "relevant")
        )
        row["tpr"], row["tpr_error"] = mean_error(tpr)
        row["fdr"], row["fdr_error"] = mean_error(fdr)
        row["cpu_seconds"] = mean_error([one["cpu_seconds"] for one in done])[0]
    return row


def show_design(title: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print the methods of a design, and what was published."""
    names = ("method", "tables", "found", "relevant", "tpr", "tpr_error", "fdr", "fdr_error")
    cells = [[row.get(name) for name in (*names, "cpu_seconds")] for row in rows]
    for method, (tpr, fdr) in PUBLISHED.get(title, {}).items():
        cells.append([f"{method}, published", 100, None, None, tpr, None, fdr, None, None])
    show(title, (*names, "cpu_seconds"), cells)
    for row in rows:
        for note in row["notes"]:
            print(f"{row['method']}: {note}")


def main(arguments: Sequence[str] | None = None) -> None:
    command = resumable(__doc__ or "", runs=30, help_runs="tables of each design")
    command.add_argument("--methods", nargs="+", help="some of them")
    options = command.parse_args(arguments)
    wanted = [
        (title, method, options.seed + number)
        for number in range(options.runs)
        for title, design in DESIGNS.items()
        if options.only is None or options.only in title or options.only == design.group
        for method in design.methods
        if options.methods is None or method in options.methods
    ]
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for one in collect("simulations", wanted, examine, options):
        found.setdefault(tuple(one["key"][:2]), []).append(one)
    rows = [summarise(*about, tables) for about, tables in found.items()]
    for title in dict.fromkeys(row["design"] for row in rows):
        show_design(title, [row for row in rows if row["design"] == title])
    write("simulations", options, {"rows": rows})


if __name__ == "__main__":
    main()
