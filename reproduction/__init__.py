"""The paper's experiments: its numbers and statements beside those of our runs.

Wollstadt, Schmitt and Wibral (2023), "A rigorous information-theoretic definition of redundancy and
relevancy in feature selection based on (partial) information decomposition", JMLR 24(131).

Each experiment is a module with the functions that make a run from a seed, and with tables of what
is computed from the runs: numbers, claims and figures. ``python -m reproduction`` runs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reproduction.experiment import Experiment

#: The experiments in the order of the paper. Each is a module of its name.
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
}


def load_experiment(name: str) -> Experiment:
    """Return an experiment by its name."""
    found: Experiment = import_module(f"reproduction.{name}").EXPERIMENT
    return found


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
