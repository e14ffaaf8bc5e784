# Every target sets up what it needs: python3 (3.11 or later) and make are enough.
PYTHON ?= python3
BIN = .venv/bin

# Compiled kernels are kept on disk. They are looked up by the file of the outermost function alone,
# so here they are kept apart for every state of the kernels' sources.
KERNELS = $(sort $(wildcard src/pidselect/*/_[a-z]*.py))
export NUMBA_CACHE_DIR = $(CURDIR)/.venv/kernels-$(shell cat $(KERNELS) | cksum | cut -d' ' -f1)

.PHONY: help demo test lint bench reproduce clean

help:
	@echo "make demo       select features on a bundled problem and print the result"
	@echo "make test       lint, types, layers, tests and doctests"
	@echo "make bench      speed beside scipy, scikit-learn, ennemi, tigramite, Clarabel and dit"
	@echo "make reproduce  the paper's experiments, quickly, on one page: reproduction/index.html"
	@echo "make clean      remove the virtual environment and all caches"

demo: .venv/installed
	@$(BIN)/python examples/first_selection.py

test: lint
	$(BIN)/python -m pytest

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/installed
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/growth.py --quick
	$(BIN)/python benchmarks/pid.py

reproduce: .venv/installed
	$(BIN)/pidselect reproduce --quick --resume --out reproduction

# The stamp is renewed whenever the dependencies may have changed.
.venv/installed: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +
