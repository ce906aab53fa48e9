"""Claims about ``plan study dispatchers``, on a few jobs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from planner.cli.main import run
from planner.cp.engines import ENGINES
from planner.errors import SolverError
from planner.online.audit_replay import violations
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.studies import kept_pieces
from planner.studies.dispatcher_cells import CAPACITY, NOW_S, made_queue, times
from planner.studies.dispatchers import DispatcherStudy, queue_row, replay_row
from tests.days import rows_of as csv_rows

STUDY = DispatcherStudy()
POLICIES = STUDY.policies
QUICK = ["--time-limit", "0.01s", "--dispatch-steps", "10", "--evaluations", "2", "-q"]


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Ten jobs for EURORA that come at once, each on 16 of its 64 nodes with a GPU in each second one."""
    lines = ["job_id,submit_unix,requested_s,units,cores,memory_gb,gpus,runtime_s"]
    lines += [f"{k},{1_700_000_000 + k},{900 + k},16,256,64,{16 * (k % 2)},{300 + 10 * k}" for k in range(10)]
    path = tmp_path / "ten.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def told(machine: str, trace: str, policy: str, estimate: str = "actual", **more: object) -> dict[str, object]:
    """What is found of a replay that took two dispatches."""
    labels = {"machine": machine, "trace": trace, "policy": policy, "estimate": estimate}
    counts = {"rounds": 2, "proven": 1, "fallbacks": 1}
    found = {"jobs": 10, "nodes": 64, "stretch": 1.25, "wait": 60.0, "longest_wait": 300, "cpu_s": 1.5, "rounds": 6}
    return labels | found | {"engine": counts, "stopped": None, **times([0.1, 0.3])} | more


def test_rows_have_our_figures_and_the_published_ones() -> None:
    found = [told("eurora", "mine", "pcp21"), told("mine", "mine", "easy")]
    row, other = (replay_row(each) for each in found)
    assert (row["stretch"], row["wait_s"], row["dispatch_ms"], row["dispatch_most_ms"]) == (1.25, 60.0, 200.0, 300.0)
    assert (row["published_dispatch_ms"], row["published_simulation_s"]) == (256, 136_401)
    assert (row["dispatches"], row["ms_per_round"], row["proven_fraction"], row["fallbacks"]) == (2, 250.0, 0.5, 1)
    assert other["published_dispatch_ms"] is None
    page = STUDY.page(STUDY.report(found))
    assert "pcp21, actual: 200" in page
    assert "pcp21, actual, published: 256" in page
    assert "pcp21, actual: 1.25" in page


def test_a_replay_that_was_stopped_says_where() -> None:
    """PCP'19 on KIT's machine: the published one did not end either."""
    stopped = {"moment_s": 5400, "started": 12, "waiting": 30}
    nothing = {"stretch": None, "wait": None, "longest_wait": None, "stopped": stopped}
    report = STUDY.report([told("kit-forhlr2", "kit", "pcp19", jobs=2000, **nothing)])
    (row,) = report.content["replays"]
    assert (row["ended"], row["published_ended"], row["started_jobs"]) == ("no", "no", 12)
    words = "stopped at job 12 of 2,000, 1:30 h in, 30 waiting"
    assert words in report.markdown("dispatchers")
    assert "| no end |" in report.markdown("dispatchers")
    assert words in STUDY.page(report)
    (shown,) = report.terminal().values()
    assert shown[0]["end"] == words


def test_95_of_100_dispatches_take_at_most() -> None:
    """Of 1 to 100 ms."""
    found = times([k / 1000 for k in range(1, 101)])["dispatch_ms"]
    assert (found["mean"], found["most_of_95"], found["most"]) == pytest.approx((50.5, 96.0, 100.0))
    assert times([]) == {"dispatches": 0, "dispatch_ms": None}


def test_made_up_queues_can_be_dispatched() -> None:
    """What runs has room, jobs are in order of their slowdown, and what a round starts breaks no rule."""
    queue = made_queue(nodes=40, jobs=12, seed=1)
    trace, past = queue.trace(), queue.past()
    past.require_possible(trace)
    slowdown = (queue.waited_s + queue.length_s) / queue.length_s
    assert np.all(np.diff(slowdown) <= 0)
    assert np.all((queue.until_s > 0) == queue.taken.any(axis=1))
    assert np.all(queue.taken <= CAPACITY)
    result = replay(trace, policy_named("list"), trace.runtime_s, past=past, until_s=NOW_S + 1)
    assert violations(result) == []
    assert 0 < (result.start_s == NOW_S).sum() < 12


