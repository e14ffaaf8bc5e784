"""Figures as SVG: one function for each kind of panel."""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from pidselect.report.style import CLOUD_DPI, INK, SETTINGS, tidy

Panel = Mapping[str, Any]


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

#: Width of a figure, and height of a panel and of a lattice, in inches.
WIDTH, HEIGHT, LATTICE_HEIGHT = 10.4, 2.9, 4.2

#: Clouds of more points are drawn as pictures within the SVG.
MANY_POINTS = 300


def draw_svg(name: str, label: str, panels: Sequence[Panel], n_columns: int) -> str:
    """Return panels as one SVG element, described by a label."""
    with matplotlib.rc_context({**SETTINGS, "svg.hashsalt": name}):
        text = io.StringIO()
        canvas = _compose(panels, n_columns)
        canvas.savefig(text, format="svg", dpi=CLOUD_DPI, metadata={"Date": None})
    return tidy(text.getvalue(), label, f"f{zlib.crc32(name.encode()):08x}")


def _compose(panels: Sequence[Panel], n_columns: int) -> Canvas:
    columns = max(1, min(n_columns, len(panels)))
    rows = math.ceil(len(panels) / columns)
    height = LATTICE_HEIGHT if panels[0]["kind"] == "lattice" else HEIGHT
    canvas = Canvas(figsize=(WIDTH, rows * height), layout="constrained")
    places = canvas.subfigures(rows, columns, squeeze=False).ravel()
    legends = [_handles(panel) for panel in panels]
    labels = [[handle.get_label() for handle in handles] for handles in legends]
    shared = all(one == labels[0] for one in labels)
    for number, (panel, place) in enumerate(zip(panels, places, strict=False)):
        axes = place.subplots()
        letter = f"{chr(ord('A') + number)}  " if 1 < len(panels) <= 26 else ""
        axes.set_title(letter + panel["title"])
        DRAW[panel["kind"]](axes, panel)
        axes.set_xlabel(panel["x_label"])
        axes.set_ylabel(panel["y_label"])
        if panel["top"] is not None:
            axes.set_ylim(top=max(axes.get_ylim()[1], 1.05 * panel["top"]))
        if legends[number] and not shared:
            place.legend(handles=legends[number], loc="outside lower center", ncols=2)
    if legends[0] and shared:
        canvas.legend(handles=legends[0], loc="outside lower center", ncols=5)
    return canvas


def _handles(panel: Panel) -> list[Any]:
    handles: list[Any] = []
    for series in panel["series"]:
        look = LOOKS[series["role"]]
        if panel["kind"] in ("bars", "stacked"):
            style: Any = {
                "facecolor": look.colour,
                "hatch": look.hatch,
                "edgecolor": "white",
            }
            handles.append(Patch(label=series["label"], **style))
        else:
            dashes = {"linestyle": "none"} if panel["kind"] == "points" else _dashes(look)
            handles.append(
                Line2D(
                    [], [], label=series["label"], color=look.colour, marker=look.marker, **dashes
                )
            )
    if any(series["threshold"] for series in panel["series"]):
        handles.append(Line2D([], [], label="critical value", color=INK, dashes=(2.0, 1.4)))
    return handles


def _dashes(look: Any) -> dict[str, Any]:
    return {"dashes": look.dashes} if look.dashes else {}


def _numbers(values: Sequence[Any]) -> NDArray[Any]:
    """Return floats; a missing value is NaN, and leaves a gap."""
    return np.array([math.nan if value is None else value for value in values], dtype=float)


