"""Pairwise criteria equal their definitions, and their tests stop a selection."""

from __future__ import annotations

import naive_pairwise_criteria
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recording_observer import Recorder
from sklearn.base import clone

import naive
from pidselect import PIDSelector, datasets
from pidselect.data.column import Block, Column
from pidselect.estimators import Discrete, Gaussian, Mixed
from pidselect.selection.context import NamedEstimator, SelectionContext
from pidselect.selection.criteria import CRITERIA
from pidselect.selection.executor import Executor
from pidselect.selection.pairwise_criteria import LinearCriterion
from pidselect.selection.pool import Feature
from pidselect.selection.scoring import cmi_given
from pidselect.significance.rng import FORWARD

SEED, STEP = 7, 3
STREAM_KEY = (FORWARD, STEP)
COUNTING = Discrete()
ALL = [
    *(
        pytest.param(CRITERIA[name], naive_pairwise_criteria.CRITERIA[name], id=name)
        for name in naive_pairwise_criteria.CRITERIA
    ),
    pytest.param(LinearCriterion(0.3, 0.7), naive_pairwise_criteria.linear(0.3, 0.7), id="linear"),
    pytest.param(
        LinearCriterion(0.5, 0.0), naive_pairwise_criteria.linear(0.5, 0), id="mifs by half"
    ),
]


# --- systems and their pieces --------------------------------------------------------------------


