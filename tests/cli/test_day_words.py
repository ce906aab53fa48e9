"""Claims about days by name, and about quiet runs."""

from __future__ import annotations

import datetime as dt
import re
from html import unescape
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from planner.cli.main import run
from planner.errors import InputError
from planner.runs.check_request import parse_day
from tests.days import names, plan, write_small_site

QUICK = ("-m", "est", "--bound-time", "0", "--fresh")


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Paris"])
def test_today_is_that_of_the_zone(zone: str) -> None:
    """Kiritimati and Pago Pago never have the same date."""
    before = dt.datetime.now(ZoneInfo(zone)).date()
    found = [parse_day(word, zone) for word in ("yesterday", "today", "Tomorrow")]
    after = dt.datetime.now(ZoneInfo(zone)).date()
    assert found[1] in (before, after)
    assert [day - found[1] for day in found] == [dt.timedelta(days=-1), dt.timedelta(), dt.timedelta(days=1)]


def test_words_need_a_zone() -> None:
    with pytest.raises(InputError, match="cannot read 'today' as a day; write it as 2024-06-01"):
        parse_day("today")
    with pytest.raises(InputError, match="write it as 2024-06-01, or yesterday, today or tomorrow"):
        parse_day("todya", "UTC")


def test_tomorrow_is_planned(site: Path) -> None:
    before = dt.datetime.now(ZoneInfo("Europe/Paris")).date()
    plan("--day", "tomorrow", *QUICK)
    after = dt.datetime.now(ZoneInfo("Europe/Paris")).date()
    wanted = {(day + dt.timedelta(days=1)).isoformat() for day in (before, after)}
    assert wanted & set(names(site / "reports" / "site"))


def test_a_quiet_run_prints_nothing_unless_it_fails(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of every command that plans or reports; JSON that is asked for is printed all the same."""
    capsys.readouterr()
    for words in (
        ["--day", "2024-06-01", *QUICK],
        ["run", "--from", "2024-06-01", "--to", "2024-06-02", *QUICK],
        ["now", "--at", "2024-06-02T10:00+02:00", "--bound-time", "0"],
        ["report", "--month", "2024-06"],
    ):
        assert run([*words, "-q"]) == 0
        said = capsys.readouterr()
        assert (said.out, said.err) == ("", ""), words
    assert run(["--day", "2024-06-01", *QUICK, "-q", "--json"]) == 0
    assert capsys.readouterr().out.startswith("{")
    assert run(["--day", "2024-06-32", "-q"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def page_of(folder: Path, day: str, *settings: str) -> str:
    """The words of the page of a day of the small site, planned with settings."""
    options = [word for setting in settings for word in ("--set", setting)]
    plan("--day", day, *QUICK, "-q", *options)
    html = (folder / "reports" / "site" / day / "report.html").read_text(encoding="utf-8")
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def test_hours_that_come_twice_have_their_offsets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the segments of the day on which clocks are put back; no other time of the day has one."""
    monkeypatch.chdir(write_small_site(tmp_path))
    bands = 'tariff={kind: bands, eur_per_kwh: 0.2, bands: [{from: "02:00", to: "02:30", eur_per_kwh: 0.1}]}'
    page = page_of(tmp_path, "2024-10-27", bands)
    for span in (
        "10-27 00:00 – 10-27 02:00+02:00",
        "10-27 02:00+02:00 – 10-27 02:30+02:00",
        "10-27 02:30+02:00 – 10-27 02:00+01:00",
        "10-27 02:00+01:00 – 10-27 02:30+01:00",
        "10-27 02:30+01:00 – 10-28 00:00",
    ):
        assert span in page


def test_a_peak_below_that_of_the_month_is_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A charge on the month's peak that the day does not raise is not called none."""
    monkeypatch.chdir(write_small_site(tmp_path))
    demand = "eur_per_kw: 5, period: month"
    for setting, words in (
        (f"demand={{{demand}, peak_kw: 900}}", "kW the month's peak is no higher for it"),
        (f"demand={{{demand}}}", "Demand charge"),
        ("demand={period: month}", "kW no demand charge"),
    ):
        assert words in page_of(tmp_path, "2024-06-01", setting)
