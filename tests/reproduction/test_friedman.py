"""Experiment III: what its runs give, and what its report makes of them."""

import json

import numpy as np
import pytest
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from pidselect.datasets import friedman as make_friedman
from reproduction import friedman, methods
from reproduction.agreement import Verdict
from reproduction.experiment import Results
from reproduction.friedman.model import Model, cochran_q

MANDATORY = """I: CMI finds all
I: false positives below alpha
I: MI misses X3 and X5
I: MI false positives above alpha
I: nuisance of low importance
I: X4 first, then X1 and X2, then X5 and X3
I: LARS blind to X3
I: importances low where MI misses
I: forward selection follows the importances
I: forest sees X3 a little
I: forward LARS takes X4, X1/X2, X5
I: forward forest takes X5 in 60 %, X3 in 30 % as fourth
I: forward forest finds all of X
I: forward LARS takes X3 no more often than Z
I: both take nuisance when more are asked for
II: CMI finds X2 and X3 only
II: MI takes X1 more often than CMI
II: MI has more false positives
II: forest importance X2 and X3
II: LARS importance X3 only
II: forward forest always adds X1
II: forward LARS X3 then X2
II: forward LARS then X1 more often than others
II: forest takes X4 like nuisance
III: hardly anything selected
III: highest importance X3
III: forest gives X1, X2 half
III: forest gives X4 and Z a third
III: LARS gives X1, X2, X4 about zero
III: LARS gives Z a small finite importance
III: forward takes X1, X2, X3 first
III: others equally likely
CMI's set has the lowest MAE (model I)
CMI's set has the lowest MAE (model II)
III: no set predicts well
I: synergy explains CMI above MI
II: synergy explains CMI above MI
II: features with high synergy also carry redundancy
III: below threshold for most
III: almost only synergy
no clear advantage of either criterion over all three""".splitlines()

SMALL = 150

POINTS = {
    friedman.run_selection: {"model": 3, "settings": "mi-unpruned"},
    friedman.run_terms: {"model": 2},
    friedman.run_methods: {"model": 1},
    friedman.run_forward: {"model": 2, "method": "forest"},
    friedman.run_neighbours: {"model": 2, "k": 5},
}


@pytest.fixture
def small(monkeypatch):
    """Few samples, small forests, short searches."""
    monkeypatch.setattr(friedman, "N_SAMPLES", SMALL)
    monkeypatch.setattr(friedman, "N_SELECT", {1: 2, 2: 2, 3: 2})
    monkeypatch.setattr(methods, "N_TREES", 5)
    monkeypatch.setattr(methods, "N_SHUFFLES", 1)
    monkeypatch.setattr(methods, "N_TREES_IN_SEARCH", 2)


# -------------------------------------------------------------------------------------- the runs


@pytest.mark.parametrize("run", POINTS, ids=lambda run: run.__name__)
def test_a_run_is_plain_and_depends_on_its_seed_alone(run, small):
    outcomes = [run(seed, **POINTS[run]) for seed in (3, 3, 4)]
    once, again, other = (json.dumps(outcome, allow_nan=False) for outcome in outcomes)
    assert json.loads(once) == outcomes[0]  # nothing is changed by being stored
    assert once == again
    if "selected" not in outcomes[0]:  # two selections may well be the same
        assert once != other


def test_parts_are_run_by_their_own_functions_at_points_they_take(small):
    parts = {part.name: part for part in friedman.EXPERIMENT.parts}
    assert set(parts) >= {"selection", "terms", "methods", "forward-lars", "neighbours"}
    assert len(parts["selection"].points) == 12
    for part in parts.values():
        assert all(point in part.points for point in part.quick_points or ())
    assert parts["forward-lars"].run(0, model=1, method="lars")["selected"][0] == "X4"


@pytest.mark.parametrize("model", [1, 2, 3])
def test_terms_and_atoms_are_of_the_same_information(model, small):
    terms = friedman.run_terms(0, model=model)
    assert list(terms) == Model(Results({}), model).relevant
    for found in terms.values():
        for binning in friedman.BINNINGS:
            here = found[binning]
            assert here["unique1"] + here["shared"] == pytest.approx(here["mi"], abs=1e-6)
            assert here["unique1"] + here["synergy"] == pytest.approx(here["cmi"], abs=1e-6)


