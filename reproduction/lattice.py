"""Appendix A: the atoms of the lattice that terms of MI and of CMI consist of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect import decompose_distribution
from pidselect.decomposition.lattice import Lattice, lattice
from reproduction.experiment import (
    Cell,
    Claims,
    Outcome,
    Part,
    Results,
    attempt,
    panel,
)

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

# ------------------------------------------------------------------------------------------- runs


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
    target = 1 << (pmf.ndim - 1)

    def information(added: int, given: int) -> float:
        with_target = _entropy(pmf, target | given) - _entropy(pmf, target | added | given)
        return with_target + _entropy(pmf, added | given) - _entropy(pmf, given)

    terms = TERMS.values()
    return max(abs(float(_cover(known, *term) @ atoms) - information(*term)) for term in terms)


def _entropy(pmf: NDArray[np.float64], mask: int) -> float:
    others = tuple(axis for axis in range(pmf.ndim) if not mask >> axis & 1)
    marginal = pmf.sum(axis=others).ravel()
    marginal = marginal[marginal > 0]
    return float(-np.sum(marginal * np.log2(marginal)))


def _levels(known: Lattice) -> list[int]:
    """Return the level of each antichain: one for each set that its up-set has lost."""
    sizes = known.upsets.sum(axis=1)
    return [int(size) for size in sizes.max() - sizes]


# ----------------------------------------------------------------------------------------- claims


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

# -------------------------------------------------------------------------------- table and figure


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


def _panels(results: Results) -> Iterable[Any]:
    first, second, third = (attempt(_covered, results, [name]) for name in CHAIN)
    if not len(first):
        return
    by_mi, by_cmi = _covered(results, SINGLE), _covered(results, CHAIN)
    joint, reached = _covered(results, ["I(Y;F2,F3)"]), np.minimum(by_mi, 1)
    chain = {"third": first, "cmi": second, "shared": third}
    yield _panel("The lattice", np.ones_like(first), {})
    yield _panel("I(Y;F3) and I(Y;F2|F3)", first + second, {"third": first, "cmi": second})
    yield _panel("I(Y;F2,F3) and I(Y;F1|F2,F3)", by_cmi, {"first": joint, "shared": third})
    yield _panel("Covered by MI terms", by_mi, {"mi": by_mi})
    yield _panel("Within reach of MI", reached, {"mi": reached})
    yield _panel("Covered by CMI terms", by_cmi, chain)


def _panel(title: str, counts: NDArray[Any], roles: dict[str, NDArray[Any]]) -> Outcome:
    """Return a panel in which each atom has the last of the roles that cover it."""
    known = lattice(3)
    levels = _levels(known)

    def order(place: int) -> tuple[bool, str, str]:
        singles = [mask for mask in known.antichains[place] if mask.bit_count() == 1]
        return not singles, str(singles), known.labels[place]

    nodes = []
    for place, (label, level) in enumerate(zip(known.labels, levels, strict=True)):
        row = sorted((i for i, other in enumerate(levels) if other == level), key=order)
        x = row.index(place) - (len(row) - 1) / 2
        role = [role for role, cover in roles.items() if cover[place]][-1:] or ["plain"]
        count = int(counts[place])
        nodes.append(
            {"label": label, "x": x, "level": float(level), "count": count, "role": role[0]}
        )
    edges = [
        (low, high)
        for high, above in enumerate(known.upsets)
        for low, below in enumerate(known.upsets)
        if levels[high] - levels[low] == 1 and bool(np.all(below >= above))
    ]
    return panel(title, "lattice", [], nodes=nodes, edges=edges)


PARTS = (Part("cover", run_cover, runs=1, quick_runs=1, seconds=0.1),)

TABLES = {
    "cover": _table,
}

FIGURES = {
    "lattice": _panels,
}
