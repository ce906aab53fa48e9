"""Claims about real less planned: the parts are the whole difference, and each cause has its own part."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import json
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from planner.cli.main import run
from planner.store.planned_to_real import CAUSES, MONEY, SplitLine
from tests.days import DAY, SITE, plan, rows_of, write_small_site

HEAD = "JobID|User|Account|State|Submit|Start|End|NodeList|AllocCPUS|ConsumedEnergyRaw"
JOBS = """\
job_id,submit_time,requested_h,units,cores_per_unit,power_w,account,user
1,2024-05-31T08:00:00+02:00,6,2,8,310.5,physics,ann
2,2024-05-31T08:01:00+02:00,8,1,8,150.25,chem,cy
3,2024-05-31T08:02:00+02:00,10,2,8,280,physics,bob
4,2024-05-31T08:03:00+02:00,4,1,8,120,bio,dee
5,2024-05-31T08:04:00+02:00,9,3,8,330,bio,dee
"""
PRICES = "tariff: {kind: bands, eur_per_kwh: 0.1, bands: [{from: '12:00', to: '24:00', eur_per_kwh: 0.3}]}"
ZONE = ZoneInfo("Europe/Paris")
Row = dict[str, str]


def _site() -> str:
    text = SITE.replace("tariff: {kind: flat, eur_per_kwh: 0.2}", PRICES).replace("count: 4,", "count: 4, idle_w: 60,")
    return text + "demand: {eur_per_kw: 0.5}\n"


@pytest.fixture(scope="module")
def planned_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A planned day of five jobs at two prices; copy it, never change it."""
    base = write_small_site(tmp_path_factory.mktemp("split"), _site(), JOBS)
    with contextlib.chdir(base):
        plan("--day", DAY, "-m", "multisearch", "-q")
    return base


