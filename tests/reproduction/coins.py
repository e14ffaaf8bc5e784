"""An experiment for tests: coins. Other processes import it by its name."""

from __future__ import annotations

import numpy as np

from reproduction.agreement import ABOVE
from reproduction.experiment import (
    Cell,
    Claim,
    Comparison,
    Condition,
    Experiment,
    Figure,
    Part,
    attempt,
    means,
    panel,
)


def toss(seed, *, coin):
    rng = np.random.default_rng([seed, len(coin)])
    return {"heads": int(rng.binomial(100, 0.5 if coin == "fair" else 0.8))}


def throw(seed, *, device):
    return {"device": device}


def fail(seed, *, coin):
    raise ValueError(f"{coin} is lost")


def no_number(seed, *, coin):
    return {"heads": float("nan")}


def heads(results, coin):
    return np.array([float(run["heads"]) for run in results.of("toss", coin=coin)])


NAMES = ("fair", "biased")
TOSS = Part("toss", toss, [{"coin": one} for one in NAMES], 25, [{"coin": "fair"}], seconds=0.1)
THROW = Part("throw", throw, runs=10, quick_runs=0, uses_device=True, cpu_runs=1)
EXPERIMENT = Experiment(
    "coins",
    "Coins",
    "Nowhere",
    ["Tossed."],
    [TOSS, THROW],
    [
        Comparison(
            "heads",
            lambda r: [Cell(one, "heads", attempt(heads, r, one), 50.0) for one in NAMES],
            "Heads",
            "In percent.",
        )
    ],
    [
        Claim(
            "biased",
            "The biased coin shows heads more often.",
            "",
            [Condition(ABOVE, "difference", lambda r: heads(r, "biased") - heads(r, "fair"))],
        ),
        Claim(
            "above 40",
            "Both coins show heads in more than 40 %.",
            "",
            [Condition(ABOVE, "heads - 40", lambda r: {one: heads(r, one) - 40 for one in NAMES})],
        ),
    ],
    [
        Figure(
            "heads",
            lambda r: [
                attempt(
                    lambda: panel(
                        "Heads",
                        "bars",
                        [means("heads", "right", NAMES, [heads(r, one) for one in NAMES])],
                    )
                )
            ],
            "Heads",
            "Means.",
        )
    ],
    [],
)
