"""Two hundred jobs of a real Slurm, planned and held in it: only holds are sent, and every job ends well."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from planner.slurm.commands import Slurm, queue_now
from planner.slurm.planned_holds import read_wanted
from tests.slurm.cluster import NODES, SEARCH, Cluster, until
from tests.slurm.site import write_holding_site

HOUR = 3600
QUICK = ("--bound-time", "0", "--hours", "48")
BUSY = ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")

Said = pytest.CaptureFixture[str]


@pytest.fixture
def live(empty_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A site to stand in, whose Slurm has every node of its own under maintenance for half an hour."""
    write_holding_site(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", SEARCH)
    monkeypatch.setenv("SLURM_CONF", str(empty_cluster.conf))
    for number in range(1, NODES + 1):
        words = ("StartTime=now", "Duration=30", "Users=root", "Flags=maint,ignore_jobs", f"Nodes=n{number}")
        empty_cluster.command("scontrol", "create", "reservation", f"ReservationName=m{number}", *words)
    yield empty_cluster
    empty_cluster.cancel_all()
    for number in range(1, NODES + 1):
        empty_cluster.command("scontrol", "delete", f"ReservationName=m{number}", check=False)


def submit_all(cluster: Cluster) -> dict[str, list[str]]:
    """Two hundred jobs that sleep for a second or two under limits of a minute, by what is special about them."""
    found: dict[str, list[str]] = {}

    def add(kind: str, count: int, *words: str) -> list[str]:
        accounts = ("--account=physics", "--account=chemistry")
        new = [cluster.submit("--time=1", accounts[i % 2], *words, sleep_s=1 + i % 2) for i in range(count)]
        found.setdefault(kind, []).extend(new)
        return new

    def add_array(kind: str, tasks: int, limit: str, *words: str) -> str:
        array = cluster.submit("--time=1", f"--array=1-{tasks}{limit}", *words, sleep_s=1)
        found.setdefault(kind, []).extend(f"{array}_{task}" for task in range(1, tasks + 1))
        return array

    add("held", 5, "--hold")
    arrays = [add_array("task", 20, "", "--ntasks=4") for _ in range(3)]
    add_array("limited", 6, "%2")
    add("plain", 40, "--ntasks=8")
    first = add("before", 8, "--ntasks=2")
    for each in first:
        add("after", 1, f"--dependency=afterok:{each}")
    add("after", 2, f"--dependency=afterany:{arrays[0]}")
    add("gpu", 12, "--gpus=2")
    add("gpu", 6, "--nodes=2", "--gpus-per-node=1")
    add("memory", 10, "--mem=60000")
    add("exclusive", 4, "--exclusive")
    add("deadline", 8, f"--deadline=now+{HOUR}")
    add("begin", 6, f"--begin=now+{2 * HOUR}")
    add("open", 25, "--partition=open", "--ntasks=4")
    return found


def facts(said: Said, *arguments: str) -> Any:
    """The JSON that a command prints when all is well."""
    said.readouterr()
    code = run([*arguments, "--json"])
    out, err = said.readouterr()
    assert code == 0, f"plan {' '.join(arguments)}: {err}{_not_taken(out)}"
    return json.loads(out)


def _not_taken(out: str) -> str:
    return "\n".join(map(str, (each for each in json.loads(out or "{}").get("changes", ()) if not each.get("taken"))))


def planned(said: Said, *more: str) -> Path:
    """The folder of a plan that is made now."""
    said.readouterr()
    assert run(["now", *QUICK, *more]) == 0, said.readouterr().err
    return Path(said.readouterr().out.split()[-1])


def begins() -> dict[str, int | None]:
    """When each record of the queue may begin, as Slurm has it now; tasks that are together have their array's time."""
    queue = queue_now(Slurm())
    return {job.label: job.begin_unix for job in (*queue.jobs, *queue.finished)}


def assert_as_before(before: Mapping[str, int | None], now: Mapping[str, int | None]) -> None:
    """The same jobs may begin when they might before; where that has passed, or was not set, they may begin at once."""
    assert now.keys() == before.keys()
    moment = time.time() + 1  # Slurm's second may have begun already
    for job, old in before.items():
        new = now[job]
        assert new == old or ((old or 0) <= moment and new is not None and new <= moment), (job, old, new)


@pytest.mark.slow
def test_two_hundred_jobs_are_held_undone_and_end_well(live: Cluster, capsys: Said) -> None:
    """Under a flat tariff nothing is sent. Else those that would start within the hour are held, arrays as a whole;
    after a restart all is as it was left, undo gives every value back, and every job ends."""
    jobs = submit_all(live)
    every = {job for names in jobs.values() for job in names}
    assert len(every) == 200
    saved = facts(capsys, "slurm", "snapshot", "--out", "saved")
    assert (saved["waiting"], saved["running"], saved["reservations"]) == (200, 0, NODES)
    before = begins()
    flat = facts(capsys, "now", *QUICK, "--apply", "--set", "tariff={kind: flat, eur_per_kwh: 0.2}")
    assert flat["changes"] == []
    folder = planned(capsys)
    wanted, place = read_wanted(folder), str(folder)
    left = {each["job_id"] for each in json.loads((folder / "run.json").read_text("utf-8"))["snapshot"]["left_alone"]}
    assert left == {*jobs["held"], *jobs["limited"][2:]}
    assert not wanted.holds.keys() & {*left, *jobs["deadline"]}
    assert len(wanted.holds) > 100

    dry = facts(capsys, "slurm", "apply", place)
    assert begins() == before
    sent = facts(capsys, "slurm", "apply", place, "--yes")
    assert [each["job"] for each in sent["changes"]] == [each["job"] for each in dry["changes"]]
    assert all(each["taken"] for each in sent["changes"])
    live.restart_controller()
    verified = facts(capsys, "slurm", "verify", place)
    assert verified == {"set": len(sent["changes"]), "differences": []}
    given, ends = begins(), {each["job"]: each["new_unix"] for each in sent["changes"]}
    arrays = {job.partition("_")[0] for kind in ("task", "limited") for job in jobs[kind]}
    # By the hour of the clock, one is left alone as an equal, younger job of its user would start before it.
    younger = {each["job"] for each in sent["left_alone"] if "would start before it" in each["reason"]}
    assert {job.partition("_")[0] for job in jobs["task"]} <= ends.keys()
    assert arrays - younger <= ends.keys()
    assert {job: given[job] for job in every} == {
        job: ends.get(job, ends.get(job.partition("_")[0], before[job])) for job in every
    }
    assert not facts(capsys, "slurm", "apply", place, "--yes")["changes"]
    facts(capsys, "slurm", "undo", place, "--yes")
    assert_as_before(before, begins())
    assert not facts(capsys, "slurm", "undo", place, "--yes")["changes"]

    for number in range(1, NODES + 1):
        live.command("scontrol", "delete", f"ReservationName=m{number}")
    waiting = {*jobs["held"], *jobs["begin"]}

    def all_ended() -> bool:
        return not {job for job, each in live.history().items() if each.state in BUSY and job not in waiting}

    until(all_ended, "all jobs to end")
    seen = live.history()
    assert {seen[job].state for job in every - waiting} == {"COMPLETED"}
    assert {seen[job].state for job in waiting} == {"PENDING"}
    now = begins()
    assert {job: now[job] for job in waiting} == {job: before[job] for job in waiting}
