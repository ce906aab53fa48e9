"""Small job tables, written and read for tests."""

from __future__ import annotations

from pathlib import Path

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.intake import Intake
from planner.domain.job import Job, UnitGroup
from planner.inputs.jobs.power_models import per_core
from planner.inputs.jobs.read import read_jobs
from planner.inputs.jobs.unit_groups import UnitShape

POWER = per_core(10.0)
FIRST = "job_id,submit_time,requested_s,cores"


def read(path: Path, resources: tuple[str, ...] = (), **options: object) -> tuple[tuple[Job, ...], Intake]:
    machine = NodeClass("cpu", 1, {"cores": 32} | dict.fromkeys(resources, 1.0))
    return read_jobs(path, shape=UnitShape(32), power=POWER, **{"cluster": Cluster((machine,))} | options)


def table(folder: Path, *lines: str) -> Path:
    path = folder / "jobs.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def one(folder: Path, resources: tuple[str, ...] = (), **cells: object) -> Job:
    """The job of a table with one row; what is not given is usual."""
    defaults = {"job_id": "a", "submit_unix": 1000, "requested_s": 60}
    for name, other in (("submit_unix", "submit_time"), ("requested_s", "requested_h")):
        if other in cells:
            del defaults[name]
    cells = defaults | cells
    path = table(folder, ",".join(cells), ",".join(str(value) for value in cells.values()))
    return read(path, resources)[0][0]


def groups(*parts: tuple[int, dict[str, float]]) -> tuple[UnitGroup, ...]:
    return tuple(UnitGroup.of(count, amounts) for count, amounts in parts)
