"""Claims about overdue jobs: those that were deferred as often as the site allows go first, and no others."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from planner.domain.handover import Handover, Waiting
from planner.inputs.build import build_day
from planner.scenario.load import load_scenario
from tests.days import DAY, write_small_site


def test_a_job_is_overdue_on_the_day_after_its_last_deferral(tmp_path: Path) -> None:
    """With two deferrals allowed, the job that was deferred twice goes first today; the one deferred once does not."""
    folders = [write_small_site(tmp_path) / "scenarios"]
    scenario = load_scenario("site", folders=folders, overrides=["rules.max_deferral_days=2"])
    jobs = build_day(scenario, dt.date.fromisoformat(DAY)).problem.jobs
    waiting = tuple(Waiting(job, times) for times, job in enumerate(jobs[:4]))
    built = build_day(scenario, dt.date.fromisoformat(DAY), Handover(waiting=waiting), closed=True)
    assert built.problem.overdue == {jobs[2].id, jobs[3].id}
    assert built.times_deferred[jobs[3].id] == 3
