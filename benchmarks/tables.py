"""Write the tables of numbers.md and others from the results, and the rates that prose quotes.

A table stands between two markers in a page, ``<!-- table: NAME -->`` and ``<!-- end -->``, a rate
in a line between ``<!-- rate: NAME -->`` and ``<!-- /rate -->``; what is around them is prose and
stays. ``python benchmarks/tables.py`` writes the pages anew, ``--check`` says whether they are what
would be written.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from statistics import fmean, median
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
REPRODUCTION = ROOT / "docs" / "reproduction" / "numbers.json"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*.md")),
]

PLACE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
RATE = re.compile(r"(<!-- rate: ([\w-]+) -->)[^<]*(<!-- /rate -->)")

#: The parts of a library's name that readers look for, in this order.
VERSIONS = ("python", "numpy", "scipy", "scikit-learn", "numba", "clarabel")

#: The models of power.py by the names in its files.
MODELS = {
    "friedman1": "Friedman I",
    "friedman2": "Friedman II",
    "friedman3": "Friedman III",
    "runge": "Runge",
    "toy": "toy system",
}

#: The tables of ordinary_tables.py by their names in its file, with the settings.
ORDINARY = {
    "friedman": "Friedman I, 1,000 x 10",
    "breast_cancer": "breast cancer, 569 x 30",
    "credit": "credit, 1,000 x 20, 13 label columns",
    "abalone": "abalone, 4,177 x 8, one label column",
    "madelon": "MADELON, 500 columns",
    "ipss": "simulation of IPSS, 500 x 500",
    "wide": "200 x 5,000",
    "wide_lookahead": "200 x 5,000, with look-ahead",
    "forty": "1,000 x 40",
    "tall": "100,000 x 30",
    "million": "1,000,000 x 20",
    "widest": "100 x 100,000",
    "cold": "toy, 1,000 x 3, kernels not compiled",
    "cold_no_bytecode": "the same without Python's byte code",
    "cold_numbers": "a new process: Friedman I, 1,000 x 10",
    "cold_classes": "a new process: breast cancer",
    "cold_mixed": "a new process: credit",
}

#: Other selectors in the results of prediction.py, and methods in those of blankets.py.
PEERS = {"boruta": "Boruta", "rfecv": "RFECV"}
METHODS = {"hiton-mb": "HITON-MB", "iamb": "IAMB", **PEERS}

#: Predictors and names of methods in the results of prediction.py.
PREDICTORS = ("forest", "boosting", "kNN")
SELECTED_BY = {"minimal": "minimal set", "relevant": "all relevant", "mrmr": "mRMR", **PEERS}

#: Methods in the results of synergy.py.
SYNERGY_BY = {"default": "defaults", "multisurf": "MultiSURF", "forest": "forest", **PEERS}

#: Values and methods in the results of explanations.py.
ATOMS = ("unique", "shared", "synergy")
INFORMATION = ("information", "added", *ATOMS)
ATOMS_BY = {"explain": "`explain`", "counting": "counting", "bounds": "bounds"}

#: Methods in the results of compare.py; a dagger for those that only rank and are told a number.
COMPARED = {
    "minimal": "`PIDSelector()`",
    "relevant": '`select="relevant"`',
    "kbest": "SelectKBest, MI †",
    "mrmr": "mRMR †",
    "multisurf": "MultiSURF †",
    "sfs": "SFS",
    "rfecv": "RFECV",
    "boruta": "Boruta",
    "dcrt": "dCRT",
    "hiton": "HITON-MB",
}
COMPARED_TASKS = {
    "blankets": "blankets",
    "synergy": "synergy",
    "copies": "copies",
    "prediction": "prediction",
    "seconds": "time",
    "null": "null",
}
OURS = ("minimal", "relevant")
EVERY_CASE = "all cases"
PAPER_KSG = "as the paper, KSG"
TIMED = "1,000 x 40"  # the table whose time stands in the headline

#: A true unique information below this is 0, in bits: truth by integration has small errors.
ZERO = 0.001

Row = Sequence[str]


@dataclass(frozen=True)
class Records:
    """What was measured: the files of results by their names, and the paper's experiments."""

    results: dict[str, dict[str, Any]]
    reproduction: dict[str, Any]

    @classmethod
    def read(cls, results: Path = RESULTS, reproduction: Path = REPRODUCTION) -> Records:
        """Read all files."""
        found = {path.stem: _read(path) for path in sorted(results.glob("*.json"))}
        return cls(found, _read(reproduction))

    def of(self, name: str) -> Any:
        """Return the numbers of a benchmark."""
        return self.results[name]["results"]

    def cells(self, experiment: str, comparison: str) -> dict[tuple[str, str], dict[str, Any]]:
        """Return the cells of one of the paper's tables, by row and column."""
        by_name = {one["name"]: one for one in self.reproduction["experiments"]}
        tables = {one["name"]: one for one in by_name[experiment]["comparisons"]}
        return {(cell["row"], cell["column"]): cell for cell in tables[comparison]["cells"]}


