"""Makes an SVG of matplotlib's small, and fit to stand in a page beside others."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import chain
from xml.etree import ElementTree


def tidy(svg: str, label: str, prefix: str, style: str) -> str:
    """Return a smaller SVG element, fit for a page with others.

    It brings no styles for the whole page, and keeps only the ids that it refers to itself, by
    names of its own.

    Parameters
    ----------
    svg : str
        As matplotlib writes it.
    label : str
        Read out to those who do not see it.
    prefix : str
        Of all its ids.
    style : str
        One that all texts share: it is said once, for all.
    """
    root = ElementTree.fromstring(svg)
    found = dict.fromkeys(re.findall(r'(?:url\(|href=")#([\w-]+)', svg))
    ids = {old: f"{prefix}-{place}" for place, old in enumerate(found)}
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    for element in root.iter():
        _unwrap(element)
        element.tag = element.tag.partition("}")[2]
        element.attrib = {
            name.partition("}")[2] or name: _shorten(value, element.tag, ids, style)
            for name, value in element.attrib.items()
            if name != "id" or value in ids
        }
        if element.tag != "text":
            element.text = None
        element.tail = None
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "role": "img",
        "aria-label": label,
        "style": f"stroke-linejoin: round; stroke-linecap: butt; {style}",
        **{name: root.attrib[name] for name in ("width", "height", "viewBox")},
    }
    return ElementTree.tostring(root, encoding="unicode")


def _unwrap(element: ElementTree.Element) -> None:
    """Take children out of groups that say nothing about them."""
    while any(_is_idle(child) for child in element):
        element[:] = list(chain(*(child if _is_idle(child) else [child] for child in element)))


def _is_idle(element: ElementTree.Element) -> bool:
    return element.tag.endswith("}g") and not element.attrib.keys() - {"id"}


def _shorten(value: str, tag: str, ids: Mapping[str, str], style: str) -> str:
    """Give an attribute the new names, and no more than can be seen."""
    if tag == "image":
        return value
    link = re.sub(r"#([\w-]+)", lambda found: f"#{ids.get(found[1], found[1])}", value)
    short = re.sub(r"(\d\.\d\d)\d+", r"\1", ids.get(link, link))
    return " ".join(short.replace(f"{style};", "").split())
