"""The processor and the versions of libraries, on which numbers may depend."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from pidselect import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "joblib")

Environment = dict[str, str | int]


def environment() -> Environment:
    """Return the processor, the system, and the versions of Python and of the libraries."""
    return {
        "cpu": cpu_model(),
        "logical_cpus": os.cpu_count() or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "pidselect": __version__,
        **{package: version(package) for package in PACKAGES},
    }


def cpu_model() -> str:
    """Return the name of the processor; Python's own is often empty on Linux."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text("utf-8", "replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"
