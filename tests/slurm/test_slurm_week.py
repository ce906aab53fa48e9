"""A compressed week of a real Slurm with faults: whatever happens, no job is lost, run twice or held for ever."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from planner.cli.main import run as main
from planner.inputs.slurm.job import SlurmJob
from planner.slurm.commands import Slurm, queue_now
from planner.slurm.journal import JOURNAL, read_ours
from tests.slurm.cluster import ACCOUNTING, SEARCH, Cluster, until, why_not
from tests.slurm.site import write_holding_site

ROOT = Path(__file__).parents[2]
DAYS = 7
DAY_S = 86_400
FLEXIBLE = "--comment=flexible"
SHAPES = (
    (FLEXIBLE, "--ntasks=16"),
    (FLEXIBLE, "--nodes=2", "--ntasks-per-node=8"),
    (FLEXIBLE, "--array=1-4", "--ntasks=2"),
    (FLEXIBLE, "--mem=50000"),
    (FLEXIBLE, "--deadline=now+1hour"),
    ("--comment=night", "--ntasks=4"),
)
COMMANDS = ("squeue", "scontrol", "sinfo", "sacct")
KILLING = """\
#!/bin/sh
count=$(($(cat {folder}/count) + 1))
echo $count > {folder}/count
[ $count = $(cat {folder}/before) ] && kill -9 $PPID && exit
[ $count = $(cat {folder}/after) ] && head -n 3 | /usr/bin/{name} "$@" && kill -9 $PPID && exit
exec /usr/bin/{name} "$@"
"""
"""A command of Slurm that ends whoever calls it: before it, or after it and no more than three lines of its input."""


@pytest.fixture
def site(empty_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A site to stand in on which jobs may be held that say so in their comment."""
    base = write_holding_site(tmp_path / "site", "slurm: {opt_in: {comment: [flexible]}}\n")
    monkeypatch.chdir(base)
    monkeypatch.setenv("PATH", SEARCH)
    monkeypatch.setenv("SLURM_CONF", str(empty_cluster.conf))
    yield base
    for number in range(1, 9):
        empty_cluster.command("scontrol", "update", f"NodeName=n{number}", "State=RESUME", check=False)


