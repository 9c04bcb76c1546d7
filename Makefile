# Docrail: everything a checkout can do. `make help` lists it.
SHELL := /bin/sh
RUN := .venv/bin/
# More than the cores: a test on real servers waits for half of its time.
WORKERS := 5
# Failed tests are run again as often as this, and listed: for CI (docs/adr/0043-reruns.md).
RERUNS := 0
PYTEST := $(RUN)python -m pytest --reruns $(RERUNS) -rfER -n $(WORKERS) --dist worksteal
LABELLED := ../shared/data/invoices
PYTHONS := python3 python3.13 python3.12 python3.11

# Where it is set, hundreds of test processes would each compile what they import.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help venv console console-dev console-types screenshots demo up test test-all mutants lint check bench chaos soak bench-extraction calibration labelled fuzz docs dist lock clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: .venv/.complete  ## Make .venv with what Docrail needs to run (needs Python 3.11 or newer; the others do it too)

.venv/.complete: requirements.lock pyproject.toml
	@for candidate in $(PYTHONS); do \
	  if $$candidate -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    python=$$candidate; break; \
	  fi; \
	done; \
	if [ -z "$$python" ]; then \
	  echo "Docrail needs Python 3.11 or newer, with its venv module; found none of: $(PYTHONS)." >&2; \
	  echo "On Debian and Ubuntu: apt install python3 python3-venv" >&2; \
	  exit 1; \
	fi; \
	if ! $(RUN)python -m pip --version >/dev/null 2>&1; then \
	  echo "making .venv with $$($$python --version)"; $$python -m venv --clear .venv; \
	fi
	@echo "installing the pinned dependencies (a minute)"
	@$(RUN)python deploy/install.py requirements.lock
	@# compat: the folder itself is put on the path, so that a new module is found without installing again.
	@$(RUN)python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation \
	  --config-settings editable_mode=compat -e .
	@touch $@

.venv/.developer: requirements-dev.lock .venv/.complete
	@echo "installing the pinned developer tools"
	@$(RUN)python deploy/install.py requirements-dev.lock
	@touch $@

# What the build needs; the checks and tests need more: half of it is their browser. Once it is there, it stays.
console/node_modules/.for-builds: console/package-lock.json | .venv/.complete
	@echo "installing the pinned packages of the console"
	@if [ -e console/node_modules/.for-checks ]; then more="console/node_modules/.for-checks"; else omit=--omit=dev; fi; \
	  $(RUN)python deploy/node.py ci $$omit --no-progress --loglevel=error && touch $@ $$more

console/node_modules/.for-checks: console/package-lock.json | .venv/.complete
	@echo "installing the pinned packages of the console, with its developer tools"
	@$(RUN)python deploy/node.py ci --no-progress --loglevel=error
	@touch console/node_modules/.for-builds $@

CONSOLE := $(shell find console/src console/public -type f 2>/dev/null) console/index.html console/vite.config.ts console/package.json

api/built/index.html: console/node_modules/.for-builds $(CONSOLE)
	@echo "building the console"
	@$(RUN)python deploy/node.py run build --silent -- --logLevel=warn
	@touch $@

console: api/built/index.html  ## Build the console's pages, which the API serves

console-dev: console/node_modules/.for-checks  ## Serve the console with hot reload on port 5173, for the API at DOCRAIL_API_URL (http://127.0.0.1:8000)
	@$(RUN)python deploy/node.py run dev

console-types: .venv/.developer console/node_modules/.for-checks  ## Generate the types of the console's API client
	@$(RUN)python -m docs.client_types

screenshots: .venv/.developer console/node_modules/.for-checks console  ## Draw the README's pictures of the console into docs/pictures
	@PICTURES=docs/pictures $(RUN)python -m pytest tests/console/test_pictures.py

demo: venv console  ## Read the sample invoices through the whole system; KEEP=1 leaves it running
	@$(RUN)docrail demo $(if $(KEEP),--keep)

up: venv console  ## Start everything on this machine, with its data in ./var
	@$(RUN)docrail up

