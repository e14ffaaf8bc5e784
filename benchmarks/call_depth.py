"""Count the frames and files of pidselect between `fit` and the kernels.

A profile hook looks at the stack whenever a function of an estimator is entered that calls a
compiled kernel: frames of pidselect from `PIDSelector.fit` on are counted, those of other libraries
are not.

    python benchmarks/call_depth.py
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numba.core.dispatcher import Dispatcher

import pidselect
from pidselect import PIDSelector, datasets

ROOT = Path(pidselect.__file__).parent

PAPER = {"estimator": "ksg", "surrogates": "global", "shared_permutations": False}

#: Settings by name.
CASES = {"defaults": {}, "the paper's settings": PAPER, "discrete": {"estimator": "discrete"}}


def own_frames(frame):
    """Return file and function of the frames of pidselect, from `fit` on."""
    found = []
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(ROOT):
            found.append((str(path.relative_to(ROOT)), frame.f_code.co_qualname))
        frame = frame.f_back
    names = [function for _, function in found]
    return found[names.index("PIDSelector.fit") :: -1] if "PIDSelector.fit" in names else []


#: The methods of scorers, below which kernels are called.
SCORERS = ("score", "score_together")


def calls_kernel(frame):
    """Return whether the function of a frame names a compiled kernel."""
    names = (frame.f_globals.get(name) for name in frame.f_code.co_names)
    return any(isinstance(value, Dispatcher) for value in names)


def measure(settings):
    """Return the deepest stack above a kernel, and all files of pidselect that a fit enters."""
    data = datasets.toy(random_state=1)
    X, y = np.asarray(data.X), np.asarray(data.y)
    if settings.get("estimator") == "discrete":
        X, y = (X > 0).astype(int), (y > np.median(y)).astype(int)
    selector = PIDSelector(n_permutations=19, random_state=0, **settings)
    selector.fit(X, y)  # compiles
    deepest, files = [], set()

    def profile(frame, event, function):
        path = Path(frame.f_code.co_filename)
        if event != "call" or not path.is_relative_to(ROOT):
            return
        nonlocal deepest
        file = path.relative_to(ROOT)
        files.add(str(file))
        if file.parts[0] == "estimators" and frame.f_code.co_name in SCORERS:
            deepest = max(deepest, own_frames(frame), key=len)
        elif file.parts[0] == "estimators" and calls_kernel(frame):
            stack = own_frames(frame)
            if any(function.split(".")[-1] in SCORERS for _, function in stack[-4:]):
                deepest = max(deepest, stack, key=len)

    sys.setprofile(profile)
    try:
        selector.fit(X, y)
    finally:
        sys.setprofile(None)
    return deepest, files


if __name__ == "__main__":
    for name, settings in CASES.items():
        deepest, files = measure(settings)
        print(f"{name}: {len(deepest)} frames, {len(files)} files")
        for file, function in deepest:
            print(f"    {file}: {function}")
