"""Claims about ``plan run``: day after day is night after night, nothing is lost, and bad ground is refused."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import plan, rows_of, tree
from tests.rolling import DAYS, FIRST, LAST, QUICK, write_rolling_site, written

LOUD = QUICK[:-1]
"""The same without -q."""


@pytest.fixture(scope="module")
def rolled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with all its days run once; copy it, never change it."""
    base = write_rolling_site(tmp_path_factory.mktemp("rolled"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        plan("run", "--from", FIRST, "--to", LAST, *QUICK)
    return base


@pytest.fixture
def site(tmp_path: Path, rolled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the run to stand in."""
    base = tmp_path / "site"
    shutil.copytree(rolled, base)
    monkeypatch.chdir(base)
    return base


def summary(site: Path, day: str) -> dict[str, dict[str, float]]:
    """The summary of a day."""
    found: dict[str, dict[str, float]] = json.loads((site / "reports" / "site" / day / "summary.json").read_text())
    return found


def test_every_job_is_somewhere(rolled: Path) -> None:
    """After every day: jobs in = finished + running + deferred + rejected, with the jobs of the file by name."""
    entered = {row["job_id"]: row["submit_time"] for row in rows_of(rolled / "jobs" / "queue.csv")}
    finished: set[str] = set()
    rejected: set[str] = set()
    for day in DAYS:
        folder = rolled / "reports" / "site" / day
        schedule, deferred = rows_of(folder / "schedule.csv"), rows_of(folder / "deferred.csv")
        length_s = int(rows_of(folder / "segments.csv")[-1]["end_s"])
        running = {row["job_id"] for row in schedule if int(row["end_s"]) > length_s}
        done = {row["job_id"] for row in schedule} - running
        assert not finished & {row["job_id"] for row in schedule}
        finished |= done
        waiting = {row["job_id"] for row in deferred if row["kind"] == "deferred"}
        rejected |= {row["job_id"] for row in deferred if row["kind"] == "rejected"}
        came = {name for name, submit in entered.items() if submit < f"{day}T00:00:00"}
        assert came == finished | running | waiting | rejected
        assert len(came) == len(finished) + len(running) + len(waiting) + len(rejected)
        jobs = summary(rolled, day)["jobs"]
        assert jobs["known"] + jobs["carried_in"] == (
            jobs["finished"] + jobs["running"] + jobs["deferred"] + jobs["rejected"]
        )
        assert (jobs["finished"], jobs["running"], jobs["deferred"]) == (len(done), len(running), len(waiting))
    assert rejected == {"giant"}


def test_work_is_carried_on_its_nodes(rolled: Path) -> None:
    """A job that runs over midnight is on the same nodes with the same start on both pages."""
    carried = 0
    for day, following in pairwise(DAYS):
        rows = {row["job_id"]: row for row in rows_of(rolled / "reports" / "site" / day / "schedule.csv")}
        for row in rows_of(rolled / "reports" / "site" / following / "schedule.csv"):
            if row["state"] == "carried":
                carried += 1
                same = ("start_time", "end_time", "unit_nodes", "power_w")
                assert [row[name] for name in same] == [rows[row["job_id"]][name] for name in same]
    assert carried > 3


def test_days_add_up(rolled: Path) -> None:
    """Over all days each finished job has earned its whole request: core-equivalents times requested hours."""
    earned: dict[str, float] = {}
    asked: dict[str, float] = {}
    over: set[str] = set()
    for day in DAYS:
        for row in rows_of(rolled / "reports" / "site" / day / "schedule.csv"):
            earned[row["job_id"]] = earned.get(row["job_id"], 0.0) + float(row["core_hours"])
            asked[row["job_id"]] = float(row["core_equivalents"]) * int(row["requested_s"]) / 3600
    length_s = int(rows_of(rolled / "reports" / "site" / LAST / "segments.csv")[-1]["end_s"])
    for row in rows_of(rolled / "reports" / "site" / LAST / "schedule.csv"):
        if int(row["end_s"]) > length_s:
            over.add(row["job_id"])
    for job, hours in asked.items():
        if job not in over:
            assert earned[job] == pytest.approx(hours, abs=1e-5)


def test_nightly_is_the_same(rolled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same days by ``plan --day``, one night at a time, give the same files; each audits clean."""
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    for day in DAYS:
        plan("--day", day, *QUICK)
        plan("audit", f"reports/site/{day}")
    assert written(base / "reports") == written(rolled / "reports")


def test_kept_and_planned_again(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A second run keeps every day; a damaged day is planned again; with another price all are."""
    plan("run", "--from", FIRST, "--to", LAST, *LOUD)  # where a file stands is a part of where it came from
    assert "kept" not in capsys.readouterr().out
    before = tree(site / "reports")
    plan("run", "--from", FIRST, "--to", LAST, *LOUD)
    assert capsys.readouterr().out.count("kept") == len(DAYS)
    assert tree(site / "reports") == before
    (site / "reports" / "site" / DAYS[2] / "schedule.csv").write_text("broken")
    plan("run", "--from", FIRST, "--to", LAST, *LOUD)
    assert capsys.readouterr().out.count("kept") == len(DAYS) - 1
    assert written(site / "reports") == {name: text for name, text in before.items() if name.endswith(".csv")}
    plan("run", "--from", FIRST, "--to", LAST, *LOUD, "--set", "tariff.eur_per_kwh=0.3")
    assert "kept" not in capsys.readouterr().out


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("after", [1, 2])
def test_kill_and_resume(rolled: Path, tmp_path: Path, after: int) -> None:
    """Killed when so many days are there, a run goes on where it stopped, and the files are those of a whole run."""
    base = write_rolling_site(tmp_path)
    command = [sys.executable, "-m", "planner", "run", "--from", FIRST, "--to", LAST, *LOUD]
    process = subprocess.Popen(command, cwd=base, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    there = base / "reports" / "site" / DAYS[after - 1]
    until = time.monotonic() + 600
    while not there.is_dir() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=300)
    done = subprocess.run(command, cwd=base, capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.count("kept") >= after
    assert written(base / "reports") == written(rolled / "reports")


def test_until_empty(site: Path) -> None:
    """After the last day no new jobs come in, and the days go on until nothing runs or waits."""
    plan("run", "--from", FIRST, "--to", LAST, "--until-empty", *QUICK)
    days = sorted(path.name for path in (site / "reports" / "site").iterdir())
    assert len(days) > len(DAYS)
    last = summary(site, days[-1])["jobs"]
    assert (last["running"], last["deferred"]) == (0, 0)
    known = [summary(site, day)["jobs"]["known"] for day in days]
    waiting = [summary(site, day)["jobs"]["deferred"] for day in days]
    assert known[len(DAYS) :] == waiting[len(DAYS) - 1 : -1]


def test_fresh(site: Path) -> None:
    """``--fresh`` starts anew though the day before has a result: nothing is carried, the whole queue is known."""
    plan("--day", DAYS[1], *QUICK, "--fresh")
    assert summary(site, DAYS[1])["jobs"]["carried_in"] == 0
    assert json.loads((site / "reports" / "site" / DAYS[1] / "run.json").read_text())["continues"] is None


def bad_line(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """The one line of a command that ends with exit code 2."""
    assert run(list(arguments)) == 2
    (line,) = capsys.readouterr().err.splitlines()
    return line


NEXT = "2024-06-07"


@pytest.mark.parametrize("command", [("--day", NEXT), ("run", "--from", NEXT, "--to", NEXT)])
def test_bad_ground(site: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A result of the day before that is damaged, cut short, of another cluster or zone is refused with what to do."""
    folder = site / "reports" / "site" / LAST
    whole = {path: path.read_bytes() for path in folder.iterdir()}
    again = f"plan {LAST} again, or start anew with --fresh"
    for name in ("schedule.csv", "deferred.csv", "run.json"):
        (folder / name).write_bytes(whole[folder / name][:-20])
        line = bad_line(capsys, *command, *QUICK)
        assert f"{LAST}/{name}: it is damaged" in line
        assert line.endswith(again)
        (folder / name).unlink()
        assert f"{LAST}/{name}: it is missing" in bad_line(capsys, *command, *QUICK)
        (folder / name).write_bytes(whole[folder / name])
    other = ("--set", "cluster.classes.cpu.count=5")
    line = bad_line(capsys, *command, *QUICK, *other)
    assert line.endswith(f"it was planned for another cluster; {again}")
    other = ("--set", "jobs.visibility=day")
    assert "another jobs.visibility, midnight and not day" in bad_line(capsys, *command, *QUICK, *other)
    assert not (site / "reports" / "site" / NEXT).exists()


def test_planned_again_in_between(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A day must not continue from one whose own ground was planned again since."""
    plan("--day", DAYS[2], *QUICK, "--set", "revenue.eur_per_core_hour=0.01", "--method", "est")
    capsys.readouterr()
    line = bad_line(capsys, "--day", NEXT, *QUICK)
    assert f"it continues from a result of {DAYS[2]} that was planned again since" in line


def test_another_scenario_in_the_folder(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A result that another scenario left under this one's name is refused."""
    shutil.copytree(site / "reports" / "site" / LAST, site / "reports" / "warm" / LAST)
    line = bad_line(capsys, "--day", NEXT, "--scenario", "warm", *QUICK)
    assert "it was planned with another scenario, site and not warm" in line


def test_gap(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Days that would leave others out are refused, since work would be lost; --fresh starts anew."""
    line = bad_line(capsys, "run", "--from", "2024-06-09", "--to", "2024-06-10", *QUICK)
    assert f"has a result of {LAST} and none of 2024-06-08" in line
    assert "plan run --from 2024-06-07 --to 2024-06-08 first, or start anew with --fresh" in line
    assert bad_line(capsys, "--day", "2024-06-09", *QUICK) == line
    plan("--day", "2024-06-09", *QUICK, "--fresh")
    line = bad_line(capsys, "run", "--from", LAST, "--to", FIRST, *QUICK)
    assert "backwards" in line


def test_a_gap_on_the_sample_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its jobs are made up, so any day can be tried: it starts anew and says so."""
    for day in ("2024-06-01", "2024-06-09"):
        plan("--day", day, "--out", str(tmp_path), "-m", "est", "--bound-time", "0")
    assert "2024-06-09 starts anew" in capsys.readouterr().err


def test_max_deferral_days(site: Path) -> None:
    """Once deferred often enough a job goes before all others, so that none waits longer than without the rule."""

    def longest(out: str) -> int:
        rows = [row for day in DAYS for row in rows_of(site / out / "site" / day / "deferred.csv")]
        return max(int(row["times_deferred"]) for row in rows)

    alone = ("--set", "goal.kind=published")
    plan("run", "--from", FIRST, "--to", LAST, *QUICK, *alone, "--out", "never")
    plan("run", "--from", FIRST, "--to", LAST, *QUICK, *alone, "--set", "rules.max_deferral_days=1", "--out", "often")
    assert longest("often") < longest("never")
    assert longest("reports") < longest("never"), "by default none waits for a day more than under EASY"


def test_a_run_without_pages_says_what_rules_and_easy_make_of_its_days(site: Path) -> None:
    """Leaving out the pages changes no number of a day."""
    plan("run", "--from", FIRST, "--to", FIRST, "--no-page", "--fresh", "--out", "plain", *QUICK)
    plain = json.loads((site / "plain" / "site" / FIRST / "summary.json").read_text())
    assert plain["easy"] is not None
    assert {key: plain[key] for key in ("easy", "baselines")} == {
        key: summary(site, FIRST)[key] for key in ("easy", "baselines")
    }
    assert not (site / "plain" / "site" / FIRST / "report.html").exists()


def test_the_bound_of_the_whole_run_is_printed_as_json_and_kept_on_disk(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quiet run keeps it too; it is no less than what the days earn."""
    words = ("run", "--from", FIRST, "--to", DAYS[1], "--fresh", "--out", "bounded", "-m", "est")
    capsys.readouterr()
    plan(*words, "-q", "--json")
    told = json.loads(capsys.readouterr().out)
    kept = site / "bounded" / "site" / f"run-{FIRST}-{DAYS[1]}.json"
    assert json.loads(kept.read_text()) == told["run"]
    profit = sum(day["totals"]["profit_eur"] for day in told["days"])
    assert told["run"]["profit_eur"] == pytest.approx(profit)
    assert told["run"]["bound_eur"] >= profit
    assert [day["day"] for day in told["days"]] == DAYS[:2]
    plan(*words, "-q", "--run-bound-time", "0", "--json")
    assert json.loads(capsys.readouterr().out)["run"]["bound_eur"] is None
