"""What the paper says about its statistical models, decided by the curves over alpha."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from reproduction.agreement import (
    Claim,
    is_above,
    is_at_least,
    is_at_most,
    peaks_at,
)
from reproduction.averages import percent
from reproduction.experiment import Outcome, Results
from reproduction.models.curves import (
    ATOMS,
    DISCRETE,
    DISTRIBUTIONS,
    KINDS,
    SHOWN,
    SIGMAS,
    TERMS,
    Distribution,
    curves_of,
    finest,
    in_words,
    values_at,
)

#: The grid of the full reproduction.
GRID = [round(0.1 * place, 10) for place in range(21)]

#: What "all" is taken for, in percent.
NEARLY_ALL = 90.0


def make_claims(results: Results) -> list[Claim]:
    """Return all claims."""
    return [
        *(
            claim
            for kind in KINDS
            for claim in (
                *_claim_places(results, kind),
                _claim_interaction(results, kind),
                *_claim_beyond(results, kind),
                _claim_noise(results, kind),
                *_claim_shape(results, kind),
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


def _claim_beyond(results: Results, kind: str) -> list[Claim]:
    """Decide whether what the inputs tell grows, or shrinks, from alpha 1 to 2."""
    runs = finest(results.of("curve", kind=kind))
    at_one, at_two = values_at(runs, "joint", 1.0), values_at(runs, "joint", 2.0)
    if kind == "additive":
        statement = "In the additive model all contributions increase for larger alpha"
        remark = f"{_say_changes(runs)} Signal grows with alpha while noise stays." if runs else ""
        rises = [
            np.subtract(values_at(runs, atom, 2.0), values_at(runs, atom, 1.0)) for atom in ATOMS
        ]
        return [
            is_above(
                "contributions grow beyond alpha 1 (additive)",
                f"{statement}; here, taken together.",
                at_two,
                at_one,
                measured="what both inputs tell (the sum of the atoms) at alpha 2 less at 1, bit",
                remark=remark,
            ),
            is_above(
                "each contribution grows beyond alpha 1 (additive)",
                f"{statement}; here, one by one.",
                [float(value) for value in np.min(rises, axis=0)],
                0.0,
                measured="the smallest rise of an atom from alpha 1 to 2, bit",
                remark="Not what is unique to X1: beyond alpha 1, more and more of what X1 tells "
                "needs X2. The numbers stand with the claim before.",
            ),
        ]
    return [
        is_above(
            "contributions shrink beyond alpha 1 (multiplicative)",
            "In the multiplicative model contributions decrease for larger alpha.",
            at_one,
            at_two,
            measured="what both inputs tell (the sum of the atoms) at alpha 1 less at 2, bit",
            remark=f"{_say_changes(runs)} With inputs from 1 to 2 the power of X2 has no large "
            "values, and signal grows with alpha as in the additive model; see the claim for "
            "inputs from 0."
            if runs
            else "",
        )
    ]


def _say_changes(runs: Sequence[Outcome]) -> str:
    def mean(atom: str, alpha: float, binning: str) -> str:
        # Atoms of 0 may come out as tiny negative numbers, which need no sign.
        return f"{abs(np.mean(values_at(runs, atom, alpha, binning))):.2f}"

    count, width = (
        ", ".join(
            f"{label} {mean(atom, 1.0, binning)} to {mean(atom, 2.0, binning)}"
            for atom, label in ATOMS.items()
        )
        for binning in ("count", "width")
    )
    return f"From alpha 1 to 2, in bins of equal counts: {count} bit; of equal width: {width} bit."


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
        by = "mixed" if distribution in DISCRETE else "ksg"
        asked = [(by, *pair) for pair in TERMS.items()] + [("count", *p) for p in ATOMS.items()]
        for quiet, loud in pairwise(sweeps):
            for estimator, name, label in asked:
                found = _falls(quiet, loud, estimator, name)
                if found:
                    falls.setdefault(label, []).append(found)
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
        remark=f"By term, in percent: {', '.join(said)}. Where few samples meet many states, bias "
        "may hide a fall: it stays when the signal is gone."
        if said
        else "",
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


def _claim_shape(results: Results, kind: str) -> list[Claim]:
    """Decide whether synergy rises from both ends towards alpha 0.5 for other inputs and noise."""
    held = {
        (distribution, sigma): _peaks(curves_of(results, kind, distribution, sigma))
        for sigma in SIGMAS
        for distribution in DISTRIBUTIONS
        if (distribution, sigma) != SHOWN
    }
    held = {where: peaks for where, peaks in held.items() if peaks}
    quiet = {where: peaks for where, peaks in held.items() if where[1] == SHOWN[1]}
    short = [
        f"{in_words(distribution)} inputs at noise {sigma:g} ({np.mean(peaks):.0f} %)"
        for (distribution, sigma), peaks in held.items()
        if np.mean(peaks) < NEARLY_ALL
    ]
    return [
        is_at_least(
            f"same shape for other inputs and noise ({kind})",
            "Other inputs and more noise give curves of the same shape.",
            _over_combinations(held),
            NEARLY_ALL,
            measured="of the other combinations of inputs and noise, those where synergy at alpha "
            "0.5 exceeds that at 0 and at 1, %",
            remark=f"Short of {NEARLY_ALL:g} % are: {', '.join(short)}. There noise hides the "
            "signal, the atoms are mostly bias, and where they peak is chance."
            if short
            else "",
        ),
        is_at_least(
            f"same shape for other inputs ({kind})",
            "How the inputs are distributed has no effect on how they interact.",
            _over_combinations(quiet),
            NEARLY_ALL,
            measured="of the other inputs, at noise 0.1, those where synergy at alpha 0.5 exceeds "
            "that at 0 and at 1, %",
            remark=_say_sizes(results, kind),
        ),
    ]


def _peaks(runs: Sequence[Outcome]) -> list[float]:
    """Return, in percent run by run, whether synergy is higher at alpha 0.5 than at 0 and 1."""
    start, middle, end = (values_at(runs, "synergy", alpha) for alpha in (0.0, 0.5, 1.0))
    return percent([b > max(a, c) for a, b, c in zip(start, middle, end, strict=True)])


def _over_combinations(held: Mapping[tuple[Distribution, float], Sequence[float]]) -> list[float]:
    """Return means over inputs and noise, run by run."""
    return [float(np.mean(values)) for values in zip(*held.values(), strict=False)]


def _say_sizes(results: Results, kind: str) -> str:
    """Say how much synergy there is, which does depend on the inputs."""
    found = {name: curves_of(results, kind, name, SHOWN[1]) for name in DISTRIBUTIONS}
    sizes = [
        f"{np.mean(values_at(runs, 'synergy', 0.5)):.2f} ({in_words(name)})"
        for name, runs in found.items()
        if runs
    ]
    if not sizes:
        return ""
    return (
        f"That is the shape. How much synergy there is at alpha 0.5 differs, in bit: "
        f"{', '.join(sizes)}. For Poisson inputs, of different spread, the curve is lopsided."
    )


def _claim_both(results: Results) -> list[Claim]:
    """Compare the two models, run by run on the same draws."""
    added, multiplied = (finest(results.of("curve", kind=kind)) for kind in KINDS)
    size = min(len(added), len(multiplied))
    added, multiplied = added[:size], multiplied[:size]
    zero = finest(results.of("zero"))
    between = [alpha for alpha in (added[0]["alpha"] if added else ()) if 0 < alpha < 1]
    differences = [
        np.abs(np.subtract(values_at(added, atom, 1.0), values_at(multiplied, atom, 1.0)))
        for atom in ("synergy", "shared")
    ]
    statement = "Adding gives more synergy than multiplying, as XOR does compared with AND."
    return [
        is_above(
            "additive synergy above multiplicative",
            statement,
            _synergy(added, [0.5]),
            _synergy(multiplied, [0.5]),
            measured="additive less multiplicative synergy at alpha 0.5, bit",
            remark=f"{_say_other_ways(added, multiplied, zero, [0.5])} The paper does not say it "
            "outright: it calls its two models in line with these gates. Between 1 and 2 a product "
            "is nearly a sum, as the logarithm is almost straight there."
            if added
            else "",
        ),
        is_above(
            "additive synergy above multiplicative, over the grid",
            statement,
            _synergy(added, between),
            _synergy(multiplied, between),
            measured="additive less multiplicative synergy, mean over alpha between 0 and 1, bit",
            remark=f"{_say_other_ways(added, multiplied, zero, between)} Where the weights are not "
            "equal, a product has slightly more: how much an input counts in it also depends on "
            "the value of the other."
            if added
            else "",
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


def _synergy(
    runs: Sequence[Outcome], alphas: Sequence[float], binning: str = "count"
) -> list[float]:
    """Return the mean synergy over some alphas, run by run."""
    rows = [values_at(runs, "synergy", alpha, binning) for alpha in alphas]
    return [float(np.mean(row)) for row in zip(*rows, strict=True)]


def _say_other_ways(
    added: Sequence[Outcome],
    multiplied: Sequence[Outcome],
    zero: Sequence[Outcome],
    alphas: Sequence[float],
) -> str:
    """Say what the difference is in bins of equal width, and for inputs from 0."""
    said = []
    for others, binning, where in (
        (multiplied, "width", "with bins of equal width"),
        (zero, "count", "with inputs from 0 to 1"),
    ):
        known = [alpha for alpha in alphas if others and alpha in others[0]["alpha"]]
        sums, products = (_synergy(runs, known, binning) for runs in (added, others))
        if products:
            difference = np.mean([a - b for a, b in zip(sums, products, strict=False)])
            said.append(f"{difference:+.3f} bit {where}")
    return f"It is {' and '.join(said)}."
