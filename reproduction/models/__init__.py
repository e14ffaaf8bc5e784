"""Experiment II, Section 4.2: two inputs added or multiplied, one weighted against the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.data import FloatArray
from pidselect.decomposition.binning import BINNINGS
from reproduction.agreement import Comparison, cell
from reproduction.averages import percent
from reproduction.experiment import Experiment, Findings, Note, Outcome, Part, Results
from reproduction.models.claims import make_claims
from reproduction.models.curves import (
    DISCRETE,
    DISTRIBUTIONS,
    FROM_ZERO,
    KINDS,
    SHOWN,
    SIGMAS,
    Inputs,
    Kind,
)
from reproduction.models.figures import draw
from reproduction.terms import N_PERMUTATIONS, N_SAMPLES, WAYS, atoms, select, term
from reproduction.two_variable_models import statistical_model

SETTINGS = {"paper": "as the paper", "defaults": "our defaults"}
SELECTED_AT = (0.0, 0.25, 0.5, 1.0, 1.5)


# ------------------------------------------------------------------------------------------- runs


def run_curve(seed: int, kind: Kind, step: float) -> Outcome:
    """Sweep alpha for uniform inputs and noise 0.1, with lines of significance."""
    return _sweep(seed, kind, *SHOWN, step, N_PERMUTATIONS)


def run_others(seed: int, kind: Kind, distribution: Inputs, sigma: float, step: float) -> Outcome:
    """Sweep alpha for other inputs and noise, without lines."""
    return _sweep(seed, kind, distribution, sigma, step, 0)


def run_selection(seed: int, kind: Kind, alpha: float, settings: str) -> Outcome:
    """Select from the two inputs; only the names are kept, beside the right ones."""
    problem = statistical_model(N_SAMPLES, kind=kind, alpha=alpha, random_state=seed)
    found = select(problem, seed, WAYS[settings])
    return {"selected": found["selected"], "relevant": list(problem.relevant_names)}


def _sweep(
    seed: int, kind: Kind, distribution: Inputs, sigma: float, step: float, n_permutations: int
) -> Outcome:
    """Return terms and atoms over the grid of alpha.

    Returns
    -------
    dict with "alpha", the grid, and under "ksg", "count", "width" (and "mixed", for inputs of whole
    numbers) a list over that grid for each term. Plug-in terms are sums of atoms: the two sources'
    atoms are made so. With permutations also "lines", those of significance for "ksg".
    """
    grid = [round(step * place, 10) for place in range(round(2 / step) + 1)]
    found: dict[str, list[dict[str, float]]] = {}
    for alpha in grid:
        X, y = _draw_data(seed, kind, distribution, sigma, alpha)
        for binning in BINNINGS:
            row = atoms([X[:, 0], X[:, 1]], y, binning=binning)
            found.setdefault(binning, []).append(row | _sums(row))
        for estimator in ("ksg", "mixed") if distribution in DISCRETE else ("ksg",):
            terms = _terms(X, y, estimator, n_permutations, seed)
            found.setdefault(estimator, []).append({key: at["bits"] for key, at in terms.items()})
            if n_permutations:
                found.setdefault("lines", []).append(
                    {key: at["line"] for key, at in terms.items() if "line" in at}
                )
    curves = {
        name: {key: [row[key] for row in rows] for key in rows[0]} for name, rows in found.items()
    }
    return {"alpha": grid, **curves}


def _sums(found: dict[str, float]) -> dict[str, float]:
    return {
        "mi1": found["unique1"] + found["shared"],
        "mi2": found["unique2"] + found["shared"],
        "cmi1": found["unique1"] + found["synergy"],
        "cmi2": found["unique2"] + found["synergy"],
        "joint": sum(found.values()),
    }


def _terms(
    X: FloatArray, y: NDArray[Any], estimator: str, n_permutations: int, seed: int
) -> dict[str, dict[str, float]]:
    X1, X2 = X.T
    asked: dict[str, tuple[FloatArray, FloatArray | None]] = {
        "mi1": (X1, None),
        "mi2": (X2, None),
        "cmi1": (X1, X2),
        "cmi2": (X2, X1),
    }
    options: dict[str, Any] = {"estimator": estimator, "seed": seed}
    found = {
        name: term(of, y, given, n_permutations=n_permutations, **options)
        for name, (of, given) in asked.items()
    }
    return found | {"joint": term(X, y, n_permutations=0, **options)}


def _draw_data(
    seed: int, kind: Kind, distribution: Inputs, sigma: float, alpha: float
) -> tuple[FloatArray, NDArray[Any]]:
    """Draw a sample; inputs from 0 to 1 are those from 1 to 2, moved, with the same noise."""
    problem = statistical_model(
        N_SAMPLES,
        kind=kind,
        alpha=alpha,
        sigma=sigma,
        distribution="uniform" if distribution == FROM_ZERO else distribution,
        random_state=seed,
    )
    if distribution != FROM_ZERO:
        return problem.X, problem.y
    moved = problem.X - 1.0
    noise = problem.y - combine(kind, alpha, problem.X)
    return moved, combine(kind, alpha, moved) + noise


def combine(kind: str, alpha: float, X: FloatArray) -> FloatArray:
    """Return the target without noise.

    Examples
    --------
    >>> combine("multiplicative", 0.5, np.array([[4.0, 9.0]]))
    array([6.])
    """
    X1, X2 = X.T
    if kind == "additive":
        return np.asarray(alpha * X1 + (1 - alpha) * X2)
    return np.asarray(X1**alpha * X2 ** (1 - alpha))


# ----------------------------------------------------------------------------------------- report


def report(results: Results) -> Findings:
    """Put curves and selections beside what the paper says."""
    return Findings(
        comparisons=[_compare_selections(results)],
        claims=make_claims(results),
        figures=draw(results),
    )


def _compare_selections(results: Results) -> Comparison:
    def exact(settings: str, **point: str | float) -> list[float]:
        runs = results.of("selection", settings=settings, **point)
        return percent([set(run["selected"]) == set(run["relevant"]) for run in runs])

    return Comparison(
        name="selections",
        title="Selected inputs",
        caption=(
            "Share of runs, in percent, that select exactly the inputs Y depends on: X2 at alpha "
            "0, X1 at alpha 1, else both; uniform inputs, noise 0.1. The paper does not select "
            f"here.{_say_gain({label: exact(name) for name, label in SETTINGS.items()})}"
        ),
        cells=[
            cell(f"{kind}, alpha {alpha:g}", label, exact(settings, kind=kind, alpha=alpha))
            for kind in KINDS
            for alpha in SELECTED_AT
            for settings, label in SETTINGS.items()
        ],
    )


def _say_gain(shares: dict[str, list[float]]) -> str:
    said = [f"{np.mean(share):.1f} % {label}" for label, share in shares.items() if share]
    return f" Over all of these: {', '.join(said)}." if said else ""


OTHERS: tuple[dict[str, str | float], ...] = tuple(
    {"kind": kind, "distribution": distribution, "sigma": sigma, "step": 0.25}
    for kind in KINDS
    for distribution in DISTRIBUTIONS
    for sigma in SIGMAS
    if (distribution, sigma) != SHOWN
)
ZERO: dict[str, str | float] = {"kind": "multiplicative", "distribution": FROM_ZERO, "sigma": 0.1}

EXPERIMENT = Experiment(
    name="models",
    title="Experiment II: statistical models",
    where="Section 4.2 with its figure and its table of distributions",
    about=(
        "Y is the weighted sum of two independent inputs, or the product of their weighted powers, "
        "with normal noise. The weight alpha of X1 goes from 0 to 2, that of X2 is 1 - alpha: at 0 "
        "only X2 counts, at 1 only X1, and beyond 1 X2 counts against X1.",
        "The paper shows uniform inputs with noise 0.1, one panel for each model, and "
        "says that others look alike: binomial, Poisson and exponential inputs, noise 1 and 10. "
        "All of these are run here.",
        "Claims on atoms are decided by bins of equal counts. Inputs of whole numbers (binomial, "
        "Poisson) are states as they are, and are not binned; the target is binned in any case. "
        "Their terms are of an estimator for mixed data, as nearest neighbours need measurements.",
    ),
    parts=(
        Part(
            "curve",
            run_curve,
            tuple({"kind": kind, "step": 0.1} for kind in KINDS),
            100,
            tuple({"kind": kind, "step": 0.25} for kind in KINDS),
            2,
            seconds=2.5,
        ),
        Part(
            "others",
            run_others,
            OTHERS,
            20,
            tuple({**OTHERS[place], "step": 0.5} for place in (8, 9, 19, 20)),
            2,
            seconds=0.9,
        ),
        Part(
            "zero",
            run_others,
            ({**ZERO, "step": 0.1},),
            20,
            ({**ZERO, "step": 0.5},),
            2,
            seconds=1.2,
        ),
        Part(
            "selection",
            run_selection,
            tuple(
                {"kind": kind, "alpha": alpha, "settings": settings}
                for kind in KINDS
                for alpha in SELECTED_AT
                for settings in SETTINGS
            ),
            20,
            tuple(
                {"kind": kind, "alpha": 0.5, "settings": settings}
                for kind in KINDS
                for settings in SETTINGS
            ),
            1,
            seconds=0.2,
        ),
    ),
    report=report,
    notes=(
        Note(
            found="The uniform distribution is printed with the limits b = 1 and a = 2, swapped.",
            done="Drawn from 1 to 2. For the multiplicative model also from 0 to 1, tried "
            "because the paper's contributions shrink beyond alpha 1 and these do not: they do if "
            "X2 comes near 0 and bins are of equal width, but not in bins of equal counts. Whether "
            "the paper's inputs were such is not known.",
        ),
        Note(
            found="The two rates of the Poisson distribution have the same name.",
            done="X1 has rate 4, X2 has rate 10. The inputs then differ in their spread, and the "
            "balance of both is not at alpha 0.5.",
        ),
        Note(
            found="The exponential distribution is printed with the formula of a Poisson one.",
            done="Drawn with rate 1.5.",
        ),
        Note(
            found="Beyond alpha 1 the multiplicative model has a negative power of X2, which is "
            "undefined where X2 is 0, as binomial and Poisson inputs may be.",
            done="There, zeros of X2 are drawn again: one in 22,000 at most.",
        ),
    ),
)
