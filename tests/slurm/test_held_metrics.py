"""Claims about the figures that a monitoring system reads: they are of the jobs that are held, and of nobody else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from planner.domain.result import Hold
from planner.slurm.monitoring import held_metrics
from tests.slurm.queued import HOUR, NOW, queue_of, waiting


def test_only_held_jobs_that_still_wait_are_counted(tmp_path: Path) -> None:
    """Two of four cores and 2 h are held and wait: 16 core-hours; the nearest promise ends in an hour."""
    ours, other = waiting("42"), waiting("43")
    ours = replace(ours, limit_s=2 * HOUR, request=replace(ours.request, cpus=4))
    again = replace(ours, job_id=44)
    holds = {
        "42": Hold("42", NOW, NOW + HOUR, NOW + 3 * HOUR, 1.0, 0.1),
        "44": Hold("44", NOW, NOW + HOUR, NOW + HOUR, 2.0, 0.1),
        "45": Hold("45", NOW, NOW + HOUR, NOW + 5 * HOUR, 2.0, 0.1),
    }
    found = held_metrics(holds, queue_of(ours, other, again), tmp_path / "journal", 3, "UTC", NOW)
    assert (found["held_jobs"], found["held_core_hours"], found["promised_delay_left_seconds"]) == (2, 16.0, HOUR)
    assert (found["saved_today"], found["broken_promises"], found["last_plan_timestamp_seconds"]) == (0, 3, NOW)
    nobody = held_metrics({}, queue_of(ours, other), tmp_path / "journal", 0, "UTC", NOW)
    assert (nobody["held_jobs"], nobody["held_core_hours"], nobody["promised_delay_left_seconds"]) == (0, 0, 0)
