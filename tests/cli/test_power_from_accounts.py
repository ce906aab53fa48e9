"""``plan power`` from Slurm's accounts: what is learned, what is left out, and that waiting jobs are known again."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from planner.inputs.slurm.read_site import SlurmSite
from planner.inputs.slurm.saved_folder import read_saved
from planner.scenario.load import load_scenario
from tests.days import tree, write_small_site
from tests.slurm.site import write_slurm_site
from tests.slurm_documents import DIALECTS, NOW, Dialect, job, nodes, sacct, squeue

HEAD = (
    "JobID|JobName|User|Account|Partition|State|Submit|Start|End|Timelimit|NodeList|AllocCPUS|ReqTRES|ConsumedEnergyRaw"
)
SUBMITTED = "2024-06-01T00:00:00"
ONE_HOUR_J = 3600


def row(
    name: str,
    start: str,
    end: str,
    where: str,
    *,
    cpus: int = 8,
    energy: object = 100 * ONE_HOUR_J,
    state: str = "COMPLETED",
    asked: str = "cpu=8,mem=8G,node=1",
) -> str:
    """A job of ann; times are clock times of the first of June."""
    times = [each if each == "Unknown" else f"2024-06-01T{each}:00" for each in (start, end)]
    cells = [name, "relax", "ann", "physics", "batch", state, SUBMITTED, *times, "02:00:00", where, cpus, asked, energy]
    return "|".join(map(str, cells))


def write_rows(path: str, *rows: str) -> str:
    """A file as ``sacct --parsable2`` writes it."""
    Path(path).write_text("\n".join([HEAD, *rows]) + "\n", encoding="utf-8")
    return path


def learn(*more: str) -> int:
    """Learn into a file beside the scenario."""
    return run(["power", "learn", "--out", "scenarios/power.json", *more])


def learned() -> dict[str, Any]:
    """What the file holds."""
    found: dict[str, Any] = json.loads(Path("scenarios/power.json").read_text(encoding="utf-8"))
    return found


def group(level: int) -> list[list[Any]]:
    """The groups of a level: their words, watts per core, weight and number of jobs."""
    found: list[list[Any]] = learned()["levels"][level]["groups"]
    return found


@pytest.fixture(autouse=True)
def small_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four nodes of eight cores, cpu1 to cpu4, to stand in; no Slurm."""
    base = write_small_site(tmp_path / "site")
    (tmp_path / "bin").mkdir()
    monkeypatch.chdir(base)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return base


EVERY_REASON = (
    row("1", "01:00", "02:00", "cpu1"),
    row("2", "02:00", "03:00", "cpu1", energy=200 * ONE_HOUR_J, state="CANCELLED by 1000"),
    row("3", "05:00", "07:00", "cpu[1-2]", cpus=9, asked="cpu=9,mem=8G,node=2"),
    row("4", "06:00", "07:00", "cpu2", cpus=4),
    row("5", "08:00", "09:00", "cpu3", energy=""),
    row("6", "08:00", "09:00", "cpu4", energy=-2),
    row("7", "10:00", "11:00", "cpu1", energy=9 * ONE_HOUR_J),
    row("8", "10:00", "11:00", "cpu2", energy=20_001 * ONE_HOUR_J),
    row("9", "Unknown", "11:00", "None assigned", state="CANCELLED by 1000"),
    row("10", "11:00", "11:00", "cpu1", state="FAILED"),
    row("11", "12:00", "Unknown", "cpu1", state="RUNNING"),
    row("12", "Unknown", "Unknown", "None assigned", state="PENDING"),
    row("13", "12:00", "13:00", "gpu7"),
    row("14", "12:00", "13:00", "cpu3", cpus=16),
)
LEFT_OUT = {
    "shared its nodes: the measured power is not its own": 2,
    "no power was measured": 2,
    "its measured energy is not used: it is less than their nodes draw when empty": 1,
    "its measured energy is not used: it is more than 20 kW per node": 1,
    "never ran, or not for a second": 2,
    "no end: it has not finished": 2,
    "ran on nodes or in a partition that the scenario does not have": 1,
    "had more CPUs than its nodes have cores in the scenario": 1,
}


