"""``explain(..., path=True)``: the atoms of the candidates of each step."""

from __future__ import annotations

import json

import numpy as np
import pytest
from systems import gates, numbers, quick, xor

from pidselect.selection import explain

VALUES = ("information", "added", "unique", "shared", "synergy")


def explained(X, y, **settings):
    """Return a fitted selector and its explanation with atoms of all steps."""
    selector = quick(**{"lookahead": 1, **settings}).fit(X, y)
    return selector, selector.explain(X, y, path=True)


@pytest.fixture(scope="module", params=[gates, numbers], ids=["gates", "numbers"])
def problem(request):
    X, y = request.param(150)
    return X, y, *explained(X, y)


def test_without_path_there_are_no_atoms():
    X, y = gates()
    selector = quick(lookahead=1).fit(X, y)
    assert selector.explain(X, y).path is None
    assert not any(step.atoms for step in selector.selection_.steps)
    frame = selector.selection_.to_frame()
    assert frame[["unique", "shared", "synergy"]].isna().all().all()


def test_the_rest_of_the_record_is_unchanged(problem):
    _, _, selector, explanation = problem
    path = explanation.path.to_dict()
    for step in path["steps"]:
        step["atoms"] = {}
    assert path == selector.selection_.to_dict()


def test_identities_of_each_candidate(problem):
    *_, explanation = problem
    for step in explanation.path.steps:
        assert set(step.atoms) == set(step.candidates)
        for atoms in step.atoms.values():
            values = {name: round(1000 * getattr(atoms, name)) for name in VALUES}
            assert all(getattr(atoms, name) == values[name] / 1000 for name in VALUES)
            assert values["unique"] + values["shared"] == values["information"]
            assert values["unique"] + values["synergy"] == values["added"]
            assert min(values.values()) >= 0


def test_values_are_those_of_the_steps(problem):
    """Added bits are the values of the step, where it has one; information is its own."""
    *_, explanation = problem
    for step in explanation.path.steps:
        for name, value in zip(step.candidates, step.values, strict=True):
            assert np.isnan(value) or step.atoms[name].added == round(value, 3)
            assert step.atoms[name].information == explanation[name].information


def test_at_the_first_step_everything_is_unique(problem):
    *_, explanation = problem
    for atoms in explanation.path.steps[0].atoms.values():
        assert (atoms.shared, atoms.synergy) == (0, 0)
        assert atoms.unique == atoms.added == atoms.information


def test_last_steps_have_the_atoms_of_the_explanation(problem):
    """Beside the whole selected set: what is not included, and what is retained."""
    _, _, selector, explanation = problem
    selected, n = {*selector.selection_.features}, 0
    for step in explanation.path.steps:
        if {*step.conditioning_set} == selected:
            for name, atoms in step.atoms.items():
                feature, n = explanation[name], n + 1
                assert all(getattr(atoms, one) == getattr(feature, one) for one in VALUES)
    assert n >= len(explanation)


def test_the_chosen_candidate_has_intervals(problem):
    *_, explanation = problem
    for step in explanation.path.steps:
        for name, atoms in step.atoms.items():
            assert set(atoms.intervals) == (set(VALUES) if name == step.chosen else set())
        chosen = step.atoms[step.chosen]
        for value, (lower, upper) in chosen.intervals.items():
            assert 0 <= lower <= getattr(chosen, value) <= upper


def test_frame_and_json(problem):
    *_, explanation = problem
    frame = explanation.path.to_frame()
    record = json.loads(json.dumps(explanation.to_dict(), allow_nan=False))["path"]
    for number, step in enumerate(explanation.path.steps, start=1):
        rows = frame[frame["step"] == number].set_index("candidate")
        for name, atoms in step.atoms.items():
            found = rows.loc[name]
            added = round(1000 * found["unique"]) + round(1000 * found["synergy"])
            assert np.isnan(found["bits"]) or added == round(1000 * round(found["bits"], 3))
            assert (found["unique"], found["shared"], found["synergy"]) == (
                atoms.unique,
                atoms.shared,
                atoms.synergy,
            )
            plain = record["steps"][number - 1]["atoms"][name]
            assert all(plain[value] == getattr(atoms, value) for value in VALUES)


def test_held_out_rows():
    """Atoms are those of the rows passed, the tests those of the fit."""
    X, y = numbers(400)
    selector = quick(lookahead=1).fit(X[:200], y[:200])
    there, here = (
        selector.explain(X[rows], y[rows], path=True).path.steps
        for rows in (slice(200, 400), slice(0, 200))
    )
    for step, twin in zip(there, here, strict=True):
        assert (step.candidates, step.p_values) == (twin.candidates, twin.p_values)
        assert step.values == twin.values  # of the fit
        assert step.atoms != twin.atoms


def test_fixed_features_and_groups():
    X, y = numbers(120)
    groups = {"sum": ["x0", "x1"], "noise": ["x2"]}
    _, explanation = explained(X, y, fixed_features=["x3"], feature_groups=groups)
    first = explanation.path.steps[0]
    assert first.conditioning_set == ("x3",)
    assert set(first.atoms) == {"sum", "noise"}
    assert first.atoms["sum"].added > 0.5


def test_tuples_are_not_decomposed():
    X, y = xor()
    selector = quick(lookahead=2, n_permutations=199).fit(X, y)
    path = selector.explain(X, y, path=True).path
    pairs = [step for step in path.steps if step.phase == "lookahead"]
    assert pairs
    assert not any(step.atoms for step in pairs)
    assert all(step.atoms for step in path.steps if step.phase in ("forward", "backward"))


def test_only_the_strongest_candidates(monkeypatch):
    monkeypatch.setattr(explain, "MOST_CANDIDATES", 2)
    _, explanation = explained(*numbers(100))
    for step in explanation.path.steps:
        strongest = np.lexsort((-np.array(step.scores), -np.array(step.values)))[:2]
        expected = {step.candidates[place] for place in strongest}
        assert step.chosen in step.atoms
        assert len(step.atoms) == min(2, len(step.candidates))
        assert set(step.atoms) - {step.chosen} <= expected
