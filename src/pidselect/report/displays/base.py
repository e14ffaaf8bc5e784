"""What all displays share: where they draw, and how they are written."""

from __future__ import annotations

import io
import warnings
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

import matplotlib
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure as Canvas
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.text import Text

from pidselect.report.style import CLOUD_DPI, INK, SETTINGS, SHARED_STYLES
from pidselect.report.svg import tidy

#: Of pictures in notebooks and files, in dots per inch.
PICTURE_DPI = 150

#: Of all that stands beside the axes, in points.
LABEL_SIZE = 8.0

#: Of all axes.
GROUND = "white"

#: How much of its colour is left of what is said beside the numbers.
QUIET = 0.75

#: Where results come from, for messages.
AN_EXPLANATION, A_DECOMPOSITION = "selector.explain(X, y)", "decompose(sources, target)"

#: What files can be written, by their suffix.
SUFFIXES = (".svg", ".png", ".pdf")


def record_of(result: Any, kind: type, example: str) -> dict[str, Any]:
    """Return the plain record of a result; refuse what is another one."""
    if not isinstance(result, kind):
        raise TypeError(
            f"this takes a {kind.__name__}, such as {example}, not a {type(result).__name__}"
        )
    record: dict[str, Any] = result.to_dict()  # type: ignore[attr-defined]
    return record


