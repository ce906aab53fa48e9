"""One day from what is true to its folder: the one way of nightly runs, of rolling runs and of `plan now`."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planner.compiled import tell_if_missing
from planner.domain.day_summary import DaySummary
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.situation import Situation
from planner.domain.situation_check import PlannedRun, situation_conflicts
from planner.errors import BookedError, InputError
from planner.inputs.build import build
from planner.inputs.slurm.read_site import SlurmSite
from planner.inputs.snapshots import read_snapshot
from planner.limits import RUN_DAYS
from planner.machine.place import place_from
from planner.methods import LOOKING_AHEAD, Params
from planner.online.estimates import with_estimates
from planner.pages.day import day_page
from planner.pages.index import write_index
from planner.planning.compile_first import make_ready
from planner.planning.outlook import with_time_ahead
from planner.planning.plan_day import PlannedDay, plan_day
from planner.scenario.schema import Scenario
from planner.slurm.choose_changes import rules_of
from planner.slurm.journal import JOURNAL, Ours, read_ours
from planner.store.folder import held
from planner.store.provenance import hashes, provenance, with_situation
from planner.store.read_json import is_booked
from planner.store.read_last_plan import LastPlan, last_plan_of, read_last_plan, situation_of, with_last_plan
from planner.store.write_day import write_day
from planner.text_files import reading_once
from planner.units import SECONDS_PER_HOUR


@dataclass(frozen=True)
class PlanRequest:
    """Of what a day is planned, and from which moment on: its midnight, or another.

    ``nightly``: from what the day before left, or with ``fresh`` from nothing. Else by a table (``snapshot`` and
    ``nodes``), by what Slurm said (``slurm``), or by the last plan of today or yesterday. ``hours`` is how far ahead of
    the moment is planned; None: to the end of the day.
    """

    moment_unix: int
    nightly: bool = False
    fresh: bool = False
    snapshot: Path | None = None
    nodes: Path | None = None
    slurm: SlurmSite | None = None
    hours: float | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """The tables, or Slurm's saved documents."""
        saved = () if self.slurm is None else self.slurm.documents.files
        return (*(path for path in (self.snapshot, self.nodes) if path is not None), *saved)


@dataclass(frozen=True)
class DoneDay:
    """A written day: its summary, and what was planned; None where an earlier run had already written it.

    ``conflicts`` is where the situation contradicts the last plan; ``is_first``: nothing was carried over.
    """

    day: dt.date
    folder: Path
    summary: DaySummary
    planned: PlannedDay | None = None
    conflicts: tuple[str, ...] = ()
    is_first: bool = False


ANEW = "start anew with --fresh"
"""What may be done where the last plan cannot be gone on from."""

Found = tuple[Situation, Intake, tuple[str, ...]]
"""A situation with what its reader kept and dropped, and where it contradicts the last plan."""


def plan_from(scenario: Scenario, params: Params, asked: PlanRequest, folder: Path) -> DoneDay:
    """Plan the day of a moment from then on, and write it in a folder of days.

    BookedError when the day is booked, unless it may be planned again.
    """
    horizon = Horizon.of_unix(asked.moment_unix, scenario.zone)
    target = folder / horizon.day.isoformat()
    if asked.nightly:
        params.on_step("reading the day before")
        last = None if asked.fresh else nightly_ground_of(folder, scenario, horizon.day)
        return do_day(scenario, params, horizon.day, target, last)
    facts = run_facts(scenario, params)
    until_unix = None if asked.hours is None else asked.moment_unix + round(asked.hours * SECONDS_PER_HOUR)

    def find() -> Found:
        return _found(scenario, asked, folder, horizon)

    return _do(scenario, params, horizon, target, facts, find, until_unix, asked.files)


def do_day(
    scenario: Scenario, params: Params, day: dt.date, target: Path, last: LastPlan | None, *, closed: bool = False
) -> DoneDay:
    """Plan a day from what the plan of the day before left at midnight, and write its folder.

    ``closed``: no new jobs come in.
    """
    horizon = Horizon(day, scenario.zone)
    facts = run_facts(scenario, params, last, closed=closed)

    def find() -> Found:
        return *situation_of(scenario, horizon, last, closed=closed), ()

    return replace(_do(scenario, params, horizon, target, facts, find), is_first=last is None)


