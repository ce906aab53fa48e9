"""A site whose nodes and jobs are those of Slurm."""

from __future__ import annotations

import time
from pathlib import Path

from tests.days import small_table

SITE = """\
description: Nodes and jobs of Slurm
zone: {zone}
jobs: {{source: slurm}}
weather: {{source: constant, temperature_c: 12}}
tariff: {{kind: flat, eur_per_kwh: 0.2}}
cooling: {{table: ../tables/small.csv}}
revenue: {{eur_per_core_hour: 0.05}}
"""
OPEN = "slurm: {partitions: [batch, open], opt_in: {partitions: [batch, open]}}\n"
"""Jobs of both partitions are planned, and may be changed."""


HOUR = 3600
HOLDING = """\
rules: {max_delay: 6h}
goal: {waiting: 0}
power: {w_per_core: 10}
"""
"""Jobs may be held for six hours, and waiting counts for nothing."""


def cheap_from() -> int:
    """The first full hour that is at least an hour and a half ahead."""
    return (int(time.time()) + 5400) // HOUR * HOUR + HOUR


def day_zone() -> str:
    """A zone in which the day has hours behind it and before it now."""
    west = max(-14, min(12, time.gmtime().tm_hour - 8))
    return f"Etc/GMT{west:+d}" if west else "UTC"


def write_holding_site(folder: Path, slurm: str = "slurm: {opt_in: {partitions: [batch, open]}}\n") -> Path:
    """A site on which electricity is dear until `cheap_from` and cheap from then on."""
    write_slurm_site(folder, slurm + HOLDING, zone=day_zone())
    cheap, text = cheap_from(), ["time,price"]
    for hour in range(cheap - 96 * HOUR, cheap + 72 * HOUR, HOUR):
        is_dear = cheap - 12 * HOUR <= hour < cheap
        text.append(f"{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(hour))},{0.9 if is_dear else 0.1}")
    (folder / "prices.csv").write_text("\n".join(text) + "\n", encoding="utf-8")
    path = folder / "scenarios" / "site.yaml"
    flat, hourly = "{kind: flat, eur_per_kwh: 0.2}", "{kind: hourly, file: ../prices.csv, unit: EUR/kWh}"
    path.write_text(path.read_text("utf-8").replace(flat, hourly), encoding="utf-8")
    return folder


def write_slurm_site(folder: Path, slurm: str, *, zone: str = "UTC") -> Path:
    """Write the site with the section ``slurm:`` as given, under the name that is the default."""
    for name, text in {
        "scenarios/site.yaml": SITE.format(zone=zone) + slurm,
        "tables/small.csv": small_table(),
    }.items():
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder
