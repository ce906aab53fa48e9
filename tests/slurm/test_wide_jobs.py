"""Which jobs get a reservation, what is kept of it in the journal, and what reaches scontrol: without a Slurm."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from planner.errors import FileFormatError, SlurmError
from planner.inputs.slurm.reservations import Reservation
from planner.slurm.apply import carry_out
from planner.slurm.commands import Slurm
from planner.slurm.current import Record
from planner.slurm.journal import read_ours, write_reservations, write_reserved
from planner.slurm.ours import Made, Ours
from planner.slurm.reservations import MARGIN_S, Place, Reservations, propose_reservations
from planner.slurm.reserved import ReservationChange, Reserved
from planner.slurm.verify import reservation_differences
from planner.slurm.wanted import read_wanted
from tests.days import BRIEF, DAY, plan, rows_of, write_small_site
from tests.slurm.queued import HOUR, NOW, queue_of, waiting

LATER = NOW + 2 * HOUR
NODES = ("n1", "n2")
HELD = Reserved(NODES, "ann", LATER, LATER + HOUR + MARGIN_S)
"""What job 42 of ann, whose limit is an hour, gets for a start in two hours."""
SUBMIT = NOW - HOUR


def slurm_has(held: Reserved, name: str = "plan-42") -> Reservation:
    """A reservation as Slurm has it."""
    return Reservation(name, held.nodes, held.start_unix, held.end_unix, users=(held.user,))


def ours_of(*sent: Reserved) -> Ours:
    """The reservation of job 42, made to hold each of these in turn."""
    return Ours(reservations={"plan-42": Made("42", SUBMIT, sent)})


def proposed(
    job: Record, *present: Reservation, place: Place | None = None, ours: Ours | None = None, now: int = NOW
) -> Reservations:
    """What is proposed for one wide job of ann."""
    where = {"42": place or Place(LATER, NODES)}
    return propose_reservations(where, {}, queue_of(replace(job, user=job.user or "ann")), present, ours or Ours(), now)


def test_a_reservation_lasts_for_the_limit_and_a_margin() -> None:
    """Two hours from now, for an hour and the margin."""
    assert proposed(waiting()).changes == (ReservationChange("42", SUBMIT, "plan-42", None, HELD),)


def test_a_start_that_has_come_is_reserved_from_now_on() -> None:
    """Slurm has not started the job yet."""
    (change,) = proposed(waiting(), place=Place(NOW - 60, NODES)).changes
    assert change.new == Reserved(NODES, "ann", NOW, NOW + HOUR + MARGIN_S)


@pytest.mark.parametrize(("late_s", "changes"), [(0, 0), (MARGIN_S, 0), (MARGIN_S + 1, 1)])
def test_a_reservation_that_has_begun_serves_as_long_as_the_job_fits_in(late_s: int, changes: int) -> None:
    """Planned for each present moment anew, it is made again only once the limit does not fit in any more."""
    job, now = waiting(reservation="plan-42"), LATER + late_s
    found = proposed(job, slurm_has(HELD), place=Place(now, NODES), ours=ours_of(HELD), now=now)
    assert len(found.changes) == changes


@pytest.mark.parametrize(
    "held",
    [replace(HELD, nodes=("n1", "n3")), replace(HELD, start_unix=LATER - 60), replace(HELD, end_unix=LATER + HOUR)],
)
def test_a_reservation_that_is_not_as_planned_is_replaced(held: Reserved) -> None:
    """Other nodes, another start, or another time limit by now."""
    job = waiting(reservation="plan-42")
    expected = ReservationChange("42", SUBMIT, "plan-42", held, HELD, inside=True)
    assert proposed(job, slurm_has(held), ours=ours_of(held)).changes == (expected,)


@pytest.mark.parametrize(
    ("job", "place", "reason"),
    [
        (waiting(), Place(LATER, NODES, shared=True), "nodes are reserved as a whole"),
        (waiting(reservation="course"), None, "it belongs to the reservation course"),
        (waiting(user="ann Accounts=x"), None, "cannot be given to Slurm"),
        (waiting(), Place(LATER, ("n1", "n 2")), "the name of a node cannot be given to Slurm"),
        (waiting(limit_s=None), None, "has no time limit"),
    ],
)
def test_some_jobs_get_no_reservation(job: Record, place: Place | None, reason: str) -> None:
    """Each with its reason."""
    found = proposed(job, place=place)
    assert (found.changes, len(found.refusals)) == ((), 1)
    assert reason in found.refusals[0].reason


def test_nodes_of_others_are_refused_only_while_the_job_would_run() -> None:
    """To the second; what of another reservation lies in the margin is no reason."""
    before, after = replace(HELD, start_unix=NOW, end_unix=LATER), replace(HELD, start_unix=LATER + HOUR)
    assert proposed(waiting(), slurm_has(before, "one"), slurm_has(after, "two")).refusals == ()
    for held in (replace(before, end_unix=LATER + 1), replace(after, start_unix=LATER + HOUR - 1)):
        assert "the reservation one has some" in proposed(waiting(), slurm_has(held, "one")).refusals[0].reason
        assert proposed(waiting(), slurm_has(replace(held, nodes=("n3",)), "one")).refusals == ()


def test_a_job_that_is_left_alone_keeps_no_reservation() -> None:
    """Nobody knows when a held job starts, and its nodes would be idle."""
    job = waiting(held=True, reservation="plan-42", user="ann")
    where, present = {"42": Place(LATER, NODES)}, [slurm_has(HELD)]
    found = propose_reservations(where, {"42": "held"}, queue_of(job), present, ours_of(HELD), NOW)
    assert found.changes == (ReservationChange("42", SUBMIT, "plan-42", HELD, None, inside=True, why="held"),)


def change(old: Reserved | None, new: Reserved | None) -> ReservationChange:
    """A change of the reservation of job 42."""
    return ReservationChange("42", SUBMIT, "plan-42", old, new)


def test_the_journal_knows_all_that_was_sent(tmp_path: Path) -> None:
    """Whichever of them Slurm has after a run was killed is ours, until it is deleted for certain."""
    path, moved = tmp_path / "journal.jsonl", replace(HELD, nodes=("n2", "n10"))
    for each in (change(None, HELD), change(HELD, moved), change(moved, None)):
        write_reservations(path, [each], NOW)
    ours = read_ours(path)
    assert ours.reservations == {"plan-42": Made("42", SUBMIT, (HELD, replace(moved, nodes=("n10", "n2"))))}
    assert ours.job_of(slurm_has(HELD)) == ours.job_of(slurm_has(moved)) == "42"
    assert ours.job_of(slurm_has(replace(HELD, end_unix=LATER))) is None
    assert ours.job_of(slurm_has(HELD, "plan-43")) is None
    write_reserved(path, [(change(moved, None), False, "in use")], NOW)
    assert read_ours(path) == ours
    write_reserved(path, [(change(moved, None), True, "")], NOW)
    assert read_ours(path) == Ours()


def test_a_long_line_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    """Nodes whose names have nothing in common fill many kilobytes."""
    path = tmp_path / "journal.jsonl"
    many = replace(HELD, nodes=tuple(sorted(f"{'abcdefgh'[i % 8] * 9}{'x' * (i // 8)}" for i in range(800))))
    write_reservations(path, [change(None, HELD)], NOW)
    whole = path.read_bytes()
    write_reservations(path, [change(HELD, many)], NOW)
    assert len(path.read_bytes()) > len(whole) + 8192
    path.write_bytes(path.read_bytes()[:-1])
    write_reserved(path, [(change(None, HELD), True, "")], NOW)
    assert path.read_bytes().startswith(whole + b'{"kind": "reserved"')
    assert read_ours(path) == ours_of(HELD)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    """As any other line of a journal."""
    path = tmp_path / "journal.jsonl"
    path.write_text('{"kind": "reserve", "job": "1", "submit": 1, "name": "plan-1", "new": {"nodes": "n["}}\n')
    with pytest.raises(FileFormatError, match=r"journal\.jsonl:1: not a line of a journal"):
        read_ours(path)


@pytest.mark.parametrize(
    "bad",
    [
        replace(change(None, HELD), job="42 x"),
        replace(change(None, HELD), name="maintenance"),
        change(None, replace(HELD, user="ann Flags=MAINT")),
        change(None, replace(HELD, nodes=())),
        change(None, replace(HELD, nodes=("ALL\n",))),
    ],
)
def test_nothing_odd_reaches_scontrol(tmp_path: Path, bad: ReservationChange) -> None:
    """Nothing is sent at all, and nothing written down."""
    journal = tmp_path / "journal.jsonl"
    with pytest.raises(SlurmError, match="not sent to Slurm"):
        carry_out(Slurm(folder=tmp_path), (), journal, reservations=[bad])
    assert not journal.exists()


def test_what_differs_from_the_journal_is_named() -> None:
    """As long as the job waits, and the reservation would not be over by itself."""
    ours, inside = ours_of(HELD), waiting(reservation="plan-42")

    def texts(job: Record, *present: Reservation, now: int = NOW) -> list[str]:
        return [each.text for each in reservation_differences(ours, queue_of(job), present, now)]

    assert texts(inside, slurm_has(HELD)) == []
    assert texts(inside) == ["has no reservation plan-42"]
    assert texts(inside, now=HELD.end_unix or 0) == []
    assert texts(waiting(), slurm_has(HELD)) == ["is not in its reservation plan-42"]
    assert texts(inside, slurm_has(replace(HELD, user="bob"))) == ["the reservation plan-42 is not as it was made"]
    assert texts(waiting(state="RUNNING")) == []


def test_a_plan_says_where_its_wide_jobs_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On so many nodes or more, and whether others are there meanwhile; nobody unless the scenario says so."""
    monkeypatch.chdir(write_small_site(tmp_path))
    folder = tmp_path / "reports" / "site" / DAY
    plan("--day", DAY, *BRIEF)
    assert read_wanted(folder).places == {}
    plan("--day", DAY, *BRIEF, "--set", "slurm.reserve_nodes=3")
    assert {len(place.nodes) for place in read_wanted(folder).places.values()} == {3, 4}
    plan("--day", DAY, *BRIEF, "--set", "slurm.reserve_nodes=1")
    wanted, rows = read_wanted(folder), rows_of(folder / "schedule.csv")
    assert wanted.places.keys() == {row["job_id"] for row in rows}
    assert all(wanted.starts[job] == place.start_unix for job, place in wanted.places.items())
    ends = {row["job_id"]: int(datetime.fromisoformat(row["end_time"]).timestamp()) for row in rows}
    for job, place in wanted.places.items():
        others = {
            other
            for other, there in wanted.places.items()
            if set(there.nodes) & set(place.nodes)
            and max(there.start_unix, place.start_unix) < min(ends[other], ends[job])
        }
        assert place.shared == (others != {job})
    assert {place.shared for place in wanted.places.values()} == {True, False}
