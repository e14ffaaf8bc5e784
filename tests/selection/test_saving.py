"""Selectors saved as JSON: equal when loaded, and refused when anything in the file is wrong."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import random
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from systems import gates, numbers, quick, season

from pidselect import PIDSelector, Table
from pidselect.data import FileError
from pidselect.estimators import ESTIMATORS, KSG, Discrete, Gaussian
from pidselect.selection import MIFS, LinearCriterion
from pidselect.selection.criteria import CRITERIA, Conditional
from pidselect.selection.json_file import compose
from pidselect.selection.saving import FORMAT, WHAT, decode, encode

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def cases(monkeypatch):
    """The random fits and damaged files of the benchmark."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.delitem(sys.modules, "common", raising=False)
    return importlib.import_module("saved_selectors")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "selector.json"


def again(selector, path):
    selector.save(path)
    return PIDSelector.load(path)


def record_of(path):
    return json.loads(path.read_bytes())["record"]


def rewrite(path, record):
    """Write a record with a right checksum."""
    path.write_bytes(b"".join(compose(WHAT, FORMAT, record)))


# --- equality -----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_random_fits(cases, tmp_path, seed):
    """Attributes, results, the file of the loaded selector, and one that was pickled."""
    case = cases.random_fit(1000 + seed)
    assert cases.differences(case, tmp_path, with_report=seed == 0) == []


def test_every_attribute_is_saved(path):
    """A new attribute of fits needs a place in the file."""
    columns, y = season()
    selector = quick().fit(pd.DataFrame(columns), pd.Series(y, name="catch"))
    loaded = again(selector, path)
    assert vars(loaded).keys() == vars(selector).keys()
    assert loaded._target == ("catch",)
    for name in ("support_", "ranking_", "scores_", "pvalues_", "selected_", "feature_names_in_"):
        before, after = getattr(selector, name), getattr(loaded, name)
        assert before.dtype == after.dtype
        np.testing.assert_array_equal(before, after)
    assert loaded.selection_ == selector.selection_
    assert list(loaded.feature_types_.items()) == list(selector.feature_types_.items())
    assert list(loaded.roles_.items()) == list(selector.roles_.items())


def test_rows_of_the_fit_are_recognised(path):
    X, y = numbers()
    selector = quick().fit(X, y)
    loaded = again(selector, path)
    assert loaded.explain(X, y).in_sample
    assert not loaded.explain(X[:80], y[:80]).in_sample
    assert loaded.explain(X[:80], y[:80]).to_dict() == selector.explain(X[:80], y[:80]).to_dict()


@pytest.mark.parametrize("name", [*CRITERIA])
def test_objects_of_every_registered_criterion(name, path):
    criterion = CRITERIA[name]
    found = decode(json.loads(json.dumps(encode(criterion, "criterion"))))
    assert type(found) is type(criterion)
    assert repr(found) == repr(criterion)


@pytest.mark.parametrize(
    "value",
    [
        *(make() for make in ESTIMATORS.values()),
        KSG(k=10, algorithm=2, scale=None),
        Discrete("miller-madow"),
        LinearCriterion(beta=0.1 + 0.2, gamma=1),
        MIFS(beta=1e-300),
        Conditional(max_conditioning=2),
    ],
    ids=repr,
)
def test_objects(value):
    found = decode(json.loads(json.dumps(encode(value, "value"))))
    assert type(found) is type(value)
    assert repr(found) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, -1, 2**64 - 1, 0.1 + 0.2, 5e-324, float("inf"), "", "\ud800", "nan"),
        *((), [], (1, [2, ("a",)]), {}, {"a": 1, 2: ["b"], True: None}, Path("a", "b.json")),
    ],
    ids=repr,
)
def test_plain_parameters(value):
    found = decode(json.loads(json.dumps(encode(value, "value"))))
    assert (type(found), found) == (type(value), value)


def test_numpy_becomes_python():
    assert encode(np.float32(0.5), "alpha") == 0.5
    assert encode(np.array(["a", "b"]), "fixed_features") == ["a", "b"]
    assert type(encode(np.str_("cmi"), "criterion")) is str
    assert np.isnan(decode(encode(np.float64("nan"), "alpha")))


def test_scores_that_are_not_finite(path):
    X, y = gates()
    selector = quick(n_permutations=0, max_features=1).fit(np.column_stack([X, np.ones(200)]), y)
    selector.scores_[1], selector.scores_[2] = np.inf, -0.0
    np.testing.assert_array_equal(again(selector, path).scores_, selector.scores_)
    assert np.signbit(again(selector, path).scores_[2])


def test_names_of_any_kind(path):
    X, y = gates()
    names = ["\ud800", "\x00\n", "__class__", '"}]', "🙂" * 1000]
    frame = pd.DataFrame(X).set_axis(pd.Index(names, dtype=object), axis=1)
    selector = quick(feature_groups={"\ud83d": names[:2]}).fit(frame, y)
    loaded = again(selector, path)
    assert loaded.feature_names_in_.tolist() == names
    assert loaded.transform(frame).columns.tolist() == selector.transform(frame).columns.tolist()


