"""A day that is over, booked as it happened: read, settled, and written in the place of its plan."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner.accounting.audit import require_clean
from planner.accounting.audit_bills import require_bills
from planner.accounting.promises import promises_of
from planner.accounting.settle import settle
from planner.domain.books import Booked
from planner.domain.day_summary import DaySummary
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.plan import Deferral, Plan
from planner.domain.result import Result
from planner.domain.situation import Situation
from planner.errors import InputError
from planner.inputs.books.booked_day import Happened, Known, booked_day, of_accounts, of_table
from planner.inputs.build import Day
from planner.inputs.slurm.sacct_json import Accounts
from planner.pages.day import day_page
from planner.pages.index import write_index
from planner.planning.plan_day import PlannedDay
from planner.runs.one_day import DoneDay, require_unbooked
from planner.scenario.schema import Scenario
from planner.store.folder import held
from planner.store.last_plan import LastPlan, plan_before_books, with_last_plan
from planner.store.provenance import changed, hashes, provenance, with_books
from planner.store.read_json import read_run, read_summary
from planner.store.write_day import tables_of, write_day
from planner.store.write_tables import encoded
from planner.text_files import csv_text, reading_once

METHOD = "booked"
"""What stands where the name of a method would."""


@dataclass(frozen=True)
class Books:
    """What a day is booked from: a snapshot table, or the accounts of Slurm with what was read of them."""

    table: Path | None = None
    accounts: Accounts | None = None
    intake: Intake | None = None
    files: tuple[Path, ...] = ()


def book(
    scenario: Scenario,
    day: dt.date,
    books: Books,
    folder: Path,
    *,
    now_unix: int,
    rebook: bool = False,
    also: tuple[str, ...] = (),
    command: Sequence[str] = (),
) -> DoneDay:
    """Settle a day as it happened and write it in a folder of days; the plan of it is kept among its versions.

    Raises
    ------
    InputError
        What the source says cannot be true.
    BookedError
        The day is booked from other data, and ``rebook`` is not given.
    """
    horizon = Horizon(day, scenario.zone)
    target = folder / day.isoformat()
    began = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    with held(target):
        last = plan_before_books(folder, scenario, horizon)
        known = _known(folder, scenario, horizon, last)
        with reading_once():
            built, booked = booked_day(scenario, horizon, _happened(scenario, horizon, books, known, now_unix), known)
        planned = settled(built, booked)
        same = _same(target, planned, booked)
        if same is not None:
            write_index(target.parent.parent)  # whoever booked it may have been killed before it came to the index
            return DoneDay(day, target, same)
        if not rebook:
            require_unbooked(target)
        facts = provenance(
            scenario,
            method=METHOD,
            seed=scenario.seed,
            workers=1,
            time_limit_s=0.0,
            command=command,
            began=began,
            inputs=hashes([*scenario.files(), *books.files]),
        )
        run = with_books(facts, built.situation, _known_until(scenario, horizon, last))
        summary = write_day(planned, target, run, also, page=day_page)
        write_index(target.parent.parent)
    return DoneDay(day, target, summary, planned)


def settled(day: Day, booked: Booked) -> PlannedDay:
    """The ledger of what happened, and who waited when the day ended; InputError where it cannot be settled."""
    plan = Plan.of(day.problem, {})
    require_clean(day.problem, plan, leaves_room=True)
    ledger = settle(day.problem, plan)
    require_bills(day.problem, ledger)
    result = Result(plan, ledger, METHOD, "found", 0.0, METHOD, leaves_room=True)
    deferrals = (*(_waits(day, job) for job in day.problem.jobs), *day.rejected, *day.withdrawn)
    promises = promises_of(day.problem, plan, reason="as it happened")
    return PlannedDay(day, result, day.problem, ledger, deferrals, None, promises=promises, booked=booked)


def _waits(day: Day, job: Job) -> tuple[Job, Deferral]:
    """A job that had not started; a day on which it may not begin is none that deferred it."""
    horizon = day.problem.horizon
    is_held = job.release_unix >= horizon.end_unix
    reason = "had not started when the day ended"
    if is_held:
        reason = f"may not begin before {horizon.to_datetime(horizon.to_s(job.release_unix)).isoformat()}"
    return job, Deferral(job.id, "deferred", reason, day.situation.times_deferred.get(job.id, 0) + (not is_held))


def _happened(scenario: Scenario, horizon: Horizon, books: Books, known: Known, now_unix: int) -> Happened:
    if books.table is not None:
        return of_table(books.table, scenario, horizon, known, now_unix)
    assert books.accounts is not None
    assert books.intake is not None
    return of_accounts(books.accounts, books.intake, scenario, horizon, known)


def _known(folder: Path, scenario: Scenario, horizon: Horizon, last: LastPlan | None) -> Known:
    """What the plan of the day knows, or where there is none that of the day before."""
    if last is None:
        return Known()
    is_todays = last.horizon.day == horizon.day
    told = ("deferred", "rejected") if is_todays else ("deferred",)
    carried = with_last_plan(Situation(horizon.start_unix), folder, scenario, horizon, last)
    to_start = [each.job for each in last.schedule if each.start_unix >= horizon.start_unix]
    return Known(
        {job.id: job for job in last.jobs},
        (*to_start, *(each.job for each in last.unstarted if each.kind in told)),
        tuple(each.job for each in last.unstarted if is_todays and each.kind == "withdrawn"),
        carried.times_deferred,
        carried.site,
    )


def _known_until(scenario: Scenario, horizon: Horizon, last: LastPlan | None) -> int:
    """From when on jobs may be new to the next day: as far as the last plan knew them; without one, all may be."""
    if last is not None:
        return last.known_until_unix
    lookback_s = getattr(scenario.jobs, "lookback_s", 0)
    return 0 if isinstance(scenario.jobs.source, Path) else horizon.start_unix - lookback_s


def _same(target: Path, planned: PlannedDay, booked: Booked) -> DaySummary | None:
    """The summary of the day as it stands, if it is booked from the same data and its files are whole."""
    try:
        run, summary = read_run(target), read_summary(target)
    except InputError:
        return None
    if summary.booked is None or replace(summary.booked, planned=None, source="") != replace(booked, source=""):
        return None
    if any(changed(target, run)):
        return None
    for name, table in tables_of(planned).items():
        if (target / f"{name}.csv").read_bytes() != encoded(csv_text([table.columns, *table.rows])):
            return None
    return summary
