"""Reservations of wide jobs in a real Slurm: made, moved, found again by the next plan, and given back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from planner.cli.main import run
from planner.errors import SlurmError
from planner.slurm.apply import carry_out, plan_changes, plan_undo
from planner.slurm.changes import OptIn, Outcome, Proposal, Rules
from planner.slurm.commands import Slurm
from planner.slurm.current import Record, read_queue
from planner.slurm.journal import read_ours
from planner.slurm.reservations import MARGIN_S, Place
from planner.slurm.reserved import Reserved, reservations_now
from planner.slurm.verify import reservation_differences
from tests.days import rows_of
from tests.slurm.cluster import SEARCH, Cluster
from tests.slurm.site import write_slurm_site

HOUR = 3600
RULES = Rules(OptIn(partitions=frozenset({"batch", "open"})))
SITE = "slurm: {partitions: [batch], opt_in: {comment: [wide]}, reserve_nodes: 4}\n"
LATE_S = 4
"""How late a job may start that has its nodes reserved: Slurm's cycle is a second, but the machine may be busy."""

Said = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def tidy(shared_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No reservation outlives its test."""
    monkeypatch.setenv("PATH", SEARCH)
    monkeypatch.setenv("SLURM_CONF", str(shared_cluster.conf))
    yield
    shared_cluster.cancel_all(but=shared_cluster.command("squeue", "-h", "--name=filler", "--format=%A").strip())
    for each in reservations_now(Slurm()):
        shared_cluster.command("scontrol", "delete", f"ReservationName={each.name}")


def held() -> dict[str, Reserved]:
    """What every reservation of Slurm holds now, by name."""
    return {each.name: Reserved.of(each) for each in reservations_now(Slurm())}


def one(job_id: str) -> Record:
    """A job as it is now."""
    found = read_queue(Slurm()).find(job_id)
    assert found is not None
    return found


def send(places: Mapping[str, Place], journal: Path, slurm: Slurm | None = None) -> tuple[Proposal, list[Outcome]]:
    """What is proposed for wide jobs at these places, and what becomes of it."""
    slurm = slurm or Slurm()
    wanted = {job: place.start_unix for job, place in places.items()}
    proposal = plan_changes(slurm, wanted, RULES, journal, places=places)
    return proposal, carry_out(slurm, proposal.changes, journal, reservations=proposal.reservations)


def take_back(journal: Path) -> tuple[Proposal, list[Outcome]]:
    """What is proposed to undo everything, and what becomes of it."""
    proposal = plan_undo(Slurm(), journal)
    return proposal, carry_out(Slurm(), proposal.changes, journal, reservations=proposal.reservations, undo=True)


def wide(cluster: Cluster, *more: str, sleep_s: int = 600) -> str:
    """The id of a job on four whole nodes for at most a minute."""
    return cluster.submit("--nodes=4", "--exclusive", "--time=1", "--comment=wide", *more, sleep_s=sleep_s)


def later(*nodes: str) -> Place:
    """On these nodes in two hours."""
    return Place(int(time.time()) + 2 * HOUR, nodes or ("n1", "n2", "n3", "n4"))


def test_a_wide_job_starts_when_and_where_it_was_planned(empty_cluster: Cluster, journal: Path) -> None:
    """Ten smaller jobs wait before it in the queue and would take every node as it comes free: they get the other
    three. Two wide jobs may follow each other on the same nodes, although reservations last longer than jobs."""
    filler = empty_cluster.submit("--nodes=7", "--exclusive", "--time=1", sleep_s=3)
    empty_cluster.wait_for(filler, "RUNNING")
    small = [empty_cluster.submit("--ntasks=32", "--time=60") for _ in range(10)]
    first, second = wide(empty_cluster, sleep_s=1), wide(empty_cluster)
    start, nodes = int(time.time()) + 6, ("n1", "n2", "n3", "n4")
    places = {first: Place(start, nodes), second: Place(start + 4, nodes)}
    _, outcomes = send(places, journal)
    assert [each.note for each in outcomes] == [""] * 4
    assert held()[f"plan-{first}"] == Reserved(nodes, "root", start, start + 60 + MARGIN_S)
    (made,) = (each for each in reservations_now(Slurm()) if each.name == f"plan-{first}")
    assert set(made.flags) >= {"OVERLAP", "IGNORE_JOBS", "NO_HOLD_JOBS_AFTER_END", "PURGE_COMP=00:01:00"}
    empty_cluster.wait_for(second, "RUNNING")
    seen = empty_cluster.history()
    for job, place in places.items():
        assert 0 <= (seen[job].start_unix or 0) - place.start_unix <= LATE_S
    where = empty_cluster.command("squeue", "-h", "--states=all", f"--jobs={first},{second}", "--format=%N").split()
    assert where == ["n[1-4]"] * 2
    assert sum(seen[job].state == "RUNNING" for job in small) == 3


def test_applying_twice_changes_nothing_and_undo_gives_all_back(cluster: Cluster, journal: Path) -> None:
    """What somebody else has changed stays, and is named; a job without its reservation is put into it again."""
    job, place = wide(cluster), later()
    name, before = f"plan-{job}", one(job).begin_unix
    proposal = plan_changes(Slurm(), {job: place.start_unix}, RULES, journal, places={job: place})
    assert len(proposal.reservations) == 1
    assert (held(), journal.exists()) == ({}, False)
    assert [each.taken for each in send({job: place}, journal)[1]] == [True, True]
    written = journal.read_bytes()
    proposal, outcomes = send({job: place}, journal)
    assert (proposal.changes, proposal.reservations, outcomes) == ((), (), [])
    assert journal.read_bytes() == written
    assert one(job).reservation == name

    cluster.command("scontrol", "update", f"JobId={job}", "ReservationName=")
    assert differ(journal) == [f"is not in its reservation {name}"]
    assert [each.taken for each in send({job: place}, journal)[1]] == [True]
    assert one(job).reservation == name
    assert differ(journal) == []

    end = held()[name].end_unix or 0
    cluster.command("scontrol", "update", f"ReservationName={name}", f"EndTime=uts{end + 60}")
    assert differ(journal) == [f"the reservation {name} is not as it was made"]
    proposal, _ = take_back(journal)
    assert [each.reason for each in proposal.refusals] == [f"the reservation {name} is not as we made it"]
    assert held()[name].end_unix == end + 60
    cluster.command("scontrol", "update", f"ReservationName={name}", f"EndTime=uts{end}")
    assert [each.taken for each in take_back(journal)[1]] == [True]
    assert (held(), one(job).reservation) == ({}, "")
    assert (one(job).begin_unix or 0) <= max(before or 0, time.time() + 1)
    assert plan_undo(Slurm(), journal) == Proposal((), (), ())


def differ(journal: Path) -> list[str]:
    """What `verify` says of reservations."""
    ours, now = read_ours(journal), int(time.time())
    return [each.text for each in reservation_differences(ours, read_queue(Slurm()), reservations_now(Slurm()), now)]


def test_a_new_plan_moves_the_reservation_or_gives_it_back(cluster: Cluster, journal: Path) -> None:
    """Other nodes, another time; a job that is on fewer nodes, or shares them, has none any longer."""
    job, task = wide(cluster), f"{wide(cluster, '--array=1-3')}_2"
    send({job: later(), task: later()}, journal)
    moved = Place(later().start_unix + HOUR, ("n2", "n3", "n4", "n5"))
    _, outcomes = send({job: moved, task: moved}, journal)
    assert all(each.taken for each in outcomes)
    assert {(name, each.nodes, each.start_unix) for name, each in held().items()} == {
        (f"plan-{each}", moved.nodes, moved.start_unix) for each in (job, task)
    }
    assert [one(each).reservation for each in (job, task)] == [f"plan-{job}", f"plan-{task}"]
    shared = Place(moved.start_unix, moved.nodes, shared=True)
    proposal, _ = send({job: shared}, journal)
    assert "the plan has other jobs on its nodes" in proposal.unreserved[0].reason
    assert (held(), one(job).reservation, one(task).reservation) == ({}, "", "")


def test_jobs_that_have_started_or_ended_leave_nothing(cluster: Cluster, journal: Path) -> None:
    """One runs in its reservation, one has ended, one was cancelled while it waited; the running one goes on."""
    runs, ended = (cluster.submit("--partition=open", "--hold", sleep_s=each) for each in (600, 1))
    cancelled = wide(cluster)
    now = int(time.time())
    for job in (runs, ended):
        cluster.command("scontrol", "update", f"JobId={job}", f"StartTime=uts{now + HOUR}")
        cluster.command("scontrol", "release", job)
    places = {job: Place(now, ("n8",)) for job in (runs, ended)} | {cancelled: later()}
    wanted = {cancelled: places[cancelled].start_unix, runs: now + HOUR, ended: now + HOUR}
    proposal = plan_changes(Slurm(), wanted, RULES, journal, places=places)
    carry_out(Slurm(), (), journal, reservations=proposal.reservations)
    assert len(held()) == 3
    for job in (runs, ended):
        cluster.command("scontrol", "update", f"JobId={job}", "StartTime=now")
    cluster.command("scancel", cancelled)
    cluster.wait_for(runs, "RUNNING")
    cluster.wait_for(ended, "COMPLETED")
    assert one(runs).reservation == f"plan-{runs}"
    assert "in use" in cluster.command("scontrol", "delete", f"ReservationName=plan-{runs}", check=False)
    proposal, outcomes = send({}, journal)
    assert [each.taken for each in outcomes] == [True] * 3
    assert {each.job: each.why for each in proposal.reservations} == {
        runs: "its job has started or ended (RUNNING)",
        ended: "its job has started or ended (COMPLETED)",
        cancelled: "its job has started or ended (CANCELLED)",
    }
    assert held() == {}
    assert (one(runs).state, one(runs).reservation) == ("RUNNING", "")


def test_a_job_that_starts_or_goes_before_the_change_arrives_leaves_nothing(cluster: Cluster, journal: Path) -> None:
    """Slurm puts a job that runs elsewhere into its reservation all the same: nodes would stay idle for nothing."""
    gone, runs = wide(cluster), cluster.submit()
    places = {gone: later(), runs: later()}
    wanted = {job: place.start_unix for job, place in places.items()}
    proposal = plan_changes(Slurm(), wanted, RULES, journal, places=places)
    cluster.command("scancel", gone)
    cluster.command("scontrol", "update", f"JobId={runs}", "Partition=open")
    cluster.wait_for(runs, "RUNNING")
    outcomes = carry_out(Slurm(), (), journal, reservations=proposal.reservations)
    assert [(each.note, each.overtaken) for each in outcomes] == [
        ("already started or ended (CANCELLED)", True),
        ("already started or ended (RUNNING)", True),
    ]
    assert (held(), one(runs).reservation) == ({}, "")


def broken_scontrol(folder: Path, calls: int, then: str) -> Slurm:
    """Commands of which scontrol passes on only so many changes of reservations."""
    folder.mkdir()
    script = folder / "scontrol"
    count = f'echo x >> {folder}/calls; [ "$(wc -l < {folder}/calls)" -le {calls} ] || {then}'
    script.write_text(
        f'#!/bin/sh\ncase "$1" in create|update|delete) {count};; esac\nexec /usr/bin/scontrol "$@"\n', encoding="utf-8"
    )
    script.chmod(0o755)
    (folder / "squeue").symlink_to("/usr/bin/squeue")
    return Slurm(folder=folder, timeout_s=3)


@pytest.mark.parametrize(
    ("calls", "then", "left"),
    [(1, "exit 1", ["old"]), (2, "exit 1", []), (3, "exec sleep 9", ["new"])],
)
def test_what_fails_half_way_can_be_undone(
    cluster: Cluster, journal: Path, tmp_path: Path, calls: int, then: str, left: list[str]
) -> None:
    """The move of a reservation takes four calls: the job taken out, the old deleted, the new made, the job put in."""
    job = wide(cluster)
    old, new = later(), later("n2", "n3", "n4", "n5")
    send({job: old}, journal)
    broken = broken_scontrol(tmp_path / "bin", calls, then)
    if "sleep" in then:
        with pytest.raises(SlurmError, match="scontrol did not answer within 3 s"):
            send({job: new}, journal, broken)
    else:
        _, outcomes = send({job: new}, journal, broken)
        assert (outcomes[0].taken, outcomes[0].overtaken) == (False, False)
    nodes = {"old": old.nodes, "new": new.nodes}
    assert [each.nodes for each in held().values()] == [nodes[each] for each in left]
    assert all(each.taken for each in take_back(journal)[1])
    assert (held(), one(job).reservation) == ({}, "")
    assert [each.taken for each in send({job: new}, journal)[1]] == [True] * 2
    assert [each.nodes for each in held().values()] == [new.nodes]


def test_who_may_not_make_reservations_is_told_in_one_line(cluster: Cluster, journal: Path, tmp_path: Path) -> None:
    """The begin time is set all the same."""
    job, place = wide(cluster), later()
    denied = broken_scontrol(
        tmp_path / "bin", 0, "{ echo 'Error creating the reservation: Invalid user id' >&2; exit 1; }"
    )
    _, outcomes = send({job: place}, journal, denied)
    assert [(each.taken, each.note) for each in outcomes] == [
        (
            False,
            "Error creating the reservation: Invalid user id (reservations are for operators of Slurm to make)",
        ),
        (True, ""),
    ]
    assert one(job).begin_unix == place.start_unix


def test_a_reservation_that_its_job_cannot_be_put_into_is_deleted(
    cluster: Cluster, journal: Path, tmp_path: Path
) -> None:
    """It would keep others out for nothing."""
    refuses = broken_scontrol(tmp_path / "bin", 0, '[ "$1" != update ] || exit 1')
    _, outcomes = send({wide(cluster): later()}, journal, refuses)
    assert [each.taken for each in outcomes] == [False, True]
    assert held() == {}


def test_reservations_of_others_are_not_touched(cluster: Cluster, journal: Path) -> None:
    """A wide job gets none on nodes that are somebody else's by then, or where its name is taken."""
    first, second = wide(cluster), wide(cluster)
    times = (f"StartTime=uts{later().start_unix + 30}", "Duration=60", "Users=root", "Flags=ignore_jobs")
    for name, node in (("course", "n4"), (f"plan-{second}", "n7")):
        cluster.command("scontrol", "create", "reservation", f"ReservationName={name}", f"Nodes={node}", *times)
    before = held()
    proposal, outcomes = send({first: later(), second: later("n1", "n2", "n3", "n5")}, journal)
    assert [each.reason for each in proposal.unreserved] == [
        "the reservation course has some of its nodes by then",
        f"the reservation plan-{second} is not as we made it",
    ]
    assert [each.taken for each in outcomes] == [True, True]
    take_back(journal)
    assert held() == before


def facts(said: Said, *arguments: str) -> Any:
    """The JSON that a command prints when all is well."""
    said.readouterr()
    code = run([*arguments, "--json"])
    out, err = said.readouterr()
    assert code == 0, err
    return json.loads(out)


def noon_zone() -> str:
    """A time zone in which it is about noon, so that no plan meets midnight."""
    hours = datetime.now(UTC).hour - 12
    return f"Etc/GMT{hours:+d}" if hours else "UTC"


def test_the_next_plan_is_free_to_plan_the_job_again(
    empty_cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    """Reserved by the first plan, unchanged by the second, moved by the third, and given back once it runs."""
    write_slurm_site(tmp_path / "site", SITE, zone=noon_zone())
    monkeypatch.chdir(tmp_path / "site")
    now = ("now", "--bound-time", "0", "--apply")
    blocks = empty_cluster.submit("--nodes=7", "--exclusive", "--time=3")
    empty_cluster.wait_for(blocks, "RUNNING")
    job = wide(empty_cluster)
    end = (one(blocks).start_unix or 0) + 180

    first = facts(capsys, *now)
    (made,) = first["reservations"]
    assert (made["job"], made["name"], made["taken"]) == (job, f"plan-{job}", True)
    place = str(next(Path("reports/site").glob("????-??-??")))
    assert reserved_as_planned(place, job)
    assert held()[f"plan-{job}"].start_unix >= end
    assert facts(capsys, "slurm", "verify", place) == {"set": 1, "reservations": 1, "differences": []}
    assert facts(capsys, "slurm", "undo", place, "--yes")["reservations"][0]["new"] is None
    assert run(["slurm", "apply", place]) == 0
    said = capsys.readouterr().out
    assert f"  {job}  gets the reservation plan-{job}: {made['new']['nodes']} from 20" in said
    assert "dry run: 2 to change" in said
    assert held() == {}
    facts(capsys, "slurm", "apply", place, "--yes")
    second = facts(capsys, *now)
    assert (second["reservations"], second["changes"], second["unchanged"]) == ([], [], [job])
    assert reserved_as_planned(place, job)

    empty_cluster.command("scancel", blocks)
    empty_cluster.wait_for(blocks, "CANCELLED")
    (moved,) = facts(capsys, *now)["reservations"]
    assert moved["new"]["start"] < end - 60
    empty_cluster.wait_for(job, "RUNNING")
    if held():  # else it started while its reservation was being moved, which deletes that
        assert run(["slurm", "apply", place]) == 0
        assert f"  {job}  the reservation plan-{job} goes: its job has started or ended" in capsys.readouterr().out
    facts(capsys, "slurm", "apply", place, "--yes")
    assert held() == {}


def reserved_as_planned(folder: str, job_id: str) -> bool:
    """Whether the reservation of a job is on the nodes and from the start that its plan says."""
    (row,) = (row for row in rows_of(Path(folder) / "schedule.csv") if row["job_id"] == job_id)
    start = int(datetime.fromisoformat(row["start_time"]).timestamp())
    found = held().get(f"plan-{job_id}")
    return found is not None and found.node_list == row["nodes"] and found.start_unix >= start