def test_what_cannot_be_learned_from_is_counted_by_reason(capsys: pytest.CaptureFixture[str]) -> None:
    """An empty node draws 10 W; the second job takes over the node in the second in which the first ends."""
    source = write_rows("sacct.txt", *EVERY_REASON)
    assert learn("--from", source, "--json", "--set", "cluster.classes.cpu.idle_w=10") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["left_out"] == LEFT_OUT == learned()["left_out"]
    assert learned()["jobs"] == 2
    assert list(learned()["sources"]) == ["sacct.txt"]
    assert "left out: 2 jobs: shared its nodes: the measured power is not its own" in shown.err
    # 100 W, then 200 W, of eight cores: (0.9 * 12.5 + 25) / 1.9 W per core.
    (found,) = group(0)
    assert found[:5] == ["ann", "physics", "relax", "batch", "1x cores=8 memory_gb=8.192 7200 s"]
    assert found[5] == pytest.approx((0.9 * 12.5 + 25) / 1.9)


def test_a_meter_of_its_own_lets_shared_jobs_count(capsys: pytest.CaptureFixture[str]) -> None:
    """Also below what empty nodes draw, as a job's own meter does not see these."""
    source = write_rows("sacct.txt", *EVERY_REASON)
    metered = ("--set", "cluster.classes.cpu.idle_w=10", "--set", "power.metered=job")
    assert learn("--from", source, "--json", *metered) == 0
    left_out = json.loads(capsys.readouterr().out)["left_out"]
    assert learned()["jobs"] == 5
    assert left_out == {
        reason: count for reason, count in LEFT_OUT.items() if "shared" not in reason and "less" not in reason
    }


def test_a_job_of_two_files_counts_once_and_is_not_in_its_own_way(capsys: pytest.CaptureFixture[str]) -> None:
    """In the first file it still runs; the third job is in both."""
    ended = row("3", "05:00", "06:00", "cpu2")
    first = write_rows("first.txt", row("1", "01:00", "Unknown", "cpu1", state="RUNNING"), ended)
    second = write_rows("second.txt", row("1", "01:00", "02:00", "cpu1"), ended)
    for order in ((first, second), (second, first)):
        assert learn("--from", order[0], "--from", order[1], "--json") == 0
        assert json.loads(capsys.readouterr().out)["left_out"] == {"given twice": 2}
        assert learned()["jobs"] == 2


def test_files_of_sacct_and_tables_go_together() -> None:
    """Each counts, and each is named with its digest."""
    table = "job_id,submit_time,end_time,requested_h,units,cores_per_unit,user,name,power_w\n"
    table += "a,2024-05-28T08:00:00+02:00,2024-05-28T10:00:00+02:00,2,1,8,ann,relax,160\n"
    Path("finished.csv").write_text(table, encoding="utf-8")
    source = write_rows("sacct.txt", row("1", "01:00", "02:00", "cpu1"))
    assert learn("--from", source, "--from", "finished.csv", "-q") == 0
    assert (learned()["jobs"], list(learned()["sources"])) == (2, ["finished.csv", "sacct.txt"])


def test_quiet_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """For cron; what was left out is in the file."""
    assert learn("--from", write_rows("sacct.txt", *EVERY_REASON), "-q") == 0
    assert capsys.readouterr() == ("", "")
    assert sum(learned()["left_out"].values()) == 11


def test_only_what_ended_before_a_day() -> None:
    """Both jobs end on the first of June."""
    source = write_rows("sacct.txt", row("1", "01:00", "02:00", "cpu1"))
    assert learn("--from", source, "--until", "2024-06-01") == 2
    assert learn("--from", source, "--until", "2024-06-02", "-q") == 0


def test_errors_from_accounts(capsys: pytest.CaptureFixture[str]) -> None:
    """The second job, of 200 W, is predicted by the first, of 100 W; the constant gives 80 W for both."""
    rows = [row("1", "01:00", "02:00", "cpu1"), row("2", "04:00", "05:00", "cpu1", energy=200 * ONE_HOUR_J)]
    source = write_rows("sacct.txt", rows[0], rows[1].replace(SUBMITTED, "2024-06-01T03:00:00"))
    command = ["power", "errors", "--from", source, "--skip-days", "0", "--set", "power.w_per_core=10", "--json"]
    assert run(command) == 0
    lines = json.loads(capsys.readouterr().out)["lines"]
    found = {(line["predictor"], line["level"]): (line["jobs"], line["mae_w"]) for line in lines}
    assert found["learned, on-line", "user + account + name + partition + request"] == (1, 100.0)
    assert found["constant, 10 W per core", ""] == (2, pytest.approx((20 + 120) / 2))


