"""Decomposition: the atoms of what sources tell about a target, ready to be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pidselect.data import make_frame
from pidselect.data.messages import align, shown, to_plain
from pidselect.decomposition.short_form import decomposition_form
from pidselect.estimators.information import Unit

#: The plain names of the atoms of two sources.
NAMES_OF_TWO = {"{1}{2}": "shared", "{1}": "unique 1", "{2}": "unique 2", "{1,2}": "synergy"}

#: So many atoms are printed: all of two and three sources, the largest of more.
SHOWN_ATOMS = 18

#: What a p-value is, and is not.
P_VALUES = (
    "p-value: of a source being independent of all else. An interval tells if an atom is > 0."
)

#: A gap is printed where it could show in the digits that are.
SHOWN_GAP = 1e-5


@dataclass(frozen=True, repr=False)
class Decomposition:
    """What several sources tell about a target, split into atoms.

    Parameters
    ----------
    atoms : mapping of str to float
        The information of every atom by its antichain: "{1}{2}" is what sources 1 and 2 share,
        "{1}" what source 1 alone has, "{1,2}" what only the two together have.
    information : float
        I(all sources; target), the sum of all atoms.
    measure : str
    unit : {"bit", "nat"}
    gap : float
        How far an atom can be from its true value for the distribution at hand: certified for
        "broja", an estimate for "ccs", 0 for measures with a closed formula.
    informative, misinformative : mapping of str to float, optional
        The two parts whose difference each atom is, where the measure knows them ("sx").
    n_samples : int, optional
        The number of samples it was estimated from.
    corrected : mapping of str to float, optional
        The atoms less their estimated bias.
    p_values : mapping of str to float, optional
        Of each atom, against any source that it names being independent of all else. Small, it
        says that these sources belong here, not how large the atom is: that says the interval.
    intervals : mapping of str to (float, float), optional
        Of each atom, from bootstrap resamples; they may reach below 0.
    confidence : float, optional
        How often such intervals are meant to hold the true value.
    variables : tuple of str, optional
        What the sources are called and, last, the target, where these have names.

    Examples
    --------
    Rain and a sprinkler, either of which wets the lawn:

    >>> import numpy as np
    >>> from pidselect.decomposition.decompose import decompose
    >>> rng = np.random.default_rng(0)
    >>> rain, sprinkler = rng.integers(0, 2, size=(2, 200))
    >>> decompose(
    ...     [rain, sprinkler],
    ...     rain | sprinkler,
    ...     n_permutations=199,
    ...     n_bootstrap=200,
    ...     random_state=0,
    ... )
    0.7602 bit decomposed by 'broja' from 200 samples
    atom                 bit  corrected      95 % interval  p-value
    {1}{2}  shared    0.3103     0.3095   0.2432 to 0.4205   0.0050
    {1}     unique 1  0.0049     0.0038  -0.1157 to 0.0805   0.0050
    {2}     unique 2  0.0000    -0.0023  -0.0920 to 0.0503   1.0000
    {1,2}   synergy   0.4450     0.4491   0.3956 to 0.5462   0.0050
    p-value: of a source being independent of all else. An interval tells if an atom is > 0.
    """

    atoms: Mapping[str, float]
    information: float
    measure: str
    unit: Unit = "bit"
    gap: float = 0.0
    informative: Mapping[str, float] | None = None
    misinformative: Mapping[str, float] | None = None
    n_samples: int | None = None
    corrected: Mapping[str, float] | None = None
    p_values: Mapping[str, float] | None = None
    intervals: Mapping[str, tuple[float, float]] | None = None
    confidence: float | None = None
    variables: tuple[str, ...] | None = None
    frame_library: str | None = field(default=None, compare=False)

    @property
    def shared(self) -> float:
        """What both of two sources tell, each by itself."""
        return self._of_two("{1}{2}", "shared")

    @property
    def unique(self) -> tuple[float, float]:
        """What only the first source tells, and only the second, each by itself."""
        return self._of_two("{1}", "unique"), self._of_two("{2}", "unique")

    @property
    def synergy(self) -> float:
        """What two sources tell only together."""
        return self._of_two("{1,2}", "synergy")

    def _of_two(self, label: str, name: str) -> float:
        if len(self.atoms) != 4:
            raise AttributeError(
                f".{name} is defined for two sources; here are {len(self.atoms)} atoms of more "
                'sources, in .atoms by label, such as .atoms["{1}{2}"].'
            )
        return self.atoms[label]

    def to_dict(self) -> dict[str, Any]:
        """Return everything that is known as plain dicts, lists and numbers, ready for JSON.

        JSON has no infinite numbers, as an atom is where Gaussian sources determine the target:
        they come as the texts "inf" and "-inf" (and "nan"), which ``float`` reads. What is not
        known is left out.
        """
        known = {key: value for key, value in vars(self).items() if value is not None}
        known.pop("frame_library", None)
        return {key: to_plain(value) for key, value in known.items()}

    def to_frame(self) -> Any:
        """Return a frame, one row for each atom, in the caller's library.

        What is not known is null there.
        """
        labels = list(self.atoms)
        intervals = {} if self.intervals is None else self.intervals

        def of(values: Mapping[str, float] | None) -> list[float | None]:
            return [None if values is None else float(values[label]) for label in labels]

        columns: dict[str, list[Any]] = {
            "atom": labels,
            "name": [NAMES_OF_TWO[label] if self._is_of_two else label for label in labels],
            "value": of(self.atoms),
            "unit": [self.unit] * len(labels),
            "informative": of(self.informative),
            "misinformative": of(self.misinformative),
            "corrected": of(self.corrected),
            "lower": of({label: low for label, (low, _) in intervals.items()} or None),
            "upper": of({label: high for label, (_, high) in intervals.items()} or None),
            "p_value": of(self.p_values),
        }
        types = dict.fromkeys(columns, float) | dict.fromkeys(("atom", "name", "unit"), str)
        return make_frame(columns, self.frame_library, types)

    def __repr__(self) -> str:
        return f"{self.title()}\n{self}"

    def _repr_html_(self) -> str:
        return decomposition_form(self)

    def title(self) -> str:
        """Return how much was decomposed, and how."""
        samples = "" if self.n_samples is None else f" from {self.n_samples} samples"
        gap = f", gap {self.gap:.0e}" if self.gap > SHOWN_GAP else ""
        return (
            f"{_number(self.information)} {self.unit} decomposed by {self.measure!r}{samples}{gap}"
        )

    def __str__(self) -> str:
        """Return a table, one row for each atom; of many atoms, the largest."""
        return "\n".join([*align(self.cells(), n_left=1 + self._is_of_two), *self.remarks()])

    def cells(self) -> list[list[str]]:
        """Return the cells of the table, the header first; of many atoms, the largest."""
        return [self._header(), *(self._row(label) for label in self._largest())]

    def remarks(self) -> list[str]:
        """Return what to know when reading the table."""
        labels, lines = self._largest(), []
        if more := len(self.atoms) - len(labels):
            rest = sum(value for label, value in self.atoms.items() if label not in labels)
            lines.append(f"... and {more} smaller ones, {_number(rest)} {self.unit} in all")
        if self.variables is not None:
            *sources, target = map(shown, self.variables)
            numbered = [f"{number} is {name}" for number, name in enumerate(sources, start=1)]
            lines.append(f"{', '.join(numbered)}; the target is {target}")
        if self.p_values is not None:
            lines.append(P_VALUES)
        return lines

    @property
    def _is_of_two(self) -> bool:
        return len(self.atoms) == len(NAMES_OF_TWO)

    def _largest(self) -> list[str]:
        """Return the labels to print, in their order."""
        largest = sorted(self.atoms, key=lambda label: -abs(self.atoms[label]))[:SHOWN_ATOMS]
        return [label for label in self.atoms if label in largest]

    def _header(self) -> list[str]:
        percent = "" if self.confidence is None else f"{100 * self.confidence:g} % "
        cells = ["atom"] + [""] * self._is_of_two + [self.unit]
        columns = {
            "informative": self.informative,
            "misinformative": self.misinformative,
            "corrected": self.corrected,
            f"{percent}interval": self.intervals,
            "p-value": self.p_values,
        }
        return cells + [name for name, column in columns.items() if column is not None]

    def _row(self, label: str) -> list[str]:
        name = [NAMES_OF_TWO[label]] if self._is_of_two else []
        cells = [label, *name, _number(self.atoms[label])]
        for column in (self.informative, self.misinformative, self.corrected):
            cells += [] if column is None else [_number(column[label])]
        if self.intervals is not None:
            low, high = map(_number, self.intervals[label])
            cells.append(f"{low} to {high}")
        return cells + ([] if self.p_values is None else [_number(self.p_values[label])])


def _number(value: float) -> str:
    """Return four decimals; what rounds to zero has no sign."""
    return f"{round(value, 4) + 0.0:.4f}"