def _read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def markdown(header: Row, rows: Iterable[Row]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def number(value: float | None, digits: int = 1) -> str:
    """Return a number with its thousands set apart, halves rounded up; nothing for None."""
    return "" if value is None else f"{value + 1e-9:,.{digits}f}"


def short(value: float | None) -> str:
    """Return a number with about three digits that count; nothing for None."""
    if value is None:
        return ""
    digits = 3 if abs(value) < 1 else 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return number(value, digits)


def mean(cell: dict[str, Any] | None, digits: int = 1) -> str:
    """Return the mean of our runs."""
    return "" if cell is None else number(cell["ours"]["mean"], digits)


def power(records: Records) -> str:
    """True and false positives for the models of the paper, with the published numbers."""
    friedman, runge = records.cells("friedman", "rates"), records.cells("runge", "rates")
    rows = []
    for model in ("Friedman I", "Friedman II", "Friedman III", "Runge"):
        row = [model]
        for way in ("CMI", "MI", "MI, no backward", "our defaults"):
            found, taken = (
                runge[way, rate] if model == "Runge" else friedman[model, f"{way}: {rate}"]
                for rate in ("TP", "FP")
            )
            row.append(f"{mean(found)} / {mean(taken)}")
            if way in ("CMI", "MI"):
                row.append(f"{number(found['paper'])} / {number(taken['paper'])}")
        rows.append(row)
    header = ["model", '`"cmi"`', "paper", '`"mi"`', "paper", '`"mi"`, no backward', "defaults"]
    return markdown(header, rows)


def each_column(records: Records) -> str:
    """How often the defaults select each column of the paper's models."""
    rows = []
    for name, title in MODELS.items():
        found = records.of(f"power-{name}")
        model = found["toy"] if name == "toy" else found["models"][0]
        shares = [f"{column} {one['percent']:.0f}" for column, one in model["features"].items()]
        rows.append([title, ", ".join(shares)])
    return markdown(["model", "percent of 100 data sets in which each column was selected"], rows)


def shares(records: Records, experiment: str, comparison: str, digits: int = 1) -> str:
    """One of the tables of the paper's experiments that has only our numbers."""
    cells = records.cells(experiment, comparison)
    rows, columns = (list(dict.fromkeys(key[axis] for key in cells)) for axis in (0, 1))
    table = [[row, *(mean(cells.get((row, column)), digits) for column in columns)] for row in rows]
    return markdown(["", *columns], table)


def calibration(records: Records) -> str:
    """How often anything is selected where nothing is relevant."""
    rows = [
        [one["case"], f"{one['data sets']:,}", number(one["percent"]), _interval(one)]
        for one in records.of("calibration")["rows"]
    ]
    return markdown(["columns", "data sets", "false positives, %", "95 % interval"], rows)


def _interval(row: dict[str, Any]) -> str:
    return f"{row['low']:.1f} to {row['high']:.1f} %"


def conditional_nulls(records: Records) -> str:
    """How often a function of the conditioning set, or an informative column, is included."""
    rows = [
        [
            *(row["case"], row["shape"], f"{row['n_samples']:,}", str(row["data sets"])),
            *(number(row["percent"]), _interval(row)),
        ]
        for row in records.of("conditional_nulls")["rows"]
    ]
    header = ["x and y", "shape", "samples", "data sets", "x included, %", "95 % interval"]
    return markdown(header, rows)


def functions_given(records: Records) -> str:
    """The same in short: mean and largest share by the shape of the function."""
    found = records.of("conditional_nulls")["rows"]
    rows = []
    for shape, size in dict.fromkeys((row["shape"], row["n_samples"]) for row in found):
        percent = [
            row["percent"] for row in found if (row["shape"], row["n_samples"]) == (shape, size)
        ]
        ends = [number(fmean(percent)), number(min(percent)), number(max(percent))]
        rows.append([shape, f"{size:,}", str(len(percent)), *ends])
    return markdown(["shape", "samples", "cases", "mean, %", "smallest", "largest"], rows)


def synergy(records: Records) -> str:
    """Columns that act jointly: how often exactly these are selected."""
    rows = [
        [
            one["description"],
            SYNERGY_BY.get(one["method"], f"`{one['method']}`"),
            *(_exact(one) if one["runs"] else [one["note"], "", "", "", "", ""]),
        ]
        for one in records.of("synergy-cases")["rows"]
    ]
    header = ["case", "method", "exactly these", "95 % interval", "found", "false", "time", "CPU"]
    return markdown(header, rows)


def _exact(one: dict[str, Any]) -> list[str]:
    interval = f"{one['low']:.0f} to {one['high']:.0f} %"
    found = f"{number(one['found'])} of {one['relevant']}"
    times = [f"{short(one[key])} s" for key in ("seconds", "cpu_seconds")]
    return [f"{one['exact']} of {one['runs']}", interval, found, number(one["false"], 2), *times]


def synergy_published(records: Records) -> str:
    """Share of relevant columns found in published data sets, beside published shares."""
    rows = []
    for one in records.of("synergy-published")["rows"]:
        if one["runs"]:
            shares = [number(one[key], 2) for key in ("share_found", "false")]
            cells = [*shares, f"{short(one['seconds'])} s"]
        else:
            cells = [one["note"], "", ""]
        best = f"{number(one['published'], 2)} ({one['published_by']})"
        method = SYNERGY_BY.get(one["method"], f"`{one['method']}`")
        about = [one["data"], f"{one['columns']:,}", method, str(one["runs"])]
        rows.append([*about, *cells, best])
    header = ["data", "columns", "method", "tables", "share found", "false", "time"]
    return markdown([*header, "best published share"], rows)


def estimates(records: Records) -> str:
    """The time of one estimate beside other packages."""
    found = records.of("speed")["estimate"]
    peers = list(dict.fromkeys(row["by"] for row in found))
    rows = []
    for (samples, given), group in groupby(found, lambda row: (row["samples"], row["given"])):
        times = {row["by"]: short(row["ms"]) for row in group}
        rows.append([f"{samples:,}", str(given), *(times.get(peer, "") for peer in peers)])
    return markdown(["samples", "conditioning columns", *(f"{peer}, ms" for peer in peers)], rows)


def selections(records: Records) -> str:
    """The time of whole selections."""
    rows = [
        [one["problem"], one["settings"], f"{short(one['seconds'])} s", one["found"]]
        for one in records.of("speed")["selection"]
    ]
    gpu = records.of("gpu")["appendix"]
    right = f"{len(set(gpu['selected']) & set(gpu['informative']))} of {len(gpu['informative'])}"
    name = f"10 of 50 columns, {gpu['n']:,} samples"
    rows.append([name, "paper, on a GPU", f"{gpu['seconds']:.0f} s", right])
    return markdown(["problem", "settings", "time", "relevant found"], rows)


def ordinary(records: Records) -> str:
    """The time of a fit, an explanation and a report on tables of usual shapes."""
    found = records.of("ordinary_tables")["rows"]
    before = {(row["table"], row["work"]): row for row in found if row["version"] == "before"}
    rows = []
    for row in found:
        table, work, version = (row[key] for key in ("table", "work", "version"))
        if version == "before":
            continue
        rows.append(
            [
                ORDINARY[table],
                work,
                _time(before.get((table, work))),
                _time(row),
                "" if row["goal"] is None else f"{row['goal']:g} s",
                f"{row['peak_mb']:.0f} MB" if "peak_mb" in row else "",
                str(len(row["selected"])) if "selected" in row else "",
                f"{row['right']} of {row['relevant']}" if "right" in row else "",
            ]
        )
    header = ["table", "work", "before", "now", "goal", "memory", "selected", "relevant found"]
    return markdown(header, rows)


def _time(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    seconds = row.get("cpu_seconds", row.get("seconds"))
    return row["note"] if seconds is None else f"{short(seconds)} s"


def decompositions(records: Records) -> str:
    """The time of decompositions beside other solvers."""
    found = records.of("pid")
    rows = [
        [
            f"BROJA, {one['size']}",
            f"{short(one['pidselect_ms'])} ms",
            f"{short(one['clarabel_ms'])} ms",
            f"{short(one['dit_ms'])} ms",
        ]
        for one in found["broja"]
    ]
    for one in found["imin"]:
        ours, theirs = f"{short(one['pidselect_ms'])} ms", f"{short(one['dit_ms'])} ms"
        rows.append([f"I_min, {one['sources']} sources, {one['atoms']} atoms", ours, "", theirs])
    one = found["bootstrap"]
    rows.append(
        [f"{one['resamples']:,} resamples, {one['size']}", f"{one['seconds']:.2f} s", "", ""]
    )
    return markdown(["work", "pidselect", "Clarabel, `solve()` alone", "dit"], rows)


def stress(records: Records) -> str:
    """Ill-conditioned distributions decomposed by BROJA."""
    found = records.of("broja_stress")
    rows = []
    for name, one in {**found["kinds"], "all": found["all"]}.items():
        sure = [str(one["failures"]), f"{one['largest_gap_bit']:.1e}"]
        times = [f"{one['median_ms']:.2f}", f"{one['slowest_ms']:.1f}"]
        rows.append([name, f"{one['distributions']:,}", *sure, *times])
    header = ["kind", "distributions", "failures", "largest gap, bit", "median, ms", "slowest, ms"]
    return markdown(header, rows)


def prediction(records: Records) -> str:
    """Scores of predictors with selected columns, minus those with all columns."""
    rows = []
    for one in records.of("prediction")["rows"]:
        is_all = one["method"] == "all"
        scores = [_with_error(one[name], signed=not is_all) for name in PREDICTORS]
        name = SELECTED_BY.get(one["method"], one["method"])
        counts = [number(one[count]) for count in ("n_features", "n_probes")]
        rows.append([one["table"].replace("_", " "), name, *scores, *counts])
    return markdown(["table", "columns", *PREDICTORS, "number", "probes"], rows)


def _with_error(score: dict[str, float], signed: bool = True) -> str:
    """Return a score with its standard error in brackets."""
    return f"{score['mean']:{'+' if signed else ''}.3f} ({score['standard_error']:.3f})"


def blankets(records: Records) -> str:
    """Members of Markov blankets that are found, and precision, beside other methods."""
    rows = []
    for one in records.of("blankets")["rows"]:
        rates = [number(one[rate], 2) for rate in ("recall", "precision", "f1")]
        name = METHODS.get(one["method"], one["method"])
        rows.append([one["network"], name, str(one["fits"]), *rates, f"{short(one['seconds'])} s"])
    header = ["network", "method", "fits", "recall", "precision", "F1", "time of a blanket"]
    return markdown(header, rows)


def dimensions(records: Records) -> str:
    """How often a column is found given so many others."""
    found = records.of("neighbours")["dimensions"]
    given = list(dict.fromkeys(row["n_given"] for row in found))
    rows = []
    for (name, size), group in groupby(found, lambda row: (row["estimator"], row["n_samples"])):
        rows.append([f'`"{name}"`', f"{size:,}", *(str(row["included"]) for row in group)])
    return markdown(["estimator", "samples", *(f"d = {one}" for one in given)], rows)


def more_neighbours(records: Records) -> str:
    """How often a weak linear effect is found with few and with many neighbours."""
    rows = [
        [str(row["k"]), f"{row['included']} of {row['data sets']}"]
        for row in records.of("neighbours")["k"]
    ]
    return markdown(["k", "y = 0.25 x + noise is found, 500 samples"], rows)


def explained(records: Records) -> dict[int, list[dict[str, Any]]]:
    """Return the features of explanations.py by their number of samples."""
    rows = [row for row in records.of("explanations")["rows"] if "covered" in row]
    return {size: [*group] for size, group in groupby(rows, lambda row: int(row["samples"]))}


def explanation_errors(records: Records) -> str:
    """Root mean square errors of explanations over all features of all systems."""
    rows = []
    for size, found in explained(records).items():
        known = [row for row in found if all(row[method] for method in ATOMS_BY)]
        runs = sorted({row["runs"] for row in known})
        about = [f"{size:,}", " to ".join(str(end) for end in dict.fromkeys((runs[0], runs[-1])))]
        for method, title in ATOMS_BY.items():
            errors = [
                math.sqrt(sum(row[method]["rmse"][value] ** 2 for row in known) / len(known))
                for value in INFORMATION
            ]
            rows.append([*about, str(len(known)), title, *(number(one, 3) for one in errors)])
    return markdown(["samples", "data sets", "features", "values by", *INFORMATION], rows)


def explanation_systems(records: Records) -> str:
    """The same for every feature: unique, shared and synergistic information."""
    by_feature: dict[tuple[str, str], list[Row]] = {}
    for size, found in explained(records).items():
        for row in found:
            columns = [row["true"], row["explain"]["bias"]]
            columns += [row[method] and row[method]["rmse"] for method in ATOMS_BY]
            about = row["system"], row["feature"]
            cells = [*about, f"{size:,}", *map(_atoms, columns)]
            by_feature.setdefault(about, []).append(cells)
    header = ["system", "feature", "samples", "true", "bias of `explain`"]
    header += [f"error of {title}" for title in ATOMS_BY.values()]
    return markdown(header, chain.from_iterable(by_feature.values()))


def _atoms(values: dict[str, float] | None) -> str:
    if values is None:
        return ""
    return " / ".join(f"{round(values[atom], 2) + 0.0:.2f}" for atom in ATOMS)


def explanation_coverage(records: Records) -> str:
    """How often 95 % intervals have the true value."""
    rows = []
    for size, found in explained(records).items():
        for value in INFORMATION:
            covered = [row["covered"][value] for row in found]
            below = [row["too_low"][value] for row in found]
            width = median(row["width"][value] for row in found)
            few = f"{sum(one < 90 for one in covered)} of {len(found)}"
            shares = [number(fmean(one)) for one in (covered, below)]
            rows.append([f"{size:,}", value, *shares, few, number(width, 3)])
    header = ["samples", "value", "covered, %", "true value above, %", "features below 90 %"]
    return markdown([*header, "median width, bit"], rows)


def explanation_lower_bounds(records: Records) -> str:
    """How often values are shown as lower bounds, and are."""
    rows = []
    for size, found in explained(records).items():
        runs, flagged, right = (
            sum(row[key] for row in found) for key in ("runs", "flagged", "flagged_too_low")
        )
        below = round(sum(row["too_low"]["added"] * row["runs"] / 100 for row in found))
        shares = [f"{right} of {flagged}", f"{below - right} of {runs - flagged}"]
        rows.append([f"{size:,}", f"{flagged} of {runs}", *shares])
    header = ["samples", '"at least"', "of these, interval below the true value"]
    return markdown([*header, "of the others, interval below the true value"], rows)


def explanation_nulls(records: Records) -> str:
    """How often the interval of unique information excludes 0 where that is true."""
    by_size = explained(records)
    cells: dict[tuple[str, str], dict[int, str]] = {}
    for size, found in by_size.items():
        for row in found:
            if row["true"]["unique"] < ZERO:
                one = cells.setdefault((row["system"], row["feature"]), {})
                one[size] = f"{row['unique_above_0']} of {row['runs']}"
    rows = [[*key, *(one.get(size, "") for size in by_size)] for key, one in cells.items()]
    return markdown(["system", "feature", *(f"N = {size:,}" for size in by_size)], rows)


def explanation_given(records: Records) -> str:
    """Estimates of I(f; y | R) for the sum of normal features, by the number of those in R."""
    found = [row for row in records.of("explanations")["rows"] if "covered" not in row]
    cells = {(row["features"] - 1, row["samples"]): row for row in found}
    given, sizes = (sorted({key[axis] for key in cells}) for axis in (0, 1))
    rows = []
    for n_given in given:
        row = [str(n_given), number(cells[n_given, sizes[0]]["true"]["added"], 3)]
        for method in ("bounds", "explain"):
            for size in sizes:
                one = cells[n_given, size]
                row.append(number(one["true"]["added"] + one[method]["bias"]["added"], 3))
        rows.append(row)
    header = [f"{way}, N = {size:,}" for way in ("plain", "residuals") for size in sizes]
    return markdown(["features in the rest", "true", *header], rows)


def explanation_seconds(records: Records) -> str:
    """The time of an explanation for each feature, by the number of features in the set."""
    by_size = explained(records)
    counts = sorted({row["features"] for found in by_size.values() for row in found})
    rows = []
    for count in counts:
        cells = [str(count)]
        for found in by_size.values():
            times = [row["seconds"] for row in found if row["features"] == count]
            cells.append(f"{short(median(times))} s" if times else "")
        rows.append(cells)
    return markdown(["features", *(f"N = {size:,}" for size in by_size)], rows)


@dataclass(frozen=True)
class Compared:
    """A column of a comparison: which mean is shown, how, and what is best."""

    title: str
    task: str
    measure: str
    case: str = EVERY_CASE
    digits: int = 2
    percent: bool = False
    signed: bool = False
    best: Callable[..., float] | None = max

    def cells(self, records: Records) -> dict[str, str]:
        """Return a cell for each method: mean, standard error in brackets, the best in bold.

        Means that differ from the best by a standard error of the difference or less are bold,
        too. A method that is not for every case is not compared, nor one with a single table where
        others have several.
        """
        found = {
            row["method"]: row
            for row in records.of("comparison")["rows"]
            if (row["task"], row["case"]) == (self.task, self.case)
        }
        n_cases = max((row["cases"] for row in found.values()), default=0)
        known = {
            method: row[self.measure]
            for method, row in found.items()
            if row["cases"] == n_cases and self.measure in row and method != "all"
        }
        leader = (
            self.best(known.values(), key=lambda one: one["mean"]) if known and self.best else None
        )
        cells = {}
        for method, row in found.items():
            text = self._text(row, n_cases)
            if method in known and leader is not None and _is_near(known[method], leader):
                text = f"**{text}**"
            cells[method] = text
        return cells

    def _text(self, row: dict[str, Any], n_cases: int) -> str:
        if self.measure not in row:
            return ", ".join(row.get("notes", {}))
        scale, one = 100.0 if self.percent else 1.0, row[self.measure]
        sign = "+" if self.signed and row["method"] != "all" else ""
        text = f"{round(scale * one['mean'], self.digits) + 0.0:{sign}.{self.digits}f}"
        if one["standard_error"] is not None:
            text += f" ({scale * one['standard_error']:.{self.digits}f})"
        return text if row["cases"] == n_cases else f"{text}, {row['cases']} of {n_cases} cases"


def _is_near(one: dict[str, float], leader: dict[str, float]) -> bool:
    error = math.hypot(one["standard_error"] or 0.0, leader["standard_error"] or 0.0)
    return abs(one["mean"] - leader["mean"]) <= error


def comparison(records: Records, columns: Iterable[Compared]) -> str:
    """A line for each method, a column for each mean."""
    by_column = {one.title: one.cells(records) for one in columns}
    known = {method for cells in by_column.values() for method in cells}
    names = {"all": "all columns", **COMPARED}
    rows = [
        [title, *(cells.get(method, "") for cells in by_column.values())]
        for method, title in names.items()
        if method in known
    ]
    return markdown(["method", *by_column], rows)


def comparison_cases(records: Records, task: str, measure: str, **settings: Any) -> str:
    """The same with a column for each case of a task."""
    titles = records.of("comparison")["titles"][task]
    columns = [Compared(title, task, measure, title, **settings) for title in titles]
    return comparison(records, columns)


def comparison_better(records: Records) -> str:
    """Cases in which the best mean is another method's, beside the better one of ours."""
    rows = []
    for title, measure, best, digits in BETTER:
        found: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
        for row in records.of("comparison")["rows"]:
            if measure in row and row["method"] != "all" and row["case"] != EVERY_CASE:
                found.setdefault((row["task"], row["case"]), {})[row["method"]] = row
        for (task, case), by_method in found.items():
            own, other = (
                best(
                    (row for method, row in by_method.items() if (method in OURS) == is_own),
                    key=lambda row: row[measure]["mean"],
                )
                for is_own in (True, False)
            )
            gain = abs(other[measure]["mean"] - own[measure]["mean"])
            if best(own, other, key=lambda row: row[measure]["mean"]) is own or not gain:
                continue
            errors = [row[measure]["standard_error"] for row in (other, own)]
            is_sure = None not in errors and gain > 2 * math.hypot(*errors)
            cells = [_named(row, measure, digits) for row in (other, own)]
            if is_sure:
                cells[0] = f"**{cells[0]}**"
            rows.append([COMPARED_TASKS[task], case, title, *cells])
    return markdown(["task", "tables", "measure", "best", "the better of ours"], rows)


def _named(row: dict[str, Any], measure: str, digits: int) -> str:
    one = row[measure]
    error = "" if one["standard_error"] is None else f" ({one['standard_error']:.{digits}f})"
    return f"{COMPARED[row['method']]} {one['mean']:.{digits}f}{error}, n = {row['tables']}"


def comparison_counts(records: Records) -> str:
    """The number of tables of each method and task, and what was not measured."""
    found = {
        (row["method"], row["task"]): row
        for row in records.of("comparison")["rows"]
        if row["case"] == EVERY_CASE
    }
    rows = []
    for method, title in COMPARED.items():
        cells = []
        for task in COMPARED_TASKS:
            row = found.get((method, task), {"tables": 0})
            notes = [f"{count} {note}" for note, count in row.get("notes", {}).items()]
            cells.append("; ".join([str(row["tables"]), *notes]))
        rows.append([title, *cells])
    return markdown(["method", *COMPARED_TASKS.values()], rows)


def comparison_versions(records: Records) -> str:
    """Versions of the selectors, and machines."""
    rows = []
    for place, machine in enumerate(records.of("comparison")["machines"], start=1):
        packages = {name: machine["others"].get(name) for name in ("scikit-learn", *OTHERS)}
        versions = ", ".join(f"{name} {version}" for name, version in packages.items())
        cpu = f"{machine['cpu']}, {machine['logical_cpus']} threads"
        ours = f"pidselect {machine['pidselect']}, numba {machine['numba']}"
        about = f"{ours}, numpy {machine['numpy']}, scipy {machine['scipy']}, {versions}"
        rows.append([str(place), cpu, f"Python {machine['python']}, {about}", str(machine["jobs"])])
    return markdown(["", "machine", "versions", "cells at a time"], rows)


#: Measures by which other methods may be better: title, name, what is best, digits.
BETTER: tuple[tuple[str, str, Callable[..., float], int], ...] = (
    ("F1", "f1", max, 2),
    ("forest, minus all columns", "forest", max, 3),
    ("linear, minus all columns", "linear", max, 3),
)

#: Packages of other selectors in the results of compare.py.
OTHERS = ("boruta", "skrebate", "mrmr_selection", "hidimstat")

HEADLINE = (
    Compared("blankets, F1", "blankets", "f1"),
    Compared("synergy, F1", "synergy", "f1"),
    Compared("copies and probes, F1", "copies", "f1"),
    Compared("forest, minus all columns", "prediction", "forest", digits=3, signed=True),
    Compared("linear, minus all columns", "prediction", "linear", digits=3, signed=True),
    Compared("columns", "prediction", "columns", digits=1, best=None),
    Compared("probes of 10", "prediction", "probes", digits=1, best=min),
    Compared("null tables with any, %", "null", "any", digits=0, percent=True, best=min),
    Compared(f"CPU seconds, {TIMED}", "seconds", "cpu_seconds", TIMED, best=min),
)
BLANKETS = (
    Compared("recall", "blankets", "recall"),
    Compared("precision", "blankets", "precision"),
    Compared("F1", "blankets", "f1"),
)
SYNERGY = (
    Compared("found, %", "synergy", "recall", digits=0, percent=True),
    Compared("false columns", "synergy", "false", best=min),
    Compared("F1", "synergy", "f1"),
)
COPIES = tuple(
    Compared(f"{title}: {name}", "copies", measure, title, **settings)
    for title in ("numeric target", "two classes")
    for name, measure, settings in (
        ("found, %", "recall", {"digits": 0, "percent": True}),
        ("further copies", "copies", {"digits": 1, "best": min}),
        ("probes of 10", "probes", {"digits": 1, "best": min}),
        ("F1", "f1", {}),
    )
)


def circumstances(records: Records) -> str:
    """When and on what every file was measured."""
    rows = []
    for name, record in records.results.items():
        options, about = record.get("options", {}), record["environment"]
        cpu = about.get("gpu") or f"{about['cpu']}, {about['logical_cpus']} threads"
        runs = f"{options['runs']:,}" if options.get("runs") else ""
        rows.append([f"`{name}.json`", _day(record["date"]), runs, cpu, _versions(about)])
    made = _day(records.reproduction["made"])
    for about in records.reproduction["environments"]:
        cpu = f"{about['cpu']}, {about['logical_cpus']} threads"
        rows.append(["`numbers.json`", made, f"{about['runs']:,}", cpu, _versions(about)])
    return markdown(["file", "date", "runs", "machine", "versions"], rows)


def _day(date: str) -> str:
    day = datetime.fromisoformat(date)
    return f"{day.day} {day:%B %Y}"


def _versions(about: dict[str, Any]) -> str:
    known = [f"{name} {about[name]}" for name in VERSIONS if name in about]
    return ", ".join(known)


TABLES: dict[str, Callable[[Records], str]] = {
    "power": power,
    "columns": each_column,
    "toy": partial(shares, experiment="toy", comparison="sets"),
    "medium-found": partial(shares, experiment="medium", comparison="found"),
    "medium-others": partial(shares, experiment="medium", comparison="false positives"),
    "calibration": calibration,
    "conditional-nulls": conditional_nulls,
    "functions-given": functions_given,
    "synergy": synergy,
    "synergy-published": synergy_published,
    "estimates": estimates,
    "selections": selections,
    "ordinary": ordinary,
    "decompositions": decompositions,
    "stress": stress,
    "blankets": blankets,
    "prediction": prediction,
    "circumstances": circumstances,
    "explanation-errors": explanation_errors,
    "explanation-systems": explanation_systems,
    "explanation-coverage": explanation_coverage,
    "explanation-lower-bounds": explanation_lower_bounds,
    "explanation-nulls": explanation_nulls,
    "explanation-given": explanation_given,
    "explanation-seconds": explanation_seconds,
    "comparison": partial(comparison, columns=HEADLINE),
    "comparison-blankets": partial(comparison, columns=BLANKETS),
    "comparison-networks": partial(comparison_cases, task="blankets", measure="f1"),
    "comparison-synergy": partial(comparison, columns=SYNERGY),
    "comparison-joint": partial(comparison_cases, task="synergy", measure="f1"),
    "comparison-copies": partial(comparison, columns=COPIES),
    "comparison-forest": partial(
        comparison_cases, task="prediction", measure="forest", digits=3, signed=True
    ),
    "comparison-linear": partial(
        comparison_cases, task="prediction", measure="linear", digits=3, signed=True
    ),
    "comparison-columns": partial(
        comparison_cases, task="prediction", measure="columns", digits=1, best=None
    ),
    "comparison-probes": partial(
        comparison_cases, task="prediction", measure="probes", digits=1, best=min
    ),
    "comparison-null": partial(
        comparison_cases, task="null", measure="any", digits=0, percent=True, best=min
    ),
    "comparison-null-columns": partial(
        comparison_cases, task="null", measure="columns", digits=1, best=min
    ),
    "comparison-seconds": partial(
        comparison_cases, task="seconds", measure="cpu_seconds", best=min
    ),
    "comparison-better": comparison_better,
    "comparison-counts": comparison_counts,
    "comparison-versions": comparison_versions,
    "dimensions": dimensions,
    "more-neighbours": more_neighbours,
}


def between(values: Iterable[float], digits: int = 0) -> str:
    """Return the smallest and the largest of some values."""
    found = sorted(values)
    return f"{number(found[0], digits)} to {number(found[-1], digits)}"


def error_of(records: Records, value: str) -> str:
    """Return the root mean square error of a value of explanations of 1,000 samples, in bits."""
    known = [row for row in explained(records)[1000] if all(row[method] for method in ATOMS_BY)]
    return number(math.sqrt(fmean(row["explain"]["rmse"][value] ** 2 for row in known)), 2)


def covered(records: Records) -> str:
    """Return how often intervals of explanations of 1,000 samples have the true value."""
    found = explained(records)[1000]
    return between(fmean(row["covered"][value] for row in found) for value in INFORMATION)


def compared_in(records: Records, task: str, measure: str, *methods: str, case: str = "") -> str:
    """Return the mean of a measure of the comparison, or the range over its cases, in percent."""
    rows = [row for row in records.of("comparison")["rows"] if row["task"] == task]
    found = [
        100 * row[measure]["mean"]
        for row in rows
        if row["method"] in methods and (row["case"] == case if case else row["case"] != EVERY_CASE)
        if row.get(measure)
    ]
    return f"{found[0]:.0f}" if case else between(found)


def loss(records: Records, predictor: str) -> str:
    """Return what a predictor with the minimal set loses against all columns, on average."""
    rows = [row for row in records.of("comparison")["rows"] if row["task"] == "prediction"]
    (one,) = (row for row in rows if (row["case"], row["method"]) == (EVERY_CASE, OURS[0]))
    return number(-one[predictor]["mean"], 3)


def same_function(records: Records, shape: str) -> str:
    """Return how often a function of the conditioning set is included, in percent."""
    found = [row for row in records.of("conditional_nulls")["rows"] if row["shape"] == shape]
    largest = max(row["n_samples"] for row in found)
    return number(fmean(row["percent"] for row in found if row["n_samples"] == largest))


def found_of_ten(records: Records, row: str, column: str) -> str:
    """Return how many of ten columns are found in the experiment of Appendix C."""
    return mean(records.cells("medium", "found")[row, column])


def neighbours_found(records: Records, k: int) -> str:
    """Return in how many data sets a weak relation is found with k neighbours."""
    (one,) = (row for row in records.of("neighbours")["k"] if row["k"] == k)
    return f"{one['included']} of {one['data sets']}"


RATES: dict[str, Callable[[Records], str]] = {
    "null": lambda r: number(fmean(one["percent"] for one in r.of("calibration")["rows"])),
    "null-sorts": lambda r: str(len(r.of("calibration")["rows"])),
    "agreeing": lambda r: str(r.reproduction["totals"]["claims"]["agrees"]),
    "decided": lambda r: str(
        sum(map(r.reproduction["totals"]["claims"].get, ("agrees", "differs")))
    ),
    "error-unique": partial(error_of, value="unique"),
    "error-added": partial(error_of, value="added"),
    "error-synergy": partial(error_of, value="synergy"),
    "covered": covered,
    "found-k4": partial(neighbours_found, k=4),
    "found-k20": partial(neighbours_found, k=20),
    "paper-fit": lambda r: number(r.of("speed")["selection"][0]["seconds"]),
    "appendix-ksg-100": partial(found_of_ten, row="10 of 50, N = 100", column=PAPER_KSG),
    "appendix-ksg-1000": partial(found_of_ten, row="10 of 50, N = 1,000", column=PAPER_KSG),
    "appendix-ksg-50000": partial(found_of_ten, row="10 of 50, N = 50,000", column=PAPER_KSG),
    "appendix-100": partial(found_of_ten, row="10 of 50, N = 100", column="our defaults"),
    "appendix-1000": partial(found_of_ten, row="10 of 50, N = 1,000", column="our defaults"),
    "functions-smooth": partial(same_function, shape="smooth"),
    "functions-kink": partial(same_function, shape="kink or jump"),
    "compared-null": lambda r: compared_in(r, "null", "any", *OURS),
    "compared-null-dcrt": lambda r: compared_in(r, "null", "any", "dcrt"),
    "compared-null-hiton": lambda r: compared_in(r, "null", "any", "hiton"),
    "copies-ours": lambda r: compared_in(r, "copies", "recall", "minimal", case="two classes"),
    "copies-rfecv": lambda r: compared_in(r, "copies", "recall", "rfecv", case="two classes"),
    "loss-forest": partial(loss, predictor="forest"),
    "loss-linear": partial(loss, predictor="linear"),
    "gpu-ms": lambda r: number(r.of("gpu")["step"][1]["gpu ms"], 2),
    "gpu-ratio": lambda r: number(r.of("gpu")["step"][1]["ratio"], 0),
    "gpu-appendix": lambda r: number(r.of("gpu")["appendix"]["seconds"], 0),
    "one-fit": lambda r: number(r.of("speed")["selection"][1]["seconds"]),
}


def filled(page: str, records: Records) -> str:
    """Return the page with every table and rate between its markers written anew."""

    def of(kind: str, known: dict[str, Callable[[Records], str]], name: str) -> str:
        if name not in known:
            raise ValueError(f"There is no {kind} {name!r}. Known are: {', '.join(known)}.")
        return known[name](records)

    def table(found: re.Match[str]) -> str:
        return f"{found[1]}\n{of('table', TABLES, found[2])}\n{found[3]}"

    def rate(found: re.Match[str]) -> str:
        return f"{found[1]}{of('rate', RATES, found[2])}{found[3]}"

    return RATE.sub(rate, PLACE.sub(table, page))


def main() -> int:
    """Write the pages, or say whether they are up to date."""
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("--check", action="store_true", help="write nothing; fail if one differs")
    check = options.parse_args().check
    records, is_old = Records.read(), False
    for path in PAGES:
        page = path.read_text(encoding="utf-8")
        written = filled(page, records)
        is_old |= page != written
        if check:
            print(f"{path.name} is {'as the results are' if page == written else 'out of date'}")
        else:
            path.write_text(written, encoding="utf-8")
            print(f"written to {path}")
    return int(check and is_old)


if __name__ == "__main__":
    sys.exit(main())
