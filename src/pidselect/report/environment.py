"""What numbers depend on besides the code: the processor and the versions of libraries."""

from __future__ import annotations

import json
import os
import platform
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from pidselect import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib", "clarabel")

Environment = dict[str, str | int]


def environment() -> Environment:
    """Return the processor, the system, and the versions of Python and of the libraries.

    Examples
    --------
    >>> "numpy" in environment()
    True
    """
    return {
        "cpu": cpu_model(),
        "logical_cpus": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "pidselect": __version__,
        **{package: version(package) for package in PACKAGES},
    }


def cpu_model() -> str:
    """Return the processor's name; Python's own answer is often empty on Linux."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def identity(found: Environment) -> str:
    """Return a short name for an environment, the same for equal ones."""
    return sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()[:8]
