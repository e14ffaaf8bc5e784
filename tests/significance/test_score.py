"""The score test against its naive twin, its invariances, and what it does at the edges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from scipy.stats import chi2

import naive_score
from pidselect.data import Block, Column
from pidselect.significance import score, staged
from pidselect.significance.local import LOCAL_FAMILIES, local_statistics
from pidselect.significance.score import NOTHING, bind, families, functions_of, statistics
from pidselect.significance.staged import Part, staged_test, task_statistics

pytestmark = pytest.mark.filterwarnings("error")

seeds = st.integers(0, 2**32 - 1)
NOBODY = Block()


def column(values, feature_type="continuous", name="x"):
    return Column(name, feature_type, np.asarray(values, dtype=np.float64))


def single(values, feature_type="continuous", name="x"):
    return Block((column(values, feature_type, name),))


def with_gaps(rng, values, share=0.15):
    return np.where(rng.random(len(values)) < share, np.nan, values)


def mixed_columns(rng, n, driver):
    """Return columns of every kind, some of which depend on a number."""
    noise = rng.normal(size=(4, n))
    many = rng.integers(0, n // 6, n)
    rare = np.where(rng.random(n) < 0.05, 1.0, 0.0)
    rare[:4] = 1.0
    return [
        column(driver + noise[0]),
        column(np.exp(noise[1])),
        column(with_gaps(rng, driver**2 + noise[2])),
        column(np.clip((2 * driver + noise[3]).round(), -2, 2), "ordinal"),
        column(with_gaps(rng, rng.integers(0, 4, n).astype(float)), "ordinal"),
        column(rng.integers(0, 3, n), "nominal"),
        column(many, "nominal"),
        column(rare, "nominal"),
        column(driver > 0.3, "nominal"),
        column(np.zeros(n)),
    ]


def candidates_of(rng, n, driver):
    """Return every column alone, and some groups of columns."""
    columns = mixed_columns(rng, n, driver)
    groups = [(0, 1), (5, 8), (2, 5), (4, 7, 8), (6, 7), (9, 0)]
    return [Block((one,)) for one in columns] + [
        Block(tuple(columns[place] for place in group)) for group in groups
    ]


def target_of(kind, rng, n, driver):
    noise = rng.normal(size=(2, n))
    y = driver + noise[0]
    parts = {
        "number": [column(y)],
        "gaps": [column(with_gaps(rng, y))],
        "grades": [column(np.clip(y.round(), -2, 2), "ordinal")],
        "two classes": [column(y > 0.2, "nominal")],
        "classes": [column(np.digitize(y, [-1, 0.5]), "nominal")],
        "named classes": [Column("y", "nominal", column(y > 0).values + (y > 1), tuple("abc"))],
        "two numbers": [column(y), column(driver * noise[1])],
        "joint labels": [column(y > 0, "nominal"), column(noise[1] > 0, "ordinal")],
        "number and label": [column(noise[1]), column(y > 0, "nominal")],
    }
    return Block(tuple(parts[kind]))


TARGETS = [
    "number",
    "gaps",
    "grades",
    "two classes",
    "classes",
    "named classes",
    "two numbers",
    "joint labels",
    "number and label",
]


def given_of(kind, rng, n, driver):
    label = column(rng.integers(0, 3, n), "nominal")
    number = column(driver + rng.normal(size=n))
    gaps = column(with_gaps(rng, rng.normal(size=n)))
    return {
        "nothing": Block(),
        "labels": Block((label, column(rng.integers(0, 2, n), "ordinal"))),
        "numbers": Block((number, gaps)),
        "both": Block((label, number)),
    }[kind]


def naive_rows(rng, n, m):
    return np.stack([np.arange(n), *(rng.permutation(n) for _ in range(m))])


@pytest.mark.parametrize("given", ["nothing", "labels", "numbers", "both"])
@pytest.mark.parametrize("kind", TARGETS)
def test_statistics_equal_the_twin(kind, given):
    rng = np.random.default_rng([TARGETS.index(kind), len(given)])
    n = 120
    driver = rng.normal(size=n)
    target, conditions = target_of(kind, rng, n, driver), given_of(given, rng, n, driver)
    candidates = candidates_of(rng, n, driver)
    rows = naive_rows(rng, n, 3)
    bound, twin = bind(target, conditions), naive_score.NaiveBound(target, conditions)
    functions = functions_of(candidates, bound)
    made = families(functions, bound)
    observed, null = statistics(made, bound, len(candidates), rows, True)
    others = families(functions, bound, LOCAL_FAMILIES)
    local = local_statistics(others, bound, len(candidates), rows)
    _, largest = statistics(made, bound, len(candidates), rows, False)
    np.testing.assert_array_equal(largest, null.max(axis=0, keepdims=True))
    for place, block in enumerate(candidates):
        own = naive_score.families(block, twin)
        found = [naive_score.statistic(own, twin, row) for row in rows]
        by_family = dict(zip(score.FAMILIES, observed[:, place], strict=True))
        assert by_family == pytest.approx(found[0], rel=1e-7, abs=1e-7)
        expected = [max(one.values()) for one in found[1:]]
        assert null[place] == pytest.approx(expected, rel=1e-7, abs=1e-7)
        expected = [naive_score.local_statistic(own, twin, row) for row in rows]
        assert local[place] == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("given", ["nothing", "labels", "numbers"])
def test_statistics_with_groups_of_rows_equal_the_twin(given):
    rng = np.random.default_rng(7)
    n = 120
    groups, driver = rng.integers(0, 4, n), rng.normal(size=n)
    target, conditions = target_of("gaps", rng, n, driver), given_of(given, rng, n, driver)
    bound = bind(target, conditions, groups)
    twin = naive_score.NaiveBound(target, conditions, groups)
    rows = bound.orders((1,), range(3))
    assert (groups[rows] == groups).all()
    candidates = candidates_of(rng, n, driver)
    found = statistics_of(target, conditions, candidates, rows, groups=groups)
    for block, values in zip(candidates, found, strict=True):
        own = naive_score.families(block, twin)
        expected = [max(naive_score.statistic(own, twin, row).values()) for row in rows]
        assert values == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("step_down", [False, True])
@pytest.mark.parametrize("given", ["nothing", "labels", "numbers"])
@pytest.mark.parametrize("strength", [0.0, 0.35, 2.0])
def test_p_values_equal_the_twin(given, strength, step_down):
    rng = np.random.default_rng([len(given), int(100 * strength)])
    n = 60
    driver = rng.normal(size=n)
    target = single(strength * driver + rng.normal(size=n))
    conditions = given_of(given, rng, n, rng.normal(size=n))
    candidates = [Block((one,)) for one in mixed_columns(rng, n, driver)[:7]]
    bound = bind(target, conditions)
    found = staged_test(bound, candidates, (5, 1), 0.1, 1.0, 50, step_down)
    expected = naive_score.staged_p_values(
        target, conditions, candidates, (5, 1), 0.1, 50, step_down
    )
    np.testing.assert_allclose(found.p_values, expected, rtol=1e-12)


def test_the_null_distribution_of_a_family_is_that_of_the_largest_statistic():
    """Step down, too, where those of every candidate are known."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4, 60))
    bound = bind(single(x[0] + 0.3 * rng.normal(size=60)), NOBODY)
    candidates = [single(one) for one in x]
    plain, down = (
        staged_test(bound, candidates, (1,), 0.1, 1.0, 99, step_down) for step_down in (False, True)
    )
    np.testing.assert_array_equal(down.null, plain.null)
    assert down.critical_value == plain.critical_value < plain.statistics[0]


