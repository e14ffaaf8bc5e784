"""How far p-values, intervals and corrected values of decompositions hold, on known ground.

All samples come from distributions whose atoms are known, so that every statement can be checked:
how often an information that is 0 is significant, how often an interval contains the true value,
and the bias that remains after each correction.
"""

from __future__ import annotations

import itertools
import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from common import parser, show, write
from joblib import Parallel, delayed
from known_atoms import (
    Array,
    alike,
    chain,
    dirichlet,
    feature_against_set,
    independent,
    noisy,
    one_tells,
    two_copies,
)
from scipy.stats import binomtest

from pidselect.data import read_block
from pidselect.datasets import gate
from pidselect.decomposition.inference import (
    InferenceSettings,
    adjusted_intervals,
    basic_interval,
    bootstrap_atoms,
    correct_bias,
    minimum_bias,
    null_atoms,
    source_tests,
    span,
)
from pidselect.decomposition.measures import MEASURES
from pidselect.decomposition.samples import CONTINUOUS, DiscreteSample, to_sample

BIT = np.log(2.0)
ATOMS = ("shared", "unique 1", "unique 2", "synergy")
ALPHA, CONFIDENCE = 0.05, 0.95
N_PERMUTATIONS, N_BOOTSTRAP = 99, 200

#: A true atom below this (in nats) is 0.
ZERO = 1e-8

# --- cases --------------------------------------------------------------------------------------

KNOWN: dict[str, Array] = {
    "AND": gate("AND"),
    "AND, noise": noisy("AND", 0.2),
    "XOR, noise": noisy("XOR", 0.2),
    "COPY, noise": noisy("COPY", 0.2),
    "RDN, noise": noisy("RDN", 0.2),
    "independent 2x2x2": independent(2, 2, 2),
    "independent 5x5x5": independent(5, 5, 5),
    "Dirichlet 3x3x3": dirichlet(3, 1.0, 5),
    "sparse Dirichlet 3x3x3": dirichlet(3, 0.2, 6),
    "Dirichlet 5x5x5": dirichlet(5, 1.0, 7),
    "feature against 1": feature_against_set(1),
    "feature against 2": feature_against_set(2),
    "feature against 3": feature_against_set(3),
    "feature against 4": feature_against_set(4),
    "two copies 2x2x2": two_copies(2, 0.3),
    "two copies 5x5x5": two_copies(5, 0.4),
}

#: Sources that are equally good: atoms have a kink, and their bias falls with 1 / sqrt(N) only.
EQUAL = ("feature against 1", "two copies 2x2x2", "two copies 5x5x5")

INTERVALS = ("percentile", "basic", "without kinks", "pidselect")

#: The tested informations, in the order of `source_tests` (sources by rows).
INFORMATIONS = ("I(1;y)", "I(1;y|2)", "I(2;y)", "I(2;y|1)")
MARGINAL, CONDITIONAL = ("I(1;y)", "I(2;y)"), ("I(1;y|2)", "I(2;y|1)")

#: Distributions, and the informations that are 0.
NULL: dict[str, tuple[Array, Sequence[str]]] = {
    "all independent, 2x2x2": (independent(2, 2, 2), INFORMATIONS),
    "all independent, 5x5x5": (independent(5, 5, 5), INFORMATIONS),
    "source 2 independent": (one_tells(), ("I(2;y)", "I(2;y|1)")),
    "target independent": (alike(), INFORMATIONS),
    "chain 3x3x3": (chain(3, 0.3), ("I(2;y|1)",)),
    "chain 5x5x5": (chain(5, 0.3), ("I(2;y|1)",)),
    "XOR, noise": (noisy("XOR", 0.2), MARGINAL),
}

POWER: dict[str, tuple[Array, Sequence[str]]] = {
    "AND, noise": (noisy("AND", 0.2), INFORMATIONS),
    "XOR, noise": (noisy("XOR", 0.2), CONDITIONAL),
    "COPY, noise": (noisy("COPY", 0.2), INFORMATIONS),
    "RDN, noise": (noisy("RDN", 0.2), MARGINAL),
    "chain 3x3x3": (chain(3, 0.3), ("I(1;y)", "I(1;y|2)", "I(2;y)")),
}


