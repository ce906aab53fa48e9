"""Claims of docs/every-night.md: its commands are accepted, and every row of its table of mishaps holds.

A test of a row is named after it. Rows about what Slurm itself does are tested on a real one (`ELSEWHERE`).
"""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from planner.store.folder import held
from tests.days import DAY, names, plan, rows_of, tree, write_small_site
from tests.slurm.saved import fake, save
from tests.slurm.site import write_slurm_site
from tests.slurm_documents import job

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "every-night.md").read_text("utf-8")
DEPLOY = ROOT / "planner" / "site" / "templates" / "deploy"
ELSEWHERE = {
    "A plan is late, or none came": "test_real_slurm.py: test_a_begin_time_that_has_come_holds_nobody",
    "Begin times must go, now": "test_slurm_cli.py: test_what_others_change_is_named_and_stays",
    "Prices or weather come late": "../cli/test_now.py: test_prices_that_end_are_as_on_the_last_known_day",
    "The planner is to be taken out of service": "test_real_slurm.py: test_a_begin_time_that_has_come_holds_nobody",
}
"""Rows with a test elsewhere, most in `tests/slurm`."""
CRON = re.compile(r"^    ((?:[\d*/]+ ){4}[\d*/]+) +cd /srv/planner && \.venv/bin/(plan .*)$", re.MULTILINE)
FIELDS = (range(60), range(24), range(1, 32), range(1, 13), range(8))
"""What the five fields of a line of cron may hold."""

QUICK = ("--bound-time", "0")
HEAD = "job_id,submit_time,requested_h,units,cores_per_unit,power_w,state,start_time,end_time,nodes"
NODES = "node,state,from,to\n"

