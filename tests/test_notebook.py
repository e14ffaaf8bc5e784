"""HTML of results in notebooks: numbers are shown, names stay text, the page is not affected."""

from __future__ import annotations

import pickle
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from pidselect import PIDSelector, decompose, decompose_distribution
from pidselect.decomposition import Decomposition, Explanation, FeatureExplanation
from pidselect.decomposition.explanation import Pairs
from pidselect.notebook import (
    ATOMS,
    MAX_ROWS,
    STYLE,
    Markup,
    bar,
    card,
    details,
    joined,
    legend,
    listing,
    longest,
    name,
    paragraph,
    table,
    text,
)
from pidselect.selection.result import Selection, Settings, Step
from pidselect.selection.stability import Stability
from report.html_reader import HTMLReader
from selection.systems import gates, noise, quick, xor

ATTACK = "<img src=x onerror=alert(1)>"


def body(html):
    return html.partition("</style>")[2]


def rows(html):
    """Return the texts of the cells of all rows."""
    lines = re.findall(r"<tr>(.*?)</tr>", html)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", line) for line in lines]


def widths(html):
    return [float(width) for width in re.findall(r"width:([\d.]+)%", html)]


# --- elements -------------------------------------------------------------------------------------


ELEMENTS = {
    "text": text,
    "name": name,
    "paragraph": paragraph,
    "listing": lambda value: listing([value]),
    "details": lambda value: details(value, value),
    "header": lambda value: table([value], []),
    "cell": lambda value: table(["a"], [[value]]),
    "bar": lambda value: bar([(value, 1.0)], 1.0),
    "legend": lambda value: legend([value]),
    "card": card,
}


@pytest.mark.parametrize("element", ELEMENTS.values(), ids=ELEMENTS)
@pytest.mark.parametrize("value", [ATTACK, "</style><script>", "&lt;b&gt;", '\'" onload="x'])
def test_text_is_escaped(element, value):
    html = element(value)
    assert isinstance(html, Markup)
    read = HTMLReader(html)
    assert not {"img", "script"} & {tag for tag, _ in read.elements}
    assert not {"onerror", "onload"} & {key for _, attrs in read.elements for key in attrs}
    seen = "".join(read.words) + "".join(str(attrs) for _, attrs in read.elements)
    assert value in seen or repr(value) in seen or value in seen.replace("\\'", "'")


@given(st.text())
def test_any_text_is_unchanged_but_for_line_ends(value):
    expected = value.replace("\r\n", "\n").replace("\r", "\n")
    found = "".join(HTMLReader(paragraph(value)).words)
    assert found.replace("\r\n", "\n").replace("\r", "\n") == expected


def test_invisible_characters_of_names_are_spelled_out():
    assert name("a\u202eb") == "&#x27;a\\u202eb&#x27;"
    assert name("\ud800").encode() == b"&#x27;\\ud800&#x27;"
    assert name(" a") == "&#x27; a&#x27;"
    for element in ELEMENTS.values():
        assert b"caf\\udce9" in element("caf\udce9").encode("utf-8")


def test_html_is_not_escaped_twice():
    assert joined(["<", text("<"), paragraph("<")], " & ") == "&lt; &amp; &lt; &amp; <p>&lt;</p>"


@pytest.mark.parametrize("n_rows", [0, 1, MAX_ROWS, MAX_ROWS + 1, 300])
def test_long_tables_are_cut(n_rows):
    html = table(["feature", "bits"], [[f"x{row}", "0.5"] for row in range(n_rows)])
    is_cut = n_rows > MAX_ROWS
    assert html.count("<tr>") == 1 + min(n_rows, MAX_ROWS) + is_cut
    assert (f"{n_rows - MAX_ROWS} more" in html) == is_cut