class Display(ABC):
    """Numbers that can be looked at: drawn into axes, written to a file, or told in words.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn into last; there is none before the first `plot`.
    figure_ : matplotlib Figure
        The figure of these axes.
    """

    ax_: Axes
    figure_: Any

    #: What the picture is called by those who do not see it.
    title: ClassVar[str] = ""

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the numbers.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw. Only these axes are touched; nothing else of their figure is, nor its
            layout. They get a white ground; what stands around them has the colour of their own
            labels. Without axes a figure of a fitting size is made.

        Returns
        -------
        The display itself, with `ax_` and `figure_`.
        """
        if ax is not None and not isinstance(ax, Axes):
            raise TypeError(f"ax is one set of axes, such as axes[0, 0], not a {type(ax).__name__}")
        with _settings():
            if ax is None:
                _, ax = self._compose()
            else:
                ax.set_facecolor(GROUND)  # all colours are chosen for it
                self._draw(ax)
                self._label(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_svg(self, salt: str = "") -> str:
        """Return one SVG element that needs nothing else, with a description in words.

        Parameters
        ----------
        salt : str
            Makes the ids inside differ from those of the same picture on the same page.
        """
        name = f"{salt} {type(self).__name__}"
        with _settings({"svg.hashsalt": name}):
            written = io.StringIO()
            figure = self._compose()[0]
            figure.savefig(written, format="svg", dpi=CLOUD_DPI, metadata={"Date": None})
        svg = written.getvalue()
        prefix = f"d{zlib.crc32(f'{name} {svg}'.encode()):08x}"
        return tidy(svg, self.title, prefix, SHARED_STYLES, self.describe())

    def save(self, path: str | Path) -> None:
        """Write the picture as .svg, .png or .pdf, by the suffix of the path."""
        path = Path(path)
        if path.suffix == ".svg":
            path.write_text(self.to_svg(), encoding="utf-8")
        elif path.suffix in SUFFIXES:
            path.write_bytes(self._written(path.suffix[1:]))
        else:
            raise ValueError(
                f"a display is written as {', '.join(SUFFIXES)}, not as {path.suffix!r} "
                f"({path.name})"
            )

    @abstractmethod
    def describe(self) -> str:
        """Return what is seen, with the main numbers, in sentences."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._short()}>"

    def _repr_png_(self) -> bytes:
        return self._written("png")

    def _written(self, form: str) -> bytes:
        # A date within the file would make it another one at every run.
        metadata = {"pdf": {"CreationDate": None}}.get(form)
        with _settings():
            written = io.BytesIO()
            figure = self._compose()[0]
            figure.savefig(written, format=form, dpi=PICTURE_DPI, metadata=metadata)
        return written.getvalue()

    def _compose(self) -> tuple[Canvas, Axes]:
        """Draw into a figure of its own, whose layout settles before labels find their places."""
        wide, high = self._size()
        engine = ConstrainedLayoutEngine()
        figure = Canvas(figsize=(wide, high), layout=engine)
        left, right = self._sides()
        figure.subplotpars.update(left=left / wide, right=1.0 - right / wide)
        ax = figure.add_subplot()
        self._draw(ax)
        engine.execute(figure)
        ax.apply_aspect()
        self._label(ax)
        return figure, ax

    @abstractmethod
    def _short(self) -> str:
        """Return a few words for the repr."""

    @abstractmethod
    def _size(self) -> tuple[float, float]:
        """Return width and height of a figure of its own, in inches."""

    def _sides(self) -> tuple[float, float]:
        """Return about how much room is needed left and right of the axes, in inches."""
        return 0.75, 0.1

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw everything that has an influence on the layout."""

    def _label(self, ax: Axes) -> None:  # noqa: B027, most have nothing to write
        """Write what must find its place within the axes, whose size is known by now."""


@contextmanager
def _settings(more: dict[str, Any] | None = None) -> Iterator[None]:
    """Hold the settings of matplotlib for as long as something is drawn.

    A letter that the font lacks is no reason to warn: in an SVG the reader's own font has it.
    """
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        matplotlib.rcdefaults()  # a reader's own settings would make it another picture
        matplotlib.rcParams.update({**SETTINGS, **(more or {})})
        yield


def inches(ax: Axes) -> tuple[float, float]:
    """Return width and height of the axes as they are now, in inches."""
    box, dpi = ax.get_window_extent(), ax.figure.dpi
    return box.width / dpi, box.height / dpi


def around(ax: Axes) -> Any:
    """Return the colour of what stands around the axes, where a dark figure may be."""
    return ax.yaxis.label.get_color()


def ink_on(face: Any) -> str:
    """Return the colour of letters that can be read on a colour.

    Examples
    --------
    >>> ink_on((0.9, 0.62, 0.0)), ink_on((0.0, 0.45, 0.7))
    ('#222222', 'white')
    """
    red, green, blue = (part**2.2 for part in face[:3])
    # The lightness by which web pages are judged; at 0.21 both have the same contrast.
    return INK if 0.21 * red + 0.72 * green + 0.07 * blue > 0.21 else "white"


def colour_bar(
    ax: Axes, box: tuple[float, float, float, float], colours: ScalarMappable, words: str
) -> Axes:
    """Draw a colour bar into axes that belong to others, at a box in units of those."""
    side = ax.inset_axes(box)
    Colorbar(side, colours).outline.set_visible(False)
    side.tick_params(length=2.0, labelsize=LABEL_SIZE, colors=around(ax))
    side.set_ylabel(words, color=around(ax))
    return side


def as_text(*texts: Text) -> None:
    """Let names be names: what matplotlib makes of dollars depends on when it looks at them.

    Labels of ticks are made anew when a figure is drawn, by the settings of that time.
    """
    for text in texts:
        text.set_parse_math(False)
        text.set_usetex(False)


def name_axes(ax: Axes, x: str = "", y: str = "") -> None:
    """Name the axes in the size of the picture, whatever the settings they were made by."""
    for axis, words in ((ax.xaxis, x), (ax.yaxis, y)):
        if words:
            axis.set_label_text(words, fontsize=LABEL_SIZE)
            as_text(axis.label)


def say_empty(ax: Axes, words: str) -> None:
    """Write that there is nothing to show, instead of leaving the axes bare."""
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes, wrap=True)
    bare(ax)


def bare(ax: Axes) -> None:
    """Leave out what belongs to numbers along the axes."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)
