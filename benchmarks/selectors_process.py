"""Other selectors in an environment and processes of their own, which may be ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from peers import ONE_THREAD, install

HERE = Path(__file__).parent
PACKAGES = ("boruta==0.4.3", "scikit-learn")


def find_peers(
    folder: str = "selectors-env", packages: Sequence[str] = PACKAGES
) -> tuple[Path, str]:
    """Return the Python of an environment that has these packages, and what went wrong."""
    python = HERE / "out" / folder / "bin" / "python"
    return python, "" if python.exists() else install(python, packages)


def ask_once(
    method: str, table: Mapping[str, Any], seed: int, limit: float, python: str = ""
) -> dict[str, Any]:
    """Return the answer of compare_worker.py in a process of its own; a note beyond the limit.

    The process has this Python, or that of the environment that has the method.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.npz"
        np.savez(file, **table)
        request = json.dumps({"method": method, "file": str(file), "seed": seed})
        command = [python or sys.executable, str(HERE / "compare_worker.py"), request]
        said = within(limit, command, os.environ | ONE_THREAD | {"PYTHONWARNINGS": "ignore"})
    return json.loads(said) if said else {"note": f"over {limit:.0f} s"}


def within(limit: float, command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return what a process says until it ends or is ended at the limit."""
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            said = process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            return process.communicate()[0]
    if process.returncode:
        sys.exit(f"{' '.join(command[1:])} failed.")
    return said
