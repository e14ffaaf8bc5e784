"""Tables for fits in partitions, and what of a fit does not depend on the type of its input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

COUNTS = {"surrogates": "margins", "lookahead": 1, "n_permutations": 50, "random_state": 0}
SAMPLE = {"max_samples": 150, "n_permutations": 20, "lookahead": 1, "random_state": 3}


def levels(n=2000):
    """Discrete columns of all types; y depends on "a" and "b" jointly, and on "flag"."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 3, (2, n))
    flag = rng.random(n) < 0.5
    y = np.where(rng.random(n) < 0.2, rng.random(n) < 0.5, (a + b + flag) % 4 > 1)
    return pd.DataFrame(
        {
            "a": a,
            "b": np.array(["x", "y", "z"])[b],
            "flag": flag,
            "copy": 2 - a,
            "noise": rng.integers(0, 4, n),
            "more": rng.choice(["p", "q"], n),
            "y": np.array(["no", "yes"])[y.astype(int)],
        }
    )


def numbers(n=1000):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    frame["kind"] = rng.choice(["u", "v", "w"], n)
    frame["person"] = np.arange(n) % 20
    frame["y"] = frame["a"] + 2 * np.abs(frame["b"]) + rng.normal(size=n) / 2
    return frame


def to_parquet(frame, folder, n_files=3, group=170):
    for number, rows in enumerate(np.array_split(np.arange(len(frame)), n_files)):
        part = pa.Table.from_pandas(frame.iloc[rows], preserve_index=False)
        pq.write_table(part, folder / f"{number}.parquet", row_group_size=group)
    return folder


def record(selector):
    """The record without what depends on the type of the input."""
    selection = selector.selection_
    settings = replace(selection.settings, n_rows=None)
    return replace(selection, frame_library=None, settings=settings)
