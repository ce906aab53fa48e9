"""How long a first run compiles, and how soon the search starts in later ones.

    python benchmarks/startup.py            # one first run with nothing kept, then three later ones

Each run is a process of its own that plans a day of the sample site, as `plan --day` does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from days import children_cpu_s

DAY = "2024-06-01"
LATER = 3

RUN = """
import time
began = time.perf_counter()
import sys
from planner.planning import plan_day as day
from planner.__main__ import main
clock = day.MaxRuntime
def noted(seconds):
    print(f"{time.perf_counter() - began:.2f}", file=sys.stderr)
    return clock(seconds)
day.MaxRuntime = noted
sys.argv[1:] = ["--day", sys.argv[1], "--out", sys.argv[2], "--json", "--quiet"]
main()
"""


def run_once(kept: Path, out: Path) -> tuple[float, float, float, float]:
    """Seconds until the search starts, of the search, and of the whole process; and its processor time."""
    began, before_s = time.perf_counter(), children_cpu_s()
    done = subprocess.run(
        [sys.executable, "-c", RUN, DAY, str(out)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(kept)},
        capture_output=True,
        text=True,
        check=True,
    )
    took_s, cpu_s = time.perf_counter() - began, children_cpu_s() - before_s
    return float(done.stderr.split()[0]), json.loads(done.stdout)["solve_s"], took_s, cpu_s


def main() -> None:
    """Print a line for each run."""
    print("run     search starts after   search   whole process   processor   [s]")
    with tempfile.TemporaryDirectory() as name:
        for number in range(1 + LATER):
            until, search, whole, cpu = run_once(Path(name) / "kept", Path(name) / "out")
            print(f"{'later' if number else 'first':6s} {until:20.1f} {search:8.1f} {whole:15.1f} {cpu:11.1f}")


if __name__ == "__main__":
    main()
