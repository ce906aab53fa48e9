"""What `plan now --apply` takes on a real Slurm with a long queue, and that it sends nothing to one that is unchanged.

    python benchmarks/slurm_queue.py                  2,000 jobs that wait, three runs
    python benchmarks/slurm_queue.py --jobs 500

CPU time is that of the run and of Slurm's commands that it calls. Needs root and what `.ci/packages` installs. Exit
code 1 where a run fails, or one after the first sends anything.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from days import ROOT, children_cpu_s
from slurm_day import require_slurm

from tests.slurm.cluster import NEEDED, Cluster, running_cluster
from tests.slurm.site import write_holding_site

STREAMS = 4
"""Calls of sbatch side by side."""


def main() -> None:
    """Fill the queue, and print a line for each run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args()
    require_slurm(*NEEDED)
    wrong = False
    with tempfile.TemporaryDirectory() as folder, running_cluster(Path(folder) / "slurm", accounting=False) as cluster:
        site = write_holding_site(Path(folder) / "site")
        fill(cluster, asked.jobs)
        print(f"{len(cluster.jobs()):,} jobs wait")
        for number in range(asked.runs):
            done, cpu_s = planned(cluster, site)
            print(f"run {number + 1}: {cpu_s:.1f} s of CPU, exit code {done.returncode}: {done.stdout.strip()}")
            wrong |= bool(done.returncode) or (number > 0 and ", 0 new or moved, 0 released" not in done.stdout)
    sys.exit(wrong)


def fill(cluster: Cluster, jobs: int) -> None:
    """Submit jobs of many sizes and lengths that may begin within the hour."""
    loop = (
        "for i in $(seq {count}); do sbatch -n $((1 + i * {stream} % 13)) -t $((30 + i % 50)) --output=/dev/null"
        " --begin=now+$((10 + i % 40))minutes --wrap='sleep 60'; done > /dev/null"
    )
    streams = [
        subprocess.Popen(["sh", "-c", loop.format(count=jobs // STREAMS, stream=each)], env=cluster.environment())
        for each in range(1, STREAMS + 1)
    ]
    for stream in streams:
        stream.wait()


def planned(cluster: Cluster, site: Path) -> tuple[subprocess.CompletedProcess[str], float]:
    """One run in a process of its own, and its CPU time [s]."""
    before = children_cpu_s()
    done = subprocess.run(
        [sys.executable, "-m", "planner", "now", "--apply", "--brief", "--bound-time", "0"],
        cwd=site,
        env={**os.environ, **cluster.environment(), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    return done, children_cpu_s() - before


if __name__ == "__main__":
    main()
