"""A small site, tables of its jobs, and random snapshots of it, for tests."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from planner.domain.cluster import Cluster
from planner.domain.intake import Intake
from planner.domain.job import Job
from planner.domain.situation import Outage, Situation, StartedJob, outage_key
from planner.domain.situation_check import require_possible
from planner.errors import InputError
from planner.inputs.snapshots import read_snapshot
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from tests.factories import random_job
from tests.fuzz.site import write_site

NOW = 1717228800
"""2024-06-01T08:00:00Z."""
HEAD = "job_id,submit_time,requested_h,units,cores_per_unit,state,start_time,end_time,nodes"


@cache
def site(*settings: str) -> Scenario:
    """Four nodes ``cpu1`` to ``cpu4`` of 8 cores and 32 GB; ``gpu1``, ``gpu2`` of 4 cores, 64 GB and 2 GPUs."""
    with TemporaryDirectory() as folder:
        write_site(Path(folder))
        return load_scenario("site", folders=[Path(folder) / "scenarios"], overrides=settings)


def at(clock: str) -> str:
    """A time of the day in UTC."""
    return f"2024-06-01T{clock}:00Z"


def row(identity: str, state: str, start: str = "", end: str = "", nodes: str = "", *, size: str = "1,4") -> str:
    """A row below `HEAD`; ``size`` is units and cores of each."""
    return f'{identity},{at("05:00")},4,{size},{state},{start and at(start)},{end and at(end)},"{nodes}"'


def table(folder: Path, *rows: str, head: str = HEAD) -> Path:
    path = folder / "now.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def states(folder: Path, *rows: str, head: str = "node,state,from,to") -> Path:
    path = folder / "nodes.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def read(path: Path, nodes_path: Path | None = None, scenario: Scenario | None = None) -> tuple[Situation, Intake]:
    return read_snapshot(path, at_unix=NOW, scenario=scenario or site(), nodes_path=nodes_path)


def random_snapshot(rng: np.random.Generator, cluster: Cluster) -> Situation:
    """Waiting, running, ended and withdrawn jobs, and nodes that cannot be used; nothing that cannot be."""
    jobs = [random_job(rng, number, cluster) for number in range(int(rng.integers(0, 9)))]
    snapshot = Situation(NOW, outages=_random_outages(rng, cluster))
    for job in jobs:
        snapshot = _with(rng, snapshot, job, cluster)
    return snapshot


def _with(rng: np.random.Generator, snapshot: Situation, job: Job, cluster: Cluster) -> Situation:
    """The snapshot with one more job: started where that is possible and chosen, else waiting or withdrawn."""
    pending, started, withdrawn = snapshot.pending, snapshot.started, snapshot.withdrawn
    if rng.random() < 0.7:
        start = NOW - int(rng.integers(0, 9000))
        end = None if rng.random() < 0.5 else int(rng.integers(start, NOW + 1))
        cancelled = end is not None and rng.random() < 0.3
        nodes = tuple(int(node) for node in rng.integers(0, cluster.node_count, job.unit_count))
        more = [*started, StartedJob(job, start, nodes, end, cancelled)]
        found = Situation(
            NOW,
            pending,
            tuple(sorted(more, key=lambda each: (each.start_unix, *each.job.submission_key))),
            withdrawn,
            snapshot.outages,
        )
        try:
            require_possible(found, cluster)
            return found
        except InputError:
            pass
    if rng.random() < 0.7:
        pending = tuple(sorted([*pending, job], key=lambda each: each.submission_key))
    else:
        withdrawn = tuple(sorted([*withdrawn, job], key=lambda each: each.submission_key))
    return Situation(NOW, pending, started, withdrawn, snapshot.outages)


def _random_outages(rng: np.random.Generator, cluster: Cluster) -> tuple[Outage, ...]:
    found = set()
    for _ in range(int(rng.integers(0, 4))):
        start = 0 if rng.random() < 0.3 else NOW + int(rng.integers(-5000, 5000))
        end = None if rng.random() < 0.3 else max(start, NOW) + int(rng.integers(1, 5000))
        state = ("down", "drain", "maintenance")[int(rng.integers(0, 3))]
        found.add(Outage(int(rng.integers(0, cluster.node_count)), start, end, state))  # type: ignore[arg-type]
    return tuple(sorted(found, key=outage_key))
