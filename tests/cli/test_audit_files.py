"""Claims about ``plan audit``: a written day is clean, and nothing in its files can change unnoticed."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from planner.cli.main import run
from planner.store.provenance import sealed
from planner.store.write_tables import kind_of
from tests.days import rows_of


def change_cell(path: Path, row: int, column: str, value: str) -> None:
    """Write another value into a cell of a CSV."""
    rows = rows_of(path)
    assert rows[row][column] != value
    rows[row][column] = value
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def test_clean(sample_day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A day as it was written is clean, in words and as JSON."""
    summary = json.loads((sample_day / "summary.json").read_text())
    assert run(["audit", str(sample_day)]) == 0
    stated = f"clean; {summary['jobs']['started']:,} jobs started, {summary['jobs']['deferred']:,} deferred,"
    profit = f"profit {summary['totals']['profit_eur']:,.2f}, as stated"
    assert f"{stated} {profit}" in capsys.readouterr().out
    assert run(["audit", str(sample_day), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["violations"] == []
    assert told["totals"] == pytest.approx(summary["totals"], abs=1e-6)


@pytest.mark.parametrize(
    ("file", "column", "value", "code", "message"),
    [
        pytest.param("schedule", "start_s", "-60", 5, "start: job", id="start before the day"),
        pytest.param("schedule", "start_s", "7", 5, "breaks|start_time is", id="another start"),
        pytest.param("schedule", "unit_nodes", "9", 2, "4 units on 1 nodes", id="too few nodes"),
        pytest.param("schedule", "unit_nodes", "0*4", 5, "capacity: node cpu1", id="one node for all"),
        pytest.param("schedule", "unit_nodes", "3-6", 5, "job wide: a unit is on node 4 of 4", id="no such node"),
        pytest.param("schedule", "profit_eur", "1000000", 5, "profit_eur is 1000000, the plan", id="a profit"),
        pytest.param("schedule", "end_time", "2030-01-01T00:00:00+01:00", 5, "end_time is 2030", id="an end"),
        pytest.param("schedule", "power_w", "300", 5, "work_kwh is", id="watts"),
        pytest.param("schedule", "requested_s", "often", 2, r"cannot read the row of wide", id="no number"),
        pytest.param("schedule", "state", "dreaming", 2, "state is the text 'dreaming'", id="unknown state"),
        pytest.param("schedule", "submit_time", "2024-02-01T08:00:00", 2, "no offset from UTC", id="naive time"),
        pytest.param("segments", "price_eur_per_kwh", "0.19", 5, "it_cost_eur is", id="a price"),
        pytest.param("segments", "temperature_c", "20", 5, "cooling_kwh is", id="a temperature"),
        pytest.param("segments", "end_s", "80000", 2, "do not cover the day", id="a border"),
        pytest.param("segments", "bought_kwh", "1", 5, "bought_kwh is 1, the plan gives", id="a segment's energy"),
        pytest.param("deferred", "kind", "perhaps", 2, "kind is the text 'perhaps'", id="unknown kind"),
        pytest.param(
            "deferred", "kind", "rejected", 5, "the row of again stands where more belongs", id="another kind"
        ),
    ],
)
def test_tampered_cell(
    small_day: Path, file: str, column: str, value: str, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A changed cell is told in one line: 5 when the day no longer holds, 2 when it cannot be read."""
    row = next(
        (index for index, row in enumerate(rows_of(small_day / f"{file}.csv")) if row.get("job_id") == "wide"), 0
    )
    change_cell(small_day / f"{file}.csv", row, column, value)
    assert run(["audit", str(small_day)]) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert re.search(message, told.err), told.err


@pytest.mark.parametrize("file", ["schedule", "segments"])
def test_every_number_is_checked(small_day: Path, file: str, capsys: pytest.CaptureFixture[str]) -> None:
    """There is no numeric cell of a row that can be off by a cent without the audit noticing."""
    path = small_day / f"{file}.csv"
    original = path.read_bytes()
    unnoticed = []
    for column, cell in rows_of(path)[0].items():
        if kind_of(column) in ("number", "whole") and cell:
            change_cell(path, 0, column, str(float(cell) + 0.01))
            if run(["audit", str(small_day)]) == 0:
                unnoticed.append(column)
            path.write_bytes(original)
    capsys.readouterr()
    # The carbon intensity is an input that costs nothing here, and so is the sunlight of a site that has none.
    assert unnoticed == []


@pytest.mark.parametrize(
    ("keys", "value"),
    [
        (("totals", "profit_eur"), 0.01),
        (("totals", "cooling_kwh"), 0.01),
        (("jobs", "started"), 1),
        (("utilisation_fraction",), 0.01),
        (("peak_kw",), 0.01),
        (("site_cost_eur",), 1),
    ],
)
def test_tampered_total(
    small_day: Path, keys: tuple[str, ...], value: float, capsys: pytest.CaptureFixture[str]
) -> None:
    """A number of the summary that is off by a cent is told with what the plan gives."""
    path = small_day / "summary.json"
    summary = json.loads(path.read_text())
    place = summary[keys[0]] if len(keys) > 1 else summary
    place[keys[-1]] += value
    path.write_text(json.dumps(summary))
    assert run(["audit", str(small_day)]) == 5
    assert re.search(rf"summary\.json: {'.'.join(keys)} is .*, the plan gives", capsys.readouterr().err)


@pytest.mark.parametrize("text", ["much", None, [1]])
def test_garbled_total(small_day: Path, text: object, capsys: pytest.CaptureFixture[str]) -> None:
    """A total that is no number is told with what was expected, and no traceback."""
    path = small_day / "summary.json"
    summary = json.loads(path.read_text())
    summary["totals"]["profit_eur"] = text
    path.write_text(json.dumps(summary))
    assert run(["audit", str(small_day)]) == 2
    assert re.search(
        "summary.json: it is damaged: totals.profit_eur is .*, expected a number;", capsys.readouterr().err
    )


@pytest.mark.parametrize("name", ["schedule.csv", "deferred.csv", "segments.csv", "summary.json", "run.json"])
@pytest.mark.parametrize("how", ["gone", "empty", "cut", "binary"])
def test_damaged_file(small_day: Path, name: str, how: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is gone, empty, cut short or not text is exit code 2 and named."""
    path = small_day / name
    if how == "gone":
        path.unlink()
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:-40])
    else:
        path.write_bytes(b"\xff\x00\xfe" * 30)
    assert run(["audit", str(small_day)]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert name in told


@pytest.mark.parametrize("name", ["schedule.csv", "deferred.csv"])
def test_lost_row(small_day: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A row that was taken out is missed."""
    path = small_day / name
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert run(["audit", str(small_day)]) == 5
    assert capsys.readouterr().err.startswith("plan: ")


def test_changed_table(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A day whose PUE table changed since cannot be audited, and the table is named."""
    path = site / "tables" / "small.csv"
    folder = site / "reports" / "site" / "2024-06-01"
    told = json.loads((folder / "run.json").read_text())
    moved = json.loads(json.dumps(told).replace(told["scenario"]["cooling"]["table"], path.as_posix()))
    (folder / "run.json").write_text(json.dumps(sealed(moved)))
    assert run(["audit", str(folder)]) == 0
    path.write_text(path.read_text().replace("0.1000", "0.1001", 1))
    assert run(["audit", str(folder)]) == 2
    assert "small.csv: this PUE table is gone or not the one of" in capsys.readouterr().err


def test_garbled_provenance(small_day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A machine in run.json that is not one is told, and no traceback."""
    told = json.loads((small_day / "run.json").read_text())
    told["scenario"]["cluster"]["classes"][0]["capacity"] = ["cores"]
    (small_day / "run.json").write_text(json.dumps(told))
    assert run(["audit", str(small_day)]) == 2
    assert "run.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "column"),
    [
        ("schedule", "account"),
        ("schedule", "user"),
        ("schedule", "name"),
        ("deferred", "account"),
        ("deferred", "reason"),
        ("deferred", "times_deferred"),
    ],
)
def test_changed_words(small_day: Path, file: str, column: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What no number follows from cannot be changed unnoticed either: run.json has the SHA-256 of every file."""
    change_cell(small_day / f"{file}.csv", 0, column, "7")
    assert run(["audit", str(small_day)]) == 5
    assert capsys.readouterr().err == f"plan: {small_day / file}.csv: it was changed after it was written\n"


@pytest.mark.parametrize("key", ["bound_eur", "planned_profit_eur", "best_trial", "currency", "trials"])
def test_changed_summary(small_day: Path, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    """So it is with what a summary says of the search."""
    path = small_day / "summary.json"
    summary = json.loads(path.read_text())
    summary[key] = summary[key][:-1] if isinstance(summary[key], list | str) else summary[key] + 1
    path.write_text(json.dumps(summary))
    assert run(["audit", str(small_day)]) == 5
    assert capsys.readouterr().err == f"plan: {path}: it was changed after it was written\n"


@pytest.mark.parametrize("name", ["report.html", "schedule.parquet", "schedule.swf"])
def test_changed_copies(site: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The page and the files in other formats are checked by their hashes."""
    assert run(["--day", "2024-06-01", "-m", "est", "-q", "--also", "parquet", "--also", "swf"]) == 0
    folder = site / "reports" / "site" / "2024-06-01"
    assert run(["audit", str(folder)]) == 0
    with (folder / name).open("ab") as file:
        file.write(b" ")
    assert run(["audit", str(folder)]) == 5
    assert f"{name}: it was changed after it was written" in capsys.readouterr().err


def test_changed_provenance(small_day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """run.json carries a seal of its own; how the file is laid out does not matter."""
    path = small_day / "run.json"
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told))
    assert run(["audit", str(small_day)]) == 0
    capsys.readouterr()
    path.write_text(json.dumps(told | {"seed": 1}))
    assert run(["audit", str(small_day)]) == 5
    assert capsys.readouterr().err == f"plan: {path}: it was changed after it was written\n"


def test_hash_that_is_not_kept(small_day: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A day whose run.json does not say what its files were is not clean."""
    path = small_day / "run.json"
    told = json.loads(path.read_text())
    del told["outputs"]["schedule.csv"]
    path.write_text(json.dumps(sealed(told)))
    assert run(["audit", str(small_day)]) == 5
    assert "run.json: it does not keep the SHA-256 of schedule.csv" in capsys.readouterr().err


def test_changed_input_is_said(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An input that is another one by now, such as tomorrow's queue, does not make the plan wrong; it is said."""
    assert run(["--day", "2024-06-01", "-m", "est", "-q"]) == 0
    (site / "jobs" / "queue.csv").write_text("job_id\n")
    capsys.readouterr()
    assert run(["audit", "reports/site/2024-06-01"]) == 0
    out = capsys.readouterr().out
    assert "clean" in out
    assert f"  changed or gone since: {site / 'jobs' / 'queue.csv'}\n" in out
