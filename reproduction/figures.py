"""What a figure shows, as plain numbers: it can be stored, and drawn again without any rerun."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

#: What a series stands for. It has the same colour in every figure.
Role = Literal[
    "mi",
    "mi2",
    "cmi",
    "cmi2",
    "joint",
    "unique1",
    "unique2",
    "shared",
    "synergy",
    "right",
    "wrong",
    "first",
    "second",
    "third",
    "fourth",
    "plain",
]
ROLES: tuple[Role, ...] = get_args(Role)

PanelKind = Literal["bars", "stacked", "lines", "points", "lattice"]


@dataclass(frozen=True)
class Series:
    """Values that belong together: bars of one colour, a line, or a cloud of points.

    Parameters
    ----------
    label : str
        As the legend has it; says which estimator it is from, where that is not in the title.
    role : str
        What it stands for, one of `ROLES`: decides the colour.
    x : sequence of str or float
        Categories (bars, stacked) or numbers (lines, points).
    y : sequence of float
    error : sequence of float, optional
        Standard errors, one for each value.
    threshold : sequence of float, optional
        The line that a value must exceed to be significant, one for each value; drawn dashed.
    """

    label: str
    role: Role
    x: Sequence[str] | Sequence[float]
    y: Sequence[float]
    error: Sequence[float] | None = None
    threshold: Sequence[float] | None = None


@dataclass(frozen=True)
class Node:
    """An antichain of a lattice: where it stands, and how often it is covered."""

    label: str
    x: float
    level: float
    count: int
    role: Role = "plain"


@dataclass(frozen=True)
class Panel:
    """One set of axes.

    Parameters
    ----------
    title : str
        Without the letter; letters A, B, ... are given when drawn.
    kind : {"bars", "stacked", "lines", "points", "lattice"}
        Bars side by side or on top of each other (one group for each category), lines over a
        number, clouds of points, or a lattice.
    series : sequence of Series
        In "points", later ones lie above earlier ones and are drawn larger.
    x_label, y_label : str
    nodes, edges : sequences
        Of a lattice: its antichains, and pairs of their positions.
    marks : sequence of float
        Numbers on the x axis at which a vertical line stands.
    top : float, optional
        What the y axis reaches at least, such as 100 where values are percentages of all.
    """

    title: str
    kind: PanelKind
    series: Sequence[Series] = ()
    x_label: str = ""
    y_label: str = ""
    nodes: Sequence[Node] = ()
    edges: Sequence[tuple[int, int]] = ()
    marks: Sequence[float] = ()
    top: float | None = None


@dataclass(frozen=True)
class Figure:
    """Panels that are looked at together.

    Parameters
    ----------
    name : str
        Of the file, such as "friedman-rates".
    title : str
    caption : str
        What is seen, by which estimator, with what thresholds and errors.
    panels : sequence of Panel
    n_columns : int
        Panels side by side.
    """

    name: str
    title: str
    caption: str
    panels: Sequence[Panel]
    n_columns: int = 3

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Figure:
        """Return the figure that `to_dict` wrote.

        Examples
        --------
        >>> bars = Series("MI", "mi", ["X1", "X2"], [0.5, 0.1], error=[0.01, 0.02])
        >>> figure = Figure("demo", "Demo", "Two bars.", (Panel("KSG", "bars", (bars,)),))
        >>> Figure.from_dict(figure.to_dict()) == figure
        True
        """
        panels = tuple(
            Panel(
                **{
                    **panel,
                    "series": tuple(Series(**series) for series in panel["series"]),
                    "nodes": tuple(Node(**node) for node in panel["nodes"]),
                    "edges": tuple((low, high) for low, high in panel["edges"]),
                }
            )
            for panel in record["panels"]
        )
        return cls(**{**record, "panels": panels})
