r"""The fraction of a feature's information that a set of others shares, by BROJA.

BROJA's shared and unique information of a feature f and a set R depend on the pairs (f, y) and
(R, y) alone, and R may be replaced by any sufficient statistic of it for y, such as the posterior
p(y | R). So R is compressed: trees estimate p(y | R) for the samples that they were not fitted to,
these posteriors are grouped into a few states T, and BROJA of (f, T, y) yields the fraction

.. math:: \rho = \mathrm{shared} / I(f; y)

of the feature's information that is shared. Bins of f and y, and states that lose information
about y, raise what appears as unique; ``benchmarks/explanation_errors.md`` reports
the errors.

References
----------
N. Bertschinger, J. Rauh, E. Olbrich, J. Jost, N. Ay, Quantifying unique information. Entropy 16,
2161 (2014), for the invariance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from pidselect.data import CLASS_LEVELS, Block, Column, FloatArray, IntArray
from pidselect.data.column import renumbered
from pidselect.decomposition.binning import is_binned, to_codes
from pidselect.decomposition.inference import correct_bias
from pidselect.decomposition.measures import MEASURES, Measure
from pidselect.decomposition.pmf import TooManyStatesError
from pidselect.decomposition.samples import DiscreteSample
from pidselect.estimators import NATS_PER_UNIT
from pidselect.estimators.discrete import target_entropy
from pidselect.significance.rng import DECOMPOSITION, permutations

#: Trees that estimate p(y | R), and states that their posteriors are grouped into. Forests,
#: boosting, nearest neighbours and logistic regression of splines had about the same errors.
N_TREES, N_STATES = 100, 8

#: Smallest share of the samples in a state, and fewest samples in a leaf of the trees.
STATE_SHARE, LEAF = 1 / 40, 5

#: Added to posteriors before their logarithms are compared.
SMOOTHING = 0.02

#: Permutations for the bias correction. Five times as many changed the root mean square errors of
#: corrected atoms by no more than 0.001 bit on six known systems.
N_CORRECTION_PERMUTATIONS = 10

#: Information in bins below which no fraction of it can be estimated, in bits.
LEAST_BITS = 0.002

#: Tables of more states are not counted.
MOST_CELLS = 10**7


@dataclass(frozen=True, eq=False)
class SharedFraction:
    """The fraction of I(f; y) that is shared with a set of others, for one target.

    With ``measure="auto"`` it is that of BROJA, with the set compressed to states of its posterior;
    any other measure counts the joint states of the set, and is not defined where they are many.
    """

    target: Block
    measure: str = "auto"
    bins: int = 5
    seed: int = 0

    @property
    def name(self) -> str:
        """The measure, and how the set is represented."""
        return "broja, posterior states" if self.measure == "auto" else f"{self.measure}, counted"

    @property
    def is_non_negative(self) -> bool:
        """Whether unique information is never negative."""
        return self._measure.is_nonnegative

    @property
    def _measure(self) -> Measure:
        return MEASURES["broja" if self.measure == "auto" else self.measure]

    @cached_property
    def max_bits(self) -> float:
        """The entropy of a discrete target in bits, else infinite."""
        entropy = target_entropy(self.target)
        return math.inf if entropy is None else entropy

    @cached_property
    def target_states(self) -> IntArray:
        """The states of the target: bins of numbers, and its most frequent labels."""
        return most_frequent(to_codes(self.target, self.bins, most_levels=CLASS_LEVELS))

    def states_of_feature(self, block: Block) -> IntArray:
        """Return bins or levels of a feature, or states of its posterior where these are many."""
        if not len(block):
            return np.zeros(self.target.n_samples, dtype=np.int64)
        codes = to_codes(block, self.bins, most_levels=CLASS_LEVELS)
        is_large = len(block) > 1 or int(codes.max()) >= CLASS_LEVELS
        return self.states_of_posterior(block) if is_large and self.measure == "auto" else codes

    def states_of_set(self, block: Block) -> IntArray:
        """Return the states that a set of others is represented by."""
        if not len(block) or self.measure != "auto":
            return self.states_of_feature(block)
        if not any(is_binned(column, CLASS_LEVELS) for column in block.columns):
            codes = block.codes()
            if int(codes.max()) < N_STATES:  # sufficient as they are
                return codes
        return self.states_of_posterior(block)

    def states_of_posterior(self, block: Block) -> IntArray:
        """Return states of p(y | block), estimated by trees from samples outside of their own."""
        from sklearn.ensemble import ExtraTreesClassifier
        from sklearn.tree import DecisionTreeRegressor

        y, n_samples = self.target_states, self.target.n_samples
        if y.max() == 0:
            return np.zeros(n_samples, dtype=np.int64)
        seed = self.seed % 2**32
        forest = ExtraTreesClassifier(
            N_TREES,
            criterion="log_loss",
            min_samples_leaf=LEAF,
            bootstrap=True,
            oob_score=True,
            random_state=seed,
        ).fit(design(block), y)
        posteriors = forest.oob_decision_function_
        # States are grouped without the target: if it chose them, noise would be informative.
        tree = DecisionTreeRegressor(
            max_leaf_nodes=N_STATES,
            min_samples_leaf=max(LEAF, int(STATE_SHARE * n_samples)),
            random_state=seed,
        ).fit(posteriors, np.log(posteriors + SMOOTHING))
        return renumbered(tree.apply(posteriors).astype(np.int64))

    def of(
        self,
        feature: IntArray,
        others: IntArray,
        rows: IntArray | None = None,
        corrected: bool = True,
    ) -> float:
        """Return the fraction for the states of a feature and of a set; NaN if not estimable."""
        part, measure = slice(None) if rows is None else rows, self._measure
        codes = feature[part], others[part], self.target_states[part]
        sample = DiscreteSample(codes, measure.decompose)
        try:
            measure.check_shape(sample.shape)
        except TooManyStatesError:
            return math.nan
        if math.prod(sample.shape) > MOST_CELLS:
            return math.nan
        atoms = sample.atoms([None, None, None])
        if corrected:
            null = np.stack([sample.atoms([None, None, rows]) for rows in self._permutations])
            atoms = correct_bias(atoms, null, sample)
        shared, unique = atoms[:2]
        if shared + unique <= LEAST_BITS * NATS_PER_UNIT["bit"]:
            return 1.0
        fraction = float(shared / (shared + unique))
        return min(max(fraction, 0.0), 1.0) if self.is_non_negative else fraction

    @cached_property
    def _permutations(self) -> NDArray[np.int32]:
        """The permutations of the target, the same for all pairs."""
        indices = range(1, N_CORRECTION_PERMUTATIONS + 1)
        return permutations((self.seed, DECOMPOSITION, 2), indices, self.target.n_samples)


def most_frequent(codes: IntArray, most: int = CLASS_LEVELS) -> IntArray:
    """Return codes with all but the most frequent levels joined into one."""
    counts = np.bincount(codes)
    if len(counts) <= most:
        return codes
    rare = np.argsort(-counts, kind="stable")[most - 1 :]
    return renumbered(np.where(np.isin(codes, rare), rare[0], codes))


def design(block: Block) -> FloatArray:
    """Return columns for trees: ranks of numbers, and an indicator for each frequent label.

    Thresholds are random, so that those of a heavy-tailed column would separate outliers alone.
    """
    return np.column_stack([part for column in block.columns for part in _parts(column)])


def _parts(column: Column) -> list[FloatArray]:
    if column.feature_type != "nominal":
        return [np.nan_to_num(rankdata(column.values, nan_policy="omit"), nan=0.0)]
    codes = most_frequent(column.codes())
    return [(codes == code).astype(np.float64) for code in range(int(codes.max()) + 1)]
