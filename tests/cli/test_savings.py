"""Claims about ``plan savings``: a month as its accounts have it, worked out by hand, and the site made from it."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from planner.inputs.books.month_that_ran import read_month
from tests.days import plan, rows_of

HEAD = "JobID|JobName|User|Account|Partition|State|Submit|Start|End|TimelimitRaw|NodeList|AllocCPUS|ConsumedEnergyRaw"
DAY = "2024-06-05"
ROWS = (
    f"1|big|ann|phys|long|COMPLETED|{DAY}T00:00:00|{DAY}T00:30:00|{DAY}T01:30:00|60|cn[1-2]|8|",
    "1.batch||||||||||||",
    f"2|small|bob|chem|long|COMPLETED|{DAY}T00:10:00|{DAY}T00:10:00|{DAY}T01:10:00|60|cn3|2|",
    f"3|small|bob|chem|long|CANCELLED|{DAY}T00:20:00|Unknown|{DAY}T00:40:00|60|None assigned|0|",
    f"4|fat|cy|chem|gpu|COMPLETED|{DAY}T01:30:00|{DAY}T01:30:00|{DAY}T02:30:00|60|g-1|6|3600000",
)


def write_month(folder: Path, rows: tuple[str, ...] = ROWS) -> Path:
    """Accounts of a night, and prices that fall from 0.5 to 0.1 EUR/kWh at two o'clock."""
    (folder / "month.txt").write_text("\n".join([HEAD, *rows]) + "\n")
    begin = dt.datetime.fromisoformat("2024-05-20T00:00:00+00:00")
    hours = [begin + dt.timedelta(hours=k) for k in range(24 * 17)]
    lines = [f"{hour.isoformat()},{500 if hour.hour < 2 else 100}" for hour in hours]
    (folder / "prices.csv").write_text("\n".join(["time,price", *lines]) + "\n")
    return folder


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """What the command says of the month in this folder."""
    capsys.readouterr()
    plan("savings", "--sacct", "month.txt", "--prices", "prices.csv", "--pue", "1.5", "-q", "--json", *words)
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_night_worked_out_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Jobs of 2, 0.5 and 1 kWh, each in one hour, with half as much for cooling.

    As it ran: 2.5 kWh at 0.5 EUR, and a kWh half at 0.5 and half at 0.1: 1.5 x 1.55. EASY starts them at their
    submission, which changes the hour of none. Within two hours all of it could run from two o'clock on: 1.5 x 0.35.
    Of a night without a past holds make the last job alone, for half an hour: 0.5 kWh for 0.4 EUR less.
    """
    monkeypatch.chdir(write_month(tmp_path))
    found = told(capsys, "--hours", "2", "--w-per-core", "250", "--carbon", "100")
    ran, easy, kept = found["runs"]
    assert [row["run"] for row in found["runs"]] == ["as it ran", "EASY", "held up to 2 h"]
    assert ran["energy_cost_eur"] == pytest.approx(1.5 * 1.55)
    assert easy["energy_cost_eur"] == pytest.approx(1.5 * 1.55)
    assert (ran["mean_wait_s"], easy["mean_wait_s"]) == (600, 0)
    assert kept["limit_eur"] == pytest.approx(1.8, abs=1e-3)
    assert kept["energy_cost_eur"] == pytest.approx(1.5 * 1.35)
    assert kept["saved_eur"] == pytest.approx(0.3)
    assert (kept["held_jobs"], kept["longest_hold_s"], kept["mean_wait_s"]) == (1, 1800, 600)
    assert [row["carbon_kg"] for row in found["runs"]] == [pytest.approx(0.525)] * 3
    assert found["answer"].startswith(
        "Of 2.33 EUR for energy, holding jobs for cheaper hours would have saved 0.30 EUR (12.9 %)"
    )
    assert rows_of(tmp_path / "reports" / "savings" / "month" / "savings.csv")[2]["saved_percent"]
    for row in told(capsys, "--hours", "2", "--w-per-core", "250")["runs"]:  # nobody said what CO2 there is
        assert (row["carbon_kg"], row["saved_carbon_kg"]) == (None, None)
    (row, *_) = rows_of(tmp_path / "reports" / "savings" / "month" / "savings.csv")
    assert (row["carbon_kg"], row["saved_carbon_kg"]) == ("", "")
    assert "CO₂" not in (tmp_path / "reports" / "savings" / "month" / "savings.html").read_text("utf-8")
    words = " ".join(found["assumed"])
    assert "The energy of 1 jobs was measured" in words
    assert "3 cn of 4 cores, 1 g of 6 cores; 18 cores in all" in words
    assert "PUE 1.5 at all times" in words
    assert "1 jobs left out: has not ended" in words


def test_a_table_of_jobs_that_ran(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same night as a table: without starts it needs the size of the machine, and has no row as it ran."""
    monkeypatch.chdir(write_month(tmp_path))
    (tmp_path / "month.txt").unlink()
    table = f"job_id,submit_time,requested_s,runtime_s,cores,power_w\nbig,{DAY}T00:00:00+00:00,3600,3600,8,2000\n"
    (tmp_path / "month.csv").write_text(table)
    words = [
        "savings",
        "--sacct",
        "month.csv",
        "--prices",
        "prices.csv",
        "--pue",
        "1.5",
        "-q",
        "--hours",
        "2",
        "--json",
    ]
    assert run(words) == 2
    assert "nothing says how large the machine is; give start_time of the jobs, or --cores" in capsys.readouterr().err
    assert run([*words, "--cores", "8"]) == 0
    easy, kept = json.loads(capsys.readouterr().out)["runs"]
    assert (easy["run"], easy["energy_cost_eur"]) == ("EASY", pytest.approx(1.5))
    assert kept["limit_eur"] == pytest.approx(1.2, abs=1e-3)


