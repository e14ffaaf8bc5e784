"""What the paper says about its statistical models, decided by the curves over alpha."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from pidselect.experiments.agreement import (
    Claim,
    is_above,
    is_at_least,
    is_at_most,
    peaks_at,
)
from pidselect.experiments.experiment import Outcome, Results

KINDS = ("additive", "multiplicative")
DISTRIBUTIONS = ("uniform", "binomial", "poisson", "exponential")
SIGMAS = (0.1, 1.0, 10.0)

#: What the paper shows, the only one with lines of significance.
SHOWN = ("uniform", 0.1)

#: Uniform inputs from 0 to 1 instead of from 1 to 2.
FROM_ZERO = "uniform from 0"

TERMS = ("mi1", "mi2", "cmi1", "cmi2")
ATOMS = ("unique1", "unique2", "shared", "synergy")

#: The grid of the full reproduction.
GRID = [round(0.1 * place, 10) for place in range(21)]

#: What "all" is taken for, in percent.
NEARLY_ALL = 90.0


# ----------------------------------------------------------------------------------------- curves


def finest(runs: Sequence[Outcome]) -> list[Outcome]:
    """Return the runs on the finest grid: quick runs and full ones may lie in one store."""
    most = max((len(run["alpha"]) for run in runs), default=0)
    return [run for run in runs if len(run["alpha"]) == most]


def curves_of(results: Results, kind: str, distribution: str, sigma: float) -> list[Outcome]:
    """Return all sweeps of a model, from whichever part it is in."""
    if (distribution, sigma) == SHOWN:
        return finest(results.of("curve", kind=kind))
    found = results.of("others", kind=kind, distribution=distribution, sigma=sigma)
    return finest(found)


def values_at(
    runs: Sequence[Outcome], name: str, alpha: float, estimator: str = "count"
) -> list[float]:
    """Return a term at one alpha, for each run; none if that is not on the grid."""
    return [
        run[estimator][name][run["alpha"].index(alpha)] for run in runs if alpha in run["alpha"]
    ]


# ----------------------------------------------------------------------------------------- claims


def make_claims(results: Results) -> list[Claim]:
    """Return all claims."""
    return [
        *(
            claim
            for kind in KINDS
            for claim in (
                *_claim_places(results, kind),
                _claim_interaction(results, kind),
                _claim_beyond(results, kind),
                _claim_noise(results, kind),
                _claim_shape(results, kind),
            )
        ),
        _claim_shrinking_from_zero(results),
        *_claim_both(results),
    ]


def _claim_places(results: Results, kind: str) -> list[Claim]:
    """Decide where the atoms are largest and lowest."""
    runs = finest(results.of("curve", kind=kind))
    grid = runs[0]["alpha"] if runs else GRID
    words = {
        "synergy": "Synergy",
        "shared": "Redundancy",
        "unique1": "What X1 alone tells",
        "unique2": "What X2 alone tells",
    }

    def place(
        name: str, atom: str, at: float, within: tuple[float, float], lowest: bool = False
    ) -> Claim:
        extreme = "a minimum" if lowest else "highest" if "unique" in atom else "a maximum"
        verb = "is" if extreme == "highest" else "has"
        return peaks_at(
            f"{name} ({kind})",
            f"{words[atom]} {verb} {extreme} at alpha {at:g}.",
            grid,
            [run["count"][atom] for run in runs],
            at,
            within=within,
            lowest=lowest,
            remark=_say_place(runs, atom, within, lowest),
        )

    return [
        place("synergy peaks at alpha 0.5", "synergy", 0.5, (0, 1)),
        place("redundancy peaks at alpha 0.5", "shared", 0.5, (0, 1)),
        place("synergy lowest at alpha 1", "synergy", 1.0, (0.5, 1.5), lowest=True),
        place("redundancy lowest at alpha 1", "shared", 1.0, (0.5, 1.5), lowest=True),
        place("unique X2 highest at alpha 0", "unique2", 0.0, (0, 1)),
        place("unique X1 highest at alpha 1", "unique1", 1.0, (0, 1)),
    ]


def _say_place(
    runs: Sequence[Outcome], atom: str, within: tuple[float, float], lowest: bool
) -> str:
    """Say where it is with the other binning, and over the whole grid."""
    if not runs:
        return ""
    grid = np.array(runs[0]["alpha"])
    sign = -1.0 if lowest else 1.0
    inside = (grid >= within[0]) & (grid <= within[1])
    count, width = (
        np.mean([run[binning][atom] for run in runs], axis=0) * sign
        for binning in ("count", "width")
    )
    other = grid[inside][width[inside].argmax()]
    said = f"With bins of equal width, at {other:g}."
    if lowest:
        return said
    return f"{said} Over all alpha up to 2, at {grid[count.argmax()]:g}."


def _claim_interaction(results: Results, kind: str) -> Claim:
    runs = finest(results.of("curve", kind=kind))
    rises = [
        np.subtract(values_at(runs, atom, 0.5), values_at(runs, atom, 0.0))
        for atom in ("synergy", "shared")
    ]
    return is_above(
        f"synergy and redundancy arise ({kind})",
        "Combining two independent inputs brings both synergy and redundancy.",
        [float(value) for value in np.min(rises, axis=0)],
        0.0,
        measured="the smaller rise, of synergy or redundancy, from alpha 0 to 0.5, bit",
    )


def _claim_beyond(results: Results, kind: str) -> Claim:
    """Decide whether all that both inputs tell grows, or shrinks, from alpha 1 to 2."""
    runs = finest(results.of("curve", kind=kind))
    at_one, at_two = values_at(runs, "joint", 1.0), values_at(runs, "joint", 2.0)
    if kind == "additive":
        return is_above(
            "contributions grow beyond alpha 1 (additive)",
            "In the additive model all contributions increase for larger alpha.",
            at_two,
            at_one,
            measured="what both inputs tell (the sum of the atoms) at alpha 2 less at 1, bit",
            remark=_say_changes(runs) + " Signal grows with alpha while noise stays. Only the "
            "unique information of X1 falls: more and more of it needs X2."
            if runs
            else "",
        )
    return is_above(
        "contributions shrink beyond alpha 1 (multiplicative)",
        "In the multiplicative model contributions decrease for larger alpha.",
        at_one,
        at_two,
        measured="what both inputs tell (the sum of the atoms) at alpha 1 less at 2, bit",
        remark=_say_changes(runs) + " With inputs from 1 to 2 the power of X2 has no large values, "
        "and signal grows with alpha as in the additive model; see the claim for inputs from 0."
        if runs
        else "",
    )


def _say_changes(runs: Sequence[Outcome]) -> str:
    def mean(atom: str, alpha: float, binning: str) -> str:
        # Atoms of 0 may come out as tiny negative numbers, which need no sign.
        return f"{abs(np.mean(values_at(runs, atom, alpha, binning))):.2f}"

    said = [
        f"{atom} {mean(atom, 1.0, binning)} to {mean(atom, 2.0, binning)}"
        for binning in ("count", "width")
        for atom in ATOMS
    ]
    return (
        f"From alpha 1 to 2, in bins of equal counts: {', '.join(said[:4])} bit; of equal width: "
        f"{', '.join(said[4:])} bit."
    )


def _claim_shrinking_from_zero(results: Results) -> Claim:
    runs = finest(results.of("zero"))
    return is_above(
        "contributions shrink beyond alpha 1 (multiplicative, inputs from 0, equal width)",
        "In the multiplicative model contributions decrease for larger alpha.",
        values_at(runs, "joint", 1.0, "width"),
        values_at(runs, "joint", 2.0, "width"),
        measured="what both inputs tell (the sum of the atoms) at alpha 1 less at 2, bit",
        remark=_say_changes(runs) + " Near 0 the negative power of X2 has few, very large values. "
        "They fill the upper bins of equal width, and nearly all samples share the first."
        if runs
        else "",
    )


def _claim_noise(results: Results, kind: str) -> Claim:
    falls: dict[str, list[list[bool]]] = {}
    for distribution in DISTRIBUTIONS:
        sweeps = [curves_of(results, kind, distribution, sigma) for sigma in SIGMAS]
        for quiet, loud in pairwise(sweeps):
            for estimator, names in (("ksg", TERMS), ("count", ATOMS)):
                for name in names:
                    found = _falls(quiet, loud, estimator, name)
                    if found:
                        falls.setdefault(name, []).append(found)
    by_run = [held for rows in falls.values() for held in rows]
    said = [
        f"{name} {100 * np.mean([np.mean(r) for r in rows]):.0f}" for name, rows in falls.items()
    ]
    return is_at_least(
        f"noise lowers all terms ({kind})",
        "More noise lowers MI, CMI and atoms.",
        [100.0 * float(np.mean(held)) for held in zip(*by_run, strict=False)],
        NEARLY_ALL,
        measured="of all terms, inputs and steps in noise (0.1, 1, 10), those that fall, averaged "
        "over alpha, %",
        remark=f"By term, in percent: {', '.join(said)}." if said else "",
    )


def _falls(
    quiet: Sequence[Outcome], loud: Sequence[Outcome], estimator: str, name: str
) -> list[bool]:
    """Return for each run whether a term, averaged over common places, is lower in more noise."""
    found = []
    for one, other in zip(quiet, loud, strict=False):
        common = [alpha for alpha in one["alpha"] if alpha in other["alpha"]]
        low, high = (
            np.mean([run[estimator][name][run["alpha"].index(alpha)] for alpha in common])
            for run in (other, one)
        )
        found.append(bool(low < high))
    return found


def _claim_shape(results: Results, kind: str) -> Claim:
    """Decide whether synergy rises from both ends towards alpha 0.5 in all other combinations."""
    held: dict[float, list[list[bool]]] = {}
    for distribution in DISTRIBUTIONS:
        for sigma in SIGMAS:
            if (distribution, sigma) == SHOWN:
                continue
            runs = curves_of(results, kind, distribution, sigma)
            ends, middle = (
                [values_at(runs, "synergy", alpha) for alpha in alphas]
                for alphas in ((0.0, 1.0), (0.5,))
            )
            if runs:
                peaks = np.greater(middle[0], np.max(ends, axis=0))
                held.setdefault(sigma, []).append([bool(value) for value in peaks])
    by_run = [peaks for rows in held.values() for peaks in rows]
    said = [
        f"{100 * np.mean([np.mean(row) for row in rows]):.0f} at noise {sigma:g}"
        for sigma, rows in sorted(held.items())
    ]
    return is_at_least(
        f"same shape for other inputs and noise ({kind})",
        "Other inputs and more noise give curves of the same shape.",
        [100.0 * float(np.mean(peaks)) for peaks in zip(*by_run, strict=False)],
        NEARLY_ALL,
        measured="of the other combinations of inputs and noise, those where synergy at alpha 0.5 "
        "exceeds that at 0 and at 1, %",
        remark=f"By noise, in percent: {', '.join(said)}. In much noise hardly any information is "
        "left, the atoms are mostly bias, and where they peak is chance. The spread of Poisson "
        "inputs differs, so that they balance beside alpha 0.5."
        if said
        else "",
    )


def _claim_both(results: Results) -> list[Claim]:
    """Compare the two models, run by run on the same draws."""
    added, multiplied = (finest(results.of("curve", kind=kind)) for kind in KINDS)
    size = min(len(added), len(multiplied))
    added, multiplied = added[:size], multiplied[:size]

    def between(runs: Sequence[Outcome], estimator: str = "count") -> list[float]:
        inner = [alpha for alpha in (runs[0]["alpha"] if runs else ()) if 0 < alpha < 1]
        rows = [values_at(runs, "synergy", alpha, estimator) for alpha in inner]
        return [float(value) for value in np.mean(rows, axis=0)] if rows else []

    differences = [
        np.abs(np.subtract(values_at(added, atom, 1.0), values_at(multiplied, atom, 1.0)))
        for atom in ("synergy", "shared")
    ]
    statement = "Adding gives more synergy than multiplying, as XOR does compared with AND."
    return [
        is_above(
            "additive synergy above multiplicative",
            statement,
            values_at(added, "synergy", 0.5),
            values_at(multiplied, "synergy", 0.5),
            measured="additive less multiplicative synergy at alpha 0.5, bit",
            remark=_say_other_ways(added, multiplied, finest(results.of("zero"))),
        ),
        is_above(
            "additive synergy above multiplicative, over the grid",
            statement,
            between(added),
            between(multiplied),
            measured="additive less multiplicative synergy, mean over alpha between 0 and 1, bit",
        ),
        is_at_most(
            "similar synergy and redundancy at alpha 1 in both models",
            "At alpha 1 synergy and redundancy are of similar size in both models.",
            [float(value) for value in np.max(differences, axis=0)],
            0.01,
            measured="difference of the models, of synergy or redundancy, the larger, bit",
            remark="At alpha 1 both models are the same, Y = X1 with noise.",
        ),
    ]


def _say_other_ways(
    added: Sequence[Outcome], multiplied: Sequence[Outcome], zero: Sequence[Outcome]
) -> str:
    """Say what the difference is in bins of equal width, and for inputs from 0."""

    def difference(others: Sequence[Outcome], binning: str) -> float:
        sums, products = (
            values_at(runs[: min(len(added), len(others))], "synergy", 0.5, binning)
            for runs in (added, others)
        )
        return float(np.mean(np.subtract(sums, products)))

    if not added:
        return ""
    said = [f"{difference(multiplied, 'width'):+.3f} bit with bins of equal width"]
    if zero:
        said += [f"{difference(zero, 'count'):+.3f} bit with inputs from 0 to 1"]
    return (
        f"It is {' and '.join(said)}. The paper infers it from gates of two bits. Between 1 and 2 "
        "a product is nearly a sum: the logarithm is almost straight there."
    )
