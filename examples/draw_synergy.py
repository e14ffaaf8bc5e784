"""Draw a disease over two loci, and how the contingency table of two columns is counted.

Run it with ``python examples/draw_synergy.py [FOLDER]``; it needs matplotlib and pandas. Without a
FOLDER it renews the pictures of docs/synergy.md, docs/images/synergy_*.png.
"""

import sys
from pathlib import Path
from runpy import run_path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

HERE = Path(__file__).parent

# Okabe and Ito's palette, distinguishable with any colour vision.
ONE, COMMON, ZERO, INK = "#0072B2", "#E69F00", "#EEEEEE", "#333333"

N_SAMPLES = 32


def make_planes() -> dict[str, np.ndarray]:
    """Return two columns in two levels and a target of two classes, as sets of samples."""
    rng = np.random.default_rng(2)
    a, b = (rng.permutation(N_SAMPLES) < N_SAMPLES // 2 for _ in range(2))
    y = (a == b) ^ (rng.random(N_SAMPLES) < 0.15)
    return {"a above its median": a, "b above its median": b, "y = 1": y}


def draw_planes(axes: Axes, planes: dict[str, np.ndarray]) -> None:
    """Draw each set of samples as a line of squares, their intersection last."""
    lines = {**planes, "AND": np.logical_and.reduce(list(planes.values()))}
    for line, (name, plane) in enumerate(lines.items()):
        y = -1.5 * line - 0.5 * (name == "AND")
        for place, is_in in enumerate(plane):
            colour = (COMMON if name == "AND" else ONE) if is_in else ZERO
            axes.add_patch(Rectangle((place, y), 0.85, 0.85, facecolor=colour))
        axes.text(-0.6, y + 0.42, name, ha="right", va="center", size=11, color=INK)
        axes.text(N_SAMPLES + 0.4, y + 0.42, f"{plane.sum()}", va="center", size=11, color=INK)
    axes.text(N_SAMPLES + 0.4, 1.5, "count", ha="left", va="center", size=11, color=INK)
    axes.set_title(f"{N_SAMPLES} samples as bits, 64 to a machine word", size=12, color=INK)
    axes.set(xlim=(-10.5, N_SAMPLES + 3), ylim=(-5.6, 2.2))
    axes.axis("off")


def draw_table(axes: Axes, a: np.ndarray, b: np.ndarray, y: np.ndarray) -> None:
    """Draw the contingency table; one cell is counted, the others are differences."""
    for row, of_a in enumerate((True, False)):
        for column, of_b in enumerate((True, False)):
            inside = (a == of_a) & (b == of_b)
            n_one, n_zero = (inside & y).sum(), (inside & ~y).sum()
            is_counted = of_a and of_b
            colour = COMMON + "80" if is_counted else "white"
            box = Rectangle((column, -row), 1, 1, facecolor=colour, edgecolor=INK)
            axes.add_patch(box)
            middle = column + 0.5, 0.5 - row
            axes.text(*middle, f"{n_one} | {n_zero}", ha="center", va="center", size=14, color=INK)
    for column, name in enumerate(("b above", "b below")):
        axes.text(column + 0.5, 1.1, name, ha="center", size=11, color=INK)
    for row, name in enumerate(("a above", "a below")):
        axes.text(-0.08, 0.5 - row, name, ha="right", va="center", size=11, color=INK)
    axes.text(1, -1.25, "samples of y = 1 | y = 0", ha="center", va="center", size=11, color=INK)
    axes.set_title("contingency table", size=12, color=INK)
    axes.set(xlim=(-0.75, 2.1), ylim=(-1.45, 1.35))
    axes.axis("off")


def main(folder: Path) -> None:
    """Draw both pictures."""
    folder.mkdir(exist_ok=True)
    names = run_path(str(HERE / "plot_04_synergistic_pair.py"))
    names["heat_map"].save(folder / "synergy_loci.png")
    planes = make_planes()
    figure = Figure(figsize=(11, 2.9), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(2.6, 1))
    draw_planes(left, planes)
    draw_table(right, *planes.values())
    figure.savefig(folder / "synergy_scan.png", dpi=100)
    print(f"selected {', '.join(names['selector'].selection_.features)}; drawn: loci, scan")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "docs" / "images")
