"""``pidselect warmup``: compile the kernels before they are needed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from pidselect.cli.messages import plain_errors, say

#: \b keeps the lines of the paragraph that follows.
HELP = """Compile the kernels of fits and explanations, and keep them for the next time.

\b
Examples:
  pidselect warmup
  NUMBA_CACHE_DIR=/opt/kernels pidselect warmup
"""

#: Enough samples and permutations for every kernel that a default fit uses, with look-ahead.
N_SAMPLES, N_PERMUTATIONS = 200, 99

#: Seconds to wait for a process that compiles, at most: then they are compiled here.
PATIENCE = 120.0

Parts = Annotated[list[str] | None, typer.Argument(metavar="[PART]...", help="All by default.")]


def warmup_command(parts: Parts = None) -> None:
    """Compile the kernels of fits and explanations."""
    with plain_errors():
        from concurrent.futures import ProcessPoolExecutor, as_completed
        from multiprocessing import get_context

        import joblib

        from pidselect.data.messages import check_choice, duration
        from pidselect.jit import cache_folder

        chosen = list(parts or PARTS)
        for part in chosen:
            check_choice(part, tuple(PARTS), "PART")
        start = time.perf_counter()
        say(f"Compiling kernels: {', '.join(chosen)}")
        n_workers = min(len(chosen), joblib.cpu_count())
        # Numba compiles one function at a time in a process; several processes share the folder.
        with ProcessPoolExecutor(n_workers, get_context("spawn")) as pool:
            running = {pool.submit(compile_part, part): part for part in chosen}
            for done in as_completed(running):
                done.result()
                say(f"  {running[done]}: {duration(time.perf_counter() - start)}")
        n_kernels = len(list(cache_folder().glob("*.kernel")))
        if not n_kernels:
            raise OSError(
                f"{cache_folder()} cannot be written. Set NUMBA_CACHE_DIR to a folder that can."
            )
        passed = duration(time.perf_counter() - start)
        say(f"{n_kernels} kernels in {cache_folder()}, after {passed}")


def compile_part(part: str) -> None:
    """Compile the kernels of a part by using them, without messages."""
    import logging
    import warnings

    logging.getLogger("pidselect").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    PARTS[part]()


def _compile_continuous() -> None:
    import numpy as np

    from pidselect import datasets

    table = datasets.friedman(n_samples=N_SAMPLES, random_state=0)
    near_copy = (
        table.X[:, 3] + 1e-3 * table.X[:, 0]
    )  # of a relevant feature, has kernels of its own
    _fit(np.column_stack([table.X, near_copy]), table.y)


def _compile_classes() -> None:
    import numpy as np

    from pidselect import datasets

    table = datasets.friedman(n_samples=N_SAMPLES, random_state=0)
    _fit(table.X, np.where(table.y > np.median(table.y), "high", "low"))


def _compile_mixed() -> None:
    import numpy as np

    from pidselect import datasets

    table = datasets.mixed_table(N_SAMPLES, random_state=0)
    _fit(np.array([*table.columns.values()], dtype=object).T, table.y)
    label = np.array(list("abcd") * (N_SAMPLES // 4))
    number = np.sin(np.arange(N_SAMPLES))
    depends = np.where((label == "a") | (number > 0.0), "yes", "no")
    _fit(np.array([label, number, np.roll(label, 3)], dtype=object).T, depends)


def _compile_explanations() -> None:
    from pidselect import datasets, decompose_distribution

    decompose_distribution(datasets.gate("AND"))


#: What is compiled, by name, the longest first.
PARTS: dict[str, Callable[[], None]] = {
    "mixed": _compile_mixed,
    "continuous": _compile_continuous,
    "classes": _compile_classes,
    "explanations": _compile_explanations,
}


def _fit(X: object, y: object) -> None:
    from pidselect import PIDSelector

    PIDSelector(n_permutations=N_PERMUTATIONS, random_state=0).fit(X, y)


@contextmanager
def compiling_explanations(is_needed: bool) -> Iterator[Callable[[], None]]:
    """Compile the kernels of explanations in a second process, if there are none.

    Yields a function that waits for it.
    """
    from pidselect.jit import is_compiled

    if not is_needed or is_compiled("decomposition"):
        yield lambda: None
        return
    command = [sys.executable, "-m", "pidselect", "warmup", "explanations"]
    null = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=null, stderr=null) as process:

        def wait() -> None:
            try:
                process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()

        try:
            yield wait
        finally:
            if process.poll() is None:
                process.kill()
