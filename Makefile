# Two commands: `make demo` sets up and shows the main job, `make test` sets up and checks everything.

VENV := .venv
BIN := $(VENV)/bin
# Tests that start workers are run by themselves: others measure memory, or keep schedulers waiting.
CLUSTER := tests/cluster tests/cli/test_cluster.py
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test browser clean

demo: $(VENV)/.ready
	$(BIN)/spokeshave demo

test: $(VENV)/.ready-to-test browser
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/checked-kernels $(BIN)/pytest --quiet tests/kernels
	$(BIN)/pytest --numprocesses 2 --dist loadfile $(addprefix --ignore=,$(CLUSTER))
	$(BIN)/pytest --quiet --numprocesses 2 --dist loadfile $(CLUSTER)

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
