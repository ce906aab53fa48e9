"""Claims about short texts as Slurm writes them: amounts, generic resources, tasks of arrays."""

from __future__ import annotations

import pytest

from planner.inputs.slurm.job import job_state
from planner.inputs.slurm.notations import Amounts, ArrayTasks, Gres, parse_gres, parse_tasks, parse_tres


@pytest.mark.parametrize("text", ["none", "gres:none", "gres/none", "none,none", ""])
def test_none_is_no_resource(text: str) -> None:
    """Slurm's word for nothing stands where resources would, of nodes and of jobs."""
    assert parse_gres(text) == Gres()
    assert parse_gres(f"gres:gpu:2,{text}") == Gres(gpus=2)


def test_gpus_with_and_without_their_type_count_once() -> None:
    """Both counts may stand in one text, or either."""
    assert parse_tres("cpu=8,gres/gpu=4,gres/gpu:a100=4") == Amounts(None, 8, None, 4)
    assert parse_tres("gres/gpu:a100=2,gres/gpu:v100=1").gpus == 3
    assert parse_tres("gres/gpu=4,gres/gpu:a100=2").gpus == 4
    assert parse_tres("cpu=8").gpus is None


@pytest.mark.parametrize(
    ("text", "memory_mb"), [("mem=8000M", 8000), ("mem=1.5G", 1536), ("mem=1K", 1), ("mem=7", 7), ("mem=1T", 2**20)]
)
def test_memory_is_in_mb_and_rounded_up(text: str, memory_mb: int) -> None:
    """1.5 GB are 1,536 MB; a part of a MB is one."""
    assert parse_tres(text).memory_mb == memory_mb


def test_tasks_of_an_array() -> None:
    """Each once and sorted, with steps; a limit of 0 is none."""
    assert parse_tasks("5,1-3,2%2") == ArrayTasks((1, 2, 3, 5), 2)
    assert parse_tasks("[1-9:4%0]") == ArrayTasks((1, 5, 9), None)


def test_a_job_that_is_put_back_waits() -> None:
    """Words of its last end may stand beside those of waiting."""
    assert job_state(["COMPLETED", "REQUEUED"]) == "pending"
    assert job_state(["FAILED", "SPECIAL_EXIT"]) == "pending"
    assert job_state(["COMPLETED", "COMPLETING"]) == "running"
    assert job_state(["CANCELLED"]) == "finished"
