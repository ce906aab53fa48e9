"""Claims about Slurm's accounts of ended jobs, above all about energy, which is often no measurement."""

from __future__ import annotations

from typing import Any

import pytest

from planner.errors import InputError
from planner.inputs.slurm.job import AllocatedNode, Request, SlurmJob
from planner.inputs.slurm.notations import Amounts
from planner.inputs.slurm.sacct_json import Accounts, read_accounting
from tests.slurm_documents import DIALECTS, NOW, Dialect, answer, sacct


def read(dialect: Dialect = "24.11", **values: Any) -> SlurmJob:
    (found,) = read_accounting(answer(sacct(dialect, **values), "sacct --json")).ended
    return found


def test_three_dialects_give_equal_jobs() -> None:
    """Who ran what, when, where, with how much."""
    expected = SlurmJob(
        job_id=41,
        name="array",
        user="bob",
        account="physics",
        partitions=("batch",),
        comment="flex=1h",
        state="finished",
        state_words=("COMPLETED",),
        submit_unix=NOW,
        start_unix=NOW + 5,
        end_unix=NOW + 65,
        limit_s=1800,
        array_job_id=40,
        array_task_id=0,
        allocated=(AllocatedNode("n7"), AllocatedNode("n8")),
        had=Amounts(None, 32, 65536, 8),
        request=Request(2),
        energy_j=500_000,
    )
    assert [read(dialect) for dialect in DIALECTS] == [expected] * 3


GARBAGE = (None, -2, "", 0, 2**63, 2**64 - 2, 2**64 - 1, 1.8446744073709552e19, "18446744073709551614", float("nan"))


@pytest.mark.parametrize("garbage", GARBAGE[:-1])
def test_energy_that_was_not_measured(garbage: object) -> None:
    """The batch step's counts where the job has none; where that has none either, there is none."""
    assert read(energy=garbage).energy_j is None
    assert read(energy=garbage, batch=garbage).energy_j is None
    assert read(energy=garbage, batch=1234).energy_j == 1234
    assert read(energy=99, batch=garbage).energy_j == 99


@pytest.mark.parametrize("dialect", DIALECTS)
def test_energy_in_every_dialect(dialect: Dialect) -> None:
    """A number, a text of digits, or a number with marks; the largest that is believed is below 2^63."""
    assert read(dialect, energy=None, batch={"set": True, "infinite": False, "number": 77}).energy_j == 77
    assert read(dialect, energy={"set": False, "infinite": False, "number": 0}, batch=5).energy_j == 5
    assert read(dialect, energy="42").energy_j == 42
    assert read(dialect, energy=2**63 - 1).energy_j == 2**63 - 1


def test_the_batch_step_by_its_number() -> None:
    """Later versions write ``41.batch``; the other steps do not count."""
    step = {"step": {"id": "41.batch"}, "statistics": {"energy": {"consumed": 9}}}
    assert read(energy=None, steps=[step]).energy_j == 9
    assert read(energy=None, steps=[step | {"step": {"id": "41.0"}}]).energy_j is None


def test_no_number_is_refused() -> None:
    """Energy may be missing, but not something else."""
    with pytest.raises(InputError, match=r"jobs\[0\]\.tres\.allocated\[2\]\.count is 'much', expected joules"):
        read(energy="much")
    with pytest.raises(InputError, match=r"jobs\[0\]\.steps\[1\]\.statistics\.energy\.consumed is a list"):
        read(energy=None, batch=[1])


def test_jobs_that_have_not_ended_have_no_end() -> None:
    """They are there, but not among those that have ended."""
    unended = {"submission": NOW, "start": NOW, "end": 0}
    assert [job.end_unix for job in read_accounting(answer(sacct("24.11", time=unended))).jobs] == [None]
    for state in (["RUNNING"], ["PENDING"], ["COMPLETED", "COMPLETING"]):
        found = read_accounting(answer(sacct("24.11", state={"current": state})))
        assert (found.ended, [job.end_unix for job in found.jobs]) == ((), [None])


def test_a_job_that_never_ran() -> None:
    """It has an end and no start."""
    found = read(
        nodes="None assigned",
        state={"current": ["CANCELLED by 1000"]},
        time={"submission": NOW, "start": 0, "end": NOW + 9},
        tres={"allocated": []},
        steps=[],
    )
    assert (found.start_unix, found.end_unix, found.nodes, found.had.cpus) == (None, NOW + 9, (), None)
    assert (found.state_words, found.energy_j) == (("CANCELLED",), None)


def test_whole_nodes() -> None:
    """Known where the command says so; an option of the job's own program does not count."""
    assert read(submit_line="sbatch --exclusive job.sh").request.exclusive is True
    assert read(submit_line="sbatch --exclusive=user job.sh").request.exclusive is True
    assert read(submit_line="sbatch --wrap 'x --exclusive'").request.exclusive is None
    assert read(submit_line="sbatch --wrap srun --exclusive x").request.exclusive is None
    assert read(submit_line="sbatch 'unbalanced").request.exclusive is None


def test_users_of_old_versions() -> None:
    """22.05 may have the user beside the association only."""
    assert read(user=None, association={"user": "eve"}).user == "eve"
    assert read(user=None, association=None).user == ""


def test_a_day_without_jobs_is_no_error() -> None:
    """22.05 reports it as one; any other error still is."""
    error = {"error_number": 9003, "description": "Nothing found", "error": "Nothing found with query"}
    assert read_accounting(answer({"errors": [error], "jobs": []})) == Accounts()
    with pytest.raises(InputError, match="Slurm reports 'Nothing found"):
        read_accounting(answer({"errors": [{**error, "error_number": 2}], "jobs": []}))