def _do(
    scenario: Scenario,
    params: Params,
    horizon: Horizon,
    target: Path,
    facts: dict[str, Any],
    find: Callable[[], Found],
    until_unix: int | None = None,
    files: tuple[Path, ...] = (),
) -> DoneDay:
    """Plan the day of a situation and write its folder, alone in it; ``files`` are inputs beside the scenario's."""
    with held(target):
        if not params.rebook:
            require_unbooked(target)
        tell_if_missing(place_from)
        params.on_step("reading jobs, weather and prices")
        with reading_once():
            situation, intake, conflicts = find()
            situation = with_estimates(_with_given_promises(situation), scenario.cluster, scenario.rules.estimate)
            built = build(scenario, horizon, situation, intake, until_unix)
            if params.method in LOOKING_AHEAD:
                make_ready(params.method, built.problem)  # first, since on a first run EASY is compiled beside it
                built = with_time_ahead(built)
        facts = {**facts, "inputs": hashes([*scenario.files(), *files])}
        planned = plan_day(built, params.under(scenario))
        params.on_step("writing the day")
        params.still_wanted()
        facts = with_situation(facts, situation, scenario.outages, conflicts)
        summary = write_day(planned, target, facts, params.also, page=day_page if params.page else None)
        if params.page:
            write_index(target.parent.parent)
    return DoneDay(horizon.day, target, summary, planned, conflicts)


