"""What the paper says of the importances that regressions give in Friedman's models."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from reproduction.agreement import Claim, all_of
from reproduction.friedman.model import (
    ALWAYS,
    METHODS,
    NEGLIGIBLE,
    ROUGHLY,
    SAME,
    Model,
    about,
    above,
    alike,
    at_least,
    at_most,
    floats,
)


def importance_claims(first: Model, second: Model, third: Model) -> list[Claim]:
    """Judge what is said of importances."""
    return [
        *_in_first(first),
        *_in_second(second),
        *_in_third(third),
        *(_linear_methods_agree(model) for model in (first, second, third)),
    ]


PER_UNIT = (
    "Coefficients are for one unit of each column, as the paper seems to take them, and X1, X2 and "
    "X4 have wide ranges. For one standard deviation of each column, X2 reaches 0.87 of the "
    "largest in model II, and X1 and X2 reach 0.6 of it in model III (100 runs)."
)

ON_TRAINING = (
    "On the samples that the forest was grown on. It partly knows these by heart, by any column. "
    "On samples kept aside X1 and X2 have 0.29 of the largest importance, X4 and nuisance columns "
    "none (100 runs)."
)


def _linear_methods_agree(model: Model) -> Claim:
    tables = [model.importances(method, model.names) for method in ("lars", "lasso", "svr")]
    lowest = [
        float(min(np.corrcoef(lars, other)[0, 1] for other in others))
        for lars, *others in zip(*tables, strict=True)
    ]
    return all_of(
        f"{model.roman}: linear methods agree",
        "Lasso and support vector regression do not differ systematically from LARS.",
        at_least(lowest, 0.9, "correlation of LARS's importances with theirs, the lower one"),
    )


def _clearly_lower(
    model: Model, by: str, lower: Sequence[str], higher: Sequence[str], measured: str
) -> Claim:
    """Decide whether the lowest of some importances lies above the highest of others."""
    lowest = floats(model.importances(by, higher).min(axis=1))
    return above(lowest, model.highest(by, lower), measured)


def _in_first(model: Model) -> list[Claim]:
    groups = (("X4",), ("X1", "X2"), ("X3", "X5"))
    noise = model.importance("lars", *model.nuisance)
    return [
        all_of(
            "I: nuisance of low importance",
            "LARS and forest give nuisance columns very low importance.",
            *(
                at_most(model.importance(by, *model.nuisance), NEGLIGIBLE, f"mean of Z by {method}")
                for by, method in METHODS.items()
            ),
        ),
        all_of(
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
        all_of(
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
        all_of(
            "I: LARS blind to X3",
            "LARS gives X3 no more importance than nuisance columns.",
            about(
                floats(np.subtract(model.importance("lars", "X3"), noise)),
                0.0,
                SAME,
                "importance of X3 less mean of Z",
            ),
        ),
        all_of(
            "I: forest sees X3 a little",
            "The forest gives X3 a small importance that is not negligible.",
            above(
                model.importance("forest", "X3"),
                model.importance("forest", *model.nuisance),
                "importance of X3 less mean of Z",
            ),
            at_most(model.importance("forest", "X3"), 0.5, "importance of X3"),
            remark="About a tenth of the largest; nuisance columns have none.",
        ),
        all_of(
            "I: importances low where MI misses",
            "As the MI criterion does, both rate X3 and X5 lowest of the inputs.",
            *(
                _clearly_lower(
                    model,
                    by,
                    ["X3", "X5"],
                    ["X1", "X2", "X4"],
                    f"lowest of X1, X2, X4 less highest of X3, X5 by {method}",
                )
                for by, method in METHODS.items()
            ),
        ),
    ]


def _in_second(model: Model) -> list[Claim]:
    nuisance = model.importance("forest", *model.nuisance)
    return [
        all_of(
            "II: forest importance X2 and X3",
            "The forest finds X2 and X3 important and all other columns negligible.",
            at_most(model.highest("forest", model.but("X2", "X3")), NEGLIGIBLE, "highest other"),
            at_least(model.importance("forest", "X2"), 0.5, "importance of X2"),
            at_least(model.importance("forest", "X3"), 0.5, "importance of X3"),
        ),
        all_of(
            "II: LARS importance X3 only",
            "LARS finds X3 important and nothing else.",
            at_most(model.highest("lars", model.but("X3")), NEGLIGIBLE, "highest other"),
            remark=PER_UNIT,
        ),
        all_of(
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


def _in_third(model: Model) -> list[Claim]:
    wide, others = ["X1", "X2", "X4"], ["X4", *model.nuisance]
    grown = "forest-training"
    return [
        all_of(
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
        all_of(
            "III: forest gives X1, X2 half",
            "The forest gives X1 and X2 about half of the highest importance.",
            about(model.importance(grown, "X1", "X2"), 0.5, ROUGHLY, "mean of X1 and X2"),
            remark=ON_TRAINING,
        ),
        all_of(
            "III: forest gives X4 and Z a third",
            "The forest gives X4 and nuisance columns about a third of the highest importance.",
            about(model.importance(grown, *others), 1 / 3, ROUGHLY, "mean of X4 and Z"),
            remark=ON_TRAINING,
        ),
        all_of(
            "III: forest gives X4 and Z the same",
            "The forest gives X4 and nuisance columns the same importance.",
            alike(model.importances(grown, others), "highest less lowest mean of X4 and Z"),
        ),
        all_of(
            "III: LARS gives X1, X2, X4 about zero",
            "LARS gives X1, X2 and X4 coefficients close to zero in all runs.",
            at_most(model.highest("lars", wide), NEGLIGIBLE, "highest of the three"),
            remark=PER_UNIT,
        ),
        all_of(
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
