"""Claims about bad input: one clear line, the right exit code, nothing written, the earlier result untouched."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.store.folder import held
from planner.store.write_tables import Table
from tests.days import DAY, JOBS, SITE, small_table, tree

SWF = "; UnixStartTime: 1717100000\n" + " ".join(["1 0 -1 600 4 -1 -1 4 600", *["-1"] * 9]) + "\n"


def write(name: str, text: str) -> Callable[[Path], None]:
    def change(site: Path) -> None:
        (site / name).write_text(text, encoding="utf-8")

    return change


def scenario(old: str, new: str) -> Callable[[Path], None]:
    assert old in SITE
    return write("scenarios/site.yaml", SITE.replace(old, new))


def jobs(old: str, new: str) -> Callable[[Path], None]:
    assert old in JOBS
    return write("jobs/queue.csv", JOBS.replace(old, new, 1))


def table(old: str, new: str) -> Callable[[Path], None]:
    text = re.sub(old, new, small_table(), count=1, flags=re.MULTILINE)
    assert text != small_table()
    return write("tables/small.csv", text)


def nothing(site: Path) -> None:
    """Leave the site as it is."""


WEATHER = "time,temperature_c\n2024-06-01T00:00+02:00,10\n2024-06-01T12:00+02:00,20\n2024-06-01T13:00+02:00,20\n"

BAD: dict[str, tuple[Callable[[Path], None], list[str], str]] = {
    "missing jobs file": (nothing, ["--jobs", "nowhere.csv"], r"^plan: nowhere\.csv: no such file"),
    "jobs file is a folder": (nothing, ["--jobs", "jobs"], r"^plan: jobs: is a folder"),
    "scenario's jobs file gone": (lambda site: (site / "jobs/queue.csv").unlink(), [], r"queue\.csv.*does not exist"),
    "17 fields": (
        write("a.swf", SWF.removesuffix(" -1\n") + "\n"),
        ["--jobs", "a.swf"],
        r"a\.swf:2: expected 18 fields, found 17",
    ),
    "field is no number": (write("a.swf", SWF.replace("600", "ten", 1)), ["--jobs", "a.swf"], r"a\.swf:2: .*'ten'"),
    "negative time": (write("a.swf", SWF.replace("1 0 ", "1 -5 ")), ["--jobs", "a.swf"], r"a\.swf:2: .*-5"),
    "local time twice": (
        jobs("2024-02-01T08:00:00+01:00", "2023-10-29T02:30:00"),
        [],
        r"queue\.csv:2: .*offset: .*twice",
    ),
    "job without a size": (jobs("6,4,8,16", "6,,,"), [], r"queue\.csv:2: "),
    "repeated job": (jobs("deep", "wide"), [], r"queue\.csv:3: .*wide"),
    "unknown column": (jobs("requested_h", "requested_hours"), [], r"queue\.csv.*requested_hours"),
    "weather too short": (
        write("w.csv", WEATHER),
        ["--set", "weather.source=w.csv", "--set", "weather.temperature_c=null"],
        r"w\.csv",
    ),
    "table with a gap": (table(r"^1500,.*\n", ""), [], r"small\.csv:\d+: the row of 1500 W is missing"),
    "PUE below 1": (table(r"^(1500),[^,]*", r"\1,-0.1"), [], r"small\.csv:\d+: .*a PUE below 1"),
    "table too small": (
        nothing,
        ["--set", "weather.temperature_c=60"],
        r"covers 0 to 3000 W and -20 to 45 C, but the day needs",
    ),
    "day warmer than the table": (
        nothing,
        ["--set", "weather.temperature_c=47.5"],
        r"covers 0 to 3000 W and -20 to 45 C, but the day needs \d+ W at 47\.5 C",
    ),
    "day colder than the table": (
        nothing,
        ["--set", "weather.temperature_c=-22.6"],
        r"covers 0 to 3000 W and -20 to 45 C, but the day needs \d+ W at -22\.6 C",
    ),
    "table of small machines": (
        jobs("310.1234567", "31000"),
        [],
        r"covers 0 to 3000 W and -20 to 45 C, but the day needs \d+ W at",
    ),
    "unknown scenario": (nothing, ["--scenario", "sit"], r"^plan: unknown scenario 'sit'; did you mean site\?"),
    "unknown key": (nothing, ["--set", "tarif.kind=flat"], r"tarif: unknown key; did you mean tariff\?"),
    "setting without a value": (nothing, ["--set", "tariff"], r"expected key=value"),
    "unquoted clock time": (
        scenario(
            "{kind: flat, eur_per_kwh: 0.2}",
            "{kind: bands, eur_per_kwh: 0.2, bands: [{from: 22:00, to: '06:00', eur_per_kwh: 0.1}]}",
        ),
        [],
        r'site\.yaml:8: 22:00 would be read as a number; quote it: "22:00"$',
    ),
    "naive price time": (
        write("p.csv", "time,price\n" + "".join(f"2024-06-01T{hour:02d}:00,50\n" for hour in range(24))),
        ["--set", "tariff={kind: hourly, file: p.csv, unit: EUR/MWh}"],
        r"p\.csv.*zone",
    ),
    "nonsense day": (
        nothing,
        ["--day", "nonsense"],
        r"cannot read 'nonsense' as a day; write it as 2024-06-01, or yesterday, today or tomorrow$",
    ),
    "day that is not": (nothing, ["--day", "2024-02-30"], r"'2024-02-30' as a day"),
    "day out of range": (nothing, ["--day", "9999-12-31"], r"out of range; its year must be from 1970 to 2199$"),
    "day before all others": (nothing, ["--day", "0001-01-01"], r"out of range"),
    "day that a zone skipped": (
        nothing,
        ["--day", "2011-12-30", "--set", "zone=Pacific/Apia"],
        r"there is no 2011-12-30 in Pacific/Apia",
    ),
    "endless limit": (nothing, ["--time-limit", "9" * 400 + "h"], r"duration .* is inf; it must be from 0 to"),
    "limit of centuries": (nothing, ["--time-limit", "20000d"], r"--time-limit is .*; it must be from 0 to"),
    "too many workers": (nothing, ["--workers", "1000000000"], r"--workers"),
    "too many steps": (nothing, ["--iterations", str(10**30)], r"--iterations"),
    "seed beyond 31 bits": (nothing, ["--seed", str(2**31)], r"--seed"),
    "argument that is no text": (nothing, ["--jobs", "\udcff.csv"], r"argument 4, '\\udcff\.csv', is not UTF-8 text"),
    "machine too large": (
        nothing,
        ["--set", "cluster.classes.cpu.count=1e30"],
        r"cluster\.classes\.cpu\.count: expected a whole number from 1 to 200,000 nodes, found 1e\+30",
    ),
    "jobs that draw too much": (
        jobs("310.1234567", "1e9"),
        ["--set", "power.w_per_core=1e300"],
        r"power\.w_per_core: expected a number from 0 to 1,000,000 W, found 1e\+300",
    ),
    "pipe for a file": (lambda site: os.mkfifo(site / "p.swf"), ["--jobs", "p.swf"], r"p\.swf: is a device or a pipe"),
    "very long value": (
        nothing,
        ["--set", f"tariff.kind={'x' * 5000}"],
        r"^plan: scenario site: --set tariff.kind=x+….*$",
    ),
    "nonsense limit": (nothing, ["--time-limit", "soon"], r"cannot read 'soon' as a duration; write 30s, 5m, 2h or 1d"),
    "unknown method": (nothing, ["--method", "magic"], r"unknown method 'magic'; known: harvest"),
    "unknown format": (nothing, ["--also", "pdf"], r"unknown output format 'pdf'; known: parquet, swf"),
    "negative seed": (nothing, ["--seed", "-1"], r"--seed"),
    "unknown option": (nothing, ["--frobnicate"], r"No such option: --frobnicate"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Bad input ends with exit code 2 and one line that names the matter; the reports are as they were."""
    change, arguments, message = BAD[name]
    change(site)
    before = tree(site / "reports")
    assert run(["--day", DAY, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1, shown.err
    assert shown.err.startswith("plan: ")
    assert re.search(message, shown.err.rstrip("\n")), shown.err
    assert tree(site / "reports") == before


@pytest.mark.parametrize(
    "name",
    ["17 fields", "local time twice", "PUE below 1", "unknown key", "table too small", "table of small machines"],
)
def test_check_finds_the_same(name: str, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``plan check`` ends with the same line and code as planning would."""
    change, arguments, message = BAD[name]
    change(site)
    assert run(["check", "--day", DAY, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert re.search(message, shown.err.rstrip("\n")), shown.err


def test_every_problem_of_a_scenario(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A scenario with several problems tells each on a line of its own."""
    text = SITE.replace("zone: Europe/Paris", "zone: Europe/Pariss").replace("count: 4", "count: none")
    (site / "scenarios" / "site.yaml").write_text(text + "colour: red\n")
    assert run(["--day", DAY]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 3
    for word in ("Europe/Pariss", "count", "colour"):
        assert any(word in line for line in told)


def test_failure_leaves_no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that fails where nothing was planned before leaves no folder and no lock."""
    monkeypatch.chdir(tmp_path)
    assert run(["--day", DAY, "--scenario", "sample", "--set", "weather.source=constant", "--out", "a/b"]) == 2
    small = ["--set", "cluster.classes.cpu.idle_w=5000", "--set", "jobs.load=0.01"]
    assert run(["--day", DAY, "--scenario", "sample", *small, "--out", "a/b"]) == 2
    assert list(tmp_path.iterdir()) == []


def test_file_where_a_folder_should_be(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Output that cannot be written is exit code 6, with the way out in the line, wherever the file is."""
    (site / "taken").write_text("mine")
    (site / "deep" / "site").mkdir(parents=True)
    (site / "deep" / "site" / DAY).write_text("mine")
    before = tree(site)
    for out in ("taken", "taken/deeper", "/proc/nowhere", "deep", "x" * 300):
        assert run(["--day", DAY, "--out", out]) == 6
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert re.match(r"plan: cannot write .*; (remove it or )?choose another folder with --out$", told), told
    assert tree(site) == before


def test_second_run_at_the_same_moment(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """While one run holds a day another is refused with exit code 6; another day is free."""
    target = Path("reports/site") / DAY
    before = tree(site / "reports")
    with held(target):
        assert run(["--day", DAY]) == 6
        assert re.search(r"another run \(process \d+\) is planning reports/site/2024-06-01", capsys.readouterr().err)
        assert run(["--day", "2024-06-02", "-q"]) == 0
    assert run(["--day", DAY, "-q"]) == 0
    assert before.keys() < tree(site / "reports").keys()


@pytest.mark.parametrize("at", [1, 3])
def test_full_disk(at: int, site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A disk that fills up while writing is exit code 6; the earlier result stands and nothing is left beside it."""
    before = tree(site / "reports")
    written = 0
    write_csv = Table.write_csv

    def full(table: Table, path: Path) -> None:
        nonlocal written
        written += 1
        if written == at:
            path.write_text("half a li")
            raise OSError(errno.ENOSPC, "No space left on device")
        write_csv(table, path)

    monkeypatch.setattr(Table, "write_csv", full)
    assert run(["--day", DAY, "-q", "--seed", "1"]) == 6
    told = capsys.readouterr().err
    assert told == (f"plan: cannot write reports/site/{DAY}: No space left on device; the earlier result stands\n")
    assert tree(site / "reports") == before


def test_interrupt(site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Ctrl-C ends with code 130 and one line, and leaves the earlier result."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    before = tree(site / "reports")
    monkeypatch.setattr("planner.planning.plan_day.accepted", interrupted)
    assert run(["--day", DAY]) == 130
    assert capsys.readouterr().err == "plan: interrupted; nothing more was written\n"
    assert tree(site / "reports") == before
