"""Colours and matplotlib settings of all figures."""

from __future__ import annotations

from typing import Any

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
