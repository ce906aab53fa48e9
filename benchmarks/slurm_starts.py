"""Planned starts beside real ones: a mixed queue of a real Slurm, planned once and then left to Slurm.

    python benchmarks/slurm_starts.py                  some fifty jobs, ten minutes
    python benchmarks/slurm_starts.py --seed 2 --jobs 30

Two jobs fill the machine while others come: with nodes, tasks per node, memory per CPU, GPUs, features, priorities,
begins and dependencies; arrays with a limit; jobs of a QOS, an account or a partition whose limits do not let them
start; licences and heterogeneous jobs. `plan now` plans them, and Slurm itself says when it expects each to start
(`squeue --start`). Then the machine becomes free. Jobs run for nearly as long as they may, so that what was planned can
come true. The table has each kind of job with how far both were from the real starts, and what was left alone and why.
Needs root and what `.ci/packages` installs. Exit code 1 where a job did not end well.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import mean, median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from slurm_day import Day, plan, require_slurm, standing_in, waits

from tests.days import rows_of
from tests.slurm.cluster import ACCOUNTING, NEEDED, Cluster, running_cluster, until
from tests.slurm.site import day_zone, write_slurm_site

KINDS: dict[str, tuple[str, ...]] = {
    "tasks": ("--ntasks=12",),
    "many tasks": ("--ntasks=48",),
    "nodes": ("--nodes=2",),
    "tasks per node": ("--nodes=3", "--ntasks-per-node=16"),
    "memory per CPU": ("--ntasks=3", "--mem-per-cpu=30000"),
    "memory": ("--mem=100000",),
    "GPUs": ("--gpus=3", "--ntasks=3"),
    "whole nodes": ("--nodes=2", "--exclusive"),
    "feature": ("--constraint=fast", "--ntasks=20"),
    "priority": ("--priority=4000000000", "--ntasks=24"),
    "begin": ("--begin=now+200", "--ntasks=8"),
    "array": ("--array=1-3", "--ntasks=6"),
    "limited array": ("--array=1-4%1", "--ntasks=2"),
    "open": ("--partition=open", "--ntasks=10"),
}
ONCE: dict[str, tuple[str, ...]] = {
    "QOS limit": ("--account=physics", "--qos=flexible", "--ntasks=2"),
    "account limit": ("--account=chemistry", "--ntasks=2"),
    "partition limit": ("--time=5-00:00:00",),
    "partition nodes": ("--partition=small", "--nodes=2"),
    "licence": ("--licenses=cad:1", "--ntasks=2"),
    "heterogeneous": ("--ntasks=1", ":", "--ntasks=1"),
    "held": ("--hold",),
}
"""Kinds of jobs that are left alone, one of each."""
FILLED_MINUTES = 3
MORE = "AccountingStorageEnforce=limits,qos\nPartitionName=small Nodes=n[1-7] MaxNodes=1 MaxTime=1:00:00"


def main() -> None:
    """Fill the queue, plan it, let it run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=45, help="how often sbatch is called besides one of each odd kind")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    require_slurm(*NEEDED, *ACCOUNTING)
    with (
        tempfile.TemporaryDirectory() as folder,
        running_cluster(Path(folder) / "slurm", accounting=True, more=MORE) as cluster,
    ):
        site = write_slurm_site(Path(folder) / "site", "slurm: {opt_in: {partitions: [batch]}}\n", zone=day_zone())
        prepare(cluster)
        kinds = submit_all(cluster, asked.jobs, random.Random(asked.seed))
        with standing_in(site, cluster):
            plan(Day())
            (place,) = Path("reports/site").glob("2*")
            planned = {
                row["job_id"]: int(datetime.fromisoformat(row["start_time"]).timestamp())
                for row in rows_of(place / "schedule.csv")
                if row["state"] == "planned"
            }
            left = json.loads((place / "run.json").read_text("utf-8"))["snapshot"]["left_alone"]
        expected = expected_by_slurm(cluster)
        for job, kind in kinds.items():
            if kind in ("held", "partition limit", "partition nodes"):
                cluster.command("scancel", job)
        until(lambda: not waits(cluster), "all jobs to end", patience_s=3600)
        print("\n".join(table(cluster, kinds, planned, expected)))
        reasons: dict[str, list[str]] = defaultdict(list)
        for each in left:
            reasons[each["reason"]].append(kinds.get(each["job_id"].partition("_")[0], "?"))
        print("\n".join(f"left alone: {reason} ({', '.join(sorted(set(who)))})" for reason, who in reasons.items()))
        bad = {
            job: seen.state for job, seen in cluster.history().items() if seen.state not in ("COMPLETED", "CANCELLED")
        }
    print("\n".join(f"job {job} ended as {state}" for job, state in bad.items()))
    sys.exit(bool(bad))


