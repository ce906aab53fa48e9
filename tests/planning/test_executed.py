"""Claims about days carried out: jobs that end early leave the money and the next day as they really were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.domain.executed import executed, ran_s
from planner.search.multisearch import multisearch
from tests.days import plan, rows_of
from tests.factories import random_problem
from tests.rolling import DAYS, FIRST, LAST, QUICK, write_rolling_site


@pytest.mark.parametrize("seed", range(5))
def test_executed_plan_is_a_plan(seed: int) -> None:
    """A plan made with requests still breaks no rule of the machine when jobs end early, and uses no more energy."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=10)
    jobs = tuple(replace(job, runtime_s=int(rng.integers(1, job.requested_s + 1))) for job in problem.jobs)
    problem = replace(problem, jobs=jobs)
    plan_made = multisearch(problem).plan
    happened = executed(problem)
    assert audit(happened, plan_made, leaves_room=True) == []
    assert settle(happened, plan_made).totals.work_kwh <= settle(problem, plan_made).totals.work_kwh
    assert all(job.requested_s == ran_s(asked) for job, asked in zip(happened.jobs, problem.jobs, strict=True))


def test_unknown_runtime() -> None:
    """A job whose runtime is not known, or above its request, runs as long as it asked."""
    job = random_problem(np.random.default_rng(0)).jobs[0]
    assert ran_s(replace(job, runtime_s=None)) == job.requested_s
    assert ran_s(replace(job, runtime_s=job.requested_s + 5)) == job.requested_s


def test_rolling_with_real_runtimes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With ``execute: actual`` the schedule ends jobs at their runtime, the summary says both profits, audits are
    clean, and the next day carries on only what really still runs, with the time that it asked for."""
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    plan("run", "--from", FIRST, "--to", LAST, *QUICK, "--set", "rules.execute=actual")
    over: dict[str, dict[str, str]] = {}
    for day in DAYS:
        folder = base / "reports" / "site" / day
        plan("audit", str(folder))
        rows = {row["job_id"]: row for row in rows_of(folder / "schedule.csv")}
        assert {name for name, row in rows.items() if row["state"] == "carried"} == set(over)
        for row in rows.values():
            assert int(row["end_s"]) - int(row["start_s"]) == int(row["runtime_s"])
        summary = json.loads((folder / "summary.json").read_text())
        assert summary["execute"] == "actual"
        assert summary["planned_profit_eur"] > summary["totals"]["profit_eur"]
        length_s = int(rows_of(folder / "segments.csv")[-1]["end_s"])
        over = {name: row for name, row in rows.items() if int(row["end_s"]) > length_s}
        assert summary["jobs"]["running"] == len(over)
