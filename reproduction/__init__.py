"""The paper's experiments: its numbers and statements beside those of our runs.

Wollstadt, Schmitt and Wibral (2023), "A rigorous information-theoretic definition of redundancy and
relevancy in feature selection based on (partial) information decomposition", JMLR 24(131).

Each experiment is a module: functions that make a run from a seed (`PARTS`), and functions that
compute from all runs the numbers of tables (`TABLES`) and of claims (`CLAIMS`).
``claims.csv`` holds the claims, one row for each condition: statement, rule, measured quantity,
remark and, if it cannot fail, why. ``texts.toml`` holds titles, captions and notes. ``python -m
reproduction`` runs everything.
"""

from __future__ import annotations

import csv
import tomllib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from reproduction.agreement import parse_rule
from reproduction.experiment import Claim, Condition, Experiment, Results

#: The experiments in the order of the paper, and its other statements. Each is a module.
EXPERIMENTS: dict[str, str] = {
    "toy": "a selection step by step (Section 3.3.3)",
    "spheres": "nested spheres (Experiment I)",
    "models": "two inputs, added or multiplied (Experiment II)",
    "friedman": "Friedman's models (Experiment III)",
    "runge": "synergistic, weak and redundant drivers (Experiment IV)",
    "noise": "noise models of MacKay and Haufe (Experiment V)",
    "examples": "two classes in the plane (Experiment VI)",
    "redundancy": "dependence and redundancy (Section 5.4)",
    "lattice": "terms as sums of atoms of the lattice (Appendix A)",
    "medium": "problems of medium size (Appendix C)",
    "theory": "definitions, arguments and the test (Sections 2, 3 and 5, Appendix B)",
}


@cache
def read_texts() -> dict[str, Any]:
    """Return titles, captions and notes by experiment."""
    return tomllib.loads((Path(__file__).parent / "texts.toml").read_text(encoding="utf-8"))


@cache
def read_claims() -> list[dict[str, str]]:
    """Return the conditions of all claims."""
    with (Path(__file__).parent / "claims.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def load_experiment(name: str) -> Experiment:
    """Return an experiment with its texts and claims."""
    module = import_module(f"reproduction.{name}")
    rows: dict[str, list[dict[str, str]]] = {}
    for row in read_claims():
        if row["experiment"] == name:
            rows.setdefault(row["name"], []).append(row)
    claims = []
    for claim, (first, *others) in rows.items():
        values = _nothing if first["rule"] == "unchecked" else module.CLAIMS[claim]
        functions = values if isinstance(values, tuple) else (values,)
        conditions = [
            Condition(parse_rule(row["rule"]), row["measured"], function)
            for row, function in zip((first, *others), functions, strict=True)
        ]
        claims.append(
            Claim(claim, first["statement"], first["remark"], conditions, first["identity"])
        )
    return Experiment(name, read_texts()[name], module.PARTS, module.TABLES, claims)


def _nothing(results: Results) -> list[float]:
    return []
