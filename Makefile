# Two commands: `make demo` sets up and shows the main job, `make test` sets up and checks everything.

VENV := .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest --quiet --durations=10 --durations-min=5
# Tests run in groups, several side by side; each ends with its seconds and its slowest tests.
# Clusters have a group of their own: no test that measures memory may share a process with Dask.
CLUSTER := tests/cluster tests/cli/test_cluster.py src/spokeshave/cluster
# Kernels meet their references with bounds checked; all other tests run them as users do.
KERNELS := $(filter-out %/test_compile.py,$(wildcard tests/kernels/test_*.py))
PAPERS := tests/papers
CORPUS := tests/corpus src/spokeshave/corpus
METHODS := $(foreach each,svm ranking shaping curves selection,tests/$(each) src/spokeshave/$(each)) tests/test_estimators.py
BUDGET := tests/budget src/spokeshave/budget
COMMANDS := tests/cli src/spokeshave/cli
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test lint cluster kernels papers corpus methods budget commands others browser reproduce clean

demo: $(VENV)/.ready
	$(BIN)/spokeshave demo

# Three at a time on two cores: one of them often waits, for a worker, a browser or a command.
# Clusters begin: they take longest, and compile the kernels of most other groups meanwhile.
test: $(VENV)/.ready-to-test browser
	$(MAKE) --jobs 3 --output-sync=target cluster lint kernels corpus papers methods budget commands others

lint: $(VENV)/.ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

kernels: $(VENV)/.ready-to-test
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(VENV)/checked-kernels $(PYTEST) $(KERNELS)

cluster: $(VENV)/.ready-to-test
	$(PYTEST) $(CLUSTER)

papers: $(VENV)/.ready-to-test
	$(PYTEST) $(PAPERS)

corpus: $(VENV)/.ready-to-test
	$(PYTEST) $(CORPUS)

methods: $(VENV)/.ready-to-test
	$(PYTEST) $(METHODS)

budget: $(VENV)/.ready-to-test
	$(PYTEST) $(BUDGET)

commands: $(VENV)/.ready-to-test
	$(PYTEST) $(COMMANDS) $(addprefix --ignore=,$(CLUSTER))

others: $(VENV)/.ready-to-test
	$(PYTEST) $(addprefix --ignore=,$(CLUSTER) $(KERNELS) $(PAPERS) $(CORPUS) $(METHODS) $(BUDGET) $(COMMANDS))

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

# uv installs in seconds, pip in a minute; pip is for places where uv is not to be had or finds no packages.
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
