"""Recorded fits with the defaults of every parameter that a case does not name.

At least three cases each of swaps, features found by look-ahead, ``select="relevant"``, missing
values as a category, groups, labels and integers among the selected features, many columns, many
rows, several targets, and explanations.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from pidselect import PIDSelector, datasets
from recorded.cases import (
    CASES,
    Case,
    continuous,
    discrete,
    mixed,
    names_of,
    of_explanation,
    of_fit,
    place,
    sample,
    series,
    synergistic,
)

Data = tuple[Any, ...]


def fit(data: Case, **parameters: Any) -> dict[str, Any]:
    """Fit with the defaults; return what all fits record, the roles and what was replaced."""
    X, y, *groups = data()
    selector = PIDSelector(**{"random_state": 0, **parameters}).fit(X, y, *groups)
    return of_default_fit(selector, X)


def of_default_fit(selector: PIDSelector, X: Any) -> dict[str, Any]:
    """Return the record of a fit, the roles, and the features that swaps replaced."""
    names, steps = names_of(X), selector.selection_.steps
    return {
        **of_fit(selector, names),
        "roles": [[place(name, names), role] for name, role in selector.roles_.items()],
        "replaced": [step.replaced and place(step.replaced, names) for step in steps],
    }


def explain(data: Case, **parameters: Any) -> dict[str, Any]:
    """Fit with the defaults, and explain the fit on its own rows."""
    X, y, *groups = data()
    selector = PIDSelector(**{"random_state": 0, **parameters}).fit(X, y, *groups)
    return of_explanation(selector.explain(X, y, *groups), names_of(X))


# Data ------------------------------------------------------------------------------------------


def proxy(kind: str, n: int = 200, seed: int = 2) -> Data:
    """Return a joint measurement of two causes, the causes, and noise."""
    rng = np.random.default_rng(seed)
    if kind == "numbers":
        a, b, noise = rng.normal(size=(3, n))
        measured = a + b + 0.3 * rng.normal(size=n)
        return np.stack([measured, a, b, noise], axis=1), a + b + 0.5 * rng.normal(size=n)
    a, b, noise = rng.integers(0, 2, (3, n))
    wrong = rng.random((2, n)) < 0.02
    measured = 2 * np.where(wrong[0], 1 - a, a) + np.where(wrong[1], 1 - b, b)
    y = np.where(rng.random(n) < 0.75, a + b, rng.integers(0, 3, n))
    X = np.stack([measured, a, b, noise], axis=1)
    return (np.array(list("abcd"))[X], y) if kind == "labels" else (X, y + 0.1 * rng.normal(size=n))


def copies(n: int = 150) -> Data:
    """Return four copies of a cause, with errors alike, and a second cause."""
    rng = np.random.default_rng(3)
    truth, second = rng.normal(size=(2, n))
    X = truth[:, np.newaxis] + 0.1 * rng.normal(size=(n, 4))
    return np.column_stack([X, second]), truth + 0.5 * second + 0.5 * rng.normal(size=n)


def product(n: int = 300) -> Data:
    """Return a product of two numbers, neither of which is informative alone."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 6))
    return X, X[:, 1] * X[:, 3] + 0.2 * rng.normal(size=n)


