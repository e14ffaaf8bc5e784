"""The check of budgets notices what is over them."""

import copy
import tomllib

import pytest

from tools import check_budget

SETTINGS = tomllib.loads((check_budget.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
BUDGET = SETTINGS["tool"]["budget"]

if not (check_budget.ROOT / "src").exists():
    pytest.skip("an installed package is tested, without its sources", allow_module_level=True)


@pytest.mark.parametrize(
    ("section", "key", "value", "named"),
    [
        ("lines", "data", 1, "data: "),
        ("beside", "tests", 1, "tests: "),
        ("density", "elsewhere", 1.0, "cli: "),
        ("long_functions", "data/table.py:short", 99, "data/table.py:short"),
        (None, "files", 1, "files, the budget is 1"),
        (None, "function", 5, "a function may have 5"),
    ],
)
def test_what_is_over_budget_is_named(section, key, value, named):
    budget = copy.deepcopy(BUDGET)
    (budget if section is None else budget[section])[key] = value
    assert any(named in line for line in check_budget.problems(budget))


def test_an_exchange_keeps_the_sum(monkeypatch):
    budget = copy.deepcopy(BUDGET)
    budget["lines"]["data"] += 7
    raised = list(check_budget.raised_sums(budget))
    assert not raised or "lines and reserve" in raised[0]  # without git there is nothing to compare
    budget["reserve"]["questions"] -= 7
    assert list(check_budget.raised_sums(budget)) == []
