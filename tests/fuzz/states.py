"""Mutated words about what is true now: snapshots, nodes, what Slurm says, what was sent to it, learned powers.

They stand in a site that has planned, learned and sent already.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

from planner.slurm.journal import JOURNAL
from tests.days import DAY
from tests.faults.fake_slurm import QUEUE
from tests.fuzz.case import Case
from tests.fuzz.damage import damaged, put
from tests.fuzz.grid import csv_text, mutated, read_grid
from tests.fuzz.odd import odd_value
from tests.fuzz.options import QUICK
from tests.fuzz.tree import mutated as mutated_tree

AT = f"{DAY}T08:00:00Z"
NOW = """\
job_id,submit_time,requested_h,units,cores_per_unit,state,start_time,end_time,nodes,account,user
a,2024-06-01T05:00:00Z,4,1,4,running,2024-06-01T05:30:00Z,,cpu1,physics,ann
b,2024-06-01T05:00:00Z,4,2,8,pending,,,,physics,bob
c,2024-05-31T05:00:00Z,9,1,8,ended,2024-06-01T00:30:00Z,2024-06-01T04:00:00Z,cpu2,chem,cy
d,2024-05-31T05:00:00Z,1,1,4,pending,,,,chem,cy
"""
NODES = """\
node,state,from,to
cpu2,drain,2024-06-01T00:00:00Z,
cpu[3-4],maintenance,2024-06-01T12:00:00Z,2024-06-01T14:00:00Z
gpu1,down,,
"""
FROM_SLURM = ("--scenario", "slurm", "-m", "hold", "--bound-time", "0", "--workers", "1")


def snapshot(rng: random.Random, site: Path) -> Case:
    """A table of what waits, runs and has ended: planned from, or booked."""
    path = put(rng, site / "now.csv", _csv(rng, NOW))
    if rng.random() < 0.25:
        return Case(["book", "--day", DAY, "--table", str(path), "-q"])
    return Case(["now", "--at", AT, "--snapshot", str(path), *QUICK])


def nodes(rng: random.Random, site: Path) -> Case:
    """A table of nodes that cannot be used."""
    (site / "now.csv").write_text(NOW)
    path = put(rng, site / "nodes.csv", _csv(rng, NODES))
    return Case(["now", "--at", AT, "--snapshot", "now.csv", "--nodes", str(path), *QUICK])


def slurm_queue(rng: random.Random, site: Path) -> Case:
    """What Slurm says of its queue, live or saved; planned, given to it or taken back."""
    path = site / rng.choice([QUEUE, "saved/squeue.json", "saved/sinfo.json"])
    if not path.is_file():
        path = site / QUEUE
    _mutate_json(rng, path)
    planned = next((site / "reports" / "slurm").glob("2*"))
    word = rng.choice(["apply", "undo", "verify"])
    live = rng.choice(
        [
            ["now", *FROM_SLURM, "-q"],
            ["now", *FROM_SLURM, "--apply", "--brief"],
            ["slurm", word, str(planned), *([] if word == "verify" else ["--yes"])],
            ["slurm", "snapshot", "--out", "again"],
            ["why", "11", str(planned)],
        ]
    )
    saved = ["now", *FROM_SLURM, "--snapshot", "saved"]
    return Case(saved if path.parent.name == "saved" else live, frozenset({0, 2, 5, 6, 8, 9}))


def journal(rng: random.Random, site: Path) -> Case:
    """The journal of what was sent to Slurm, with odd lines."""
    path = site / "reports" / "slurm" / JOURNAL
    moment = {"at": 1717200000, "job": "11", "submit": 1717200000}
    lines = [
        {"kind": "set", **moment, "old": None, "new": 1717203600, "reference": 1717203600, "latest": 1717250000},
        {"kind": "result", **moment, "new": 1717203600, "taken": True},
        {"kind": "undo", **moment, "old": 1717203600, "new": 1717200000},
        {"kind": "undone", **moment, "new": 1717200000, "taken": False, "note": "Access denied"},
    ]
    texts = [json.dumps(mutated_tree(rng, line) if rng.random() < 0.5 else line) for line in lines]
    rng.shuffle(texts)
    data = ("\n".join(texts) + rng.choice(["\n", "", "\n\n"])).encode("utf-8", "surrogatepass")
    path.write_bytes(damaged(rng, data) if rng.random() < 0.3 else data)
    planned = next((site / "reports" / "slurm").glob("2*"))
    words = rng.choice([["slurm", "apply", str(planned), "--yes"], ["slurm", "undo", str(planned), "--yes"],
                        ["slurm", "verify", str(planned)], ["now", *FROM_SLURM, "--apply", "--brief"],
                        ["why", "11", str(planned)]])  # fmt: skip
    return Case(words, frozenset({0, 2, 5, 6, 8, 9}))


def learned(rng: random.Random, site: Path) -> Case:
    """Learned powers with odd keys and values."""
    _mutate_json(rng, site / "learned.json")
    words = rng.choice([["check", "--day", DAY], ["--day", DAY, *QUICK]])
    return Case([*words, "--set", "power.learned=learned.json"])


def _csv(rng: random.Random, text: str) -> bytes:
    return csv_text(rng, mutated(rng, read_grid(text))).encode("utf-8", "surrogatepass")


def _mutate_json(rng: random.Random, path: Path) -> None:
    told = json.loads(path.read_text(encoding="utf-8"))
    if rng.random() < 0.5 and isinstance(told, dict) and isinstance(told.get("jobs"), list) and told["jobs"]:
        job = rng.choice(told["jobs"])  # most of a document is its jobs
        for _ in range(rng.choice([1, 2, 3])):
            job[rng.choice(sorted(job))] = odd_value(rng)
    else:
        told = mutated_tree(rng, told)
    data = json.dumps(told, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    path.write_bytes(damaged(rng, data) if rng.random() < 0.2 else data)