def test_the_study_runs_and_goes_on(jobs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All policies on EURORA's nodes and on made-up queues; what is kept is not made again, and other settings are."""
    made: list[str] = []
    put = kept_pieces.put_piece
    monkeypatch.setattr(kept_pieces, "put_piece", lambda path, content: (made.append(path.name), put(path, content)))
    sizes = ["--nodes", "8", "--queues", "3,6"]
    command = ["study", "dispatchers", str(jobs), "-s", "eurora", "-e", "actual", *sizes, "--out", str(tmp_path)]
    assert run([*command, *QUICK]) == 0
    folder = tmp_path / "studies" / "dispatchers"
    rows = csv_rows(folder / "dispatchers.csv")
    assert [row["policy"] for row in rows] == list(POLICIES)
    assert {row["jobs"] for row in rows} == {"10"}
    assert all(float(row["stretch"]) > 1 and float(row["dispatch_ms"]) > 0 for row in rows)
    assert all(int(row["dispatches"]) <= int(row["rounds"]) for row in rows)
    queues = csv_rows(folder / "queues.csv")
    assert [(row["nodes"], row["jobs"]) for row in queues[:: len(POLICIES)]] == [("8", "3"), ("8", "6")]
    page = (folder / "dispatchers.html").read_text("utf-8")
    assert "hcp19, actual, published: 357" in page
    assert f"hcp19, actual: {float(rows[0]['stretch']):.2f}" in page
    assert "6 waiting jobs" in page
    assert len(made) == 3 * len(POLICIES)
    assert run([*command, *QUICK]) == 0
    assert len(made) == 3 * len(POLICIES)
    assert run([*command, *QUICK, "--part", "replays", "--jobs", "5", "-p", "easy"]) == 0
    assert len(made) == 3 * len(POLICIES) + 1
    assert csv_rows(folder / "dispatchers.csv")[0]["jobs"] == "5"
    assert not (folder / "queues.csv").exists()


def test_a_cell_without_time_is_stopped(jobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [
        "study",
        "dispatchers",
        str(jobs),
        "-e",
        "actual",
        "-p",
        "list",
        "--part",
        "replays",
        "--cell-time",
        "0s",
    ]
    assert run([*command, "--json", "-q", "--out", str(tmp_path)]) == 0
    (row,) = json.loads(capsys.readouterr().out)["replays"]
    assert (row["ended"], row["stretch"], row["started_jobs"]) == ("no", None, 1)
    assert run([*command, "-q", "--out", str(tmp_path)]) == 0
    assert "stopped at job 1 of 10, 0:00" in capsys.readouterr().out


def test_queues_need_no_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["study", "dispatchers", "-p", "pcp21s,easy", "--nodes", "8,16", "--queues", "4"]
    assert run([*command, "--out", str(tmp_path), "--markdown", *QUICK]) == 0
    out = capsys.readouterr().out
    assert "| nodes | waiting jobs | pcp21s [ms of CPU] | easy [ms of CPU] |" in out
    assert "| 16 | 4 |" in out


def test_rows_of_queues() -> None:
    counts = {"rounds": 3, "proven": 3, "fallbacks": 0}
    kept_of = {"queues": 3, "dispatch_ms": 12.5, "most_ms": 20.0, "started": 4, "engine": counts}
    found = {"nodes": 1173, "jobs": 100, "policy": "pcp21"} | kept_of
    row = queue_row(found)
    assert (row["dispatch_ms"], row["proven_fraction"], row["asked"]) == (12.5, 1.0, 3)
    assert "| 1,173 | 100 | 12.5, proven |" in STUDY.report([found]).markdown("dispatchers")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["-p", "pcp22"], "unknown policy 'pcp22'"),
        (["-p", "order-profit"], "plans for money"),
        (["-e", "magic"], "magic"),
        (["elsewhere.csv"], "there is no such trace"),
        (["-s", "nowhere"], "nowhere"),
        (["-s", "eurora,kit-forhlr2"], "--scenario names 2 machines for 1 files of jobs"),
        (["--engine", "magic"], "magic"),
        (["--time-limit", "soon"], "cannot read 'soon' as a duration"),
        (["--cell-time", "soon"], "cannot read 'soon' as a duration"),
        (["--part", "half"], "unknown part 'half'; known: replays, queues"),
        (["--nodes", "few"], "--nodes: cannot read 'few' as numbers"),
        (["--queues", "0"], "--queues is 0"),
    ],
)
def test_bad_input_is_one_line(
    jobs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], says: str
) -> None:
    assert run(["study", "dispatchers", str(jobs), *more, "--out", str(tmp_path / "out"), "-q"]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_replays_need_jobs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["study", "dispatchers", "--part", "replays", "--out", str(tmp_path), "-q"]) == 2
    assert "nothing to replay; give a file of jobs" in capsys.readouterr().err


def test_machines_of_files_may_repeat(tmp_path: Path) -> None:
    """Three files on two machines: each stands on its own; one machine serves all."""
    files = tuple(tmp_path / f"{name}.swf" for name in "abc")
    for path in files:
        path.touch()
    few = {"parts": ("replays",), "policies": ("easy",), "estimates": ("actual",)}
    study = DispatcherStudy(files=files, scenarios=("eurora", "kit-forhlr2", "eurora"), **few)
    assert [cell.labels["machine"] for cell in study.cells()] == ["eurora", "kit-forhlr2", "eurora"]
    assert {cell.labels["machine"] for cell in DispatcherStudy(files=files, **few).cells()} == {"eurora"}


def test_without_an_engine_the_others_are_dispatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note says which were not; with none left it is an error."""
    monkeypatch.setattr(type(ENGINES["cpsat"]), "available", lambda self: False)
    study = DispatcherStudy(policies=("hcp19", "pcp21", "easy"), parts=("queues",), nodes=(64,), queues=(20,))
    assert [cell.labels["policy"] for cell in study.cells()] == ["pcp21", "easy"]
    (note,) = study.report([]).notes
    assert note.startswith("hcp19 did not run: the engine cpsat is not installed")
    with pytest.raises(SolverError, match="not installed"):
        DispatcherStudy(policies=("hcp19",), parts=("queues",))
