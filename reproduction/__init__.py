"""The paper's experiments: its numbers and statements beside those of our runs.

Wollstadt, Schmitt and Wibral (2023), "A rigorous information-theoretic definition of redundancy and
relevancy in feature selection based on (partial) information decomposition", JMLR 24(131).

Each experiment is a module: functions that make a run from a seed (`PARTS`), and functions that
compute from all runs the numbers of tables (`TABLES`), figures (`FIGURES`) and claims (`CLAIMS`).
``claims.csv`` holds the claims, one row for each condition: statement, rule, measured quantity,
remark and, if it cannot fail, why. ``texts.toml`` holds titles, captions and notes. ``python -m
reproduction`` runs everything.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Sequence
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from reproduction.agreement import UNCHECKED, parse_rule
from reproduction.experiment import Claim, Comparison, Condition, Experiment, Figure

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
    module, texts = import_module(f"reproduction.{name}"), read_texts()[name]
    rows: dict[str, list[dict[str, str]]] = {}
    for row in read_claims():
        if row["experiment"] == name:
            rows.setdefault(row["name"], []).append(row)
    claims = []
    for claim, conditions in rows.items():
        rules = [parse_rule(row["rule"]) for row in conditions]
        values = module.CLAIMS[claim] if rules != [UNCHECKED] else lambda _: []
        functions = values if isinstance(values, tuple) else (values,)
        claims.append(
            Claim(
                claim,
                conditions[0]["statement"],
                conditions[0]["remark"],
                [
                    Condition(rule, row["measured"], function)
                    for rule, row, function in zip(rules, conditions, functions, strict=True)
                ],
                conditions[0]["identity"],
            )
        )
    return Experiment(
        name,
        texts["title"],
        texts["where"],
        texts["about"],
        module.PARTS,
        [Comparison(key, cells, **texts["tables"][key]) for key, cells in module.TABLES.items()],
        claims,
        [Figure(key, panels, **texts["figures"][key]) for key, panels in module.FIGURES.items()],
        texts["notes"],
    )


def find_experiments(wanted: Sequence[str] = ()) -> tuple[list[Experiment], list[str]]:
    """Return the wanted experiments in the order of the paper, and all that is wanted, once each.

    Parameters
    ----------
    wanted : sequence of str
        Experiments such as "friedman" or parts such as "friedman/selection"; empty for all.
    """
    parts = list(dict.fromkeys(wanted)) or list(EXPERIMENTS)
    for part in parts:
        name, slash, rest = part.partition("/")
        _check(name, list(EXPERIMENTS), "experiment")
        if slash:
            _check(rest, [known.name for known in load_experiment(name).parts], f"part of {name}")
    names = {part.partition("/")[0] for part in parts}
    return [load_experiment(name) for name in EXPERIMENTS if name in names], parts


def _check(name: str, known: list[str], what: str) -> None:
    if name not in known:
        close = "".join(f" Did you mean {one!r}?" for one in get_close_matches(name, known, 1))
        raise ValueError(f"Unknown {what} {name!r}.{close} Known are {', '.join(known)}.")
