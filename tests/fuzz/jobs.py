"""Mutated jobs: SWF traces, CSV and Parquet tables; planned, checked and replayed."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.days import DAY
from tests.fuzz.case import Case, planning
from tests.fuzz.damage import damaged, put
from tests.fuzz.grid import csv_text, mutated, read_grid
from tests.fuzz.odd import odd_number, odd_text, odd_word
from tests.fuzz.site import JOBS, SWF, UNITS


def swf(rng: random.Random, site: Path) -> Case:
    """A trace with odd fields, lines or headers."""
    lines = [line.split(" ") for line in SWF.splitlines()]
    head = sum(line[0] == ";" for line in lines)
    if rng.random() < 0.2:
        place = rng.randrange(head)
        lines[place] = [";", lines[place][1], rng.choice([odd_number, odd_text])(rng)]
    lines = mutated(rng, lines, first=head)
    data = "\n".join(" ".join(line) for line in lines).encode("utf-8", "surrogatepass") + b"\n"
    path = put(rng, site / "jobs/odd.swf", data)
    settings = rng.choice([[], [], ["--set", "jobs.visibility=day"], ["--set", "jobs.core_scale=1/3"]])
    return _run(rng, path, settings)


def job_csv(rng: random.Random, site: Path) -> Case:
    """A table of jobs with odd cells, rows or columns."""
    grid = mutated(rng, read_grid(rng.choice([JOBS, UNITS])))
    path = put(rng, site / "jobs/odd.csv", csv_text(rng, grid).encode("utf-8", "surrogatepass"))
    return _run(rng, path, rng.choice([[], [], ["--set", "rules.defer=free"]]))


def _run(rng: random.Random, path: Path, settings: list[str]) -> Case:
    chance = rng.random()
    if chance < 0.25:
        policy = rng.choice(["easy", "list", "cons", "easy-sjbf", "saf-easy", "laf"])
        how = ["-p", policy, "-e", rng.choice(["actual", "requested", "tsafrir"])]
        machine = rng.choice([[], ["--processors", "32"], ["-s", "site"]])
        extra = rng.choice([[], ["--json"], ["--out", "replayed"], ["--metrics", "all"], ["--deadlines", "50"]])
        return Case(["simulate", str(path), *how, *machine, *extra])
    if chance < 0.45:
        return Case(["check", "--day", DAY, "--jobs", str(path), *settings])
    return Case(planning(rng, "--jobs", str(path), *settings))


def job_parquet(rng: random.Random, site: Path) -> Case:
    """A Parquet table with columns of odd types, values and names."""
    import pyarrow as pa
    import pyarrow.parquet

    columns: list[tuple[str, Any]] = [
        ("job_id", pa.array(["a", "b", "c"])),
        ("submit_unix", pa.array([1717140000, 1717140060, 1717140120])),
        ("requested_s", pa.array([3600, 7200, 600])),
        ("cores", pa.array([4, 8, 2])),
        ("power_w", pa.array([40.5, 80.0, 20.0])),
        ("name", pa.array(["x", None, "z"])),
        ("runtime_s", pa.array([3000, None, 1])),
    ]
    for _ in range(rng.choice([1, 1, 2])):
        _change_column(rng, columns)
    length = min((len(array) for _, array in columns), default=0)
    columns = [(name, array[:length]) for name, array in columns]
    path = site / "jobs/odd.parquet"
    table = pa.Table.from_arrays([array for _, array in columns], names=[name for name, _ in columns])
    if rng.random() < 0.1:
        table = table.replace_schema_metadata({b"pandas": rng.choice([b"", b"{}", b"[", b'{"columns": 3}', b"\xff"])})
    pyarrow.parquet.write_table(table, path)
    if rng.random() < 0.2:
        path.write_bytes(damaged(rng, path.read_bytes()))
    return _run(rng, path, [])


def _change_column(rng: random.Random, columns: list[tuple[str, Any]]) -> None:
    if not columns:
        return
    place = rng.randrange(len(columns))
    name, array = columns[place]
    match rng.randrange(10):
        case 0 | 1 | 2 | 3 | 4 | 5:
            columns[place] = name, _odd_array(rng)
        case 6:
            columns[place] = rng.choice([odd_text(rng), odd_word(rng), rng.choice(columns)[0]])[:3000], array
        case 7:
            del columns[place]
        case 8:
            columns.append((rng.choice([name, "memory_gb", "unit_groups", "deadline", odd_word(rng)]), _odd_array(rng)))
        case _:
            columns[place] = name, array[: rng.randrange(2)]


def _odd_array(rng: random.Random) -> Any:
    import pyarrow as pa

    now = dt.datetime(2024, 5, 31, 12, 0)  # noqa: DTZ001 - naive on purpose
    arrays = (
        lambda: pa.array([odd_word(rng) for _ in range(3)]),
        lambda: pa.array([odd_text(rng).encode("utf-8", "surrogatepass") for _ in range(3)]),
        lambda: pa.array([rng.choice([2**63 - 1, -(2**63), 0, 5]) for _ in range(3)], type=pa.int64()),
        lambda: pa.array([rng.choice([2**64 - 1, 0, 5]) for _ in range(3)], type=pa.uint64()),
        lambda: pa.array([1, 2, 3], type=rng.choice([pa.int8(), pa.uint16(), pa.float32()])),
        lambda: pa.array([float("nan"), float("inf"), -1e308]),
        lambda: pa.array([rng.choice([1e300, 0.1, -0.0, 1e-320]) for _ in range(3)]),
        lambda: pa.array([True, None, False]),
        lambda: pa.nulls(3),
        lambda: pa.array([[1, 2], [], None]),
        lambda: pa.array([["a"], ["b\x1b"], None]),
        lambda: pa.array([{"x": 1}, {"x": None}, None]),
        lambda: pa.array([[("k", 1)], [], None], type=pa.map_(pa.string(), pa.int64())),
        lambda: pa.array([Decimal("1.5"), Decimal("4"), None], type=pa.decimal128(10, 2)),
        lambda: pa.array([Decimal("9" * 60), Decimal(-1), None], type=pa.decimal256(70, 0)),
        lambda: pa.array([now, now, None], type=pa.timestamp(rng.choice(["s", "ms", "us", "ns"]))),
        lambda: pa.array([now, now, now], type=pa.timestamp(rng.choice(["s", "ns"]), tz=rng.choice(["UTC", "+02:00"]))),
        lambda: pa.array([2**62, -(2**62), 253402300800 * 10**6], type=pa.timestamp("us", tz="UTC")),
        lambda: pa.array([2**50, 0, 1], type=pa.timestamp("s")),
        lambda: pa.array([0, 2**31 - 1, -(2**31)], type=pa.date32()),
        lambda: pa.array([0, 1, 2], type=pa.time64("us")),
        lambda: pa.array([0, 1, 2**62], type=pa.duration("us")),
        lambda: pa.array([dt.timedelta(1), None, None]),
        lambda: pa.array(["a", "b", "a"]).dictionary_encode(),
        lambda: pa.array([1, 5, 1]).dictionary_encode(),
        lambda: pa.array(["a", "b", "c"], type=pa.large_string()),
    )
    return rng.choice(arrays)()
