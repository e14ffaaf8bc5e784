"""The CUDA kernels compiled as C++ and run on the CPU: slow, but tests need no GPU."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pidselect.estimators.cuda.device import Kernel, read_sources

COMPILER = shutil.which("g++")

#: The types of each kernel's arguments.
ARGUMENTS = {
    "list_neighbours": ("const Space *", "const NeighbourLists *", "int", "int"),
    "fill_permutations": ("const uint64 *", "int", "uint64", "int", "int", "INDEX *"),
    "arrange": (
        *("const INDEX *", "int", "int", "const int *", "const double *", "const int *"),
        "const Candidate *",
    ),
    "count_classes": ("const Columns *", "const Target *"),
    "scan_pairs": (
        *("const Columns *", "const Columns *", "const Target *"),
        *("const int *", "const int *", "int64 *"),
    ),
    "count_pairs": ("const Columns *", "const Target *", "const Pairs *"),
    "scan_triples": (
        *("const Columns *", "const Pairs *", "const Target *"),
        *("const int *", "const int *", "const int *", "int", "int64 *"),
    ),
    "score_columns": ("const TargetSpaces *", "const Candidate *", "int", "uint64 *"),
}


def entry(name: str) -> str:
    """Return the source of a function that runs a kernel with pointers to its arguments."""
    arguments = ", ".join(
        f"*({kind} *)arguments[{place}]" for place, kind in enumerate(ARGUMENTS[name])
    )
    return (
        f'extern "C" void run_{name}(const int *sizes, void **arguments) {{\n'
        f"    run_grid(sizes, [=] {{ {name}({arguments}); }});\n}}\n"
    )


@dataclass(eq=False)
class CpuDevice:
    """The interface of `Cuda`, with kernels run on the CPU one thread after the other."""

    folder: Path
    shared_bytes: int = 48 * 1024
    free: int = 2**30
    threads: int = 64
    max_uint16_samples: int = 2**16
    lock: RLock = field(default_factory=RLock)
    prepared: WeakKeyDictionary[Any, Any] = field(default_factory=WeakKeyDictionary)
    libraries: dict[Any, Any] = field(default_factory=dict)
    launched: list[str] = field(default_factory=list)

    def free_bytes(self) -> int:
        return self.free

    def put(self, array):
        return np.array(array, order="C")

    def empty(self, shape, dtype):
        return np.full(shape, 77, dtype)  # results must not depend on it

    def get(self, array):
        return array.copy()

    def address(self, array) -> int:
        return array.ctypes.data

    def launch(self, kernel: Kernel, grid: tuple[int, int], *arguments: Any) -> None:
        self.launched.append(kernel.name)
        assert kernel.shared <= self.shared_bytes
        kept, pointers = [], (ctypes.c_void_p * len(arguments))()
        for place, argument in enumerate(arguments):
            if isinstance(argument, np.ndarray):
                assert argument.flags.c_contiguous
                held = np.array([argument.ctypes.data], dtype=np.uint64)
            else:
                held = np.array([argument])
            kept.append(held)
            pointers[place] = held.ctypes.data
        sizes = (ctypes.c_int * 4)(*grid, kernel.threads, kernel.shared)
        getattr(self.library(kernel), f"run_{kernel.name}")(sizes, pointers)

    def library(self, kernel: Kernel) -> Any:
        key = kernel.name, kernel.sources, kernel.definitions
        if key not in self.libraries:
            number = len(self.libraries)
            code, library = (self.folder / f"kernels_{number}{end}" for end in (".cpp", ".so"))
            shim = Path(__file__).with_suffix(".h").read_text(encoding="utf-8")
            kernels = read_sources(kernel.sources).replace(
                "extern __shared__ double memory[];", "double *memory = dynamic_shared;"
            )
            # A kernel may be compiled for some definitions only.
            text = "\n".join([shim, kernels, entry(kernel.name)])
            code.write_text(text, encoding="utf-8")
            options = [f"-D{name}={value}" for name, value in kernel.definitions]
            flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-w", "-DMIN_SCAN=16"]
            flags.append("-U_FORTIFY_SOURCE")  # which ends processes that jump between stacks
            assert COMPILER is not None
            subprocess.run(
                [COMPILER, *flags, *options, "-o", library, code], check=True, timeout=120
            )
            self.libraries[key] = ctypes.CDLL(str(library))
        return self.libraries[key]
