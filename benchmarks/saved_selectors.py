"""Saved selectors: random fits equal after save and load, damaged files refused.

Random tables (arrays and frames of several libraries, mixed types, missing values, hostile names,
several targets, groups of rows) are fitted with random settings, saved and loaded; every attribute
and result of the loaded selector is compared with that of the saved one::

    python benchmarks/saved_selectors.py fits --runs 200

Files are then damaged, and loaded: bytes at random, and values, most of them behind a checksum
that is made right again, so that it cannot be what refuses them. Whatever a file makes Python
execute, import or open is counted by an audit hook::

    python benchmarks/saved_selectors.py damage --files 2000

Results are kept in ``results/saved_selectors.json``; fits that are there already are not repeated.
A difference, an error of another class or an event of the hook sets the exit status.
"""

from __future__ import annotations

import argparse
import json
import pickle
import random
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from common import RESULTS, circumstances, now
from sklearn.base import clone

from pidselect import PIDSelector, Table, write_report
from pidselect.data import FileError
from pidselect.estimators import KSG, Discrete, Mixed
from pidselect.selection import MIFS, LinearCriterion
from pidselect.selection.json_file import compose
from pidselect.selection.saving import FORMAT, WHAT

STORED = RESULTS / "saved_selectors.json"

#: Names of columns that something may trip over.
HOSTILE = (
    *("\ud800", "", " ", "a\nb", "\x00", "\u202e", "naïve", "列", "🙂", "nan", "inf", "null"),
    *("__class__", "__reduce__", "type", "items", "<script>", "a,b", '"', "\\u0041", "target"),
    *("x0", "a+b", "1", "%s{0}", "y" * 300),
)


# --- random fits --------------------------------------------------------------------------------


