"""Schedules as other tools read them: a day or a replay in the Standard Workload Format, a replay as Batsim has it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from planner.online.replay import Replay
from planner.planning.plan_day import PlannedDay
from planner.store.folder import write_csv, write_text


def write_day_swf(planned: PlannedDay, path: Path) -> None:
    """Write the jobs that run today: waiting time by the plan, run time as requested, or as it was.

    Job numbers count from 1 by start; a comment line gives the id that stands behind each number.
    """
    problem = planned.day.problem
    jobs = {job.id: job for job in problem.jobs}
    ran_s = {job.id: job.planned_s for job in planned.happened.jobs}
    real = planned.happened.running
    work = [(r.start_s, r.job, e.end_s - r.start_s) for r, e in zip(problem.running, real, strict=True)]
    work += [(p.start_s, jobs[p.job_id], ran_s[p.job_id]) for p in planned.result.plan.placements(problem)]
    work.sort(key=lambda item: (item[0], item[1].id))
    users = _numbers([job.user for _, job, _ in work])
    accounts = _numbers([job.account for _, job, _ in work])
    first = min((job.submit_unix for _, job, _ in work), default=problem.horizon.start_unix)
    lines = [
        "; Version: 2.2",
        f"; UnixStartTime: {first}",
        f"; TimeZoneString: {problem.horizon.zone}",
        f"; MaxNodes: {problem.cluster.node_count}",
        f"; MaxProcs: {problem.cluster.total('cores'):.0f}",
        f"; MaxJobs: {len(work)}",
        f"; Note: planned schedule of {planned.day.scenario.name} on {problem.horizon.day}",
    ]
    for number, (start_s, job, runtime_s) in enumerate(work, start=1):
        cores = max(1, round(job.total("cores")))
        wait_s = problem.horizon.start_unix + start_s - job.submit_unix
        memory_kb = round(job.total("memory_gb") * 1024 * 1024 / cores) or -1
        fields = [number, job.submit_unix - first, wait_s, runtime_s, cores, -1, -1, cores, job.requested_s, memory_kb]
        fields += [1, users[job.user], accounts[job.account], -1, -1, -1, -1, -1]
        lines.append(f"; Job: {number} {' '.join(job.id.split())}")
        lines.append(" ".join(str(field) for field in fields))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _numbers(names: list[str]) -> dict[str, int]:
    """A number for each name, from 1 in alphabetical order; -1 for no name."""
    known = sorted({name for name in names if name})
    return {"": -1} | {name: number for number, name in enumerate(known, start=1)}


def write_replay_swf(replay: Replay, path: Path, note: str = "") -> None:
    """Write the replay in the Standard Workload Format; field 17 counts corrections, field 18 is the first estimate.

    ``note`` says what was unusual about it.
    """
    trace = replay.trace
    lines = [
        "; Version: 2.2",
        *([f"; UnixStartTime: {trace.origin_unix}"] if trace.origin_unix is not None else []),
        f"; MaxJobs: {len(trace)}",
        f"; MaxProcs: {trace.machine.processors:.0f}",
        f"; Note: {trace.source} replayed under {replay.policy.name}" + (f", {note}" if note else ""),
        "; Note: field 17 is the number of corrections of the estimate, field 18 the first estimate",
    ]
    numbered = all(identity.isdigit() for identity in trace.ids)
    columns = zip(
        trace.ids,
        trace.processors_of.tolist(),
        *(column.tolist() for column in (trace.submit_s, replay.wait_s, trace.runtime_s, trace.requested_s)),
        *(column.tolist() for column in (trace.user, trace.group, trace.name, trace.queue)),
        *(column.tolist() for column in (replay.corrections, replay.estimate_s)),
        strict=True,
    )
    for job, (identity, processors, submit, wait, runtime, requested, *of_whom, corrections, estimate) in enumerate(
        columns
    ):
        number = identity if numbered else str(job + 1)
        width = max(1, round(processors))
        fields = [number, submit, wait, runtime, width, -1, -1, width, requested, -1, 1, *of_whom]
        fields += [
            -1,
            corrections,
            f"{estimate:.3f}".rstrip("0").rstrip(".") if isinstance(estimate, float) else estimate,
        ]
        if not numbered:
            lines.append(f"; Job: {number} {identity}")
        lines.append(" ".join(map(str, fields)))
    write_text(path, "\n".join(lines) + "\n")


BATSIM_COLUMNS = (
    "job_id",
    "workload_name",
    "profile",
    "submission_time",
    "requested_number_of_resources",
    "requested_time",
    "success",
    "final_state",
    "starting_time",
    "execution_time",
    "finish_time",
    "waiting_time",
    "turnaround_time",
    "stretch",
    "allocated_resources",
    "consumed_energy",
    "metadata",
    "ready_time",
)
"""Columns of Batsim's jobs.csv, in its order, and when a job joined the queue: after those that it waits for."""


def write_batsim_jobs(replay: Replay, path: Path) -> None:
    """Write one line per job as Batsim does; resources are processors of a pool, or the nodes that the job had."""
    write_csv(path, BATSIM_COLUMNS, _batsim_rows(replay))


def _batsim_rows(replay: Replay) -> Iterable[list[object]]:
    trace = replay.trace
    workload = Path(trace.source).name.split(".")[0] or "trace"
    pool = len(trace.machine.capacity) == 1
    columns = zip(
        trace.ids,
        trace.submit_s.tolist(),
        trace.processors_of.tolist(),
        trace.requested_s.tolist(),
        replay.start_s.tolist(),
        trace.runtime_s.tolist(),
        replay.ready_s.tolist(),
        strict=True,
    )
    for job, (identity, submit, width, requested, start, runtime, ready) in enumerate(columns):
        cut = runtime >= requested
        units = replay.node_of_unit[trace.unit_ptr[job] : trace.unit_ptr[job + 1]].tolist()
        nodes = "" if pool else " ".join(map(str, sorted(set(units))))
        energy = f"{trace.power_mw[job] / 1000 * runtime:g}" if trace.power_mw[job] else ""
        state = "COMPLETED_WALLTIME_REACHED" if cut else "COMPLETED_SUCCESSFULLY"
        flow = start + runtime - submit
        yield [
            *(identity, workload, "", submit, f"{width:g}", requested, int(not cut), state, start, runtime),
            *(start + runtime, start - submit, flow, f"{flow / runtime:.6f}", nodes, energy, "", ready),
        ]
