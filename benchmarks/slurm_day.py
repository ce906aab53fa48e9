"""A whole day of a real Slurm at speed: jobs come in, `plan now --apply` runs again and again, and the books agree.

    python benchmarks/slurm_day.py                          120 calls of sbatch in 75 s
    python benchmarks/slurm_day.py --jobs 30 --seconds 15   a short one

A minute of the day is a second: jobs of several shapes come at random moments (by a seed) and sleep for 3 to 10 s under
limits of a minute, Slurm's least. At the end every job of Slurm's accounts is held against the schedule.csv of the last
plan, which is the ledger of the day: start, end, nodes and core-seconds. Needs root and what `.ci/packages` installs.
Exit code 1 where anything differs.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from planner.cli.main import run
from planner.domain.node_lists import expanded
from planner.inputs.slurm.job import SlurmJob
from planner.inputs.slurm.json_document import DocumentAnswer
from planner.inputs.slurm.sacct_json import read_accounting
from tests.days import rows_of
from tests.slurm.cluster import ACCOUNTING, NEEDED, SEARCH, Cluster, running_cluster, until, why_not
from tests.slurm.site import OPEN, write_slurm_site

SHAPES = (
    ("--ntasks=16",),
    ("--ntasks=48",),
    ("--nodes=2", "--ntasks-per-node=24"),
    ("--nodes=4", "--exclusive"),
    ("--gpus=2", "--ntasks=2"),
    ("--mem=100000",),
    ("--array=1-3", "--ntasks=2"),
    ("--partition=open", "--ntasks=8"),
    ("--begin=now+8", "--ntasks=4"),
    ("--deadline=now+900",),
)
SLEEP_S = (3, 10)
CORES = re.compile(r"(\d+)x cores=(\d+)")
"""Units and the cores of each, in a text such as ``3x cores=32 memory_gb=64; 1x cores=4``."""


@dataclass
class Day:
    """What was seen while the day went on."""

    submitted: list[str] = field(default_factory=list)
    plan_s: list[float] = field(default_factory=list)
    changes: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    begins: dict[str, int] = field(default_factory=dict)
    """The last begin time that Slurm has taken from us, of each job [unix s]."""


@dataclass(frozen=True)
class Entry:
    """A job in a book."""

    start_unix: int
    end_unix: int
    nodes: frozenset[str]
    core_s: int


def main() -> None:
    """Run the day and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=120, help="how often sbatch is called")
    parser.add_argument("--seconds", type=float, default=75.0, help="how long jobs come in")
    parser.add_argument("--every", type=float, default=3.0, help="seconds between two plans")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    require_slurm(*NEEDED, *ACCOUNTING)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_cluster(Path(folder) / "slurm", accounting=True) as cluster,
        standing_in(write_site(Path(folder) / "site"), cluster),
    ):
        day = run_day(cluster, asked.jobs, asked.seconds, asked.every, asked.seed)
        lines, differences = report(cluster, day)
    print("\n".join(lines))
    sys.exit(1 if differences else 0)


def require_slurm(*programs: str) -> None:
    """End with one line where no Slurm can be started."""
    if reason := why_not(programs):
        sys.exit(f"no Slurm: {reason}")


def write_site(folder: Path) -> Path:
    """A site whose day has hours behind it and before it now, wherever that is on the globe."""
    west = max(-14, min(12, time.gmtime().tm_hour - 8))
    return write_slurm_site(folder, OPEN, zone=f"Etc/GMT{west:+d}" if west else "UTC")


@contextlib.contextmanager
def standing_in(folder: Path, cluster: Cluster) -> Iterator[None]:
    """In a folder, with the commands of a cluster."""
    before = dict(os.environ)
    os.environ.update(PATH=SEARCH, SLURM_CONF=str(cluster.conf))
    try:
        with contextlib.chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_day(cluster: Cluster, jobs: int, seconds: float, every_s: float, seed: int) -> Day:
    """Submit jobs at random moments and plan again and again, until all have ended."""
    plan(Day())  # the first plan of a process takes longer, as it loads what it needs
    day, rng = Day(), random.Random(seed)
    came = sorted(rng.uniform(0, seconds) for _ in range(jobs))
    began, next_plan = time.monotonic(), 0.0
    while came or waits(cluster):
        passed = time.monotonic() - began
        while came and came[0] <= passed:
            came.pop(0)
            day.submitted.append(submit(cluster, rng))
        if passed >= next_plan:
            plan(day)
            next_plan = time.monotonic() - began + every_s
        time.sleep(0.1)
    plan(day)
    return day


def submit(cluster: Cluster, rng: random.Random) -> str:
    """One more job of one of the shapes."""
    account = rng.choice(("physics", "chemistry"))
    shape = rng.choice(SHAPES)
    return cluster.submit("--time=1", f"--account={account}", *shape, sleep_s=rng.randint(*SLEEP_S))


def waits(cluster: Cluster) -> bool:
    """Whether a job waits, runs, or is being cleared away."""
    return bool(cluster.command("squeue", "--noheader", "--format=%i").split())