def draw(pmf: Array, n_samples: int, seed: int, measure: str) -> DiscreteSample:
    """Return samples of a distribution."""
    flat = np.random.default_rng(seed).choice(pmf.size, n_samples, p=pmf.ravel() / pmf.sum())
    how = MEASURES[measure]
    return DiscreteSample(np.unravel_index(flat, pmf.shape), how.decompose, how.is_nonnegative)


# --- p-values -----------------------------------------------------------------------------------


def test_once(pmf: Array, n_samples: int, seed: int, measure: str) -> Array:
    """Return the p-values of one sample, in the order of `INFORMATIONS`."""
    subject = draw(pmf, n_samples, seed, measure)
    request = InferenceSettings(N_PERMUTATIONS, 0, CONFIDENCE, seed)
    return source_tests(subject, subject.decompose()[0].atoms, request)[1].ravel()


def test_linear_chain(pmf: Array, n_samples: int, seed: int, measure: str) -> Array:
    """Return the p-values of numbers: source 2 and the target are source 1 plus noise."""
    x, *noise = np.random.default_rng(seed).normal(size=(3, n_samples))
    columns = {"x": x, "copy": x + noise[0] / 2, "target": x + noise[1]}
    *sources, target = (read_block(values, name) for name, values in columns.items())
    sample = to_sample(sources, target, measure, bins=None)
    request = InferenceSettings(N_PERMUTATIONS, 0, CONFIDENCE, seed)
    return source_tests(sample, sample.decompose()[0].atoms, request)[1].ravel()


def count_significant_of_numbers(sizes: Iterable[int], options: Any) -> list[dict[str, Any]]:
    """Return how often I(2;y|1) = 0 of a linear chain is significant, by continuous measures."""
    rows = []
    for measure, n_samples in itertools.product(CONTINUOUS, sizes):
        how = Namespace(**{**vars(options), "measure": measure})
        p = np.array(spread(test_linear_chain, np.ones(1), n_samples, options.runs, how))
        percent = 100.0 * (p[:, INFORMATIONS.index("I(2;y|1)")] <= ALPHA + 1e-12).mean()
        rows.append({"measure": measure, "samples": n_samples, "runs": len(p), "percent": percent})
    return rows


def count_significant(
    cases: dict[str, tuple[Array, Sequence[str]]], sizes: Iterable[int], runs: int, options: Any
) -> list[dict[str, Any]]:
    """Return how often each information is significant, with exact 95 % intervals."""
    rows = []
    for name, n_samples in itertools.product(cases, sizes):
        pmf, tested = cases[name]
        p = np.array(spread(test_once, pmf, n_samples, runs, options))
        for information in tested:
            hits = int((p[:, INFORMATIONS.index(information)] <= ALPHA + 1e-12).sum())
            interval = binomtest(hits, len(p)).proportion_ci(0.95, method="exact")
            rows.append(
                {
                    "distribution": name,
                    "samples": n_samples,
                    "information": information,
                    "runs": len(p),
                    "percent": 100.0 * hits / len(p),
                    "low": 100.0 * interval.low,
                    "high": 100.0 * interval.high,
                }
            )
    return rows


# --- intervals ----------------------------------------------------------------------------------


def bound_once(pmf: Array, n_samples: int, seed: int, measure: str) -> dict[str, Array]:
    """Return the intervals of one sample by every method, each of shape (n_atoms, 2)."""
    subject = draw(pmf, n_samples, seed, measure)
    observed = subject.decompose()[0].atoms
    request = InferenceSettings(0, N_BOOTSTRAP, CONFIDENCE, seed)
    chance = null_atoms(subject, request)
    drawn = bootstrap_atoms(subject, observed, request)
    basic = basic_interval(observed, drawn, CONFIDENCE)
    smooth = [basic, *adjusted_intervals(observed, drawn, chance, subject, CONFIDENCE)]
    off = minimum_bias(subject, correct_bias(observed, chance, subject), request)[:, np.newaxis]
    return {
        "percentile": np.quantile(drawn, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2], axis=0).T,
        "basic": basic,
        "without kinks": span(smooth),
        "pidselect": span([*smooth, *(interval - off for interval in smooth)]),
    }