def parity(n: int = 400) -> Data:
    """Return a parity of three bits."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (n, 6))
    return X, np.where(rng.random(n) < 0.05, 1, X[:, 0] ^ X[:, 2] ^ X[:, 5])


def penguins(n: int = 150, classes: bool = False) -> Data:
    """Return integers of many levels, counts, labels, flags and bands; y depends on three."""
    rng = np.random.default_rng(6)
    species, sex = rng.choice(["A", "C", "G"], n, p=[0.4, 0.2, 0.4]), rng.choice(["f", "m"], n)
    flipper = (190 + 25 * (species == "G") + 6 * (sex == "m") + 6 * rng.normal(size=n)).astype(int)
    bill = (40 + 8 * (species == "C") + 3 * rng.normal(size=n)).round(1)
    mass = 20 * flipper + 400 * (sex == "m") + 300 * (species == "C") + 250 * rng.normal(size=n)
    X = pd.DataFrame(
        {
            "species": species,
            "sex": sex,
            "flipper": flipper,
            "bill": bill,
            "eggs": rng.poisson(2, n),
            "tagged": rng.random(n) < 0.3,
            "year": rng.choice([2007, 2008, 2009], n),
        }
    )
    return X, np.where(mass > np.median(mass), "heavy", "light") if classes else mass


def bands(n: int = 400) -> Data:
    """Return numbers with a flag and bands made of them, and three classes."""
    rng = np.random.default_rng(7)
    first, second, noise = rng.normal(size=(3, n))
    level = (first + second) / 2**0.5
    X = pd.DataFrame({"first": first, "second": second, "noise": noise})
    X["flag"], X["band"] = level > 0, np.digitize(level, [-0.7, 0.0, 0.7])
    return X, np.digitize(level + 0.3 * rng.normal(size=n), [-0.5, 0.5])


def wide(n: int, n_columns: int, classes: bool = False) -> Data:
    """Return many columns, two of which are informative."""
    rng = np.random.default_rng(8)
    X = rng.normal(size=(n, n_columns))
    X[:, n_columns // 2 :] = rng.integers(0, 3, (n, n_columns - n_columns // 2))
    y = X[:, 0] + 0.8 * X[:, -1] + 0.5 * rng.normal(size=n)
    return X, (y > np.median(y)).astype(int) if classes else y


def long(kind: str, n: int = 5200) -> Data:
    """Return more than 5,000 rows."""
    rng = np.random.default_rng(9)
    if kind == "labels":
        X = rng.integers(0, 4, (n, 5))
        return X, np.where(
            rng.random(n) < 0.7, rng.integers(0, 2, n), (X[:, 0] > 1) ^ (X[:, 1] > 1)
        )
    X = np.column_stack([rng.normal(size=(n, 2)), rng.integers(0, 2, n)])
    y = 0.2 * X[:, 0] + 0.1 * X[:, 1] ** 2 + 0.3 * X[:, 2] + rng.normal(size=n)
    return (X[:, :2], y) if kind == "numbers" else (X, y > 0.5)


def targets(kind: str, n: int = 250) -> Data:
    """Return two columns to predict: numbers, classes, or one of each."""
    rng = np.random.default_rng(10)
    X = np.column_stack([rng.normal(size=(n, 3)), rng.integers(0, 3, (n, 2))])
    number, label = X[:, 0] + 0.5 * rng.normal(size=n), (X[:, 3] + (rng.random(n) < 0.2)) % 3
    both = {"numbers": [number, X[:, 1] - number], "classes": [label, X[:, 4] > 0]}
    return X, np.column_stack(both.get(kind, [number, label]))


def in_groups(classes: bool = False) -> Data:
    """Return rows in groups, with effects of the groups."""
    X, y, groups = series()
    return X, (y > np.median(y)).astype(int) if classes else y, groups


def with_gaps(classes: bool = False) -> Data:
    """Return integers and labels with missing values, one of which is informative as such."""
    X, mass = penguins(classes=classes)
    rng = np.random.default_rng(11)
    X = X.astype({"flipper": float, "species": object})
    X.loc[rng.random(len(X)) < 0.15, "flipper"] = np.nan
    X.loc[rng.random(len(X)) < 0.1, "species"] = None
    X.loc[np.argsort(X["bill"].to_numpy())[:20], "bill"] = np.nan
    return X, mass


# Cases -----------------------------------------------------------------------------------------

numbers = partial(sample, load_diabetes, 150, 5)
cancer = partial(sample, load_breast_cancer, 150, 6)
category = {"missing": "category"}
relevant = {"select": "relevant"}

DEFAULTS: dict[str, Case] = {
    # a feature is exchanged for another
    "swap labels": partial(fit, partial(proxy, "labels")),
    "swap integers": partial(fit, partial(proxy, "integers")),
    "swap numbers": partial(fit, partial(proxy, "numbers")),
    "swap classes": partial(fit, partial(sample, load_breast_cancer, 200, 8)),
    "swap copies": partial(fit, copies),
    # pairs and triples
    "lookahead product": partial(fit, product),
    "lookahead parity": partial(fit, parity),
    "lookahead exclusive or": partial(fit, synergistic),
    "lookahead not found": partial(fit, lambda: (continuous()[0], continuous(seed=2)[1])),
    # all that is relevant
    "relevant numbers": partial(fit, numbers, **relevant),
    "relevant labels": partial(fit, penguins, **relevant),
    "relevant classes": partial(fit, cancer, **relevant),
    "relevant discrete": partial(fit, discrete, **relevant),
    # missing values
    "missing numbers and labels": partial(fit, partial(mixed, 150, gaps=0.1), **category),
    "missing in integers": partial(fit, with_gaps, **category),
    "missing, classes": partial(fit, partial(with_gaps, classes=True), **category),
    "missing, relevant": partial(fit, with_gaps, **category, **relevant),
    # groups
    "groups": partial(fit, in_groups),
    "groups, classes": partial(fit, partial(in_groups, classes=True)),
    "groups, shifts": partial(fit, in_groups, surrogates="shift"),
    "groups, blocks": partial(fit, in_groups, surrogates="blocks"),
    # labels and integers among the selected features
    "integers and labels": partial(fit, penguins),
    "integers and labels, few rows": partial(fit, partial(penguins, 60)),
    "integers and labels, classes": partial(fit, partial(penguins, classes=True)),
    "flags and bands": partial(fit, bands),
    "a table with labels": partial(fit, partial(mixed, 150)),
    # wide
    "wide": partial(fit, partial(wide, 60, 120)),
    "wide, classes": partial(fit, partial(wide, 80, 120, classes=True)),
    "wide, relevant": partial(fit, partial(wide, 60, 60), **relevant),
    # long
    "long numbers": partial(fit, partial(long, "numbers")),
    "long labels": partial(fit, partial(long, "labels")),
    "long, mixed": partial(fit, partial(long, "mixed")),
    # several targets
    "targets in numbers": partial(fit, partial(targets, "numbers")),
    "targets in classes": partial(fit, partial(targets, "classes")),
    "targets of both kinds": partial(fit, partial(targets, "both")),
    # published tables
    "iris": partial(fit, partial(sample, load_iris, 150, 4)),
    "wine": partial(fit, partial(sample, load_wine, 178, 6)),
    # explanations
    "explain numbers": partial(explain, numbers),
    "explain labels": partial(explain, partial(penguins, 120)),
    "explain classes": partial(explain, cancer),
    "explain groups": partial(explain, in_groups),
    "explain missing": partial(explain, with_gaps, **category),
    "explain toy": partial(explain, lambda: datasets.toy(150, random_state=2).Xy),
}

CASES |= {f"default {name}": case for name, case in DEFAULTS.items()}
