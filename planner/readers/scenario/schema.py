"""A scenario as it resolved: one frozen dataclass per section, whose annotations say how each key is read."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from planner import bounds
from planner.domain.cluster import Cluster
from planner.readers.scenario import rules
from planner.readers.scenario import values as read
from planner.readers.scenario.records import Key, ListOf, MappingOf, Record, dotted_keys


@dataclass(frozen=True, kw_only=True)
class JobsChoice:
    """Which jobs are planned. ``source`` is ``"sample"`` or a file.

    ``unit_cores`` None: the cores of the first node class. ``whole_queue`` None: true for tables, which are queue
    dumps, false for SWF traces and the sample.
    """

    source: Annotated[str | Path, Key(read.word_or_path("sample"), example="sample")]
    format: Annotated[str, Key(read.one_of("auto", "swf", "csv", "parquet"))] = "auto"
    lookback_s: Annotated[int, Key(read.duration(bounds.LOOKBACK_S), word="lookback")] = 86400
    visibility: Annotated[str, Key(read.one_of("midnight", "day"))] = "midnight"
    core_scale: Annotated[float, Key(read.scale)] = 1.0
    unit_cores: Annotated[int | None, Key(read.whole(bounds.UNIT_CORES))] = None
    start_unix: Annotated[int | None, Key(read.whole(bounds.UNIX_S))] = None
    load: Annotated[float, Key(read.number(bounds.LOAD))] = 0.9
    whole_queue: Annotated[bool | None, Key(read.flag)] = None
    zero_runtime: Annotated[str, Key(read.one_of("keep", "drop"))] = "keep"


@dataclass(frozen=True, kw_only=True)
class PowerChoice:
    """What a job draws when its source does not say [W per core]: fixed, or drawn between two bounds."""

    w_per_core: Annotated[float | None, Key(read.number(bounds.W_PER_CORE))] = None
    draw_w_per_core: Annotated[tuple[float, float] | None, Key(read.pair)] = (7.8, 11.11)


@dataclass(frozen=True, kw_only=True)
class NodeClassChoice:
    """One class of nodes as written; ``capacity`` is per node."""

    count: Annotated[int, Key(read.whole(bounds.NODES), example="100")]
    capacity: Annotated[
        Mapping[str, float],
        Key(MappingOf(read.number(bounds.NODE_AMOUNT), "resource"), example="{cores: 32, memory_gb: 128}"),
    ]
    idle_w: Annotated[float, Key(read.number(bounds.IDLE_W))] = 0.0


@dataclass(frozen=True, kw_only=True)
class ClusterChoice:
    """The machine as written; it resolves to a Cluster."""

    power_limit_kw: Annotated[float | None, Key(read.number(bounds.POWER_LIMIT_KW))] = None
    classes: Annotated[
        Mapping[str, NodeClassChoice],
        Key(MappingOf(Record(NodeClassChoice), "class"), example="{cpu: {count: 100, capacity: {cores: 32}}}"),
    ]


@dataclass(frozen=True, kw_only=True)
class WeatherPeriod:
    """A season: the weather of day ``taken`` laid over day ``planned``, following days one by one."""

    planned: Annotated[dt.date, Key(read.date, example="2024-06-01")]
    taken: Annotated[dt.date, Key(read.date, example="2024-01-15")]


@dataclass(frozen=True, kw_only=True)
class WeatherChoice:
    """Where the outside temperature comes from. ``source`` is ``"sample"``, ``"constant"`` or a file.

    ``season`` lays the weather of a season over any day: see `planner.readers.weather.season`.
    """

    source: Annotated[str | Path, Key(read.word_or_path("sample", "constant"), example="sample")]
    format: Annotated[str, Key(read.one_of("auto", "epw", "tmy3", "open-meteo", "csv"))] = "auto"
    zone: Annotated[str | None, Key(read.zone)] = None
    temperature_c: Annotated[float | None, Key(read.number(bounds.TEMPERATURE_C))] = None
    period: Annotated[WeatherPeriod | None, Key(Record(WeatherPeriod))] = None
    season: Annotated[str | None, Key(read.one_of("winter", "spring", "summer", "autumn"))] = None


@dataclass(frozen=True, kw_only=True)
class TariffBand:
    """A price between two local clock times such as ``22:00``; it runs over midnight when it ends first."""

    start: Annotated[str, Key(read.clock_time, word="from", example='"22:00"')]
    end: Annotated[str, Key(read.clock_time, word="to", example='"06:00"')]
    eur_per_kwh: Annotated[float, Key(read.number(bounds.EUR_PER_KWH), example="0.11")]


@dataclass(frozen=True, kw_only=True)
class TariffChoice:
    """The price of electricity; ``eur_per_kwh`` is the flat price, and the price outside all bands."""

    kind: Annotated[str, Key(read.one_of("flat", "bands", "hourly"))] = "flat"
    eur_per_kwh: Annotated[float | None, Key(read.number(bounds.EUR_PER_KWH))] = None
    bands: Annotated[tuple[TariffBand, ...], Key(ListOf(Record(TariffBand)))] = ()
    file: Annotated[Path | None, Key(read.path)] = None
    column: Annotated[str | None, Key(read.text)] = None
    unit: Annotated[str | None, Key(read.one_of("EUR/MWh", "EUR/kWh", "ct/kWh", "USD/MWh"))] = None
    zone: Annotated[str | None, Key(read.zone)] = None
    eur_per_usd: Annotated[float | None, Key(read.number(bounds.EUR_PER_USD))] = None


@dataclass(frozen=True, kw_only=True)
class CoolingChoice:
    """The PUE table of the cooling system."""

    table: Annotated[Path, Key(read.path, example="../tables/air.csv")]


@dataclass(frozen=True, kw_only=True)
class RevenueChoice:
    """What a core-hour earns."""

    eur_per_core_hour: Annotated[float, Key(read.number(bounds.EUR_PER_CORE_HOUR), example="0.02")]


@dataclass(frozen=True, kw_only=True)
class RulesChoice:
    """``defer: full`` keeps only what cannot start today; ``free`` lets profit decide.

    A job that was deferred on ``max_deferral_days`` days goes before all others; None: never. ``execute: actual`` lets
    jobs end at their real runtime once they are planned.
    """

    defer: Annotated[str, Key(read.one_of("full", "free"))] = "full"
    max_deferral_days: Annotated[int | None, Key(read.whole(bounds.DEFERRAL_DAYS))] = None
    execute: Annotated[str, Key(read.one_of("requested", "actual"))] = "requested"


@dataclass(frozen=True, kw_only=True)
class DemandChoice:
    """A charge on the day's peak: money per kW of the highest mean power over an interval."""

    eur_per_kw: Annotated[float, Key(read.number(bounds.EUR_PER_KW))] = 0.0
    interval_s: Annotated[int, Key(read.duration(bounds.DEMAND_INTERVAL_S), word="interval")] = 900


