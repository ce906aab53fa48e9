"""Prices of electricity: flat, in bands, and from hourly files."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import numpy as np
import pytest

from planner.domain.horizon import Horizon
from planner.errors import CoverageError, FileFormatError, InputError
from planner.inputs.prices import band_tariff, flat_tariff, hourly_tariff, unit_in
from planner.scenario.revenue_tariff_carbon import TariffBand

PARIS = "Europe/Paris"
PLAIN_DAY = Horizon(dt.date(2024, 6, 1), PARIS)
SPRING = Horizon(dt.date(2024, 3, 31), PARIS)
AUTUMN = Horizon(dt.date(2024, 10, 27), PARIS)


def band(start: str, end: str, eur_per_kwh: float) -> TariffBand:
    return TariffBand.model_validate({"from": start, "to": end, "eur_per_kwh": eur_per_kwh})


NIGHT = band("22:00", "06:00", 0.08)


def _prices(path: Path, rows: list[str], header: str = "time,price") -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


def _utc_rows(first: str, count: int) -> list[str]:
    start = dt.datetime.fromisoformat(first)
    return [f"{(start + dt.timedelta(hours=k)).isoformat()}Z,{k}" for k in range(count)]


@pytest.mark.parametrize(("horizon", "hours"), [(PLAIN_DAY, 24), (SPRING, 23), (AUTUMN, 25)])
def test_flat_price_covers_the_whole_day(horizon: Horizon, hours: int) -> None:
    """One price from midnight to midnight, however long the day; a price below zero is fine."""
    tariff = flat_tariff(-0.01, horizon)
    assert tariff.values.tolist() == [-0.01]
    assert np.diff(tariff.edges_unix).tolist() == [hours * 3600]


@pytest.mark.parametrize(
    ("horizon", "lengths_h"),
    [
        # night to 06:00, day to 22:00, night to midnight
        (PLAIN_DAY, [6, 16, 2]),
        # 02:00 to 03:00 does not exist, so the night is an hour shorter
        (SPRING, [5, 16, 2]),
        # 02:00 to 03:00 comes twice
        (AUTUMN, [7, 16, 2]),
    ],
)
def test_night_band_wraps_over_midnight(horizon: Horizon, lengths_h: list[int]) -> None:
    """A band from 22:00 to 06:00 holds at both ends of the day, by the local clock."""
    tariff = band_tariff([NIGHT], 0.15, horizon)
    assert tariff.values.tolist() == [0.08, 0.15, 0.08]
    assert (np.diff(tariff.edges_unix) / 3600).tolist() == lengths_h


def test_band_ending_inside_the_repeated_hour_returns_with_it() -> None:
    """A band from 00:00 to 02:30 on a day when 02:00 to 03:00 comes twice holds again from the second 02:00.

    Real hours: 0 to 2.5 in the band, 2.5 to 3 out, 3 to 3.5 (02:00 to 02:30 again) in, then out.
    """
    tariff = band_tariff([band("00:00", "02:30", 1.0)], 0.0, AUTUMN)
    assert tariff.values.tolist() == [1.0, 0.0, 1.0, 0.0]
    assert ((tariff.edges_unix - AUTUMN.start_unix) / 3600).tolist() == [0, 2.5, 3, 3.5, 25]


def test_bands_may_touch_and_fill_the_day() -> None:
    """Two bands that meet leave nothing for the default; 24:00 is the end of the day."""
    bands = [band("00:00", "12:00", 0.1), band("12:00", "24:00", 0.2)]
    tariff = band_tariff(bands, 9.0, PLAIN_DAY)
    assert tariff.values.tolist() == [0.1, 0.2]
    assert band_tariff([band("00:00", "24:00", 0.3)], 9.0, PLAIN_DAY).values.tolist() == [0.3]
    assert band_tariff([], 9.0, PLAIN_DAY).values.tolist() == [9.0]


@pytest.mark.parametrize(
    ("unit", "rate", "eur_per_kwh"),
    [
        ("EUR/MWh", None, 0.05),
        ("EUR/kWh", None, 50.0),
        ("ct/kWh", None, 0.5),
        # 50 USD/MWh at 0.9 EUR per USD: 45 EUR/MWh
        ("USD/MWh", 0.9, 0.045),
    ],
)
def test_units_become_eur_per_kwh(tmp_path: Path, unit: str, rate: float | None, eur_per_kwh: float) -> None:
    """The number 50 in each unit."""
    path = _prices(tmp_path / "p.csv", [f"2024-06-01T{k:02d}:00Z,50" for k in range(24)])
    tariff = hourly_tariff(path, Horizon(PLAIN_DAY.day, "UTC"), unit=unit, eur_per_usd=rate)
    assert tariff.values == pytest.approx(np.full(24, eur_per_kwh))


def test_units_that_cannot_be_used(tmp_path: Path) -> None:
    """USD without a rate, a rate that is none, and a header that says otherwise are errors."""
    path = _prices(tmp_path / "p.csv", _utc_rows("2024-05-31T22:00", 24), header="time,Price (USD/MWh)")
    with pytest.raises(InputError, match="need an exchange rate; give eur_per_usd"):
        hourly_tariff(path, PLAIN_DAY, unit="USD/MWh")
    with pytest.raises(InputError, match="eur_per_usd is 0"):
        hourly_tariff(path, PLAIN_DAY, unit="USD/MWh", eur_per_usd=0.0)
    with pytest.raises(InputError, match="is in USD/MWh, but the unit given is EUR/MWh"):
        hourly_tariff(path, PLAIN_DAY, unit="EUR/MWh")
    _prices(path, _utc_rows("2024-05-31T22:00", 24), header="time,price GBP/kWh")
    with pytest.raises(InputError, match=r"'price GBP/kWh' is in GBP/kWh; known are EUR/kWh.* USD/MWh: convert"):
        hourly_tariff(path, PLAIN_DAY, unit="EUR/MWh")
    with pytest.raises(InputError, match="is in EUR/kWh, but the unit given is EUR/MWh"):
        hourly_tariff(path, PLAIN_DAY, unit="EUR/MWh", currency="GBP")
    with pytest.raises(InputError, match="need an exchange rate; give eur_per_usd"):
        hourly_tariff(path, PLAIN_DAY, unit="USD/kWh", currency="GBP")
    _prices(path, _utc_rows("2024-05-31T22:00", 24), header="time,Price (EUR/MWh)")
    for currency in ("USD", "CHF"):
        with pytest.raises(InputError, match=f"is in EUR, but the scenario counts in {currency}; convert its numbers"):
            hourly_tariff(path, PLAIN_DAY, unit="EUR/MWh", currency=currency)
    for header, currency in (
        ("price GBP/kWh", "GBP"),
        ("price £/kWh", "GBP"),
        ("kr/kWh", "SEK"),
        ("price USD/kWh", "USD"),
    ):
        _prices(path, _utc_rows("2024-05-31T22:00", 24), header=f"time,{header}")
        column = header.removeprefix("time,")
        assert hourly_tariff(path, PLAIN_DAY, unit="EUR/kWh", column=column, currency=currency).values[0] == 0


@pytest.mark.parametrize("header", ["Price (USD/MWh)", "price"])
@pytest.mark.parametrize("unit", ["USD/MWh", "EUR/MWh"])
def test_a_site_that_counts_in_dollars_converts_no_dollars(tmp_path: Path, header: str, unit: str) -> None:
    """90.45 USD/MWh are 0.09045 USD/kWh, without a rate; EUR stands for the site's money there as anywhere."""
    path = _prices(tmp_path / "p.csv", [f"2024-06-01T{k:02d}:00Z,90.45" for k in range(24)], header=f"time,{header}")
    tariff = hourly_tariff(path, Horizon(PLAIN_DAY.day, "UTC"), unit=unit, currency="USD")
    assert tariff.values == pytest.approx(np.full(24, 0.09045))


