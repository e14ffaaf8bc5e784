"""Measures of partial information by name, and the decomposition of a distribution in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from numpy.typing import ArrayLike

from pidselect.data import FloatArray, check_choice
from pidselect.decomposition.broja import broja, too_many_unknowns
from pidselect.decomposition.ccs import ccs, too_many_marginals
from pidselect.decomposition.lattice import MOST_SOURCES, lattice
from pidselect.decomposition.minimum import imin, mmi
from pidselect.decomposition.pmf import Parts, check_pmf, information
from pidselect.decomposition.result import Decomposition
from pidselect.decomposition.shared_exclusions import sx
from pidselect.estimators.information import NATS_PER_UNIT, Unit


@dataclass(frozen=True)
class Measure:
    """A way to decompose a joint distribution.

    Parameters
    ----------
    decompose : function of the distribution, the target last
    most_sources : int
        The number of sources it is defined for.
    too_large : function of the distribution's shape
        Says why there are too many states for it, or nothing.
    """

    decompose: Callable[[FloatArray], Parts]
    most_sources: int
    too_large: Callable[[Sequence[int]], str] = lambda shape: ""

    def check(self, n_sources: int, name: str) -> None:
        """Refuse a number of sources that the measure is not defined for."""
        if n_sources < 2:
            raise ValueError(
                f"A decomposition needs two or more sources, got {n_sources}. What one source "
                "tells about a target is pidselect.mutual_information."
            )
        if n_sources > self.most_sources:
            able = [other for other, known in MEASURES.items() if n_sources <= known.most_sources]
            remedy = f"Use measure={' or '.join(map(repr, able))}" if able else "Use fewer sources"
            raise ValueError(
                f"measure={name!r} is defined for {self.most_sources} sources at most, got "
                f"{n_sources}. {remedy}, or join several sources into one."
            )


#: Every measure of a distribution that has a name. To add one, add its line.
MEASURES: dict[str, Measure] = {
    "broja": Measure(broja, 2, too_many_unknowns),
    "imin": Measure(imin, MOST_SOURCES),
    "mmi": Measure(mmi, MOST_SOURCES),
    "ccs": Measure(ccs, 2, too_many_marginals),
    "sx": Measure(sx, MOST_SOURCES),
}


def decompose_distribution(
    pmf: ArrayLike, *, measure: str = "broja", unit: Unit = "bit"
) -> Decomposition:
    """Decompose what the sources of a known joint distribution tell about the target.

    Parameters
    ----------
    pmf : array, shape (n_states_1, ..., n_states_target)
        Probabilities, one axis for each source, the target LAST.
    measure : {"broja", "imin", "mmi", "ccs", "sx"}
        What shared information is taken to be. Two sources: "broja" (Bertschinger et al. 2014,
        solved to a certified gap), "ccs" (Ince 2017). Two to five: "imin" (Williams and Beer
        2010), "mmi" (the smallest mutual information), "sx" (shared exclusions, Makkeh et al.
        2021; atoms may be negative, and have informative and misinformative parts).
    unit : {"bit", "nat"}

    Returns
    -------
    Decomposition

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
    parts = MEASURES[measure].decompose(probabilities)
    return to_decomposition(parts, information(probabilities), n_sources, measure, unit)


def to_decomposition(
    parts: Parts, total: float, n_sources: int, measure: str, unit: Unit
) -> Decomposition:
    """Put labels on the atoms and turn nats into the unit asked for."""
    labels, scale = lattice(n_sources).labels, 1.0 / NATS_PER_UNIT[unit]
    by_label = dict(zip(labels, (parts.atoms * scale).tolist(), strict=True))
    informative = misinformative = None
    if parts.informative is not None:
        inform, misinform = parts.informative, parts.informative - parts.atoms
        informative = dict(zip(labels, (inform * scale).tolist(), strict=True))
        misinformative = dict(zip(labels, (misinform * scale).tolist(), strict=True))
    return Decomposition(
        atoms=by_label,
        information=total * scale,
        measure=measure,
        unit=unit,
        gap=parts.gap * scale,
        informative=informative,
        misinformative=misinformative,
    )
