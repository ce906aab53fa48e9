"""Claims about results that are read back: a damaged file is one clear line, whoever reads it."""

from __future__ import annotations

import contextlib
import csv
import datetime as dt
import io
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from planner import __version__
from planner.cli.main import run
from planner.domain.day_summary import Baseline, EasyDay
from planner.domain.intake import Intake
from planner.domain.result import Trial
from planner.domain.waits import Waits
from planner.errors import FileFormatError
from planner.store.provenance import digest, sealed
from planner.store.read_json import read_run, read_summary, shown
from tests.days import plan, rows_of
from tests.factories import day_summary
from tests.rolling import write_rolling_site

FIRST, SECOND, THIRD = "2024-06-03", "2024-06-04", "2024-06-05"
QUICK = ("-m", "multisearch", "--bound-time", "0", "-q")
WRONG: dict[str, Any] = {
    "text": "7",
    "a list": [1],
    "a mapping": {"a": 1},
    "null": None,
    "true": True,
    "huge": 10**400,
    "large": 1e300,
    "nan": float("nan"),
}


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = write_rolling_site(tmp_path_factory.mktemp("results"), jobs_a_day=14)
    with contextlib.chdir(base):
        plan("run", "--from", FIRST, "--to", SECOND, *QUICK)
    shutil.copytree(base / "reports", base / "kept")
    return base


