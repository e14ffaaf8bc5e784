"""Draw a selection step by step: what each candidate adds, and what chance can reach.

Run it with ``python examples/draw_selection_path.py [FILE]``; it needs matplotlib and pandas.
Without a FILE it renews the picture in the README, docs/images/selection_path.png.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import pandas as pd

mpl.use("Agg")  # a file is drawn, no window opened

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from pidselect import PIDSelector, datasets
from pidselect.selection import Step

# Colours by Okabe and Ito, which people with any colour vision can tell apart.
BLUE, VERMILION, GREY = "#0072B2", "#D55E00", "#8C8C8C"

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "selection_path.png"

#: How far the candidates of a step spread to both sides.
SPREAD = 0.32


def draw_step(axes: Axes, place: int, step: Step, columns: list[str]) -> None:
    """Draw a step's candidates as dots and its null line, the strongest candidate marked."""
    axes.hlines(step.null_line, place - 0.42, place + 0.42, color=VERMILION, linewidth=2.5)
    for name, score in zip(step.candidates, step.scores, strict=True):
        x = place + SPREAD * (2 * columns.index(name) / (len(columns) - 1) - 1)
        if name != step.chosen:
            axes.plot(x, score, "o", color=GREY, markersize=6)
            continue
        face = BLUE if step.accepted else "white"
        axes.plot(x, score, "D", color=BLUE, markersize=10, markerfacecolor=face, markeredgewidth=2)
        # Below the null line there is no room above a mark, but those selected left some beside it.
        offset, side = ((0, 10), "center") if step.accepted else ((-11, -5), "right")
        axes.annotate(
            name, (x, score), offset, textcoords="offset points", ha=side, color=BLUE, size=13
        )


def draw_path(axes: Axes, steps: list[Step], columns: list[str]) -> None:
    """Draw all steps side by side, each under what is known by then."""
    for place, step in enumerate(steps, start=1):
        if place % 2:
            axes.axvspan(place - 0.5, place + 0.5, color="#F3F3F3", linewidth=0)
        draw_step(axes, place, step, columns)
    known = ["nothing\nknown", *(f"+ {step.chosen}" for step in steps if step.accepted)]
    axes.set_xticks(range(1, len(steps) + 1), known[: len(steps)], size=13)
    axes.set_xlabel("given, step by step", size=13)
    axes.set_ylabel("information about the target,\nstandard deviations above chance", size=13)
    axes.tick_params(axis="y", labelsize=12)
    axes.set_xlim(0.5, len(steps) + 0.5)
    axes.margins(y=0.1)
    axes.spines[["top", "right"]].set_visible(False)
    marks = {
        "included": axes.plot([], [], "D", color=BLUE, markersize=9)[0],
        "the best of the last step: not included": axes.plot(
            [], [], "D", color=BLUE, markerfacecolor="white", markeredgewidth=2, markersize=9
        )[0],
        "other candidates": axes.plot([], [], "o", color=GREY, markersize=6)[0],
        "null line: chance gets there in 5 % of draws": axes.plot(
            [], [], color=VERMILION, linewidth=2.5
        )[0],
    }
    axes.legend(
        marks.values(),
        marks.keys(),
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=2,
        frameon=False,
        fontsize=12,
    )


def main(path: Path) -> None:
    """Select features of Friedman's first model, and draw how it went."""
    problem = datasets.friedman(random_state=0)
    X = pd.DataFrame(problem.X, columns=problem.names)
    selection = PIDSelector(random_state=0).fit(X, problem.y).selection_
    steps = [step for step in selection.steps if step.phase == "forward"]
    figure, axes = plt.subplots(figsize=(10, 5.2), layout="constrained")
    draw_path(axes, steps, list(problem.names))
    figure.savefig(path, dpi=160)
    print(f"selected {', '.join(selection.features)}; drawn to {path.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
