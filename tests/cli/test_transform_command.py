"""Selectors saved by a command, and applied to other files."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest
from calling import call, made, select, write

from pidselect import PIDSelector


@pytest.fixture
def model(table):
    """A selector saved from the made table: length and width are selected."""
    result = select(table, "--target", "y", "--save", "model.json")
    assert result.exit_code == 0, result.output
    assert "Selector: model.json" in result.stdout
    return Path("model.json")


def read(path):
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def refused(result):
    """Return the one line of an error about a call or a file."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("Error: ")
    return line


def test_the_saved_selector_is_that_of_python(model):
    selector = PIDSelector.load(model)
    assert selector.get_feature_names_out().tolist() == ["length", "width"]
    assert selector._target == ("y",)
    assert selector.checkpoint is None


def test_explain_saves_it_too(table):
    assert call("explain", table, "--target", "y", "--estimator", "gaussian", "--n-permutations",
                "20", "--save", "model.json").exit_code == 0  # fmt: skip
    assert PIDSelector.load("model.json").n_features_ == 2


def test_columns_are_found_by_name(model):
    """In any order, without the target, with others beside them."""
    columns = made()
    new = write(Path("new.csv"), {"extra": columns["noise"], "width": columns["width"],
                                  "length": columns["length"]})  # fmt: skip
    result = call("transform", model, new, "small.csv")
    assert (result.exit_code, result.stdout) == (0, "Reduced table (2 columns): small.csv\n")
    header, *rows = read("small.csv")
    assert header == ["length", "width"]
    expected = zip(columns["length"], columns["width"], strict=True)
    assert [[float(text) for text in row] for row in rows] == [[*pair] for pair in expected]
    assert call("transform", model, new, "small.csv", "--quiet").output == ""


def test_it_writes_what_transform_returns(model, table):
    assert call("transform", model, table, "small.parquet").exit_code == 0
    found = pyarrow.parquet.read_table("small.parquet")
    expected = PIDSelector.load(model).transform(_as_frame(made()))
    assert found.column_names == expected.column_names
    assert found.to_pydict() == expected.to_pydict()


def _as_frame(columns):
    return pyarrow.table({name: columns[name] for name in columns if name != "y"})


def test_formats_of_text_and_standard_input(model):
    columns = {name: made()[name] for name in ("width", "length")}
    text = "\n".join(
        ["width;length", *(f"{w};{x}" for w, x in zip(*columns.values(), strict=True))]
    )
    result = call("transform", model, "-", "small.jsonl", "--delimiter", ";", read=text.encode())
    assert result.exit_code == 0, result.output
    assert len(Path("small.jsonl").read_text(encoding="utf-8").splitlines()) == 120


def test_a_missing_column(model):
    new = write(Path("new.csv"), {"lenght": [1.0], "width": [2.0]})
    line = refused(call("transform", model, new, "small.csv"))
    assert all(word in line for word in ("'new.csv'", "'length'", "'model.json'", "'lenght'?"))
    assert not Path("small.csv").exists()


def test_missing_values_as_in_the_fit(model, table):
    new = write(Path("new.csv"), {"length": [1.0, "", 2.0], "width": [2.0, 1.0, 3.0]})
    line = refused(call("transform", model, new, "small.csv"))
    assert "'length' (1 missing)" in line
    assert not Path("small.csv").exists()
    unused = write(Path("unused.csv"), {"length": [1.0], "width": [2.0], "noise": [""]})
    assert call("transform", model, unused, "small.csv").exit_code == 0
    assert select(table, "--target", "y", "--missing", "drop", "--save", "drop.json").exit_code == 0
    assert call("transform", "drop.json", new, "small.csv").exit_code == 0
    assert read("small.csv") == [["length", "width"], ["1.0", "2.0"], ["", "1.0"], ["2.0", "3.0"]]


def fit_without_names(path):
    columns = made()
    X = np.column_stack([columns[name] for name in ("noise", "length", "width")])
    PIDSelector("cmi", "gaussian", n_permutations=20, random_state=0).fit(X, columns["y"]).save(
        path
    )
    return X


def test_columns_without_names_are_found_by_position(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = fit_without_names("model.json")
    np.save("new.npy", X)
    assert call("transform", "model.json", "new.npy", "small.csv").exit_code == 0
    assert read("small.csv")[0] == ["x1", "x2"]
    named = write(Path("new.csv"), dict(zip("abc", X.T.tolist(), strict=True)))
    assert call("transform", "model.json", named, "small.csv").exit_code == 0
    assert read("small.csv")[0] == ["b", "c"]
    more = write(Path("more.csv"), dict(zip("abcd", [*X.T.tolist(), [0] * 120], strict=True)))
    line = refused(call("transform", "model.json", more, "small.csv"))
    assert all(word in line for word in ("'more.csv'", "4 columns", "3", "same order"))


@pytest.mark.filterwarnings("ignore:No feature was selected")
def test_nothing_is_selected(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = np.random.default_rng(0).normal(size=(2, 60))
    PIDSelector(n_permutations=20, random_state=0).fit(X[:, None], y).save("model.json")
    new = write(Path("new.csv"), {"a": [1.0]})
    assert "no selected column" in refused(call("transform", "model.json", new, "small.csv"))


def test_files_that_cannot_be_used(model, table):
    assert "no saved selector" in refused(call("transform", table, table, "small.csv"))
    assert "is the selector" in refused(call("transform", model, table, _as_csv(model)))
    assert "small.xlsx" in refused(call("transform", model, table, "small.xlsx"))
    assert "table itself" in refused(call("transform", model, table, table))
    assert "no file 'gone.csv'" in refused(call("transform", model, "gone.csv", "small.csv"))
    assert "'gone.json'" in refused(call("transform", "gone.json", table, "small.csv"))
    model.write_bytes(model.read_bytes().replace(b"0.05", b"0.06"))
    assert "checksum" in refused(call("transform", model, table, "small.csv"))


def _as_csv(model):
    """Another name of the file, whose format could be written."""
    link = Path("model.csv")
    link.hardlink_to(model)
    return link


def test_a_place_that_cannot_be_written_is_refused_before_the_fit(table):
    result = select(table, "--target", "y", "--save", "no/model.json")
    assert result.exit_code == 2
    assert "--save 'no/model.json'" in result.stderr
    both = select(table, "--target", "y", "--save", "a.json", "--json", "a.json")
    assert "--save" in both.stderr
    assert "--json" in both.stderr
