"""The day as it happened: a snapshot of the moment at which it ended, and its problem, in which all is fixed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from planner.domain.cluster import CORES
from planner.domain.day_summary import Booked, Elsewhere
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.situation import SiteState, Situation, StartedJob
from planner.domain.situation_check import overused
from planner.errors import InputError
from planner.inputs.books.accounted import as_planned, cpu_hours, labelled, node_numbers, run_of, still_waiting
from planner.inputs.books.measured_power import sharing, with_measured_power
from planner.inputs.build import Day, build
from planner.inputs.jobs.power_models import power_of
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.sacct_json import Accounts
from planner.inputs.snapshots import read_snapshot
from planner.printable import shortened
from planner.scenario.schema import Scenario
from planner.units import SECONDS_PER_HOUR, rounded, utc_text


@dataclass(frozen=True)
class Known:
    """What the last plan knows.

    ``jobs`` are all of its jobs by name. ``expected`` are those of them that wait at the end of the day unless the
    books say otherwise, ``withdrawn`` those that it knows to be taken back. ``times_deferred`` says on how many earlier
    days jobs were deferred, ``site`` what the day before left of the site besides jobs.
    """

    jobs: Mapping[str, Job] = field(default_factory=dict)
    expected: tuple[Job, ...] = ()
    withdrawn: tuple[Job, ...] = ()
    times_deferred: Mapping[str, int] = field(default_factory=dict)
    site: SiteState | None = None


@dataclass(frozen=True)
class Happened:
    """What a source says of a day: who ran, and of the others who waited when it ended and who was taken back.

    ``named`` are all jobs that the source has an opinion on.
    """

    source: str
    runs: tuple[StartedJob, ...]
    waiting: tuple[Job, ...]
    withdrawn: tuple[Job, ...]
    named: frozenset[str]
    intake: Intake
    elsewhere: Elsewhere = field(default_factory=Elsewhere)


def of_accounts(accounts: Accounts, intake: Intake, scenario: Scenario, horizon: Horizon, known: Known) -> Happened:
    """What Slurm's accounts, which may be of other days too, say of a day.

    InputError where a job cannot have run so on the nodes of the scenario; names the job and what to do.
    """
    source, cluster, power = intake.source, scenario.cluster, power_of(scenario)
    runs: list[StartedJob] = []
    elsewhere: list[SlurmJob] = []
    waiting: set[str] = set()
    withdrawn: set[str] = set()
    for label, job in labelled(accounts, source, intake.repaired):
        start, end = job.start_unix, job.end_unix
        if start is None or not job.nodes or start >= horizon.end_unix:
            if end is None or end > horizon.end_unix or (start is not None and start >= horizon.end_unix):
                waiting.add(label)
            elif end >= horizon.start_unix:
                withdrawn.add(label)
            continue
        if end is not None and end <= max(start, horizon.start_unix):
            if end < start:
                raise InputError(f"{source}: job {label} ends at {utc_text(end)}, before its start; correct its times")
            if start >= horizon.start_unix:
                withdrawn.add(label)
            continue
        numbers = node_numbers(label, job.nodes, cluster, source)
        if numbers:
            planned = known.jobs.get(job.label)
            if planned is not None and label != job.label:  # only the last run keeps its time, or not
                planned = replace(planned, deadline_unix=None, promise=None, easy_unix=None)
            runs.append(run_of(label, job, numbers, cluster, power, planned, source, intake.repaired))
        else:
            elsewhere.append(job)
    if elsewhere and not runs:
        raise InputError(
            f"{source}: no job ran on a node of the scenario; the first ran on {shortened(elsewhere[0].nodes[0], 60)},"
            f" the scenario has {cluster.node_name(0)}; name its nodes in cluster.classes"
        )
    intake.kept = len(runs)
    hours = rounded(sum(cpu_hours(job, horizon) for job in elsewhere))
    if elsewhere:
        intake.notes.append(
            f"{len(elsewhere)} jobs with {hours:,.1f} CPU-hours ran on nodes that the scenario does not have: they are"
            " no part of its books"
        )
    return Happened(
        source,
        tuple(runs),
        tuple(job for job in known.jobs.values() if job.id in waiting),
        tuple(job for job in known.jobs.values() if job.id in withdrawn),
        frozenset({run.job.id for run in runs} | waiting | withdrawn),
        intake,
        Elsewhere(len(elsewhere), hours),
    )


def of_table(path: Path, scenario: Scenario, horizon: Horizon, known: Known, now_unix: int) -> Happened:
    """What a snapshot table says of a day that has ended by now; the table may know of later days too."""
    snapshot, intake = read_snapshot(path, at_unix=max(now_unix, horizon.end_unix), scenario=scenario, of_books=True)
    # The id of a job that was submitted anew may be that of an earlier one.
    planned = {job.id: known.jobs[job.id] for job in snapshot.jobs if _is_known(job, known)}
    runs = []
    waiting, withdrawn = (
        [still_waiting(job, planned.get(job.id)) for job in told] for told in (snapshot.pending, snapshot.withdrawn)
    )
    for each in snapshot.started:
        job = each.job
        if each.start_unix >= horizon.end_unix:
            waiting.append(still_waiting(job, planned.get(job.id)))
        elif each.end_unix is None or each.end_unix > max(each.start_unix, horizon.start_unix):
            runs.append(replace(each, job=as_planned(job, planned.get(job.id))))
        elif each.start_unix >= horizon.start_unix:
            withdrawn.append(still_waiting(job, planned.get(job.id)))
    return Happened(
        str(path),
        tuple(runs),
        tuple(job for job in waiting if job.submit_unix < horizon.end_unix),
        tuple(withdrawn),
        frozenset(job.id for job in snapshot.jobs),
        intake,
    )


def _is_known(job: Job, known: Known) -> bool:
    return job.id in known.jobs and known.jobs[job.id].submit_unix == job.submit_unix


def booked_day(scenario: Scenario, horizon: Horizon, happened: Happened, known: Known) -> tuple[Day, Booked]:
    """The problem of a day on which everything is fixed, as it happened, and the books' part of its summary.

    Jobs that run over midnight are as they were then: still running, with the end that their requested time lets
    expect. So the books of a day do not depend on when they are made.
    """
    runs, measured, refused = with_measured_power(_as_they_shared(happened.runs), scenario.cluster, horizon)
    happened.intake.notes += [f"measured energy of {count} jobs is not used: {why}" for why, count in refused.items()]
    absent = [job for job in known.expected if job.id not in happened.named]
    if absent:
        happened.intake.notes.append(f"{len(absent)} planned jobs are not in the books: they still wait")
    pending = sorted([*happened.waiting, *absent], key=lambda job: job.submission_key)
    gone = [job for job in known.withdrawn if job.id not in happened.named]
    situation = Situation(
        horizon.end_unix,
        tuple(pending),
        tuple(sorted((_at_the_end(run, horizon) for run in runs), key=_start_key)),
        _sorted([*happened.withdrawn, *gone]),
        scenario.outages,
        times_deferred=known.times_deferred,
        site=known.site,
        source=happened.source,
    )
    too_much = overused(situation, scenario.cluster)
    if too_much:
        happened.intake.notes.append(
            f"jobs shared more than a node has, or were spread unevenly; booked as the source says: {too_much}"
        )
    day = build(scenario, horizon, situation, happened.intake)
    seconds = [run.job.total(CORES) * run.seconds_within(horizon.start_unix, horizon.end_unix) for run in runs]
    cpu_hours = rounded(sum(seconds) / SECONDS_PER_HOUR)
    return day, Booked(happened.source, len(runs), cpu_hours, measured, happened.elsewhere)


def require_over(horizon: Horizon, now_unix: int) -> None:
    """InputError while a day has not ended."""
    if now_unix < horizon.end_unix:
        raise InputError(f"{horizon.day} is not over in {horizon.zone}; book it when it is")


def _as_they_shared(runs: tuple[StartedJob, ...]) -> tuple[StartedJob, ...]:
    """The runs; one that was planned to have its nodes for itself, and had not, is as any other."""
    shared = sharing([(run.nodes, run.start_unix, run.end_unix) for run in runs])
    return tuple(
        replace(run, job=replace(run.job, exclusive=False))
        if run.job.exclusive and (place in shared or len(set(run.nodes)) < len(run.nodes))
        else run
        for place, run in enumerate(runs)
    )


def _at_the_end(run: StartedJob, horizon: Horizon) -> StartedJob:
    """A run as it was when the day ended."""
    if run.end_unix is None or run.end_unix > horizon.end_unix:
        return StartedJob(run.job, run.start_unix, run.nodes)
    return run


def _start_key(started: StartedJob) -> tuple[object, ...]:
    return started.start_unix, *started.job.submission_key


def _sorted(jobs: Iterable[Job]) -> tuple[Job, ...]:
    return tuple(sorted(jobs, key=lambda job: job.submission_key))
