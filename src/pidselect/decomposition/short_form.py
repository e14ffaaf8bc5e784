"""The short form of what was taken apart, as a notebook shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pidselect.data.markup import (
    ATOMS,
    SHOWN_ROWS,
    Markup,
    bar,
    card,
    details,
    legend,
    listing,
    longest,
    name,
    paragraph,
    strong,
    table,
)
from pidselect.data.messages import shown

if TYPE_CHECKING:
    from pidselect.decomposition.result import Decomposition, Explanation, FeatureExplanation, Pairs

Parts = list[tuple[str, float | None]]

#: What atoms of three sources and more may be besides.
MIXED = "mixed"


def explanation_form(explanation: Explanation) -> Markup:
    """Return how each feature tells about the target: its role, a bar, numbers, and a sentence."""
    drawn = explanation.features[:SHOWN_ROWS]
    full = longest(map(_parts, drawn))
    rows = [
        [
            name(feature.name),
            feature.role,
            bar(_parts(feature), full) if feature in drawn else "",
            *(_number(amount) for _, amount in _parts(feature)),
            feature.sentence,
        ]
        for feature in explanation.features
    ]
    header = ["feature", "role", "parts", *ATOMS, "in words"]
    parts: list[Markup] = [strong(_told(explanation))]
    if rows:
        parts += [legend(), table(header, rows, "nllrrrw"), listing(explanation.methods())]
    if len(explanation.pairs.names) > 1:
        parts.append(details("Selected features by twos", _pairs(explanation.pairs)))
    if explanation.notes:
        parts.append(details("Notes", listing(explanation.notes)))
    return card(*parts)


def _told(explanation: Explanation) -> str:
    """Return what the selected features tell together, in a sentence."""
    target, n_samples = shown(explanation.target), explanation.n_samples
    n_selected = sum(feature.selected for feature in explanation.features)
    if not n_selected:
        return f"No feature is selected that would tell about {target} ({n_samples} samples)."
    who = (
        "The selected feature tells" if n_selected == 1 else f"{n_selected} selected features tell"
    )
    if explanation.information is None:
        return f"How much the selected features tell about {target} is not estimable."
    together = "" if n_selected == 1 else " together"
    amount = f"{_number(explanation.information)} bit"
    return f"{who} {amount} about {target}{together} ({n_samples} samples)."


def _parts(feature: FeatureExplanation) -> Parts:
    return [(atom, getattr(feature, atom)) for atom in ATOMS]


def _pairs(pairs: Pairs) -> Markup:
    rows = [
        [name(first), name(second), _number(redundancy), _number(synergy)]
        for first, second, redundancy, synergy in pairs.rows()
    ]
    return Markup(
        paragraph(f"In bits, by {pairs.method}.")
        + table(["feature", "and", "redundancy", "synergy"], rows, "nnrr")
    )


def decomposition_form(decomposition: Decomposition) -> Markup:
    """Return the atoms, each with a bar, and what else is known of them."""
    header, *rows = decomposition.cells()
    labels = [row[0] for row in rows]
    bars: list[Parts] = [[(kind(label), decomposition.atoms[label])] for label in labels]
    full = longest(bars)
    cells = [[row[0], bar(parts, full), *row[1:]] for row, parts in zip(rows, bars, strict=True)]
    titles = [header[0], "size", *(title or "name" for title in header[1:])]
    n_left = 2 + ("name" in titles)
    aligned = "l" * n_left + "r" * (len(header) + 1 - n_left)
    there = set(map(kind, labels))
    kinds = [one for one in (*ATOMS, MIXED) if one in there]
    return card(
        strong(f"{decomposition.title()}."),
        legend(kinds),
        table(titles, cells, aligned),
        *map(paragraph, decomposition.remarks()),
    )


def kind(label: str) -> str:
    """Return what an atom is: of one source, of several at once, of several together, or mixed.

    Examples
    --------
    >>> [kind(label) for label in ("{1}", "{1}{2}", "{1,2}", "{1}{2,3}")]
    ['unique', 'shared', 'synergy', 'mixed']
    """
    several, together = "}{" in label, "," in label
    if several and together:
        return MIXED
    if several:
        return "shared"
    return "synergy" if together else "unique"


def _number(value: float | None) -> str:
    """Return three decimals; what rounds to zero has no sign, and what is unknown is a dash."""
    return "-" if value is None else f"{round(value, 3) + 0.0:.3f}"
