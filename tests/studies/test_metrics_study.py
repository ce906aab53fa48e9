"""Claims about ``plan study metrics``, on a few jobs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from planner.cli.main import run
from planner.inputs.traces import read_pool
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.studies import kept_pieces
from planner.studies.metrics import (
    WAITING,
    MetricsStudy,
    agreement,
    beside_of,
    distorted,
    factors,
    policy_table,
    published_rows,
    rows_of,
)
from tests.days import refused
from tests.days import rows_of as csv_rows


def told(bsld: float) -> dict[str, object]:
    """What is kept of a replay; without the last job BSLD is one less."""
    values = {"bsld": bsld, "af": 10.0, "awf": 10.0, "p2sf": 8.0, "r2": 0.5, "under": 0.0}
    trims = {"none": values, "last": values | {"bsld": bsld - 1}, "steady": values}
    return {"jobs": 3, "processors": 4.0, "cpu_s": 0.5, "trims": trims}


def test_factors_go_from_a_half_to_two_in_equal_steps() -> None:
    """One is always among them; it is the actual runtime itself."""
    assert factors(3) == [0.5, 1.0, 1.5, 2.0]
    assert factors(2) == [0.5, 1.0, 1.25, 2.0]
    assert len(factors(30)) == 31
    assert [distorted(factor) for factor in (0.55, 1.0)] == ["actual*0.55", "actual"]


def test_published_figures_stand_beside_ours_and_are_counted(tmp_path: Path) -> None:
    """EASY on CTC-SP2 with actual times has 1 % more BSLD: with the last job +1.2, without it +1.96 % by these sums."""
    trace = tmp_path / "CTC-SP2-1996-3.1-cln.swf"
    trace.touch()
    cells = MetricsStudy(traces=(trace,), parts=("policies",)).cells()
    found = [{**cell.labels, **told(52.0 if cell.labels["policy"] == "easy" else 51.0)} for cell in cells]
    rows = rows_of(found, "last", "drop")
    easy = rows[1]
    assert (easy["policy"], easy["trim"], easy["bsld"]) == ("easy", "last", 51.0)
    assert easy["bsld_percent"] == pytest.approx(2.0)
    published = published_rows(rows)
    assert len(published) == 72
    (counted,) = agreement(published)
    assert counted["figures"] == 72
    met = [row for row in published if abs(row["ours"] - row["published"]) <= 0.5 + 1e-9]
    assert counted["within_rounding"] == len(met) < 72
    table = policy_table(rows[:10], beside_of(published))
    assert table.rows[0][1].startswith("+2.00 (")
    assert len(table.rows) == 9  # List-REG is in the title
    assert published_rows([row | {"trace": "mine"} for row in rows]) == []


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Forty jobs on eight processors, more than they can do at once; one asks for no time."""
    rng = np.random.default_rng(5)
    lines = ["; MaxProcs: 8"]
    for number in range(1, 41):
        runtime, width = int(rng.integers(1, 500)), int(rng.integers(1, 9))
        asked = -1 if number == 7 else runtime + int(rng.integers(0, 500))
        fields = [number, number * 30, -1, runtime, width, -1, -1, width, asked, -1, 1, 1, 1, -1, 1, -1, -1, -1]
        lines.append(" ".join(map(str, fields)))
    path = tmp_path / "KTH-SP2-made-up.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_study_runs_and_goes_on(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables, page and CSV agree; a rule that only leaves out jobs replays nothing again."""
    made: list[str] = []
    put = kept_pieces.put_piece
    monkeypatch.setattr(kept_pieces, "put_piece", lambda path, content: (made.append(path.name), put(path, content)))
    command = ["study", "metrics", str(trace), "--steps", "3", "--out", str(tmp_path), "-q"]
    assert run([*command, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    by_part = {part: [row for row in rows if row["part"] == part] for part in ("policies", "predictors", "distortion")}
    assert {part: len(found) for part, found in by_part.items()} == {
        "policies": 20,
        "predictors": 26,
        "distortion": 16,
    }
    assert {row["jobs"] for row in rows} == {39}  # without the one that asks for no time
    assert [row["bsld_percent"] for row in by_part["distortion"] if row["factor"] == 1] == [0, 0, 0, 0]
    folder = tmp_path / "studies" / "metrics"
    published = csv_rows(folder / "published.csv")
    assert [sum(row["table"] == table for row in published) for table in ("II", "III", "IV")] == [72, 22, 22]
    page = (folder / "metrics.html").read_text("utf-8")
    assert "What is met" in page
    assert all(f"Figure 4{part}" in page for part in ("a: saf-list", "b: laf-list", "c: list"))
    areas = {row["policy"]: row for row in csv_rows(folder / "areas.csv")}  # the last of each policy: all jobs
    assert {name: int(row["jobs"]) for name, row in areas.items()} == dict.fromkeys(WAITING, 39)
    jobs = read_pool(trace, unrequested="drop").trace
    waits = replay(jobs, policy_named("laf-list"), jobs.runtime_s).wait_s
    assert float(areas["laf-list"]["wait_area_s"]) == float((waits * jobs.width).sum())
    count = len(made)
    assert count == 20 + 26 + 16 - 12 + len(
        WAITING
    )  # of four policies, actual times are in all parts and requested ones in two
    assert run([*command, "--trim", "steady"]) == 0
    assert len(made) == count
    assert {row["trim"] for row in csv_rows(folder / "metrics.csv")} == {"steady"}
    assert run([*command, "--jobs", "20", "--part", "policies"]) == 0
    assert len(made) == count + 20
    assert not (folder / "published.csv").exists()
    assert "What is met" not in (folder / "metrics.html").read_text("utf-8")


@pytest.mark.parametrize("left", [b"", b"{", b"[]", b'{"a": null}'])
def test_a_damaged_piece_is_made_anew(trace: Path, tmp_path: Path, left: bytes) -> None:
    """Whatever is left of it; all else is taken as it was kept."""
    command = ["study", "metrics", str(trace), "--part", "policies", "--jobs", "10", "--out", str(tmp_path), "-q"]
    assert run(command) == 0
    table = tmp_path / "studies" / "metrics" / "metrics.csv"
    before = table.read_bytes()
    piece = min((tmp_path / "studies" / "metrics" / "pieces" / "replays").iterdir())
    whole = piece.read_bytes()
    piece.write_bytes(left)
    assert run(command) == 0
    assert json.loads(piece.read_bytes().partition(b"\n")[0]).keys() == json.loads(whole.partition(b"\n")[0]).keys()
    assert len(csv_rows(table)) == len(before.splitlines()) - 1


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--part", "magic"], "unknown part 'magic'; known: policies"),
        (["--trim", "some"], "--trim: unknown rule 'some'; known: none, steady, last"),
        (["--unrequested", "some"], "--unrequested: unknown rule 'some'; known: keep, drop"),
        (["elsewhere.swf"], "there is no such trace"),
    ],
)
def test_bad_input_is_one_line(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], says: str
) -> None:
    assert says in refused(capsys, "study", "metrics", str(trace), *more, "--out", str(tmp_path), "-q")
    assert not (tmp_path / "studies").exists()
