# Everything a person or a machine does with this repository. `make help` lists it.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
TREE := services acervo_client acervoctl tests bench examples

export PATH := $(CURDIR)/$(BIN):$(PATH)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

# Two stamps: what running needs, and what developing needs on top.

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'Acervo needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ...' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo 'No venv module: install python3-venv, then try again.' >&2; exit 1; }

$(VENV)/.local: requirements/local.txt pyproject.toml | $(PY)
	@echo 'Installing what running needs (once) ...'
	@$(PY) -m pip install --quiet --require-hashes -r requirements/local.txt
	@$(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.local
	@echo 'Installing what developing needs (once) ...'
	@$(PY) -m pip install --quiet --require-hashes -r requirements/dev.txt
	@touch $@

.PHONY: demo
demo: $(VENV)/.local ## Start everything, ingest examples/, ask questions, print cited answers, stop.
	@$(BIN)/acervo demo

.PHONY: up
up: $(VENV)/.local ## Start everything and leave it running until Ctrl-C.
	@$(BIN)/acervo up

.PHONY: test
test: $(VENV)/.dev ## Run all that a change must pass.
	@$(PY) -m pytest -q -n 3 --dist worksteal -m 'not soak'

.PHONY: soak
soak: $(VENV)/.dev ## Run the long fault tests: 200 documents, processes killed at random.
	@$(PY) -m pytest -q -m soak --timeout 1800

.PHONY: check
check: $(VENV)/.dev ## Format, lint, types, import contracts, protos: all that needs no server.
	@$(BIN)/ruff format --check --quiet $(TREE)
	@$(BIN)/ruff check --quiet $(TREE)
	@$(BIN)/mypy $(TREE)
	@$(BIN)/lint-imports
	@$(BIN)/buf lint
	@$(BIN)/buf breaking --against protos/released.binpb
	@tools/check_generated.sh

.PHONY: format
format: $(VENV)/.dev ## Format the code and mend what the linter can.
	@$(BIN)/ruff check --fix --quiet $(TREE) || true
	@$(BIN)/ruff format --quiet $(TREE)

.PHONY: proto
proto: $(VENV)/.dev ## Generate gen/ from protos/.
	@tools/generate.sh gen

.PHONY: release-contract
release-contract: $(VENV)/.dev ## Make today's protos the contract that later ones must not break.
	@$(BIN)/buf build -o protos/released.binpb

.PHONY: bench
bench: $(VENV)/.dev ## Measure our paths against the plain floor of this machine, as ratios.
	@$(PY) -m bench

.PHONY: lock
lock: $(VENV)/.dev ## Resolve the dependencies anew into requirements/*.txt.
	@tools/lock.sh

.PHONY: clean
clean: ## Remove the environment and what tools left.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
