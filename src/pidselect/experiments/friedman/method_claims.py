"""What the paper says of regressions and forward selections on Friedman's models."""

from __future__ import annotations

from itertools import pairwise, takewhile

import numpy as np

from pidselect.experiments.agreement import Claim
from pidselect.experiments.friedman.model import (
    ALWAYS,
    CRITERIA,
    METHODS,
    NEGLIGIBLE,
    ROUGHLY,
    ROUNDED,
    SAME,
    Model,
    about,
    above,
    alike,
    at_least,
    at_most,
    claim_of,
    equally_often,
    floats,
    how_often,
    not_above,
    percent,
)


def method_claims(first: Model, second: Model, third: Model) -> list[Claim]:
    """Judge what is said of importances and of forward selections."""
    return [
        *_of_importances_in_first(first),
        *_of_importances_in_second(second),
        *_of_importances_in_third(third),
        *(_linear_methods_agree(model) for model in (first, second, third)),
        *_of_forward_in_first(first),
        *_of_forward_in_second(second),
        *_of_forward_in_third(third),
        *(claim for model in (second, third) for claim in _of_forward_in_sum(model)),
    ]


# ------------------------------------------------------------------------------- the importances

PER_UNIT = (
    "Coefficients are for one unit of each column, as the paper evidently takes them, and X1, X2 "
    "and X4 have wide ranges. For one standard deviation of each column the importance of X2 is "
    "well above half of the largest in models II and III, and that of X1 in model III, too."
)

ON_TRAINING = (
    "On the samples that the forest was grown on. It partly knows these by heart, by any column; "
    "on samples kept aside a nuisance column is worth nothing."
)


def _linear_methods_agree(model: Model) -> Claim:
    tables = [model.importances(method, model.names) for method in ("lars", "lasso", "svr")]
    alike = [
        float(min(np.corrcoef(lars, other)[0, 1] for other in others))
        for lars, *others in zip(*tables, strict=True)
    ]
    return claim_of(
        f"{model.roman}: linear methods agree",
        "Lasso and support vector regression do not differ systematically from LARS.",
        at_least(alike, 0.9, "correlation of LARS's importances with theirs, the lower one"),
    )


def _of_importances_in_first(model: Model) -> list[Claim]:
    groups = (("X4",), ("X1", "X2"), ("X3", "X5"))
    noise = model.importance("lars", *model.nuisance)
    return [
        claim_of(
            "I: nuisance of low importance",
            "LARS and forest give nuisance columns very low importance.",
            *(
                at_most(model.importance(by, *model.nuisance), NEGLIGIBLE, f"mean of Z by {method}")
                for by, method in METHODS.items()
            ),
        ),
        claim_of(
            "I: X4 first, then X1 and X2, then X5 and X3",
            "Both rank X4 first, then X1 and X2, then X5 and X3.",
            *(
                above(
                    model.importance(by, *higher),
                    model.importance(by, *lower),
                    f"{' and '.join(higher)} less {' and '.join(lower)} by {method}",
                )
                for by, method in METHODS.items()
                for higher, lower in pairwise(groups)
            ),
        ),
        claim_of(
            "I: X4 always highest",
            "With both, X4 always has the highest importance.",
            *(
                at_least(
                    [100.0 * (value == 1.0) for value in model.importance(by, "X4")],
                    ALWAYS,
                    f"runs with X4 highest by {method}, %",
                )
                for by, method in METHODS.items()
            ),
        ),
        claim_of(
            "I: LARS blind to X3",
            "LARS gives X3 no more importance than nuisance columns.",
            about(
                floats(np.subtract(model.importance("lars", "X3"), noise)),
                0.0,
                SAME,
                "importance of X3 less mean of Z",
            ),
        ),
        claim_of(
            "I: forest sees X3 a little",
            "The forest gives X3 a small importance that is not negligible.",
            above(
                model.importance("forest", "X3"),
                model.importance("forest", *model.nuisance),
                "importance of X3 less mean of Z",
            ),
            at_most(model.importance("forest", "X3"), 0.5, "importance of X3"),
        ),
    ]


def _of_importances_in_second(model: Model) -> list[Claim]:
    nuisance = model.importance("forest", *model.nuisance)
    return [
        claim_of(
            "II: forest importance X2 and X3",
            "The forest finds X2 and X3 important and all other columns negligible.",
            at_most(model.highest("forest", model.but("X2", "X3")), NEGLIGIBLE, "highest other"),
            at_least(model.importance("forest", "X2"), 0.5, "importance of X2"),
            at_least(model.importance("forest", "X3"), 0.5, "importance of X3"),
        ),
        claim_of(
            "II: LARS importance X3 only",
            "LARS finds X3 important and nothing else.",
            at_most(model.highest("lars", model.but("X3")), NEGLIGIBLE, "highest other"),
            remark=PER_UNIT,
        ),
        claim_of(
            "II: forest gives X1 as little as nuisance",
            "The forest gives X1 as little importance as nuisance columns.",
            about(
                floats(np.subtract(model.importance("forest", "X1"), nuisance)),
                0.0,
                SAME,
                "importance of X1 less mean of Z",
            ),
        ),
    ]


