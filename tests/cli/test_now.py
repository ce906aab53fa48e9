"""Claims about ``plan now`` and ``plan --day --snapshot``: the past stands, nothing is lost, versions are kept."""

from __future__ import annotations

import datetime as dt
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from planner.cli.main import run
from planner.domain.horizon import Horizon
from planner.domain.situation import Outage, Situation, StartedJob
from planner.scenario.load import load_scenario
from planner.store.read_last_plan import last_plan_of, situation_of
from tests.days import names, plan, rows_of, tree
from tests.rolling import DAYS, FIRST, QUICK, write_rolling_site
from tests.written_snapshots import write_snapshot

TODAY = Horizon(dt.date.fromisoformat(FIRST), "Europe/Paris")
TEN = f"{FIRST}T10:00:00+02:00"
HOUR = 3600

Tables = Callable[[Situation], list[str]]


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with its first day planned; copy it, never change it."""
    base = write_rolling_site(tmp_path_factory.mktemp("planned"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(base)
        plan("--day", FIRST, *QUICK)
    return base


@pytest.fixture
def site(tmp_path: Path, planned: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the site to stand in."""
    base = tmp_path / "site"
    shutil.copytree(planned, base)
    monkeypatch.chdir(base)
    return base


@pytest.fixture
def tables(site: Path) -> Tables:
    """Writes a snapshot as tables, and returns the options that name them."""

    def written(snapshot: Situation) -> list[str]:
        cluster = load_scenario("site", folders=[site / "scenarios"]).cluster
        jobs, nodes = site / "snapshot.csv", site / "nodes.csv"
        write_snapshot(snapshot, jobs, cluster=cluster, nodes_path=nodes)
        return ["--snapshot", str(jobs), "--nodes", str(nodes)]

    return written


def ids(snapshot: Situation) -> list[str]:
    """Every job of a snapshot."""
    jobs = [*snapshot.pending, *snapshot.withdrawn, *(each.job for each in snapshot.started)]
    return [job.id for job in jobs]


def as_planned(site: Path, moment_unix: int) -> Situation:
    """What the last plan of the site says is true at a moment."""
    scenario = load_scenario("site", folders=[site / "scenarios"])
    folder = site / "reports" / "site"
    return situation_of(scenario, TODAY, last_plan_of(folder, scenario, TODAY), moment_unix)[0]


def files(site: Path, day: str = FIRST) -> tuple[dict[str, dict[str, str]], dict[str, dict[str, str]]]:
    """The rows of schedule.csv and of deferred.csv by job."""
    folder = site / "reports" / "site" / day
    schedule, deferred = (rows_of(folder / f"{name}.csv") for name in ("schedule", "deferred"))
    by_id = {row["job_id"]: row for row in schedule}, {row["job_id"]: row for row in deferred}
    assert (len(by_id[0]), len(by_id[1])) == (len(schedule), len(deferred))
    return by_id


def summary(site: Path, day: str = FIRST) -> dict[str, object]:
    """The summary of a day."""
    found: dict[str, object] = json.loads((site / "reports" / "site" / day / "summary.json").read_text())
    return found


def test_without_news_the_past_is_what_was_planned(site: Path) -> None:
    """What was to start by ten has started as planned; the rest starts from ten on, with the jobs submitted since."""
    before, waited = files(site)
    plan("now", "--at", TEN, *QUICK)
    schedule, deferred = files(site)
    for name, row in before.items():
        if int(row["start_s"]) <= 10 * HOUR:
            same = ("start_time", "end_time", "unit_nodes", "power_w")
            assert {key: schedule[name][key] for key in same} == {key: row[key] for key in same}
            assert schedule[name]["state"] == ("done" if int(row["end_s"]) <= 10 * HOUR else "running")
    fresh = [row for row in schedule.values() if row["state"] == "planned"]
    assert fresh
    assert min(int(row["start_s"]) for row in fresh) >= 10 * HOUR
    queue = {row["job_id"]: row["submit_time"] for row in rows_of(site / "jobs" / "queue.csv")}
    new = {name for name, submit in queue.items() if f"{FIRST}T00:00:00" <= submit <= f"{FIRST}T10:00:00"}
    assert new
    assert {*schedule, *deferred} == {*before, *waited} | new
    assert run(["audit", str(site / "reports" / "site" / FIRST)]) == 0