@pytest.mark.parametrize("freedom", [1, 2, 7, 30])
def test_log_p_is_that_of_chi_square_and_goes_on_beyond_it(freedom):
    sums = np.array([0.0, 1e-9, 0.5, 3.0, 40.0, 300.0, 1200.0])
    found = score._log_p(sums[np.newaxis], np.array([[freedom]]))[0]
    np.testing.assert_allclose(found, -chi2.logsf(sums, freedom), rtol=1e-9, atol=1e-12)
    far = score._log_p(np.linspace(1000, 5000, 4001)[np.newaxis], np.array([[freedom]]))[0]
    assert (np.diff(far) > 0.4).all()
    assert (np.diff(far) < 0.6).all()


# Invariances.


def statistics_of(target, given, candidates, rows, stage="score", groups=None):
    """Return the statistics of every candidate in every order, (n_candidates, n_rows)."""
    bound, part = bind(target, given, groups), Part(candidates)
    observed, _, null = task_statistics(bound, part, stage, rows, True)
    return np.column_stack([observed, null])


def example(seed, n=80, strata=False):
    rng = np.random.default_rng(seed)
    driver = rng.normal(size=n)
    given = given_of("labels" if strata else "numbers", rng, n, driver)
    return rng, driver, target_of("number", rng, n, driver), given, candidates_of(rng, n, driver)