def _of_importances_in_third(model: Model) -> list[Claim]:
    wide, others = ["X1", "X2", "X4"], ["X4", *model.nuisance]
    grown = "forest-training"
    return [
        claim_of(
            "III: highest importance X3",
            "Both give X3 the highest importance.",
            *(
                above(
                    model.importance(by, "X3"),
                    model.importance(by, name),
                    f"X3 less {name} by {METHODS[by.removesuffix('-training')]}",
                )
                for by in ("lars", grown)
                for name in model.but("X3")
            ),
        ),
        claim_of(
            "III: forest gives X1, X2 half",
            "The forest gives X1 and X2 about half of the highest importance.",
            about(model.importance(grown, "X1", "X2"), 0.5, ROUGHLY, "mean of X1 and X2"),
            remark=ON_TRAINING,
        ),
        claim_of(
            "III: forest gives X4 and Z a third",
            "The forest gives X4 and nuisance columns about a third of the highest importance.",
            about(model.importance(grown, *others), 1 / 3, ROUGHLY, "mean of X4 and Z"),
            remark=ON_TRAINING,
        ),
        claim_of(
            "III: forest gives X4 and Z the same",
            "The forest gives X4 and nuisance columns the same importance.",
            alike(model.importances(grown, others), "highest less lowest mean of X4 and Z"),
        ),
        claim_of(
            "III: LARS gives X1, X2, X4 about zero",
            "LARS gives X1, X2 and X4 coefficients close to zero in all runs.",
            at_most(model.highest("lars", wide), NEGLIGIBLE, "highest of the three"),
            remark=PER_UNIT,
        ),
        claim_of(
            "III: LARS gives Z a small finite importance",
            "LARS gives nuisance columns a small importance, and more than X1, X2 and X4.",
            above(
                model.importance("lars", *model.nuisance),
                model.importance("lars", *wide),
                "mean of Z less mean of X1, X2, X4",
            ),
            remark="Chance coefficients: they are for one unit, which is all the range of Z.",
        ),
    ]


# --------------------------------------------------------------------------- forward selections


def _before_nuisance(selected: list[str]) -> list[str]:
    """Return what was taken before the first nuisance column."""
    return list(takewhile(lambda name: name.startswith("X"), selected))


def _of_forward_in_first(model: Model) -> list[Claim]:
    lars, forest = model.forward("lars"), model.forward("forest")
    pair = ["X1", "X2"]
    start = {
        by: how_often(
            model.forward(by),
            lambda selected: selected[0] == "X4" and sorted(selected[1:3]) == pair,
        )
        for by in METHODS
    }
    fourth = how_often(lars, lambda selected: selected[3] == "X5")
    return [
        claim_of(
            "I: forward LARS takes X4, X1/X2, X5",
            "LARS takes X4, then X1 and X2, then X5, in all cases.",
            at_least(start["lars"], ALWAYS, "runs with X4, then X1 and X2, %"),
            at_least(fourth, ALWAYS, "runs with X5 as fourth, %"),
        ),
        claim_of(
            "I: forward forest takes X4, X1/X2",
            "Forests take X4, then X1 and X2, in all cases.",
            at_least(start["forest"], ALWAYS, "runs with X4, then X1 and X2, %"),
        ),
        claim_of(
            "I: forward takes X1 and X2 in either order",
            "Both methods take X1 and X2 as second with equal probability.",
            *(
                about(
                    how_often(model.forward(by), lambda selected: selected[1] == "X1"),
                    50.0,
                    ROUNDED,
                    f"runs with X1 as second by {method}, %",
                )
                for by, method in METHODS.items()
            ),
        ),
        claim_of(
            "I: forward forest takes X5 in 60 %, X3 in 30 % as fourth",
            "As fourth, forests take X5 in about 60 % and X3 in about 30 % of the runs.",
            *(
                about(
                    percent([selected[3:4] for selected in forest], [name]),
                    share,
                    ROUNDED,
                    f"runs with {name} as fourth, %",
                )
                for name, share in (("X5", 60.0), ("X3", 30.0))
            ),
        ),
        claim_of(
            "I: forward forest finds all of X",
            "Among seven columns forests always take X1 to X5.",
            at_least(
                [100.0 * (share == 100.0) for share in percent(forest, model.relevant)],
                ALWAYS,
                "runs with all five, %",
            ),
        ),
        claim_of(
            "I: forward forest adds any nuisance",
            "What forests take beyond X1 to X5 is any nuisance column, with equal probability.",
            equally_often(forest, model.nuisance, "Z"),
        ),
        claim_of(
            "I: forward LARS takes X3 no more often than Z",
            "LARS takes X3 no more often than a nuisance column.",
            not_above(
                percent(lars, ["X3"]),
                percent(lars, model.nuisance),
                "runs with X3 less runs with a given Z, %",
            ),
        ),
        claim_of(
            "I: both take nuisance when more are asked for",
            "Asked for more columns than matter, both take nuisance columns.",
            *(
                at_least(
                    [100.0 * (share > 0) for share in percent(model.forward(by), model.nuisance)],
                    ALWAYS,
                    f"runs with nuisance by {method}, %",
                )
                for by, method in METHODS.items()
            ),
        ),
    ]


