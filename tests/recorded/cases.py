"""The recorded cases, and what is stored of each result.

A case is a function without arguments that returns plain values: dicts, lists, strings, numbers.
Features are stored as column positions, and a chosen candidate as its position among the
candidates, so that the record does not depend on the wording of a result. Everything that is read
from a result is read by the functions `of_...` below.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

from pidselect import (
    PIDSelector,
    Table,
    datasets,
    decompose,
    decompose_distribution,
    mutual_information,
    stability,
)
from pidselect.estimators import KSG, Copula, Discrete, Gaussian, Mixed
from pidselect.selection import LinearCriterion

Case = Callable[[], Any]

#: The settings of a fit, unless a case has others, and those of a fit by an estimator.
SETTINGS: dict[str, Any] = {"backward": "minimum", "lookahead": 1, "random_state": 0}
OF_ESTIMATORS: dict[str, Any] = {"n_permutations": 100, "surrogates": ("global", "local")}

#: Every case by its name.
CASES: dict[str, Case] = {}


def compute(name: str) -> Any:
    """Return the result of a case; warnings are not part of the record."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name]()


# What is stored of a result --------------------------------------------------------------------

#: Phases that are stored by name; in the first two, a candidate is one feature.
PHASES = ("forward", "backward", "lookahead")


def of_fit(selector: PIDSelector, names: Sequence[str]) -> dict[str, Any]:
    """Return the selected columns, every step and the final p-values."""
    record = selector.selection_
    return {
        "selected": selector.selected_.tolist(),
        "support": selector.get_support(indices=True).tolist(),
        "features": places(record.features, names),
        "feature_types": list(selector.feature_types_.values()),
        "p_values": [[place(name, names), p] for name, p in record.p_values.items()],
        "bits_added": list(record.bits_added.values()),
        "steps": [of_step(step, names) for step in record.steps],
    }


def of_step(step: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return what one step tested and how it ended."""
    return {
        "phase": step.phase if step.phase in PHASES else "other",
        "conditioning_set": places(step.conditioning_set, names),
        "candidates": places(step.candidates, names) if step.phase in PHASES[:2] else None,
        "chosen": step.candidates.index(step.chosen),
        "jointly_included": places(step.jointly_included, names),
        "values": [None if math.isnan(value) else value for value in step.values],
        "scores": list(step.scores),
        "unit": step.unit,
        "estimators": list(step.estimators),
        "p_values": list(step.p_values),
        "p_value": step.p_value,
        "critical_value": step.critical_value,
        "alpha": step.alpha,
        "surrogates": step.surrogates,
        "n_permutations": step.n_permutations,
        "accepted": step.accepted,
    }


def of_explanation(explanation: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return role and bits of every feature, and of every pair of selected ones."""
    roles = ("strongly relevant", "weakly relevant", "irrelevant")
    pairs = explanation.pairs
    return {
        "information": explanation.information,
        "bits_added": list(explanation.bits_added.values()),
        "n_samples": explanation.n_samples,
        "features": [
            {
                "feature": place(feature.name, names),
                "role": feature.role if feature.role in roles else "other",
                "selected": feature.selected,
                "information": feature.information,
                "added": feature.added,
                "unique": feature.unique,
                "shared": feature.shared,
                "synergy": feature.synergy,
                "intervals": {name: list(ends) for name, ends in feature.intervals.items()},
                "p_value": feature.p_value,
                "marginal_p_value": feature.marginal_p_value,
                "redundant_with": places(feature.redundant_with, names),
                "overlaps_with": places(feature.overlaps_with, names),
            }
            for feature in explanation
        ],
        "pairs": {
            "features": places(pairs.names, names),
            "redundancy": pairs.redundancy.tolist(),
            "synergy": pairs.synergy.tolist(),
            "dependent": pairs.dependent.tolist(),
            "estimable": pairs.estimable.tolist(),
        },
    }


def of_stability(found: Any, names: Sequence[str]) -> dict[str, Any]:
    """Return the selection on every subsample, and what is derived from them."""
    return {
        "selections": [places(selection, names) for selection in found.selections],
        "frequencies": list(found.frequencies.values()),
        "intervals": [list(interval) for interval in found.intervals.values()],
        "most_frequent": places(found.most_frequent, names),
        "stability": found.stability,
    }


def of_decomposition(found: Any) -> dict[str, Any]:
    """Return all atoms with what was inferred about them."""
    return {
        "information": found.information,
        "gap": found.gap,
        "n_samples": found.n_samples,
        "atoms": dict(found.atoms),
        **{
            part: None if getattr(found, part) is None else dict(getattr(found, part))
            for part in ("informative", "misinformative", "corrected")
        },
        "source_tests": found.source_tests and [asdict(test) for test in found.source_tests],
        "intervals": found.intervals
        and {label: list(interval) for label, interval in found.intervals.items()},
    }


def of_error(function: Callable[[], Any], column: str) -> dict[str, Any]:
    """Return which error is raised, and whether it names the column."""
    try:
        function()
    except ValueError as error:
        return {"error": "ValueError", "names_column": column in str(error)}
    return {"error": None, "names_column": False}


def place(name: str, names: Sequence[str]) -> int | str:
    """Return the position of a column, or the name of a feature group."""
    return names.index(name) if name in names else name


def places(found: Sequence[str], names: Sequence[str]) -> list[int | str]:
    """Return the positions of several columns."""
    return [place(name, names) for name in found]


def names_of(X: Any) -> list[str]:
    """Return the names that the columns of an array, a frame or a table have in results."""
    if isinstance(X, Table):
        return list(X.names)
    return list(X.columns) if isinstance(X, pd.DataFrame) else [f"x{i}" for i in range(X.shape[1])]


# Data ------------------------------------------------------------------------------------------


def continuous(n: int = 250, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Return a sum, a product, a noisy copy and three columns of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 7))
    X[:, 3] = X[:, 0] + 0.3 * X[:, 3]
    y = X[:, 0] + 0.8 * X[:, 1] * X[:, 2] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=n)
    return X, y


