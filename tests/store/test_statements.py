"""Claims about budgets, statements and workbooks: what accounts are billed, marked, and opened by a spreadsheet."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest
from openpyxl import load_workbook

from planner.cli.main import run
from planner.store.cost_files import workbook
from planner.store.statements import file_names
from tests.days import SITE, plan, rows_of, write_small_site

ACCOUNTS = ("physics", "=1+1", "a/b", "")
DAYS = ("2024-05-31", "2024-06-01")
JOBS = "job_id,submit_time,requested_h,units,cores_per_unit,account\n"
HEAD = "JobID|User|Account|State|Submit|Start|End|NodeList|AllocCPUS"


@pytest.fixture(scope="module")
def billed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two days in two months, booked: every account has a job of four hours on eight cores on each; 1.60 a job."""
    base = write_small_site(
        tmp_path_factory.mktemp("billed"), SITE, "job_id,submit_time,requested_h,units,cores_per_unit\n"
    )
    rows = [
        f"{10 * day + k}|user{k}|{account}|COMPLETED|2024-05-30T08:00:00|{date}T01:00:00|{date}T05:00:00|cpu{k + 1}|8"
        for day, date in enumerate(DAYS, start=1)
        for k, account in enumerate(ACCOUNTS)
    ]
    (base / "sacct.txt").write_text("\n".join([HEAD, *rows]) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        for date in DAYS:
            plan("book", "--day", date, "--sacct", "sacct.txt", "-q")
    return base


@pytest.fixture
def place(tmp_path: Path, billed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(billed, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture
def sites(place: Path, billed: Path) -> Iterator[tuple[Path, ...]]:
    """The site's files: that of the booked days, and that of days planned later in the copy."""
    files = tuple(base / "scenarios" / "site.yaml" for base in (place, billed))
    yield files
    files[1].write_text(SITE)


def with_budgets(sites: tuple[Path, ...], text: str) -> None:
    """Write budgets into the site's files."""
    for path in sites:
        path.write_text(f"{SITE}budgets: {text}\n")


def test_a_budget_counts_all_of_its_period(
    place: Path, sites: tuple[Path, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """1.60 a day: of 4.00 a year 80 % are used in June, in a month of 1.60 all; 2.00 a month is marked at 80 %."""
    for text, percent, mark in (
        ("{accounts: {physics: 4}}", "80.0", "80 %"),
        ("{accounts: {physics: 4.01}}", "79.8", ""),
        ("{period: month, accounts: {physics: 1.6}}", "100.0", "100 %"),
        ("{period: month, accounts: {physics: 2}}", "80.0", "80 %"),
        ("{period: month, accounts: {nobody: 2}}", "0.0", ""),
    ):
        with_budgets(sites, text)
        plan("report", "--month", "2024-06")
        (row,) = rows_of(place / "reports" / "site" / "costs" / "2024-06-by-account-budgets.csv")
        assert (f"{float(row['used_percent']):.1f}", row["mark"]) == (percent, mark)
        assert Decimal(row["budget_eur"]) - Decimal(row["used_eur"]) == Decimal(row["left_eur"])
        said = capsys.readouterr().out
        assert ("used up" in said, "80 % used" in said) == (mark == "100 %", mark == "80 %")
    sites[1].write_text("no: scenario\n")
    assert run(["report", "--month", "2024-06"]) == 0
    assert "no budgets:" in capsys.readouterr().err
    assert not (place / "reports" / "site" / "costs" / "2024-06-by-account-budgets.csv").exists()


def test_a_site_that_builds_on_a_shipped_scenario_keeps_its_budgets(
    place: Path, sites: tuple[Path, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """The shipped scenario is found by its name, as it is when the site's days are planned."""
    for path in sites:
        path.write_text("base: sample\nbudgets: {accounts: {physics: 4}}\n")
    plan("report", "--month", "2024-06")
    assert "no budgets" not in capsys.readouterr().err
    (row,) = rows_of(place / "reports" / "site" / "costs" / "2024-06-by-account-budgets.csv")
    assert Decimal(row["used_eur"]) == Decimal("3.2")


def test_a_budget_never_counts_what_is_only_planned(place: Path, sites: tuple[Path, ...]) -> None:
    """Another day that is planned and not booked changes nothing of what is used."""
    with_budgets(sites, "{accounts: {physics: 4}}")
    (place / "jobs" / "queue.csv").write_text(f"{JOBS}z,2024-06-01T09:00:00+02:00,5,1,8,physics\n")
    plan("--day", "2024-06-02", "-m", "est", "-q", "--fresh")
    plan("report", "--month", "2024-06", "-q")
    (row,) = rows_of(place / "reports" / "site" / "costs" / "2024-06-by-account-budgets.csv")
    assert Decimal(row["used_eur"]) == Decimal("3.2")


def test_statements_are_the_bills_of_all_accounts(place: Path) -> None:
    """One page, CSV and workbook for each account; the last rows are together what was billed."""
    plan("report", "--month", "2024-06", "--statements", "-q")
    folder = place / "reports" / "site" / "costs" / "2024-06-by-account-statements"
    stems = {path.stem for path in folder.iterdir()}
    assert stems == {"physics", "_1_1-bac90eef5bf3aecd", "a_b-c14cddc033f64b9d", "no-account"}
    assert {path.suffix for path in folder.iterdir()} == {".html", ".csv", ".xlsx"}
    last = [rows_of(folder / f"{stem}.csv")[-1] for stem in sorted(stems)]
    assert {row["account"] for row in last} == {"physics", "'=1+1", "a/b", ""}
    assert {row["status"] for row in last} == {"booked"}
    assert [Decimal(row["billed_eur"]) for row in last] == [Decimal("1.6")] * 4
    assert "profit" not in (folder / "physics.html").read_text().split("<main")[1].split("</main>")[0]
    assert "profit" not in (folder / "physics.csv").read_text()
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    plan("report", "--month", "2024-06", "--statements", "-q")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == first


def test_workbooks_hold_numbers_and_text_and_no_formula(place: Path) -> None:
    """Read by other code than wrote them: every cell is the CSV's, numbers as numbers, and none is a formula."""
    plan("report", "--month", "2024-06", "--also", "xlsx", "--statements", "-q")
    costs = place / "reports" / "site" / "costs"
    for path, sheet, table in (
        (costs / "2024-06-by-account.xlsx", "costs", costs / "2024-06-by-account.csv"),
        *(
            (path, "jobs", path.with_suffix(".csv"))
            for path in (costs / "2024-06-by-account-statements").glob("*.xlsx")
        ),
    ):
        cells = list(load_workbook(path)[sheet].iter_rows())
        rows = list(csv.reader(table.open(newline="")))
        assert [cell.value for cell in cells[0]] == rows[0]
        assert len(cells) == len(rows)
        for line, row in zip(cells[1:], rows[1:], strict=True):
            for cell, text in zip(line, row, strict=True):
                assert cell.data_type in ("s", "n")
                if cell.data_type == "s":
                    assert cell.value == text.removeprefix("'")
                elif cell.value is not None:
                    assert abs(Decimal(str(cell.value)) - Decimal(text)) < Decimal("1e-6")
    assert load_workbook(costs / "2024-06-by-account.xlsx")["costs"]["C2"].value in ACCOUNTS


@pytest.mark.slow
def test_a_spreadsheet_program_opens_the_workbook(place: Path, tmp_path: Path) -> None:
    """LibreOffice reads it and writes the same figures; text that looks like a formula stays text."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        pytest.skip("no LibreOffice on this machine")
    plan("report", "--month", "2024-06", "--also", "xlsx", "-q")
    costs = place / "reports" / "site" / "costs"
    words = (program, f"-env:UserInstallation=file://{tmp_path / 'profile'}", "--headless", "--convert-to", "csv")
    subprocess.run([*words, "--outdir", tmp_path, costs / "2024-06-by-account.xlsx"], check=True, timeout=600)
    seen = list(csv.DictReader((tmp_path / "2024-06-by-account.csv").open(newline="")))
    told = rows_of(costs / "2024-06-by-account.csv")
    assert [row["account"] for row in seen] == [row["account"].removeprefix("'") for row in told]
    for name in ("revenue_eur", "profit_eur"):
        shown = [Decimal(row[name].replace(",", "")) for row in seen]
        assert shown == [Decimal(row[name]) for row in told]


def test_names_of_files_are_plain_and_different() -> None:
    names = file_names(["A_B", "a b", "a/b", "a_b", "", "..", "αβγ", "physics"])
    assert [names[each] for each in ("A_B", "a b", "a/b", "a_b", "", "..", "αβγ", "physics")] == [
        "A_B",
        "a_b-c8687a08aa5d6ed2",
        "a_b-c14cddc033f64b9d",
        "a_b-648fa9b31bc7ff7e",
        "no-account",
        "no-account-5ec1f7e700f37c3d",
        "___-a36d0b22783c5fac",
        "physics",
    ]
    # Who else is billed, and in which order, changes nobody's name, but where two differ in case alone.
    assert file_names(["physics", "a_b", "A_B"]) == {name: names[name] for name in ("A_B", "a_b", "physics")}
    assert file_names(["a/b", "αβγ"]) == {name: names[name] for name in ("a/b", "αβγ")}


def test_a_workbook_is_the_same_bytes_each_time() -> None:
    rows = {"one": [{"name": "=cmd()", "sum_eur": Decimal("1.5")}]}
    assert workbook(rows, "EUR") == workbook(rows, "EUR")
    assert load_workbook(io.BytesIO(workbook(rows, "EUR")))["one"]["A2"].data_type == "s"
