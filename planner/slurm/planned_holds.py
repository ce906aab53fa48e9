"""What a written plan wants of Slurm: which jobs are held until when, and the rules under which that may be sent.

Arrays are held as a whole, and of equal jobs none before an older one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from planner.domain.result import Hold
from planner.errors import InputError
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.queue import Queue
from planner.slurm.choose_changes import ChangeRules, Refusal, rules_of
from planner.slurm.journal import Ours, require_folder
from planner.store.provenance import changed
from planner.store.read_json import read_run, read_summary
from planner.store.read_tables import read_rows, unix
from planner.units import utc_text


@dataclass(frozen=True)
class Wanted:
    """What a plan wants of Slurm: the jobs that it holds for cheaper hours, and whose begin times may be set.

    ``starts`` are when it expects each job that waits to start [Unix seconds]; after the day, where it does not say.
    At ``until_unix`` the day of the plan is over. ``zone`` is the site's, ``tell`` where held jobs say so.
    """

    holds: Mapping[str, Hold]
    starts: Mapping[str, int]
    rules: ChangeRules
    until_unix: int
    zone: str = "UTC"
    tell: str = "nobody"


def read_wanted(folder: Path) -> Wanted:
    """What the plan in a folder wants; InputError when the folder is none of a plan, or was changed since."""
    require_folder(folder)
    run, summary = read_run(folder), read_summary(folder)
    for path, what in changed(folder, run):
        raise InputError(f"{path}: {what}; plan the day again")
    until_unix = summary.horizon.end_unix
    scheduled = read_rows(folder, "schedule", lambda row: (row, unix(row, "start_time")))
    deferred = read_rows(
        folder, "deferred", lambda row: (row, unix(row, "planned_start") if row["planned_start"] else until_unix)
    )
    starts = {row["job_id"]: start for row, start in scheduled if row["state"] == "planned"}
    starts |= {row["job_id"]: start for row, start in deferred if row["kind"] == "deferred"}
    holds = {each.job_id: each for each in summary.holds} if summary.moment is not None else {}
    tell = run["scenario"].get("slurm", {}).get("tell", "nobody")
    return Wanted(holds, starts, rules_of(run["scenario"]), until_unix, summary.zone, tell)


def require_not_over(wanted: Wanted, folder: Path, now_unix: int) -> None:
    """InputError when the day of a plan is over: its holds say nothing about jobs that still wait."""
    if wanted.until_unix <= now_unix:
        raise InputError(
            f"{folder}: its day was over at {utc_text(wanted.until_unix)}; plan again from now with plan now"
        )


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
