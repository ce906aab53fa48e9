# Everything a fresh machine needs: Python 3.11 or newer, make, and the package registry.
#
#   make plan DAY=2024-06-01    plan a day of the built-in sample site
#   make test                   run the tests, of slow ones a slice (five to seven minutes on two cores)
#   make test-all               run all tests in full
#   make docs                   the documents as a site, in site/index.html
#   make campaign               disturb it: 12,000 inputs, 400 kills, a hostile folder, a disturbed disk, 900 small days, 300 small queues (hours)

PYTHON ?= python3
DAY ?= 2024-06-01

# Tests start hundreds of processes: what the first of them compiles is kept for all, whatever the account is used to.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: plan kernels test test-all lint docs bench campaign campaign-fuzz campaign-faults campaign-hostile campaign-days campaign-queues clean

plan: .venv/ready
	.venv/bin/plan --day $(DAY)

# Once and before all tests: left to them, every process would compile what it is the first to need.
kernels: .venv/dev
	.venv/bin/python -m tests.compile_kernels

test: kernels
	.venv/bin/python -m pytest

test-all: kernels
	.venv/bin/python -m pytest --all

lint: .venv/dev
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

# Without the network, and warnings are errors.
docs: .venv/dev
	NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs build --clean --config-file website/mkdocs.yml
	@echo site/index.html

# What the tests have a slice of, whole: `make --keep-going --jobs 2 campaign` runs the parts side by side.
campaign: campaign-fuzz campaign-faults campaign-hostile campaign-days campaign-queues

campaign-fuzz: .venv/dev
	.venv/bin/python -m tests.fuzz --count 12000

campaign-faults: .venv/dev
	.venv/bin/python -m tests.faults --kills 400

campaign-hostile: .venv/dev
	.venv/bin/python -m pytest --all tests/hostile tests/faults/test_surroundings.py tests/faults/test_fanout.py

campaign-days: .venv/dev
	.venv/bin/python -m tests.small_days --count 500
	.venv/bin/python -m tests.small_days --count 300 --waits --contracts
	.venv/bin/python -m tests.small_days --count 100 --waits --storage

campaign-queues: .venv/dev
	.venv/bin/python -m tests.small_queues --count 300

bench: .venv/dev
	.venv/bin/python benchmarks/placement.py

# What planning needs, and on top of it what tests, checks and documents need.
.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --upgrade pip
	.venv/bin/python -m pip install --quiet --editable .
	touch .venv/ready

.venv/dev: .venv/ready
	.venv/bin/python -m pip install --quiet --editable ".[dev]"
	touch .venv/dev

clean:
	rm -rf .venv site .mypy_cache .ruff_cache .pytest_cache .hypothesis