@dataclass(frozen=True, kw_only=True)
class SolarChoice:
    """The site's own photovoltaics; azimuth 180 is south."""

    peak_kw: Annotated[float, Key(read.number(bounds.SOLAR_KW))] = 0.0
    tilt_deg: Annotated[float, Key(read.number(bounds.TILT_DEG))] = 30.0
    azimuth_deg: Annotated[float, Key(read.number(bounds.AZIMUTH_DEG))] = 180.0
    losses_fraction: Annotated[float, Key(read.number(bounds.FRACTION))] = 0.14


@dataclass(frozen=True, kw_only=True)
class CarbonChoice:
    """A carbon price, and the carbon intensity of bought electricity: constant, or hourly from a file."""

    eur_per_tonne: Annotated[float, Key(read.number(bounds.EUR_PER_TONNE))] = 0.0
    g_per_kwh: Annotated[float | None, Key(read.number(bounds.G_PER_KWH))] = None
    file: Annotated[Path | None, Key(read.path)] = None
    column: Annotated[str | None, Key(read.text)] = None
    zone: Annotated[str | None, Key(read.zone)] = None


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A named, complete set of choices. ``sources`` are the files that made it, the most basic last."""

    name: Annotated[str, Key(read.label)]
    description: Annotated[str, Key(read.prose)] = ""
    sources: tuple[Path, ...] = ()
    zone: Annotated[str, Key(read.zone)] = "UTC"
    currency: Annotated[str, Key(read.currency)] = "EUR"
    seed: Annotated[int, Key(read.whole(bounds.SEED))] = 0
    jobs: Annotated[JobsChoice, Key(Record(JobsChoice, rules.apply_jobs))]
    power: Annotated[PowerChoice, Key(Record(PowerChoice, rules.apply_power))] = PowerChoice()
    cluster: Annotated[Cluster, Key(Record(ClusterChoice, rules.apply_cluster))]
    weather: Annotated[WeatherChoice, Key(Record(WeatherChoice, rules.apply_weather))]
    tariff: Annotated[TariffChoice, Key(Record(TariffChoice, rules.apply_tariff))]
    cooling: Annotated[CoolingChoice, Key(Record(CoolingChoice))]
    revenue: Annotated[RevenueChoice, Key(Record(RevenueChoice))]
    rules: Annotated[RulesChoice, Key(Record(RulesChoice))] = RulesChoice()
    demand: Annotated[DemandChoice, Key(Record(DemandChoice))] = DemandChoice()
    solar: Annotated[SolarChoice, Key(Record(SolarChoice))] = SolarChoice()
    carbon: Annotated[CarbonChoice, Key(Record(CarbonChoice, rules.apply_carbon))] = CarbonChoice()

    def as_dict(self) -> dict[str, Any]:
        """The scenario as plain data, for JSON."""
        plain: dict[str, Any] = _plain(self)
        return plain

    def files(self) -> tuple[Path, ...]:
        """Every file that the scenario was made from or refers to, each once."""
        return tuple(dict.fromkeys([*self.sources, *_paths(self)]))


SCENARIO = Record(Scenario)


def schema_keys() -> tuple[str, ...]:
    """Every key that a scenario file may have, dotted, apart from ``base``."""
    return tuple(dotted_keys(SCENARIO))


def _plain(value: object) -> Any:
    if dataclasses.is_dataclass(value):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Path):
        return value.as_posix()
    return value.isoformat() if isinstance(value, dt.date) else value


def _paths(value: object) -> list[Path]:
    if isinstance(value, Path):
        return [value]
    if not dataclasses.is_dataclass(value):
        return []
    return [found for field in dataclasses.fields(value) for found in _paths(getattr(value, field.name))]
