"""Claims about savings against EASY: worked out by hand for two jobs on one node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from planner.runs.compare_results import with_saving
from tests.days import plan
from tests.two_jobs import DAY, JOBS, LONG, write_site


def compared(capsys: pytest.CaptureFixture[str], *options: str) -> dict[str, dict[str, Any]]:
    """The runs of a comparison of one day, by method and policy."""
    words = ("-m", "multisearch", "--bound-time", "0", "--processes", "1", "-q", "--json")
    plan("compare", "site", "--day", DAY, *words, *options)
    return {row["method"]: row for row in json.loads(capsys.readouterr().out)["runs"]}


def test_two_jobs_on_one_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """EASY starts the hungry job first, in the dear hours; the plan the other way round.

    EASY: 2 kWh at 0.5 and 0.2 kWh at 0.1, half as much more for cooling: 1.5 x 1.02 = 1.53 EUR. The plan: 0.2 kWh at
    0.5 and 2 kWh at 0.1: 1.5 x 0.3 = 0.45 EUR. Both use 3.3 kWh and earn 2 x 4 cores x 2 h x 0.5 = 8 EUR. The hungry
    job came an hour before midnight, the other half an hour: under EASY they wait 1 h and 2.5 h, in the plan 3 h and
    0.5 h.
    """
    write_site(tmp_path)
    monkeypatch.chdir(tmp_path)
    runs = compared(capsys)
    easy, planned = runs["easy"], runs["multisearch"]
    assert easy["profit_eur"] == pytest.approx(8 - 1.53)
    assert planned["profit_eur"] == pytest.approx(8 - 0.45)
    assert (easy["kwh"], planned["kwh"]) == (pytest.approx(3.3), pytest.approx(3.3))
    assert planned["saved_eur"] == pytest.approx(1.08)
    assert planned["saved_percent"] == pytest.approx(100 * 1.08 / 6.47)
    assert planned["saved_energy_cost_eur"] == pytest.approx(1.08)
    assert planned["saved_kwh"] == pytest.approx(0.0)
    assert (easy["mean_wait_s"], planned["mean_wait_s"]) == (1.75 * 3600, 1.75 * 3600)
    assert easy["wait95_s"] == pytest.approx((1 + 0.95 * 1.5) * 3600)
    assert planned["wait95_s"] == pytest.approx((0.5 + 0.95 * 2.5) * 3600)
    assert [easy[name] for name in ("saved_eur", "saved_energy_cost_eur", "saved_kwh", "saved_carbon_kg")] == [0] * 4


def test_who_still_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """EASY starts the two short jobs and one of 23 h, and so does the plan: leaving two waiting would earn no more.

    Whoever waits has waited until midnight: under EASY the mean is that of 1 h, 2.5 h, 4.25 h and 24:10 h.
    """
    write_site(tmp_path, JOBS + LONG + LONG.replace("long", "longer").replace("45:00", "50:00"))
    monkeypatch.chdir(tmp_path)
    runs = compared(capsys)
    assert [(run["started"], run["deferred"]) for run in runs.values()] == [(3, 1), (3, 1)]
    assert runs["easy"]["mean_wait_s"] == pytest.approx((1 + 2.5 + 4.25 + 24 + 1 / 6) / 4 * 3600)
    assert [run["still_waiting"] for run in runs.values()] == [1, 1]


def test_real_runtimes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Both jobs end after one hour. Under EASY both are over in the dear hours: 1.1 kWh at 0.5, times 1.5, is 0.825.

    The plan keeps its starts: 0.1 kWh at 0.5 and 1 kWh at 0.1, times 1.5, is 0.225.
    """
    write_site(tmp_path)
    monkeypatch.chdir(tmp_path)
    runs = compared(capsys, "--set", "rules.execute=actual")
    assert runs["easy"]["energy_cost_eur"] == pytest.approx(0.825)
    assert runs["multisearch"]["saved_energy_cost_eur"] == pytest.approx(0.6)
    assert runs["easy"]["revenue_eur"] == pytest.approx(4.0)
    assert runs["easy"]["mean_wait_s"] == pytest.approx((1 + 1.5) / 2 * 3600)


def test_a_day_without_jobs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is nothing to replay: the plan stands alone, and nothing is saved against nobody."""
    write_site(tmp_path, JOBS.splitlines()[0])
    monkeypatch.chdir(tmp_path)
    (row,) = compared(capsys).values()
    assert (row["method"], row["saved_eur"], row["mean_wait_s"]) == ("multisearch", None, None)


def test_the_signs_of_savings() -> None:
    """More profit, and less cost, energy and CO2 than EASY, are positive."""
    work = {"revenue_eur": 15.0, "core_hours": 100.0}
    easy = {"profit_eur": 10.0, "energy_cost_eur": 5.0, "kwh": 40.0, "carbon_kg": 8.0} | work
    row = with_saving({"profit_eur": 12.0, "energy_cost_eur": 4.0, "kwh": 41.0, "carbon_kg": 5.0} | work, easy)
    assert (row["saved_eur"], row["saved_percent"]) == (2.0, 20.0)
    assert (row["saved_energy_cost_eur"], row["saved_kwh"], row["saved_carbon_kg"]) == (1.0, -1.0, 3.0)
    assert with_saving(easy | {"profit_eur": 0.0}, easy | {"profit_eur": 0.0})["saved_percent"] is None


def test_work_that_is_left_for_later_is_told_apart() -> None:
    """A tenth of the work runs after the days: 2 EUR less revenue, 1 EUR less cost. What remains is cheaper hours."""
    rest = {"energy_cost_eur": 10.0, "kwh": 40.0, "carbon_kg": 8.0}
    easy = {"profit_eur": 10.0, "revenue_eur": 20.0, "core_hours": 100.0} | rest
    row = with_saving({"profit_eur": 9.5, "revenue_eur": 18.0, "core_hours": 90.0} | rest, easy)
    assert (row["saved_eur"], row["saved_volume_eur"]) == (-0.5, -1.0)
