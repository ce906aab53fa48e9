"""A day planned from a moment on: from a snapshot of the site, or from what its last plan says is true by then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from planner.domain.conflicts import snapshot_conflicts
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.result import Trial
from planner.domain.snapshot import LeftAlone, Snapshot
from planner.errors import InputError
from planner.inputs.build import Day
from planner.inputs.jobs.read import known_jobs
from planner.inputs.replan import day_from_snapshot
from planner.inputs.slurm.site import SlurmSite
from planner.inputs.snapshots.read import read_snapshot
from planner.planning.estimates import with_estimates
from planner.planning.plan_day import plan_day
from planner.runs.one_day import DoneDay, Settings, nightly_ground_of, require_unbooked, written
from planner.scenario.schema import Scenario
from planner.slurm.journal import read_ours
from planner.slurm.wanted import JOURNAL
from planner.store.folder import held
from planner.store.last_plan import LastPlan, last_plan_of, read_last_plan
from planner.store.provenance import with_snapshot


@dataclass(frozen=True)
class Replan:
    """What is asked: from which moment, by which tables (None: by the last plan), and how many hours ahead.

    ``hours`` None plans the day of the moment alone. ``slurm`` is what Slurm said at the moment, in place of tables.
    """

    moment_unix: int
    snapshot: Path | None = None
    nodes: Path | None = None
    hours: float | None = None
    slurm: SlurmSite | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The tables, or Slurm's saved documents."""
        saved = () if self.slurm is None else self.slurm.documents.files
        return (*(path for path in (self.snapshot, self.nodes) if path is not None), *saved)


@dataclass(frozen=True)
class Replanned:
    """The written day, where the snapshot contradicts the last plan, and the jobs that it leaves alone."""

    done: DoneDay
    conflicts: tuple[str, ...]
    left_alone: tuple[LeftAlone, ...] = ()


def replan(
    settings: Settings,
    asked: Replan,
    folder: Path,
    *,
    on_trial: Callable[[Trial], None] | None = None,
    on_bound: Callable[[float], None] | None = None,
    on_step: Callable[[str], None] | None = None,
) -> Replanned:
    """Plan the day of a moment from then on, and write it in a folder of days; its last version is kept.

    BookedError when the day is booked, unless the settings say that it may be planned again.
    """
    scenario = settings.scenario
    horizon = Horizon.of_unix(asked.moment_unix, scenario.zone)
    target = folder / horizon.day.isoformat()
    facts = settings.run_facts(None, closed=False, files=asked.files)
    with held(target):
        if not settings.rebook:
            require_unbooked(target)
        if asked.snapshot is None and asked.slurm is None:
            last = last_plan_of(folder, scenario, horizon)
            snapshot, intake = carried_out(scenario, horizon, folder, last, asked.moment_unix)
            conflicts: tuple[str, ...] = ()
        else:
            snapshot, intake = _read(scenario, asked, folder)
            last = _readable(folder, scenario, horizon, intake)
            conflicts = () if last is None else _conflicts(scenario, snapshot, last)
        if last is not None:
            snapshot = with_known_promises(snapshot, last)
        snapshot = with_estimates(snapshot, scenario.cluster, scenario.rules.estimate)
        built: Day = day_from_snapshot(
            scenario,
            horizon.day,
            snapshot,
            hours=asked.hours,
            times_deferred=times_deferred_of(folder, scenario, horizon, last),
            intake=intake,
        )
        planned = plan_day(
            built,
            settings.method,
            settings.params(on_trial),
            bound_time_s=settings.bound_time_s,
            with_baselines=settings.page,
            on_bound=on_bound,
            on_step=on_step,
        )
        done = written(settings, planned, target, with_snapshot(facts, snapshot, conflicts))
    return Replanned(done, conflicts, snapshot.left_alone)


def _read(scenario: Scenario, asked: Replan, folder: Path) -> tuple[Snapshot, Intake]:
    """The snapshot by tables, or by Slurm; begin times that we have set there bind nobody."""
    if asked.slurm is not None:
        ours = read_ours(folder / JOURNAL)
        return asked.slurm.snapshot(scenario, ours.own_begin)
    assert asked.snapshot is not None
    return read_snapshot(asked.snapshot, at_unix=asked.moment_unix, scenario=scenario, nodes_path=asked.nodes)


def carried_out(
    scenario: Scenario, horizon: Horizon, folder: Path, last: LastPlan | None, moment_unix: int
) -> tuple[Snapshot, Intake]:
    """What is true at a moment if all went as the last plan said, with the jobs that were submitted since.

    Without a plan of today or yesterday nothing has started, and the jobs are those that a first day knows.
    """
    until = moment_unix + 1
    if last is None:
        nightly_ground_of(folder, scenario, horizon.day)  # refuses a gap in which work would be lost
        jobs, intake = known_jobs(scenario, horizon, until_unix=until)
        source = "the jobs submitted so far"
        return Snapshot(moment_unix, pending=jobs, outages=scenario.outages, source=source), intake
    jobs, intake = known_jobs(scenario, horizon, continues=True, since_unix=last.known_until_unix, until_unix=until)
    known = last.ids
    snapshot = last.carried_out(moment_unix, horizon, (job for job in jobs if job.id not in known))
    outages = tuple(dict.fromkeys((*snapshot.outages, *scenario.outages)))
    return replace(snapshot, outages=outages), intake


def with_known_promises(snapshot: Snapshot, last: LastPlan) -> Snapshot:
    """The same snapshot with the promises that the last plan gave."""
    given = {job.id: job.promise for job in last.jobs if job.promise is not None}
    return replace(
        snapshot,
        pending=tuple(replace(job, promise=given.get(job.id)) for job in snapshot.pending),
        started=tuple(
            replace(each, job=replace(each.job, promise=given.get(each.job.id))) for each in snapshot.started
        ),
    )


def _readable(folder: Path, scenario: Scenario, horizon: Horizon, intake: Intake) -> LastPlan | None:
    """The last plan; None where it cannot be read: a snapshot stands by itself, and the intake says so."""
    try:
        return last_plan_of(folder, scenario, horizon)
    except InputError as error:
        intake.notes.append(f"not compared with the last plan: {error}")
        return None


def _conflicts(scenario: Scenario, snapshot: Snapshot, last: LastPlan) -> tuple[str, ...]:
    """Where a snapshot contradicts the last plan; what was over before the snapshot's day is no part of it."""
    horizon = Horizon.of_unix(snapshot.moment_unix, scenario.zone)
    schedule = {
        each.job.id: (each.start_unix, each.end_unix, each.nodes)
        for each in last.schedule
        if each.end_unix is not None and each.end_unix > horizon.start_unix
    }
    found = snapshot_conflicts(
        snapshot, schedule, [job.id for job in last.deferred], node_list=scenario.cluster.node_list
    )
    return tuple(each.text for each in found)


def times_deferred_of(folder: Path, scenario: Scenario, horizon: Horizon, last: LastPlan | None) -> Mapping[str, int]:
    """On how many days before a day each job was deferred, by the plan of the day before and by the last one."""
    if last is None:
        return {}
    times = last.times_deferred(horizon)
    if last.horizon.day == horizon.day:
        before = horizon.day_before()
        written_before = folder / before.day.isoformat()
        # What is damaged there was told when the last plan was made.
        with suppress(InputError):
            if written_before.is_dir():
                times = read_last_plan(written_before, scenario, before).times_deferred(horizon) | times
    return times
