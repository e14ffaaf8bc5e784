"""What a notebook shows of a fit."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pandas as pd
import pytest
from recording_callbacks import Interrupting
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from systems import gates, noise, quick, xor

from pidselect import PIDSelector
from pidselect.selection.callbacks import use_callback
from pidselect.selection.result import Selection, Step
from pidselect.selection.stability import Stability

ATTACK = "<img src=x onerror=alert(1)>"


def rows(html):
    """Return the texts of the cells of all rows of a form."""
    lines = re.findall(r"<tr>(.*?)</tr>", html)
    return [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", line) for line in lines]


def body(html):
    return html.partition("</style>")[2]


def wide(n_features):
    """A record of many features, without any fit."""
    names = tuple(f"x{number}" for number in range(n_features))
    steps = tuple(
        Step(
            "forward",
            names[:n],
            names[n:],
            (0.5,) * (n_features - n),
            (0.5,) * (n_features - n),
            "bit",
            ("ksg",) * (n_features - n),
            (0.01,) * (n_features - n),
            names[n],
            0.1,
            0.01,
            0.05,
            "global",
            99,
            True,
        )
        for n in range(n_features)
    )
    return Selection(names, (), steps, dict.fromkeys(names, 0.01), settings={"alpha": 0.05})


# --- the selector ---------------------------------------------------------------------------------


def test_a_fitted_selector_shows_its_selection():
    X, y = gates()
    selector = quick().fit(X, y)
    html = selector._repr_html_()
    assert selector._repr_mimebundle_() == {"text/plain": repr(selector), "text/html": html}
    names = ", ".join(selector.selection_.features)
    n_selected = len(selector.selection_.features)
    assert f"{n_selected} features were selected of 5 candidates: {names}." in html
    assert "PIDSelector(n_permutations=39, random_state=0)" in html


def test_a_selector_that_is_not_fitted_shows_what_scikit_learn_does():
    selector = quick()
    html = selector._repr_html_()
    assert "sk-top-container" in html
    assert "pidselect-card" not in html
    assert "sk-top-container" in selector._repr_mimebundle_()["text/html"]


@pytest.mark.parametrize("is_fitted", [False, True])
def test_text_if_scikit_learn_is_set_to_it(is_fitted):
    selector = quick().fit(*gates()) if is_fitted else quick()
    with config_context(display="text"):
        assert not hasattr(selector, "_repr_html_")
        assert selector._repr_mimebundle_() == {"text/plain": repr(selector)}
    assert hasattr(selector, "_repr_html_")


def test_a_pipeline_shows_its_diagram():
    X, y = gates()
    pipeline = make_pipeline(quick(), LinearRegression()).fit(X, y)
    html = pipeline._repr_html_()
    assert "sk-top-container" in html
    assert "PIDSelector" in html
    assert "LinearRegression" in html
    assert "pidselect-card" not in html


def test_copies_show_what_they_are():
    selector = quick().fit(*gates())
    html = selector._repr_html_()
    assert pickle.loads(pickle.dumps(selector))._repr_html_() == html
    assert "pidselect-card" not in clone(selector)._repr_html_()


def test_names_of_the_data_stay_text():
    X, y = gates()
    names = ["a", "b\u202e", ATTACK, "</style><script>alert(1)</script>", "d"]
    copy = pd.DataFrame({**dict(zip(names, X.T, strict=True)), f"{ATTACK}2": X[:, 0]})
    selector = quick(fixed_features=names[3]).fit(copy, y)
    html = selector._repr_html_()
    assert ATTACK in selector.selection_.features
    assert selector.selection_.duplicates == {f"{ATTACK}2": "a"}
    assert "<img" not in html
    assert "<script" not in html
    assert "\u202e" not in html
    assert html.count("&lt;img src=x onerror=alert(1)&gt;") >= 3
    assert html.count("</style>") == 1


# --- selections -----------------------------------------------------------------------------------


def test_a_table_of_what_was_selected():
    X, y = gates()
    selection = quick(fixed_features=[3]).fit(X, y).selection_
    table = rows(body(selection._repr_html_()))
    assert table[0] == ["feature", "step", "bits", "p", "final p"]
    assert table[1] == ["x3", "fixed", "", "", ""]
    for line, feature in zip(table[2:], selection.features, strict=False):
        step = selection.inclusion_step(feature)
        final = selection.p_values[feature]
        number = str(selection.steps.index(step) + 1)
        expected = [f"{step.value:.4f}", f"{step.p_value:.4f}", f"{final:.4f}"]
        assert line == [feature, number, *expected]


def test_one_feature():
    selection = quick(max_features=1).fit(*gates()).selection_
    assert "1 feature was selected of 5 candidates: x2." in selection._repr_html_()


def test_nothing_selected():
    with pytest.warns(UserWarning, match="No feature was selected"):
        selection = quick().fit(*noise()).selection_
    html = body(selection._repr_html_())
    assert "<strong>No feature was selected.</strong>" in html
    assert html.count("No feature was selected") == 1
    assert "remedies" in html
    none = Selection((), (), ())._repr_html_()
    assert "There was no candidate" in none
    assert ["feature", "step", "bits", "p", "final p"] not in rows(html)


def test_nothing_beyond_what_was_kept():
    selection = quick(fixed_features=[0]).fit(*noise()).selection_
    html = body(selection._repr_html_())
    assert "No feature was selected beyond the fixed features." in html
    assert ["x0", "fixed", "", "", ""] in rows(html)


def test_no_tests():
    selection = quick(n_permutations=0, max_features=1).fit(*gates()).selection_
    assert rows(body(selection._repr_html_()))[1][3:] == ["", ""]


def test_remarks_are_there():
    pairs = quick(lookahead=2, n_permutations=79, estimator="discrete").fit(*xor()).selection_
    assert "x0 and x1 were included jointly" in pairs._repr_html_()
    early = quick(n_permutations="auto").fit(*gates()).selection_
    assert "Sequential tests" in early._repr_html_()


def test_a_fit_that_was_stopped():
    watcher = Interrupting("step", 1)
    with pytest.raises(KeyboardInterrupt), use_callback(watcher):
        quick().fit(*gates())
    html = watcher.all("interrupt")[0]._repr_html_()
    assert "1 feature was selected of 5 candidates: x2." in html
    assert "interrupted" in html


@pytest.mark.parametrize("n_steps", [0, 1])
def test_a_fit_that_was_stopped_before_anything_was_selected(n_steps):
    steps = quick(max_features=1).fit(*gates()).selection_.steps[:n_steps]
    partial = Selection((), (), steps, is_complete=False)
    html = partial._repr_html_()
    assert "interrupted" in html
    assert "remedies" not in html


def test_many_features_stay_short():
    html = body(wide(300)._repr_html_())
    assert "300 features were selected of 300 candidates: x0, x1," in html
    assert "and 292 more." in html
    assert "... and 280 more, see .to_frame()" in html
    assert len(rows(html)) < 30
    assert len(html) < 10_000


def test_all_forms_are_for_reading_only():
    """The same form each time, and no word of it changes what it is about."""
    selection = quick().fit(*gates()).selection_
    assert selection._repr_html_() == selection._repr_html_()
    assert "script" not in selection._repr_html_()


def test_names_are_quoted_in_print_where_they_would_not_be_seen():
    X, y = gates()
    table = pd.DataFrame(dict(zip(["\x1b[2Jx", "a", "b\n", "c", "d"], X.T, strict=True)))
    selection = quick(fixed_features="\x1b[2Jx").fit(table, y).selection_
    assert "b\n" in selection.features
    printed = str(selection) + "".join(map(str, selection.steps))
    assert "\x1b" not in printed
    assert "'\\x1b[2Jx'" in printed
    assert "'b\\n'" in printed


# --- stability ------------------------------------------------------------------------------------


def test_stability():
    found = Stability(("a", ATTACK, "c"), ((ATTACK,), ("a", ATTACK), (ATTACK,), ()))
    html = body(found._repr_html_())
    table = rows(html)
    assert table[0] == ["feature", "share", "selected", "frequency", "95 % interval"]
    assert [line[0] for line in table[1:]] == ["&lt;img src=x onerror=alert(1)&gt;", "a"]
    assert [line[2:4] for line in table[1:]] == [["3", "0.75"], ["1", "0.25"]]
    assert re.findall(r"width:([\d.]+)%", html) == ["75.0", "25.0"]
    assert "4 subsamples of 50 % of the rows" in html
    assert "Never selected: 1 of 3 features." in html
    assert "Empty selections: 1 of 4." in html
    assert "<img" not in html


def test_stability_of_nothing():
    html = body(Stability(("a",), ((), ()))._repr_html_())
    assert "no feature." in html
    assert rows(html) == []


def test_stability_of_many_features_stays_short():
    names = tuple(f"x{number}" for number in range(300))
    html = body(Stability(names, (names, names[:150]))._repr_html_())
    assert "... and 280 more" in html
    assert len(rows(html)) < 30


def test_a_wide_table_of_left_out_columns_stays_short():
    X = np.column_stack([gates()[0], *[np.ones(200)] * 300])
    html = PIDSelector(n_permutations=19).fit(X, gates()[1])._repr_html_()
    assert "300 columns left out" in html
    assert "... and 280 more" in html