test: .venv/.developer console  ## Run the tests without the slow ones (ten minutes on two cores), on real servers that they start themselves
	@$(PYTEST) -m "not slow" --hypothesis-profile=quick

test-all: .venv/.developer console/node_modules/.for-checks console  ## Run all tests (an hour at most): with the slow ones, and more examples of every law
	@$(PYTEST) --hypothesis-profile=thorough --ignore=tests/console --ignore=tests/chaos; status=$$?; \
	  for folder in console chaos; do $(PYTEST) -n 2 tests/$$folder || status=$$?; done; exit $$status

mutants: .venv/.developer  ## Plant the mistakes of tests/mutants in copies of the tree: the tests must notice each one
	@$(RUN)python -m tests.mutants

lint: .venv/.developer console/node_modules/.for-checks  ## Check style, types and imports
	$(RUN)ruff check .
	$(RUN)ruff format --check .
	$(RUN)mypy
	$(RUN)lint-imports
	$(RUN)python deploy/node.py run check

check: lint test-all  ## Run all that a commit must pass

bench: .venv/.developer  ## Measure, and print the numbers and their baselines as JSON lines
	@for name in scheduler validate interpreter shapes explain pipeline limits lake; do $(RUN)python -m bench.$$name || exit 1; done

chaos: .venv/.developer  ## Run 2,000 documents while every part is killed and frozen at random; SEED=2 draws other faults
	@$(RUN)python -m tests.chaos.storm $(if $(SEED),--seed $(SEED))

soak: .venv/.developer  ## Run 100,000 documents of no-op steps and 5,000 invoices, and print what grows
	@$(RUN)python -m bench.soak

bench-extraction: .venv/.developer  ## Score the readers on labelled documents; the development set's scores are written to the docs
	@$(RUN)python -m bench.extraction

calibration: labelled .venv/.developer  ## Fit the shipped calibration again, on the labelled documents in LABELLED and scans of them
	@scans=$$(mktemp -d) && $(RUN)python -m bench.scans $(LABELLED) $$scans && \
	  $(RUN)docrail calibration fit --labelled $(LABELLED) --labelled $$scans --write invoices/assessment/calibration_default.json; rm -rf $$scans

labelled:
	@test -f $(LABELLED)/MANIFEST.json || { \
	  echo "no $(LABELLED)/MANIFEST.json: expected a folder of labelled documents, many and of many vendors;" >&2; \
	  echo "say where it is: make calibration LABELLED=FOLDER (docs/howto/trust.md)" >&2; exit 1; }

fuzz: .venv/.developer  ## Feed changed files to the readers for FUZZ_SECONDS (60; finds are kept in tests/invoices/finds), and draw new definitions
	@$(RUN)python -m pytest tests/invoices/test_reader_laws.py tests/invoices/test_finds.py --hypothesis-profile=fuzz
	@$(RUN)python -m tests.invoices.fuzz $(or $(FUZZ_SECONDS),60)
	@$(RUN)python -m pytest tests/workflows/test_random.py --drawn=150 --drawn-seed=$$(date +%s)

docs: .venv/.developer console/node_modules/.for-checks  ## Generate the reference pages that come from the code, and schema.sql
	@$(RUN)python -m docs.generate

dist: .venv/.developer console  ## Build the sdist, and the wheel from it, into dist/
	@rm -rf dist
	@$(RUN)python -m build --no-isolation --outdir dist .

COMPILE := uv pip compile pyproject.toml --universal --generate-hashes --no-emit-index-url --no-header --quiet \
  --python-version 3.11 --extra build --extra ocr

lock: venv  ## Pin the newest versions that pyproject.toml allows (needs uv)
	$(COMPILE) --extra dev --upgrade -o requirements-dev.lock
	$(COMPILE) -c requirements-dev.lock -o requirements.lock
	uv pip compile --group node --universal --generate-hashes --no-emit-index-url --no-header --quiet --python-version 3.11 \
	  --upgrade -o requirements-node.lock

clean:  ## Remove .venv, dist and caches; data in ./var stays
	rm -rf .venv dist api/built console/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
