"""Made-up jobs for the scenario kit-forhlr2: ``python benchmarks/kit_jobs.py FILE [--days 7] [--load 0.8] [--seed 0]``.

Of KIT they have what is published: 66 % run for less than an hour, and all ask for cores and memory only. The rest is
made up as for the sample site: sizes, runtimes and submit times follow Lublin and Feitelson's model of public traces,
requested times are round. Jobs have no users: replay them with actual or requested times.
"""

from __future__ import annotations

import argparse
import datetime as dt
from pathlib import Path

import numpy as np

from planner.inputs.jobs.lublin import (
    CYCLE_WEIGHTS,
    Floats,
    Ints,
    draw_requests,
    draw_runtimes,
    draw_sizes,
    draw_submit_times,
)
from planner.text_files import csv_text
from planner.units import SECONDS_PER_HOUR

COLUMNS = ("job_id", "submit_unix", "requested_s", "cores", "memory_gb", "runtime_s")

UNDER_AN_HOUR = 0.66
"""Share of jobs that run for less than an hour, as published."""

MACHINE_CORES = 1152 * 20 + 21 * 48
LARGEST_CORES = 72 * 20
"""Of the largest job: a sixteenth of the small nodes."""

GB_PER_CORE = (0.4, 0.8, 1.6, 3.2)
"""What jobs ask for, each as often: up to all memory of a node of 20 cores and 64 GB."""

FIRST = dt.datetime(2024, 6, 3, tzinfo=dt.UTC)
"""When the jobs begin: a Monday, as good as any."""

_BATCH = 1000


def made_jobs(days: int, load: float, seed: int) -> list[tuple[object, ...]]:
    """Jobs as rows of `COLUMNS` whose cores times runtimes are this load on the machine over so many days."""
    rng = np.random.default_rng(seed)
    work_core_s = load * days * 24 * SECONDS_PER_HOUR * MACHINE_CORES
    sizes, requested_s, runtime_s = (np.empty(0, dtype=np.int64) for _ in range(3))
    while sizes @ runtime_s < work_core_s:
        more = draw_sizes(rng, _BATCH, LARGEST_CORES)
        asked_s, ran_s = draw_requests(rng, short_and_long(rng, more))
        sizes, requested_s, runtime_s = (
            np.concatenate(pair) for pair in ((sizes, more), (requested_s, asked_s), (runtime_s, ran_s))
        )
    count = int(np.searchsorted(np.cumsum(sizes * runtime_s), work_core_s))
    per_core = rng.choice(GB_PER_CORE, count)
    submit_s = draw_submit_times(rng, count, np.tile(CYCLE_WEIGHTS, days))
    begin = int(FIRST.timestamp())
    return [
        # To a tenth of a GB, or a full unit might come out a hair above what a node has.
        (k + 1, begin + int(at_s), int(asked), int(size), round(float(gb * size), 1), int(ran))
        for k, (at_s, asked, size, gb, ran) in enumerate(
            zip(submit_s, requested_s[:count], sizes[:count], per_core, runtime_s[:count], strict=True)
        )
    ]


def short_and_long(rng: np.random.Generator, sizes: Ints) -> Floats:
    """Runtimes of the model for jobs of these sizes [s], drawn again until the share under an hour is as published."""
    is_short = rng.random(len(sizes)) < UNDER_AN_HOUR
    runtime_s = draw_runtimes(rng, sizes)
    while len(again := np.flatnonzero((runtime_s < SECONDS_PER_HOUR) != is_short)):
        runtime_s[again] = draw_runtimes(rng, sizes[again])
    return runtime_s


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description="Made-up jobs for the scenario kit-forhlr2.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--load", type=float, default=0.8, help="cores times runtimes over what the machine has")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    jobs = made_jobs(given.days, given.load, given.seed)
    given.file.write_text(csv_text([COLUMNS, *jobs]), encoding="utf-8")
    short = sum(int(str(job[COLUMNS.index("runtime_s")])) < SECONDS_PER_HOUR for job in jobs)
    print(
        f"{given.file}: {len(jobs):,} made-up jobs of {given.days} days, {100 * short / len(jobs):.0f} % under an hour"
    )


if __name__ == "__main__":
    main()
