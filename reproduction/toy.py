"""Section 3.3.3: the steps of a selection from three inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pidselect.datasets import SyntheticDataset
from pidselect.datasets import toy as toy_data
from reproduction.experiment import (
    Cell,
    Claims,
    Outcome,
    Part,
    Results,
    attempt,
    mean_panel,
    percent,
)
from reproduction.information import ALPHA, BINNINGS, N_SAMPLES, SETTINGS, atoms, select, term

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
    "ksg": ("nearest neighbours", "first"),
    "count": ("plug-in, equal counts", "second"),
    "width": ("plug-in, equal widths", "third"),
}
ATOM_LABELS = {
    "unique1": ("unique to the selected", "unique1"),
    "unique2": ("unique to the input", "unique2"),
    "shared": ("shared", "shared"),
    "synergy": ("synergy", "synergy"),
}

# ------------------------------------------------------------------------------------------- runs


def _columns(data: SyntheticDataset, names: Sequence[str]) -> NDArray[Any]:
    return data.X[:, [data.names.index(name) for name in names]]


def run_selection(seed: int, settings: str) -> Outcome:
    """Select from the three inputs."""
    return select(toy_data(N_SAMPLES, random_state=seed), seed, SETTINGS[settings])


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


# ----------------------------------------------------------------------------------------- claims


def _paper_runs(results: Results) -> list[Outcome]:
    return results.of("selection", settings="paper")


def _significant(run: Outcome, given: Sequence[str]) -> set[str] | None:
    """Return the significant candidates of a forward step; None if the run has no such step."""
    for step in run["steps"]:
        if step["phase"] == "forward" and step["conditioning_set"] == list(given):
            pairs = zip(step["candidates"], step["p_values"], strict=True)
            return {name for name, p_value in pairs if p_value <= ALPHA}
    return None


def _included(run: Outcome) -> list[str]:
    return [s["chosen"] for s in run["steps"] if s["phase"] == "forward" and s["accepted"]]


def _bits(results: Results, name: str) -> NDArray[np.float64]:
    return np.array([run["ksg"][name]["bits"] for run in results.of("terms")])


def _part(results: Results, binning: str, name: str, atom: str) -> list[float]:
    """Return an atom in percent of the candidate's unique, shared and synergistic information."""
    found = [run[binning][name] for run in results.of("atoms")]
    return [100 * one[atom] / (one["unique2"] + one["shared"] + one["synergy"]) for one in found]


def _atom_claims(binning: str) -> Claims:
    how = f"(equal {binning}s)"
    return {
        f"toy: X2 mainly redundant at step 2 {how}": lambda r: _part(
            r, binning, "step 2: X2", "shared"
        ),
        f"toy: eta almost only synergistic at step 2 {how}": lambda r: _part(
            r, binning, "step 2: eta", "synergy"
        ),
        f"toy: X2 redundant at step 3 {how}": lambda r: _part(r, binning, "step 3: X2", "shared"),
    }


CLAIMS: Claims = {
    "toy: only X1 and X2 significant at step 1": lambda r: percent(
        _significant(run, []) == {"X1", "X2"} for run in _paper_runs(r)
    ),
    "toy: only eta significant at step 2": lambda r: percent(
        _significant(run, ["X1"]) == {"eta"} for run in _paper_runs(r)
    ),
    "toy: X1 included first, then eta": lambda r: percent(
        _included(run)[:2] == ["X1", "eta"] for run in _paper_runs(r)
    ),
    "toy: X2 not significant at step 3": lambda r: percent(
        _significant(run, ["X1", "eta"]) == set() for run in _paper_runs(r)
    ),
    "toy: backward elimination keeps both": lambda r: percent(
        set(run["selected"]) == {"X1", "eta"}
        for run in _paper_runs(r)
        if _included(run) == ["X1", "eta"]
    ),
    "toy: X1 and eta selected": lambda r: percent(
        set(run["selected"]) == {"X1", "eta"} for run in _paper_runs(r)
    ),
    "toy: X1 more informative than X2": lambda r: _bits(r, "I(X1;Y)") - _bits(r, "I(X2;Y)"),
    "toy: eta has no marginal information": lambda r: _bits(r, "I(eta;Y)"),
    "toy: CMI of X2 low at step 3": lambda r: _bits(r, "I(X2;Y|X1,eta)"),
    **{name: values for binning in BINNINGS for name, values in _atom_claims(binning).items()},
}

# -------------------------------------------------------------------------------- table and figure


def _sets(results: Results) -> Iterable[Cell]:
    for settings, label in LABELS.items():
        runs = attempt(lambda name: results.of("selection", settings=name), settings)
        found = [set(run["selected"]) for run in runs]
        yield Cell(label, "exactly X1 and eta", percent(one == {"X1", "eta"} for one in found))
        yield Cell(label, "X2 besides", percent(one == {"X1", "X2", "eta"} for one in found))
        yield Cell(label, "something else", percent(not {"X1", "eta"} <= one for one in found))


def _panels(results: Results) -> Iterable[Any]:
    def terms(title: str, names: Sequence[str]) -> Outcome:
        return mean_panel(
            title,
            "bars",
            results.of("terms"),
            names,
            ESTIMATES,
            lambda run, by, name: run[by][name]["bits"],
            lambda run, by, name: run[by][name]["critical_value"],
            y_label="information (bit)",
        )

    def parts(binning: str) -> Outcome:
        return mean_panel(
            f"Atoms, bins of equal {binning}s",
            "bars",
            results.of("atoms"),
            DECOMPOSED,
            ATOM_LABELS,
            lambda run, atom, name: run[binning][name][atom],
            y_label="information (bit)",
        )

    title = "Steps 2 and 3: conditional mutual information"
    yield attempt(terms, "Step 1: mutual information", [name for name in TERMS if "|" not in name])
    yield attempt(terms, title, [name for name in TERMS if "|" in name])
    yield from (attempt(parts, binning) for binning in BINNINGS)


PARTS = (
    Part(
        "selection",
        run_selection,
        [{"settings": settings} for settings in LABELS],
        quick_runs=2,
        seconds=0.4,
    ),
    Part("terms", run_terms, quick_runs=2, seconds=0.25),
    Part("atoms", run_atoms, quick_runs=2, seconds=0.02),
)

TABLES = {
    "sets": _sets,
}

FIGURES = {
    "toy-steps": _panels,
}