stages = st.sampled_from(["score", "local"])
factors, shifts = st.floats(1e-6, 1e6), st.floats(-1e3, 1e3)


@drawn(seeds, stages, factors, shifts, st.booleans())
@settings(max_examples=8, deadline=None)
def test_units_do_not_matter(seed, stage, factor, shift, is_given):
    rng, _, target, given, candidates = example(seed)
    given = given if is_given else NOBODY

    def changed(block):
        return Block(
            tuple(
                one
                if one.feature_type == "nominal"
                else column(factor * (one.values + shift), one.feature_type)
                for one in block.columns
            )
        )

    rows = naive_rows(rng, 80, 2)
    expected = statistics_of(target, given, candidates, rows, stage)
    found = statistics_of(changed(target), given, [changed(c) for c in candidates], rows, stage)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@drawn(seeds, stages, st.sampled_from([np.exp, np.cbrt, lambda v: v**3 + v, np.arctan]))
@settings(max_examples=8, deadline=None)
def test_increasing_maps_of_numbers_do_not_matter_without_s(seed, stage, increasing):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(2, 70))
    rows = naive_rows(rng, 70, 2)
    expected = statistics_of(single(y), NOBODY, [single(x)], rows, stage)
    found = statistics_of(single(increasing(y)), NOBODY, [single(increasing(x))], rows, stage)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@drawn(seeds, stages, st.booleans())
@settings(max_examples=8, deadline=None)
def test_names_of_levels_do_not_matter(seed, stage, is_given):
    """Of levels of different frequency; of equal ones, another would have no indicator."""
    rng, driver, target, given, _ = example(seed)
    codes = np.repeat(np.arange(6), [30, 20, 14, 9, 5, 2])
    codes = codes[np.argsort(driver + rng.normal(size=80))]
    names = rng.permutation(6)
    rows = naive_rows(rng, 80, 2)
    given = given if is_given else NOBODY
    expected = statistics_of(target, given, [single(codes, "nominal")], rows, stage)
    found = statistics_of(target, given, [single(names[codes], "nominal")], rows, stage)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@drawn(seeds, st.sampled_from(["nothing", "labels", "numbers"]))
