"""One default per option: the command line, the methods and the studies say the same when nothing is said."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from planner import defaults
from planner.cli import compare, main, run_days
from planner.cp.cp_method import default_search
from planner.methods import METHODS, Params
from planner.studies.curie23 import Curie23Study
from planner.units import parse_duration


def test_the_default_method_is_known() -> None:
    """And the first of the list."""
    assert next(iter(METHODS)) == defaults.METHOD


@pytest.mark.parametrize("command", [main.plan, run_days.run_range, compare.compare])
def test_commands_have_the_time_limit(command: Callable[..., Any]) -> None:
    """A minute, written as people write it."""
    written = inspect.signature(command).parameters["time_limit"].default
    assert parse_duration(written) == defaults.TIME_LIMIT_S == 60


def test_python_has_the_time_limit() -> None:
    """Whoever plans without the command line has the same limit."""
    said = inspect.signature(default_search).parameters["time_limit_s"].default
    limits = {Params().time_limit_s, Curie23Study().time_limit_s, said}
    assert limits == {defaults.TIME_LIMIT_S}
