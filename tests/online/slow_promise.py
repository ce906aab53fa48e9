"""The reference start of a job, worked out slowly from a replay: list scheduling in submit order when it arrives."""

from __future__ import annotations

from dataclasses import dataclass

from planner.online.replay import Replay

STEPS_MIN = (1, 5, 15, 30, 60, 120, 300, 600, 1200, 3000, 6000)

FOREVER = 10**15


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


def expected_end(result: Replay, run: Run, now: int, correction: str) -> int:
    """When a run is expected to end, after all corrections that are due by now."""
    estimate = max(1, int(result.estimate_s[run.job]))
    limit = run.start + int(result.trace.requested_s[run.job])
    due, count = run.start + estimate, 0
    while due <= now:
        if correction == "double":
            then = run.start + 2 * (due - run.start)
        elif correction == "steps" and count < len(STEPS_MIN):
            then = min(limit, run.start + estimate + 60 * STEPS_MIN[count])
        else:
            then = limit
        due = max(then, due + 1)
        count += 1
    return due


def reference_start(result: Replay, new: int, correction: str) -> int:
    """When a job would start by the list of its second of arrival; FOREVER if it cannot be said.

    Running jobs hold their nodes until their expected ends, known outages theirs; the jobs that wait are placed in
    submit order, each at its earliest start, on the first nodes with room.
    """
    trace = result.trace
    now = int(trace.submit_s[new])
    held: list[tuple[int, int, int, tuple[int, ...]]] = []
    power: list[tuple[int, int, int]] = []
    has_started = set()
    for run in runs_of(result):
        if run.start < now and (run.end > now or not run.lost):
            has_started.add(run.job)
        if run.start < now < run.end:
            end = expected_end(result, run, now, correction)
            for node, amount in zip(run.nodes, units_of(result, run.job), strict=True):
                held.append((node, now, end, amount))
            power.append((now, end, int(trace.power_mw[run.job])))
    outages = result.outages
    for k in range(len(outages)):
        end = int(outages.end_s[k])
        if outages.known_from_s[k] <= now < end:
            until = FOREVER if outages.is_open[k] else end
            all_of_it = tuple(trace.machine.capacity[outages.node[k]].tolist())
            held.append((int(outages.node[k]), int(outages.start_s[k]), until, all_of_it))
    start = FOREVER
    for job in range(new + 1):
        if job in has_started or 0 <= result.cancel_s[job] <= now:
            continue
        length = max(1, int(result.estimate_s[job]))
        units = units_of(result, job)
        start = FOREVER
        for moment in sorted({now} | {end for _, _, end, _ in held} | {end for _, end, _ in power}):
            if now <= moment < FOREVER and _has_power(result, power, job, moment, length):
                nodes = _nodes_for(result, held, units, moment, moment + length)
                if nodes is not None:
                    start = moment
                    for node, amount in zip(nodes, units, strict=True):
                        held.append((node, start, start + length, amount))
                    power.append((start, start + length, int(trace.power_mw[job])))
                    break
    return start


def _has_power(result: Replay, power: list[tuple[int, int, int]], job: int, start: int, length: int) -> bool:
    limit = result.trace.machine.power_limit
    if limit < 0:
        return True
    moments = [start] + [first for first, _, _ in power if start < first < start + length]
    wanted = int(result.trace.power_mw[job])
    return all(wanted + sum(mw for first, last, mw in power if first <= m < last) <= limit for m in moments)


def _nodes_for(
    result: Replay,
    held: list[tuple[int, int, int, tuple[int, ...]]],
    units: list[tuple[int, ...]],
    start: int,
    end: int,
) -> list[int] | None:
    """The first nodes with room for equal units from start to end; None if there are too few."""
    chosen: list[int] = []
    for node, capacity in enumerate(result.trace.machine.capacity.tolist()):
        mine = [(first, last, amount) for where, first, last, amount in held if where == node]
        moments = [start] + [first for first, _, _ in mine if start < first < end]
        copies = 0
        while len(chosen) < len(units):
            fits = True
            for moment in moments:
                for resource, room in enumerate(capacity):
                    used = sum(amount[resource] for first, last, amount in mine if first <= moment < last)
                    # an outage takes all of a node, beside what still runs there
                    if units[0][resource] > 0 and used + (copies + 1) * units[0][resource] > room:
                        fits = False
            if not fits:
                break
            copies += 1
            chosen.append(node)
    return chosen if len(chosen) == len(units) else None
