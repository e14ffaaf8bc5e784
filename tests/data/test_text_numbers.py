"""Numbers stored as text: recognised, named with an example and a remedy, never as identifiers."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pidselect import IdentifierWarning, Table, TextNumbersWarning
from pidselect.data import read_dataset
from pidselect.data.text_numbers import notation_of

N = 60
VALUES = np.random.default_rng(0).uniform(1, 9999, N)

WRITTEN = {
    "thousands": [f"{value:,.0f}" for value in VALUES],
    "both marks": [f"{value:,.2f}" for value in VALUES],
    "unit": [f"{value:.1f} kg" for value in VALUES],
    "blanks": [f"  {value:.0f}" for value in VALUES],
    "exponent": [f"{value:.3e}" for value in VALUES],
    "percent": [f"{value:.1f}%" for value in VALUES],
    "money": [f"${value:.2f}" for value in VALUES],
    "plain": [f"{value:.2f}" for value in VALUES],
    "words": ["unknown", *(f"{value:.2f}" for value in VALUES[1:])],
}
LABELS = {
    "words": [f"person {i}" for i in range(N)],
    "postcodes": [f"{i:05d}" for i in range(N)],
    "letters": [f"{i}{'abc'[i % 3]}" for i in range(N)],
    "dates": [f"{1 + i % 28}.{1 + i // 28}.2020" for i in range(N)],
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_numbers_are_named_with_an_example_and_a_remedy(written, library):
    with pytest.warns(TextNumbersWarning) as caught:
        table = Table.read(library({"size": written, "x": VALUES}))
    (warning,) = caught
    text = str(warning.message)
    assert warning.filename == __file__
    assert "'size'" in text
    assert any(repr(value) in text for value in written)
    assert "pd.to_numeric(X['size'])" in text
    assert "feature_types={'size': 'nominal'}" in text
    assert warning.message.columns == ("size",)
    assert list(table.skipped) == [0]
    assert "identifier" not in table.skipped[0]
    assert "numbers stored as text" in table.skipped[0]


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_other_texts_are_identifiers(labels):
    assert notation_of(labels) is None
    with pytest.warns(IdentifierWarning):
        Table.read(pd.DataFrame({"a": labels, "x": VALUES}))


def test_labels_stay_labels():
    """Codes of a few classes, categories, and columns of a stated type."""
    few, many = [str(i % 4) for i in range(N)], [str(i % 25) for i in range(N)]
    X = pd.DataFrame({"few": few, "category": pd.Categorical(many), "stated": many})
    assert not Table.read(X, feature_types={"stated": "nominal"}).skipped


def test_numbers_that_repeat_are_used_as_labels_with_a_warning():
    X = pd.DataFrame({"share": [f"{i % 25}%" for i in range(N)], "x": VALUES})
    with pytest.warns(TextNumbersWarning, match="labels: 'share'"):
        assert not Table.read(X).skipped


def test_one_warning_names_all_columns_shortened():
    X = pd.DataFrame({f"c{i}": WRITTEN["unit"] for i in range(40)})
    with pytest.warns(TextNumbersWarning, match="28 more") as caught:
        Table.read(X)
    assert len(caught) == 1
    assert len(caught[0].message.columns) == 40


def test_a_target_of_numbers_stored_as_text():
    with pytest.raises(ValueError, match=r"numbers stored as text, such as .*pd\.to_numeric"):
        read_dataset(VALUES[:, np.newaxis], WRITTEN["unit"])


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_files_warn_once(tmp_path, name):
    frame = pd.DataFrame({"size": WRITTEN["unit"], "x": VALUES})
    path = tmp_path / name
    if name == "t.csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    with pytest.warns(TextNumbersWarning, match="'size'") as caught:
        table = Table.open(path)
    assert len(caught) == 1
    assert "numbers stored as text" in table.skipped[0]
