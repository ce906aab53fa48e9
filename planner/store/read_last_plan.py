"""The last plan of a site, read from the folder of its day once its files are whole and of the same site.

It says what is true of every job at a later moment if all goes by it: at midnight, what the next day begins with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from planner.domain.cluster import Cluster
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.method_params import Strength
from planner.domain.plan import DeferralKind
from planner.domain.rates import Rates
from planner.domain.situation import Outage, SiteState, Situation, StartedJob
from planner.errors import FileFormatError, InputError
from planner.inputs.build import first_situation, known_until
from planner.inputs.jobs.read import is_queue_dump, known_jobs
from planner.limits import DAY_S
from planner.printable import one_line
from planner.scenario.schema import Scenario
from planner.store.plan_versions import VERSIONS, plans_of
from planner.store.read_json import cluster_of, is_booked, known_until_of, made, outages_of, read_run, strength_of
from planner.store.read_tables import choice, job_of, moment, read_rows, scheduled_of, whole
from planner.text_files import digest

CARRIED_FILES = ("schedule.csv", "deferred.csv")
"""Files that a day continues from."""


@dataclass(frozen=True)
class Unstarted:
    """A job of deferred.csv: what it is there as, and on how many days it was deferred."""

    job: Job
    kind: str
    times_deferred: int


@dataclass(frozen=True)
class LastPlan:
    """What was planned, or has happened, on a day.

    ``schedule`` has a start, nodes and an end for every job that runs that day, ``unstarted`` the other jobs that it
    knows, ``outages`` the nodes that cannot be used, as it knew them. From ``known_until_unix`` on jobs may be new.
    ``began`` and ``left`` are what the site carries over besides jobs when the day begins and ends; None where early
    versions wrote it. ``strength`` is how strongly it was best to hold; None: it does not say. By its ``mark`` the next
    day names it in its run.json: its date, and the SHA-256 of the files that are carried on.

    Of the day before it, as that stands now, ``done_before`` are the names of the jobs that it ran or refused, and
    ``left_before``, where it is booked, of those that its books leave waiting.
    """

    horizon: Horizon
    cluster: Cluster
    schedule: tuple[StartedJob, ...]
    unstarted: tuple[Unstarted, ...]
    outages: tuple[Outage, ...]
    known_until_unix: int
    began: SiteState | None
    left: SiteState | None
    strength: Strength | None
    mark: Mapping[str, str]
    done_before: frozenset[str] = frozenset()
    left_before: frozenset[str] = frozenset()

    @property
    def jobs(self) -> tuple[Job, ...]:
        """Every job that it knows."""
        return (*(each.job for each in self.schedule), *(each.job for each in self.unstarted))

    @property
    def is_nightly(self) -> bool:
        """Whether jobs may be new from a midnight on, and not from a moment of the day at which it was planned."""
        return Horizon.of_unix(self.known_until_unix, self.horizon.zone).start_unix == self.known_until_unix

    @property
    def running(self) -> tuple[StartedJob, ...]:
        """The jobs that run when the day ends."""
        return tuple(each for each in self.schedule if (each.end_unix or 0) > self.horizon.end_unix)

    @property
    def deferred(self) -> tuple[Job, ...]:
        """The jobs that wait for a later day."""
        return self._of_kind("deferred")

    def _of_kind(self, kind: DeferralKind) -> tuple[Job, ...]:
        return tuple(each.job for each in self.unstarted if each.kind == kind)

    @property
    def leaves_work(self) -> bool:
        """Whether some job runs or waits when the day ends."""
        return bool(self.running or self.deferred)

    @property
    def refused(self) -> tuple[Job, ...]:
        """The jobs that can never run here and that others wait for: these must go on waiting."""
        return self._refused(self.deferred)

    def _refused(self, pending: Iterable[Job]) -> tuple[Job, ...]:
        waited_for = {needed.job_id for job in pending for needed in job.after}
        return tuple(job for job in self._of_kind("rejected") if job.id in waited_for)

    def times_deferred(self, day: Horizon) -> dict[str, int]:
        """On how many days before a day each job was deferred."""
        same_day = self.horizon.day == day.day
        return {
            each.job.id: each.times_deferred - same_day
            for each in self.unstarted
            if each.kind == "deferred" and each.times_deferred > same_day
        }

    def carried_out(self, moment_unix: int, day: Horizon, new: Iterable[Job] = ()) -> Situation:
        """The day at a moment, if everything went as planned: what was to start has started, what was to end ended.

        ``new`` are jobs submitted since. Jobs that it refused or that were withdrawn are told again on their own day,
        and as long as others wait for them.
        """
        same_day = self.horizon.day == day.day
        started, pending = [], list(new)
        for each in self.schedule:
            if each.start_unix > moment_unix:
                pending.append(each.job)
            elif each.end_unix is None or each.end_unix > moment_unix:
                started.append(StartedJob(each.job, each.start_unix, each.nodes))
            elif each.end_unix > day.start_unix:
                started.append(each)
        pending += self.deferred
        told = self._of_kind("rejected") if same_day else self._refused(pending)
        return Situation(
            moment_unix,
            pending=tuple(sorted([*pending, *told], key=lambda job: job.submission_key)),
            started=tuple(started),
            withdrawn=self._of_kind("withdrawn") if same_day else (),
            outages=tuple(each for each in self.outages if each.end_unix is None or each.end_unix > moment_unix),
            times_deferred=self.times_deferred(day),
            site=self.began if same_day else self.left,
            strength=self.strength,
            source=f"the plan of {self.horizon.day}",
        )


def situation_of(
    scenario: Scenario,
    day: Horizon,
    last: LastPlan | None,
    moment_unix: int | None = None,
    *,
    closed: bool = False,
) -> tuple[Situation, Intake]:
    """What is true on a day if all went as the last plan said, with the jobs that were submitted since.

    At the midnight before the day, or at a moment of it. Without a plan nothing has started, and the jobs are those
    that a first day knows. ``closed``: no new jobs come in.
    """
    if last is None:
        return first_situation(scenario, day, moment_unix)
    now_unix = day.start_unix if moment_unix is None else moment_unix
    if closed:
        found, intake = last.carried_out(now_unix, day), Intake("no new jobs")
    else:
        until_unix = known_until(scenario, day, moment_unix)
        found, intake = _with_new_jobs(scenario, day, last, now_unix, until_unix)
    outages = tuple(dict.fromkeys((*found.outages, *scenario.outages)))
    return replace(found, outages=outages, nightly=moment_unix is None), intake


def _with_new_jobs(
    scenario: Scenario, day: Horizon, last: LastPlan, now_unix: int, until_unix: int
) -> tuple[Situation, Intake]:
    """The last plan carried out, with the jobs that it could not know.

    A queue dump for a day is made some hours before it: what is submitted in between is in the next dump. So is a job
    that did not run, as the books of the day before the last plan say that came after it.
    """
    is_dump = is_queue_dump(scenario.jobs)
    left = last.left_before if is_dump else frozenset()
    since_unix = last.known_until_unix - (DAY_S if is_dump and last.is_nightly else 0)
    jobs, intake = known_jobs(
        scenario, day, continues=True, since_unix=0 if left else since_unix, until_unix=until_unix
    )
    known = {job.id for job in last.jobs} | last.done_before
    new = [job for job in jobs if job.id not in known and (job.submit_unix >= since_unix or job.id in left)]
    intake.kept = len(new)
    return last.carried_out(now_unix, day, new), intake


def with_last_plan(situation: Situation, folder: Path, scenario: Scenario, day: Horizon, last: LastPlan) -> Situation:
    """A situation with what only the planner knows: promises, starts under EASY, how often jobs waited, its state, and
    how strongly it was best to hold.

    The state is that of the midnight before the day: as the last plan has it, and where they are made, the books.
    """
    known = {job.id: job for job in last.jobs}
    times, site = last.times_deferred(day), last.left
    if last.horizon.day == day.day:
        site = last.began
        before = day.day_before()
        written = folder / before.day.isoformat()
        # What is damaged there was told when the last plan was made.
        with suppress(InputError):
            if written.is_dir():
                yesterday = read_last_plan(written, scenario, before, same_machine=False)
                times = yesterday.times_deferred(day) | times
                site = yesterday.left if is_booked(written) else site
    return replace(
        situation,
        pending=tuple(_remembered(job, known) for job in situation.pending),
        started=tuple(replace(each, job=_remembered(each.job, known)) for each in situation.started),
        times_deferred=times,
        site=site,
        strength=last.strength,
    )


def _remembered(job: Job, known: Mapping[str, Job]) -> Job:
    """A job with what the last plan promised to it, and with when EASY would have started it.

    One that was submitted again, or another one of the same name, is a new job.
    """
    before = known.get(job.id)
    if before is None or before.submit_unix != job.submit_unix:
        return replace(job, promise=None)
    return replace(job, promise=before.promise, easy_unix=before.easy_unix)


def read_last_plan(folder: Path, scenario: Scenario, horizon: Horizon, *, same_machine: bool = True) -> LastPlan:
    """The plan of the day of a horizon, written in a folder; of the ``same_machine``, or of whichever it was.

    InputError says what to do when its files are damaged or were planned for another site.
    """
    again = f"plan {horizon.day} again, or start anew with --fresh"
    try:
        run = read_run(folder)
        mark = _mark(folder, run, horizon)
        _require_same_site(folder, run, scenario, same_machine=same_machine)
        return _read(folder, run, horizon, mark)
    except FileFormatError as error:
        raise InputError(f"{error}; {again}") from error


def _read(folder: Path, run: Mapping[str, Any], horizon: Horizon, mark: Mapping[str, str]) -> LastPlan:
    cluster, known = cluster_of(run), known_until_of(run)

    def started(row: dict[str, str]) -> StartedJob:
        job, state, placed, end_s = scheduled_of(row, cluster)
        if end_s > horizon.length_s and any(node >= cluster.node_count for node in placed.nodes):
            raise ValueError("it is on a node that is not there")
        start_unix, end_unix = horizon.start_unix + placed.start_s, horizon.start_unix + end_s
        return StartedJob(job, start_unix, placed.nodes, end_unix, cancelled=state == "cancelled")

    def unstarted(row: dict[str, str]) -> Unstarted:
        if row["planned_start"]:
            moment(row, "planned_start")
        kind = choice(row, "kind", *get_args(DeferralKind))
        return Unstarted(job_of(row, cluster), kind, whole(row, "times_deferred"))

    sees_day = run["scenario"]["jobs"]["visibility"] == "day"
    rates: Rates | None = made(Rates, run["rates"]) if "rates" in run else None
    done_before, left_before = _day_before(folder, horizon)
    return LastPlan(
        horizon,
        cluster,
        tuple(read_rows(folder, "schedule", started)),
        tuple(read_rows(folder, "deferred", unstarted)),
        outages_of(run),
        known if known is not None else horizon.end_unix if sees_day else horizon.start_unix,
        None if rates is None else SiteState.before(horizon.day, rates),
        made(SiteState, run["left"]) if "left" in run else None,
        strength_of(run),
        mark,
        done_before,
        left_before,
    )


def _day_before(folder: Path, horizon: Horizon) -> tuple[frozenset[str], frozenset[str]]:
    """The names of the jobs that the day before a written one ran or refused, and that its books leave waiting.

    None where that day is not there, or is damaged.
    """
    earlier = folder.parent / horizon.day_before().day.isoformat()
    if not _is_whole(earlier):
        return frozenset(), frozenset()
    try:
        ran = read_rows(earlier, "schedule", lambda row: row["job_id"])
        told = read_rows(earlier, "deferred", lambda row: (row["job_id"], row["kind"]))
    except FileFormatError:
        return frozenset(), frozenset()
    left = frozenset(name for name, kind in told if kind == "deferred")
    done = frozenset((*ran, *(name for name, _ in told))) - left
    return done, left if is_booked(earlier) else frozenset()


def mark_of(folder: Path, horizon: Horizon) -> Mapping[str, str]:
    """The mark of a written day: its date and the SHA-256 of the files that are carried on."""
    return {"day": horizon.day.isoformat()} | {name: digest(folder / name) for name in CARRIED_FILES}


def _mark(folder: Path, run: Mapping[str, Any], horizon: Horizon) -> Mapping[str, str]:
    """The day's mark, when the files are the ones that its run wrote, and the day before it is still the same."""
    outputs = run.get("outputs")
    if outputs is None:
        raise FileFormatError(folder, "an earlier version of the planner wrote it, which kept no account of its files")
    for name in CARRIED_FILES:
        path = folder / name
        if not path.is_file():
            raise FileFormatError(path, "it is missing")
        if digest(path) != outputs.get(name):
            raise FileFormatError(path, "it is damaged: not what the run wrote")
    before = horizon.day_before()
    earlier = folder.parent / before.day.isoformat()
    if run.get("continues") and _is_whole(earlier) and run["continues"] not in _marks_of(earlier, before):
        raise FileFormatError(folder, f"it continues from a result of {before.day} that was planned again since")
    return mark_of(folder, horizon)


