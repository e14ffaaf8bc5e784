"""Appendix A: which atoms of the lattice mutual information covers, and which conditional."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

import numpy as np

from pidselect.data import FloatArray, IntArray
from pidselect.decomposition import decompose_distribution
from pidselect.decomposition.lattice import Lattice, lattice
from reproduction.agreement import Cell, Claim, Comparison, Estimate, Verdict, cell
from reproduction.experiment import Experiment, Findings, Note, Outcome, Part, Results
from reproduction.figures import Figure, Node, Panel, Role

#: Numbers of atoms that Section 5.2 gives for so many features.
SIZES = {2: 4, 3: 18, 4: 166, 5: 7579}

#: Up to this error in bits, a sum is taken for exact.
EXACT = 1e-9

#: Measures that decompose three sources. The sums must not depend on which of them it is.
MEASURES = ("imin", "mmi", "sx")

#: States of F1, F2, F3 and Y in the distribution on which sums are compared.
STATES = (2, 3, 2, 3)

#: What is drawn: a feature set that adds to another, both as bit masks (F1 is 1, F2 is 2, F3 is 4).
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


def run(seed: int) -> Outcome:
    """Count what terms cover, and compare sums of atoms with terms on a random distribution."""
    three = lattice(3)
    pmf = np.random.default_rng(seed).dirichlet(np.ones(math.prod(STATES))).reshape(STATES)
    return {
        "covers": {name: _cover(three, *term).tolist() for name, term in TERMS.items()},
        "general": {str(n_sources): _count(lattice(n_sources)) for n_sources in SIZES},
        "errors": {measure: _largest_error(pmf, measure) for measure in MEASURES},
    }


def _cover(known: Lattice, added: int, given: int) -> IntArray:
    """Return how often each atom is in I(Y; added | given), a difference of two informations.

    What a set of features tells is the sum of all atoms at and below it: of those antichains that
    have a member within the set.
    """
    with_it = known.upsets[:, added | given].astype(np.int64)
    return with_it - known.upsets[:, given] if given else with_it


def _count(known: Lattice) -> dict[str, int]:
    """Count atoms, those in MI terms of single features, and those not once in chains of CMI."""
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


def _largest_error(pmf: FloatArray, measure: str) -> float:
    """Return how far, in bits, a sum of atoms is from the term that it should be."""
    known = lattice(pmf.ndim - 1)
    found = decompose_distribution(pmf, measure=measure).atoms
    atoms = np.array([found[label] for label in known.labels])
    errors = [
        abs(float(_cover(known, *term) @ atoms) - _information(pmf, *term))
        for term in TERMS.values()
    ]
    return max(errors)


def _information(pmf: FloatArray, added: int, given: int) -> float:
    """Return I(Y; added | given) in bits, from entropies alone."""
    target = 1 << (pmf.ndim - 1)
    return (
        _entropy(pmf, added | given)
        + _entropy(pmf, target | given)
        - _entropy(pmf, target | added | given)
        - _entropy(pmf, given)
    )


def _entropy(pmf: FloatArray, mask: int) -> float:
    others = tuple(axis for axis in range(pmf.ndim) if not mask >> axis & 1)
    marginal = pmf.sum(axis=others).ravel()
    marginal = marginal[marginal > 0]
    return float(-np.sum(marginal * np.log2(marginal)))


# ----------------------------------------------------------------------------------------- report


def report(results: Results) -> Findings:
    """Say what is covered, and draw it."""
    outcomes = results.of("cover")
    outcome = outcomes[0] if outcomes else None
    figures = [_figure(outcome)] if outcome else []
    return Findings(comparisons=[_table(outcome)], claims=_claims(outcomes), figures=figures)


def _table(outcome: Outcome | None) -> Comparison:
    cells: list[Cell] = []
    for n_sources, size in SIZES.items():
        row = f"{n_sources} features"
        counts = outcome["general"][str(n_sources)] if outcome else {}
        columns = {
            "atoms": ("atoms", float(size)),
            "in MI": ("in an MI term", None),
            "in several MI": ("in several MI terms", None),
            "not once in CMI": ("not once in the CMI terms", None),
        }
        for key, (column, paper) in columns.items():
            cells.append(cell(row, column, [float(counts[key])] if counts else [], paper))
    return Comparison(
        "cover",
        "Atoms and the terms that cover them",
        "Exact numbers. MI terms are those of each feature by itself; CMI terms are those of a "
        "selection, each feature given the ones before it, in whichever order most atoms are "
        "missed or repeated.",
        cells,
        digits=0,
    )


def _claims(outcomes: Sequence[Outcome]) -> list[Claim]:
    outcome = outcomes[0] if outcomes else None
    return [*_claims_on_three(outcome), *_claims_on_more(outcome), _claim_on_sums(outcomes)]


def _claims_on_three(outcome: Outcome | None) -> list[Claim]:
    single = _total(outcome, SINGLE) if outcome else None
    chain = _total(outcome, CHAIN) if outcome else None
    high = outcome["general"]["3"]["in MI above single"] if outcome else None
    return [
        _exactly(
            "CMI chain covers every atom once",
            "The terms of a selection by CMI cover all atoms of three features, each once.",
            None if chain is None else sum(count == 1 for count in chain),
            18,
            "atoms covered exactly once, of 18",
        ),
        _exactly(
            "MI terms overlap",
            "Terms of single features overlap: the shared atoms are covered several times.",
            None if single is None else sum(count > 1 for count in single),
            4,
            "atoms covered more than once",
            "These are what two or three features share, of 10 atoms covered in all.",
        ),
        _exactly(
            "MI reaches nothing above {i}",
            "No term of a single feature covers an atom above the level of the unique ones.",
            high,
            0,
            "atoms covered that stand higher than {1}, {2} and {3}",
        ),
        _exactly(
            "MI leaves out the synergies",
            "Terms of single features hold no atom that takes several features together.",
            None if single is None else sum(count == 0 for count in single),
            8,
            "atoms that no such term covers, of 18",
            "The seven above the unique ones, and {1,2}{1,3}{2,3}, which stands beside them.",
        ),
    ]


def _claims_on_more(outcome: Outcome | None) -> list[Claim]:
    general = outcome["general"].values() if outcome else None
    sizes = None if general is None else [counts["atoms"] for counts in general]
    return [
        _exactly(
            "it holds for other numbers of features",
            "The same is true of any number of features.",
            None
            if general is None
            else sum(
                counts["not once in CMI"] + counts["in MI above single"] for counts in general
            ),
            0,
            "atoms not covered once by CMI, or by MI above {i}: 2 to 5 features, all orders",
        ),
        _exactly(
            "number of atoms 4, 18, 166, 7579",
            "Two, three, four and five features have 4, 18, 166 and 7,579 atoms.",
            None if sizes is None else sum(map(int.__eq__, sizes, SIZES.values())),
            len(SIZES),
            "numbers that are as stated, of 4",
        ),
        _decided(
            "fewer atoms than sets of features",
            "The number of atoms rises much slower than the number of sets of features.",
            None if sizes is None else sizes[-1] / 2**5,
            "atoms of 5 features for each of their 32 sets",
            "below 1",
            sizes is not None and sizes[-1] < 2**5,
            "Each atom is a collection of sets, so there are more atoms than sets: 7,579 and 32. "
            "The statement is true of the number of all collections of sets, 2 to the power of 32.",
        ),
    ]


def _claim_on_sums(outcomes: Sequence[Outcome]) -> Claim:
    largest = max((max(run["errors"].values()) for run in outcomes), default=None)
    return _decided(
        "atoms of each term add up to it",
        "A term is the sum of the atoms that it covers.",
        largest,
        f"largest error of 7 terms by {', '.join(MEASURES)} on a random distribution, bit",
        f"at most {EXACT:g}",
        largest is not None and largest <= EXACT,
    )


def _total(outcome: Outcome, terms: Sequence[str]) -> list[int]:
    """Return how often each atom is covered by the terms together."""
    return _sum(*(outcome["covers"][name] for name in terms))


def _sum(*covers: Sequence[int]) -> list[int]:
    return [sum(counts) for counts in zip(*covers, strict=True)]


def _exactly(
    name: str, statement: str, value: float | None, expected: int, measured: str, remark: str = ""
) -> Claim:
    rule = f"exactly {expected}"
    return _decided(name, statement, value, measured, rule, value == expected, remark)


def _decided(
    name: str,
    statement: str,
    value: float | None,
    measured: str,
    rule: str,
    agrees: bool,
    remark: str = "",
) -> Claim:
    """Return a claim on an exact number: one run decides it, without an error."""
    if value is None:
        nothing = Estimate(math.nan, math.nan, 0)
        return Claim(name, statement, nothing, measured, rule, Verdict.NOT_RUN, remark)
    verdict = Verdict.AGREES if agrees else Verdict.DIFFERS
    ours = Estimate(float(value), 0.0, 1)
    return Claim(name, statement, ours, measured, rule, verdict, remark)


# ----------------------------------------------------------------------------------------- figure


def _figure(outcome: Outcome) -> Figure:
    covers = outcome["covers"]
    first, second, third = (covers[name] for name in CHAIN)
    by_mi, by_cmi = _total(outcome, SINGLE), _total(outcome, CHAIN)
    reached = [min(count, 1) for count in by_mi]
    panels = (
        _panel("The lattice", [1] * len(first), {}),
        _panel("I(Y;F3) and I(Y;F2|F3)", _sum(first, second), {"third": first, "cmi": second}),
        _panel(
            "I(Y;F2,F3) and I(Y;F1|F2,F3)",
            by_cmi,
            {"first": covers["I(Y;F2,F3)"], "shared": third},
        ),
        _panel("Covered by MI terms", by_mi, {"mi": by_mi}),
        _panel("Within reach of MI", reached, {"mi": reached}),
        _panel("Covered by CMI terms", by_cmi, {"third": first, "cmi": second, "shared": third}),
    )
    return Figure(
        "lattice",
        "What MI and CMI cover of the lattice of three features",
        "Each node is an atom of the information that three features have about a target; an atom "
        "is part of every node above it. Dotted nodes are not covered; a number tells how often "
        "one is. A: the lattice. B: the atoms of I(Y;F3) (green), and what F2 adds to it (orange). "
        "C: the atoms of I(Y;F2,F3) (blue), and what F1 adds (yellow). D: I(Y;F1), I(Y;F2) and "
        "I(Y;F3) together. E: atoms that these can reach. F: the terms of a selection by CMI in "
        "the order F3 (green), F2 (orange), F1 (yellow). All is counted, nothing estimated.",
        panels,
        n_columns=2,
    )


def _panel(title: str, counts: Sequence[int], roles: dict[Role, Sequence[int]]) -> Panel:
    """Return a panel in which each atom has the last of the roles that cover it."""
    known = lattice(3)
    nodes = []
    for place, (label, x, level) in enumerate(
        zip(known.labels, _places(known), _levels(known), strict=True)
    ):
        covering: list[Role] = [role for role, cover in roles.items() if cover[place]]
        role: Role = covering[-1] if covering else "plain"
        nodes.append(Node(label, x, float(level), counts[place], role))
    return Panel(title, "lattice", nodes=nodes, edges=_edges(known))


def _levels(known: Lattice) -> list[int]:
    """Return how high each antichain stands: one level for each set that its up-set has lost."""
    sizes = known.upsets.sum(axis=1)
    return [int(size) for size in sizes.max() - sizes]


def _places(known: Lattice) -> list[float]:
    """Return where each antichain stands within its level, spread around 0.

    Each stands above the one with the same single feature, so that most lines are upright; what
    has no single feature comes last.
    """

    def order(place: int) -> tuple[bool, str, str]:
        singles = [mask for mask in known.antichains[place] if mask.bit_count() == 1]
        return not singles, str(singles), known.labels[place]

    levels = _levels(known)
    places = [0.0] * len(levels)
    for level in set(levels):
        here = sorted((i for i, other in enumerate(levels) if other == level), key=order)
        for position, place in enumerate(here):
            places[place] = position - (len(here) - 1) / 2
    return places


def _edges(known: Lattice) -> list[tuple[int, int]]:
    """Return pairs of neighbours, the lower first: the up-set of the upper lacks one set."""
    levels = _levels(known)
    return [
        (low, high)
        for high, above in enumerate(known.upsets)
        for low, below in enumerate(known.upsets)
        if levels[high] - levels[low] == 1 and bool(np.all(below >= above))
    ]


EXPERIMENT = Experiment(
    name="lattice",
    title="What MI and CMI cover of the lattice",
    where="Appendix A, and Section 5.2 on the number of atoms",
    about=(
        "The information that three features have about a target consists of 18 atoms, ordered in "
        "a lattice. What one feature tells by itself is the sum of the atoms at and below its "
        "node; the same holds for a set of features. What a feature adds to others is the "
        "difference of two such sums, and so a set of atoms again.",
        "Nothing is estimated here: atoms are counted on the lattice that decompositions use. In "
        "addition, a random distribution of three features and a target is decomposed by three "
        "measures, and sums of atoms are compared with MI and CMI from entropies.",
    ),
    parts=(Part("cover", run, runs=1, quick_runs=1, seconds=1.0),),
    report=report,
    notes=(
        Note(
            "The caption of the lattice figure (panel B) writes I(Y;F2|F3) as I(Y;F2,F3) less "
            "I(Y;F2).",
            "What is meant, and what the panel colours, is less I(Y;F3). Computed so here.",
        ),
        Note(
            "Section 5.2 says that Dedekind numbers rise much slower than the number of sets of "
            "features.",
            "It is the other way round; see the statement on it.",
        ),
    ),
)
