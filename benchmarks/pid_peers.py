"""What dit says of given distributions and how long it takes, as JSON.

Run in an environment that has dit and ECOS, which this package needs for nothing else: the script
imports nothing of it. Arguments: the task, a .npz file of distributions, and the number of rounds.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import dit
import ecos
import numpy as np
from dit.algorithms.broja_cone import broja_cone_solve
from dit.pid import PID_WB

#: Asked of ECOS, so that the values are right to about 1e-9 bit.
TOLERANCES = {"abstol": 1e-9, "reltol": 1e-9, "feastol": 1e-9}


class Stopwatch:
    """A function that notes how long each of its calls takes."""

    def __init__(self, function):
        self.function, self.seconds = function, []

    def __call__(self, *arguments, **options):
        start = time.perf_counter()
        result = self.function(*arguments, **options)
        self.seconds.append(time.perf_counter() - start)
        return result


def broja(pmf, rounds):
    """Time dit's cone programme, and ECOS alone inside it."""
    distribution = to_dit(pmf)
    inside, whole = Stopwatch(ecos.solve), Stopwatch(broja_cone_solve)
    ecos.solve = inside
    for _ in range(rounds):
        answer = whole(distribution, [[0], [1]], [2], **TOLERANCES)[1]
    ecos.solve = inside.function
    return {
        "dit_seconds": min(whole.seconds),
        "ecos_seconds": min(inside.seconds),
        "unique": [float(answer["ui_source0"]), float(answer["ui_source1"])],
    }


def imin(pmf, rounds):
    """Time Williams and Beer's decomposition."""
    n_sources = pmf.ndim - 1
    sources, distribution = tuple((i,) for i in range(n_sources)), to_dit(pmf)
    whole = Stopwatch(lambda: atoms(PID_WB(distribution, sources, (n_sources,))))
    for _ in range(rounds):
        found = whole()
    return {"dit_seconds": min(whole.seconds), "atoms": found}


def atoms(decomposition):
    """Return pairs of an antichain, as bit masks of its members, and bits."""
    return [
        (
            sorted(sum(1 << source for source in member) for member in node),
            decomposition.get_pi(node),
        )
        for node in decomposition._lattice
    ]


def to_dit(pmf):
    return dit.Distribution(list(np.ndindex(pmf.shape)), pmf.ravel())


if __name__ == "__main__":
    task, file, rounds = sys.argv[1:]
    answers = [
        {"broja": broja, "imin": imin}[task](pmf, int(rounds)) for pmf in np.load(file).values()
    ]
    versions = {name: version(name) for name in ("dit", "ecos", "numpy")}
    print(json.dumps({"versions": versions, "answers": answers}))
