"""EURORA's jobs as job tables: ``python benchmarks/eurora.py FOLDER``.

The file ``$PLANNER_DATA/eurora/eurora_20140331_20140404_jobs_power.csv.gz`` has 5,930 jobs of five days of 2014 on 64
nodes at CINECA. Written are:

- ``replay.csv``, the jobs to replay on the scenario eurora:
  ``plan simulate FOLDER/replay.csv --scenario eurora -e actual -p easy,pcp21s --metrics stretch,wait``
- ``eurora.csv``, the finished jobs with their watts, and ``eurora.yaml``, a site to learn them on:
  ``plan power errors --from FOLDER/eurora.csv -s FOLDER/eurora.yaml --one-node``. The watts are a published model's,
  not a meter's, and are the jobs' own although jobs share nodes (``power.metered: job``). Figures of jobs on several
  nodes are implausible (59 W on 32 nodes).
"""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from planner.cooling.plant import build_table, load_plant
from planner.inputs.pue_csv import pue_table_text
from planner.places import data_folder
from planner.text_files import csv_text

SOURCE = "eurora/eurora_20140331_20140404_jobs_power.csv.gz"

FULL_W = 25_000.0
"""What the site's cooling is built for [W]: 64 nodes at about 390 W."""

COLUMNS = (
    *("job_id", "partition", "submit_time", "start_time", "end_time", "requested_s", "units", "cores", "memory_gb"),
    *("gpus", "mics", "runtime_s", "power_w"),
)
REPLAYED = tuple(name for name in COLUMNS if name not in ("start_time", "end_time", "power_w"))
"""Columns of the jobs to replay, which have no start and no end yet. Their watts are the scenario's."""

NODE_GB = 16
"""Memory of every node [GB]."""

SITE = """\
base: eurora
jobs: {source: jobs.csv, whole_queue: false}
power: {w_per_core: 9.455, metered: job}
cooling: {table: air.csv}
revenue: {eur_per_core_hour: 0.002}
rules: {defer: free}
"""


def rows(source: Path) -> list[tuple[str, ...]]:
    """The jobs as rows of `COLUMNS`. Times are local to Rome, in summer time all along."""
    found = []
    with gzip.open(source, "rt", encoding="utf-8", newline="") as stream:
        for job in csv.DictReader(stream):
            start, end = (dt.datetime.fromisoformat(job[name]) for name in ("start", "end"))
            hours, minutes = job["req_walltime"].split(":")
            found.append(
                (
                    job["job_id"],
                    job["queue"],
                    *(f"{job[name].replace(' ', 'T')}+02:00" for name in ("submit", "start", "end")),
                    str(int(hours) * 3600 + int(minutes) * 60),
                    *(job[name] for name in ("alloc_nodes", "alloc_cores", "req_mem", "gpus", "mics")),
                    str(int((end - start).total_seconds())),
                    job["pred_power_w"],
                )
            )
    return found


def replay_rows(jobs: Sequence[Sequence[str]]) -> tuple[list[tuple[str, ...]], Counter[str]]:
    """Rows of `COLUMNS` as the simulator can take them, and what was done to how many.

    700 jobs ask for 200 GB on nodes of 16 GB. They ran all the same, two of them on a node at times: memory was not
    reserved for them. They get all that their nodes have; without them the machine would be emptier than it was.
    """
    found, counts = [], Counter[str]()
    for job in jobs:
        row = dict(zip(COLUMNS, job, strict=True))
        if int(row["runtime_s"]) <= 0:
            counts["left out: ended when they started"] += 1
            continue
        most_gb = NODE_GB * int(row["units"])
        if float(row["memory_gb"]) > most_gb:
            counts[f"more memory than their nodes have: cut to {NODE_GB} GB per node"] += 1
            row["memory_gb"] = str(most_gb)
        found.append(tuple(row[name] for name in REPLAYED))
    return found, counts


def write_replay(path: Path, jobs: Sequence[Sequence[str]]) -> list[str]:
    """Write the table of jobs to replay; lines on what became of them."""
    found, counts = replay_rows(jobs)
    path.write_text(csv_text([REPLAYED, *found]), encoding="utf-8")
    return [f"{path}: {len(found):,} of {len(jobs):,} jobs", *(f"  {count:,} {what}" for what, count in counts.items())]


def write_site(folder: Path, source: Path) -> tuple[Path, Path]:
    """Write the table of finished jobs, and a scenario of the site with its jobs and its cooling; their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    table, site = folder / "eurora.csv", folder / "eurora.yaml"
    whole = [COLUMNS, *rows(source)]
    table.write_text(csv_text(whole), encoding="utf-8")
    # What is planned from has no start and no end yet.
    asked = [k for k, name in enumerate(COLUMNS) if name not in ("start_time", "end_time")]
    (folder / "jobs.csv").write_text(csv_text([row[k] for k in asked] for row in whole), encoding="utf-8")
    plant = load_plant("air", design_power_w=FULL_W)
    cooling = build_table(plant, name="air", max_power_w=FULL_W, power_step_w=100)
    text = pue_table_text(cooling, f"plant: {plant.name}, built for {FULL_W / 1000:g} kW of IT power")
    (folder / "air.csv").write_text(text, encoding="utf-8")
    site.write_text(SITE, encoding="utf-8")
    return table, site


if __name__ == "__main__":
    target, trace = Path(sys.argv[1]), data_folder() / SOURCE
    for made in write_site(target, trace):
        print(made)
    print("\n".join(write_replay(target / "replay.csv", rows(trace))))
