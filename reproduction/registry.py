"""All experiments by name. To add one, add its line."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

from pidselect.data.messages import did_you_mean
from reproduction.experiment import Experiment

#: The experiments in the order of the paper, and what each is about. Each is a module of its name.
EXPERIMENTS: dict[str, str] = {
    "toy": "a selection step by step (Section 3.3.3)",
    "spheres": "nested spheres (Experiment I)",
    "models": "two inputs, added or multiplied (Experiment II)",
    "friedman": "Friedman's models (Experiment III)",
    "runge": "synergistic, weak and redundant drivers (Experiment IV)",
    "noise": "noise after MacKay and Haufe (Experiment V)",
    "examples": "two classes after Guyon and Haufe (Experiment VI)",
    "redundancy": "dependence and redundancy (Section 5.4)",
    "lattice": "what terms cover of the lattice (Appendix A)",
    "medium": "problems of medium size (Appendix C)",
}


def load(name: str) -> Experiment:
    """Return an experiment."""
    module = import_module(f"reproduction.{name}")
    found: Experiment = module.EXPERIMENT
    return found


def find(wanted: Sequence[str] = ()) -> tuple[list[Experiment], list[str]]:
    """Return the experiments that are asked for, and the parts of these.

    Parameters
    ----------
    wanted : sequence of str
        Each an experiment, such as "friedman", or a part of one, such as "friedman/selection".
        None at all stands for every experiment.

    Returns
    -------
    experiments : list of Experiment
        In the order of the paper.
    parts : list of str
        Everything wanted, each once.

    Examples
    --------
    >>> experiments, parts = find(["redundancy", "toy/selection"])
    >>> [experiment.name for experiment in experiments], parts
    (['toy', 'redundancy'], ['redundancy', 'toy/selection'])
    """
    parts = list(dict.fromkeys(wanted)) or list(EXPERIMENTS)
    for part in parts:
        _check(part)
    names = {part.partition("/")[0] for part in parts}
    return [load(name) for name in EXPERIMENTS if name in names], parts


def _check(wanted: str) -> None:
    """Refuse a name that there is not, and say which there are."""
    name, slash, part = wanted.partition("/")
    if name not in EXPERIMENTS:
        raise ValueError(f"There is no experiment {name!r}{did_you_mean(name, EXPERIMENTS)}.")
    parts = [known.name for known in load(name).parts]
    if slash and part not in parts:
        raise ValueError(f"Experiment {name!r} has no part {part!r}{did_you_mean(part, parts)}.")
