"""Mutated tables of finished jobs, learned from."""

from __future__ import annotations

import random
from pathlib import Path

from tests.fuzz.case import Case
from tests.fuzz.damage import put
from tests.fuzz.grid import csv_text, mutated, read_grid

TABLE = """\
job_id,submit_time,end_time,requested_h,units,cores_per_unit,memory_gb_per_unit,user,account,name,partition,exclusive,power_w
a,2024-05-28T08:00:00+02:00,2024-05-28T10:00:00+02:00,2,1,8,4,ann,physics,relax,,,160
b,2024-05-29T08:00:00+02:00,2024-05-29T10:00:00+02:00,2,1,8,4,ann,physics,relax,,,80.5
c,2024-05-29T09:00:00+02:00,2024-05-29T11:00:00+02:00,2,2,4,,bob,,,,true,50
d,2024-05-29T09:00:00+02:00,2024-05-29T11:00:00+02:00,2,1,2,,bob,,,,,999
e,2024-05-29T09:00:00+02:00,2024-05-29T11:00:00+02:00,0.5,1,8,,,,,,,
f,2024-05-29T09:00:00+02:00,,2,1,8,,bob,chem,,,,100
g,2024-06-01T08:00:00+02:00,2024-06-01T09:00:00+02:00,2,2,8,1.5,cy,,'x'|y,,,0
"""
"""Of four jobs the power is known, and that they had nodes to themselves."""


def odd_finished(rng: random.Random) -> bytes:
    """The table with odd cells, rows and columns."""
    return csv_text(rng, mutated(rng, read_grid(TABLE))).encode("utf-8", "surrogatepass")


def learning(rng: random.Random, site: Path) -> Case:
    """Such a table, to be learned from or to be compared with."""
    path = put(rng, site / "finished.csv", odd_finished(rng))
    how = rng.choice([["learn", "--out", "power.json"], ["errors", "--skip-days", "0"], ["errors"]])
    extra = rng.choice([[], ["--json"], ["--one-node"], ["--set", "power.metered=job"]])
    return Case(["power", *how, "--from", str(path), *extra])
