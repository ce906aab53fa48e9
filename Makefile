# Everything a fresh machine needs: Python 3.11 or newer, make, and the package registry.
#
#   make plan DAY=2024-06-01    plan a day of the built-in sample site
#   make test                   run the tests

PYTHON ?= python3
DAY ?= 2024-06-01

.PHONY: plan test lint bench clean

plan: .venv/ready
	.venv/bin/plan --day $(DAY)

test: .venv/ready
	.venv/bin/python -m pytest

lint: .venv/ready
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

bench: .venv/ready
	.venv/bin/python benchmarks/placement.py

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --upgrade pip
	.venv/bin/python -m pip install --quiet --editable ".[dev]"
	touch .venv/ready

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
