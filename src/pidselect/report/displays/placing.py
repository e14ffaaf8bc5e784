"""Finds room for labels beside the marks that they name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Spot(NamedTuple):
    """Where a label goes: its offset from the mark, in inches, and the side of it that is there."""

    x: float
    y: float
    ha: str
    va: str


class Room:
    """What is taken already, as boxes in inches: left, bottom, right, top; one row for each.

    Examples
    --------
    >>> room = Room((0.0, 0.0, 4.0, 3.0))
    >>> room.take(np.array([[1.9, 1.0, 2.1, 1.5]]))
    >>> above = Spot(0.0, 0.1, "center", "bottom")
    >>> right = Spot(0.1, 0.0, "left", "center")
    >>> room.find((2.0, 1.0), (0.5, 0.2), [above, right])
    Spot(x=0.1, y=0.0, ha='left', va='center')
    """

    def __init__(self, bounds: tuple[float, float, float, float]) -> None:
        self.bounds = bounds
        self._taken = np.empty((0, 4))

    def take(self, boxes: NDArray[np.float64]) -> None:
        """Let nothing else be put there."""
        known = boxes[np.isfinite(boxes).all(axis=1)]
        self._taken = np.concatenate([self._taken, known])

    def find(
        self, mark: tuple[float, float], size: tuple[float, float], spots: Sequence[Spot]
    ) -> Spot | None:
        """Return the first spot at which a label of a size is free, and take it; None if none is.

        Parameters
        ----------
        mark : pair of float
            What is named, in inches.
        size : pair of float
            Width and height of the label, in inches.
        spots : sequence of Spot
        """
        for spot in spots:
            box = _box(mark, size, spot)
            if self._is_free(box):
                self.take(np.array([box]))
                return spot
        return None

    def _is_free(self, box: tuple[float, float, float, float]) -> bool:
        left, bottom, right, top = box
        inside = (
            left >= self.bounds[0]
            and bottom >= self.bounds[1]
            and right <= self.bounds[2]
            and top <= self.bounds[3]
        )
        taken = self._taken
        apart = (
            (taken[:, 0] >= right)
            | (taken[:, 2] <= left)
            | (taken[:, 1] >= top)
            | (taken[:, 3] <= bottom)
        )
        return inside and bool(apart.all())


def _box(
    mark: tuple[float, float], size: tuple[float, float], spot: Spot
) -> tuple[float, float, float, float]:
    shift_x = {"left": 0.0, "center": -0.5, "right": -1.0}[spot.ha]
    shift_y = {"bottom": 0.0, "center": -0.5, "top": -1.0}[spot.va]
    left = mark[0] + spot.x + shift_x * size[0]
    bottom = mark[1] + spot.y + shift_y * size[1]
    return left, bottom, left + size[0], bottom + size[1]


def boxes_around(points: NDArray[np.float64], half: float) -> NDArray[np.float64]:
    """Return a box of so many inches to each side around every point of shape (n, 2)."""
    return np.concatenate([points - half, points + half], axis=1)
