"""Bayesian networks in BIF files: reading, drawing samples, Markov blankets."""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: Blocks of a BIF file, without spaces around names.
VARIABLE = re.compile(r"variable\s+(\S+)\s*\{\s*type\s+discrete\s*\[\s*\d+\s*\]\s*\{([^}]*)\}")
PROBABILITY = re.compile(r"probability\s*\(\s*([^|)\s]+)\s*(?:\|([^)]*))?\)\s*\{([^}]*)\}")
ROW = re.compile(r"(?:\(([^)]*)\)|table|default)\s*([^;()]*);")


@dataclass(frozen=True, eq=False)
class Node:
    """A variable: its parents, and the probabilities of its states given theirs."""

    parents: tuple[str, ...]
    table: NDArray[np.float64]  # (states of each parent ..., states)


@dataclass(frozen=True, eq=False)
class Network:
    """A Bayesian network of discrete variables."""

    nodes: dict[str, Node]

    @cached_property
    def names(self) -> list[str]:
        """The variables, in the order of the file."""
        return list(self.nodes)

    @cached_property
    def order(self) -> list[str]:
        """The variables, parents before children."""
        done: dict[str, None] = {}
        while len(done) < len(self.nodes):
            ready = [
                name
                for name, node in self.nodes.items()
                if name not in done and all(parent in done for parent in node.parents)
            ]
            if not ready:
                raise ValueError("The network has a cycle.")
            done |= dict.fromkeys(ready)
        return list(done)

    def blanket(self, target: str) -> set[str]:
        """Return the Markov blanket: parents, children, and the children's other parents."""
        children = {name for name, node in self.nodes.items() if target in node.parents}
        spouses = {parent for child in children for parent in self.nodes[child].parents}
        return {*self.nodes[target].parents, *children, *spouses} - {target}

    def sample(self, n_samples: int, rng: np.random.Generator) -> dict[str, NDArray[np.int64]]:
        """Draw states, 0, 1, ..., of every variable."""
        states: dict[str, NDArray[np.int64]] = {}
        for name in self.order:
            node = self.nodes[name]
            shares = node.table[tuple(states[parent] for parent in node.parents)]
            limits = np.broadcast_to(shares, (n_samples, shares.shape[-1])).cumsum(axis=1)
            # Rounded probabilities need not sum to one.
            threshold = rng.random(n_samples) * limits[:, -1]
            states[name] = (limits <= threshold[:, np.newaxis]).sum(axis=1)
        return {name: states[name] for name in self.names}


def read_bif(text: str) -> Network:
    """Read a network from the text of a BIF file."""
    states = {name: _split(levels) for name, levels in VARIABLE.findall(text)}
    nodes = {}
    for name, given, body in PROBABILITY.findall(text):
        parents = tuple(_split(given))
        table = np.full([len(states[one]) for one in (*parents, name)], np.nan)
        for levels, shares in ROW.findall(body):
            place = tuple(
                states[parent].index(level)
                for parent, level in zip(parents, _split(levels), strict=bool(levels))
            )
            row = [float(share) for share in _split(shares)]
            table[place] = np.where(np.isnan(table[place]), row, table[place]) if not place else row
        if np.isnan(table).any():
            raise ValueError(f"The probabilities of {name} are incomplete.")
        nodes[name] = Node(parents, table)
    return Network({name: nodes[name] for name in states})


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def load_network(name: str) -> Network:
    """Read one of the networks in pgmpy's wheel; nothing of the package is imported."""
    spec = find_spec("pgmpy")
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit("The networks are files of pgmpy: pip install --no-deps pgmpy")
    (folder,) = map(Path, spec.submodule_search_locations)
    path = folder / "utils" / "example_models" / f"{name}.bif.gz"
    return read_bif(gzip.decompress(path.read_bytes()).decode())