def test_coefficients_for_a_spread_are_those_for_a_unit_times_the_spread(small):
    problem = make_friedman(SMALL, model=2, random_state=0)
    found = friedman.run_methods(0, model=2)
    spread = dict(zip(problem.names, problem.X.std(axis=0), strict=True))
    times = {name: value * spread[name] for name, value in found["lars"].items()}
    expected = {name: value / max(times.values()) for name, value in times.items()}
    assert found["lars-standardised"] == pytest.approx(expected)
    assert found["lars"]["X2"] < 0.1 < found["lars-standardised"]["X2"]
    assert max(found["forest-training"].values()) == 1.0


def test_errors_stand_where_their_set_is_looked_for(small):
    model, names = Model(Results({}), 2), ["X3", "Z1"]
    problem = make_friedman(SMALL, model=2, random_state=5)
    X = problem.X[:, [2, 4]]
    X, X_test, y, y_test = train_test_split(X, problem.y, test_size=0.3, random_state=5)
    scaler = StandardScaler().fit(X)
    knn = KNeighborsRegressor(5).fit(scaler.transform(X), y)
    expected = np.abs(knn.predict(scaler.transform(X_test)) - y_test).mean()
    found = friedman.run_neighbours(5, model=2, k=5)
    assert len(found["errors"]) == 1023
    assert found["errors"][model.place_of(names)] == pytest.approx(expected, rel=1e-4)
    assert found["without"] == pytest.approx(np.abs(problem.y - np.median(problem.y)).mean())


def test_cochrans_q_is_that_of_the_textbook():
    table = np.random.default_rng(0).integers(0, 2, size=(40, 5)).astype(float)
    columns, rows, k = table.sum(axis=0), table.sum(axis=1), table.shape[1]
    q = (k - 1) * (k * (columns**2).sum() - rows.sum() ** 2) / (k * rows.sum() - (rows**2).sum())
    assert cochran_q(table) == pytest.approx(q)
    assert cochran_q(np.ones((4, 3))) == 0.0


# ------------------------------------------------------------------------------------ the report

N_RUNS = 24


def world(selected, forward, importances, terms, errors, n_runs=N_RUNS):
    """Make results up: each argument gives the outcome of a model, and so on, in a run."""
    runs = {name: [] for name in ("selection", "terms", "methods", "neighbours")}
    runs |= {"forward-lars": [], "forward-forest": [], "neighbours-other-k": []}
    for number in (1, 2, 3):
        model, point = Model(Results({}), number), {"model": number}
        for seed in range(n_runs):
            for settings in friedman.SETTINGS:
                outcome = {"selected": selected(number, settings, seed)}
                runs["selection"].append(({**point, "settings": settings}, seed, outcome))
            for method in ("lars", "forest"):
                outcome = {"selected": forward(number, method, seed)}
                runs[f"forward-{method}"].append(({**point, "method": method}, seed, outcome))
            runs["methods"].append((point, seed, importances(model, seed)))
            runs["terms"].append((point, seed, terms(model)))
            for k in (3, 5, 10):
                part = "neighbours" if k == 5 else "neighbours-other-k"
                runs[part].append(({**point, "k": k}, seed, errors(model)))
    return Results(runs)


