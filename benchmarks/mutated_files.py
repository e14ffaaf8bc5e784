"""Damaged files of every format: each must be read, or refused by one error that names the file.

Small tables are written in every format, and their bytes are changed at random by a seed: bits
flipped, bytes deleted, inserted or overwritten, files truncated, headers replaced. Each file is
read in a process of its own with a limit of time and memory::

    python benchmarks/mutated_files.py --files 4000

A crash, a hang, a raw exception (one that is not an error of pidselect that names the file) or a
warning of NumPy is a failure, and sets the exit status.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from pidselect import Table
from pidselect.data.io import FileError

OUTCOMES = ("read", "refused", "raw exception", "crash", "hang")


def make_table(seed: int) -> pa.Table:
    rng = np.random.default_rng(seed)
    n = 200
    towns = rng.choice(["Rome", "Oslo", "Köln", ""], n)
    return pa.table(
        {
            "height": rng.normal(size=n),
            "children": pa.array(rng.integers(0, 5, n), pa.int32(), mask=rng.random(n) < 0.1),
            "town": pa.array(towns),
            "grade": pa.array(rng.choice(["low", "high"], n)).dictionary_encode(),
            "smoker": rng.random(n) < 0.5,
            "born": pa.array(rng.integers(0, 10**9, n), pa.timestamp("s")),
            "price": pa.array([f"{x:.2f}" for x in rng.random(n)]).cast(pa.decimal128(10, 2)),
        }
    )


def as_ipc(table: pa.Table, stream: bool = False, compression: str | None = None) -> bytes:
    sink = io.BytesIO()
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as file:
        file.write_table(table, max_chunksize=80)
    return sink.getvalue()


def as_parquet(table: pa.Table, **how: object) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink, row_group_size=80, **how)
    return sink.getvalue()


def as_csv(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pa.csv.write_csv(table, sink)
    return sink.getvalue()


def originals(seed: int) -> dict[str, bytes]:
    """Return files by the name of their format."""
    table = make_table(seed)
    lines = "".join(
        f'{{"a": {x!r}, "town": "{town}", "ok": true}}\n'
        for x, town in zip(table["height"].to_pylist(), table["town"].to_pylist(), strict=True)
    ).encode()
    array = io.BytesIO()
    np.save(array, np.random.default_rng(seed).normal(size=(200, 5)))
    texts = io.BytesIO()
    np.save(texts, np.array(table["town"].to_pylist()).reshape(-1, 2))
    return {
        "csv": as_csv(table),
        "csv.gz": gzip.compress(as_csv(table)),
        "jsonl": lines,
        "jsonl.gz": gzip.compress(lines),
        "parquet": as_parquet(table),
        "plain.parquet": as_parquet(table, compression="none", use_dictionary=False),
        "zstd.parquet": as_parquet(table, compression="zstd"),
        "arrow": as_ipc(table),
        "lz4.feather": as_ipc(table, compression="lz4"),
        "zstd.feather": as_ipc(table, compression="zstd"),
        "stream.arrow": as_ipc(table, stream=True),
        "npy": array.getvalue(),
        "text.npy": texts.getvalue(),
    }


def mutate(content: bytes, rng: random.Random) -> bytes:
    """Return the bytes with one kind of damage."""
    data = bytearray(content)
    # Damage near the ends hits headers and footers, of which the readers believe most.
    edge = min(len(data), rng.choice([32, 256, len(data)]))
    place = rng.choice([rng.randrange(edge), len(data) - 1 - rng.randrange(edge)])
    match rng.randrange(7):
        case 0:
            for _ in range(rng.choice([1, 1, 2, 8])):
                data[(place + rng.randrange(64)) % len(data)] ^= 1 << rng.randrange(8)
        case 1:
            del data[rng.randrange(len(data)) :]
        case 2:
            del data[place : place + rng.randint(1, 64)]
        case 3:
            data[place:place] = rng.randbytes(rng.randint(1, 64))
        case 4:
            length = rng.choice([1, 2, 4, 8, 32])
            data[place : place + length] = rng.choice([b"\0", b"\xff", b"\x7f", b'"']) * length
        case 5:
            data[: rng.randint(1, 64)] = rng.randbytes(rng.randint(1, 64))
        case 6:  # a number, as lengths and offsets are
            value = rng.choice([rng.randrange(2**31), 2**31 - 1, 2**62, rng.randrange(2**63)])
            data[place : place + 8] = value.to_bytes(8, "little")
    return bytes(data)


def read(path: Path, gigabytes: float) -> int:
    """Read a file, in a child; return the index of its outcome."""
    resource.setrlimit(resource.RLIMIT_AS, (int(gigabytes * 2**30),) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        Table.open(path, missing="category")
    except FileError:
        return 1
    except ValueError as error:
        if path.name in str(error):
            return 1
        print(f"{path.name}: {type(error).__name__}: {error}", flush=True)
        return 2
    except BaseException as error:
        print(f"{path.name}: {type(error).__name__}: {error}", flush=True)
        return 2
    return 0


def outcome(path: Path, seconds: float, gigabytes: float) -> str:
    child = os.fork()
    if not child:
        os._exit(read(path, gigabytes))
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return OUTCOMES[code] if 0 <= code <= 2 else "crash"
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "hang"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=20, help="limit for one file")
    parser.add_argument("--gigabytes", type=float, default=4, help="limit of address space")
    parser.add_argument("--keep", type=Path, help="folder for the files that fail")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    files = originals(options.seed)
    counts: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for format, content in files.items():  # loads all libraries, and shows that each is fine
            path = Path(folder, f"whole.{format}")
            path.write_bytes(content)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                Table.open(path, missing="category")
        for place in range(options.files):
            format = list(files)[place % len(files)]
            path = Path(folder, f"{place}.{format}")
            path.write_bytes(mutate(files[format], rng))
            found = outcome(path, options.seconds, options.gigabytes)
            counts[format, found] += 1
            if found in OUTCOMES[2:]:
                print(f"{path.name}: {found}", flush=True)
                if options.keep:
                    (options.keep / path.name).write_bytes(path.read_bytes())
            path.unlink()
    print(f"{'format':15}" + "".join(f"{name:>15}" for name in OUTCOMES))
    for format in (*files, "all"):
        chosen = files if format == "all" else [format]
        numbers = (sum(counts[one, name] for one in chosen) for name in OUTCOMES)
        print(f"{format:15}" + "".join(f"{number:15}" for number in numbers))
    sys.exit(any(counts[key] for key in counts if key[1] in OUTCOMES[2:]))


if __name__ == "__main__":
    main()
