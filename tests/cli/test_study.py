"""Claims about ``plan study curie23``, on a small slice of the trace where it is at hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.studies.curie23 import Curie23Study
from planner.studies.curie23_setup import CALIBRATIONS, FIRST_DAY, SCENARIOS
from tests.days import plan, rows_of

SLICE = ("--days", "1", "--calibrations", "ours", "--scenarios", "hybrid-summer", "--methods", "est,wt-strict")
SLICE += ("--processes", "1")


@pytest.fixture
def trace(planner_data: Path) -> Path:
    """The folder of real data, when the trace is in it."""
    if not (planner_data / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz").is_file():
        pytest.skip("the Curie trace is not in the data folder")
    return planner_data


@pytest.mark.slow
def test_slice(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A slice runs until its queue is empty, leaves its tables without published figures, and resumes at once."""
    monkeypatch.chdir(tmp_path)
    plan("study", "curie23", *SLICE, "--data", str(trace), "-q")
    first = capsys.readouterr().out
    folder = tmp_path / "reports" / "studies" / "curie23"
    rows = rows_of(folder / "runs.csv")
    assert [(row["scenario"], row["run"]) for row in rows] == [
        ("hybrid-summer", method) for method in ("est", "wt-strict")
    ]
    assert {row["jobs"] for row in rows} == {"1359"}  # all that was submitted on 2012-08-07 is finished in the end
    assert {row["published"] for row in rows_of(folder / "published.csv")} == {""}
    for row in rows:
        curve = [each for each in rows_of(folder / "curves.csv") if each["run"] == row["run"]]
        total = sum(float(each["profit_eur"]) for each in curve)
        assert total == pytest.approx(float(row["profit_in_the_end_eur"]), abs=1e-3)
        assert len(curve) == int(row["days"])
    times = {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/*/*/*/run.json")}
    plan("study", "curie23", *SLICE, "--data", str(trace), "-q")
    assert capsys.readouterr().out == first
    assert times == {path: path.stat().st_mtime_ns for path in folder.glob("runs/*/*/*/*/run.json")}


def test_study_is_the_published_one(trace: Path) -> None:
    """300 nodes of 32 cores, submissions of the day known ahead, four scenarios that differ in weather and cooling
    alone, and two calibrations that differ in what jobs are scaled by and what they earn."""
    found = {
        (calibration, name): Curie23Study(data=trace).scenario_of(calibration, name)
        for calibration in CALIBRATIONS
        for name in SCENARIOS
    }
    for (calibration, _), scenario in found.items():
        assert scenario.cluster.total("cores") == 9600
        assert [(c.name, c.count) for c in scenario.cluster.classes] == [("cpu", 300)]
        assert (scenario.jobs.visibility, scenario.jobs.lookback_s) == ("day", 0)
        cores, revenue = {"ours": (93_312, 0.02), "fitted": (80_640, 2.14)}[calibration]
        assert scenario.jobs.core_scale == pytest.approx(9600 / cores)
        assert scenario.revenue.eur_per_core_hour == revenue
    assert {scenario.weather.season for scenario in found.values()} == {"summer", "winter"}
    assert len({(scenario.weather.season, scenario.cooling.table) for scenario in found.values()}) == 4
    assert FIRST_DAY.isoformat() == "2012-08-07"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--methods", "magic"), "unknown method 'magic'; known: "),
        (("--scenarios", "desert"), "unknown scenario 'desert'; known: air-winter"),
        (("--data", "nowhere"), "the trace is not there; get it from the Parallel Workloads Archive"),
    ],
)
def test_bad_input(
    arguments: tuple[str, ...],
    expected: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Unknown names and a missing trace are refused before anything is run."""
    monkeypatch.chdir(tmp_path)
    assert run(["study", "curie23", *arguments]) == 2
    assert expected in capsys.readouterr().err
    assert json.dumps([path.name for path in tmp_path.iterdir()]) == "[]"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("workloads none.swf --workers 3", "'--workers'"),
        ("workloads none.swf --jobs 0", "'--jobs'"),
    ],
)
def test_a_number_that_cannot_be(words: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused by what the option says of itself, with and without an upper end."""
    assert run(["study", *words.split()]) == 2
    assert expected in capsys.readouterr().err
