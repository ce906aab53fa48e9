"""Which holds of a plan are given to Slurm: arrays as a whole, and of equal jobs none before an older one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from planner.domain.result import Hold
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.queue import Queue
from planner.slurm.changes import Refusal
from planner.slurm.journal import Ours
from planner.slurm.wanted import Wanted
from planner.units import utc_text


@dataclass(frozen=True)
class _Unit:
    """A waiting job or a whole array: what it is like, when it is to begin, and its hold where it is held."""

    name: str
    age: tuple[int, int]
    kind: object
    begin_unix: int
    hold: Hold | None

    def until(self, moment_unix: int) -> _Unit:
        """The same, held until another moment, but no longer than was promised."""
        assert self.hold is not None
        until_unix = min(moment_unix, self.hold.latest_unix)
        return replace(self, begin_unix=until_unix, hold=replace(self.hold, until_unix=until_unix))


def holds_of(wanted: Wanted, queue: Queue, ours: Ours, now_unix: int) -> tuple[dict[str, Hold], list[Refusal]]:
    """The holds of a plan by the names of jobs and of whole arrays, and those that are given up, with the reason.

    An array is held as a whole, until the first of its tasks is to start. Of equal jobs of one user the older one never
    begins after a younger one because of us: their holds end in the order of their age, and none outlasts the start of
    a younger one that is not held. A job that a younger one has passed since it was held is held no longer. What would
    be held no longer than until it could start is not held: it waits for room, which may come sooner.
    """
    alike: dict[object, list[_Unit]] = defaultdict(list)
    refusals: list[Refusal] = []
    for unit, reason in _units(wanted, queue, now_unix):
        refusals += [Refusal(unit.name, reason)] if reason else []
        alike[unit.kind].append(unit)
    found: dict[str, Hold] = {}
    for group in alike.values():
        group.sort(key=lambda each: each.age)
        ends = iter(sorted(each.begin_unix for each in group if each.hold is not None))
        first: _Unit | None = None
        for each in reversed([each if each.hold is None else each.until(next(ends)) for each in group]):
            unit = each if first is None or each.hold is None else each.until(min(each.begin_unix, first.begin_unix))
            hold = unit.hold
            if hold is not None:
                younger, could_start = _passed_by(unit, queue, ours), max(now_unix, hold.reference_unix)
                if first is not None and unit.begin_unix <= could_start:
                    younger = first.name
                if younger:
                    reason = f"job {younger}, equal, younger and of the same user, would start before it"
                    refusals.append(Refusal(unit.name, reason))
                    unit = replace(unit, begin_unix=could_start, hold=None)
                else:
                    found[unit.name] = hold
            first = unit if first is None or unit.begin_unix < first.begin_unix else first
    return found, refusals


def _units(wanted: Wanted, queue: Queue, now_unix: int) -> Iterator[tuple[_Unit, str]]:
    """Every waiting job and array that the plan knows, and why it is not held although the plan holds it."""
    tasks: dict[str, list[SlurmJob]] = defaultdict(list)
    for job in queue.of_state("pending"):
        if job.label in wanted.starts or job.label in wanted.holds:
            tasks[job.array or job.label].append(job)
    for name, jobs in tasks.items():
        yield _unit(name, jobs, wanted, queue, now_unix)
    known = {job.label for jobs in tasks.values() for job in jobs}
    for name, hold in wanted.holds.items():
        if name not in known:  # it has started, ended or gone, which is told when it is looked for
            yield _Unit(name, (0, 0), name, hold.until_unix, hold), ""


def _unit(name: str, jobs: list[SlurmJob], wanted: Wanted, queue: Queue, now_unix: int) -> tuple[_Unit, str]:
    held = [wanted.holds[job.label] for job in jobs if job.label in wanted.holds]
    # Of a held job the plan has the start for which there is room; what counts is the end of its hold.
    begins = [
        wanted.holds[job.label].until_unix if job.label in wanted.holds else wanted.starts[job.label] for job in jobs
    ]
    unit = _Unit(name, _age(jobs[0]), _kind(jobs[0]), min(begins), None)
    if not held:
        return unit, ""
    if unit.begin_unix <= max(now_unix, min(each.reference_unix for each in held)):
        what = "one of its tasks is not held, and is to start" if len(jobs) > 1 else "its hold was over"
        return unit, f"{what} at {utc_text(unit.begin_unix)}"
    records = [job for job in queue.array(name) if job.is_pending] or jobs
    reason = next((why for job in records if (why := wanted.rules.why_not(job, unit.begin_unix))), "")
    if reason:
        return replace(unit, begin_unix=now_unix), reason
    hold = Hold(
        name,
        reference_unix=min(each.reference_unix for each in held),
        until_unix=unit.begin_unix,
        latest_unix=min(each.latest_unix for each in held),
        saved_eur=sum(each.saved_eur for each in held),
        waiting_eur=sum(each.waiting_eur for each in held),
    )
    return replace(unit, hold=hold), ""


def _age(job: SlurmJob) -> tuple[int, int]:
    return job.submit_unix, job.array_job_id or job.job_id


def _kind(job: SlurmJob) -> object:
    """What makes jobs equal for their user: they ask for the same, in the same place."""
    return job.user, job.account, job.partitions, job.qos, job.limit_s, job.request, job.reservation, job.licences


def _passed_by(unit: _Unit, queue: Queue, ours: Ours) -> str:
    """The first younger job like a job that has started since that was first held; empty where none has."""
    since = ours.held_since(unit.name, unit.age[0])
    if since is None:
        return ""
    for job in queue.records:
        if (
            (job.start_unix or 0) > since
            and _age(job) > unit.age
            and job.array != unit.name
            and _kind(job) == unit.kind
        ):
            return job.label
    return ""
