"""Mutated scenario files."""

from __future__ import annotations

import random
from pathlib import Path

import yaml

from tests.fuzz.case import Case, reading
from tests.fuzz.damage import put
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
