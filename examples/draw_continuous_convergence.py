"""Draw how the atoms of continuous variables approach their true values with more samples.

Run it with ``python examples/draw_continuous_convergence.py [FILE]``; it needs matplotlib. Without
a FILE it renews the picture in docs/mathematics.md, docs/images/continuous_convergence.png.
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.stats import norm

mpl.use("Agg")  # a file is drawn, no window opened

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from pidselect import decompose

# Okabe and Ito's palette, distinguishable with any colour vision.
ATOMS = {
    "shared": ("#0072B2", "o"),
    "unique 1": ("#D55E00", "^"),
    "unique 2": ("#E69F00", "v"),
    "synergy": ("#009E73", "s"),
}

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "continuous_convergence.png"

#: Numbers of samples, and the number of data sets of each.
N_DATA_SETS = {50: 30, 100: 30, 200: 25, 400: 20, 800: 12, 1600: 8, 3200: 4}

NOISE = 0.5


def draw_sum(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n samples of x1, x2 and x1 + x2 / 2 + noise, shape (3, n)."""
    x1, x2, noise = rng.normal(size=(3, n))
    return np.stack([x1, x2, x1 + x2 / 2 + NOISE * noise])


def draw_product(n: int, rng: np.random.Generator) -> np.ndarray:
    """Return n samples of x1, x2 and x1 * x2 + noise, shape (3, n)."""
    x1, x2, noise = rng.normal(size=(3, n))
    return np.stack([x1, x2, x1 * x2 + NOISE * noise])


def log_ratios_of_sum(x1: np.ndarray, x2: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Return ln f(y|x) / f(y) for x1, x2 and both."""
    alone = norm.logpdf(y, scale=np.sqrt(1.25 + NOISE**2))
    return [
        norm.logpdf(y, x1, np.sqrt(0.25 + NOISE**2)) - alone,
        norm.logpdf(y, x2 / 2, np.sqrt(1 + NOISE**2)) - alone,
        norm.logpdf(y, x1 + x2 / 2, NOISE) - alone,
    ]


def log_ratios_of_product(x1: np.ndarray, x2: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    """Return ln f(y|x) / f(y) for x1, x2 and both; f(y) is the mean of f(y|x1) over all x1."""
    x = np.linspace(-8, 8, 1001)
    weights = norm.pdf(x) * (x[1] - x[0])
    grid = np.linspace(-40, 40, 4001)
    density = norm.pdf(grid[:, np.newaxis], scale=np.hypot(x, NOISE)) @ weights
    alone = np.log(np.interp(y, grid, density))
    return [
        norm.logpdf(y, scale=np.hypot(x1, NOISE)) - alone,
        norm.logpdf(y, scale=np.hypot(x2, NOISE)) - alone,
        norm.logpdf(y, x1 * x2, NOISE) - alone,
    ]


def true_sx(log_ratios: list[np.ndarray]) -> list[float]:
    """Return the atoms of "sx-ksg" in bits: what it estimates, averaged over a million samples."""
    one, two, both = (ratio.mean() for ratio in log_ratios)
    shared = np.mean(np.logaddexp(log_ratios[0], log_ratios[1])) - np.log(2)
    atoms = [shared, one - shared, two - shared, both - one - two + shared]
    return [float(atom) / np.log(2) for atom in atoms]


def true_gaussian(explained: tuple[float, float, float]) -> list[float]:
    """Return the atoms of "gaussian" in bits from R² of x1, x2 and both."""
    one, two, both = (-0.5 * np.log2(1 - share) for share in explained)
    shared = min(one, two)
    return [shared, one - shared, two - shared, both - max(one, two)]


def estimate(sample, measure: str) -> dict[int, np.ndarray]:
    """Return the atoms of every data set by the number of samples, shape (n_data_sets, 4)."""
    found = {}
    for n, n_data_sets in N_DATA_SETS.items():
        rows = []
        for seed in range(n_data_sets):
            x1, x2, y = sample(n, np.random.default_rng([n, seed]))
            result = decompose([x1, x2], y, measure=measure)
            rows.append([result.shared, *result.unique, result.synergy])
        found[n] = np.array(rows)
    return found


def draw_panel(axes: Axes, found: dict[int, np.ndarray], truth: list[float]) -> None:
    """Draw the mean of each atom with one standard deviation, and a line where it should be."""
    sizes = np.array(list(found))
    for index, (name, (colour, marker)) in enumerate(ATOMS.items()):
        means = [values[:, index].mean() for values in found.values()]
        spread = [values[:, index].std() for values in found.values()]
        x = sizes * 1.09 ** (index - 1.5)  # side by side, so that bars do not hide each other
        axes.axhline(truth[index], color=colour, linewidth=1.5, linestyle=(0, (6, 2)), zorder=1)
        axes.errorbar(
            x, means, spread, color=colour, fmt=marker, markersize=6, linewidth=1.3, label=name
        )
    axes.set_xscale("log")
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.tick_params(labelsize=11)
    axes.spines[["top", "right"]].set_visible(False)


def main(path: Path) -> None:
    """Estimate both systems with both measures, and draw the four panels."""
    rng = np.random.default_rng(0)
    rows = {
        "y = x1 + x2 / 2 + noise": (
            draw_sum,
            true_gaussian((1 / 1.5, 0.25 / 1.5, 1.25 / 1.5)),
            true_sx(log_ratios_of_sum(*draw_sum(1_000_000, rng))),
        ),
        "y = x1 · x2 + noise": (
            draw_product,
            [0.0, 0.0, 0.0, 0.0],
            true_sx(log_ratios_of_product(*draw_product(1_000_000, rng))),
        ),
    }
    figure, grid = plt.subplots(2, 2, figsize=(10, 7.4), sharex=True, sharey=True)
    for panels, (name, (sample, *truths)) in zip(grid, rows.items(), strict=True):
        for axes, measure, truth in zip(panels, ("gaussian", "sx-ksg"), truths, strict=True):
            found = estimate(sample, measure)
            draw_panel(axes, found, truth)
            axes.set_title(f'{name}, measure="{measure}"', size=12)
            last = found[max(found)].mean(axis=0)
            off = np.abs(last - truth).max()
            print(f"{name}, {measure}: at most {off:.2f} bit off with {max(found)} samples")
        panels[0].set_ylabel("information (bit)", size=12)
    grid[1, 0].annotate(
        "a product has no linear part: nothing to see", (400, 0.17), ha="center", size=11
    )
    for axes in grid[1]:
        axes.set_xlabel("number of samples", size=12)
    handles, labels = grid[0, 0].get_legend_handles_labels()
    handles.append(plt.Line2D([], [], color="black", linewidth=1.5, linestyle=(0, (6, 2))))
    figure.legend(
        handles, [*labels, "true value"], loc="upper center", ncols=5, frameon=False, fontsize=12
    )
    figure.tight_layout(rect=(0, 0, 1, 0.95))
    figure.savefig(path, dpi=125)
    print(f"drawn to {path.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
