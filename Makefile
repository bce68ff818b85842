# Run `make <target>`. Required: make, and Python 3.11 or newer.
.DEFAULT_GOAL := help
# Several hundred processes of the tests, and every start of the service, would else compile the same modules again.
unexport PYTHONDONTWRITEBYTECODE
.SUFFIXES:
.PHONY: help run test golden gate check lint coverage slow system dates tools-present docs bench eval fixtures pictures soak chain browser \
	vendor commands fuzz mutants dist live-check

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
# Hide pip's warnings and notices: a user cannot act on them. Its errors are shown.
# A lock lists every package. Without --no-deps pip would resolve `pydantic[email]` again and find a newer version.
QUIETLY := -m pip install -qq --disable-pip-version-check --root-user-action=ignore --no-deps --require-hashes --requirement
PIP := $(BIN)/python $(QUIETLY)
OR_FAIL = || { echo 'Installing $< failed (the reason is above). Check the connection to the package index, then run make again.' >&2; exit 1; }
PYTEST := $(BIN)/python -m pytest -rfE
COVERAGE := $(BIN)/coverage
# Tests by marker (pyproject.toml). Each test belongs to one of these, or to `chain`, `browser` or `soak`.
APART := chain or browser or soak
SYSTEM := process or wall or machine
FAST := not ($(APART) or $(SYSTEM) or slow or recorded)
# Rules that decide about quota, money and verdicts, without I/O. Every branch of them is tested.
PURE := access/quota payments/checks payments/decode units verdict/decide verdict/grading verdict/outcomes verdict/rules* \
	verdict/scorecard verdict/tables
CLIENTS := tests/chain/clients
BROWSER := tests/browser
WORKERS ?= 2
# In the order of the files: files with one long test, such as the golden answers, would come last otherwise.
PARALLEL = -n $(WORKERS) --dist loadfile --no-loadscope-reorder
SOAK ?= long
SEED ?= 8402

VERDICT_SOURCE ?= fixtures
VERDICT_DATA_DIR ?= $(CURDIR)/.data

help: ## show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/run $(BIN)/verdict ## start the service on the bundled fixtures and print a key to try it with
	@VERDICT_SOURCE='$(VERDICT_SOURCE)' VERDICT_DATA_DIR='$(VERDICT_DATA_DIR)' exec $(BIN)/python -m service serve --first-key

live-check: VERDICT_SOURCE := live
live-check: $(VENV)/run $(BIN)/verdict ## call every live upstream once; exit code 1 if a route lacks one
	@VERDICT_SOURCE='$(VERDICT_SOURCE)' VERDICT_DATA_DIR='$(VERDICT_DATA_DIR)' $(BIN)/python -m service admin doctor --upstreams

test: $(VENV)/dev $(BIN)/verdict ## the fast tests, without processes and real time: at most four minutes on two cores
	@$(PYTEST) $(PARALLEL) -m '$(FAST)'

golden: $(VENV)/dev $(BIN)/verdict ## record the golden answers again and print the difference
	@$(BIN)/python -m tests.golden

gate: $(VENV)/dev $(BIN)/verdict ## the system tests that run before each landing: processes, kills, ledgers, documentation
	@$(PYTEST) -m gate

check: tools-present lint coverage slow system docs chain browser dates ## everything, for releases; names a tool that is missing
	@$(MAKE) --no-print-directory soak SOAK=short

coverage: $(VENV)/dev $(BIN)/verdict ## run the tests of `make test` with coverage and write it as pages in htmlcov/
	@rm -f .coverage .coverage.*
	@$(COVERAGE) run -m pytest -rfE $(PARALLEL) -m '$(FAST)'
	@$(COVERAGE) combine --quiet
	@$(COVERAGE) html --quiet
	@$(COVERAGE) report
	@$(COVERAGE) report --include "$$(printf 'service/%s.py,' $(PURE))" --fail-under 100