def test_tables_have_equal_rows_and_aligned_columns():
    with pytest.raises(ValueError, match="longer"):
        table(["feature", "bits"], [["x"]])
    html = table(["a", "b", "c", "d"], [["1", "2", "3", "4"]], "nlrw")
    classes = [attrs.get("class") for attrs in HTMLReader(html).all("td")]
    assert classes == ["pidselect-name", "pidselect-left", None, "pidselect-wide"]


@pytest.mark.parametrize(
    ("amounts", "full", "expected"),
    [
        ((0.5, 0.25, 0.25), 1.0, [50.0, 25.0, 25.0]),
        ((0.5, -0.25, 0.0), 1.0, [50.0]),
        ((None, None, None), 1.0, []),
        ((-0.1, -0.2, -0.3), 0.0, []),
        ((float("inf"), 0.1, float("nan")), 1.0, [100.0, 10.0]),
        ((float("-inf"), None, 0.2), 0.4, [50.0]),
    ],
)
def test_lengths_of_bars(amounts, full, expected):
    assert widths(bar(list(zip(ATOMS, amounts, strict=True)), full)) == expected


def test_a_bar_is_labelled_by_its_numbers():
    html = bar([("unique", -0.25), ("shared", None), ("synergy", 0.125)], 1.0)
    (label,) = [attrs["aria-label"] for _, attrs in HTMLReader(html).elements if "role" in attrs]
    assert label == "unique -0.250, synergy 0.125"
    assert 'aria-label="not estimable"' in bar([("unique", None)], 1.0)


def test_the_longest_bar():
    infinite = [("unique", float("inf")), ("shared", 0.3)]
    bars = [[("unique", 0.1), ("shared", 0.4)], [("synergy", -3.0)], infinite, [("unique", None)]]
    assert longest(bars) == 0.5
    assert longest([]) == 0.0


def test_the_style_applies_to_the_card_alone():
    plain = STYLE.replace("@media (prefers-color-scheme: dark) {", "")
    for selectors in re.findall(r"([^{}]+)\{[^{}]*\}", plain):
        for selector in selectors.split(","):
            assert selector.strip().startswith(".pidselect-card")
    assert set(re.findall(r"[^-]color: ([^;]+);", STYLE)) == {"inherit"}
    assert "<" not in STYLE
    html = card(paragraph("a"))
    assert html.startswith('<div class="pidselect-card" tabindex="0"')
    assert "http" not in html


# --- the selector ---------------------------------------------------------------------------------


def test_a_fitted_selector_shows_its_selection():
    selector = quick().fit(*gates())
    html = selector._repr_html_()
    assert selector._repr_mimebundle_() == {"text/plain": repr(selector), "text/html": html}
    assert all(feature in html for feature in selector.selection_.features)
    assert "PIDSelector(n_permutations=39, random_state=0)" in html
    assert pickle.loads(pickle.dumps(selector))._repr_html_() == html
    assert "pidselect-card" not in clone(selector)._repr_html_()


def test_an_unfitted_selector_and_a_pipeline_show_their_diagrams():
    pipeline = make_pipeline(quick(), LinearRegression()).fit(*gates())
    for estimator in (quick(), pipeline):
        html = estimator._repr_html_()
        assert "sk-top-container" in html
        assert "PIDSelector" in html
        assert "pidselect-card" not in html


@pytest.mark.parametrize("is_fitted", [False, True])
def test_text_if_scikit_learn_is_set_to_it(is_fitted):
    selector = quick().fit(*gates()) if is_fitted else quick()
    with config_context(display="text"):
        assert not hasattr(selector, "_repr_html_")
        assert selector._repr_mimebundle_() == {"text/plain": repr(selector)}
    assert hasattr(selector, "_repr_html_")


