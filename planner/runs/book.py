"""A day that is over, booked as it happened: what sacct or a table says of it, settled, in the place of its plan."""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from planner.accounting.audit import require_bills, require_clean
from planner.accounting.promises import promises_of
from planner.accounting.settle import settle
from planner.domain.day_summary import Booked, DaySummary
from planner.domain.horizon import Horizon, zone_named
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.plan import Deferral, Plan
from planner.domain.result import Result
from planner.domain.situation import Situation
from planner.errors import FileFormatError, InputError, SlurmError
from planner.inputs.books.booked_day import Happened, Known, booked_day, of_accounts, of_table, require_over
from planner.inputs.build import Day
from planner.inputs.slurm.json_document import DocumentAnswer
from planner.inputs.slurm.node_classes import SlurmMachine, machine_of
from planner.inputs.slurm.nodes_reservations import read_nodes
from planner.inputs.slurm.sacct_json import Accounts, read_accounting
from planner.inputs.slurm.sacct_text import read_accounts
from planner.inputs.slurm.saved_folder import read_saved
from planner.pages.day import day_page
from planner.pages.index import write_index
from planner.planning.plan_day import PlannedDay
from planner.runs.check_request import open_scenario, parse_day
from planner.runs.one_day import DoneDay, require_unbooked
from planner.scenario.cluster_slurm import SlurmSection
from planner.scenario.schema import Scenario
from planner.slurm.commands import Slurm, ask_nodes
from planner.store.folder import held
from planner.store.month_peak import charge_remark, with_peak_before, wrongly_charged
from planner.store.provenance import changed, hashes, provenance, with_books
from planner.store.read_json import cluster_of, read_run, read_summary
from planner.store.read_last_plan import LastPlan, plan_before_books, with_last_plan
from planner.store.write_day import require_formats, tables_of, write_day
from planner.text_files import csv_text, encoded, reading_once

METHOD = "booked"
"""What stands where the name of a method would."""


@dataclass(frozen=True)
class Books:
    """What a day is booked from: a snapshot table, or the accounts of Slurm with what was read of them."""

    table: Path | None = None
    accounts: Accounts | None = None
    intake: Intake | None = None
    files: tuple[Path, ...] = ()


def book_asked(
    day: str | dt.date,
    scenario: str | Path | None = None,
    settings: Sequence[str] = (),
    *,
    sacct: Path | None = None,
    table: Path | None = None,
    out: Path = Path("reports"),
    also: Sequence[str] = (),
    rebook: bool = False,
    command: Sequence[str] = (),
    on_remark: Callable[[str], None] = lambda line: None,
) -> DoneDay:
    """Book a day of a scenario from what sacct wrote, from a table, or from Slurm's accounts.

    ``on_remark`` is told in a line which days of the month are charged from a peak that has changed.
    """
    if sacct is not None and table is not None:
        raise InputError("--sacct and --table both say what ran; leave one of them out")
    require_formats(tuple(also))
    now_unix = int(time.time())
    chosen = open_scenario(scenario, settings, slurm=True)
    wanted = parse_day(day, chosen.zone)
    horizon = Horizon(wanted, chosen.zone)
    require_over(horizon, now_unix)
    if table is not None:
        books = Books(table=table, files=(table,))
    else:
        books = live_books(horizon, Slurm()) if sacct is None else saved_books(sacct, chosen)
    folder = out / chosen.name
    chosen = with_cluster(chosen, folder, horizon, Slurm())
    done = _book(chosen, wanted, books, folder, now_unix=now_unix, rebook=rebook, also=tuple(also), command=command)
    if remark := charge_remark(wrongly_charged(folder, wanted)):
        on_remark(remark)
    return done


def _book(
    scenario: Scenario,
    day: dt.date,
    books: Books,
    folder: Path,
    *,
    now_unix: int,
    rebook: bool,
    also: tuple[str, ...],
    command: Sequence[str],
) -> DoneDay:
    """Settle a day as it happened and write it in a folder of days; the plan of it is kept among its versions.

    BookedError when the day is booked from other data, unless ``rebook``.
    """
    horizon = Horizon(day, scenario.zone)
    target = folder / day.isoformat()
    began = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
    with held(target):
        last = plan_before_books(folder, scenario, horizon)
        known = _known(folder, scenario, horizon, last)
        known = replace(known, site=with_peak_before(known.site, folder, day))
        with reading_once():
            built, booked = booked_day(scenario, horizon, _happened(scenario, horizon, books, known, now_unix), known)
        planned = settled(built, booked)
        same = _same(target, planned, booked)
        if same is not None:
            write_index(target.parent.parent)  # whoever booked it may have been killed before it came to the index
            return DoneDay(day, target, same)
        if not rebook:
            require_unbooked(target, charge_remark([each for each in wrongly_charged(folder, day) if each == day]))
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
    if any(changed(target, run)) or summary.day in wrongly_charged(target.parent, summary.day):
        return None
    for name, table in tables_of(planned).items():
        if (target / f"{name}.csv").read_bytes() != encoded(csv_text([table.columns, *table.rows])):
            return None
    return summary


def saved_books(path: Path, scenario: Scenario) -> Books:
    """The books that a file with the output of ``sacct --json`` or ``sacct --parsable2`` holds."""
    accounts, repaired = read_accounts(path, zone_named(scenario.zone))
    return Books(accounts=accounts, intake=Intake(str(path), repaired=repaired), files=(path,))


def live_books(horizon: Horizon, slurm: Slurm) -> Books:
    """The books that Slurm's accounts hold now; SlurmError where they cannot be asked."""
    try:
        answer = ask_accounts(horizon, slurm)
    except SlurmError as error:
        raise SlurmError(f"{error}; or give what ran with --sacct or --table") from error
    return Books(accounts=read_accounting(answer), intake=Intake("Slurm"))


def ask_accounts(horizon: Horizon, slurm: Slurm) -> DocumentAnswer:
    """What Slurm's accounts have of a day: every job that waited or ran on it."""
    first, last = (
        dt.datetime.fromtimestamp(unix, tz=dt.UTC).strftime("%Y-%m-%dT%H:%M:%S")
        for unix in (horizon.start_unix, horizon.end_unix)
    )
    words = ("--allusers", "--duplicates", f"--starttime={first}", f"--endtime={last}")
    return slurm.ask_json("sacct", *words)


def with_cluster(scenario: Scenario, folder: Path, horizon: Horizon, slurm: Slurm) -> Scenario:
    """The scenario with the cluster that the day was planned on; one whose nodes are Slurm's own has none itself."""
    if scenario.jobs.source != "slurm":
        return scenario
    try:
        return scenario.model_copy(update={"cluster": cluster_of(read_run(folder / horizon.day.isoformat()))})
    except FileFormatError:  # it was not planned, or cannot be read
        pass
    machine = slurm_machine(scenario.slurm, slurm)
    cluster = machine.cluster(scenario.cluster, scenario.slurm)
    return scenario.model_copy(update={"cluster": cluster})


def slurm_machine(chosen: SlurmSection, slurm: Slurm) -> SlurmMachine:
    """The nodes that Slurm has now, or had when its documents were saved."""
    nodes = read_nodes(ask_nodes(slurm)) if chosen.is_live else read_saved(chosen.documents).nodes()
    return machine_of(nodes, chosen.partitions)
