"""Compute the recorded results anew and store them.

Run ``PYTHONPATH=src:tests python -m recorded.record`` for all cases, or name some of them to
replace these alone. Only a change that is meant to change values is a reason to do so.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from recorded.cases import compute
from recorded.default_cases import CASES

RESULTS = Path(__file__).with_name("results.json")


def load() -> dict[str, Any]:
    """Return the stored results by the name of the case."""
    return json.loads(RESULTS.read_text())


def store(results: dict[str, Any]) -> None:
    """Write the results, one case to a line, in the order of the cases."""
    lines = [f"{json.dumps(name)}: {json.dumps(results[name])}" for name in CASES]
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def main(names: list[str]) -> None:
    """Record the named cases, or all."""
    if unknown := [name for name in names if name not in CASES]:
        raise SystemExit(f"There is no case {', '.join(unknown)}.")
    results = load() if names else {}
    store(results | {name: compute(name) for name in names or CASES})


if __name__ == "__main__":
    main(sys.argv[1:])