def discrete(n: int = 400, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Return an exclusive or, one informative column, a noisy copy of it and noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(n, 6))
    X[:, :2] %= 2
    X[:, 3] = np.where(rng.random(n) < 0.85, X[:, 2], X[:, 3])
    y = 2 * (X[:, 0] ^ X[:, 1]) + (X[:, 2] > 0)
    return X, np.where(rng.random(n) < 0.1, rng.integers(0, 4, size=n), y)


def mixed(n: int = 250, gaps: float = 0.0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return numbers, counts, bools and labels, some of them missing if asked for."""
    rng = np.random.default_rng(3)
    city = rng.choice(["Oslo", "Rome", "Ulm"], size=n)
    hours = rng.gamma(2.0, size=n)
    rooms = rng.integers(1, 6, size=n)
    y = hours + (city == "Rome") * rooms + 0.4 * rng.normal(size=n)
    X = pd.DataFrame(
        {
            "hours": hours,
            "city": city,
            "rooms": rooms,
            "garden": rng.random(n) < 0.4,
            "minutes": 60 * hours,  # merged with hours
            "near": hours + 0.5 * rng.normal(size=n),
            "constant": 1.0,
            "noise": rng.normal(size=n),
        }
    )
    for column in ("hours", "near", "noise"):
        X.loc[rng.random(n) < gaps, column] = np.nan
    X.loc[rng.random(n) < gaps, "city"] = None
    return X.drop(columns="minutes") if gaps else X, y


def synergistic(n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Return an exclusive or of two of seven columns, none of which is informative alone."""
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, size=(n, 7))
    return X, np.where(rng.random(n) < 0.1, 1, X[:, 1] ^ X[:, 4])


def series(n: int = 240) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return autocorrelated columns, a target and 24 groups of ten rows."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n, 5))
    for row in range(1, n):
        X[row] += 0.6 * X[row - 1]
    groups = np.arange(n) // 10
    y = X[:, 0] + 0.7 * np.abs(X[:, 2]) + 0.5 * rng.normal(size=24)[groups]
    return X, y, groups


