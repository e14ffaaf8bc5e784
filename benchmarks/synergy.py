"""Features that act jointly: how often exactly these are selected, and what that takes.

`cases`: pairs and triples of many sorts. `published`: the data of Passemiers et al. (Scientific
Reports 14, 2024), beside their numbers. `heritability`: pairs of loci by heritability, allele
frequency, samples and columns; `--plot` draws the stored numbers. `compare.py` has other selectors
on some of these tables.
"""

from __future__ import annotations

import json
import os
import time
from argparse import Namespace
from collections.abc import Callable, Sequence
from fnmatch import fnmatch
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean, median
from typing import Any, NamedTuple

import numpy as np
import synergy_data as data
from common import RESULTS, fit, interval, parser, positive, repeat, show, write

from pidselect import PIDSelector

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "synergy_heritability.png"

LEAST = 90.0  # percent of the tables in which exactly the relevant columns must be selected

COLUMNS = (64, 128, 256, 512, 1024, 2048)
HERITABILITIES, ALLELES = (0.05, 0.1, 0.2, 0.4), (0.2, 0.4)
LOCI_SAMPLES, LOCI_COLUMNS = (400, 800, 1600), (20, 100, 1000)

#: The best published share of relevant columns among as many as there are, by number of columns:
#: mean of six folds of one data set, 833 rows each, of 21 methods (results of their repository).
PUBLISHED: dict[str, tuple[tuple[float, str], ...]] = {
    "xor": (
        *((1.0, "Relief, LassoNet"), (1.0, "LassoNet"), (1.0, "Relief, LassoNet")),
        *((1.0, "LassoNet"), (0.0, "any"), (0.08, "FSNet")),
    ),
    "ring": ((1.0, "forest, TreeSHAP, mRMR"),) * 6,
    "ring+xor": (
        *((1.0, "forest, TreeSHAP, mRMR"), (1.0, "forest, TreeSHAP")),
        *((0.75, "forest, TreeSHAP"), (0.75, "forest"), (0.71, "forest"), (0.67, "forest")),
    ),
    "ring+xor+sum": (
        *((1.0, "forest"), (0.97, "forest"), (0.67, "forest, LassoNet")),
        *((0.64, "forest"), (0.72, "forest"), (0.58, "forest")),
    ),
}

TIMES = ("seconds", "cpu_seconds")  # medians, printed for every part

Row = dict[str, Any]


class Cell(NamedTuple):
    """Tables of one sort, what their row tells of them, and the seconds that a fit may take."""

    make: Callable[[np.random.Generator], data.Problem]
    about: Row
    seconds: float | None = None
    on_request: bool = False  # too long for 50 tables: only if named by --only


class Part(NamedTuple):
    """Sorts of tables by name, how many tables of each, and what is printed of a row."""

    cells: dict[str, Cell]
    runs: int
    shown: tuple[str, ...]


def case(
    description: str,
    make: Callable[..., data.Problem],
    seconds: float | None = None,
    on_request: bool = False,
    **settings: Any,
) -> Cell:
    """Return a cell of `cases`."""
    return Cell(partial(make, **settings), {"description": description}, seconds, on_request)


