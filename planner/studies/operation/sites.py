"""The sites of the study: machine, jobs, tariff and load of a group, as a scenario and a trace."""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from planner.domain.horizon import Horizon
from planner.errors import OutputError
from planner.inputs.timed_csv import read_timed_csv
from planner.inputs.traces import Source, cluster_trace, read_window
from planner.places import shipped_folder
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.store.folder import alone_in, put
from planner.studies.curie23_site import TRACE, TRACE_CORES, data_folder
from planner.studies.operation.cells import AS_IS, CURIE, Cell, SiteGroup
from planner.text_files import csv_text

BEFORE = dt.timedelta(days=3)
AFTER = dt.timedelta(days=200)
"""How long before and after the days of submission values are kept: a replay ends later than they do."""


def write_moved(
    source: Path,
    target: Path,
    *,
    column: str,
    first: dt.date,
    last: dt.date,
    years: int = 0,
    zone: str | None = None,
    factor: float = 1.0,
) -> Path:
    """Write the values of a file around some days, as they were so many years later.

    Weekdays do not stay what they were. A day that the other year does not have is a hole.

    Parameters
    ----------
    source, target
        The file, and the CSV to write.
    column
        What the name of the value column begins with; of several, the one with "LCA" in it is taken.
    first, last
        The days of submission.
    years
        Years to add to those of the days to come to the year of the values.
    zone
        Zone of times that the file gives without one.
    factor
        On every value, such as an exchange rate.
    """
    table = read_timed_csv(source, zone=zone)
    samples = table.samples(table.column_starting(column, prefer="lca"), column)
    low, high = (dt.datetime.combine(day, dt.time(), tzinfo=dt.UTC) for day in (first - BEFORE, last + AFTER))
    rows: list[list[object]] = [["time (UTC)", column]]
    for unix, value in zip(samples.starts_unix.tolist(), samples.values.tolist(), strict=True):
        moment = _moved(dt.datetime.fromtimestamp(unix, tz=dt.UTC), -years)
        if moment is not None and low <= moment < high and np.isfinite(value):
            rows.append([f"{moment:%Y-%m-%d %H:%M:%S}", round(value * factor, 6)])
    content = csv_text(rows).encode()
    try:
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            with alone_in(target.parent):
                put(target, content)
    except OSError as error:
        raise OutputError(f"{target}: cannot be written: {error.strerror or error}") from error
    return target


def _moved(moment: dt.datetime, years: int) -> dt.datetime | None:
    """The same day and hour of another year; None for 29 February where that year has none."""
    try:
        return moment.replace(year=moment.year + years)
    except ValueError:
        return None


CORES = 32
"""Cores of a node of the machine that stands in for Curie."""
EUR_PER_USD = {2021: 1 / 1.1827, 2022: 1 / 1.0530}
"""Mean rates of the European Central Bank for these years; the German prices are in USD."""


@dataclass(frozen=True)
class Days:
    """Days of submission of a site."""

    first: dt.date
    last: dt.date

    def __len__(self) -> int:
        return (self.last - self.first).days + 1


CURIE_DAYS = Days(dt.date(2012, 6, 11), dt.date(2012, 6, 15))
SAMPLE_DAYS = Days(dt.date(2024, 6, 3), dt.date(2024, 6, 9))


@dataclass(frozen=True)
class Ground:
    """What the study stands on.

    ``data`` is the folder of traces and prices, ``trace`` a trace in place of Curie's there, ``tables`` where prices
    that were moved to other years are kept.
    """

    tables: Path
    data: Path | None = None
    trace: Path | None = None
    trace_cores: int = TRACE_CORES
    nodes: int = 300
    curie_days: Days = CURIE_DAYS
    sample_days: Days = SAMPLE_DAYS

    def days_of(self, site: str) -> Days:
        """Days of submission of a site."""
        return self.curie_days if site == CURIE else self.sample_days


def scenario_of(ground: Ground, cell: Cell) -> Scenario:
    """The scenario of a cell: site, tariff, and how long jobs may be held."""
    return _scenario(ground, cell.group.site, cell.group.tariff, _settings(cell))


def scenario_of_group(ground: Ground, group: SiteGroup) -> Scenario:
    """The scenario on which all policies of a group are settled."""
    return _scenario(ground, group.site, group.tariff, ())