BROKEN_TIMES = {"submission": NOW, "start": NOW + 9, "end": NOW + 5, "limit": 30}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"jobs": [', "source: is not JSON"),
        ('{"nodes": []}', "source: has no list 'jobs'"),
        ("JobID|State\n1|COMPLETED\n", "source:1: has no column Submit"),
        (HEAD + "\n" + row("x", "01:00", "02:00", "cpu1"), "source:2: JobID is 'x', expected a job such as 42"),
        (HEAD + "\n" + row("1", "01:00", "02:00", "cpu1", asked="many"), "source:2: ReqTRES: 'many' is no amount"),
        (json.dumps(sacct("24.11", time=BROKEN_TIMES)), "source: job 40_0 ends at"),
        ("sacct: error\n", "docs/power.md lists all"),
    ],
)
def test_bad_files_are_one_line(small_site: Path, capsys: pytest.CaptureFixture[str], content: str, said: str) -> None:
    """Exit code 2, nothing written, and the line says where and what."""
    Path("source").write_text(content, encoding="utf-8")
    before = tree(small_site)
    assert learn("--from", "source") == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err
    assert tree(small_site) == before


def tres(cpus: int, memory_mb: int, count: int, gpus: int = 0, energy: int | None = None) -> list[dict[str, Any]]:
    """Amounts as ``sacct --json`` writes them."""
    found = {"cpu": cpus, "mem": memory_mb, "node": count, "energy": energy}
    rows = [{"type": kind, "name": None, "id": 1, "count": amount} for kind, amount in found.items() if amount]
    return rows + ([{"type": "gres", "name": "gpu", "id": 1001, "count": gpus}] if gpus else [])


ALIKE: dict[str, tuple[dict[str, Any], str, list[dict[str, Any]], list[dict[str, Any]]]] = {
    "some cores of a node": ({}, "n1", tres(4, 4000, 1), tres(4, 4000, 1)),
    "two CPUs where one was asked for, as cores have two threads": (
        {"cpus": 1, "tasks": 1, "tres_req_str": "cpu=1,mem=1000M,node=1"},
        "n1",
        tres(1, 1000, 1),
        tres(2, 1000, 1),
    ),
    "whole nodes, by the script alone": (
        {"exclusive": True, "memory_per_cpu": None, "tres_req_str": "cpu=4,mem=125G,node=1"},
        "n1",
        tres(4, 128_000, 1),
        tres(32, 128_000, 1, gpus=4),
    ),
    "uneven shares of two nodes": (
        {"cpus": 5, "tasks": 5, "max_nodes": 2, "memory_per_cpu": 1001, "tres_req_str": "cpu=5,mem=5005M,node=2"},
        "n[1-2]",
        tres(5, 5005, 2),
        tres(5, 5005, 2),
    ),
    "GPUs of each node": (
        {"tres_per_node": "gres:gpu:4", "tres_req_str": "cpu=4,mem=4000M,node=1,gres/gpu=4"},
        "n1",
        tres(4, 4000, 1, gpus=4),
        tres(4, 4000, 1, gpus=4),
    ),
    "GPUs in all, more than a node has": (
        {"tres_per_job": "gres:gpu:6", "max_nodes": 0, "tres_req_str": "cpu=4,mem=4000M,node=1"},
        "n[1-2]",
        tres(4, 4000, 1, gpus=6),
        tres(4, 4000, 2, gpus=6),
    ),
}
"""What a waiting job says, the nodes that its like had, what that had asked for, and what it got."""


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("case", ALIKE)
def test_a_waiting_job_is_known_by_one_that_has_ended(tmp_path: Path, dialect: Dialect, case: str) -> None:
    """At the most specific level, whatever the dialect: 90 W were measured, 90 W are expected."""
    waiting, where, requested, allocated = ALIKE[case]
    saved = tmp_path / "saved"
    saved.mkdir()
    ended = sacct(
        dialect,
        job_id=7,
        name="job",
        user="alice",
        array={"job_id": 0},
        nodes=where,
        time={"submission": NOW - 100, "start": NOW - 90, "end": NOW - 30, "limit": 60},
        tres={"requested": requested, "allocated": [*allocated, *tres(0, 0, 0, energy=90 * 60)]},
    )
    documents = {
        "squeue.json": squeue(dialect, [job(8, **waiting)]),
        "nodes.json": nodes(dialect),
        "reservations.json": {"reservations": []},
        "sacct.json": ended,
    }
    manifest = {"kind": "slurm snapshot", "moment_unix": NOW + 9, "slurm": dialect, "remarks": []}
    documents["manifest.json"] = {**manifest, "commands": dict.fromkeys(documents, "")}
    for name, content in documents.items():
        (saved / name).write_text(json.dumps(content), encoding="utf-8")
    base = write_slurm_site(tmp_path / "slurm", f"slurm: {{documents: {saved}}}\n")
    scenario, out = base / "scenarios" / "site.yaml", base / "scenarios" / "power.json"
    assert run(["power", "learn", "-s", str(scenario), "--from", str(saved / "sacct.json"), "--out", str(out)]) == 0

    chosen = load_scenario(str(scenario), folders=[], overrides=[f"power.learned={out}"])
    site = SlurmSite.of(read_saved(saved), chosen.slurm)
    snapshot, intake = site.snapshot(site.scenario(chosen), lambda queued: queued.begin_unix)
    (found,) = snapshot.pending
    most = "power by jobs of the same user + account + name + partition + request: "
    (jobs,) = (note.removeprefix(most) for note in intake.notes if note.startswith(most))
    assert found.power_w == pytest.approx(90.0)
    if case in ("some cores of a node", "GPUs of each node"):  # the one that has ended is known again as well
        assert jobs == "2 jobs"