def _draw_bars(axes: Axes, panel: Panel) -> None:
    stacked = panel["kind"] == "stacked"
    names = list(dict.fromkeys(str(name) for series in panel["series"] for name in series["x"]))
    # Series without common categories are drawn in the same place.
    apart = len(names) < sum(len(series["x"]) for series in panel["series"]) and not stacked
    slots = len(panel["series"]) if apart else 1
    width = 0.82 / max(1, slots)
    base = np.zeros(len(names))
    for position, series in enumerate(panel["series"]):
        look, y = LOOKS[series["role"]], np.nan_to_num(_numbers(series["y"]))
        places = np.array([names.index(str(name)) for name in series["x"]], dtype=int)
        x = places + ((position - (slots - 1) / 2) * width if apart else 0.0)
        floor = base[places] if stacked else np.zeros(len(y))
        style: Any = {
            "color": look.colour,
            "hatch": look.hatch,
            "edgecolor": "white",
            "linewidth": 0.3,
        }
        error = None if series["error"] is None else _numbers(series["error"])
        axes.bar(x, y, 0.94 * width, floor, yerr=error, ecolor=INK, error_kw={"lw": 0.9}, **style)
        if stacked:
            base[places] += y
        if series["threshold"] is not None:
            limits = _numbers(series["threshold"])
            axes.hlines(limits, x - width / 2, x + width / 2, color=INK, lw=1.1, ls=(0, (2, 1)))
    letters = sum(map(len, names)) + 2 * len(names)
    turn: dict[str, Any] = (
        {} if letters < 150 / panel["n_columns"] else {"rotation": 40, "ha": "right"}
    )
    axes.set_xticks(range(len(names)), names, **turn)
    axes.grid(axis="y")


def _draw_lines(axes: Axes, panel: Panel) -> None:
    for series in panel["series"]:
        look, x, y = LOOKS[series["role"]], _numbers(series["x"]), _numbers(series["y"])
        error = None if series["error"] is None else _numbers(series["error"])
        style = {"color": look.colour, "marker": look.marker, "ms": 3.2, "lw": 1.3, **_dashes(look)}
        axes.errorbar(x, y, error, elinewidth=0.9, **style)
        if series["threshold"] is not None:
            axes.plot(x, _numbers(series["threshold"]), lw=0.9, color=look.colour, dashes=(2, 1.6))
    for mark in panel["marks"]:
        axes.axvline(mark, color="#8C8C8C", lw=0.8, ls=(0, (1.0, 1.5)), zorder=1)
    places = sorted({float(x) for series in panel["series"] for x in series["x"]})
    if len(places) > 1 and places[0] > 0 and places[-1] >= 50 * places[0]:
        axes.set_xscale("log")
        axes.set_xticks(places, [f"{x:,g}" for x in places])
        axes.set_xticks([], minor=True)
    axes.grid(axis="y")


def _draw_points(axes: Axes, panel: Panel) -> None:
    many = sum(len(series["x"]) for series in panel["series"]) > MANY_POINTS
    for position, series in enumerate(panel["series"]):
        look, cloud = LOOKS[series["role"]], len(series["x"]) > 50
        axes.scatter(
            _numbers(series["x"]),
            _numbers(series["y"]),
            s=6 if cloud else 30,
            marker=look.marker,
            color=look.colour,
            alpha=0.5 if cloud and many else 0.9,
            edgecolors="none" if cloud else INK,
            zorder=2.0 + 0.01 * position,
            rasterized=cloud and many,
        )


def _draw_lattice(axes: Axes, panel: Panel) -> None:
    """Draw atoms as boxes: dotted if in no term, with a number if in several."""
    nodes = panel["nodes"]
    for low, high in panel["edges"]:
        x, y = zip(*((nodes[end]["x"], nodes[end]["level"]) for end in (low, high)), strict=True)
        axes.plot(x, y, color="#B8B8B8", lw=0.7, zorder=1)
    for node in nodes:
        count, colour = node["count"], LOOKS[node["role"]].colour
        box = {
            "boxstyle": "round,pad=0.3",
            "facecolor": (*matplotlib.colors.to_rgb(colour), 0.4) if count else "white",
            "edgecolor": colour if count else "#8C8C8C",
            "linewidth": 1.6 if count > 1 else 0.8,
            "linestyle": "solid" if count else "dotted",
        }
        text = node["label"] + (f" ×{count}" if count > 1 else "")
        place: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6.6}
        axes.text(node["x"], node["level"], text, bbox=box, **place)
    axes.margins(0.16, 0.06)
    axes.axis("off")


DRAW = {
    "bars": _draw_bars,
    "stacked": _draw_bars,
    "lines": _draw_lines,
    "points": _draw_points,
    "lattice": _draw_lattice,
}
