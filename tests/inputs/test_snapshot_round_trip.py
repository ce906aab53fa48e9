"""Claims about snapshots that are written: they read back the same, in both formats, whatever the order of the rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planner.domain.situation import Outage
from planner.inputs.snapshots import read_snapshot
from tests.snapshots import NOW, random_snapshot, read, site
from tests.written_snapshots import write_snapshot


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
@pytest.mark.parametrize("seed", range(40))
def test_random_snapshots_read_back_the_same(tmp_path: Path, suffix: str, seed: int) -> None:
    """Every job, time, node of each unit and outage."""
    cluster = site().cluster
    snapshot = random_snapshot(np.random.default_rng(seed), cluster)
    path, nodes_path = tmp_path / f"now{suffix}", tmp_path / f"nodes{suffix}"
    write_snapshot(snapshot, path, cluster=cluster, nodes_path=nodes_path)
    found, intake = read(path, nodes_path)
    assert found == snapshot
    assert found.source == str(path)
    assert intake.kept == len(snapshot.jobs)
    assert not intake.dropped


def test_random_snapshots_have_everything() -> None:
    """What the claim above is about occurs in it."""
    many = [random_snapshot(np.random.default_rng(seed), site().cluster) for seed in range(40)]
    assert all(
        any(test(each) for each in many)
        for test in (
            lambda each: each.running,
            lambda each: any(job.state == "done" for job in each.started),
            lambda each: any(job.state == "cancelled" for job in each.started),
            lambda each: each.withdrawn,
            lambda each: len(each.pending) > 1,
            lambda each: any(len(set(job.nodes)) < len(job.nodes) for job in each.started),
            lambda each: len(each.outages) > 1,
            lambda each: any(outage.end_unix is None for outage in each.outages),
            lambda each: not each.jobs,
        )
    )


@pytest.mark.parametrize("seed", range(10))
def test_the_order_of_rows_means_nothing(tmp_path: Path, seed: int) -> None:
    """Jobs are sorted as they are read."""
    rng = np.random.default_rng(seed)
    snapshot = replace(random_snapshot(rng, site().cluster), outages=())
    write_snapshot(snapshot, tmp_path / "now.csv", cluster=site().cluster)
    head, *rows = (tmp_path / "now.csv").read_text().splitlines()
    rng.shuffle(rows)
    (tmp_path / "other.csv").write_text("\n".join([head, *rows]) + "\n")
    assert read(tmp_path / "other.csv")[0] == snapshot


def test_outages_of_the_scenario_and_the_table_count_once(tmp_path: Path) -> None:
    """What both say is one outage; a snapshot read with ``cluster.down`` reads back the same."""
    down = site("cluster.down=[{nodes: cpu2}, {nodes: gpu1, state: drain}]")
    (tmp_path / "nodes.csv").write_text("node,state\ncpu2,down\ncpu3,maintenance\n")
    (tmp_path / "now.csv").write_text("job_id,submit_time,requested_h,cores\n")
    found, _ = read(tmp_path / "now.csv", tmp_path / "nodes.csv", down)
    assert found.outages == (Outage(1, 0, None, "down"), Outage(2, 0, None, "maintenance"), Outage(4, 0, None, "drain"))
    write_snapshot(found, tmp_path / "a.csv", cluster=down.cluster, nodes_path=tmp_path / "b.csv")
    again, _ = read_snapshot(tmp_path / "a.csv", at_unix=NOW, scenario=down, nodes_path=tmp_path / "b.csv")
    assert again == found
