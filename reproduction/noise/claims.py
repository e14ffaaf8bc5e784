"""What the paper says of a distractor (Experiment V), decided on curves over its strength."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pidselect.data import FloatArray
from pidselect.decomposition.binning import BINNINGS
from reproduction.agreement import (
    Claim,
    Estimate,
    Verdict,
    estimate,
    is_above,
    is_at_most,
    is_not_below,
)
from reproduction.noise.curves import QUICK_STEP, Curves

TERMS = {"mi1": "I(X1;Y)", "mi2": "I(X2;Y)", "cmi": "I(X1;Y|X2)", "joint": "I(X1,X2;Y)"}
ATOMS = {"unique1": "unique X1", "unique2": "unique X2", "shared": "shared", "synergy": "synergy"}
ESTIMATES = {"width": "equal-width bins", "count": "equal-count bins", "ksg": "KSG"}

#: Bits below which information counts as none. The plug-in estimate of nothing has a bias of
#: (5 - 1)² / (2 · 1000 · ln 2) = 0.012 bit.
NONE = 0.03

#: Bits within which two curves lie on each other.
SAME = 0.05

#: How far the atoms' solver and rounding may be from an identity, in bits.
ROUNDING = 1e-6

#: Why the curves cross where they do, by estimator.
CROSSING = {
    "ksg": (
        "In truth I(X1;Y|X2) does not depend on a, being the information of S about f(S), 2.5 bit, "
        "and I(X2;Y) passes it only near a = 3. Five bins cannot hold 2.5 bit, and lose the signal "
        "as the distractor stretches the range of Y: with bins of equal width, which may be what "
        "the paper shows, the curves cross before 1."
    ),
    "count": "With bins of equal width they do before 1.",
    "width": (
        "Of three ways to estimate it is the one that shows what the paper describes; elsewhere "
        "the paper says that terms shown beside atoms are of binned data."
    ),
}


# ----------------------------------------------------------------------------------------- rules


def everywhere(
    name: str,
    statement: str,
    curves: Curves,
    differences: FloatArray,
    *,
    since: float,
    measured: str,
    remark: str = "",
) -> Claim:
    """Decide whether differences lie above 0 at every strength since one; show the least sure.

    Parameters
    ----------
    differences : array, shape (n_runs, n_strengths)
    since : float
        The first strength that is looked at.
    """
    shown: list[float] = []
    if len(differences):
        inside = [place for place, a in enumerate(curves.grid) if a >= since]
        weakest = min(inside, key=lambda place: _sureness(estimate(differences[:, place].tolist())))
        shown = differences[:, weakest].tolist()
        measured += f", at a = {curves.grid[weakest]:g}, where it is least sure"
    claim = is_above(name, statement, shown, 0.0, measured=measured, remark=remark)
    return replace(claim, rule=f"{claim.rule}, at every a from {since:g} on")


def _sureness(found: Estimate) -> float:
    """Return a mean in standard errors, or as it is where there is no spread to measure it by."""
    return found.mean / found.standard_error if found.standard_error > 0 else found.mean


def nowhere_above(
    name: str,
    statement: str,
    curves: Curves,
    values: FloatArray,
    limit: float,
    *,
    measured: str,
    remark: str = "",
) -> Claim:
    """Decide whether the mean is at most a limit at every strength; show the largest."""
    shown: list[float] = []
    if len(curves):
        largest = int(values.mean(axis=0).argmax())
        shown = values[:, largest].tolist()
        measured += f", at a = {curves.grid[largest]:g}, where it is largest"
    claim = is_at_most(name, statement, shown, limit, measured=measured, remark=remark)
    return replace(claim, rule=f"{claim.rule}, at every a")


def falls(
    name: str,
    statement: str,
    curves: Curves,
    values: FloatArray,
    *,
    since: float,
    measured: str,
    remark: str = "",
    rises: bool = False,
) -> Claim:
    """Decide whether a curve falls (or rises) since a strength: over all, and never back."""
    inside = values[:, [a >= since for a in curves.grid]] * (-1.0 if rises else 1.0)
    low, high = curves.grid[-1], since
    ends = f"a = {low:g} less that at {high:g}" if rises else f"a = {high:g} less that at {low:g}"
    claim = is_above(
        name,
        statement,
        (inside[:, 0] - inside[:, -1]).tolist(),
        0.0,
        measured=f"{measured} at {ends}, bit",
        remark=remark,
    )
    claim = replace(claim, rule=f"{claim.rule}, and no step goes back by more than that")
    for step in -np.diff(inside, axis=1).T:
        on = is_not_below("", "", step.tolist(), 0.0, measured="")
        if claim.verdict is Verdict.AGREES and on.verdict is not Verdict.AGREES:
            claim = replace(claim, verdict=on.verdict)
    return claim


# ---------------------------------------------------------------------------------------- MacKay


def mackay_claims(curves: Curves) -> list[Claim]:
    """Return what is said of a distractor in the target."""
    claims = [
        _identity(
            curves,
            "MacKay: CMI is unique plus synergy",
            "Given X2, X1 tells what is unique to it and what only both tell.",
            ("unique1", "synergy"),
            "cmi",
        ),
        _identity(
            curves,
            "MacKay: CMI leaves out what X2 tells",
            "What X2 tells alone or shares with X1 is left out by conditioning: the rest of the "
            "joint information.",
            ("unique1", "synergy", "unique2", "shared"),
            "joint",
        ),
    ]
    for by in ("ksg", "width"):
        claims += _mackay_terms(curves, by)
    claims += [_crossing(curves, "count"), _claim_significant(curves, "MacKay")]
    for binning in ("width", "count"):
        claims += _mackay_atoms(curves, binning)
    return claims


def _name(name: str, by: str, main: str) -> str:
    """Return the name of a claim, with an addition unless it is decided by what it is meant to."""
    return name if by == main else f"{name} ({ESTIMATES[by]})"


def _mackay_terms(curves: Curves, by: str) -> list[Claim]:
    """Return what is said of mutual information, by one estimator."""
    how = ESTIMATES[by]
    mi1, mi2, cmi, joint = (curves.of(by, name) for name in TERMS)
    return [
        falls(
            _name("MacKay: MI of X1 falls from a = 0.5 on", by, "ksg"),
            "What X1 tells by itself becomes less and less from a = 0.5 on.",
            curves,
            mi1,
            since=0.5,
            measured=f"I(X1;Y) by {how}",
            remark="It falls from a = 0 on.",
        ),
        everywhere(
            _name("MacKay: CMI at least MI from a = 0.5 on", by, "ksg"),
            "From a = 0.5 on, X1 tells more given X2 than by itself.",
            curves,
            cmi - mi1,
            since=0.5,
            measured=f"I(X1;Y|X2) less I(X1;Y) by {how}, bit",
        ),
        _crossing(curves, by),
        falls(
            _name("MacKay: I(X2;Y) grows with a", by, "ksg"),
            "What the distractor tells by itself grows with its strength.",
            curves,
            mi2,
            since=0.0,
            rises=True,
            measured=f"I(X2;Y) by {how}",
        ),
        everywhere(
            _name("MacKay: joint includes both", by, "ksg"),
            "The joint information holds the distractor's and the signal's: it lies above either.",
            curves,
            joint - np.maximum(mi2, cmi),
            since=QUICK_STEP,
            measured=f"I(X1,X2;Y) less the larger of I(X2;Y) and I(X1;Y|X2) by {how}, bit",
        ),
    ]


def _crossing(curves: Curves, by: str) -> Claim:
    """Decide from where on the distractor alone tells most: here estimators disagree."""
    differences = curves.of(by, "mi2") - curves.of(by, "cmi")
    where = curves.rises_above_zero(differences) if len(curves) else ""
    return everywhere(
        _name("MacKay: I(X2;Y) above the CMI from a = 1 on", by, "ksg"),
        "From a = 1 on, the distractor alone tells more than the signal given the distractor.",
        curves,
        differences,
        since=1.0,
        measured=f"I(X2;Y) less I(X1;Y|X2) by {ESTIMATES[by]}, bit",
        remark=f"The curves cross {where}. {CROSSING[by]}" if where else CROSSING[by],
    )


def _mackay_atoms(curves: Curves, by: str) -> list[Claim]:
    """Return what is said of the atoms, by one binning."""
    shared, synergy = curves.of(by, "shared"), curves.of(by, "synergy")
    both = [
        falls(
            _name("MacKay: shared and synergy fall for larger a", by, "width"),
            "Shared information and synergy both become less for larger a.",
            curves,
            values,
            since=1.0,
            measured=f"{name} by {ESTIMATES[by]}",
            remark="Shown is one of the two, the one that does not fall if there is one."
            f"{_say_tops(curves, shared, synergy)}",
        )
        for name, values in (("shared information", shared), ("synergy", synergy))
    ]
    return [
        next((claim for claim in both if claim.verdict is not Verdict.AGREES), both[0]),
        everywhere(
            _name("MacKay: synergy above redundancy", by, "width"),
            "There is more synergy than shared information, whatever a is.",
            curves,
            synergy - shared,
            since=0.0,
            measured=f"synergy less shared information by {ESTIMATES[by]}, bit",
        ),
    ]


def _say_tops(curves: Curves, shared: FloatArray, synergy: FloatArray) -> str:
    """Say up to which strength the two atoms rise."""
    if not len(curves):
        return ""
    first, second = (
        f"{curves.grid[int(values.mean(axis=0).argmax())]:g}" for values in (shared, synergy)
    )
    return f" They rise at first: shared information up to a = {first}, synergy up to {second}."


def _identity(curves: Curves, name: str, statement: str, of: Sequence[str], to: str) -> Claim:
    """Decide whether a term on bins, of either kind, is the sum of atoms, to rounding."""
    off = [
        np.abs(np.sum([curves.of(by, atom) for atom in of], axis=0) - curves.of(by, to))
        for by in BINNINGS
    ]
    measured = f"distance of {TERMS[to]} from {' + '.join(ATOMS[atom] for atom in of)}, bit"
    return nowhere_above(
        name,
        statement,
        curves,
        np.maximum(*off),
        ROUNDING,
        measured=measured,
        remark="So it is by definition of the atoms: this checks our numbers, not the model.",
    )


def _claim_significant(curves: Curves, model: str) -> Claim:
    """Decide whether the signal can be told from chance at every strength, given the distractor."""
    lines = curves.lines("ksg", "cmi")
    values = curves.of("ksg", "cmi")
    return everywhere(
        f"{model}: signal significant given the distractor",
        "Where the source of the noise is recorded, the signal can be recovered, however strong "
        "the noise.",
        curves,
        values[:0] if lines is None else values - lines,
        since=0.0,
        measured="I(X1;Y|X2) less its line of significance by KSG, bit",
    )


# ----------------------------------------------------------------------------------------- Haufe


def haufe_claims(curves: Curves) -> list[Claim]:
    """Return what is said of a distractor in the measurement."""
    claims: list[Claim] = []
    for by in ("ksg", "width"):
        claims += _haufe_terms(curves, by)
    claims.append(_claim_significant(curves, "Haufe"))
    for binning in ("width", "count"):
        claims += _haufe_atoms(curves, binning)
    return claims


def _haufe_terms(curves: Curves, by: str) -> list[Claim]:
    """Return what is said of mutual information, by one estimator."""
    how = ESTIMATES[by]
    mi1, mi2, cmi, joint = (curves.of(by, name) for name in TERMS)
    return [
        everywhere(
            _name("Haufe: CMI holds both", by, "ksg"),
            "Given X2, X1 tells more than the two inputs tell one by one.",
            curves,
            cmi - mi1 - mi2,
            since=QUICK_STEP,
            measured=f"I(X1;Y|X2) less I(X1;Y) and I(X2;Y) by {how}, bit",
        ),
        everywhere(
            _name("Haufe: MI misses the synergy", by, "ksg"),
            "Neither input alone tells what both tell together.",
            curves,
            joint - np.maximum(mi1, mi2),
            since=QUICK_STEP,
            measured=f"I(X1,X2;Y) less the larger of I(X1;Y) and I(X2;Y) by {how}, bit",
        ),
        nowhere_above(
            _name("Haufe: joint equals the CMI", by, "ksg"),
            "Both inputs tell what X1 tells given X2: the two curves lie on each other.",
            curves,
            np.abs(joint - cmi),
            SAME,
            measured=f"distance of I(X1,X2;Y) from I(X1;Y|X2) by {how}, bit",
        ),
    ]


def _haufe_atoms(curves: Curves, by: str) -> list[Claim]:
    """Return what is said of the atoms, by one binning."""
    how = ESTIMATES[by]
    mi1, unique1, unique2, shared = (
        curves.of(by, name) for name in ("mi1", "unique1", "unique2", "shared")
    )
    return [
        nowhere_above(
            _name("Haufe: no redundancy", by, "width"),
            "The two inputs share nothing about Y.",
            curves,
            shared,
            NONE,
            measured=f"shared information by {how}, bit",
        ),
        nowhere_above(
            _name("Haufe: MI equals unique X1", by, "width"),
            "What X1 tells by itself is unique to it: the two curves lie on each other.",
            curves,
            np.abs(mi1 - unique1),
            SAME,
            measured=f"distance of I(X1;Y) from unique X1 by {how}, bit",
        ),
        nowhere_above(
            _name("Haufe: X2 contributes synergy only", by, "width"),
            "The contribution of the distractor is purely synergistic.",
            curves,
            unique2 + shared,
            NONE,
            measured=f"unique X2 and shared information by {how}, bit",
        ),
    ]
