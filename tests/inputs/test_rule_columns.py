"""Columns of job tables about rules of the queue: read, written back, and refused where they cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job
from planner.errors import FileFormatError
from planner.inputs.jobs.job_table import write_job_table
from planner.inputs.jobs.power_models import per_core
from planner.inputs.jobs.read import read_jobs
from planner.inputs.jobs.unit_groups import UnitShape

CLUSTER = Cluster(
    (
        NodeClass("cpu", 2, {"cores": 4}),
        NodeClass("gpu", 2, {"cores": 4, "gpus": 2}),
        NodeClass("fat", 1, {"cores": 8}),
    ),
    partitions={"gpu": ("gpu",), "big": ("gpu", "fat")},
)


def read(path: Path, cluster: Cluster | None = CLUSTER) -> tuple[Job, ...]:
    return read_jobs(path, shape=UnitShape(4), power=per_core(10.0), cluster=cluster)[0]


def table(folder: Path, **cells: str) -> Path:
    path = folder / "jobs.csv"
    names = ["job_id", "submit_time", "requested_s", "cores", *cells]
    values = ["a", "2024-06-01T08:00:00Z", "60", "4", *(f'"{cell}"' for cell in cells.values())]
    path.write_text(",".join(names) + "\n" + ",".join(values) + "\n")
    return path


@pytest.mark.parametrize(
    ("cells", "classes"),
    [
        ({"partition": "gpu"}, ("gpu",)),
        ({"partition": "gpu,big"}, ("fat", "gpu")),
        ({"node_class": " fat , cpu "}, ("cpu", "fat")),
        ({"partition": "big", "node_class": "cpu,fat"}, ("fat",)),
        ({"partition": "", "node_class": ""}, ()),
    ],
)
def test_partitions_and_classes(cells: dict[str, str], classes: tuple[str, ...], tmp_path: Path) -> None:
    """A job may run on any of its partitions, and there on any of its classes."""
    assert read(table(tmp_path, **cells))[0].classes == classes


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ({"partition": "gpus"}, "jobs.csv:2: there is no partition 'gpus'; there are gpu, big"),
        ({"node_class": "cpu,tpu"}, "jobs.csv:2: there is no node class 'tpu'; there are cpu, gpu, fat"),
        (
            {"partition": "gpu", "node_class": "cpu"},
            "jobs.csv:2: no node of partition gpu is of class cpu; correct one of them",
        ),
        ({"exclusive": "maybe"}, "jobs.csv:2: column exclusive is 'maybe', expected true or false"),
        (
            {"begin_time": "2024-06-01T08:00"},
            "jobs.csv:2: column begin_time is '2024-06-01T08:00', expected a time with",
        ),
        ({"priority": "-1"}, "jobs.csv:2: column priority is '-1', expected a number from 0 to 10,000"),
        ({"partition": "gpu,,big"}, "jobs.csv:2: column partition is 'gpu,,big', expected names with commas"),
    ],
)
def test_refused_cells(cells: dict[str, str], message: str, tmp_path: Path) -> None:
    """One line says where, what is wrong and what there is."""
    with pytest.raises(FileFormatError) as error:
        read(table(tmp_path, **cells))
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("cell", "exclusive"),
    [("true", True), ("YES", True), ("1", True), ("False", False), ("no", False), ("0", False), ("", False)],
)
def test_exclusive(cell: str, exclusive: bool, tmp_path: Path) -> None:
    """All usual ways to write it."""
    assert read(table(tmp_path, exclusive=cell))[0].exclusive is exclusive


@pytest.mark.parametrize(("cell", "priority"), [("2.5", 2.5), ("0", 0.0), ("", 1.0)])
def test_priority(cell: str, priority: float, tmp_path: Path) -> None:
    """Any number from 0 up; 1 if not given."""
    assert read(table(tmp_path, priority=cell))[0].priority == priority


def test_begin(tmp_path: Path) -> None:
    """A begin is read like a submit time, and delays the release alone."""
    (job,) = read(table(tmp_path, begin_time="2024-06-03T08:00:00.5+02:00"))
    assert (job.begin_unix, job.release_unix) == (1717394401, 1717394401)
    (job,) = read(table(tmp_path, begin_unix="1"))
    assert (job.begin_unix, job.release_unix) == (1, job.submit_unix)


def test_a_pool_of_processors_has_no_classes(tmp_path: Path) -> None:
    """Without a cluster partitions mean nothing, and stop nobody."""
    assert read(table(tmp_path, partition="night"), cluster=None)[0].classes == ()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_round_trip(suffix: str, tmp_path: Path) -> None:
    """What is written reads back as the same jobs, without partitions; without rules no column is written."""
    (job,) = read(table(tmp_path, partition="big", exclusive="true", begin_unix="1717394401", priority="2.5"))
    (plain,) = read(table(tmp_path))
    path = tmp_path / f"out{suffix}"
    write_job_table([job], path)
    assert read(path) == (replace(job, partition=""),)
    write_job_table([plain], path)
    assert read(path) == (plain,)
    if suffix == ".csv":
        assert path.read_text().splitlines()[0].endswith('"revenue_weight"')
