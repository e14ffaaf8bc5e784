"""The report: it shows the numbers of its summary, is self-contained, accessible and safe."""

import base64
import hashlib
import json
import re
import sys
from itertools import pairwise

import hostile
import numpy as np
import pandas as pd
import pytest
from html_reader import HTMLReader
from jinja2 import UndefinedError

from pidselect import PIDSelector, datasets, write_report
from pidselect.data.messages import shown
from pidselect.report import page as report_page
from pidselect.report.page import MAX_NAMES, _bars, _heat_map, _matrices, render_report, save
from pidselect.report.summary import FORMAT, MAX_CANDIDATES, MAX_PAIRED, summarise


@pytest.fixture(scope="module")
def page() -> str:
    return render_report(hostile.summary())


@pytest.fixture(scope="module")
def reader(page) -> HTMLReader:
    return HTMLReader(page)


@pytest.fixture
def no_picture(monkeypatch):
    """Omit the drawing, which takes a while."""
    monkeypatch.setattr(report_page, "_picture", lambda summary: None)


def plain(n_features: int = 5, n_selected: int = 2, **more):
    names = hostile.plain_names(n_features)
    return {**hostile.summary(names, n_selected), **more}


# ------------------------------------------------------------------------------------- structure


def test_the_same_summary_gives_the_same_page_also_after_json(no_picture):
    summary = hostile.summary()
    assert render_report(summary) == render_report(json.loads(json.dumps(summary)))


def test_ids_are_unique_and_every_link_leads_somewhere(reader):
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for attributes in reader.all("a")]
    assert "#feature-1" in links
    assert {link.removeprefix("#") for link in links} <= set(ids)


def test_nothing_is_fetched_and_one_script_may_run(page, reader):
    for tag, attributes in reader.elements:
        for name in ("src", "href", "srcset", "data", "action"):
            if tag != "a" and name in attributes:
                assert attributes[name].startswith(("#", "data:"))
    (policy,) = [meta["content"] for meta in reader.all("meta") if "http-equiv" in meta]
    (script,) = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == (
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; "
        f"img-src data:; script-src 'sha256-{digest}'"
    )


def test_headings_go_down_one_by_one(reader):
    levels = [int(tag[1]) for tag, _ in reader.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))


def test_tables_have_captions_headers_have_scopes_and_controls_have_labels(reader):
    assert len(reader.all("table")) == len(reader.all("caption"))
    assert all(attributes.get("scope") for attributes in reader.all("th"))
    labelled = {attributes["for"] for attributes in reader.all("label")}
    assert labelled == {a["id"] for a in (*reader.all("input"), *reader.all("select"))}
    assert [svg["role"] for svg in reader.all("svg")] == ["img", "img"]


def test_controls_are_hidden_until_the_script_shows_them(reader):
    assert "hidden" in reader.all("button")[0]
    (controls,) = [a for a in reader.all("div") if a.get("class") == "controls"]
    assert "hidden" in controls
    assert len(reader.all("button")) == 1  # headers become buttons by the script


# -------------------------------------------------------------------------------------- contents


def test_the_selected_features_come_first(no_picture):
    summary = plain()
    text = HTMLReader(render_report(summary)).text
    assert " ".join(summary["conclusions"]) in text.replace("\N{NO-BREAK SPACE}", " ")
    assert "1 column 0 continuous 0.4" in text
    sections = ("Selected features", "Significance", "Selection path", "All features")
    places = [text.index(title) for title in (*sections, "Pairwise PID", "Reproduce this result")]
    assert places[:4] == sorted(places[:4])


def test_every_feature_has_a_row_with_its_role_and_values(no_picture):
    summary = plain(9, 2)
    page = HTMLReader(render_report(summary))
    rows = [row for row in page.all("tr") if row.get("id", "").startswith("feature-")]
    assert [row["data-role"] for row in rows] == [f["role"] for f in summary["features"]]
    sortable = [th for th in page.all("th") if "data-sort" in th]
    assert len(sortable) == 11
    assert "continuous strongly relevant 0.225 0.174 0.328 0.553 0.399" in page.text


