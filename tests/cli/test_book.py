"""Claims about ``plan book``: the day as it happened, the plan kept beside it, and nothing written over by mistake."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from tests.days import DAY, names, plan, rows_of, tree
from tests.slurm_documents import DIALECTS, Dialect, sacct

HEAD = "JobID|JobName|User|Account|State|Submit|Start|End|Timelimit|NodeList|AllocCPUS|AllocTRES|ConsumedEnergyRaw"
NEXT = "2024-06-02"


def accounts(folder: Path, *rows: str) -> Path:
    """A file as ``sacct --parsable2`` writes it."""
    path = folder / "sacct.txt"
    path.write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    return path


def row(
    job: str,
    start: str,
    end: str,
    nodes: str,
    cpus: int,
    *,
    state: str = "COMPLETED",
    energy: object = "",
    mem: str = "1G",
) -> str:
    """A job of account physics, submitted on the eve of the day; times are clock times of the day or whole."""
    times = [each if not each[:1].isdigit() or "T" in each else f"{DAY}T{each}:00" for each in (start, end)]
    amounts = f"cpu={cpus},mem=1G,node=1"
    cells = [job, "relax", "ann", "physics", state, "2024-05-31T12:00:00", *times, "10:00:00", nodes, cpus, amounts]
    return "|".join(map(str, [*cells, energy]))


ORDINARY = (
    row("1", "01:00", "05:00", "cpu[1-4]", 32),
    row("2", "06:00", "07:30", "cpu2", 8, state="CANCELLED by 1000"),
    row("3", "2024-05-31T22:00:00", "00:30", "cpu3", 4),
    row("4", "20:00", "2024-06-02T04:00:00", "cpu3", 4),
    row("5", "Unknown", "09:00", "None assigned", 0, state="CANCELLED by 1000"),
    row("6", "Unknown", "Unknown", "None assigned", 0, state="PENDING"),
    row("7", "2024-06-02T03:00:00", "2024-06-02T04:00:00", "cpu1", 8),
    row("8", "2024-05-31T03:00:00", "2024-05-31T04:00:00", "cpu1", 8),
)


def day_of(site: Path, day: str = DAY) -> Path:
    return site / "reports" / "site" / day


def booked(site: Path, *rows: str, options: tuple[str, ...] = ()) -> dict[str, Any]:
    """The summary of the day once it is booked from accounts with these rows."""
    plan("book", "--day", DAY, "--sacct", str(accounts(site, *rows)), *options, "-q")
    found: dict[str, Any] = json.loads((day_of(site) / "summary.json").read_text())
    return found


def refused(site: Path, *rows: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line with which booking these rows ends; nothing is written."""
    path = accounts(site, *rows)
    before = tree(site)
    capsys.readouterr()
    assert run(["book", "--day", DAY, "--sacct", str(path)]) == 2
    assert tree(site) == before
    said = capsys.readouterr()
    assert said.out == ""
    (line,) = said.err.splitlines()
    return line


def test_the_day_is_settled_with_what_ran_within_it(site: Path) -> None:
    """Core-hours: 32 cores for 4 h, 8 for 1.5 h, 4 for the half hour after midnight and 4 for the four before."""
    summary = booked(site, *ORDINARY)
    assert summary["booked"]["cpu_hours"] == summary["totals"]["core_hours"] == 128 + 12 + 2 + 16
    assert summary["totals"]["revenue_eur"] == pytest.approx(0.05 * 158)
    rows = {each["job_id"]: each for each in rows_of(day_of(site) / "schedule.csv")}
    assert {name: each["state"] for name, each in rows.items()} == {
        "1": "done",
        "2": "cancelled",
        "3": "done",
        "4": "running",
    }
    assert rows["1"]["nodes"] == "cpu[1-4]"
    # It is as it was at midnight, whenever it is booked: still running, until its limit of ten hours.
    assert rows["4"]["end_time"] == "2024-06-02T06:00:00+02:00"
    assert run(["audit", str(day_of(site))]) == 0