slow: $(VENV)/dev $(BIN)/verdict ## slow tests and tests on the recordings, in parallel
	@$(PYTEST) $(PARALLEL) -m '(slow or recorded) and not ($(APART) or $(SYSTEM))'

system: $(VENV)/dev $(BIN)/verdict ## tests of processes, of real time and of the machine, one after the other
	@$(PYTEST) -m '($(SYSTEM)) and not ($(APART))'

# tests/golden is excluded: under libfaketime the service does not load the whole recording within minutes. These tests
# do not read the system's clock.
dates: $(VENV)/dev $(BIN)/verdict ## the tests of `make test` on other days: in 40 days, a leap day, midnight, first of a month
	@for at in '+40d' '@2028-02-29 12:00:00' '@2027-01-15 23:59:30' '@2027-03-01 00:00:05'; do \
		echo "The clock begins at $$at (UTC)."; \
		TZ=UTC FAKETIME_DISABLE_SHM=1 FAKETIME_DONT_FAKE_MONOTONIC=1 faketime -m -f "$$at" \
			$(PYTEST) $(PARALLEL) --ignore tests/golden -m '$(FAST)' || exit 1; done

# Elsewhere a test whose tool is missing is skipped. Here that would hide it.
tools-present:
	@for tool in chromium faketime fish git ip mkfs.ext4 nft node npm openssl setpriv slowhttptest strace systemd-analyze zsh; do \
		command -v $$tool >/dev/null || { echo "make check needs $$tool. Install it, then run make check again." >&2; exit 1; }; done

lint: $(VENV)/dev ## ruff and mypy
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy

docs: $(VENV)/site/ready ## build docs/ as a site in build/site/; a broken link fails
	@NO_MKDOCS_2_WARNING=1 $(VENV)/site/bin/mkdocs build --strict

bench: $(VENV)/dev $(VENV)/openbb/ready ## measure side by side and write BENCHMARKS.md; python -m bench PART [--write] measures one part
	@$(BIN)/python -m bench

eval: $(VENV)/dev ## measure headline sentiment (beside VADER), transcript tags, answers to questions and verdicts
	@$(BIN)/python -m tests.sentiment.evaluate
	@$(BIN)/python -m tests.transcripts.evaluate
	@$(BIN)/python -m tests.ask.evaluate
	@$(BIN)/python -m tests.verdict.evaluate

commands: $(VENV)/dev ## regenerate the client commands, ARCHITECTURE.md's tables, docs/commands.md and routes.md
	@$(BIN)/python -c 'from service.cli import generate; generate.write()'
	@$(BIN)/python -m tests.architecture
	@$(BIN)/python -m tests.commands_page
	@$(BIN)/python -m tests.routes_page

pictures: $(VENV)/dev $(BIN)/verdict ## draw the terminal pictures in docs/terminal anew
	@$(BIN)/python -m tests.terminal_pictures

fixtures: $(VENV)/dev ## regenerate the recording in fixtures/ from its seed
	@$(BIN)/python -m fixtures.generate

soak: $(VENV)/dev $(VENV)/tools ## inject faults for hours, with SEED, and write RELIABILITY.md; SOAK=short for minutes
	@$(BIN)/python -m pytest -rfEs -m '$(if $(filter short,$(SOAK)),soak,soak or fault)' --soak $(SOAK) --seed $(SEED)
	@$(if $(filter short,$(SOAK)),:,$(BIN)/python -m tests.soak.report)

chain: $(VENV)/dev $(VENV)/x402-v1/ready $(VENV)/x402-js ## pay with the official x402 clients, on a real EVM
	@$(BIN)/python -m pytest -rfEs -m chain tests/chain

browser: $(VENV)/dev $(VENV)/browser ## test pages and sign-in with Chromium; screenshots go to build/screenshots
	@$(BIN)/python -m pytest -rfEs -m browser tests/browser

