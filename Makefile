# Two commands need nothing but git, make, Python (>= 3.11) with pip and venv, and the package index:
#   make audit   audits a small library with planted bugs and scores the findings
#   make test    lint, types, import contract, tests
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
SOURCES := grammar core plugins tests data

# Tests start planloom hundreds of times, and each process would compile all of it anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: audit test test-all lint types contract unit format docs bench bench-language bench-runtime bench-offline fuzz clean

audit: $(VENV)/.audit
	$(BIN)/planloom demo

test: lint types contract unit

test-all: lint types contract
	$(BIN)/python -m pytest -q -rs -n auto

lint: $(VENV)/.test
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)

types: $(VENV)/.test
	$(BIN)/mypy

contract: $(VENV)/.test
	$(BIN)/lint-imports --no-logo

MARKS   ?= not slow
WORKERS ?= auto
unit: $(VENV)/.test
	$(BIN)/python -m pytest -q -rs -n $(WORKERS) -m "$(MARKS)"

bench: $(VENV)/.test
	$(BIN)/python tests/bench/bench.py

# Beside other languages, which live in an environment of their own.
bench-language: build/bench-language/.peers
	build/bench-language/bin/python -m tests.bench.bench_language

build/bench-language/.peers: $(BIN)/python pyproject.toml
	$(BIN)/python -m venv build/bench-language
	build/bench-language/bin/python -m pip install --quiet --disable-pip-version-check --editable . \
		starlark-pyo3 pydantic-monty smolagents asteval simpleeval cel-python RestrictedPython
	touch $@

# What a run survives and costs, and other engines likewise; ONLY=kills,cap measures some of it.
ONLY ?=
bench-runtime: build/bench-runtime/.peers
	build/bench-runtime/bin/python -m tests.bench.bench_runtime --only "$(ONLY)"

build/bench-runtime/.peers: $(BIN)/python pyproject.toml
	$(BIN)/python -m venv build/bench-runtime
	build/bench-runtime/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' \
		psutil langgraph langgraph-checkpoint-sqlite "dask[distributed]" dbos pysqlite3-binary
	touch $@

# Beside linters and type checkers, on bugs planted in packages from the index.
bench-offline: build/bench-offline/.peers
	build/bench-offline/env/bin/python -m tests.bench.bench_offline --again

build/bench-offline/.peers: $(BIN)/python pyproject.toml
	$(BIN)/python -m venv build/bench-offline/env
	build/bench-offline/env/bin/python -m pip install --quiet --disable-pip-version-check --editable . \
		ruff pylint mypy "pyright[nodejs]"
	touch $@

FUZZ_S ?= 600
fuzz: $(VENV)/.fuzz
	nice -n 19 $(BIN)/python -m tests.grammar.fuzz.fuzz_plans -max_total_time=$(FUZZ_S)

$(VENV)/.fuzz: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,fuzz]'
	touch $@

format: $(VENV)/.test
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

docs: $(VENV)/.test
	$(BIN)/python -m planlang.reference docs/reference

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "planloom needs Python 3.11 or newer, this is %d.%d: run make PYTHON=python3.12" % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.audit: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/.test: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@ $(VENV)/.audit
