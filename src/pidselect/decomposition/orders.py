r"""The joint information of a set by order: of single features, of pairs, and of larger tuples.

Models of increasing order predict the target: sums of functions of single features, of pairs, and
of any number of them. With the cross-validated log-loss L_k of the model of order k and the entropy
H of the target, H - L_k is the information of that order and below; what a higher order adds is
available only from features jointly. For classes the models are log-linear: the information of
order 1 is the least that is consistent with p(x) and all p(x_i, y). It splits synergy in the sense
of models: a sum has order 1, although its terms have synergistic information by PID.

References
----------
K. Reing, G. Ver Steeg, A. Galstyan, Discovering higher-order interactions through neural
information decomposition (2018), for the levels between pairwise and total dependence.
"""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
from threadpoolctl import threadpool_limits

from pidselect.data import Block, IntArray
from pidselect.decomposition.posterior import design

#: Names of the orders, and how many features may interact in their models.
ORDERS = {"single": 1, "pairs": 2, "higher": sys.maxsize}

N_FOLDS = 4

#: Smallest probability in a log-loss.
LEAST_PROBABILITY = 1e-3


def information_by_order(blocks: list[Block], states: IntArray, seed: int) -> dict[str, float]:
    """Return the shares of the joint information of each order, which sum to 1.

    `states` are those of the target. Without any information, or with a state of too few samples to
    cross-validate, there is no entry.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    counts = np.bincount(states)
    if len(counts) < 2 or counts.min() < N_FOLDS:
        return {}
    shares = counts / len(states)
    entropy = float(-(shares * np.log(shares)).sum())
    parts = [design(block) for block in blocks]
    feature_of = np.repeat(np.arange(len(parts)), [part.shape[1] for part in parts])
    matrix = np.hstack(parts)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed % 2**32)
    found, largest = [], 0.0
    for order in ORDERS.values():
        model = HistGradientBoostingClassifier(
            max_iter=60,
            max_leaf_nodes=8,
            l2_regularization=1.0,
            early_stopping=False,
            interaction_cst=[
                np.flatnonzero(np.isin(feature_of, some)).tolist()
                for some in combinations(range(len(parts)), min(order, len(parts)))
            ],
            random_state=seed % 2**32,
        )
        with threadpool_limits(1, "openmp"):  # small trees: threads would wait for each other
            predicted = cross_val_predict(model, matrix, states, cv=folds, method="predict_proba")
        own = np.maximum(predicted[np.arange(len(states)), states], LEAST_PROBABILITY)
        largest = max(largest, entropy + float(np.log(own).mean()))
        found.append(largest)
    if largest <= 0.0:
        return {}
    return dict(zip(ORDERS, (np.diff(found, prepend=0.0) / largest).tolist(), strict=True))