class Case:
    """A random table with a random selector; `X`, `y` and `groups` of the fit, and other rows."""

    def __init__(self, seed: int) -> None:
        rng = self.rng = np.random.default_rng(seed)
        self.n_rows, self.n_columns = int(rng.integers(50, 90)), int(rng.integers(3, 7))
        self.is_discrete = rng.random() < 0.3
        self.has_missing = rng.random() < 0.3
        n = 2 * self.n_rows
        columns = [self._column(n, place) for place in range(self.n_columns)]
        number = [
            pd.factorize(column)[0] if column.dtype == object else column for column in columns
        ]
        signal = np.nan_to_num(number[0]) + np.nan_to_num(number[1]) + 0.3 * rng.normal(size=n)
        self.form = str(rng.choice(["array", "objects", "pandas", "integers", "polars", "table"]))
        self.names = self._names()
        self.target = str(rng.choice(["number", "class", "text", "several", "named"]))
        y = self._target(signal, n)
        rows = np.arange(n) < self.n_rows
        self.X, self.other_X = (self._table(columns, some) for some in (rows, ~rows))
        self.y, self.other_y = y[rows], y[~rows]
        self.groups = np.arange(self.n_rows) % 5 if rng.random() < 0.2 else None
        self.selector = PIDSelector(**self._settings())

    def _column(self, n: int, place: int) -> Any:
        rng = self.rng
        kind = rng.integers(0, 4)
        if kind == 0 or self.is_discrete:
            values: Any = rng.integers(0, 3, n).astype(float)
        elif kind == 1:
            values = rng.choice(["red", "green", "blue"], n).astype(object)
        else:
            values = rng.normal(size=n) * 10.0 ** rng.integers(-8, 9)
        if self.has_missing and rng.random() < 0.5:
            values[rng.random(n) < 0.1] = None if values.dtype == object else np.nan
        if place == 2 and rng.random() < 0.2:
            values = np.ones(n)
        return values

    def _names(self) -> list[Any]:
        if self.form == "integers":
            return self.rng.permutation(100)[: self.n_columns].tolist()
        if self.rng.random() < 0.5:
            return [f"column {place}" for place in range(self.n_columns)]
        is_text = self.form in ("polars", "table")  # which need valid UTF-8
        known = [name for name in HOSTILE if not is_text or (name.isprintable() and name.strip())]
        return self.rng.choice(known, self.n_columns, replace=False).tolist()

    def _table(self, columns: list[Any], rows: Any) -> Any:
        some = [column[rows] for column in columns]
        if self.form in ("array", "objects"):
            has_text = any(column.dtype == object for column in some)
            return np.array(some, dtype=object if has_text or self.form == "objects" else float).T
        data = dict(zip(self.names, some, strict=True))
        if self.form in ("pandas", "integers"):
            index = pd.Index(self.names, dtype=object)  # other strings must be valid UTF-8
            return pd.DataFrame(dict(enumerate(some))).set_axis(index, axis=1)
        frame = pl.DataFrame({name: pl.Series(column.tolist()) for name, column in data.items()})
        return frame if self.form == "polars" else Table.read(frame, missing="category")

    def _target(self, signal: Any, n: int) -> Any:
        match self.target:
            case "number":
                return np.round(signal) if self.is_discrete else signal
            case "class":
                return signal > np.median(signal)
            case "text":
                return np.where(signal > np.median(signal), "high", "low")
            case "several":
                return np.column_stack([signal > np.median(signal), self.rng.integers(0, 2, n)])
        return pd.Series(np.round(signal), name="yield")

    def _settings(self) -> dict[str, Any]:
        rng = self.rng

        def maybe(share: float, value: Any, otherwise: Any) -> Any:
            return value if rng.random() < share else otherwise

        def one(*values: Any) -> Any:
            return values[rng.integers(len(values))]

        pairwise = ("mrmr", "jmi", "cife", "cmim", "icap", "mim", "mifs", "pid", "disr")
        weights = LinearCriterion(beta=float(rng.random()), gamma=1), MIFS(beta=np.float64(0.1))
        by_name = not isinstance(self.X, np.ndarray) and self.form != "integers"
        first, last = (self.names[i] if by_name else i for i in (0, self.n_columns - 1))
        if self.is_discrete:
            estimators: Any = ("auto", "discrete", Discrete(), Discrete("miller-madow"), ("mixed",))
        else:
            ksg = KSG(k=3), KSG(k=np.int64(4), scale="rank")
            estimators = ("auto", "auto", "mixed-rank", Mixed(k=5), ("copula", "mixed"), *ksg)
        n_permutations = one(19, 20, 39, "auto", np.int64(25), 0)
        return {
            "criterion": one(*["cmi"] * 9, "mi", one(*pairwise), one(*weights)),
            "estimator": one(*estimators),
            "alpha": one(0.05, 0.1, np.float64(0.2), 1 / 3),
            "n_permutations": n_permutations,
            "surrogates": one(("global", "residual"), "global", ["global"], ("local",), "shift"),
            "shared_permutations": maybe(0.2, False, True),
            "backward": one("maximum", "maximum", "minimum", None),
            "lookahead": one("auto", "auto", 1),
            "n_random_starts": maybe(0.1, 1, 0),
            "select": maybe(0.2, "relevant", "minimal"),
            "max_features": maybe(0.2 if n_permutations else 1.0, 2, None),
            "max_conditioning": maybe(0.1, 1, None),
            "fixed_features": one(None, None, None, [last], last, np.array([0])),
            "feature_groups": one(None, None, None, [[first, last]], {"pair": (first, last)}),
            "feature_types": maybe(0.1, ["nominal" if self.is_discrete else None], None),
            "missing": one("drop", "category") if self.has_missing else one("error", "category"),
            "max_samples": one("auto", "auto", None, 45),
            "max_memory": one("1GiB", 10**9),
            "n_jobs": one(None, 1),
            "random_state": one(0, 2**53 + 1, None, np.random.default_rng(1), np.uint32(5)),
        }


def random_fit(seed: int) -> Case:
    """Return a fitted case; what excludes each other is drawn again."""
    for attempt in range(50):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                case = Case(1000 * seed + attempt)
                case.selector.fit(case.X, case.y, case.groups)
            except (ValueError, TypeError):
                continue
        return case
    raise RuntimeError(f"no valid settings for seed {seed}")


# --- equality -----------------------------------------------------------------------------------