def test_names_of_a_selection_stay_text():
    X, y = gates()
    names = ["a", "b\u202e", ATTACK, "</style><script>alert(1)</script>", "d"]
    frame = pd.DataFrame({**dict(zip(names, X.T, strict=True)), f"{ATTACK}2": X[:, 0]})
    selector = quick(fixed_features=names[3]).fit(frame, y)
    html = selector._repr_html_()
    assert ATTACK in selector.selection_.features
    assert selector.selection_.duplicates == {f"{ATTACK}2": "a"}
    assert "<img" not in html
    assert "<script" not in html
    assert "\u202e" not in html
    assert html.count("&lt;img src=x onerror=alert(1)&gt;") >= 3
    assert html.count("</style>") == 1


# --- selections -----------------------------------------------------------------------------------


def test_the_table_of_selected_features():
    selection = quick(fixed_features=[3]).fit(*gates()).selection_
    found = rows(body(selection._repr_html_()))
    assert found[0] == ["feature", "step", "bits added", "p", "final p"]
    assert found[1] == ["x3", "fixed", f"{selection.bits_added['x3']:.3f}", "", ""]
    for line, feature in zip(found[2:], selection.features, strict=False):
        step = selection.inclusion_step(feature)
        number = str(selection.steps.index(step) + 1)
        p_values = (step.p_value, selection.p_values[feature])
        bits = f"{selection.bits_added[feature]:.3f}"
        assert line == [feature, number, bits, *(f"{value:.4f}" for value in p_values)]


def test_p_values_of_sequential_tests():
    selection = quick(n_permutations="auto").fit(*gates()).selection_
    assert rows(body(selection._repr_html_()))[1][3:] == ["&lt; 0.05", "&lt; 0.05"]


def test_no_selected_feature():
    with pytest.warns(UserWarning, match="No feature"):
        selection = quick().fit(*noise()).selection_
    html = body(selection._repr_html_())
    assert text(selection.empty_reason()) in html
    assert ["feature", "step", "bits added", "p", "final p"] not in rows(html)
    fixed = quick(fixed_features=[0]).fit(*noise()).selection_
    assert rows(body(fixed._repr_html_()))[1][:2] == ["x0", "fixed"]


@pytest.mark.parametrize("n_steps", [0, 1])
def test_an_interrupted_fit_has_its_note_and_no_remedies(n_steps):
    steps = quick(max_features=1).fit(*gates()).selection_.steps[:n_steps]
    html = Selection((), (), steps, is_complete=False)._repr_html_()
    assert "interrupted" in html
    assert "more samples" not in html


def test_untested_and_jointly_included_features():
    untested = quick(n_permutations=0, max_features=1).fit(*gates()).selection_
    assert rows(body(untested._repr_html_()))[1][3:] == ["", ""]
    pairs = quick(lookahead=2, n_permutations=99, estimator="discrete").fit(*xor()).selection_
    assert pairs.notes
    assert all(text(note) in pairs._repr_html_() for note in pairs.notes)


def wide(n_features):
    """Return a record of many features without a fit."""
    names = tuple(f"x{number}" for number in range(n_features))
    steps = tuple(
        Step(
            phase="forward",
            conditioning_set=names[:n],
            candidates=names[n:],
            values=(0.5,) * (n_features - n),
            scores=(0.5,) * (n_features - n),
            unit="bit",
            estimators=("ksg",) * (n_features - n),
            p_values=(0.01,) * (n_features - n),
            chosen=names[n],
            critical_value=0.1,
            p_value=0.01,
            alpha=0.05,
            surrogates="global",
            n_permutations=99,
            accepted=True,
        )
        for n in range(n_features)
    )
    return Selection(names, (), steps, dict.fromkeys(names, 0.01), settings=Settings(alpha=0.05))


def test_many_features_stay_short():
    html = body(wide(300)._repr_html_())
    assert "292 more" in html
    assert "280 more" in html
    assert len(rows(html)) < 30
    assert len(html) < 10_000
    X = np.column_stack([gates()[0], *[np.ones(200)] * 300])
    html = PIDSelector(n_permutations=19).fit(X, gates()[1])._repr_html_()
    assert "300 columns" in html
    assert "280 more" in html


# --- stability ------------------------------------------------------------------------------------


