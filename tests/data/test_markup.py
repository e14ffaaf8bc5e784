"""Forms for notebooks: what comes from the data stays text, and touches nothing else."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pidselect.data import markup
from pidselect.data.markup import (
    SHOWN_ROWS,
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
    strong,
    table,
    text,
    verbatim,
)

ATTACK = "<img src=x onerror=alert(1)>"


class Reader(HTMLParser):
    """Read elements and text as a browser does; all that was opened must be closed in turn."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


FORMS = {
    "text": text,
    "name": name,
    "paragraph": paragraph,
    "strong": strong,
    "listing": lambda value: listing([value]),
    "details": lambda value: details(value, value),
    "verbatim": verbatim,
    "header": lambda value: table([value], []),
    "cell": lambda value: table(["a"], [[value]]),
    "bar": lambda value: bar([(value, 1.0)], 1.0),
    "legend": lambda value: legend([value]),
    "card": card,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("value", [ATTACK, "</style><script>", "&lt;b&gt;", '\'" onload="x'])
def test_what_is_no_html_stays_text(form, value):
    html = form(value)
    assert isinstance(html, Markup)
    read = Reader(html)
    assert not {"img", "script"} & {tag for tag, _ in read.tags}
    assert not {"onerror", "onload"} & {key for _, attrs in read.tags for key in attrs}
    said = "".join(read.texts) + "".join(str(attrs) for _, attrs in read.tags)
    assert value in said or repr(value) in said or value in said.replace("\\'", "'")


@given(st.text())
def test_any_text_comes_out_as_it_went_in(value):
    """But for the ends of lines, which HTML does not tell apart."""
    read = Reader(paragraph(value))
    expected = value.replace("\r\n", "\n").replace("\r", "\n")
    assert "".join(read.texts).replace("\r\n", "\n").replace("\r", "\n") == expected


def test_what_cannot_be_seen_in_a_name_is_told():
    assert name("a\u202eb") == "&#x27;a\\u202eb&#x27;"
    assert name("\ud800").encode() == b"&#x27;\\ud800&#x27;"
    assert name(" a") == "&#x27; a&#x27;"


def test_half_a_letter_is_written_as_its_number():
    for form in FORMS.values():
        assert b"caf\\udce9" in form("caf\udce9").encode("utf-8")


def test_html_is_not_escaped_twice():
    assert text(text("<")) == "&lt;"
    assert joined(["<", text("<"), paragraph("<")], " & ") == "&lt; &amp; &lt; &amp; <p>&lt;</p>"


@pytest.mark.parametrize("n_rows", [0, 1, SHOWN_ROWS, SHOWN_ROWS + 1, 300])
def test_long_tables_are_cut(n_rows):
    html = table(["feature", "bits"], [[f"x{row}", "0.5"] for row in range(n_rows)])
    n_lines = html.count("<tr>")
    assert n_lines == 1 + min(n_rows, SHOWN_ROWS) + (n_rows > SHOWN_ROWS)
    more = f"... and {n_rows - SHOWN_ROWS} more, see .to_frame()"
    assert (more in html) == (n_rows > SHOWN_ROWS)


def test_rows_must_have_all_cells():
    with pytest.raises(ValueError, match="longer"):
        table(["feature", "bits"], [["x"]])


def test_columns_are_aligned_as_told():
    html = table(["a", "b", "c", "d"], [["1", "2", "3", "4"]], "nlrw")
    classes = [attrs.get("class") for tag, attrs in Reader(html).tags if tag == "td"]
    assert classes == ["pidselect-name", "pidselect-left", None, "pidselect-wide"]


def widths(html):
    return [float(width) for width in re.findall(r"width:([\d.]+)%", html)]


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
def test_parts_of_bars(amounts, full, expected):
    """Parts below 0 are drawn as nothing, whatever is said of them."""
    assert widths(bar(list(zip(markup.ATOMS, amounts, strict=True)), full)) == expected


def test_a_bar_says_its_numbers_as_they_are():
    html = bar([("unique", -0.25), ("shared", None), ("synergy", 0.125)], 1.0)
    (label,) = [attrs["aria-label"] for _, attrs in Reader(html).tags if "aria-label" in attrs]
    assert label == "unique -0.250, synergy 0.125"
    assert 'aria-label="not known"' in bar([("unique", None)], 1.0)


def test_the_longest_bar():
    infinite = [("unique", float("inf")), ("shared", 0.3)]
    bars = [[("unique", 0.1), ("shared", 0.4)], [("synergy", -3.0)], infinite, [("unique", None)]]
    assert longest(bars) == 0.5
    assert longest([]) == 0.0


def test_the_style_reaches_nothing_outside_of_the_card():
    """Every rule is about what is inside; colours of text are those of the page."""
    plain = STYLE.replace("@media (prefers-color-scheme: dark) {", "")
    for selectors in re.findall(r"([^{}]+)\{[^{}]*\}", plain):
        for selector in selectors.split(","):
            assert selector.strip().startswith(".pidselect-card")
    assert set(re.findall(r"[^-]color: ([^;]+);", STYLE)) == {"inherit"}
    assert "<" not in STYLE
    html = card(paragraph("a"))
    assert html.startswith('<div class="pidselect-card" tabindex="0"')
    assert "http" not in html
