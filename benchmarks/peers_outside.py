"""What ennemi and tigramite say of questions, and how long they take, line by line as JSON.

Run in an environment that has both, which this package needs for nothing else: the script imports
nothing of it. A line on standard input names a peer, a .npz file with a question, and the number of
neighbours; the answer is a line on standard output. Nothing is done while it waits.
"""

from __future__ import annotations

import json
import sys
import time
from importlib.metadata import version

import numpy as np


def ennemi(question, k):
    """Score all columns in one call, on one thread, the data as it comes."""
    from ennemi import estimate_mi

    given = question["given"] if question["given"].shape[1] else None
    columns = np.ascontiguousarray(question["few"].T)
    start = time.perf_counter()
    values = estimate_mi(
        question["target"], columns, k=k, cond=given, preprocess=False, max_threads=1
    )
    return time.perf_counter() - start, np.ravel(values)


def tigramite(question, k):
    """Score one column after the other: this is all that its estimator takes."""
    from tigramite.independence_tests.cmiknn import CMIknn

    test = CMIknn(knn=k, transform=False, workers=1)
    variables = np.array([0, 1] + [2] * question["given"].shape[1])
    arrays = [np.vstack([x, question["target"], question["given"].T]) for x in question["few"]]
    start = time.perf_counter()
    values = [test.get_dependence_measure(array, variables) for array in arrays]
    return time.perf_counter() - start, np.array(values)


PEERS = {"ennemi": ennemi, "tigramite": tigramite}
PACKAGES = ("ennemi", "tigramite", "numpy", "scipy", "numba")


def reply(request):
    """Return the answer to a request; whatever goes wrong is told in words."""
    if request["peer"] == "versions":
        return {name: version(name) for name in PACKAGES}
    try:
        with np.load(request["file"]) as question:
            seconds, values = PEERS[request["peer"]](dict(question), request["k"])
    except Exception as error:
        return {"trouble": f"{type(error).__name__}: {error}"}
    return {"seconds": seconds, "values": values.tolist()}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(reply(json.loads(line))), flush=True)
