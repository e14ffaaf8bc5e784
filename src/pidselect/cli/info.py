"""``pidselect info``: versions and hardware."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Annotated, Any

import typer

from pidselect.cli.messages import one_line, plain_errors, say

#: \b keeps the lines of the paragraph that follows.
HELP = """Show versions, threads, memory and GPU.

\b
Examples:
  pidselect info
  pidselect info --json - | jq .gpu
"""

#: Optional libraries, and what to install.
OPTIONAL = {
    **dict.fromkeys(("typer", "rich", "jinja2", "matplotlib"), "'pidselect[cli]'"),
    "pyarrow": "'pidselect[arrow]'",
    "pandas": "pandas",
    "polars": "polars",
    "dask": "'pidselect[dask]'",
    "ray": "'pidselect[ray]'",
    "cupy": "'pidselect[cuda]'",
}


Json = Annotated[str | None, typer.Option(metavar="FILE", help="As JSON; - for standard output.")]


def info_command(json: Json = None) -> None:
    """Show versions, threads, memory and GPU."""
    with plain_errors():
        from pidselect.cli.output import write_json

        found = environment_info()
        if json is None:
            say(_text(found))
        elif line := write_json(found, json):
            say(line)


def environment_info() -> dict[str, Any]:
    """Return versions and hardware."""
    import joblib

    from pidselect.jit import cache_folder
    from pidselect.report.summary import environment

    memory = None
    with suppress(AttributeError, OSError, ValueError):  # not available on every system
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    known = environment()
    names = ("pidselect", "python", "cpu", "logical_cpus", "system")
    return {
        **{name: known.pop(name) for name in names},
        "libraries": known,
        "optional": {name: _version(name) for name in OPTIONAL},
        "threads": int(joblib.cpu_count()),  # that this process may use
        "memory_bytes": memory,
        "kernels": str(cache_folder()),
        "gpu": _gpu(),
    }


def _version(name: str) -> str | None:
    """Return the version of an installed library; cupy has the version of CUDA in its name."""
    names = [name] if name != "cupy" else [name, *(f"cupy-cuda{cuda}x" for cuda in (13, 12, 11))]
    for package in names:
        with suppress(PackageNotFoundError):
            return version(package)
    return None


def _gpu() -> dict[str, Any]:
    """Return the name of the GPU, or the reason why there is none."""
    from pidselect.estimators.cuda.device import cuda

    try:
        device: Any = cuda()
        return {"name": device.name, "free_bytes": int(device.free_bytes())}
    except Exception as error:
        return {"name": None, "reason": one_line(error)}


def _text(found: dict[str, Any]) -> str:
    from pidselect.data.messages import align

    memory, gpu = found["memory_bytes"], found["gpu"]
    optional = {
        name: known or f"not installed (pip install {OPTIONAL[name]})"
        for name, known in found["optional"].items()
    }
    rows = {
        "pidselect": found["pidselect"],
        "Python": found["python"],
        **found["libraries"],
        **optional,
        "system": found["system"],
        "CPU": found["cpu"],
        "threads": f"{found['threads']} of {found['logical_cpus']} logical CPUs",
        "memory": "unknown" if memory is None else f"{memory / 2**30:.1f} GiB",
        "compiled kernels": found["kernels"],
        "GPU": gpu["name"] or f"none ({gpu['reason']})",
    }
    return "\n".join(align([(name, str(value)) for name, value in rows.items()], n_left=2))
