"""BROJA on thousands of distributions that are hard on solvers: certified, and adding up?"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from common import parser, seconds, show, write
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from pidselect.decomposition.broja import broja, solve
from pidselect.decomposition.pmf import information

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from decomposition.distributions import FAMILIES, suite

FloatArray = NDArray[np.float64]

BIT = np.log(2)
GAP = 1e-6  # bits, that no distribution may exceed
SUM = 1e-9


def examine(pmf: FloatArray) -> dict[str, Any]:
    """Decompose one distribution, all in bits."""
    took = seconds(lambda: broja(pmf))
    parts = broja(pmf)
    solution = solve(pmf.sum(axis=1).T, pmf.sum(axis=0).T)
    return {
        "states": int(np.prod(pmf.shape)),
        "gap": float(parts.gap / BIT),
        "smallest_atom": float(parts.atoms.min() / BIT),
        "sum_error": sum_error(pmf, parts.atoms) / BIT,
        "method": solution.method,
        "seconds": took,
    }


def sum_error(pmf: FloatArray, atoms: FloatArray) -> float:
    """Return the largest deviation of atoms from the information they must add up to."""
    shared, unique1, unique2, synergy = atoms
    both = information(pmf)
    first, second = information(pmf.sum(axis=1)), information(pmf.sum(axis=0))
    deviations = [
        shared + unique1 - first,
        shared + unique2 - second,
        unique1 + synergy - (both - second),
        unique2 + synergy - (both - first),
        shared + unique1 + unique2 + synergy - both,
    ]
    return float(np.abs(deviations).max())


def summarise(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the worst of each figure; a comparison with NaN counts as a failure."""
    gaps, atoms, sums, times = (
        np.array([row[key] for row in rows])
        for key in ("gap", "smallest_atom", "sum_error", "seconds")
    )
    passed = (gaps <= GAP) & (atoms >= -GAP) & (sums <= SUM)
    return {
        "distributions": len(rows),
        "failures": int((~passed).sum()),
        "largest_gap_bit": float(gaps.max()),
        "gaps_above_1e-9": int((~(gaps <= 1e-9)).sum()),
        "smallest_atom_bit": float(atoms.min()),
        "largest_sum_error_bit": float(sums.max()),
        "methods": dict(Counter(row["method"] for row in rows).most_common()),
        "median_ms": 1e3 * float(np.median(times)),
        "slowest_ms": 1e3 * float(times.max()),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Decompose them all, print and write; the exit status says whether any failed."""
    options = parser(__doc__, runs=5000, help_runs="distributions").parse_args(arguments)
    by_family: dict[str, list[dict[str, Any]]] = {family: [] for family in FAMILIES}
    with threadpool_limits(1):
        broja(next(suite(1))[1])  # compiles
        for family, pmf in suite(options.runs, options.seed):
            by_family[family].append(examine(pmf))
    families = {family: summarise(rows) for family, rows in by_family.items() if rows}
    everything = summarise([row for rows in by_family.values() for row in rows])
    report(families | {"all": everything})
    write("broja_stress", options, {"all": everything, "kinds": families})
    if everything["failures"]:
        sys.exit(f"{everything['failures']} of {options.runs} failed.")


def report(summaries: dict[str, dict[str, Any]]) -> None:
    """Print what matters of each family, and what the solver needed."""
    columns = (
        "distributions",
        "failures",
        "largest_gap_bit",
        "smallest_atom_bit",
        "largest_sum_error_bit",
        "median_ms",
        "slowest_ms",
    )
    show(
        "BROJA under stress, one thread",
        (
            "family",
            "number",
            "failed",
            "gap",
            "smallest atom",
            "sum error",
            "median ms",
            "slowest ms",
        ),
        [(family, *(row[column] for column in columns)) for family, row in summaries.items()],
    )
    methods = summaries["all"]["methods"]
    show(
        "What it took",
        ("family", *methods),
        [
            (family, *(row["methods"].get(method, 0) for method in methods))
            for family, row in summaries.items()
        ],
    )


if __name__ == "__main__":
    main()
