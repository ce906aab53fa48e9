"""Claims about overdue jobs: those that were deferred as often as the site allows go first, and no others."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from pathlib import Path

from planner.inputs.build import build, build_day
from planner.scenario.load import load_scenario
from tests.days import DAY, write_small_site


def test_a_job_is_overdue_on_the_day_after_its_last_deferral(tmp_path: Path) -> None:
    """With two deferrals allowed, the job that was deferred twice goes first today; the one deferred once does not."""
    folders = [write_small_site(tmp_path) / "scenarios"]
    scenario = load_scenario("site", folders=folders, overrides=["rules.max_deferral_days=2"])
    first = build_day(scenario, dt.date.fromisoformat(DAY))
    jobs = first.problem.jobs[:4]
    times = {job.id: number for number, job in enumerate(jobs)}
    waiting = replace(first.situation, pending=jobs, times_deferred=times)
    built = build(scenario, first.problem.horizon, waiting, first.intakes[0])
    assert built.problem.overdue == {jobs[2].id, jobs[3].id}
