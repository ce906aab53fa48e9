"""Claims about ``plan study cp-online``, on a few jobs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.cli.main import run
from planner.domain.trace import first_jobs, pool_trace
from planner.online.policies import policy_named
from planner.online.replay import Replay, replay
from planner.runs.compare_results import Row
from planner.studies import kept_pieces
from planner.studies.cp_online import CpOnlineStudy, policy_table, published, rows_of
from planner.studies.replay_cells import queue_by_day, queue_in_rounds
from planner.studies.study import Study
from tests.days import rows_of as csv_rows

DAY = 86400


def three_jobs() -> Replay:
    """One processor: a runs for a day; b and c wait for it, b for a day and c for two."""
    trace = pool_trace(
        ("a", "b", "c"), np.array([0, 0, 0]), np.full(3, DAY), np.full(3, DAY), np.ones(3, dtype=np.int64), 1
    )
    return replay(trace, policy_named("list"), trace.requested_s)


def told(af: float, **more: float) -> dict[str, object]:
    """What is kept of a replay."""
    metrics = {"af": af, "awf": 10.0, "bsld": 4.0, "p2sf": 8.0, "wait": 1.0} | more
    return metrics | {
        "jobs": 3,
        "rounds": 10,
        "cpu_s": 0.5,
        "queue_quantiles": {"0.5": 1, "1": 3},
        "queue_by_day": [(1.0, 2.0)],
    }


def test_queues_are_counted_before_anything_starts() -> None:
    """Rounds at the submission and at each of the three ends."""
    assert queue_in_rounds(three_jobs()).tolist() == [3, 2, 1, 0]


def test_the_curve_of_queues_is_the_mean_number_that_waits() -> None:
    curve = queue_by_day(three_jobs())
    assert len(curve) == 60
    assert [mean for day, mean in curve] == [2.0] * 30 + [1.0] * 30
    assert curve[0][0] == pytest.approx(1 / 60, abs=0.01)


def test_the_first_jobs_of_a_trace_are_replayed_alone() -> None:
    trace = first_jobs(three_jobs().trace, 2)
    assert trace.ids == ("a", "b")
    assert replay(trace, policy_named("list"), trace.requested_s).start_s.tolist() == [0, DAY]


def found_of(study: Study, figures: Iterable[Mapping[str, Any]]) -> list[Row]:
    """What a study finds where its cells say this, one after the other."""
    return [{**cell.labels, **each} for cell, each in zip(study.cells(), figures, strict=False)]


def test_seeds_are_one_row_in_percent_of_list(tmp_path: Path) -> None:
    trace = tmp_path / "KTH-SP2-filtered.swf"
    trace.touch()
    study = CpOnlineStudy(traces=(trace,), policies=("easy", "order-af"), estimates=("actual",), seeds=2)
    assert [cell.name.split("/", 1)[1] for cell in study.cells()] == [
        "actual/list/0",
        "actual/easy/0",
        "actual/order-af/0",
        "actual/order-af/1",
    ]
    found = found_of(study, (told(200.0), told(190.0), told(150.0), told(160.0)))
    row = rows_of(found)[2]
    assert (row["policy"], row["seeds"], row["af"], row["af_percent"]) == ("order-af", 2, 155.0, 77.5)
    assert (row["af_least_percent"], row["af_most_percent"], row["af_published_percent"]) == (75.0, 80.0, 76)
    assert (row["awf_percent"], row["ms_per_round"], row["queue_100"]) == (100.0, 50.0, 3)
    assert rows_of(found, is_whole=False)[2]["af_published_percent"] is None
    queues = study.report(found).files["queues.csv"]
    assert [row["policy"] for row in queues] == [
        name for name in ("list", "order-af") for _ in found[0]["queue_by_day"]
    ]
    assert [(row["day"], row["waiting_jobs"]) for row in queues[: len(queues) // 2]] == found[0]["queue_by_day"]
    page = study.page(study.report(found))
    assert "77.5 (75.0 to 80.0)" in page
    assert "KTH-SP2, order-af, actual, published: 76.0" in page


def test_what_was_published_stands_beside_the_form_that_searches_orders() -> None:
    assert published("SDSC-SP2-1998-4.2-cln", "requested", "order-awf", "awf") == 73
    assert published("KTH-SP2-filtered", "actual", "order-p2sf+", "p2sf") == 90
    assert published("KTH-SP2-filtered", "actual", "order-awf", "awf") is None  # a digit cannot be read
    assert published("KTH-SP2-filtered", "last2", "order-af", "af") is None
    assert published("HPC2N-2002-2.2-cln", "actual", "order-af", "af") is None


def test_columns_without_anything_published_are_left_out() -> None:
    found = [{"trace": "mine", "estimate": "actual", "policy": "list", "seed": 0, **told(1.0)}]
    assert [column.title for column in policy_table(rows_of(found)).columns] == [
        *("policy", "AF", "AWF", "BSLD", "P2SF", "time", "a round"),
    ]


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Sixty jobs on eight processors, more than they can do at once."""
    rng = np.random.default_rng(5)
    lines = ["; MaxProcs: 8"]
    for number in range(1, 61):
        runtime = int(rng.integers(1, 500))
        width = int(rng.integers(1, 9))
        asked = runtime + int(rng.integers(0, 500))
        fields = [number, number * 30, -1, runtime, width, -1, -1, width, asked, -1, 1, 1, 1, -1, 1, -1, -1, -1]
        lines.append(" ".join(map(str, fields)))
    path = tmp_path / "sixty.swf"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_study_runs_and_goes_on(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables, page and CSV agree; what is kept is not made again, and other settings are."""
    made: list[str] = []
    put = kept_pieces.put_piece
    monkeypatch.setattr(kept_pieces, "put_piece", lambda path, content: (made.append(path.name), put(path, content)))
    command = [
        "study",
        "cp-online",
        str(trace),
        "-p",
        "order-af,saf-list",
        "-e",
        "actual",
        "--out",
        str(tmp_path),
        "-q",
    ]
    assert run([*command, "--seeds", "2"]) == 0
    folder = tmp_path / "studies" / "cp-online"
    rows = csv_rows(folder / "cp-online.csv")
    assert [row["policy"] for row in rows] == ["list", "order-af", "saf-list"]
    assert float(rows[1]["af_percent"]) < 100
    assert "sixty, order-af" in (folder / "cp-online.html").read_text("utf-8")
    assert len(made) == 4
    assert run([*command, "--seeds", "2"]) == 0
    assert len(made) == 4
    assert run([*command, "--evaluations", "5"]) == 0
    assert len(made) == 7


def test_one_job_alone_has_no_percents(trace: Path, tmp_path: Path) -> None:
    """It is the one that ends last, which is left out, so there is nothing to be drawn."""
    command = ["study", "cp-online", str(trace), "-p", "easy", "-e", "actual", "--jobs", "1", "--out", str(tmp_path)]
    assert run([*command, "-q"]) == 0
    assert (tmp_path / "studies" / "cp-online" / "cp-online.html").exists()


def test_two_processes_give_the_same_rows(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All but the time that it took."""
    found = []
    for workers in ("1", "2"):
        command = [
            "study",
            "cp-online",
            str(trace),
            "-p",
            "order-bsld",
            "-e",
            "requested",
            "--seeds",
            "2",
            "--json",
            "-q",
        ]
        assert run([*command, "--workers", workers, "--out", str(tmp_path / workers)]) == 0
        rows = json.loads(capsys.readouterr().out)
        found.append([{key: row[key] for key in row if key not in ("cpu_s", "ms_per_round")} for row in rows])
    assert found[0] == found[1]
    assert len(found[0]) == 2


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["-p", "order-magic"], "unknown local objective 'magic'"),
        (["-e", "magic"], "magic"),
        (["elsewhere.swf"], "there is no such trace"),
    ],
)
def test_bad_input_is_one_line(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], says: str
) -> None:
    assert run(["study", "cp-online", str(trace), *more, "--out", str(tmp_path), "-q"]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "studies").exists()


def test_two_traces_of_one_name_are_refused(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study", "cp-online", str(trace), str(trace), "--out", str(tmp_path), "-q"]) == 2
    assert "two traces have one name" in capsys.readouterr().err
