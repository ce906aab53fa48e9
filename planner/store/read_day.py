"""A written day read back: its problem and plan from the files of its folder, and the PUE table that it names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from planner import limits
from planner.accounting.settle import settle
from planner.domain.day_summary import DaySummary
from planner.domain.job import Job
from planner.domain.ledger import Ledger
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Running, executed
from planner.domain.pue_table import PueTable
from planner.domain.rates import Rates
from planner.domain.segment import Segment
from planner.domain.situation import node_outages
from planner.errors import FileFormatError, InputError
from planner.inputs.pue_csv import read_cooling
from planner.printable import one_line
from planner.store.read_json import QUOTED, REMEDY, cluster_of, made, moment_of, outages_of, read_run, read_summary
from planner.store.read_tables import REJECTED, deferred_of, number, read_rows, read_table, scheduled_of, whole
from planner.store.write_tables import COLUMNS, Table
from planner.text_files import digest

_SOLAR_W = limits.Bounds(0, 1000 * limits.SOLAR_KW.high, "W")


@dataclass(frozen=True)
class WrittenDay:
    """A day as its folder describes it: the problem and plan, and the files as they stand.

    ``happened`` is the day as it was carried out, which differs from the problem with ``execute: actual``.
    ``tables`` are ``schedule``, ``deferred`` and ``segments``; ``summary`` and ``run`` are the JSON files.
    """

    folder: Path
    problem: Problem
    plan: Plan
    happened: Problem
    tables: dict[str, Table]
    summary: DaySummary
    run: dict[str, Any]

    @property
    def decided(self) -> Problem:
        """The day whose rules the plan must keep: as it was planned, or as it was carried out under `hold`."""
        is_loop = self.summary.method == "hold" and self.summary.execute == "actual"
        return self.happened if is_loop else self.problem

    @cached_property
    def ledger(self) -> Ledger:
        """The plan settled anew; it must have passed the audit."""
        try:
            return settle(self.happened, self.plan)
        except InputError as error:
            raise _no_day(self.folder, error) from error


def read_day(folder: Path) -> WrittenDay:
    """Read a written day; InputError names the file that is missing, damaged or changed since."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the folder of a planned day, as in reports/sample/2024-06-01")
    run, summary = read_run(folder), read_summary(folder)
    scenario, cluster = run["scenario"], cluster_of(run)
    # What is booked has ended when it did: there is nothing to carry out.
    actual = scenario["rules"].get("execute") == "actual" and summary.booked is None
    table = _table(folder, run)
    tables = {name: read_table(folder, name) for name in COLUMNS}
    segments = tuple(read_rows(folder, "segments", _segment, tables["segments"]))
    scheduled = read_rows(folder, "schedule", lambda row: scheduled_of(row, cluster), tables["schedule"])
    deferred = read_rows(folder, "deferred", lambda row: deferred_of(row, cluster), tables["deferred"])
    planned = [(job, placement) for job, state, placement, _ in scheduled if state == "planned"]
    waiting = [job for job in deferred if job is not None]
    kinds = zip(tables["deferred"].column("job_id"), tables["deferred"].column("kind"), strict=True)
    moment = moment_of(run)
    now_s = 0 if moment is None else summary.horizon.to_s(moment)

    def held_until_s(job: Job, state: str, placement: Placement, end_s: int) -> int:
        still_runs = state in ("carried", "running")
        return max(placement.start_s + job.planned_s, now_s + 1) if actual and still_runs else end_s

    try:
        running = tuple(
            Running(job, placed.start_s, held_until_s(job, state, placed, end_s), placed.nodes, state == "cancelled")
            for job, state, placed, end_s in scheduled
            if state != "planned"
        )
        problem = Problem(
            horizon=summary.horizon,
            cluster=cluster,
            jobs=tuple(sorted([job for job, _ in planned] + waiting, key=lambda job: job.submission_key)),
            segments=segments,
            table=table,
            rates=_rates(run),
            running=running,
            defer=scenario["rules"]["defer"],
            now_s=now_s,
            outages=node_outages(outages_of(run), summary.horizon),
            outside=_outside(run),
            never=frozenset(job_id for job_id, kind in kinds if kind == REJECTED),
        )
        plan = Plan.of(problem, {job.id: placement for job, placement in planned})
        happened = executed(problem) if actual else problem
    except InputError as error:
        raise _no_day(folder, error) from error
    return WrittenDay(folder, problem, plan, happened, tables, summary, run)


def _outside(run: dict[str, Any]) -> tuple[tuple[int, float], ...]:
    """The temperature of the weather; earlier versions did not keep it."""
    kept = run.get("outside", {"start_s": [], "temperature_c": []})
    return tuple(zip(kept["start_s"], kept["temperature_c"], strict=False))


def _rates(run: dict[str, Any]) -> Rates:
    """The rates of a run; those of earlier versions are in its scenario."""
    if "rates" in run:
        rates: Rates = made(Rates, run["rates"])
        return rates
    scenario = run["scenario"]
    return Rates(
        eur_per_core_hour=scenario["revenue"]["eur_per_core_hour"],
        demand_eur_per_kw=scenario["demand"]["eur_per_kw"],
        demand_interval_s=scenario["demand"]["interval_s"],
        carbon_eur_per_tonne=scenario["carbon"]["eur_per_tonne"],
    )


def _no_day(folder: Path, error: InputError) -> FileFormatError:
    return FileFormatError(folder, f"its files do not make a day: {one_line(str(error), QUOTED)}", remedy=REMEDY)


def _table(folder: Path, run: dict[str, Any]) -> PueTable:
    """The PUE table that a run names, once it is the one that it read."""
    path = Path(run["scenario"]["cooling"]["table"])
    try:
        is_same = digest(path) == run["inputs"].get(path.as_posix())
    except (OSError, ValueError):  # gone, or a name that no file can have
        is_same = False
    if not is_same:
        shown = one_line(str(path), 2 * QUOTED)
        raise InputError(f"{shown}: this PUE table is gone or not the one of {folder}; restore it")
    return read_cooling(path, run["scenario"]["cooling"].get("lookup", "step"))[0]


def _given(row: dict[str, str], name: str) -> float:
    return number(row, name, limits.VALUE_IN_FILE) if name in row else 0.0


def _segment(row: dict[str, str]) -> Segment:
    start_s, end_s = whole(row, "start_s"), whole(row, "end_s")
    if end_s <= start_s:
        raise ValueError(f"end_s is {end_s}, not after start_s, which is {start_s}")
    return Segment(
        start_s=start_s,
        end_s=end_s,
        temperature_c=number(row, "temperature_c", limits.TABLE_C),
        price_eur_per_kwh=number(row, "price_eur_per_kwh", limits.VALUE_IN_FILE),
        solar_w=number(row, "solar_w", _SOLAR_W),
        carbon_g_per_kwh=number(row, "carbon_g_per_kwh", limits.G_PER_KWH_IN_FILE),
        fee_eur_per_kwh=_given(row, "fee_eur_per_kwh"),
        feed_in_eur_per_kwh=_given(row, "feed_in_eur_per_kwh"),
    )