def differences(case: Case, folder: Path, with_report: bool = False) -> list[str]:
    """Return what differs between a fitted selector and that loaded from its file."""
    saved = case.selector
    path = folder / "selector.json"
    saved.save(path)
    loaded = PIDSelector.load(path)
    found = [name for name in vars(saved) if not _is_same(saved, loaded, name)]
    found += [f"{name} is new" for name in vars(loaded).keys() - vars(saved).keys()]
    again = folder / "again.json"
    loaded.save(again)
    if path.read_bytes() != again.read_bytes():
        found.append("file")
    pickle.loads(pickle.dumps(loaded)).save(again)
    if path.read_bytes() != again.read_bytes():
        found.append("pickle")
    # Scalars of NumPy and generators in parameters are printed as what they have become.
    saved = copy(saved).set_params(**loaded.get_params(deep=False))
    results: dict[str, Callable[[PIDSelector], Any]] = {
        "transform": lambda s: _plain(s.transform(case.X)),
        "transform of other rows": lambda s: _plain(s.transform(case.other_X)),
        "get_feature_names_out": lambda s: list(s.get_feature_names_out()),
        "get_support": lambda s: s.get_support().tolist(),
        "explain": lambda s: s.explain(case.X, case.y, case.groups).to_dict(),
        "explain other rows": lambda s: s.explain(
            case.other_X, case.other_y, case.groups
        ).to_dict(),
        "repr": lambda s: (repr(s), s._repr_html_inner()),
        "frame": lambda s: _plain(s.selection_.to_frame()),
        "record": lambda s: (str(s.selection_), s.selection_.to_dict()),
        "clone": lambda s: _parameters(clone(s)),
    }
    if with_report:
        results["report"] = lambda s: _report(s, case, folder)
    return found + [name for name, result in results.items() if not _agree(result, saved, loaded)]


def _agree(result: Callable[[PIDSelector], Any], first: PIDSelector, second: PIDSelector) -> bool:
    """Return whether both give the same value, or raise the same error."""
    values = []
    for selector in (first, second):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                values.append(repr(result(selector)))
            except (ValueError, TypeError) as error:
                values.append(f"{type(error).__name__}: {error}")
    return values[0] == values[1]


def _is_same(first: PIDSelector, second: PIDSelector, name: str) -> bool:
    if name not in vars(second):
        return False
    if name in first.get_params(deep=False):
        return _parameters(first)[name] == _parameters(second)[name]
    values = getattr(first, name), getattr(second, name)
    if isinstance(values[0], np.ndarray):
        return values[0].dtype == values[1].dtype and repr(_plain(values[0])) == repr(
            _plain(values[1])
        )
    if name == "estimator_":
        values = tuple(map(_with_plain_parameters, values))
    return type(values[0]) is type(values[1]) and repr(values[0]) == repr(values[1])


def _parameters(selector: PIDSelector) -> dict[str, str]:
    """Return the parameters as text: lists for arrays, numbers for scalars of NumPy, and a seed."""
    values = selector.get_params(deep=False)
    if isinstance(values["random_state"], np.random.Generator):
        values["random_state"] = selector.selection_.settings.seed
    text = {name: repr(_plain(value)) for name, value in values.items()}
    text["criterion"], text["estimator"] = (
        repr(_with_plain_parameters(values[name])) for name in ("criterion", "estimator")
    )
    return text


def _with_plain_parameters(value: Any) -> Any:
    if hasattr(value, "get_params"):
        return type(value).__name__, {k: _plain(v) for k, v in value.get_params().items()}
    return tuple(map(_with_plain_parameters, value)) if isinstance(value, tuple) else value


def _plain(values: Any) -> Any:
    if isinstance(values, np.ndarray | np.generic):
        return values.tolist()
    if isinstance(values, pd.DataFrame):
        return values.dtypes.astype(str).to_dict(), values.to_dict("list")
    return values.to_dict(as_series=False) if isinstance(values, pl.DataFrame) else values


def _report(selector: PIDSelector, case: Case, folder: Path) -> str:
    path = write_report(selector, case.X, case.y, folder / "page.html", groups=case.groups)
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    return re.sub(r"\d{4}-\d\d-\d\d[T ][\d:]+", "", text)  # when it was written


# --- damage -------------------------------------------------------------------------------------

#: What an unsafe reader would execute, import or build.
PAYLOADS: tuple[Any, ...] = (
    "cos\nsystem\n(S'touch /tmp/pidselect-damaged'\ntR.",
    "__import__('os').system('touch /tmp/pidselect-damaged')",
    {"__class__": "os.system", "__reduce__": ["os.system", ["touch /tmp/pidselect-damaged"]]},
    {"py/object": "subprocess.Popen", "py/reduce": ["subprocess.Popen", ["true"]]},
    {"type": "os.system", "parameters": {"command": "touch /tmp/pidselect-damaged"}},
    {"type": "PIDSelector", "parameters": {}},
    {"type": "builtins.eval", "text": "1/0"},
    "!!python/object/apply:os.system ['true']",
)


