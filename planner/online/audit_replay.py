"""An independent check of a replay: no node over-used, nobody early, nobody held for too long.

It shares no code with the kernels.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from planner.domain.columns import Ints
from planner.errors import AuditError
from planner.online.replay import Replay

_ENDS, _WAITS, _IS_HELD, _STARTS = range(4)
"""What happens to a job in one second, in this order."""


def violations(replay: Replay) -> list[str]:
    """Every broken rule of a replay; none is the only good answer."""
    trace = replay.trace
    found = [
        f"job {trace.ids[job]} starts at {replay.start_s[job]} s, submitted at {trace.submit_s[job]} s"
        for job in np.flatnonzero(replay.is_started & (replay.start_s < trace.submit_s))
    ]
    found += _too_soon(replay)
    found += _wrongly_held(replay)
    runs = _runs(replay)
    nodes = len(trace.machine.capacity)
    off = np.flatnonzero((runs.node < 0) | (runs.node >= nodes))
    if len(off):
        found.append(f"{len(off)} units are on no node of {nodes}")
    if found:
        return found
    rows = np.concatenate([runs.node, runs.node])
    moments = np.concatenate([runs.start_s[runs.of_unit], runs.end_s[runs.of_unit]])
    is_ours = runs.start_s >= replay.from_s
    amount = np.concatenate([runs.amount, -runs.amount])
    found += _overused(rows, moments, amount, np.tile(is_ours[runs.of_unit], 2), trace.machine.capacity, "node")
    if trace.machine.power_limit >= 0:
        moments = np.concatenate([runs.start_s, runs.end_s])
        power = trace.power_mw[runs.job]
        drawn = np.concatenate([power, -power])[:, None]
        limit = np.array([[trace.machine.power_limit]])
        rows = np.zeros(len(moments), dtype=np.int64)
        found += _overused(rows, moments, drawn, np.tile(is_ours, 2), limit, "the site's power, row")
    return found + _on_lost_nodes(replay, runs)


def _too_soon(replay: Replay) -> list[str]:
    """Jobs that start before all that they wait for has started or ended, or was cancelled before it started."""
    trace, found = replay.trace, []
    if trace.links is None:
        return []
    first_s = replay.start_s.tolist()
    for run in replay.lost_runs:
        first_s[run.job] = min(run.start_s, first_s[run.job]) if first_s[run.job] >= 0 else run.start_s
    for job in np.flatnonzero(replay.is_started).tolist():
        for other, is_end in trace.waits.before_of(job):
            come_s = int(replay.end_s[other]) if is_end else first_s[other]
            if first_s[other] < 0 and replay.cancel_s[other] >= 0:
                come_s = int(replay.cancel_s[other])
            if come_s < 0 or first_s[job] < come_s:
                found.append(f"job {trace.ids[job]} starts at {first_s[job]} s, before job {trace.ids[other]}")
    return found


def _wrongly_held(replay: Replay) -> list[str]:
    """Jobs held by a policy that holds none, before their time, for longer than allowed, or past their start."""
    trace, ids = replay.trace, replay.trace.ids
    held = np.flatnonzero(replay.held_until_s >= 0)
    if not replay.policy.holds or not replay.max_delay_s:
        return [f"job {ids[job]} is held, and none may be" for job in held]
    found = []
    for job in held.tolist():
        since, until = int(replay.reference_s[job]), int(replay.held_until_s[job])
        if not trace.submit_s[job] <= since <= until:
            found.append(f"job {ids[job]} is held from {since} s until {until} s, submitted at {trace.submit_s[job]} s")
        if until - since > replay.max_delay_s:
            found.append(f"job {ids[job]} is held for {until - since} s, where {replay.max_delay_s} s are allowed")
        if 0 <= replay.start_s[job] < until and not replay.restarts[job]:
            found.append(f"job {ids[job]} starts at {replay.start_s[job]} s, held until {until} s")
    return found or _kept_waiting(replay)


def _kept_waiting(replay: Replay) -> list[str]:
    """Jobs that are not held and wait all the same, first in line and with room; told of pools in submit order alone.

    What is recorded of holds is not believed here: whoever is kept back without a record, or beyond it, is found.
    """
    trace, policy = replay.trace, replay.policy
    in_order = policy.kind in ("easy", "strict", "greedy") and policy.order == "fcfs" and trace.priority is None
    if not in_order or trace.machine.capacity.shape != (1, 1) or trace.machine.power_limit >= 0 or len(replay.outages):
        return []
    if trace.links is not None or replay.restarts.any() or (replay.cancel_s >= 0).any():
        return []
    jobs, started, held = np.arange(len(trace)), np.flatnonzero(replay.is_started), replay.held_until_s >= 0
    happens = [(replay.end_s[started], _ENDS, started), (trace.submit_s, _WAITS, jobs)]
    happens += [(replay.held_until_s[held], _WAITS, jobs[held]), (replay.reference_s[held], _IS_HELD, jobs[held])]
    happens += [(replay.start_s[started], _STARTS, started)]
    events = sorted(
        (int(t), kind, int(job)) for moments, kind, of in happens for t, job in zip(moments, of, strict=True)
    )
    line: list[int] = []
    idle, found = int(trace.machine.capacity[0, 0]), []
    now_is, width = [_ENDS] * len(trace), trace.width.tolist()
    for place, (moment, kind, job) in enumerate(events):
        now_is[job] = kind
        if kind == _WAITS:
            heapq.heappush(line, job)
        idle += width[job] * ((kind == _ENDS) - (kind == _STARTS))
        if place + 1 < len(events) and events[place + 1][0] == moment:
            continue
        while line and now_is[line[0]] in (_ENDS, _STARTS):
            heapq.heappop(line)
        # A job that is held in the end may have been in line between two holds.
        is_first = line and now_is[line[0]] == _WAITS and width[line[0]] <= idle
        if is_first and replay.from_s <= moment < replay.until_s:
            found.append(f"job {trace.ids[line[0]]} waits at {moment} s, first in line and with room, and is not held")
    return found


class _Runs(NamedTuple):
    """Every run until the replay stopped, lost ones included, and every unit of a run."""

    job: Ints
    start_s: Ints
    end_s: Ints
    of_unit: Ints
    node: Ints
    amount: Ints


def _runs(replay: Replay) -> _Runs:
    trace = replay.trace
    lost = replay.lost_runs
    started = np.flatnonzero(replay.is_started)
    job = np.concatenate([started, np.array([run.job for run in lost], dtype=np.int64)])
    count = np.diff(trace.unit_ptr)[job]
    of_unit = np.repeat(np.arange(len(job)), count)
    unit = np.arange(len(of_unit)) + np.repeat(trace.unit_ptr[job] - np.cumsum(count) + count, count)
    group_of_unit = np.repeat(np.arange(len(trace.group_count)), trace.group_count)
    nodes = [replay.node_of_unit[unit[of_unit < len(started)]]]
    nodes += [np.array(run.nodes, dtype=np.int64) for run in lost]
    end_s = np.minimum(replay.end_s[started], replay.until_s)
    return _Runs(
        job=job,
        start_s=np.concatenate([replay.start_s[started], np.array([run.start_s for run in lost], dtype=np.int64)]),
        end_s=np.concatenate([end_s, np.array([run.lost_at_s for run in lost], dtype=np.int64)]),
        of_unit=of_unit,
        node=np.concatenate(nodes),
        amount=trace.group_amount[group_of_unit[unit]],
    )


def _on_lost_nodes(replay: Replay, runs: _Runs) -> list[str]:
    """Runs on nodes that are down, and runs that start on nodes that are drained."""
    found = []
    outages = replay.outages
    start_s, end_s = runs.start_s[runs.of_unit], runs.end_s[runs.of_unit]
    for node, first, last, drains in zip(outages.node, outages.start_s, outages.end_s, outages.drains, strict=True):
        from_s = start_s if drains else end_s - 1
        wrong = (runs.node == node) & (start_s < last) & (from_s >= first)
        if drains:  # what started before the replay began is not its doing
            wrong &= start_s >= replay.from_s
        for job in np.unique(runs.job[runs.of_unit[wrong]]):
            found.append(
                f"job {replay.trace.ids[job]} runs on node {node}, which is lost from {first} s until {last} s"
            )
    return found


def require_sound(replay: Replay) -> None:
    """Raise AuditError with what is wrong with a replay, if anything is."""
    found = violations(replay)
    if found:
        more = f" (+{len(found) - 3} more)" if len(found) > 3 else ""
        raise AuditError(
            f"the replay under {replay.policy.name} breaks {len(found)} rules: {'; '.join(found[:3])}{more}"
        )


def _overused(
    rows: np.ndarray[tuple[int], np.dtype[np.int64]],
    moments: np.ndarray[tuple[int], np.dtype[np.int64]],
    changes: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    is_ours: np.ndarray[tuple[int], np.dtype[np.bool_]],
    capacity: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    what: str,
) -> list[str]:
    """Where the running sum of changes passes the capacity of a row, and what the replay started has a part in it.

    What ran before it began may share more than a node has: then nothing may come on top.
    """
    order = np.lexsort((moments, rows))
    rows, moments, changes = rows[order], moments[order], changes[order]
    # what each row takes, it gives back, so that one running sum serves all rows
    used = np.cumsum(changes, axis=0)
    ours = np.cumsum(np.where(is_ours[order, None], changes, 0), axis=0)
    settled = np.append((rows[1:] != rows[:-1]) | (moments[1:] != moments[:-1]), True)
    bad = np.flatnonzero(settled & np.any((used > capacity[rows]) & (ours > 0), axis=1))
    return [f"{what} {rows[k]} is over-used at {moments[k]} s" for k in bad]