def test_a_negative_value_is_shown_but_not_drawn():
    row = {"unique": -0.1, "shared": 0.3, "synergy": 0.1, "order": 1}
    (bar,) = _bars([row])
    assert bar["bar"] == [("shared", "75.0"), ("synergy", "25.0")]
    (unknown,) = _bars([{**row, "unique": None, "shared": None, "synergy": None}])
    assert (unknown["bar"], unknown["total"]) == ([], None)
    (endless,) = _bars([{**row, "unique": "inf"}])
    assert [part for part, _ in endless["bar"]] == ["shared", "synergy"]


def test_bounds_are_marked(no_picture):
    summary = plain()
    for feature in summary["features"]:
        feature["has_bounds"] = True
    assert "≥ 0.225 ≤ 0.174 ≤ 0.328 0.553" in HTMLReader(render_report(summary)).text


def test_matrices_are_halves_with_shades(no_picture):
    pairs = {
        "names": ["a", "b"],
        "n_features": 2,
        "method": "broja",
        "redundancy": [[0.4, -0.1], [-0.1, 0.2]],
        "synergy": [[0.0, 0.3], [0.3, 0.0]],
        "estimable": [[True, True], [True, True]],
    }
    matrices = _matrices(pairs)
    texts = [[cell["text"] for cell in row] for row in matrices["synergy"]]
    assert texts == [["", ""], ["0.300", ""]]
    cells = [[(c["text"], c["level"]) for c in row] for row in matrices["redundancy"]]
    assert cells == [[("0.400", 45), ("", 0)], [("−0.100", 0), ("0.200", 22)]]
    pairs["estimable"] = [[True, False], [False, True]]
    assert _matrices(pairs)["synergy"][1][0]["text"] == "–"


def test_heat_maps_have_a_number_and_a_colour_in_each_cell(no_picture):
    table = {
        "features": ["a", "b"],
        "levels": [["0", "1"], ["no", "yes"]],
        "counts": [[40, 2], [1200, 0]],
        "values": [[-0.25, 0.9], [0.5, None]],
        "overall": 0.25,
        "range": [-0.25, 0.5],
        "quantity": "mean of y",
        "digits": 2,
        "sentence": "Jointly included: a and b.",
    }
    cells = _heat_map(table)["cells"]
    assert [cell.get("side") for cell in cells] == ["below", "above", "above", None]
    # relative to the largest difference of the range; beyond it the colour is the strongest
    assert [cell.get("level") for cell in cells] == ["0.45", "0.45", "0.23", None]
    page = HTMLReader(render_report(plain(joint=[table])))
    for words in ("Jointly included: a and b.", "−0.25 40 rows", "1,200 rows", "yes", "mean of y"):
        assert words in page.text
    assert page.words.count("empty") == 1
    assert [rect["class"] for rect in page.all("rect") if "class" in rect][-1] == "empty"
    assert {"href": "#joint"} in page.all("a")


def test_without_jointly_included_features_there_is_no_heat_map(no_picture):
    summary = plain(joint=[])
    assert "Jointly included" not in HTMLReader(render_report(summary)).text
    del summary["joint"]  # as written by an earlier version
    render_report(summary)


def test_many_features_are_cut_where_they_would_fill_the_page(no_picture):
    page = HTMLReader(render_report(plain(120, MAX_PAIRED + 5)))
    assert f"the strongest {MAX_CANDIDATES} shown" in page.text
    assert f"These are the first {MAX_PAIRED} of {MAX_PAIRED + 5} selected features" in page.text
    assert f"{120 - MAX_NAMES} more" in page.text
    assert len([row for row in page.all("tr") if row.get("id")]) == 120


def test_interrupted_and_empty_selections(no_picture):
    names = hostile.plain_names(4)
    stopped = hostile.selection(names, 1, is_complete=False)
    text = HTMLReader(render_report(summarise(stopped, metadata=hostile.metadata(names)))).text
    assert "Incomplete" in text
    assert "interrupted: column 0" in text
    nothing = hostile.selection(names, 0)
    text = HTMLReader(render_report(summarise(nothing, metadata=hostile.metadata(names)))).text
    assert "No feature selected from 4 columns" in text
    assert "more samples" in text
    assert "Incomplete" not in text


