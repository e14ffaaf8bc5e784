"""Metadata, recipe and the wheel agree with each other and with the code."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import pidselect

ROOT = Path(__file__).parents[1]
PACKAGE = Path(pidselect.__file__).parent

#: Pinned beside the oldest direct dependencies, which warn about later ones.
BESIDE = {"click", "pyparsing"}

#: Extras that users and tests need; the tools of developers and of the documents are always new.
USED_EXTRAS = ("cli", "dask", "progress", "ray", "test")

#: Names that conda has for smaller packages.
OF_CONDA = {"matplotlib-base": "matplotlib"}


def load(name: str) -> dict[str, Any]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return tomllib.loads(text) if name.endswith(".toml") else yaml.safe_load(text)


PYPROJECT = load("pyproject.toml")
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
RECIPE = load("conda/recipe/recipe.yaml")


def tool(name: str) -> ModuleType:
    """Import a script of the folder tools."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def requirements(texts: list[str]) -> dict[str, str]:
    """Return the versions allowed of each package."""
    found = [Requirement(text) for text in texts]
    return {one.name.lower(): str(one.specifier) for one in found if one.name != "pidselect"}


# ----------------------------------------------------------------------------------------- versions


def test_one_version():
    assert PYPROJECT["tool"]["hatch"]["version"]["path"] == "src/pidselect/__init__.py"
    assert load("CITATION.cff")["version"] == pidselect.__version__
    assert RECIPE["context"]["version"] == pidselect.__version__
    conf = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert "version = release = pidselect.__version__" in conf
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## [{pidselect.__version__}] - " in changelog


def test_tags_that_are_no_release(tmp_path, monkeypatch):
    check = tool("check_version")
    files = {
        "src/pidselect/__init__.py": '__version__ = "1.2.3"\n',
        "CITATION.cff": "title: x\nversion: 1.2.3\nlicense: y\n",
        "CHANGELOG.md": "## [1.2.3] - 2030-01-02\n\n- New.\n\n## [1.2.2] - 2029-01-02\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(check, "ROOT", tmp_path)
    assert check.problems("v1.2.3") == []
    assert check.section("1.2.3") == ("2030-01-02", "- New.")
    assert len(check.problems("v1.2.4")) == 3
    assert len(check.problems("1.2.3")) == 1
    (tmp_path / "CHANGELOG.md").write_text("## [1.2.3] - unreleased\n", encoding="utf-8")
    assert check.problems("v1.2.3") == ["CHANGELOG.md: the date of 1.2.3 is unreleased"]


def test_oldest_versions_are_the_lower_bounds():
    lines = (ROOT / ".ci" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    texts = [line.partition("#")[0].strip() for line in lines]
    pins = {name: Version(pin[2:]) for name, pin in requirements([t for t in texts if t]).items()}
    bounds = {}
    for texts in (PROJECT["dependencies"], *(EXTRAS[name] for name in USED_EXTRAS)):
        for name, allowed in requirements(texts).items():
            bound = Version(re.findall(r">=([\d.]+)", allowed)[0])
            assert bounds.setdefault(name, bound) == bound, f"two lower bounds of {name}"
    assert {name: pin for name, pin in pins.items() if name not in BESIDE} == bounds


# ----------------------------------------------------------------------------------------- metadata


def test_classifiers():
    classifiers = PROJECT["classifiers"]
    assert not [one for one in classifiers if one.startswith("License")]  # license is SPDX
    pythons = re.findall(r"Python :: (3\.\d+)$", "\n".join(classifiers), re.MULTILINE)
    matrix = load(".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert {*pythons} <= {*matrix["python"]}
    assert PROJECT["requires-python"] == f">={pythons[0]}"
    assert RECIPE["context"]["python_min"] == pythons[0] == matrix["python"][0]
    systems = {"ubuntu": "Linux", "macos": "MacOS", "windows": "Windows"}
    named = {one.split(" :: ")[-1] for one in classifiers if one.startswith("Operating System")}
    assert named == {systems[one.removesuffix("-latest")] for one in matrix["os"]}


def test_addresses():
    urls = PROJECT["urls"]
    assert all(one.startswith((urls["Homepage"], urls["Documentation"])) for one in urls.values())
    about, citation = RECIPE["about"], load("CITATION.cff")
    assert {about["homepage"], about["repository"]} == {urls["Homepage"]}
    assert citation["repository-code"] == urls["Source"]
    assert about["documentation"] == citation["url"] == urls["Documentation"]
    assert (about["summary"], about["license"]) == (PROJECT["description"], PROJECT["license"])


def test_links_of_the_readme_on_pypi():
    hook = PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for one in hook["substitutions"]:
        text = re.sub(one["pattern"], one["replacement"], text)
        assert PROJECT["urls"]["Source"].removeprefix("https://github.com/") in one["replacement"]
    links = re.findall(r"\]\(([^)]+)\)|src=\"([^\"]+)\"", text)
    assert len(links) > 10
    assert all((link or source).startswith("https://") for link, source in links)


def test_files_of_the_wheel():
    assert PYPROJECT["tool"]["hatch"]["build"]["targets"]["wheel"] == {
        "packages": ["src/pidselect"]
    }
    check = tool("check_release")
    paths = [path for path in PACKAGE.rglob("*") if "__pycache__" not in path.parts]
    names = [path.relative_to(PACKAGE.parent).as_posix() for path in paths if path.is_file()]
    assert check.unexpected(names) == []
    assert "pidselect/py.typed" in names
    others = ["tests/naive.py", "pidselect/table.csv", "pidselect/notes.md"]
    assert check.unexpected([*others, "pidselect-1.0.dist-info/METADATA"]) == others


def test_import_is_light():
    """Only what is used is imported, so that the command line completes names at once."""
    code = (
        "import sys, pidselect, pidselect.names\n"
        "print(*({'numba', 'numpy', 'scipy', 'sklearn', 'narwhals', 'joblib'} & {*sys.modules}))"
    )
    command = [sys.executable, "-c", code]
    found = subprocess.run(command, capture_output=True, encoding="utf-8", check=True, timeout=60)
    assert found.stdout.strip() == ""


# -------------------------------------------------------------------------------------------- conda


def test_requirements_of_conda():
    def named(texts: list[str]) -> dict[str, str]:
        pairs = (text.partition(" ") for text in texts if not text.startswith("python "))
        return requirements([f"{OF_CONDA.get(name, name)}{spec}" for name, _, spec in pairs])

    needs = RECIPE["requirements"]
    assert named(needs["run"]) == requirements([*PROJECT["dependencies"], *EXTRAS["cli"]])
    tools = requirements(PYPROJECT["build-system"]["requires"])
    assert named(needs["host"]) == {**tools, "pip": ""}
    (script,) = PROJECT["scripts"].items()
    assert RECIPE["build"]["python"]["entry_points"] == [" = ".join(script)]
