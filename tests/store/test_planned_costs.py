"""Claims about reports over booked days: what counts, what is marked, and planned against real to the last digit."""

from __future__ import annotations

import contextlib
import json
import shutil
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from planner.cli.main import run
from planner.store.costs import KEYS
from planner.store.planned_to_real import CAUSES
from tests.days import plan, rows_of, write_small_site

DAYS = ("2024-06-01", "2024-06-02", "2024-06-03")
HEAD = "JobID|User|Account|State|Submit|Start|End|NodeList|AllocCPUS"
RAN = """\
1|ann|physics|COMPLETED|2024-05-31T08:00:00|2024-06-01T01:00:00|2024-06-01T05:00:00|cpu[1-2]|16
2|eve|maths|COMPLETED|2024-05-31T08:00:00|2024-06-01T06:00:00|2024-06-02T02:00:00|cpu3|4
3|ann|physics|COMPLETED|2024-05-31T08:00:00|2024-06-02T06:00:00|2024-06-02T08:00:00|cpu3|8
"""


@pytest.fixture(scope="module")
def booked_days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three planned days of the small site, the first two booked; copy it, never change it."""
    base = write_small_site(tmp_path_factory.mktemp("booked"))
    with contextlib.chdir(base):
        for day in DAYS:
            plan("--day", day, "-m", "multisearch", "-q", "--set", "cluster.classes.cpu.idle_w=60")
        (base / "sacct.txt").write_text(f"{HEAD}\n{RAN}")
        for day in DAYS[:2]:
            plan("book", "--day", day, "--sacct", "sacct.txt", "-q", "--set", "cluster.classes.cpu.idle_w=60")
    return base


@pytest.fixture
def days(tmp_path: Path, booked_days: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(booked_days, tmp_path / "site")
    monkeypatch.chdir(tmp_path / "site")
    return tmp_path / "site" / "reports" / "site"


def totals(*folders: Path) -> dict[str, Decimal]:
    """Sums of the totals of days."""
    found: dict[str, Decimal] = {}
    for folder in folders:
        for name, value in json.loads((folder / "summary.json").read_text())["totals"].items():
            found[name] = found.get(name, Decimal(0)) + Decimal(str(value))
    return found


def test_booked_days_count_as_they_happened(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The report sums the books of two days, or with `--planned` the plan of the third; never both, and says so."""
    for words, stem, kept, status in (
        ((), "2024-06-by-account", DAYS[:2], "booked"),
        (("--planned",), "2024-06-only-planned-by-account", DAYS[2:], "planned"),
    ):
        plan("report", "--month", "2024-06", *words)
        told = capsys.readouterr()
        rows = rows_of(days / "costs" / f"{stem}.csv")
        wanted = totals(*(days / day for day in kept))
        for name in ("core_hours", "revenue_eur", "profit_eur"):
            assert sum(Decimal(row[name]) for row in rows) == wanted[name]
        assert {row["status"] for row in rows} == {status}
        page = (days / "costs" / f"{stem}.html").read_text()
        assert page.count(">planned only<") == (1 if words else 0)
        assert page.count(">booked<") == (0 if words else 2)
        left_out = "2 days that are booked" if words else "1 day that is only planned"
        assert f"{left_out} left out" in told.err
        assert f"{left_out}: not in any sum here" in page
        assert (
            f"{len(kept)} day{'s' if len(kept) > 1 else ''}, {'only planned' if words else 'booked'}, money" in told.out
        )
    assert run(["report", "--day", DAYS[0], "--planned"]) == 2
    assert "no day of 2024-06-01 is only planned" in capsys.readouterr().err


def test_lines_of_users_within_accounts_are_their_jobs(days: Path) -> None:
    """Each pair once, with the sums of the jobs of that account and that user; Parquet has the same numbers."""
    plan("report", "--month", "2024-06", "--by", "job", "-q")
    plan("report", "--month", "2024-06", "--by", "account-user", "--also", "parquet", "-q")
    wanted: dict[tuple[str, str], Decimal] = {}
    for row in rows_of(days / "costs" / "2024-06-by-job.csv"):
        if row["kind"] == "job":
            pair = (row["account"], row["user"])
            wanted[pair] = wanted.get(pair, Decimal(0)) + Decimal(row["revenue_eur"])
    found = [row for row in rows_of(days / "costs" / "2024-06-by-account-user.csv") if row["kind"] != "site"]
    assert len(found) == len(wanted)
    assert {(row["account"], row["user"]): Decimal(row["revenue_eur"]) for row in found} == wanted
    stem = days / "costs" / "2024-06-by-account-user-planned"
    frame = pd.read_parquet(f"{stem}.parquet")
    rows = rows_of(stem.with_suffix(".csv"))
    assert frame["account_user"].tolist() == [row["account_user"].removeprefix("'") for row in rows]
    for name in ("planned_profit_eur", "real_profit_eur", "difference_kwh"):
        assert frame[name].tolist() == [Decimal(row[name]) for row in rows]
    assert frame["real_jobs"].tolist() == [int(row["real_jobs"]) for row in rows]