@settings(max_examples=8, deadline=None)
def test_the_order_of_rows_does_not_matter(seed, kind):
    rng, driver, target, _, candidates = example(seed)
    given = given_of(kind, rng, 80, driver)
    rows = naive_rows(rng, 80, 2)
    moved = rng.permutation(80)
    place = np.argsort(moved)
    expected = statistics_of(target, given, candidates, rows)
    given = given.take(moved) if len(given) else given
    found = statistics_of(
        target.take(moved), given, [c.take(moved) for c in candidates], place[rows[:, moved]]
    )
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["ordinal", "continuous"])
def test_two_levels_are_a_label_whatever_their_type(kind):
    rng, driver, _, given, _ = example(0)
    values, rows = driver + rng.normal(size=(2, 80)) > 0.2, naive_rows(rng, 80, 2)
    expected, found = (
        statistics_of(single(values[0], one), given, [single(values[1], one)], rows)
        for one in ("nominal", kind)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@drawn(seeds, stages, st.sampled_from(["nothing", "labels", "numbers"]))
@settings(max_examples=8, deadline=None)
def test_neither_order_nor_number_of_candidates_matters(seed, stage, kind):
    rng, driver, target, _, candidates = example(seed)
    given = given_of(kind, rng, 80, driver)
    rows, order = naive_rows(rng, 80, 2), rng.permutation(len(candidates))
    expected = statistics_of(target, given, candidates, rows, stage)
    found = statistics_of(target, given, [candidates[c] for c in order], rows, stage)
    np.testing.assert_allclose(found, expected[order], rtol=1e-7, atol=1e-7)
    alone = [statistics_of(target, given, [one], rows, stage)[0] for one in candidates]
    np.testing.assert_allclose(alone, expected, rtol=1e-7, atol=1e-7)


def test_the_size_of_batches_does_not_matter(monkeypatch):
    rng = np.random.default_rng(0)
    target, candidate = single(rng.normal(size=60), name="y"), [single(rng.normal(size=60))]
    expected = staged_test(bind(target, NOBODY), candidate, (1,), 0.05, n_permutations=700)
    monkeypatch.setattr(staged, "MAX_BATCH", 60 * 90)
    found = staged_test(bind(target, NOBODY), candidate, (1,), 0.05, n_permutations=700)
    n = min(len(found.null), len(expected.null))
    np.testing.assert_allclose(found.null[:n], expected.null[:n], rtol=1e-12)


@pytest.mark.parametrize("size", [1, 63, 65, 10_001])
@pytest.mark.parametrize("given", ["nothing", "numbers"])
@pytest.mark.parametrize("step_down", [False, True])
def test_the_size_of_tasks_does_not_matter(monkeypatch, given, size, step_down):
    rng = np.random.default_rng(0)
    n = 40
    driver = rng.normal(size=n)
    candidates = [single(rng.normal(size=n)) for _ in range(70)]
    bound = bind(single(driver), given_of(given, rng, n, driver))
    expected = staged_test(bound, candidates, (1,), 0.05, n_permutations=24, step_down=step_down)
    monkeypatch.setattr(staged, "TASK_VALUES", size * n)
    monkeypatch.setattr(staged, "MAX_TASK", size)
    found = staged_test(bound, candidates, (1,), 0.05, n_permutations=24, step_down=step_down)
    np.testing.assert_allclose(found.statistics, expected.statistics, rtol=1e-9)
    np.testing.assert_allclose(found.null, expected.null, rtol=1e-9)
    np.testing.assert_array_equal(found.p_values, expected.p_values)
    assert found.functions == expected.functions


@drawn(seeds, st.booleans())
@settings(max_examples=10, deadline=None)
def test_functions_are_orthonormal_and_without_their_mean(seed, strata):
    _, _, target, given, candidates = example(seed, strata=strata)
    bound = bind(target, given if strata else NOBODY)
    for family in families(functions_of(candidates, bound), bound):
        for functions in family.functions:
            gram = functions.T @ functions
            kept = np.diag(gram) > 0.5
            np.testing.assert_allclose(gram, np.diag(kept.astype(float)), atol=1e-7)
            np.testing.assert_allclose(functions.sum(axis=0), 0, atol=1e-7)


# What is determined.


@pytest.mark.parametrize("stage_down", [False, True])
def test_what_s_determines_is_never_significant(stage_down):
    rng = np.random.default_rng(0)
    s, y = rng.normal(size=(3, 150)), rng.normal(size=150)
    given = Block(tuple(column(one) for one in s))
    label = Block((column(rng.integers(0, 3, 150), "nominal"),))
    bound = bind(single(y + s[0]), given)
    determined = [single(s[0]), single(3 - 2 * s[1]), single(s.sum(axis=0))]
    found = staged_test(bound, determined, (0,), 0.5, 1.0, 40, stage_down)
    assert (found.p_values == 1.0).all()
    bound = bind(single(y), label)
    merged = single(label.columns[0].values == 1, "nominal")
    found = staged_test(bound, [label, merged], (0,), 0.5, 1.0, 40, stage_down)
    assert (found.p_values == 1.0).all()


@pytest.mark.parametrize("kind", ["number", "label", "classes"])
def test_nothing_is_significant_where_s_determines_the_target(kind):
    rng = np.random.default_rng(0)
    s, x = rng.normal(size=(2, 150))
    label = rng.integers(0, 3, 150)
    target, given = {
        "number": (single(2 * s + 1), single(s)),
        "label": (single(label == 2, "nominal"), single(label, "nominal")),
        "classes": (single(s > 0, "nominal"), Block((column(s), column(s > 0, "nominal")))),
    }[kind]
    bound = bind(target, given)
    assert bound.is_determined
    found = staged_test(bound, [single(x), single(s + x)], (0,), 0.5, 1.0, 40)
    assert (found.p_values == 1.0).all()


@pytest.mark.parametrize("n", range(3, 11))
@pytest.mark.parametrize("given", ["nothing", "labels", "numbers"])
def test_few_rows(n, given):
    rng = np.random.default_rng(n)
    driver = rng.normal(size=n)
    conditions = {
        "nothing": Block(),
        "labels": single(np.arange(n) % 2, "nominal"),
        "numbers": single(driver + rng.normal(size=n)),
    }[given]
    candidates = [
        single(driver),
        single(np.arange(n) % 2, "nominal"),
        single(np.arange(n), "nominal"),
        single(np.where(np.arange(n) == 1, np.nan, driver)),
        single(np.round(driver), "ordinal"),
        Block((column(driver), column(np.arange(n) % 2, "nominal"))),
    ]
    for target in (single(driver**3), single(np.arange(n) % 2, "nominal")):
        found = staged_test(bind(target, conditions), candidates, (1,), 0.2, 1.0, 30)
        assert np.isfinite(found.statistics).all()
        assert ((found.p_values > 0) & (found.p_values <= 1)).all()


@pytest.mark.parametrize("given", ["nothing", "labels", "numbers"])
def test_columns_without_information(given):
    rng = np.random.default_rng(0)
    n = 50
    candidates = [
        single(np.full(n, 7.0)),
        single(np.zeros(n), "nominal"),
        single(np.full(n, np.nan)),
        single(np.full(n, np.nan), "nominal"),
        Block((column(np.zeros(n)), column(np.full(n, np.nan)))),
    ]
    conditions = given_of(given, rng, n, rng.normal(size=n))
    bound = bind(single(rng.normal(size=n)), conditions)
    found = staged_test(bound, candidates, (1,), 0.5, 1.0, 30)
    assert (found.p_values == 1.0).all()
    assert (found.statistics == NOTHING).all()


@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-321, 1e150, 1e-150])
@pytest.mark.parametrize("given", ["nothing", "labels", "numbers"])
@pytest.mark.parametrize("where", ["candidate", "target", "given"])
def test_extreme_values(scale, given, where):
    rng = np.random.default_rng(0)
    x, y, s = rng.normal(size=(3, 60)).round(2)
    sizes = {name: scale if name == where else 1.0 for name in ("candidate", "target", "given")}
    conditions = {
        "nothing": Block(),
        "labels": single(rng.integers(0, 3, 60), "nominal"),
        "numbers": single(s * sizes["given"]),
    }[given]
    bound = bind(single(y * sizes["target"]), conditions)
    found = staged_test(bound, [single(x * sizes["candidate"])], (1,), 0.2)
    assert np.isfinite(found.statistics).all()
    assert np.isfinite(found.p_values).all()


