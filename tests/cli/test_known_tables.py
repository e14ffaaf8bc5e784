"""Tables of scikit-learn as CSV, with a text column and missing values added."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from calling import QUICK, call, read_json, write
from sklearn import datasets

#: Columns, and rows of each in which values are missing.
GAPS = {0: (3, 10), 1: (10, 40, 41)}


def as_csv(name: str, folder: Path) -> tuple[Path, list[str]]:
    """Write a table with gaps in its first two columns, and return its columns' names."""
    known = getattr(datasets, f"load_{name}")()
    names = [str(one) for one in known.feature_names]
    cells = {label: [str(v) for v in known.data[:, i]] for i, label in enumerate(names)}
    for column, rows in GAPS.items():
        for row in rows:
            cells[names[column]][row] = ""
    rng = np.random.default_rng(0)
    label = known.get("target_names")
    target = known.target if label is None else [str(label[code]) for code in known.target]
    site = rng.choice(["north", "south", "west"], len(known.target))
    columns = {"site": site, **cells, "outcome": target}
    return write(folder / f"{name}.csv", columns), names


@pytest.mark.parametrize(
    ("name", "feature_types", "target_type"),
    [
        ("diabetes", {"bmi": "continuous", "sex": "ordinal", "site": "nominal"}, "ordinal"),
        ("wine", {"alcohol": "continuous", "site": "nominal"}, "nominal"),
    ],
)
def test_feature_types_and_missing_values(name, feature_types, target_type, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path, names = as_csv(name, tmp_path)
    n_rows = len(path.read_text().splitlines()) - 1
    some = ("--target", "outcome", "--max-features", "1", "--json", "r.json", "--quiet", *QUICK)

    refused = call("select", path.name, *some)
    assert refused.exit_code == 2
    counts = (f"{names[0]!r} (2 missing)", f"{names[1]!r} (3 missing)")
    remedies = ("missing='drop'", "missing='category'", "--n-jobs")
    assert all(text in refused.stderr for text in (*counts, *remedies))

    complete = [word for gap in GAPS for word in ("--drop", names[gap])]
    ways = {("drop",): n_rows - 4, ("category",): n_rows, ("error", *complete): n_rows}
    for way, n_samples in ways.items():
        result = call("select", path.name, *some, "--missing", *way)
        assert result.exit_code == 0, result.output
        summary = read_json(Path("r.json"))
        assert summary["settings"]["n_samples"] == n_samples
        assert len(summary["selected"]) == 1
        assert summary["settings"]["target_types"] == [target_type]
        found = summary["metadata"]["feature_types"]
        used = feature_types.keys() & found.keys()
        assert {one: found[one] for one in used} == {one: feature_types[one] for one in used}
