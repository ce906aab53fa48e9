"""Mutated scenario files and ``--set`` options."""

from __future__ import annotations

import json
import random
from pathlib import Path

import yaml

from planner.scenario.reference import schema_keys
from tests.fuzz.case import Case, reading
from tests.fuzz.damage import put
from tests.fuzz.odd import odd_number, odd_text, odd_value, odd_word
from tests.fuzz.site import CARBON, OPEN_METEO, PRICES, SITE
from tests.fuzz.tree import mutated, mutated_text, yaml_text

_FURTHER = (
    {"jobs": {"source": "sample", "load": 0.5}},
    {"jobs": {"source": "../jobs/trace.swf", "core_scale": "1/3", "start_unix": 1717100000, "zero_runtime": "drop"}},
    {"weather": {"source": "sample", "season": "winter"}, "solar": {"peak_kw": 1.0, "tilt_deg": 30}},
    {"weather": {"source": "sample", "period": {"planned": "2024-06-01", "taken": "2021-01-15"}}},
    {"weather": {"source": "../weather.json"}, "solar": {"peak_kw": 2}},
    {"tariff": {"kind": "hourly", "file": "../prices.csv", "unit": "EUR/MWh"}},
    {"tariff": {"kind": "flat", "eur_per_kwh": -0.05}},
    {"carbon": {"file": "../carbon.csv", "eur_per_tonne": 50}},
    {
        "cluster": {
            "classes": {"cpu": {"count": 40, "capacity": {"cores": 8, "memory_gb": 32}}},
            "down": [
                {"nodes": "cpu[01-04,07]", "state": "drain", "from": "2024-06-01T08:00:00+02:00"},
                {"nodes": "cpu09,cpu10", "to": "2024-06-01T08:00:00Z"},
            ],
        }
    },
    {"power": {"draw_w_per_core": [5, 10]}, "jobs": {"source": "../jobs/trace.swf"}},
)


def scenario(rng: random.Random, site: Path) -> Case:
    """A scenario file with odd keys, values or YAML."""
    for name, text in {"weather.json": OPEN_METEO, "prices.csv": PRICES, "carbon.csv": CARBON}.items():
        (site / name).write_text(text, encoding="utf-8")
    tree = yaml.safe_load(SITE) | rng.choice([{}, {}, *_FURTHER])
    text = SITE if rng.random() < 0.2 else yaml_text(rng, mutated(rng, tree))
    if rng.random() < 0.25:
        text = mutated_text(rng, text)
    path = put(rng, site / "scenarios/site.yaml", text.encode("utf-8", "surrogatepass"))
    if path.suffix in (".gz", ".xz"):
        path.rename(site / "scenarios/site.yaml")
    if rng.random() < 0.05:
        return Case(["show", "scenarios"])
    if rng.random() < 0.05:
        return Case(["simulate", "jobs/units.csv", "-s", "site", "--metrics", "all"])
    return Case(reading(rng))


def settings(rng: random.Random, site: Path) -> Case:
    """One to three ``--set`` options with odd keys or values."""
    given: list[str] = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        given += ["--set", _setting(rng)]
    return Case(reading(rng, *given))


def _setting(rng: random.Random) -> str:
    key = rng.choice(schema_keys()).replace("<class>", rng.choice(["cpu", "gpu", "new", "cpu1"]))
    key = key.replace("<resource>", rng.choice(["cores", "memory_gb", "licences"])).replace("[]", "")
    if rng.random() < 0.1:
        key = rng.choice([odd_word(rng), key + ".", key.upper(), key.rpartition(".")[0], "base", key + ".x"])
    return _argument(f"{key}={_value(rng)}" if rng.random() < 0.97 else key)


def _value(rng: random.Random) -> str:
    match rng.randrange(8):
        case 0 | 1 | 2 | 3:
            return odd_number(rng)
        case 4:
            return odd_text(rng)
        case 5:
            return json.dumps(odd_text(rng))
        case 6:
            return rng.choice(["[1, 2]", "[]", "{}", "{a: 1}", "[[[", "&a [*a]", "!!int x", "sample", "1d", "'1e400h'"])
        case _:
            return json.dumps(odd_value(rng))


def _argument(text: str) -> str:
    """As an argument can be: no NUL, and not endless."""
    return text.replace("\x00", "")[:20_000]