def count_covered(names: Iterable[str], sizes: Iterable[int], options: Any) -> list[dict[str, Any]]:
    """Return how often the intervals of each atom hold its true value, and how wide they are."""
    rows = []
    for name, n_samples in itertools.product(names, sizes):
        true = MEASURES[options.measure].decompose(KNOWN[name]).atoms
        found = spread(bound_once, KNOWN[name], n_samples, options.runs, options)
        for place, atom in enumerate(ATOMS):
            row: dict[str, Any] = {"distribution": name, "samples": n_samples, "atom": atom}
            row["true"] = true[place] / BIT
            for method in found[0]:
                ends = np.array([intervals[method][place] for intervals in found])
                held = (ends[:, 0] <= true[place] + ZERO) & (true[place] - ZERO <= ends[:, 1])
                row[method] = 100.0 * held.mean()
                row[f"{method}, width"] = np.diff(ends, axis=1).mean() / BIT
            rows.append(row)
    return rows


def draw_distribution(seed: int) -> Array:
    """Return a distribution of any shape, from nearly deterministic to nearly uniform."""
    rng = np.random.default_rng((seed, 1))
    shape = tuple(rng.integers(2, 7, size=3))
    return rng.dirichlet(np.full(np.prod(shape), 10 ** rng.uniform(-1, 0.5))).reshape(shape)


def held_anywhere(pmf: Array, n_samples: int, seed: int, measure: str) -> dict[str, Array]:
    """Draw a distribution and a sample; return which atoms the intervals of each method hold."""
    pmf = draw_distribution(seed)
    true = MEASURES[measure].decompose(pmf).atoms
    found = bound_once(pmf, n_samples, seed, measure)
    return {
        method: (ends[:, 0] <= true + ZERO) & (true - ZERO <= ends[:, 1])
        for method, ends in found.items()
    }


def count_covered_anywhere(sizes: Iterable[int], options: Any) -> list[dict[str, Any]]:
    """Return how often intervals hold the true value, each of another distribution."""
    rows = []
    for n_samples in sizes:
        found = spread(held_anywhere, np.ones(1), n_samples, 5 * options.runs, options)
        percent = {m: 100.0 * np.mean([one[m] for one in found], axis=0) for m in INTERVALS}
        for place, atom in enumerate(ATOMS):
            row: dict[str, Any] = {"samples": n_samples, "atom": atom, "runs": len(found)}
            rows.append(row | {method: float(atoms[place]) for method, atoms in percent.items()})
    return rows


