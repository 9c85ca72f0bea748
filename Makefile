# Every target sets up what it needs: a local .venv, by uv where it is installed, by plain pip otherwise.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BENCH_STAMP := $(VENV)/.installed-bench
DOCS_STAMP := $(VENV)/.installed-docs
UV := $(shell command -v uv 2>/dev/null)

.PHONY: demo test style lint bench results docs release-check clean

demo: $(STAMP)
	$(BIN)/recrawl demo --out demo --force

# The files of a worker's tests share what they prepare, and few kernels are compiled by two workers. Three workers on two
# cores: a fifth of the time tests wait, for other processes, for servers on loopback, for the disk. One thread each:
# threads of OpenMP that wait for each other on busy cores cost a hundred times what they compute. Bytecode is written,
# whatever the environment says: otherwise each of the processes that tests start compiles all modules. Types are
# checked beside the tests.
WORKERS ?= 3
TYPES := $(VENV)/mypy.txt
test: style
	@$(BIN)/mypy > $(TYPES) 2>&1 & types=$$!; \
	PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder; tests=$$?; \
	wait $$types; types=$$?; cat $(TYPES); exit $$((tests || types))

style: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint: style
	$(BIN)/mypy

bench: $(BENCH_STAMP)
	$(BIN)/python -m benchmarks

results: $(STAMP)
	$(BIN)/python -m benchmarks.results

docs: $(DOCS_STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

$(VENV)/bin/python:
ifdef UV
	uv venv --python $(PYTHON) $(VENV)
else
	$(PYTHON) -m venv $(VENV)
endif

$(STAMP): $(VENV)/bin/python pyproject.toml
ifdef UV
	uv pip install --python $(BIN)/python -e '.[dev]'
else
	$(BIN)/python -m pip install --quiet -e '.[dev]'
endif
	@touch $@

$(BENCH_STAMP): $(STAMP)
ifdef UV
	uv pip install --python $(BIN)/python -e '.[dev,bench]'
else
	$(BIN)/python -m pip install --quiet -e '.[dev,bench]'
endif
	@touch $@

$(DOCS_STAMP): $(STAMP)
ifdef UV
	uv pip install --python $(BIN)/python -e '.[dev,docs]'
else
	$(BIN)/python -m pip install --quiet -e '.[dev,docs]'
endif
	@touch $@

release-check: $(STAMP)
ifdef UV
	uv pip install --python $(BIN)/python -e '.[dev,release]'
else
	$(BIN)/python -m pip install --quiet -e '.[dev,release]'
endif
	$(BIN)/python packaging/release_check.py

clean:
	rm -rf $(VENV) demo site .pytest_cache .mypy_cache .ruff_cache
	rm -rf "$${RECRAWL_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/recrawl}/kernels"
