"""The base classes of displays, and what they share: labels, legends, colour bars."""

from __future__ import annotations

import io
import math
import textwrap
import warnings
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, ClassVar, Self
from unicodedata import combining, east_asian_width

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.text import Text

from pidselect.data.messages import cut, shown
from pidselect.report.style import CLOUD_DPI, INK, LETTER, SETTINGS, tidy
from pidselect.significance.validation import check_count

#: Of pictures in notebooks and files, in dots per inch.
PICTURE_DPI = 150

#: Of all labels, in points.
LABEL_SIZE = 8.0

BACKGROUND = "white"

#: Opacity of secondary text.
MUTED = 0.75

#: Letters of a name in a picture, and in a description.
SHORT_NAME, LONG_NAME = 24, 60

#: Items of a description.
MAX_DESCRIBED = 12

#: Rows of a display with one row for each feature.
MAX_FEATURES = 30

#: Height of a row, of everything around the rows, and of a line of text, in inches.
ROW, AROUND_ROWS, LINE_HEIGHT = 0.215, 1.05, 0.125

#: Width and height of a figure, and the margins left and right of its axes, in inches.
FigureLayout = tuple[float, float, float, float]

#: Layout of a figure that holds a message only.
EMPTY: FigureLayout = (5.2, 1.2, 0.75, 0.1)

SUFFIXES = (".svg", ".png", ".pdf")


class Display(ABC):
    """Numbers that can be drawn into axes, written to a file, and described in words.

    `ax_` and `figure_` are matplotlib's, of the last `plot`. pyplot is not used, and matplotlib's
    settings are not changed.
    """

    ax_: Axes
    figure_: Any

    #: The accessible name of the picture, and what it shows if there is nothing to draw.
    title: ClassVar[str] = ""
    _nothing: ClassVar[str] = ""

    @classmethod
    def from_dict(cls, record: Mapping[str, Any], **options: Any) -> Self:
        """Return the display of ``to_dict()`` of a result, without drawing it.

        `options` are further fields, such as `max_features` of displays with a row for each. A
        `JointDisplay` is made from an item of `joint` in the summary of a report.
        """
        return cls(**cls._fields(record), **options)

    @classmethod
    @abstractmethod
    def _fields(cls, record: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of the display of a record."""

    @classmethod
    def _of(cls, result: Any, expected: type, origin: str, ax: Axes | None, **options: Any) -> Self:
        """Draw a result; raise a TypeError if it is of another type."""
        if not isinstance(result, expected):
            raise TypeError(
                f"expected a {expected.__name__}, such as {origin}, got a {type(result).__name__}"
            )
        return cls.from_dict(result.to_dict(), **options).plot(ax)  # type: ignore[attr-defined]

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw into axes, or into a new figure of suitable size, and return the display itself.

        Nothing else of the figure is changed. The background of the axes becomes white; labels
        around them have the colour of the axes' own labels.

        Examples
        --------
        Two displays in one figure, of numbers that were stored without the data:

        >>> import json
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from matplotlib.figure import Figure
        >>> from pidselect import AtomBarsDisplay, LatticeDisplay, datasets, decompose_distribution
        >>> stored = json.dumps(decompose_distribution(datasets.gate("AND")).to_dict())
        >>> left, right = Figure(figsize=(10, 3)).subplots(1, 2)
        >>> bars = AtomBarsDisplay.from_dict(json.loads(stored)).plot(left)
        >>> lattice = LatticeDisplay.from_dict(json.loads(stored)).plot(right)
        >>> bars.figure_ is lattice.figure_, bars.ax_ is left
        (True, True)
        >>> lattice.describe() in lattice.to_svg()
        True
        >>> with TemporaryDirectory() as folder:
        ...     lattice.save(Path(folder, "atoms.pdf"))
        """
        if ax is not None and not isinstance(ax, Axes):
            raise TypeError(f"ax is one set of axes, such as axes[0, 0], not a {type(ax).__name__}")
        with _settings():
            if ax is None:
                ax = self._new_figure().axes[0]
            else:
                ax.set_facecolor(BACKGROUND)
                self._fill(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_svg(self) -> str:
        """Return a self-contained SVG element with a description."""
        svg = self._to_bytes("svg")
        return tidy(svg.decode(), self.title, f"d{zlib.crc32(svg):08x}", self.describe())

    def save(self, path: str | Path) -> None:
        """Write the picture as .svg, .png or .pdf, by the suffix of the path."""
        path = Path(path)
        if path.suffix not in SUFFIXES:
            raise ValueError(
                f"a display is written as {', '.join(SUFFIXES)}, not as {path.suffix!r} "
                f"({path.name})"
            )
        if path.suffix == ".svg":
            path.write_text(self.to_svg(), encoding="utf-8")
        else:
            path.write_bytes(self._to_bytes(path.suffix[1:]))

    @abstractmethod
    def describe(self) -> str:
        """Return the main numbers in words."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._summary()}>"

    def _repr_png_(self) -> bytes:
        return self._to_bytes("png")

    def _to_bytes(self, form: str) -> bytes:
        undated: Any = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}  # equal at every run
        dpi, written = CLOUD_DPI if form == "svg" else PICTURE_DPI, io.BytesIO()
        with _settings():
            self._new_figure().savefig(written, format=form, dpi=dpi, metadata=undated.get(form))
        return written.getvalue()

    def _new_figure(self) -> Figure:
        wide, high, left, right = EMPTY if self._is_empty else self._layout()
        figure = Figure(figsize=(wide, high), layout="constrained")
        # The margins are those of the layout, so that sizes are known while drawing.
        figure.subplotpars.update(left=left / wide, right=1.0 - right / wide)
        self._fill(figure.add_subplot())
        return figure

    @property
    def _is_empty(self) -> bool:
        """Whether there is nothing to draw: the first field holds what is drawn."""
        return not len(getattr(self, fields(self)[0].name))  # type: ignore[arg-type]

    def _fill(self, ax: Axes) -> None:
        """Draw into axes, or why there is nothing to draw."""
        if not self._is_empty:
            self._draw(ax)
            return
        style: dict[str, Any] = {"ha": "center", "va": "center", "wrap": True}
        ax.text(0.5, 0.5, self._nothing, transform=ax.transAxes, **style)
        hide_axes(ax)

    @abstractmethod
    def _summary(self) -> str:
        """Return a few words for the repr."""

    @abstractmethod
    def _layout(self) -> FigureLayout:
        """Return the size of a new figure and the approximate margins of its axes."""

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw into axes."""


@contextmanager
def _settings() -> Iterator[None]:
    """Apply fixed settings of matplotlib, so that pictures do not depend on the user's.

    Glyphs missing from the font are not warned about: in an SVG the reader's font is used.
    """
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**SETTINGS, "svg.hashsalt": "pidselect"})
        yield


