"""The settings of the paper: their values, their estimator, and what they find and refuse."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from systems import gates, numbers, xor

from pidselect import PIDSelector, datasets
from pidselect.estimators import KSG, Discrete, Mixed
from reproduction.information import PAPER

QUICK = {"n_permutations": 39, "random_state": 0}


def paper(**overrides):
    return PIDSelector.paper(**{**QUICK, **overrides})


def test_values():
    changed = {
        "estimator": "paper",
        "n_permutations": 200,
        "surrogates": "global",
        "shared_permutations": False,
        "backward": "minimum",
        "lookahead": 1,
        "max_samples": None,
    }
    shown = PIDSelector.paper().get_params()
    assert shown == PIDSelector().get_params() | changed
    assert (shown["criterion"], shown["alpha"]) == ("cmi", 0.05)
    assert clone(PIDSelector.paper()).get_params() == shown


def test_they_are_those_of_the_reproduction():
    shown = PIDSelector.paper().get_params()
    assert {name: shown[name] for name in PAPER} == {**PAPER, "estimator": "paper"}


def test_overrides():
    selector = PIDSelector.paper(lookahead=2, backward=None, missing="drop")
    expected = {"lookahead": 2, "backward": None, "missing": "drop"}
    assert selector.get_params() == PIDSelector.paper().get_params() | expected
    with pytest.raises(TypeError, match="lookahed"):
        PIDSelector.paper(lookahed=2)

    class Mine(PIDSelector):
        pass

    assert type(Mine.paper()) is Mine


@pytest.mark.parametrize(
    ("data", "name", "estimator"),
    [(numbers, "ksg", KSG), (gates, "discrete", Discrete)],
    ids=["numbers", "levels"],
)
def test_a_fit_is_that_of_the_settings_written_out(data, name, estimator):
    written = PIDSelector(
        estimator=name,
        n_permutations=39,
        surrogates="global",
        shared_permutations=False,
        backward="minimum",
        lookahead=1,
        random_state=0,
    )
    selector = paper().fit(*data())
    assert isinstance(selector.estimator_, estimator)
    assert selector.selection_ == written.fit(*data()).selection_
    phases = {step.phase for step in selector.selection_.steps}
    assert phases == {"forward", "backward"}


@pytest.mark.filterwarnings("ignore:No feature")
def test_the_paper_has_no_look_ahead():
    assert paper().fit(*xor()).n_features_ == 0


def test_all_samples_are_used(monkeypatch):
    monkeypatch.setattr("pidselect.selection.rows.MAX_ROWS", 50)
    monkeypatch.setattr("pidselect.selection.rows.NEIGHBOUR_ROWS", 30)
    assert paper().fit(*numbers()).selection_.settings.n_neighbour_samples is None
    limited = paper(max_samples="auto").fit(*numbers()).selection_
    assert limited.settings.n_neighbour_samples == 30


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_classes_beside_numbers_are_refused(load):
    X, y = load(return_X_y=True, as_frame=True)
    with pytest.raises(ValueError, match=r"'target' is nominal with 3 levels.*\"mixed\""):
        paper().fit(X, y)
    with pytest.raises(ValueError, match="'target' has 3 class labels"):
        paper(estimator="ksg").fit(X, y)
    selector = paper(estimator="mixed").fit(X, y)
    assert isinstance(selector.estimator_, Mixed)
    assert selector.n_features_ > 0


def test_classes_with_noise_are_numbers():
    """As in the paper's experiment I."""
    selector = paper().fit(*datasets.nested_spheres(label_noise=0.5, random_state=0).Xy)
    assert isinstance(selector.estimator_, KSG)
    assert selector.n_features_ == 3


@pytest.mark.parametrize("as_classes", [np.rint, lambda y: y > 0], ids=["integers", "bools"])
def test_levels_may_be_stated_as_numbers(as_classes):
    X, y = numbers()
    classes = as_classes(y)
    for estimator in ("paper", "ksg"):
        with pytest.raises(ValueError, match="'target'"):
            paper(estimator=estimator).fit(X, classes)
        stated = paper(estimator=estimator, feature_types={"target": "continuous"})
        assert isinstance(stated.fit(X, classes).estimator_, KSG)
    ordinal = paper(estimator="ksg", feature_types={"target": "ordinal"}).fit(X, np.rint(y))
    assert isinstance(ordinal.estimator_, KSG)


def test_columns_that_are_left_out_do_not_matter():
    X, y = numbers()
    constant = np.column_stack([X, np.ones(len(y))])
    assert isinstance(paper().fit(constant, y).estimator_, KSG)
