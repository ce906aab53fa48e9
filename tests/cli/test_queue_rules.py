"""A site whose jobs have rules of a queue, planned through the commands: nothing is lost, nobody starts too early."""

from __future__ import annotations

from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import BRIEF, DAY, SITE, rows_of, write_small_site

JOBS = """\
job_id,submit_time,requested_h,units,cores_per_unit,partition,exclusive,begin_time
plain,2024-05-31T08:00:00+02:00,2,1,4,,,
alone,2024-05-31T08:01:00+02:00,2,2,1,,yes,
fast,2024-05-31T08:02:00+02:00,2,1,4,fast,,
noon,2024-05-31T08:03:00+02:00,2,1,4,,,2024-06-01T12:00:00+02:00
later,2024-05-31T08:04:00+02:00,2,1,4,fast,,2024-06-03T09:00:00+02:00
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small site with a partition and a second class, whose node has a name of its own."""
    write_small_site(tmp_path)
    machine = "    cpu: {count: 4, capacity: {cores: 8, memory_gb: 32}}\n"
    fast = "    fast: {nodes: turbo, capacity: {cores: 8, memory_gb: 32}}\n"
    fast += "  partitions: {fast: [fast], any: [cpu, fast]}\n"
    (tmp_path / "scenarios" / "site.yaml").write_text(SITE.replace(machine, machine + fast))
    (tmp_path / "jobs" / "queue.csv").write_text(JOBS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(folder: Path, name: str) -> dict[str, dict[str, str]]:
    return {row["job_id"]: row for row in rows_of(folder / f"{name}.csv")}


def test_one_day(site: Path) -> None:
    """Rules are kept, written and audited; a job of a later day waits with its reason and no deferral counted."""
    assert run(["--day", DAY, "-q", *BRIEF]) == 0
    folder = site / "reports" / "site" / DAY
    started, waiting = rows(folder, "schedule"), rows(folder, "deferred")
    assert started["fast"]["nodes"] == "turbo"
    assert started["fast"]["node_class"] == "fast"
    assert started["alone"]["exclusive"] == "yes"
    assert len(set(started["alone"]["unit_nodes"].replace("-", " ").split())) == 2
    assert int(started["noon"]["start_s"]) >= 12 * 3600
    assert waiting["later"]["reason"] == "planned to start at 2024-06-03T09:00:00+02:00"
    assert (waiting["later"]["kind"], waiting["later"]["times_deferred"]) == ("deferred", "0")
    assert run(["audit", str(folder)]) == 0


def test_days_until_the_begin(site: Path) -> None:
    """The job is handed from day to day, also where nothing else is left to do, and runs when it may."""
    assert run(["run", "--from", DAY, "--to", DAY, "--until-empty", "-q", *BRIEF]) == 0
    folders = sorted((site / "reports" / "site").glob("2024-*"))
    assert [folder.name for folder in folders] == ["2024-06-01", "2024-06-02", "2024-06-03"]
    assert rows(folders[1], "deferred")["later"]["times_deferred"] == "0"
    assert rows(folders[2], "schedule")["later"]["start_time"] >= "2024-06-03T09:00:00+02:00"
    assert all(run(["audit", str(folder)]) == 0 for folder in folders)


def test_planning_ahead(site: Path) -> None:
    """From a moment with hours that reach the begin the plan says when it starts; with fewer it waits."""
    snapshot = site / "jobs" / "queue.csv"
    command = ["now", "--snapshot", str(snapshot), "--at", "2024-06-01T10:00:00+02:00", "-q"]
    for hours, planned in (("12", ""), ("72", "2024-06-03T09:00:00+02:00")):
        assert run([*command, "--hours", hours]) == 0
        waiting = rows(site / "reports" / "site" / DAY, "deferred")["later"]
        assert waiting["planned_start"] == planned
        assert ("may not begin" in waiting["reason"]) == (not planned)


def test_unknown_partition(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line says where, what and what there is."""
    queue = site / "jobs" / "queue.csv"
    queue.write_text(JOBS.replace(",fast,,\n", ",fsat,,\n"))
    assert run(["--day", DAY, "-q"]) == 2
    assert "queue.csv:4: there is no partition 'fsat'; there are fast, any" in capsys.readouterr().err
