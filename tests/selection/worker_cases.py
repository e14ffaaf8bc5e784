"""What holds for all workers: the same record, errors as they are, a clear end if one is killed."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
from mortal import PATIENCE, Failing, Mortal, deaths, within
from systems import PAPER, gates, numbers, quick, season


def mixed_table():
    columns, y = season()
    return np.array(list(zip(*columns.values(), strict=True)), dtype=object), y


#: Two steps without permutations.
TWO_ROUNDS = {"estimator": "gaussian", "n_permutations": 0, "max_features": 2}

#: All types of scores.
CASES = {
    "two rounds": (numbers, TWO_ROUNDS),
    "defaults": (numbers, {}),
    "sequential": (numbers, {"n_permutations": "auto", "estimator": "copula"}),
    "independent permutations": (numbers, PAPER),
    "groups of columns": (numbers, {"feature_groups": [[0, 3]], "estimator": "gaussian"}),
    "pairwise": (gates, {"criterion": "jmi", "estimator": "discrete"}),
    "pairs": (gates, {"lookahead": 2, "n_permutations": 199}),
    "mixed": (mixed_table, {}),
}


def same_record(context, names=CASES, seconds=PATIENCE):
    """The same to the bit as without workers."""
    for name in names:
        system, settings = CASES[name]
        data = system()
        expected = quick(n_jobs=1, **settings).fit(*data).selection_

        def fit(data=data, settings=settings):
            with context():
                return quick(**settings).fit(*data).selection_

        assert within(fit, seconds) == expected, name


def errors_pass(context):
    """An error of a task is raised as it is, and the work is not done again."""

    def fit():
        with context():
            quick(estimator=Failing()).fit(*numbers())

    with pytest.raises(ValueError, match=r"^no value for x\d$"):
        within(fit)


def survives_a_death(context, folder):
    """One worker is killed in the middle of a fit; the record is the same."""
    data = numbers()
    expected = quick(estimator=Mortal(str(folder), os.getpid(), 0)).fit(*data).selection_

    def fit():
        with context():
            return quick(estimator=Mortal(str(folder), os.getpid(), 1)).fit(*data).selection_

    found = within(fit)
    assert deaths(folder) == 1
    settings = replace(found.settings, estimator=expected.settings.estimator)
    assert replace(found, settings=settings) == expected


def ends_clearly(context, folder, n_lives, seconds=PATIENCE, **settings):
    """Processes that are given the task are killed: one error says what happened."""

    def fit():
        with context():
            mortal = Mortal(str(folder), os.getpid(), n_lives)
            quick(**settings | {"estimator": mortal}).fit(*numbers())

    with pytest.raises(RuntimeError, match=r"process.*max_samples.*checkpoint") as caught:
        within(fit, seconds)
    assert caught.value.__cause__ is not None
    assert deaths(folder) >= 1