@pytest.fixture
def place(tmp_path: Path, planned_day: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(planned_day, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def as_planned(folder: Path) -> list[Row]:
    """What sacct would say had all gone by the plan of a day."""
    rows = []
    midnight = dt.datetime.fromisoformat(DAY).replace(tzinfo=ZONE)
    for row in rows_of(folder / "schedule.csv"):
        start, end = (midnight + dt.timedelta(seconds=int(row[name])) for name in ("start_s", "end_s"))
        rows.append(
            {
                "JobID": row["job_id"],
                "User": row["user"],
                "Account": row["account"],
                "State": "COMPLETED",
                "Submit": "2024-05-31T08:00:00",
                "Start": f"{start:%Y-%m-%dT%H:%M:%S}",
                "End": f"{end:%Y-%m-%dT%H:%M:%S}",
                "NodeList": row["nodes"],
                "AllocCPUS": str(8 * int(row["units"])),
                "ConsumedEnergyRaw": "",
            }
        )
    return rows


def booked(place: Path, change: Callable[[list[Row]], None] = lambda rows: None, *words: str) -> dict[str, Row]:
    """The lines of the whole after a day was booked as planned, but for a change; by quantity."""
    rows = as_planned(place / "reports" / "site" / DAY)
    change(rows)
    text = [HEAD, *("|".join(row[name] for name in HEAD.split("|")) for row in rows)]
    (place / "sacct.txt").write_text("\n".join(text) + "\n")
    plan("book", "--day", DAY, "--sacct", "sacct.txt", "-q", *words)
    plan("report", "--day", DAY, "-q")
    found: dict[str, Row] = {}
    for row in rows_of(place / "reports" / "site" / "costs" / f"{DAY}-by-account-split.csv"):
        sums = found.setdefault(row["quantity"], dict.fromkeys(row, "0"))
        for name in row:
            if name.endswith("_eur"):
                sums[name] = str(Decimal(sums[name]) + Decimal(row[name]))
    return found


def parts_of(row: Row) -> dict[str, Decimal]:
    """The parts that come to a cent or more."""
    parts = {name: Decimal(row[f"{name}_eur"]) for name in CAUSES}
    return {name: part for name, part in parts.items() if abs(part) >= Decimal("0.005")}


def by_hand(place: Path, name: str) -> Decimal:
    """Real less planned by the summaries of the day and of its plan; this site feeds nothing in."""
    if name == "credit_eur":
        return Decimal(0)
    day = place / "reports" / "site" / DAY
    key = {"cost_eur": "energy_cost_eur"}.get(name, name)
    real, was = (
        Decimal(str(json.loads((folder / "summary.json").read_text())["totals"][key]))
        for folder in (day, next((day / "versions").iterdir()))
    )
    return real - was


def _shorter(rows: list[Row]) -> None:
    row = next(row for row in rows if row["JobID"] == "3")
    row["End"] = (dt.datetime.fromisoformat(row["End"]) - dt.timedelta(hours=2)).isoformat()


def _gone(rows: list[Row]) -> None:
    rows[:] = [row for row in rows if row["JobID"] != "2"]


def _came(rows: list[Row]) -> None:
    rows.append(rows[0] | {"JobID": "77", "Account": "new", "Start": f"{DAY}T23:00:00", "End": f"{DAY}T23:30:00"})


def _later(rows: list[Row]) -> None:
    last = max(rows, key=lambda row: row["End"])
    for name in ("Start", "End"):
        last[name] = (dt.datetime.fromisoformat(last[name]) + dt.timedelta(minutes=90)).isoformat()


def _measured(rows: list[Row]) -> None:
    row = next(row for row in rows if row["JobID"] == "3")
    ran_s = (dt.datetime.fromisoformat(row["End"]) - dt.datetime.fromisoformat(row["Start"])).total_seconds()
    row["ConsumedEnergyRaw"] = str(round(500 * ran_s))


@pytest.mark.parametrize(
    ("change", "words", "cause"),
    [
        (_shorter, (), "runtime"),
        (_gone, (), "volume"),
        (_came, (), "volume"),
        (_later, (), "start_times"),
        (_measured, (), "power"),
        (None, ("--set", "tariff.eur_per_kwh=0.4"), "price"),
        (None, ("--set", "weather.temperature_c=30"), "weather"),
        (None, ("--set", "demand.eur_per_kw=0.7"), "other"),
    ],
)
def test_each_cause_has_the_whole_difference_when_it_is_alone(
    place: Path, change: Callable[[list[Row]], None] | None, words: tuple[str, ...], cause: str
) -> None:
    """Booked as planned but for one thing: its part is real less planned by the summaries, and others are nothing."""
    found = booked(place, change or (lambda rows: None), *words)
    assert parts_of(found["profit_eur"]).keys() == {cause}
    for name in MONEY:
        assert sum(Decimal(found[name][f"{each}_eur"]) for each in CAUSES) == by_hand(place, name)
        assert abs(Decimal(found[name][f"{cause}_eur"]) - by_hand(place, name)) < Decimal("0.001")


def test_all_at_once_add_up_line_by_line(place: Path) -> None:
    """With everything changed at once each line is planned, the parts and real, to the last digit and in cents."""

    def change(rows: list[Row]) -> None:
        _shorter(rows)
        _later(rows)
        _came(rows)
        _measured(rows)

    found = booked(place, change, "--set", "weather.temperature_c=30", "--set", "demand.eur_per_kw=0.7")
    assert parts_of(found["profit_eur"]).keys() == set(CAUSES) - {"price"}
    rows = rows_of(place / "reports" / "site" / "costs" / f"{DAY}-by-account-split.csv")
    assert {row["account"] for row in rows} == {"physics", "chem", "bio", "new", ""}
    for row in rows:
        parts = {name: Decimal(row[f"{name}_eur"]) for name in CAUSES}
        assert Decimal(row["planned_eur"]) + sum(parts.values()) == Decimal(row["real_eur"])
        cents = SplitLine("", "", "", Decimal(row["planned_eur"]), parts).in_cents()
        assert cents["planned"] + sum(cents[name] for name in CAUSES) == cents["real"]
        assert cents["real"] == Decimal(row["real_eur"]).quantize(Decimal("0.01"))


def test_a_day_that_cannot_be_split_stands_under_other(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without its PUE table a plan cannot be settled: the difference is whole, under `other`, and a line says why."""
    booked(place, _shorter)
    table = place / "tables" / "small.csv"
    table.write_text(table.read_text().replace("0.1000", "0.2000"))
    capsys.readouterr()
    assert run(["report", "--day", DAY]) == 0
    said = capsys.readouterr()
    assert f"{DAY}: real less planned stands under other, as it cannot be split" in said.err
    with (place / "reports" / "site" / "costs" / f"{DAY}-by-account-split.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["quantity"] == "profit_eur"]
    assert sum(Decimal(row["other_eur"]) for row in rows) == by_hand(place, "profit_eur")
    assert all(Decimal(row["runtime_eur"]) == 0 for row in rows)
