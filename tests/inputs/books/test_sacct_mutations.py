"""Claims about mutated text of ``sacct --parsable2``: one clear line or clean records, whatever it says."""

from __future__ import annotations

import random
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.json_document import DocumentAnswer, Source
from planner.inputs.slurm.sacct_json import GARBAGE_J, Accounts
from planner.inputs.slurm.sacct_text import read_sacct_text
from planner.limits import UNIX_S
from tests.fuzz.accounts import TEXT, odd_accounts
from tests.fuzz.damage import damaged, put
from tests.fuzz.refusals import read_or_refused

ZONES = tuple(map(ZoneInfo, ("Europe/Paris", "UTC", "America/St_Johns", "Pacific/Kiritimati")))


def check(source: Source, zone: ZoneInfo) -> bool:
    """Whether it reads; what does is clean, and written anew it reads as the same."""
    read = read_or_refused(read_sacct_text, source, zone)
    if read is None:
        return False
    found, _ = read
    for job in found.jobs:
        clean(job)
    plain = tuple(
        job for job in found.jobs if not any(sign in job.name + job.user + job.account + job.qos for sign in "|\r")
    )
    if len(plain) == len(found.jobs):
        head = "JobID|JobIDRaw|JobName|User|Account|Partition|State|Submit|Start|End|TimelimitRaw|Timelimit|NodeList"
        again = "\n".join([f"{head}|AllocTRES|ConsumedEnergyRaw|Comment|QOS|SubmitLine", *map(written, plain)])
        assert read_sacct_text(DocumentAnswer("again", again.encode()), zone)[0] == Accounts(plain)
    return True


def clean(job: SlurmJob) -> None:
    """Times within the calendar and in order, and amounts that can be counted."""
    for moment in (job.submit_unix, job.start_unix, job.end_unix):
        assert moment is None or moment in UNIX_S
    if job.start_unix is not None and job.end_unix is not None:
        assert job.start_unix <= job.end_unix
    for amount in (job.job_id, job.limit_s, job.had.cpus, job.had.memory_mb, job.had.gpus, job.array_task_id):
        assert amount is None or (type(amount) is int and amount >= 0)
    assert job.energy_j is None or 1 <= job.energy_j < GARBAGE_J
    assert len(job.state_words) == 1
    assert all(name and name == name.strip() for name in job.nodes)


def written(job: SlurmJob) -> str:
    """A job as sacct would write it, with times in Unix seconds."""
    limit_s = job.limit_s or 0
    whole = limit_s % 60 == 0
    clock = f"{limit_s // 3600}:{limit_s // 60 % 60:02d}:{limit_s % 60:02d}"
    amounts = {"node": job.had.nodes, "cpu": job.had.cpus, "mem": job.had.memory_mb, "gres/gpu": job.had.gpus}
    cells = (
        job.label,
        job.job_id,
        job.name,
        job.user,
        job.account,
        job.partition,
        job.state_words[0],
        job.submit_unix,
        "Unknown" if job.start_unix is None else job.start_unix,
        "Unknown" if job.end_unix is None else job.end_unix,
        limit_s // 60 if whole else "",
        "" if whole else clock,
        ",".join(job.nodes),
        ",".join(f"{name}={amount}" for name, amount in amounts.items() if amount is not None),
        job.energy_j or "",
        job.comment,
        job.qos,
        "sbatch --exclusive" if job.request.exclusive else "",
    )
    return "|".join(map(str, cells))


@pytest.mark.parametrize("zone", ZONES, ids=str)
def test_unchanged_it_reads(zone: ZoneInfo) -> None:
    """What is mutated is sound."""
    assert check(DocumentAnswer("sacct.txt", TEXT.encode()), zone)
    assert [job.label for job in read_sacct_text(DocumentAnswer("sacct.txt", TEXT.encode()), zone)[0].jobs] == [
        *("7", "40_3", "51", "60", "61")
    ]


@pytest.mark.parametrize("seed", range(20))
def test_mutated_cells(seed: int) -> None:
    """Odd words in every cell, rows and columns dropped, doubled, exchanged and cut."""
    rng = random.Random(f"sacct:{seed}")
    good = 0
    for _ in range(100):
        good += check(DocumentAnswer("sacct.txt", odd_accounts(rng)), rng.choice(ZONES))
    assert 0 < good < 100


@pytest.mark.parametrize("seed", range(20))
def test_damaged_files(tmp_path: Path, seed: int) -> None:
    """Bytes flipped, cut, put in between, packed, in other encodings, and things that are no files."""
    rng = random.Random(f"sacct file:{seed}")
    for number in range(25):
        check(DocumentAnswer("sacct.txt", damaged(rng, TEXT.encode())), rng.choice(ZONES))
        check(put(rng, tmp_path / f"{number}.txt", damaged(rng, TEXT.encode())), rng.choice(ZONES))
