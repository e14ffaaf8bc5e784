"""What the defaults cost beside the paper's way, on Friedman's first model, in one run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from common import best_of, parser, show, write
from models import AS_THE_PAPER, MAKE

from pidselect import PIDSelector

MOST = 3.0  # times the paper's way

SETTINGS: dict[str, dict[str, Any]] = {
    "paper": AS_THE_PAPER,
    "defaults": {},
    "defaults, auto": {"n_permutations": "auto"},
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Time by turns, print and write."""
    command = parser(__doc__, runs=5, help_runs="rounds; the best counts")
    options = command.parse_args(arguments)
    problem = MAKE["friedman1"](1000, random_state=options.seed)
    selectors = [
        PIDSelector(**settings, n_jobs=1, random_state=options.seed)
        for settings in SETTINGS.values()
    ]
    for selector in selectors:
        selector.fit(problem.X, problem.y)  # kernels are loaded or compiled here
    works = [lambda chosen=selector: chosen.fit(problem.X, problem.y) for selector in selectors]
    times = best_of(options.runs, *works)
    rows = [
        {
            "settings": name,
            "seconds": took,
            "times the paper's": took / times[0],
            "met": bool(took <= MOST * times[0]) if name == "defaults" else None,
            "estimator": repr(selector.estimator_),
            "selected": ", ".join(problem.names[column] for column in selector.selected_),
        }
        for name, took, selector in zip(SETTINGS, times, selectors, strict=True)
    ]
    show(
        f"Friedman I, N=1000, best of {options.runs}, taking turns; the defaults at most {MOST:g} "
        "times the paper's way",
        tuple(rows[0]),
        [tuple(row.values()) for row in rows],
    )
    write("defaults_cost", options, {"settings": rows})


if __name__ == "__main__":
    main()