def summarise_coverage(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the mean coverage over atoms that are 0, and over the others, and how many are low."""
    summary = []
    for kind, method in itertools.product(("above 0", "0"), INTERVALS):
        for n_samples in sorted({row["samples"] for row in rows}):
            chosen = [
                row
                for row in rows
                if row["samples"] == n_samples and (abs(row["true"]) < ZERO) == (kind == "0")
            ]
            held = [row[method] for row in chosen]
            ratios = [
                row[f"{method}, width"] / row["basic, width"]
                for row in chosen
                if row["basic, width"] > 1e-4
            ]
            summary.append(
                {
                    "true atom": kind,
                    "interval": method,
                    "samples": n_samples,
                    "atoms": len(chosen),
                    "mean": float(np.mean(held)),
                    "under 90": int(sum(share < 90 for share in held)),
                    "width": float(np.median(ratios)),
                }
            )
    return summary


# --- bias ---------------------------------------------------------------------------------------


def correct_once(pmf: Array, n_samples: int, seed: int, measure: str) -> dict[str, Array]:
    """Return the atoms of one sample, corrected by every method."""
    subject = draw(pmf, n_samples, seed, measure)
    observed = subject.decompose()[0].atoms
    request = InferenceSettings(0, 50, CONFIDENCE, seed)
    chance = null_atoms(subject, request)
    return {
        "plug-in": observed,
        "bootstrap": 2 * observed - bootstrap_atoms(subject, observed, request).mean(axis=0),
        "pidselect": (corrected := correct_bias(observed, chance, subject)),
        "and less kinks": corrected - minimum_bias(subject, corrected, request),
    }


def measure_bias(names: Iterable[str], sizes: Iterable[int], options: Any) -> list[dict[str, Any]]:
    """Return the mean error and the root mean square error of each atom by every method."""
    rows = []
    for name, n_samples in itertools.product(names, sizes):
        true = MEASURES[options.measure].decompose(KNOWN[name]).atoms
        found = spread(correct_once, KNOWN[name], n_samples, options.runs, options)
        for method in found[0]:
            errors = (np.array([atoms[method] for atoms in found]) - true) / BIT
            rows.append(
                {
                    "distribution": name,
                    "samples": n_samples,
                    "method": method,
                    "true": (true / BIT).tolist(),
                    "bias": errors.mean(axis=0).tolist(),
                    "rmse": np.sqrt((errors**2).mean(axis=0)).tolist(),
                }
            )
    return rows


def summarise_bias(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return for each distribution the largest error over the atoms, by every method."""
    methods = list(dict.fromkeys(row["method"] for row in rows))
    summary: dict[tuple[str, int], dict[str, float]] = {}
    for row in rows:
        key = (row["distribution"], row["samples"])
        summary.setdefault(key, {})[row["method"]] = max(row["rmse"])
    return [(*key, *(errors[method] for method in methods)) for key, errors in summary.items()]


# --- running ------------------------------------------------------------------------------------


def spread(
    once: Callable[..., Any], pmf: Array, n_samples: int, runs: int, options: Any
) -> list[Any]:
    """Repeat on fresh samples, in as many processes as asked for."""
    seeds = range(options.seed, options.seed + runs)
    work = (delayed(once)(pmf, n_samples, seed, options.measure) for seed in seeds)
    return list(Parallel(n_jobs=options.jobs)(work))


def table(rows: list[dict[str, Any]]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the header and the cells of rows that have the same keys."""
    return list(rows[0]), [tuple(row.values()) for row in rows]


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw, decompose, compare, print and write."""
    options = parser(
        __doc__.partition("\n")[0],
        runs=200,
        help_runs="samples of each case, five times as many for the level",
    )
    options.add_argument("--jobs", type=int, default=1, help="processes (1)")
    options.add_argument("--measure", choices=MEASURES, default="broja", help="(broja)")
    parts = ("tests", "numbers", "intervals", "random", "equal", "bias")
    options.add_argument("--only", choices=parts, help="one part")
    options = options.parse_args(arguments)
    warnings.simplefilter("error")
    results: dict[str, Any] = {}
    if options.only in (None, "tests"):
        for part, cases, sizes, runs in (
            ("level", NULL, (100, 1000), 5 * options.runs),
            ("power", POWER, (25, 50, 100), options.runs),
        ):
            results[part] = count_significant(cases, sizes, runs, options)
            show(f"p <= {ALPHA}, percent: {part}", *table(results[part]))
    if options.only in (None, "numbers"):
        results["numbers"] = count_significant_of_numbers((100, 1000), options)
        show("I(2;y|1) = 0 of a linear chain, percent", *table(results["numbers"]))
    if options.only in (None, "intervals"):
        results["coverage"] = count_covered(KNOWN, (100, 300, 1000), options)
        results["coverage, in short"] = summarise_coverage(results["coverage"])
        show(
            "95 % intervals: percent that hold the true atom", *table(results["coverage, in short"])
        )
    if options.only in (None, "random"):
        results["random"] = count_covered_anywhere((100, 300, 1000), options)
        show("The same on random distributions, one for each sample", *table(results["random"]))
    if options.only in (None, "equal"):
        results["equal"] = count_covered(EQUAL, (300, 1000, 4000), options)
        show("The same where sources are equally good", *table(results["equal"]))
    if options.only in (None, "bias"):
        results["bias"] = measure_bias(KNOWN, (100, 1000), options)
        methods = list(dict.fromkeys(row["method"] for row in results["bias"]))
        header = ("distribution", "samples", *methods)
        show(
            "Largest root mean square error of an atom, bit",
            header,
            summarise_bias(results["bias"]),
        )
    write("doubt", options, results)


if __name__ == "__main__":
    main()
