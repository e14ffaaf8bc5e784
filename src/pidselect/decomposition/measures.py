"""The registry of measures on distributions, and `decompose_distribution`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from pidselect.data import FloatArray, check_choice
from pidselect.decomposition.broja import broja, check_unknowns
from pidselect.decomposition.ccs import ccs, check_marginals
from pidselect.decomposition.lattice import MOST_SOURCES, lattice
from pidselect.decomposition.minimum import imin, mmi
from pidselect.decomposition.pmf import PIDAtoms, check_pmf, information
from pidselect.decomposition.result import Decomposition
from pidselect.decomposition.shared_exclusions import sx
from pidselect.estimators.base import NATS_PER_UNIT, Unit


@dataclass(frozen=True)
class Measure:
    """A function that decomposes a joint distribution, and the largest number of sources.

    `check_shape` raises `TooManyStatesError` where solving would take too long. Of nonnegative
    atoms none exceeds the information that it is a part of.
    """

    decompose: Callable[[FloatArray], PIDAtoms]
    most_sources: int
    check_shape: Callable[[Sequence[int]], None] = lambda shape: None
    is_nonnegative: bool = False

    def check(self, n_sources: int, name: str) -> None:
        """Raise if the measure is not defined for this number of sources."""
        if n_sources < 2:
            raise ValueError(
                f"A decomposition needs two or more sources, got {n_sources}. For the information "
                "of one source use pidselect.mutual_information."
            )
        if n_sources > self.most_sources:
            able = [other for other, known in MEASURES.items() if n_sources <= known.most_sources]
            remedy = f"Use measure={' or '.join(map(repr, able))}" if able else "Use fewer sources"
            raise ValueError(
                f"measure={name!r} is defined for at most {self.most_sources} sources, got "
                f"{n_sources}. {remedy}, or join several sources into one."
            )


#: Measures of a distribution by name. To add one, add its line.
MEASURES: dict[str, Measure] = {
    "broja": Measure(broja, 2, check_unknowns, is_nonnegative=True),
    "imin": Measure(imin, MOST_SOURCES, is_nonnegative=True),
    "mmi": Measure(mmi, MOST_SOURCES, is_nonnegative=True),
    "ccs": Measure(ccs, 2, check_marginals),
    "sx": Measure(sx, MOST_SOURCES),
}


def decompose_distribution(
    pmf: ArrayLike, *, measure: str = "broja", unit: Unit = "bit"
) -> Decomposition:
    """Decompose the information of sources about a target, for a known joint distribution.

    Parameters
    ----------
    pmf : array, shape (n_states_1, ..., n_states_target)
        Probabilities, one axis for each source, the target LAST.
    measure : {"broja", "imin", "mmi", "ccs", "sx"}
        The definition of shared information. Exactly two sources: "broja" (Bertschinger et al.
        2014, solved to a certified gap), "ccs" (Ince 2017). Two to five sources: "imin" (Williams
        and Beer 2010), "mmi" (minimum mutual information), "sx" (shared exclusions, Makkeh et al.
        2021; atoms may be negative and have informative and misinformative parts).
    unit : {"bit", "nat"}

    Returns
    -------
    Decomposition

    See Also
    --------
    decompose : The same of samples.

    Examples
    --------
    >>> from pidselect import datasets, decompose_distribution
    >>> gate = decompose_distribution(datasets.gate("AND"))
    >>> round(gate.shared, 3), round(gate.synergy, 3)
    (0.311, 0.5)
    >>> three = decompose_distribution(datasets.gate("XOR", n_sources=3), measure="imin")
    >>> {label: round(bits, 6) for label, bits in three.atoms.items() if bits > 1e-9}
    {'{1,2,3}': 1.0}
    """
    check_choice(measure, MEASURES, "measure")
    check_choice(unit, tuple(NATS_PER_UNIT), "unit")
    probabilities = check_pmf(pmf)
    n_sources = probabilities.ndim - 1
    MEASURES[measure].check(n_sources, measure)
    found = MEASURES[measure].decompose(probabilities)
    return to_decomposition(found, information(probabilities), n_sources, measure, unit)


def to_decomposition(
    found: PIDAtoms, total: float, n_sources: int, measure: str, unit: Unit
) -> Decomposition:
    """Return labelled atoms, converted from nats to the unit."""
    labelled, scale = lattice(n_sources).labelled, 1.0 / NATS_PER_UNIT[unit]
    informative = misinformative = None
    if found.informative is not None:
        informative = labelled(found.informative, scale)
        misinformative = labelled(found.informative - found.atoms, scale)
    atoms, gap = labelled(found.atoms, scale), found.gap * scale
    return Decomposition(atoms, total * scale, measure, unit, gap, informative, misinformative)