def test_names_that_json_cannot_hold(path):
    """Two halves of a surrogate pair are one character when they are read."""
    X, y = gates()
    names = ["\ud83d\ude42", "a", "b", "c", "d"]
    frame = pd.DataFrame(X).set_axis(pd.Index(names, dtype=object), axis=1)
    with pytest.raises(ValueError, match="rename"):
        quick().fit(frame, y).save(path)
    assert not path.exists()


def test_integer_names(path):
    X, y = gates()
    frame = pd.DataFrame(X, columns=[7, 3, 5, 1, 0])
    loaded = again(quick().fit(frame, y), path)
    assert not hasattr(loaded, "feature_names_in_")
    assert loaded.transform(frame).columns.tolist() == [7, 3, 5]


def test_a_table(path, tmp_path):
    X, y = gates()
    pd.DataFrame(X).add_prefix("bit ").assign(y=y).to_csv(tmp_path / "bits.csv", index=False)
    features, target = Table.open(tmp_path / "bits.csv").split("y")
    selector = quick().fit(features, target)
    loaded = again(selector, path)
    assert loaded.get_feature_names_out().tolist() == ["bit 0", "bit 1", "bit 2"]
    assert loaded.explain(features, target).in_sample


@pytest.mark.parametrize(
    "make", [np.random.default_rng, np.random.RandomState], ids=["Generator", "RandomState"]
)
def test_a_generator_becomes_the_seed_of_the_fit(make, path):
    """A fit of the loaded selector repeats the saved fit, to the bit."""
    X, y = numbers()
    selector = quick(random_state=make(3)).fit(X, y)
    loaded = again(selector, path)
    assert loaded.random_state == selector.selection_.settings.seed
    assert clone(loaded).fit(X, y).selection_ == selector.selection_


def test_without_a_seed(path):
    selector = quick(random_state=None).fit(*gates())
    loaded = again(selector, path)
    assert loaded.random_state is None
    assert loaded.selection_.settings.seed == selector.selection_.settings.seed


def test_output_and_metadata_requests(path):
    X, y = gates()
    with sklearn.config_context(enable_metadata_routing=True):
        selector = quick().set_fit_request(groups=True).set_output(transform="pandas")
    loaded = again(selector.fit(X, y), path)
    assert isinstance(loaded.transform(X), pd.DataFrame)
    with sklearn.config_context(enable_metadata_routing=True):
        assert loaded.get_metadata_routing().fit.requests == {"groups": True}


def test_a_pipeline(path):
    X, y = gates()
    loaded = again(quick().fit(X, y), path)
    pipeline = make_pipeline(loaded, LogisticRegression()).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    fixed = LogisticRegression().fit(loaded.transform(X), y)
    assert fixed.score(loaded.transform(X), y) > 0.9


def test_pickle_still_works(path):
    X, y = gates()
    selector = quick().fit(X, y)
    assert pickle.loads(pickle.dumps(selector)).selection_ == selector.selection_
    assert pickle.loads(pickle.dumps(again(selector, path))).selection_ == selector.selection_


def test_the_device_may_be_absent(path):
    X, y = gates()
    selector = quick().fit(X, y).set_params(device="cuda")
    assert again(selector, path).transform(X).shape == (200, 3)


# --- saving -------------------------------------------------------------------------------------


class Own(Gaussian):
    pass


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("estimator", Own()),
        ("estimator", ("copula", Own())),
        ("fixed_features", pd.Index(["x0"])),
        ("feature_types", {"x0": b"nominal"}),
    ],
)
def test_what_cannot_be_saved(parameter, value, path):
    selector = quick().fit(*numbers()).set_params(**{parameter: value})
    with pytest.raises(ValueError, match=rf"{parameter}=.*cannot be saved.*pickle"):
        selector.save(path)
    assert not path.exists()


def test_parameters_changed_after_the_fit(path):
    selector = quick(feature_groups=[["x0", "x1"]]).fit(*gates()).set_params(feature_groups=None)
    with pytest.raises(ValueError, match=r"cannot be saved.*x0\+x1"):
        selector.save(path)


def test_not_fitted(path):
    with pytest.raises(NotFittedError):
        quick().save(path)


def test_places(path, tmp_path):
    selector = quick().fit(*gates())
    with pytest.raises(FileNotFoundError, match="no folder"):
        selector.save(tmp_path / "nowhere" / "selector.json")
    with pytest.raises(FileNotFoundError):
        PIDSelector.load(path)
    with pytest.raises(FileError, match="folder"):
        PIDSelector.load(tmp_path)
    path.write_text("before")
    selector.save(str(path))
    assert os.listdir(tmp_path) == [path.name]
    assert PIDSelector.load(str(path)).n_features_ == 3


