"""Which reservations to make, move and give back: wide jobs of a plan held against the queue and what Slurm has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from planner.domain.job import counting_key
from planner.inputs.slurm.reservations import Reservation
from planner.printable import one_line
from planner.slurm.changes import Refusal
from planner.slurm.current import Queue, Record
from planner.slurm.ours import Made, Ours
from planner.slurm.reserved import ReservationChange, Reserved, name_of

MARGIN_S = 3600
"""How much longer than its job's time limit a reservation lasts [s].

Slurm starts a job in a reservation only if its whole limit fits in. It may start late: the scheduler's cycle, the job
before it that is killed at its limit and cleaned up, a node that must boot. An hour is the longest pause that we
recommend between two plans, and the next plan makes a new reservation. It costs nothing: Slurm takes a reservation
away once its job has ended, and reservations of ours may overlap.
"""
USER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,63}")
"""Names of users that are given to Slurm; anything else could be read as another word of the command."""
NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")


@dataclass(frozen=True)
class Place:
    """When and where a plan starts a wide job."""

    start_unix: int
    nodes: tuple[str, ...]
    shared: bool = False
    """Whether the plan has other jobs on these nodes while it runs."""


@dataclass(frozen=True)
class Reservations:
    """The reservations to change, and the wide jobs that get none."""

    changes: tuple[ReservationChange, ...]
    refusals: tuple[Refusal, ...] = ()


def propose_reservations(
    places: Mapping[str, Place],
    left_alone: Mapping[str, str],
    queue: Queue,
    present: Collection[Reservation],
    ours: Ours,
    now_unix: int,
) -> Reservations:
    """The changes after which every wide job that waits has its nodes reserved, and no other job a reservation of ours.

    Parameters
    ----------
    places
        Where the plan starts each wide job.
    left_alone
        Jobs that must not be changed, each with its reason.
    queue, present
        The queue and the reservations as they are now.
    ours
        What was made earlier.
    now_unix
        The present [unix s].
    """
    changes: list[ReservationChange] = []
    refusals: list[Refusal] = []
    kept: set[str] = set()
    for job_id, place in sorted(places.items(), key=lambda each: counting_key(each[0])):
        job = queue.find(job_id)
        if job is None or not job.pending or job_id in left_alone:
            continue
        name = name_of(job_id)
        reason = _why_not(job, place, name, present, ours, now_unix)
        if reason or job.limit_s is None:
            refusals.append(Refusal(job_id, reason or "has no time limit"))
            continue
        kept.add(name)
        start_unix = max(place.start_unix, now_unix)
        end_unix = start_unix + job.limit_s + MARGIN_S
        new = Reserved(tuple(sorted(place.nodes)), job.user, start_unix, end_unix)
        old = next((Reserved.of(each) for each in present if each.name == name), None)
        inside = job.reservation == name
        if old is not None and _serves(old, new, job.limit_s, now_unix):
            new = old
        if old != new or not inside:
            changes.append(ReservationChange(job_id, job.submit_unix, name, old, new, inside))
    why = dict(left_alone) | {each.job: each.reason for each in refusals}
    gone = _given_back([each for each in present if each.name not in kept], queue, ours, why)
    return Reservations((*gone, *changes), tuple(refusals))


def propose_give_back(queue: Queue, present: Iterable[Reservation], ours: Ours) -> Reservations:
    """The changes that give back every reservation that is still ours; those that others have changed stay."""
    present = list(present)
    others = [each for each in present if each.name in ours.reservations and ours.made(each) is None]
    refusals = [Refusal(ours.reservations[each.name].job, _not_ours(each.name)) for each in others]
    return Reservations(_given_back(present, queue, ours, {}), tuple(refusals))


def find_job(made: Made, queue: Queue) -> Record | None:
    """The job that a reservation was made for; None where it is not in the queue any more."""
    job = queue.find(made.job)
    return job if job is not None and job.submit_unix == made.submit_unix else None


def _given_back(
    present: Iterable[Reservation], queue: Queue, ours: Ours, why: Mapping[str, str]
) -> tuple[ReservationChange, ...]:
    """The changes that delete those that are ours; a job that runs in one has its nodes without it."""
    found = []
    for each in present:
        made = ours.made(each)
        if made is None:
            continue
        job = find_job(made, queue)
        if job is None:
            reason = "its job is not in the queue any more"
        elif not job.pending:
            reason = f"its job has started or ended ({job.state})"
        else:
            reason = why.get(made.job, "")
        inside = job is not None and job.reservation == each.name
        change = ReservationChange(made.job, made.submit_unix, each.name, Reserved.of(each), None, inside, reason)
        found.append(change)
    return tuple(found)


def _serves(old: Reserved, new: Reserved, limit_s: int, now_unix: int) -> bool:
    """Whether what is reserved already does for what is wanted."""
    if old.start_unix <= now_unix and new.start_unix <= now_unix and old.end_unix is not None:
        # It has begun, and its job waits: good enough as long as the whole job fits in.
        return (old.nodes, old.user) == (new.nodes, new.user) and old.end_unix >= now_unix + limit_s
    return old == new


def _why_not(job: Record, place: Place, name: str, present: Iterable[Reservation], ours: Ours, now_unix: int) -> str:
    """Why a wide job that waits gets no reservation; empty where it gets one."""
    if place.shared:
        return "the plan has other jobs on its nodes while it runs, and nodes are reserved as a whole"
    if job.reservation not in ("", name):
        return f"it belongs to the reservation {one_line(job.reservation, 60)}"
    if not USER.fullmatch(job.user):
        return f"the name of its user, {one_line(job.user, 60)!r}, cannot be given to Slurm"
    if not all(NODE.fullmatch(node) for node in place.nodes):
        return "the name of a node cannot be given to Slurm"
    start_unix = max(place.start_unix, now_unix)
    end_unix = start_unix + (job.limit_s or 0)
    for each in present:
        if ours.made(each) is not None:
            continue
        if each.name == name:
            return _not_ours(name)
        open_end = each.end_unix is None or each.end_unix > start_unix
        if open_end and each.start_unix < end_unix and not set(each.nodes).isdisjoint(place.nodes):
            return f"the reservation {one_line(each.name, 60)} has some of its nodes by then"
    return ""


def _not_ours(name: str) -> str:
    return f"the reservation {name} is not as we made it"
