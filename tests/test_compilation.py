"""What compiles nothing does not import Numba either, which takes as long as a small fit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pidselect

STEPS = """
import sys

import numpy as np
import pandas as pd

import pidselect
from pidselect import PIDSelector, Table
from pidselect.data import Block, Column
from pidselect.estimators.regression import residuals
from pidselect.significance.row_orders import find_strata
from pidselect.significance.surrogates import check_groups, count_block_orders
from pidselect.significance.interactions import InteractionScan
from pidselect.significance.rng import row_keys

rng = np.random.default_rng(0)
x = rng.normal(size=(120, 4))
table = Table.read(pd.DataFrame({"a": x[:, 0], "b": x[:, 1] > 0, "c": ["even", "odd"] * 60}))
columns = tuple(Column(f"x{i}", "continuous", values) for i, values in enumerate(x.T))
labels = Column("label", "nominal", np.arange(120) % 3.0)
target, given = Block((Column("y", "continuous", x.sum(axis=1)),)), Block((labels,))
residuals(Block(columns[2:]), [*target.columns, *columns[:2]])
residuals(given, target.columns)
assert row_keys(1, 5).shape == (5,)
groups = check_groups(["a", "b"] * 60, 120)
assert count_block_orders(groups) == 2
strata = find_strata(given, None)
rows = np.stack([rng.permutation(120) for _ in range(20)]).astype(np.int32)
for triples in ("none", "given", "all"):
    scan = InteractionScan.of([Block((c,)) for c in (*columns, labels)], target, strata, triples)
    for block in range(len(scan.blocks)):
        assert np.isfinite(scan.largest(block, rows)[0]).any()
people = np.arange(120) // 20
for y in (x[:, 0] + x[:, 1], x[:, 0] > 0, np.array(["a", "b", "c"])[np.arange(120) % 3]):
    for select in ("minimal", "relevant"):
        selector = PIDSelector(select=select, random_state=0)
        selector.fit(pd.DataFrame({"flag": x[:, 2] > 0, "number": x[:, 0], "noise": x[:, 3]}), y)
        selector.fit(x, y, groups=people)
        assert selector.selection_.to_dict() and len(selector.pvalues_) == 4
print(sorted({"numba", "llvmlite"} & {name.partition(".")[0] for name in sys.modules}))
"""


def test_what_compiles_nothing_does_not_import_numba():
    done = subprocess.run(
        [sys.executable, "-c", STEPS],
        env={**os.environ, "PYTHONPATH": str(Path(pidselect.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "[]\n", done.stderr
