"""A small site on disk and the ways to plan its days, for tests of the command line and of what a run leaves."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from planner.cli.main import run

DAY = "2024-06-01"

SITE = """\
description: Four nodes and ten jobs
zone: Europe/Paris
jobs: {source: ../jobs/queue.csv}
cluster:
  classes:
    cpu: {count: 4, capacity: {cores: 8, memory_gb: 32}}
weather: {source: constant, temperature_c: 12}
tariff: {kind: flat, eur_per_kwh: 0.2}
cooling: {table: ../tables/small.csv}
revenue: {eur_per_core_hour: 0.05}
search: {lookahead_days: 1}
"""

JOBS = """\
job_id,submit_time,requested_h,units,cores_per_unit,memory_gb_per_unit,power_w,account,user,name,deadline,revenue_weight
wide,2024-02-01T08:00:00+01:00,6,4,8,16,310.1234567,physics,ann,"relax, ""hot"" 1",,
deep,2024-02-01T08:01:00+01:00,8,1,1,30,45.5,physics,bob,,,1.23456789
long,2024-02-01T08:02:00+01:00,20,2,8,8,150,chem,cy,,,
soon,2024-02-01T08:03:00+01:00,1,1,4,4,40,chem,cy,,2024-12-31T23:00:00+01:00,
free,2024-02-01T08:04:00+01:00,2,1,2,,0,,,,,0
night,2024-02-01T08:05:00+01:00,12,3,8,32,240,bio,dee,,,
again,2024-02-01T08:06:00+01:00,12,3,8,32,240,bio,dee,,,
more,2024-02-01T08:07:00+01:00,30,4,8,32,300,bio,dee,,,0.1
tiny,2024-02-01T08:09:00+01:00,0.01,1,1,1,9,bio,dee,,,
giant,2024-02-01T08:10:00+01:00,1,5,8,32,400,bio,dee,,,
"""
"""More than fits a day; ``giant`` never does."""


BRIEF = ("--iterations", "1000", "--time-limit", "10m")
"""A short search that no busy machine cuts shorter, so that it gives the same plan everywhere."""


def write_small_site(folder: Path, scenario: str = SITE, jobs: str = JOBS) -> Path:
    """Write the small site, or another in its place, with its scenario named ``site`` so that it is the default."""
    texts = {"scenarios/site.yaml": scenario, "jobs/queue.csv": jobs, "tables/small.csv": small_table()}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def small_table() -> str:
    """A PUE table that covers 0 to 3 kW and -20 to 45 C, with cooling that grows with both."""
    temperatures = range(-20, 50, 5)
    rows = [",".join(["it_power_w", *map(str, temperatures)])]
    for power_w in range(0, 3001, 100):
        cells = (f"{0.1 + power_w / 20000 + max(0, celsius) / 100:.4f}" for celsius in temperatures)
        rows.append(",".join([str(power_w), *cells]))
    return "\n".join(rows) + "\n"


def tree(folder: Path) -> dict[str, bytes]:
    """Every file and folder below, hidden ones too, with its contents."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else b"folder"
        for path in sorted(folder.rglob("*"))
    }


def names(folder: Path) -> list[str]:
    """What a folder holds, hidden entries too."""
    return sorted(path.name for path in folder.iterdir())


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV by column."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def column_sum(path: Path, column: str) -> float:
    """The sum of a column."""
    return sum(float(row[column]) for row in rows_of(path))


def plan(*arguments: str) -> None:
    """Run the command line and expect it to end well."""
    code = run(list(arguments))
    assert code == 0, f"plan {' '.join(arguments)} ended with {code}"


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run the command line and expect it to end with exit code 2 and one line, which is returned."""
    capsys.readouterr()
    code = run(list(arguments))
    assert code == 2, f"plan {' '.join(arguments)} ended with {code}"
    (line,) = capsys.readouterr().err.splitlines()
    return line
