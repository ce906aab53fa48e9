"""What large days and long runs cost: CPU seconds, memory, and how soon a run ends that is told to.

python benchmarks/endurance.py growth             12,500 to 50,000 jobs, 5,000 to 20,000 nodes, each by itself
python benchmarks/endurance.py growth --jobs 25000 --nodes 10000    one of them
python benchmarks/endurance.py days --days 200    days in a row: CPU and memory of each tenth of them
python benchmarks/endurance.py terminate          SIGTERM at moments all over the largest day
"""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import io
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from days import children_cpu_s

DAY = "2024-06-03"
SITE = """\
zone: UTC
jobs: {{source: ../jobs.csv}}
power: {{w_per_core: 10}}
cluster: {{classes: {{cpu: {{count: {nodes}, capacity: {{cores: 32}}}}}}}}
weather: {{source: constant, temperature_c: 12}}
tariff: {{kind: bands, eur_per_kwh: 0.2, bands: [{{from: "22:00", to: "06:00", eur_per_kwh: 0.1}}]}}
cooling: {{table: ../table.csv}}
revenue: {{eur_per_core_hour: 0.05}}
"""
TABLE = "it_power_w,-20,50\n0,0.1,0.3\n{most},0.2,0.5\n"
HOW = ("-m", "est", "--bound-time", "0", "--workers", "1", "-q")
PLAN = "from planner.__main__ import main; main()"


def write_site(folder: Path, jobs: int, nodes: int, days: int = 1) -> Path:
    """A site of so many nodes, and so many jobs submitted on the eve of each day, for two thirds of the cores."""
    rng = random.Random(1)
    lines = ["job_id,submit_time,requested_s,units,cores_per_unit,user,account"]
    first = dt.date.fromisoformat(DAY) - dt.timedelta(days=1)
    node_hours = nodes * 24 * 2 / 3 / jobs
    for number in range(jobs * days):
        day = first + dt.timedelta(days=number // jobs)
        units = min(nodes, 2 ** rng.choice([0, 0, 0, 1, 2, 3]))
        seconds = max(60, round(3600 * node_hours / units * rng.uniform(0.1, 1.9)))
        clock = rng.randrange(86_400)
        submit = f"{day}T{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}Z"
        lines.append(f"{number},{submit},{seconds},{units},32,u{number % 97},a{number % 7}")
    (folder / "scenarios").mkdir(parents=True)
    (folder / "scenarios" / "site.yaml").write_text(SITE.format(nodes=nodes))
    (folder / "jobs.csv").write_text("\n".join(lines) + "\n")
    (folder / "table.csv").write_text(TABLE.format(most=nodes * 400))
    return folder


SIZES = tuple((jobs, nodes) for jobs in (12_500, 25_000, 50_000) for nodes in (5_000, 10_000, 20_000))


def growth(sizes: Sequence[tuple[int, int]]) -> None:
    """CPU time and memory of a day as jobs and nodes grow."""
    print(f"{'jobs':>8}{'nodes':>8}{'CPU s':>9}{'peak MB':>9}")
    for jobs, nodes in sizes:
        with tempfile.TemporaryDirectory() as folder:
            site = write_site(Path(folder) / "site", jobs, nodes)
            before_s = children_cpu_s()
            words = [sys.executable, "-c", f"{PEAK}{PLAN}", "--day", DAY, *HOW]
            done = subprocess.run(words, cwd=site, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            cpu_s = children_cpu_s() - before_s
            peak = int(done.stderr.rsplit("peak ", 1)[1]) / 1024
            print(f"{jobs:>8,}{nodes:>8,}{cpu_s:>9.1f}{peak:>9,.0f}", flush=True)


PEAK = """
import atexit, resource, sys
atexit.register(lambda: print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr))
"""


def days_in_a_row(count: int) -> None:
    """CPU time per day and memory afterwards, of each tenth of a run of days."""
    from planner.cli.main import run

    first = dt.date.fromisoformat(DAY)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(write_site(Path(folder) / "site", 60, 8, count)):
        print(f"{'days':>12}{'CPU s a day':>14}{'MB after':>10}")
        for tenth in range(10):
            low, high = count * tenth // 10, count * (tenth + 1) // 10
            began = time.process_time()
            for number in range(low, high):
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    code = run(["--day", (first + dt.timedelta(days=number)).isoformat(), *HOW])
                assert code == 0
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            took = (time.process_time() - began) / max(high - low, 1)
            memory_mb = pages * os.sysconf("SC_PAGESIZE") / 2**20
            print(f"{low + 1:>5} to {high:>3}{took:>14.3f}{memory_mb:>10,.0f}", flush=True)


def terminate(moments: int, jobs: int, nodes: int, whole_s: float | None) -> None:
    """Seconds from SIGTERM to the end, at moments all over a day, or over the first seconds of it."""
    with tempfile.TemporaryDirectory() as folder:
        site = write_site(Path(folder) / "site", jobs, nodes)
        words = [sys.executable, "-c", PLAN, "--day", DAY, *HOW]
        if whole_s is None:
            began = time.monotonic()
            subprocess.run(words, cwd=site, check=True, capture_output=True)
            whole_s = time.monotonic() - began
        worst = 0.0
        for number in range(moments):
            process = subprocess.Popen(words, cwd=site, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(whole_s * (number + 0.5) / moments)
            told = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.communicate()
            took = time.monotonic() - told
            worst = max(worst, took)
            left = len(list((site / "reports").rglob(".*")))
            after_s = whole_s * (number + 0.5) / moments
            print(f"after {after_s:6.1f} s: code {process.returncode}, {took:.2f} s, {left} left", flush=True)
        print(f"{jobs:,} jobs on {nodes:,} nodes, over {whole_s:.0f} s: ended within {worst:.2f} s")


def main() -> None:
    """Measure what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["growth", "days", "terminate"])
    parser.add_argument("--days", type=int, default=200)
    parser.add_argument("--moments", type=int, default=8)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--nodes", type=int)
    parser.add_argument("--seconds", type=float, help="over which moments are spread; else the whole day")
    given = parser.parse_args()
    if given.what == "growth":
        growth([size for size in SIZES if given.jobs in (None, size[0]) and given.nodes in (None, size[1])])
    elif given.what == "days":
        days_in_a_row(given.days)
    else:
        terminate(given.moments, given.jobs or 50_000, given.nodes or 20_000, given.seconds)


if __name__ == "__main__":
    main()
