# Two commands: `make demo` sets up and shows the main job, `make test` sets up and checks everything but
# what needs worker processes, which `make cluster` checks.

VENV := .venv
BIN := $(VENV)/bin
# Tests that start workers, which `make cluster` runs by themselves, one after the other.
STARTING := $(addprefix tests/cluster/test_,$(addsuffix .py,backend curves fitting predicting rankings rounds shapes))
CLUSTER := $(STARTING) tests/cli/test_cluster.py
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test cluster browser clean

demo: $(VENV)/.ready
	$(BIN)/spokeshave demo

test: $(VENV)/.ready-to-test browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/checked-kernels $(BIN)/pytest --quiet tests/kernels
	$(BIN)/pytest --numprocesses 2 --dist loadfile $(addprefix --ignore=,$(CLUSTER))

cluster: $(VENV)/.ready-to-test
	$(BIN)/pytest --quiet $(CLUSTER)

# The report is tested in a real browser; without one those tests are skipped, and say so.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
	  apt-get update -qq && apt-get install -y -qq chromium chromium-driver; } >/dev/null 2>&1 || \
	  echo "no Chromium and it cannot be installed: the tests of the report in a browser are skipped"

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