@pytest.mark.parametrize("by", KEYS)
def test_planned_against_real_is_the_days_totals(days: Path, by: str) -> None:
    """Of the two booked days: planned columns sum to the plans' totals, real ones to the books', to the last digit."""
    plan("report", "--month", "2024-06", "--by", by, "-q")
    rows = rows_of(days / "costs" / f"2024-06-by-{by}-planned.csv")
    plans = totals(*(next((days / day / "versions").iterdir()) for day in DAYS[:2]))
    books = totals(*(days / day for day in DAYS[:2]))
    for name, total in (
        ("core_hours",) * 2,
        ("revenue_eur",) * 2,
        ("cost_eur", "energy_cost_eur"),
        ("profit_eur",) * 2,
    ):
        planned, real, more = (
            sum(Decimal(row[f"{side}_{name}"]) for row in rows) for side in ("planned", "real", "difference")
        )
        assert (planned, real, more) == (plans[total], books[total], books[total] - plans[total])


def test_accounts_that_only_ran_or_were_only_planned_are_there(days: Path) -> None:
    """4 cores of maths for 20 hours, of which 18 are on the first day; biology was planned and did not run."""
    plan("report", "--day", DAYS[0], "-q")
    rows = {row["account"]: row for row in rows_of(days / "costs" / "2024-06-01-by-account-planned.csv")}
    assert (float(rows["maths"]["planned_core_hours"]), float(rows["maths"]["real_core_hours"])) == (0, 72)
    assert (rows["maths"]["planned_jobs"], rows["maths"]["real_jobs"]) == ("0", "1")
    assert float(rows["bio"]["real_revenue_eur"]) == 0
    assert float(rows["bio"]["difference_revenue_eur"]) == -float(rows["bio"]["planned_revenue_eur"]) < 0
    assert float(rows["physics"]["real_core_hours"]) == 64


def test_without_booked_days_there_is_nothing_to_compare(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan("report", "--day", DAYS[2])
    assert "1 day, only planned" in capsys.readouterr().out
    assert not (days / "costs" / f"{DAYS[2]}-by-account-planned.csv").exists()
    assert "Planned against real" not in (days / "costs" / f"{DAYS[2]}-by-account.html").read_text()


def test_json_says_which_days_are_booked(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan("report", "--month", "2024-06", "--json", "-q")
    found = json.loads(capsys.readouterr().out)
    assert (found["status"], found["days"]) == ("booked", list(DAYS[:2]))
    assert {row["kind"] for row in found["planned"]} == {"account", "site"}


def test_a_damaged_plan_is_named_and_the_books_still_count(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    version = next((days / DAYS[0] / "versions").iterdir())
    (version / "schedule.csv").write_text("no table\n")
    assert run(["report", "--day", DAYS[0]]) == 7
    said = capsys.readouterr()
    assert str(version.relative_to(days)) in said.err
    assert "1 day, booked" in said.out
    shutil.rmtree(version)
    assert run(["report", "--day", DAYS[0]]) == 0


def test_the_split_of_a_month_adds_up_to_the_cent(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two days booked, one only planned, 27 without a result: every line adds up, and all lines are the two days."""
    assert len(list(days.glob("2024-06-*"))) == 3
    plan("report", "--month", "2024-06")
    said = capsys.readouterr()
    rows = rows_of(days / "costs" / "2024-06-by-account-split.csv")
    plans = totals(*(next((days / day / "versions").iterdir()) for day in DAYS[:2]))
    books = totals(*(days / day for day in DAYS[:2]))
    for quantity, name in (
        ("revenue_eur", "revenue_eur"),
        ("cost_eur", "energy_cost_eur"),
        ("profit_eur", "profit_eur"),
    ):
        own = [row for row in rows if row["quantity"] == quantity]
        for row in own:
            parts = sum(Decimal(row[f"{cause}_eur"]) for cause in CAUSES)
            assert Decimal(row["planned_eur"]) + parts == Decimal(row["real_eur"])
        assert sum(Decimal(row["planned_eur"]) for row in own) == plans[name]
        assert sum(Decimal(row["real_eur"]) for row in own) == books[name]
    line = next(line for line in said.out.splitlines() if line.startswith("profit "))
    planned, *parts, real = (Decimal(text.replace(",", "")) for text in line.split()[1:])
    assert planned + sum(parts) == real == books["profit_eur"].quantize(Decimal("0.01"))
    assert "27 of 30 days have no result" in said.err
