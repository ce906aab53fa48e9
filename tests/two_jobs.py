"""One node, two jobs and two prices: a site whose energy and money can be worked out by hand."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

DAY = "2024-06-03"

SITE = """\
zone: UTC
jobs: {source: ../jobs.csv}
cluster:
  classes:
    cpu: {count: 1, capacity: {cores: 4}}
weather: {source: constant, temperature_c: 12}
tariff: {kind: hourly, file: ../prices.csv, unit: EUR/kWh}
cooling: {table: ../cooling.csv}
revenue: {eur_per_core_hour: 0.5}
"""

JOBS = """\
job_id,submit_time,requested_h,runtime_s,units,cores_per_unit,power_w
hungry,2024-06-02T23:00:00+00:00,2,3600,1,4,1000
frugal,2024-06-02T23:30:00+00:00,2,3600,1,4,100
"""
LONG = "long,2024-06-02T23:45:00+00:00,23,3600,1,4,100\n"


def write_site(folder: Path, jobs: str = JOBS) -> None:
    """Energy costs 0.5 EUR/kWh in the first two hours and 0.1 after; a kWh of IT needs half a kWh of cooling."""
    begin = dt.datetime(2024, 6, 3, tzinfo=dt.UTC)
    prices = [f"{(begin + dt.timedelta(hours=k)).isoformat()},{0.5 if k < 2 else 0.1}" for k in range(48)]
    temperatures = range(-20, 50, 5)
    cooling = [",".join(["it_power_w", *map(str, temperatures)])]
    cooling += [",".join([str(power_w), *(["0.5"] * len(temperatures))]) for power_w in (0, 1000, 2000)]
    texts = {"prices.csv": ["time,price", *prices], "cooling.csv": cooling, "jobs.csv": [jobs.strip()]}
    texts["scenarios/site.yaml"] = [SITE]
    for name, lines in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
