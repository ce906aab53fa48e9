"""Claims about tables with semicolons between their cells, as spreadsheets of many countries write them."""

from __future__ import annotations

import datetime as dt
import re
from pathlib import Path

import pytest

from planner.domain.horizon import Horizon
from planner.errors import FileFormatError
from planner.inputs.prices import hourly_tariff
from planner.inputs.timed_csv import read_timed_csv
from planner.inputs.weather.weather_csv import read_weather_csv
from tests.job_tables import read, table

DAY = Horizon(dt.date(2024, 6, 1), "UTC")
HEAD = "job_id;submit_time;requested_h;cores;name;dependency"
FIRST = "a;1970-01-01T00:00Z;0,5;2;1,5;"
SECOND = "b;1970-01-01T00:00Z;0,25;4;x;afterok:a,after:a"


def test_jobs_with_semicolons_and_decimal_commas(tmp_path: Path) -> None:
    """0,5 h are 1800 s and 0,25 h are 900 s; a comma within text stays one."""
    jobs, _ = read(table(tmp_path, HEAD, FIRST, SECOND))
    assert [(job.id, job.requested_s, job.total("cores")) for job in jobs] == [("a", 1800, 2), ("b", 900, 4)]
    assert jobs[0].name == "1,5"
    assert len(jobs[1].after) == 2


def test_a_decimal_comma_needs_semicolons(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="requested_h is '0,5', expected a number"):
        read(table(tmp_path, "job_id,submit_time,requested_h,cores", 'a,1970-01-01T00:00Z,"0,5",2'))


@pytest.mark.parametrize("number", ["1.234,5", "1,234,5", ",", "1,"])
def test_signs_between_thousands_are_refused(tmp_path: Path, number: str) -> None:
    """What may be read in two ways, or in none, is no number."""
    with pytest.raises(FileFormatError, match="expected a number"):
        read(table(tmp_path, HEAD, FIRST.replace("0,5", number)))


def test_a_column_has_one_decimal_sign(tmp_path: Path) -> None:
    """1.000 is one, or a thousand: beside 0,5 nobody can tell. Columns may differ, as FIRST and SECOND do in text."""
    wanted = "csv:3: column requested_h is '1.000', expected the decimal sign of the rows before it, ','"
    with pytest.raises(FileFormatError, match=re.escape(wanted)):
        read(table(tmp_path, HEAD, FIRST, SECOND.replace("0,25", "1.000")))
    rows = [f"2024-06-01T{hour:02d}:00Z;{'1.077' if hour == 7 else '78,70'}" for hour in range(24)]
    (tmp_path / "prices.csv").write_text("\n".join(["time;price", *rows]))
    with pytest.raises(FileFormatError, match=r"prices\.csv:9: price is '1\.077', where a row before it has the other"):
        hourly_tariff(tmp_path / "prices.csv", DAY, unit="EUR/MWh")


def test_a_row_with_too_few_cells_names_the_sign(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match=r"expected 6 fields, found 5; .* quote text with semicolons"):
        read(table(tmp_path, HEAD, "a;1970-01-01T00:00Z;1;2;x"))


def test_prices_and_weather_with_semicolons(tmp_path: Path) -> None:
    """The same day as with commas and points, also where the name of a column holds a comma."""
    rows = [f"2024-06-01T{hour:02d}:00Z;{hour // 10},{hour % 10}5" for hour in range(24)]
    prices, weather = tmp_path / "prices.csv", tmp_path / "weather.csv"
    prices.write_text("\n".join(['time;"price, net"', *rows]))
    weather.write_text("\n".join(["", "time;temperature_c", *rows]))
    plain = tmp_path / "plain.csv"
    plain.write_text("\n".join(["time,price", *(row.replace(",", ".").replace(";", ",") for row in rows)]))
    wanted = hourly_tariff(plain, DAY, unit="EUR/MWh").values.tolist()
    assert wanted[23] == pytest.approx(2.35 / 1000)
    assert hourly_tariff(prices, DAY, unit="EUR/MWh").values.tolist() == wanted
    samples = read_weather_csv(weather, "weather.csv", None).samples["temperature_c"]
    assert samples.values.tolist()[:3] == [0.05, 0.15, 0.25]


def test_commas_stay_the_usual_separator(tmp_path: Path) -> None:
    """A semicolon within a comma-separated header is part of a name."""
    path = tmp_path / "prices.csv"
    path.write_text("time,price; net,other\n2024-06-01T00:00Z,1,2\n")
    assert read_timed_csv(path).names == ("time", "price; net", "other")
