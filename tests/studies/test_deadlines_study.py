"""Claims about ``plan study deadlines``, on a few jobs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from planner.cli.main import run
from planner.domain.trace import pool_trace
from planner.inputs.traces import read_pool
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.studies import kept_pieces
from planner.studies.deadlines import DeadlineStudy, interval, published_rows, rows_of
from planner.studies.published import DEADLINE_SELECTIONS, deadline_trace
from planner.studies.replay_cells import draw_figures
from tests.days import refused
from tests.days import rows_of as csv_rows

HOUR = 3600


def test_figures_of_a_draw_by_hand() -> None:
    """One processor and jobs of 10 h, 5 h and 1 h that ask for 10 h, 10 h and 2 h, all at once, in that order.

    They wait 0, 10 and 15 h. The second has a deadline 100 h after submission (ten times its request), the third one
    after 15.5 h instead of the 24 h that are usual: it ends at 16 h and misses it.
    """
    runtime = np.array([10, 5, 1]) * HOUR
    trace = pool_trace(
        ("a", "b", "c"), np.zeros(3, dtype=np.int64), runtime, np.array([10, 10, 2]) * HOUR, np.ones(3, dtype=int), 1
    )
    result = replay(trace, policy_named("conservative"), trace.runtime_s)
    found = draw_figures(result, np.array([-1, 100 * HOUR, 15 * HOUR + HOUR // 2]))
    assert (found["deadline_jobs"], found["deadline_jobs_24h"], found["deadline_jobs_10x"]) == (2, 1, 1)
    assert (found["misses_24h"], found["misses_10x"]) == (1, 0)
    assert (found["wait_regular_s"], found["wait_deadline_s"]) == (0, 12.5 * HOUR)
    assert (found["waiting_all_fraction"], found["wait_of_waiting_all_s"]) == (pytest.approx(2 / 3), 12.5 * HOUR)
    assert (found["wait_of_waiting_regular_s"], found["regular_waits_s"]) == (None, [])
    assert found["stretch_deadline"] == pytest.approx(((10 + 10) / 10 + (15 + 2) / 2) / 2)
    assert found["max_stretch_regular"] == 1
    assert found["usage"] == found["usage_waited"] == pytest.approx((15 / 100 + 16 / 15.5) / 2)
    nobody = draw_figures(result, np.full(3, -1))
    assert (nobody["usage"], nobody["usage_waited"], nobody["max_stretch_deadline"]) == (None, None, None)


def test_an_interval_is_students() -> None:
    """Of 1, 2 and 3: 2 +- 4.3027 (97.5 % of Student's t with 2 degrees of freedom) * 1 / sqrt(3)."""
    middle, half = interval([1.0, 2.0, None, 3.0])
    assert (middle, half) == (2.0, pytest.approx(4.3027 / 3**0.5, abs=1e-4))
    assert interval([5.0]) == (5.0, None)
    assert interval([None]) == (None, None)


def test_policies_that_know_no_deadlines_are_replayed_once(tmp_path: Path) -> None:
    trace = tmp_path / "mine.swf"
    trace.touch()
    study = DeadlineStudy(traces=(trace,), policies=("deadline", "conservative"), percents=(20.0, 40.0), seeds=3)
    cells = study.cells()
    assert [(cell.name, len(cell.given["draws"])) for cell in cells[:2]] == [
        ("mine/conservative/all", 6),
        ("mine/deadline/20-0", 1),
    ]
    assert len(cells) == 7


def test_the_published_half_is_compared() -> None:
    """Regular jobs wait 40 and 50 % of what they wait under conservative in two draws: 45 %, at most the half."""
    blank = {
        f"{figure}_{group}{unit}": 1.0
        for group in ("all", "regular", "deadline")
        for figure, unit in (
            ("wait", "_s"), ("waiting", "_fraction"), ("wait_of_waiting", "_s"), ("stretch", ""), ("max_stretch", "")
        )
    }  # fmt: skip
    blank |= dict.fromkeys(("deadline_jobs", "deadline_jobs_24h", "deadline_jobs_10x", "misses_24h", "misses_10x"), 1)
    blank |= {"usage": 0.1, "usage_waited": None, "round_ms": 0.1, "cpu_s": 0.5, "jobs": 5}
    draws = [
        {**blank, "trace": "SDSC-DS-2004-2.1-cln", "policy": policy, "percent": 20.0, "seed": seed, "wait_regular_s": w}
        for policy, waits in (("deadline", (40.0, 100.0)), ("conservative", (100.0, 200.0)))
        for seed, w in enumerate(waits)
    ]
    rows = rows_of(draws)
    assert [(row["policy"], row["regular_of_base"]) for row in rows] == [("deadline", 0.45), ("conservative", 1.0)]
    assert (rows[0]["all_jobs"], rows[0]["regular_jobs"], rows[0]["ms_per_job"]) == (5, 4, 100.0)
    (said,) = published_rows(rows)
    assert (said["published_at_most"], said["met"]) == (0.5, "yes")
    (other,) = published_rows([row | {"trace": "HPC2N"} for row in rows])
    assert (other["published_at_most"], other["met"], other["ours"]) == (None, "", 0.45)


def write_eighty_jobs(path: Path) -> Path:
    """Eighty jobs on eight processors, more than they can do at once, of two partitions."""
    rng = np.random.default_rng(5)
    lines = ["; MaxProcs: 8"]
    for number in range(1, 81):
        runtime, width = int(rng.integers(1, 9000)), int(rng.integers(1, 9))
        asked = runtime + int(rng.integers(0, 5000))
        fields = [number, number * 90, -1, runtime, width, -1, -1, width, asked, -1, 1, 1, 1, -1, 1, 1 + number % 2]
        lines.append(" ".join(map(str, [*fields, -1, -1])))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """The file of eighty jobs."""
    return write_eighty_jobs(tmp_path / "eighty.swf")


def test_the_study_runs_and_goes_on(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every draw has as many deadline jobs; what is kept is not made again, and another choice of jobs is."""
    made: list[str] = []
    put = kept_pieces.put_piece
    monkeypatch.setattr(kept_pieces, "put_piece", lambda path, content: (made.append(path.name), put(path, content)))
    command = ["study", "deadlines", str(trace), "--percent", "50", "--seeds", "2", "--out", str(tmp_path), "-q"]
    assert run([*command, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["policy"] for row in rows] == ["conservative", "easy", "deadline", "deadline-early"]
    assert {(row["deadline_jobs"], row["deadline_jobs_half"]) for row in rows} == {(40, 0)}
    dbf = next(row for row in rows if row["policy"] == "deadline")
    assert dbf["regular_of_base"] < 1  # deadline jobs gave way
    folder = tmp_path / "studies" / "deadlines"
    assert len(csv_rows(folder / "draws.csv")) == 8
    assert len(csv_rows(folder / "published.csv")) == 1
    assert "50 % deadline jobs: regular jobs that wait" in (folder / "deadlines.html").read_text("utf-8")
    assert len(made) == 6
    assert run(command) == 0
    assert len(made) == 6
    assert run([*command, "--partition", "2", "-p", "easy"]) == 0
    assert len(made) == 7
    assert "40 of another partition" in (folder / "deadlines.md").read_text("utf-8")


def test_the_jobs_that_the_paper_takes(tmp_path: Path) -> None:
    """Of SDSC-BLUE all queues but 0, of what ran on processors that were allocated; of SDSC-DS partition 2."""
    trace = write_eighty_jobs(tmp_path / "SDSC-BLUE-small.swf")
    lines = [line.split() for line in trace.read_text().splitlines()[1:]]
    lines[0][14], lines[1][4], lines[2][3] = "0", "-1", "0"
    trace.write_text("; MaxProcs: 8\n" + "\n".join(" ".join(line) for line in lines) + "\n")
    study = DeadlineStudy(traces=(trace,), as_published=True)
    ids = read_pool(trace, **study.selection_of("SDSC-BLUE-small")).trace.ids
    assert ids == tuple(str(number) for number in range(4, 81))
    other = write_eighty_jobs(tmp_path / "SDSC-DS-small.swf")
    assert len(read_pool(other, **study.selection_of("SDSC-DS-small")).trace) == 40


@pytest.mark.slow
def test_as_many_jobs_as_the_paper_counts(planner_data: Path) -> None:
    for name, count in (("SDSC-BLUE-2000-4.2-cln", 157_604), ("HPC2N-2002-2.2-cln", 202_871)):
        path = planner_data / "swf" / f"{name}.swf.gz"
        assert len(read_pool(path, **DEADLINE_SELECTIONS[deadline_trace(name)]).trace) == count


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--as-published"], "unknown trace 'eighty'; known: SDSC-BLUE, SDSC-DS"),
        (["--as-published", "--queue", "1"], "--as-published chooses the jobs; leave --partition and --queue out"),
        (["--percent", "many"], "--percent: cannot read 'many' as numbers; write 20,40,60,80"),
        (["--percent", "120"], "--percent is 120; it must be"),
        (["--percent", ","], "--percent names no number; write 20,40,60,80"),
        (["-p", "list"], "unknown policy 'list'; known: deadline, deadline-early"),
        (["--queue", "fast"], "--queue: cannot read 'fast' as numbers"),
        (["elsewhere.swf"], "there is no such trace"),
    ],
)
def test_bad_input_is_one_line(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], says: str
) -> None:
    assert says in refused(capsys, "study", "deadlines", str(trace), *more, "--out", str(tmp_path), "-q")
    assert not (tmp_path / "studies").exists()
