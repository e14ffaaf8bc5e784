"""What the paper says of sequential forward selection by regressions in Friedman's models."""

from __future__ import annotations

from itertools import takewhile

from reproduction.agreement import Claim, all_of
from reproduction.friedman.model import (
    ALWAYS,
    CRITERIA,
    METHODS,
    ROUNDED,
    Model,
    about,
    above,
    at_least,
    equally_often,
    how_often,
    not_above,
    percent,
)


def forward_claims(first: Model, second: Model, third: Model) -> list[Claim]:
    """Judge what is said of forward selections."""
    return [
        *_in_first(first),
        *_in_second(second),
        *_in_third(third),
        *(claim for model in (second, third) for claim in _in_sum(model)),
    ]


def _before_nuisance(selected: list[str]) -> list[str]:
    """Return what was taken before the first nuisance column."""
    return list(takewhile(lambda name: name.startswith("X"), selected))


def _most_important_first(model: Model, by: str) -> list[float]:
    """Return 100 for runs that first take the three most important columns, and 0 for others."""
    return [
        100.0 * ({model.names[place] for place in values.argsort()[-3:]} == set(taken))
        for values, taken in zip(
            model.importances(by, model.names), model.forward(by, 3), strict=False
        )
    ]


def _in_first(model: Model) -> list[Claim]:
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
        all_of(
            "I: forward selection follows the importances",
            "Forward selection respects the importances of the same regression.",
            *(
                at_least(
                    _most_important_first(model, by),
                    ALWAYS,
                    f"runs in which the first three are the three most important to {method}, %",
                )
                for by, method in METHODS.items()
            ),
        ),
        all_of(
            "I: forward LARS takes X4, X1/X2, X5",
            "LARS takes X4, then X1 and X2, then X5, in all cases.",
            at_least(start["lars"], ALWAYS, "runs with X4, then X1 and X2, %"),
            at_least(fourth, ALWAYS, "runs with X5 as fourth, %"),
        ),
        all_of(
            "I: forward forest takes X4, X1/X2",
            "Forests take X4, then X1 and X2, in all cases.",
            at_least(start["forest"], ALWAYS, "runs with X4, then X1 and X2, %"),
        ),
        all_of(
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
        all_of(
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
        all_of(
            "I: forward forest finds all of X",
            "Among seven columns forests always take X1 to X5.",
            at_least(
                [100.0 * (share == 100.0) for share in percent(forest, model.relevant)],
                ALWAYS,
                "runs with all five, %",
            ),
        ),
        all_of(
            "I: forward forest adds any nuisance",
            "What forests take beyond X1 to X5 is any nuisance column, with equal probability.",
            equally_often(forest, model.nuisance, "Z"),
        ),
        all_of(
            "I: forward LARS takes X3 no more often than Z",
            "LARS takes X3 at random, no more often than a nuisance column.",
            not_above(
                percent(lars, ["X3"]),
                percent(lars, model.nuisance),
                "runs with X3 less runs with a given Z, %",
            ),
            equally_often(lars, ["X3", *model.nuisance], "X3 and Z"),
        ),
        all_of(
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


def _in_second(model: Model) -> list[Claim]:
    lars, forest = model.forward("lars"), model.forward("forest")
    others = ["X4", *model.nuisance]
    return [
        all_of(
            "II: forward forest always adds X1",
            "Forests always take X1 too, and before any nuisance column.",
            at_least(
                how_often(forest, lambda selected: "X1" in _before_nuisance(selected)),
                ALWAYS,
                "runs with X1 before any Z, %",
            ),
        ),
        all_of(
            "II: forward LARS X3 then X2",
            "LARS always takes X3 first, and always X2 second.",
            at_least(
                how_often(lars, lambda selected: selected[:2] == ["X3", "X2"]),
                ALWAYS,
                "runs in this order, %",
            ),
        ),
        all_of(
            "II: forward LARS then X1 more often than others",
            "Then LARS takes X1 more often than any other column, much as the MI criterion does.",
            above(
                percent(lars, ["X1"]), percent(lars, others), "runs with X1 less with another, %"
            ),
        ),
        all_of(
            "II: forward LARS takes the others equally often",
            "LARS takes X4 and nuisance columns with equal probability.",
            equally_often(lars, others, "X4 and Z"),
        ),
        all_of(
            "II: forest takes X4 like nuisance",
            "Forests take X4 with the same probability as nuisance columns.",
            equally_often(forest, others, "X4 and Z"),
        ),
    ]


def _in_third(model: Model) -> list[Claim]:
    others = ["X4", *model.nuisance]
    return [
        all_of(
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
            remark="It holds for LARS. In 20 runs the forest takes X3 in 17, X1 and X2 in 12 each, "
            "and each other column in 7 to 12: for X1 and X2 that is not beyond chance. Fully "
            "grown trees, scikit-learn's default, learn the noise, which is large here. With trees "
            "of depth 3 it is X3 in 20, X1 and X2 in 17 each, others in 4 to 10 of the same runs: "
            "the paper's forests may have been shallow.",
        ),
        all_of(
            "III: forward LARS takes X1 and X2 after X3",
            "LARS reliably takes X1 and X2 right after X3, unimportant as it finds them.",
            at_least(
                how_often(
                    model.forward("lars"),
                    lambda selected: selected[0] == "X3" and sorted(selected[1:3]) == ["X1", "X2"],
                ),
                ALWAYS,
                "runs in this order, %",
            ),
            remark="So in 81 of 100 runs. In 8, X1 or X2 comes before X3; in 11, X4 or a nuisance "
            "column comes before X1 or X2. Among the five columns taken are all three in 96 runs.",
        ),
        all_of(
            "III: others equally likely",
            "Both take X4 and nuisance columns with roughly equal probability.",
            *(
                equally_often(model.forward(by), others, f"X4 and Z by {method}")
                for by, method in METHODS.items()
            ),
        ),
    ]


def _in_sum(model: Model) -> list[Claim]:
    """Judge the summary: forward selection finds more, and takes more that is of no use."""
    ways = [(by, criterion) for by in METHODS for criterion in CRITERIA]
    return [
        all_of(
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
        all_of(
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