def run_facts(
    scenario: Scenario,
    params: Params,
    last: LastPlan | None = None,
    *,
    closed: bool = False,
    inputs: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """What run.json says about a day that continues from the last plan."""
    return provenance(
        scenario,
        method=params.method,
        seed=scenario.seed,
        workers=params.worker_count,
        time_limit_s=params.time_limit_s,
        command=params.command,
        began=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        engine=params.engine,
        iterations=params.iterations,
        continues=None if last is None else last.mark,
        closed=closed,
        inputs=inputs,
    )


def _found(scenario: Scenario, asked: PlanRequest, folder: Path, day: Horizon) -> Found:
    """What is true at a moment: by tables, by Slurm, or by the last plan."""
    if asked.snapshot is None and asked.slurm is None:
        with _anew_by_day(day.day):
            last = last_plan_of(folder, scenario, day)
            if last is None:
                nightly_ground_of(folder, scenario, day.day)  # refuses a gap in which work would be lost
        situation, intake = situation_of(scenario, day, last, asked.moment_unix)
        conflicts: tuple[str, ...] = ()
    else:
        situation, intake = _read(scenario, asked, folder)
        last = _remembered_plan(scenario, folder, day, intake)
        conflicts = _conflicts(scenario, situation, last, day, intake)
    if last is not None:
        situation = with_last_plan(situation, folder, scenario, day, last)
    if asked.slurm is not None:
        situation = _as_promised(situation, read_ours(folder / JOURNAL))
    return situation, intake, conflicts


@contextmanager
def _anew_by_day(day: dt.date) -> Iterator[None]:
    """From a moment on nothing can start anew: what is said of the last plan names the command of the day that can."""
    try:
        yield
    except InputError as error:
        if ANEW not in str(error):
            raise
        raise InputError(str(error).replace(ANEW, f"start anew with plan --day {day} --fresh")) from error


def _as_promised(situation: Situation, ours: Ours) -> Situation:
    """A situation of Slurm with the promises of the journal: what was planned and never sent binds nobody."""

    def promised(job: Job) -> Job:
        return replace(job, promise=ours.promise(job.id, job.submit_unix))

    return replace(
        situation,
        pending=tuple(promised(job) for job in situation.pending),
        started=tuple(replace(each, job=promised(each.job)) for each in situation.started),
    )


def _with_given_promises(situation: Situation) -> Situation:
    """The situation without promises that count from a moment to come.

    That moment was foreseen by the times that running jobs ask for: the scheduler may start the job sooner, and what
    it may be held for counts from there.
    """

    def given(job: Job) -> Job:
        is_to_come = job.promise is not None and job.promise.reference_unix > situation.moment_unix
        return replace(job, promise=None) if is_to_come else job

    return replace(situation, pending=tuple(given(job) for job in situation.pending))


def _read(scenario: Scenario, asked: PlanRequest, folder: Path) -> tuple[Situation, Intake]:
    """The situation by tables, or by Slurm; begin times that we have set there bind nobody."""
    if asked.slurm is not None:
        ours, rules = read_ours(folder / JOURNAL), rules_of(scenario.as_dict())
        return asked.slurm.snapshot(scenario, ours.own_begin, rules.may_hold)
    assert asked.snapshot is not None
    return read_snapshot(asked.snapshot, at_unix=asked.moment_unix, scenario=scenario, nodes_path=asked.nodes)


def _remembered_plan(scenario: Scenario, folder: Path, day: Horizon, intake: Intake) -> LastPlan | None:
    """The last plan before a moment, also one of days ago or of another machine: what it promised still stands.

    None where there is none, or where it cannot be read: a snapshot stands by itself, and the intake says so.
    """
    try:
        with _anew_by_day(day.day):
            last = last_plan_of(folder, scenario, day, same_machine=False)
            earlier = last_before(folder, day.day) if last is None else None
            if earlier is not None:
                last = read_last_plan(
                    folder / earlier.isoformat(), scenario, Horizon(earlier, scenario.zone), same_machine=False
                )
        if earlier is not None:
            intake.alerts.append(f"the last plan is that of {earlier}: promises, peak and battery are as it left them")
        return last
    except InputError as error:
        intake.alerts.append(f"without what the last plan promised, and its peak and battery: {error}")
        return None


def _conflicts(
    scenario: Scenario, situation: Situation, last: LastPlan | None, day: Horizon, intake: Intake
) -> tuple[str, ...]:
    """Where a situation contradicts the last plan; what was over before its day is no part of it.

    A plan of days ago, or of other nodes, says nothing of now.
    """
    if last is None or last.horizon.day < day.day_before().day:
        return ()
    if not last.cluster.has_nodes_of(scenario.cluster):
        intake.alerts.append(f"not compared with the plan of {last.horizon.day}, which is of other nodes")
        return ()
    schedule = {
        each.job.id: PlannedRun(each.start_unix, each.end_unix, each.nodes)
        for each in last.schedule
        if each.end_unix is not None and each.end_unix > day.start_unix
    }
    return tuple(situation_conflicts(situation, schedule, [job.id for job in last.deferred], scenario.cluster))


def require_unbooked(target: Path, why: str = "") -> None:
    """BookedError when the folder of a day holds what really happened, which no plan must take the place of.

    ``why`` it should be written anew is told, if anything is wrong with it.
    """
    if is_booked(target):
        told = f"; {why}" if why else "; to write it anew all the same, give --rebook"
        raise BookedError(f"{target} is booked; nothing is changed{told}")


def previous_of(folder: Path, scenario: Scenario, day: dt.date) -> LastPlan | None:
    """The plan of the day before in a folder of days; None when there is no result of it."""
    before = Horizon(day, scenario.zone).day_before()
    written = folder / before.day.isoformat()
    try:
        is_there = written.exists()
    except OSError:  # a name too long, say: writing there will report it
        return None
    return read_last_plan(written, scenario, before) if is_there else None


def ground_of(folder: Path, scenario: Scenario, day: dt.date) -> LastPlan | None:
    """What a day continues from; InputError when there are earlier days, but not the one before."""
    previous, earlier = previous_of(folder, scenario, day), last_before(folder, day)
    if previous is None and earlier is not None:
        after, before = earlier + dt.timedelta(days=1), day - dt.timedelta(days=1)
        raise InputError(
            f"{folder} has a result of {earlier} and none of {before}: what runs or waits would be lost;"
            f" plan run --from {after} --to {before} first, or {ANEW}"
        )
    return previous


def nightly_ground_of(folder: Path, scenario: Scenario, day: dt.date) -> LastPlan | None:
    """What one day by itself continues from: the same, but the sample's made-up jobs may begin anew after a gap."""
    is_sample = not isinstance(scenario.jobs.source, Path)
    return (previous_of if is_sample else ground_of)(folder, scenario, day)


def last_before(folder: Path, day: dt.date) -> dt.date | None:
    """The last day before a day that has a result in a folder of days."""
    found = []
    try:
        names = [path.name for path in folder.glob("*-*-*")]
    except OSError:  # a name too long, say: writing there will report it
        return None
    for name in names:
        try:
            found.append(dt.date.fromisoformat(name))
        except ValueError:
            continue
    return max((each for each in found if each < day), default=None)


def require_order(first: dt.date, last: dt.date) -> None:
    """InputError unless the first day comes before the last or is the same."""
    if last < first:
        raise InputError(f"the days run from {first} to {last}, backwards; give the earlier one with --from")
    RUN_DAYS.require(f"the number of days from {first} to {last}", (last - first).days + 1)
