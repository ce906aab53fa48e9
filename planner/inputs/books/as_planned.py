"""What ran joined with what was planned: of each job, what the books say of it and what its plan knows."""

from __future__ import annotations

from dataclasses import replace

from planner.domain.cluster import CORES
from planner.domain.job import Job


def as_planned(job: Job, planned: Job | None) -> Job:
    """A job of the books with what its plan knows of it; as it is where it was not planned.

    Its size and its times are those of the books. What it draws per core, what it earns, where and when it may run, and
    what was promised is as planned. Who it is of is as the books say; where they do not, as planned.
    """
    if planned is None:
        return job
    planned_cores = planned.total(CORES)
    return replace(
        job,
        power_w=planned.power_w * (job.total(CORES) / planned_cores) if planned_cores else planned.power_w,
        revenue_weight=planned.revenue_weight,
        priority=planned.priority,
        deadline_unix=planned.deadline_unix,
        begin_unix=planned.begin_unix,
        after=planned.after,
        classes=planned.classes,
        exclusive=planned.exclusive,
        promise=planned.promise,
        easy_unix=planned.easy_unix,
        account=job.account or planned.account,
        qos=job.qos or planned.qos,
        user=job.user or planned.user,
        name=job.name or planned.name,
        partition=job.partition or planned.partition,
    )