def test_a_failed_write_leaves_the_former_file(path, monkeypatch):
    selector = quick().fit(*gates())
    selector.save(path)
    before = path.read_bytes()

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        selector.set_params(alpha=0.01).save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


# --- refusals -----------------------------------------------------------------------------------


@pytest.fixture
def saved(path):
    quick(estimator=("copula", KSG(k=3)), fixed_features=[3]).fit(*numbers()).save(path)
    return path


def refused(path):
    with pytest.raises(FileError) as caught:
        PIDSelector.load(path)
    assert str(path) in str(caught.value)
    assert caught.value.remedy
    return str(caught.value)


def test_damaged_files(cases, tmp_path):
    """Bytes at random, and values behind a right checksum; nothing in them is executed."""
    rng, files, watch = random.Random(1), [], cases.Watch()
    path = tmp_path / "damaged.json"
    for seed in (2000, 2001):
        cases.random_fit(seed).selector.save(path)
        files.append(path.read_bytes())
        assert cases.outcome(path, files[-1]) == "equal"
    for number in range(200):
        content, other = rng.sample(files, 2)
        if number % 2:
            kind, bad = cases.damaged_bytes(content, other, rng)
        else:
            kind, bad = cases.damaged_values(content, rng)
        path.write_bytes(bad)
        if bad not in files:
            found = cases.outcome(path, content, watch)
            # Spaces between values change nothing.
            assert found == "refused" or (found == "equal" and kind.startswith("bytes")), kind
    assert not watch.seen


@pytest.mark.parametrize("version", ["2", "0", "true", "1.0", '"1"', "null"])
def test_other_formats(saved, version):
    saved.write_bytes(saved.read_bytes().replace(b'"format": 1', b'"format": ' + version.encode()))
    assert "reads format 1" in refused(saved)


def test_other_files(path, saved):
    for content in (b"", b"{}", b"[]", pickle.dumps(quick()), b'{"what": "pidselect checkpoint"}'):
        path.write_bytes(content)
        assert "PIDSelector.save" in refused(path)


def edit(path, *keys, value):
    """Change a value of the record, and make the checksum right."""
    record = found = record_of(path)
    for key in keys[:-1]:
        found = found[key]
    found[keys[-1]] = value
    rewrite(path, record)


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("parameters", "alpha"), 2.0),
        (("parameters", "criterion"), "evil"),
        (("parameters", "device"), "tpu"),
        (("parameters", "estimator"), "evil"),
        (("parameters", "estimator"), []),
        (("parameters", "estimator"), {"type": "JMI", "parameters": {}}),
        (("parameters", "estimator"), {"type": "KSG", "parameters": {"k": 4}}),
        (("parameters", "estimator"), {"type": "Path", "text": "/"}),
        (("parameters", "feature_types"), ["evil"]),
        (("parameters", "fixed_features"), ["x9"]),
        (("parameters", "feature_groups"), [["x0"], ["x0"]]),
        (("parameters", "random_state"), -1),
        (("parameters", "new"), 1),
        (("estimator",), {"type": "KSG", "parameters": {"k": 3, "algorithm": 1, "scale": None}}),
        (("estimator", "items", 0), "copula"),
        (("pidselect",), None),
        (("fitted", "ranking"), [1, 1, 2, 2]),
        (("fitted", "ranking"), [1, 2, 1, 1]),
        (("fitted", "scores"), [0.0] * 3),
        (("fitted", "p_values"), [2.0] * 4),
        (("fitted", "selected"), [3, 0, 0]),
        (("fitted", "roles", "x9"), "irrelevant"),
        (("fitted", "roles", "x0"), "evil"),
        (("fitted", "feature_types"), {"x0": "continuous"}),
        (("fitted", "selection", "features"), ["x2"]),
        (("fitted", "selection", "features"), ["x9"]),
        (("fitted", "selection", "frame_library"), "os"),
        (("fitted", "selection", "steps", 0, "chosen"), "x9"),
        (("fitted", "selection", "steps", 0, "values"), [0.5]),
        (("fitted", "selection", "steps", 0, "p_values"), [0.5]),
        (("fitted", "selection", "steps", 0, "phase"), "evil"),
        (("fitted", "selection", "settings", "seed"), 2**64),
        (("fitted", "output"), "evil"),
        (("fitted", "fit_request"), {"sample_weight": True}),
        (("new",), 1),
    ],
    ids=lambda value: ".".join(map(str, value)) if isinstance(value, tuple) else repr(value),
)
def test_values_that_contradict_each_other(saved, keys, value):
    edit(saved, *keys, value=value)
    assert "modified" in refused(saved)


def test_nothing_is_changed_by_spaces(saved):
    expected = PIDSelector.load(saved).selection_
    content = saved.read_bytes()
    saved.write_bytes(
        content.replace(b", ", b",\r\n  ")[:-1].replace(b'selector",\r\n  ', b'selector", ')
    )
    assert PIDSelector.load(saved).selection_ == expected
