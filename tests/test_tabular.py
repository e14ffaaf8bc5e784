"""Text and HTML of results have the same cells and sentences, and names stay text."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from pidselect import decompose
from pidselect.tabular import TabularResult, TextTable
from report import hostile
from report.html_reader import HTMLReader
from selection.systems import gates, quick


def decomposition():
    values = np.random.default_rng(0).integers(0, 2, (2, 200))
    names = hostile.NAMES[:2]
    columns = [pd.Series(x, name=name) for name, x in zip(names, values, strict=True)]
    return decompose(columns, columns[0] | columns[1], n_permutations=19, n_bootstrap=40)


RESULTS = {
    "selection": hostile.selection,
    "explanation": hostile.explanation,
    "pairs": lambda: hostile.explanation().pairs,
    "stability": hostile.stability,
    "decomposition": decomposition,
}


class Sentence(TabularResult):
    def __init__(self, text):
        self.text = text

    def _title(self):
        return self.text

    def _blocks(self):
        return [[self.text, TextTable([["a", self.text], ["b", self.text]])]]


@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)
def test_html_has_the_lines_of_the_text_and_no_other_element(make):
    result = make()
    html = result._repr_html_()
    assert {tag for tag, _ in HTMLReader(html).elements} <= {"p", "table", "tr", "th", "td"}
    assert all(not attributes for _, attributes in HTMLReader(html).elements)
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e]", html)
    lines = []
    for part in re.findall(r"<table>.*?</table>|<p>.*?</p>", html, re.DOTALL):
        rows = re.findall(r"<tr>(.*?)</tr>", part)
        cells = [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in rows]
        cells = [[unescape(cell) for cell in row] for row in cells]
        text = unescape(part.removeprefix("<p>").removesuffix("</p>")).split("\n")
        lines += [" ".join(row) for row in cells] if rows else text
    seen = [" ".join(line.split()) for line in repr(result).split("\n") if line.strip()]
    assert [" ".join(line.split()) for line in lines if line.strip()] == seen


@given(st.text())
def test_any_text_stays_text(value):
    html = Sentence(value)._repr_html_()
    html.encode()
    read = HTMLReader(html)
    table = ["table", "tr", "th", "th", "tr", "td", "td"]
    assert [tag for tag, _ in read.elements] == ["p", "p", *table]
    expected = value.encode("utf-8", "backslashreplace").decode("utf-8")
    normal = expected.replace("\r\n", "\n").replace("\r", "\n")
    assert "".join(read.words).replace("\r\n", "\n").replace("\r", "\n").count(normal) >= 4


def test_surrogates_are_spelled_out():
    assert "caf\\udce9" in Sentence("caf\udce9")._repr_html_()


def test_selectors_and_pipelines_show_the_diagrams_of_scikit_learn():
    X, y = gates()
    for estimator in (quick(), quick().fit(X, y), make_pipeline(quick(), LinearRegression())):
        assert "sk-top-container" in estimator._repr_html_()