Said = pytest.CaptureFixture[str]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four nodes ``cpu1`` to ``cpu4`` of 8 cores, to stand in."""
    base = write_small_site(tmp_path)
    monkeypatch.chdir(base)
    return base


def at(clock: str) -> str:
    """A moment of the day."""
    return f"{DAY}T{clock}:00+02:00"


def row(identity: str, hours: float, units: int, *, run: str = "", end: str = "", nodes: str = "") -> str:
    """A job on whole nodes: it waits, or runs since a time, or ran until another."""
    state = "pending" if not run else "done" if end else "running"
    times = (at(clock) if clock else "" for clock in (run, end))
    return f'{identity},{DAY}T06:00:00+02:00,{hours},{units},8,{100 * units},{state},{",".join(times)},"{nodes}"'


def plan_at(clock: str, *rows: str, nodes: str = "", options: tuple[str, ...] = ()) -> None:
    """`plan now` from a snapshot of these rows, and of what is said about nodes."""
    Path("now.csv").write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    Path("nodes.csv").write_text(NODES + nodes, encoding="utf-8")
    plan("now", "--at", at(clock), "--snapshot", "now.csv", "--nodes", "nodes.csv", *QUICK, *options)


def planned() -> dict[str, Mapping[str, str]]:
    """The jobs that are to start today, with their rows."""
    rows = rows_of(Path("reports/site") / DAY / "schedule.csv")
    return {each["job_id"]: each for each in rows if each["state"] == "planned"}


def starts() -> dict[str, str]:
    """When jobs are to start, as ``14:00``."""
    return {name: each["start_time"][11:16] for name, each in planned().items()}


def facts(name: str) -> Any:
    """What a JSON file of the day says."""
    return json.loads((Path("reports/site") / DAY / name).read_text("utf-8"))


def line(code: int, *arguments: str, said: Said) -> str:
    """The one line of a command that fails with this code."""
    said.readouterr()
    assert run(arguments) == code
    out, err = said.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err


def test_every_row_of_the_table_has_a_test() -> None:
    """Here by its name, or elsewhere by what is said there."""
    rows = re.findall(r"^\| \*\*(.+?)\*\* \|", PAGE, re.MULTILINE)
    assert len(rows) > 10
    for each in rows:
        name = "test_" + re.sub(r"\W+", "_", each.lower())
        assert any(known.startswith(name) for known in globals()) or each in ELSEWHERE, each
    assert set(ELSEWHERE) <= set(rows)
    for place in ELSEWHERE.values():
        path, _, test = place.partition(": ")
        assert f"def {test}(" in (ROOT / "tests" / "slurm" / path).read_text("utf-8")


def commands() -> list[str]:
    """Every command of the page with all its words: of cron, of systemd, and within the text."""
    of_systemd = re.findall(r"^    ExecStart=/srv/planner/\.venv/bin/(plan .*)$", PAGE, re.MULTILINE)
    in_text = re.findall(r"`(plan [^`]+)`", PAGE)
    return sorted({*(each for _, each in CRON.findall(PAGE)), *of_systemd, *in_text} - {"plan --day"})


@pytest.mark.parametrize("command", commands())
def test_commands_of_the_page_are_accepted(command: str, capsys: Said) -> None:
    """By the real command line, with every option that they have."""
    assert run([*command.split()[1:], "--help"]) == 0
    capsys.readouterr()


def test_lines_of_cron_are_lines_of_cron(capsys: Said) -> None:
    """Five fields within their bounds, and no % that cron would take for the end of the line; all of them quiet."""
    lines = CRON.findall(PAGE)
    assert len(lines) == PAGE.count("cd /srv/planner") >= 4
    for times, command in lines:
        for field, allowed in zip(times.split(), FIELDS, strict=True):
            value, _, step = field.partition("/")
            assert value == "*" or int(value) in allowed
            assert not step or int(step) in allowed
        assert "%" not in command
        assert command.endswith(" -q")
    assert run(["now", "--help"]) == 0
    options = capsys.readouterr().out
    assert all(each in options for each in ("--time-limit", "--iterations", "--bound-time"))


def test_units_of_systemd_are_units_of_systemd() -> None:
    """Sections and keys that systemd knows; where it is installed, it says itself when the timer comes."""
    read = configparser.ConfigParser(strict=False)
    read.optionxform = str  # type: ignore[method-assign, assignment]
    assert len(read.read(DEPLOY / name for name in ("planner.service", "planner.timer"))) == 2
    assert set(read.sections()) == {"Unit", "Service", "Timer", "Install"}
    assert read["Service"]["Type"] == "oneshot"
    assert read["Service"]["ExecStart"].startswith(read["Service"]["WorkingDirectory"])
    if shutil.which("systemd-analyze"):
        when = read["Timer"]["OnCalendar"]
        told = subprocess.run(["systemd-analyze", "calendar", when], capture_output=True, text=True, check=False)
        assert "*-*-* *:00/10:00" in told.stdout, told.stderr


def test_a_night_was_missed_with_tables(site: Path, capsys: Said) -> None:
    """One line and exit code 2, and nothing is written; with what is true, or begun anew, it goes on."""
    plan("--day", "2024-05-30", *QUICK, "-q")
    plan("--day", "2024-05-31", *QUICK, "-q")
    before = tree(site)
    told = line(2, "--day", "2024-06-02", *QUICK, "-q", said=capsys)
    assert "has a result of 2024-05-31 and none of 2024-06-01: what runs or waits would be lost" in told
    assert "--fresh" in told
    assert tree(site) == before
    Path("queue.csv").write_text(HEAD + "\n" + row("here", 2, 1) + "\n", encoding="utf-8")
    plan("--day", "2024-06-02", "--snapshot", "queue.csv", *QUICK, "-q")
    assert [each["job_id"] for each in rows_of(site / "reports/site/2024-06-02/schedule.csv")] == ["here"]
    shutil.rmtree(site / "reports/site/2024-06-02")
    plan("--day", "2024-06-02", "--fresh", *QUICK, "-q")
    assert names(site / "reports/site") == ["2024-05-30", "2024-05-31", "2024-06-02"]


def test_a_night_was_missed_with_slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run reads the queue as it is, whenever the last plan was made."""
    monkeypatch.chdir(write_slurm_site(tmp_path / "site", "slurm: {partitions: [batch]}\n"))
    now = int(time.time())
    for days in (3, 0):
        then = now - days * 86_400
        save(Path(f"saved-{days}"), [job(42, submit_time=then - 30, eligible_time=then - 30)], then)
        plan("now", "--snapshot", f"saved-{days}", *QUICK, "--hours", "48", "-q")
    assert len(names(Path("reports/site"))) == 2