def plan(day: Day) -> None:
    """Plan now and apply; RuntimeError where that fails."""
    out, err, began = io.StringIO(), io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run(["now", "--bound-time", "0", "-q", "--apply", "--json"])
    if code:
        raise RuntimeError(f"plan now --apply ended with {code}: {err.getvalue()}{out.getvalue()[-2000:]}")
    day.plan_s.append(time.monotonic() - began)
    said = json.loads(out.getvalue())
    taken = [each for each in said["changes"] if each["taken"]]
    day.changes += len(taken)
    day.begins.update({each["job"]: each["new_unix"] for each in taken})
    day.refused.update(each["reason"] for each in said["left_alone"])
    day.refused.update(each["note"] for each in said["changes"] if not each["taken"])


def report(cluster: Cluster, day: Day) -> tuple[list[str], list[str]]:
    """The table of a day, and everything in which the books differ."""
    first = int(day.submitted[0])
    ended = {name_of(job): job for job in accounts(cluster, lambda job: job.job_id >= first)}
    books = {name: entry_of(job) for name, job in ended.items()}
    ledger = {name: each for name, each in read_ledger().items() if int(name.partition("_")[0]) >= first}
    differences = compare(books, ledger) + missing(cluster, day, ended)
    early = [name for name, begin in day.begins.items() if name in books and books[name].start_unix < begin]
    differences += [f"{name}: started before its begin time" for name in early]
    waits_s = [job.start_unix - job.submit_unix for job in ended.values() if job.start_unix is not None]
    rows: dict[str, Any] = {
        "jobs": f"{len(ended):,}",
        "plans": f"{len(day.plan_s):,}",
        "seconds per plan": f"{mean(day.plan_s):.2f}, at most {max(day.plan_s):.2f}",
        "begin times set": f"{day.changes:,}",
        **{f"refused: {reason}": f"{count:,}" for reason, count in sorted(day.refused.items())},
        "mean wait": f"{mean(waits_s):.1f} s",
        "core-seconds in the accounts": f"{sum(each.core_s for each in books.values()):,}",
        "core-seconds in the ledger": f"{sum(each.core_s for each in ledger.values()):,}",
        "differences": f"{len(differences):,}" if differences else "none",
    }
    width = max(map(len, rows))
    return [f"{name:<{width}}  {value}" for name, value in rows.items()] + differences, differences


def accounts(cluster: Cluster, is_mine: Callable[[SlurmJob], bool]) -> list[SlurmJob]:
    """Some jobs and tasks in Slurm's accounts, once these have all of them."""
    command = "sacct --allusers --starttime=now-2hours --json"

    def all_written() -> list[SlurmJob]:
        found = read_accounting(DocumentAnswer(command, cluster.command(*command.split()).encode()))
        mine = [job for job in found.jobs if is_mine(job)]
        return mine if mine and all(job.end_unix for job in mine) else []

    return list(until(all_written, "the accounts of all jobs"))


def name_of(job: SlurmJob) -> str:
    """What the planner calls a job."""
    return str(job.job_id) if job.array_task_id is None else f"{job.array_job_id}_{job.array_task_id}"


def entry_of(job: SlurmJob) -> Entry:
    """A job as the accounts have it."""
    end = job.end_unix
    assert end is not None, f"job {name_of(job)} has not ended"
    start = job.start_unix or end
    return Entry(start, end, frozenset(job.nodes), (job.had.cpus or 0) * (end - start))


def read_ledger() -> dict[str, Entry]:
    """Every job that has run, as the last plan has it."""
    (path,) = Path("reports/site").glob("*/schedule.csv")
    return {row["job_id"]: ledger_entry(row) for row in rows_of(path) if row["state"] == "done"}


def ledger_entry(row: dict[str, str]) -> Entry:
    """A job as a row of schedule.csv has it."""
    start, end = (int(datetime.fromisoformat(row[name]).timestamp()) for name in ("start_time", "end_time"))
    cores = sum(int(count) * int(each) for count, each in CORES.findall(row["unit_groups"]))
    return Entry(start, end, frozenset(expanded(row["nodes"])), cores * (end - start))


def compare(books: Mapping[str, Entry], ledger: Mapping[str, Entry]) -> list[str]:
    """Every job that is not the same in both books."""
    names = sorted(books.keys() | ledger.keys())
    return [
        f"{name}: {books.get(name)}, in the ledger {ledger.get(name)}"
        for name in names
        if books.get(name) != ledger.get(name)
    ]


def missing(cluster: Cluster, day: Day, ended: Mapping[str, SlurmJob]) -> list[str]:
    """Every job that was submitted and has not ended well."""
    seen = cluster.history()
    mine = {name for name in seen if name.partition("_")[0] in day.submitted}
    lost = {job for job in day.submitted if not any(name.partition("_")[0] == job for name in mine)}
    bad = {name for name in mine if name not in ended or "COMPLETED" not in ended[name].state_words}
    return [f"{name}: lost, or ended badly" for name in sorted(lost | bad)]


if __name__ == "__main__":
    main()