def test_a_job_planned_after_midnight_waits_with_its_planned_start(site: Path) -> None:
    plan("now", "--at", f"{FIRST}T20:00:00+02:00", "--hours", "24", *QUICK)
    deferred = files(site)[1]
    later = [row for row in deferred.values() if row["planned_start"]]
    assert later
    for row in later:
        assert row["kind"] == "deferred"
        assert f"{DAYS[1]}T00:00:00" <= row["planned_start"] < f"{DAYS[1]}T20:00:00"
        assert row["reason"] == f"planned to start at {row['planned_start']}"
    segments = rows_of(site / "reports" / "site" / FIRST / "segments.csv")
    assert int(segments[-1]["end_s"]) == 24 * HOUR
    assert run(["audit", str(site / "reports" / "site" / FIRST)]) == 0
    # Looking no further than the day leaves no job with a start beyond it.
    plan("now", "--at", f"{FIRST}T20:00:00+02:00", "--hours", "1", "--set", "goal.kind=published", *QUICK)
    assert not any(row["planned_start"] for row in files(site)[1].values())
    assert summary(site)["leaves_room"] is False


def test_the_next_days_continue_from_it_with_nothing_lost(site: Path) -> None:
    """Two re-plans on the first day, one on the second, then plan run: every job of the queue comes in once."""
    plan("now", "--at", TEN, *QUICK)
    plan("now", "--at", f"{FIRST}T21:00:00+02:00", *QUICK)
    first = files(site)
    plan("--day", DAYS[1], *QUICK)
    second = files(site, DAYS[1])
    over = {name for name, row in first[0].items() if int(row["end_s"]) > 24 * HOUR}
    waiting = {name for name, row in first[1].items() if row["kind"] == "deferred"}
    assert {name for name, row in second[0].items() if row["state"] == "carried"} == over
    assert waiting <= {*second[0], *second[1]}
    plan("now", "--at", f"{DAYS[1]}T03:00:00+02:00", *QUICK)
    plan("run", "--from", DAYS[2], "--to", DAYS[3], "--until-empty", *QUICK)
    starts: dict[str, set[str]] = {}
    for folder in sorted((site / "reports" / "site").glob("2024-*")):
        for row in rows_of(folder / "schedule.csv"):
            starts.setdefault(row["job_id"], set()).add(row["start_time"])
    queue = {row["job_id"] for row in rows_of(site / "jobs" / "queue.csv") if row["submit_time"] < f"{DAYS[3]}T00:00"}
    assert set(starts) | {"giant"} == queue | {"giant"}
    assert all(len(each) == 1 for each in starts.values())


def test_a_job_that_is_gone_does_not_come_back_the_next_day(site: Path, tables: Tables) -> None:
    found = as_planned(site, TODAY.start_unix + 10 * HOUR)
    gone = next(job for job in found.pending if job.submit_unix >= TODAY.start_unix)
    left = tuple(job for job in found.pending if job is not gone)
    plan("now", "--at", TEN, *tables(replace(found, pending=left)), *QUICK)
    plan("--day", DAYS[1], *QUICK)
    schedule, deferred = files(site, DAYS[1])
    assert gone.id not in {*schedule, *deferred}
    assert len({*schedule, *deferred}) > 10


def test_jobs_that_the_day_knew_ahead_are_not_new_to_the_next(site: Path) -> None:
    """With ``visibility: day`` the plan of the day knows jobs that are submitted after the moment."""
    ahead = ("--set", "jobs.visibility=day", *QUICK)
    plan("--day", FIRST, "--fresh", *ahead)
    before = files(site)
    plan("now", "--at", TEN, *ahead)
    schedule, deferred = files(site)
    assert {*schedule, *deferred} == {*before[0], *before[1]}
    plan("--day", DAYS[1], *ahead)
    done = {name for name, row in schedule.items() if int(row["end_s"]) <= 24 * HOUR}
    assert not done & {name for each in files(site, DAYS[1]) for name in each}


