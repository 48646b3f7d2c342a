# Two commands: `make demo` sets up and shows the main job, `make test` sets up and checks everything.

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test clean

demo: $(VENV)/.ready
	$(BIN)/spokeshave demo

test: $(VENV)/.ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/checked-kernels $(BIN)/pytest --quiet tests/kernels
	$(BIN)/pytest

$(VENV)/bin/python:
	python3 -m venv $(VENV)

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable .
	touch $@

$(VENV)/.ready-to-test: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[test]'
	touch $@ $(VENV)/.ready

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
