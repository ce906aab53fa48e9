"""Claims about what real versions of Slurm have written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from planner.inputs.slurm.queue import read_queue
from planner.inputs.slurm.sacct_json import read_accounting


@pytest.fixture
def samples(planner_data: Path) -> Path:
    """The folder of samples beside the real data; skips without it."""
    folder = planner_data.parent / "slurm" / "samples"
    if not folder.is_dir():
        pytest.skip(f"samples of Slurm not found at {folder}")
    return folder


@pytest.mark.parametrize(("version", "count"), [("22.05", 26), ("24.11", 26), ("26.05", 18)])
def test_real_queues(samples: Path, version: str, count: int) -> None:
    """Every job is there: of 17 or 9 records, one is an array of ten tasks that wait."""
    jobs = {job.label: job for job in read_queue(samples / f"squeue_{version}.json").jobs}
    assert len(jobs) == count
    assert {f"42_{task}" for task in range(1, 11)} <= jobs.keys()
    assert {jobs[f"42_{task}"].array_limit for task in range(1, 11)} == {2}
    running = jobs["1"]
    assert (running.state, running.request.exclusive, len(running.allocated)) == ("running", True, 4)
    assert (running.allocated[0].cpus, running.allocated[0].gpus) == (32, 4)
    assert jobs["25"].request.gpus_per_node == 4
    assert jobs["28"].request.exclusive is True
    assert jobs["34"].obstacles == ("it is held",)
    assert jobs["35"].begin_unix == jobs["35"].submit_unix + 6 * 3600
    assert jobs["32"].deadline_unix is not None
    assert [each.job_id for each in jobs["39"].dependency.requirements] == [2, 38]


@pytest.mark.parametrize("version", ["22.05", "24.11"])
def test_what_the_larger_queues_have_besides(samples: Path, version: str) -> None:
    """Ranges of nodes, an unlimited job, parts of a heterogeneous one, GPUs in all."""
    jobs = {job.label: job for job in read_queue(samples / f"squeue_{version}.json").jobs}
    assert (jobs["29"].request.min_nodes, jobs["29"].request.max_nodes) == (2, 6)
    assert jobs["26"].request.gpus_in_all == 6
    assert {label for label, job in jobs.items() if job.obstacles} == {"31", "34", "43_1", "50", "51"}
    assert jobs["45"].request.nodes == ("n3", "n4")


@pytest.mark.parametrize("version", ["24.11", "26.05"])
def test_the_same_jobs_read_the_same(samples: Path, version: str) -> None:
    """Every field of every job as from 22.05, moments counted from its submission. The clusters differ in their users
    and QOS; what runs is on other nodes; 26.05 does not say of waiting jobs that they want no whole nodes."""
    old, new = (
        {job.label: job for job in read_queue(samples / f"squeue_{each}.json").jobs} for each in ("22.05", version)
    )
    assert len(new) > 9
    for label, job in new.items():
        if job.state == "pending":
            before, shift = old[label], job.submit_unix - old[label].submit_unix
            moments = {"begin_unix": before.begin_unix, "deadline_unix": before.deadline_unix}
            later = {name: None if unix is None else unix + shift for name, unix in moments.items()}
            request = job.request if job.request.exclusive is not None else replace(job.request, exclusive=False)
            same = {"user": job.user, "qos": job.qos, "submit_unix": job.submit_unix, **later}
            assert replace(before, **same) == replace(job, request=request)


@pytest.mark.parametrize("version", ["22.05", "24.11"])
def test_real_accounts(samples: Path, version: str) -> None:
    """Two jobs have ended, one waits; nothing measures energy there."""
    found = read_accounting(samples / f"sacct_{version}.json")
    assert [(job.job_id, job.had.cpus, job.energy_j) for job in found.ended] == [(3, 8, None), (4, 32, None)]
    assert [len(job.nodes) for job in found.ended] == [1, 2]
    assert len(found.jobs) - len(found.ended) == 1
