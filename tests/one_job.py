"""A site with one job of 1 kW all day, and forecasts of weather and prices, for days that are worked out by hand."""

from __future__ import annotations

from pathlib import Path

from tests.days import DAY, small_table
from tests.weather_files import hours

SITE = """\
zone: UTC
jobs: {source: ../jobs/queue.csv}
cluster:
  classes:
    cpu: {count: 1, capacity: {cores: 8}}
weather: {source: ../weather.csv, members: ["t_*"]}
tariff: {kind: hourly, file: ../prices.csv, unit: EUR/MWh, members: [low, high]}
cooling: {table: ../tables/small.csv}
revenue: {eur_per_core_hour: 0.05}
search: {lookahead_days: 1}
"""

JOBS = "job_id,submit_time,requested_h,units,cores_per_unit,power_w\none,2024-05-01T00:00:00Z,24,1,8,1000\n"


def write_one_job_site(folder: Path) -> Path:
    """Write the site; cooling at 1 kW is 0.15 and a hundredth of the temperature [C]."""
    times = hours(f"{DAY}T00:00", 24)
    texts = {
        "scenarios/site.yaml": SITE,
        "jobs/queue.csv": JOBS,
        "tables/small.csv": small_table(),
        "weather.csv": "time,t_cold,t_warm\n" + "".join(f"{time}Z,10,30\n" for time in times),
        "prices.csv": "time,low,high\n" + "".join(f"{time}Z,100,300\n" for time in times),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder
