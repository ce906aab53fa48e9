"""Claims about what is told while days are planned, and about days that earn next to nothing."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner.accounting.bound import Bound
from planner.cli.main import run
from planner.cli.run_days import HEAD, bound_text, done_text
from planner.cli.summary_text import _how_near
from planner.runs import run_days

QUICK = ("-m", "est", "--bound-time", "0", "--fresh")


def test_the_time_left_goes_by_the_days_that_were_planned() -> None:
    """The first of 4 days was kept and took no time; the second took 10 s, and so will the other two: 20 s."""
    kept = {"kept": [0.5]}
    assert done_text(4, kept) == "1 of 4 days done"
    assert done_text(4, kept | {"planned": [10.0]}) == "2 of 4 days done, about 20 s left"
    # 10 s and 20 s: 15 s on average
    assert done_text(4, kept | {"planned": [10.0, 20.0]}) == "3 of 4 days done, about 15 s left"
    assert done_text(4, kept | {"planned": [10.0, 20.0, 10.0]}) == "4 of 4 days done, and on until no job is left"


def test_rows_are_shown_as_days_finish(
    site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the third day begins, the rows of the first two stand there already."""
    plan_one, seen = run_days.do_day, []

    def watched(*given: Any, **named: Any) -> Any:
        seen.append(capsys.readouterr().out)
        scenario, params, *rest = given
        return plan_one(scenario, replace(params, on_step=seen.append), *rest, **named)

    monkeypatch.setattr(run_days, "do_day", watched)
    assert run(["run", "--from", "2024-06-01", "--to", "2024-06-03", *QUICK]) == 0
    rows = [each for each in seen if each.startswith(("day ", "2024"))]
    assert rows[0].startswith(f"{HEAD}\n2024-06-01 ")
    assert [row.split()[0] for row in rows[1:]] == ["2024-06-02"]
    steps = [each for each in seen if each and each not in rows]
    assert steps[: len(steps) // 3] == [
        "reading jobs, weather and prices",
        "making the search ready, which takes longest the first time",
        "searching",
        "proving what no plan can exceed",
        "writing the day",
    ]
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[:2]] == ["2024-06-03", "all"]


def test_a_nearly_idle_day_is_told_in_money() -> None:
    """A loss of 0.86 where 4.53 was possible is 118.96 % below it; the 5.39 between them say what that is."""
    assert _how_near(4.53, 5.39 / 4.53, "EUR") == "5.39 EUR below 4.53 EUR"
    assert _how_near(200.0, 0.25, "EUR") == "within 25 % of 200.00 EUR"
    assert _how_near(-3.0, None, "EUR") == "no schedule can earn more than -3.00 EUR"
    runs = ((Bound(4.53, 1, 0.0, 0, None), -0.86), (Bound(200.0, 1, 0.0, 0, None), 150.0))
    told = [bound_text(bound.profit_eur, bound.gap_fraction(profit)).rpartition("; ")[2] for bound, profit in runs]
    assert told == ["these are 5.39 below it.", "these are 25 % below it."]


def test_check_says_where_energy_comes_from(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of prices, fees, carbon and sun with their ranges over the day; what a site has not is not listed."""
    hours = [f"2024-06-01T{hour:02d}:00+02:00" for hour in range(24)]
    for name, column in (("prices", "price"), ("fees", "price"), ("carbon", "carbon"), ("sun", "power_kw")):
        rows = [f"{hour};{number},5" for number, hour in enumerate(hours)]
        Path(f"{name}.csv").write_text("\n".join([f"time;{column}", *rows]))
    files = [
        "tariff={kind: hourly, file: prices.csv, unit: ct/kWh}",
        "fees={file: fees.csv, unit: EUR/MWh}",
        "carbon={file: carbon.csv}",
        "solar={file: sun.csv, unit: kW}",
    ]
    given = [word for text in files for word in ("--set", text)]
    assert run(["check", "--day", "2024-06-01", "--fresh", *given]) == 0
    told = capsys.readouterr().out
    for what, low_high in (
        ("prices", "0.005 to 0.235 EUR/kWh"),
        ("fees", "0.0005 to 0.0235 EUR/kWh"),
        ("carbon", "0.5 to 23.5 g/kWh"),
        ("solar", "0.5 to 23.5 kW"),
    ):
        file = {"solar": "sun"}.get(what, what)
        assert re.search(rf"{what} from \S*{file}\.csv: {re.escape(low_high)}", told), (what, told)
    assert run(["check", "--day", "2024-06-01", "--fresh"]) == 0
    told = capsys.readouterr().out
    assert "prices from the scenario" in told
    assert "solar from" not in told
