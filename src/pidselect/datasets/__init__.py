"""Synthetic data sets with known relevant features: published models, logic gates, generators.

Every generator takes the number of rows, ``n_samples``, and ``random_state``: an int, a NumPy
Generator or None. It returns a `SyntheticDataset` with the data and the relevant columns: named X1,
X2, ... and the irrelevant ones Z1, Z2, ..., unless the model has names of its own. NumPy's global
state is neither read nor changed.

"The paper" is Wollstadt, Schmitt and Wibral (2023), "A rigorous information-theoretic definition of
redundancy and relevancy in feature selection based on (partial) information decomposition",
JMLR 24(131).
"""

from pidselect.datasets.base import SyntheticDataset, SyntheticTable
from pidselect.datasets.gates import GATES, gate, sample
from pidselect.datasets.synthetic import (
    classes,
    friedman,
    mixed_table,
    nested_spheres,
    regression,
    runge,
    toy,
)

__all__ = [
    "GATES",
    "SyntheticDataset",
    "SyntheticTable",
    "classes",
    "friedman",
    "gate",
    "mixed_table",
    "nested_spheres",
    "regression",
    "runge",
    "sample",
    "toy",
]
