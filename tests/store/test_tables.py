"""Claims about the tables of a day: typed, documented, and readable back to the same problem and plan."""

from __future__ import annotations

import csv
import datetime as dt
import json
import re
from dataclasses import asdict, fields, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from planner.domain.day_summary import AheadSummary, AheadTotals, Baseline, DaySummary, DayTotals, EasyDay, JobCounts
from planner.domain.job import Job, UnitGroup
from planner.domain.node_lists import format_unit_nodes, parse_unit_nodes
from planner.domain.plan import Deferral
from planner.domain.waits import Waits
from planner.errors import InputError
from planner.inputs.pue_csv import pue_table_text
from planner.search.multisearch import multisearch
from planner.store.provenance import hashes, outputs_of, sealed
from planner.store.read_day import read_day
from planner.store.verify import disagreements
from planner.store.write_day import figures, write_parquet
from planner.store.write_tables import (
    COLUMNS,
    Table,
    deferred_table,
    exact,
    kind_of,
    number,
    schedule_table,
    segment_table,
)
from tests.factories import DAY, day_summary, random_problem
from tests.queue_rules.rules import day_with_rules

OUTPUTS = (Path(__file__).parents[2] / "docs" / "outputs.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", COLUMNS)
def test_every_column_is_documented(table: str) -> None:
    """Each column of each file has a row in its own section of docs/outputs.md, in the order of the file.

    What deferred.csv shares with schedule.csv stands there.
    """
    section = re.split(r"^## ", OUTPUTS, flags=re.MULTILINE)
    (text,) = [part for part in section if part.startswith(f"`{table}.csv`")]
    named = re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)
    shared = COLUMNS["schedule"] if table == "deferred" else ()
    assert named == [column for column in COLUMNS[table] if column not in shared]


@pytest.mark.parametrize(
    "part", [DaySummary, DayTotals, JobCounts, Baseline, EasyDay, Waits, AheadSummary, AheadTotals]
)
def test_every_key_of_a_summary_is_documented(part: type) -> None:
    """Each key of summary.json, and of the mappings in it, is in docs/outputs.md."""
    (section,) = [part for part in re.split(r"^## ", OUTPUTS, flags=re.MULTILINE) if part.startswith("`summary.json`")]
    for field in fields(part):
        assert f"`{field.name}`" in section or field.name == "name", field.name


ABOUT_A_RUN = {
    **{"planner": "0", "command": [], "began": "", "method": "multisearch", "seed": 0, "workers": 1},
    **{"time_limit_s": 1.0, "engine": None, "iterations": None, "continues": None, "closed": False},
    **{"versions": {}, "bound": None},
}