def test_stability():
    found = Stability(("a", ATTACK, "c"), ((ATTACK,), ("a", ATTACK), (ATTACK,), ()))
    html = body(found._repr_html_())
    cells = rows(html)
    assert cells[0][2:] == ["selected", "frequency", "95 % interval"]
    assert [line[0] for line in cells[1:]] == ["&lt;img src=x onerror=alert(1)&gt;", "a"]
    assert [line[2:4] for line in cells[1:]] == [["3", "0.75"], ["1", "0.25"]]
    assert widths(html) == [75.0, 25.0]
    assert all(text(note) in html for note in found.notes)
    assert "<img" not in html


def test_stability_without_a_feature_and_of_many():
    assert rows(body(Stability(("a",), ((), ()))._repr_html_())) == []
    names = tuple(f"x{number}" for number in range(300))
    html = body(Stability(names, (names, names[:150]))._repr_html_())
    assert "280 more" in html
    assert len(rows(html)) < 30


# --- explanations ---------------------------------------------------------------------------------


def feature(name, unique=None, shared=None, synergy=None, selected=True, **more):
    role = "strongly relevant" if selected else "weakly relevant"
    atoms = {"unique": unique, "shared": shared, "synergy": synergy}
    sums = {}
    if unique is not None:
        sums = {"information": unique + shared, "added": unique + synergy, "share": 0.25}
    said = {"p_value": 0.005, "sentence": f"{name} is {role}."}
    return FeatureExplanation(name, role, selected, **{**atoms, **sums, **said, **more})


def explanation(*features, **more):
    names = tuple(one.name for one in features if one.selected)
    shape = (len(names), len(names))
    values, is_all = np.zeros(shape), np.ones(shape, dtype=bool)
    pairs = Pairs(names, values + 0.125, values, np.eye(len(names)) > 0, is_all, "broja")
    return Explanation(features, dict.fromkeys(names, 0.5), pairs, 200, **more)


def test_added_information_comes_first_as_bars_and_numbers():
    found = explanation(
        feature("a", 0.5, 0.25, 0.25, intervals={"added": (0.5, 0.875)}, redundant_with=("b",)),
        feature("b", 0.25, 0.0, 0.125, is_lower_bound=True, overlaps_with=("a", ATTACK)),
        notes=("a note",),
        entropy=2.0,
    )
    html = body(found._repr_html_())
    assert "I(2 selected features; y) = 1.000 bits (share of H(y) 50 %), 200 samples." in html
    first, second = rows(html)[1:3]
    assert first[0] == "a"
    assert widths(first[1]) == [66.7, 33.3]
    assert first[2:] == [
        *("0.750", "0.500 to 0.875", "25 %", "0.005", "strongly relevant"),
        "redundant with b",
    ]
    assert "<li>a is strongly relevant.</li>" in html
    assert second[-1] == "overlap with a, &lt;img src=x onerror=alert(1)&gt;"
    assert widths(second[1]) == [33.3, 16.7]
    assert second[2:4] == ["≥ 0.375", ""]
    assert "<li>a note</li>" in html
    early = body(replace(found, is_sequential=True)._repr_html_())
    assert rows(early)[1][5] == "&lt; 0.05"


def test_pairs_of_more_than_two_features():
    three = [feature(name, 0.5, 0.25, 0.25) for name in "abc"]
    assert ["a", "b", "0.125", "overlap in what they predict", "0.000"] in rows(
        body(explanation(*three)._repr_html_())
    )
    assert "Pairwise" not in explanation(*three[:2])._repr_html_()


def test_unknown_and_infinite_values():
    unknown = replace(explanation(feature("a", p_value=None)), bits_added={"a": None})
    html = body(unknown._repr_html_())
    assert "= not estimable" in html
    assert rows(html)[1][2:6] == ["", "", "", ""]
    html = body(explanation(feature("a", float("inf"), 0.0, 0.5))._repr_html_())
    assert rows(html)[1][2] == "inf"
    assert widths(html) == [100.0, 100.0]


