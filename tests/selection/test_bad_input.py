"""Bad input is refused with the column, the value and the remedy, and leaves no attribute."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from systems import gates, numbers, quick, season

from pidselect.estimators import KSG


def changed(X, rows, column, value):
    X = X.astype(object if isinstance(value, (str, dict)) else float)
    X[rows, column] = value
    return X


def table():
    return pd.DataFrame(season()[0])


X, Y = numbers()
BITS, LABELS = gates()
SHIPS = season()[1]

# defect -> (settings, X, y, pattern of the message); for parameters see test_validation
CASES = {
    "nan": ({}, changed(X, [3, 8], 2, np.nan), Y, r"'x2' \(2 missing\).*missing='drop'"),
    "nan in a frame": (
        {},
        table().mask(table() == "north"),
        SHIPS,
        r"'port' \(\d+ missing\).*SimpleImputer",
    ),
    "nan in y": ({}, X, changed(Y[:, None], 3, 0, np.nan)[:, 0], r"y contains NaN.*missing='drop'"),
    "inf": ({}, changed(X, 7, 1, np.inf), Y, "'x1' holds inf in row 7; replace it"),
    "inf in y": ({}, X, np.where(np.arange(100) == 4, -np.inf, Y), "y contains infinity.*row 4"),
    "nothing left": (
        {"missing": "drop"},
        changed(X, slice(None), 2, np.nan),
        Y,
        r"leaves none of the 100 rows.*'x2' \(100 missing\)",
    ),
    "constant target": ({}, X, np.ones(100), "target is constant.*pass a target that varies"),
    "identifier as target": (
        {},
        X,
        [f"ship {i}" for i in range(100)],
        "target.*identifier.*feature_types=",
    ),
    "no target": ({}, X, None, "requires y"),
    "too few samples": (
        {"estimator": KSG(k=7)},
        X[:8],
        Y[:8],
        "7 nearest neighbours need at least 9 samples.*n_samples=8.*smaller k",
    ),
    "duplicate names": (
        {},
        pd.DataFrame(X, columns=list("abca")),
        Y,
        "unique.*'a'; rename.*df.columns = ",
    ),
    "lengths": (
        {},
        X,
        Y[:-1],
        "inconsistent numbers of samples: X has 100, y has 99. Give y one value per row of X",
    ),
    "one dimension": ({}, X[:, 0], Y, "Expected 2D array.*reshape"),
    "no rows": ({}, X[:0], Y[:0], r"0 sample\(s\)"),
    "no columns": ({}, X[:, :0], Y, r"0 feature\(s\)"),
    "complex": ({}, X + 1j, Y, "Complex data not supported"),
    "estimator": ({"estimator": "kgs"}, X, Y, "estimator='kgs'.*'auto', 'paper', 'ksg', 'ksg-r"),
    "blocks without groups": ({"surrogates": "blocks"}, X, Y, "groups=None: pass the group"),
    "missing": ({"missing": "dorp"}, X, Y, "missing='dorp'.*did you mean 'drop'"),
    "too few of the samples": ({"max_samples": 5, "estimator": "ksg"}, X, Y, "at least 6 samples"),
    "fixed_features": ({"fixed_features": ["wnid"]}, table(), SHIPS, "'wnid'.*did you mean 'wind'"),
    "fixed position": ({"fixed_features": [4]}, X, Y, "no column at position 4.*0 to 3"),
    "fixed twice": ({"fixed_features": ["x1", 1]}, X, Y, "fixed_features.*'x1' twice"),
    "groups": ({"feature_groups": {"a": ["wnid"]}}, table(), SHIPS, "did you mean 'wind'"),
    "empty group": ({"feature_groups": {"a": []}}, X, Y, "group 'a' is empty"),
    "overlap": (
        {"feature_groups": {"a": [0, 1], "b": [1, 2]}},
        X,
        Y,
        "'x1' is in the feature groups 'a' and 'b'",
    ),
    "group with another's name": (
        {"feature_groups": {"x3": [0, 1]}},
        X,
        Y,
        "group 'x3'.*feature_groups=",
    ),
    "feature type of no column": (
        {"feature_types": {"wnid": "nominal"}},
        table(),
        SHIPS,
        "did you mean 'wind'",
    ),
    "feature type": (
        {"feature_types": {"wind": "numeric"}},
        table(),
        SHIPS,
        r"\['wind'\]='numeric'",
    ),
    "number of feature types": (
        {"feature_types": ["nominal"]},
        X,
        Y,
        "feature_types lists 1 .* 4 columns",
    ),
    "text as numbers": (
        {"feature_types": {"port": "continuous"}},
        table(),
        SHIPS,
        "'port' cannot be",
    ),
    "labels for ksg": ({"estimator": "ksg"}, table(), SHIPS, "column '(flag|port)'.*\"mixed\""),
    "numbers for discrete": ({"estimator": "discrete"}, X, LABELS[:100], "'x0' is continuous"),
    "classes for ksg": ({"estimator": "ksg"}, BITS, LABELS, "'target' has 2 class.*\"mixed\""),
    "text for ksg": (
        {"estimator": KSG(k=3)},
        X,
        np.where(Y > 0, "up", "down"),
        "'target' has 2 class labels.*noise",
    ),
    "classes for ksg, mrmr": (
        {"estimator": "ksg-rank", "criterion": "mrmr"},
        X,
        Y > 0,
        "'target' has 2 class.*feature_types=",
    ),
    "one of several targets for ksg": (
        {"estimator": "ksg"},
        X,
        np.stack([Y, Y > 0], axis=1),
        r"'target\[1\]' has 2 class labels",
    ),
    "mixture for the paper": (
        {"estimator": "paper"},
        table(),
        SHIPS,
        "'boats' is ordinal with .* and 'target' a number.*\"mixed\"",
    ),
    "gaps for ksg": (
        {"estimator": "ksg", "missing": "category"},
        changed(X, 3, 0, np.nan),
        Y,
        "column 'x0'.*\"mixed\"",
    ),
    "k": ({"estimator": KSG(k=0)}, X, Y, "k=0.*at least 1"),
    "algorithm": ({"estimator": KSG(algorithm=3)}, X, Y, "algorithm=3.*1, 2"),
    "scale": ({"estimator": KSG(scale="z")}, X, Y, "scale='z'.*'zscore'"),
}

# The same for what has the wrong type altogether.
TYPES = {
    "object": ({}, changed(X, 2, 1, {"a": 1}), Y, "'x1' holds.*row 2; convert the column"),
    "text among numbers": ({}, changed(X, 2, 1, "many"), Y, "'x1' holds 'many'.*row 2"),
    "sparse": ({}, sparse.csr_array(BITS), LABELS, r"X is sparse.*toarray\(\)"),
    "several estimators": ({"estimator": ("ksg", "copula")}, X, Y, "several, but one is used"),
    "no estimator": ({"estimator": 4}, X, Y, r"estimator=4.*KSG\("),
    "no instance": ({"estimator": KSG}, X, Y, r"estimator=.*KSG\("),
    "types as text": ({"feature_types": "nominal"}, X, Y, "must map.*got 'nominal'"),
    "groups as text": ({"feature_groups": "x0"}, X, Y, "feature_groups must.*got 'x0'"),
    "groups as number": ({"feature_groups": 3}, X, Y, "feature_groups must.*got 3"),
    "fixed as float": ({"fixed_features": [1.0]}, X, Y, "by its name or its position, got 1.0"),
    "fixed as bool": ({"fixed_features": True}, X, Y, "by its name or its position, got True"),
}


def fitted(selector):
    return [name for name in vars(selector) if name.endswith("_") and not name.startswith("_")]


def assert_refused(error, settings, X, y, words):
    selector = quick(**settings)
    with pytest.raises(error, match=f"(?s){words}"):
        selector.fit(X, y)
    assert fitted(selector) == []
    with pytest.raises(NotFittedError):
        selector.transform(X)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_bad_values(case):
    assert_refused(ValueError, *case)


@pytest.mark.parametrize("case", TYPES.values(), ids=TYPES)
def test_bad_types(case):
    assert_refused(TypeError, *case)


@pytest.mark.parametrize("case", ["nan", "fixed_features", "overlap", "too few samples"])
def test_a_failure_leaves_an_earlier_fit_whole(case):
    settings, X, y, _ = CASES[case]
    selector = quick().fit(*gates())
    before = selector.selection_
    with pytest.raises(ValueError):
        selector.set_params(**settings).fit(X, y)
    assert selector.selection_ == before
    assert selector.n_features_in_ == 5
    assert not hasattr(selector, "feature_names_in_")
    assert selector.transform(BITS).shape == (200, 3)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_features": 0}, "max_features"),
        ({"estimator": "kgs"}, "estimator"),
        ({"fixed_features": [9]}, "position 9"),
    ],
)
def test_settings_are_checked_before_any_work(settings, words, monkeypatch):
    def work(*_):
        raise AssertionError("worked before all settings were checked")

    monkeypatch.setattr("pidselect.selection.selector.run_phases", work)
    with pytest.raises(ValueError, match=words):
        quick(**settings).fit(X, Y)


@pytest.mark.parametrize(
    "name",
    [
        "max_features",
        "max_samples",
        "shared_permutations",
        "alpha",
        "criterion",
        "random_state",
        "n_jobs",
        "n_permutations",
        "lookahead",
        "n_random_starts",
        "max_conditioning",
    ],
)
def test_settings_are_checked_before_the_data_are_read(name, monkeypatch):
    monkeypatch.setattr("pidselect.selection.selector.read_dataset", None)
    with pytest.raises(ValueError, match=f"{name}='nonsense'"):
        quick(**{name: "nonsense"}).fit(X, Y)
