"""Claims about reports by class, partition and QOS, with GPU-hours and CO2, on a site whose figures follow by hand."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from planner.cli.main import run
from planner.store.costs import KEYS
from tests.days import plan, rows_of, small_table

SITE = """\
zone: Europe/Paris
jobs: {source: ../jobs/queue.csv}
cluster:
  classes:
    cpu: {count: 2, capacity: {cores: 8}, idle_w: 20}
    gpu: {count: 2, capacity: {cores: 8, gpus: 4}, idle_w: 30}
  partitions: {batch: [cpu], accel: [gpu], any: [cpu, gpu]}
weather: {source: constant, temperature_c: 12}
tariff: {kind: flat, eur_per_kwh: 0.2}
carbon: {eur_per_tonne: 80, g_per_kwh: 350}
cooling: {table: ../tables/small.csv}
revenue: {eur_per_core_hour: 0.05}
search: {lookahead_days: 1}
"""
JOBS = """\
job_id,submit_time,requested_h,units,cores_per_unit,gpus_per_unit,power_w,account,user,partition,qos
1,2024-05-31T20:00Z,6,1,4,,90,maths,ann,batch,high
2,2024-05-31T20:01Z,2,2,4,,80,maths,bob,batch,
3,2024-05-31T20:02Z,3,2,8,2,400,bio,cy,accel,high
4,2024-05-31T20:03Z,5,4,2,,120,bio,cy,"any",
"""
RAN = """\
JobID|User|Account|Partition|State|Submit|Start|End|NodeList|AllocCPUS|AllocTRES
1|ann|maths|batch|COMPLETED|2024-05-31T22:00:00|2024-06-01T01:00:00|2024-06-01T05:00:00|cpu1|4|cpu=4,node=1
5|eve|maths|accel|COMPLETED|2024-05-31T22:00:00|2024-06-01T02:00:00|2024-06-01T04:00:00|gpu1|8|cpu=8,node=1,gres/gpu=4
"""
DAY = "2024-06-01"


@pytest.fixture
def costs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of reports of a planned day."""
    for name, text in {"scenarios/site.yaml": SITE, "jobs/queue.csv": JOBS, "tables/small.csv": small_table()}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    plan("--day", DAY, "-m", "est", "--bound-time", "0", "-q")
    return tmp_path / "reports" / "site" / "costs"


def lines(costs: Path, by: str, column: str) -> dict[str, dict[str, str]]:
    """The rows of a report by what they are of; the site's own has no name."""
    plan("report", "--day", DAY, "--by", by, "-q")
    return {row[column]: row for row in rows_of(costs / f"{DAY}-by-{by}.csv")}