def _of_forward_in_second(model: Model) -> list[Claim]:
    lars, forest = model.forward("lars"), model.forward("forest")
    others = ["X4", *model.nuisance]
    return [
        claim_of(
            "II: forward forest always adds X1",
            "Forests always take X1 too, and before any nuisance column.",
            at_least(
                how_often(forest, lambda selected: "X1" in _before_nuisance(selected)),
                ALWAYS,
                "runs with X1 before any Z, %",
            ),
        ),
        claim_of(
            "II: forward LARS X3 then X2",
            "LARS always takes X3 first, and always X2 second.",
            at_least(
                how_often(lars, lambda selected: selected[:2] == ["X3", "X2"]),
                ALWAYS,
                "runs in this order, %",
            ),
        ),
        claim_of(
            "II: forward LARS then X1 more often than others",
            "Then LARS takes X1 more often than any other column, much as the MI criterion does.",
            above(
                percent(lars, ["X1"]), percent(lars, others), "runs with X1 less with another, %"
            ),
        ),
        claim_of(
            "II: forward LARS takes the others equally often",
            "LARS takes X4 and nuisance columns with equal probability.",
            equally_often(lars, others, "X4 and Z"),
        ),
        claim_of(
            "II: forest takes X4 like nuisance",
            "Forests take X4 with the same probability as nuisance columns.",
            equally_often(forest, others, "X4 and Z"),
        ),
    ]


def _of_forward_in_third(model: Model) -> list[Claim]:
    others = ["X4", *model.nuisance]
    return [
        claim_of(
            "III: forward takes X1, X2, X3 first",
            "Both methods take X1, X2 and X3 with higher probability than other columns.",
            *(
                above(
                    percent(model.forward(by), [name]),
                    percent(model.forward(by), others),
                    f"runs with {name} less with another by {method}, %",
                )
                for by, method in METHODS.items()
                for name in ("X1", "X2", "X3")
            ),
            remark="It holds for LARS. Fully grown trees, scikit-learn's default, learn the noise, "
            "which is large here, and what a column adds is lost in it. Six times as many trees "
            "changed nothing in four runs tried, trees of depth 3 took X1 and X3 in all of these "
            "and X2 in three: the paper's forests may have been shallow.",
        ),
        claim_of(
            "III: forward LARS takes X1 and X2 after X3",
            "LARS reliably takes X1 and X2 right after X3, unimportant as it finds them.",
            at_least(
                how_often(
                    model.forward("lars"),
                    lambda selected: selected[0] == "X3" and sorted(selected[1:3]) == ["X1", "X2"],
                ),
                90.0,
                "runs in this order, %",
            ),
            remark="So in four runs of five. In others X1 or X2 comes first, or X4 or a nuisance "
            "column third; but among the five columns X1, X2 and X3 are in nearly every run.",
        ),
        claim_of(
            "III: others equally likely",
            "Both take X4 and nuisance columns with roughly equal probability.",
            *(
                equally_often(model.forward(by), others, f"X4 and Z by {method}")
                for by, method in METHODS.items()
            ),
        ),
    ]


def _of_forward_in_sum(model: Model) -> list[Claim]:
    """Judge the summary: forward selection finds more, and takes more that is of no use."""
    ways = [(by, criterion) for by in METHODS for criterion in CRITERIA]
    return [
        claim_of(
            f"{model.roman}: three forward steps find more",
            "With few columns to take, forward selection finds more than CMI and MI do.",
            *(
                above(
                    percent(model.forward(by, 3), model.relevant),
                    model.found(criterion),
                    f"found by {METHODS[by]} less by {CRITERIA[criterion]}, %",
                )
                for by, criterion in ways
            ),
        ),
        claim_of(
            f"{model.roman}: five forward steps take more nuisance",
            "With more than three columns to take, it takes far more nuisance columns.",
            *(
                above(
                    percent(model.forward(by), model.nuisance),
                    model.false(criterion),
                    f"nuisance taken by {METHODS[by]} less by {CRITERIA[criterion]}, %",
                )
                for by, criterion in ways
            ),
        ),
    ]
