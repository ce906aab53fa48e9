"""Claims about files whose every number can be worked out by hand: SWF, Batsim's table, a day's figures and inputs."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from planner.cli.check import inputs_of, inputs_text
from planner.cli.summary_text import summary_text
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.intake import Intake
from planner.domain.job import Job, UnitGroup
from planner.domain.problem import Running
from planner.domain.trace import pool_trace
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.search.multisearch import multisearch
from planner.store.folder import filled, held, put, replaced
from planner.store.swf_batsim import write_batsim_jobs, write_day_swf, write_replay_swf
from planner.store.write_day import figures
from tests.days import names, rows_of
from tests.factories import DAY, day_summary
from tests.online.traces import as_nodes
from tests.plain_day import HOUR, day, job

TRACE = replace(
    pool_trace(
        ("7", "9"), np.array([5, 6]), np.array([20, 10]), np.array([30, 10]), np.array([3, 2]), 4, user=np.array([8, 9])
    ),
    source="some/cluster.2.swf",
    power_mw=np.array([1500, 0]),
)
"""Job 7 starts at 5 s and ends at 25 s, before the 30 s that it asked; job 9 waits for it and is cut at its limit."""


def test_a_replay_as_swf(tmp_path: Path) -> None:
    """Waits of 0 and 19 s, one correction of an estimate of 15 s; ids that are no numbers stand in comments."""
    result = replay(TRACE, policy_named("easy"), np.array([15, 10]))
    write_replay_swf(result, tmp_path / "new" / "a.swf", "by hand")
    lines = (tmp_path / "new" / "a.swf").read_text().splitlines()
    assert "; Note: some/cluster.2.swf replayed under easy, by hand" in lines
    assert [line for line in lines if ": 4" in line or ": 2" in line] == [
        "; Version: 2.2",
        "; MaxJobs: 2",
        "; MaxProcs: 4",
    ]
    assert [line for line in lines if not line.startswith(";")] == [
        "7 5 0 20 3 -1 -1 3 30 -1 1 8 -1 -1 -1 -1 1 15",
        "9 6 19 10 2 -1 -1 2 10 -1 1 9 -1 -1 -1 -1 0 10",
    ]
    write_replay_swf(replace(result, trace=replace(TRACE, ids=("a", "9"))), tmp_path / "b.swf")
    lines = (tmp_path / "b.swf").read_text().splitlines()
    assert [line for line in lines if line.startswith(("; Job:", "1 ", "2 "))][::2] == ["; Job: 1 a", "; Job: 2 9"]


def test_a_replay_as_batsim_writes_it(tmp_path: Path) -> None:
    """Job 9 is in the system for 29 s, 2.9 times its runtime; 1.5 W for 20 s are 30 J; nodes are named on a cluster."""
    write_batsim_jobs(replay(TRACE, policy_named("easy"), TRACE.runtime_s), tmp_path / "jobs.csv")
    first, second = rows_of(tmp_path / "jobs.csv")
    about = {"workload_name": "cluster", "profile": "", "metadata": "", "allocated_resources": ""}
    assert first == about | {
        **{"job_id": "7", "submission_time": "5", "requested_number_of_resources": "3", "requested_time": "30"},
        **{"success": "1", "final_state": "COMPLETED_SUCCESSFULLY", "starting_time": "5", "execution_time": "20"},
        **{"finish_time": "25", "waiting_time": "0", "turnaround_time": "20", "stretch": "1.000000"},
        **{"consumed_energy": "30", "ready_time": "5"},
    }
    assert second == about | {
        **{"job_id": "9", "submission_time": "6", "requested_number_of_resources": "2", "requested_time": "10"},
        **{"success": "0", "final_state": "COMPLETED_WALLTIME_REACHED", "starting_time": "25", "execution_time": "10"},
        **{"finish_time": "35", "waiting_time": "19", "turnaround_time": "29", "stretch": "2.900000"},
        **{"consumed_energy": "", "ready_time": "6"},
    }
    write_batsim_jobs(replay(as_nodes(TRACE), policy_named("easy"), TRACE.runtime_s), tmp_path / "nodes.csv")
    assert [row["allocated_resources"] for row in rows_of(tmp_path / "nodes.csv")] == ["0 1 2", "0 1"]


def planned_day() -> Any:
    """Job b runs from an hour before midnight to three hours after; a comes at two o'clock and waits an hour."""
    units = (UnitGroup.of(1, {"cores": 4, "memory_gb": 6}),)
    running = Running(Job("b", DAY.start_unix - 2 * HOUR, 4 * HOUR, units, 100.0, user="u"), -HOUR, 3 * HOUR, (0,))
    cluster = Cluster((NodeClass("n", 1, {"cores": 4, "memory_gb": 8}),))
    problem = replace(day(job("a", 6, release_s=2 * HOUR), running=(running,)), cluster=cluster)
    result = multisearch(problem)
    assert result.plan.start_s.tolist() == [3 * HOUR]
    intakes = tuple(Intake(name, 1) for name in ("jobs.csv", "weather.csv", "table.csv"))
    energy = dict.fromkeys(("tariff", "fees", "carbon", "solar"))
    scenario = SimpleNamespace(name="site", sources=(Path("site.yaml"),), currency="EUR", **energy)
    chosen = SimpleNamespace(problem=problem, scenario=scenario, intakes=intakes, rejected=())
    return SimpleNamespace(day=chosen, result=result, happened=problem, ledger=result.ledger)