def damaged_bytes(content: bytes, other: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Return the kind of damage, and the bytes of a file with it."""
    data, place = bytearray(content), rng.randrange(len(content))
    kinds = (
        "bits",
        "truncated",
        "deleted",
        "inserted",
        "overwritten",
        "spliced",
        "moved",
        "spaces",
    )
    kind, length = rng.choice(kinds), rng.choice([1, 2, 8, 64])
    match kind:
        case "bits":
            for _ in range(rng.choice([1, 1, 1, 3])):
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        case "truncated":
            del data[place:]
        case "deleted":
            del data[place : place + length]
        case "inserted":
            data[place:place] = rng.randbytes(length)
        case "overwritten":
            data[place : place + length] = rng.choice([b"\0", b" ", b"9", b"[", b'"']) * length
        case "spliced":
            data[place:] = other[min(place, len(other) - 1) :]
        case "moved":
            piece = data[place : place + length]
            del data[place : place + length]
            start = rng.randrange(len(data) + 1)
            data[start:start] = piece
        case "spaces":
            data[place:place] = rng.choice([b" ", b"\n", b"\t"]) * length
    return f"bytes {kind}", bytes(data)


def damaged_values(content: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Return the kind of damage, and a file with it whose checksum is right."""
    record = json.loads(content)["record"]
    places = list(_places(record))
    kinds = ("type", "payload", "key", "injected", "length", "nested", "number", "literal", "head")
    kind = rng.choice(kinds)
    parent, key = rng.choice(places)
    fixed = [one[k] for one, k in places if isinstance(one[k], dict) and _is_fixed(one[k])]
    match kind:
        case "type":
            parent[key] = _other_type(parent[key])
        case "payload":
            parent, key = rng.choice([(p, k) for p, k in places if not _is_free_text(p, k)])
            parent[key] = rng.choice(PAYLOADS)
        case "key":
            chosen = rng.choice(fixed)
            del chosen[rng.choice(list(chosen))]
        case "injected":
            name = rng.choice(["__class__", "__init__", "py/object", "extra"])
            rng.choice(fixed)[name] = rng.choice(PAYLOADS)
        case "length":
            values = record["fitted"][rng.choice(("ranking", "scores", "p_values", "selected"))]
            values[:] = values[:-1] if values and rng.random() < 0.5 else [*values, 1]
        case "nested":
            text = b"".join(compose(WHAT, FORMAT, record))
            deep = 10 ** rng.choice([3, 4, 5])
            return "values nested", text.replace(b'"fitted": {', b'"fitted": ' + b"[" * deep, 1)
        case "number":
            numbers = [(p, k) for p, k in _places(record["fitted"]) if type(p[k]) in (int, float)]
            parent, key = rng.choice(numbers)
            parent[key] = rng.choice([10**400, -(10**30), 2**64])
        case "literal":
            text = b"".join(compose(WHAT, FORMAT, record))
            new = rng.choice(["1" + "0" * 5000, "1e999", "-1e999", "NaN", "Infinity", "0x10", "01"])
            return "values literal", re.sub(rb'"alpha": [^,]*', f'"alpha": {new}'.encode(), text)
        case "head":
            text = b"".join(compose(WHAT, FORMAT, record))
            new = rng.choice([b"2", b"0", b"true", b'"1"', b"1.0", b"null", b'1, "format": 1'])
            return "values head", text.replace(b'"format": 1', b'"format": ' + new, 1)
    return f"values {kind}", b"".join(compose(WHAT, FORMAT, record))


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every container in a record with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


def _is_fixed(value: dict[str, Any]) -> bool:
    """Return whether the keys of a mapping are those of a record or of an object."""
    return bool({"type", "phase", "alpha", "fitted", "scores", "features"} & value.keys())


def _is_free_text(parent: Any, key: Any) -> bool:
    """Return whether any text is as valid as another in some place, as a note is."""
    free = (
        "note",
        "surrogates",
        "replaced",
        "pidselect",
        "digest",
        "criterion",
        "checkpoint",
        "unit",
    )
    if isinstance(parent, list) or key in free or key == "text":
        return True
    return isinstance(parent[key], str) or parent[key] is None or not _is_fixed(parent)


def _other_type(value: Any) -> Any:
    match value:
        case bool() | int() | float() | None | "nan" | "inf" | "-inf":
            return {"evil": [value]}
        case str():
            return -1.5
        case list():
            return {"0": value}
    return [None, value]


class Watch:
    """Counts what Python executes, imports or opens, besides the file that is loaded."""

    events = (
        "exec",
        "compile",
        "import",
        "open",
        "os.",
        "subprocess.",
        "pickle.",
        "marshal.",
        "ctypes.",
        "socket.",
        "shutil.",
    )

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.allowed = ""
        self.is_on = False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.is_on and event.startswith(self.events):
            is_file = event == "open" and str(arguments[0]) == self.allowed
            if not is_file:
                self.seen[f"{event} {str(arguments)[:80]}"] += 1

    @contextmanager
    def watching(self, path: Path) -> Iterator[None]:
        self.allowed, self.is_on = str(path), True
        try:
            yield
        finally:
            self.is_on = False


def outcome(path: Path, original: bytes, watch: Watch | None = None) -> str:
    """Load a file; return "refused", "equal", or what went wrong."""
    try:
        if watch is None:
            loaded = PIDSelector.load(path)
        else:
            with watch.watching(path):
                loaded = PIDSelector.load(path)
    except FileError as error:
        is_clear = str(path) in str(error) and len(str(error)) < 2000
        return "refused" if is_clear else f"unclear: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    again = path.with_suffix(".again")
    loaded.save(again)
    return "equal" if again.read_bytes() == original else "accepted"


# --- commands -----------------------------------------------------------------------------------


def run_fits(options: argparse.Namespace, stored: dict[str, Any]) -> None:
    """Compare random fits, as many as fit into the time; fits that are stored are not repeated."""
    done: dict[str, list[str]] = stored.setdefault("fits", {})
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.runs):
            if time.monotonic() - start > options.seconds:
                break
            if str(seed) not in done:
                case = random_fit(seed)
                done[str(seed)] = differences(case, Path(folder), with_report=seed % 10 == 0)
                if done[str(seed)]:
                    print(seed, case.form, case.selector, done[str(seed)], flush=True)
    n_different = sum(map(bool, done.values()))
    print(f"{len(done)} random fits, {n_different} of them differ after save and load")