def levels(seed=0, n=90):
    """y follows x0, and x1 where x2 is large; x3 is nearly x0; x4 and x5 are noise."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, [3, 2, 4, 3, 5, 2], (n, 6))
    x[:, 3] = np.where(rng.random(n) < 0.8, x[:, 0], x[:, 3])
    return x, (x[:, 0] + x[:, 1] * (x[:, 2] > 1) + (rng.random(n) < 0.1)) % 3


def features(x, feature_type="nominal"):
    columns = [
        Column(f"x{j}", feature_type, np.array(values, dtype=float)) for j, values in enumerate(x.T)
    ]
    return [Feature(column.name, (j,), Block((column,))) for j, column in enumerate(columns)]


def context_for(y, feature_type="nominal", estimator=COUNTING, **others):
    target = Block((Column("y", feature_type, np.array(y, dtype=float)),))
    return SelectionContext(target, NamedEstimator("one", estimator), seed=SEED, **others)


def evaluate(criterion, x, y, n_selected, permutations=range(1), feature_type="nominal", **others):
    """Rate all columns but the first ones, which are selected: shape (n_candidates, n_draws)."""
    known = features(x, feature_type)
    scores = criterion.candidate_scores(
        context_for(y, feature_type, **others),
        known[n_selected:],
        (),
        known[:n_selected],
        STREAM_KEY,
    )
    return scores.score(permutations)[0, :, 0]


# --- the twin ------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_selected", [0, 1, 2, 4])
@pytest.mark.parametrize(("criterion", "twin"), ALL)
def test_same_as_the_twin(criterion, twin, n_selected):
    x, y = levels()
    expected = np.empty((x.shape[1] - n_selected, 4))
    for permutation in range(4):
        rows = (
            naive.permutation((SEED, *STREAM_KEY, permutation), len(y))
            if permutation
            else range(len(y))
        )
        columns = [column.tolist() for column in x[list(rows)].T]
        for place, c in enumerate(columns[n_selected:]):
            expected[place, permutation] = twin(c, columns[:n_selected], y.tolist())
    np.testing.assert_allclose(
        evaluate(criterion, x, y, n_selected, range(4)), expected, atol=1e-10
    )


@pytest.mark.parametrize("name", naive_pairwise_criteria.CRITERIA)
def test_no_cut_of_draws_or_number_of_workers_shows(name):
    x, y = levels()
    whole = evaluate(CRITERIA[name], x, y, 2, range(40))
    parts = [evaluate(CRITERIA[name], x, y, 2, some) for some in (range(7), range(7, 40))]
    np.testing.assert_array_equal(np.concatenate(parts, axis=-1), whole)
    np.testing.assert_array_equal(
        evaluate(CRITERIA[name], x, y, 2, range(40), executor=Executor(2)), whole
    )


def test_progress_hears_of_every_value():
    x, y = levels()
    recorder = Recorder()
    executor = Executor(observer=recorder)
    evaluate(CRITERIA["jmi"], x, y, 2, range(40), executor=executor)
    assert sum(recorder.all("progress")) == (4 + 2 + 4 * 2) * 40  # c, s and their pairs


# --- identities ----------------------------------------------------------------------------------


def test_mim_is_mi_with_shared_draws():
    x, y = levels()
    known = features(x)
    alone = cmi_given(context_for(y, shared_permutations=True), known[2:], (), STREAM_KEY).score(
        range(5)
    )[0, :, 0]
    np.testing.assert_array_equal(evaluate(CRITERIA["mim"], x, y, 2, range(5)), alone)


def test_kept_ones_count_as_selected_unless_constant():
    x, y = levels()
    first, second, *candidates = features(x)
    constant = Feature("always", (9,), Block())
    found = CRITERIA["jmi"].candidate_scores(
        context_for(y), candidates, (constant, first), (second,), STREAM_KEY
    )
    expected = CRITERIA["jmi"].candidate_scores(
        context_for(y), candidates, (), (first, second), STREAM_KEY
    )
    np.testing.assert_array_equal(found.score(range(3)), expected.score(range(3)))
    names = [
        feature.name for feature in CRITERIA["jmi"].conditioning_set((constant, first), (second,))
    ]
    assert names == ["always", "x0", "x1"]


def test_a_group_is_one_variable():
    x, y = levels()
    grouped = Feature("x0+x1", (0, 1), Block(tuple(f.block.columns[0] for f in features(x)[:2])))
    merged = np.column_stack([5 * x[:, 0] + x[:, 1], x[:, 2:]])
    for name in naive_pairwise_criteria.CRITERIA:
        scores = CRITERIA[name].candidate_scores(
            context_for(y), features(x)[2:], (), (grouped,), STREAM_KEY
        )
        found = scores.score(range(3))[0, :, 0]
        np.testing.assert_allclose(
            found, evaluate(CRITERIA[name], merged, y, 1, range(3)), atol=1e-12
        )


# --- unique information in context ---------------------------------------------------------------


@given(seed=st.integers(0, 1000))
def test_beside_one_feature_it_is_cmi(seed):
    x, y = levels(seed)
    known = features(x)
    cmi = cmi_given(context_for(y), known[1:], known[:1], STREAM_KEY).score(range(1))[0, :, 0]
    np.testing.assert_allclose(evaluate(CRITERIA["pid"], x, y, 1), cmi, atol=1e-12)


def test_toy_system():
    X, y = datasets.toy(random_state=1).Xy
    selector = PIDSelector("pid", "ksg", n_permutations=39, random_state=0).fit(X, y)
    assert selector.selection_.features == ("x0", "x2")


# --- the stop ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", naive_pairwise_criteria.CRITERIA)
def test_finds_what_is_plain_and_leaves_noise(name):
    rng = np.random.default_rng(2)
    X = rng.integers(0, 3, (200, 4))
    y = X[:, 1] + 3 * (rng.random(200) < 0.2)
    selector = PIDSelector(name, n_permutations=99, random_state=0).fit(X, y)
    assert selector.selection_.features == ("x1",)
    assert [step.phase for step in selector.selection_.steps] == ["forward", "forward"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_max_features_alone(n_jobs):
    X, y = levels()
    selector = PIDSelector("mrmr", n_permutations=0, max_features=3, n_jobs=n_jobs).fit(X, y)
    assert len(selector.selected_) == 3
    assert [step.p_value for step in selector.selection_.steps] == [None] * 3
    chosen: list[int] = []
    columns = [column.tolist() for column in X.T]
    while len(chosen) < 3:
        rest = [j for j in range(X.shape[1]) if j not in chosen]
        selected = [columns[j] for j in chosen]
        chosen.append(
            max(rest, key=lambda j: naive_pairwise_criteria.mrmr(columns[j], selected, y.tolist()))
        )
    assert selector.selected_.tolist() == chosen


def test_schemes_that_permute_the_target():
    x, y = levels()
    known = features(x)
    scores = CRITERIA["mim"].candidate_scores(
        context_for(y, surrogates=("global", "local", "shift")), known, (), (), STREAM_KEY
    )
    assert scores.schemes == ("global", "shift")
    values = scores.score(range(3))
    assert values.shape == (2, 6, 1, 3)
    np.testing.assert_array_equal(values[0, ..., 0], values[1, ..., 0])
    assert (values[0, ..., 1:] != values[1, ..., 1:]).any()


# --- users ---------------------------------------------------------------------------------------


def test_an_object_with_parameters_is_a_parameter():
    selector = PIDSelector(LinearCriterion(beta=0.5, gamma=0.2))
    assert clone(selector).criterion.get_params() == {"beta": 0.5, "gamma": 0.2}
    selector.set_params(criterion__beta=0.1)
    assert selector.criterion.beta == 0.1


def test_what_is_continuous_has_no_entropy():
    rng = np.random.default_rng(0)
    X, y = np.column_stack([rng.integers(0, 2, 50), rng.normal(size=50)]), rng.integers(0, 2, 50)
    with pytest.raises(ValueError, match=r'Mixed\(\).*estimator="discrete"'):
        PIDSelector("disr", Mixed()).fit(X[:, :1], y)
    with pytest.raises(ValueError, match=r"'x1' is continuous"):
        PIDSelector("disr", "discrete").fit(X, y)


@pytest.mark.parametrize("weight", ["much", None, float("nan")])
def test_weights_are_numbers(weight):
    x, y = levels()
    with pytest.raises(ValueError, match="gamma="):
        evaluate(LinearCriterion(1.0, weight), x, y, 1)


def test_the_record_names_the_schemes_that_were_used():
    x, y = levels()
    settings = {"estimator": "discrete", "surrogates": ("global", "local"), "n_permutations": 0}
    used = {
        criterion: PIDSelector(criterion, max_features=1, random_state=0, **settings)
        .fit(x, y)
        .selection_.settings.surrogates
        for criterion in ("cmi", "mrmr")
    }
    assert used == {"cmi": ("global", "local"), "mrmr": ("global",)}


def test_local_surrogates_alone_make_no_test():
    x, y = levels()
    with pytest.raises(ValueError, match='surrogates="global"'):
        evaluate(CRITERIA["jmi"], x, y, 1, surrogates=("local",))


@pytest.mark.parametrize(
    "name", [name for name in naive_pairwise_criteria.CRITERIA if name != "disr"]
)
def test_a_target_that_is_known_exactly(name):
    """Infinite information is compared, not made into NaN: nothing can be added to it."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 4))
    y = x[:, 0] + x[:, 1]
    for n_selected in (1, 2):
        values = evaluate(
            CRITERIA[name], x, y, n_selected, range(3), "continuous", estimator=Gaussian()
        )
        assert not np.isnan(values).any()
        if n_selected == 1 and name in ("cife", "jmi", "cmim", "pid"):
            assert values[0, 0] > 5
