"""What of Slurm's words the planner's own types can hold, matter by matter; what they cannot is a reason not to plan.

Each function gives the fields of a `Job` for one matter, and why a job that asks for it cannot be planned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from planner.domain.cluster import NodeClass
from planner.domain.dependency import KINDS, Dependency
from planner.inputs.slurm.job import SlurmJob

Said = tuple[dict[str, Any], str]
"""Fields of a job, and why it cannot be planned; empty where it can."""


def named_class(name: str, nodes: Sequence[str], capacity: Mapping[str, float], idle_w: float) -> NodeClass:
    """A class of nodes with the names that they have in Slurm."""
    return NodeClass(name, len(nodes), capacity, idle_w, tuple(nodes))


def on_classes(allowed: Iterable[str], every: Iterable[str]) -> Said:
    """The classes that a job may run on; none are named where it may run on all."""
    found = tuple(sorted(allowed))
    return ({"classes": found} if set(found) < set(every) else {}), ""


def alone_on_nodes(job: SlurmJob) -> Said:
    """Whether a job wants nodes for itself; `units` then gives it all the cores of its nodes as well."""
    return {"exclusive": bool(job.request.exclusive)}, ""


def not_before(job: SlurmJob, own_begin_unix: int | None, moment_unix: int) -> Said:
    """The moment before which its user does not let a job begin."""
    if own_begin_unix is None or own_begin_unix <= moment_unix:
        return {}, ""
    return {"begin_unix": own_begin_unix}, ""


def within_limit(job: SlurmJob, place: int, running: int) -> Said:
    """The limit of an array on its tasks at once: ``place`` is that of a waiting task, ``running`` how many run.

    Tasks beyond it start when others end, which no field of a job says.
    """
    if job.array_limit is None or place + running < job.array_limit:
        return {}, ""
    return {}, f"its array may have only {job.array_limit} tasks at once"


def labels_by_id(jobs: Iterable[SlurmJob]) -> dict[int, list[str]]:
    """The jobs that each of Slurm's numbers stands for: that of an array for all of its tasks."""
    found: dict[int, list[str]] = {}
    for job in jobs:
        for number in dict.fromkeys((job.job_id, job.array_job_id)):
            if number is not None:
                found.setdefault(number, []).append(job.label)
    return found


def after_others(job: SlurmJob, labels: Mapping[int, Sequence[str]]) -> Said:
    """The jobs that a job waits for, by the labels of those in the queue; others are long gone."""
    found = []
    for each in job.dependency.requirements:
        kind = next((known for known in KINDS if known == each.kind), None)
        if kind is None or each.job_id is None or each.delay_s:
            later = " with a delay" if each.delay_s else ""
            return {}, f"it waits for other jobs in a way that is not planned ({each.kind}{later})"
        names = labels.get(each.job_id, []) if each.task_id is None else [f"{each.job_id}_{each.task_id}"]
        found += [Dependency(kind, name) for name in names]
    return {"after": tuple(dict.fromkeys(found))}, ""
