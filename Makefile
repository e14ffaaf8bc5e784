# Every target sets up what it needs: python3 (3.11 or later) and make are enough.
PYTHON ?= python3
BIN = .venv/bin
# Python compiles what it imports, which is far less than pip would.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable

# How many processes run the tests. Four at most unless asked for: each takes a gigabyte of memory,
# and some tests start processes of their own.
WORKERS ?= auto --maxprocesses 4

.PHONY: help demo test test-slow test-oldest test-newest test-all lint docs bench compare reproduce \
	dist clean

help:
	@echo "make demo       a first selection, with a report to look at: pidselect-demo.html"
	@echo "make test       lint, types, layers, budgets, tests and doctests;"
	@echo "                WORKERS=0 runs tests one by one, WORKERS=8 in eight processes"
	@echo "make test-all   also tests that start clusters, browsers or other environments, and all tests"
	@echo "                with the oldest and the newest dependencies, in parts of ten minutes at most:"
	@echo "                test, test-slow, test-oldest, test-newest; NEWEST=python3.13 names a Python"
	@echo "make docs       the documentation with its gallery: docs/_build/html/index.html"
	@echo "make bench      speed beside scipy, scikit-learn, ennemi, tigramite, Clarabel, dit, Boruta"
	@echo "make compare    ten selectors on the same tables: benchmarks/comparison.md; goes on where it stopped,"
	@echo "                hours in all; JOBS=4 measures four cells at a time"
	@echo "make reproduce  the paper's experiments, few runs: build/reproduction/index.html"
	@echo "make dist       wheel and sdist, built and checked: dist/"
	@echo "make clean      remove the virtual environment and all caches"

# Kernels are compiled at the first run.
demo: .venv/demo
	@$(BIN)/pidselect demo

test: lint
	$(BIN)/python -m pytest -m "not slow" -rs -n $(WORKERS) --dist loadfile

# One after the other: these tests start processes of their own.
test-slow: .venv/installed
	tools/find_chromium.sh
	$(BIN)/python -m pytest -m slow -rs

# The wheel in empty environments. The oldest dependencies have wheels for Python 3.11 to 3.13.
test-oldest: dist
	$(PYTHON) tools/check_release.py --prebuilt --oldest

NEWEST ?= $(PYTHON)
test-newest: dist
	$(PYTHON) tools/check_release.py --prebuilt --python $(NEWEST)

test-all: test test-slow test-oldest test-newest

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/check_budget.py

# Warnings are errors. What was built before is kept, so that only changed examples run again.
docs: .venv/docs-installed
	$(BIN)/sphinx-build -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html

bench: .venv/installed
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/ordinary_tables.py --runs 1
	$(BIN)/python benchmarks/real_tables.py --only breast_cancer --peers
	$(BIN)/python benchmarks/pid.py
	$(BIN)/python benchmarks/blankets.py --targets 4 --runs 1

# The other selectors are installed in benchmarks/out/compare-env.
JOBS ?= 1
compare: .venv/installed
	$(BIN)/python benchmarks/compare.py --jobs $(JOBS)
	$(BIN)/python benchmarks/tables.py

reproduce: .venv/installed
	$(BIN)/python -m reproduction --quick --resume --out build/reproduction

dist:
	$(PYTHON) tools/check_release.py --build-only

# Stamps are renewed whenever the dependencies may have changed. The demo needs few of them: a
# newcomer should not wait for the rest.
.venv/demo: pyproject.toml | $(BIN)/pip
	$(INSTALL) '.[cli]'
	@touch $@

.venv/installed: pyproject.toml | $(BIN)/pip
	$(INSTALL) '.[dev]'
	@touch .venv/demo $@

$(BIN)/pip:
	$(PYTHON) -m venv .venv

.venv/docs-installed: .venv/installed
	$(INSTALL) '.[docs]'
	@touch $@

clean:
	rm -rf .venv dist docs/_build docs/gallery docs/api/generated .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src reproduction tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +
