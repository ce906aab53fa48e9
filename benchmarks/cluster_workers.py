"""A comparison on a Dask cluster of 1, 2 and 4 workers beside the same here: seconds, and whether the bytes are equal.

    python benchmarks/cluster_workers.py [--workers 1,2,4] [--days 3] [--scenarios 8]

Scheduler and workers are processes of this machine with one thread each. Every cluster is new, and makes the kernels
ready by a comparison of one day before the clock starts. A scenario is the sample site at another price; each has a run
of plans by MultiSearch and a replay of EASY, so there are twice as many tasks as scenarios. CPU seconds are those of
all workers: with more workers than cores they stay, and the clock gains nothing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, timedelta
from pathlib import Path

FIRST = date(2024, 6, 1)
SKIPPED = {"report.html", "summary.json", "run.json"}
"""Files of a day that tell when it was planned and how long that took."""


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A module that runs in the background, ended with the block."""
    nowhere = subprocess.DEVNULL
    begun = subprocess.Popen([sys.executable, "-m", *arguments], stdout=nowhere, stderr=nowhere)
    try:
        yield begun
    finally:
        begun.kill()
        begun.wait()


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[tuple[str, list[int]]]:
    """A scheduler with workers: its address, and their processes."""
    from distributed import Client

    file = folder / "scheduler.json"
    with ExitStack() as stack:
        begin = ("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
        stack.enter_context(process(*begin, "--scheduler-file", str(file)))
        while not file.is_file() or not file.read_text().strip():
            time.sleep(0.05)
        worker = ("distributed.cli.dask_worker", "--scheduler-file", str(file), "--nthreads", "1", "--no-nanny")
        places = [("--no-dashboard", "--local-directory", str(folder / f"worker{k}")) for k in range(workers)]
        begun = [stack.enter_context(process(*worker, *place)) for place in places]
        address = json.loads(file.read_text())["address"].removeprefix("tcp://")
        with Client(address, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=120)
        yield address, [each.pid for each in begun]


def compare(names: list[str], days: int, out: str, *more: str) -> None:
    """Compare scenarios over some days."""
    last = FIRST + timedelta(days=days - 1)
    words = ["compare", *names, "--from", FIRST.isoformat(), "--to", last.isoformat(), "-m", "multisearch", "-q"]
    words += ["--bound-time", "0", "--out", out, *more]
    subprocess.run([sys.executable, "-m", "planner", *words], check=True, stdout=subprocess.DEVNULL)


def cpu_s(pids: list[int]) -> float:
    """Seconds of CPU that processes have used."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def digest(out: Path) -> str:
    """One digest of all files of a comparison but those that tell the time."""
    made = hashlib.sha256()
    for path in sorted((out / "compare").rglob("*")):
        if path.is_file() and path.name not in SKIPPED:
            made.update(str(path.relative_to(out)).encode() + path.read_bytes())
    return made.hexdigest()


def main() -> None:
    """Run the comparison here and on each cluster, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="1,2,4")
    parser.add_argument("--days", type=int, default=3)
    parser.add_argument("--scenarios", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as base:
        os.chdir(base)
        Path("scenarios").mkdir()
        names = [f"p{k}" for k in range(given.scenarios)]
        for k, name in enumerate(names):
            text = f"base: sample\ntariff: {{kind: flat, eur_per_kwh: {0.10 + 0.02 * k:.2f}}}\n"
            Path("scenarios", f"{name}.yaml").write_text(text, encoding="utf-8")
        began = time.perf_counter()
        compare(names, given.days, "here", "--processes", "1")
        here, alone = digest(Path("here")), time.perf_counter() - began
        print(f"{2 * len(names)} tasks of {given.days} days on {len(os.sched_getaffinity(0))} cores")
        print(f"{'workers':>8}{'seconds':>10}{'speed-up':>10}{'CPU s':>8}  bytes")
        print(f"{'here':>8}{alone:>10.1f}{'':>10}{'':>8}", flush=True)
        first = None
        for workers in map(int, given.workers.split(",")):
            folder = Path(f"with{workers}")
            folder.mkdir()
            with cluster(folder.resolve(), workers) as (address, pids):
                there = ("--backend", "dask", "--address", address)
                compare(names, 1, f"ready{workers}", *there)
                before, began = cpu_s(pids), time.perf_counter()
                compare(names, given.days, f"there{workers}", *there)
                took, used = time.perf_counter() - began, cpu_s(pids) - before
            first = took if first is None else first
            same = "equal" if digest(Path(f"there{workers}")) == here else "DIFFERENT"
            print(f"{workers:>8}{took:>10.1f}{first / took:>10.2f}{used:>8.1f}  {same}", flush=True)


if __name__ == "__main__":
    main()
