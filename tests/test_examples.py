"""The examples that draw the pictures of the pages run, print what they show and draw."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from shutil import which

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("draw_*.py"))

#: Something each example must print. A new example needs a line here.
PRINTED = {
    "draw_atoms.py": "synergy in bits: RDN 0.00, COPY 0.00, XOR 1.00, AND 0.5",
    "draw_importance.py": "selected worst perimeter, worst smoothness, worst texture",
    "draw_displays.py": "drawn: importance, path, atoms, joint, stability, lattice",
    "draw_continuous_convergence.py": "sx-ksg: at most 0.02 bit off with 3200 samples",
    "draw_overlap.py": "drawn: overlap, path_atoms",
    "draw_report_page.py": "selected worst perimeter, worst smoothness, worst texture",
    "draw_synergy.py": "selected locus_1, locus_2; drawn: loci, scan",
    "draw_selection_path.py": "selected X4, X2, X1, X3, X5",
}


def shown(path):
    return str(path.relative_to(ROOT))


def test_every_example_is_known():
    assert {path.name for path in EXAMPLES} == set(PRINTED)


@pytest.mark.parametrize("path", EXAMPLES, ids=shown)
def test_example(path, tmp_path, monkeypatch, capsys):
    """An example runs as from the command line, prints what it shows and draws its pictures."""
    text = path.read_text(encoding="utf-8")
    if "CHROMIUM" in text and not any(map(which, ("chromium", "google-chrome"))):
        pytest.skip("there is no browser to photograph a page with")
    if "matplotlib" in text:
        pytest.importorskip("matplotlib")
    arguments = []
    if re.search(r"\[(FOLDER|FILE|PICTURE)\]", text):
        arguments = [str(tmp_path / ("pictures" if "[FOLDER]" in text else "picture.png"))]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path), *arguments])
    monkeypatch.syspath_prepend(path.parent)
    runpy.run_path(str(path), run_name="__main__")
    assert PRINTED[path.name] in capsys.readouterr().out
    for picture in tmp_path.rglob("*.png"):
        assert picture.stat().st_size > 0
    assert bool(arguments) == any(tmp_path.rglob("*.png"))
