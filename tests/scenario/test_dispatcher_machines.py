"""The machines of the papers on dispatchers: what their nodes add up to, and the jobs that are made for them."""

from __future__ import annotations

import gzip
import importlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from planner.cooling.plant import AIR, build_table
from planner.inputs.pue_csv import read_pue_table
from planner.inputs.traces import read_cluster
from planner.places import shipped_folder
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.text_files import csv_text

HEADER = "job_id,queue,submit,start,end,req_nodes,req_cores,req_mem,req_walltime,alloc_nodes,alloc_cores,gpus,mics"
EURORA_ROWS = f"""\
{HEADER},node_ids,pred_power_w
1,debug,2014-04-01 08:00:00,2014-04-01 08:00:10,2014-04-01 08:05:10,1,4,6,00:30,1,4,1,0,40,31.0
2,parallel,2014-04-01 08:00:30,2014-04-01 09:00:00,2014-04-01 11:30:00,4,64,56,04:00,4,64,0,8,3+4+5+6,
3,parallel,2014-04-01 08:01:00,2014-04-01 09:00:00,2014-04-01 09:20:00,2,16,100,01:30,2,16,0,0,1+2,12.0
4,R,2014-04-01 08:02:00,2014-04-01 09:00:00,2014-04-01 09:00:00,1,1,1,01:00,1,1,0,0,7,
"""


def shipped(name: str) -> Scenario:
    return load_scenario(name, folders=[shipped_folder() / "scenarios"])


@pytest.fixture
def eurora(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return importlib.import_module("eurora")


@pytest.fixture
def kit_jobs(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return importlib.import_module("kit_jobs")


@pytest.mark.parametrize(
    ("name", "nodes", "totals"),
    [
        # 64 nodes of 16 cores and 16 GB; two GPUs in 32 of them, two MICs in the others.
        ("eurora", 64, {"cores": 1024, "memory_gb": 1024, "gpus": 64, "mics": 64}),
        # 1,152 x 20 + 21 x 48 cores; 1,152 x 64 + 21 x 1,024 GB; 21 x 4 GPUs.
        ("kit-forhlr2", 1173, {"cores": 24_048, "memory_gb": 95_232, "gpus": 84}),
    ],
)
def test_the_nodes_add_up(name: str, nodes: int, totals: Mapping[str, float]) -> None:
    """The machines have what the papers say."""
    classes = shipped(name).cluster.classes
    assert sum(each.count for each in classes) == nodes
    found = {key: sum(each.count * each.capacity.get(key, 0) for each in classes) for key in totals}
    assert found == totals
    assert {key for each in classes for key in each.capacity} == set(totals)


def test_the_cooling_of_kit_is_that_of_the_sample_for_more_power() -> None:
    """All cores at the most that a core draws, 11.11 W, are 267 kW: within the table, which the model builds."""
    table, _ = read_pue_table(shipped("kit-forhlr2").cooling.table)
    built = build_table(AIR.scaled_to(300_000), name="air-300kw", max_power_w=300_000, power_step_w=1000)
    np.testing.assert_array_equal(table.cooling, built.cooling)
    assert table.powers_w[-1] == 300_000 > 24_048 * 11.11


def test_jobs_of_eurora_can_be_replayed(eurora: ModuleType, tmp_path: Path) -> None:
    """Nodes become units with their part of everything, walltimes are hours and minutes; what is wrong is counted."""
    source = tmp_path / "jobs.csv.gz"
    source.write_bytes(gzip.compress(EURORA_ROWS.encode()))
    told = eurora.write_replay(tmp_path / "replay.csv", eurora.rows(source))
    assert told == [
        f"{tmp_path / 'replay.csv'}: 3 of 4 jobs",
        # Job 3 asks for 50 GB on each of two nodes of 16 GB.
        "  1 more memory than their nodes have: cut to 16 GB per node",
        "  1 left out: ended when they started",
    ]
    read = read_cluster(tmp_path / "replay.csv", shipped("eurora"))
    assert (read.intake.kept, read.intake.dropped, read.intake.repaired) == (3, {}, {})
    assert read.trace.submit_s.tolist() == [0, 30, 60]
    assert read.trace.requested_s.tolist() == [1800, 14_400, 5400]
    assert read.trace.runtime_s.tolist() == [300, 9000, 1200]
    units = [[(group.count, dict(group.amounts)) for group in job.units] for job in read.jobs]
    assert units == [
        [(1, {"cores": 4, "memory_gb": 6, "gpus": 1})],
        [(4, {"cores": 16, "memory_gb": 14, "mics": 2})],
        [(2, {"cores": 8, "memory_gb": 16})],
    ]


def test_made_jobs_of_kit(kit_jobs: ModuleType, tmp_path: Path) -> None:
    """The same seed makes the same jobs, 66 % under an hour, of the load that was asked for; all of them fit."""
    made = kit_jobs.made_jobs(days=2, load=0.5, seed=3)
    assert made == kit_jobs.made_jobs(days=2, load=0.5, seed=3)
    assert made != kit_jobs.made_jobs(days=2, load=0.5, seed=4)
    path = tmp_path / "kit.csv"
    path.write_text(csv_text([kit_jobs.COLUMNS, *made]))
    read = read_cluster(path, shipped("kit-forhlr2"))
    assert (read.intake.kept, read.intake.dropped, read.intake.repaired) == (len(made), {}, {})
    # With some 5,000 jobs the share under an hour has a standard deviation of 0.7 %.
    assert np.mean(read.trace.runtime_s < 3600) == pytest.approx(0.66, abs=0.02)
    cores = np.array([job.total("cores") for job in read.jobs])
    # The last job, of at most 1,440 cores for two days, is left out where it would be too much.
    most = 1440 * 48 * 3600
    work = 0.5 * 2 * 24 * 3600 * 24_048
    assert work - most < cores @ read.trace.runtime_s <= work
    assert 40 * 3600 < read.trace.submit_s.max() < 48 * 3600
    assert {name for job in read.jobs for group in job.units for name, _ in group.amounts} == {"cores", "memory_gb"}