@pytest.mark.parametrize(
    ("name", "unit"),
    [
        ("price_eur_per_kwh", "EUR/kWh"),
        ("price_eur_mwh", "EUR/MWh"),
        ("price €/MWh", "EUR/MWh"),
        ("Price [ct per kWh]", "ct/kWh"),
        ("price_USD/MWh", "USD/MWh"),
        ("price EUR-MWh", "EUR/MWh"),
        ("price cents/kWh", "ct/kWh"),
        ("price_euros_per_mwh", "EUR/MWh"),
        ("price ct. per kWh", "ct/kWh"),
        ("Eurocent/kWh", "ct/kWh"),
        ("€ct/kWh", "ct/kWh"),
        ("US$/MWh", "USD/MWh"),
        ("PriceEurPerMWh", "EUR/MWh"),
        ("EUR/MWhel", "EUR/MWh"),
        ("price eur-per-mwh", "EUR/MWh"),
        ("price GBP/kWh", "GBP/kWh"),
        ("price_gbp_per_mwh", "GBP/MWh"),
        ("Price (£/MWh)", "£/MWh"),
        ("Spot [SEK/MWh]", "SEK/MWh"),
        ("price XAF / MWh", "XAF/MWh"),
        ("öre/kWh", "ÖRE/kWh"),
        ("EUR/Wh", "EUR/Wh"),
        ("€ per GWh", "EUR/GWh"),
        ("ct/MWh", "ct/MWh"),
        ("fee/kWh", None),
        ("risk per kWh", None),
        ("price eur, whole day", None),
        ("price_contract_kwh", None),
        ("product_kwh", None),
        ("percent kwh", None),
        ("price", None),
        ("price of kwh", None),
        ("price in euro", None),
    ],
)
def test_the_name_of_a_column_may_say_its_unit(name: str, unit: str | None) -> None:
    """However it is written, and only where it does."""
    assert unit_in(name) == unit


