"""The report: it shows the numbers of its summary, is self-contained, accessible and safe."""

import base64
import hashlib
import json
import re
from collections import Counter
from itertools import pairwise

import hostile
import numpy as np
import pandas as pd
import pytest
from html_reader import HTMLReader

from pidselect import PIDSelector, datasets, write_report
from pidselect.data.messages import shown
from pidselect.report.page import MAX_NAMES, render_report, save
from pidselect.report.pictures import heat_map, importance_bars, strips, target_plot
from pidselect.report.summary import FORMAT, MAX_CANDIDATES, summarise
from pidselect.report.tables import TableColumn, make_table


@pytest.fixture(scope="module")
def page() -> str:
    return render_report(hostile.summary())


@pytest.fixture(scope="module")
def reader(page) -> HTMLReader:
    return HTMLReader(page)


def plain(n_features: int = 5, n_selected: int = 2, **more):
    names = hostile.plain_names(n_features)
    return {**hostile.summary(names, n_selected), **more}


# ------------------------------------------------------------------------------------- structure


def test_the_same_summary_gives_the_same_page_also_after_json():
    summary = hostile.summary()
    assert render_report(summary) == render_report(json.loads(json.dumps(summary)))


def test_ids_are_unique_and_every_link_leads_somewhere(reader):
    ids = [attributes["id"] for _, attributes in reader.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = [attributes["href"] for attributes in reader.all("a")]
    assert "#plot-1" in links
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
    # Pictures repeat what the page says in words.
    pictures = [svg for svg in reader.all("svg") if "class" in svg]
    assert all(svg["aria-hidden"] == "true" for svg in pictures)


# -------------------------------------------------------------------------------------- contents


def text_of(summary) -> str:
    return HTMLReader(render_report(summary)).text.replace("\N{NO-BREAK SPACE}", " ")


def test_numbers_add_up_to_the_last_digit_shown():
    """Those of the table of all features, as a reader would add them."""
    summary = plain(9, 3)
    page = HTMLReader(render_report(summary))
    for feature in summary["features"]:
        row = {key: f"{feature[key]:.3f}" for key in feature["intervals"]}
        if row:
            words = [
                f"{row[key]} {low:.3f}–{high:.3f}"
                for key in ("added", "unique", "synergy", "shared", "information")
                for low, high in [feature["intervals"][key]]
            ]
            assert " ".join(words) in page.text
            thousandths = {key: round(1000 * float(value)) for key, value in row.items()}
            assert thousandths["unique"] + thousandths["shared"] == thousandths["information"]
            assert thousandths["unique"] + thousandths["synergy"] == thousandths["added"]


def test_every_feature_has_a_row_with_its_role():
    summary = plain(9, 2)
    page = HTMLReader(render_report(summary))
    rows = [row for row in page.all("tr") if row.get("id", "").startswith("feature-")]
    assert [row["data-role"] for row in rows] == [f["role"] for f in summary["features"]]
    sortable = [th for th in page.all("th") if "data-sort" in th]
    assert len(sortable) == 12


def test_no_sentence_stands_twice(reader):
    text = text_of(plain(9, 3))
    for feature in plain(9, 3)["features"]:
        assert text.count(feature["sentence"]) == feature["selected"]  # below its plot
        if len(feature["short"]) > 30:
            assert text.count(feature["short"]) == 1
    sentences = Counter(re.findall(r"[A-Z][^.]{30,}\.(?!\d)", text))
    twice = [sentence for sentence, n in sentences.items() if n > 1]
    assert [sentence for sentence in twice if not sentence.startswith("In all rows")] == []


def test_the_chart_has_a_bar_and_a_whisker_for_each_feature():
    summary = plain(9, 2)
    first = summary["features"][0]
    bars = importance_bars(summary["features"], summary)
    (_, start, unique), (_, second, synergy) = bars[0]["parts"]
    assert start == 0.0
    assert second == unique
    assert unique / synergy == pytest.approx(first["unique"] / first["synergy"], rel=1e-2)
    longest = max(bar["intervals"]["added"][1] for bar in bars)
    whisker = [100 * end / longest for end in first["intervals"]["added"]]
    assert bars[0]["whisker"] == pytest.approx(whisker, abs=0.01)
    assert [bar["selected"] for bar in bars] == [True, True, *[False] * (len(bars) - 2)]
    text = text_of(summary)
    assert f"{first['added']:.3f} ({100 * first['share']:.0f} %) p = 0.005" in text
    assert "Not selected: what these would add is not significant" in text
    assert "p = 0.400; redundant with column 0" in text
    summary["features"][-1] |= {"role": "adds to the selected set", "p_value": 0.001, "added": 0.5}
    text = text_of(summary)
    assert "Not selected: what these would add column" in text
    assert "not significant, p = 0.400; redundant with column 0" in text


def test_long_and_infinite_bars_stay_within_the_chart():
    summary = plain(40, 35)
    features = summary["features"]
    bars = importance_bars(features, summary)
    assert [bar["selected"] for bar in bars] == [True] * 30 + [False] * 2
    features[0] |= {"unique": "inf", "added": "inf", "intervals": {"added": [0.1, "inf"]}}
    for bar in importance_bars(features, summary):
        assert all(0 <= start <= start + width <= 100.01 for _, start, width in bar["parts"])
        assert all(0 <= end <= 100 for end in bar["whisker"])
    features[1] |= dict.fromkeys(("unique", "added", "synergy", "share", "p_value"))
    features[1]["intervals"] = {}
    assert importance_bars(features, summary)[1]["whisker"] is None
    render_report(plain(40, 35, features=features))


def test_lower_bounds_and_values_of_the_fit_are_marked():
    summary = plain()
    for feature in summary["features"]:
        feature["is_lower_bound"] = True
    assert f"≥ {summary['features'][0]['synergy']:.3f}" in text_of(summary)
    assert "≥: at least" in text_of(summary)
    assert "In the fit" not in text_of(summary)
    for feature in summary["features"]:
        feature["added_in_fit"] = 0.987
    text = text_of(summary)
    assert "Adds on these rows" in text
    assert "adds in the fit 0.987" in text  # equal in all rows, said once


def test_equal_columns_are_said_once():
    names = [{"text": "a"}, {"text": "b"}]
    equal, other = [{"text": "0.010"}] * 2, [{"text": "1"}, {"text": "2"}]
    unknown = [{"text": "–"}] * 2
    columns = [
        TableColumn("Feature", "name", names),
        TableColumn("p", "number", equal),
        TableColumn("Bits", "number", other),
        TableColumn("Frequency", "number", unknown),
    ]
    table = make_table(columns)
    assert [column.title for column in table["columns"]] == ["Feature", "Bits"]
    assert table["same"] == "p 0.010"
    assert table["rows"][1] == ({"text": "b"}, {"text": "2"})
    one = [TableColumn(c.title, c.kind, c.cells[:1]) for c in columns]
    assert [column.title for column in make_table(one)["columns"]] == ["Feature", "p", "Bits"]
    text = text_of(plain())
    assert "In all rows: p 0.005, role strongly relevant" in text
    assert "permutations 200" in text


def test_jointly_included_features_name_each_other():
    summary = plain()
    summary["selected"][0]["jointly_included"] = ["column 1"]
    assert "column 0 included jointly with column 1" in text_of(summary)


HEAT = {
    "features": ["a", "b"],
    "levels": [["0", "1"], ["no", "yes"]],
    "counts": [[40, 2], [1200, 0]],
    "values": [[-0.25, 0.9], [0.5, None]],
    "overall": 0.25,
    "range": [-0.25, 0.5],
    "quantity": "mean of y",
    "digits": 2,
    "within": None,
    "sentence": "Jointly included: a and b.",
}


def test_heat_maps_have_a_number_and_a_colour_in_each_cell():
    cells = [cell for _, row in heat_map(HEAT)["rows"] for cell in row]
    assert [cell.get("side") for cell in cells] == ["below", "above", "above", None]
    # relative to the largest difference of the range; beyond it the colour is the strongest
    assert [cell.get("level") for cell in cells] == [45, 45, 22, None]
    page = HTMLReader(render_report(plain(joint=[HEAT])))
    for words in ("Jointly included: a and b.", "−0.25 40 rows", "1,200 rows", "yes", "−0.25 0.50"):
        assert words in page.text
    assert page.words.count("no row") == 1
    assert {"href": "#joint"} in page.all("a")
    within = {**HEAT, "within": ["c", "high"], "sentence": ""}
    assert "c = high : a (rows) and b (columns)" in text_of(plain(joint=[HEAT, within]))


def test_lines_and_rows_of_the_target_against_features():
    line = {
        **{"feature": "column 0", "levels": ["< 1", "≥ 1", "missing"], "counts": [10, 20, 5]},
        **{"values": [[1.0], [3.0], [2.0]], "errors": [0.0, 1.0, 0.5], "classes": []},
        **{"quantity": "mean of y", "overall": [2.0]},
        **{"positions": [0.5, 2.5, None], "ends": ["0.5", "2.5"]},
    }
    rows = {**line, "feature": "column 1", "positions": None, "ends": None}
    drawn, other = (target_plot(one, [line, rows]) for one in (line, rows))
    assert drawn["line"]["dots"] == [(0.0, 100.0), (100.0, 33.33)]
    assert drawn["line"]["band"] == "0.0,100.00 100.0,0.00 100.0,66.67 0.0,100.00"
    assert [row["label"] for row in drawn["line"]["others"]] == ["missing"]
    assert drawn["scale"] == ["1.0", "4.0"]
    assert [row["dot"] for row in other["rows"]] == [0.0, 66.67, 33.33]
    assert other["rows"][1]["whisker"] == (33.33, 100.0)
    summary = plain(profiles=[rows, line])
    text = text_of(summary)
    assert "Mean of y at each level of a feature" in text
    assert text.index("column 0 4.0 1.0 0.5 2.5") < text.index("< 1 1.0 10 rows")  # as the table


def test_bars_of_class_shares():
    shares = {
        **{"feature": "column 0", "levels": ["x"], "counts": [10], "values": [[0.25, 0.5, 0.25]]},
        **{"errors": None, "classes": ["a", "b", "c"], "quantity": "shares of the classes of y"},
        **{"overall": [0.2, 0.4, 0.4], "positions": None, "ends": None},
    }
    (row,) = target_plot(shares, [shares])["rows"]
    assert row["parts"] == [(0, 0.0, 25.0), (1, 25.0, 50.0), (2, 75.0, 25.0)]
    two = {**shares, "classes": ["b"], "values": [[0.75]], "errors": [0.5], "overall": [0.5]}
    (row,) = target_plot(two, [two])["rows"]
    assert (row["parts"], row["text"]) == ([(0, 0.0, 75.0)], "75 %")
    assert row["whisker"] == (25.0, 100.0)  # shares end at 1
    render_report(plain(profiles=[shares]))
    render_report(plain(profiles=[two]))


def test_scores_of_the_steps_have_one_scale():
    summary = plain(5, 2)
    found = strips(summary["steps"])
    scores = [row["score"] for step in summary["steps"] for row in step["candidates"]]
    assert max(scores) == summary["steps"][1]["score"]
    assert found[1]["chosen"] == 98.0
    assert min(x for strip in found for x in strip["dots"]) == 2.0
    assert len({strip["critical"] for strip in found}) == 1
    assert [len(strip["dots"]) for strip in found] == [4, 3, 2, 1]
    summary["steps"][1]["unit"] = "bit"  # then bits are compared, without a critical value
    assert [strip["critical"] for strip in strips(summary["steps"])] == [None] * 4
    summary["steps"][0] |= {"score": "inf"}
    summary["steps"][0]["candidates"][0]["score"] = "inf"
    render_report(summary)


def test_many_features_are_cut_where_they_would_fill_the_page():
    page = HTMLReader(render_report(plain(120, 35)))
    assert f"the strongest {MAX_CANDIDATES} shown" in page.text
    assert f"{120 - MAX_NAMES} more" in page.text
    assert len([row for row in page.all("tr") if row.get("id")]) == 120


def test_without_an_explanation_there_are_roles_and_no_parts():
    names = hostile.plain_names(4)
    summary = summarise(hostile.selection(names, 2), metadata=hostile.metadata(names))
    page = HTMLReader(render_report(summary))
    assert "PID was not computed" in page.text
    assert "Synergy" not in page.text
    assert "Information that each feature adds" not in page.text
    assert len([row for row in page.all("tr") if row.get("id")]) == 4
    assert page.text.count(summary["features"][0]["sentence"]) == 1


def test_values_that_are_not_estimable_have_no_columns():
    summary = plain()
    unknown = dict.fromkeys(("added", "unique", "shared", "synergy", "information", "share"))
    features = [{**feature, **unknown, "intervals": {}} for feature in summary["features"]]
    page = HTMLReader(render_report({**summary, "features": features}))
    titles = [th for th in page.all("th") if "data-sort" in th]
    assert len(titles) == 12 - 5


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
    titled = render_report(plain(title="half \ud83d of\x00 \u202ea pair"))
    assert "half \ufffd of\ufffd \ufffda pair" in titled
    for one in (page, titled):
        assert one.encode().decode() == one
        assert not re.search("[\x00-\x08\u202e\ud800-\udfff]", one)


def test_a_missing_key_is_an_error():
    summary = plain()
    del summary["features"][0]["feature_type"]
    with pytest.raises(KeyError, match="feature_type"):
        render_report(summary)


def test_a_summary_of_another_format_is_refused():
    for other in (None, FORMAT + 1):
        with pytest.raises(ValueError, match=rf"format {other}.*format {FORMAT}"):
            render_report({**plain(), "format": other})


@pytest.mark.parametrize("text", ["</title><script>x()</script>", "\"' onload=x() '\"", "{{7*7}}"])
def test_no_text_of_a_summary_becomes_markup(text):
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


def test_a_report_is_written_for_a_fitted_selector(tmp_path):
    toy = datasets.toy(120, random_state=1)
    selector = PIDSelector(max_features=1).fit(toy.X, toy.y)
    path = write_report(selector, toy.X, toy.y, tmp_path / "new" / "r.html", title="<Toy>")
    text = HTMLReader(path.read_text("utf-8")).text
    assert text.startswith("<Toy>")
    seed = selector.selection_.settings.seed
    assert "PIDSelector(max_features=1," in text
    assert f"random_state={seed}" in text
    assert [file.name for file in path.parent.iterdir()] == ["r.html"]


def test_a_report_shows_the_target_over_a_jointly_included_pair(tmp_path):
    X = np.random.default_rng(0).integers(0, 2, size=(200, 3))
    y = pd.Series(X[:, 0] ^ X[:, 1], name="lamp")
    selector = PIDSelector(lookahead=2, random_state=0).fit(X, y)
    text = HTMLReader(write_report(selector, X, y, tmp_path / "r.html").read_text("utf-8")).text
    assert "Jointly included: x0 and x1. Neither is significant alone." in text
    assert "The share of lamp = 1 ranges from 0.00 to 1.00" in text


def test_an_additive_cause_is_no_pair(tmp_path):
    """Its information is synergistic, but no test says that its columns act jointly."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    selector = PIDSelector(random_state=0).fit(X, X[:, 0] + X[:, 1])
    explanation = selector.explain(X, X[:, 0] + X[:, 1])
    assert explanation["x0"].synergy > 0.1
    path = write_report(
        selector, X, X[:, 0] + X[:, 1], tmp_path / "report.html", explanation=explanation
    )
    text = path.read_text("utf-8")
    assert "Features that act jointly" not in text
    assert "strongest with" not in text


def test_a_known_explanation_is_not_computed_again(tmp_path, monkeypatch):
    toy = datasets.toy(120, random_state=1)
    selector = PIDSelector(max_features=1, random_state=0).fit(toy.X, toy.y)
    explanation = selector.explain(toy.X, toy.y)
    monkeypatch.delattr(PIDSelector, "explain")
    path = write_report(selector, toy.X, toy.y, tmp_path / "r.html", explanation=explanation)
    text = HTMLReader(path.read_text("utf-8")).text
    assert explanation["x0"].sentence in text.replace("\N{NO-BREAK SPACE}", " ")


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


def test_groups_and_held_out_rows(tmp_path):
    toy = datasets.toy(160, random_state=1)
    groups = np.repeat(np.arange(4), 20)
    selector = PIDSelector(max_features=1, random_state=0)
    selector.fit(toy.X[:80], toy.y[:80], groups)
    path = write_report(selector, toy.X[:80], toy.y[:80], tmp_path / "r.html", groups=groups)
    text = HTMLReader(path.read_text("utf-8")).text
    assert "selector.fit(X, y, groups)" in text
    write_report(selector, toy.X[80:140], toy.y[80:140], path)
    text = HTMLReader(path.read_text("utf-8")).text
    assert "80 rows, 3 columns." in text
    assert "from 60 rows" in text
