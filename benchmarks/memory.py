"""The most memory that this process has held, and since when."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_mb() -> float:
    """Return the most that was held since the start or the last `reset_peak`, in 10^6 bytes."""
    if STATUS.exists():
        return _status("VmHWM")
    # KiB on most systems, bytes on macOS.
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def reset_peak() -> float:
    """Forget the peak so far where the system can; return what is held now, in 10^6 bytes."""
    try:
        CLEAR.write_text("5")
    except OSError:
        return peak_mb()
    return _status("VmRSS")


def _status(key: str) -> float:
    """Read an entry of the process's status, which is in KiB."""
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith(f"{key}:"))
    return int(line.split()[1]) * 1024 / 1e6
