"""Pages say what was measured: their tables and rates are written from the results."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def tables():
    """The script, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("tables", ROOT / "benchmarks" / "tables.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture(scope="module")
def records(tables):
    return tables.Records.read()


@pytest.fixture(scope="module")
def pages(tables):
    known = {path.relative_to(ROOT).as_posix(): path for path in tables.PAGES}
    return {name: path.read_text(encoding="utf-8") for name, path in known.items()}


def test_pages_are_what_the_script_writes(tables, records, pages):
    """No table and no rate is typed: 34 to 50 on one page is 34 to 50 on all of them."""
    for name, page in pages.items():
        assert tables.filled(page, records) == page, f"{name}: run python benchmarks/tables.py"


def test_every_table_is_on_some_page_once(tables, pages):
    places = [name for page in pages.values() for _, name, _ in tables.PLACE.findall(page)]
    assert sorted(places) == sorted(tables.TABLES)


def test_every_rate_is_on_some_page(tables, pages):
    used = {name for page in pages.values() for _, name, _ in tables.RATE.findall(page)}
    assert used == {*tables.RATES}


def test_rates_begin_no_line(pages):
    """A line that begins with a comment is HTML, in which Markdown is not rendered."""
    for name, page in pages.items():
        assert not re.search(r"^ *<!-- rate", page, re.MULTILINE), name


def test_a_changed_result_changes_the_page(tables, records, pages):
    page = pages["benchmarks/numbers.md"]
    record = records.results["calibration"]
    rows = [{**row, "alarms": 987} for row in record["results"]["tables"]]
    results = {**records.results, "calibration": {**record, "results": {"tables": rows}}}
    changed = tables.filled(page, tables.Records(results, records.reproduction))
    assert "| 987 |" in changed
    assert "| 987 |" not in page
    guide = tables.filled(pages["docs/testing.md"], tables.Records(results, records.reproduction))
    assert "-->987 to 987<!--" in guide


def test_prose_around_tables_stays(tables, records):
    before = "Before.\n<!-- table: toy -->\nold\n<!-- end -->\nAfter.\n"
    after = tables.filled(before, records)
    assert after.startswith("Before.\n<!-- table: toy -->\n\n|")
    assert after.endswith("|\n\n<!-- end -->\nAfter.\n")
    assert "old" not in after
    assert tables.filled(after, records) == after


def test_a_table_that_is_not_known(tables, records):
    with pytest.raises(ValueError, match="There is no table 'no-such'"):
        tables.filled("<!-- table: no-such -->\n<!-- end -->", records)


def test_numbers_in_words(tables):
    assert tables.number(56.25) == "56.3"
    assert tables.number(None) == ""
    assert [tables.short(value) for value in (0.0881, 2.73, 20.6, 1058.2)] == [
        "0.088",
        "2.73",
        "20.6",
        "1,058",
    ]
    assert tables.markdown(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_rows_of_tables_are_complete(tables, records):
    for name, make in tables.TABLES.items():
        lines = make(records).splitlines()
        assert len(lines) > 2, name
        assert len({line.count(" | ") for line in lines}) == 1, name
