"""The nested spheres' data and estimates, and the figure of both."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pidselect.decomposition.binning import BINNINGS, Binning
from reproduction.averages import mean_series
from reproduction.experiment import Results
from reproduction.figures import Figure, Panel, Role, Series


class Data(NamedTuple):
    """What the paper leaves open: the outer radius, with an inner one of 1, and the noise."""

    outer: float
    label_noise: float

    @property
    def said(self) -> str:
        """In words."""
        return f"radii 1 and {self.outer:g}, noise {self.label_noise:g}"


#: The data that verdicts go by, and closer spheres with less noise on the labels.
CHOSEN, CLOSER = Data(1.25, 0.5), Data(1.1, 0.1)

DEPTHS = {"alone": "alone", "one": "given one other", "both": "given both others"}


class Estimated(NamedTuple):
    """How a term is estimated, and whether from classes or from noisy labels."""

    label: str
    role: Role
    target: str
    estimator: str = "ksg"
    binning: Binning | None = None


ESTIMATES = {
    "ksg": Estimated("nearest neighbours, noisy labels", "first", "labels"),
    "mixed": Estimated("nearest neighbours, classes", "second", "classes", "mixed"),
    "count": Estimated("plug-in of equal counts, classes", "third", "classes", binning="count"),
    "width": Estimated("plug-in of equal widths, classes", "fourth", "classes", binning="width"),
}

#: Of the scatter: half the thickness of the slice.
SLICE = 0.3


def draw(results: Results) -> list[Figure]:
    """Return the figure of a sample, the atoms and the terms."""
    panels = [*_draw_sample(results), *_draw_atoms(results), *_draw_terms(results)]
    if not panels:
        return []
    caption = (
        f"A slice through one sample (the third coordinate within {SLICE:g} of 0), and the atoms "
        "of a coordinate beside one other and beside both others, by BROJA on classes and five "
        f"bins: both with {CHOSEN.said}. Then what a coordinate tells with either kind of data, by "
        "four estimators, with the lines of significance of its own 200 permutations, dashed. "
        "Means over coordinates and runs, with standard errors over runs."
    )
    return [Figure("spheres", "Nested spheres", caption, panels, n_columns=3)]


def _draw_sample(results: Results) -> list[Panel]:
    roles: dict[str, Role] = {"inner": "first", "outer": "second"}
    return [
        Panel(
            "Data",
            "points",
            [
                Series(f"{name} sphere", role, [x for x, _ in run[name]], [y for _, y in run[name]])
                for name, role in roles.items()
            ],
            x_label="X1",
            y_label="X2",
        )
        for run in results.of("sample", **CHOSEN._asdict())[:1]
    ]


def _draw_atoms(results: Results) -> list[Panel]:
    shown: dict[Role, str] = {
        "unique1": "unique to the coordinate",
        "unique2": "unique to the others",
        "shared": "shared",
        "synergy": "synergy",
    }
    groups = {"pair": "one other", "set": "both others"}
    runs = results.of("atoms", **CHOSEN._asdict())
    return [
        Panel(
            f"Atoms, bins of equal {binning}s",
            "bars",
            [
                mean_series(
                    label,
                    atom,
                    list(groups.values()),
                    [[run[binning][group][atom] for group in groups] for run in runs],
                )
                for atom, label in shown.items()
            ],
            x_label="coordinate beside",
            y_label="information (bit)",
        )
        for binning in BINNINGS
        if runs
    ]


def _draw_terms(results: Results) -> list[Panel]:
    panels = []
    for data in (CHOSEN, CLOSER):
        runs = results.of("terms", **data._asdict())
        if not runs:
            continue
        series = []
        for name, how in ESTIMATES.items():
            bits, lines = (
                [[float(np.mean(run[name][depth][key])) for depth in DEPTHS] for run in runs]
                for key in ("bits", "line")
            )
            series.append(mean_series(how.label, how.role, list(DEPTHS.values()), bits, lines))
        panels.append(Panel(f"Terms, {data.said}", "bars", series, y_label="information (bit)"))
    return panels