@pytest.mark.parametrize(
    ("horizon", "first"),
    [(PLAIN_DAY, "2024-05-31T22:00"), (SPRING, "2024-03-30T23:00"), (AUTUMN, "2024-10-26T22:00")],
)
def test_utc_rows_cover_days_of_any_length(tmp_path: Path, horizon: Horizon, first: str) -> None:
    """Each UTC hour of the local day has its own price: 24, 23 or 25 of them."""
    hours = horizon.length_s // 3600
    path = _prices(tmp_path / "p.csv", _utc_rows(first, hours))
    assert hourly_tariff(path, horizon, unit="EUR/kWh").values.tolist() == list(range(hours))


@pytest.mark.parametrize("with_second_row", [True, False])
@pytest.mark.parametrize("with_spring_row", [True, False])
def test_naive_local_rows_around_clock_changes(tmp_path: Path, with_spring_row: bool, with_second_row: bool) -> None:
    """A row at 02:00 in spring may be there or not; the second 02:00 in autumn may be there or not."""
    spring = [f"2024-03-31 {k:02d}:00,{k}" for k in range(24) if k != 2 or with_spring_row]
    path = _prices(tmp_path / "p.csv", spring)
    assert hourly_tariff(path, SPRING, unit="EUR/kWh", zone=PARIS).values.tolist() == [0, 1, *range(3, 24)]
    autumn = [f"2024-10-27 {k:02d}:00,{k}" for k in range(24)]
    if with_second_row:
        autumn.insert(3, "2024-10-27 02:00,2.5")
    _prices(path, autumn)
    second = 2.5 if with_second_row else 2
    values = hourly_tariff(path, AUTUMN, unit="EUR/kWh", zone=PARIS).values.tolist()
    assert values == [0, 1, 2, second, *range(3, 24)]


@pytest.mark.parametrize("hours", [2, 3, 4, 6, 8, 12])
def test_naive_local_rows_of_several_hours_around_clock_changes(tmp_path: Path, hours: int) -> None:
    """By the clock each price holds as long as on any day, an hour less or more where clocks change; none may lack."""
    for horizon in (SPRING, AUTUMN):
        days = [horizon.day + dt.timedelta(days=k) for k in (-1, 0, 1, 2, 3, 4)]
        rows = [f"{day} {hour:02d}:00,{hour}" for day in days for hour in range(0, 24, hours)]
        series = hourly_tariff(_prices(tmp_path / "p.csv", rows), horizon, unit="EUR/kWh", zone=PARIS)
        for offset_s in range(0, horizon.length_s, 3600):
            clock = horizon.to_datetime(offset_s).hour
            now = np.searchsorted(series.edges_unix, horizon.start_unix + offset_s, side="right") - 1
            assert series.values[now] == clock - clock % hours
        rows.remove(f"{horizon.day} {24 - hours:02d}:00,{24 - hours}")
        with pytest.raises(CoverageError, match="has no value"):
            hourly_tariff(_prices(tmp_path / "p.csv", rows), horizon, unit="EUR/kWh", zone=PARIS)


def test_hours_and_longer_steps_in_one_file_around_a_clock_change(tmp_path: Path) -> None:
    """Hours until the change, then three at a time, as in forecasts: the row at 2:00, which is not there, goes."""
    hourly = [f"2024-03-{day} {hour:02d}:00,{hour}" for day in (30, 31) for hour in range(24)]
    longer = [f"2024-04-{day:02d} {hour:02d}:00,{hour}" for day in range(1, 12) for hour in range(0, 24, 3)]
    path = _prices(tmp_path / "p.csv", [*hourly, *longer])
    assert hourly_tariff(path, SPRING, unit="EUR/kWh", zone=PARIS).values.tolist() == [0, 1, *range(3, 24)]


