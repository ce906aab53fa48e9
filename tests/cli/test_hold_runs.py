"""Claims about holding jobs through the commands: days carried out, promises in their files, replays of a scenario."""

from __future__ import annotations

import datetime as dt
import json
import math
import shutil
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.cli.summary_text import MOST_HOLDS
from planner.domain.horizon import Horizon
from planner.domain.method_params import Strength
from planner.domain.situation import Situation
from planner.scenario.load import load_scenario
from planner.slurm.planned_holds import read_wanted
from planner.store.read_last_plan import read_last_plan, with_last_plan
from tests.days import plan, rows_of
from tests.rolling import DAYS, FIRST, LAST, write_rolling_site

CHEAP_AT_NOON = 'tariff={kind: bands, eur_per_kwh: 0.4, bands: [{from: "11:00", to: "15:00", eur_per_kwh: 0.1}]}'
LOOP = (
    "--bound-time",
    "0",
    "-q",
    "--set",
    "jobs.visibility=day",
    "--set",
    "rules.max_delay=2h",
    "--set",
    CHEAP_AT_NOON,
)
REAL = (*LOOP, "--set", "rules.execute=actual")


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports of a site whose days `hold` has carried out with real runtimes; never change them."""
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


def test_a_day_that_was_carried_out_wants_nothing_of_slurm(done: Path) -> None:
    """Its holds are over."""
    for day in DAYS:
        assert read_wanted(done / "reports" / "site" / day).holds == {}


def test_jobs_end_when_they_really_did_and_none_is_held_too_long(done: Path) -> None:
    """Real ends, starts after submission; a held job may be held for two hours, which stays with it."""
    promises: dict[str, tuple[str, str]] = {}
    for day in DAYS:
        folder = done / "reports" / "site" / day
        summary = json.loads((folder / "summary.json").read_text())
        assert summary["method"] == "hold"
        holds = {each["job_id"]: each for each in summary.get("holds", ())}
        for row in rows_of(folder / "schedule.csv"):
            assert int(row["end_s"]) - int(row["start_s"]) == min(int(row["runtime_s"]), int(row["requested_s"]))
            assert seconds(row["submit_time"]) <= seconds(row["start_time"])
            told = (row["reference_start"], row["latest_start"])
            assert promises.setdefault(row["job_id"], told) == told
            if row["job_id"] in holds:
                hold = holds[row["job_id"]]
                assert hold["reference_unix"] < hold["until_unix"] <= hold["latest_unix"]
                assert hold["until_unix"] <= seconds(row["start_time"])
                assert (hold["reference_unix"], hold["latest_unix"]) == tuple(map(seconds, told))
                assert hold["latest_unix"] - hold["reference_unix"] == 2 * 3600
        for row in rows_of(folder / "deferred.csv"):
            if row["kind"] == "deferred" and row["reference_start"]:
                promises.setdefault(row["job_id"], (row["reference_start"], row["latest_start"]))
    assert sum(bool(told[0]) for told in promises.values()) > 5


def test_the_audit_sees_another_count_of_promises(
    done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A summary that hides delays does not agree with its tables, whatever its seal."""
    summaries = {day: json.loads((done / "reports" / "site" / day / "summary.json").read_text()) for day in DAYS}
    day, summary = next((day, summary) for day, summary in summaries.items() if summary["promises"])
    copied = tmp_path / day
    shutil.copytree(done / "reports" / "site" / day, copied)
    summary["promises"]["delayed"] += 1
    (copied / "summary.json").write_text(json.dumps(summary))
    assert run(["audit", str(copied)]) == 5
    assert "promises.delayed is" in capsys.readouterr().err


