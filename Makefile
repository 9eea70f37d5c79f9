# Every target sets up what it needs in .venv; nothing is installed anywhere else.
PYTHON ?= python3
BIN := .venv/bin
RUN := $(BIN)/python -m
# Tests start hundreds of processes: compiled modules are kept, whatever the shell says, or each compiles all of them.
COMPILED := PYTHONDONTWRITEBYTECODE=
# One more than there are cores: some tests wait for clusters, browsers and commands that they start.
WORKERS = $(shell $(BIN)/python -c 'import os; print(1 + len(getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0)))')

.PHONY: help venv demo test lint types layers docs accessibility package bench validity faults mutants clean
help: ## list the targets
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

venv: .venv/installed ## install doublebubble and its tools into .venv
.venv/installed: pyproject.toml constraints.txt
	@echo "==> setting up .venv (once; about 3 GB, a few minutes)"
	@$(PYTHON) -c 'import sys; sys.exit("doublebubble needs Python 3.11 or newer, got %d.%d" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt -e '.[dev]'
	@$(RUN) compileall -qq -j 0 .venv/lib || true # on all cores, pip would take one; templates of some packages are no Python
	@touch $@

demo: venv ## train a small digit classifier, certify 50 digits, draw the results: about two minutes
	@echo "==> doublebubble demo: results go to demo-out/"
	@OMP_NUM_THREADS=1 $(BIN)/doublebubble demo --out demo-out

test: venv ## run the whole test suite
	@echo "==> running the tests on all cores"
	@$(COMPILED) OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 $(RUN) pytest -n $(WORKERS) --dist worksteal

lint: venv ## ruff: style and formatting
	$(RUN) ruff check .
	$(RUN) ruff format --check .

types: venv ## mypy, strict
	$(RUN) mypy

layers: venv ## the import rules of docs/design.md
	$(BIN)/lint-imports

docs: venv ## build the documentation site into site/, offline; warnings and broken links are errors
	@NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --strict --quiet --site-dir site
	@$(BIN)/python docs/check_site.py site
	@echo "==> open site/index.html"

accessibility: docs ## axe-core on the site's front page and on a report page; needs Chromium, and npm once
	@npm install --silent --no-save --prefix .axe axe-core@4.10.3
	@$(RUN) docs.accessibility .axe/node_modules/axe-core/axe.min.js site

package: venv ## build wheel and sdist, check them, install the wheel in a clean environment, run demo and tutorial there
	@rm -rf dist package-out
	@$(RUN) build --outdir dist .
	@$(RUN) twine check --strict dist/*
	@$(PYTHON) -m venv package-out/venv
	@package-out/venv/bin/pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	@cd package-out && OMP_NUM_THREADS=1 venv/bin/doublebubble demo --out demo --inputs 10
	@cd package-out && $(abspath $(BIN))/python ../docs/notebooks.py code ../docs/tutorials/own_model.ipynb > tutorial.py
	@cd package-out && OMP_NUM_THREADS=1 venv/bin/python tutorial.py
	@echo "==> dist/ holds a package that installs and runs"

bench: venv ## memory and speed in one table, as ratios within one run; one part: python -m benchmarks.run --only PART
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[bench]'
	@echo "==> running the benchmarks: results go to benchmarks/results/"
	@$(RUN) benchmarks.run

validity: venv ## 10 000 certificates per method where its bound is nearly tight, misses against alpha: about 20 minutes
	@echo "==> counting misses: results go to validity-out/"
	@OMP_NUM_THREADS=1 $(BIN)/doublebubble audit --coverage --tight --alphas 0.05 --repetitions 10000 --draws 400 --out validity-out
	@echo "==> profiles on every oracle, at alpha 0.05 and 0.2"
	@OMP_NUM_THREADS=1 PROFILE_REPETITIONS=300 $(BIN)/pytest -q -n auto tests/methods/test_profile_coverage.py

faults: venv ## kill a run 30 times at random moments, under both engines, resume, compare: several minutes
	@echo "==> killing and resuming runs on the bundled digits"
	@OMP_NUM_THREADS=1 $(RUN) benchmarks.faults --engine local --kills 30 --inputs 200
	@OMP_NUM_THREADS=1 $(RUN) benchmarks.faults --engine ray --kills 30 --inputs 200

mutants: venv ## plant soundness bugs one at a time and see that the tests catch each: about ten minutes
	@echo "==> planting the bugs of tests/mutants in copies of the package"
	@$(COMPILED) $(RUN) tests.mutants.run

clean: ## remove what the other targets made
	rm -rf .venv .axe demo-out dist package-out site validity-out .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
