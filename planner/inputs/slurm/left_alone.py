"""Why a job of Slurm's queue is left alone: what is not planned, and what keeps Slurm from starting it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from planner import limits
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.json_document import Fields
from planner.printable import one_line

NOT_STARTED = re.compile(
    r"Partition|QOS|Assoc|Account|Invalid|BadConstraints|MaxMemPerLimit|Licenses|BurstBuffer|SystemFailure|JobLaunchFailure"
    r"|FedJobLock|DeadLine|Cleaning"
)
"""How the reasons begin for which Slurm does not start a job although there may be room: limits of its partition, its
QOS, its account or its user, and requests that nothing fulfils."""


def why_left_alone(job: SlurmJob, row: Fields, others: Sequence[str]) -> tuple[str, ...]:
    """Why the job of a row cannot be planned; for a running job, why nobody can tell when and where it ends.

    ``others`` are resources in its request that cannot be counted.
    """
    match job.state:
        case "pending":
            found = [
                *_of_waiting(job, row.text("state_reason")),
                *_of_resources(job, row, others),
                *job.dependency.obstacles(),
            ]
        case "running":
            found = _of_running(job)
        case "other":
            found = [f"Slurm has it as {one_line(job.state_text, 60)}, neither waiting nor running"]
        case _:
            found = []
    return tuple(found)


def _of_waiting(job: SlurmJob, reason: str) -> list[str]:
    found = []
    if job.held:
        found.append("it is held")
    elif NOT_STARTED.match(reason):
        found.append(f"Slurm does not start it ({one_line(reason, 60)})")
    if job.het_job_id is not None:
        found.append(f"it is a part of the heterogeneous job {job.het_job_id}")
    if job.limit_s is None:
        found.append("it has no time limit")
    elif job.limit_s not in limits.REQUESTED_S:
        found.append(f"its time limit of {job.limit_s} s is not {limits.REQUESTED_S}")
    return found


def _of_resources(job: SlurmJob, row: Fields, others: Sequence[str]) -> list[str]:
    found = []
    if job.licences:
        found.append(f"it needs licences ({one_line(job.licences, 60)})")
    if job.reservation:
        found.append(f"it runs in the reservation {one_line(job.reservation, 60)}")
    if row.text("burst_buffer"):
        found.append("it needs a burst buffer")
    if others:
        found.append(f"it needs resources that are not planned ({one_line(', '.join(others), 60)})")
    if "CRON_JOB" in row.words("flags"):
        found.append("it belongs to scrontab, which sets its start")
    if "topo" in (word.lower() for word in row.words("shared")):
        found.append("it wants a whole part of the network for itself")
    if job.request.min_nodes not in limits.UNITS:
        found.append(f"it asks for {job.request.min_nodes} nodes")
    return found


def _of_running(job: SlurmJob) -> list[str]:
    found = []
    if job.limit_s is None and not job.is_completing:
        found.append("it runs without a time limit, so its end is not known")
    if not job.allocated:
        found.append("Slurm does not say on which nodes it runs")
    if job.start_unix is None:
        found.append("Slurm does not say since when it runs")
    return found