def two_sources(n: int = 300) -> tuple[list[np.ndarray], np.ndarray]:
    """Return two correlated continuous sources and a target of both."""
    rng = np.random.default_rng(6)
    first, second = rng.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=n).T
    return [first, second], first + 0.5 * second + 0.4 * first * second + rng.normal(size=n)


def three_sources(n: int = 300) -> tuple[list[np.ndarray], np.ndarray]:
    """Return three discrete sources and a target of all of them."""
    rng = np.random.default_rng(7)
    a, b, c = rng.integers(0, 2, size=(3, n))
    return [a, b, np.where(rng.random(n) < 0.8, a, c)], (a & b) + 2 * (b ^ c)


def random_pmf(*shape: int) -> np.ndarray:
    """Return a joint distribution with zeros in it."""
    pmf = np.random.default_rng(8).dirichlet(np.full(int(np.prod(shape)), 0.5))
    pmf[pmf < 0.01] = 0.0
    return (pmf / pmf.sum()).reshape(shape)


# Fits ------------------------------------------------------------------------------------------


def selector_with(**parameters: Any) -> PIDSelector:
    """Return a selector with the settings of its test, unless there are others."""
    criterion, n_permutations = (parameters.get(k) for k in ("criterion", "n_permutations"))
    by_estimator = "estimator" in parameters or criterion not in (None, "mi") or n_permutations == 0
    return PIDSelector(**SETTINGS | (OF_ESTIMATORS if by_estimator else {}) | parameters)


def fit(data: Callable[[], tuple[Any, ...]], **parameters: Any) -> dict[str, Any]:
    """Fit a selector to (X, y) or (X, y, groups)."""
    X, y, *groups = data()
    selector = selector_with(**parameters)
    return of_fit(selector.fit(X, y, *groups), names_of(X))


def explain(
    data: Callable[[], tuple[Any, ...]], measure: str = "auto", **parameters: Any
) -> dict[str, Any]:
    """Fit a selector and explain the fit on the same rows."""
    X, y, *groups = data()
    selector = selector_with(**parameters)
    selector.fit(X, y, *groups)
    return of_explanation(selector.explain(X, y, *groups, measure=measure), names_of(X))


def explain_held_out() -> dict[str, Any]:
    """Explain a fit on rows that it has not seen."""
    X, y = continuous(400)
    selector = selector_with().fit(X[:200], y[:200])
    return of_explanation(selector.explain(X[200:], y[200:]), names_of(X))


def sample(loader: Callable[..., Any], n_rows: int, n_columns: int) -> tuple[Any, ...]:
    """Return random rows and the first columns of a data set of scikit-learn."""
    X, y = loader(return_X_y=True)
    rows = np.random.default_rng(9).permutation(len(X))[:n_rows]
    return X[rows, :n_columns], y[rows]


def labels() -> tuple[Any, ...]:
    """Return text labels alone, with a class of text as target."""
    rng = np.random.default_rng(10)
    X = rng.choice(["a", "b", "c"], size=(300, 5))
    y = np.where(rng.random(300) < 0.8, np.char.add(X[:, 0], X[:, 2]), "other")
    return pd.DataFrame(X, columns=list("pqrst")), y


def bicycles() -> tuple[Any, ...]:
    """Return the mixed table that ships with the package."""
    problem = datasets.mixed_table(200, random_state=0)
    return pd.DataFrame(problem.columns), problem.y


def toy() -> tuple[Any, ...]:
    """Return the toy system of the paper."""
    return datasets.toy(400, random_state=1).Xy


def joint_target() -> tuple[Any, ...]:
    """Return a target of two columns."""
    X, y = continuous()
    return X, np.stack([y, X[:, 5] + 0.5 * X[:, 4]], axis=1)


def by_group(data: Callable[[], tuple[Any, ...]] = series) -> tuple[Any, ...]:
    """Return the series with groups of unequal size."""
    X, y, groups = data()
    return X, y, np.minimum(groups, 15)


def missing_is_refused() -> dict[str, Any]:
    """Return the error that a missing value leads to by default."""
    X, y = mixed(gaps=0.05)
    return of_error(lambda: PIDSelector().fit(X, y), "hours")


