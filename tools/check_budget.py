"""Check that the code stays within its budgets: lines, files, density and long functions.

The numbers are those of ``[tool.budget]`` in pyproject.toml. Their sum may only be lowered: a
package may have more lines only where others, or the reserve, have fewer in the same commit. A
budget is met by deleting, not by packing: code tokens per code line are limited, too.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]

#: Tokens that are layout, not code.
LAYOUT = frozenset({
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
})  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef


def package_of(path: Path) -> str:
    """Return the package whose budget a file of src/pidselect counts for.

    >>> package_of(Path("estimators/knn/spaces.py")), package_of(Path("names.py"))
    ('estimators', 'top')
    """
    if path.parts[0] in ("datasets", "tabular.py") or len(path.parts) == 1:
        return "report" if path.name == "tabular.py" else "top"
    return "cuda" if "cuda" in str(path) else path.parts[0]


def docstring_lines(tree: ast.AST) -> set[int]:
    """Return the lines of all docstrings."""
    owners = (Function, ast.ClassDef, ast.Module)
    nodes = [node for node in ast.walk(tree) if isinstance(node, owners)]
    first = [node.body[0] for node in nodes if node.body and ast.get_docstring(node) is not None]
    return {line for node in first for line in range(node.lineno, (node.end_lineno or 0) + 1)}


def density(text: str) -> tuple[int, int]:
    r"""Return the numbers of code tokens and of lines with code, without docstrings and comments.

    >>> density("def successor(x):\n    'A docstring.'\n    return x + 1  # a comment")
    (10, 2)
    """
    documented = docstring_lines(ast.parse(text))
    tokens = [
        token
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in LAYOUT and token.start[0] not in documented
    ]
    return len(tokens), len({token.start[0] for token in tokens})


def long_functions(text: str, name: str, most: int) -> Iterator[tuple[str, int]]:
    """Yield functions of more than so many lines besides their docstrings, and their lengths."""
    tree = ast.parse(text)
    documented = docstring_lines(tree)
    for node in ast.walk(tree):
        if isinstance(node, Function):
            body = node.body[-1]
            lines = set(range(node.lineno, (body.end_lineno or 0) + 1)) - documented
            if len(lines) > most:
                yield f"{name}:{node.name}", len(lines)


def sum_of(budget: dict[str, Any]) -> int:
    """Return the lines of all packages and of the reserve."""
    return sum([*budget["lines"].values(), *budget["reserve"].values()])


def raised_sums(budget: dict[str, Any]) -> Iterator[str]:
    """Yield sums that are higher than those of the last two commits, where git has them."""
    for revision in ("HEAD", "HEAD~1"):
        shown = subprocess.run(
            ["git", "show", f"{revision}:pyproject.toml"], cwd=ROOT, capture_output=True, text=True
        )
        before = tomllib.loads(shown.stdout).get("tool", {}).get("budget")
        if shown.returncode or before is None:
            continue
        pairs = [("lines and reserve", sum_of(before), sum_of(budget))]
        pairs += [(key, before["beside"][key], new) for key, new in budget["beside"].items()]
        for key, old, new in [*pairs, ("files", before["files"], budget["files"])]:
            if new > old:
                yield f"budget of {key}: {new}, which is more than {old} in {revision}"


def problems(budget: dict[str, Any]) -> Iterator[str]:
    """Yield everything that is over budget."""
    source = ROOT / "src" / "pidselect"
    files = sorted(source.rglob("*.py"))
    lines = dict.fromkeys(budget["lines"], 0)
    tokens, code = dict(lines), dict(lines)
    found: dict[str, int] = {}
    for file in files:
        name, text = file.relative_to(source), file.read_text(encoding="utf-8")
        package = package_of(name)
        lines[package] += len(text.splitlines())
        n_tokens, n_lines = density(text)
        tokens[package] += n_tokens
        code[package] += n_lines
        found |= long_functions(text, name.as_posix(), budget["function"])
    for package, most in budget["lines"].items():
        if lines[package] > most:
            yield f"{package}: {lines[package]:,} lines, the budget is {most:,}"
        dense, densest = tokens[package] / max(1, code[package]), budget["density"]
        if dense > (limit := densest.get(package, densest["elsewhere"])):
            yield f"{package}: {dense:.3f} tokens in a line of code, at most {limit} are allowed"
    if len(files) > budget["files"]:
        yield f"{len(files)} files, the budget is {budget['files']}"
    for folder, most in budget["beside"].items():
        n_lines = sum(
            len(file.read_text(encoding="utf-8").splitlines())
            for file in (ROOT / folder).rglob("*.py")
            if "out" not in file.relative_to(ROOT).parts
        )
        if n_lines > most:
            yield f"{folder}: {n_lines:,} lines, the budget is {most:,}"
    allowed: dict[str, int] = budget["long_functions"]
    for function, length in found.items():
        if length > (limit := allowed.get(function, budget["function"])):
            yield f"{function}: {length} lines, a function may have {limit}"
    for function in allowed.keys() - found.keys():
        yield f"{function} is short now: remove it from long_functions in pyproject.toml"
    yield from raised_sums(budget)


def main() -> None:
    """Print what is over budget; exit with 1 if anything is."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    found = list(problems(settings["tool"]["budget"]))
    print("\n".join(found) or "All budgets are kept.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
