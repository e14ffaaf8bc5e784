"""Appendix A: what terms cover, against sets of sets written out by hand."""

from __future__ import annotations

import json
from itertools import chain, combinations

import numpy as np
import pytest

from pidselect.decomposition.lattice import lattice
from reproduction import lattice as experiment
from reproduction.agreement import Verdict
from reproduction.experiment import Outcome, Results

NAMES = {
    "CMI chain covers every atom once",
    "MI terms overlap",
    "MI reaches nothing above {i}",
    "number of atoms 4, 18, 166, 7579",
    "atoms of each term add up to it",
}


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return experiment.run(0)


def parsed(label: str) -> frozenset[frozenset[int]]:
    """Read an antichain from its label."""
    return frozenset(frozenset(map(int, part.split(","))) for part in label.strip("{}").split("}{"))


def is_below(
    lower: frozenset[frozenset[int]], upper: frozenset[frozenset[int]], *, strictly: bool = False
) -> bool:
    """Ask by the definition: each set above has a subset below."""
    below = all(any(small <= large for small in lower) for large in upper)
    return below and not (strictly and lower == upper)


ATOMS = [parsed(label) for label in lattice(3).labels]


def covered(outcome: Outcome, term: str) -> set[frozenset[frozenset[int]]]:
    return {atom for atom, count in zip(ATOMS, outcome["covers"][term], strict=True) if count}


def results(outcome: Outcome) -> Results:
    return Results({"cover": [({}, 0, outcome)]})


def test_a_run_is_plain_and_the_same_twice(outcome: Outcome) -> None:
    assert json.loads(json.dumps(outcome, allow_nan=False)) == outcome
    assert experiment.run(0) == outcome


@pytest.mark.parametrize(
    ("term", "features", "less"),
    [
        ("I(Y;F1)", {1}, None),
        ("I(Y;F3)", {3}, None),
        ("I(Y;F2,F3)", {2, 3}, None),
        ("I(Y;F2|F3)", {2, 3}, {3}),
        ("I(Y;F1|F2,F3)", {1, 2, 3}, {2, 3}),
    ],
)
def test_a_term_covers_what_lies_below(
    outcome: Outcome, term: str, features: set[int], less: set[int] | None
) -> None:
    expected = {atom for atom in ATOMS if is_below(atom, frozenset({frozenset(features)}))}
    if less is not None:
        expected -= {atom for atom in ATOMS if is_below(atom, frozenset({frozenset(less)}))}
    assert covered(outcome, term) == expected
    assert set(outcome["covers"][term]) <= {0, 1}


def test_the_sizes_of_terms(outcome: Outcome) -> None:
    assert [len(covered(outcome, term)) for term in experiment.CHAIN] == [5, 8, 5]
    assert [len(covered(outcome, term)) for term in experiment.SINGLE] == [5, 5, 5]
    assert len(set().union(*(covered(outcome, term) for term in experiment.SINGLE))) == 10


def test_information_by_entropies_is_that_of_a_copy() -> None:
    pmf = np.zeros((2, 2, 2, 2))  # Y is F1, F2 is F1 too, F3 is a coin of its own
    pmf[0, 0, :, 0] = pmf[1, 1, :, 1] = 0.25
    assert experiment._information(pmf, 1, 0) == pytest.approx(1.0)
    assert experiment._information(pmf, 1, 2) == pytest.approx(0.0)
    assert experiment._information(pmf, 4, 0) == pytest.approx(0.0)
    assert experiment._information(pmf, 7, 0) == pytest.approx(1.0)


def test_what_holds_and_what_does_not(outcome: Outcome) -> None:
    claims = {claim.name: claim for claim in experiment.report(results(outcome)).claims}
    assert set(claims) >= NAMES
    differing = [name for name, claim in claims.items() if claim.verdict is not Verdict.AGREES]
    assert differing == ["fewer atoms than sets of features"]
    assert claims["MI terms overlap"].ours == (4.0, 0.0, 1)
    assert claims["MI leaves out the synergies"].ours == (8.0, 0.0, 1)


def test_other_numbers_differ(outcome: Outcome) -> None:
    chain_twice = {**outcome["covers"], "I(Y;F3)": [1] * 18}
    wrong = {key: {**counts, "atoms": 5} for key, counts in outcome["general"].items()}
    changed = {"covers": chain_twice, "general": wrong, "errors": {"imin": 1e-6}}
    claims = {claim.name: claim.verdict for claim in experiment.report(results(changed)).claims}
    assert claims["CMI chain covers every atom once"] is Verdict.DIFFERS
    assert claims["MI terms overlap"] is Verdict.DIFFERS
    assert claims["number of atoms 4, 18, 166, 7579"] is Verdict.DIFFERS
    assert claims["atoms of each term add up to it"] is Verdict.DIFFERS


def test_nothing_run_is_said() -> None:
    findings = experiment.report(Results({}))
    assert {claim.name for claim in findings.claims} >= NAMES
    assert {claim.verdict for claim in findings.claims} == {Verdict.NOT_RUN}
    assert not findings.figures


def test_the_table_has_the_numbers_of_the_paper(outcome: Outcome) -> None:
    (table,) = experiment.report(results(outcome)).comparisons
    atoms = [cell for cell in table.cells if cell.column == "atoms"]
    assert [cell.paper for cell in atoms] == [4.0, 18.0, 166.0, 7579.0]
    assert {cell.verdict for cell in atoms} == {Verdict.AGREES}


def test_lines_join_neighbours(outcome: Outcome) -> None:
    (figure,) = experiment.report(results(outcome)).figures
    assert len(figure.panels) == 6
    panel = figure.panels[0]
    drawn = {
        (parsed(panel.nodes[low].label), parsed(panel.nodes[high].label))
        for low, high in panel.edges
    }
    neighbours = {
        (low, high)
        for low in ATOMS
        for high in ATOMS
        if is_below(low, high, strictly=True)
        and not any(
            is_below(low, other, strictly=True) and is_below(other, high, strictly=True)
            for other in ATOMS
        )
    }
    assert drawn == neighbours
    assert len(panel.edges) == len(neighbours) == 30


def test_nodes_stand_apart_and_in_the_middle(outcome: Outcome) -> None:
    (figure,) = experiment.report(results(outcome)).figures
    nodes = figure.panels[0].nodes
    assert len({(node.x, node.level) for node in nodes}) == 18
    for level in range(7):
        assert sum(node.x for node in nodes if node.level == level) == 0
    level_of = {node.label: node.level for node in nodes}
    assert (level_of["{1}{2}{3}"], level_of["{1}"], level_of["{1,2,3}"]) == (0, 3, 6)


def test_panels_count_and_colour(outcome: Outcome) -> None:
    (figure,) = experiment.report(results(outcome)).figures
    by_mi, reached, by_cmi = figure.panels[3:]
    counts = {node.label: node.count for node in by_mi.nodes}
    pairs = [f"{{{first}}}{{{second}}}" for first, second in combinations((1, 2, 3), 2)]
    assert counts["{1}{2}{3}"] == 3
    assert [counts[label] for label in chain(pairs, ["{1}", "{1}{2,3}", "{1,2}"])] == [
        2,
        2,
        2,
        1,
        1,
        0,
    ]
    assert {node.count for node in reached.nodes} == {0, 1}
    assert {node.count for node in by_cmi.nodes} == {1}
    assert len({node.role for node in by_cmi.nodes}) == 3
