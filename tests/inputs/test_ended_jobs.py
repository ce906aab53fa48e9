"""Jobs of the last days that have ended, as sacct writes them: how long jobs last, and how many arrive."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.inputs.books.measured_power import ended_jobs
from planner.places import shipped_folder
from planner.scenario.load import load_scenario

SACCT = """JobID|JobName|User|Account|Partition|State|Submit|Start|End|Timelimit|AllocCPUS|NodeList
7|md|ann|bio|batch|COMPLETED|2024-06-01T08:00:00|2024-06-01T09:00:00|2024-06-01T10:30:00|04:00:00|70|n[1-3]
8|md|ann|bio|batch|RUNNING|2024-06-01T08:00:00|2024-06-01T09:00:00|Unknown|04:00:00|8|n4
9|md|bob|bio|batch|COMPLETED|2024-05-01T08:00:00|2024-05-01T09:00:00|2024-05-01T10:30:00|04:00:00|8|n4
10|md|bob|bio|batch|COMPLETED|2024-06-01T10:00:00|2024-06-01T11:00:00|2024-06-01T13:00:00|04:00:00|8|n4
11|md|bob|bio|batch|CANCELLED|2024-06-01T08:00:00|None|2024-06-01T08:30:00|04:00:00|0|None assigned
"""


def test_what_ended_within_the_window_is_history(tmp_path: Path) -> None:
    """One of five: others run still, are too old, end later than now, or never ran."""
    path = tmp_path / "sacct.txt"
    path.write_text(SACCT)
    scenario = load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=["zone=UTC"])
    noon = 1717243200
    (job,) = ended_jobs(path, scenario, (noon - 8 * 86400, noon))
    assert (job.user, job.name, job.account) == ("ann", "md", "bio")
    assert (job.requested_s, job.runtime_s, job.submit_unix) == (4 * 3600, 5400, noon - 4 * 3600)
    assert job.total("cores") == 70
    assert max(group.amount("cores") for group in job.units) == 32
    assert job.power_w > 0
    later = ended_jobs(path, scenario, (noon - 8 * 86400, noon + 3600))
    assert [each.user for each in later] == ["ann", "bob"]


def test_a_table_of_jobs_is_history_too(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text(
        "job_id,submit_time,requested_s,runtime_s,cores,user\n"
        "a,2024-06-01T08:00:00Z,7200,600,4,ann\nb,2024-06-01T11:59:00Z,7200,600,4,ann\n"
    )
    scenario = load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=["zone=UTC"])
    noon = 1717243200
    (job,) = ended_jobs(path, scenario, (noon - 8 * 86400, noon))
    assert (job.id, job.runtime_s) == ("a", 600)
    with pytest.raises(Exception, match="nothing"):
        ended_jobs(tmp_path / "nothing.csv", scenario, (0, noon))
