"""A made-up experiment: coins, tossed. Known to other processes by its module's name."""

from __future__ import annotations

import numpy as np

from reproduction.agreement import Comparison, cell, is_above
from reproduction.experiment import Experiment, Findings, Note, Outcome, Part, Results
from reproduction.figures import Figure, Node, Panel, Series


def toss(seed: int, *, coin: str) -> Outcome:
    rng = np.random.default_rng([seed, len(coin)])
    return {"heads": int(rng.binomial(100, 0.5 if coin == "fair" else 0.8))}


def throw(seed: int, *, device: str) -> Outcome:
    return {"device": device}


def fail(seed: int, *, coin: str) -> Outcome:
    raise ValueError(f"{coin} rolled under the table")


def no_number(seed: int, *, coin: str) -> Outcome:
    return {"heads": float("nan")}


def report(results: Results) -> Findings:
    heads = {
        coin: [float(run["heads"]) for run in results.of("toss", coin=coin)]
        for coin in ("fair", "bent")
    }
    cells = [cell(coin, "heads", heads[coin], paper=50.0) for coin in heads]
    bent = is_above(
        "bent is biased", "The bent coin shows heads more often.", heads["bent"], heads["fair"],
        measured="difference",
    )  # fmt: skip
    means = [float(np.mean(heads[coin])) if heads[coin] else float("nan") for coin in heads]
    bars = Panel("Heads", "bars", [Series("heads", "right", list(heads), means)], y_label="%")
    lattice = Panel("Two", "lattice", nodes=[Node("{1}", 0.0, 0.0, 2)])
    figure = Figure("heads", "Heads <b>", "Mean of the runs.", [bars, lattice])
    return Findings([Comparison("heads", "Heads", "In percent.", cells)], [bent], [figure])


COINS = [{"coin": "fair"}, {"coin": "bent"}]
TOSS = Part("toss", toss, COINS, runs=25, quick_points=COINS[:1], seconds=0.1)
THROW = Part("throw", throw, runs=10, quick_runs=0, on_gpu=True, cpu_runs=1)
NOTES = [Note("The coins are not described.", "Any coin.")]
EXPERIMENT = Experiment("coins", "Coins", "Nowhere", ["Tossed."], [TOSS, THROW], report, NOTES)
