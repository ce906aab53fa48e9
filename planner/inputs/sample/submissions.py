"""The sample's jobs that are submitted in a stretch of time, made day by day."""

from __future__ import annotations

from planner.bounds import DAY_S, DAY_UNITS, SAMPLE_DAYS, SAMPLE_JOBS
from planner.domain.cluster import Cluster
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.inputs.sample.workload import generate_jobs
from planner.power.asked import PowerModel


def sample_jobs(
    window: tuple[int, int], *, zone: str, cluster: Cluster, seed: int, power: PowerModel, load: float
) -> tuple[tuple[Job, ...], Intake]:
    """The jobs submitted from the first to before the second of two moments [Unix seconds]; else as `generate_jobs`."""
    intake = Intake("sample workload")
    jobs: list[Job] = []
    low, high = window
    SAMPLE_DAYS.require("the lookback of the sample workload", (high - low) // DAY_S)
    horizon = Horizon.of_unix(low, zone)
    while horizon.start_unix < high:
        made, _ = generate_jobs(horizon.day, zone=zone, cluster=cluster, seed=seed, power=power, load=load)
        jobs += [job for job in made if low <= job.submit_unix < high]
        SAMPLE_JOBS.require("the number of jobs of the sample workload, from the lookback on,", len(jobs))
        DAY_UNITS.require("the number of units of the sample workload", sum(job.unit_count for job in jobs))
        horizon = horizon.next_day()
    intake.kept = len(jobs)
    return tuple(jobs), intake
