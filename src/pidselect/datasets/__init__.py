"""Problems whose answer is known: the paper's systems, logic gates and generators.

Every generator returns a `Problem` that carries its data and its truth: which columns are
relevant. Only ``random_state`` decides the numbers; NumPy's global state is neither read nor
changed.

Wollstadt, Schmitt and Wibral (2023), "A rigorous information-theoretic definition of redundancy
and relevancy in feature selection based on (partial) information decomposition", JMLR 24(131),
is called "the paper" throughout.
"""

from pidselect.datasets.gates import GATES, gate, sample
from pidselect.datasets.generated import classes, regression
from pidselect.datasets.island import MixedProblem, mixed_table
from pidselect.datasets.loci import epistasis, penetrance
from pidselect.datasets.pairs import guyon, noise_model, statistical_model
from pidselect.datasets.problem import Problem
from pidselect.datasets.systems import friedman, nested_spheres, runge, toy

__all__ = [
    "GATES",
    "MixedProblem",
    "Problem",
    "classes",
    "epistasis",
    "friedman",
    "gate",
    "guyon",
    "mixed_table",
    "nested_spheres",
    "noise_model",
    "penetrance",
    "regression",
    "runge",
    "sample",
    "statistical_model",
    "toy",
]
