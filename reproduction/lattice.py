"""Appendix A: the atoms of the lattice that terms of MI and of CMI consist of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from pidselect import decompose_distribution
from pidselect.decomposition.lattice import Lattice, lattice
from reproduction.experiment import Cell, Claims, Outcome, Part, Results, attempt
from reproduction.redundancy import information_between

#: Numbers of atoms that Section 5.2 gives, by the number of features.
SIZES = {2: 4, 3: 18, 4: 166, 5: 7579}

#: Measures of three sources, whose sums are compared.
MEASURES = ("imin", "mmi", "sx")

#: States of F1, F2, F3 and Y in the distribution on which sums are compared.
STATES = (2, 3, 2, 3)

#: Features and conditioning set of each term, as bit masks (F1 is 1, F2 is 2, F3 is 4).
TERMS: dict[str, tuple[int, int]] = {
    "I(Y;F1)": (1, 0),
    "I(Y;F2)": (2, 0),
    "I(Y;F3)": (4, 0),
    "I(Y;F2,F3)": (6, 0),
    "I(Y;F1,F2,F3)": (7, 0),
    "I(Y;F2|F3)": (2, 4),
    "I(Y;F1|F2,F3)": (1, 6),
}
SINGLE = ("I(Y;F1)", "I(Y;F2)", "I(Y;F3)")
CHAIN = ("I(Y;F3)", "I(Y;F2|F3)", "I(Y;F1|F2,F3)")


def run_cover(seed: int) -> Outcome:
    """Count the atoms of each term, and compare sums of atoms with terms on a distribution."""
    three = lattice(3)
    pmf = np.random.default_rng(seed).dirichlet(np.ones(math.prod(STATES))).reshape(STATES)
    return {
        "covers": {name: _cover(three, *term).tolist() for name, term in TERMS.items()},
        "general": {str(n_sources): _count(lattice(n_sources)) for n_sources in SIZES},
        "errors": {measure: _largest_error(pmf, measure) for measure in MEASURES},
    }


def _cover(known: Lattice, added: int, given: int) -> NDArray[np.int64]:
    """Return how often each atom is in I(Y; added | given), a difference of two informations.

    The information of a set is the sum of the atoms at and below it: of the antichains that have a
    member within the set.
    """
    joint = known.upsets[:, added | given].astype(np.int64)
    return joint - known.upsets[:, given] if given else joint


def _count(known: Lattice) -> dict[str, int]:
    masks = [1 << source for source in range(known.n_sources)]
    by_mi = np.sum([_cover(known, mask, 0) for mask in masks], axis=0)
    wrong = 0
    for order in permutations(masks):
        given = np.cumsum((0, *order[:-1])).tolist()
        chain = [_cover(known, mask, before) for mask, before in zip(order, given, strict=True)]
        wrong = max(wrong, int(np.sum(np.sum(chain, axis=0) != 1)))
    levels = _levels(known)
    highest = max(levels[known.antichains.index((mask,))] for mask in masks)
    return {
        "atoms": len(known.labels),
        "in MI": int(np.sum(by_mi > 0)),
        "in several MI": int(np.sum(by_mi > 1)),
        "in MI above single": int(np.sum((by_mi > 0) & (np.array(levels) > highest))),
        "not once in CMI": wrong,
    }


def _largest_error(pmf: NDArray[np.float64], measure: str) -> float:
    known = lattice(pmf.ndim - 1)
    found = decompose_distribution(pmf, measure=measure).atoms
    atoms = np.array([found[label] for label in known.labels])

    def axes(mask: int) -> list[int]:
        return [axis for axis in range(pmf.ndim - 1) if mask >> axis & 1]

    return max(
        abs(
            float(_cover(known, added, given) @ atoms)
            - information_between(pmf, axes(added), [pmf.ndim - 1], axes(given))
        )
        for added, given in TERMS.values()
    )


def _levels(known: Lattice) -> list[int]:
    """Return the level of each antichain: one for each set that its up-set has lost."""
    sizes = known.upsets.sum(axis=1)
    return [int(size) for size in sizes.max() - sizes]


def _covered(results: Results, terms: Sequence[str]) -> NDArray[np.int64]:
    """Return how often each atom of three features is in a set of terms."""
    covers = results.of("cover")[0]["covers"]
    return np.sum([covers[name] for name in terms], axis=0)


def _counts(results: Results, key: str) -> NDArray[np.int64]:
    general = results.of("cover")[0]["general"]
    return np.array([general[str(n_sources)][key] for n_sources in SIZES])


CLAIMS: Claims = {
    "CMI chain covers every atom once": lambda r: [float(np.sum(_covered(r, CHAIN) == 1))],
    "MI terms overlap": lambda r: [float(np.sum(_covered(r, SINGLE) > 1))],
    "MI reaches nothing above {i}": lambda r: [float(_counts(r, "in MI above single")[1])],
    "MI leaves out the synergies": lambda r: [float(np.sum(_covered(r, SINGLE) == 0))],
    "it holds for other numbers of features": lambda r: [
        float(sum(_counts(r, "not once in CMI") + _counts(r, "in MI above single")))
    ],
    "number of atoms 4, 18, 166, 7579": lambda r: [
        float(np.sum(_counts(r, "atoms") == list(SIZES.values())))
    ],
    "fewer atoms than sets of features": lambda r: [_counts(r, "atoms")[-1] / 2**5],
    "atoms of each term add up to it": lambda r: [
        max(max(run["errors"].values()) for run in r.of("cover"))
    ],
}


def _table(results: Results) -> Iterable[Cell]:
    columns = {
        "atoms": "atoms",
        "in MI": "in an MI term",
        "in several MI": "in several MI terms",
        "not once in CMI": "not once in the CMI terms",
    }
    for key, column in columns.items():
        counts = attempt(_counts, results, key)
        for place, (n_sources, size) in enumerate(SIZES.items()):
            values = [float(counts[place])] if len(counts) else []
            paper = float(size) if key == "atoms" else None
            yield Cell(f"{n_sources} features", column, values, paper)


PARTS = (Part("cover", run_cover, runs=1, quick_runs=1, seconds=0.1),)

TABLES = {
    "cover": _table,
}