def test_more_starts_than_by_plans_made_once(done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With real runtimes freed room is given away: more work is done by the last day than by plans of midnight."""
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    static = ("--method", "multisearch", *REAL)
    plan("run", "--from", FIRST, "--to", LAST, *static)

    def worked(site: Path) -> float:
        days = [json.loads((site / "reports" / "site" / day / "summary.json").read_text()) for day in DAYS]
        return sum(day["totals"]["core_hours"] for day in days)

    assert worked(done) > worked(base)


def test_a_scenario_is_replayed_with_its_promise(
    done: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(done)
    arguments = ["simulate", "--scenario", "site", "--from", FIRST, "--to", LAST, "-p", "easy,hold", "--json"]
    assert run([*arguments, "--metrics", "wait,broken,max-hold,profit_eur", "--set", "rules.max_delay=6h", "-q"]) == 0
    found = json.loads(capsys.readouterr().out)
    easy, hold = found["runs"]
    late = found["late"]
    assert late[0]["jobs of"] == "all"
    assert late[0]["late_of"] == hold["jobs"] == sum(row["late_of"] for row in late if "class" in row["jobs of"])
    assert late[0]["latest_s"] == max(row["latest_s"] for row in late if "account" in row["jobs of"])
    assert late[0]["late_mean_s"] == pytest.approx(hold["wait"] - easy["wait"], abs=0.1)
    assert (easy["policy"], hold["policy"]) == ("easy", "hold")
    assert easy["jobs"] == hold["jobs"] > 50
    assert hold["broken"] == 0
    assert hold["profit_eur"] > 0


def test_a_plan_from_now_on_names_what_is_held_and_needs_no_prices_of_tomorrow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file of prices ends tonight. Evening is dear and the night cheap: what could start at 18:00 is held."""
    base = write_rolling_site(tmp_path)
    monkeypatch.chdir(base)
    hours = [f"2024-06-{day:02d}T{hour:02d}:00+02:00" for day in (1, 2, 3) for hour in range(24)]
    prices = [0.9 if 16 <= k % 24 < 21 else 0.1 for k in range(len(hours))]
    lines = ["time,price", *(f"{hour},{price}" for hour, price in zip(hours, prices, strict=True))]
    (base / "prices.csv").write_text("\n".join(lines) + "\n")
    words = ["--set", f"tariff={{kind: hourly, file: {base / 'prices.csv'}, unit: EUR/kWh}}", "--bound-time", "0"]
    words += ["--set", "rules.max_delay=6h", "--set", "goal.waiting=0.001", "--set", "rules.estimate=requested"]
    assert run(["now", "--at", f"{FIRST}T18:00:00+02:00", *words]) == 0
    told = capsys.readouterr().out
    holds = json.loads((base / "reports" / "site" / FIRST / "summary.json").read_text())["holds"]
    assert len(holds) > MOST_HOLDS
    assert f"and {len(holds) - MOST_HOLDS} more: summary.json has all" in told
    now = seconds(f"{FIRST}T18:00:00+02:00")
    for place, each in enumerate(holds):
        assert each["reference_unix"] < now + 3600
        assert now < each["until_unix"] <= each["latest_unix"]
        assert each["latest_unix"] == each["reference_unix"] + 6 * 3600
        assert each["saved_eur"] > each["waiting_eur"] > 0
        until = dt.datetime.fromtimestamp(each["until_unix"], dt.timezone(dt.timedelta(hours=2)))
        said = f"job {each['job_id']} until {until:%Y-%m-%d %H:%M}: saves"
        assert (said in told) == (place < MOST_HOLDS)
    # Plans of the same hour keep to the strength of this one; in the next hour it is decided anew.
    path = base / "reports" / "site" / FIRST / "run.json"
    first = json.loads(path.read_text())["hold_strength"]
    assert (first["value"] in (1, 4, 16), first["decided_unix"]) == (True, now)
    for value in (None, 1):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"hold_strength": first | {"value": value}}))
        assert run(["now", "--at", f"{FIRST}T18:50:00+02:00", *words, "-q"]) == 0
        assert json.loads(path.read_text())["hold_strength"] == first | {"value": value}
        assert bool(json.loads(path.with_name("summary.json").read_text()).get("holds")) == (value is not None)
    assert run(["now", "--at", f"{FIRST}T19:00:00+02:00", *words, "-q"]) == 0
    later = json.loads(path.read_text())["hold_strength"]
    assert (later["value"] in (1, 4, 16), later["decided_unix"]) == (True, now + 3600)


@pytest.mark.parametrize("value", [16, None])
def test_the_next_plan_begins_with_the_strength_of_the_last(
    done: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: float | None
) -> None:
    """Where staying counts for all, it stays: on the next day, and from a moment on, whoever says what is true then."""
    strength = {"value": value, "decided_unix": 1_717_000_000}
    monkeypatch.chdir(shutil.copytree(done, tmp_path / "site"))
    path = Path("reports/site", FIRST, "run.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"hold_strength": strength}))
    plan("run", "--from", DAYS[1], "--to", DAYS[1], *REAL, "--set", "hold.stay=1")
    assert json.loads(Path("reports/site", DAYS[1], "run.json").read_text())["hold_strength"]["value"] == value
    scenario = load_scenario("site", folders=[Path("scenarios")], overrides=["jobs.visibility=day"])
    day = Horizon(dt.date.fromisoformat(DAYS[1]), scenario.zone)
    last = read_last_plan(path.parent, scenario, day.day_before())
    found = with_last_plan(Situation(day.start_unix), Path("reports/site"), scenario, day, last)
    assert found.strength == Strength(math.inf if value is None else value, strength["decided_unix"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["simulate", "-p", "hold"], "give a trace, or --scenario and --from"),
        (["simulate", "jobs/queue.csv", "--scenario", "site", "--from", FIRST], "a trace is replayed whole"),
        (["simulate", "--scenario", "site", "--from", LAST, "--to", FIRST], "backwards"),
        (["now", "--set", "rules.max_delay=soon"], "rules.max_delay"),
        (["now", "--at", f"{FIRST}T10:00:00+02:00", "--set", "rules.estimate=magic"], "unknown estimate"),
        (["now", "--set", "hold.every=-1"], "hold.every"),
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
