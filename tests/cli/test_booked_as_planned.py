"""Claims about ``plan book`` of jobs that were planned: what the books do not say of them is as in the plan."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from tests.days import DAY, SITE, plan, rows_of, write_small_site
from tests.slurm_documents import sacct

NEXT = "2024-06-02"
SITE_WITH_PRICES = SITE.replace(
    "cpu: {count: 4, capacity: {cores: 8, memory_gb: 32}}",
    "cpu: {count: 2, capacity: {cores: 8}}\n    gpu: {count: 2, capacity: {cores: 8}}\n"
    "  partitions: {g: [gpu], all: [cpu, gpu]}",
).replace(
    "eur_per_core_hour: 0.05",
    "eur_per_core_hour: 0.05, classes: {gpu: {eur_per_core_hour: 0.1}}, accounts: {phys: 2}, qos: {night: 0.5}",
)
JOBS = """\
job_id,submit_time,requested_h,cores,power_w,account,user,name,deadline,revenue_weight,node_class,begin_time,dependency,qos,exclusive
1,2024-05-31T08:00:00,4,8,123.4,phys,ann,first,,,gpu,2024-06-01T06:00:00,,,
2,2024-05-31T08:00:00,4,8,77.7,phys,ann,second,,,,,afterok:1,,
3,2024-05-31T08:00:00,2,3,40,chem,bob,light,2024-06-01T01:00:00,0.3,,,,night,
4,2024-05-31T08:00:00,5,8,90,chem,bob,alone,,,cpu,2024-06-01T02:00:00,,,true
"""
TABLE = "job_id,submit_time,requested_h,cores,state,start_time,end_time,nodes"
ACCOUNTS = "JobID|State|Submit|Start|End|NodeList|AllocCPUS|Timelimit"
QUICK = ("-m", "est", "--bound-time", "0", "-q")


@pytest.fixture
def priced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with prices by class, account and QOS to stand in, with its day planned."""
    monkeypatch.chdir(write_small_site(tmp_path, SITE_WITH_PRICES, JOBS))
    plan("--day", DAY, *QUICK)
    return tmp_path


def day_of(site: Path, day: str = DAY) -> Path:
    return site / "reports" / "site" / day


