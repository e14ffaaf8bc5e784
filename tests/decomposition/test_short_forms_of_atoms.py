"""What a notebook shows of explanations and decompositions."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from pidselect.decomposition import (
    Decomposition,
    Explanation,
    FeatureExplanation,
    decompose,
    decompose_distribution,
)
from pidselect.decomposition.result import Pairs

ATTACK = "<img src=x onerror=alert(1)>"


def body(html):
    return html.partition("</style>")[2]


def rows(html):
    lines = re.findall(r"<tr>(.*?)</tr>", html)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", line) for line in lines]


def widths(html):
    return [float(width) for width in re.findall(r"width:([\d.]+)%", html)]


def feature(name, *atoms, selected=True, **more):
    role = "strongly relevant" if selected else "weakly relevant"
    said = {"total": 1.0, "method": "broja", "sentence": f"{name} is {role}."}
    return FeatureExplanation(name, role, selected, *atoms, **{**said, **more})


def explanation(*features, **more):
    names = tuple(one.name for one in features if one.selected)
    zeros = np.zeros((len(names), len(names)))
    pairs = Pairs(names, zeros + 0.125, zeros, np.eye(len(names)) == 0, "broja")
    return Explanation(features, 1.0, pairs, 200, **more)


# --- explanations ---------------------------------------------------------------------------------


def test_roles_bars_numbers_and_sentences():
    told = explanation(
        feature("a", 0.5, 0.25, 0.25), feature("b", 0.25, -0.25, 0.25), notes=("be careful",)
    )
    html = body(told._repr_html_())
    assert "<strong>2 selected features tell 1.000 bit about y together (200 samples).</st" in html
    first, second = rows(html)[1:3]
    assert first[:2] == ["a", "strongly relevant"]
    assert first[3:] == ["0.500", "0.250", "0.250", "a is strongly relevant."]
    assert second[3:6] == ["0.250", "-0.250", "0.250"]
    assert widths(first[2]) == [50.0, 25.0, 25.0]
    assert widths(second[2]) == [25.0, 25.0]
    assert all(f"</span>{word}" in html for word in ("unique", "shared", "synergy"))
    assert "selected; by broja, I(S; y) = 1.000 bit" in html
    assert "<li>be careful</li>" in html
    assert ["a", "b", "0.125", "0.000"] in rows(html)


def test_what_is_not_estimable_is_a_dash():
    unknown = feature("a", total=None, method="not estimable")
    html = body(replace(explanation(unknown), information=None)._repr_html_())
    assert "How much the selected features tell about y is not estimable." in html
    assert rows(html)[1][3:6] == ["-", "-", "-"]
    assert 'aria-label="not known"' in html


def test_one_and_none():
    html = body(explanation(feature("a", 1.0, 0.0, 0.0))._repr_html_())
    assert "The selected feature tells 1.000 bit about y (200 samples)." in html
    assert "by twos" not in html
    html = body(explanation()._repr_html_())
    assert "No feature is selected" in html
    assert rows(html) == []


def test_infinite_amounts():
    html = body(explanation(feature("a", float("inf"), 0.0, 0.5))._repr_html_())
    assert rows(html)[1][3:6] == ["inf", "0.000", "0.500"]
    assert widths(html) == [100.0, 100.0]


def test_names_stay_text():
    told = explanation(feature(ATTACK, 0.5, 0.0, 0.0), feature("b", 0.5, 0.0, 0.0), target=ATTACK)
    html = told._repr_html_()
    assert "<img" not in html
    assert html.count("&lt;img src=x") >= 4


def test_many_features_stay_short():
    told = explanation(*(feature(f"x{n}", 0.1, 0.0, 0.0, selected=n < 3) for n in range(300)))
    html = body(told._repr_html_())
    assert "... and 280 more, see .to_frame()" in html
    assert html.count("pidselect-bar") == 20


# --- decompositions -------------------------------------------------------------------------------


def test_two_sources():
    rng = np.random.default_rng(0)
    rain, sprinkler = rng.integers(0, 2, size=(2, 200))
    found = decompose([rain, sprinkler], rain | sprinkler, n_bootstrap=40, random_state=0)
    html = body(found._repr_html_())
    header, *lines = rows(html)
    assert header == ["atom", "size", "name", "bit", "corrected", "95 % interval"]
    assert [line[0] for line in lines] == ["{1}{2}", "{1}", "{2}", "{1,2}"]
    assert [line[2] for line in lines] == ["shared", "unique 1", "unique 2", "synergy"]
    assert [line[3] for line in lines] == [f"{value:.4f}" for value in found.atoms.values()]
    assert widths(lines[3][1]) == [100.0]
    assert found.title() in html.replace("&#x27;", "'")


@pytest.mark.parametrize("n_sources", [3, 4])
def test_more_sources(n_sources):
    rng = np.random.default_rng(0)
    pmf = rng.random((2,) * (n_sources + 1))
    found = decompose_distribution(pmf / pmf.sum(), measure="imin")
    html = body(found._repr_html_())
    assert len(rows(html)) == 1 + 18
    assert ("and 148 " in html) == (n_sources == 4)
    assert '<span class="pidselect-key pidselect-plain" aria-hidden="true"></span>mixed' in html


def test_negative_atoms_are_printed_as_they_are():
    atoms = {"{1}{2}": -0.5, "{1}": 1.0, "{2}": 0.5, "{1,2}": 0.0}
    html = body(Decomposition(atoms, 1.0, "sx", variables=(ATTACK, "b", "y"))._repr_html_())
    assert [line[3] for line in rows(html)[1:]] == ["-0.5000", "1.0000", "0.5000", "0.0000"]
    assert widths(html) == [100.0, 50.0]
    assert "&lt;img src=x onerror=alert(1)&gt;" in html
