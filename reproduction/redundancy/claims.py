"""What the paper says of dependence and redundancy (Section 5.4), decided on numbers."""

from __future__ import annotations

from collections.abc import Sequence

from reproduction.agreement import (
    Claim,
    Estimate,
    Verdict,
    estimate,
    is_about,
    is_at_least,
    is_at_most,
)
from reproduction.experiment import Results
from reproduction.figures import Role
from reproduction.redundancy.cases import CASES, OF_THE_SOURCE
from reproduction.terms import ALPHA, N_SAMPLES

#: Bits that a solver or rounding may be off.
ROUNDING = 1e-6

#: What the paper prints for the AND gate, to the third digit.
SHARED_BY_AND, THIRD_DIGIT = 0.311, 0.0005

ATOMS: dict[Role, str] = {
    "unique1": "unique F1",
    "unique2": "unique F2",
    "shared": "shared",
    "synergy": "synergy",
}

#: Criteria that select in the counterexample, and whether they subtract I(F1;F2).
CRITERIA = {"cmi": False, "mi": False, "jmi": False, "mifs": True, "mrmr": True}


def is_exactly(
    name: str,
    statement: str,
    values: Sequence[float],
    limits: tuple[float | None, float | None],
    *,
    measured: str,
    remark: str = "",
) -> Claim:
    """Decide whether a number that no chance is in lies between limits, if there are both."""
    low, high = limits
    bounds = [f"at least {low:g}"] if low is not None else []
    bounds += [f"at most {high:g}"] if high is not None else []
    rule = " and ".join(bounds) + "; exact, so that one run will do"
    if not values:
        return Claim(name, statement, estimate([]), measured, rule, Verdict.NOT_RUN, remark)
    agrees = all(
        (low is None or value >= low) and (high is None or value <= high) for value in values
    )
    verdict = Verdict.AGREES if agrees else Verdict.DIFFERS
    return Claim(
        name, statement, Estimate(values[0], 0.0, len(values)), measured, rule, verdict, remark
    )


def exact(results: Results, case: str, key: str) -> list[float]:
    """Return a number of a known distribution: an atom by BROJA, or a term."""
    runs = results.of("exact", case=case)
    return [run["atoms"]["broja"][key] if key in ATOMS else run[key] for run in runs]


def exact_claims(results: Results) -> list[Claim]:
    """Return the claims on known distributions."""
    zero = (-ROUNDING, ROUNDING)
    source = [
        max(shared - between for shared, between in zip(of, bits, strict=True))
        for case in OF_THE_SOURCE
        if (of := exact(results, case, "shared")) and (bits := exact(results, case, "between"))
    ]
    all_runs = [run for case in CASES for run in results.of("exact", case=case)]
    brown = [
        abs(run["mi1"] - run["between"] + run["between given Y"] - run["cmi"]) for run in all_runs
    ]
    xor = [
        mi - between
        for mi, between in zip(
            exact(results, "XOR", "mi1"), exact(results, "XOR", "between"), strict=True
        )
    ]
    return [
        is_exactly(
            "AND: shared 0.311",
            "The inputs of an AND gate share 0.311 bit about its output.",
            exact(results, "AND", "shared"),
            (SHARED_BY_AND - THIRD_DIGIT, SHARED_BY_AND + THIRD_DIGIT),
            measured="shared information by BROJA, bit",
        ),
        is_exactly(
            "AND: inputs independent",
            "They do so without any dependence: the redundancy is one of the mechanism.",
            exact(results, "AND", "between"),
            zero,
            measured="I(F1;F2), bit",
        ),
        is_exactly(
            "counterexample: dependent features",
            "Features can depend on each other by a part that has nothing to do with the target.",
            exact(results, "counterexample", "between"),
            (ROUNDING, None),
            measured="I(F1;F2), bit",
        ),
        is_exactly(
            "counterexample: nothing shared",
            "They then share nothing about the target.",
            exact(results, "counterexample", "shared"),
            zero,
            measured="shared information by BROJA, bit",
        ),
        is_exactly(
            "source redundancy bounded by I(F1;F2)",
            "Where redundancy comes from the features alone, they share no more about the target "
            "than they know about each other, by a measure that follows the identity axiom.",
            [max(source)] if source else [],
            (None, ROUNDING),
            measured="largest excess of shared information over I(F1;F2) in the cases in which "
            "the target repeats the features, bit",
            remark="Not a bound in general: AND exceeds it, and so do two imperfect copies of the "
            "target (common cause: 0.53 bit shared, 0.32 bit in common).",
        ),
        is_exactly(
            "Brown: relevancy less dependence, plus dependence given Y",
            "With both weights 1 and one selected feature, the general criterion is the "
            "conditional mutual information.",
            [max(brown)] if brown else [],
            zero,
            measured="largest distance between the two, over all cases, bit",
        ),
        is_exactly(
            "Brown: no synergy without the third term",
            "Without the dependence given Y, synergy of pairs is not seen: an XOR rates 0.",
            xor,
            zero,
            measured="I(F1;Y) - I(F1;F2) of XOR, where I(F1;Y|F2) is 1, bit",
        ),
        is_exactly(
            "Brown: pairs only",
            "Criteria of this family do not see interactions of more than two features.",
            [run["pairs"] for run in results.of("parity")],
            zero,
            measured="J' of the third bit of a parity, where I(F3;Y|F1,F2) is 1, bit",
        ),
    ]