def as_the_text(n_runs=N_RUNS):
    """Make up runs in which every sentence is true."""

    def selected(model, settings, seed):
        by_mi = settings.startswith("mi")
        if model == 1:
            late = ["X5", "X3"] if not by_mi else ["Z1", "X5"] if seed % 2 else ["Z1"]
            return ["X4", "X1", "X2", *late]
        if model == 2:
            late = [] if not by_mi else ["Z1"] if seed % 3 else ["Z1", "X1"]
            return ["X3", "X2", *late]
        return ["Z1"] if by_mi else []

    def forward(model, method, seed):
        nuisance = [f"Z{1 + (seed + place) % (5 if model == 1 else 6)}" for place in range(3)]
        pair = ["X1", "X2"] if seed % 2 else ["X2", "X1"]
        if model == 1:
            spare = ["X3", *(f"Z{place}" for place in range(1, 6))]
            any_three = [spare[(seed + place) % 6] for place in range(3)]
            late = ["X5", *any_three] if method == "lars" else ["X5", "X3", *nuisance[:2]]
            if method == "forest" and seed % 5 < 2:
                late[:2] = ["X3", "X5"]
            return ["X4", *pair, *late]
        if model == 2:
            return ["X3", "X2", "X1", *nuisance[:2]] if seed % 7 else ["X3", "X2", "X1", "X4", "Z1"]
        return ["X3", *pair, *(nuisance[:2] if seed % 7 else ["X4", "Z1"])]

    def importances(model, seed):
        noise = {
            name: 0.01 + 0.001 * ((seed + place) % 7) for place, name in enumerate(model.names)
        }
        by_model = {
            1: {"X4": 1.0, "X1": 0.6, "X2": 0.6, "X5": 0.4},
            2: {"X3": 1.0},
            3: {"X3": 1.0, "X1": 0.001, "X2": 0.001, "X4": 0.001},
        }
        linear = noise | by_model[model.number]
        forest = noise | ({2: {"X2": 0.7}, 1: {"X3": 0.1}}.get(model.number, {}))
        forest |= {name: value for name, value in by_model[model.number].items() if value > 0.01}
        shuffled = {name: 0.3 + value for name, value in noise.items()}
        shuffled |= {"X3": 1.0, "X1": 0.5, "X2": 0.5}
        found = dict.fromkeys(("lars", "lasso", "svr", "lars-standardised"), linear)
        return found | {"forest": forest, "forest-training": shuffled}

    def terms(model):
        weak = {"mi": 0.01, "mi line": 0.04, "cmi": 0.01, "cmi line": 0.03}
        atoms = {"unique1": 0.0, "unique2": 0.5, "shared": 0.02, "synergy": 0.6}
        strong = {"mi": 0.4, "mi line": 0.04, "cmi": 0.9, "cmi line": 0.03}
        rich = {"unique1": 0.0, "unique2": 0.5, "shared": 0.4, "synergy": 0.9}
        strongest = {1: model.relevant, 2: ["X2", "X3"], 3: []}[model.number]
        return {
            name: dict.fromkeys(
                ("ksg", "count", "width"), strong | rich if name in strongest else weak | atoms
            )
            for name in model.relevant
        }

    def errors(model):
        best = {1: model.relevant, 2: ["X2", "X3"], 3: ["X3"]}[model.number]
        found = [2.0] * 1023
        found[model.place_of(best)] = 1.9
        return {"errors": found, "without": 2.0}

    return world(selected, forward, importances, terms, errors, n_runs)


def against_the_text():
    """Make up runs in which no sentence is true."""

    def selected(model, settings, seed):
        by_mi = settings.startswith("mi")
        if model == 1:
            return ["X3", "X5"] if by_mi else ["Z1", "Z2"]
        if model == 2:
            return ["X2", "X3"] if by_mi else ["X1", "Z1"]
        return ["X1", "X2", "X3", "X4"] if by_mi else ["X1", "Z1"]

    def forward(model, method, seed):
        if model == 1:
            late = ["X4"] if method == "lars" else ["X4", "Z1"]
            return ["X3", "X5" if method == "lars" else "Z2", "X2", *late]
        return ["X2", "Z1"] if method == "lars" else ["Z1", "X1"]

    def importances(model, seed):
        values = dict.fromkeys(model.names, 0.5) | {"X1": 1.0, "Z1": 0.9, "X3": 0.1, "X4": 0.7}
        other = {name: 1.0 - value for name, value in values.items()}
        found = dict.fromkeys(("lars", "lars-standardised", "forest", "forest-training"), values)
        return found | {"lasso": other, "svr": other}

    def terms(model):
        of_all = {"mi": 0.4, "mi line": 0.04, "cmi": 0.1, "cmi line": 0.03}
        atoms = {"unique1": 0.3, "unique2": 0.5, "shared": 0.4, "synergy": 0.2}
        poor = {"shared": 0.1, "synergy": 0.05}
        return {
            name: dict.fromkeys(
                ("ksg", "count", "width"), of_all | atoms | (poor if name in ("X2", "X3") else {})
            )
            for name in model.relevant
        }

    def errors(model):
        found = [2.0] * 1023
        found[model.place_of(["Z1"])] = 0.1
        if model.number == 2:
            found[model.place_of(model.relevant)] = 1.9
        return {"errors": found, "without": 2.0}

    return world(selected, forward, importances, terms, errors)


