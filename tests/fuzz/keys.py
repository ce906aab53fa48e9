"""Values of every key of a scenario: the ends of its range and its words by the schema, else from the list below."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from planner.errors import InputError
from planner.scenario.load import load_scenario
from planner.scenario.reference import editor_schema

NAMES = {"<class>": "cpu", "<resource>": "memory_gb", "<partition>": "p", "<account>": "physics", "<qos>": "normal"}
ITEMS: dict[str, dict[str, Any]] = {
    "tariff.bands": {"from": "22:00", "to": "06:00", "eur_per_kwh": 0.1},
    "fees.bands": {"from": "22:00", "to": "06:00", "eur_per_kwh": 0.1},
    "cluster.down": {"nodes": "cpu1", "state": "drain", "from": "2024-06-01T08:00:00Z", "to": "2024-06-02T08:00:00Z"},
}
"""Of lists of sections, an item in which one key is set."""

ZONES = ("UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati", "Etc/GMT+12")
CLOCKS = ("00:00", "24:00", "05:59", "06:01")
MOMENTS = ("1970-01-01T00:00:00Z", "2024-06-01T08:00:00+14:00", "2198-01-01T00:00:00Z")
TEXTS = ("x", "=1+1", "<script>alert(1)</script>", "é\u202e\U0001f600", "a" * 200)
HINTS: dict[str, tuple[object, ...]] = {
    "name": ("x", "é", "a" * 60),
    "description": TEXTS,
    "zone": ZONES,
    "currency": ("USD", "CHF"),
    "jobs.source": ("jobs/units.csv", "jobs/trace.swf", "sample", "link.csv"),
    "jobs.lookback": ("0s", "1h", "30d"),
    "jobs.core_scale": ("1/3", 1e-6, 1e6),
    "jobs.start_unix": (0, 1717100000),
    "power.draw_w_per_core": ([0, 0], [5, 10], [0, 1e6]),
    "power.learned": ("learned.json",),
    "cluster.classes.<class>.nodes": ("cpu[1-4]",),
    "cluster.classes.<class>.capacity.<resource>": (0, 32, 1e9, 1e-3),
    "cluster.partitions.<partition>": (["cpu"], ["cpu", "gpu"]),
    "cluster.sleep.after": ("0s", "1d"),
    "cluster.sleep.wake": ("0s", "1h"),
    "cluster.down[].nodes": ("cpu[1-4]", "gpu2"),
    "cluster.down[].from": MOMENTS,
    "cluster.down[].to": MOMENTS[1:],
    "weather.source": ("sample", "constant", "weather.csv", "weather.epw"),
    "weather.zone": ZONES,
    "weather.members": (["t_*"], ["t_1"]),
    "weather.period.planned": ("2024-06-01",),
    "weather.period.taken": ("2021-01-15", "2024-02-29"),
    "tariff.bands[].from": CLOCKS,
    "tariff.bands[].to": CLOCKS,
    "tariff.file": ("prices.csv",),
    "tariff.column": ("price",),
    "tariff.members": (["price"],),
    "tariff.zone": ZONES,
    "tariff.published_at": ("00:00", "12:55"),
    "cooling.table": ("tables/small.csv",),
    "revenue.eur_per_hour.<resource>": (0, 1e5),
    "revenue.classes.<class>.eur_per_hour": ({"memory_gb": 0.1}, {}),
    "revenue.accounts.<account>": (0, 1, 100),
    "revenue.qos.<qos>": (0, 1, 100),
    "rules.max_delay": ("0h", "1s", "365d"),
    "rules.estimate": ("requested", "last2"),
    "fees.bands[].from": CLOCKS,
    "fees.bands[].to": CLOCKS,
    "fees.file": ("prices.csv",),
    "fees.column": ("price",),
    "fees.zone": ZONES,
    "demand.interval": ("1m", "15m", "24h"),
    "solar.file": ("solar.csv",),
    "solar.column": ("power",),
    "solar.zone": ZONES,
    "carbon.file": ("carbon.csv",),
    "carbon.column": ("Carbon intensity direct",),
    "carbon.zone": ZONES,
    "search.delay.step": ("1m", "1d"),
    "search.relaxation.step": ("1s", "1h"),
    "hold.every": ("15m", "1d"),
    "hold.ahead": ("1h", "7d"),
    "hold.history": ("sacct.txt", "finished.csv"),
    "slurm.documents": ("saved",),
    "slurm.partitions": (["batch"], []),
    "slurm.opt_in.partitions": (["batch"],),
    "slurm.opt_in.qos": (["normal"],),
    "slurm.opt_in.comment": (["flexible"],),
}
"""Texts, paths and lists that no schema can say."""

VARIANTS: tuple[tuple[str, ...], ...] = (
    (),
    ("jobs.source=sample", "jobs.load=0.3"),
    ("jobs.source=jobs/trace.swf",),
    ("jobs.source=slurm", "slurm.partitions=[batch]"),
    ("tariff.kind=flat", "tariff.eur_per_kwh=0.1"),
    ("tariff.kind=hourly", "tariff.file=prices.csv", "tariff.unit=EUR/MWh"),
    ("weather.source=sample", "solar.peak_kw=1"),
    ("weather.source=weather.csv",),
    ("weather.source=weather.csv", "weather.latitude_deg=45", "weather.longitude_deg=5"),
    ("tariff.kind=hourly", "tariff.file=prices.csv", "tariff.eur_per_usd=0.9"),
    ("weather.source=forecast.csv", "weather.members=[t_*]"),
    ("solar.file=solar.csv", "solar.unit=kW"),
    ("solar.peak_kw=1", "weather.source=sample", "feed_in.eur_per_kwh=0.05"),
    ("carbon.file=carbon.csv",),
    ("fees.file=prices.csv", "fees.unit=EUR/MWh"),
    ("battery.capacity_kwh=10", "battery.power_kw=5"),
    ("goal.carbon_weight=null",),
    ("cluster.sleep.after=1m", "cluster.sleep.wake=1m", "cluster.classes.cpu.sleep_w=1"),
    ("weather.period.planned=2024-06-01", "weather.period.taken=2021-01-15", "weather.source=sample"),
    ("power.w_per_core=null", "power.draw_w_per_core=[5,10]"),
    ("demand.eur_per_kw=0.5", "demand.period=month"),
    ("jobs.source=sample", "weather.source=sample", "weather.season=winter"),
)
"""Sites in which keys of other kinds can be set; the first one that takes a key is used."""


@functools.cache
def key_values(key: str) -> tuple[object, ...]:
    """Values of a key, most of them the ends of what it may be; none where nobody has thought of any."""
    return HINTS.get(key) or tuple(dict.fromkeys(_ends(key)))


def _ends(key: str) -> Iterator[object]:
    schema = _schema()
    for found in _at(schema, schema, [part for part in key.replace("[]", ".[]").split(".") if part]):
        if "enum" in found:
            yield from found["enum"]
        elif "const" in found:
            yield found["const"]
        elif found.get("type") == "boolean":
            yield from (True, False)
        elif "maximum" in found or "minimum" in found or "exclusiveMinimum" in found:
            low = found.get("minimum", found.get("exclusiveMinimum", 0))
            high = found.get("maximum", 1e9)
            whole = found.get("type") == "integer"
            if "minimum" in found:
                yield low
            yield from (min(low + 1, high), high)
            if not whole:
                yield low + (high - low) * 1e-6


@functools.cache
def _schema() -> dict[str, Any]:
    return editor_schema()


def _at(schema: dict[str, Any], whole: dict[str, Any], parts: list[str]) -> Iterator[dict[str, Any]]:
    """What the schema says at a path, by every way that leads there."""
    if "$ref" in schema:
        schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
    for each in schema.get("anyOf", ()):
        yield from _at(each, whole, parts)
    if not parts:
        yield schema
        return
    first, rest = parts[0], parts[1:]
    if first == "[]" and "items" in schema:
        yield from _at(schema["items"], whole, rest)
    elif first.startswith("<") and isinstance(schema.get("additionalProperties"), dict):
        yield from _at(schema["additionalProperties"], whole, rest)
    elif first in schema.get("properties", {}):
        yield from _at(schema["properties"][first], whole, rest)


def setting(key: str, value: object) -> str:
    """The key and a value as ``--set`` takes them; of a list, the whole list."""
    before, is_list, after = key.partition("[].")
    if is_list:
        return f"{before}={json.dumps([{**ITEMS[before], after: value}])}"
    for name, word in NAMES.items():
        key = key.replace(name, word)
    return f"{key}={json.dumps(value)}"


@functools.cache
def accepted(site: Path, key: str, number: int) -> tuple[str, ...] | None:
    """The settings that make a scenario with the value of that number; None where no variant takes it."""
    values = key_values(key)
    wanted = setting(key, values[number % len(values)])
    for variant in VARIANTS:
        with contextlib.suppress(InputError), contextlib.chdir(site):
            load_scenario("site", folders=[site / "scenarios"], overrides=[*variant, wanted])
            return (*(f"--set={each}" for each in variant), f"--set={wanted}")
    return None
