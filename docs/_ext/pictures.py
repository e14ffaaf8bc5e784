"""What an example of the gallery draws and writes, put where the pages find it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

#: Figures and pages that are shown already: names keep them from one block to the next.
SHOWN: set[Any] = set()

#: Pixels of the page for an inch of a figure, so that letters are as large in all of them.
SCALE = 92

PICTURE = """
.. image:: /{path}
   :alt: {words}
   :class: sphx-glr-single-img
   :width: {width}px
"""

PAGE = """
.. raw:: html

    <p><a href="pages/{name}">The page by itself</a>, and here as it opens:</p>
    <iframe class="page" src="pages/{name}" title="{name}" loading="lazy"></iframe>
"""


def scrape(block: tuple[Any, ...], block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """Return the text that shows the displays drawn and the pages written by a block."""
    sources = Path(gallery_conf["src_dir"])
    shown = []
    for value in list(block_vars["example_globals"].values()):
        figure = None if isinstance(value, type) else getattr(value, "figure_", None)
        if figure is not None and figure not in SHOWN:
            SHOWN.add(figure)
            path = Path(next(block_vars["image_path_iterator"]))
            figure.savefig(path, dpi=2 * SCALE)
            words = " ".join(value.describe().split())
            width = round(SCALE * figure.get_figwidth())
            place = path.relative_to(sources).as_posix()
            shown.append(PICTURE.format(path=place, words=words, width=width))
        if isinstance(value, Path) and value.suffix == ".html" and value not in SHOWN:
            SHOWN.add(value)
            folder = sources / "gallery" / "pages"
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(value, folder / value.name)
            shown.append(PAGE.format(name=value.name))
    return "\n".join(shown)
