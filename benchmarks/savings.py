"""Time of `plan savings` on a month of CEA Curie, written as sacct prints it.

    python benchmarks/savings.py DATA [--first 2012-08-01] [--days 30] [--out reports/savings-month]

DATA is the folder of traces, prices and weather (PLANNER_DATA). Jobs have whole nodes of 16 cores from their real
starts on; energy was not measured. It prints the CPU time of the command and the size of the month.
"""

from __future__ import annotations

import argparse
import datetime as dt
import heapq
import resource
import subprocess
import sys
from pathlib import Path

from days import children_cpu_s

from planner.domain.cluster import short_names
from planner.inputs.jobs.swf_file import read_swf_trace

NODE_CORES = 16
HEAD = "JobID|JobName|User|Account|Partition|State|Submit|Start|End|TimelimitRaw|NodeList|AllocCPUS|ConsumedEnergyRaw"


def sacct_month(trace: Path, first: dt.date, days: int) -> str:
    """Jobs that started within the days, in sacct's words."""
    swf = read_swf_trace(trace)
    origin = swf.header_integer("UnixStartTime") or 0
    begin = int(dt.datetime.combine(first, dt.time(), tzinfo=dt.UTC).timestamp())
    columns = {name: values.tolist() for name, values in swf.columns.items()}
    rows = []
    for k in range(len(swf)):
        cpus, ran_s, wait_s = (int(columns[name][k]) for name in ("used_procs", "runtime_s", "wait_s"))
        submit = origin + int(columns["submit_s"][k])
        start = submit + max(0, wait_s)
        if cpus > 0 and ran_s > 0 and begin <= start < begin + 86_400 * days:
            rows.append((start, k, submit, ran_s, cpus))
    rows.sort()
    free: list[int] = []
    busy: list[tuple[int, list[int]]] = []
    made = 0
    lines = [HEAD]
    for start, k, submit, ran_s, cpus in rows:
        while busy and busy[0][0] <= start:
            for node in heapq.heappop(busy)[1]:
                heapq.heappush(free, node)
        wanted = -(-cpus // NODE_CORES)
        while len(free) < wanted:
            made += 1
            heapq.heappush(free, made)
        nodes = [heapq.heappop(free) for _ in range(wanted)]
        heapq.heappush(busy, (start + ran_s, nodes))
        asked = max(1, -(-int(columns["requested_s"][k]) // 60))
        times = (dt.datetime.fromtimestamp(each, tz=dt.UTC).isoformat()[:19] for each in (submit, start, start + ran_s))
        names = ",".join(short_names(f"curie{node:04d}" for node in sorted(set(nodes))))
        user, group = int(columns["user"][k]), int(columns["group"][k])
        cells = (k + 1, f"app{int(columns['executable'][k])}", f"u{user}", f"g{group}", "standard", "COMPLETED")
        lines.append("|".join(map(str, (*cells, *times, asked, names, cpus, ""))))
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the month, run the command, and print its time."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--first", type=dt.date.fromisoformat, default=dt.date(2012, 8, 1))
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--out", type=Path, default=Path("reports/savings-month"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    month = given.out / "month.txt"
    month.write_text(sacct_month(given.data / "swf/CEA-Curie-2011-2.1-cln.swf.gz", given.first, given.days), "utf-8")
    weather = given.data / "weather/FRA_AR_Lyon-Bron.AP.074800_TMYx.2004-2018.epw.gz"
    words = ["savings", "--sacct", month, "--prices", given.data / "prices/FR.csv.gz", "--weather", weather]
    command = [sys.executable, "-m", "planner", *map(str, words), "--zone", "Europe/Paris", "--out", str(given.out)]
    subprocess.run(command, check=True)
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    jobs = sum(1 for _ in month.open(encoding="utf-8")) - 1
    print(f"{jobs:,} jobs: {children_cpu_s():.0f} s of CPU, {peak_mb:.0f} MB")


if __name__ == "__main__":
    main()