def test_a_statistic_that_is_nan_is_never_significant(monkeypatch):
    rng = np.random.default_rng(0)
    candidates = [single(rng.normal(size=40)) for _ in range(3)]
    bound = bind(single(rng.normal(size=40)), NOBODY)
    plain = staged.task_statistics

    def broken(*args):
        observed, names, null = plain(*args)
        observed = observed.copy()
        observed[1] = np.nan
        return observed, names, null

    monkeypatch.setattr(staged, "task_statistics", broken)
    found = staged_test(bound, candidates, (1,), 0.5, 1.0, 40)
    assert not found.p_values[1] < 1
    down = staged_test(bound, candidates, (1,), 0.5, 1.0, 40, True)
    assert not down.p_values[1] < 1


# What it finds, and that it does not find what is not there.


FOUND = {
    "line": lambda x, rng: x + rng.normal(size=len(x)),
    "square": lambda x, rng: x**2 + rng.normal(size=len(x)),
    "scale": lambda x, rng: np.exp(0.7 * x) * rng.normal(size=len(x)),
    "wave": lambda x, rng: np.sin(4 * x) + 0.5 * rng.normal(size=len(x)),
}


@pytest.mark.parametrize("name", FOUND)
def test_dependences_are_found(name):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(6, 400))
    bound = bind(single(FOUND[name](x[2], rng)), NOBODY)
    found = staged_test(bound, [single(one) for one in x], (1,), 0.05)
    assert found.p_values.argmin() == 2
    assert found.p_values[2] <= 0.05


def test_a_dependence_that_shows_only_in_a_product_with_s():
    rng = np.random.default_rng(0)
    s, x = rng.normal(size=(2, 400))
    bound = bind(single(s * x + rng.normal(size=400)), single(s))
    assert staged_test(bound, [single(x)], (1,), 0.05).p_values[0] <= 0.05


def test_classes_that_are_counts_have_an_order():
    """A line of the mean count is found in more tables than differences of named classes."""
    n_found = {"counts": 0, "names": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=200)
        y = rng.poisson(np.exp(0.6 + 0.2 * x)).astype(float)
        for kind, labels in (("counts", None), ("names", tuple(map(str, range(20))))):
            target = Block((Column("y", "nominal", y, labels),))
            found = staged_test(bind(target, NOBODY), [single(x)], (seed,), 0.05)
            n_found[kind] += found.p_values[0] <= 0.05
    assert n_found["counts"] >= n_found["names"] + 4