def test_the_plan_is_kept_as_a_version(site: Path) -> None:
    before = {name: content for name, content in tree(day_of(site)).items() if "/" not in name}
    planned = json.loads(before["summary.json"])["totals"]
    summary = booked(site, *ORDINARY)
    (version,) = names(day_of(site) / "versions")
    assert tree(day_of(site) / "versions" / version) == before
    told = summary["booked"]["planned"]
    assert (told["version"], told["profit_eur"]) == (version, planned["profit_eur"])
    assert run(["audit", str(day_of(site) / "versions" / version)]) == 0


def test_pages_say_that_the_day_is_booked(site: Path) -> None:
    """The day's own, with planned against real in place of EASY and rules, and the index."""
    booked(site, row("1", "01:00", "05:00", "cpu1", 8, energy=3_600_000))
    page = (day_of(site) / "report.html").read_text()
    assert '<span class="mark booked">booked</span>' in page
    assert "Planned against real" in page
    assert "Against EASY and rules" not in page
    assert "The energy of 1 job, 1.0\u202fkWh of the day, was measured" in page
    assert ">booked</span>" in (site / "reports" / "index.html").read_text()


def test_planned_jobs_that_are_not_in_the_books_still_wait(site: Path) -> None:
    """The next day takes them over, with what really runs; the job that was rejected is so again."""
    known = {each["job_id"] for name in ("schedule", "deferred") for each in rows_of(day_of(site) / f"{name}.csv")}
    booked(site, *ORDINARY)
    deferred = {each["job_id"]: each["kind"] for each in rows_of(day_of(site) / "deferred.csv")}
    assert set(deferred) == known
    assert {name for name, kind in deferred.items() if kind == "rejected"} == {"giant"}
    plan("--day", NEXT, "-m", "multisearch", "--bound-time", "0", "-q")
    following = rows_of(day_of(site, NEXT) / "schedule.csv")
    assert [each["job_id"] for each in following if each["state"] == "carried"] == ["4"]
    waiting = {each["job_id"] for each in rows_of(day_of(site, NEXT) / "deferred.csv")}
    assert {each["job_id"] for each in following} | waiting == (known - {"giant"}) | {"4"}


def test_jobs_submitted_on_the_day_are_new_to_the_next(site: Path) -> None:
    """As after a plan: what came in since that was made; what the books have does not come in again."""
    booked(site, *ORDINARY)
    with (site / "jobs" / "queue.csv").open("a") as queue:
        queue.write(f"late,{DAY}T10:00:00+02:00,1,1,4,4,40,chem,cy,,,\n1,{DAY}T00:30:00+02:00,1,1,4,4,40,chem,cy,,,\n")
    plan("--day", NEXT, "-m", "multisearch", "--bound-time", "0", "-q")
    known = {
        each["job_id"] for name in ("schedule", "deferred") for each in rows_of(day_of(site, NEXT) / f"{name}.csv")
    }
    assert "late" in known
    assert "1" not in known


def test_a_planned_job_keeps_what_it_earns(site: Path) -> None:
    """Accounts know neither the revenue weight nor the power that the queue gave: half the rate, and 40 W a core."""
    (site / "jobs" / "queue.csv").write_text(
        "job_id,submit_time,requested_h,cores,power_w,revenue_weight\n1,2024-05-31T12:00:00+02:00,2,2,80,0.5\n"
    )
    plan("--day", DAY, "-m", "multisearch", "--bound-time", "0", "-q")
    totals = booked(site, row("1", "01:00", "02:00", "cpu1", 4))["totals"]
    assert totals["revenue_eur"] == pytest.approx(4 * 0.05 * 0.5)
    assert totals["work_kwh"] == pytest.approx(0.16)