def summary_of(site: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((day_of(site) / "summary.json").read_text())
    return found


def schedule_of(site: Path, day: str = DAY) -> dict[str, dict[str, str]]:
    return {row["job_id"]: row for row in rows_of(day_of(site, day) / "schedule.csv")}


def as_accounts(rows: Sequence[dict[str, str]]) -> list[str]:
    """What sacct would write of jobs that ran as these rows have them, and the options to book it."""
    lines = [
        f"{row['job_id']}|COMPLETED|{row['submit_time']}|{row['start_time']}|{row['end_time']}|{row['nodes']}"
        f"|{row['unit_groups'].removeprefix('1x cores=')}|{int(row['requested_s']) // 3600:02d}:00:00"
        for row in rows
    ]
    Path("sacct.txt").write_text("\n".join([ACCOUNTS, *lines, ""]))
    return ["--sacct", "sacct.txt"]


def as_table(rows: Sequence[dict[str, str]]) -> list[str]:
    """The same as a table that says nothing else of them."""
    lines = [
        f"{row['job_id']},{row['submit_time']},{int(row['requested_s']) / 3600}"
        f",{row['unit_groups'].removeprefix('1x cores=')},done,{row['start_time']},{row['end_time']},{row['nodes']}"
        for row in rows
    ]
    Path("ran.csv").write_text("\n".join([TABLE, *lines, ""]))
    return ["--table", "ran.csv"]


@pytest.mark.parametrize("written", [as_accounts, as_table])
def test_a_day_that_ran_as_planned_is_booked_as_planned(priced: Path, written: Any) -> None:
    """Bills, energy, waits and promises, job by job: neither source knows classes, weights, begins or accounts."""
    planned, rows = summary_of(priced), schedule_of(priced)
    assert planned["waits"]["mean_s"] > 0
    assert set(rows) == {"1", "2", "3", "4"}
    plan("book", "--day", DAY, *written(list(rows.values())), "-q")
    booked = summary_of(priced)
    assert booked["totals"] == pytest.approx(planned["totals"])
    assert booked["waits"] == planned["waits"]
    same = ("account", "user", "name", "power_w", "revenue_weight", "deadline", "deadline_met", "revenue_eur")
    same += ("node_class", "begin_time", "dependency", "qos", "exclusive")
    for name, row in schedule_of(priced).items():
        assert {key: row[key] for key in same} == {key: rows[name][key] for key in same}
    assert run(["audit", str(day_of(priced))]) == 0


def test_the_plan_holds_against_the_columns_of_a_table(priced: Path) -> None:
    """Power and weight of a table are no news of a job that was planned; its account and its QOS are."""
    row = schedule_of(priced)["3"]
    Path("ran.csv").write_text(
        f"{TABLE},power_w,revenue_weight,account,qos\n3,{row['submit_time']},2,3,done,{row['start_time']}"
        f",{row['end_time']},{row['nodes']},999,9,phys,day\n1,{row['submit_time']},4,8,pending,,,,,,,\n"
    )
    plan("book", "--day", DAY, "--table", "ran.csv", "-q")
    found = schedule_of(priced)["3"]
    assert (found["power_w"], found["revenue_weight"], found["account"], found["qos"]) == ("40", "0.3", "phys", "day")
    assert float(found["revenue_eur"]) == pytest.approx(2 * 3 * 0.05 * 0.3 * 2)
    waiting = {row["job_id"]: row for row in rows_of(day_of(priced) / "deferred.csv")}
    assert (waiting["1"]["account"], waiting["1"]["node_class"], waiting["1"]["power_w"]) == ("phys", "gpu", "123.4")


def test_what_users_change_of_jobs_that_wait_holds(priced: Path) -> None:
    """A begin that was moved and another dependency; a job that took the id of an earlier one is not that one."""
    rows = schedule_of(priced)
    Path("ran.csv").write_text(
        f"{TABLE},begin_time,dependency\n1,{rows['1']['submit_time']},4,8,pending,,,,2024-06-03T06:00:00+02:00,\n"
        f"4,{rows['4']['submit_time']},5,8,pending,,,,,afterok:1\n"
        f"3,2024-06-01T00:30:00+02:00,2,3,done,{DAY}T03:00:00+02:00,{DAY}T05:00:00+02:00,cpu1,,\n"
    )
    plan("book", "--day", DAY, "--table", "ran.csv", "-q")
    waiting = {row["job_id"]: row for row in rows_of(day_of(priced) / "deferred.csv")}
    assert waiting["1"]["begin_time"].startswith("2024-06-03T06:00")
    assert (waiting["4"]["dependency"], waiting["4"]["exclusive"]) == ("afterok:1", "yes")
    new = schedule_of(priced)["3"]
    assert (new["deadline"], new["revenue_weight"], new["account"]) == ("", "1", "")


def test_every_run_of_a_planned_job_pays_as_planned(priced: Path) -> None:
    """The first run that was put back, too; its deadline and what was promised are of the last run alone."""
    row = schedule_of(priced)["3"]
    broken = row | {"end_time": f"{DAY}T00:30:00+02:00"}
    again = row | {"start_time": f"{DAY}T03:00:00+02:00", "end_time": f"{DAY}T05:00:00+02:00"}
    plan("book", "--day", DAY, *as_accounts([broken, again]), "-q")
    found = schedule_of(priced)
    assert float(found["3.run1"]["revenue_eur"]) == pytest.approx(float(row["revenue_eur"]) / 4)
    assert found["3.run1"]["power_w"] == found["3"]["power_w"] == "40"
    assert (found["3.run1"]["deadline_met"], found["3"]["deadline_met"]) == ("", "no")


@pytest.mark.parametrize("is_json", [False, True])
def test_what_accounts_say_of_a_job_that_was_not_planned(priced: Path, is_json: bool) -> None:
    """Its partition says on which classes it may run, and its QOS what it pays: half of the price of a GPU node."""
    if is_json:
        one_in_the_morning = 1717196400
        times = {"submission": one_in_the_morning, "start": one_in_the_morning, "end": one_in_the_morning + 7200}
        tres = {"allocated": [{"type": "cpu", "name": None, "id": 1, "count": 4}]}
        told = {"partition": "g", "qos": "night", "account": "bio"}
        text = json.dumps(sacct("24.11", array={}, nodes="gpu1", time=times, tres=tres, **told))
    else:
        cells = f"41|COMPLETED|{DAY}T01:00:00|{DAY}T01:00:00|{DAY}T03:00:00|gpu1|4|04:00:00|g|night"
        text = f"{ACCOUNTS}|Partition|QOS\n{cells}\n"
    Path("sacct.txt").write_text(text)
    plan("book", "--day", DAY, "--sacct", "sacct.txt", "-q")
    row = schedule_of(priced)["41"]
    assert (row["node_class"], row["qos"]) == ("gpu", "night")
    assert float(row["revenue_eur"]) == pytest.approx(4 * 2 * 0.1 * 0.5)


@pytest.mark.parametrize("partition", ["all", "g,unknown", "unknown", ""])
def test_partitions_that_tell_no_classes_apart(priced: Path, partition: str) -> None:
    cells = f"9|COMPLETED|{DAY}T01:00:00|{DAY}T01:00:00|{DAY}T03:00:00|gpu1|4|04:00:00|{partition}"
    Path("sacct.txt").write_text(f"{ACCOUNTS}|Partition\n{cells}\n")
    plan("book", "--day", DAY, "--sacct", "sacct.txt", "-q")
    assert float(schedule_of(priced)["9"]["revenue_eur"]) == pytest.approx(4 * 2 * 0.05)


@pytest.mark.parametrize("shares", [False, True])
def test_a_job_with_nodes_of_its_own_keeps_them_over_midnight(priced: Path, shares: bool) -> None:
    """No job of the next day comes beside it; where another one was there all the same, it has them not to itself."""
    (priced / "jobs" / "queue.csv").write_text(
        "job_id,submit_time,requested_h,cores,exclusive\nalone,2024-05-31T08:00:00,30,1,true\n"
        + "".join(f"wide{k},{DAY}T08:00:00,24,7,\n" for k in range(4))
    )
    plan("--day", DAY, *QUICK)
    moments = f"{DAY}T00:00:00,,cpu1"
    rows = [f"alone,2024-05-31T08:00:00,30,1,running,{moments}"]
    rows += [f"beside,2024-05-31T08:00:00,30,1,running,{moments}"] if shares else []
    Path("ran.csv").write_text("\n".join([TABLE, *rows, ""]))
    plan("book", "--day", DAY, "--table", "ran.csv", "-q")
    plan("--day", NEXT, *QUICK)
    assert run(["audit", str(day_of(priced, NEXT))]) == 0
    found = schedule_of(priced, NEXT)
    assert found["alone"].get("exclusive", "") == ("" if shares else "yes")
    beside = {name for name, row in found.items() if row["nodes"] == "cpu1" and int(row["start_s"]) < 6 * 3600}
    assert beside == ({"alone", "beside"} if shares else {"alone"})
