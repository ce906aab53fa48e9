"""Claims about days carried out: jobs that end early leave the money and the next day as they really were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.domain.plan import Placement, Plan
from planner.domain.problem import executed, ran_s
from planner.domain.waits import Waits
from planner.pages.markup import gap_text, gap_words
from planner.planning.baselines import waits_of
from planner.runs.compare_results import day_rows
from planner.search.multisearch import multisearch
from planner.store.read_json import read_summary
from tests.days import plan, rows_of
from tests.factories import DAY as A_DAY
from tests.factories import random_problem
from tests.plain_day import HOUR, job
from tests.plain_day import day as day_of
from tests.rolling import DAYS, FIRST, LAST, QUICK, write_rolling_site
from tests.two_jobs import DAY, write_site


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


def test_profits_stand_beside_bounds_of_their_own_runtimes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two jobs ask 2 h each and end after one, on a node of their own in turn; half as much is earned and used.

    The plan: 8 EUR less 0.45 EUR of energy (tests/runs/test_policy_days.py), and its limit is at most as much as if the
    whole energy were bought at 0.1: 8 - 1.5 x 0.22 = 7.67. Carried out: 4 - 0.225 EUR, and the limit is 4 - 0.165, less
    than the profit of the plan. Page, terminal and comparison never set one profit beside the limit of the other.
    """
    write_site(tmp_path)
    monkeypatch.chdir(tmp_path)
    plan("--day", DAY, "--method", "multisearch", "--set", "rules.execute=actual")
    shown = capsys.readouterr().out
    folder = tmp_path / "reports" / "site" / DAY
    summary = read_summary(folder)
    assert summary.planned_profit_eur == pytest.approx(7.55)
    assert summary.totals.profit_eur == pytest.approx(3.775)
    assert summary.bound_eur is not None
    assert summary.real_bound_eur is not None
    assert 7.55 <= summary.bound_eur <= 7.68
    assert 3.775 <= summary.real_bound_eur <= 3.84
    assert summary.gap_fraction == pytest.approx(1 - 7.55 / summary.bound_eur, abs=1e-6)
    assert summary.real_gap_fraction == pytest.approx(1 - 3.775 / summary.real_bound_eur, abs=1e-6)
    lines = {line[:16].strip(): line for line in shown.splitlines()}
    assert f"{summary.real_bound_eur:,.2f} EUR" in lines["profit"]
    assert f"{summary.bound_eur:,.2f} EUR" not in lines["profit"]
    assert f"{summary.bound_eur:,.2f} EUR" in lines["planned profit"]
    assert gap_words(summary) == gap_text(summary.real_bound_eur, summary.real_gap_fraction, "EUR")
    (row,) = day_rows({}, [summary])
    assert (row["profit_eur"], row["bound_eur"]) == (summary.totals.profit_eur, summary.real_bound_eur)
    assert row["gap_fraction"] == summary.real_gap_fraction


def test_without_real_runtimes_there_is_one_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where jobs run as long as they asked, the limit on the plan is that on the profit."""
    write_site(tmp_path)
    monkeypatch.chdir(tmp_path)
    plan("--day", DAY, "--method", "multisearch", "-q")
    summary = read_summary(tmp_path / "reports" / "site" / DAY)
    assert (summary.real_bound_eur, summary.real_gap_fraction) == (None, None)
    assert summary.profit_bound_eur == summary.bound_eur
    assert summary.profit_gap_fraction == summary.gap_fraction


@pytest.mark.parametrize("execute", ["requested", "actual"])
def test_the_day_under_easy(execute: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers of tests/runs/test_policy_days.py: 1.08 EUR saved as asked, 0.6 EUR with real runtimes."""
    write_site(tmp_path)
    monkeypatch.chdir(tmp_path)
    plan("--day", DAY, "--method", "multisearch", "--set", f"rules.execute={execute}", "-q")
    summary = read_summary(tmp_path / "reports" / "site" / DAY)
    easy, waits = summary.easy, summary.waits
    assert easy is not None
    assert waits is not None
    cost, saved, kwh, mean_h = {"requested": (1.53, 1.08, 3.3, 1.75), "actual": (0.825, 0.6, 1.65, 1.25)}[execute]
    assert easy.energy_cost_eur == pytest.approx(cost)
    assert (easy.saved_eur, easy.saved_energy_cost_eur) == (pytest.approx(saved), pytest.approx(saved))
    assert (easy.kwh, easy.saved_kwh) == (pytest.approx(kwh), pytest.approx(0.0))
    assert (easy.started, easy.deferred) == (2, 0)
    assert (easy.waits.mean_s, waits.mean_s) == (mean_h * 3600, 1.75 * 3600)
    plan("audit", str(tmp_path / "reports" / "site" / DAY))


def test_a_deferred_job_has_waited_until_midnight() -> None:
    """a waits from 0:00 to 2:00; b came at 6:00 and waits 18 h at least. c may not begin today, and d waits for b."""
    later = replace(job("c", 1), begin_unix=A_DAY.start_unix + 30 * HOUR)
    problem = day_of(job("a", 1), job("b", 1, release_s=6 * HOUR), later, job("d", 1, after="afterok:b"))
    with_a = Plan.of(problem, {"a": Placement("a", 2 * HOUR, (0,))})
    assert waits_of(problem, with_a) == Waits(
        10 * HOUR, pytest.approx((2 + 0.95 * 16) * HOUR), 1, longest_s=18 * HOUR, started_mean_s=2 * HOUR
    )
    assert waits_of(problem, Plan.of(problem, {})) == Waits(
        21 * HOUR, pytest.approx(23.7 * HOUR), 2, longest_s=24 * HOUR
    )


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
