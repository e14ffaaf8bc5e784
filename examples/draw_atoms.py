"""Draw the four atoms of two sources, and measured atoms of four logic gates.

Run it with ``python examples/draw_atoms.py [FILE]``; it needs matplotlib. Without a FILE it renews
the picture in docs/explanation.md, docs/images/atoms.png.
"""

import sys
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch

from pidselect import datasets, decompose

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "atoms.png"

# Okabe and Ito's palette, distinguishable with any colour vision.
COLOURS = {
    "unique 1": "#0072B2",
    "shared": "#E69F00",
    "unique 2": "#56B4E9",
    "synergy": "#009E73",
}

#: The target of each gate.
CASES = {
    "RDN: equal sources\n(target: their value)": "RDN",
    "COPY: independent sources\n(target: both bits)": "COPY",
    "XOR: independent sources\n(target: do they differ?)": "XOR",
    "AND: independent sources\n(target: are both 1?)": "AND",
}

N_SAMPLES = 1000


def measure(gate: str) -> dict[str, float]:
    """Return the atoms of 1,000 samples of a gate, in bits."""
    sources, target = datasets.sample(datasets.gate(gate), N_SAMPLES, random_state=0)
    found = decompose(list(sources.T), target)
    return {
        "unique 1": found.unique[0],
        "shared": found.shared,
        "unique 2": found.unique[1],
        "synergy": found.synergy,
    }


def draw_parts(axes: Axes) -> None:
    """Draw two sources as overlapping discs within their joint information."""
    box = FancyBboxPatch(
        (-2.1, -1.45), 4.2, 2.9, boxstyle="round,pad=0,rounding_size=0.5", facecolor="#009E7340"
    )
    axes.add_patch(box)
    for x, colour in ((-0.6, COLOURS["unique 1"]), (0.6, COLOURS["unique 2"])):
        axes.add_patch(Circle((x, -0.1), 1.1, facecolor="white", edgecolor="none"))
        axes.add_patch(Circle((x, -0.1), 1.1, facecolor=colour + "59", edgecolor="none"))
    lens = Circle((0.6, -0.1), 1.1, facecolor="#F5D899", edgecolor="none")
    axes.add_patch(lens)
    lens.set_clip_path(Circle((-0.6, -0.1), 1.1, transform=axes.transData))
    for x in (-0.6, 0.6):
        axes.add_patch(Circle((x, -0.1), 1.1, facecolor="none", edgecolor="#333333", linewidth=1.5))
    labels = {
        (-1.12, -0.1): "unique to\nsource 1",
        (0, -0.1): "shared",
        (1.12, -0.1): "unique to\nsource 2",
        (0, 1.2): "synergy: available jointly only",
        (-1.35, -1.3): "source 1",
        (1.35, -1.3): "source 2",
    }
    for (x, y), text in labels.items():
        axes.text(x, y, text, ha="center", va="center", size=11)
    axes.set_title("information of two sources about a target", size=12)
    axes.set(xlim=(-2.2, 2.2), ylim=(-1.6, 1.6), aspect="equal")
    axes.axis("off")


def draw_cases(axes: Axes, found: dict[str, dict[str, float]]) -> None:
    """Draw the atoms of each case as parts of one bar."""
    for place, atoms in enumerate(found.values()):
        start = 0.0
        for name, bits in atoms.items():
            axes.barh(place, bits, left=start, color=COLOURS[name], height=0.55)
            if bits > 0.1:
                middle = start + bits / 2
                label = f"{name}\n{bits:.2f}" if bits > 0.3 else f"{bits:.2f}"
                ink = "white" if name == "unique 1" else "black"
                axes.text(middle, place, label, ha="center", va="center", size=10, color=ink)
            start += bits
    axes.set_yticks(range(len(found)), list(found), size=10)
    axes.invert_yaxis()
    axes.set_xlabel(f"bit, estimated from {N_SAMPLES:,} samples", size=11)
    axes.set_title("four logic gates", size=12)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(left=False)


def main(path: Path) -> None:
    """Measure the four cases and draw both panels."""
    found = {name: measure(gate) for name, gate in CASES.items()}
    figure = Figure(figsize=(11.5, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    draw_parts(left)
    draw_cases(right, found)
    figure.savefig(path, dpi=110)
    synergies = [f"{gate} {abs(found[name]['synergy']):.2f}" for name, gate in CASES.items()]
    print(f"synergy in bits: {', '.join(synergies)}; drawn to {path.name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURE)
