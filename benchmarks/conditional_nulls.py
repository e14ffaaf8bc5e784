"""One candidate given a conditioning set, and tables without relevant columns, by `cases.py`.

S is fixed (`fixed_features`), and the candidates are tested: in the nulls they add nothing, in the
alternatives they do. Of linear effects and products, a textbook test that is told S looks for the
same on the same data. Settings are the defaults. Tables with no S are whole selections.
"""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from cases import ALTERNATIVES, CASES, Data
from common import collect, fit, interval, resumable, show, write
from textbook import basis, p_value, with_products

from pidselect import PIDSelector

TEXTBOOK = ("linear", "products")


class Row(NamedTuple):
    """How many data sets a group has, of which sizes, and percents that are asked for."""

    sizes: tuple[int, ...]
    data_sets: int
    goal: float | None  # at most in a null, at least in an alternative
    mean: float | None = None  # the same for the mean of the cases


ROWS = {
    "smooth": Row((500,), 200, 20.0, 6.0),
    "kink or jump": Row((500,), 200, 20.0, 6.0),
    "sorts": Row((200, 1000), 200, 10.0, 6.0),
    "bands": Row((300, 1000), 400, 8.0),
    "varying noise": Row((300,), 400, 8.0),
    "adversary": Row((300, 1000), 400, 10.0),
    "tables": Row((300,), 300, 8.0),
    "alternatives": Row((200,), 150, None, 92.0),
    "joint": Row((300,), 100, 60.0),
    "linear": Row((300,), 100, None),
    "products": Row((300,), 100, None),
    "beside integers": Row((333,), 50, 90.0),
}


def examine(name: str, n_samples: int, seed: int) -> dict[str, Any]:
    """Return whether any candidate is included in one data set, and what was warned of."""
    case = CASES[name]
    data = case.make(np.random.default_rng([seed, n_samples]), n_samples)
    X, types, fixed = data.frame()
    settings: dict[str, Any] = {"fixed_features": fixed, "backward": None} if fixed else {}
    if X.isna().any(axis=None):
        settings["missing"] = "category"
    selector = PIDSelector(feature_types=types or None, n_jobs=1, random_state=seed, **settings)
    warned = fit(selector, X, data.y)
    names = set(map(str, selector.get_feature_names_out())) - set(fixed)
    found: dict[str, Any] = {"included": sorted(names)}
    if warned:
        found["warnings"] = sorted({text[:80] for text in warned})
    if case.group in TEXTBOOK:
        found["textbook"] = bool(known_form(data, case.group == "products") < selector.alpha)
    return found


def known_form(data: Data, has_products: bool) -> float:
    """Return the p-value of x by a model of the right form, on the rows where x is known."""
    x, y = data.x, data.y
    rows = np.ones(len(x), dtype=bool) if x.dtype == object else ~np.isnan(x)
    columns = (
        column if isinstance(column[0], str) else column.astype(float) for column in data.given.T
    )
    base = np.column_stack([basis(column[rows], "line") for column in columns])
    more = basis(x[rows], "line")
    if has_products:
        more = with_products(base, more)
    target = y[rows] if y.dtype == object else y[rows].astype(float)
    return p_value(np.column_stack([np.ones(rows.sum()), base]), more, target)


def summarise(name: str, n_samples: int, found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the percent of data sets in which anything is included, with its interval."""
    done = [one for one in found if "note" not in one]
    group = CASES[name].group
    row: dict[str, Any] = {"case": name, "shape": group, "n_samples": n_samples}
    row |= {"data sets": len(done), "percent": None, "error": None, "low": None, "high": None}
    if done:
        n_included, goal = sum(bool(one["included"]) for one in done), ROWS[group].goal
        share = n_included / len(done)
        low, high = interval(n_included, len(done))
        error = 100 * (share * (1 - share) / len(done)) ** 0.5
        row |= {"percent": 100 * share, "error": error, "low": low, "high": high}
        is_least = group in ALTERNATIVES
        row["met"] = goal and (100 * share >= goal if is_least else 100 * share <= goal)
        row["cpu_seconds"] = float(np.mean([one["cpu_seconds"] for one in done]))
        warned = Counter(text.split(":")[0] for one in done for text in one.get("warnings", ()))
        row["warned"] = ", ".join(f"{name} {count}" for name, count in warned.items()) or None
        if group in TEXTBOOK:
            row["textbook"] = 100 * float(np.mean([one["textbook"] for one in done]))
    if len(done) < len(found):
        row["notes"] = sorted({one["note"][:80] for one in found if "note" in one})
    return row


def show_group(group: str, rows: Sequence[dict[str, Any]]) -> None:
    """Print the rows of a group, and their mean."""
    names = ("case", "n_samples", "data sets", "percent", "error", "textbook", "met", "warned")
    what = "at least" if group in ALTERNATIVES else "at most"
    show(
        f"{group}: percent of data sets in which x is included, {what} {ROWS[group].goal}",
        (*names, "cpu_seconds", "notes"),
        [tuple(row.get(name) for name in (*names, "cpu_seconds", "notes")) for row in rows],
    )
    known = [row["percent"] for row in rows if row["percent"] is not None]
    if known:
        above = {limit: sum(one > limit for one in known) for limit in (10, 20)}
        print(f"mean {np.mean(known):.1f} ({what} {ROWS[group].mean}); rows above: {above}")


def plan(options: Namespace) -> list[tuple[str, int, int]]:
    """Return name, size and seed of every data set, the first of all cases before the second."""
    keys = [
        (name, n_samples, options.seed + number)
        for name, case in CASES.items()
        if options.only is None or options.only in (case.group, name)
        for n_samples in options.sizes or ROWS[case.group].sizes
        for number in range(options.runs or ROWS[case.group].data_sets)
    ]
    if not keys:
        raise SystemExit(f"No group or case is {options.only!r}. Groups are: {', '.join(ROWS)}.")
    return sorted(keys, key=lambda key: key[2])


def main(arguments: Sequence[str] | None = None) -> None:
    command = resumable(__doc__ or "", runs=None, help_runs="data sets of each case")
    command.add_argument("--sizes", type=int, nargs="+", help="samples, in place of each group's")
    options = command.parse_args(arguments)
    found: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for one in collect("conditional_nulls", plan(options), examine, options):
        found.setdefault(tuple(one["key"][:2]), []).append(one)
    rows = [summarise(*about, data_sets) for about, data_sets in found.items()]
    for group in dict.fromkeys(row["shape"] for row in rows):
        show_group(group, [row for row in rows if row["shape"] == group])
    for name in ("calibration", "conditional_nulls"):
        part = [row for row in rows if (row["shape"] == "tables") == (name == "calibration")]
        if part:
            write(name, options, {"rows": rows if options.out else part})


if __name__ == "__main__":
    main()