def test_a_run_takes_longer_than_the_time_until_the_next(site: Path, capsys: Said) -> None:
    """The second one stops with exit code 6 and one line, and leaves the first alone."""
    before = tree(site)
    with held(site / "reports/site" / DAY):
        told = line(6, "now", "--at", at("10:00"), *QUICK, "-q", said=capsys)
    assert "another run (process " in told
    assert tree(site) == before


@pytest.mark.parametrize("quiet", [True, False])
def test_a_job_was_cancelled(site: Path, capsys: Said, quiet: bool) -> None:
    """Its room goes to the other one, and the run says so; a quiet one in run.json alone."""
    runs, both = row("runs", 4, 4, run="08:00", nodes="cpu[1-4]"), [row("one", 6, 4), row("two", 6, 4)]
    plan_at("10:00", runs, *both)
    (first, at_noon), (other, later) = sorted(starts().items(), key=lambda each: each[1])
    assert (at_noon, later) == ("12:00", "18:00")
    capsys.readouterr()
    plan_at("11:00", runs, *(each for each in both if each.startswith(other)), options=("-q",) if quiet else ())
    assert starts() == {other: "12:00"}
    (told,) = facts("run.json")["conflicts"]
    assert told.startswith(f"job {first} was planned to run from ")
    assert told.endswith(" but is gone")
    assert capsys.readouterr().err == ("" if quiet else f"conflict with the last plan: {told}\n")


def test_a_job_ended_early_or_runs_longer_than_planned(site: Path) -> None:
    """What waits for its nodes starts at once, or not before it ends."""
    waits = row("waits", 2, 4)
    plan_at("10:00", row("runs", 4, 4, run="08:00", nodes="cpu[1-4]"), waits)
    assert starts() == {"waits": "12:00"}
    plan_at("11:00", row("runs", 4, 4, run="08:00", end="10:50", nodes="cpu[1-4]"), waits)
    assert starts() == {"waits": "11:00"}
    plan_at("12:30", row("runs", 4, 4, run="08:00", nodes="cpu[1-4]"), waits)
    assert planned()["waits"]["start_time"] == f"{DAY}T12:30:01+02:00"
    assert run(["audit", f"reports/site/{DAY}"]) == 0


@pytest.mark.parametrize("state", ["down", "drain"])
@pytest.mark.parametrize("where", ["table", "scenario"])
def test_a_node_is_down_or_drained(site: Path, where: str, state: str) -> None:
    """Nothing is planned there; what runs on a drained node may end."""
    rows = [row(f"job{number}", 1, 1) for number in range(6)]
    if state == "drain":
        rows.append(row("runs", 4, 1, run="08:00", nodes="cpu1"))
    if where == "table":
        plan_at("10:00", *rows, nodes=f'"cpu[1-2]",{state},,\n')
    else:
        plan_at("10:00", *rows, options=("--set", f"cluster.down=[{{nodes: 'cpu[1-2]', state: {state}}}]"))
    assert {each["unit_nodes"] for each in planned().values()} == {"2", "3"}
    assert run(["audit", f"reports/site/{DAY}"]) == 0


def test_a_node_is_down_or_drained_but_a_job_is_said_to_run_there(site: Path, capsys: Said) -> None:
    """A contradiction of the tables stops the run with one line."""
    Path("now.csv").write_text(f"{HEAD}\n{row('runs', 4, 1, run='08:00', nodes='cpu1')}\n", encoding="utf-8")
    Path("nodes.csv").write_text(f"{NODES}cpu1,down,,\n", encoding="utf-8")
    given = ("--at", at("10:00"), "--snapshot", "now.csv", "--nodes", "nodes.csv")
    assert "job runs runs on node cpu1, which is down" in line(2, "now", *given, said=capsys)