def planning(*more: str, limit: str = "", path: str = "") -> subprocess.Popen[str]:
    """A run of `plan now --apply` in a process of its own, with a limit of the shell before it, and perhaps with
    other commands of Slurm."""
    words = f"{limit} exec {sys.executable} -m planner now --apply --brief --bound-time 0 {' '.join(more)}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path or os.environ["PATH"]}
    return subprocess.Popen(
        ["sh", "-c", words], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def planned(*more: str) -> int:
    """The exit code of the same here, where all is loaded already."""
    return main(["now", "--apply", "--brief", "--bound-time", "0", *more])


def code_of(run: subprocess.Popen[str]) -> tuple[int, str]:
    """How a run ends, and what it says of that: one line at most."""
    _, said = run.communicate(timeout=300)
    assert "Traceback" not in said, said
    return run.returncode, said


def own_begins(jobs: Iterable[SlurmJob]) -> dict[str, int]:
    """When each record of the queue that waits may begin."""
    return {job.record: job.begin_unix or 0 for job in jobs if job.is_pending}


def assert_nothing_is_ours(cluster: Cluster, own: Mapping[str, int]) -> None:
    """Every job that waits may begin when its user said, or at once, and no job says that it is held."""
    queue, now = queue_now(Slurm()), time.time() + 1
    for job in queue.records:
        if job.is_pending:
            wanted = own.get(job.record, own.get(job.array))
            assert wanted is not None, job.record
            assert job.begin_unix == wanted or max(wanted, job.begin_unix or 0) <= now, (job.record, wanted)
            assert "held-until" not in job.admin_comment


@pytest.mark.long
@pytest.mark.skipif(bool(why_not(ACCOUNTING)), reason=f"no accounting: {why_not(ACCOUNTING)}")
def test_a_week_of_faults(site: Path, empty_cluster: Cluster) -> None:
    """Jobs come every day; each day something else goes wrong, and runs are killed at any moment."""
    rng, cluster, slurm = random.Random(7), empty_cluster, Slurm()
    jobs: list[str] = []
    gone: set[str] = set()
    opted_out: set[str] = set()
    own: dict[str, int] = {}
    prices = site / "prices.csv"
    known = prices.read_text("utf-8")
    told = code_of(planning())  # the first run takes longest
    assert told[0] == 0, told
    for day in range(DAYS):
        new = [cluster.submit("--time=1", "--begin=now+20minutes", *rng.choice(SHAPES), sleep_s=2) for _ in range(8)]
        jobs += [*new, cluster.submit("--time=1", "--ntasks=32", sleep_s=3)]
        waiting = own_begins(queue_now(slurm).records)
        own |= {job: waiting[job] for job in new}
        run = planning()
        time.sleep(rng.uniform(0.2, 4.0))
        run.send_signal(signal.SIGKILL)
        run.communicate()
        if day == 1:
            cluster.restart_controller()
        elif day == 2:
            cluster._stop(["slurmctld"])
            code, said = code_of(planning())
            assert (code, "slurmctld is down" in said) == (8, True), said
            cluster.start_controller()
        elif day == 3:
            cluster.command("scontrol", "update", "NodeName=n[1-3]", "State=DRAIN", "Reason=fans")
            cluster.command("scontrol", "update", "NodeName=n4", "State=DOWN", "Reason=lost")
        elif day == 4:
            an_hour_ago = f"{dt.datetime.now(dt.UTC) - dt.timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
            kept = [line for line in known.splitlines() if line < an_hour_ago or line.startswith("time")]
            prices.write_text("\n".join(kept) + "\n", encoding="utf-8")
        elif day == 5:
            prices.write_text(known, encoding="utf-8")
            code, said = code_of(planning(limit="ulimit -f 1; trap '' XFSZ;"))
            assert code != 0
            assert said.count("\n") <= 2, said
        elif day == 6:
            cluster.command("scontrol", "update", "NodeName=n[1-4]", "State=RESUME")
            both = planning(), planning()
            assert {code_of(each)[0] for each in both} <= {0, 6}
        code, said = code_of(planning())
        assert code == 0, said
        ours = read_ours(Path("reports/site", JOURNAL))
        held = {job.array or job.record for job in queue_now(slurm).records if job.is_pending and ours.of(job)}
        assert day == 4 or len(held) >= 4
        others = sorted((own.keys() - gone - opted_out) & {each.array or each.record for each in pending(slurm)})
        cancelled, moved, out, longer = [*rng.sample(sorted(held), min(4, len(held))), *rng.sample(others, 4)][:4]
        cluster.command("scancel", cancelled)
        gone.add(cancelled)
        cluster.command("scontrol", "update", f"JobId={moved}", "StartTime=now+25minutes")
        cluster.command("scontrol", "update", f"JobId={out}", "Comment=night")
        opted_out.add(out)
        cluster.command("scontrol", "update", f"JobId={longer}", "TimeLimit=2")
        own[moved] = next(job.begin_unix or 0 for job in pending(slurm) if (job.array or job.record) == moved)
        code, said = code_of(planning())
        assert code == 0, said
        ours = read_ours(Path("reports/site", JOURNAL))
        for job in pending(slurm):
            if "flexible" not in job.comment:
                assert ours.of(job) is None or (job.begin_unix or 0) <= time.time(), f"{job.record} is not opted in"
    sent = [json.loads(line) for line in Path("reports/site", JOURNAL).read_text("utf-8").splitlines()]
    held_lines = [line for line in sent if line["kind"] == "set"]
    assert len(held_lines) > 20
    assert all(line["new"] <= line["latest"] for line in held_lines), "a hold beyond what was promised"
    code, said = code_of(planning("--set", "'slurm.opt_in.comment=[]'"))
    assert code == 0, said
    assert_nothing_is_ours(cluster, own)
    for job in pending(slurm):
        cluster.command("scontrol", "update", f"JobId={job.record}", "StartTime=now", check=False)
    until(lambda: not cluster.command("squeue", "--noheader", "--format=%i").split(), "all jobs to end", patience_s=300)
    ended = {job: seen.state for job, seen in cluster.history().items() if job.partition("_")[0] in jobs}
    assert {job.partition("_")[0] for job in ended} == set(jobs)
    assert set(ended.values()) <= {"COMPLETED", "CANCELLED"}
    assert {job.partition("_")[0] for job, state in ended.items() if state == "CANCELLED"} == gone
    restarts = cluster.command("squeue", "--noheader", "--states=all", "--Format=restartcnt").split()
    assert set(restarts) == {"0"}
    assert_books_agree(cluster, jobs)


def pending(slurm: Slurm) -> list[SlurmJob]:
    """Every record of the queue that waits."""
    return [job for job in queue_now(slurm).records if job.is_pending]


def assert_books_agree(cluster: Cluster, jobs: Sequence[str]) -> None:
    """Booked from the accounts, the day has the CPU-hours that sreport counts.

    sreport counts whole hours that are over: the times of all jobs are moved to two days before, in the database.
    """
    asked = ("sacct", "--allusers", "--noheader", "-X", "--format=State", f"--jobs={','.join(jobs)}")
    until(lambda: not set(cluster.command(*asked).split()) & {"PENDING", "RUNNING"}, "the accounts of all jobs")
    times = ("time_submit", "time_eligible", "time_start", "time_end")
    moved = (f"{each}=if({each}>{2 * DAY_S}, {each}-{2 * DAY_S}, {each})" for each in times)
    cluster.sql(f"update ci_job_table set {', '.join(moved)}")
    cluster.sql(f"update ci_event_table set time_start=time_start-{4 * DAY_S}")
    day = f"{dt.datetime.now(dt.UTC).date() - dt.timedelta(days=2)}"
    assert cluster.allocated_s(day) > len(jobs)
    book = [
        "book",
        "--day",
        day,
        "--out",
        "books",
        "--set",
        "zone=UTC",
        "--set",
        "tariff={kind: flat, eur_per_kwh: 0.2}",
    ]
    assert main([*book, "-q"]) == 0
    summary = json.loads(Path("books/site", day, "summary.json").read_text("utf-8"))
    assert summary["booked"]["cpu_hours"] * 3600 == pytest.approx(cluster.allocated_s(day), abs=0.01)


@pytest.mark.long
def test_killed_at_every_command(site: Path, empty_cluster: Cluster) -> None:
    """A run is killed before and after each command of Slurm that it gives, and with half of its changes sent: the next
    run holds what is to be held, and what was sent can be undone to the second."""
    cluster, slurm, folder = empty_cluster, Slurm(), site / "bin"
    for shape in SHAPES:
        cluster.submit("--time=1", "--begin=now+50minutes", *shape, sleep_s=2)
    own = own_begins(queue_now(slurm).records)
    folder.mkdir()
    for name in COMMANDS:
        (folder / name).write_text(KILLING.format(folder=folder, name=name), encoding="utf-8")
        (folder / name).chmod(0o755)
    assert planned() == 0
    held = own_begins(queue_now(slurm).records)
    assert sum(held[job] > own[job] for job in own) >= 4
    seen: dict[str, int] = {}
    for when in ("before", "after"):
        for number in range(1, 100):
            assert planned("--set", "slurm.opt_in.comment=[]") == 0  # all are released
            assert_nothing_is_ours(cluster, own)
            for name in ("before", "after"):
                (folder / name).write_text(str(number if name == when else 0), encoding="utf-8")
            (folder / "count").write_text("0", encoding="utf-8")
            code, said = code_of(planning(path=f"{folder}:{SEARCH}"))
            seen[when] = number
            if code == 0 and int((folder / "count").read_text("utf-8")) < number:
                break
            assert code in (0, -signal.SIGKILL), said
            if number % 2:  # what was sent is taken back as it is, or after another run
                assert planned() == 0
                assert own_begins(queue_now(slurm).records) == held
    assert min(seen.values()) > 6
