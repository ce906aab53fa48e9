"""Searches made ready before their clock starts."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest

from planner.domain.problem import Problem
from planner.domain.result import never
from planner.inputs.build import build_day
from planner.machine.place import place_from
from planner.methods import METHODS, Params
from planner.online.kernel.event_loop import advance_simple
from planner.places import shipped_folder
from planner.planning import compile_first as ready
from planner.scenario.load import load_scenario
from planner.search.kernel.rebuild_steps import rebuild


def sample_problem() -> Problem:
    """A day of the sample site."""
    scenario = load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=["jobs.load=0.3"])
    return build_day(scenario, dt.date(2024, 6, 1)).problem


@pytest.mark.parametrize("method", ["harvest", "multisearch", "est-strict"])
def test_a_day_needs_no_more_than_its_first_job_shows(method: str) -> None:
    """Whatever a method needs for a whole day is there after it was made ready: nothing is compiled later."""
    problem = sample_problem()
    ready.make_ready(method, problem)
    before = [len(each.signatures) for each in (place_from, rebuild, advance_simple)]
    METHODS[method][0](problem, Params(workers=1, iterations=1000), never)
    assert [len(each.signatures) for each in (place_from, rebuild, advance_simple)] == before


def test_what_the_process_beside_says_is_kept(capfd: pytest.CaptureFixture[str]) -> None:
    """It takes a day and ends well; if it fails, one line says so with its last words."""
    with ready._compiling_beside(sample_problem()):
        pass
    assert capfd.readouterr().err == ""
    with ready._compiling_beside(None):  # type: ignore[arg-type]
        pass
    told = capfd.readouterr().err
    assert told.startswith("plan: compiling in a process beside this one failed (")
    assert "NoneType" in told
    assert told.count("\n") == 1


def test_a_day_without_jobs_is_ready() -> None:
    """There is nothing to compile for."""
    before = len(rebuild.signatures)
    ready.make_ready("harvest", replace(sample_problem(), jobs=()))
    assert len(rebuild.signatures) == before
