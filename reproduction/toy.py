"""Section 3.3.3: the steps of a selection from three inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.datasets import SyntheticDataset
from pidselect.datasets import toy as toy_data
from reproduction.experiment import Claims, Outcome, Part, Results, each
from reproduction.information import (
    ALPHA,
    BINNINGS,
    N_SAMPLES,
    SETTINGS,
    atoms,
    select,
    term,
)
from reproduction.quantities import Quantity, grid, percent, quantity

LABELS = {"paper": "as the paper", "defaults": "our defaults"}

#: Terms of the three steps: candidate and conditioning set.
TERMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "I(X1;Y)": ("X1", ()),
    "I(X2;Y)": ("X2", ()),
    "I(eta;Y)": ("eta", ()),
    "I(X2;Y|X1)": ("X2", ("X1",)),
    "I(eta;Y|X1)": ("eta", ("X1",)),
    "I(X2;Y|X1,eta)": ("X2", ("X1", "eta")),
}

#: Decompositions of the steps: candidate and selected features.
DECOMPOSED: dict[str, tuple[str, tuple[str, ...]]] = {
    "step 2: X2": ("X2", ("X1",)),
    "step 2: eta": ("eta", ("X1",)),
    "step 3: X2": ("X2", ("X1", "eta")),
}

ESTIMATES = {
    "ksg": "nearest neighbours",
    "count": "plug-in, equal counts",
    "width": "plug-in, equal widths",
}


def _columns(data: SyntheticDataset, names: Sequence[str]) -> NDArray[Any]:
    return data.X[:, [data.names.index(name) for name in names]]


def run_terms(seed: int) -> Outcome:
    """Estimate all terms of the paper's steps."""
    data = toy_data(N_SAMPLES, random_state=seed)
    found: Outcome = {}
    for binning in (None, *BINNINGS):
        found[binning or "ksg"] = {
            name: term(
                _columns(data, (of,)),
                data.y,
                _columns(data, given) if given else None,
                binning=binning,
                seed=seed,
            )
            for name, (of, given) in TERMS.items()
        }
    return found


def run_atoms(seed: int) -> Outcome:
    """Decompose the information of the selected features (source 1) and a candidate (source 2)."""
    data = toy_data(N_SAMPLES, random_state=seed)
    return {
        binning: {
            name: atoms([_columns(data, given), _columns(data, (of,))], data.y, binning=binning)
            for name, (of, given) in DECOMPOSED.items()
        }
        for binning in BINNINGS
    }


BOTH = {"X1", "eta"}


def _significant(run: Outcome, given: Sequence[str]) -> set[str] | None:
    """Return the significant candidates of a forward step; None if the run has no such step."""
    for step in run["steps"]:
        if step["phase"] == "forward" and step["conditioning_set"] == list(given):
            pairs = zip(step["candidates"], step["p_values"], strict=True)
            return {name for name, p_value in pairs if p_value <= ALPHA}
    return None


def _included(run: Outcome) -> list[str]:
    return [s["chosen"] for s in run["steps"] if s["phase"] == "forward" and s["accepted"]]


@quantity
def _runs_that(
    results: Results, holds: Callable[[Outcome], bool], settings: str = "paper"
) -> NDArray[np.float64]:
    """Return the percentage of runs for which a condition holds."""
    return percent(map(holds, results.of("selection", settings=settings)))


@quantity
def _backward(results: Results) -> NDArray[np.float64]:
    """Return how often the elimination keeps both, where exactly these were included."""
    runs = results.of("selection", settings="paper")
    wanted = (run for run in runs if _included(run) == ["X1", "eta"])
    return percent(set(run["selected"]) == BOTH for run in wanted)


@quantity
def _bits(results: Results, name: str, by: str = "ksg") -> NDArray[np.float64]:
    return np.array([run[by][name]["bits"] for run in results.of("terms")])


@quantity
def _part(results: Results, binning: str, name: str, atom: str) -> list[float]:
    """Return an atom in percent of the candidate's unique, shared and synergistic information."""
    found = [run[binning][name] for run in results.of("atoms")]
    return [100 * one[atom] / (one["unique2"] + one["shared"] + one["synergy"]) for one in found]


def _step(given: Sequence[str], names: set[str]) -> Quantity:
    """Return the percentage of runs with exactly these significant candidates of a step."""
    return _runs_that(lambda run: _significant(run, given) == names)


CLAIMS: Claims = {
    "toy: only X1 and X2 significant at step 1": _step([], {"X1", "X2"}),
    "toy: only eta significant at step 2": _step(["X1"], {"eta"}),
    "toy: X1 included first, then eta": _runs_that(lambda run: _included(run)[:2] == ["X1", "eta"]),
    "toy: X2 not significant at step 3": _step(["X1", "eta"], set()),
    "toy: backward elimination keeps both": _backward(),
    "toy: X1 and eta selected": _runs_that(lambda run: set(run["selected"]) == BOTH),
    "toy: X1 more informative than X2": _bits("I(X1;Y)") - _bits("I(X2;Y)"),
    "toy: eta has no marginal information": _bits("I(eta;Y)"),
    "toy: CMI of X2 low at step 3": _bits("I(X2;Y|X1,eta)"),
    **{
        f"toy: {claim} (equal {binning}s)": _part(binning, *place)
        for binning in BINNINGS
        for claim, *place in (
            ("X2 mainly redundant at step 2", "step 2: X2", "shared"),
            ("eta almost only synergistic at step 2", "step 2: eta", "synergy"),
            ("X2 redundant at step 3", "step 3: X2", "shared"),
        )
    },
}

OUTCOMES: dict[str, Callable[[set[str]], bool]] = {
    "exactly X1 and eta": lambda names: names == BOTH,
    "X2 besides": lambda names: names == {"X2", *BOTH},
    "something else": lambda names: not names >= BOTH,
}


PARTS = (
    Part(
        "selection",
        lambda seed, settings: select(
            toy_data(N_SAMPLES, random_state=seed), seed, SETTINGS[settings]
        ),
        each(settings=LABELS),
        quick_runs=2,
        seconds=0.4,
    ),
    Part("terms", run_terms, quick_runs=2, seconds=0.25),
    Part("atoms", run_atoms, quick_runs=2, seconds=0.02),
)

TABLES = {
    "sets": grid(
        lambda settings, name: _runs_that(
            lambda run: OUTCOMES[name](set(run["selected"])), settings
        ),
        LABELS,
        {name: name for name in OUTCOMES},
    ),
    "terms": grid(_bits, {name: name for name in TERMS}, ESTIMATES),
}