def verdicts(results):
    return {claim.name: claim.verdict for claim in friedman.report(results).claims}


def test_without_runs_everything_is_said_to_be_not_run():
    findings = friedman.report(Results({}))
    names = [claim.name for claim in findings.claims]
    assert len(set(names)) == len(names)
    assert set(MANDATORY) <= set(names)
    assert {claim.verdict for claim in findings.claims} == {Verdict.NOT_RUN}
    compared = [cell for cell in findings.comparisons[0].cells if cell.paper is not None]
    assert len(compared) == 36
    assert {cell.verdict for cell in compared} == {Verdict.NOT_RUN}
    assert findings.figures == []


def test_claims_agree_where_runs_are_as_the_text_says():
    assert {
        name: found for name, found in verdicts(as_the_text()).items() if found != "agrees"
    } == {}


def test_claims_differ_where_runs_are_not_as_the_text_says():
    found = verdicts(against_the_text())
    assert {name: verdict for name, verdict in found.items() if verdict != "differs"} == {}


def test_one_run_decides_nothing():
    assert set(verdicts(as_the_text(n_runs=1)).values()) == {Verdict.UNDECIDED}


@pytest.mark.parametrize("n_runs", [1, 2])
def test_figures_are_plain_and_show_all_that_was_run(n_runs):
    figures = friedman.report(as_the_text(n_runs)).figures
    assert {figure.name: len(figure.panels) for figure in figures} == {
        "friedman-selected": 12,
        "friedman-importances": 6,
        "friedman-forward": 3,
        "friedman-neighbours": 3,
        "friedman-information": 9,
        "friedman-atoms": 6,
    }
    assert json.dumps([figure.to_dict() for figure in figures], allow_nan=False)


@pytest.mark.parametrize("part", [part.name for part in friedman.EXPERIMENT.parts])
def test_a_part_alone_makes_a_report(part):
    everything = as_the_text(3)
    points = everything.points(part)
    runs = [(point, 0, everything.of(part, **point)[0]) for point in points]
    findings = friedman.report(Results({part: runs}))
    assert {Verdict.NOT_RUN, Verdict.UNDECIDED} >= {claim.verdict for claim in findings.claims}
    if part != "neighbours-other-k":
        assert findings.figures


def test_the_selected_sets_are_marked_among_all_sets():
    figures = {figure.name: figure for figure in friedman.report(as_the_text(2)).figures}
    first, _, third = figures["friedman-neighbours"].panels
    every, by_mi, by_cmi = first.series
    place = Model(Results({}), 1).place_of(["X1", "X2", "X3", "X4", "X5"])
    assert (by_cmi.x, by_cmi.y) == ([every.x[place]], [every.y[place]])
    assert by_cmi.x[0] == pytest.approx(5, abs=0.5)
    assert by_mi.y == [2.0]
    assert len(third.series) == 2  # CMI selects nothing in model III


def test_rates_are_shares_of_relevant_and_nuisance_columns():
    runs = [["X1", "X2", "Z1"], ["X1", "X2", "X3", "X4", "X5"]]
    point = {"model": 1, "settings": "mi"}
    results = Results(
        {"selection": [(point, seed, {"selected": s}) for seed, s in enumerate(runs)]}
    )
    (table,) = friedman.report(results).comparisons
    found = {cell.column: cell.ours.mean for cell in table.cells if cell.ours.runs}
    assert found == {"MI: TP": 70.0, "MI: TN": 90.0, "MI: FP": 10.0, "MI: FN": 30.0}


def test_an_unequal_number_of_runs_is_no_obstacle():
    many, few = as_the_text(5), as_the_text(3)
    runs = {
        "selection": [
            (point, seed, outcome)
            for point in many.points("selection")
            for seed, outcome in enumerate(
                (many if point["settings"] == "cmi" else few).of("selection", **point)
            )
        ]
    }
    claims = {claim.name: claim for claim in friedman.report(Results(runs)).claims}
    assert claims["I: MI finds fewer"].ours.runs == 3
    assert claims["I: CMI finds all"].ours.runs == 5
