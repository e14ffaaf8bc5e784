"""Metadata, recipe, workflows and settings of services agree with each other and with the code."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import pidselect

ROOT = Path(__file__).parents[1]
PACKAGE = Path(pidselect.__file__).parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))

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


def test_extras_of_developers_have_no_lower_bounds_of_their_own():
    known = requirements(
        [*PROJECT["dependencies"], *(text for name in USED_EXTRAS for text in EXTRAS[name])]
    )
    for name in {*EXTRAS} - {*USED_EXTRAS}:
        for package, allowed in requirements(EXTRAS[name]).items():
            assert known.get(package, allowed) == allowed, f"{package} of the extra {name}"


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


def test_files_of_the_sdist():
    named = PYPROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    missing = [name for name in named if name != "src" and not (ROOT / name).exists()]
    assert not missing


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


# ------------------------------------------------------------------------------------------- GitHub


def jobs() -> Iterator[Any]:
    for path in WORKFLOWS:
        for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items():
            yield pytest.param(job, id=f"{path.stem}-{name}")


def test_workflows_have_least_permissions():
    assert [path.stem for path in WORKFLOWS] == ["docs", "release", "tests"]
    for path in WORKFLOWS:
        workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert workflow["permissions"] == {"contents": "read"}
        assert workflow["concurrency"]["group"]


@pytest.mark.parametrize("job", list(jobs()))
def test_steps_of_workflows(job):
    """Every step is there for what it needs: extras, targets of make, files, versions."""
    assert job["timeout-minutes"] <= 60
    uses = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@(release/)?v\d+", one) for one in uses)
    for text in (step["run"] for step in job["steps"] if "run" in step):
        assert {*re.findall(r"'\.\[(\w+)\]'", text)} <= {*EXTRAS}
        targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
        assert {*re.findall(r"\bmake ([\w-]+)", text)} <= {*targets}
        paths = re.findall(r"(?<![\w/])((?:tools|tests|\.ci)/[\w./-]+)", text)
        assert not [path for path in paths if not (ROOT / path).exists()]
        needs_checkout = bool(paths) or "make " in text or ".[" in text
        assert not needs_checkout or uses[0].startswith("actions/checkout@")
        for option in re.findall(r"check_release\.py.* (--[\w-]+)", text):
            assert option in (ROOT / "tools" / "check_release.py").read_text(encoding="utf-8")
    for step in job["steps"]:
        if step.get("uses", "").startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False


def test_release_is_tested_and_trusted():
    found = load(".github/workflows/release.yml")["jobs"]
    assert {*found["publish"]["needs"]} == {"build", "test"}
    assert found["publish"]["permissions"] == {"id-token": "write"}
    assert found["publish"]["environment"]["name"] == "pypi"
    assert found["announce"]["needs"] == "publish"
    others = [name for name, job in found.items() if name not in ("publish", "announce")]
    assert not [name for name in others if "permissions" in found[name]]
    uploaded = {step["with"]["name"] for step in found["build"]["steps"] if "upload" in str(step)}
    for name in ("test", "publish", "announce"):
        taken = [step for step in found[name]["steps"] if "download-artifact" in str(step)]
        assert {step["with"]["name"] for step in taken} == uploaded


# --------------------------------------------------------------------------------- other services


def test_read_the_docs():
    settings = load(".readthedocs.yaml")
    (install,) = settings["python"]["install"]
    assert {*install["extra_requirements"]} <= {*EXTRAS}
    assert (ROOT / settings["sphinx"]["configuration"]).exists()


def test_hooks_before_a_commit():
    hooks = {
        hook["id"]: hook
        for one in load(".pre-commit-config.yaml")["repos"]
        for hook in one["hooks"]
    }
    assert {"ruff-check", "ruff-format", "mypy", "lint-imports"} <= {*hooks}
    for pattern in (hook["exclude"] for hook in hooks.values() if "exclude" in hook):
        assert [
            path
            for path in ROOT.rglob("*")
            if re.search(pattern, path.relative_to(ROOT).as_posix())
        ]
