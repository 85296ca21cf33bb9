# Every target makes what it needs and does nothing twice. Needs Python 3.11+, Node 20+ and npm.
#   PORT=4190 make demo     another port      CAPABILITY_VAR_DIR=var/two make demo     a second server, side by side
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
PY := $(BIN)/python manage.py

.PHONY: help demo chat test smoke bench soak format setup browser clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: setup ## the chat with the rehearsal model: no account, no network
	@$(PY) dev --prepare --rehearsal

chat: setup ## the chat with your Codex login, or with CAPABILITY_MODEL_URL
	@$(PY) dev --prepare

test: setup browser ## everything CI runs, with real Codex and a real browser
	@$(PY) verify

smoke: setup ## two real Codex turns through the public routes, every assertion printed
	@$(PY) smoke_cleanroom --json

bench: setup browser ## the performance bars, as ratios
	@$(PY) bench

soak: setup browser ## what takes longer than CI may
	@$(PY) verify --soak

format: setup ## rewrite the code in the house format
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format --quiet .

setup: .venv/.installed node_modules/.installed

.venv/.installed: requirements.lock
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed (set PYTHON=...)"; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed, not $$($(PYTHON) -V) (set PYTHON=...)"; exit 1; }
	@echo "Installing Python packages into .venv …"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock 2> >(grep -v '^WARNING: Location' >&2)
	@touch $@

node_modules/.installed: package-lock.json
	@command -v npm >/dev/null || { echo "Node 20 or newer with npm is needed"; exit 1; }
	@echo "Installing Codex and browser modules into node_modules …"
	@npm install --no-save --no-audit --no-fund --loglevel=error >/dev/null  # not ci: it wants lock entries of every other platform
	@touch $@

browser:
	@.ci/browser

clean: ## remove what the other targets made, databases included
	@rm -rf .venv node_modules var
