"""What ran joined with what was planned: of each job, what the books say of it and what its plan knows."""

from __future__ import annotations

from dataclasses import replace

from planner.domain.cluster import CORES
from planner.domain.job import Job


def as_planned(job: Job, planned: Job | None) -> Job:
    """A job that ran, with what its plan knows of it; as it is where it was not planned.

    Its size and its times are those of the books. What it draws per core, what it earns, where and when it may run, and
    what was promised is as planned. Who it is of is as the books say; where they do not, as planned.
    """
    if planned is None:
        return job
    return replace(
        still_waiting(job, planned),
        priority=planned.priority,
        deadline_unix=planned.deadline_unix,
        begin_unix=planned.begin_unix,
        after=planned.after,
        classes=planned.classes,
        exclusive=planned.exclusive,
    )


def still_waiting(job: Job, planned: Job | None) -> Job:
    """A job that has not run: where and when it may is as the books say, as its user may have changed that since.

    Where they say nothing, and in all else, it is as one that ran.
    """
    if planned is None:
        return job
    cores, planned_cores = job.total(CORES), planned.total(CORES)
    return replace(
        job,
        power_w=planned.power_w * (cores / planned_cores if cores and planned_cores else 1.0),
        revenue_weight=planned.revenue_weight,
        priority=planned.priority if job.priority == 1 else job.priority,
        deadline_unix=planned.deadline_unix if job.deadline_unix is None else job.deadline_unix,
        begin_unix=planned.begin_unix if job.begin_unix is None else job.begin_unix,
        after=job.after or planned.after,
        classes=job.classes or planned.classes,
        exclusive=job.exclusive or planned.exclusive,
        promise=planned.promise,
        easy_unix=planned.easy_unix,
        account=job.account or planned.account,
        qos=job.qos or planned.qos,
        user=job.user or planned.user,
        name=job.name or planned.name,
        partition=job.partition or planned.partition,
    )