def test_measured_energy_of_a_job_alone_on_its_nodes_counts(site: Path) -> None:
    """3.6 MJ in four hours are 1 kWh; the share of a night is as long as its part of the day."""
    summary = booked(site, row("1", "01:00", "05:00", "cpu1", 8, energy=3_600_000))
    assert summary["totals"]["work_kwh"] == pytest.approx(1)
    assert summary["booked"]["measured"]["jobs"] == 1
    assert summary["booked"]["measured"]["kwh"] == pytest.approx(1)
    night = row("1", "22:00", "2024-06-02T02:00:00", "cpu1", 8, energy=3_600_000)
    assert booked(site, night, options=("--rebook",))["totals"]["work_kwh"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([row("1", "01:00", "05:00", "cpu1", 4, energy=10**6), row("2", "04:59", "06:00", "cpu1", 4)], "shared a node"),
        ([row("1", "01:00", "05:00", "cpu1", 4, energy=4 * 3600 * 20_001)], "more than 20 kW per node"),
        ([row("1", "01:00", "05:00", "cpu1", 4, energy=4 * 3600 * 59)], "less than their nodes draw when empty"),
    ],
)
def test_energy_that_cannot_be_the_jobs_own_does_not_count(
    site: Path, rows: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path, idle = accounts(site, *rows), ("--set", "cluster.classes.cpu.idle_w=60")
    plan("--day", DAY, "-m", "multisearch", "--bound-time", "0", "-q", *idle)
    plan("book", "--day", DAY, "--sacct", str(path), *idle)
    assert why in capsys.readouterr().err
    assert json.loads((day_of(site) / "summary.json").read_text())["booked"]["measured"]["jobs"] == 0


def test_a_job_that_follows_on_the_second_has_its_nodes_to_itself(site: Path) -> None:
    rows = [row("1", "01:00", "05:00", "cpu1", 4, energy=10**6), row("2", "05:00", "06:00", "cpu1", 4)]
    assert booked(site, *rows)["booked"]["measured"]["jobs"] == 1


def test_jobs_that_share_more_than_a_node_has_are_booked(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Slurm may let jobs share cores: both are paid for, a line says so, and the next day is planned around them."""
    rows = [row(str(k), "20:00", "2024-06-02T06:00:00", "cpu1", 8) for k in (1, 2)]
    path = accounts(site, *rows)
    plan("book", "--day", DAY, "--sacct", str(path))
    assert "booked as the source says: node cpu1 has 8 cores" in (capsys.readouterr().err)
    summary = json.loads((day_of(site) / "summary.json").read_text())
    assert summary["totals"]["core_hours"] == summary["booked"]["cpu_hours"] == 64
    assert run(["audit", str(day_of(site))]) == 0
    for method in ("multisearch", "harvest", "est"):
        plan("--day", NEXT, "-m", method, "--bound-time", "1s", "--iterations", "200", "-q")
        assert run(["audit", str(day_of(site, NEXT))]) == 0
        found = json.loads((day_of(site, NEXT) / "summary.json").read_text())
        assert (found["stands_in_for"], found["jobs"]["carried_in"]) == (None, 2)


def test_what_ran_above_the_power_limit_is_booked(site: Path) -> None:
    """What ran, ran: the next day adds nothing while it draws too much by itself, and then starts what fits."""
    limit = ("--set", "cluster.power_limit_kw=0.06")
    path = accounts(site, row("1", "20:00", "2024-06-02T06:00:00", "cpu1", 8))
    plan("book", "--day", DAY, "--sacct", str(path), *limit, "-q", "--rebook", "--out", "other")
    assert run(["audit", str(site / "other" / "site" / DAY)]) == 0
    plan("--day", NEXT, "-m", "multisearch", "--bound-time", "0", *limit, "-q", "--out", "other")
    assert run(["audit", str(site / "other" / "site" / NEXT)]) == 0
    starts = {each["job_id"]: int(each["start_s"]) for each in rows_of(site / "other" / "site" / NEXT / "schedule.csv")}
    drawing = [start for name, start in starts.items() if name not in ("1", "free")]
    assert drawing
    assert min(drawing) == 6 * 3600


def test_jobs_elsewhere_are_no_part_of_the_books(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = accounts(site, row("1", "01:00", "02:00", "cpu1", 8), row("2", "01:00", "03:00", "gpu[1-2]", 64))
    plan("book", "--day", DAY, "--sacct", str(path))
    assert "1 jobs with 128.0 CPU-hours ran on nodes that the scenario does not have" in capsys.readouterr().err
    books = json.loads((day_of(site) / "summary.json").read_text())["booked"]
    assert (books["cpu_hours"], books["elsewhere"]) == (8, {"jobs": 1, "cpu_hours": 128})


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        (
            [row("1", "01:00", "02:00", "cpu[4-5]", 8)],
            "job 1 ran on cpu5, which the scenario does not have",
        ),
        ([row("1", "01:00", "02:00", "n[1-4]", 8)], "no job ran on a node of the scenario; the first ran on n1"),
        ([row("1", "01:00", "02:00", "cpu1", 16)], "job 1 had 16 CPUs of cpu1, which have 8 cores in the scenario"),
        ([row("1", "01:00", "02:00", "cpu1,cpu1", 4)], "job 1 has a node twice"),
        ([row("1", "01:00", "02:00", "cpu1", 4), row("1", "01:30", "02:00", "cpu2", 4)], "job 1 is there twice"),
        ([row("1", "02:00", "01:00", "cpu1", 4)], "End is '2024-06-01T01:00:00', expected a time after Start"),
    ],
)
def test_what_cannot_be_true_is_refused(
    site: Path, rows: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert problem in refused(site, *rows, capsys=capsys)


def test_every_run_of_a_job_is_booked(site: Path) -> None:
    """A job that was put back into the queue and ran again used its nodes twice."""
    rows = [row("1", "01:00", "02:00", "cpu1", 8, state="NODE_FAIL"), row("1", "03:00", "05:00", "cpu2", 8)]
    assert booked(site, *rows)["booked"]["cpu_hours"] == 24
    assert [each["job_id"] for each in rows_of(day_of(site) / "schedule.csv")] == ["1.run1", "1"]


def test_a_job_of_no_time_used_nothing(site: Path) -> None:
    assert (
        booked(site, row("1", "01:00", "01:00", "cpu1", 8), row("2", "01:00", "02:00", "cpu1", 8))["booked"]["jobs"]
        == 1
    )


def test_booking_the_same_again_changes_nothing(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Other data need --rebook; then plan and books are both kept, and the plan is still the one to compare with."""
    rows = [row("1", "01:00", "05:00", "cpu1", 8, energy=3_600_000)]
    booked(site, *rows)
    before = tree(day_of(site))
    capsys.readouterr()
    assert run(["book", "--day", DAY, "--sacct", str(accounts(site, *rows))]) == 0
    assert "is booked from the same data already; nothing is changed" in capsys.readouterr().err
    assert tree(day_of(site)) == before
    other = accounts(site, row("1", "01:00", "04:00", "cpu1", 8))
    assert run(["book", "--day", DAY, "--sacct", str(other)]) == 3
    assert "is booked; nothing is changed; to write it anew all the same, give --rebook" in capsys.readouterr().err
    assert tree(day_of(site)) == before
    plan("book", "--day", DAY, "--sacct", str(other), "--rebook", "-q")
    assert len(names(day_of(site) / "versions")) == 2
    planned = json.loads((day_of(site) / "summary.json").read_text())["booked"]["planned"]
    assert planned == json.loads(before["summary.json"])["booked"]["planned"]


def test_a_booked_day_is_not_planned_over(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By no command that plans; with --rebook it is, and the books are kept among the versions."""
    booked(site, *ORDINARY)
    before = tree(site)
    commands = (
        ["--day", DAY],
        ["now", "--at", f"{DAY}T10:00+02:00"],
        ["run", "--from", "2024-05-31", "--to", NEXT, "--fresh"],
    )
    for words in commands:
        capsys.readouterr()
        assert run(words) == 3, words
        said = capsys.readouterr()
        assert (len(said.err.splitlines()), said.out) == (1, "")
        assert tree(site) == before, words
    plan("--day", DAY, "-m", "multisearch", "--bound-time", "0", "--rebook", "-q")
    summary = json.loads((day_of(site) / "summary.json").read_text())
    assert "booked" not in summary
    kept = [json.loads(path.read_text()) for path in (day_of(site) / "versions").glob("*/summary.json")]
    assert sum("booked" in each for each in kept) == 1


def test_a_booked_day_with_a_damaged_summary_is_still_booked(site: Path) -> None:
    booked(site, *ORDINARY)
    (day_of(site) / "summary.json").write_text("{}")
    assert run(["--day", DAY]) == 3


def test_days_that_continue_from_the_plan_still_stand(site: Path) -> None:
    """The next day is planned in the evening, the day booked after it: the day after the next goes on from both."""
    quick = ("-m", "multisearch", "--bound-time", "0", "-q")
    plan("--day", NEXT, *quick)
    booked(site, *ORDINARY)
    plan("--day", "2024-06-03", *quick)
    (day_of(site) / "versions").rename(site / "gone")
    assert run(["--day", "2024-06-03", *quick]) == 2


def test_a_day_that_was_never_planned_can_be_booked(site: Path) -> None:
    path = accounts(site, row("1", "2023-06-01T01:00:00", "2023-06-01T02:00:00", "cpu1", 8))
    plan("book", "--day", "2023-06-01", "--sacct", str(path), "-q")
    summary = json.loads((day_of(site, "2023-06-01") / "summary.json").read_text())
    assert (summary["booked"]["planned"], summary["booked"]["cpu_hours"]) == (None, 8)
    assert run(["audit", str(day_of(site, "2023-06-01"))]) == 0


@pytest.mark.parametrize("dialect", DIALECTS)
def test_json_of_every_version_is_read(site: Path, dialect: Dialect) -> None:
    """Four CPUs for two hours; their node was theirs alone, and the energy of the batch step is the job's."""
    one_in_the_morning = 1717196400
    times = {"submission": one_in_the_morning - 60, "start": one_in_the_morning, "end": one_in_the_morning + 7200}
    tres = {"allocated": [{"type": "cpu", "name": None, "id": 1, "count": 4}]}
    document = sacct(dialect, batch=3_600_000, nodes="cpu1", time=times, tres=tres)
    (site / "sacct.json").write_text(json.dumps(document))
    plan("book", "--day", DAY, "--sacct", "sacct.json", "-q")
    summary = json.loads((day_of(site) / "summary.json").read_text())
    assert (summary["booked"]["cpu_hours"], summary["totals"]["work_kwh"]) == (8, pytest.approx(1))
    assert [each["job_id"] for each in rows_of(day_of(site) / "schedule.csv")] == ["40_0"]


def test_a_table_says_what_ran(site: Path) -> None:
    """States, ends after the day, and energy; what starts later still waits."""
    (site / "ran.csv").write_text(
        "job_id,submit_time,requested_h,units,cores_per_unit,power_w,state,start_time,end_time,nodes,energy_j\n"
        "wide,2024-02-01T08:00:00+01:00,6,4,8,300,done,2024-06-01T01:00:00+02:00,2024-06-01T03:00:00+02:00,cpu[1-4],7200000\n"
        "long,2024-02-01T08:02:00+01:00,20,2,8,150,done,2024-06-01T22:00:00+02:00,2024-06-02T03:00:00+02:00,cpu[1-2],\n"
        "soon,2024-02-01T08:03:00+01:00,1,1,4,40,running,2024-06-02T01:00:00+02:00,,cpu3,\n"
        "night,2024-02-01T08:05:00+01:00,12,3,8,240,cancelled,,,,\n"
    )
    plan("book", "--day", DAY, "--table", "ran.csv", "-q")
    summary = json.loads((day_of(site) / "summary.json").read_text())
    # 32 cores for two hours and 16 for two; 2 kWh were measured, and 150 W for two hours are thought.
    assert summary["booked"]["cpu_hours"] == 64 + 32
    assert summary["totals"]["work_kwh"] == pytest.approx(2.3)
    deferred = {each["job_id"]: each["kind"] for each in rows_of(day_of(site) / "deferred.csv")}
    assert (deferred["soon"], deferred["night"]) == ("deferred", "withdrawn")
    assert run(["audit", str(day_of(site))]) == 0


def test_an_impossible_table_is_refused(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "ran.csv").write_text(
        "job_id,submit_unix,requested_h,cores,state,start_unix,end_unix,nodes\n"
        "a,1717200000,6,8,done,1717203600,1717207200,cpu1\nb,1717200000,6,8,done,1717203600,1717207200,cpu1\n"
    )
    before = tree(site)
    assert run(["book", "--day", DAY, "--table", "ran.csv"]) == 2
    assert "node cpu1 has 8 cores, but jobs a and b hold 16" in capsys.readouterr().err
    assert tree(site) == before


@pytest.mark.parametrize("state", ["", ",state"])
@pytest.mark.parametrize("jobs", [0, 2])
def test_a_queue_does_not_say_what_ran(site: Path, state: str, jobs: int, capsys: pytest.CaptureFixture[str]) -> None:
    """The table that a night was planned from is refused; an idle day has the column, and pending jobs if any."""
    lines = [f"{name},1717200000,6,8" for name in "ab"[:jobs]]
    empty = "," if state else ""
    (site / "ran.csv").write_text(
        "\n".join([f"job_id,submit_unix,requested_h,cores{state}", *(line + empty for line in lines), ""])
    )
    if not state or jobs:
        before = tree(site)
        assert run(["book", "--day", DAY, "--table", "ran.csv"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "ran.csv: no job has a state: that is a queue, not what ran; fill state with pending, running" in line
        assert tree(site) == before
    (site / "ran.csv").write_text(
        "\n".join(["job_id,submit_unix,requested_h,cores,state", *(f"{line},pending" for line in lines), ""])
    )
    plan("book", "--day", DAY, "--table", "ran.csv", "-q")
    assert json.loads((day_of(site) / "summary.json").read_text())["booked"]["cpu_hours"] == 0


def test_a_day_must_be_over(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for day in ("today", "tomorrow", time.strftime("%Y-%m-%d", time.gmtime(time.time() + 2 * 86400))):
        assert run(["book", "--day", day, "--sacct", str(accounts(site))]) == 2
        assert "is not over in Europe/Paris; book it when it is" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "code", "problem"),
    [
        (["--sacct", "a", "--table", "b"], 2, "--sacct and --table both say what ran"),
        (["--sacct", "nowhere.txt"], 2, "nowhere.txt: no such file"),
        (["--table", "nowhere.csv"], 2, "nowhere.csv: no such file"),
        (["--table", "nowhere.csv", "--also", "pdf"], 2, "unknown output format 'pdf'"),
        ([], 8, "or give what ran with --sacct or --table"),
    ],
)
def test_bad_sources_are_one_line(
    site: Path,
    words: list[str],
    code: int,
    problem: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PATH", str(site))
    before = tree(site)
    assert run(["book", "--day", DAY, *words]) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert problem in line
    assert tree(site) == before


def test_a_quiet_run_prints_nothing(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    booked(site, *ORDINARY)
    plan("--day", NEXT, "-m", "multisearch", "--bound-time", "0", "-q")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")