def run_damage(options: argparse.Namespace, stored: dict[str, Any]) -> None:
    """Damage the files of a few fits."""
    rng, counts, watch = random.Random(0), Counter[str](), Watch()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "damaged.json")
        files = []
        for seed in range(options.originals):
            random_fit(seed).selector.save(path)
            files.append(path.read_bytes())
            assert outcome(path, files[-1]) == "equal"
        for number in range(options.files):
            content, other = rng.sample(files, 2)
            kind, bad = (
                damaged_bytes(content, other, rng) if number % 2 else damaged_values(content, rng)
            )
            path.write_bytes(bad)
            found = "unchanged" if bad in files else outcome(path, content, watch)
            counts[
                f"{kind}: {found}" if found in ("refused", "equal", "unchanged") else "failed"
            ] += 1
            if found not in ("refused", "equal", "unchanged"):
                failures += 1
                print(number, kind, found[:300], flush=True)
                if options.keep:
                    (options.keep / f"{number}.json").write_bytes(bad)
    stored["damage"] = {**dict(sorted(counts.items())), "events": dict(watch.seen)}
    for name, count in sorted(counts.items()):
        print(f"{name:32} {count}")
    n_events = sum(watch.seen.values())
    print(f"{options.files} files, {failures} failures, {n_events} events {dict(watch.seen)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["fits", "damage"])
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=1e9, help="of fits, before it ends")
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--originals", type=int, default=12)
    parser.add_argument("--keep", type=Path, help="folder for the files that fail")
    parser.add_argument("--out", type=Path, default=STORED)
    options = parser.parse_args()
    stored = json.loads(options.out.read_text()) if options.out.exists() else {}
    (run_fits if options.what == "fits" else run_damage)(options, stored)
    options.out.write_text(
        json.dumps({**stored, "date": now(), "environment": circumstances()}, indent=2) + "\n"
    )
    damage = stored.get("damage", {})
    sys.exit(
        any(stored.get("fits", {}).values()) or bool(damage.get("failed") or damage.get("events"))
    )


if __name__ == "__main__":
    main()
