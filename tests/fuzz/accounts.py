"""Mutated text of ``sacct --parsable2``, booked."""

from __future__ import annotations

import random
from pathlib import Path

from tests.days import DAY
from tests.fuzz.case import Case
from tests.fuzz.damage import put
from tests.fuzz.grid import mutated

HEAD = (
    "JobID|JobIDRaw|JobName|User|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|NodeList|AllocCPUS|AllocTRES"
    "|ConsumedEnergyRaw"
)
LINES = (
    HEAD,
    "7|7|relax|ann|physics|batch|COMPLETED|2024-06-01T07:00:00|2024-06-01T08:00:00|2024-06-01T10:30:00|02:30:00"
    "|1-06:00:00|cpu[1-2]|12|billing=12,cpu=12,mem=16G,node=2|",
    "7.batch|7.batch|batch||||COMPLETED|2024-06-01T08:00:00|2024-06-01T08:00:00|2024-06-01T10:30:00|02:30:00||cpu1|6"
    "|cpu=6|123456",
    "40_3|43|a|b|ann|physics|gpu|CANCELLED by 1000|2024-10-27T01:00:00|2024-10-27T01:30:00|2024-10-27T02:30:00"
    "|01:00:00|90|gpu1|4|cpu=4,mem=62.50G,gres/gpu:a100=2|2.5M",
    "50+1|51|x|bob|chem|batch|FAILED|1717200000|1717210000|1717220000|02:46:40|UNLIMITED|n[01-03],m7|96|cpu=96,node=4|99",
    "60|60|y|bob|chem|batch|PENDING|2024-06-01T07:00:00|Unknown|Unknown|00:00:00|Partition_Limit|None assigned|0||",
    "61|61|z|cy|bio|batch|RUNNING|2024-06-01T07:00:00+00:00|2024-06-01T08:00:00|Unknown|05:00:00|45:10|cpu3|8|cpu=8|",
)
TEXT = "\n".join(LINES) + "\n"
"""Jobs of the tiny site and of other nodes: ended, cancelled, running and waiting ones, and a step."""

ODD = (
    *("7.batch", "7_[1-9%2]", "7_", "+1", "1" * 18, "1" * 19, "7_3.extern", "7.", "0", "٧"),
    *("COMPLETED", "COMPLETING", "SUSPENDED", "CANCELLED by 7", "NOT A STATE", "requeued"),
    *("cpu[1-", "cpu[1-99999999]", "[1]", "cpu[1]x[2]", "None assigned", "(null)", "a,,b", "a b"),
    *("cpu=1,mem=5Q", "cpu", "cpu=-1", "mem=1.5P", "mem=999999999999999P", "gres/gpu=,cpu=1", "=,=", "cpu=1" * 99),
    *("1-", "999999-23:59:59", "1:60", "1:2:3:4", "00:00:00.5", "-1", "9" * 15, "INVALID", "18446744073709551614"),
    *("9999-12-31T23:59:59", "0001-01-01T00:00:00", "1970-01-01T00:00:00", "2024-10-27T02:30:00", "99999999999"),
)


def odd_accounts(rng: random.Random) -> bytes:
    """The text with odd words in cells, and rows and columns dropped, doubled, exchanged and cut."""
    grid = [line.split("|") for line in LINES]
    for _ in range(rng.choice([0, 1, 2])):
        row = rng.choice(grid[1:])
        row[rng.randrange(len(row))] = rng.choice(ODD)
    if rng.random() < 0.6:
        grid = mutated(rng, grid)
    return "".join("|".join(row) + "\n" for row in grid).encode("utf-8", "surrogatepass")


def accounts(rng: random.Random, site: Path) -> Case:
    """A day booked from such a text."""
    path = put(rng, site / "sacct.txt", odd_accounts(rng))
    return Case(["book", "--day", DAY, "--sacct", str(path), *rng.choice([[], ["-q"], ["--json"]])])
