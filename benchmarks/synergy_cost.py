"""What the search for features that act jointly costs: time of a table, and of all tables.

Of each sort of columns, the time of one contingency table in one permutation is measured on one
thread, for pairs and for triples; from these follow the times of all pairs and triples of any
number of columns. `JointSearch` decides by counts alone whether `lookahead="auto"` searches them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Any, NamedTuple

import numpy as np
from common import best_of, parser, show, write

from pidselect.data import Block, Column, FeatureType
from pidselect.estimators.knn.spaces import LANES
from pidselect.selection.interaction_test import FIRST_BATCH
from pidselect.selection.lookahead import MAX_OPERATIONS, MAX_TRIPLE_OPERATIONS
from pidselect.significance.interactions import InteractionScan, count_operations

N_PERMUTATIONS = 200
N_COLUMNS = (20, 200, 1000, 2000, 10_000)
MEASURED = {2: 400, 3: 60}  # columns of the tables that are timed, by the size of tuples

Row = dict[str, Any]


class Sort(NamedTuple):
    """Columns of one sort, and a target of two classes."""

    feature_type: FeatureType
    n_levels: int  # of a column, as the scan has it
    n_samples: int


SORTS = {
    "numbers": Sort("continuous", 4, 1000),
    "genotypes": Sort("ordinal", 3, 2000),
}


def make_scan(sort: Sort, n_columns: int, seed: int) -> InteractionScan:
    """Return the scan of unrelated columns, triples included."""
    rng = np.random.default_rng(seed)
    shape = n_columns, sort.n_samples
    is_number = sort.feature_type == "continuous"
    values = rng.random(shape) if is_number else rng.binomial(2, 0.4, shape).astype(float)
    blocks = [
        Block((Column(f"x{place}", sort.feature_type, column),))
        for place, column in enumerate(values)
    ]
    classes = Column("y", "nominal", rng.permutation(np.arange(sort.n_samples) % 2).astype(float))
    scan = InteractionScan.of(blocks, Block((classes,)), None, "all")
    vars(scan)["is_small"] = False  # the compiled kernels are timed
    return scan


def time_tables(sort: Sort, order: int, options: Any) -> Row:
    """Return nanoseconds of a pair or triple in one permutation, all its tables included."""
    n_columns = MEASURED[order]
    scan = make_scan(sort, n_columns, options.seed)
    rng = np.random.default_rng(options.seed)
    rows = np.stack([rng.permutation(sort.n_samples) for _ in range(LANES)]).astype(np.int32)
    blocks = [
        place for place, (tables, _) in enumerate(scan.blocks) if scan.tables[tables].order == order
    ]

    def work() -> None:
        for block in blocks:
            scan.largest(block, rows)

    best_of(1, work)  # kernels are loaded or compiled here
    (took,) = best_of(options.runs, work)
    levels = f"{sort.n_levels} and 2" if order == 2 else "2"
    return {"tuple": order, "levels": levels, "ns": 1e9 * took / (comb(n_columns, order) * LANES)}


def cost(sort: Sort, n_columns: int, order: int, ns: float) -> Row:
    """Return what all pairs or triples take at most, and whether they are searched by default."""
    n_tuples, levels = comb(n_columns, order), [sort.n_levels] * n_columns
    operations = (1 + N_PERMUTATIONS) * count_operations(levels, sort.n_samples, 2, order)
    most = MAX_OPERATIONS if order == 2 else MAX_TRIPLE_OPERATIONS
    return {
        "columns": n_columns,
        "tuple": order,
        "tuples": n_tuples,
        "operations": float(operations),
        "seconds": 1e-9 * ns * n_tuples * (1 + N_PERMUTATIONS),
        "seconds_none": 1e-9 * ns * n_tuples * FIRST_BATCH,
        "auto": bool(operations <= most),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Time, print and write."""
    options = parser(__doc__, runs=5, help_runs="rounds; the best counts").parse_args(arguments)
    times: list[Row] = []
    costs: list[Row] = []
    for name, sort in SORTS.items():
        about = {"sort": name, "samples": sort.n_samples}
        for order in MEASURED:
            timed = time_tables(sort, order, options)
            times.append(about | timed)
            costs += [about | cost(sort, n, order, timed["ns"]) for n in N_COLUMNS]
    for title, rows in (("of one tuple and permutation", times), ("of all tuples", costs)):
        show(title, tuple(rows[0]), [tuple(row.values()) for row in rows])
    write("synergy_cost", options, {"permutations": N_PERMUTATIONS, "times": times, "costs": costs})


if __name__ == "__main__":
    main()
