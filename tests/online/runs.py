"""The runs of a replay, one by one."""

from __future__ import annotations

from dataclasses import dataclass

from planner.online.replay import Replay


@dataclass(frozen=True)
class Run:
    """A run of a job: from when until when, on which nodes, and whether it was lost with one of them."""

    job: int
    start: int
    end: int
    nodes: tuple[int, ...]
    lost: bool


def runs_of(result: Replay) -> list[Run]:
    """Every run of a replay, lost ones included."""
    runs = [Run(run.job, run.start_s, run.lost_at_s, run.nodes, True) for run in result.lost_runs]
    for job in range(len(result.trace)):
        if result.start_s[job] >= 0:
            first, last = result.trace.unit_ptr[job], result.trace.unit_ptr[job + 1]
            nodes = tuple(result.node_of_unit[first:last].tolist())
            runs.append(Run(job, int(result.start_s[job]), int(result.end_s[job]), nodes, False))
    return runs


def units_of(result: Replay, job: int) -> list[tuple[int, ...]]:
    """What each unit of a job asks."""
    trace = result.trace
    found = []
    for group in range(trace.group_ptr[job], trace.group_ptr[job + 1]):
        for _ in range(trace.group_count[group]):
            found.append(tuple(trace.group_amount[group].tolist()))
    return found
