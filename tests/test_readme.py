"""What the README says to type works in an empty environment with its own line of installation."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(console|python)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [
    line.partition("#")[0].strip()
    for kind, block in BLOCKS
    if kind == "console"
    for line in block.splitlines()
]


def run(command: str, folder: Path, environment: Path) -> None:
    """Run a line of a shell in an environment; nothing of the checkout is on Python's path."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    variables["PATH"] = os.pathsep.join([str(environment / "bin"), variables["PATH"]])
    done = subprocess.run(
        command, shell=True, cwd=folder, env=variables, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """Make an environment that holds what the README's line of installation installs, no more."""
    place = tmp_path_factory.mktemp("readme") / "environment"
    subprocess.run([sys.executable, "-m", "venv", place], check=True, timeout=120)
    (line,) = (command for command in COMMANDS if command.startswith("pip install"))
    run(line, ROOT, place)
    return place


@pytest.mark.install
@pytest.mark.skipif(os.name == "nt", reason="the lines are those of a POSIX shell")
def test_python_of_the_readme(environment, tmp_path):
    lines = "\n".join(block for kind, block in BLOCKS if kind == "python")
    (tmp_path / "readme.txt").write_text(lines, encoding="utf-8")
    run("python -m doctest -o NORMALIZE_WHITESPACE readme.txt", tmp_path, environment)


@pytest.mark.install
@pytest.mark.skipif(os.name == "nt", reason="the lines are those of a POSIX shell")
def test_commands_of_the_readme(environment, tmp_path):
    rng = np.random.default_rng(0)
    size, age, noise = rng.normal(size=(3, 200))
    rows = np.column_stack([size, age, 3 * size + age + noise])
    np.savetxt(tmp_path / "table.csv", rows, delimiter=",", header="size,age,price", comments="")
    commands = [line for line in COMMANDS if line.startswith("pidselect ")]
    assert len(commands) >= 3
    for line in commands:
        run(line, tmp_path, environment)
    for file in re.findall(r"[\w.]+\.(?:html|csv)", " ".join(commands)):
        assert (tmp_path / file).stat().st_size > 0


def test_targets_of_the_readme():
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    named = [line.removeprefix("make ") for line in COMMANDS if line.startswith("make ")]
    assert named
    assert {*named} <= {*targets}


def test_readme_is_short():
    assert len(README.splitlines()) <= 120
