"""Where a situation contradicts the last plan. Nothing follows from a conflict but its name: the situation is right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from planner.domain.job import counting_key
from planner.domain.node_text import format_unit_nodes
from planner.domain.situation import Situation, StartedJob
from planner.units import utc_text

ConflictKind = Literal[
    "planned to have run but pending",
    "planned to run but gone",
    "planned to wait but gone",
    "runs elsewhere",
    "runs since another time",
]


class PlannedRun(NamedTuple):
    """What a plan believed of a job: from when to when, and on which node each unit."""

    start_unix: int
    end_unix: int
    nodes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """One contradiction; ``text`` is one sentence for people."""

    job_id: str
    kind: ConflictKind
    text: str


def situation_conflicts(
    situation: Situation,
    schedule: Mapping[str, tuple[int, int, tuple[int, ...]]],
    deferred: Collection[str],
    *,
    tolerance_s: int = 0,
    node_list: Callable[[Iterable[int]], str] | None = None,
) -> list[Conflict]:
    """Every contradiction between a situation and the plan before it, by job id.

    New jobs, jobs that started earlier than planned and jobs that were withdrawn are news, not conflicts. A job on
    other nodes and since another time has two.

    Parameters
    ----------
    schedule
        Jobs that were planned to run, each with start, end and the node of each unit, as in `PlannedRun`.
    deferred
        Ids of the jobs that were planned to wait.
    tolerance_s
        A start this much later than planned is as planned.
    node_list
        How nodes are written, such as `Cluster.node_list`; their numbers by default.
    """
    pending = {job.id for job in situation.pending}
    withdrawn = {job.id for job in situation.withdrawn}
    started = {each.job.id: each for each in situation.started}
    known = pending | withdrawn | started.keys() | {each.job_id for each in situation.left_alone}
    conflicts: list[Conflict] = []
    for identity in sorted({*schedule, *deferred}, key=lambda each: (counting_key(each), each)):
        planned = PlannedRun(*schedule[identity]) if identity in schedule else None
        if identity not in known:
            conflicts.append(_gone(identity, planned))
        elif planned is not None and identity in pending:
            if planned.start_unix + tolerance_s < situation.moment_unix:
                text = f"job {identity} was planned to start at {utc_text(planned.start_unix)} but is still pending"
                conflicts.append(Conflict(identity, "planned to have run but pending", text))
        elif planned is not None and identity in started:
            conflicts += _differences(started[identity], planned, tolerance_s, node_list or _numbers)
    return conflicts


def _gone(identity: str, planned: PlannedRun | None) -> Conflict:
    if planned is None:
        return Conflict(identity, "planned to wait but gone", f"job {identity} was planned to wait but is gone")
    start = utc_text(planned.start_unix)
    return Conflict(identity, "planned to run but gone", f"job {identity} was planned to run from {start} but is gone")


def _differences(
    found: StartedJob, planned: PlannedRun, tolerance_s: int, node_list: Callable[[Iterable[int]], str]
) -> list[Conflict]:
    identity, runs = found.job.id, "runs" if found.is_running else "ran"
    conflicts = []
    # Equal units may change places: what counts is how many are on each node.
    if Counter(found.nodes) != Counter(planned.nodes):
        text = f"job {identity} was planned on {node_list(planned.nodes)} but {runs} on {node_list(found.nodes)}"
        conflicts.append(Conflict(identity, "runs elsewhere", text))
    if found.start_unix > planned.start_unix + tolerance_s:
        since = f"{runs} since" if found.is_running else "ran from"
        text = (
            f"job {identity} was planned from {utc_text(planned.start_unix)} but {since} {utc_text(found.start_unix)}"
        )
        conflicts.append(Conflict(identity, "runs since another time", text))
    return conflicts


def _numbers(nodes: Iterable[int]) -> str:
    return f"nodes {format_unit_nodes(sorted(nodes))}"
