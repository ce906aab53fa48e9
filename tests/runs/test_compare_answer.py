"""Claims about one run held against another: parts that add up, worked out by hand and by replays of their own."""

from __future__ import annotations

import datetime as dt
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.cli.day import open_scenario
from planner.inputs.traces import read_known
from planner.methods import WITHOUT_CARBON
from planner.online.estimates import estimate_named
from planner.online.policies import policy_named
from planner.runs.compare_results import answer_of, settled_under, with_members
from planner.runs.measured_replays import Measurement, simulate
from planner.runs.replay_ledger import settle_window
from planner.store.read_day import read_day
from tests.days import plan, rows_of
from tests.rolling import DAYS, FIRST, LAST, write_rolling_site
from tests.two_jobs import DAY, write_site

ONE = ("--bound-time", "0", "--processes", "1", "-q")


def compared(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    """What a comparison says."""
    capsys.readouterr()
    plan("compare", *words, *ONE, "--json")
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def easy_profits(name: str) -> dict[str, float]:
    """What EASY earns on each day, from a replay that is no part of a comparison [EUR]."""
    scenario = open_scenario(name, ("rules.execute=actual",))
    first, last = (dt.date.fromisoformat(day) for day in (FIRST, LAST))
    source = read_known(scenario, first, last)
    assert source is not None
    source = replace(source, trace=replace(source.trace, submit_s=np.maximum(source.trace.submit_s, 0)))
    (run,) = simulate(source, [policy_named("easy")], [estimate_named("requested")], Measurement((), ()))
    days = settle_window(scenario, source.jobs, run.replay, first_day=first, days=len(DAYS))
    return {day.isoformat(): totals.profit_eur for day, totals in days}


def test_under_easy_it_is_the_difference_of_two_replays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """To the cent, in all and on the lowest and highest day; the schedule is the same, so the weather makes it all."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    words = ("--from", FIRST, "--to", LAST, "-m", "est", "--set", "rules.execute=actual")
    told = compared(capsys, "site", "warm", *words)
    easy, est = told["pairs"]
    mild, hot = easy_profits("site"), easy_profits("warm")
    more = {day: hot[day] - mild[day] for day in mild}
    assert (easy["method"], est["method"]) == ("easy", "est")
    assert easy["more_eur"] == round(sum(more.values()), 2) < 0
    assert easy["same_schedule_eur"] == easy["more_eur"]
    assert (easy["start_times_eur"], easy["volume_eur"], easy["differs_in"]) == (0, 0, "weather")
    assert (easy["lowest_day_eur"], easy["lowest_day"]) == min((round(each, 2), day) for day, each in more.items())
    assert (easy["highest_day_eur"], easy["highest_day"]) == max((round(each, 2), day) for day, each in more.items())
    assert told["answer"][0].startswith(
        f"warm costs {-easy['more_eur']:.2f} EUR more than site over 4 days with the same"
    )
    base, other = (
        next(row for row in told["runs"] if (row["scenario"], row["method"]) == (name, "easy"))
        for name in ("site", "warm")
    )
    assert other["profit_difference_eur"] == pytest.approx(other["profit_eur"] - base["profit_eur"], abs=1e-6)


def test_a_tariff_turned_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The dear hours come last instead of first. EASY runs the hungry job first: 1.53 EUR become 0.45.

    The plan puts it into the cheap hours in both, for 0.45 EUR. Its schedule for one tariff costs 1.53 EUR under the
    other: 1.08 EUR lost to the tariff, and won back by other start times.
    """
    write_site(tmp_path)
    prices = (tmp_path / "prices.csv").read_text()
    (tmp_path / "turned.csv").write_text(
        prices.replace("0.5\n", "0.7\n").replace("0.1\n", "0.5\n").replace("0.7\n", "0.1\n")
    )
    (tmp_path / "scenarios" / "turned.yaml").write_text("base: site\ntariff: {file: ../turned.csv}\n")
    monkeypatch.chdir(tmp_path)
    told = compared(capsys, "site", "turned", "--day", DAY, "-m", "multisearch", "--invest", "100")
    parts = ("more_eur", "same_schedule_eur", "start_times_eur", "volume_eur", "payback_years")
    assert [[pair[name] for name in parts] for pair in told["pairs"]] == [
        [1.08, 1.08, 0, 0, 0.3],
        [0, -1.08, 1.08, 0, None],
    ]
    assert told["answer"] == [
        "turned costs 1.08 EUR less than site over 1 day with the same schedule, and costs as much with plans made for"
        " it (multisearch); a year like this: 394.47 EUR gained and 0.00 EUR; payback of 100 EUR: 0.3 years and never."
    ]
    assert rows_of(next(tmp_path.glob("reports/compare/*/*/pairs.csv")))[0]["differs_in"] == "tariff"


def test_parts_add_up_where_jobs_are_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Methods leave other jobs waiting, so that volumes differ: the parts of every pair are its whole, to the cent."""
    monkeypatch.chdir(write_rolling_site(tmp_path, jobs_a_day=30))
    told = compared(capsys, "site", "--from", FIRST, "--to", LAST, "-m", "wt", "-m", "multisearch")
    assert [pair["method"] for pair in told["pairs"]] == ["wt", "multisearch"]
    for pair in told["pairs"]:
        parts = pair["same_schedule_eur"] + pair["start_times_eur"] + pair["volume_eur"]
        assert round(parts, 2) == pair["more_eur"]
    assert any(pair["volume_eur"] for pair in told["pairs"])
    assert told["answer"][0].startswith("Over 4 days on the same jobs, wt earns ")


@pytest.mark.parametrize(
    ("change", "differs_in"),
    [
        ("cluster: {classes: {cpu: {count: 2}}}", "nodes"),
        ("cluster: {power_limit_kw: 1}", "power limit"),
        ("cluster: {partitions: {all: [cpu]}}", "partitions"),
        ("rules: {defer: free}", "rules"),
        ("seed: 7", "seed"),
        ("cluster: {power_limit_kw: 1}\ntariff: {kind: flat, eur_per_kwh: 0.3}", "power limit, tariff"),
        ("cluster: {classes: {cpu: {count: 2, idle_w: 9}}}", "nodes, node sleep and idle power"),
    ],
)
def test_what_a_schedule_must_keep_is_not_split(
    change: str, differs_in: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Other nodes, limits and rules cannot have the schedule: the whole is told and why, and no part of it."""
    write_site(tmp_path)
    (tmp_path / "scenarios" / "other.yaml").write_text(f"base: site\n{change}\n")
    monkeypatch.chdir(tmp_path)
    told = compared(capsys, "site", "other", "--day", DAY, "-m", "est")
    assert [pair["same_schedule_eur"] for pair in told["pairs"]] == [None, None]
    assert {pair["differs_in"] for pair in told["pairs"]} == {differs_in}
    assert " under EASY" in told["answer"][0]
    plan("compare", "site", "other", "--day", DAY, "-m", "est", *ONE)
    assert f"other less site ({differs_in})\n" in capsys.readouterr().out


def test_nodes_that_idle_at_other_power_have_the_same_schedule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Idle power changes what a schedule costs, not what it may be."""
    write_site(tmp_path)
    (tmp_path / "scenarios" / "idle.yaml").write_text("base: site\ncluster: {classes: {cpu: {idle_w: 9}}}\n")
    monkeypatch.chdir(tmp_path)
    told = compared(capsys, "site", "idle", "--day", DAY, "-m", "est")
    assert [pair["differs_in"] for pair in told["pairs"]] == ["node sleep and idle power"] * 2
    assert all(pair["same_schedule_eur"] == pair["more_eur"] < 0 for pair in told["pairs"])


def test_written_days_settle_to_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the scenario that they were planned for, days come to what their ledgers say, with peak and battery."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    more = ("battery.capacity_kwh=5", "battery.power_kw=1", "demand.eur_per_kw=2", "demand.period=month")
    options = [word for setting in more for word in ("--set", setting)]
    plan("run", "--from", FIRST, "--to", LAST, "-m", "est", "--bound-time", "0", "-q", *options)
    days = [read_day(tmp_path / "reports" / "site" / day) for day in DAYS]
    settled = settled_under(open_scenario("site", more), days)
    assert [totals.profit_eur for _, totals in settled] == [day.ledger.totals.profit_eur for day in days]


def test_what_no_weight_changes_is_run_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With weights of CO2 the rule and EASY are run once and told for each; the search is run for each."""
    monkeypatch.chdir(write_rolling_site(tmp_path))
    words = ("--day", FIRST, "-m", "est,multisearch", "--set", "carbon.g_per_kwh=300", "--carbon-weights", "0,500")
    told = compared(capsys, "site", *words)
    folders = sorted(path.relative_to(path.parents[1]) for path in tmp_path.glob("reports/compare/*/*/runs/*/*"))
    assert list(map(str, folders)) == ["site@0/est", "site@0/multisearch", "site@500/multisearch"]
    assert [(row["scenario"], row["method"]) for row in told["runs"]] == [
        (name, run) for name in ("site@0", "site@500") for run in ("easy", "est", "multisearch")
    ]
    assert told["notes"][-1] == "easy, est do not heed goal.carbon_weight: run once for all weights."


@pytest.mark.parametrize(("option", "mark"), [("--carbon-weights", "@"), ("--waiting", "~")])
def test_of_several_goals_each_is_held_against_its_like(
    option: str, mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The dearer site with a goal is held against the site with that goal, in parts that add up; never two goals."""
    home = write_rolling_site(tmp_path)
    (home / "scenarios" / "dear.yaml").write_text("base: site\ntariff: {kind: flat, eur_per_kwh: 0.9}\n")
    monkeypatch.chdir(home)
    words = ("--day", FIRST, "-m", "multisearch", "--set", "carbon.g_per_kwh=300", option, "0,5")
    told = compared(capsys, "site", "dear", *words)
    held = {(pair["scenario"], pair["against_scenario"], pair["differs_in"]) for pair in told["pairs"]}
    assert held == {(f"dear{mark}{value}", f"site{mark}{value}", "tariff") for value in (0, 5)}
    assert len(told["pairs"]) == 4
    for pair in told["pairs"]:
        parts = (pair["same_schedule_eur"], pair["start_times_eur"], pair["volume_eur"])
        assert sum(parts) == pytest.approx(pair["more_eur"], abs=0.005)
    alone = compared(capsys, "site", *words)["pairs"]
    assert {(pair["scenario"], pair["against_scenario"]) for pair in alone} == {(f"site{mark}5", f"site{mark}0")}
    assert {pair["differs_in"] for pair in alone} == {"goal"}


def test_gains_and_losses_of_a_year_are_told_apart() -> None:
    """One run gains what another loses: neither is left out, and each says what it is."""
    common = {"scenario": "b", "against_scenario": "a", "days": 7, "same_schedule_eur": None, "revenue_more_eur": 1.0}
    runs = [("policy", "easy", 1.0, 52.0), ("plan", "harvest", -1.0, -52.0)]
    pairs = [
        common | {"kind": kind, "method": name, "more_eur": more, "year_eur": year} for kind, name, more, year in runs
    ]
    (told,) = answer_of(pairs, "EUR", None)
    assert told.endswith("; a year like this: 52.00 EUR gained and 52.00 EUR lost.")


@pytest.mark.parametrize(
    ("year", "words"), [(3651.31, "3,651.31 EUR gained"), (-52.0, "52.00 EUR lost"), (0.0, "0.00 EUR")]
)
def test_a_year_says_whether_it_gains(year: float, words: str) -> None:
    """Three days with the peak of a whole month cost more, a year of twelve such peaks less."""
    pair = {"scenario": "b", "against_scenario": "a", "kind": "policy", "method": "easy", "days": 3}
    money = {"more_eur": -28.05, "same_schedule_eur": -28.05, "revenue_more_eur": 0.0, "year_eur": year}
    (told,) = answer_of([pair | money], "EUR", None)
    assert told == f"b costs 28.05 EUR more than a over 3 days with the same schedule; a year like this: {words}."


def test_methods_that_no_weight_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They plan the same day with a tonne at nothing and at 10,000 EUR; the planner's own search does not."""
    write_site(tmp_path)
    begin = dt.datetime.fromisoformat(f"{DAY}T00:00:00+00:00")
    rows = [f"{(begin + dt.timedelta(hours=k)).isoformat()},{100 if k < 2 else 900}" for k in range(48)]
    (tmp_path / "carbon.csv").write_text("\n".join(["time,carbon", *rows]) + "\n")
    monkeypatch.chdir(tmp_path)
    for method in (*WITHOUT_CARBON, "multisearch"):
        plans = []
        for weight in (0, 10_000):
            settings = ("--set", f"carbon.file={tmp_path}/carbon.csv", "--set", f"goal.carbon_weight={weight}")
            plan("--day", DAY, "-m", method, "--bound-time", "0", "-q", *settings, "--out", f"{method}-{weight}")
            plans.append((tmp_path / f"{method}-{weight}" / "site" / DAY / "schedule.csv").read_bytes())
        assert (plans[0] == plans[1]) == (method != "multisearch"), method


@pytest.mark.parametrize(
    ("first", "last", "period", "months"),
    [
        (FIRST, LAST, "month", 1),
        (FIRST, LAST, "day", 4 / 365.25 * 12),
        ("2024-05-31", "2024-06-03", "month", 2),
    ],
)
def test_a_year_pays_the_peak_of_a_month_twelve_times(
    first: str,
    last: str,
    period: str,
    months: float,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is charged by the day is paid 365.25 times, the peak of each month of the days 12 times between them."""
    home = write_rolling_site(tmp_path)
    demand = f"{{eur_per_kw: 100, period: {period}}}"
    (home / "scenarios" / "peak.yaml").write_text(f"base: warm\ndemand: {demand}\n")
    monkeypatch.chdir(home)
    told = compared(capsys, "site", "peak", "--from", first, "--to", last, "-m", "none", "--invest", "1000")
    base, peak = told["runs"]
    (pair,) = told["pairs"]
    assert peak["demand_cost_eur"] > 10 > base["demand_cost_eur"] == 0
    by_day = peak["profit_eur"] + peak["demand_cost_eur"] - base["profit_eur"]
    year = by_day / 4 * 365.25 - peak["demand_cost_eur"] * 12 / months
    assert pair["year_eur"] == pytest.approx(year, abs=0.01)
    turned = compared(capsys, "peak", "site", "--from", first, "--to", last, "-m", "none", "--invest", "1000")
    assert turned["pairs"][0]["year_eur"] == pytest.approx(-year, abs=0.01)
    assert turned["pairs"][0]["payback_years"] == pytest.approx(1000 / -year, abs=0.05)
    assert f"a year like this: {-year:,.2f} EUR gained" in turned["answer"][0]


def test_a_pair_has_its_range_over_the_members_that_both_have() -> None:
    """Of prices p1 and p2 and of weather w1, b earns 2, 5 and 1 EUR more than a; the means and w2 do not count."""
    earned = {
        "a": {("price", "p1"): 10.0, ("price", "p2"): 20.0, ("weather", "w1"): 3.0, ("mean", "-"): 0.0},
        "b": {("price", "p1"): 12.0, ("price", "p2"): 25.0, ("weather", "w1"): 4.0, ("mean", "-"): 90.0},
    }
    earned["b"]["weather", "w2"] = 0.0
    members = [
        {"scenario": scenario, "method": "est", "forecast": forecast, "member": member, "profit_eur": profit}
        for scenario, known in earned.items()
        for (forecast, member), profit in known.items()
    ]
    pair = {"against_scenario": "a", "against_method": "est", "scenario": "b", "method": "est"}
    found = with_members(pair, members)
    assert (found["members"], found["lowest_member_eur"], found["highest_member_eur"]) == (3, 1.0, 5.0)
    none = with_members(pair, [])
    assert (none["members"], none["lowest_member_eur"], none["highest_member_eur"]) == (0, None, None)