def test_partition_and_co2_are_in_the_schedule_and_audited(costs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each job keeps its partition, and has its part of the CO2: 0.35 kg for each of its kWh, as all are bought."""
    folder = costs.parent / DAY
    rows = rows_of(folder / "schedule.csv")
    assert {row["job_id"]: row["partition"] for row in rows} == {"1": "batch", "2": "batch", "3": "accel", "4": "any"}
    for row in rows:
        kwh = sum(float(row[name]) for name in ("work_kwh", "idle_kwh", "cooling_kwh"))
        assert float(row["carbon_kg"]) == pytest.approx(0.35 * kwh, abs=2e-6)
    plan("audit", str(folder))
    assert "clean" in capsys.readouterr().out
    path = folder / "schedule.csv"
    shown = rows[0]["carbon_kg"]
    path.write_text(path.read_text().replace(f",{shown}", ",9.000000", 1))
    assert run(["audit", str(folder)]) == 5
    assert "carbon_kg is 9" in capsys.readouterr().err


def test_lines_by_class_partition_and_qos(costs: Path) -> None:
    """Core-hours and GPU-hours by hand: 1 has 24, 2 has 16, 3 has 48 with 12 GPU-hours, 4 has 40 on any class."""
    classes = lines(costs, "class", "class")
    where = {row["job_id"]: row["nodes"] for row in rows_of(costs.parent / DAY / "schedule.csv")}
    both = "+".join(name for name in ("cpu", "gpu") if name in where["4"])
    wanted = {"cpu": 40, "gpu": 48}
    wanted[both] = wanted.get(both, 0) + 40
    assert {key: float(row["core_hours"]) for key, row in classes.items() if key} == wanted
    assert {key: float(row["gpu_hours"]) for key, row in classes.items()} == dict.fromkeys(classes, 0) | {"gpu": 12}
    partitions = lines(costs, "partition", "partition")
    told = {key: (float(row["core_hours"]), float(row["gpu_hours"])) for key, row in partitions.items() if key}
    assert told == {"batch": (40, 0), "accel": (48, 12), "any": (40, 0)}
    plan("report", "--day", DAY, "--by", "qos", "-q")
    rows = [row for row in rows_of(costs / f"{DAY}-by-qos.csv") if row["kind"] == "qos"]
    assert {row["qos"]: float(row["core_hours"]) for row in rows} == {"high": 72, "": 56}


@pytest.mark.parametrize("by", KEYS)
def test_every_output_has_gpus_and_co2(costs: Path, by: str, capsys: pytest.CaptureFixture[str]) -> None:
    """CSV, Parquet, JSON, page and terminal: the lines sum to the day's CO2 and to 12 GPU-hours."""
    plan("report", "--day", DAY, "--by", by, "--also", "parquet")
    shown = capsys.readouterr().out
    total = json.loads((costs.parent / DAY / "summary.json").read_text())["totals"]["carbon_kg"]
    assert total > 1
    rows = rows_of(costs / f"{DAY}-by-{by}.csv")
    frame = pd.read_parquet(costs / f"{DAY}-by-{by}.parquet")
    for name, whole in (("carbon_kg", Decimal(str(total))), ("gpu_hours", Decimal(12))):
        assert sum(Decimal(row[name]) for row in rows) == whole
        assert frame[name].tolist() == [Decimal(row[name]) for row in rows]
    head, *_, last = [line for line in shown.splitlines() if line.startswith((f"{by} ", "all "))]
    assert "GPU-hours" in head
    assert "kg CO2" in head
    assert f" {total:,.1f} " in last
    page = (costs / f"{DAY}-by-{by}.html").read_text(encoding="utf-8")
    assert "GPU-hours" in page
    assert f'value="{total:.6f}"' in page
    plan("report", "--day", DAY, "--by", by, "--json")
    told = json.loads(capsys.readouterr().out)["lines"]
    assert sum(line["carbon_kg"] for line in told) == pytest.approx(total)


def test_planned_and_booked_side_by_side(costs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By partition: batch ran 16 of 40 core-hours; accel had other jobs, with 8 of 12 GPU-hours; any did not run."""
    Path("sacct.txt").write_text(RAN)
    plan("book", "--day", DAY, "--sacct", "sacct.txt", "-q")
    plan("report", "--day", DAY, "--by", "partition")
    shown = capsys.readouterr().out
    assert "GPU-hours diff" in shown
    assert "kg CO2 diff" in shown
    rows = {row["partition"]: row for row in rows_of(costs / f"{DAY}-by-partition-planned.csv")}
    told = {
        key: tuple(float(row[f"{side}_{name}"]) for name in ("core_hours", "gpu_hours") for side in ("planned", "real"))
        for key, row in rows.items()
        if key
    }
    assert told == {"batch": (40, 16, 0, 0), "accel": (48, 16, 12, 8), "any": (40, 0, 0, 0)}
    summary = json.loads((costs.parent / DAY / "summary.json").read_text())
    real = sum(Decimal(row["real_carbon_kg"]) for row in rows.values())
    assert real == Decimal(str(summary["totals"]["carbon_kg"]))
    page = (costs / f"{DAY}-by-partition.html").read_text(encoding="utf-8")
    assert page.count("GPU\u2011hours") == 1
