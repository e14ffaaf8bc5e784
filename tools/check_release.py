"""Build wheel and sdist, check them, and test the wheel in an empty environment.

``python tools/check_release.py --build-only`` builds and checks; ``--oldest`` installs the oldest
dependencies that pyproject.toml allows (Python 3.11), without it the newest. The tests are those of
the sdist, without its folder src, so that they test what is installed. All is done in a temporary
folder, or in ``--folder``, but for the two files, which are written to ``dist``.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
OLDEST = ROOT / ".ci" / "oldest.txt"

#: What files of the package end in: code, kernels of GPUs, the report's page, the mark of types.
KINDS = {".py", ".cu", ".css", ".html", ".js", ".typed"}

#: Bytes of the wheel, at most.
LARGEST_WHEEL = 1_000_000

#: A first selection with nothing installed but the dependencies.
FIRST_SELECTION = """
from pidselect import PIDSelector, datasets
toy = datasets.toy(200, random_state=0)
selector = PIDSelector("mi", "ksg", n_permutations=20, alpha=0.1, random_state=0)
print("selected:", selector.fit(toy.X, toy.y).selected_.tolist())
"""

IMPORTS = ("import pidselect", "from pidselect import PIDSelector", "import pidselect.cli")


def main() -> None:
    """Run the checks that were asked for."""
    options = read_options()
    folder = Path(options.folder or tempfile.mkdtemp(prefix="pidselect-release-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    wheel, sdist = find(options.dist) if options.prebuilt else build(folder, options.dist)
    if not options.build_only:
        name = "oldest" if options.oldest else "newest"
        python = install(folder / name, options.python, wheel, options.oldest)
        test(python, folder / f"{name}-tests", sdist, options.tests, options.workers)


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--build-only", action="store_true", help="do not install and test")
    parser.add_argument("--prebuilt", action="store_true", help="use the files in --dist")
    parser.add_argument("--oldest", action="store_true", help="the oldest dependencies")
    parser.add_argument("--python", default=sys.executable, help="the Python to test with")
    parser.add_argument("--workers", default="auto", help="processes that run the tests")
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where the files are")
    parser.add_argument("--folder", help="an empty folder for environments and tests")
    parser.add_argument("tests", nargs="*", help="some of the tests; all, and doctests, if none")
    return parser.parse_args()


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command; stop here if it fails. Nothing of the checkout is on Python's path."""
    print("$", *command, flush=True)
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run([str(word) for word in command], cwd=cwd, env=clean, check=True)


def environment(folder: Path, python: str) -> Path:
    """Make an empty virtual environment; return its Python."""
    run(python, "-m", "venv", "--clear", folder)
    made = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(made, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
    return made


def build(folder: Path, dist: Path) -> tuple[Path, Path]:
    """Build both files and check them."""
    python = environment(folder / "tools", sys.executable)
    run(python, "-m", "pip", "install", "--quiet", "build", "twine")
    shutil.rmtree(dist, ignore_errors=True)
    run(python, "-m", "build", "--outdir", dist, ROOT)
    wheel, sdist = find(dist)
    run(python, "-m", "twine", "check", "--strict", wheel, sdist)
    with ZipFile(wheel) as archive:
        names = archive.namelist()
    kinds = Counter(PurePosixPath(name).suffix or "none" for name in names)
    print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {len(names)} files: {dict(kinds)}")
    print(f"{sdist.name}: {sdist.stat().st_size:,} bytes")
    if found := unexpected(names):
        sys.exit(f"The wheel has files that users do not need: {', '.join(found)}")
    if wheel.stat().st_size > LARGEST_WHEEL:
        sys.exit(f"The wheel has more than {LARGEST_WHEEL:,} bytes")
    return wheel, sdist


def find(dist: Path) -> tuple[Path, Path]:
    """Return the wheel and the sdist in a folder."""
    return next(dist.glob("*.whl")).resolve(), next(dist.glob("*.tar.gz")).resolve()


def unexpected(names: Iterable[str]) -> list[str]:
    """Return the files of a wheel that are neither metadata nor part of the package.

    >>> unexpected(["pidselect/jit.py", "pidselect-1.0.dist-info/METADATA", "tests/naive.py"])
    ['tests/naive.py']
    """
    paths = map(PurePosixPath, names)
    return [
        str(path)
        for path in paths
        if not path.parts[0].endswith(".dist-info")
        and (path.parts[0] != "pidselect" or path.suffix not in KINDS)
    ]


def install(folder: Path, python: str, wheel: Path, oldest: bool) -> Path:
    """Install the wheel, use it with its dependencies only, and add what tests need."""
    made = environment(folder, python)
    bounds: Sequence[str | Path] = ("--constraint", OLDEST) if oldest else ()
    pip = (made, "-m", "pip")
    run(*pip, "install", "--quiet", *bounds, wheel)
    run(made, "-c", FIRST_SELECTION, cwd=folder)
    run(*pip, "install", "--quiet", *bounds, f"{wheel}[test]")
    run(*pip, "check")
    run(*pip, "list", "--format", "freeze")
    for statement in IMPORTS:
        print(f"{statement}: {1000 * import_seconds(made, statement, folder):.0f} ms")
    return made


def import_seconds(python: Path, statement: str, folder: Path) -> float:
    """Return the time that a statement takes beyond the start of Python, the best of five."""

    def best(code: str) -> float:
        seconds = []
        for _ in range(5):
            start = time.perf_counter()
            subprocess.run([str(python), "-c", code], cwd=folder, check=True)
            seconds.append(time.perf_counter() - start)
        return min(seconds)

    return best(statement) - best("pass")


def test(python: Path, folder: Path, sdist: Path, tests: Sequence[str], workers: str) -> None:
    """Run the tests of the sdist against the installed package."""
    shutil.rmtree(folder, ignore_errors=True)
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.iterdir()
    shutil.rmtree(root / "src")
    run(python, "-c", f"import pidselect; assert {str(root)!r} not in pidselect.__file__", cwd=root)
    chosen = list(tests) or ["tests", "reproduction", "--pyargs", "pidselect"]
    quick = ("-m", "not slow")
    parallel = ("-n", workers, "--maxprocesses", "4", "--dist", "loadfile")
    start = time.perf_counter()
    run(python, "-m", "pytest", "-rs", "--tb=short", *quick, *parallel, *chosen, cwd=root)
    print(f"tests took {(time.perf_counter() - start) / 60:.1f} min")


if __name__ == "__main__":
    main()
