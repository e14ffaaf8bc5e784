"""Colours, hatches and matplotlib settings of all figures."""

from __future__ import annotations

from typing import Any, NamedTuple

try:
    import matplotlib as _matplotlib  # noqa: F401
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError(
        "drawing a figure needs matplotlib: pip install 'pidselect[cli]'"
    ) from missing


class Look(NamedTuple):
    """Colour, hatch, marker and dashes of a quantity; each distinguishes it from the others."""

    colour: str
    hatch: str
    marker: str
    dashes: tuple[float, ...]


_SOLID: tuple[float, ...] = ()
_LONG, _SHORT, _MIXED = (5.0, 1.5), (2.0, 1.2), (5.0, 1.5, 1.5, 1.5)

#: The colours of Okabe and Ito, distinguishable with any colour vision, and two darker shades.
LOOKS: dict[str, Look] = {
    "mi": Look("#CC79A7", "", "o", _SOLID),
    "mi2": Look("#7E3F63", "////", "s", _LONG),
    "cmi": Look("#D55E00", "\\\\\\\\", "^", _SOLID),
    "cmi2": Look("#7F3800", "xxxx", "v", _LONG),
    "joint": Look("#595959", "----", "D", _MIXED),
    "unique1": Look("#0072B2", "", "o", _SOLID),
    "unique2": Look("#56B4E9", "////", "s", _LONG),
    "shared": Look("#E69F00", "\\\\\\\\", "^", _SHORT),
    "synergy": Look("#009E73", "----", "D", _MIXED),
    "right": Look("#0072B2", "", "P", _SOLID),
    "wrong": Look("#E69F00", "////", "X", _LONG),
    "first": Look("#0072B2", "", "o", _SOLID),
    "second": Look("#D55E00", "////", "s", _LONG),
    "third": Look("#009E73", "\\\\\\\\", "^", _SHORT),
    "fourth": Look("#CC79A7", "----", "D", _MIXED),
    "plain": Look("#8C8C8C", "", "o", _SOLID),
}

INK = "#222222"

#: Width of one letter at the size of tick labels, in inches.
LETTER = 0.072

#: Resolution of rasterized points within an SVG.
CLOUD_DPI = 110

# Verdana is as wide as DejaVu Sans, so that a layout for one fits the other.
_FONTS = ["DejaVu Sans", "Verdana", "Arial"]
_FAMILY = f"font-family: {', '.join(repr(name) for name in _FONTS)}, sans-serif"
#: Styles of most texts.
SHARED_STYLES = (_FAMILY, "font-size: 8px", f"fill: {INK}")

#: Settings of matplotlib while a figure is drawn.
SETTINGS: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": _FONTS,
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