@lru_cache(maxsize=2)
def source_of(ground: Ground, site: str, load: str) -> Source:
    """The jobs of a site at a load, from the midnight of the first day on; tariffs do not change them."""
    days = ground.days_of(site)
    # Jobs do not depend on the tariff, and the flat one needs no file.
    scenario = _scenario(ground, site, "flat", ())
    source = read_window(scenario, days.first, days.last)
    return source if load == AS_IS else _at_load(source, scenario, days, float(load))


def load_of(source: Source, scenario: Scenario, days: Days) -> float:
    """Work submitted as a part of what the machine can do on the days of submission."""
    trace = source.trace
    return float(trace.processors_of @ trace.runtime_s) / (trace.machine.processors * seconds_of(days, scenario.zone))


def seconds_of(days: Days, zone: str) -> int:
    """Length of some calendar days [s]."""
    return Horizon(days.last, zone).end_unix - Horizon(days.first, zone).start_unix


def _at_load(source: Source, scenario: Scenario, days: Days, load: float) -> Source:
    """The same jobs with real and requested times all longer or shorter by one factor."""
    factor = load / load_of(source, scenario, days)
    trace = source.trace

    def scaled(seconds: int) -> int:
        return max(1, math.ceil(seconds * factor))

    jobs = [
        replace(job, runtime_s=scaled(runtime_s), requested_s=scaled(requested_s))
        for job, runtime_s, requested_s in zip(
            source.jobs, trace.runtime_s.tolist(), trace.requested_s.tolist(), strict=True
        )
    ]
    return cluster_trace(
        jobs, scenario, replace(source.intake), f"{trace.source} at load {load:g}", origin_unix=trace.origin_unix
    )


def _settings(cell: Cell) -> tuple[str, ...]:
    if cell.max_delay_h is None:
        return ("rules.execute=actual",)
    return (f"rules.max_delay={cell.max_delay_h}h", f"rules.estimate={cell.estimate}")


@lru_cache(maxsize=64)
def _scenario(ground: Ground, site: str, tariff: str, settings: tuple[str, ...]) -> Scenario:
    folders = [shipped_folder() / "scenarios"]
    if site != CURIE:
        name = "hourly-tariff" if tariff == "bands" else "sample"
        return load_scenario(name, folders=folders, overrides=settings)
    trace = ground.trace or data_folder(ground.data) / TRACE
    machine = (
        f"jobs.source={trace}",
        f"jobs.core_scale={ground.nodes * CORES}/{ground.trace_cores}",
        "zone=UTC",
        "cluster.classes.gpu=null",
        f"cluster.classes.cpu.count={ground.nodes}",
    )
    return load_scenario("sample", folders=folders, overrides=(*machine, *_tariff(ground, tariff), *settings))


def _tariff(ground: Ground, tariff: str) -> tuple[str, ...]:
    """Hourly prices, from files that hold only what the study needs: each day reads its file anew."""
    if tariff == "flat":
        return ()
    days, folder = ground.curie_days, data_folder(ground.data)
    country, year = tariff.split("-")
    table = ground.tables / f"{tariff}-{days.first}-{days.last}.csv"
    if country == "fr":
        write_moved(
            folder / "prices" / "FR.csv.gz",
            table,
            column="price",
            first=days.first,
            last=days.last,
            zone="Europe/Paris",
        )
        return _hourly(table)
    years = int(year) - days.first.year
    write_moved(
        folder / "prices" / f"DE-LU_electricity_prices_{year}.csv.gz",
        table,
        column="price",
        first=days.first,
        last=days.last,
        years=years,
        factor=EUR_PER_USD[int(year)],
    )
    carbon = folder / "carbon" / f"DE-LU_{year}_hourly.csv.gz"
    if not carbon.is_file():
        return _hourly(table)
    intensity = table.with_name(f"carbon-{table.name}")
    write_moved(carbon, intensity, column="carbon", first=days.first, last=days.last, years=years)
    return (*_hourly(table), f"carbon.file={intensity}")


def _hourly(table: Path) -> tuple[str, ...]:
    return ("tariff.kind=hourly", f"tariff.file={table}", "tariff.unit=EUR/MWh")
