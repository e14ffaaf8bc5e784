"""The documents say what is so: their code runs, their links lead somewhere, the examples work."""

from __future__ import annotations

import doctest
import html
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pidselect.experiments import EXPERIMENTS

ROOT = Path(__file__).parents[1]
LESSONS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PAGES = sorted({*LESSONS, *ROOT.glob("*.md"), *(ROOT / "benchmarks").glob("*.md")})
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

#: Something each example must print. A new example needs a line here.
PRINTED = {
    "first_selection.py": "temperature says the same as temperature_fahrenheit",
    "draw_continuous_convergence.py": "sx-ksg: at most 0.02 bit off with 3200 samples",
    "draw_selection_path.py": "selected X4, X1, X2, X5, X3",
}

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


def python_blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line before each Python block, counted from one, and the block."""
    for found in FENCE.finditer(text):
        if found[1] == "python":
            yield text.count("\n", 0, found.start(2)), found[2]


def without_code(text: str) -> str:
    """Leave out blocks and snippets of code, in which brackets are no links."""
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


def anchors(path: Path) -> set[str]:
    """Return the headings of a page as they appear in links."""
    headings = HEADING.findall(FENCE.sub("", path.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", LESSONS, ids=shown)
def test_python_blocks(path):
    """All blocks of a page run in one namespace, from top to bottom."""
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS, verbose=False)
    namespace = {"__name__": "__main__"}
    for line, block in python_blocks(path.read_text(encoding="utf-8")):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, namespace, path.name, str(path), line)
            runner.run(test, out=report.append, clear_globs=False)
            namespace = test.globs
        else:
            exec(compile("\n" * line + block, path, "exec"), namespace)
    assert not report, "".join(report)
    assert runner.summarize(verbose=False).attempted > 0


@pytest.mark.parametrize("path", PAGES, ids=shown)
def test_links(path):
    for link, attribute in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
        target = link or attribute
        if re.match(r"[a-z]+:", target):  # the web is not checked
            continue
        file, _, anchor = target.partition("#")
        page = path.parent / file if file else path
        assert page.exists(), f"{target} does not exist"
        assert page.resolve().is_relative_to(ROOT), f"{target} leads out of the project"
        if anchor:
            assert anchor in anchors(page), f"{target}: there is no such heading"


def test_every_example_is_known():
    assert {path.name for path in EXAMPLES} == set(PRINTED)


@pytest.mark.parametrize("path", EXAMPLES, ids=shown)
def test_example(path, tmp_path):
    arguments = []
    if "matplotlib" in path.read_text(encoding="utf-8"):
        pytest.importorskip("matplotlib")
        arguments = [str(tmp_path / "picture.png")]
    done = subprocess.run(
        [sys.executable, path, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,  # against hanging; the first run may compile
    )
    assert done.returncode == 0, done.stderr
    assert PRINTED[path.name] in done.stdout
    for name in arguments:
        assert Path(name).stat().st_size > 0


def test_pictures_are_small():
    for picture in (ROOT / "docs" / "images").iterdir():
        assert picture.stat().st_size < 150_000, f"{picture.name} makes the page slow"


def test_the_reproduction_is_whole():
    """The page that is shown is of a full run, and says what the numbers beside it say."""
    folder = ROOT / "docs" / "reproduction"
    summary = json.loads((folder / "numbers.json").read_text(encoding="utf-8"))
    page = html.unescape((folder / "index.html").read_text(encoding="utf-8"))
    assert [one["name"] for one in summary["experiments"]] == list(EXPERIMENTS)
    assert not summary["quick"]
    claims = [claim for one in summary["experiments"] for claim in one["claims"]]
    assert [claim["name"] for claim in claims if claim["verdict"] == "not run"] == []
    assert [claim["name"] for claim in claims if claim["statement"] not in page] == []
    unexplained = [c["name"] for c in claims if c["verdict"] == "differs" and not c["remark"]]
    assert unexplained == []
    assert summary["made"][:10] in page