@pytest.mark.parametrize("seed", range(6))
def test_carried_and_planned_read_back(seed: int, tmp_path: Path) -> None:
    """A day with running jobs, idle power, demand, sunlight and carbon reads back as itself."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, jobs=12, extras=True)
    problem = day_with_rules(rng, problem) if seed % 2 else problem
    problem = replace(problem, jobs=tuple(sorted(problem.jobs, key=lambda job: (job.submit_unix, job.id))))
    result = multisearch(problem)
    reasons = [
        (job, Deferral(job.id, "deferred", "no room"))
        for job, placed in zip(problem.jobs, result.plan.is_placed, strict=True)
        if not placed
    ]
    table = tmp_path / "table.csv"
    table.write_text(pue_table_text(problem.table))
    schedule_table(problem, result.plan, result.ledger).write_csv(tmp_path / "schedule.csv")
    deferred_table(problem.horizon, reasons).write_csv(tmp_path / "deferred.csv")
    segment_table(problem, result.ledger).write_csv(tmp_path / "segments.csv")
    summary = day_summary(**vars(figures(problem, result.plan, result.ledger, rejected=0)))
    (tmp_path / "summary.json").write_text(json.dumps(summary.as_dict()))
    scenario = {
        "name": "site",
        "zone": "UTC",
        "jobs": {"visibility": "midnight"},
        "cluster": asdict(problem.cluster),
        "cooling": {"table": table.as_posix()},
        "revenue": {"eur_per_core_hour": problem.rates.eur_per_core_hour},
        "demand": {"eur_per_kw": problem.rates.demand_eur_per_kw, "interval_s": problem.rates.demand_interval_s},
        "carbon": {"eur_per_tonne": problem.rates.carbon_eur_per_tonne},
        "rules": {"defer": problem.defer},
    }
    run = {**ABOUT_A_RUN, "scenario": scenario, "inputs": hashes([table]), "outputs": outputs_of(tmp_path)}
    (tmp_path / "run.json").write_text(json.dumps(sealed(run)))
    written = read_day(tmp_path)
    assert written.problem.jobs == problem.jobs
    assert written.problem.segments == problem.segments
    assert sorted(written.problem.running, key=lambda work: work.job.id) == list(problem.running)
    assert written.plan.start_s.tolist() == result.plan.start_s.tolist()
    assert written.plan.node_of_unit.tolist() == result.plan.node_of_unit.tolist()
    assert disagreements(written) == []


@pytest.mark.parametrize("text", ['a,"b"', "two\nlines", "cr\rlf\r\n", " spaces ", "=1+1", "ü€☃", "'"])
def test_any_name_survives(text: str, tmp_path: Path) -> None:
    """Whatever users call their jobs, the CSV gives it back."""
    table = Table(("job_id", "name"), (("1", text), ("2", "")))
    table.write_csv(tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as file:
        assert tuple(tuple(row) for row in csv.reader(file)) == (table.columns, *table.rows)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("name", COLUMNS)
def test_parquet_types(name: str, rows: int, tmp_path: Path) -> None:
    """Parquet columns have their types whether the day is empty or not: whole, number, time, flag or text."""
    cells = {"text": "x", "time": "2024-06-01T02:00:00+02:00", "whole": "3", "number": "0.5", "flag": "yes"}
    types = {"text": "string", "time": "timestamp[us, tz=UTC]", "whole": "int64", "number": "double", "flag": "bool"}
    columns = COLUMNS[name]
    table = Table(columns, (tuple(cells[kind_of(column)] for column in columns),) * rows)
    write_parquet(table, tmp_path / "t.parquet")
    schema = pq.read_schema(tmp_path / "t.parquet")
    assert {field.name: str(field.type) for field in schema} == {column: types[kind_of(column)] for column in columns}
    read = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert len(read) == rows
    if rows and "start_time" in columns:
        assert read[0]["start_time"] == dt.datetime(2024, 6, 1, tzinfo=dt.UTC)
        assert read[0]["start_s"] == 3


def test_parquet_unknowns(tmp_path: Path) -> None:
    """An empty cell is null, save for text, where it is empty text."""
    columns = ("deadline", "runtime_s", "deadline_met", "name")
    write_parquet(Table(columns, (("",) * 4,)), tmp_path / "t.parquet")
    assert pq.read_table(tmp_path / "t.parquet").to_pylist() == [
        {"deadline": None, "runtime_s": None, "deadline_met": None, "name": ""}
    ]


def test_request_is_exact() -> None:
    """Watts and weights are written to the last bit, since the plan is worked out again from them."""
    power_w, weight = 134.25412345678912, 1 / 3
    job = Job("a", DAY.start_unix, 60, (UnitGroup.of(1, {"cores": 1}),), power_w, revenue_weight=weight)
    table = deferred_table(DAY, [(job, Deferral("a", "deferred", "x"))])
    assert [float(text) for text in table.column("power_w")] == [power_w]
    assert [float(text) for text in table.column("revenue_weight")] == [weight]


def test_numbers() -> None:
    """Numbers have a fixed count of digits and no negative zero; exact ones are as short as can be."""
    assert number(1234.5) == "1234.500000"
    assert number(-1e-9) == "0.000000"
    assert [exact(0.1 + 0.2), exact(40.0), exact(1e300)] == ["0.30000000000000004", "40", "1e+300"]


@pytest.mark.parametrize("nodes", [(0,), (0, 1, 2, 3), (7, 7), (3, 2, 1), (0, 1, 1, 2, 2, 2, 5, 6), (9, 0, 1)])
def test_node_text(nodes: tuple[int, ...]) -> None:
    """The nodes of units survive their short text, in order and number."""
    assert parse_unit_nodes(format_unit_nodes(nodes)) == nodes


@pytest.mark.parametrize("text", ["a", "1-", "-1", "1*", "1-2-3", "1*2*3", "0x1"])
def test_bad_node_text(text: str) -> None:
    """What is no list of nodes is refused with the text and an example."""
    with pytest.raises(InputError, match="expected text such as 0-3 7"):
        parse_unit_nodes(text)