BAD = {
    "no such file": (["--sacct", "none.txt"], "none.txt: there is no such file"),
    "no prices of the days": (["--sacct", "later.txt"], "prices.csv"),
    "odd hours": (["--hours", "2,x"], "--hours: cannot read '2,x'"),
    "odd PUE": (["--pue", "0.5"], "--pue is 0.5; it must be from 1 to 5"),
    "no PUE table": (["--pue", "none.csv"], "none.csv is neither a number nor a file"),
    "nothing ran": (["--sacct", "nobody.txt"], "no job has run to its end"),
}


def test_bad_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says what is wrong, and nothing is written."""
    monkeypatch.chdir(write_month(tmp_path))
    (tmp_path / "nobody.txt").write_text("\n".join([HEAD, ROWS[3]]) + "\n")
    (tmp_path / "later.txt").write_text("\n".join([HEAD, ROWS[2]]).replace("2024-06-05", "2025-06-05") + "\n")
    for words, expected in BAD.values():
        given = ["--sacct", "month.txt", *words] if "--sacct" not in words else words
        assert run(["savings", *given, "--prices", "prices.csv", "-q"]) == 2, words
        (line,) = capsys.readouterr().err.splitlines()
        assert expected in line
    assert not (tmp_path / "reports").exists()


def test_a_site_from_the_accounts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has the nodes that jobs ran on, by their names, and plans the jobs of a day on the nodes of their class."""
    monkeypatch.chdir(write_month(tmp_path))
    plan("init", "--from-sacct", "month.txt", "--zone", "Europe/Paris", "mine")
    month = read_month(tmp_path / "month.txt", zone="Europe/Paris", w_per_core=10.0)
    assert [(each.name, each.nodes, each.cores) for each in month.nodes] == [
        ("cn", ("cn1", "cn2", "cn3"), 4),
        ("g", ("g-1",), 6),
    ]
    monkeypatch.chdir(tmp_path / "mine")
    plan("--day", DAY, "--scenario", "site", "-m", "est", "--bound-time", "0", "-q", "--set", "jobs.visibility=day")
    ran = {row["job_id"]: row for row in rows_of(tmp_path / f"mine/reports/site/{DAY}/schedule.csv")}
    assert ran["4"]["nodes"] == "g-1"
    assert (ran["1"]["units"], len(ran)) == ("2", 3)
    assert run(["init", "--from-sacct", "../prices.csv", "other"]) == 2
    assert not (tmp_path / "mine" / "other").exists()


