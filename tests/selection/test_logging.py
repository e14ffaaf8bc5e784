"""Logging: nothing is printed unless it is configured, and then what matters."""

from __future__ import annotations

import logging
import os
import subprocess
import sys

import pytest
from systems import gates, numbers, quick

FIRST = """
import numpy as np
from pidselect import PIDSelector
X = np.random.default_rng(0).integers(0, 2, (60, 3))
PIDSelector(estimator="discrete", n_permutations=19, lookahead=1).fit(X, X[:, 0] | X[:, 1])
"""

LATER = """
import numpy as np
from pidselect import PIDSelector, stability
X = np.random.default_rng(0).normal(size=(120, 4))
y = X[:, 0] + X[:, 1]
selector = PIDSelector(random_state=0, n_jobs=2).fit(X, y)
selector.transform(X)
selector.explain(X, y)
stability(selector, X, y, 2, random_state=0)
"""


@pytest.mark.parametrize("script", [FIRST, LATER], ids=["compiles", "compiled before"])
def test_nothing_is_printed(tmp_path, script):
    """By default, also where kernels are compiled."""
    environment = {"NUMBA_CACHE_DIR": str(tmp_path)} if script == FIRST else {}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=300,  # against hanging; the first run compiles
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_information(caplog):
    with caplog.at_level(logging.INFO, logger="pidselect"):
        quick().fit(*numbers())
    (line,) = [one for one in caplog.messages if not one.startswith("Compiling")]
    assert line.startswith("Selected 2 of 4 columns by 100 rows in ")
    assert line.endswith((" s: x0 and x1", " s: x1 and x0"))


@pytest.mark.filterwarnings("ignore:No feature was selected")
def test_details(caplog):
    X, y = gates()
    with caplog.at_level(logging.DEBUG, logger="pidselect"):
        selector = quick().fit(X[:, 3:], y)
    assert caplog.messages[-1].endswith(": none")
    assert str(selector.selection_.steps[0]) in caplog.messages
