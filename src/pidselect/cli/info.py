"""``pidselect info``: versions and hardware."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any

import typer

from pidselect.cli.messages import one_line, plain_errors, say
from pidselect.cli.output import write_json
from pidselect.data.messages import align

#: \b keeps the lines of the paragraph that follows.
HELP = """Show versions, threads, memory and GPU.

\b
Examples:
  pidselect info
  pidselect info --json - | jq .gpu
"""

#: Optional libraries, and how to install them.
OPTIONAL = {
    "typer": "pip install 'pidselect[cli]'",
    "rich": "pip install 'pidselect[cli]'",
    "jinja2": "pip install 'pidselect[cli]'",
    "matplotlib": "pip install 'pidselect[cli]'",
    "pyarrow": "pip install 'pidselect[arrow]'",
    "pandas": "pip install pandas",
    "polars": "pip install polars",
    "dask": "pip install 'pidselect[dask]'",
    "ray": "pip install 'pidselect[ray]'",
    "cupy": "pip install 'pidselect[cuda]'",
}

#: Other names under which a library is installed.
ALSO = {"cupy": ("cupy-cuda13x", "cupy-cuda12x", "cupy-cuda11x")}


def info_command(
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="As JSON; - for standard output.")
    ] = None,
) -> None:
    """Show versions, threads, memory and GPU."""
    with plain_errors():
        found = environment_info()
        if json is None:
            say(_text(found))
        elif line := write_json(found, json):
            say(line)


def environment_info() -> dict[str, Any]:
    """Return versions and hardware."""
    from pidselect.report.environment import environment

    known = environment()
    machine = {name: known.pop(name) for name in ("cpu", "logical_cpus", "system")}
    return {
        "pidselect": known.pop("pidselect"),
        "python": known.pop("python"),
        "libraries": known,
        "optional": {name: _version(name) for name in OPTIONAL},
        **machine,
        "threads": _threads(),
        "memory_bytes": _memory(),
        "kernels": _kernels(),
        "gpu": _gpu(),
    }


def _version(name: str) -> str | None:
    for package in (name, *ALSO.get(name, ())):
        try:
            return version(package)
        except PackageNotFoundError:
            continue
    return None


def _threads() -> int:
    """Return the number of threads that this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


def _memory() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not available on this system
        return None


def _kernels() -> str:
    """Return the folder of the compiled kernels."""
    from numba import config

    import pidselect

    return config.CACHE_DIR or f"{Path(pidselect.__file__).parent}, in folders __pycache__"


def _gpu() -> dict[str, Any]:
    """Return the name of the GPU, or the reason why there is none."""
    from pidselect.estimators.cuda.scorer import cuda

    try:
        device: Any = cuda()
        return {"name": device.name, "free_bytes": int(device.free_bytes())}
    except Exception as error:
        return {"name": None, "reason": one_line(error)}


def _text(found: dict[str, Any]) -> str:
    rows: list[tuple[str, str]] = [("pidselect", found["pidselect"]), ("Python", found["python"])]
    rows += list(found["libraries"].items())
    rows += [
        (name, known or f"not installed ({OPTIONAL[name]})")
        for name, known in found["optional"].items()
    ]
    memory, gpu = found["memory_bytes"], found["gpu"]
    rows += [
        ("system", found["system"]),
        ("CPU", found["cpu"]),
        ("threads", f"{found['threads']} of {found['logical_cpus']} logical CPUs"),
        ("memory", "unknown" if memory is None else f"{memory / 2**30:.1f} GiB"),
        ("compiled kernels", found["kernels"]),
        ("GPU", gpu["name"] or f"none ({gpu['reason']})"),
    ]
    return "\n".join(align([(name, str(value)) for name, value in rows], n_left=2))