def test_a_day_as_swf(tmp_path: Path) -> None:
    """Job b came two hours before midnight, waited one and runs for four; 6 GiB on 4 cores are 1,572,864 KiB each."""
    write_day_swf(planned_day(), tmp_path / "a.swf")
    assert (tmp_path / "a.swf").read_text().splitlines()[7:] == [
        "; Job: 1 b",
        "1 0 3600 14400 4 -1 -1 4 14400 1572864 1 1 -1 -1 -1 -1 -1 -1",
        "; Job: 2 a",
        "2 14400 3600 21600 4 -1 -1 4 21600 -1 1 -1 -1 -1 -1 -1 -1 -1",
    ]


def test_figures_of_a_day() -> None:
    """Nine of 24 hours are used on all cores: three by the job that was running, six by the other."""
    planned = planned_day()
    found = figures(planned.day.problem, planned.result.plan, planned.ledger, rejected=2)
    assert found.utilisation_fraction == pytest.approx(9 / 24)
    assert found.last_end_s == 9 * HOUR
    counts = found.jobs
    assert (counts.known, counts.started, counts.carried_in, counts.finished, counts.running) == (3, 1, 1, 2, 0)


def test_inputs_of_a_day() -> None:
    """Six of 24 hours are asked: 24 core-hours, 25 %. A job of 4 cores draws 1 kW, so the full machine does."""
    chosen = planned_day().day
    facts = inputs_of(chosen)
    assert (facts["requested_core_hours"], facts["load_fraction"], facts["full_power_w"]) == (24.0, 0.25, 1000)
    assert (facts["running"], facts["waiting"], facts["continues"]) == (1, 0, None)
    assert "nothing: the day starts anew" in inputs_text(chosen)
    before: Any = SimpleNamespace(mark={"day": "2024-05-31"}, deferred=(1, 2))
    assert "2024-05-31, which leaves 1 jobs running and 2 waiting" in inputs_text(chosen, before)
    thirds = SimpleNamespace(**vars(chosen) | {"problem": day(job("a", 8))})
    assert inputs_of(thirds)["load_fraction"] == 0.3333


def test_the_planned_profit_is_shown_where_jobs_end_early() -> None:
    """Where jobs run as long as they asked, the profit is the planned one, and stands there once."""
    shown = [
        "planned profit" in summary_text(day_summary(execute=execute), "reports") for execute in ("actual", "requested")
    ]
    assert shown == [True, False]


def test_a_folder_with_folders_of_its_own_is_filled_in_place(tmp_path: Path) -> None:
    """One that holds nothing but files is replaced in one step; one with a folder beside its files stays."""
    target = tmp_path / "out"
    with filled(target) as fresh:
        assert fresh != target
        put(fresh / "one", b"1")
    with filled(target) as fresh:
        assert fresh != target
    (target / "mine").mkdir()
    with filled(target) as fresh:
        assert fresh == target
        put(fresh / "two", b"2")
    assert names(target) == ["mine", "one", "two"]


def test_the_lock_can_be_read_by_all_and_run_by_nobody(tmp_path: Path) -> None:
    """It tells others which process holds the folder; the lock of a tidied folder is gone."""
    target = tmp_path / "day"
    with held(target):
        mode = stat.S_IMODE((tmp_path / ".day.lock").stat().st_mode)
        assert mode & 0o111 == 0
        assert mode & 0o400
        with replaced(target) as fresh:
            put(fresh / "one", b"1")
    assert names(tmp_path) == ["day"]
