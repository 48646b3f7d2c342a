# Two commands: `make demo` sets up and shows the main job, `make test` sets up and checks everything.

SHELL := /bin/bash
export TIMEFORMAT = took %0R s
VENV := .venv
BIN := $(VENV)/bin
# What starts workers has a pytest of its own: no test that measures memory may be in a process with Dask.
CLUSTER := tests/cluster tests/cli/test_cluster.py src/spokeshave/cluster
CORPUS := tests/corpus src/spokeshave/corpus
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test lint kernels corpus cluster browser reproduce clean

demo: $(VENV)/.ready
	$(BIN)/spokeshave demo

# Workers wait for each other, so what takes one core is done beside their tests; all the rest takes two.
test: $(VENV)/.ready-to-test browser
	$(MAKE) --jobs 2 --output-sync=target cluster lint kernels corpus
	$(BIN)/pytest --numprocesses 2 --dist loadfile $(addprefix --ignore=,$(CLUSTER) $(CORPUS))

lint: $(VENV)/.ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

kernels: $(VENV)/.ready-to-test
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/checked-kernels $(BIN)/pytest --quiet tests/kernels

corpus: $(VENV)/.ready-to-test
	$(BIN)/pytest --quiet $(CORPUS)

cluster: $(VENV)/.ready-to-test
	$(BIN)/pytest --quiet $(CLUSTER)

# The report is tested in a real browser; without one those tests are skipped, and say so.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
	  apt-get update -qq && apt-get install -y -qq chromium chromium-driver; } >/dev/null 2>&1 || \
	  echo "no Chromium and it cannot be installed: the tests of the report in a browser are skipped"

# The study of a paper: make reproduce PAPER=malik OPTIONS=--quick
PAPER := kolcz2007
reproduce: $(VENV)/.ready-to-test
	$(BIN)/python -m papers $(PAPER) $(OPTIONS)

$(VENV)/bin/python:
	python3 -m venv $(VENV)

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[report]'
	touch $@

$(VENV)/.ready-to-test: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[test]'
	touch $@ $(VENV)/.ready

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