def test_maintenance(site: Path) -> None:
    """What would not end before it is planned after it, and nothing runs during it."""
    closed = f'"cpu[1-4]",maintenance,{at("14:00")},{at("16:00")}\n'
    plan_at("10:00", row("short", 3, 4), row("long", 6, 4), nodes=closed)
    assert starts()["long"] == "16:00"
    assert "10:00" <= starts()["short"] <= "11:00"
    plan_at("11:30", row("short", 3, 4), row("long", 6, 4), nodes=closed)
    assert sorted(starts().values()) in (["16:00", "19:00"], ["16:00", "22:00"])


def test_clocks_differ_by_some_seconds(site: Path, capsys: Said) -> None:
    """A start before its submission is taken; one after the moment cannot be, and the line says so."""
    early = row("early", 1, 1, run="05:59", nodes="cpu1")
    plan_at("06:30", early)
    assert "start before submission: kept as written" in capsys.readouterr().err
    Path("now.csv").write_text(f"{HEAD}\n{early}\n", encoding="utf-8")
    told = line(2, "now", "--at", f"{DAY}T05:58:58+02:00", "--snapshot", "now.csv", said=capsys)
    assert "after the moment of the snapshot" in told


def test_slurm_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    """Exit code 8 and one line; the last plan and its begin times stay, as nothing is sent."""
    monkeypatch.chdir(write_slurm_site(tmp_path / "site", "slurm: {partitions: [batch]}\n"))
    now = int(time.time())
    save(Path("saved"), [job(42, submit_time=now - 30, eligible_time=now - 30)], now)
    plan("now", "--snapshot", "saved", *QUICK, "--hours", "48", "-q")
    down = "echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1"
    sent = tmp_path / "sent"
    monkeypatch.setenv(
        "PATH", fake(tmp_path / "bin", squeue=down, sinfo=down, sacct=down, scontrol=f"cat > {sent}; {down}")
    )
    before = tree(Path())
    told = line(8, "now", "--apply", "-q", said=capsys)
    assert "Unable to contact slurm controller" in told
    assert tree(Path()) == before
    assert not sent.exists()


SHORT = ("-m", "est", "--bound-time", "0", "-q")
QUEUE = "job_id,submit_time,requested_h,units,cores_per_unit"


def dumped(name: str, *jobs: tuple[str, str]) -> str:
    """A queue dump of jobs that take an hour on a node, with when they were submitted; its name."""
    rows = (f"{job},{submitted}:00+02:00,1,1,8" for job, submitted in jobs)
    Path(name).write_text("\n".join([QUEUE, *rows, ""]), encoding="utf-8")
    return name


def jobs_of(day: str) -> set[str]:
    """All jobs that a day knows."""
    folder = Path("reports/site") / day
    return {row["job_id"] for name in ("schedule", "deferred") for row in rows_of(folder / f"{name}.csv")}


def ran(name: str, day: str, *jobs: tuple[str, str, str, str]) -> None:
    """Book a day by a table of the jobs that ran: when each was submitted, started and ended."""
    rows = (
        f"{job},{submitted}:00+02:00,1,1,8,done,{start}:00+02:00,{end}:00+02:00,cpu1"
        for job, submitted, start, end in jobs
    )
    Path(name).write_text("\n".join([f"{QUEUE},state,start_time,end_time,nodes", *rows, ""]), encoding="utf-8")
    plan("book", "--day", day, "--table", name, "-q")


def test_a_job_submitted_between_the_dump_and_midnight_is_in_the_next_plan(site: Path) -> None:
    """`first` ran, by the plan, and is still in the second dump; `late` came after the first one was made."""
    first, late, third = ("first", "2024-05-31T18:00"), ("late", "2024-05-31T23:30"), ("third", "2024-06-01T12:00")
    plan("--day", "2024-06-01", "--jobs", dumped("one.csv", first), *SHORT)
    plan("--day", "2024-06-02", "--jobs", dumped("two.csv", first, late, third), *SHORT)
    assert jobs_of("2024-06-01") == {"first"}
    assert jobs_of("2024-06-02") == {"late", "third"}


