"""Claims about what `plan why` says of each kind of job, on a site with tables in place of Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import plan, write_small_site
from tests.made_once import made_once

DAY, NEXT = "2024-06-01", "2024-06-02"
CHEAP_AT_NOON = 'tariff={kind: bands, eur_per_kwh: 0.4, bands: [{from: "11:00", to: "15:00", eur_per_kwh: 0.1}]}'
HOLD = ("-m", "hold", "--bound-time", "0", "-q", "--set", "rules.max_delay=6h", "--set", CHEAP_AT_NOON)
HOLD = (*HOLD, "--set", "goal.waiting=0.0001")

QUEUE = """\
job_id,submit_time,requested_h,units,cores_per_unit,power_w,begin_time,dependency,state,start_time,end_time,nodes
runs,2024-06-01T05:00:00Z,6,1,8,300,,,running,2024-06-01T05:30:00Z,,cpu1
over,2024-06-01T05:00:00Z,6,1,8,300,,,done,2024-06-01T05:00:00Z,2024-06-01T05:40:00Z,cpu2
shot,2024-06-01T05:00:00Z,6,1,8,300,,,cancelled,2024-06-01T05:00:00Z,2024-06-01T05:45:00Z,cpu3
back,2024-06-01T05:00:00Z,6,1,8,300,,,cancelled,,,
held,2024-06-01T05:00:00Z,2,1,8,300,,,pending,,,
begun,2024-06-01T05:01:00Z,2,4,8,0,2024-06-01T05:45:00Z,,pending,,,
later,2024-06-01T05:02:00Z,1,1,1,0,2024-06-01T16:45:00Z,,pending,,,
after,2024-06-01T05:03:00Z,1,1,1,0,,afterok:runs,pending,,,
giant,2024-06-01T05:04:00Z,1,20,8,400,,,pending,,,
"""
"""At 08:00 in Paris."""


@pytest.fixture
def asked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site's days, planned from 08:00 on; read it, never change it."""

    def make(base: Path) -> None:
        write_small_site(base)
        (base / "queue.csv").write_text(QUEUE)
        plan("now", "--at", f"{DAY}T08:00:00+02:00", "--snapshot", "queue.csv", *HOLD)

    return made_once(tmp_path_factory, "why", make) / "reports" / "site"


@pytest.mark.parametrize(
    ("job", "told"),
    [
        ("runs", f"has been running since {DAY} 07:30, until {DAY} 13:30 at most"),
        ("over", f"started at {DAY} 07:00 and ended at {DAY} 07:40"),
        ("shot", f"started at {DAY} 07:00 and was cancelled at {DAY} 07:45"),
        ("back", "does not run: it was cancelled before it started"),
        ("giant", "is refused and never runs as it is: asks for 20 units"),
        ("held", f"is held until {DAY} 11:00 for cheaper electricity, at the latest until {DAY} 14:00"),
        ("begun", "is not held; it waits for its turn and for room on the machine, and is expected"),
        ("later", f"is not held; it waits for its own begin at {DAY} 18:45, and is expected to start at {DAY} 18:45"),
        ("after", "is not held; it waits for other jobs (afterok:runs), and is expected to start"),
    ],
)
def test_what_is_said_of_each_kind_of_job_is_so(
    asked: Path, job: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["why", job, str(asked)]) == 0
    said, made = capsys.readouterr().out.splitlines()
    assert said.startswith(f"job {job} {told}")
    assert made == f"as planned at {DAY} 08:00"
    if job == "held":  # no Slurm: nothing is sent, and the plan's hold is the hold
        assert f", and is expected to start at {DAY} 11:00; that saves " in said
        assert said.endswith(" EUR of energy")


def test_a_job_that_ran_at_midnight_is_said_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``more`` asks for 30 h, so it runs over midnight whenever it starts."""
    monkeypatch.chdir(write_small_site(tmp_path))
    lines = (tmp_path / "jobs/queue.csv").read_text().splitlines(keepends=True)
    (tmp_path / "jobs/queue.csv").write_text(lines[0] + next(each for each in lines if each.startswith("more")))
    for day in (DAY, NEXT):
        plan("--day", day, "-m", "est", "--bound-time", "0", "-q")
    capsys.readouterr()
    assert run(["why", "more"]) == 0
    said, _ = capsys.readouterr().out.splitlines()
    assert said == f"job more has been running since {DAY} 00:00, until {NEXT} 06:00 at most"
