"""Claims about days on which the engine of `cp` finds nothing: no plan of ours stands in its place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cp.engines import ENGINES
from planner.cp.engines.engine import UNKNOWN
from planner.store.read_json import read_summary
from tests.days import plan, rows_of
from tests.rolling import DAYS, FIRST, write_rolling_site

SECOND = DAYS[1]
CP = ("--method", "cp", "--engine", "cpsat", "--bound-time", "0", "--no-page")


@pytest.fixture
def _unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that never finds anything."""
    monkeypatch.setattr(type(ENGINES["cpsat"]), "solve", lambda *_, **__: UNKNOWN)


@pytest.mark.usefixtures("_unknown")
def test_nothing_starts_and_every_table_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two days in a row: status `nothing`, all jobs deferred with the reason, the second day has those of the first."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    plan("run", "--from", FIRST, "--to", SECOND, "--scenario", "site", "-q", *CP)
    folder = tmp_path / "reports" / "site"
    first, second = (read_summary(folder / day) for day in (FIRST, SECOND))
    for summary in (first, second):
        assert summary.status == "nothing"
        assert not summary.has_plan
        assert summary.leaves_room
        assert summary.stands_in_for is None
        assert summary.jobs.started == 0
        assert summary.totals.profit_eur == 0
    assert json.loads((folder / FIRST / "summary.json").read_text())["status"] == "nothing"
    told = [row for row in rows_of(folder / FIRST / "deferred.csv") if row["kind"] == "deferred"]
    assert len(told) == first.jobs.deferred > 0
    assert {row["reason"] for row in told} == {"does not start today: the engine found no plan in time"}
    again = {row["job_id"]: row["times_deferred"] for row in rows_of(folder / SECOND / "deferred.csv")}
    assert {again[row["job_id"]] for row in told} == {"2"}
    plan("audit", str(folder / FIRST))
    capsys.readouterr()
    plan("run", "--from", FIRST, "--to", SECOND, "--scenario", "site", *CP)
    shown = capsys.readouterr().out
    assert shown.count("no plan found") == 2
    assert "The engine found no plan on 2 of 2 days" in shown


@pytest.mark.usefixtures("_unknown")
def test_the_day_and_the_comparison_say_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The summary of a day in words, and the count of days in the table of `plan compare`."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    plan("--day", FIRST, "--scenario", "site", "--method", "cp", "--engine", "cpsat", "--bound-time", "0")
    assert "the engine found no plan in time, so that no job starts" in capsys.readouterr().out
    compared = ("compare", "site", "--day", FIRST, "--bound-time", "0", "--processes", "1", "--engine", "cpsat")
    plan(*compared, "--method", "multisearch", "--method", "cp", "--json")
    runs = {run["method"]: run["days_without_plan"] for run in json.loads(capsys.readouterr().out)["runs"]}
    assert runs == {"easy": 0, "multisearch": 0, "cp": 1}


@pytest.mark.slow
def test_what_is_found_is_not_filled_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A day of twenty seconds with the engine: a plan, accepted as it is; whoever has room in it knows who left it."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    plan("run", "--from", FIRST, "--to", FIRST, "--scenario", "site", "-q", *CP, "--time-limit", "20s")
    folder = tmp_path / "reports" / "site" / FIRST
    summary = read_summary(folder)
    assert summary.has_plan
    assert summary.jobs.started > 0
    assert summary.stands_in_for is None
    reasons = {row["reason"] for row in rows_of(folder / "deferred.csv") if row["kind"] == "deferred"}
    assert not summary.leaves_room or reasons == {"the engine did not start it today"}