@pytest.fixture
def days(planned: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two planned days to be damaged; their folder."""
    monkeypatch.chdir(planned)
    shutil.rmtree(planned / "reports")
    shutil.copytree(planned / "kept", planned / "reports")
    return planned / "reports" / "site"


def leaves(tree: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in a tree."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [way for key, value in items for way in ((*path, key), *leaves(value, (*path, key)))]


def change(path: Path, way: tuple[Any, ...], value: Any) -> None:
    """Put another value into a JSON file, and make its hash and the seal fit, so that only its type can tell."""
    told = json.loads(path.read_text())
    place = told
    for key in way[:-1]:
        place = place[key]
    place[way[-1]] = value
    path.write_text(json.dumps(told))
    forge(path)


def forge(path: Path) -> None:
    """Make run.json agree with a file that was changed."""
    run_file = path.parent / "run.json"
    told = json.loads(run_file.read_text())
    if path != run_file:
        told["outputs"][path.name] = digest(path)
    run_file.write_text(json.dumps(sealed(told)))


READERS: dict[str, tuple[tuple[str, ...], tuple[int, ...]]] = {
    "audit": (("audit", f"reports/site/{SECOND}"), (0, 2, 5)),
    "report": (("report", "-q"), (0, 2, 7)),  # 2: days in two currencies
    "run": (("run", "--from", FIRST, "--to", SECOND, *QUICK), (0, 2, 5)),
    "day": (("--day", THIRD, *QUICK), (0, 2)),
}


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", ["run.json", "summary.json"])
def test_any_value_of_any_type(days: Path, reader: str, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever stands where in a JSON file, readers end in one of their ways, with short lines and no traceback."""
    words, codes = READERS[reader]
    path = days / SECOND / name
    ways = leaves(json.loads(path.read_text()))
    kinds = list(WRONG)
    for number, way in enumerate(ways):
        if number % 16 != 4 * list(READERS).index(reader):
            continue  # every reader has its share of the places, to be quick
        shutil.rmtree(days / SECOND)
        shutil.copytree(days.parents[1] / "kept" / "site" / SECOND, days / SECOND)
        change(path, way, WRONG[kinds[number // 16 % len(kinds)]])
        assert run(list(words)) in codes, way
        told = capsys.readouterr().err
        assert "Error(" not in told
        assert max(map(len, told.splitlines()), default=0) <= 300


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("summary.json", ("totals", "profit_eur")),
        ("summary.json", ("jobs", "running")),
        ("summary.json", ("day",)),
        ("summary.json", ("zone",)),
        ("summary.json", ("baselines", 0, "profit_eur")),
        ("summary.json", ("inputs", 0, "kept")),
        ("run.json", ("scenario", "cluster", "classes", 0, "count")),
        ("run.json", ("scenario", "revenue", "eur_per_core_hour")),
        ("run.json", ("scenario", "cooling", "table")),
        ("run.json", ("scenario", "rules", "defer")),
        ("run.json", ("outputs", "schedule.csv")),
    ],
)
def test_wrong_type(
    days: Path, name: str, way: tuple[Any, ...], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A value of a wrong type is one line with the file, the key, what was expected and what to do."""
    folder = days / SECOND
    told = json.loads((folder / name).read_text())
    place = told
    for key in way[:-1]:
        place = place[key]
    if type(place[way[-1]]) is type(WRONG[wrong]) and wrong != "text":
        pytest.skip("the right type")
    place[way[-1]] = WRONG[wrong]
    (folder / name).write_text(json.dumps(told))
    if wrong == "text" and way[-1] == "table":
        return  # a path like any other, to a table that is not there
    assert run(["audit", str(folder)]) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"plan: {folder / name}: it is damaged")
    assert line.endswith("plan the day again\n")
    key = ".".join(str(part) for part in way).replace(".0.", "[0].")
    assert f"{key} is " in line
    assert run(["report", "-q"]) == 7
    assert f"skipped reports/site/{SECOND}: " in capsys.readouterr().err


@pytest.mark.parametrize("name", ["run.json", "summary.json"])
def test_the_form_of_another_version(days: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file of a form that is not known is refused, and left; one of before forms had numbers is read."""
    path = days / SECOND / name
    told = json.loads(path.read_text())
    assert told["format"] == 1
    path.write_text(json.dumps(told | {"format": 2, "jobs": "in another form"}))
    before = path.read_bytes()
    assert run(["audit", str(path.parent)]) == 2
    line = capsys.readouterr().err
    assert line.startswith(f"plan: {path}: it has format 2, and this planner ({__version__}) reads format 1; ")
    assert line.endswith("read it with the planner that wrote it, or plan the day again\n")
    assert run(["report", "-q"]) == 7
    assert path.read_bytes() == before
    assert json.loads(path.read_text())["format"] == 2
    capsys.readouterr()
    path.write_text(json.dumps({key: value for key, value in told.items() if key != "format"}))
    assert (read_run if name == "run.json" else read_summary)(path.parent)


def _cells(path: Path, column: str, text: str) -> None:
    rows = rows_of(path)
    rows[0][column] = text
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    forge(path)


@pytest.mark.parametrize(
    ("file", "column", "text"),
    [
        ("schedule", "requested_s", "9" * 30),
        ("schedule", "requested_s", "1e3"),
        ("schedule", "power_w", "nan"),
        ("schedule", "power_w", "1e400"),
        ("schedule", "unit_nodes", "0*99999999999"),
        ("schedule", "unit_nodes", "0-99999999999"),
        ("schedule", "unit_groups", "99999999999x cores=1"),
        ("schedule", "unit_groups", "1x cores=1e300"),
        ("schedule", "submit_time", "9999-12-31T23:59:59-14:00"),
        ("schedule", "submit_time", "0001-01-01T00:00:00+14:00"),
        ("schedule", "end_s", "9" * 25),
        ("segments", "temperature_c", "99999999999"),
        ("segments", "price_eur_per_kwh", "inf"),
        ("segments", "end_s", "-5"),
        ("deferred", "times_deferred", "often"),
        ("deferred", "times_deferred", "9" * 5000),
        ("deferred", "requested_s", "-1"),
    ],
)
def test_cells_beyond_all_bounds(
    days: Path, file: str, column: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell that is no number of its column, or one that no memory could hold, is one short line, even when forged."""
    path = days / SECOND / f"{file}.csv"
    _cells(path, column, text)
    assert run(["audit", str(days / SECOND)]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"plan: {path}: cannot read the row of ")
    assert len(told) <= 300


@pytest.mark.parametrize("text", ["0.1234567", "NaN", "1e999999", "Infinity", "1" * 40, "-", "0x10"])
def test_money_that_is_none(days: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An amount that no report can sum exactly is named and its day skipped."""
    _cells(days / SECOND / "schedule.csv", "profit_eur", text)
    assert run(["report", "-q"]) == 7
    assert "profit_eur is" in capsys.readouterr().err


def test_long_cells_are_no_damage(days: Path) -> None:
    """A job on very many nodes has a cell longer than the csv module takes by itself."""
    from planner.store.read_tables import read_table

    path = days / SECOND / "schedule.csv"
    rows = list(csv.reader(io.StringIO(path.read_text())))
    rows[1][rows[0].index("unit_nodes")] = " ".join(str(2 * node) for node in range(40_000))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue())
    assert len(read_table(days / SECOND, "schedule").column("unit_nodes")[0]) > 200_000


def _deep(path: Path) -> None:
    path.write_text("[" * 200_000)


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b'"EUR"', b'"\\ud800"').replace(b'"site"', b'"\\u0000\\u001b[31m"'))


def _pipe(path: Path) -> None:
    import os

    path.unlink()
    os.mkfifo(path)


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


@pytest.mark.parametrize("damage", [_deep, _half, _pipe, _loop])
@pytest.mark.parametrize("name", ["run.json", "summary.json"])
def test_odd_files(days: Path, name: str, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]) -> None:
    """Files that are nested too deeply, hold halves of characters, or are no files are refused, in print that shows."""
    damage(days / SECOND / name)
    assert run(["audit", str(days / SECOND)]) in (2, 5)
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert len(told) <= 300
    assert told.rstrip("\n").isprintable()
    assert run(["run", "--from", FIRST, "--to", SECOND, *QUICK]) == 0
    assert run(["audit", str(days / SECOND)]) == 0


