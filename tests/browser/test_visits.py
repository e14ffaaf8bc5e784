"""Whatever a page does wrong is seen by the tools that the other tests here trust."""

from __future__ import annotations

from visits import (
    PHONE,
    Visitor,
    background,
    barriers,
    broken_words,
    overhanging,
    tab_stops,
)

GOOD = """<!DOCTYPE html><html lang="en"><head><title>A page</title><link rel="icon" href="data:,">
<style>body {{ background: rgb(1, 2, 3); color: white }} {style}</style></head>
<body><main><h1>A page</h1>{body}</main></body></html>"""


def page_with(body: str = "", style: str = "") -> str:
    return GOOD.format(body=body, style=style)


def test_a_good_page(visit):
    page = visit(page_with('<p><button>Press</button></p><svg><image href="data:,"/></svg>'))
    assert barriers(page) == []
    assert overhanging(page) == []
    assert tab_stops(page) == ["button Press"]
    assert background(page) == (1, 2, 3)


def test_what_a_page_does_unasked(browser, tmp_path):
    visitor = Visitor(browser, tmp_path)
    page = visitor(
        page_with(
            "<img src=x onerror=alert(1)><img src='https://example.org/y.png' alt=''>"
            "<script>console.warn('careful'); console.error('no'); nobody();</script>"
        )
    )
    page.wait_for_load_state("networkidle")
    visitor.leave()
    assert visitor.dialogs == ["1"]
    assert sorted(visitor.requests) == [(tmp_path / "x").as_uri(), "https://example.org/y.png"]
    for complaint in ("warning: careful", "error: no", "nobody is not defined"):
        assert any(complaint in said for said in visitor.complaints)


def test_barriers(visit):
    page = visit(page_with("<input><p style='color: rgb(40, 40, 40)'>dim</p>"))
    found = [barrier.partition(" ")[0] for barrier in barriers(page)]
    assert sorted(found) == ["color-contrast", "label"]
    assert "contrast" not in "".join(barriers(page, without=("color-contrast",)))


def test_what_hangs_over(visit):
    page = visit(page_with("<p style='width: 30rem'>wide</p>"), width=PHONE)
    assert overhanging(page) == ['<p style="width: 30rem">wide</p>']


def test_a_focus_that_does_not_show(visit):
    page = visit(page_with("<a href='#a'>one</a> <button>two</button>", "a { outline: none }"))
    assert tab_stops(page) == ["a one (unseen)", "button two"]


def test_words_that_are_broken(visit):
    narrow = "width: 5rem; overflow-wrap: anywhere"
    page = visit(
        page_with(f"<p style='{narrow}'>a word, and unbelievably so</p><p>unbelievably</p>")
    )
    assert broken_words(page, "p") == ["unbelievably"]
