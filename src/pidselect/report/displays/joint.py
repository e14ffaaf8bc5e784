"""The target over the levels of two features, such as those that were included jointly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from pidselect.data.messages import counted, listed, number
from pidselect.report.displays import base
from pidselect.report.displays.base import Display
from pidselect.report.levels import joint_table, joint_tables
from pidselect.report.style import INK
from pidselect.selection.explain import read_like_fit
from pidselect.selection.validation import check_columns

#: Blue below and vermilion above the value of all rows, light enough for dark text.
COLOURS = LinearSegmentedColormap.from_list("joint", ["#73B1D6", "#FAFAFA", "#E99E66"])


@dataclass(eq=False, repr=False)
class JointDisplay(Display):
    """Mean of the target, or share of one class, over the levels of two features.

    Numbers are in up to five quantile bins, and rare labels are lumped. Each cell has its number of
    rows; colours are relative to the value of all rows.

    Parameters
    ----------
    features : tuple of str
        Two, the first on the vertical axis; none if no features were included jointly.
    levels : tuple of two tuples of str
    counts : array of int64, shape (n_first, n_second)
        Number of rows.
    values : array of float64, shape (n_first, n_second)
        NaN in empty cells.
    overall : float
        The value of all rows.
    range : tuple of float
        Smallest and largest value of cells of at least 10 rows: the ends of the colour scale.
    quantity : str
        Such as "share of y = 1"; of more than two classes the one whose share varies most.
    digits : int
        Decimals of the values.

    Examples
    --------
    The target is the parity of the first two columns; the third is noise.

    >>> import numpy as np
    >>> from pidselect import JointDisplay, PIDSelector
    >>> X = np.random.default_rng(0).integers(0, 2, size=(200, 3))
    >>> y = X[:, 0] ^ X[:, 1]
    >>> selector = PIDSelector(random_state=0).fit(X, y)
    >>> JointDisplay.from_selector(selector, X, y).features
    ('x0', 'x1')
    >>> print(JointDisplay.from_selector(selector, X, y, features=["x0", "x2"]).describe())
    x0 and x2: share of class 1 from 0.39 to 0.51, of all 200 rows 0.43.
    """

    features: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    counts: NDArray[np.int64]
    values: NDArray[np.float64]
    overall: float = np.nan
    range: tuple[float, ...] = ()
    quantity: str = ""
    digits: int = 2
    title: ClassVar[str] = "The target over two features"
    _nothing: ClassVar[str] = "No two single columns were included jointly."

    @classmethod
    def from_selector(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[str | int] | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the data of a fitted selector over two columns, named or numbered by `features`.

        By default they are the first two that were included jointly and are single columns.
        """
        check_is_fitted(selector)
        check_columns(selector, X)
        selection = selector.selection_
        types = selection.settings.target_types
        dataset = read_like_fit(X, y, selector.feature_types_, types, selector.missing)
        if features is None:
            found = [one["features"] for one in joint_tables(selection, dataset) if one["counts"]]
            features = found[0] if found else ()  # of a triple, over all levels of the third
        elif isinstance(features, str) or len(set(features)) != 2 or len(dataset.target) > 1:
            raise ValueError(
                f"features={features!r}: must be two different columns, with one target column."
            )
        names = [dataset.table.names[dataset.table.index(name)] for name in features]
        record = joint_table(dataset, names) if names else {"features": (), "levels": ()}
        return cls.from_dict(record).plot(ax)

    @classmethod
    def _fields(cls, record: Mapping[str, Any]) -> dict[str, Any]:
        known = ("overall", "range", "quantity", "digits")
        return {
            "features": tuple(record["features"]),
            "levels": tuple(map(tuple, record["levels"])),
            "counts": np.array(record.get("counts", ()), dtype=np.int64),
            "values": np.array(record.get("values", ()), dtype=np.float64),
            **{name: record[name] for name in known if name in record},
        }

    def describe(self) -> str:
        """Return the main numbers in words."""
        if not self.features:
            return self._nothing
        low, high, overall = (number(one, self.digits) for one in (*self.range, self.overall))
        rows = counted(int(self.counts.sum()), "row")
        empty = int((self.counts == 0).sum())
        return (
            f"{self._summary()}: {self.quantity} from {low} to {high}, of all {rows} {overall}."
            + f" {counted(empty, 'cell')} empty." * (empty > 0)
        )

    def _summary(self) -> str:
        named = listed(self.features, letters=base.SHORT_NAME)
        return named or "no two single columns were included jointly"

    def _layout(self) -> base.FigureLayout:
        cell = max(0.7, base.max_width(self.levels[1]) + 0.1)
        wide, high = cell * len(self.levels[1]), max(1.8, 0.42 * len(self.levels[0]))
        left = base.max_width(self.levels[0]) + 0.4
        return left + wide + 1.2, high + 0.6, left, 1.2

    def _draw(self, ax: Axes) -> None:
        low, high = min(self.range[0], self.overall), max(self.range[1], self.overall)
        most = max(self.overall - low, high - self.overall) or 1.0
        norm = Normalize(self.overall - most, self.overall + most, clip=True)
        seen = np.ma.masked_invalid(self.values)
        ax.imshow(seen, cmap=COLOURS, norm=norm, aspect="auto", interpolation="nearest")
        for row, column in np.ndindex(*self.counts.shape):
            corner = column - 0.5, row - 0.5
            count, value = int(self.counts[row, column]), float(self.values[row, column])
            look: dict[str, Any] = {"ec": base.BACKGROUND, "lw": 0.8}
            if not count:
                look = {"ec": "#D0D0D0", "lw": 0.0, "hatch": "////"}
            ax.add_patch(Rectangle(corner, 1, 1, fill=False, **look))
            text = f"{number(value, self.digits)}\n{counted(count, 'row')}" if count else "empty"
            ax.text(column, row, text, color=INK, ha="center", va="center", fontsize=7.0)
        for axis, names in ((ax.yaxis, self.levels[0]), (ax.xaxis, self.levels[1])):
            axis.set_ticks(range(len(names)), list(map(base.label, names)))
        ax.tick_params(axis="both", length=0, labelsize=base.LABEL_SIZE)
        if base.max_width(self.levels[1]) > base.inches(ax)[0] / len(self.levels[1]):
            base.slope(ax, 45)
        base.as_plain_text(*ax.get_xticklabels(), *ax.get_yticklabels())
        ax.spines[:].set_visible(False)
        base.label_axes(ax, x=base.label(self.features[1]), y=base.label(self.features[0]))
        words = base.label(self.quantity, 30)
        side = base.colour_bar(ax, (1.04, 0.0, 0.045, 1.0), ScalarMappable(norm, COLOURS), words)
        side.set_ylim(low, high)
        side.axhline(self.overall, color=INK, lw=1.0)
        base.as_plain_text(side.yaxis.label)
