"""Links and contents that work both in the repository and in the built pages.

Pages are written for both: links go to files, as ``../CHANGELOG.md``. Here they are turned to where
these files are in the built pages. The lists of links on the first page are the contents.
"""

from __future__ import annotations

import re
import shutil
from os.path import normpath, relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]

#: Where pages lie that are not built, such as tables of what was measured.
SOURCE = "https://github.com/pidselect/pidselect/blob/main/"

#: Files beside the folder docs, and the page that shows each.
SHOWN = {
    "README.md": "docs/index.md",
    "CHANGELOG.md": "docs/project/changelog.md",
    "CODE_OF_CONDUCT.md": "docs/project/conduct.md",
    "CONTRIBUTING.md": "docs/project/contributing.md",
    "SECURITY.md": "docs/project/security.md",
    "benchmarks/README.md": "docs/project/benchmarks.md",
    "examples/README.md": "docs/gallery/index.rst",
}
#: Pages that show the text of a file from elsewhere.
TAKEN = {page: file for file, page in SHOWN.items() if page.startswith("docs/project/")}

#: Folders whose pages are finished already, and are copied.
FINISHED = ("docs/reproduction", "docs/gallery/pages")

LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s:#]+)(#[^)\s]*)?\)")
FENCE = re.compile(r"^(```.*?^```)$", re.MULTILINE | re.DOTALL)
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
ENTRY = re.compile(r"^- \[[^\]]*\]\(([^)\s:#]+\.(?:md|rst))\)", re.MULTILINE)


def turn_links(text: str, file: str, page: str) -> str:
    """Return the text of a file with its links as they must be on the page that shows it."""

    def turned(found: re.Match[str]) -> str:
        words, link, anchor = found[1], found[2], found[3] or ""
        target = normpath(str(Path(file).parent / link))
        if (ROOT / target / "README.md").is_file():
            target += "/README.md"
        target = SHOWN.get(target, target)
        if target.startswith("benchmarks/") and target.endswith(".md"):
            return f"[{words}]({SOURCE}{target}{anchor})"
        way = relpath(target, Path(page).parent).replace("\\", "/")
        if target.startswith(FINISHED):
            return f'<a href="{way}{anchor}">{words}</a>'
        return f"[{words}]({way}{anchor})"

    parts = FENCE.split(text)  # every second one is a block of code
    return "".join(LINK.sub(turned, part) if i % 2 == 0 else part for i, part in enumerate(parts))


def add_contents(text: str) -> str:
    """Return the first page with the links of each section as an entry of the contents."""
    blocks = []
    captions, sections = SECTION.findall(text), SECTION.split(text)[2::2]
    for caption, section in zip(captions, sections, strict=True):
        pages = "\n".join(ENTRY.findall(section))
        if pages:
            blocks.append(f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{pages}\n```\n")
    return text + "".join(blocks)


def read_page(app: Sphinx, name: str, source: list[str]) -> None:
    """Turn the links of a Markdown page before it is parsed."""
    path = app.env.doc2path(name)
    if path.suffix != ".md":
        return
    page = path.relative_to(ROOT).as_posix()
    file = TAKEN.get(page, page)
    if file != page:
        app.env.note_dependency(str(ROOT / file), docname=name)
        source[0] = (ROOT / file).read_text(encoding="utf-8")
    source[0] = turn_links(source[0], file, page)
    if name == app.config.root_doc:
        source[0] = add_contents(source[0])


def copy_finished(app: Sphinx, exception: Exception | None) -> None:
    """Copy pages that are finished already to their place among the built ones."""
    for folder in FINISHED:
        if exception is None and (ROOT / folder).is_dir():
            place = Path(app.outdir) / Path(folder).relative_to("docs")
            shutil.copytree(ROOT / folder, place, dirs_exist_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect these functions to Sphinx."""
    app.connect("source-read", read_page)
    app.connect("build-finished", copy_finished)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
