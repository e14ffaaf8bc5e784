"""Makes the report of a selection: one page of HTML that needs no other file, and no network.

The summary is plain values (see `pidselect.report.summary`). Here they get their texts; how they
look is in the templates, which put every text in escaped.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from os import PathLike
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import _num_samples, check_is_fitted

from pidselect.data.diagnostics import inspect_data
from pidselect.data.messages import shown
from pidselect.decomposition.measures import MEASURES
from pidselect.report.html import Markup, breakable, fill, number, save, unbroken
from pidselect.report.sentences import LONG_NAME, cut
from pidselect.report.summary import FORMAT, GOES_OUT, About, summarise
from pidselect.selection.explain import read_like_fit
from pidselect.selection.stability import Stability

Record = Mapping[str, Any]

#: How the name of a page ends.
SUFFIXES = (".html", ".htm")

#: Columns of a remark that are named at once.
MOST_NAMES = 20

#: A table of so many steps stands open.
FEW_STEPS = 12

#: The darkest shade of a matrix, in percent of its colour: letters stay readable on it.
DARKEST = 45

ATOMS = ("unique", "shared", "synergy")

#: What is known about an environment, in words.
_FACTS = {"logical_cpus": "logical CPUs", "cpu": "CPU", "python": "Python"}

#: Who is tested in a phase.
_PHASES = {
    "forward": "forward: the strongest candidate is tested, and included if it exceeds the line.",
    "lookahead": "lookahead: where no single candidate passes, tuples of them are tested.",
    "random_starts": "random_starts: candidates are tested beside random others.",
    "joint_backward": "joint_backward: of those included jointly, the weakest is tested, and "
    "removed if it adds nothing to the others.",
    "backward": "backward: the weakest selected feature is tested once more, and removed if it "
    "adds nothing to the others.",
}

_MATRICES = (
    ("synergy", "Only together", "What two features tell only if both are known (synergy)."),
    (
        "redundancy",
        "In common",
        "What both features tell, each by itself (redundancy); on the diagonal, all that a feature "
        "tells by itself.",
    ),
)


def render_selection(summary: Record) -> str:
    """Return the page of a selection.

    Parameters
    ----------
    summary : mapping
        As `pidselect.report.summary.summarise` makes it, also if it was kept as JSON meanwhile.

    Returns
    -------
    str
        HTML. All that comes from the data is escaped; nothing is loaded from elsewhere.
    """
    if summary.get("format") != FORMAT:
        raise ValueError(
            f"this summary has the format {summary.get('format')!r}, but this version of pidselect "
            f"reads {FORMAT}: make the page by the version that made the summary."
        )
    return fill("selection.html", "selection.js", _view(summary))


def write_report(
    selector: Any,
    X: Any,
    y: Any,
    path: str | PathLike[str],
    *,
    groups: Any = None,
    stability: Stability | None = None,
    title: str | None = None,
) -> Path:
    """Write the report of a fitted selector: one page of HTML that needs no other file.

    Parameters
    ----------
    selector : PIDSelector
        A fitted one.
    X, y
        What it was fitted to, or held-out rows, which features are then explained by; see
        ``PIDSelector.explain``.
    path : str or path
        Where to write it, such as "report.html". A file that is there is replaced at once.
    groups : array-like, shape (n_samples,), optional
        Those of the fit, if it had any; without them roles are taken from its record.
    stability : Stability, optional
        Of the same selector, see `pidselect.stability`: adds how often each feature is selected.
    title : str, optional

    Returns
    -------
    Path
        Where it is.

    Examples
    --------
    >>> import tempfile
    >>> from pidselect import PIDSelector, datasets, write_report
    >>> toy = datasets.toy(100, random_state=1)
    >>> selector = PIDSelector(n_permutations=20, random_state=0).fit(toy.X, toy.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(selector, toy.X, toy.y, f"{folder}/report.html").read_text("utf-8")
    >>> "2 of 3 columns were selected for what they tell about the target" in page
    True
    """
    check_is_fitted(selector)
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"path={str(path)!r}: a report is a page, so its name ends in .html.")
    record = selector.selection_
    explanation = selector.explain(X, y, groups)
    problem = read_like_fit(
        X, y, selector.feature_types_, record.settings["target_types"], selector.missing
    )
    about = About.of(problem, command=_lines(selector), title=title or "")
    if not explanation.in_sample:  # held-out rows explain what others selected
        about = replace(about, n_rows=record.settings["n_samples"])
    summary = summarise(
        record,
        explanation=explanation,
        stability=stability,
        remarks=inspect_data(problem, _num_samples(X)),
        about=about,
    )
    return save(render_selection(summary), path)


def _lines(selector: Any) -> str:
    """Return the lines of Python that do it again, with the seed that was drawn."""
    again = clone(selector).set_params(random_state=selector.selection_.settings["seed"])
    made = again.__repr__(N_CHAR_MAX=10_000)
    given = "X, y" if selector.selection_.settings["n_groups"] is None else "X, y, groups"
    return f"from pidselect import PIDSelector\n\nselector = {made}\nselector.fit({given})"


# ------------------------------------------------------------------------------ what is shown


def _view(summary: Record) -> dict[str, Any]:
    """Return what the templates show."""
    features = _bars(summary["features"])
    places = {feature["name"]: f"feature-{feature['order']}" for feature in features}
    steps = summary["steps"]
    return {
        **summary,
        "made": datetime.fromisoformat(summary["made"]),
        "selected": [{**row, "link": places.get(row["name"])} for row in summary["selected"]],
        "features": features,
        "roles": list(Counter(feature["role"] for feature in features).items()),
        "any_bounds": any(feature["has_bounds"] for feature in features),
        "phases": [text for phase, text in _PHASES.items() if phase in {s["phase"] for s in steps}],
        "in_deviations": any(step["unit"] != "bit" for step in steps),
        "picture": _picture(summary),
        "matrices": _matrices(summary["pairs"]),
        "contents": _contents(summary),
        "setting_rows": [(key, _setting(value)) for key, value in summary["settings"].items()],
        "most_names": MOST_NAMES,
        "few_steps": FEW_STEPS,
        "notes": [_begun(note) for note in summary["notes"]],
        "goes_out": GOES_OUT,
        "bits": bits,
        "p": p_text,
        "score": _score,
        "percent": _percent,
        "plain": _plain,
        "count": _count,
        "said": unbroken,
        "full": lambda name: breakable(shown(name)),
        "brief": lambda name: breakable(cut(shown(name), LONG_NAME)),
        "fact": lambda key: _FACTS.get(key, key),
    }


def _contents(summary: Record) -> list[tuple[str, str]]:
    """Return the sections that there are, by id and by name."""
    sections = (
        ("path", "The path", bool(summary["steps"])),
        ("features", "The role of every feature", bool(summary["features"])),
        ("pairs", "Features by twos", bool(summary["pairs"])),
        ("data", "Remarks on the data", True),
        ("again", "To do it again", True),
    )
    return [(id, text) for id, text, is_there in sections if is_there]


def _begun(note: str) -> str:
    """Return a note as a sentence begins; the name of a measure stays as it is."""
    return note if note.partition(" ")[0] in MEASURES else note[:1].upper() + note[1:]


def _picture(summary: Record) -> Markup | None:
    """Return the drawing of the path; none without steps, or where matplotlib is missing."""
    if not summary["steps"]:
        return None
    try:
        from pidselect.report.displays import SelectionPathDisplay
    except ModuleNotFoundError:  # the table of steps says the same in numbers
        return None
    # What matplotlib writes is escaped already, and the drawing has no other source.
    return Markup(SelectionPathDisplay.from_dict(summary["selection"]).to_svg(salt="path"))


def _bars(features: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the features with their bars, as widths in percent of the longest; none below zero."""
    drawn = [
        [max(0.0, value) if math.isfinite(value := _float(row[atom])) else 0.0 for atom in ATOMS]
        for row in features
    ]
    longest = max(map(sum, drawn), default=0.0) or 1.0
    return [
        {
            **row,
            "altogether": None if row["unique"] is None else sum(parts),
            "bar": [
                (atom, f"{100 * part / longest:.1f}")
                for atom, part in zip(ATOMS, parts, strict=True)
                if 1000 * part > longest
            ],
        }
        for row, parts in zip(features, drawn, strict=True)
    ]


def _matrices(pairs: Record | None) -> list[dict[str, Any]]:
    """Return both matrices as the lower halves of tables, shaded by how large values are."""
    if pairs is None:
        return []
    made = []
    for key, title, caption in _MATRICES:
        values = [[_float(value) for value in row] for row in pairs[key]]
        has_diagonal = key == "redundancy"
        rows = [
            [(value, known) for value, known in zip(row, known_row, strict=True)][
                : place + has_diagonal
            ]
            for place, (row, known_row) in enumerate(zip(values, pairs["estimable"], strict=True))
        ]
        largest = max((v for row in rows for v, known in row if known and v > 0), default=1.0)
        made.append(
            {
                "title": title,
                "caption": caption,
                "part": "shared" if has_diagonal else "synergy",
                "rows": [
                    {"name": name, "cells": _cells(row, largest, len(rows))}
                    for name, row in zip(pairs["names"], rows, strict=True)
                ],
            }
        )
    return made


def _cells(row: Sequence[tuple[float, bool]], largest: float, width: int) -> list[dict[str, Any]]:
    known = [
        {
            "text": bits(value) if is_known else "–",
            "level": round(DARKEST * max(0.0, value) / largest) if is_known else 0,
        }
        for value, is_known in row
    ]
    return [*known, *({"text": "", "level": 0} for _ in range(width - len(known)))]


# ------------------------------------------------------------------------------------- numbers


def bits(value: float | str | None) -> str:
    """Return an amount of information with three decimals.

    Examples
    --------
    >>> bits(0.52149), bits(-0.0081), bits("inf"), bits(None)
    ('0.521', '−0.008', '∞', '–')
    """
    return _decimals(value, 3)


def p_text(value: float | str | None) -> str:
    """Return a p-value with three decimals, never as zero.

    Examples
    --------
    >>> p_text(1 / 201), p_text(0.0002), p_text(None)
    ('0.005', '< 0.001', '–')
    """
    known = _float(value)
    return "< 0.001" if known < 0.0005 else _decimals(value, 3)


def _score(value: float | str | None, unit: str) -> str:
    return _decimals(value, 3 if unit == "bit" else 1)


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _decimals(value: float | str | None, digits: int) -> str:
    known = _float(value)
    if math.isnan(known):
        return "–"
    if math.isinf(known):
        return "∞" if known > 0 else "−∞"
    return number(known, digits)


def _float(value: float | str | None) -> float:
    """Return a number of a record, in which infinite ones are texts."""
    return math.nan if value is None else float(value)


def _plain(value: float | str | None) -> str:
    """Return a number as the script reads it, empty where it is unknown."""
    known = _float(value)
    if math.isnan(known):
        return ""
    return ("Infinity" if known > 0 else "-Infinity") if math.isinf(known) else f"{known:.6g}"


def _count(value: int, what: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> _count(1, "row"), _count(1200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{value:,} {what}{'s' * (value != 1)}"


def _setting(value: Any) -> str:
    """Return the value of a setting in one line.

    Examples
    --------
    >>> _setting(["global", "local"]), _setting(None), _setting({"copula": "Copula()"})
    ('global, local', 'none', 'copula: Copula()')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {_setting(item)}" for key, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_setting, value))
    return str(value)
