"""Two hundred jobs of a real Slurm, planned and given back to it: what the plan says is what happens."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from planner.slurm.commands import Slurm
from planner.slurm.snapshot import queue_now
from planner.slurm.wanted import read_wanted
from tests.slurm.cluster import NODES, SEARCH, Cluster, until
from tests.slurm.site import OPEN, write_slurm_site

HOUR = 3600
FIRST_S, APART_S = 20, 3
"""The first node is free so long after the plan is asked for, or later on a slow machine; each further one so much
later."""
SLOWER = 4
"""Giving, undoing and giving again takes at most so many times as long as saving and planning before."""
LATE_S = 40
"""A generous bound on how late a job starts: Slurm's cycle is a second, but the machine may be busy."""
CLEARLY_S = 9
"""Jobs whose planned starts are so far apart start in this order, also on a busy machine."""
ONE_SIZE = ("task", "plain", "before", "memory", "open")
"""Kinds of jobs that all ask for the same."""
BUSY = ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING")

Said = pytest.CaptureFixture[str]


@pytest.fixture
def live(empty_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    """A site to stand in, whose Slurm has every node of its own under maintenance for an hour."""
    write_slurm_site(tmp_path, OPEN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", SEARCH)
    monkeypatch.setenv("SLURM_CONF", str(empty_cluster.conf))
    for number in range(1, NODES + 1):
        words = ("StartTime=now", "Duration=60", "Users=root", "Flags=maint,ignore_jobs", f"Nodes=n{number}")
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
    assert run(["now", "--bound-time", "0", *more]) == 0, said.readouterr().err
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


def end_maintenance(cluster: Cluster, first_s: float) -> list[int]:
    """Let the nodes come back one after the other; when each does."""
    ends = [int(time.time() + first_s) + APART_S * place for place in range(NODES)]
    for number, end in enumerate(ends, start=1):
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(end))
        cluster.command("scontrol", "update", f"ReservationName=m{number}", f"EndTime={text}")
    return ends


def clear_pairs(names: list[str], starts: Mapping[str, int]) -> list[tuple[str, str]]:
    """Pairs of jobs of which the plan starts the first clearly sooner."""
    pairs = combinations(sorted(names, key=starts.__getitem__), 2)
    return [(first, second) for first, second in pairs if starts[second] - starts[first] >= CLEARLY_S]


@pytest.mark.slow
def test_a_plan_of_two_hundred_jobs_is_what_happens(live: Cluster, capsys: Said) -> None:
    """Saved, planned, tried dry, given, undone, given again; then jobs start as planned, and every one of them ends."""
    jobs = submit_all(live)
    every = {job for names in jobs.values() for job in names}
    assert len(every) == 200
    began = time.time()
    saved = facts(capsys, "slurm", "snapshot", "--out", "saved")
    assert (saved["waiting"], saved["running"], saved["reservations"]) == (200, 0, NODES)
    still_closed = int(time.time()) + HOUR // 2
    folder = planned(capsys, "--snapshot", "saved")
    assert min(read_wanted(folder).starts.values()) > still_closed

    ends = end_maintenance(live, max(FIRST_S, SLOWER * (time.time() - began)))
    before = begins()
    folder = planned(capsys)
    starts, place = read_wanted(folder).starts, str(folder)
    left = {each["job_id"] for each in json.loads((folder / "run.json").read_text("utf-8"))["snapshot"]["left_alone"]}
    assert left == {*jobs["held"], *jobs["limited"][2:]}
    assert starts.keys() == every - left
    assert min(starts.values()) >= ends[0]

    dry = facts(capsys, "slurm", "apply", place)
    assert {each["job"] for each in dry["changes"]} == starts.keys() - {*jobs["begin"]}
    assert begins() == before
    sent = facts(capsys, "slurm", "apply", place, "--yes")
    assert all(each["taken"] for each in sent["changes"])
    live.restart_controller()
    verified = facts(capsys, "slurm", "verify", place)
    assert verified == {"set": len(sent["changes"]), "differences": []}
    given = begins()
    assert {job: given[job] for job in starts} == starts
    facts(capsys, "slurm", "undo", place, "--yes")
    assert_as_before(before, begins())

    again = facts(capsys, "slurm", "apply", place, "--yes")
    # Between undo and here nobody has a begin time: where a node is back already, who finds room there has started.
    held = {*again["unchanged"], *(each["job"] for each in again["changes"] if each["taken"])}
    starts = {job: start for job, start in starts.items() if job in held}
    watched = {job: start for job, start in starts.items() if start <= ends[-1]}
    assert len(watched) >= 50
    until(lambda: all(live.history()[job].start_unix for job in watched), "the first starts of the plan")
    seen = live.history()
    assert not {job: seen[job] for job in starts if (seen[job].start_unix or starts[job]) < starts[job]}
    assert not {job: seen[job] for job in watched if (seen[job].start_unix or 0) > starts[job] + LATE_S}
    pairs = [pair for kind in ONE_SIZE for pair in clear_pairs([job for job in jobs[kind] if job in watched], starts)]
    assert len(pairs) >= 5
    assert not [(a, b) for a, b in pairs if (seen[a].start_unix or 0) >= (seen[b].start_unix or 0)]
    assert facts(capsys, "slurm", "verify", place)["differences"] == []

    facts(capsys, "slurm", "undo", place, "--yes")
    waiting = {*jobs["held"], *jobs["begin"]}

    def all_ended() -> bool:
        return not {job for job, each in live.history().items() if each.state in BUSY and job not in waiting}

    until(all_ended, "all jobs to end")
    seen = live.history()
    assert {seen[job].state for job in every - waiting} == {"COMPLETED"}
    assert {seen[job].state for job in waiting} == {"PENDING"}
    now = begins()
    assert {job: now[job] for job in waiting} == {job: before[job] for job in waiting}
