"""A small site with work for several days, for tests of runs that go from one day to the next."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np

from tests import days
from tests.days import small_table

FIRST = "2024-06-03"
LAST = "2024-06-06"
DAYS = ["2024-06-03", "2024-06-04", "2024-06-05", "2024-06-06"]
QUICK = ("--method", "multisearch", "--bound-time", "0", "-q")
"""Options that make a day quick and its answer a matter of the inputs alone."""

CSVS = ("schedule.csv", "deferred.csv", "segments.csv")

SITE = days.SITE.replace("Four nodes and ten jobs", "Four nodes with more work than they can do").replace(
    "search: {lookahead_days: 1}\n", ""
)

WARM = "base: site\ndescription: The same on a hot day\nweather: {source: constant, temperature_c: 33}\n"


def write_rolling_site(folder: Path, *, jobs_a_day: int = 14) -> Path:
    """Write the site with jobs submitted from the day before the first to the last day; some run over midnight."""
    rng = np.random.default_rng(7)
    lines = ["job_id,submit_time,requested_h,runtime_s,units,cores_per_unit,power_w,account,user"]
    day = dt.datetime.fromisoformat(f"{FIRST}T00:00:00+02:00") - dt.timedelta(days=1)
    for number in range(jobs_a_day * (len(DAYS) + 1)):
        submit = day + dt.timedelta(days=number // jobs_a_day, seconds=int(rng.integers(0, 86400)))
        hours, units, cores = int(rng.integers(1, 15)), int(rng.integers(1, 4)), int(rng.integers(1, 9))
        ran_s = int(hours * 3600 * rng.uniform(0.1, 1.0))
        watts = round(9.5 * units * cores, 2)
        who = f"a{number % 3},u{number % 5}"
        lines.append(f"j{number:03d},{submit.isoformat()},{hours},{ran_s},{units},{cores},{watts},{who}")
    lines.append(f"giant,{day.isoformat()},1,60,5,8,400,a0,u0")
    texts = {
        "scenarios/site.yaml": SITE,
        "scenarios/warm.yaml": WARM,
        "jobs/queue.csv": "\n".join(lines) + "\n",
        "tables/small.csv": small_table(),
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def written(folder: Path) -> dict[str, bytes]:
    """The CSVs of all days below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.csv")) if path.name in CSVS
    }
