"""Rules between the keys of one section of a scenario; each raises, or returns the section as it applies.

Layers make some keys idle: where a base chose ``kind: hourly`` with a ``file`` and a later layer chooses
``kind: flat``, the file no longer applies and is dropped. Written in the same layer as the choice, or a later one,
it is a contradiction and an error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, TypeVar

from planner.domain.cluster import CORES, Cluster, NodeClass
from planner.errors import InputError
from planner.readers.scenario.records import given
from planner.readers.scenario.strict_yaml import Marked
from planner.readers.scenario.values import BadValueError, bad

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    from planner.readers.scenario.schema import (
        CarbonChoice,
        ClusterChoice,
        JobsChoice,
        PowerChoice,
        TariffBand,
        TariffChoice,
        WeatherChoice,
    )

    C = TypeVar("C", bound=DataclassInstance)

_DAY_MIN = 24 * 60


def apply_jobs(jobs: JobsChoice, entry: Marked, key: str) -> JobsChoice:
    """``load`` belongs to the sample workload, ``format`` and ``start_unix`` to files."""
    uses = {"sample": ("load",), "a file": ("format", "start_unix")}
    return _only_used(jobs, entry, key, "source", "sample" if jobs.source == "sample" else "a file", uses)


def apply_power(power: PowerChoice, entry: Marked, key: str) -> PowerChoice:
    """One of ``w_per_core`` and ``draw_w_per_core``; the first wins over the second's default."""
    fixed, drawn = given(entry, "w_per_core"), given(entry, "draw_w_per_core")
    if fixed is not None and drawn is not None:
        raise bad(
            fixed,
            f"{key}.w_per_core",
            f"given together with {key}.draw_w_per_core ({drawn.where})",
            "keep one and set the other to null",
        )
    return power if fixed is None else dataclasses.replace(power, draw_w_per_core=None)


def apply_cluster(choice: ClusterChoice, entry: Marked, key: str) -> Cluster:
    """The cluster that the classes make; every class has cores, and node names cannot collide."""
    classes = (entry.entries() or {})["classes"]
    lines: list[str] = []
    for name, node_class in choice.classes.items():
        if not node_class.capacity.get(CORES, 0) > 0:
            place = (classes.entries() or {})[name]
            lines += bad(place, f"{key}.classes.{name}.capacity", "no cores", "write cores: 32").lines
    for short, long in combinations(sorted(choice.classes), 2):
        if long.removeprefix(short).isdigit():
            problem = f"nodes of {short!r} and {long!r} could have the same names"
            lines += bad(classes, f"{key}.classes", problem, "rename one").lines
    if lines:
        raise BadValueError(lines)
    limit_w = None if choice.power_limit_kw is None else choice.power_limit_kw * 1000
    try:
        return Cluster(
            tuple(
                NodeClass(name, node_class.count, node_class.capacity, node_class.idle_w)
                for name, node_class in choice.classes.items()
            ),
            limit_w,
        )
    except InputError as error:
        raise bad(entry, key, str(error)) from None


def apply_weather(weather: WeatherChoice, entry: Marked, key: str) -> WeatherChoice:
    """``temperature_c`` if and only if the weather is constant; a period or a season, the later layer's."""
    kind = str(weather.source) if weather.source in ("sample", "constant") else "a file"
    other = ("period", "season")
    uses = {"constant": ("temperature_c",), "sample": other, "a file": (*other, "format", "zone")}
    needs = {"constant": ("temperature_c",)}
    weather = _only_used(weather, entry, key, "source", kind, uses, needs)
    period, season = given(entry, "period"), given(entry, "season")
    if period is None or season is None or weather.period is None or weather.season is None:
        return weather
    if period.source.layer == season.source.layer:
        raise bad(season, f"{key}.season", f"given together with {key}.period", "keep one of them")
    later_season = season.source.layer > period.source.layer
    return dataclasses.replace(weather, period=None) if later_season else dataclasses.replace(weather, season=None)


def apply_tariff(tariff: TariffChoice, entry: Marked, key: str) -> TariffChoice:
    """Each kind of tariff has what it needs, and nothing that it would ignore; bands do not overlap."""
    uses = {
        "flat": ("eur_per_kwh",),
        "bands": ("eur_per_kwh", "bands"),
        "hourly": ("file", "column", "unit", "zone", "eur_per_usd"),
    }
    needs = {"flat": ("eur_per_kwh",), "bands": ("eur_per_kwh", "bands"), "hourly": ("file", "unit")}
    tariff = _only_used(tariff, entry, key, "kind", tariff.kind, uses, needs)
    if tariff.unit == "USD/MWh" and tariff.eur_per_usd is None:
        raise bad(entry, f"{key}.eur_per_usd", "missing", "unit USD/MWh needs it: write eur_per_usd: 0.92")
    if tariff.kind == "bands":
        _demand_apart(tariff.bands, given(entry, "bands") or entry, f"{key}.bands")
    return tariff


def apply_carbon(carbon: CarbonChoice, entry: Marked, key: str) -> CarbonChoice:
    """A constant intensity or a file of it, the later layer's; a carbon price needs one of them."""
    constant, file = given(entry, "g_per_kwh"), given(entry, "file")
    if constant is not None and file is not None:
        if constant.source.layer == file.source.layer:
            raise bad(file, f"{key}.file", f"given together with {key}.g_per_kwh", "keep one of them")
        if constant.source.layer > file.source.layer:
            return dataclasses.replace(carbon, file=None, column=None, zone=None)
        return dataclasses.replace(carbon, g_per_kwh=None)
    if carbon.eur_per_tonne > 0 and constant is None and file is None:
        raise bad(
            entry,
            f"{key}.eur_per_tonne",
            f"a price of {carbon.eur_per_tonne:g} needs the carbon intensity",
            "give g_per_kwh or file",
        )
    return carbon


def _only_used(
    choice: C,
    entry: Marked,
    key: str,
    chooser: str,
    kind: str,
    uses: Mapping[str, tuple[str, ...]],
    needs: Mapping[str, tuple[str, ...]] | None = None,
) -> C:
    """The section without the keys that an earlier layer gave and this kind does not use."""
    lines: list[str] = []
    idle: dict[str, object] = {}
    chosen = given(entry, chooser)
    missing = [word for word in (needs or {}).get(kind, ()) if not _has(entry, word)]
    for word in missing:
        lines += bad(entry, f"{key}.{word}", "missing", f"{chooser}: {kind} needs it").lines
    for word in {word: None for words in uses.values() for word in words if word not in uses[kind]}:
        found = given(entry, word)
        if found is None:
            continue
        if chosen is None or found.source.layer >= chosen.source.layer:
            others = [other for other, words in uses.items() if word in words]
            remedy = f"write {chooser}: {' or '.join(others)}, or {word}: null"
            lines += bad(found, f"{key}.{word}", f"not used with {chooser}: {kind}", remedy).lines
        idle[word] = getattr(type(choice), word)
    if lines:
        raise BadValueError(lines)
    return dataclasses.replace(choice, **idle)


def _has(entry: Marked, word: str) -> bool:
    found = given(entry, word)
    return found is not None and found.value != ()


def _demand_apart(bands: tuple[TariffBand, ...], entry: Marked, key: str) -> None:
    owner: dict[int, int] = {}
    for index, band in enumerate(bands):
        start, end = _minute(band.start), _minute(band.end)
        length = (end - start) % _DAY_MIN or (_DAY_MIN if end != start else 0)
        if not length:
            raise bad(entry, f"{key}[{index}]", "begins and ends at the same time", "change from or to")
        for minute in range(start, start + length):
            other = owner.setdefault(minute % _DAY_MIN, index)
            if other != index:
                at = f"{minute % _DAY_MIN // 60:02d}:{minute % 60:02d}"
                raise bad(entry, f"{key}[{index}]", f"overlaps band [{other}] at {at}", "bands must not overlap")


def _minute(clock: str) -> int:
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)