def fake_sacct(tmp_path: Path, document: object) -> None:
    """A sacct that answers the same for every day, as jobs of several days are in the accounts of each."""
    (tmp_path / "bin" / "answer.json").write_text(json.dumps(document) + "\n", encoding="utf-8")
    script = tmp_path / "bin" / "sacct"
    script.write_text(
        '#!/bin/sh\nwhile read -r line; do echo "$line"; done < "${0%/*}/answer.json"\n', encoding="utf-8"
    )
    script.chmod(0o755)


@pytest.mark.parametrize("until", [("--until", "2026-11-16"), ()])
def test_slurm_is_asked_where_no_file_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], until: tuple[str, ...]
) -> None:
    """Day by day, with the words of `plan book`; who was on the nodes is known from the first midnight to the last."""
    midnight = 1794697200  # of the 15th of November in Paris
    rows = []
    for number, (start, end) in enumerate([(-90_000, -80_000), (-3600, 3600), (7200, 9000), (80_000, 90_000)]):
        times = {"submission": midnight - 99_000, "start": midnight + start, "end": midnight + end, "limit": 600}
        given = {"job_id": 60 + number, "array": {"job_id": 0}, "nodes": f"cpu{number + 1}", "time": times}
        allocated = tres(8, 8000, 1, energy=50 * (end - start))
        rows += sacct("24.11", tres={"requested": [], "allocated": allocated}, **given)["jobs"]
    fake_sacct(tmp_path, {"errors": [], "jobs": rows})
    monkeypatch.setattr(time, "time", lambda: midnight + 100_000.0)
    assert learn("--days", "2", *until, "--json") == 0
    assert json.loads(capsys.readouterr().out)["left_out"] == {
        "started before the days that were asked for: who else was on its nodes is not known": 1,
        "ended too late": 1,
    }
    (found,) = group(7)
    assert found[1:] == [50 / 8, pytest.approx(1.9), 2]
    window = "sacct --allusers --duplicates --starttime={} --endtime={} --json=v0.0.42"
    assert list(learned()["sources"]) == [
        window.format("2026-11-13T23:00:00", "2026-11-14T23:00:00"),
        window.format("2026-11-14T23:00:00", "2026-11-15T23:00:00"),
    ]


@pytest.mark.parametrize("words", [("learn", "--out", "power.json"), ("errors",)])
def test_without_slurm_it_is_one_line(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 8, as of `plan book`."""
    assert run(["power", *words]) == 8
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "sacct is missing along PATH" in err
    assert "or give finished jobs with --from" in err


def test_days_do_not_go_with_files(capsys: pytest.CaptureFixture[str]) -> None:
    """A file has the days that it has."""
    assert learn("--from", write_rows("sacct.txt"), "--days", "3") == 2
    assert "--days is for Slurm" in capsys.readouterr().err