def label(name: str, most: int = SHORT_NAME) -> str:
    """Return a printable name of at most so many letters."""
    return cut(shown(name), most)


def width(text: str) -> float:
    """Return the approximate width of a text, in inches; some letters have two cells or none."""
    lines = [[one for one in line if not combining(one)] for line in text.split("\n")]
    longest = max(sum(1 + (east_asian_width(one) in "WF") for one in line) for line in lines)
    return longest * LETTER


def max_width(names: Sequence[str]) -> float:
    """Return the approximate width of the widest label, in inches."""
    return max((width(label(name)) for name in names), default=0.0)


def wrap(ax: Axes, lines: Sequence[str]) -> str:
    """Wrap lines to the width of the axes."""
    most = max(30, int(inches(ax)[0] / LETTER))
    return "\n".join(part for line in lines for part in textwrap.wrap(line, most))


def variable_key(variables: Sequence[str]) -> str:
    """Return the names of numbered sources and, last, of the target.

    Examples
    --------
    >>> variable_key(["rain", "sprinkler", "wet"])
    '1 is rain, 2 is sprinkler; the target is wet'
    """
    *sources, target = map(label, variables)
    numbered = ", ".join(f"{place} is {name}" for place, name in enumerate(sources, start=1))
    return f"{numbered}; the target is {target}"


def as_plain_text(*texts: Text) -> None:
    """Show dollars in names as they are, whatever the settings when the figure is drawn."""
    for text in texts:
        text.set_parse_math(False)
        text.set_usetex(False)