def sampled_claims(results: Results) -> list[Claim]:
    """Return the claims on samples and on what is selected from them."""

    def shared(case: str) -> list[float]:
        return [run["atoms"]["shared"] for run in results.of("sampled", case=case)]

    def dependent(case: str) -> list[float]:
        runs = [run["between"] for run in results.of("sampled", case=case)]
        return [100.0 * (run["bits"] > run["line"]) for run in runs]

    found = {criterion: found_both(results, criterion) for criterion in CRITERIA}
    punished = [share for name, subtracts in CRITERIA.items() if subtracts for share in found[name]]
    return [
        is_about(
            "AND: shared 0.311 (sampled)",
            f"{N_SAMPLES:,} samples of an AND gate show it, too.",
            shared("AND"),
            SHARED_BY_AND,
            tolerance=0.02,
            measured="shared information by BROJA from samples, bit",
        ),
        is_about(
            "AND: inputs independent (sampled)",
            "Samples show no dependence of its inputs.",
            dependent("AND"),
            100.0 * ALPHA,
            tolerance=2.0,
            measured="runs with a significant I(F1;F2), %",
        ),
        is_at_least(
            "counterexample: dependent features (sampled)",
            "Samples show the dependence.",
            dependent("counterexample, 10 % flipped"),
            99.0,
            measured="runs with a significant I(F1;F2), %",
        ),
        is_at_most(
            "counterexample: nothing shared (sampled)",
            "Samples show nothing shared.",
            shared("counterexample, 10 % flipped"),
            0.03,
            measured="shared information by BROJA from samples, bit",
        ),
        is_at_least(
            "counterexample: CMI finds both",
            "The conditional mutual information is not misled by a dependence that has nothing to "
            "do with the target.",
            found["cmi"],
            90.0,
            measured="runs in which exactly F1 and F2 are selected, %",
        ),
        is_at_most(
            "counterexample: MIFS and mRMR miss one",
            "Criteria that subtract I(F1;F2) punish a relevant feature for it.",
            punished,
            10.0,
            measured="runs in which exactly F1 and F2 are selected, %",
        ),
    ]


def found_both(results: Results, criterion: str) -> list[float]:
    """Return whether exactly F1 and F2 were selected, in percent, run by run."""
    return [100.0 * run["exact"] for run in results.of("selection", criterion=criterion)]
