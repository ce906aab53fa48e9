"""Claims about re-planning through the commands: days carried out, promises in their files, replays of a scenario."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import plan, rows_of
from tests.rolling import DAYS, FIRST, LAST, write_rolling_site

LOOP = ("--method", "replan", "--bound-time", "0", "-q", "--set", "jobs.visibility=day", "--set", "rules.max_delay=2h")
REAL = (*LOOP, "--set", "rules.execute=actual")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of a site whose days the loop has carried out with real runtimes; never change them."""
    base = write_rolling_site(tmp_path_factory.mktemp("loop"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        plan("run", "--from", FIRST, "--to", LAST, *REAL)
    return base


def seconds(text: str) -> float:
    """A moment in Unix seconds."""
    return dt.datetime.fromisoformat(text).timestamp()


def test_days_carried_out_pass_the_audit_and_lose_nothing(done: Path) -> None:
    folder = done / "reports" / "site"
    assert [run(["audit", str(folder / day)]) for day in DAYS] == [0] * len(DAYS)
    tables = {day: {name: rows_of(folder / day / f"{name}.csv") for name in ("schedule", "deferred")} for day in DAYS}
    started = {row["job_id"] for day in DAYS for row in tables[day]["schedule"]}
    refused = {row["job_id"] for day in DAYS for row in tables[day]["deferred"] if row["kind"] == "rejected"}
    waiting = {row["job_id"] for row in tables[LAST]["deferred"] if row["kind"] == "deferred"}
    assert started | refused | waiting == {row["job_id"] for row in rows_of(done / "jobs" / "queue.csv")}
    assert not started & waiting


def test_jobs_end_when_they_really_did_and_no_promise_is_broken(done: Path) -> None:
    """Real ends, starts after submission, and within two hours of the reference start, which stays with the job."""
    promises: dict[str, tuple[str, str]] = {}
    for day in DAYS:
        folder = done / "reports" / "site" / day
        for row in rows_of(folder / "schedule.csv"):
            assert int(row["end_s"]) - int(row["start_s"]) == min(int(row["runtime_s"]), int(row["requested_s"]))
            assert seconds(row["submit_time"]) <= seconds(row["start_time"]) <= seconds(row["latest_start"])
            assert seconds(row["latest_start"]) - seconds(row["reference_start"]) == 2 * 3600
            told = (row["reference_start"], row["latest_start"])
            assert promises.setdefault(row["job_id"], told) == told
        for row in rows_of(folder / "deferred.csv"):
            if row["kind"] == "deferred":
                promises.setdefault(row["job_id"], (row["reference_start"], row["latest_start"]))
        told_of_day = json.loads((folder / "summary.json").read_text())["promises"]
        assert told_of_day["broken"] == []
        assert told_of_day["longest_delay_s"] <= 2 * 3600
    assert len(promises) > 50


def test_the_audit_sees_another_count_of_promises(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A summary that hides delays does not agree with its tables, whatever its seal."""
    import shutil

    copied = tmp_path / FIRST
    shutil.copytree(done / "reports" / "site" / FIRST, copied)
    summary = json.loads((copied / "summary.json").read_text())
    summary["promises"]["delayed"] += 1
    (copied / "summary.json").write_text(json.dumps(summary))
    assert run(["audit", str(copied)]) == 5
    assert "promises.delayed is" in capsys.readouterr().err


def test_the_loop_starts_more_than_plans_made_once(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With real runtimes freed room is given away: more work is done by the last day than by plans of midnight."""
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    static = ("--method", "multisearch", *REAL[2:])
    plan("run", "--from", FIRST, "--to", LAST, *static)

    def worked(site: Path) -> float:
        days = [json.loads((site / "reports" / "site" / day / "summary.json").read_text()) for day in DAYS]
        return sum(day["totals"]["core_hours"] for day in days)

    assert worked(done) > worked(base)


def test_a_scenario_is_replayed_with_its_promise(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(done)
    arguments = ["simulate", "--scenario", "site", "--from", FIRST, "--to", LAST, "-p", "easy,replan", "--json"]
    assert run([*arguments, "--metrics", "wait,broken,max-delay,profit_eur", "--set", "rules.max_delay=6h", "-q"]) == 0
    easy, replan = json.loads(capsys.readouterr().out)["runs"]
    assert (easy["policy"], replan["policy"]) == ("easy", "replan")
    assert easy["jobs"] == replan["jobs"] > 50
    assert replan["broken"] == 0
    assert replan["profit_eur"] > 0


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["simulate", "-p", "replan"], "give a trace, or --scenario and --from"),
        (["simulate", "jobs/queue.csv", "--scenario", "site", "--from", FIRST], "a trace is replayed whole"),
        (["simulate", "--scenario", "site", "--from", LAST, "--to", FIRST], "backwards"),
        (["now", "--set", "rules.max_delay=soon"], "rules.max_delay"),
        (["now", "--at", f"{FIRST}T10:00:00+02:00", "--set", "rules.estimate=magic"], "unknown estimate"),
        (["now", "--set", "replan.steps=-1"], "replan.steps"),
    ],
)
def test_bad_input(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    monkeypatch.chdir(done)
    assert run([*arguments, "-q"]) == 2
    message = capsys.readouterr().err
    assert told in message
    assert message.count("\n") == 1
