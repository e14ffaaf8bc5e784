"""HTML representations of results for notebooks, without any library.

Results are read by their public attributes. All text from the data is escaped here. The style
applies to `.pidselect-card` alone, inherits the notebook's text colour (light or dark), and no
information is given by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from html import escape
from importlib.resources import files
from math import isfinite
from typing import Any

from pidselect.data.messages import counted, number, p_relation, shown

Parts = Sequence[tuple[str, float | None]]

MAX_ROWS = 20
MAX_NAMES = 8

#: Letters for the columns of a table, and their CSS classes; any other letter is flush right.
ALIGNMENTS = {"l": "left", "n": "name", "w": "wide"}

#: PID atoms of a bar, each with a colour and a pattern.
ATOMS = ("unique", "shared", "synergy")
ADDED_PARTS = ("unique", "synergy")

#: The colours are those of Okabe and Ito, distinguishable with any colour vision.
STYLE = files("pidselect").joinpath("notebook.css").read_text("utf-8")


def selection_html(selection: Any, estimator: str = "") -> Markup:
    """Return the selected features, their tests, excluded columns, steps and settings.

    `estimator` is the text of the fitted selector, to be shown as its parameters.
    """
    fixed, features = selection.fixed_features, selection.selected
    parts = []
    if features:
        parts.append(paragraph(_selected(selection), tag="strong"))
    elif selection.is_complete:
        parts.append(paragraph(selection.empty_verdict(), tag="strong"))
        parts.append(paragraph(selection.empty_reason()))
    if fixed or features:
        bits = {one: number(value, unknown="") for one, value in selection.bits_added.items()}
        rows = [[name(feature), "fixed", bits.get(feature, ""), "", ""] for feature in fixed]
        for feature in features:
            step = selection.inclusion_step(feature)
            p_values = (step.p_value, selection.p_values.get(feature))
            tests = [_p_value(value, selection.settings) for value in p_values]
            number_of_step = str(selection.step_number(step))
            rows.append([name(feature), number_of_step, bits.get(feature, ""), *tests])
        parts += [
            table(["feature", "step", "bits added", "p", "final p"], rows),
            paragraph(
                "bits added: conditional mutual information given the features before. p: of the "
                "permutation test of the step. final p: given all other selected features, "
                "adjusted for their number."
            ),
        ]
    parts += map(paragraph, selection.notes)
    excluded = [
        [name(column), joined(["duplicate of ", name(original)])]
        for column, original in selection.duplicates.items()
        if column not in selection.also_relevant
    ]
    excluded += [[name(column), text(why)] for column, why in selection.skipped.items()]
    if excluded:
        title = f"{counted(len(excluded), 'column')} excluded"
        parts.append(details(title, table(["column", ""], excluded, "nw")))
    if selection.steps:
        steps = [str(step) for step in selection.steps[:MAX_NAMES]]
        if more := len(selection.steps) - len(steps):
            steps.append(f"... and {more} more, see .steps")
        parts.append(details(counted(len(selection.steps), "step"), listing(steps)))
    if tests := selection.marginal:
        columns = zip(tests.candidates, tests.values, tests.p_values, strict=True)
        cells = [[name(c), number(bits, 4), number(p, 4)] for c, bits, p in columns]
        title = f"Marginal tests at level {tests.alpha:g}"
        parts.append(details(title, table(["candidate", "bits", "p"], cells)))
    if selection.settings.n_samples:
        settings = [[key, str(value)] for key, value in asdict(selection.settings).items()]
        parts.append(details("Settings", table(["setting", "value"], settings, "lw")))
    if estimator:
        parts.append(details("Parameters", Markup(f"<pre>{text(estimator)}</pre>")))
    return card(*parts)


def _p_value(value: float | None, settings: Any) -> str:
    """Return a p-value; of a test that stops early, on which side of the level it is."""
    if value is None or settings.n_permutations != "auto":
        return number(value, 4, unknown="")
    return p_relation(value, settings.alpha, is_sequential=True).removeprefix("p ")


def _selected(selection: Any) -> Markup:
    n_candidates = len(selection.steps[0].candidates)
    names = [name(feature) for feature in selection.selected[:MAX_NAMES]]
    if more := len(selection.selected) - len(names):
        names.append(text(f"... and {more} more"))
    start = f"{len(selection.selected)} of {counted(n_candidates, 'candidate feature')} selected: "
    return joined([start, joined(names, ", "), "."])


def stability_html(stability: Any) -> Markup:
    """Return selection frequencies, the largest first."""
    counts, frequencies, intervals = stability.counts, stability.frequencies, stability.intervals
    found = sorted((one for one in counts if counts[one]), key=lambda one: -counts[one])
    rows = [
        [
            name(one),
            bar([("frequency", frequencies[one])], 1.0),
            str(counts[one]),
            f"{frequencies[one]:.2f}",
            "{:.2f} to {:.2f}".format(*intervals[one]),
        ]
        for one in found
    ]
    header = ["feature", "", "selected", "frequency", "95 % interval"]
    tables = [table(header, rows, "nlrrr")] if rows else []
    return card(paragraph(" ".join(stability.notes)), *tables)


def explanation_html(explanation: Any) -> Markup:
    """Return what each feature adds with its test, sentences, and the pairwise PID."""
    features = explanation.features
    bars = [_added(feature) for feature in features]
    full = longest(bars[:MAX_ROWS])
    header = ["feature", "added", "bits", f"{100 * explanation.level:g} % interval"]
    header += [explanation.share_name, "p", "role", ""]
    rows = [
        [name(one.name), bar(parts, full), *_tests(one, explanation), one.role, _relation(one)]
        for one, parts in zip(features, bars, strict=True)
    ]
    sentences = [one.sentence for one in features[:MAX_ROWS]]
    parts = [paragraph(_headline(explanation), tag="strong")]
    if rows:
        parts += [legend(ADDED_PARTS), table(header, rows, "nlrrrrlw")]
        parts.append(details("In words", listing(sentences)))
    pairs = explanation.pairs
    if len(pairs.names) > 2:  # of two, the sentences have the same values
        cells = [
            [
                name(first),
                name(second),
                number(redundancy),
                "redundant" if dependent else "overlap in what they predict",
                number(synergy),
            ]
            for first, second, redundancy, synergy, dependent in pairs.rows()
        ]
        pairwise = table(["feature", "and", "shared", "", "synergy"], cells, "nnrlr")
        parts.append(details("Pairwise PID", paragraph(f"In bits, {pairs.method}."), pairwise))
    if explanation.notes:
        parts.append(details("Notes", listing(explanation.notes)))
    return card(*parts)


def _headline(explanation: Any) -> str:
    samples = counted(explanation.n_samples, "sample")
    n_selected = len(explanation.bits_added)
    if not n_selected:
        return f"No selected feature, {samples}."
    start = f"I({counted(n_selected, 'selected feature')}; {shown(explanation.target)})"
    information = explanation.information
    if information is None:
        return f"{start} = not estimable, {samples}."
    share = explanation.share(information)
    beside = "" if share is None else f" ({explanation.share_name} {_percent(share)})"
    return f"{start} = {number(information)} bits{beside}, {samples}."


def _tests(feature: Any, explanation: Any) -> list[str]:
    """Return added bits, their interval and share, and the p-value of a feature as text."""
    ends = feature.intervals.get("added")
    p = "" if feature.p_value is None else explanation.p_text(feature.p_value).removeprefix("p ")
    return [
        "≥ " * feature.is_lower_bound + number(feature.added, unknown=""),
        "" if ends is None else " to ".join(map(number, ends)),
        "" if feature.share is None else _percent(feature.share),
        p.removeprefix("= "),
    ]


def _relation(feature: Any) -> Markup:
    """Return with which features information is shared, or the reason for a missing value."""
    if feature.redundant_with:
        return joined(["redundant with ", joined(map(name, feature.redundant_with), ", ")])
    if feature.overlaps_with:
        return joined(["overlap with ", joined(map(name, feature.overlaps_with), ", ")])
    return text(feature.reason)


def _added(feature: Any) -> Parts:
    return [(part, getattr(feature, part)) for part in ADDED_PARTS]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def feature_html(feature: Any) -> Markup:
    """Return a sentence on one feature, and bars of its marginal and its added information."""
    parts = [paragraph(feature.sentence)]
    if feature.added is not None:
        shown_parts = {"information": ("unique", "shared"), "added": ADDED_PARTS}
        bars = {
            key: [(p, getattr(feature, p)) for p in names] for key, names in shown_parts.items()
        }
        full = longest(bars.values())
        rows = [
            [
                {"information": "marginal information"}.get(key, "added information"),
                bar(known, full),
                number(getattr(feature, key)),
                " to ".join(map(number, feature.intervals.get(key, ()))),
                *(number(dict(known).get(atom), unknown="") for atom in ATOMS),
            ]
            for key, known in bars.items()
        ]
        parts += [legend(ATOMS), table(["", "", "bits", "interval", *ATOMS], rows, "llrrrrr")]
    return card(*parts)


def decomposition_html(decomposition: Any) -> Markup:
    """Return the atoms with a bar each, the tests of the sources, and remarks."""
    header, *rows = decomposition.cells()
    labels = [row[0] for row in rows]
    bars: list[Parts] = [[(atom_type(label), decomposition.atoms[label])] for label in labels]
    full = longest(bars)
    cells = [[row[0], bar(parts, full), *row[1:]] for row, parts in zip(rows, bars, strict=True)]
    titles = [header[0], "", *header[1:]]
    has_names = header[1] == ""
    aligned = "ll" + "l" * has_names + "r" * (len(header) - 1 - has_names)
    found = {atom_type(label) for label in labels}
    tests = decomposition.source_cells()
    return card(
        paragraph(f"{decomposition.title()}.", tag="strong"),
        legend(one for one in (*ATOMS, "mixed") if one in found),
        table(titles, cells, aligned),
        *([table(tests[0], tests[1:])] if tests else []),
        *map(paragraph, decomposition.remarks()),
    )


def atom_type(label: str) -> str:
    """Return the type of a PID atom by its antichain: unique, shared, synergy, or mixed.

    Examples
    --------
    >>> [atom_type(label) for label in ("{1}", "{1}{2}", "{1,2}", "{1}{2,3}")]
    ['unique', 'shared', 'synergy', 'mixed']
    """
    is_shared, is_synergistic = "}{" in label, "," in label
    if is_shared and is_synergistic:
        return "mixed"
    if is_shared:
        return "shared"
    return "synergy" if is_synergistic else "unique"


class Markup(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def text(value: str) -> Markup:
    r"""Escape a text; surrogates, which no encoding accepts, become backslash escapes.

    Examples
    --------
    >>> text("x < 3 & y"), text(text("x < 3")), text("caf\udce9")
    ('x &lt; 3 &amp; y', 'x &lt; 3', 'caf\\udce9')
    """
    if isinstance(value, Markup):
        return value
    return Markup(escape(value).encode("utf-8", "backslashreplace").decode("utf-8"))


def name(value: str) -> Markup:
    r"""Escape a name from the data, quoted if it holds invisible characters.

    Examples
    --------
    >>> name("<b>"), name("a\u202eb")
    ('&lt;b&gt;', '&#x27;a\\u202eb&#x27;')
    """
    return text(shown(value))


def joined(parts: Iterable[str], separator: str = "") -> Markup:
    """Join parts, escaping those that are not HTML yet."""
    return Markup(text(separator).join(map(text, parts)))


def paragraph(value: str, tag: str = "") -> Markup:
    """Return a paragraph, optionally with its content in another element."""
    inner = text(value)
    return Markup(f"<p><{tag}>{inner}</{tag}></p>" if tag else f"<p>{inner}</p>")


def listing(items: Iterable[str]) -> Markup:
    """Return a list, or nothing if there are no items."""
    lines = "".join(f"<li>{text(item)}</li>" for item in items)
    return Markup(f"<ul>{lines}</ul>" if lines else "")


def details(summary: str, *parts: str) -> Markup:
    """Return a collapsed section."""
    return Markup(f"<details><summary>{text(summary)}</summary>{joined(parts)}</details>")


def table(header: Sequence[str], rows: Sequence[Sequence[str]], aligned: str = "") -> Markup:
    """Return a table of at most `MAX_ROWS` rows and the number of omitted ones.

    `aligned` has a letter for each column: "n" for names, "l" left, "r" right, "w" left and
    wrapped. By default, names first and all others right.
    """
    aligned = aligned or "n" + "r" * (len(header) - 1)
    looks = {letter: f' class="pidselect-{look}"' for letter, look in ALIGNMENTS.items()}
    classes = [looks.get(letter, "") for letter in aligned]

    def line(cells: Sequence[str], tag: str, scope: str = "") -> str:
        pairs = zip(cells, classes, strict=True)
        inner = "".join(f"<{tag}{scope}{look}>{text(cell)}</{tag}>" for cell, look in pairs)
        return f"<tr>{inner}</tr>"

    body = "".join(line(row, "td") for row in rows[:MAX_ROWS])
    if (more := len(rows) - MAX_ROWS) > 0:
        note = f"... and {more} more, see .to_frame()"
        body += f'<tr><td class="pidselect-left" colspan="{len(header)}">{note}</td></tr>'
    head = line(header, "th", ' scope="col"')
    return Markup(
        f'<table class="pidselect-table"><thead>{head}</thead><tbody>{body}</tbody></table>'
    )


def bar(parts: Parts, full: float) -> Markup:
    """Return a stacked bar, of the whole width if its amounts sum to `full`.

    Estimates below 0 have no length; their numbers are in its label.
    """
    known = [(part, amount) for part, amount in parts if amount is not None]
    label = text(", ".join(f"{part} {number(amount)}" for part, amount in known) or "not estimable")
    widths = [
        (part, min(100.0, 100.0 * amount / full) if full > 0 and isfinite(amount) else 100.0)
        for part, amount in known
        if amount > 0
    ]
    drawn = "".join(
        f'<span class="pidselect-part {_css_class(part)}" style="width:{width:.1f}%"></span>'
        for part, width in widths
    )
    return Markup(f'<span class="pidselect-bar" role="img" aria-label="{label}">{drawn}</span>')


def longest(bars: Iterable[Parts]) -> float:
    """Return the length of the longest bar, infinite and negative parts omitted."""
    amounts = [
        sum(amount for _, amount in parts if amount is not None and 0 < amount < float("inf"))
        for parts in bars
    ]
    return max(amounts, default=0.0)


def legend(parts: Iterable[str]) -> Markup:
    """Return the colour keys of the parts of bars."""
    keys = (
        f'<span class="pidselect-key {_css_class(part)}" aria-hidden="true"></span>{text(part)}'
        for part in parts
    )
    return paragraph(Markup("".join(keys)))


def card(*parts: str) -> Markup:
    """Return the complete representation; it scrolls if too wide, hence its tabindex."""
    start = '<div class="pidselect-card" tabindex="0" role="group" aria-label="pidselect">'
    return Markup(f"{start}<style>{STYLE}</style>{joined(parts)}</div>")


def _css_class(part: str) -> str:
    return f"pidselect-{part}" if part in ATOMS else "pidselect-plain"