@pytest.mark.parametrize(("more", "is_end"), [([], True), ([""] * 24, True), ([""] * 6 + ["1"] * 18, False)])
def test_the_end_of_a_file_is_where_no_value_follows(tmp_path: Path, more: list[str], is_end: bool) -> None:
    """Whether it stops, or goes on with empty cells."""
    rows = _utc_rows("2024-05-31T22:00", 24)
    begin = dt.datetime.fromisoformat("2024-06-01T22:00")
    rows += [f"{begin + dt.timedelta(hours=k):%Y-%m-%dT%H:%MZ},{value}" for k, value in enumerate(more)]
    with pytest.raises(CoverageError) as error:
        hourly_tariff(_prices(tmp_path / "p.csv", rows), PLAIN_DAY.next_day(), unit="EUR/kWh")
    assert error.value.is_end == is_end


def test_any_other_missing_hour_is_an_error(tmp_path: Path) -> None:
    """A price is never invented: one absent row stops the day, with its hour."""
    rows = _utc_rows("2024-05-31T22:00", 24)
    path = _prices(tmp_path / "p.csv", rows[:10] + rows[11:])
    with pytest.raises(CoverageError, match=r"price of p\.csv has no value from 2024-06-01 08:00 UTC to 2024-06"):
        hourly_tariff(path, PLAIN_DAY, unit="EUR/kWh")


def test_day_outside_the_file_and_naive_times(tmp_path: Path) -> None:
    """The error names covered and wanted; times without a zone ask for one."""
    path = _prices(tmp_path / "p.csv", _utc_rows("2024-05-31T22:00", 24))
    with pytest.raises(CoverageError, match="covers 2024-05-31 22:00 UTC to 2024-06-01 22:00 UTC, but the day needs"):
        hourly_tariff(path, PLAIN_DAY.next_day(), unit="EUR/kWh")
    _prices(path, ["2024-06-01 00:00,1"])
    with pytest.raises(FileFormatError, match=r"p\.csv:2: .*has no zone"):
        hourly_tariff(path, PLAIN_DAY, unit="EUR/kWh")


def test_column_is_found_or_asked_for(tmp_path: Path) -> None:
    """A column that starts with "price" is found among others; a wrong name lists the columns."""
    rows = [f"2024-06-01T{k:02d}:00Z, {k}, 7, 8" for k in range(24)]
    path = _prices(tmp_path / "p.csv", rows, header="Date, Prices, Load, Wind")
    horizon = Horizon(PLAIN_DAY.day, "UTC")
    assert hourly_tariff(path, horizon, unit="EUR/kWh").values[-1] == 23
    assert hourly_tariff(path, horizon, unit="EUR/kWh", column="Load").values[-1] == 7
    with pytest.raises(FileFormatError, match=r"has no column 'Prizes'; .*did you mean 'Prices'"):
        hourly_tariff(path, horizon, unit="EUR/kWh", column="Prizes")
    _prices(path, rows, header="Date, Spot, Load, Wind")
    with pytest.raises(FileFormatError, match="cannot tell which column holds the price among Date, Spot"):
        hourly_tariff(path, horizon, unit="EUR/kWh")


def test_order_of_the_rows_is_irrelevant(tmp_path: Path) -> None:
    """The same rows backwards give the same prices."""
    rows = _utc_rows("2024-05-31T22:00", 24)
    forward = hourly_tariff(_prices(tmp_path / "a.csv", rows), PLAIN_DAY, unit="EUR/kWh")
    backward = hourly_tariff(_prices(tmp_path / "b.csv", rows[::-1]), PLAIN_DAY, unit="EUR/kWh")
    assert forward.values.tolist() == backward.values.tolist()


def test_file_without_rows_or_times(tmp_path: Path) -> None:
    """An empty file, a header alone and a table without times are errors that name the file."""
    path = tmp_path / "p.csv"
    for text, problem in (
        ("", "has no rows"),
        ("time,price\n", "has no rows"),
        ("when,price\n1,2\n", "has no time column among when, price"),
    ):
        path.write_text(text)
        with pytest.raises(FileFormatError, match=rf"p\.csv.*{problem}"):
            hourly_tariff(path, PLAIN_DAY, unit="EUR/kWh")


