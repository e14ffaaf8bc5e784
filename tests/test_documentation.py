"""The documents say what is so: their code runs, their links lead somewhere, the examples work."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
import sklearn
from sklearn.utils.fixes import parse_version

from pidselect.decomposition import MEASURES
from pidselect.decomposition.samples import CONTINUOUS
from pidselect.estimators import ESTIMATORS
from pidselect.selection.criteria import CRITERIA
from pidselect.significance.surrogates import SURROGATES

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LESSONS = [ROOT / "README.md", *sorted(DOCS.glob("*.md"))]
FOLDERS = [ROOT, ROOT / "benchmarks", ROOT / "examples", DOCS / "project"]
PAGES = sorted({*LESSONS, *(page for folder in FOLDERS for page in folder.glob("*.md"))})

#: The lessons of the gallery run where it is built, with warnings as errors.
GALLERY = sorted((ROOT / "examples").glob("plot_*.py"))

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
NUMBER = re.compile(r"-?\d+\.?\d*")


class Checker(doctest.OutputChecker):
    """Printed bits of explanations depend on trees, which scikit-learn's versions grow differently.

    What the pages print is of scikit-learn 1.9; before it, numbers may differ by 0.02.
    """

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        if parse_version(sklearn.__version__) >= parse_version("1.9"):
            return False
        pairs = zip(NUMBER.findall(want), NUMBER.findall(got), strict=False)
        is_close = all(abs(float(a) - float(b)) <= 0.02 for a, b in pairs)
        return is_close and NUMBER.sub("0", want).split() == NUMBER.sub("0", got).split()


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
    runner = doctest.DocTestRunner(Checker(), optionflags=OPTIONS, verbose=False)
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


def public_names(module: str) -> set[str]:
    """Return what may be imported from a module of ours."""
    return set(import_module(module).__all__)


@pytest.mark.parametrize("path", GALLERY, ids=shown)
def test_lesson_of_the_gallery(path):
    """It has a title, a text and a conclusion, public names only, a seed, and something to see."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, filename=str(path))
    title, line, *rest = ast.get_docstring(tree).splitlines()
    assert line == "=" * len(title)
    assert len(" ".join(rest).split()) > 10
    assert "\n# %%\n# " in text
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert [alias.name for alias in node.names if alias.name.startswith("pidselect.")] == []
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "pidselect":
            assert {alias.name for alias in node.names} <= public_names(node.module)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "PIDSelector":
            settings = [keyword.arg for keyword in node.keywords]
            assert not settings or "random_state" in settings
    assert "pyplot" not in text
    assert re.search(r"Display\.from_|write_report\(", text)
    assert "# **To take home:** " in text.rpartition("# %%")[2]


def test_every_lesson_of_the_gallery_is_listed():
    listed = re.findall(
        r"\]\((plot_\w+\.py)\)", (ROOT / "examples" / "README.md").read_text("utf-8")
    )
    assert listed == [path.name for path in GALLERY]


def test_every_page_is_in_the_contents():
    links = {link for link, _ in LINK.findall((DOCS / "index.md").read_text(encoding="utf-8"))}
    assert {path.name for path in DOCS.glob("*.md")} - {"index.md"} <= links


def test_every_public_name_is_in_the_reference():
    reference = (DOCS / "api" / "index.rst").read_text(encoding="utf-8")
    described = set(re.findall(r"^   ([\w.]+)$", reference, re.MULTILINE))
    assert public_names("pidselect") - {"datasets"} <= described
    generators = public_names("pidselect.datasets") - {"GATES"}
    assert {f"datasets.{name}" for name in generators} <= described
    for name in described - {"names"}:
        parent, _, last = f"pidselect.{name}".rpartition(".")
        assert hasattr(import_module(parent), last), f"there is no {parent}.{last}"


def test_every_name_to_pass_is_in_the_reference():
    names = (DOCS / "api" / "names.rst").read_text(encoding="utf-8")
    tables = [re.findall(r"^``([\w-]+)``", part, re.MULTILINE) for part in names.split("\n---")]
    assert tables[1:] == [
        ["auto", *ESTIMATORS],
        list(CRITERIA),
        list(SURROGATES),
        [*MEASURES, *CONTINUOUS],
    ]


@pytest.fixture(scope="module")
def contents() -> ModuleType:
    """Return what turns the links of pages when they are built."""
    spec = importlib.util.spec_from_file_location("contents", DOCS / "_ext" / "contents.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_links_of_built_pages(contents):
    text = (
        "[a](guide.md#b) [c](../CHANGELOG.md) [d](../benchmarks) [e](https://example.org)\n"
        "[**f**](reproduction/index.html) [g](../examples/README.md) [h](#i)\n"
        "```python\nx = [0](../CHANGELOG.md)\n```\n"
    )
    assert contents.turn_links(text, "docs/a.md", "docs/a.md") == (
        "[a](guide.md#b) [c](project/changelog.md) [d](project/benchmarks.md) "
        "[e](https://example.org)\n"
        '<a href="reproduction/index.html">**f**</a> [g](gallery/index.rst) [h](#i)\n'
        "```python\nx = [0](../CHANGELOG.md)\n```\n"
    )
    from_root = contents.turn_links("[a](docs/guide.md)", "README.md", "docs/project/a.md")
    assert from_root == "[a](../guide.md)"


def test_contents_of_the_first_page(contents):
    text = "# A\n\n- [b](b.md)\n\n## C\n\n- [d](d.md): e\n- [f](g/f.rst)\n\n## H\n"
    added = contents.add_contents(text).removeprefix(text)
    assert added == "\n```{toctree}\n:hidden:\n:caption: C\n\nd.md\ng/f.rst\n```\n"


def test_pictures_are_small():
    for picture in (DOCS / "images").iterdir():
        assert picture.stat().st_size < 150_000, f"{picture.name} makes the page slow"