def test_what_to_do_about_a_last_plan_that_is_of_no_use_can_be_done(
    site: Path, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    """``plan now`` itself has no --fresh: a gap and a damaged plan name the command that has it, which works."""
    found, late = as_planned(site, TODAY.start_unix + 10 * HOUR), "2024-06-05"
    assert run(["now", "--at", f"{late}T10:00:00+02:00", *QUICK]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"--from {DAYS[1]} --to {DAYS[1]} first, or start anew with plan --day {late} --fresh")
    (site / "reports" / "site" / FIRST / "schedule.csv").unlink()
    assert run(["now", "--at", TEN, *QUICK]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"plan {FIRST} again, or start anew with plan --day {FIRST} --fresh")
    plan("now", "--at", TEN, *tables(found), *[each for each in QUICK if each != "-q"])
    assert f"again, or start anew with plan --day {FIRST} --fresh" in capsys.readouterr().err
    plan("--day", FIRST, "--fresh", *QUICK)
    plan("now", "--at", TEN, *QUICK)


def test_the_money_of_the_days_is_counted_once(site: Path) -> None:
    """What each job draws over all its days is its power times its time, wherever the day was planned again."""
    plan("now", "--at", TEN, *QUICK)
    plan("run", "--from", DAYS[1], "--to", DAYS[1], "--until-empty", *QUICK)
    drawn: dict[str, float] = {}
    asked: dict[str, float] = {}
    for folder in (site / "reports" / "site").glob("2024-*"):
        for row in rows_of(folder / "schedule.csv"):
            drawn[row["job_id"]] = drawn.get(row["job_id"], 0.0) + float(row["work_kwh"])
            asked[row["job_id"]] = float(row["power_w"]) * int(row["requested_s"]) / 3.6e6
    assert drawn == pytest.approx(asked, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_every_job_of_a_snapshot_is_in_one_file(site: Path, tables: Tables, seed: int) -> None:
    """Jobs that ended early, were cancelled, withdrawn or are gone, and nodes that are down: each job once, clean."""
    rng = np.random.default_rng(seed)
    now_unix = TODAY.start_unix + int(rng.integers(1, 23 * HOUR))
    found = as_planned(site, now_unix)
    started, pending, withdrawn = [], [], []
    for each in found.started:
        if each.is_running and rng.random() < 0.4:
            end = int(rng.integers(max(each.start_unix, TODAY.start_unix), now_unix + 1))
            started.append(replace(each, end_unix=end, cancelled=bool(rng.random() < 0.5)))
        elif rng.random() < 0.9:
            started.append(each)
    for job in found.pending:
        if rng.random() < 0.9:
            (withdrawn if rng.random() < 0.2 else pending).append(job)
    outages = tuple(
        Outage(
            node,
            now_unix - 5,
            None if rng.random() < 0.5 else now_unix + 2 * HOUR,
            "drain" if any(node in each.nodes for each in started if each.is_running) else "down",
        )
        for node in range(4)
        if rng.random() < 0.4
    )
    snapshot = Situation(now_unix, tuple(pending), tuple(started), tuple(withdrawn), outages)
    moment = TODAY.to_datetime(TODAY.to_s(now_unix)).isoformat()
    plan("now", "--at", moment, *tables(snapshot), *QUICK)
    schedule, deferred = files(site)
    today = [each for each in started if each.end_unix is None or each.end_unix > TODAY.start_unix]
    assert sorted([*schedule, *deferred]) == sorted(ids(replace(snapshot, started=tuple(today))))
    for each in today:
        row = schedule[each.job.id]
        assert row["state"] == ("running" if each.is_running else "cancelled" if each.cancelled else "done")
        assert int(row["start_s"]) == TODAY.to_s(each.start_unix)
    assert {name for name, row in deferred.items() if row["kind"] == "withdrawn"} == {job.id for job in withdrawn}
    counts = summary(site)["jobs"]
    assert isinstance(counts, dict)
    assert counts["known"] + counts["carried_in"] == len(schedule) + len(deferred)
    assert run(["audit", str(site / "reports" / "site" / FIRST)]) == 0


def test_conflicts_are_named_and_kept(site: Path, tables: Tables, capsys: pytest.CaptureFixture[str]) -> None:
    found = as_planned(site, TODAY.start_unix + 4 * HOUR)
    giant, *others = sorted(found.pending, key=lambda job: job.id)
    given = tables(replace(found, pending=(giant, *others[16:])))
    quick = [option for option in QUICK if option != "-q"]
    plan("now", "--at", f"{FIRST}T04:00:00+02:00", *given, *quick)
    told = capsys.readouterr().err
    kept = json.loads((site / "reports" / "site" / FIRST / "run.json").read_text())["conflicts"]
    gone = sorted({job.id for job in others[:16]} & known_before(site))
    assert [text.split()[1] for text in kept] == gone
    assert all("gone" in text or "not in the snapshot" in text for text in kept)
    assert len(kept) > 5
    assert told.count("conflict with the last plan: job ") == 5
    assert f"and {len(kept) - 5} more conflicts (all in run.json)" in told
    assert summary(site)["conflicts"] == len(kept)


def known_before(site: Path) -> set[str]:
    """Jobs of the version before the last."""
    (version,) = (site / "reports" / "site" / FIRST / "versions").iterdir()
    return {row["job_id"] for name in ("schedule", "deferred") for row in rows_of(version / f"{name}.csv")}


def test_a_day_from_a_snapshot_at_its_midnight(site: Path, tables: Tables) -> None:
    """The nightly command with a snapshot: what runs is carried, only what the snapshot holds is planned."""
    found = as_planned(site, TODAY.start_unix + 10 * HOUR)
    job, other, *rest = (job for job in found.pending if job.id != "giant")
    earlier = replace(job, submit_unix=TODAY.start_unix - 5 * HOUR)
    started = StartedJob(earlier, TODAY.start_unix - HOUR, tuple(range(job.unit_count)))
    down = Outage(3, TODAY.start_unix - HOUR, None, "drain")
    given = tables(Situation(TODAY.start_unix, (other,), (started,), (rest[0],), (down,)))
    plan("--day", FIRST, *given, *QUICK)
    schedule, deferred = files(site)
    assert schedule[job.id]["state"] == "carried"
    assert {*schedule, *deferred} == {job.id, other.id, rest[0].id}
    assert names(site / "reports" / "site" / FIRST / "versions")
    assert run(["audit", str(site / "reports" / "site" / FIRST)]) == 0


def test_the_audit_sees_a_start_before_now_and_one_on_a_down_node(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan("now", "--at", TEN, *QUICK)
    folder = site / "reports" / "site" / FIRST
    path = folder / "run.json"
    honest = json.loads(path.read_text())
    fresh = [row for row in files(site)[0].values() if row["state"] == "planned"]
    first = min(fresh, key=lambda row: int(row["start_s"]))
    start_unix = TODAY.start_unix + int(first["start_s"])
    node = int(re.split(r"[-* ]", first["unit_nodes"])[0])
    capsys.readouterr()
    early = honest | {"snapshot": honest["snapshot"] | {"moment_unix": start_unix + 1}}
    path.write_text(json.dumps(early))
    assert run(["audit", str(folder)]) == 5
    assert f"start: job {first['job_id']}" in capsys.readouterr().err
    outage = {"node": node, "start_unix": start_unix, "end_unix": start_unix + 1, "state": "down"}
    path.write_text(json.dumps(honest | {"snapshot": honest["snapshot"] | {"outages": [outage]}}))
    assert run(["audit", str(folder)]) == 5
    assert f"outage: job {first['job_id']}" in capsys.readouterr().err


def test_versions_are_kept_whoever_writes_next(site: Path) -> None:
    folder = site / "reports" / "site" / FIRST
    one = tree(folder)
    plan("now", "--at", TEN, *QUICK)
    two = {name: content for name, content in tree(folder).items() if not name.startswith("versions")}
    plan("now", "--at", f"{FIRST}T12:00:00+02:00", *QUICK)
    three = {name: content for name, content in tree(folder).items() if not name.startswith("versions")}
    assert "planned from 12:00 on" in (folder / "report.html").read_text()
    plan("--day", FIRST, *QUICK)
    assert "planned from" not in (folder / "report.html").read_text()
    versions = sorted((folder / "versions").iterdir(), key=lambda path: path.stat().st_ctime_ns)
    assert sorted(map(str, map(tree, versions))) == sorted(map(str, (one, two, three)))
    plan("--day", FIRST, *QUICK)
    assert len(names(folder / "versions")) == 3
    for version in versions:
        assert run(["audit", str(version)]) == 0
    assert run(["report", "--day", FIRST, "-q"]) == 0
    index = (site / "reports" / "index.html").read_text()
    assert f"site/{FIRST}/report.html" in index
    assert "/versions/" not in index
    assert names(site / "reports" / "site") == [FIRST, "costs"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("now", "--at", "2024-06-03T10:00"), "has no offset from UTC"),
        (("now", "--at", "noon"), "cannot read 'noon' as a moment"),
        (("now", "--at", "1901-06-03T10:00Z"), "out of range"),
        (("now", "--at", TEN, "--hours", "0"), "--hours is 0"),
        (("now", "--at", TEN, "--hours", "nan"), "--hours is nan"),
        (("now", "--at", TEN, "--hours", "1000"), "--hours is 1,000"),
        (("now", "--at", TEN, "--nodes", "nodes.csv"), "--nodes goes with --snapshot"),
        (("now", "--at", TEN, "--snapshot", "a.csv", "--jobs", "b.csv"), "--jobs would be lost"),
        (("--day", FIRST, "--snapshot", "a.csv", "--fresh"), "leave out --fresh"),
        (("--day", FIRST, "--nodes", "a.csv"), "--nodes goes with --snapshot"),
        (("now", "--at", "2024-06-20T10:00+02:00"), "what runs or waits would be lost"),
    ],
)
def test_bad_input(site: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], told: str) -> None:
    before = tree(site)
    assert run([*arguments, *QUICK]) == 2
    assert told in capsys.readouterr().err
    assert tree(site) == before


