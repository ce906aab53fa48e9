"""Claims about mutated snapshots: one clear line or a snapshot that can be, whatever the tables say."""

from __future__ import annotations

import random
import warnings
from pathlib import Path

import pytest

from planner.domain.situation_check import require_possible
from planner.errors import LONGEST, InputError
from tests.fuzz.damage import put
from tests.fuzz.grid import Grid, csv_text, mutated, read_grid
from tests.snapshots import HEAD, read, row, site
from tests.written_snapshots import write_snapshot

JOBS = "\n".join(
    [
        HEAD + ",start_unix,unit_nodes,name",
        row("a", "running", "07:00", nodes="cpu[1-2]", size="3,4") + ",,,x",
        row("b", "running", "07:30", size="2,2") + ",,2*2,",
        row("c", "done", "", "06:30", "gpu1") + ",1717220000,,",
        row("d", "cancelled", "06:00", "06:10", "cpu3,cpu4", size="2,8") + ",,,",
        row("e", "cancelled") + ",,,",
        row("f", "pending", size="7,8") + ",,,",
    ]
)
NODES = 'node,state,from,to\n"cpu[3-4]",drain,,2024-06-01T09:00:00Z\ngpu2,down,2024-06-01T07:00:00Z,\ncpu1,up,,\n'
ODD_NODES = (
    "cpu[1-",
    "cpu[1-99999999]",
    "cpu[-1]",
    "[1-2]",
    "cpu1" + ",cpu1" * 5000,
    "1",
    "cpu\u0661",
    "cpu[\u0661]",
    "0-5*9",
)


def written(rng: random.Random, path: Path, grid: Grid) -> Path:
    for _ in range(rng.choice([0, 1])):
        cells = rng.choice(grid[1:])
        cells[rng.choice([0, rng.randrange(len(cells)), 8 % len(cells), 10 % len(cells)])] = rng.choice(ODD_NODES)
    return put(rng, path, csv_text(rng, mutated(rng, grid)).encode("utf-8", "surrogatepass"))


def test_unchanged_they_read(tmp_path: Path) -> None:
    """What is mutated is sound."""
    (tmp_path / "now.csv").write_text(JOBS)
    (tmp_path / "nodes.csv").write_text(NODES)
    snapshot, _ = read(tmp_path / "now.csv", tmp_path / "nodes.csv")
    assert (len(snapshot.jobs), len(snapshot.outages)) == (6, 3)


@pytest.mark.slow(keep=100)
@pytest.mark.parametrize("seed", range(400))
def test_mutated_tables(tmp_path: Path, seed: int) -> None:
    """No traceback, no warning, no long or unprintable line; what is read is possible and survives writing."""
    rng = random.Random(seed)
    jobs, nodes = read_grid(JOBS), read_grid(NODES)
    if rng.random() < 0.7:
        path, nodes_path = written(rng, tmp_path / "now.csv", jobs), put(rng, tmp_path / "nodes.csv", NODES.encode())
    else:
        path, nodes_path = put(rng, tmp_path / "now.csv", JOBS.encode()), written(rng, tmp_path / "nodes.csv", nodes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            snapshot, _ = read(path, nodes_path)
        except InputError as error:
            text = str(error)
            assert text.isprintable()
            assert len(text) <= LONGEST
            return
    require_possible(snapshot, site().cluster)
    write_snapshot(snapshot, tmp_path / "again.csv", cluster=site().cluster, nodes_path=tmp_path / "nodes-again.csv")
    assert read(tmp_path / "again.csv", tmp_path / "nodes-again.csv")[0] == snapshot