def test_french_prices(planner_data: Path) -> None:
    """FR.csv has 24 naive rows every day: 24, 23 and 25 hours come out, the first of all at 32.542 EUR/MWh."""
    path = planner_data / "prices" / "FR.csv.gz"
    first = hourly_tariff(path, Horizon(dt.date(2011, 1, 9), PARIS), unit="EUR/MWh", zone=PARIS)
    assert first.values[:2] == pytest.approx([0.032542, 0.021549])
    spring = hourly_tariff(path, Horizon(dt.date(2012, 3, 25), PARIS), unit="EUR/MWh", zone=PARIS)
    autumn = hourly_tariff(path, Horizon(dt.date(2012, 10, 28), PARIS), unit="EUR/MWh", zone=PARIS)
    assert (len(spring.values), len(autumn.values)) == (23, 25)
    assert autumn.values[2] == autumn.values[3]


def test_german_prices(planner_data: Path) -> None:
    """DE-LU is in UTC and USD/MWh; Jan 1 in Berlin starts an hour before its first row."""
    path = planner_data / "prices" / "DE-LU_electricity_prices_2021.csv.gz"
    day = Horizon(dt.date(2021, 1, 1), "UTC")
    tariff = hourly_tariff(path, day, unit="USD/MWh", eur_per_usd=0.5)
    # the first row is 53.3755092 USD/MWh
    assert tariff.values[0] == pytest.approx(0.0533755092 / 2)
    autumn = Horizon(dt.date(2021, 10, 31), "Europe/Berlin")
    assert len(hourly_tariff(path, autumn, unit="USD/MWh", eur_per_usd=1).values) == 25
    with pytest.raises(CoverageError):
        hourly_tariff(path, Horizon(dt.date(2021, 1, 1), "Europe/Berlin"), unit="USD/MWh", eur_per_usd=1)


def test_a_row_longer_than_the_header_is_refused(tmp_path: Path) -> None:
    """It is no index: line and counts are named. One that only ends in commas is fine."""
    rows = _utc_rows("2024-05-31T00:00", 72)
    assert len(
        hourly_tariff(_prices(tmp_path / "p.csv", [f"{row},," for row in rows]), PLAIN_DAY, unit="EUR/MWh").values
    )
    path = _prices(tmp_path / "p.csv", [f"{row},1,2" for row in rows])
    with pytest.raises(FileFormatError, match=r"p\.csv:2: expected 2 fields, found 4"):
        hourly_tariff(path, PLAIN_DAY, unit="EUR/MWh")


@pytest.mark.parametrize("price", ["1e300", "inf", "1e400", "0x10", "1_000", "٣", "9" * 100_000 + "x"])
def test_a_price_that_is_no_sensible_number_is_refused(tmp_path: Path, price: str) -> None:
    """With its line, and at once."""
    rows = _utc_rows("2024-05-31T00:00", 72)
    rows[3] = rows[3].rpartition(",")[0] + f",{price}"
    with pytest.raises(FileFormatError, match=r"p\.csv:5: price is '.*not a number"):
        hourly_tariff(_prices(tmp_path / "p.csv", rows), PLAIN_DAY, unit="EUR/MWh")


@pytest.mark.parametrize("time", ["10000-01-01T00:00Z", "0001-01-01T00:00Z", "2700-01-01T00:00Z", ":00" * 30_000 + "Z"])
def test_a_time_beyond_the_calendar_is_refused(tmp_path: Path, time: str) -> None:
    """Years that no zone can write, and texts that are no time at all."""
    rows = [*_utc_rows("2024-05-31T00:00", 72), f"{time},5"]
    with pytest.raises(FileFormatError, match=r"p\.csv:74: "):
        hourly_tariff(_prices(tmp_path / "p.csv", rows), PLAIN_DAY, unit="EUR/MWh")


def test_bands_on_days_that_begin_within_a_quarter() -> None:
    """Liberia's clocks were 44 min 30 s behind until they were set to UTC on 7 January 1972."""
    tariff = band_tariff([NIGHT], 0.15, Horizon(dt.date(1972, 1, 7), "Africa/Monrovia"))
    assert set(tariff.values.tolist()) <= {0.08, 0.15}


