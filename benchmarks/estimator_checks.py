"""The checks of scikit-learn on every registered combination of settings.

All criteria, estimators, surrogate schemes, statistics of backward elimination, sizes of look-ahead
and kinds of selection are combined. Combinations that exclude each other must be refused by a
ValueError when they are fitted; all others must pass every check::

    python benchmarks/estimator_checks.py

It takes about 20 minutes on one core. Results are kept in ``results/estimator_checks.json``, and
the next call goes on from there. A failed check sets the exit status.

Settings that change nothing are not combined: backward elimination follows only "cmi" and "mi", and
look-ahead "cmi". Levels and permutations are such that every test can be significant.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
from common import RESULTS, circumstances, now
from sklearn.utils.estimator_checks import check_estimator

from pidselect import PIDSelector
from pidselect.estimators import ESTIMATORS
from pidselect.selection import LinearCriterion
from pidselect.selection.backward import STATISTICS
from pidselect.selection.criteria import CRITERIA
from pidselect.selection.validation import to_criterion
from pidselect.significance import GIVEN_ONLY, SURROGATES

STORED = RESULTS / "estimator_checks.json"

#: Few permutations, and a level that they reach also where it is shared with look-ahead.
QUICK = {"alpha": 0.5, "n_permutations": 40, "random_state": 0}

#: Checks that are skipped, and why.
SKIPPED = {"check_array_api_input": "the selector reads arrays as NumPy does"}

Settings = dict[str, Any]


def all_settings() -> Iterator[Settings]:
    """Yield every registered combination."""
    dimensions = {
        "criterion": (*CRITERIA, LinearCriterion(beta=0.5, gamma=0.2)),
        "estimator": ("auto", *ESTIMATORS),
        "surrogates": (("global", "residual"), *SURROGATES),
        "backward": (*STATISTICS, None),
        "lookahead": ("auto", 1, 2, 3),
        "select": ("minimal", "relevant"),
    }
    for values in product(*dimensions.values()):
        settings = dict(zip(dimensions, values, strict=True))
        criterion = to_criterion(settings["criterion"])
        is_changed = criterion.prunes or settings["backward"] == "maximum"
        if is_changed and (criterion.is_cmi or settings["lookahead"] == "auto"):
            yield settings


def is_valid(settings: Settings) -> bool:
    """Return whether settings agree with each other, on discrete columns without groups of rows."""
    criterion, surrogates = to_criterion(settings["criterion"]), settings["surrogates"]
    if surrogates == "blocks":  # needs groups, which the checks do not pass
        return False
    if settings["criterion"] == "disr" and settings["estimator"] not in ("auto", "discrete"):
        return False
    return criterion.takes_portfolio or surrogates not in GIVEN_ONLY


def refusal(settings: Settings) -> str | None:
    """Return the error with which a fit refuses settings; None if it does not."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            PIDSelector(**QUICK, **settings).fit(X, X[:, 0] | X[:, 1])
        except ValueError as error:
            return str(error)
    return None


def check(
    settings: Settings, expected: dict[str, str] | None = None
) -> tuple[Counter[str], list[str]]:
    """Run all checks; return how many passed or were skipped, and what failed unexpectedly.

    `expected` are checks that fail for a reason of their own.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(
            PIDSelector(**QUICK, **settings),
            on_fail=None,
            on_skip=None,
            expected_failed_checks=expected,
        )
    failed = [
        f"{one['check_name']}: {one['exception']}"
        for one in results
        if one["status"] == "failed"
        or (one["status"] == "skipped" and one["check_name"] not in SKIPPED)
    ]
    return Counter(one["status"] for one in results), failed


def covering(settings: Sequence[Settings]) -> list[Settings]:
    """Return a few of some settings with every pair of values that occurs in any of them.

    Criteria of a family, which share their implementation, count as one, but each of them occurs.
    """

    def pairs(one: Settings) -> set[tuple[Any, ...]]:
        family = "pairwise" if not to_criterion(one["criterion"]).prunes else one["criterion"]
        items = [(name, str(value)) for name, value in {**one, "criterion": family}.items()]
        return {("criterion", str(one["criterion"])), *combinations(items, 2)}

    of_each = [pairs(one) for one in settings]
    missing = set().union(*of_each)
    chosen = []
    while missing:
        place = max(range(len(settings)), key=lambda i: len(of_each[i] & missing))
        chosen.append(settings[place])
        missing -= of_each[place]
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1e9, help="before it ends")
    parser.add_argument("--out", type=Path, default=STORED)
    options = parser.parse_args()
    known, start = list(all_settings()), time.monotonic()
    random.Random(0).shuffle(known)  # what is done before an end is a sample of all
    stored = json.loads(options.out.read_text()) if options.out.exists() else {"n_done": 0}
    stored |= {"n_combinations": len(known), "date": now(), "environment": circumstances()}
    counts, refused = Counter(stored.get("counts", {})), Counter(stored.get("refused", {}))
    for settings in known[stored["n_done"] :]:
        if time.monotonic() - start > options.seconds:
            break
        reason = refusal(settings)
        if is_valid(settings) == bool(reason):
            stored.setdefault("failed", {})[str(settings)] = [f"refused: {reason}"]
        if reason:
            counts["refused"] += 1
            refused[reason.partition(":")[0]] += 1
        else:
            found, failed = check(settings)
            counts.update({"valid": 1, **found})
            if failed:
                stored.setdefault("failed", {})[str(settings)] = failed
                print(settings, failed, flush=True)
        stored["n_done"] += 1
    stored |= {"counts": dict(counts), "refused": dict(refused)}
    options.out.write_text(json.dumps(stored, indent=2) + "\n")
    print(f"{stored['n_done']} of {len(known)} combinations: {stored['counts']}")
    sys.exit(bool(stored.get("failed")))


if __name__ == "__main__":
    main()
