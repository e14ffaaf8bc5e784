"""Speed and memory of reading a CSV file by `Table.open`.

The file holds random normal numbers by a seed, 50 columns, about 983 bytes a row. It is read in a
process of its own, which reports the seconds and its peak memory. With ``--before`` the same file
is read by another version of the package, too::

    git worktree add /tmp/before COMMIT
    python benchmarks/read_csv.py --megabytes 200 --before /tmp/before/src
    python benchmarks/read_csv.py --megabytes 2000
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

N_COLUMNS = 50

READ = """
import json, sys, time
from pidselect import Table
Table.open(sys.argv[2])  # loads all libraries
begin, cpu = time.perf_counter(), time.process_time()
table = Table.open(sys.argv[1])
seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
with open("/proc/self/status") as file:
    sizes = dict(line.split(":", 1) for line in file)
found = {key: int(sizes[key].split()[0]) / 1000 for key in ("VmHWM", "RssAnon")}
check = sum(float(column.values.sum()) for column in table.columns)
found |= {"seconds": seconds, "cpu": cpu, "rows": table.n_samples, "check": check}
print(json.dumps(found))
"""


def write_csv(path: Path, megabytes: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    with path.open("w") as file:
        file.write(",".join(f"x{i}" for i in range(N_COLUMNS)) + "\n")
        while file.tell() < megabytes * 1e6:
            rows = rng.normal(size=(2000, N_COLUMNS)).tolist()
            file.writelines(",".join(map(repr, row)) + "\n" for row in rows)


def read(path: Path, source: Path | None) -> dict[str, float]:
    environment = {**os.environ, **({"PYTHONPATH": str(source)} if source else {})}
    small = path.with_name("small.csv")
    command = [sys.executable, "-c", READ, str(path), str(small)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=float, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--before", type=Path, help="folder src of another version")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_csv(path, options.megabytes, options.seed)
        write_csv(path.with_name("small.csv"), 1, options.seed)
        size = path.stat().st_size / 1e6
        runs = {"this version": None, **({"before": options.before} if options.before else {})}
        for name, source in runs.items():
            found = read(path, source)
            print(
                f"{name:12}  {size:,.0f} MB  {found['rows']:,} rows  {found['seconds']:.1f} s  "
                f"{size / found['seconds']:.0f} MB/s ({size / found['cpu']:.0f} MB per CPU second)"
                f"  peak {found['VmHWM']:,.0f} MB, own at the end {found['RssAnon']:,.0f} MB  "
                f"sum {found['check']!r}"
            )


if __name__ == "__main__":
    main()
