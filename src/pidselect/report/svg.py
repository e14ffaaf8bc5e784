"""Reduces an SVG of matplotlib to one small element of a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from xml.etree import ElementTree


def tidy(svg: str, label: str, prefix: str, shared: Sequence[str], description: str = "") -> str:
    """Return a smaller SVG element, without page-wide styles and with ids of its own.

    `label` and `description` are for screen readers, `prefix` is that of all ids, and `shared` are
    styles of most texts, such as "font-size: 8px", to be set once.
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
        short = {
            name.partition("}")[2] or name: _shorten(name, value, ids, shared)
            for name, value in element.attrib.items()
            if name != "id" or value in ids
        }
        element.attrib = {name: value for name, value in short.items() if value}
        if element.tag != "text":
            element.text = None
        element.tail = None
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "role": "img",
        "aria-label": label,
        "style": ";".join(("stroke-linejoin:round", "stroke-linecap:butt", *shared)),
        **{name: root.attrib[name] for name in ("width", "height", "viewBox")},
    }
    if description:  # title and description for screen readers
        del root.attrib["aria-label"]
        root.attrib["aria-labelledby"] = f"{prefix}-title {prefix}-desc"
        for place, (tag, words) in enumerate((("title", label), ("desc", description))):
            element = ElementTree.Element(tag, {"id": f"{prefix}-{tag}"})
            element.text = words
            root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")


def _unwrap(element: ElementTree.Element) -> None:
    """Replace groups without attributes by their children."""
    while any(_is_idle(child) for child in element):
        element[:] = list(chain(*(child if _is_idle(child) else [child] for child in element)))


def _is_idle(element: ElementTree.Element) -> bool:
    return element.tag.endswith("}g") and not element.attrib.keys() - {"id"}


def _shorten(name: str, value: str, ids: Mapping[str, str], shared: Sequence[str]) -> str:
    """Replace ids in an attribute, and round its numbers.

    Examples
    --------
    >>> _shorten("d", "M 12.3456 0.1234 L 20 1", {}, ())
    'M12.3 0.12L20 1'
    >>> _shorten("style", "font-size: 8px; fill: #ff0000", {}, ("font-size: 8px",))
    'fill:#ff0000'
    """
    if value.startswith("data:"):
        return value
    if name == "id":
        return ids[value]
    value = re.sub(r"#([\w-]+)", lambda found: f"#{ids.get(found[1], found[1])}", value)
    value = re.sub(r"(\d\d\.\d|\d\.\d\d)\d+", r"\1", " ".join(value.split()))
    if name == "style":
        parts = (part.strip() for part in value.split(";"))
        return ";".join(part.replace(": ", ":") for part in parts if part and part not in shared)
    if name == "d":
        return re.sub(r" ?([A-Za-z]) ?", r"\1", value)
    return "" if value.startswith("rotate(-0 ") else value