def test_runs_that_were_put_back_are_over_and_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job that ran for an hour, was put back into the queue, and ran again: two runs, one after the other."""
    again = (
        f"7|back|ann|phys|long|REQUEUED|{DAY}T01:00:00|{DAY}T01:00:00|{DAY}T02:00:00|120|cn3|2|",
        f"7|back|ann|phys|long|COMPLETED|{DAY}T01:00:00|{DAY}T02:30:00|{DAY}T03:30:00|120|cn3|2|",
    )
    monkeypatch.chdir(write_month(tmp_path, (*ROWS, *again)))
    assert told(capsys, "--hours", "2")["jobs"] == 5


def test_a_machine_smaller_than_its_jobs_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write_month(tmp_path))
    assert run(["savings", "--sacct", "month.txt", "--prices", "prices.csv", "--cores", "4", "-q"]) == 2
    assert "2 jobs are wider than the machine of 4 cores, up to 8" in capsys.readouterr().err
    assert not (tmp_path / "reports" / "savings" / "month").exists()


@pytest.mark.parametrize("price", [-50, 0])
def test_prices_below_and_at_nothing(
    price: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a negative cost a saving is still a positive part; of none there is no part to tell."""
    monkeypatch.chdir(write_month(tmp_path))
    text = (tmp_path / "prices.csv").read_text()
    (tmp_path / "prices.csv").write_text(text.replace(",500", f",{price}").replace(",100", f",{2 * price}"))
    _, easy, held = told(capsys, "--hours", "2")["runs"]
    assert easy["energy_cost_eur"] <= 0
    assert held["limit_eur"] >= 0
    assert (held["limit_percent"] is None) == (price == 0)
    assert held["limit_percent"] is None or held["limit_percent"] >= 0
    plan("savings", "--sacct", "month.txt", "--prices", "prices.csv", "--hours", "2")


def test_days_after_the_end_of_the_prices_are_counted_and_holes_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Prices of the first of three days: the others are like it, and that is told. A hole is an error."""
    later = f"9|late|ann|phys|long|COMPLETED|{DAY[:-1]}7T05:00:00|{DAY[:-1]}7T05:00:00|{DAY[:-1]}7T06:00:00|60|cn3|2|"
    monkeypatch.chdir(write_month(tmp_path, (*ROWS, later)))
    head, *rows = (tmp_path / "prices.csv").read_text().splitlines()
    rows += [f"2024-06-{day:02}{row[10:]}" for day in range(6, 12) for row in rows[:24]]
    (tmp_path / "prices.csv").write_text("\n".join([head, *rows]) + "\n")
    whole = told(capsys, "--hours", "2")
    assert not any("come after the end" in line for line in whole["assumed"])
    first = [row for row in rows if row[:10] <= DAY]
    (tmp_path / "prices.csv").write_text("\n".join([head, *first]) + "\n")
    assert any("come after the end of the prices" in line for line in told(capsys, "--hours", "2")["assumed"])
    (tmp_path / "prices.csv").write_text("\n".join([head, *(row for row in rows if row[:10] != f"{DAY[:-1]}6")]) + "\n")
    assert run(["savings", "--sacct", "month.txt", "--prices", "prices.csv", "-q"]) == 2
    assert "has no value from" in capsys.readouterr().err


def test_months_of_two_files_keep_folders_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write_month(tmp_path))
    for name in ("m.2024-05.txt", "m.2024-06.txt", ".hidden.txt"):
        (tmp_path / name).write_text((tmp_path / "month.txt").read_text())
        plan("savings", "--sacct", name, "--prices", "prices.csv", "--hours", "2", "-q")
    assert {path.name for path in (tmp_path / "reports" / "savings").iterdir() if path.name[0] != "."} == {
        "m.2024-05",
        "m.2024-06",
        "hidden",
    }
