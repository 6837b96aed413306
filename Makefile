# `make` alone lists the targets.
PY ?= python3
BIN := .venv/bin
DATA ?= ../shared/data

.PHONY: help demo test test-full test-timing clients lint types imports check fmt bench bench-propose bench-relay bench-conflicts bench-blocking bench-merging bench-secrets bench-orders bench-curator example docs clean
.DEFAULT_GOAL := help

# Tests of screens and terminals mostly wait, so that three more of them than there are cores keep all cores at work.
WORKERS ?= $(shell $(PY) -c 'import os; print((os.cpu_count() or 1) + 3)')
MARKS ?= not full and not timing
# Tests start thousands of interpreters. Each would compile the program anew if none might keep what it compiled.
PYTEST = env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

help:  ## This list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

.venv/ready: pyproject.toml
	$(PY) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@

demo: .venv/ready  ## The main job: install, and show a copy of the example
	@env -u NO_COLOR $(BIN)/agentplane demo

test: .venv/ready  ## All tests, with a few cases of what has many
	$(PYTEST) -m "$(MARKS)" $(ARGS)

test-full: .venv/ready  ## All tests with every case, the real coding tools and the browser
	$(PYTEST) -m "not timing" --hypothesis-profile=explore $(ARGS)

test-timing: .venv/ready  ## What compares how long something takes; nothing else should run
	$(BIN)/python -m pytest -m timing $(ARGS)

clients:  ## The real coding tools, for the tests that run them (needs npm)
	@mkdir -p .clients && cp tests/clients/package.json .clients/
	cd .clients && npm install --no-audit --no-fund --no-package-lock --loglevel=error

lint: .venv/ready  ## Style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/ready  ## Types, strictly
	$(BIN)/mypy

imports: .venv/ready  ## Layers: which package may import which
	$(BIN)/lint-imports

check: lint types imports test  ## Everything that must pass

fmt: .venv/ready  ## Format, and mend what style can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/ready  ## Speed, as ratios (DATA=folder, SIZE=entries)
	@$(BIN)/python -m tests.bench --data $(DATA) $(if $(SIZE),--size $(SIZE))

bench-propose: .venv/ready  ## What a proposal costs at 100, 1,000 and 10,000 entries (DATA=folder, SIZE=entries)
	@$(BIN)/python -m tests.bench.propose --data $(DATA) $(if $(SIZE),--size $(SIZE))

bench-relay: .venv/ready  ## What a command costs under `agentplane run` (SIZE=bytes)
	@$(BIN)/python -m tests.bench.relay $(if $(SIZE),--size $(SIZE))

bench-conflicts: .venv/ready  ## How well conflicts are found (DATA=folder)
	@$(BIN)/python -m tests.bench.conflicts --data $(DATA)

bench-blocking: .venv/ready  ## How often a decision is blocked in vain (DATA=folder)
	@$(BIN)/python -m tests.bench.blocking --data $(DATA)

bench-merging: .venv/ready  ## How many files two branches conflict in, where
	@$(BIN)/python -m tests.bench.merging

bench-secrets: .venv/ready  ## How many secrets are found, and how many false alarms (DATA=folder)
	@$(BIN)/python -m tests.bench.secrets --data $(DATA)

bench-orders: .venv/ready  ## How well orders to the reader are found (DATA=folder)
	@$(BIN)/python -m tests.bench.orders --data $(DATA)

bench-curator: .venv/ready  ## How often the curator names the right state of evidence (downloads packages once)
	@$(BIN)/python -m tests.bench.curator

example: .venv/ready  ## Make .agentplane-example anew
	$(BIN)/python -m tests.example.make

docs: .venv/ready  ## Make what is generated in the docs anew
	$(BIN)/python -m tests.docs.generate

clean:  ## Remove what was installed and built
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
