# Two commands: `make demo` sets up and shows the main job, `make test` sets up and checks everything.

VENV := .venv
BIN := $(VENV)/bin
# What starts workers has a pytest of its own: no test that measures memory may be in a process with Dask.
CLUSTER := tests/cluster tests/cli/test_cluster.py src/spokeshave/cluster
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test kernels cluster browser clean

demo: $(VENV)/.ready
	$(BIN)/spokeshave demo

# Kernels are tested in one process, and workers wait for each other: side by side they fill two cores.
test: $(VENV)/.ready-to-test browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(MAKE) --jobs 2 --output-sync=target kernels cluster
	$(BIN)/pytest --numprocesses 2 --dist loadfile $(addprefix --ignore=,$(CLUSTER))

kernels: $(VENV)/.ready-to-test
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/checked-kernels $(BIN)/pytest --quiet tests/kernels

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
