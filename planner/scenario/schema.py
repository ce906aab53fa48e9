"""A scenario as it resolved: one frozen model per section, which says how each key is written and what it means."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import ModelWrapValidatorHandler, PrivateAttr, ValidationInfo, field_validator, model_validator

from planner import limits
from planner.domain.cluster import Cluster
from planner.domain.situation import Outage
from planner.scenario.cluster_slurm import LIVE, ClusterSection, SlurmSection, WrittenAsSection
from planner.scenario.goal_rules import Goal, Rules
from planner.scenario.jobs_power import Jobs, Power, SlurmJobs
from planner.scenario.revenue_tariff_carbon import (
    Budgets,
    Carbon,
    Demand,
    FeedIn,
    Fees,
    HourlyTariff,
    NoCarbon,
    Revenue,
    Tariff,
)
from planner.scenario.search_hold import HoldSection, Search
from planner.scenario.sections import Key, Kinds, Section
from planner.scenario.solar_battery import BatterySection, ModelledSolar, Solar
from planner.scenario.values import Currency, Label, Prose, Whole, Zone, problem
from planner.scenario.weather_cooling import Cooling, FileWeather, Weather
from planner.scenario.words import guess

DOLLARS = "USD"


class Scenario(Section):
    """A named, complete set of choices. ``sources`` are the files that made it, the most basic last."""

    name: Annotated[Label, Key("text", "names the folder of the reports", default="name of the file")]
    description: Annotated[Prose, Key("text", "one line for people", default="empty")] = ""
    zone: Annotated[Zone, Key("time zone", "the site's time zone; days and bands are local to it")] = "UTC"
    currency: Annotated[Currency, Key("code", "written on reports; nothing is converted")] = "EUR"
    seed: Annotated[
        int, Whole(limits.SEED), Key("number", "seed of everything random: sample jobs, drawn power, search")
    ] = 0
    jobs: Jobs
    power: Power = Power()
    cluster: Annotated[Cluster, WrittenAsSection()]
    weather: Weather
    tariff: Tariff
    cooling: Cooling
    revenue: Revenue
    rules: Rules = Rules()
    fees: Fees = Fees()
    demand: Demand = Demand()
    solar: Solar = ModelledSolar()
    feed_in: FeedIn = FeedIn()
    battery: BatterySection = BatterySection()
    carbon: Carbon = NoCarbon()
    goal: Goal = Goal()
    search: Search = Search()
    hold: HoldSection = HoldSection()
    slurm: SlurmSection = SlurmSection()
    budgets: Budgets = Budgets()

    @field_validator("tariff")
    @classmethod
    def _dollars_by_their_rate(cls, tariff: Tariff, info: ValidationInfo) -> Tariff:
        """Prices in dollars need their rate, but at a site that counts in dollars, where nothing is converted."""
        currency, rate = info.data.get("currency"), tariff.eur_per_usd
        if currency == DOLLARS and rate not in (None, 1):
            raise problem(
                f"currency is {DOLLARS}, so {DOLLARS} is not converted", "remove it, or write null", at="eur_per_usd"
            )
        if currency != DOLLARS and rate is None and isinstance(tariff, HourlyTariff) and _in_dollars(tariff.unit):
            raise problem("missing", f"unit {tariff.unit} needs it: write eur_per_usd: 0.92", at="eur_per_usd")
        return tariff

    @field_validator("fees")
    @classmethod
    def _by_the_rate_of_the_tariff(cls, fees: Fees, info: ValidationInfo) -> Fees:
        """Fees in dollars are converted as prices are, and at a site that counts in dollars are not."""
        tariff = info.data.get("tariff")
        is_own = info.data.get("currency") == DOLLARS
        if tariff is not None and tariff.eur_per_usd is None and _in_dollars(fees.unit) and not is_own:
            raise problem(f"{fees.unit} needs an exchange rate", "write tariff: {eur_per_usd: 0.92}", at="unit")
        return fees

    @field_validator("goal")
    @classmethod
    def _with_an_intensity(cls, goal: Goal, info: ValidationInfo) -> Goal:
        """A goal for carbon needs to know what bought electricity emits."""
        given = [name for name in ("carbon_weight", "carbon_limit_kg") if getattr(goal, name)]
        if given and isinstance(info.data.get("carbon"), NoCarbon):
            raise problem("needs the carbon intensity", "give carbon.g_per_kwh or carbon.file", at=given[0])
        return goal

    @field_validator("cluster")
    @classmethod
    def _as_jobs_draw(cls, cluster: Cluster, info: ValidationInfo) -> Cluster:
        """Whether the power of jobs includes that of their nodes is a key of the power of jobs."""
        power = info.data.get("power", Power())
        return dataclasses.replace(
            cluster, idle_rule=dataclasses.replace(cluster.idle_rule, included=power.includes_idle)
        )

    @field_validator("revenue")
    @classmethod
    def _of_this_machine(cls, revenue: Revenue, info: ValidationInfo) -> Revenue:
        """Prices of classes and resources that the machine has; Slurm's machine is known only when it is asked."""
        cluster = info.data.get("cluster")
        if cluster is not None and not isinstance(info.data.get("jobs"), SlurmJobs):
            _require_known(revenue.classes, [each.name for each in cluster.classes], "classes", "node class")
            _require_known(revenue.eur_per_hour, cluster.resources, "eur_per_hour", "resource")
            for name, own in revenue.classes.items():
                _require_known(own.eur_per_hour, cluster.resources, f"classes.{name}.eur_per_hour", "resource")
        return revenue

    _sources: tuple[Path, ...] = PrivateAttr(())
    _outages: tuple[Outage, ...] = PrivateAttr(())

    @model_validator(mode="wrap")
    @classmethod
    def _with_outages(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        """Keep the nodes of ``cluster.down`` apart from the cluster, which has all nodes whatever their state."""
        scenario = handler(value)
        if isinstance(value, dict):
            scenario._outages = ClusterSection.model_validate(value["cluster"]).outages()
        return scenario

    def model_post_init(self, context: Any) -> None:
        """Take the files that made the scenario from the context of its reading."""
        self._sources = (context or {}).get("sources", ())

    @property
    def sources(self) -> tuple[Path, ...]:
        """The files that made the scenario, its own first and the most basic last."""
        return self._sources

    @property
    def outages(self) -> tuple[Outage, ...]:
        """The nodes that cannot be used, and when, as ``cluster.down`` says."""
        return self._outages

    def as_dict(self) -> dict[str, Any]:
        """The scenario as plain data, for JSON: every key of every kind, those of other kinds with their defaults.

        Budgets are no part of it: they shape no day, and reports read them from the file as it stands.
        """
        fields: dict[str, Any] = _plain(self)
        del fields["budgets"]
        own = {name: fields.pop(name) for name in ("name", "description")}
        return {**own, "sources": _plain(self.sources), **fields, "outages": _plain(self.outages)}

    def files(self) -> tuple[Path, ...]:
        """Every file that the scenario was made from or refers to, each once."""
        return tuple(dict.fromkeys(path for path in [*self.sources, *_paths(self)] if path != LIVE))


def _in_dollars(unit: str | None) -> bool:
    return (unit or "").startswith(DOLLARS)


def _require_known(priced: Iterable[str], known: Collection[str], at: str, what: str) -> None:
    unknown = next((name for name in priced if name not in known), None)
    if unknown is not None:
        raise problem(f"there is no {what} {unknown!r}", guess(unknown, known) or f"there is {', '.join(known)}", at=at)


KINDS = {
    "jobs": Kinds.of(Jobs),
    "weather": Kinds.of(Weather),
    "tariff": Kinds.of(Tariff),
    "solar": Kinds.of(Solar),
    "carbon": Kinds.of(Carbon),
}
"""The sections of which there are several kinds."""

RIVALS = {
    "power": Power.rivals,
    "weather": FileWeather.rivals,
    "tariff": HourlyTariff.rivals,
    "feed_in": FeedIn.rivals,
}
"""Pairs of keys of which a section has one."""

_KINDS_OF = {model: kinds for kinds in KINDS.values() for model in kinds.models.values()}


def _plain(value: object) -> Any:
    if isinstance(value, Section):
        own = {name: getattr(value, name) for name in type(value).model_fields}
        kinds = _KINDS_OF.get(type(value))
        names = own if kinds is None else kinds.keys()
        return {name: _plain(own[name] if kinds is None or name in own else kinds.idle(name)) for name in names}
    if dataclasses.is_dataclass(value):
        # What is empty unless a site has it is left out: a site without it stays the same from version to version.
        given = (
            each
            for each in dataclasses.fields(value)
            if each.default_factory is dataclasses.MISSING or getattr(value, each.name) != each.default_factory()
        )
        return {field.name: _plain(getattr(value, field.name)) for field in given}
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
    if not isinstance(value, Section):
        return []
    return [found for name in type(value).model_fields for found in _paths(getattr(value, name))]