def prepare(cluster: Cluster) -> None:
    """Features, limits, and two jobs that fill the machine: one of the limited QOS, one of the limited account."""
    tell = ("sacctmgr", "--immediate")
    cluster.command(*tell, "add", "account", "chemistry", "cluster=ci")
    cluster.command(*tell, "add", "user", "root", "account=chemistry")
    cluster.command(*tell, "modify", "qos", "flexible", "set", "MaxJobsPerUser=1")
    cluster.command(*tell, "modify", "account", "chemistry", "set", "GrpJobs=1")
    cluster.command("scontrol", "update", "NodeName=n[1-3]", "AvailableFeatures=fast", "ActiveFeatures=fast")
    time.sleep(2)
    filled = (f"--time={FILLED_MINUTES}", "--exclusive")
    of_qos = ("--nodes=7", "--account=physics", "--qos=flexible")
    of_account = ("--nodes=1", "--account=chemistry", "--partition=open")
    for words in (of_qos, of_account):
        job = cluster.submit(*filled, *words, sleep_s=60 * FILLED_MINUTES - 2)
        cluster.wait_for(job, "RUNNING")


def submit_all(cluster: Cluster, jobs: int, rng: random.Random) -> dict[str, str]:
    """Jobs of every kind, in any order; the kind of each."""
    kinds = [*(list(KINDS) * (1 + jobs // len(KINDS)))[:jobs], *ONCE]
    rng.shuffle(kinds)
    found: dict[str, str] = {}
    for kind in kinds:
        minutes = rng.choice((1, 1, 2))
        words = (f"--time={minutes}", *(KINDS | ONCE)[kind])
        if kind == "tasks" and found and rng.random() < 0.5:
            words = (*words, f"--dependency=afterok:{rng.choice([job for job in found if found[job] in KINDS])}")
        found[cluster.submit(*words, sleep_s=60 * minutes - 6)] = kind
    return found


def expected_by_slurm(cluster: Cluster) -> dict[str, int]:
    """When Slurm itself expects jobs to start that wait [Unix s], as far as it says so."""
    words = ("squeue", "--all", "--array", "--noheader", "--states=pending", "--format=%i|%S")
    rows = [line.split("|") for line in cluster.command(*words).splitlines()]
    return {job: int(datetime.fromisoformat(f"{start}+00:00").timestamp()) for job, start in rows if start != "N/A"}


def table(cluster: Cluster, kinds: dict[str, str], planned: dict[str, int], expected: dict[str, int]) -> Sequence[str]:
    """How far planned and expected starts were from the real ones, by kind of job."""
    real = {job: seen.start_unix for job, seen in cluster.history().items() if seen.start_unix is not None}
    apart: dict[str, list[tuple[int, int | None]]] = defaultdict(list)
    for job, start in planned.items():
        if job in real:
            theirs = expected.get(job)
            values = start - real[job], None if theirs is None else theirs - real[job]
            apart[kinds[job.partition("_")[0]]].append(values)
            apart["all"].append(values)
    lines = [
        f"{'kind':<16} {'jobs':>4} {'off by, s: median':>18} {'mean':>6} {'most':>6} {'Slurm: median':>14} {'mean':>6}"
    ]
    for kind, pairs in sorted(apart.items(), key=lambda each: (each[0] == "all", each[0])):
        ours = [abs(one) for one, _ in pairs]
        slurms = [abs(two) for _, two in pairs if two is not None]
        told = f"{median(slurms):>14.0f} {mean(slurms):>6.0f}" if slurms else ""
        lines.append(f"{kind:<16} {len(pairs):>4} {median(ours):>18.0f} {mean(ours):>6.0f} {max(ours):>6.0f} {told}")
    order = [job for job in planned if job in real]
    pairs_in_order = [
        (planned[a] < planned[b]) == (real[a] < real[b])
        for a in order
        for b in order
        if planned[a] + 20 < planned[b] and abs(real[a] - real[b]) > 20
    ]
    if pairs_in_order:
        lines.append(f"of pairs planned 20 s apart or more, {100 * mean(pairs_in_order):.0f} % start in that order")
    return lines


if __name__ == "__main__":
    main()
