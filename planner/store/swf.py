"""A planned day as a Standard Workload Format file, for the tools of the field."""

from __future__ import annotations

from pathlib import Path

from planner.domain.problem import Running
from planner.planning.plan_day import PlannedDay


def write_swf(planned: PlannedDay, path: Path) -> None:
    """Write the jobs that run today: waiting time by the plan, run time as requested, or as it was.

    Job numbers count from 1 by start; a comment line gives the id that stands behind each number.
    """
    problem = planned.day.problem
    jobs = {job.id: job for job in problem.jobs}
    ran_s = {job.id: job.planned_s for job in planned.happened.jobs}
    work = [(r.start_s, r.job, real.end_s - r.start_s) for r, real in _pairs(planned)]
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


def _pairs(planned: PlannedDay) -> zip[tuple[Running, Running]]:
    """The running work as it was planned with and as it was carried out."""
    return zip(planned.day.problem.running, planned.happened.running, strict=True)


def _numbers(names: list[str]) -> dict[str, int]:
    """A number for each name, from 1 in alphabetical order; -1 for no name."""
    known = sorted({name for name in names if name})
    return {"": -1} | {name: number for number, name in enumerate(known, start=1)}