CASES = {
    "loci": case("two of 20 loci, minor allele 0.2", data.loci),
    "loci_common": case("two of 20 loci, minor allele 0.4", data.loci, minor_allele=0.4),
    "mixed": case("two loci among 20 mixed columns, minor allele 0.2", data.mixed_loci, 2.0),
    "mixed_common": case(
        "two loci among 20 mixed columns, minor allele 0.4", data.mixed_loci, 2.0, minor_allele=0.4
    ),
    "xor": case("sign of x1 x2, 20 columns", data.xor),
    "xor_1024": case("sign of x1 x2, 1,024 columns", data.xor, 30.0, n_columns=1024),
    "xor_2048": case("sign of x1 x2, 2,048 columns", data.xor, 120.0, n_columns=2048),
    "xor_cuts": case("XOR, cuts at 0.3 and 0.7", data.xor_cuts),
    "xor_cuts_pure": case("XOR, cuts at 0.3 and 0.7, no marginal effects", data.xor_cuts_pure),
    "checkerboard": case("checkerboard of 4 x 4", data.checkerboard),
    "product_uniform": case("y = x1 x2 + noise, uniform x", data.product_uniform),
    "product_normal": case("y = x1 x2 + noise, normal x", data.product_normal),
    "three_labels": case("(a + b) mod 3, three labels", data.three_labels),
    "given_number": case("y = 2 s + x1 x2 + noise", data.given_number),
    "given_class": case("logit of s and sign of x1 x2", data.given_class),
    "monk": case("MONK 1", data.monk),
    "multiplexer": case("multiplexer of 6 bits, 4 other bits", data.multiplexer),
    "parity2": case(
        "parity of 2 bits, 5 other bits, N = 500", data.parity, n_bits=2, n_columns=7, n_samples=500
    ),
    "parity3": case("parity of 3 bits, 5 other bits", data.parity, n_bits=3, n_columns=8),
    "parity3_200": case(
        "parity of 3 bits, 197 other bits", data.parity, 120.0, n_bits=3, n_columns=200
    ),
    "parity5": case(
        "parity of 5 bits, 5 other bits: nothing", data.parity_unseen, n_bits=5, n_columns=10
    ),
    "spheres": case("nested spheres, 3 columns", data.spheres),
    "noisy_spheres": case("nested spheres, numeric y", data.spheres, label_noise=0.5),
    "loci_10000": case(
        *("two of 10,000 loci, N = 2,000", data.loci, 600.0, True),
        **{"n_samples": 2000, "n_loci": 10_000},
    ),
}


def published_cells() -> dict[str, Cell]:
    """Return the published data sets by their number of columns."""
    return {
        f"{name} p={n_columns}": Cell(
            partial(data.published, rule=data.RULES[name], n_columns=n_columns),
            {"data": name, "columns": n_columns, "published": best[0], "published_by": best[1]},
        )
        for name, rates in PUBLISHED.items()
        for n_columns, best in zip(COLUMNS, rates, strict=True)
    }


def heritability_cells() -> dict[str, Cell]:
    """Return pairs of loci, the smallest tables first."""
    names = ("columns", "samples", "minor_allele", "heritability")
    cells = {}
    for about in product(LOCI_COLUMNS, LOCI_SAMPLES, ALLELES, HERITABILITIES):
        p, n, allele, share = about
        make = partial(data.loci, n_samples=n, n_loci=p, minor_allele=allele, heritability=share)
        cell = Cell(make, dict(zip(names, about, strict=True)))
        cells[f"p={p} N={n} q={allele:g} h2={share:g}"] = cell
    return cells


class Outcome(NamedTuple):
    """What one method makes of one table."""

    n_relevant: int
    n_found: int
    n_false: int
    seconds: float
    cpu_seconds: float

    @property
    def is_exact(self) -> bool:
        """Whether the relevant columns are selected, and no other."""
        return self.n_found == self.n_relevant and not self.n_false


def select(cell: Cell, method: str, options: Namespace, seed: int) -> Outcome:
    """Select from a fresh table with the default settings, or with lookahead=N."""
    problem = cell.make(np.random.default_rng(seed))
    settings = {} if method == "default" else {"lookahead": int(method.partition("=")[2])}
    selector = PIDSelector(
        **settings,
        feature_types=problem.types,
        device=options.device,
        n_jobs=options.threads,
        random_state=seed,
    )
    start, used = time.perf_counter(), cpu_seconds()
    fit(selector, problem.X, problem.y)
    times = time.perf_counter() - start, cpu_seconds() - used
    selected = set(selector.selected_.tolist())
    n_found = len(selected & problem.relevant)
    return Outcome(len(problem.relevant), n_found, len(selected) - n_found, *times)


def cpu_seconds() -> float:
    """Return the processor time of this process, its threads and its ended children."""
    return sum(os.times()[:4])


def measure(name: str, cell: Cell, method: str, options: Namespace) -> Row:
    """Return the row of a method on the tables of one sort."""
    row = {"case": name, "method": method, **cell.about}
    outcomes: list[Outcome] = repeat(select, cell, method, options, options=options)
    n_relevant, n_exact = outcomes[0].n_relevant, sum(outcome.is_exact for outcome in outcomes)
    row |= {
        "runs": len(outcomes),
        "relevant": n_relevant,
        "found": mean([outcome.n_found for outcome in outcomes]),
        "false": mean([outcome.n_false for outcome in outcomes]),
        "seconds": median([outcome.seconds for outcome in outcomes]),
        "cpu_seconds": median([outcome.cpu_seconds for outcome in outcomes]),
    }
    low, high = interval(n_exact, len(outcomes))
    row |= {"exact": n_exact, "percent": 100.0 * n_exact / len(outcomes), "low": low, "high": high}
    match options.part:
        case "cases":
            row |= {"seconds_asked": cell.seconds}
            in_time = cell.seconds is None or row["seconds"] <= cell.seconds
            row |= {"met": in_time and row["percent"] >= LEAST}
        case "published":
            row |= {"share_found": row["found"] / n_relevant}
            row |= {"met": row["share_found"] >= row["published"]}
    return row


