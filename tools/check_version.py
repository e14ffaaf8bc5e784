"""Check that a tag, the package, the citation and the changelog name one version.

``python tools/check_version.py v1.2.3`` fails where they do not; ``--notes`` prints the changes.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version() -> str:
    """Return the version of the package, which is written in one place."""
    text = (ROOT / "src" / "pidselect" / "__init__.py").read_text(encoding="utf-8")
    return str(re.findall(r'^__version__ = "(.+)"$', text, re.MULTILINE)[0])


def section(wanted: str) -> tuple[str, str]:
    """Return the date of a version in the changelog, or "unreleased", and its changes."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    _, *parts = re.split(r"^## \[(.+)\] - (.+)\n", text, flags=re.MULTILINE)
    found = zip(parts[::3], parts[1::3], parts[2::3], strict=True)
    changes = {name: (date, text.strip()) for name, date, text in found}
    return changes.get(wanted, ("missing", ""))


def problems(tag: str) -> list[str]:
    """Return what differs from the tag."""
    wanted = tag.removeprefix("v")
    date, _ = section(wanted)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = []
    if tag != f"v{version()}":
        found.append(f"src/pidselect/__init__.py has version {version()}, the tag is {tag}")
    if f"\nversion: {wanted}\n" not in citation:
        found.append(f"CITATION.cff does not have version {wanted}")
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", date):
        found.append(f"CHANGELOG.md: the date of {wanted} is {date}")
    return found


if __name__ == "__main__":
    if found := problems(sys.argv[1]):
        sys.exit("\n".join(found))
    if "--notes" in sys.argv:
        print(section(version())[1])