def inches(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes, in inches."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    return box.width / dpi, box.height / dpi


def outer_colour(ax: Axes) -> Any:
    """Return the colour of text around the axes, which may be on a dark figure."""
    return ax.yaxis.label.get_color()


def text_colour(background: Any) -> str:
    """Return black or white, whichever has more contrast."""
    red, green, blue = (part**2.2 for part in background[:3])
    # The relative luminance of WCAG; at 0.21 both have the same contrast.
    return INK if 0.21 * red + 0.72 * green + 0.07 * blue > 0.21 else "white"


def colour_bar(
    ax: Axes, box: tuple[float, float, float, float], colours: ScalarMappable, title: str
) -> Axes:
    """Draw a colour bar into inset axes, at a box in units of the axes."""
    side = ax.inset_axes(box)
    Colorbar(side, colours).outline.set_visible(False)
    side.tick_params(length=2.0, labelsize=LABEL_SIZE, colors=outer_colour(ax))
    side.set_ylabel(title, color=outer_colour(ax))
    return side


def label_axes(ax: Axes, x: str = "", y: str = "") -> None:
    """Set the axis labels in the size of the picture, whatever the user's settings."""
    for axis, words in ((ax.xaxis, x), (ax.yaxis, y)):
        if words:
            axis.set_label_text(words, fontsize=LABEL_SIZE)
            as_plain_text(axis.label)


def slope(ax: Axes, angle: float) -> None:
    """Turn the labels below the axes."""
    for text in ax.get_xticklabels():
        text.set(rotation=angle, rotation_mode="anchor", ha="right")
        text.set_verticalalignment("center" if angle == 90 else "top")


def hide_axes(ax: Axes) -> None:
    """Remove ticks and spines."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def legend_above(ax: Axes, handles: Sequence[Artist]) -> None:
    """Draw a legend above the axes, in as many columns as fit."""
    widest = max(width(str(handle.get_label())) for handle in handles)
    ax.legend(
        handles=list(handles),
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=max(1, min(len(handles), int(inches(ax)[0] / (0.8 * widest + 0.45)))),
        labelcolor=outer_colour(ax),
        borderaxespad=0.2,
        columnspacing=1.4,
        handletextpad=0.5,
    )


class RowsDisplay(Display):
    """A display with one row for each name, of which at most `max_features` are drawn."""

    max_features: int

    def __post_init__(self) -> None:
        check_count(self.max_features, "max_features")

    @abstractmethod
    def _rows(self) -> Sequence[tuple[str, str]]:
        """Return the name and the note beside it of all rows."""

    @abstractmethod
    def _draw_rows(self, ax: Axes, n_rows: int) -> list[Artist]:
        """Draw the first rows, and return the entries of the legend."""

    @abstractmethod
    def _axis_lines(self) -> list[str]:
        """Return the label of the horizontal axis."""

    def _layout(self) -> FigureLayout:
        rows = self._rows()
        left = max_width([name for name, _ in rows[: self.max_features]]) + 0.15
        right = max(width(note) for _, note in rows[: self.max_features]) + 0.15
        n_rows = max(2, min(len(rows), self.max_features + 1))
        high = AROUND_ROWS + ROW * n_rows + 0.15 * (len(self._axis_lines()) > 1)
        return 4.4 + left + right, high, left, right

    def _draw(self, ax: Axes) -> None:
        rows = self._rows()[: self.max_features]
        handles, omitted = self._draw_rows(ax, len(rows)), len(self._rows()) - len(rows)
        n_rows = len(rows) + (omitted > 0)
        ax.set_ylim(n_rows - 0.4, -0.6)
        # Only every n-th row is labelled if rows are lower than a line of text.
        every = max(1, math.ceil(LINE_HEIGHT * n_rows / inches(ax)[1] - 1e-9))
        ax.set_yticks(range(0, len(rows), every), [label(name) for name, _ in rows[::every]])
        ax.tick_params(axis="y", length=0, labelsize=LABEL_SIZE)
        ax.tick_params(axis="x", length=2.5, labelsize=LABEL_SIZE)
        as_plain_text(*ax.get_yticklabels())
        ax.set_axisbelow(True)
        ax.grid(axis="x", color=SETTINGS["grid.color"], linewidth=SETTINGS["grid.linewidth"])
        style: dict[str, Any] = {
            "transform": ax.get_yaxis_transform(),
            "va": "center_baseline",
            "alpha": MUTED,
            "clip_on": False,
        }
        for place in range(0, len(rows), every):
            ax.text(1.02, place, rows[place][1], color=outer_colour(ax), **style)
        if omitted:
            ax.text(0.01, len(rows), f"and {omitted} more", **style)
        label_axes(ax, x=wrap(ax, self._axis_lines()))
        legend_above(ax, handles)
