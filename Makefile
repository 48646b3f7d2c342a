# Two commands: `make demo` sets up and shows the main job, `make test` sets up and checks everything.

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest --quiet --durations=10 --durations-min=5
# Each run of pytest ends with its seconds and its slowest tests.
# Tests that start workers have a run of their own: no test that measures memory may share a process with Dask.
CLUSTER := tests/cluster tests/cli/test_cluster.py src/spokeshave/cluster
CORPUS := tests/corpus src/spokeshave/corpus
PAPERS := tests/papers
# Kernels meet their references with bounds checked; all other tests run them as users do.
KERNELS := $(filter-out %/test_compile.py,$(wildcard tests/kernels/test_*.py))
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test lint kernels corpus papers cluster browser reproduce fuzz clean

demo: $(VENV)/.ready
	$(BIN)/spokeshave demo

# Tests that take one core run beside those of clusters. All others take two cores, and three processes:
# one of them often waits, for a browser or a command.
test: $(VENV)/.ready-to-test browser
	$(MAKE) --jobs 2 --output-sync=target cluster lint kernels corpus papers
	$(PYTEST) --numprocesses 3 --dist loadfile --no-loadscope-reorder $(addprefix --ignore=,$(CLUSTER) $(CORPUS) $(PAPERS) $(KERNELS))

lint: $(VENV)/.ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

kernels: $(VENV)/.ready-to-test
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/checked-kernels $(PYTEST) $(KERNELS)

corpus: $(VENV)/.ready-to-test
	$(PYTEST) $(CORPUS)

papers: $(VENV)/.ready-to-test
	$(PYTEST) $(PAPERS)

cluster: $(VENV)/.ready-to-test
	$(PYTEST) $(CLUSTER)

# The report is tested in a real browser; without one those tests are skipped, and say so.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
	  apt-get update -qq && apt-get install -y -qq chromium chromium-driver; } >/dev/null 2>&1 || \
	  echo "no Chromium and it cannot be installed: the tests of the report in a browser are skipped"

# The study of a paper: make reproduce PAPER=malik OPTIONS=--quick
PAPER := kolcz2007
reproduce: $(VENV)/.ready-to-test
	$(BIN)/python -m papers $(PAPER) $(OPTIONS)

# Damaged input of every kind, in full: about half an hour. A part of it is in the tests.
fuzz: $(VENV)/.ready-to-test
	$(BIN)/python -m fuzz

$(VENV)/bin/python:
	python3 -m venv $(VENV)

# uv installs in seconds and pip in a minute, but pip finds packages in places that uv does not know of.
# Neither makes bytecode of all modules: that takes long, and each becomes bytecode when it is first imported.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
install = { $(PIP) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python --editable '$(1)'; } || $(PIP) --editable '$(1)'

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(call install,.[report])
	touch $@

$(VENV)/.ready-to-test: pyproject.toml | $(VENV)/bin/python
	$(call install,.[test])
	touch $@ $(VENV)/.ready

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
