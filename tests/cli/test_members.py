"""Claims about ``plan compare --members``: one plan, made on the mean of a forecast, settled under each member."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.main import run
from tests.days import rows_of, write_small_site
from tests.one_job import write_one_job_site
from tests.weather_files import hours

DAY = "2024-06-01"
QUICK = ("--day", DAY, "-m", "multisearch", "--processes", "1", "-q")


def test_a_day_worked_out_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job of 1 kW all day at 10 or 30 C, planned for 20 C, and at 0.10 or 0.30 EUR/kWh, planned for 0.20."""
    monkeypatch.chdir(write_one_job_site(tmp_path))
    assert run(["compare", "site", *QUICK, "--members"]) == 0
    told = capsys.readouterr().out
    (folder,) = (tmp_path / "reports/compare").glob("*/*")
    rows = rows_of(folder / "members.csv")
    # At 1 kW cooling is 0.1 + 0.05 + T / 100: 0.35 at 20 C, 0.25 at 10 C, 0.45 at 30 C. 24 kWh of IT.
    costs = {
        ("mean", "mean"): 24 * 1.35 * 0.2,
        ("weather", "t_cold"): 24 * 1.25 * 0.2,
        ("weather", "t_warm"): 24 * 1.45 * 0.2,
        ("price", "low"): 24 * 1.35 * 0.1,
        ("price", "high"): 24 * 1.35 * 0.3,
    }
    assert [(row["forecast"], row["member"]) for row in rows] == list(costs)
    assert [float(row["energy_cost_eur"]) for row in rows] == pytest.approx(list(costs.values()))
    # 24 h of 8 cores at 0.05 EUR earn 9.60 EUR, whatever the forecast.
    assert [float(row["profit_eur"]) for row in rows] == pytest.approx([9.6 - cost for cost in costs.values()])
    more = [float(row["profit_difference_eur"]) for row in rows]
    assert more == pytest.approx([0.0, 0.48, -0.48, 3.24, -3.24])
    about = json.loads((folder / "compare.json").read_text())
    assert [row["profit_eur"] for row in about["members"]] == [float(row["profit_eur"]) for row in rows]
    page = (folder / "compare.html").read_text()
    assert "By member of the forecast" in page
    assert "t_warm" in page
    assert "weather t_warm                    2.64         -0.48          6.96            11" in told
    assert "price low                         6.36         +3.24          3.24             8" in told


def test_json_and_no_members_unless_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``--json`` has the same rows; without the option there is neither a file nor a word of them."""
    monkeypatch.chdir(write_one_job_site(tmp_path))
    assert run(["compare", "site", *QUICK, "--members", "--json"]) == 0
    assert [row["member"] for row in json.loads(capsys.readouterr().out)["members"]] == [
        *("mean", "t_cold", "t_warm", "low", "high")
    ]
    assert run(["compare", "site", *QUICK]) == 0
    assert "member" not in capsys.readouterr().out
    (folder,) = (tmp_path / "reports/compare").glob("*/*")
    assert not (folder / "members.csv").exists()
    assert "member" not in (folder / "compare.json").read_text()


def test_a_column_in_a_later_layer_replaces_the_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file of the site has members; `--set` with one column is the end of them."""
    monkeypatch.chdir(write_one_job_site(tmp_path))
    assert run(["check", "--day", DAY, "--set", "tariff.column=high"]) == 0
    assert "0.3000 to 0.3000 EUR/kWh" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["weather={source: constant, temperature_c: 12}", "tariff={kind: flat, eur_per_kwh: 0.2}"], "has no members"),
        (["weather.members=[t_hot]"], "weather.csv: has no column 't_hot' for a member"),
        (["tariff.members=['x*']"], "prices.csv: has no column 'x*' for a member"),
        (
            ["tariff={kind: hourly, file: prices.csv, unit: EUR/MWh, column: low, members: [high]}"],
            "tariff.members: given together with tariff.column; keep one of them",
        ),
        (["weather.members=t_cold"], "expected a list of columns"),
    ],
)
def test_members_that_cannot_be(
    tmp_path: Path,
    settings: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line, exit code 2, and nothing planned."""
    monkeypatch.chdir(write_one_job_site(tmp_path))
    arguments = [part for each in settings for part in ("--set", each)]
    assert run(["compare", "site", *QUICK, "--members", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert message in told


def test_a_member_beyond_the_table_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The mean of 10 and 60 C is in the table; the second member is not."""
    site = write_one_job_site(tmp_path)
    monkeypatch.chdir(site)
    (site / "weather.csv").write_text((site / "weather.csv").read_text().replace(",30", ",60"))
    assert run(["compare", "site", *QUICK, "--members"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert (
        "weather member t_warm: table small covers 0 to 3000 W and -20 to 45 C, but the day needs 1000 W at 60 C"
        in told
    )


BAD = {
    "wet-bulb without humidity": (["cooling.temperature=wet-bulb"], "wet-bulb needs relative humidity"),
    "unknown lookup": (["cooling.lookup=cubic"], "cooling.lookup: expected one of step, linear, found 'cubic'"),
    "unknown temperature": (["cooling.temperature=wetbulb"], "did you mean wet-bulb?"),
    "latitude out of range": (
        ["weather={source: w.csv, latitude_deg: 91, longitude_deg: 8}"],
        "weather.latitude_deg: expected a number from -90 to 90 degrees, found 91",
    ),
    "half a place": (
        ["weather={source: w.csv, latitude_deg: 50}"],
        "weather.longitude_deg: missing; latitude_deg needs it",
    ),
    "unknown unit of power": (
        ["solar={file: w.csv, unit: hp}"],
        "solar.unit: expected one of W, kW, MW, found 'hp'",
    ),
    "power without a unit": (["solar={file: w.csv}"], "solar.unit: missing"),
    "modules beside a file": (
        ["solar={file: w.csv, unit: kW, peak_kw: 10}"],
        "solar.peak_kw: not used with file",
    ),
    "linear between odd rows": (
        ["cooling.table=odd.csv", "cooling.lookup=linear"],
        "cannot be cut into 10 whole parts",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_words_about_weather_and_cooling(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that says where and what, exit code 2, and no day written."""
    site = write_small_site(tmp_path)
    monkeypatch.chdir(site)
    (site / "w.csv").write_text("time,temperature_c\n" + "".join(f"{time}Z,20\n" for time in hours(f"{DAY}T00:00", 24)))
    (site / "odd.csv").write_text("it_power_w,0,50\n0,0.1,0.2\n3001,0.2,0.3\n")
    settings, message = BAD[case]
    arguments = [part for each in settings for part in ("--set", each)]
    assert run(["--day", DAY, "-m", "est", "-q", *arguments]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert message in told
    assert not (site / "reports").exists()
