"""The report of a selection: one HTML page without external files.

`pidselect.report.summary` holds its content as plain values; the templates escape every text.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from pidselect.data import n_rows
from pidselect.data.files import atomic_write
from pidselect.data.messages import counted, cut, shown
from pidselect.decomposition import Explanation
from pidselect.report.levels import joint_tables, target_profiles
from pidselect.report.summary import FORMAT, ReportMetadata, summarise
from pidselect.selection.explain import read_like_fit
from pidselect.selection.notices import fit_findings
from pidselect.selection.stability import Stability

try:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup
except ModuleNotFoundError as missing:
    raise ModuleNotFoundError("a report needs jinja2: pip install 'pidselect[cli]'") from missing

from pidselect.report import pictures, tables
from pidselect.report.pictures import breakable, unbroken

Record = Mapping[str, Any]

#: Columns of a finding that are shown at once.
MAX_NAMES = 20

#: The table of steps is open if it has at most so many.
FEW_STEPS = 12

#: Control characters, bidirectional overrides, and surrogates, which no encoding accepts.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def render_report(summary: Record) -> str:
    """Return the page of a summary, of `pidselect.report.summary.summarise` or read from JSON.

    All texts from the data are escaped; nothing is loaded from elsewhere.
    """
    if summary.get("format") != FORMAT:
        raise ValueError(
            f"this summary has format {summary.get('format')!r}, this version of pidselect reads "
            f"format {FORMAT}: render it with the version that wrote it."
        )
    environment = Environment(
        loader=PackageLoader("pidselect.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = environment.get_template("selection.js").render()
    # The content security policy permits no other script.
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = environment.get_template("selection.html").render(
        _view(summary), script=Markup(script), script_hash=digest
    )
    return _UNSAFE.sub("\ufffd", page)


def write_report(
    selector: Any,
    X: Any,
    y: Any,
    path: str | os.PathLike[str],
    *,
    groups: Any = None,
    explanation: Explanation | None = None,
    stability: Stability | None = None,
    title: str | None = None,
) -> Path:
    """Write the report of a fitted selector as one HTML page.

    Parameters
    ----------
    selector : PIDSelector
        A fitted one.
    X, y
        The data it was fitted to, or held-out rows for the PID; see ``PIDSelector.explain``.
    path : str or path
        Such as "report.html". An existing file is replaced.
    groups : array-like, shape (n_samples,), optional
        Those of the fit; without them, roles are those of its record.
    explanation : Explanation, optional
        Result of ``selector.explain(X, y)`` where it is known; by default it is computed.
    stability : Stability, optional
        Result of `pidselect.stability` for the same selector: adds selection frequencies.
    title : str, optional

    Returns
    -------
    Path
        Of the file.

    See Also
    --------
    ImportanceDisplay : The main plot of the report alone.

    Examples
    --------
    >>> import tempfile
    >>> from pidselect import PIDSelector, datasets, write_report
    >>> toy = datasets.toy(100, random_state=1)
    >>> selector = PIDSelector(random_state=0).fit(toy.X, toy.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(selector, toy.X, toy.y, f"{folder}/report.html").read_text("utf-8")
    >>> "2 of 3 columns selected at level 0.05: x0 and x2; jointly they have" in page
    True
    """
    check_is_fitted(selector)
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"path={str(path)!r} must end in .html.")
    selection = selector.selection_
    if explanation is None:
        explanation = selector.explain(X, y, groups)
    target_types = selection.settings.target_types
    dataset = read_like_fit(X, y, selector.feature_types_, target_types, selector.missing)
    metadata = ReportMetadata.of(dataset, command=_code(selector), title=title or "")
    if not explanation.in_sample:
        metadata = replace(metadata, n_rows=selection.settings.n_samples)
    summary = summarise(
        selection,
        explanation=explanation,
        stability=stability,
        findings=fit_findings(dataset, selection, n_rows(X)),
        joint=joint_tables(selection, dataset),
        profiles=target_profiles((*selection.fixed_features, *selection.selected), dataset),
        metadata=metadata,
    )
    return save(render_report(summary), path)


def save(page: str, path: str | os.PathLike[str]) -> Path:
    """Write a page atomically; folders are made if needed, links are followed."""
    place = Path(path)
    if place.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the path of a file.")
    place.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(place) as file:
        file.write(page.encode())
    return place


def _code(selector: Any) -> str:
    """Return the Python code that reproduces a fit, with its seed."""
    settings = selector.selection_.settings
    again = clone(selector).set_params(random_state=settings.seed)
    arguments = "X, y" if settings.n_groups is None else "X, y, groups"
    return (
        "from pidselect import PIDSelector\n\n"
        f"selector = {again.__repr__(N_CHAR_MAX=10_000)}\n"
        f"selector.fit({arguments})"
    )


def _view(summary: Record) -> dict[str, Any]:
    """Return the values and functions that the templates use."""
    features = summary["features"]
    order = {feature["name"]: feature["order"] for feature in features}
    profiles = sorted(summary["profiles"], key=lambda one: order.get(one["feature"], 0))
    profiles = [pictures.target_plot(one, profiles) for one in profiles]
    plots = {one["feature"]: f"plot-{place}" for place, one in enumerate(profiles, start=1)}
    bars = pictures.importance_bars(features, summary)
    return {
        **summary,
        "created": datetime.fromisoformat(summary["created"]),
        "bars": bars if summary["explanation"] else [],
        "n_more": len(pictures.explained_features(features)) - len(bars),
        "selected_table": tables.selected_table(summary, plots),
        "roles": list(Counter(feature["role"] for feature in features).items()),
        "roles_table": tables.roles_table(summary, plots),
        "row_roles": [feature["role"] for feature in features],
        "phases": {step["phase"] for step in summary["steps"]},
        "steps_table": tables.steps_table(summary),
        "candidates": [tables.candidates_table(step, summary) for step in summary["steps"]],
        "profiles": profiles,
        "sentences": {feature["name"]: feature["sentence"] for feature in features},
        "joint": list(map(pictures.heat_map, summary["joint"])),
        "findings": _findings(summary["findings"]),
        "setting_rows": [(key, _setting(value)) for key, value in summary["settings"].items()],
        "max_names": MAX_NAMES,
        "few_steps": FEW_STEPS,
        "percent": pictures.percent,
        "count": counted,
        "unbroken": unbroken,
        "full": lambda name: breakable(shown(name)),
        "brief": lambda name: breakable(cut(shown(name))),
        "label": lambda level: unbroken(cut(shown(level), 24)),
    }


def _findings(findings: Sequence[Record]) -> list[dict[str, Any]]:
    """Return findings that differ in their columns alone as one."""
    groups: dict[tuple[str, str], list[Any]] = {}
    for one in findings:
        found = groups.setdefault((one["topic"], one["sentence"]), [])
        found += [one["columns"]] if one["columns"] else []
    return [
        {"topic": topic, "sentence": sentence, "groups": columns}
        for (topic, sentence), columns in groups.items()
    ]


def _setting(value: Any) -> str:
    """Return the value of a setting in one line."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list | tuple):
        return ", ".join(map(_setting, value))
    return str(value)
