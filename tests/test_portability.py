"""No call of the library works on one system only: Windows and macOS as far as Linux can show."""

from __future__ import annotations

import ast
import gc
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import pidselect
from pidselect import PIDSelector, Table, datasets
from pidselect.cli import messages
from pidselect.cli.messages import WrongCallError, to_option
from pidselect.cli.options import OutputOptions
from pidselect.cli.output import check_places
from pidselect.data import files

PACKAGE = Path(pidselect.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))

#: Modules that Windows lacks.
POSIX_MODULES = {"fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}

#: Attributes that Windows lacks, or that mean something else there.
POSIX_NAMES = {
    "os": {
        *("chown", "confstr", "fchmod", "fchown", "fork", "forkpty", "geteuid", "getgid"),
        *("getloadavg", "getpgid", "getuid", "killpg", "kill", "mkfifo", "nice", "openpty"),
        *("posix_fadvise", "posix_fallocate", "pread", "pwrite", "register_at_fork", "rename"),
        *("sched_getaffinity", "setsid", "statvfs", "sysconf", "uname", "wait", "waitpid"),
    },
    "signal": {"SIGALRM", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGUSR1", "alarm"},
    "mmap": {"MAP_SHARED", "MAP_PRIVATE", "PROT_READ", "PROT_WRITE"},
    "time": {"tzset"},
}

#: Seconds that a process may take to compile its kernels and fit.
PATIENCE = 180.0


def parsed():
    for path in SOURCES:
        yield path.relative_to(PACKAGE).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def test_no_posix_only_call():
    found = set()
    for name, tree in parsed():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                found |= {(name, one.name) for one in node.names if one.name in POSIX_MODULES}
            elif isinstance(node, ast.ImportFrom):
                module = node.module or ""
                named = {one.name for one in node.names} & POSIX_NAMES.get(module, set())
                found |= {(name, f"{module}.{one}") for one in named}
                found |= {(name, module)} if module in POSIX_MODULES else set()
            elif isinstance(node, ast.Attribute) and node.attr in POSIX_NAMES.get(
                getattr(node.value, "id", ""), ()
            ):
                found.add((name, ast.unparse(node)))
    assert not found


def test_the_processor_has_a_name_without_proc(monkeypatch):
    from pidselect.report import summary as module

    monkeypatch.setattr(module.Path, "exists", lambda path: False)
    monkeypatch.setattr(module.platform, "processor", lambda: "")
    assert module.cpu_model() == "unknown"


def test_kernels_have_names_that_files_may_have():
    """A function inside another one has <locals> in its name, which Windows refuses."""
    inside = [
        f"{name}: {one.name}"
        for name, tree in parsed()
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef)
        for one in ast.walk(outer)
        if one is not outer and isinstance(one, ast.FunctionDef)
        if any("njit" in ast.unparse(decorator) for decorator in one.decorator_list)
    ]
    assert not inside


# ------------------------------------------------------------------------------ files on Windows


@pytest.fixture
def windows(monkeypatch):
    """Let `os.name` be that of Windows where the library asks for it, but not for paths."""

    class Windows:
        name = "nt"

        def __getattr__(self, attribute):
            return getattr(os, attribute)

    monkeypatch.setattr(messages, "os", Windows())


def test_a_file_that_stays_open_is_an_error(tmp_path, monkeypatch):
    place = tmp_path / "fit.json"
    place.write_bytes(b"old")

    def refused(source, target):
        raise PermissionError(13, "The process cannot access the file")

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(PermissionError), files.atomic_write(place) as file:
        file.write(b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["fit.json"]
    assert place.read_bytes() == b"old"


def test_options_are_quoted_as_the_shell_needs_them(windows):
    assert to_option("delimiter", ";") == "--delimiter ;"
    assert to_option("without", "a b") == '--without "a b"'


@pytest.mark.parametrize("kind", ["feather", "parquet", "npy", "csv"])
def test_a_table_that_was_read_is_not_kept_open(kind, tmp_path):
    """Windows neither deletes nor replaces a file that is open or mapped into memory."""
    pd = pytest.importorskip("pandas")
    path, numbers = tmp_path / f"table.{kind}", np.random.default_rng(0).normal(size=(5000, 4))
    frame = pd.DataFrame(numbers, columns=list("abcd"))
    if kind == "npy":
        np.save(path, numbers)
    elif kind == "csv":
        frame.to_csv(path, index=False)
    else:
        compression = "uncompressed" if kind == "feather" else None
        getattr(frame, f"to_{kind}")(path, compression=compression)
    table = Table.open(path)
    gc.collect()
    assert str(path) not in open_files()
    path.unlink()
    assert table.columns[0].values.sum() == pytest.approx(numbers[:, 0].sum())


def open_files() -> str:
    """Return the names of files that this process has open or mapped, as Linux lists them."""
    folder, maps = Path("/proc/self/fd"), Path("/proc/self/maps")
    if not maps.exists():
        return ""
    links = [os.readlink(one) for one in folder.iterdir() if one.is_symlink()]
    return "\n".join([maps.read_text(encoding="utf-8", errors="replace"), *links])


def test_two_names_of_one_file(tmp_path):
    """As two spellings are where names in other letters lead to the same file."""
    table, other = tmp_path / "table.csv", tmp_path / "TABLE.JSON"
    table.write_text("a,b\n1,2\n", encoding="utf-8")
    os.link(table, other)
    with pytest.raises(WrongCallError, match=r"--json.*the table"):
        check_places(table, OutputOptions(json=str(other)))
    check_places(table, OutputOptions(json=str(tmp_path / "new.json")))


def test_a_kernel_that_another_process_reads_is_no_reason_to_warn(tmp_path, monkeypatch):
    from pidselect import jit

    written, warned = tmp_path / "kernels-1" / "a.kernel", []
    monkeypatch.setattr(jit, "warn_unwritable", lambda *words: warned.append(words))
    monkeypatch.setattr("numba.core.serialize.dumps", lambda saved: b"saved")
    monkeypatch.setattr(jit.KernelCache, "_path", lambda self, key: written)

    def refused(path, target):
        raise PermissionError(13, "The process cannot access the file")

    data = SimpleNamespace(
        library=SimpleNamespace(has_dynamic_globals=False),
        codegen=SimpleNamespace(magic_tuple=tuple),
        _reduce=tuple,
    )
    monkeypatch.setattr(jit.Path, "replace", refused)
    cache = jit.KernelCache(jit.njit)
    cache.save_overload("signature", data)
    assert len(warned) == 1  # there is none, and none can be written
    written.write_bytes(b"of another process")
    cache.save_overload("signature", data)
    assert len(warned) == 1
    assert [path.name for path in written.parent.iterdir()] == ["a.kernel"]


# ---------------------------------------------------------------------------- processes by spawn


def selected(n_jobs: int = 1) -> list[int]:
    """Fit in whatever process this is called."""
    table = datasets.toy(n_samples=150, random_state=0)
    selector = PIDSelector(
        "mi", "gaussian", n_permutations=39, alpha=0.1, n_jobs=n_jobs, random_state=0
    )
    return selector.fit(table.X, table.y).selected_.tolist()


@pytest.mark.skipif("forkserver" not in get_all_start_methods(), reason="of POSIX systems")
def test_fit_in_a_process_of_a_fork_server():
    with ProcessPoolExecutor(1, get_context("forkserver")) as pool:
        assert pool.submit(selected).result(PATIENCE) == selected()


def environment() -> dict[str, str]:
    """Return the variables of a process that imports this package and these tests."""
    paths = [str(PACKAGE.parent), str(Path(__file__).parent)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def test_fit_with_workers_by_spawn():
    """In a script without more guards than Windows needs, with loky's processes by spawn."""
    code = (
        "import joblib\n"
        "from joblib.externals.loky.backend.context import set_start_method\n"
        "from test_portability import selected\n"
        "if __name__ == '__main__':\n"
        "    set_start_method('spawn', force=True)\n"
        "    with joblib.parallel_config(backend='loky', n_jobs=2):\n"
        "        print(selected(n_jobs=2))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(selected())


def test_the_command_line_without_utf8(tmp_path):
    """An output in the encoding of an old terminal, and a table in UTF-8."""
    table = tmp_path / "größe.csv"
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    rows = [f"{a:.3f},{b:.3f},{a + 0.1 * b:.3f}" for a, b in x]
    table.write_text("größe,ψ,ziel\n" + "\n".join(rows), encoding="utf-8")
    command = ["select", str(table), "--target", "ziel", "--estimator", "gaussian", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-X", "warn_default_encoding", "-m", "pidselect", *command],
        cwd=tmp_path,
        env={**environment(), "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
        capture_output=True,
        timeout=PATIENCE,
    )
    errors = done.stderr.decode("cp1252")
    assert done.returncode == 0, errors
    assert "größe" in done.stdout.decode("cp1252")
    warned = [line for line in errors.splitlines() if "EncodingWarning" in line]
    assert not [line for line in warned if str(PACKAGE) in line]