def test_a_damaged_last_plan_is_refused_without_a_snapshot_only(
    site: Path, tables: Tables, capsys: pytest.CaptureFixture[str]
) -> None:
    found = as_planned(site, TODAY.start_unix + 10 * HOUR)
    path = site / "reports" / "site" / FIRST / "schedule.csv"
    path.write_text(path.read_text()[:-100])
    assert run(["now", "--at", TEN, *QUICK]) == 2
    assert "damaged" in capsys.readouterr().err
    plan("now", "--at", TEN, *tables(found), *QUICK)
    assert "without what the last plan promised" in str(summary(site)["inputs"])
    assert names(site / "reports" / "site" / FIRST / "versions")


def test_prices_that_end_are_as_on_the_last_known_day(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Within today, or days ago: what is known counts, the rest is as on the last day that is, and the run says so."""
    hours = [TODAY.start_unix + (k - 72) * HOUR for k in range(24 * 5)]
    price = {hour: round(0.1 + 0.001 * (index % 24) + 0.01 * (index // 24), 3) for index, hour in enumerate(hours)}

    def now(until_unix: int) -> list[tuple[int, float]]:
        rows = [
            f"{dt.datetime.fromtimestamp(hour, dt.UTC):%Y-%m-%dT%H:%MZ},{price[hour]}"
            for hour in hours
            if hour < until_unix
        ]
        (site / "prices.csv").write_text("\n".join(["time,price", *rows]) + "\n", encoding="utf-8")
        tariff = f"tariff={{kind: hourly, file: '{site / 'prices.csv'}', unit: EUR/kWh}}"
        assert run(["--day", FIRST, *QUICK, "-q", "--set", tariff, "--fresh"]) == (2 if until_unix < hours[96] else 0)
        assert run(["now", "--at", TEN, *QUICK, "--set", tariff]) == 0, capsys.readouterr().err
        folder = site / "reports" / "site" / FIRST
        assert run(["audit", str(folder)]) == 0
        starts = [(int(row["start_s"]), float(row["price_eur_per_kwh"])) for row in rows_of(folder / "segments.csv")]
        return [(each, max(pair for pair in starts if pair[0] <= each)[1]) for each in range(0, 24 * HOUR, HOUR)]

    def by_hour(known: int, before: int) -> list[tuple[int, float]]:
        return [(k * HOUR, price[hours[72 + k] if k < known else hours[24 * before + k]]) for k in range(24)]

    assert now(hours[96]) == by_hour(24, 0)
    assert now(hours[72 + 14]) == by_hour(14, 2)
    assert f"not known from {FIRST}T14:00+02:00 on" in json.dumps(summary(site)["inputs"])
    assert now(hours[72]) == by_hour(0, 2)
    assert now(hours[24 * 2 + 5]) == by_hour(0, 1)
