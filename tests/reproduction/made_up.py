"""Figures of every kind and a long summary, of made-up numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproduction.figures import Figure, Node, Panel, Role, Series

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script> & \"quotes\" 'too' $x_1$"
VERDICTS = ("agrees", "differs", "undecided", "not run")

TERMS: tuple[tuple[str, Role], ...] = (
    ("I(X1; Y)", "mi"),
    ("I(X2; Y)", "mi2"),
    ("I(X1; Y | X2)", "cmi"),
    ("I(X2; Y | X1)", "cmi2"),
    ("I(X1, X2; Y)", "joint"),
)
ATOMS: tuple[tuple[str, Role], ...] = (
    ("unique X1", "unique1"),
    ("unique X2", "unique2"),
    ("shared", "shared"),
    ("synergy", "synergy"),
)


def series(
    label: str, role: Role, x: list[Any], *, seed: int = 0, threshold: bool = False
) -> Series:
    """Return values between 0 and 1 with errors."""
    y = [float(value) for value in np.random.default_rng(seed).random(len(x))]
    line = [0.2] * len(x) if threshold else None
    return Series(label, role, x, y, error=[0.03] * len(x), threshold=line)


def bars(n_categories: int = 10, *, n_panels: int = 2) -> Figure:
    names = [f"X{number}" for number in range(1, n_categories + 1)]
    panels = tuple(
        Panel(
            f"Terms by estimator {number}",
            "bars",
            [series(label, role, names, seed=number, threshold=True) for label, role in TERMS],
            y_label="information, bit",
        )
        for number in range(n_panels)
    )
    return Figure(f"bars-{n_categories}", "Bars", "Dashed: thresholds.", panels)


def curves() -> Figure:
    grid = [0.1 * step for step in range(21)]
    atoms = [series(label, role, grid, seed=1) for label, role in ATOMS]
    terms = [series(label, role, grid, seed=2, threshold=True) for label, role in TERMS]
    samples = [series("found", "right", [100, 1000, 50000], seed=3)]
    panels = (
        Panel("Atoms", "lines", atoms, "alpha", "information, bit", marks=(0.5, 1.0)),
        Panel("Terms", "lines", terms, "alpha", "information, bit"),
        Panel("More samples find more", "lines", samples, "samples", "features"),
    )
    return Figure("curves", "Curves", "Atoms and terms over alpha.", panels)


def stacked() -> Figure:
    names = ["X1; X2", "X1; {X2, X3}"]
    atoms = [series(label, role, names) for label, role in ATOMS]
    return Figure("stacked", "Stacked", "Atoms.", (Panel("Atoms", "stacked", atoms),))


def cloud(n_points: int = 1023) -> Figure:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(1, 10, n_points).tolist(), rng.gamma(5.0, size=n_points).tolist()
    sets = (
        Series("a set of features", "plain", x, y),
        Series("CMI's set", "right", [5.0], [1.0]),
        Series("MI's set", "wrong", [4.0], [2.0]),
    )
    panels = tuple(Panel(f"Model {name}", "points", sets, "features", "MAE") for name in "123")
    return Figure("cloud", "Every set", "Errors of all sets.", panels)


def lattice() -> Figure:
    nodes = (
        Node("{1}{2}", 0.0, 0.0, 2, "wrong"),
        Node("{1}", -1.0, 1.0, 1, "mi"),
        Node("{2}", 1.0, 1.0, 1, "mi2"),
        Node("{1,2}", 0.0, 2.0, 0),
    )
    edges = ((0, 1), (0, 2), (1, 3), (2, 3))
    return Figure("lattice", "Lattice", "", (Panel("", "lattice", nodes=nodes, edges=edges),))


def hostile() -> Figure:
    panel = Panel(
        HOSTILE,
        "bars",
        (Series(HOSTILE, "mi", [HOSTILE, "b"], [1.0, -0.5]),),
        x_label=HOSTILE,
        y_label=HOSTILE,
    )
    return Figure(HOSTILE, HOSTILE, HOSTILE, (panel, panel))


def figures() -> list[Figure]:
    return [bars(), curves(), stacked(), cloud(), lattice(), hostile()]


# ------------------------------------------------------------------------------------- a summary


def estimate(place: int) -> dict[str, Any]:
    """Return a mean, sometimes of a single run, sometimes of none."""
    runs = (100, 100, 20, 0, 1)[place % 5]
    if runs == 0:
        return {"mean": None, "standard_error": None, "runs": 0}
    return {
        "mean": 80.0 + place / 7.0,
        "standard_error": 1.234 if runs > 1 else None,
        "runs": runs,
    }


def comparison(number: int, name: str = "rates") -> dict[str, Any]:
    """Return a table of 3 by 16, the last row of which is ours alone, with one cell left out."""
    heads = ("CMI", "MI", "MI, no backward", "our defaults")
    columns = [f"{head}: {rate}" for head in heads for rate in ("TP", "TN", "FP", "FN")]
    cells = []
    for row_place, row in enumerate(("Friedman I", "Friedman II", "ours alone")):
        for place, column in enumerate(columns):
            compared = row != "ours alone"
            cells.append(
                {
                    "row": row,
                    "column": column,
                    "ours": estimate(place + row_place + number),
                    "paper": 81.0 if compared else None,
                    "verdict": VERDICTS[(place + number) % 4] if compared else None,
                }
            )
    return {
        "name": name,
        "title": "Rates",
        "caption": "Shares of features, in percent.",
        "digits": 1,
        "cells": cells[:-1],
    }


def claim(place: int, text: str = "") -> dict[str, Any]:
    return {
        "name": f"I: claim {place} {text}".strip(),
        "statement": "The first tells more than the second, at all alpha that were tried.",
        "ours": estimate(place),
        "measured": "I(X1; Y) less I(X2; Y), bit",
        "rule": "mean difference more than 2.58 standard errors above 0",
        "verdict": VERDICTS[place % 4],
        "remark": "Only with bins of equal width; see the note." if place % 4 == 1 else "",
    }


def experiment(number: int, text: str = "", drawn: list[Figure] | None = None) -> dict[str, Any]:
    return {
        "name": f"experiment {number}",
        "title": f"Experiment {number}: Friedman's models {text}".strip(),
        "where": "Section 4.3, its table and both figures",
        "about": ["Ten columns, of which five matter. " * 6, f"The second paragraph. {text}"],
        "notes": [
            {"found": f"The number of bins is not stated. {text}", "done": "Five, of both kinds."}
        ],
        "parts": [{"name": "selection", "points": 12, "runs": "20 to 100", "seconds": 754.2}],
        "comparisons": [
            comparison(number),
            {**comparison(number), "title": f"Again {text}".strip()},
        ],
        "claims": [claim(place, text) for place in range(40)],
        "figures": [figure.to_dict() for figure in drawn or []],
    }


def summary(
    n_experiments: int = 3, *, text: str = "", drawn: list[Figure] | None = None
) -> dict[str, Any]:
    """Return a summary with about a hundred cells and forty claims for each experiment."""
    experiments = [experiment(number, text, drawn) for number in range(n_experiments)]
    cells = [
        cell["verdict"]
        for record in experiments
        for table in record["comparisons"]
        for cell in table["cells"]
        if cell["verdict"]
    ]
    claims = [claim["verdict"] for record in experiments for claim in record["claims"]]
    return {
        "title": f"The paper's experiments, again {text}".strip(),
        "made": "2026-11-16T05:00:00+00:00",
        "seed": 0,
        "quick": True,
        "command": f"pidselect reproduce --quick {text}".strip(),
        "rules": ["A number agrees if it differs by at most 2.58 · √2 standard errors.", text],
        "totals": {
            "cells": {verdict: cells.count(verdict) for verdict in VERDICTS},
            "claims": {verdict: claims.count(verdict) for verdict in VERDICTS},
        },
        "environments": [
            {"id": "ab12cd34", "cpu": f"A fast one {text}", "runs": 1234, "seconds": 567.0},
            {"id": "ef56", "cpu": "Another", "gpu": "H", "runs": 20, "seconds": 7384.0},
        ],
        "general_notes": [{"found": f"k is not stated. {text}", "done": "k = 4."}],
        "experiments": experiments,
    }
