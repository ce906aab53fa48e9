"""Days that are cooled between the cells of a table, by wet bulbs, and with photovoltaics from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import DAY, plan, rows_of, write_small_site
from tests.one_job import write_one_job_site
from tests.weather_files import hours

QUICK = ("--day", DAY, "-m", "multisearch", "-q")
WEATHER = ("--set", "weather={source: w.csv, zone: Europe/Paris}")
CHOICES = {
    "linear": ["cooling.lookup=linear"],
    "wet-bulb": ["cooling.temperature=wet-bulb"],
    "both": ["cooling.lookup=linear", "cooling.temperature=wet-bulb"],
    "sun from a file": ["solar={file: pv.csv, unit: kW, zone: Europe/Paris}"],
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small site with an afternoon that is 0.5 C warmer by the hour, at half humidity, and its own sun."""
    write_small_site(tmp_path)
    monkeypatch.chdir(tmp_path)
    times = hours(f"{DAY}T00:00", 24)
    rows = [f"{time},{20 + 0.5 * k},50\n" for k, time in enumerate(times)]
    (tmp_path / "w.csv").write_text("time,temperature_c,humidity_percent\n" + "".join(rows))
    (tmp_path / "pv.csv").write_text("time,power\n" + "".join(f"{time},{0.02 * k}\n" for k, time in enumerate(times)))
    return tmp_path


@pytest.mark.parametrize("choice", CHOICES)
def test_a_written_day_is_audited_and_settled_again(
    site: Path, choice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Read back from its files, the day comes to the same money to the last digit; its segments are as they should."""
    settings = [part for each in CHOICES[choice] for part in ("--set", each)]
    plan(*QUICK, *WEATHER, *settings)
    folder = site / "reports/site" / DAY
    assert run(["audit", str(folder)]) == 0
    assert "clean" in capsys.readouterr().out
    segments = rows_of(folder / "segments.csv")
    temperatures = [float(row["temperature_c"]) for row in segments]
    outside = json.loads((folder / "run.json").read_text())["outside"]
    assert outside["start_s"] == [3600 * k for k in range(24)]
    if "wet-bulb" in choice or choice == "both":
        assert (outside["temperature_c"][0], outside["temperature_c"][-1]) == pytest.approx((13.78, 23.2), abs=0.1)
    else:
        assert outside["temperature_c"] == [20 + 0.5 * k for k in range(24)]
    if choice == "linear":
        assert temperatures == [20 + 0.5 * k for k in range(24)]
    elif choice == "wet-bulb":
        # 20 C and 50 % have a wet bulb of 13.8 C, 31.5 C and 50 % one of 23.2 C: steps of 15, 20 and 25 C
        assert temperatures == [15.0, 20.0, 25.0]
    elif choice == "both":
        assert len(temperatures) == 24
        assert (temperatures[0], temperatures[-1]) == pytest.approx((13.78, 23.2), abs=0.1)
    else:
        assert [float(row["solar_w"]) for row in segments] == pytest.approx([20.0 * k for k in range(24)])


def test_a_table_that_was_read_another_way_is_noticed(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What run.json says about the lookup is part of the day: said otherwise, the money does not follow."""
    plan(*QUICK, *WEATHER, "--set", "cooling.lookup=linear")
    folder = site / "reports/site" / DAY
    run_file = folder / "run.json"
    run_file.write_text(run_file.read_text().replace('"lookup": "linear"', '"lookup": "step"'))
    assert run(["audit", str(folder)]) == 5
    assert "cooling_kwh is" in capsys.readouterr().err


def test_check_says_temperatures_between_steps(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`plan check` shows the segments' own temperatures, and those of steps as whole numbers."""
    assert run(["check", "--day", DAY, *WEATHER, "--set", "cooling.lookup=linear"]) == 0
    assert "24, 20 to 31.5 C," in capsys.readouterr().out
    assert run(["check", "--day", DAY, *WEATHER]) == 0
    assert ", 20 to 30 C," in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "cost_eur"),
    [
        # 1 kW of IT at 20 C, 0.35 of it for cooling, at 0.20 EUR/kWh
        ([], 24 * 1.35 * 0.2),
        # less 0.5 kW of the site's own sun
        (["solar={file: pv.csv, unit: W}"], 24 * (1.35 - 0.5) * 0.2),
        # 40 C and 14 % have a wet bulb of 20.01 C, which is the column of 20 C
        (["weather={source: dry.csv}", "cooling.temperature=wet-bulb"], 24 * 1.35 * 0.2),
        # or 0.01 C beyond it: a ten-thousandth more
        (["weather={source: dry.csv}", "cooling.temperature=wet-bulb", "cooling.lookup=linear"], 24 * 1.3501 * 0.2),
        # the nearest column to 40 C is 40 C
        (["weather={source: dry.csv}"], 24 * 1.55 * 0.2),
    ],
)
def test_days_worked_out_by_hand(
    tmp_path: Path, settings: list[str], cost_eur: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One job of 1 kW all day, cooled by 0.15 and a hundredth of the temperature."""
    site = write_one_job_site(tmp_path)
    monkeypatch.chdir(site)
    times = hours(f"{DAY}T00:00", 24)
    (site / "pv.csv").write_text("time,power_w\n" + "".join(f"{time}Z,500\n" for time in times))
    (site / "dry.csv").write_text("time,temperature_c,humidity_percent\n" + "".join(f"{t}Z,40,14\n" for t in times))
    if any(each.startswith("weather") for each in settings):
        settings = ["weather.members=null", *settings]
    plan(*QUICK, *(part for each in settings for part in ("--set", each)))
    (job,) = rows_of(site / "reports/site" / DAY / "schedule.csv")
    cost = float(job["it_cost_eur"]) + float(job["cooling_cost_eur"])
    assert cost == pytest.approx(cost_eur, abs=2e-6)