def test_whole_files_are_read(days: Path) -> None:
    """What a run writes has the shape that it is read by."""
    assert read_run(days / FIRST)["scenario"]["name"] == "site"
    assert read_summary(days / FIRST).day == dt.date.fromisoformat(FIRST)
    with pytest.raises(FileFormatError, match="it is missing; plan the day again"):
        read_run(days)


def test_a_summary_reads_back_as_what_was_written(days: Path, tmp_path: Path) -> None:
    """summary.json is the plain data of its type to the byte, with baselines and without, and whatever stands in it."""
    text = (days / FIRST / "summary.json").read_text()
    assert json.dumps(read_summary(days / FIRST).as_dict(), indent=2, ensure_ascii=False) + "\n" == text
    intake = Intake("jobs.swf", 3, Counter({"b": 2, "a": 1}), Counter(), ["a note"])
    summary = day_summary(
        inputs=(intake,), trials=(Trial("fcfs", 2.5, 7),), bound_eur=3.0, stands_in_for="the plan of cp breaks power"
    )
    easy = EasyDay(1.0, 2.0, 1.0, 9.0, 0.5, 3, 1, Waits(60.0, None), 0.1, 0.2, -0.3, 0.0)
    whole = replace(summary, baselines=(Baseline("est", 1.5, 2.0, 0.5, 4),), easy=easy, waits=Waits(None, None))
    for expected in (summary, whole):
        (tmp_path / "summary.json").write_text(json.dumps(expected.as_dict()))
        assert read_summary(tmp_path) == expected
        assert ("baselines" in expected.as_dict()) == (expected.baselines is not None)


@pytest.mark.parametrize(
    ("way", "value", "words"),
    [
        (("status",), "lost", "status is the text 'lost', expected found or proven"),
        (("stands_in_for",), 7, "stands_in_for is 7, expected text"),
        (("baselines", 1, "started"), -1, "baselines[1].started is -1, expected a whole number from 0 to 1e+15"),
        (("easy", "saved_kwh"), "much", "easy.saved_kwh is the text 'much', expected a number"),
        (("waits", "mean_s"), "long", "waits.mean_s is the text 'long', expected a number"),
        (("trials", 0, "name"), None, "trials[0].name is null, expected text"),
        (("inputs", 0, "repaired"), {"x": "y"}, "inputs[0].repaired.x is the text 'y', expected a whole number"),
        (("solve_s",), -1.0, "solve_s is -1.0, expected a number from 0 to 1e+15"),
        (("found_s",), -1.0, "found_s is -1.0, expected a number from 0 to 1e+15"),
        (("trials",), {}, "trials is a mapping, expected a list"),
        (("easy",), [], "easy is an empty list, expected a mapping"),
        (("jobs",), {}, "jobs.known is missing"),
        (("day",), "0001-01-01", "day is the text '0001-01-01', expected a day such as 2024-06-01"),
        (("scenario",), "", "scenario is the text '', expected text that is not empty"),
    ],
)
def test_words_about_a_damaged_summary(days: Path, way: tuple[Any, ...], value: Any, words: str) -> None:
    """Every part of a summary is read as its type, and the first that is none is named by its place."""
    change(days / FIRST / "summary.json", way, value)
    with pytest.raises(FileFormatError, match=re.escape(f"summary.json: it is damaged: {words}")):
        read_summary(days / FIRST)


def test_a_summary_of_another_version(days: Path) -> None:
    """Keys that came later may be missing, and keys that nobody knows are let be."""
    path = days / FIRST / "summary.json"
    told = json.loads(path.read_text())
    for key in ("stands_in_for", "baselines", "easy", "waits", "real_bound_eur", "found_s"):
        del told[key]
    path.write_text(json.dumps(told | {"later": [1]}))
    assert read_summary(days / FIRST).baselines is None


def test_shown_values_are_short_and_printable() -> None:
    """Nothing in a message obeys, wraps or floods a terminal."""
    assert shown("\x1b[31mred\ud800") == r"the text '\x1b[31mred\ud800'"
    assert len(shown("y" * 5000)) < 60
    assert len(shown(10**4000)) < 60