@pytest.mark.parametrize("n_given", [1, 2])
def test_labels_that_are_informative_jointly(n_given):
    """The parity of labels, of which all but one are given."""
    labels = np.random.default_rng(3).integers(0, 2, (n_given + 1, 400))
    x, *given = (column(one, "nominal") for one in labels)
    bound = bind(single(labels.sum(axis=0) % 2, "nominal"), Block(tuple(given)))
    assert staged_test(bound, [Block((x,))], (0,), 0.05).p_values[0] <= 0.05


@pytest.mark.parametrize("given", ["nothing", "labels", "numbers"])
def test_p_values_are_valid_under_the_null_hypothesis(given):
    """Of 200 data sets, 20 are expected below 0.1; more than 31 have a probability of 0.5 %."""
    n_small = 0
    for seed in range(200):
        rng = np.random.default_rng([seed, len(given)])
        n = 40
        driver = rng.normal(size=n)
        conditions = given_of(given, rng, n, driver)
        if given == "numbers":
            conditions = single(driver)
        candidates = [single(driver * (given == "numbers") + rng.normal(size=n)) for _ in range(3)]
        candidates.append(single(rng.integers(0, 3, n), "nominal"))
        bound = bind(single(rng.normal(size=n)), conditions)
        n_small += staged_test(bound, candidates, (seed,), 0.1, 1.0, 49).p_values.min() <= 0.1
    assert n_small <= 31


@pytest.mark.parametrize("value", [0.0, 1e-3, -40.0, 700.0])
def test_values_that_are_equal_up_to_rounding_are_reached(value):
    rounding = 1e-10 * max(1.0, abs(value))
    assert staged.is_reached(value, value + rounding * np.array([-1.0, 0.0, 1.0])).all()
    assert not staged.is_reached(value, np.array([value - 1e3 * rounding])).any()


@pytest.fixture
def staged_by(monkeypatch):
    """Return a test of one candidate whose value some permutations of each stage reach."""

    def run(score=(), local=(), step_down=False, reaching=1.0):
        drawn = {"score": 0, "local": 0}

        def values(bound, candidates, stage, rows, keeps_all):
            start = drawn[stage]
            drawn[stage] += len(rows) - 1
            reached = {"score": score, "local": local}[stage]
            null = [reaching * (number in reached) for number in range(start, drawn[stage])]
            return np.array([0.5]), ("line",), np.array([null])

        monkeypatch.setattr(staged, "task_statistics", values)
        bound = bind(single(np.arange(4.0)), NOBODY)
        found = staged_test(bound, [single(np.arange(4.0))], (1,), 0.025, 1.0, 1000, step_down)
        return found, drawn

    return run


@pytest.mark.parametrize(
    ("reached", "n_drawn"),
    [((), 1000), (range(19), 1000), (range(20), 512), (range(980, 1000), 1000)],
    ids=str,
)
def test_the_first_stage_ends_where_it_is_lost(staged_by, reached, n_drawn):
    """Of 1,000 permutations 19 may reach the value at a level of 0.8 times 0.025."""
    found, drawn = staged_by(score=reached, local=range(1000))
    p = (1 + len(reached)) / (1 + n_drawn) / 0.8
    assert drawn["score"] == len(found.null) == n_drawn
    assert (found.p_values[0], found.share) == (pytest.approx(p), 0.8)
    assert (drawn["local"] == 0) == (p <= 0.025)  # the second one follows if nothing is found
    assert (found.critical_value is None) == (n_drawn < 1000)


@pytest.mark.parametrize(
    ("reached", "n_drawn"), [((), 1000), ((0, 1), 1000), ((0, 1, 2), 8)], ids=str
)
def test_the_second_stage_ends_where_it_is_futile(staged_by, reached, n_drawn):
    """Three of the first eight are many times their expected number."""
    found, drawn = staged_by(score=range(1000), local=reached)
    p = min(1.0, (1 + len(reached)) / (1 + n_drawn) / 0.2)
    assert drawn["local"] == len(found.null) == n_drawn
    assert (found.p_values[0], found.share) == (pytest.approx(p), 0.2)


def test_permutations_that_are_nan_count_as_reached(staged_by):
    assert staged_by(range(1000), range(1000), reaching=np.nan)[0].p_values[0] == 1.0


def test_step_down_both_stages_are_run(staged_by):
    found, drawn = staged_by(step_down=True)
    assert drawn == {"score": 1000, "local": 1000}
    assert found.p_values[0] == pytest.approx(1 / 1001 / 0.8)
