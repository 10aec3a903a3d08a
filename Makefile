# Two commands: `make reproduce` runs the paper's experiments, `make test` every check.
# Both make their own environment in .venv on first use and re-use it afterwards.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DOCS_READY := .venv/.docs

# Data sets beside the clone are used without a download; another folder: DRIFTGAMES_DATA=... make
ifneq ($(wildcard ../shared/data),)
export DRIFTGAMES_DATA ?= $(abspath ../shared/data)
endif

# Compiled tests are kept between runs: they are collected in two thirds of the time then.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: test test-random fuzz floors reproduce bench docs lint dist constraints clean

test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# The property tests on fresh examples. `make test-random SEED=7` repeats a run.
test-random: $(READY)
	@seed=$(or $(SEED),$$($(BIN)/python -c 'import secrets; print(secrets.randbelow(2**32))')); \
	echo "seed $$seed; repeat with: make test-random SEED=$$seed"; \
	HYPOTHESIS_PROFILE=random $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder \
		-m hypothesis --hypothesis-seed=$$seed

# Broken files of every kind, for as long as it is told: `make fuzz MINUTES=20 SEED=7`.
fuzz: $(READY)
	$(BIN)/python tools/fuzz.py --minutes $(or $(MINUTES),1) --seed $(or $(SEED),1)

# The oldest versions that pyproject.toml allows (Python 3.11), and one call of every command.
floors:
	rm -rf build/floors
	$(PYTHON) -m venv build/floors
	build/floors/bin/pip install --quiet . $$($(PYTHON) tools/floors.py)
	build/floors/bin/python tools/smoke.py

reproduce: $(READY)
	$(BIN)/driftgames reproduce

bench: $(READY)
	$(BIN)/pip install --quiet -e '.[bench]'
	$(BIN)/python -m bench all

# What is published: a wheel and an archive of the source, both checked.
dist: $(READY)
	$(BIN)/pip install --quiet build twine
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

# The site, built by MkDocs into build/site and by Zensical into build/zensical, both strict.
docs: $(DOCS_READY)
	$(BIN)/python tools/build_docs.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet & \
		SITE_DIR=build/zensical $(BIN)/python -m zensical build --strict --clean && wait $$!
	$(BIN)/python tools/check_site.py build/site build/zensical
	@echo "Open build/site/index.html"

lint: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[test]' \
		|| $(BIN)/python -m pip install --quiet -e '.[test]'
	touch $(READY)

$(DOCS_READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e '.[docs]' \
		|| $(BIN)/python -m pip install --quiet -e '.[docs]'
	touch $(DOCS_READY)

# The versions of this environment, for the Python that runs it.
constraints: $(READY)
	head -2 constraints.txt > constraints.new
	$(BIN)/python -m pip freeze --exclude-editable \
		| sed "s/$$/ ; python_version == \"$$($(BIN)/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')\"/" \
		>> constraints.new
	mv constraints.new constraints.txt

clean:
	rm -rf .venv .cache build dist report .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