fuzz: $(VENV)/dev $(VENV)/tools ## search every parser and route for inputs that break it; FUZZ_SECONDS=600 for each parser
	@$(BIN)/python -m tests.fuzz

mutants: $(VENV)/dev ## mutation tests of access, payments and verdict
	@$(BIN)/python -m tests.mutants

dist: $(VENV)/dev $(VENV)/tools ## build the single-file release in dist/, with checksums and a bill of materials
	@$(BIN)/python -m release.build

vendor: $(VENV)/browser ## copy the assets of pages from the locked npm packages
	@$(BIN)/python -m tests.browser.vendor

# The environment is created once, and updated when its lock changes. PIP_* settings of the machine apply.
$(VENV)/run: requirements.lock | $(BIN)/python
	@echo 'Installing the packages of requirements.lock (first time: about a minute) ...'
	@$(PIP) $< $(OR_FAIL)
	@touch $@

$(VENV)/dev: requirements-dev.lock | $(BIN)/python
	@echo 'Installing the packages of requirements-dev.lock (first time: a few minutes) ...'
	@$(PIP) $< $(OR_FAIL)
	@touch $@

$(VENV)/openbb/ready: bench/openbb.lock | $(BIN)/python
	@echo 'Installing OpenBB for the comparison ...'
	@$(BIN)/python -m venv $(@D)
	@$(@D)/bin/python $(QUIETLY) $< || echo 'OpenBB could not be installed. The comparison skips it.'
	@touch $@

$(VENV)/site/ready: requirements-docs.lock | $(BIN)/python
	@echo 'Installing the packages of requirements-docs.lock ...'
	@$(BIN)/python -m venv $(@D)
	@$(@D)/bin/python $(QUIETLY) $< $(OR_FAIL)
	@touch $@

$(VENV)/tools: requirements-tools.lock | $(VENV)/dev
	@echo 'Installing the packages of requirements-tools.lock ...'
	@$(PIP) $< $(OR_FAIL)
	@touch $@

# The clone is not installed, so that edits take effect at once; this script starts it from any directory. A shebang
# with the path of the interpreter would break at a space and after 127 characters, so the shell starts Python.
$(BIN)/verdict: | $(BIN)/python
	@printf '%s\n' '#!/bin/sh' "'''exec' \"$(realpath $(BIN))/python\" \"\$$0\" \"\$$@\"" "' '''" 'import os, sys' \
		'sys.path[0] = os.path.realpath(__file__ + "/../../..")' 'from service.__main__ import main' \
		'sys.exit(main())' > $@
	@chmod +x $@

# The clients of v1 and v2 have the same package name, so v1 has its own environment.
$(VENV)/x402-v1/ready: $(CLIENTS)/python_v1.lock | $(BIN)/python
	@echo 'Installing the official Python client of x402 v1 ...'
	@$(BIN)/python -m venv $(@D)
	@$(@D)/bin/python $(QUIETLY) $< $(OR_FAIL)
	@touch $@

$(VENV)/x402-js: $(CLIENTS)/package-lock.json | $(BIN)/python
	@echo 'Installing the official JavaScript clients of x402 ...'
	@if command -v npm >/dev/null; then cd $(CLIENTS) && npm ci --silent; else echo 'npm is missing: the JavaScript clients are skipped'; fi
	@touch $@

$(VENV)/browser: $(BROWSER)/package-lock.json | $(BIN)/python
	@echo 'Installing the packages of the browser tests ...'
	@if command -v npm >/dev/null; then cd $(BROWSER) && npm ci --silent; else echo 'npm is missing: browser tests are skipped'; fi
	@touch $@

$(BIN)/python:
	@test -n '$(PYTHON)' || { echo 'Verdict needs Python 3.11 or newer. Install it, or set PYTHON: make run PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { echo 'This Python cannot make virtual environments. On Debian and Ubuntu: sudo apt install python3-venv' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