def test_no_job_of_a_table_of_all_submissions_comes_in_twice(site: Path) -> None:
    """`b` ran on the day of its submission, by the books: the plan of the night after does not know it, but they do."""
    a, b, c = ("a", "2024-05-31T08:00"), ("b", "2024-06-01T08:00"), ("c", "2024-06-02T08:00")
    table = dumped("all.csv", a, b, c)
    plan("--day", "2024-06-01", "--jobs", table, *SHORT)
    ran(
        "ran.csv",
        "2024-06-01",
        (*a, "2024-06-01T00:00", "2024-06-01T00:50"),
        (*b, "2024-06-01T08:00", "2024-06-01T08:50"),
    )
    plan("--day", "2024-06-02", "--jobs", table, *SHORT)
    plan("--day", "2024-06-03", "--jobs", table, *SHORT)
    assert [jobs_of(day) for day in ("2024-06-01", "2024-06-02", "2024-06-03")] == [{"a", "b"}, set(), {"c"}]


A, IDLE, NEW, LAST = (
    *(("a", "2024-05-31T18:00"), ("idle", "2024-05-31T19:00")),
    *(("new", "2024-06-01T12:00"), ("last", "2024-06-02T12:00")),
)
"""Submitted before the first, the second and the third night."""


@pytest.mark.parametrize("books_second", [False, True])
def test_a_job_that_late_books_leave_waiting_is_planned_if_the_dump_has_it(site: Path, books_second: bool) -> None:
    """The books of a day are made in the morning after it, when the next day is planned already."""
    plan("--day", "2024-06-01", "--jobs", dumped("one.csv", A, IDLE), *SHORT)
    plan("--day", "2024-06-02", "--jobs", dumped("two.csv", NEW), *SHORT)
    ran("ran.csv", "2024-06-01", (*A, "2024-06-01T00:00", "2024-06-01T00:50"))
    if books_second:
        ran("ran.csv", "2024-06-02", (*NEW, "2024-06-02T00:00", "2024-06-02T00:50"))
    plan("--day", "2024-06-03", "--jobs", dumped("three.csv", IDLE, LAST), *SHORT)
    assert jobs_of("2024-06-03") == {"idle", "last"}
    assert run(["audit", "reports/site/2024-06-03"]) == 0


@pytest.mark.parametrize("starts_anew", [False, True])
def test_a_job_after_the_dump_is_planned_where_the_last_plan_does_not_continue(site: Path, starts_anew: bool) -> None:
    """`late` came after the dump of the second night, whose day began anew or came before the books of the first."""
    late = ("late", "2024-06-01T23:30")
    if starts_anew:
        plan("--day", "2024-06-01", "--jobs", dumped("one.csv", A), *SHORT)
    plan("--day", "2024-06-02", "--jobs", dumped("two.csv", NEW), *SHORT, "--fresh")
    if not starts_anew:
        ran("ran.csv", "2024-06-01", (*A, "2024-06-01T00:00", "2024-06-01T00:50"))
    plan("--day", "2024-06-03", "--jobs", dumped("three.csv", late, LAST), *SHORT)
    assert jobs_of("2024-06-03") == {"late", "last"}


def test_a_job_that_late_books_leave_waiting_and_no_dump_has_has_run_since(site: Path) -> None:
    plan("--day", "2024-06-01", "--jobs", dumped("one.csv", A, IDLE), *SHORT)
    plan("--day", "2024-06-02", "--jobs", dumped("two.csv", NEW), *SHORT)
    ran("ran.csv", "2024-06-01", (*A, "2024-06-01T00:00", "2024-06-01T00:50"))
    plan("--day", "2024-06-03", "--jobs", dumped("three.csv", LAST), *SHORT)
    assert jobs_of("2024-06-03") == {"last"}