def test_without_a_feature_there_is_no_table():
    html = body(explanation()._repr_html_())
    assert rows(html) == []
    assert "No selected feature, 200 samples." in html


def test_one_feature_shows_its_marginal_and_its_added_information():
    one = feature("a", 0.25, 0.25, 0.5, intervals={"added": (0.5, 1.0)})
    html = body(one._repr_html_())
    assert "<p>a is strongly relevant.</p>" in html
    marginal, added = rows(html)[1:]
    assert widths(marginal[1]) == [33.3, 33.3]
    assert widths(added[1]) == [33.3, 66.7]
    assert marginal[2:] == ["0.500", "", "0.250", "0.250", ""]
    assert added[2:] == ["0.750", "0.500 to 1.000", "0.250", "", "0.500"]
    assert rows(body(feature("a")._repr_html_())) == []


def test_names_of_an_explanation_stay_text():
    found = explanation(feature(ATTACK, 0.5, 0.0, 0.0), feature("b", 0.5, 0.0, 0.0), target=ATTACK)
    for html in (found._repr_html_(), found[ATTACK]._repr_html_()):
        assert "<img" not in html
        assert "&lt;img src=x" in html


def test_an_explanation_of_many_features_stays_short():
    found = explanation(*(feature(f"x{n}", 0.1, 0.0, 0.0, selected=n < 3) for n in range(300)))
    html = body(found._repr_html_())
    assert "280 more" in html
    assert html.count("pidselect-bar") == MAX_ROWS


# --- decompositions -------------------------------------------------------------------------------


SWITCHES = np.random.default_rng(0).integers(0, 2, size=(2, 200))


def test_atoms_of_two_sources():
    rain, sprinkler = SWITCHES
    found = decompose([rain, sprinkler], rain | sprinkler, n_bootstrap=40, random_state=0)
    html = body(found._repr_html_())
    _, *lines = rows(html)
    assert [line[0] for line in lines] == ["{1}{2}", "{1}", "{2}", "{1,2}"]
    assert [line[2] for line in lines] == ["shared", "unique 1", "unique 2", "synergy"]
    assert [line[3] for line in lines] == [f"{value:.4f}" for value in found.atoms.values()]
    assert widths(lines[3][1]) == [100.0]


def test_tests_of_sources_have_a_table_of_their_own():
    rain, sprinkler = (
        pd.Series(x, name=n) for n, x in zip(("rain", ATTACK), SWITCHES, strict=True)
    )
    found = decompose([rain, sprinkler], rain | sprinkler, n_permutations=19, random_state=0)
    html = body(found._repr_html_())
    assert html.count("<table") == 2
    header, first, second = rows(html)[-3:]
    assert header == ["source", "I(x;y)", "p-value", "I(x;y|rest)", "p-value"]
    assert (first[0], first[2]) == ("rain", "0.0500")
    assert "<img" not in second[0]


@pytest.mark.parametrize("n_sources", [3, 4])
def test_atoms_of_more_sources(n_sources):
    pmf = np.random.default_rng(0).random((2,) * (n_sources + 1))
    html = body(decompose_distribution(pmf / pmf.sum(), measure="imin")._repr_html_())
    assert len(rows(html)) == 1 + 18
    assert '<span class="pidselect-key pidselect-plain" aria-hidden="true"></span>mixed' in html


def test_negative_atoms_have_no_length():
    atoms = {"{1}{2}": -0.5, "{1}": 1.0, "{2}": 0.5, "{1,2}": 0.0}
    html = body(Decomposition(atoms, 1.0, "sx", variables=(ATTACK, "b", "y"))._repr_html_())
    assert [line[3] for line in rows(html)[1:]] == ["-0.5000", "1.0000", "0.5000", "0.0000"]
    assert widths(html) == [100.0, 50.0]
    assert "<img" not in html