def test_without_an_explanation_there_are_roles_and_no_parts(no_picture):
    names = hostile.plain_names(4)
    summary = summarise(hostile.selection(names, 2), metadata=hostile.metadata(names))
    page = HTMLReader(render_report(summary))
    assert "PID was not computed" in page.text
    assert "Synergy" not in page.text
    assert len([row for row in page.all("tr") if row.get("id")]) == 4


def test_atoms_that_are_not_estimable_are_omitted(no_picture):
    summary = plain()
    unknown = dict.fromkeys(("unique", "shared", "synergy", "relevance", "information"))
    features = [{**feature, **unknown} for feature in summary["features"]]
    page = HTMLReader(render_report({**summary, "features": features, "has_atoms": False}))
    assert "PID is not estimable" in page.text
    assert "Unique" not in page.text


def test_settings_versions_and_the_command_are_there(no_picture):
    text = HTMLReader(render_report(plain())).text
    for words in (
        "Seed 7 :",
        "estimator ksg-rank: KSG(scale='rank'); copula: Copula()",
        "n_groups none",
        "--seed 7",
        "scikit-learn",
    ):
        assert words in text


def test_without_matplotlib_the_table_stands_alone(monkeypatch):
    monkeypatch.setitem(sys.modules, "pidselect.report.displays", None)
    page = HTMLReader(render_report(plain(joint=[])))
    assert page.all("svg") == []
    assert any(table.get("class") == "steps" for table in page.all("table"))


# ---------------------------------------------------------------------------------------- safety


def test_hostile_names_stay_text(page, reader):
    assert reader.all("img") == []
    assert len(reader.all("script")) == len(reader.all("style")) == 1
    assert not any(name.startswith("on") for _, found in reader.elements for name in found)
    squeezed = reader.text.replace(" ", "")  # names may be broken where words meet
    for name in hostile.NAMES[:12]:
        assert shown(name).replace(" ", "") in squeezed
    assert "49" not in reader.words
    assert reader.text.count(hostile.IMAGE) >= 8


def test_the_page_can_be_written_whatever_names_hold(page):
    assert page.encode().decode() == page
    assert not re.search("[\x00-\x08\u202e\ud800-\udfff]", page)


def test_a_missing_key_is_an_error(no_picture):
    summary = plain()
    del summary["features"][0]["feature_type"]
    with pytest.raises(UndefinedError, match="feature_type"):
        render_report(summary)


def test_a_summary_of_another_format_is_refused():
    for other in (None, FORMAT + 1):
        with pytest.raises(ValueError, match=rf"format {other}.*format {FORMAT}"):
            render_report({**plain(), "format": other})


@pytest.mark.parametrize("text", ["</title><script>x()</script>", "\"' onload=x() '\"", "{{7*7}}"])
def test_no_text_of_a_summary_becomes_markup(text, no_picture):
    """Every text is replaced by a hostile one, except those that determine the layout."""
    fixed = ("phase", "unit", "created", "method", "selection", "bits", "score", "critical_value")
    page, bare = (
        HTMLReader(render_report(_replaced(plain(), words, fixed))) for words in (text, "words")
    )
    found, expected = (
        [(tag, *sorted(attributes)) for tag, attributes in one.elements if tag != "wbr"]
        for one in (page, bare)
    )
    assert found == expected
    assert "49" not in page.words
    assert page.text.count(text.split()[0]) > 50


def _replaced(value, text, fixed):
    if isinstance(value, dict):
        return {k: v if k in fixed else _replaced(v, text, fixed) for k, v in value.items()}
    if isinstance(value, list):
        return [_replaced(item, text, fixed) for item in value]
    return text if isinstance(value, str) else value


# ---------------------------------------------------------------------------------------- writing


