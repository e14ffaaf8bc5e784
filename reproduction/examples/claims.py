"""What the paper says of two classes in the plane (Experiment VI), decided on runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from reproduction.agreement import (
    FEW_RUNS,
    Claim,
    Verdict,
    estimate,
    is_above,
    is_at_least,
    is_at_most,
)
from reproduction.averages import percent
from reproduction.experiment import Outcome, Results

TERMS = {"mi1": "I(X1;Y)", "mi2": "I(X2;Y)", "cmi": "I(X1;Y|X2)", "joint": "I(X1,X2;Y)"}

#: Bits below which information counts as none: the bias of plug-in terms here is 0.003 to 0.014.
NONE = 0.03

#: Standard deviation of what is added to class labels, so that they can be taken for a measurement.
#: The paper does not give it.
LABEL_NOISE = 0.1

#: The one, of those tried, with which all holds that the paper says of significance.
FITTED_NOISE = 0.75

#: Standard deviations at which significance is looked at.
NOISES = (LABEL_NOISE, 0.25, 0.5, FITTED_NOISE, 1.0, 1.5, 2.0)

#: What "some" and "all" are taken for, in percent of the runs.
SOME_RUNS, NEARLY_ALL = (10.0, 90.0), 90.0


class Runs:
    """The runs of the parts, by example."""

    def __init__(self, results: Results) -> None:
        self._results = results

    def terms(self, example: str) -> list[Outcome]:
        """Return the runs with terms and atoms of an example."""
        return self._results.of("terms", example=example)

    def bits(self, example: str, by: str, name: str) -> list[float]:
        """Return a term, in bits, run by run."""
        return [run["terms"][by][name]["bits"] for run in self.terms(example)]

    def lines(self, example: str, by: str, name: str) -> list[float]:
        """Return the line above which a term is significant, in bits, run by run."""
        return [run["terms"][by][name]["line"] for run in self.terms(example)]

    def with_noise(self, example: str, noise: float, name: str) -> list[float]:
        """Return whether a term is significant with so much noise on the labels, in percent."""
        found = [
            run["terms"][name] for run in self._results.of("labels", example=example, noise=noise)
        ]
        return percent([value["bits"] > value["line"] for value in found])

    def atom(self, example: str, name: str, binning: str) -> list[float]:
        """Return an atom in bits, run by run."""
        return [run["atoms"][binning][name] for run in self.terms(example)]

    def share(self, example: str, name: str, binning: str) -> list[float]:
        """Return an atom in percent of the joint information on the same bins, run by run."""
        joint = self.bits(example, binning, "joint")
        return [
            100.0 * atom / total if total > 0 else 0.0
            for atom, total in zip(self.atom(example, name, binning), joint, strict=True)
        ]


def is_between(
    name: str,
    statement: str,
    values: Sequence[float],
    limits: tuple[float, float],
    *,
    measured: str,
    remark: str = "",
) -> Claim:
    """Decide whether a mean lies between limits that stand for "some"."""
    ours, (low, high) = estimate(values), limits
    if ours.runs == 0:
        verdict = Verdict.NOT_RUN
    elif low <= ours.mean <= high and ours.runs > 1:
        verdict = Verdict.AGREES
    else:
        verdict = Verdict.UNDECIDED if ours.runs < FEW_RUNS else Verdict.DIFFERS
    rule = f"mean between {low:g} and {high:g}"
    return Claim(name, statement, ours, measured, rule, verdict, remark)


def make_claims(results: Results) -> list[Claim]:
    """Return all claims, in the order of the text."""
    runs = Runs(results)
    return [
        *_by_both_binnings(_independent, runs),
        *_significance(runs),
        *_copies(runs),
        *_by_both_binnings(_correlated, runs),
        *_correlations(runs),
        is_at_most(
            "Example 5: X2 alone tells nothing",
            "Even an input that tells nothing by itself can contribute synergy.",
            runs.bits("5", "mixed", "mi2"),
            NONE,
            measured="I(X2;Y) of labels as they are, bit",
            remark="The same holds for Example 4, whose class means of X2 are equal, too.",
        ),
    ]


def _by_both_binnings(make: Callable[[Runs, str], list[Claim]], runs: Runs) -> list[Claim]:
    """Decide claims by bins of equal width, and say what bins of equal counts give."""
    return [
        replace(claim, remark=f"{claim.remark} {_say_other(other)}".strip())
        for claim, other in zip(make(runs, "width"), make(runs, "count"), strict=True)
    ]


def _say_other(other: Claim) -> str:
    return f"With bins of equal counts it is {other.ours.mean:.3g}." if other.ours.runs else ""


# Of some examples there may be more runs than of others; pairs are made of those that all have.


def _least(*values: Sequence[float]) -> list[float]:
    """Return the smallest of several values, run by run."""
    return [min(row) for row in zip(*values, strict=False)]


def _largest(*values: Sequence[float]) -> list[float]:
    """Return the largest of several values, run by run."""
    return [max(row) for row in zip(*values, strict=False)]


def _less(values: Sequence[float], others: Sequence[float]) -> list[float]:
    """Return differences, run by run."""
    return [value - other for value, other in zip(values, others, strict=False)]


# --------------------------------------------------------------------------------- Examples 1, 2


def _independent(runs: Runs, binning: str) -> list[Claim]:
    """Return what is said of the atoms of inputs that are independent within a class."""
    synergy = [runs.atom(example, "synergy", binning) for example in ("1", "2")]
    shared = [runs.share(example, "shared", binning) for example in ("1", "2")]
    return [
        is_above(
            "Examples 1 and 2: synergy though independent",
            "Inputs that seem not to interact may be synergistic.",
            _least(*synergy),
            NONE,
            measured=f"the smaller synergy of both examples less {NONE:g} for bias, bit",
            remark="The inputs are independent within each class. Over both classes they "
            "correlate, as the class moves both.",
        ),
        is_above(
            "Example 2: synergy more evident than in Example 1",
            "That independent inputs are synergistic is particularly clear in Example 2.",
            _less(*reversed(synergy)),
            0.0,
            measured="synergy in Example 2 less that in Example 1, bit",
            remark=_say_added(runs, binning),
        ),
        is_above(
            "Example 1: higher relative redundancy than Example 2",
            "More of what both tell is shared in Example 1 than in Example 2.",
            _less(*shared),
            0.0,
            measured="share of shared information in I(X1,X2;Y), Example 1 less Example 2, %",
        ),
    ]


def _say_added(runs: Runs, binning: str) -> str:
    """Say what X1 adds to X2 in Examples 1 and 2, and how much of it is synergy."""
    if not (runs.terms("1") and runs.terms("2")):
        return ""
    said = [
        f"{estimate(runs.bits(example, binning, 'cmi')).mean:.2f} bit in Example {example}, "
        f"{estimate(runs.atom(example, 'synergy', binning)).mean:.2f} of them synergy"
        for example in ("1", "2")
    ]
    return (
        f"Given X2, X1 adds {said[0]}, and {said[1]}. The rest is unique to X1: it is this that "
        "makes X1 clearer in Example 2."
    )


def _significance(runs: Runs) -> list[Claim]:
    """Return what is said of significance in Examples 1 and 2, with two sizes of label noise."""
    fitted = _with_noise(runs, FITTED_NOISE, f" (label noise {FITTED_NOISE:g})", _say_fitted(runs))
    return [*_with_noise(runs, LABEL_NOISE, "", _say_found(runs)), *fitted]


def _with_noise(runs: Runs, noise: float, name: str, remark: str) -> list[Claim]:
    """Decide all that is said of significance, with so much noise on the labels."""
    first, second = (runs.with_noise(example, noise, "cmi") for example in ("1", "2"))
    others = [
        runs.with_noise(example, noise, name)
        for example in ("1", "2")
        for name in ("mi1", "mi2", "joint")
    ]
    return [
        is_between(
            f"Example 1 significant in some runs only{name}",
            "What X1 adds to X2 in Example 1 is significant in some runs, not in all.",
            first,
            SOME_RUNS,
            measured=f"runs with a significant I(X1;Y|X2), label noise {noise:g}, %",
            remark=remark,
        ),
        is_above(
            f"Example 2 significant more often than Example 1{name}",
            "Where X2 varies more, in Example 2, X1 is found to add something more often.",
            _less(second, first),
            0.0,
            measured="runs with a significant I(X1;Y|X2), Example 2 less Example 1, label noise "
            f"{noise:g}, %",
            remark=remark,
        ),
        is_at_least(
            f"Example 2 significant consistently{name}",
            "What X1 adds to X2 in Example 2 is significant in all runs or nearly all.",
            second,
            NEARLY_ALL,
            measured=f"runs with a significant I(X1;Y|X2), label noise {noise:g}, %",
        ),
        is_at_least(
            f"Examples 1 and 2: single and joint MI significant{name}",
            "Each input alone, and both together, are significant in most cases.",
            [sum(shares) / len(shares) for shares in zip(*others, strict=False)],
            50.0,
            measured="significant of I(X1;Y), I(X2;Y) and I(X1,X2;Y) in both examples, label noise "
            f"{noise:g}, %",
        ),
    ]


def _say_found(runs: Runs) -> str:
    """Say how clear it is what X1 adds, with little noise on the labels."""
    if not (runs.terms("1") and runs.terms("2")):
        return ""
    by = f"noise {LABEL_NOISE:g}"
    first, second = (estimate(runs.bits(example, by, "cmi")).mean for example in ("1", "2"))
    line = max(estimate(runs.lines(example, by, "cmi")).mean for example in ("1", "2"))
    return (
        f"With little noise X1 adds {first:.2f} bit in Example 1 and {second:.2f} bit in Example "
        f"2, where {line:.2f} bit would be significant: 1,000 samples do not miss it. How much "
        "noise the paper added to labels, if any, is not said. More of it is tried below."
    )


def _say_fitted(runs: Runs) -> str:
    """Say with which sizes of noise all statements on significance hold."""
    tried = [noise for noise in NOISES if runs.with_noise("1", noise, "cmi")]
    holds = [
        noise
        for noise in tried
        if all(claim.verdict is Verdict.AGREES for claim in _with_noise(runs, noise, "", ""))
    ]
    if not tried:
        return ""
    sizes, fitting = (", ".join(f"{one:g}" for one in noises) for noises in (tried, holds))
    return (
        f"Of the sizes tried ({sizes}), all four statements on significance hold with "
        f"{fitting or 'none'}. This one was looked for, so it may explain the difference, but "
        "confirms nothing."
    )


# ------------------------------------------------------------------------------------- Example 3


def _copies(runs: Runs) -> list[Claim]:
    """Return what is said of equal inputs, with means as printed and with different ones."""
    farthest = [
        max(abs(terms["cmi"]["bits"]) for terms in run["terms"].values())
        for run in runs.terms("3*")
    ]
    return [
        is_above(
            "Example 3 as printed: information shared",
            "Perfectly correlated inputs share information about the class.",
            runs.bits("3", "mixed", "joint"),
            NONE,
            measured=f"I(X1,X2;Y) of labels as they are less {NONE:g} for chance, bit",
            remark="With both class means at 0, as printed, the classes do not differ, and there "
            "is nothing to tell. The printed means must be a slip: with means (-1, -1) and (1, 1), "
            "as in Examples 1 and 2, the paper's result appears.",
        ),
        is_at_least(
            "Example 3 (means apart): purely redundant",
            "Of perfectly correlated inputs all information is shared, none unique or synergistic.",
            runs.share("3*", "shared", "width"),
            99.9,
            measured="share of shared information in I(X1,X2;Y), %",
        ),
        is_at_most(
            "Example 3 (means apart): CMI is zero",
            "X1 tells nothing if its equal X2 is known.",
            farthest,
            1e-6,
            measured="largest distance of I(X1;Y|X2) from 0 by any estimator, bit",
        ),
    ]


# --------------------------------------------------------------------------------- Examples 4, 5


def _correlated(runs: Runs, binning: str) -> list[Claim]:
    """Return what is said of the atoms of correlated inputs."""
    shared = {example: runs.atom(example, "shared", binning) for example in ("1", "2", "4", "5")}
    least_synergy = _least(*(runs.atom(example, "synergy", binning) for example in ("4", "5")))
    most_shared = _largest(shared["4"], shared["5"])
    return [
        *(
            is_at_least(
                f"Example {example} mostly unique X1",
                "Most is told by X1 alone.",
                runs.share(example, "unique1", binning),
                50.0,
                measured="share of unique X1 in I(X1,X2;Y), %",
            )
            for example in ("4", "5")
        ),
        is_above(
            "Examples 4 and 5: little redundancy, some synergy",
            "Though correlated, the inputs share little and have some synergy.",
            _less(least_synergy, most_shared),
            0.0,
            measured="smaller synergy of both examples less larger shared information, bit",
        ),
        is_at_most(
            "Examples 4 and 5: hardly anything shared",
            "Though correlated, the inputs share little.",
            most_shared,
            NONE,
            measured="larger shared information of both examples, bit",
        ),
        is_above(
            "Example 4 less redundant than Examples 1 and 2, though correlated",
            "Inputs of Example 4 share less than those of Examples 1 and 2.",
            _less(_least(shared["1"], shared["2"]), shared["4"]),
            0.0,
            measured="smaller shared information of Examples 1 and 2 less that of Example 4, bit",
        ),
    ]


def _correlations(runs: Runs) -> list[Claim]:
    """Decide whether Example 4 is the more correlated one, over all samples and within classes."""
    found = []
    for key, name in (("correlation", ""), ("within", " (within a class)")):
        fourth, *others = (
            [abs(run[key]) for run in runs.terms(example)] for example in ("4", "1", "2")
        )
        found.append(
            is_above(
                f"Example 4 more correlated than Examples 1 and 2{name}",
                "The inputs of Example 4 correlate more than those of Examples 1 and 2.",
                _less(fourth, _largest(*others)),
                0.0,
                measured="absolute correlation in Example 4 less the larger one of Examples 1, 2",
                remark="" if name else _say_correlations(runs),
            )
        )
    return found


def _say_correlations(runs: Runs) -> str:
    if not all(runs.terms(example) for example in ("1", "2", "4")):
        return ""
    said = [
        f"{estimate([run['correlation'] for run in runs.terms(example)]).mean:.2f} in Example "
        f"{example}"
        for example in ("1", "2", "4")
    ]
    return (
        f"Over all samples the inputs correlate at {', '.join(said)}: the distance of the means "
        "counts as correlation, too. The next claim is for correlation within a class."
    )