PARTS = {
    "cases": Part(
        CASES,
        50,
        ("exact", "percent", "low", "high", "found", "false", *TIMES, "seconds_asked", "met"),
    ),
    "published": Part(
        published_cells(),
        50,
        ("share_found", "false", "published", "published_by", "exact", *TIMES, "met"),
    ),
    "heritability": Part(
        heritability_cells(), 50, ("exact", "percent", "low", "high", "found", "false", *TIMES)
    ),
}


def is_asked(name: str, cell: Cell, patterns: Sequence[str]) -> bool:
    """Return whether the tables are to be made: all that take not too long, or those named."""
    if not patterns:
        return not cell.on_request
    return any(fnmatch(name, pattern) for pattern in patterns)


def measure_part(options: Namespace) -> None:
    """Measure, print, and write after every sort of tables."""
    part = PARTS[options.part]
    asked = {name: cell for name, cell in part.cells.items() if is_asked(name, cell, options.sorts)}
    if not asked:
        raise SystemExit(f"No such tables. There are: {', '.join(part.cells)}.")
    rows: list[Row] = []
    if options.update and options.out.exists():
        rows = json.loads(options.out.read_text())["results"]["rows"]
    order, header = list(part.cells), ("method", "runs", *part.shown)
    for name, cell in asked.items():
        new = [measure(name, cell, method, options) for method in options.methods]
        show(title(name, cell), header, [[row.get(key) for key in header] for row in new])
        done = {(row["case"], row["method"]) for row in new}
        rows = [row for row in rows if (row["case"], row["method"]) not in done] + new
        rows.sort(key=lambda row: order.index(row["case"]))
        write(f"synergy-{options.part}", options, {"rows": rows})


def title(name: str, cell: Cell) -> str:
    """Return the name of the tables, and what they are."""
    described = cell.about.get("description")
    return f"{name}: {described}" if described else name


def lookahead(text: str) -> str:
    """Read a number of columns to be searched jointly, or "default"; return the method's name."""
    return text if text == "default" else f"lookahead={positive(text)}"


def main(arguments: Sequence[str] | None = None) -> None:
    description = (__doc__ or "").partition("\n")[0]
    command = parser(description, runs=50, help_runs="tables of each sort")
    command.set_defaults(runs=None)
    command.add_argument("part", choices=PARTS)
    command.add_argument("--jobs", type=int, default=1, help="processes, a table each (1)")
    command.add_argument("--threads", type=positive, default=1, help="of a fit of ours (1)")
    command.add_argument("--device", default="cpu", help="of a fit of ours (cpu)")
    command.add_argument(
        "--lookahead",
        dest="methods",
        nargs="+",
        type=lookahead,
        default=["default"],
        help="one or more of default, 1, 2, ... (default)",
    )
    command.add_argument(
        "--only", dest="sorts", nargs="+", default=[], help="sorts of tables, with * and ?"
    )
    command.add_argument("--update", action="store_true", help="keep the other stored numbers")
    command.add_argument("--plot", action="store_true", help="only draw the stored numbers")
    options = command.parse_args(arguments)
    if options.sorts and not (options.update or options.out):
        command.error("--only needs --update, or --out: the other stored numbers would be lost")
    if options.plot and options.part != "heritability":
        command.error("--plot is of heritability")
    picture = PICTURE if options.out is None else options.out.with_suffix(".png")
    options.out = options.out or RESULTS / f"synergy-{options.part}.json"
    if options.plot:
        from synergy_plot import draw  # needs matplotlib

        draw(json.loads(options.out.read_text())["results"]["rows"]).savefig(picture)
        print(f"drawn to {picture}")
        return
    options.runs = options.runs or PARTS[options.part].runs
    measure_part(options)


if __name__ == "__main__":
    main()