def test_a_report_is_written_for_a_fitted_selector(tmp_path, no_picture):
    toy = datasets.toy(120, random_state=1)
    selector = PIDSelector(n_permutations=20, max_features=1).fit(toy.X, toy.y)
    path = write_report(selector, toy.X, toy.y, tmp_path / "new" / "r.html", title="<Toy>")
    text = HTMLReader(path.read_text("utf-8")).text
    assert text.startswith("<Toy>")
    seed = selector.selection_.settings.seed
    assert "PIDSelector(max_features=1, n_permutations=20," in text
    assert f"random_state={seed}" in text
    assert [file.name for file in path.parent.iterdir()] == ["r.html"]


def test_a_report_shows_the_target_over_a_jointly_included_pair(tmp_path, no_picture):
    X = np.random.default_rng(0).integers(0, 2, size=(200, 3))
    y = pd.Series(X[:, 0] ^ X[:, 1], name="lamp")
    selector = PIDSelector(lookahead=2, n_permutations=99, random_state=0).fit(X, y)
    text = HTMLReader(write_report(selector, X, y, tmp_path / "r.html").read_text("utf-8")).text
    assert "Jointly included: x0 and x1. Neither is significant alone" in text
    assert "share of lamp = 1 ranges from 0.00 to 1.00" in text


def test_a_known_explanation_is_not_computed_again(tmp_path, no_picture, monkeypatch):
    toy = datasets.toy(120, random_state=1)
    selector = PIDSelector(n_permutations=20, max_features=1, random_state=0).fit(toy.X, toy.y)
    explanation = selector.explain(toy.X, toy.y)
    monkeypatch.delattr(PIDSelector, "explain")
    path = write_report(selector, toy.X, toy.y, tmp_path / "r.html", explanation=explanation)
    text = HTMLReader(path.read_text("utf-8")).text
    assert explanation["x0"].sentence in text


def test_a_report_is_html(tmp_path):
    selector = PIDSelector(estimator="gaussian", n_permutations=20, random_state=0)
    X = np.random.default_rng(0).normal(size=(60, 2))
    selector.fit(X, X[:, 0])
    with pytest.raises(ValueError, match=r"report\.pdf.*\.html"):
        write_report(selector, X, X[:, 0], tmp_path / "report.pdf")


def test_a_file_is_replaced_at_once_or_left_as_it_was(tmp_path, monkeypatch):
    path = tmp_path / "r.html"
    save("old", path)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        save("new", path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(IsADirectoryError, match="folder"):
        save("new", tmp_path)


def test_groups_and_held_out_rows(tmp_path, no_picture):
    toy = datasets.toy(160, random_state=1)
    groups = np.repeat(np.arange(4), 20)
    selector = PIDSelector(n_permutations=20, max_features=1, random_state=0)
    selector.fit(toy.X[:80], toy.y[:80], groups)
    path = write_report(selector, toy.X[:80], toy.y[:80], tmp_path / "r.html", groups=groups)
    text = HTMLReader(path.read_text("utf-8")).text
    assert "selector.fit(X, y, groups)" in text
    write_report(selector, toy.X[80:140], toy.y[80:140], path)
    text = HTMLReader(path.read_text("utf-8")).text
    assert "80 rows, 3 columns." in text
    assert "from 60 rows" in text


def test_a_target_without_a_name(tmp_path, no_picture):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": rng.normal(size=80)})
    y = (X["a"] + 0.1 * rng.normal(size=80)).rename("target")
    selector = PIDSelector(n_permutations=20, random_state=0).fit(X, y)
    text = HTMLReader(write_report(selector, X, y, tmp_path / "r.html").read_text("utf-8")).text
    assert text.startswith("Feature selection report: the target")
    assert "with the target" in text


def test_rows_left_out_are_counted(tmp_path, no_picture):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    X[-3:, 1] = np.nan
    selector = PIDSelector(n_permutations=20, missing="drop", random_state=0).fit(X, y)
    page = write_report(selector, X, y, tmp_path / "r.html").read_text("utf-8")
    assert "3 of 60 rows" in HTMLReader(page).text