def test_a_price_holds_for_a_day_at_most(tmp_path: Path) -> None:
    """Rows a day apart are prices of days; rows a month apart leave holes, and none is invented."""
    path = tmp_path / "prices.csv"
    path.write_text("time,price\n2024-05-31T00:00Z,10\n2024-06-01T00:00Z,20\n2024-06-02T00:00Z,30\n")
    day = Horizon(dt.date(2024, 6, 1), "UTC")
    assert hourly_tariff(path, day, unit="EUR/kWh").values.tolist() == [20.0]
    path.write_text("time,price\n" + "".join(f"2024-10-{day}T00:00,{day}\n" for day in range(24, 31)))
    for number, hours in ((25, 24), (27, 25)):
        day = Horizon(dt.date(2024, 10, number), PARIS)
        assert day.length_s == hours * 3600
        assert set(hourly_tariff(path, day, unit="EUR/kWh", zone=PARIS).values.tolist()) == {float(number)}
    day = Horizon(dt.date(2024, 6, 1), "UTC")
    path.write_text("time,price\n2024-05-15T00:00Z,10\n2024-06-15T00:00Z,20\n")
    with pytest.raises(CoverageError, match="has no value from"):
        hourly_tariff(path, day, unit="EUR/kWh")


def _german_rows(first: str, turn: str, last: str) -> list[str]:
    """Hours up to a turn, then quarters of an hour, as the German market has had them since October 2025."""
    moment, turned, end = (dt.datetime.fromisoformat(each) for each in (first, turn, last))
    rows = []
    while moment < end:
        rows.append(f"{moment:%Y-%m-%dT%H:%M}Z,{moment.hour + moment.minute / 60}")
        moment += dt.timedelta(hours=1) if moment < turned else dt.timedelta(minutes=15)
    return rows


@pytest.mark.parametrize("last", ["2025-10-02T00:00", "2025-10-20T00:00"])
def test_a_file_may_turn_from_hours_to_quarters(tmp_path: Path, last: str) -> None:
    """Both parts are read as they are, whichever has more rows, and so is the day of the turn."""
    path = _prices(tmp_path / "p.csv", _german_rows("2025-09-25T00:00", "2025-09-30T22:00", last))
    for day, rows in ((28, 24), (30, 22 + 8), (31, 96)):
        horizon = Horizon(dt.date(2025, 9, 1) + dt.timedelta(days=day - 1), "UTC")
        values = hourly_tariff(path, horizon, unit="EUR/kWh").values
        assert len(values) == rows
        assert values.tolist() == sorted(values.tolist())


@pytest.mark.parametrize("last", ["2025-10-02T00:00", "2025-10-20T00:00"])
@pytest.mark.parametrize(
    ("lost", "hole"),
    [
        (["2025-10-01T10:15"], "2025-10-01 10:15 UTC to 2025-10-01 10:30"),
        (["2025-10-01T10:15", "2025-10-01T10:30", "2025-10-01T10:45"], "2025-10-01 10:15 UTC to 2025-10-01 11:00"),
        (["2025-09-30T22:15"], "2025-09-30 22:15 UTC to 2025-09-30 22:30"),
        (["2025-09-30T22:00"], "2025-09-30 22:00 UTC to 2025-09-30 22:15"),
        (["2025-09-28T10:00"], "2025-09-28 10:00 UTC to 2025-09-28 11:00"),
        (["2025-09-30T21:00"], "2025-09-30 21:00 UTC to 2025-09-30 22:00"),
    ],
)
def test_no_price_is_invented_in_a_file_that_turns(tmp_path: Path, lost: list[str], hole: str, last: str) -> None:
    """A row that lacks in either part is named, whichever has more rows, next to the turn as well."""
    rows = _german_rows("2025-09-25T00:00", "2025-09-30T22:00", last)
    rows = [row for row in rows if row.partition("Z")[0] not in lost]
    horizon = Horizon(dt.date.fromisoformat(lost[0][:10]), "UTC")
    with pytest.raises(CoverageError, match=f"has no value from {hole}"):
        hourly_tariff(_prices(tmp_path / "p.csv", rows), horizon, unit="EUR/kWh")


def test_a_row_too_many_is_no_turn(tmp_path: Path) -> None:
    """A price at half past among those of hours holds until the next; the hours around it have no holes."""
    rows = _utc_rows("2024-06-01T00:00", 24)
    for hour in (0, 5, 22):
        more = [*rows, f"2024-06-01T{hour:02d}:30Z,99"]
        values = hourly_tariff(_prices(tmp_path / "p.csv", more), Horizon(PLAIN_DAY.day, "UTC"), unit="EUR/kWh").values
        assert values.tolist() == [*range(hour + 1), 99, *range(hour + 1, 24)]
