"""How long the files of a replay take to write: SWF and jobs.csv of ever more jobs, on a pool and on nodes.

    python benchmarks/replay_files.py [--jobs 20000,40000,80000,160000]

CPU seconds of writing alone. Twice the jobs should take about twice as long.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from planner.domain.trace import Machine, Trace, pool_trace
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.store.swf_batsim import write_batsim_jobs, write_replay_swf

PROCESSORS = 256


def main() -> None:
    """Print one line per machine and number of jobs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", default="20000,40000,80000,160000")
    options = parser.parse_args()
    for count in map(int, options.jobs.split(",")):
        pool = made_up(count)
        for name, trace in (("a pool", pool), ("nodes", on_nodes(pool))):
            began = time.process_time()
            result = replay(trace, policy_named("easy"), trace.requested_s)
            replayed_s = time.process_time() - began
            with tempfile.TemporaryDirectory() as folder:
                swf_s = _cpu_s(lambda path, result=result: write_replay_swf(result, path), Path(folder) / "jobs.swf")
                csv_s = _cpu_s(lambda path, result=result: write_batsim_jobs(result, path), Path(folder) / "jobs.csv")
            told = f"SWF {swf_s:6.2f} s, jobs.csv {csv_s:6.2f} s; the replay itself {replayed_s:6.2f} s"
            print(f"{count:9,} jobs on {name:6} {told}")


def made_up(count: int) -> Trace:
    """Jobs that fill a pool by about four fifths."""
    rng = np.random.default_rng(1)
    runtime = rng.integers(10, 3600, count)
    width = 2 ** rng.integers(0, 7, count)
    gap = float((runtime * width).mean()) / (0.8 * PROCESSORS)
    submit = np.cumsum(rng.exponential(gap, count)).astype(np.int64)
    ids = tuple(str(job + 1) for job in range(count))
    return pool_trace(ids, submit, runtime, runtime + 600, width, PROCESSORS, source="made up")


def on_nodes(pool: Trace) -> Trace:
    """The same jobs on nodes of one processor each."""
    return replace(
        pool,
        machine=Machine(np.ones((PROCESSORS, 1), dtype=np.int64)),
        group_count=pool.width,
        group_amount=np.ones((len(pool), 1), dtype=np.int64),
        unit_ptr=np.concatenate([[0], np.cumsum(pool.width)]),
    )


def _cpu_s(write, path: Path) -> float:  # type: ignore[no-untyped-def]
    """CPU seconds that writing a file takes."""
    began = time.process_time()
    write(path)
    return time.process_time() - began


if __name__ == "__main__":
    main()
