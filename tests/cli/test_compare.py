"""Claims about ``plan compare``: the same days side by side, with differences that can be added up again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.compare import compare_text
from planner.cli.main import run
from tests.days import column_sum, plan, rows_of
from tests.rolling import CSVS, FIRST, LAST, QUICK, write_rolling_site, written

DAYS = ("--from", FIRST, "--to", LAST)
ONE = ("--bound-time", "0", "--processes", "1", "-q")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two scenarios by two methods; never change it."""
    base = write_rolling_site(tmp_path_factory.mktemp("compared"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        plan("compare", "site", "warm", *DAYS, "-m", "multisearch", "-m", "est", *ONE)
    (folder,) = (base / "reports" / "compare").glob("*/*")
    return folder


def test_files(compared: Path) -> None:
    """One row per run, one per day of each, the same as JSON, and every day's own folder."""
    runs, days = rows_of(compared / "runs.csv"), rows_of(compared / "days.csv")
    assert [(row["scenario"], row["method"]) for row in runs] == [
        ("site", "multisearch"),
        ("site", "est"),
        ("warm", "multisearch"),
        ("warm", "est"),
    ]
    assert len(days) == 4 * 4
    told = json.loads((compared / "compare.json").read_text())
    assert (told["baseline"], told["from"], told["to"]) == ("site:multisearch", FIRST, LAST)
    assert [row["profit_eur"] for row in told["runs"]] == [float(row["profit_eur"]) for row in runs]
    assert len(list(compared.glob("runs/*/*/*/summary.json"))) == 16


def test_sums_and_differences(compared: Path) -> None:
    """A run's figures are the sums of its days, and those of its schedules; differences are against the baseline."""
    runs, days = rows_of(compared / "runs.csv"), rows_of(compared / "days.csv")
    base = float(runs[0]["profit_eur"])
    for run_row in runs:
        mine = [row for row in days if (row["scenario"], row["method"]) == (run_row["scenario"], run_row["method"])]
        for name in ("profit_eur", "it_kwh", "cooling_kwh", "finished"):
            assert float(run_row[name]) == pytest.approx(sum(float(row[name]) for row in mine), abs=1e-4)
        folder = compared / "runs" / run_row["scenario"] / run_row["method"]
        revenue = sum(column_sum(path, "revenue_eur") for path in folder.glob("*/schedule.csv"))
        assert float(run_row["revenue_eur"]) == pytest.approx(revenue, abs=1e-3)
        more = float(run_row["profit_eur"]) - base
        assert float(run_row["profit_difference_eur"]) == pytest.approx(more, abs=1e-5)
        assert float(run_row["profit_difference_percent"]) == pytest.approx(100 * more / base, abs=1e-4)
    assert float(runs[2]["cooling_kwh"]) > float(runs[0]["cooling_kwh"])


def test_as_a_run_of_its_own(compared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run inside a comparison gives the files that ``plan run`` gives."""
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    plan("run", *DAYS, *QUICK)
    assert written(base / "reports" / "site") == written(compared / "runs" / "site" / "multisearch")


def test_text_fits_a_terminal(compared: Path) -> None:
    """With any number of runs no line is wider than 80, and the baseline stands first in every block."""
    rows = json.loads((compared / "compare.json").read_text())["runs"]
    many = rows + [row | {"scenario": f"a-scenario-with-a-long-name-{k}"} for k in range(5) for row in rows]
    text = compare_text(many, "site:multisearch")
    assert max(map(len, text.splitlines())) <= 80
    blocks = text.split("\n\n")
    assert len(blocks) == 8
    assert all(block.split()[0] == "site" for block in blocks)
    assert "PUE" in text


def test_other_baseline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The baseline may be another scenario and method; one day is enough."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    plan("compare", "site", "warm", "--day", FIRST, "-m", "wt", "-m", "est", "--baseline", "warm:est", *ONE, "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["baseline"] == "warm:est"
    assert [row["profit_difference_eur"] == 0 for row in told["runs"]] == [False, False, False, True]


def test_two_processes_same_bytes(compared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With processes side by side every CSV is the same to the byte."""
    pytest.importorskip("joblib", reason="joblib is not installed in this environment; pip install -e '.[dev]'")
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    plan("compare", "site", "warm", *DAYS, "-m", "multisearch", "-m", "est", *ONE[:2], "--processes", "2", "-q")
    (folder,) = (base / "reports" / "compare").glob("*/*")
    for name in ("runs.csv", "days.csv"):
        assert (folder / name).read_bytes() == (compared / name).read_bytes()
    assert written(folder / "runs") == written(compared / "runs")
    assert len(written(folder / "runs")) == 16 * len(CSVS)


BAD = {
    "unknown scenario": (["site", "wram"], r"unknown scenario 'wram'; did you mean warm?"),
    "twice": (["site", "site"], "scenario site is given twice"),
    "unknown method": (["site", "-m", "magic"], "unknown method 'magic'"),
    "unknown baseline": (["site", "warm", "--baseline", "cold"], "the baseline 'cold' is not compared"),
    "unknown method of the baseline": (["site", "--baseline", "site:cp"], "choose one of harvest"),
    "unknown backend": (["site", "--backend", "ray"], "unknown backend 'ray'; known: processes, dask"),
    "dask without address": (["site", "--backend", "dask"], "--address HOST:PORT go together"),
    "currencies": (["site", "dollars"], "the scenarios count in EUR and USD"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What cannot be compared is refused with one line that says what to do, and nothing is written."""
    base = write_rolling_site(tmp_path)
    (base / "scenarios" / "dollars.yaml").write_text("base: site\ncurrency: USD\n")
    monkeypatch.chdir(base)
    arguments, expected = BAD[case]
    assert run(["compare", *arguments, "--day", FIRST]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert expected in line
    assert not (base / "reports").exists()


@pytest.mark.parametrize("days", [(), ("--from", FIRST), ("--day", FIRST, "--to", LAST)])
def test_which_days(
    days: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One day or a range of days, and not half of both."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    assert run(["compare", "site", *days]) == 2
    assert "say which days to compare" in capsys.readouterr().err
