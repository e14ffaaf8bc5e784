"""HTML of results in a notebook, in a browser."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest
from visits import LOOKS, barriers, overhanging, tab_stops

from pidselect import PIDSelector, decompose
from report import hostile

#: As little as a notebook has around an output.
NOTEBOOK = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>A notebook</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<style>:root {{ color-scheme: light dark }}</style></head>
<body><main><h1>A notebook</h1>{outputs}</main></body></html>"""

#: Synthetic sentences hold unprintable names, which real ones do not.
ENCODABLE = [name for name in hostile.NAMES if "\ud83d" not in name]

LOOK = "node => (({ font, color, margin }) => [font, color, margin])(getComputedStyle(node))"


@cache
def forms() -> dict[str, str]:
    """The HTML of every type of result, each with a hostile name."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = pd.DataFrame({hostile.IMAGE: y, "noise": rng.integers(0, 2, 60)})
    selector = PIDSelector(estimator="discrete", n_permutations=39, random_state=0).fit(X, y)
    results = {
        "selector": selector,
        "decomposition": decompose([X[hostile.IMAGE], X["noise"]], y),
        "selection": hostile.selection(),
        "explanation": hostile.explanation(ENCODABLE),
        "stability": hostile.stability(),
    }
    return {name: result._repr_html_() for name, result in results.items()}


def in_notebook(*names: str) -> str:
    return NOTEBOOK.format(outputs="\n".join(forms()[name] for name in names))


@pytest.mark.parametrize(
    "name", ["selector", "decomposition", "selection", "explanation", "stability"]
)
def test_hostile_names_stay_text(visit, name):
    page = visit(in_notebook(name))
    assert page.locator("img, script, iframe, object, embed, form").count() == 0
    handlers = (
        "nodes => nodes.flatMap(node => node.getAttributeNames()).filter(n => /^on/i.test(n))"
    )
    assert page.locator("*").evaluate_all(handlers) == []
    assert hostile.IMAGE in page.locator("main").inner_text()


@pytest.mark.parametrize(("scheme", "width"), LOOKS)
def test_no_barriers(visit, scheme, width):
    """All forms in one notebook, one below the other."""
    page = visit(in_notebook(*forms()), scheme=scheme, width=width)
    page.locator("details").evaluate_all("nodes => nodes.forEach(node => node.open = true)")
    assert overhanging(page) == []
    assert barriers(page) == []


def test_it_folds_and_unfolds_by_key(visit):
    page = visit(in_notebook("selector"), javascript=False)
    folded = page.locator("details").first
    summary = folded.locator("summary")
    tab_stops(page, until=f"summary {summary.inner_text()}")
    page.keyboard.press("Enter")
    assert folded.get_attribute("open") is not None


def test_the_page_around_it_stays_as_it_is(visit):
    """The style of a form is for the form alone."""
    bare = visit(NOTEBOOK.format(outputs="")).locator("h1").evaluate(LOOK)
    assert visit(in_notebook(*forms())).locator("h1").evaluate(LOOK) == bare
