"""Colours and matplotlib settings of all figures, and their SVG as one small element of a page."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

try:
    import matplotlib as _matplotlib  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "drawing a figure needs matplotlib: pip install 'pidselect[cli]'"
    ) from missing

#: Colours of Okabe and Ito, distinguishable with any colour vision, and greys.
BLUE, AMBER, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
GREY, DARK = "#8C8C8C", "#595959"

INK = "#222222"

#: Width of one letter at the size of tick labels, in inches.
LETTER = 0.072

#: Resolution of rasterized points within an SVG.
CLOUD_DPI = 110

#: Settings of matplotlib while a figure is drawn.
SETTINGS: Any = {
    "font.family": "sans-serif",
    # Verdana is as wide as DejaVu Sans, so that a layout for one fits the other.
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
    "font.size": 8.0,
    "text.parse_math": False,  # a name with dollars is a name
    "text.usetex": False,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "axes.formatter.use_mathtext": False,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": "#E3E3E3",
    "grid.linewidth": 0.5,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "svg.fonttype": "none",
}


def tidy(svg: str, label: str, prefix: str, description: str) -> str:
    """Return an SVG of matplotlib as one element of a page, with ids of its own.

    `label` and `description` are for screen readers, `prefix` is that of all ids. Styles that would
    apply to the whole page are removed.
    """
    root = ElementTree.fromstring(svg)
    found = dict.fromkeys(re.findall(r'(?:url\(|href=")#([\w-]+)', svg))
    ids = {old: f"{prefix}-{place}" for place, old in enumerate(found)}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    for element in root.iter():
        element.tag = element.tag.partition("}")[2]
        element.attrib = {
            name.partition("}")[2] or name: ids[value]
            if name == "id"
            else re.sub(r"#([\w-]+)", lambda one: f"#{ids.get(one[1], one[1])}", value)
            for name, value in element.attrib.items()
            if name != "id" or value in ids
        }
        if element.tag != "text":
            element.text = None
        element.tail = None
    root.attrib |= {
        "xmlns": "http://www.w3.org/2000/svg",
        "role": "img",
        "style": "stroke-linejoin:round;stroke-linecap:butt",
    }
    root.set("aria-labelledby", f"{prefix}-title {prefix}-desc")
    for place, (tag, words) in enumerate((("title", label), ("desc", description))):
        element = ElementTree.Element(tag, {"id": f"{prefix}-{tag}"})
        element.text = words
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")
