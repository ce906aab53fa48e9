"""What a month would have cost with its jobs held for cheaper hours: as it ran, under EASY, and with promises of hours.

The jobs are those of Slurm's accounts or of a table, the machine is the one that they show. All replays have the real
runtimes and the same prices and weather; EASY and holds expect the times that jobs asked for.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from planner.domain.cluster import CORES
from planner.domain.columns import Ints
from planner.domain.horizon import Horizon
from planner.domain.intake import Intake
from planner.domain.ledger import Totals
from planner.domain.pue_table import PueTable
from planner.domain.waits import Waits
from planner.errors import CoverageError, InputError
from planner.inputs.books.month_that_ran import RanMonth
from planner.inputs.build import frame
from planner.inputs.pue_csv import pue_table_text, read_cooling
from planner.inputs.traces import Source, cluster_trace
from planner.limits import MONTH_DAYS
from planner.metrics import METRICS
from planner.online.audit_replay import require_sound
from planner.online.holding import NO_HOLDING
from planner.online.policies import policy_named
from planner.online.replay import Replay, make_ready, replay
from planner.pages.savings import savings_page
from planner.places import full_path, shipped_folder
from planner.planning.hold_settings import holding_of_trace
from planner.runs.bounds_over_days import limit_beside
from planner.runs.compare_results import Row
from planner.runs.measured_replays import cpu_now_s, outcome_of
from planner.runs.replay_ledger import as_they_ran, settle_window, sum_of_days
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.store.folder import held, put, renewed, write_rows
from planner.text_files import encoded
from planner.units import SECONDS_PER_HOUR, rounded

HOURS = (2, 6, 24)
LIMIT_SLOTS = 200
"""Slots of the limit with a price of their own, about."""

AS_IT_RAN = "as it ran"
_ENDINGS = re.compile(r"(\.(?:txt|csv|json|parquet|gz|xz))+$", re.IGNORECASE)
Settled = list[tuple[dt.date, Totals]]
FIGURES = ("energy_cost_eur", "it_kwh", "cooling_kwh", "carbon_kg")

CARBON = ("carbon_kg", "saved_carbon_kg")
"""Figures that are not known unless the CO2 of electricity is given."""


@dataclass(frozen=True)
class SavingsInputs:
    """What a month is settled with; ``pue`` is a constant or a table, None: the shipped table of air cooling."""

    prices: Path
    price_unit: str = "EUR/MWh"
    weather: Path | None = None
    pue: float | Path | None = None
    carbon: float | Path | None = None
    zone: str = "UTC"
    limit_time_s: float = 10.0


@dataclass(frozen=True)
class Savings:
    """Where the files are, and all of ``savings.json``: the answer, the rows of the runs, what is assumed."""

    folder: Path
    content: dict[str, Any]


def month_savings(
    month: RanMonth,
    given: SavingsInputs,
    out: Path,
    *,
    hours: Sequence[int],
    on_step: Callable[[str], None],
) -> Savings:
    """Replay a month under EASY and with jobs held, settle it, and write tables and page below ``out``."""
    name = _ENDINGS.sub("", Path(month.source).name).lstrip(".") or "month"
    folder = full_path(out) / "savings" / name
    with held(folder), renewed(folder) as fresh:
        on_step("reading prices and weather")
        table, cooled = _cooling(month, given)
        put(
            fresh / "pue.csv", encoded(pue_table_text(table, "Cooling energy per unit of IT energy, for plan savings."))
        )
        scenario = _scenario(month, given, fresh / "pue.csv")
        rows, first = _rows(month, given, scenario, hours, on_step), _first_day(month, scenario)
        most_days = max(row["days"] for row in rows)
        unknown = (_days_not_known(scenario, first.day, most_days), most_days)
        about = {
            "source": month.source,
            "answer": _answer(rows),
            "runs": rows,
            "assumed": [*month.assumed, cooled, *_assumed(month, given, unknown)],
            "jobs": len(month.jobs),
            "cores": month.cores,
            "dropped": dict(month.dropped),
            "days": rows[0]["days"],
        }
        write_rows(rows, fresh / "savings.csv")
        put(fresh / "savings.json", encoded(json.dumps(about, indent=2, ensure_ascii=False) + "\n"))
        put(fresh / "savings.html", encoded(savings_page(about)))
    return Savings(folder, about)


def _first_day(month: RanMonth, scenario: Scenario) -> Horizon:
    first_unix = min(month.start_unix) if month.start_unix is not None else month.jobs[0].submit_unix
    return Horizon.of_unix(first_unix, scenario.zone)


def _rows(
    month: RanMonth, given: SavingsInputs, scenario: Scenario, hours: Sequence[int], on_step: Callable[[str], None]
) -> list[Row]:
    first = _first_day(month, scenario)
    # Who was submitted before the first start waits at its midnight: the time before is not the month's.
    jobs = [replace(job, submit_unix=max(job.submit_unix, first.start_unix)) for job in month.jobs]
    intake = Intake(month.source)
    source = cluster_trace(jobs, scenario, intake, month.source, origin_unix=first.start_unix)
    if intake.dropped.total():
        widest = max(job.total(CORES) for job in jobs)
        raise InputError(
            f"{month.source}: {intake.dropped.total():,} jobs are wider than the machine of {month.cores:,} cores, up"
            f" to {widest:,.0f}; give the size of the machine that they ran on with --cores, or leave it out"
        )
    MONTH_DAYS.require(f"{month.source}: the days of its jobs", int(source.trace.submit_s[-1]) // 86_400)
    source = replace(source, jobs=as_they_ran(source.jobs, source.trace))
    rows: list[Row] = []
    easy: Replay | None = None
    days_of_easy: Settled = []
    for each in sorted({0, *hours}):
        on_step(f"held for up to {each} h" if each else "EASY")
        began = cpu_now_s()
        run = _replayed(source, scenario, each)
        cpu_s = cpu_now_s() - began
        if easy is None:
            easy = run
            if month.start_unix is not None:
                ran = _as_it_ran(month, source, run, first)
                settled = _settled(scenario, source, ran, first.day)
                rows.append(_row(AS_IT_RAN, source, ran, settled, scenario.zone, None))
        settled = _settled(scenario, source, run, first.day, 0 if each else max(hours, default=0))
        if not each:
            days_of_easy = settled
        row = _row(f"held up to {each} h" if each else "EASY", source, run, settled, scenario.zone, each)
        row["cpu_s"] = round(cpu_s, 3)
        if each:
            on_step(f"at most possible within {each} h")
            row["limit_eur"] = _limit(scenario, source, easy, each, days_of_easy, given.limit_time_s)
        rows.append(row)
    base = next(row for row in rows if row["max_delay_h"] == 0)
    made = [_beside(row, base) for row in rows]
    return made if given.carbon is not None else [row | dict.fromkeys(CARBON) for row in made]


def _replayed(source: Source, scenario: Scenario, hours: int) -> Replay:
    policy = policy_named("hold" if hours else "easy")
    promised = scenario.model_copy(update={"rules": scenario.rules.model_copy(update={"max_delay_s": hours * 3600})})
    make_ready(policy, lambda trace: trace.requested_s)
    holding = holding_of_trace(promised, source.trace) if hours else NO_HOLDING
    found = replay(source.trace, policy, source.trace.requested_s, holding=holding)
    require_sound(found)
    return found


def _as_it_ran(month: RanMonth, source: Source, like: Replay, first: Horizon) -> Replay:
    """The month with its real starts, in the order of the trace."""
    assert month.start_unix is not None
    start = dict(zip((job.id for job in month.jobs), month.start_unix, strict=True))
    start_s: Ints = np.array([start[job.id] - first.start_unix for job in source.jobs], dtype=np.int64)
    return replace(like, start_s=start_s)


def _days(run: Replay, first: dt.date, zone: str, hours: int = 0) -> int:
    """How many days a replay takes from the first on, and some hours more."""
    last_unix = int(run.end_s.max()) + hours * SECONDS_PER_HOUR + Horizon(first, zone).start_unix - 1
    return (Horizon.of_unix(last_unix, zone).day - first).days + 1


def _settled(scenario: Scenario, source: Source, run: Replay, first: dt.date, hours: int = 0) -> Settled:
    days = _days(run, first, scenario.zone, hours)
    return settle_window(scenario, source.jobs, run, first_day=first, days=days, repeats=True)


def _row(
    name: str,
    source: Source,
    run: Replay,
    settled: Settled,
    zone: str,
    hours: int | None,
) -> Row:
    days = _days(run, settled[0][0], zone)
    totals = sum_of_days(settled[:days])
    waits = Waits.of(source.trace.submit_s, run.start_s, int(run.end_s.max()) + 1)
    outcome = outcome_of(run) if hours else None
    return {
        "run": name,
        "max_delay_h": hours,
        "jobs": len(source.jobs),
        "days": days,
        **{key: rounded(float(totals[key])) for key in FIGURES},
        "limit_eur": None,
        "mean_wait_s": waits.mean_s,
        "wait95_s": waits.p95_s,
        "longest_wait_s": waits.longest_s,
        "held_jobs": None if outcome is None else int(METRICS["held"].of(outcome)),
        "longest_hold_s": None if outcome is None else float(np.nan_to_num(METRICS["max-hold"].of(outcome))),
        "cpu_s": None,
    }


def _limit(
    scenario: Scenario,
    source: Source,
    easy: Replay,
    hours: int,
    settled: Settled,
    time_s: float,
) -> float:
    delay_s = hours * SECONDS_PER_HOUR
    slots = math.ceil((int(easy.end_s.max()) + delay_s) / (LIMIT_SLOTS * SECONDS_PER_HOUR))
    found = limit_beside(
        scenario,
        source.jobs,
        easy,
        delay_s,
        first_day=settled[0][0],
        time_limit_s=time_s,
        slot_s=SECONDS_PER_HOUR * max(1, slots),
        repeats=True,
        settled=settled,
    )
    return rounded(max(0.0, found.saved_eur))


def _beside(row: Row, base: Row) -> Row:
    """A row with what it saves against EASY, and its share of what is possible."""
    saved = base["energy_cost_eur"] - row["energy_cost_eur"]
    cost = base["energy_cost_eur"]
    limit = row["limit_eur"]
    return row | {
        "saved_eur": rounded(saved),
        "saved_percent": rounded(100 * saved / abs(cost)) if cost else None,
        "limit_percent": None if limit is None or not cost else rounded(100 * limit / abs(cost)),
        "saved_carbon_kg": rounded(base["carbon_kg"] - row["carbon_kg"]),
        "wait_more_s": rounded(row["mean_wait_s"] - base["mean_wait_s"]),
    }


def _answer(rows: Sequence[Row]) -> str:
    base = next(row for row in rows if row["max_delay_h"] == 0)
    digits = 2 if base["energy_cost_eur"] < 1000 else 0

    def eur(row: Row, name: str) -> str:
        percent = row[f"{name}_percent"]
        return f"{row[f'{name}_eur']:,.{digits}f} EUR" + ("" if percent is None else f" ({percent:.1f} %)")

    held_rows = [row for row in rows if row["max_delay_h"]]
    told = ", ".join(f"{eur(row, 'saved')} held for up to {row['max_delay_h']} h" for row in held_rows)
    most = max(held_rows, key=lambda row: row["max_delay_h"])
    return (
        f"Of {base['energy_cost_eur']:,.{digits}f} EUR for energy, holding jobs for cheaper hours would have saved"
        f" {told};"
        f" at most {eur(most, 'limit')} can be saved within {most['max_delay_h']} h of each job's start, with all known"
        " ahead."
    )


def _cooling(month: RanMonth, given: SavingsInputs) -> tuple[PueTable, str]:
    """The PUE table, and what it is in words."""
    full_w = round(month.full_w)
    if isinstance(given.pue, Path):
        return read_cooling(given.pue, "step")[0], f"Cooling by the table {given.pue}"
    if given.pue is None and given.weather is not None:
        air, _ = read_cooling(shipped_folder() / "tables" / "air.csv", "step")
        words = (
            f"Cooling by outside air, as the shipped table has it, for a machine of {full_w / 1000:,.0f} kW when full"
        )
        return air.stretched(full_w), f"{words}; give --pue a figure or your own table"
    pue = 1.4 if given.pue is None else float(given.pue)
    if not 1 <= pue <= 5:
        raise InputError(f"--pue is {pue:g}; it must be from 1 to 5, or a table")
    flat = PueTable("constant", 0, full_w, -60.0, 60.0, np.full((2, 3), round(pue - 1, 6)), clamp=True)
    return flat, f"PUE {pue:g} at all times" + ("" if given.pue is not None else "; give --pue yours")


def _scenario(month: RanMonth, given: SavingsInputs, table: Path) -> Scenario:
    settings = [
        f"zone={given.zone}",
        "cluster.classes.gpu=null",
        "cluster.classes.cpu.count=1",
        f"cluster.classes.cpu.capacity.cores={month.cores}",
        "cluster.classes.cpu.capacity.memory_gb=null",
        "tariff.kind=hourly",
        f"tariff.file={full_path(given.prices)}",
        f"tariff.unit={given.price_unit}",
        f"tariff.zone={given.zone}",
        f"cooling.table={table}",
        "rules.execute=actual",
    ]
    if given.weather is not None:
        settings.append(f"weather.source={full_path(given.weather)}")
    else:
        settings += ["weather.source=constant", "weather.temperature_c=15"]
    if isinstance(given.carbon, Path):
        settings += [f"carbon.file={full_path(given.carbon)}"]
    elif given.carbon is not None:
        settings += [f"carbon.g_per_kwh={given.carbon}"]
    return load_scenario("sample", folders=[shipped_folder() / "scenarios"], overrides=tuple(settings))


def _days_not_known(scenario: Scenario, first: dt.date, days: int) -> int:
    """How many of so many days come after the end of the prices or of the weather."""
    for ahead in range(days):
        try:
            frame(scenario, Horizon(first + dt.timedelta(days=ahead), scenario.zone))
        except CoverageError as error:
            if error.is_end:
                return days - ahead
            raise
    return 0


def _assumed(month: RanMonth, given: SavingsInputs, unknown: tuple[int, int]) -> list[str]:
    left = [f"{count:,} jobs left out: {reason}" for reason, count in month.dropped.items()]
    carbon = "CO2 by the intensity given" if given.carbon is not None else "CO2 is not told: give --carbon"
    return [
        f"Local times are those of {given.zone}; prices are in {given.price_unit}; {carbon}",
        *(
            [
                f"{unknown[0]:,} of {unknown[1]:,} days come after the end of the prices or of the weather: each is"
                " taken to be like the last day that is known"
            ]
            if unknown[0]
            else []
        ),
        "Jobs submitted before the first start wait from its midnight on; memory, GPUs, own begin times and"
        " dependencies are left out, and so is what empty nodes draw: it is the same in every row",
        "EASY and holds expect the times that jobs asked for, and run as long as they really did; what they save is"
        " against EASY on the same machine, not against the month as it ran, whose scheduler had other rules",
        *left,
    ]
