"""Claims about seasons: any day gets the weather of the season that a scenario chooses."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from planner.domain.horizon import Horizon
from planner.errors import ScenarioError
from planner.inputs.build import frame
from planner.inputs.weather.typical_year import SEASONS, day_in_season
from planner.places import shipped_folder
from planner.scenario.load import load_scenario

SHIPPED = shipped_folder() / "scenarios"


@pytest.mark.parametrize("season", SEASONS)
def test_every_day_has_one(season: str) -> None:
    """Every day of a leap year falls into the season, on the same day of the month but for the ends of long months."""
    for number in range(366):
        day = dt.date(2024, 1, 1) + dt.timedelta(days=number)
        taken = day_in_season(day, season)
        assert taken.month in SEASONS[season]
        is_last_of_month = (taken + dt.timedelta(days=1)).month != taken.month
        assert taken.day == day.day or (day.day > taken.day and is_last_of_month)


def test_own_season_is_itself() -> None:
    """A day of the season gets its own weather; 7 August becomes 7 February in winter, 31 May its last day."""
    assert day_in_season(dt.date(2012, 8, 7), "summer") == dt.date(2012, 8, 7)
    assert day_in_season(dt.date(2012, 8, 7), "winter") == dt.date(2012, 2, 7)
    assert day_in_season(dt.date(2023, 5, 31), "winter") == dt.date(2023, 2, 28)


@pytest.mark.parametrize("day", ["2024-01-31", "2024-02-29", "2024-06-01", "2024-12-31"])
def test_summer_is_warmer(day: str) -> None:
    """Whatever the day, the shipped summer is warmer than the shipped winter, and hybrid differs in cooling alone."""
    horizon = Horizon(dt.date.fromisoformat(day), "America/New_York")
    means = {}
    for name in ("air-summer", "air-winter", "hybrid-summer", "hybrid-winter"):
        problem, _ = frame(load_scenario(name, folders=[SHIPPED]), horizon)
        means[name] = sum(s.temperature_c * s.length_s for s in problem.segments) / horizon.length_s
    assert means["air-summer"] > means["air-winter"] + 5
    assert (means["hybrid-summer"], means["hybrid-winter"]) == (means["air-summer"], means["air-winter"])


def test_hourly_tariff_and_solar() -> None:
    """The hourly tariff has 24 prices with the flat price as their mean; the solar scenario has sun and carbon."""
    horizon = Horizon(dt.date(2024, 6, 1), "America/New_York")
    problem, _ = frame(load_scenario("hourly-tariff", folders=[SHIPPED]), horizon)
    paid = sum(s.price_eur_per_kwh * s.length_s for s in problem.segments) / horizon.length_s
    assert paid == pytest.approx(0.15)
    assert len({s.price_eur_per_kwh for s in problem.segments}) > 15
    problem, _ = frame(load_scenario("solar-carbon", folders=[SHIPPED]), horizon)
    assert max(s.solar_w for s in problem.segments) > 50_000
    assert {s.carbon_g_per_kwh for s in problem.segments} == {350.0}


def test_season_or_period(tmp_path: Path) -> None:
    """A season over a base's period replaces it, and the other way round; both in one file are an error."""
    period = "weather: {period: {planned: 2024-06-01, taken: 2024-01-15}}\n"
    (tmp_path / "period.yaml").write_text("base: sample\n" + period)
    (tmp_path / "season.yaml").write_text("base: period\nweather: {season: winter}\n")
    (tmp_path / "back.yaml").write_text("base: season\n" + period)
    (tmp_path / "both.yaml").write_text("base: sample\n" + period.replace("}}", "}, season: winter}"))
    folders = [tmp_path, SHIPPED]
    assert load_scenario("season", folders=folders).weather.period is None
    assert load_scenario("back", folders=folders).weather.season is None
    with pytest.raises(ScenarioError, match=r"both\.yaml:2: weather\.season: given together with weather\.period"):
        load_scenario("both", folders=folders)


def test_seasons_are_four_quarters_from_december_on() -> None:
    """As meteorologists have them: every month once, one after the other."""
    assert [month for months in SEASONS.values() for month in months] == [12, *range(1, 12)]
    assert list(SEASONS) == ["winter", "spring", "summer", "autumn"]