def _is_whole(folder: Path) -> bool:
    return all((folder / name).is_file() for name in CARRIED_FILES)


def _marks_of(folder: Path, horizon: Horizon) -> list[Mapping[str, str]]:
    """The mark of a day; of a booked one also those of its versions: what continues from its plan still stands."""
    versions = folder / VERSIONS
    places = [folder]
    if is_booked(folder) and versions.is_dir():
        places += [each for each in versions.iterdir() if _is_whole(each)]
    return [mark_of(each, horizon) for each in places]


def _require_same_site(folder: Path, run: Mapping[str, Any], scenario: Scenario, *, same_machine: bool) -> None:
    """The machine, the zone and what a day knows must be the same, or nothing could be carried on."""
    then, now = run["scenario"], scenario.as_dict()
    facts = {
        "scenario": (then["name"], now["name"]),
        "zone": (then["zone"], now["zone"]),
        "jobs.visibility": (then["jobs"]["visibility"], now["jobs"]["visibility"]),
    }
    for what, (was, wanted) in facts.items():
        if was != wanted:
            problem = f"it was planned with another {what}, {one_line(was, 40)} and not {wanted}"
            raise FileFormatError(folder, problem)
    if same_machine and then["cluster"] != now["cluster"]:
        raise FileFormatError(folder, "it was planned for another cluster")


def plan_before_books(folder: Path, scenario: Scenario, day: Horizon) -> LastPlan | None:
    """The last plan of a day, or else of the day before, whether or not the day is booked since."""
    written = folder / day.day.isoformat()
    if not is_booked(written):
        return last_plan_of(folder, scenario, day)
    plans = plans_of(written)
    if plans:
        return read_last_plan(written / VERSIONS / plans[-1][0], scenario, day)
    before = day.day_before()
    is_there = (folder / before.day.isoformat()).is_dir()
    return read_last_plan(folder / before.day.isoformat(), scenario, before) if is_there else None


def last_plan_of(folder: Path, scenario: Scenario, today: Horizon, *, same_machine: bool = True) -> LastPlan | None:
    """The plan of today in a folder of days, else that of yesterday; None when there is neither."""
    for horizon in (today, today.day_before()):
        written = folder / horizon.day.isoformat()
        try:
            is_there = written.exists()
        except OSError:  # a name too long, say: writing there will report it
            return None
        if is_there:
            return read_last_plan(written, scenario, horizon, same_machine=same_machine)
    return None
