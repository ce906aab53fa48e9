"""Rolling days with deadlines, overdue jobs, power limits and real runtimes: every night has a plan of its method."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import DAY
from tests.factories import DAY as FIRST
from tests.fuzz.site import write_site

LAST = "2024-06-05"

SITE = """\
name: crowded
zone: UTC
seed: {seed}
jobs: {{source: ../jobs/crowded.csv, visibility: {visibility}, whole_queue: false}}
cluster:
  power_limit_kw: 2.5
  classes:
    cpu: {{count: 3, capacity: {{cores: 8, memory_gb: 32}}}}
    gpu: {{count: 1, capacity: {{cores: 4, memory_gb: 32, gpus: 2}}}}
weather: {{source: constant, temperature_c: 15}}
tariff:
  kind: bands
  eur_per_kwh: 0.15
  bands: [{{from: "02:00", to: "05:00", eur_per_kwh: -0.04}}, {{from: "17:30", to: "20:15", eur_per_kwh: 0.31}}]
cooling: {{table: ../tables/small.csv}}
power: {{w_per_core: 12}}
revenue: {{eur_per_core_hour: {revenue}}}
rules: {{defer: {defer}, execute: {execute}, max_deferral_days: 2}}
"""


def crowded_jobs(rng: random.Random) -> str:
    """More work than the days have room for, a quarter of it with a deadline, some in units of several sizes."""
    rows = ["job_id,submit_unix,requested_s,unit_groups,power_w,runtime_s,deadline_unix"]
    for number in range(60):
        submit = FIRST.start_unix - 20_000 + rng.randrange(4 * 86_400)
        requested = int(rng.choice([600, 3600, 20_000, 60_000, 100_000]) * rng.uniform(0.5, 1.2))
        units = f"{rng.randint(1, 3)}x cores={rng.randint(1, 8)}"
        if rng.random() < 0.25:
            units += f"; {rng.randint(1, 2)}x cores={rng.randint(1, 4)}"
        deadline = submit + requested + rng.randint(-100, 100_000) if rng.random() < 0.25 else ""
        power, runtime = round(rng.uniform(50, 900), 2), int(requested * rng.uniform(0.05, 1))
        rows.append(f"q{number},{submit},{requested},{units},{power},{runtime},{deadline}")
    return "\n".join(rows) + "\n"


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("method", ["multisearch", "delay", "harvest"])
@pytest.mark.parametrize(("seed", "defer", "execute"), [(0, "full", "requested"), (2, "free", "actual")])
def test_no_night_is_left_to_a_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, seed: int, defer: str, execute: str
) -> None:
    """Jobs put first by ``max_deferral_days`` and jobs whose deadline falls today get a clean plan, day after day."""
    site = write_site(tmp_path)
    revenue, visibility = (0.02, "day") if seed % 4 else (0.0005, "midnight")
    text = SITE.format(seed=seed, defer=defer, execute=execute, revenue=revenue, visibility=visibility)
    (site / "scenarios" / "crowded.yaml").write_text(text, encoding="utf-8")
    (site / "jobs" / "crowded.csv").write_text(crowded_jobs(random.Random(seed)), encoding="utf-8")
    monkeypatch.chdir(site)
    words = ["run", "--from", DAY, "--to", LAST, "-s", "crowded", "-m", method, "--no-page", "--bound-time", "0"]
    assert run([*words, "--iterations", "1500", "--time-limit", "5s", "-q"]) == 0
    summaries = [json.loads(path.read_text()) for path in sorted(site.glob("reports/crowded/2024-*/summary.json"))]
    assert len(summaries) == 5
    assert [summary["stands_in_for"] for summary in summaries] == [None] * 5
    assert {summary["method"] for summary in summaries} == {method}