def from_file() -> dict[str, Any]:
    """Fit to a CSV file, read as a table."""
    X, y = mixed(200)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        X.assign(y=y).to_csv(path, index=False)
        table = Table.open(path, feature_types={"rooms": "nominal"})
        return fit(partial(table.split, "y"))


def from_checkpoint() -> list[dict[str, Any]]:
    """Fit with a checkpoint, and once more from the file of the finished fit."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fit.sqlite")
        return [fit(continuous, checkpoint=path, surrogates="global") for _ in range(2)]


CASES |= {
    # types of data
    "fit continuous": partial(fit, continuous, n_permutations=200),
    "fit discrete": partial(fit, discrete, n_permutations=200),
    "fit mixed": partial(fit, mixed),
    "fit label columns": partial(fit, labels),
    "fit class target": partial(fit, partial(sample, load_wine, 178, 8)),
    "fit class target iris": partial(fit, partial(sample, load_iris, 150, 4)),
    "fit diabetes": partial(fit, partial(sample, load_diabetes, 300, 10)),
    "fit breast cancer": partial(fit, partial(sample, load_breast_cancer, 200, 12)),
    "fit toy": partial(fit, toy),
    "fit bicycles": partial(fit, bicycles),
    "fit joint target": partial(fit, joint_target),
    "fit feature types": partial(
        fit,
        partial(discrete, 200),
        feature_types={"x2": "ordinal", "x4": "continuous", "target": "nominal"},
    ),
    "fit csv file": from_file,
    # missing values
    "fit missing error": missing_is_refused,
    "fit missing drop": partial(fit, partial(mixed, gaps=0.05), missing="drop"),
    "fit missing category": partial(fit, partial(mixed, gaps=0.05), missing="category"),
    # estimators
    "fit ksg": partial(fit, continuous, estimator="ksg", surrogates="global"),
    "fit ksg k": partial(fit, continuous, estimator=KSG(k=8)),
    "fit ksg 2": partial(
        fit, partial(continuous, 150), estimator=KSG(algorithm=2), surrogates="global"
    ),
    "fit ksg-rank": partial(fit, continuous, estimator="ksg-rank"),
    "fit mixed estimator": partial(fit, mixed, estimator="mixed"),
    "fit mixed-rank": partial(fit, mixed, estimator="mixed-rank"),
    "fit discrete estimator": partial(fit, discrete, estimator="discrete"),
    "fit miller-madow": partial(fit, discrete, estimator=Discrete(correction="miller-madow")),
    "fit gaussian": partial(fit, continuous, estimator="gaussian"),
    "fit copula": partial(fit, continuous, estimator="copula"),
    "fit mixed k": partial(fit, continuous, estimator=Mixed(k=6)),
    # surrogates
    "fit global": partial(fit, continuous, surrogates="global"),
    "fit local": partial(fit, continuous, surrogates="local", estimator="copula"),
    "fit local discrete": partial(fit, discrete, surrogates="local", estimator="discrete"),
    "fit shift": partial(fit, lambda: series()[:2], surrogates="shift"),
    "fit shift groups": partial(fit, series, surrogates="shift", estimator="ksg"),
    "fit blocks": partial(fit, series, surrogates="blocks"),
    "fit schemes": partial(fit, series, surrogates=("global", "blocks"), estimator="copula"),
    "fit groups": partial(fit, by_group),
    "fit unshared": partial(
        fit, continuous, shared_permutations=False, surrogates="global", estimator="ksg-rank"
    ),
    "fit unshared discrete": partial(
        fit, discrete, shared_permutations=False, estimator="discrete"
    ),
    "fit as the paper": partial(
        fit,
        toy,
        estimator="ksg",
        surrogates="global",
        shared_permutations=False,
        backward="minimum",
        lookahead=1,
    ),
    "fit sequential": partial(fit, continuous, n_permutations="auto", estimator="copula"),
    "fit sequential discrete": partial(
        fit, discrete, n_permutations="auto", alpha=0.01, estimator="discrete"
    ),
    "fit strict": partial(fit, discrete, alpha=0.01),
    "fit untested": partial(fit, continuous, n_permutations=0, max_features=4),
    # the search
    "fit backward off": partial(fit, continuous, backward=None),
    "fit backward maximum": partial(fit, continuous, backward="maximum"),
    "fit backward removes": partial(fit, toy, criterion="mi", backward="maximum"),
    "fit lookahead": partial(fit, synergistic, lookahead=2),
    "fit lookahead auto": partial(fit, synergistic, lookahead="auto"),
    "fit lookahead auto rejects": partial(fit, continuous, lookahead="auto"),
    "fit lookahead triples": partial(
        fit, synergistic, lookahead=3, estimator="discrete", n_permutations=160
    ),
    "fit random starts": partial(fit, synergistic, n_random_starts=12),
    "fit lookahead and random starts": partial(
        fit,
        lambda: (synergistic()[0][:, :5], continuous(300)[1]),
        lookahead=2,
        n_random_starts=3,
        n_permutations=200,
    ),
    "fit max_features": partial(fit, continuous, max_features=2),
    "fit max_conditioning": partial(fit, continuous, max_conditioning=1),
    "fit max_samples": partial(fit, partial(discrete, 2000), max_samples=300),
    "fit fixed features": partial(fit, continuous, fixed_features=[3, 5]),
    "fit feature groups": partial(
        fit, continuous, feature_groups={"first": [0, 5], "second": [1, 2]}
    ),
    "fit fixed feature groups": partial(
        fit,
        mixed,
        fixed_features="noise",
        feature_groups={"house": ["rooms", "garden"]},
        max_features=4,
    ),
    "fit two threads": partial(fit, continuous, n_jobs=2),
    "fit checkpoint": from_checkpoint,
    # criteria
    **{
        f"fit criterion {name}": partial(fit, discrete, criterion=name, estimator="discrete")
        for name in ("mi", "mim", "mifs", "mrmr", "cife", "jmi", "cmim", "disr", "icap", "pid")
    },
    **{
        f"fit criterion {name} continuous": partial(
            fit, continuous, criterion=name, estimator="ksg", max_features=4
        )
        for name in ("mrmr", "jmi", "cmim", "icap", "pid")
    },
    "fit criterion mi continuous": partial(fit, continuous, criterion="mi"),
    "fit criterion pid fixed": partial(fit, discrete, criterion="pid", fixed_features=[0, 2]),
    "fit criterion objects": lambda: [
        fit(discrete, criterion=criterion, estimator="discrete")
        for criterion in (LinearCriterion(0.5, 0.0), LinearCriterion(beta=0.5, gamma=0.2))
    ],
    # explain
    "explain continuous": partial(explain, continuous),
    "explain discrete": partial(explain, discrete),
    "explain mixed": partial(explain, mixed, fixed_features="noise"),
    "explain missing": partial(explain, partial(mixed, gaps=0.05), missing="category"),
    "explain groups": partial(explain, by_group),
    "explain held out": explain_held_out,
    **{
        f"explain {measure}": partial(
            explain, discrete, measure, estimator="discrete", max_features=3
        )
        for measure in ("broja", "imin", "mmi", "ccs", "sx")
    },
}


# Stability -------------------------------------------------------------------------------------


def stable(data: Callable[[], tuple[Any, ...]], n_jobs: int, **parameters: Any) -> dict[str, Any]:
    """Fit a selector to eight subsamples."""
    X, y, *groups = data()
    if "estimator" in parameters:
        parameters = {"n_permutations": 50, **parameters}
    selector = selector_with(**{"random_state": None, **parameters})
    found = stability(
        selector,
        X,
        y,
        8,
        sample_fraction=0.6,
        groups=groups[0] if groups else None,
        random_state=0,
        n_jobs=n_jobs,
    )
    return of_stability(found, names_of(X))


CASES |= {
    "stability": partial(stable, continuous, 2, estimator="copula"),
    "stability classes": partial(stable, discrete, 1),
    "stability groups": partial(stable, series, 1, estimator="ksg"),
}


# Mutual information ----------------------------------------------------------------------------


def information(estimators: Sequence[Any], data: Callable[[], tuple[Any, Any]]) -> list[float]:
    """Return marginal and conditional values, of one column and of two, in bits and in nats."""
    X, y = data()
    x, pair, given, two = X[:, 0], X[:, :2], X[:, 2], X[:, 2:4]
    return [
        mutual_information(first, y, condition, estimator=estimator, unit=unit)
        for estimator, first, condition, unit in product(
            estimators, (x, pair), (None, given, two), ("bit", "nat")
        )
    ]


CASES |= {
    "information auto": lambda: [information(["auto"], data) for data in (continuous, discrete)],
    "information ksg": partial(
        information,
        ["ksg", "ksg-rank", KSG(k=1), KSG(k=7, scale="rank"), KSG(algorithm=2)],
        continuous,
    ),
    "information mixed": lambda: [
        information(["mixed", "mixed-rank", Mixed(k=2)], data)
        for data in (continuous, discrete, lambda: (continuous()[0].round(1), discrete(250)[1]))
    ],
    "information discrete": partial(
        information, ["discrete", Discrete(correction="miller-madow")], discrete
    ),
    "information gaussian": partial(
        information, ["gaussian", "copula", Gaussian(), Copula()], continuous
    ),
    "information labels": lambda: [
        mutual_information(X[x], y, None if given is None else X[given], estimator=estimator)
        for X, y in (mixed(),)
        for estimator in ("auto", "mixed", "mixed-rank")
        for x, given in (("hours", None), ("city", None), ("city", "hours"), ("rooms", "city"))
    ],
}


# Decompositions --------------------------------------------------------------------------------


def decomposed(
    data: Callable[[], tuple[Any, Any]], measure: str, **parameters: Any
) -> dict[str, Any]:
    """Decompose a sample."""
    sources, target = data()
    return of_decomposition(
        decompose(sources, target, measure=measure, random_state=0, **parameters)
    )


def distributions(measure: str) -> list[dict[str, Any]]:
    """Decompose known distributions."""
    pmfs = [datasets.gate(name) for name in ("AND", "XOR", "SUM", "COPY", "RDN", "UNQ")]
    pmfs += [random_pmf(3, 2, 3), random_pmf(2, 4, 2)]
    if measure not in ("broja", "ccs"):
        pmfs += [datasets.gate("XOR", n_sources=3), random_pmf(2, 2, 2, 3)]
    return [of_decomposition(decompose_distribution(pmf, measure=measure)) for pmf in pmfs]


STATE_MEASURES = ("broja", "ccs", "imin", "mmi", "sx")

CASES |= {
    **{
        f"decompose {measure}": partial(
            decomposed, two_sources, measure, bins=3, n_permutations=40, n_bootstrap=40
        )
        for measure in STATE_MEASURES
    },
    **{
        f"decompose {measure} three": partial(decomposed, three_sources, measure, n_permutations=40)
        for measure in ("imin", "mmi", "sx")
    },
    **{
        f"decompose {measure}": partial(
            decomposed, two_sources, measure, n_permutations=40, n_bootstrap=40
        )
        for measure in ("gaussian", "sx-ksg")
    },
    "decompose options": lambda: [
        decomposed(two_sources, "broja", bins=4, binning="width", unit="nat"),
        decomposed(
            three_sources, "imin", feature_types=["nominal", "continuous", "nominal"], bins=2
        ),
        decomposed(
            two_sources, "mmi", bins=3, n_bootstrap=60, confidence=0.9, n_permutations=0, n_jobs=2
        ),
    ],
    "decompose gaussian three": partial(
        decomposed, lambda: (list(continuous()[0][:, :3].T), continuous()[1]), "gaussian"
    ),
    "decompose sx-ksg three": partial(
        decomposed, lambda: (list(continuous()[0][:, :3].T), continuous()[1]), "sx-ksg"
    ),
    **{
        f"decompose_distribution {measure}": partial(distributions, measure)
        for measure in STATE_MEASURES
    },
}
