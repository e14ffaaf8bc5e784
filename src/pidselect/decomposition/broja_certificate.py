"""The certificate of BROJA: bounds of the optimum from any potentials and any distribution."""

from __future__ import annotations

import numpy as np

from pidselect.decomposition.broja_newton import INLINED, KERNEL
from pidselect.jit import njit


@njit(**INLINED)
def certify(first, second, left, right, joint, lack_first, lack_second):
    """Bound min -H(T | X1, X2) from below by dual potentials and from above by a distribution.

    Neither needs to be feasible: the potentials r are shifted until no constraint is violated, and
    the joint distribution (overwritten) is rounded onto the marginals `first` (T, A) and `second`
    (T, B). In nats; infinite where the input is not finite. The last two arguments are buffers of
    sizes A and B.
    """
    lower = _lower(first, second, left, right)
    _round(first, second, joint, lack_first, lack_second)
    return lower, _upper(joint)


@njit(**KERNEL)
def _lower(first, second, left, right):
    """Return <p(t,a), l> + <p(t,b), r>, r shifted down to where every log sum exp is <= 0."""
    value = 0.0
    for t in range(first.shape[0]):
        for a in range(first.shape[1]):
            if first[t, a] > 0.0:
                value += first[t, a] * left[t, a]
    for b in range(second.shape[1]):
        worst = -np.inf
        for a in range(first.shape[1]):
            peak = -np.inf
            for t in range(first.shape[0]):
                if first[t, a] > 0.0 and second[t, b] > 0.0:
                    peak = max(peak, left[t, a] + right[t, b])
            if peak > -np.inf:
                total = 0.0
                for t in range(first.shape[0]):
                    if first[t, a] > 0.0 and second[t, b] > 0.0:
                        total += np.exp(left[t, a] + right[t, b] - peak)
                worst = max(worst, peak + np.log(total))
        for t in range(first.shape[0]):
            if second[t, b] > 0.0:
                value += second[t, b] * (right[t, b] - worst)
    return value if np.isfinite(value) else -np.inf


@njit(**KERNEL)
def _round(first, second, joint, lack_first, lack_second):
    """Round the joint distribution onto the marginals: scale down, then add what is missing.

    After Altschuler, Weed and Rigollet, Near-linear time approximation algorithms for optimal
    transport via Sinkhorn iteration (2017). The last two arguments are buffers.
    """
    n_targets, n_first, n_second = joint.shape
    for t in range(n_targets):
        for a in range(n_first):
            lack_first[a] = first[t, a]
            row = joint[t, a]
            total = 0.0
            for b in range(n_second):
                if not (row[b] > 0.0 and second[t, b] > 0.0 and row[b] < np.inf):
                    row[b] = 0.0
                total += row[b]
            factor = first[t, a] / total if total > first[t, a] else 1.0
            for b in range(n_second):
                row[b] *= factor
        for b in range(n_second):
            lack_second[b] = second[t, b]
            total = 0.0
            for a in range(n_first):
                total += joint[t, a, b]
            if total > second[t, b]:
                factor = second[t, b] / total
                for a in range(n_first):
                    joint[t, a, b] *= factor
            for a in range(n_first):
                lack_first[a] -= joint[t, a, b]
                lack_second[b] -= joint[t, a, b]
        missing = 0.0
        for a in range(n_first):
            lack_first[a] = max(lack_first[a], 0.0)
            missing += lack_first[a]
        if missing > 0.0:
            for a in range(n_first):
                for b in range(n_second):
                    joint[t, a, b] += lack_first[a] * max(lack_second[b], 0.0) / missing


@njit(**KERNEL)
def _upper(joint):
    """Return sum q(t,a,b) log q(t | a,b)."""
    n_targets, n_first, n_second = joint.shape
    value = 0.0
    for a in range(n_first):
        for b in range(n_second):
            total = 0.0
            for t in range(n_targets):
                total += joint[t, a, b]
            for t in range(n_targets):
                if joint[t, a, b] > 0.0:
                    value += joint[t, a, b] * np.log(joint[t, a, b] / total)
    return value
