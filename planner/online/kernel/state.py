"""The state of a replay: jobs, lists of them, what they ask, timelines, and the clock with its counters, all by name.

What a job is and what became of it is ``state.jobs[job].start``; who waits at a place is ``state.queue[place]``.
Records keep the tables few, since compiled code takes each one apart in every call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from planner.compiled import by_address
from planner.domain.columns import Floats, Ints


def _numbers(first: int, last: int) -> list[np.int64]:
    """Numbers from first to before last; as numpy's, since compiled code is made anew for every plain literal."""
    return list(np.arange(first, last, dtype=np.int64))


def _record(whole: str, real: str = "") -> np.dtype[Any]:
    """Records of whole numbers and of real ones, by the names of their fields."""
    return np.dtype(
        [(name, np.int64) for name in whole.split()] + [(name, np.float64) for name in real.split()], align=True
    )


JOB = _record(
    "width estimate start shape hold_until cancel_s reserved expected_end"  # what rounds look at most, side by side
    " rank_first rank_a rank_b back_first back_a back_b runtime submit requested"
    " power deadline_s kind corrections started_at saved_start promised restarts open ready urgency"
    " like_name like_kind like_user reference latest",
    "saved_eur",
)
"""A job: what it asks, and what was decided. Starts and reservations are below 0 where there are none.

``rank_...`` are its keys in the order of the queue and ``back_...`` in that of backfilling, by priority first. Jobs of
the same ``shape`` ask the same of nodes.
``started_at`` counts the starts before its own. ``open`` counts what must come first, ``ready`` is since when nothing
does. ``like_...`` are rows of jobs like it (`planner.online.kernel.likely_lengths`). Under policies that
hold jobs, ``reference`` is when it would have started first, ``latest`` and ``hold_until`` until when it may be and is
held, and ``saved_eur`` what its energy costs less then than when it was first held.
"""

HEAP = _record("key job")
"""An entry of a heap of jobs by moments."""

LISTS = _record("finished held joining on_hold tried best")
"""Entries of lists of jobs by place: who has ended, who waits for others and who joins the queue after them, who is
held for cheaper hours; orders of the queue that are tried, and the best of them."""

FIRST = _record("group unit follower")
"""Where the groups, units and followers of a job begin; those of the next job are the end."""

UNIT = _record("node saved")
"""A unit: its node, and a place to note it."""

PINS = _record("current tried best")
"""The node that a unit is pinned to in the plan of the queue, in the tried one and in the best one."""

CHANGE = _record("moment what node start end")
"""What happens to a node at a moment: one of the kinds below, about an outage from a start until an end."""

CLOCK = _record(
    "now arrived queued running expected finished rounds scan fresh early broken started left changes"
    " held joining holding blocked"  # counters
    " policy order backfill_order correction nodes limited scan_only_if_fits every_event ahead_s until resume_at"
    " resumes has_cancels per_second objective evaluations seeds holds max_delay_s as_rule crowd"  # settings
    " bunches machine_bunches can_bunch bunched crowded learned looks looked_at paid_from",  # of plans
    "eur_per_waiting_hour eur_per_width_hour exponent eur_per_held_hour least_eur_per_kwh",
)
"""Counters and settings of a replay, and what things are worth.

``crowd`` is how many jobs share a row of the timelines at most. An hour of waiting of one job counts for
``eur_per_waiting_hour``, and a width of one earns ``eur_per_width_hour``; ``exponent`` is that of a local objective. An
hour for which a job is held counts for ``eur_per_held_hour``, infinite where nothing is held, and a kWh costs
``least_eur_per_kwh`` at least.
"""

UNPINNED = np.int64(-1)

# What can happen to nodes.
RETURNS, ANNOUNCED, GOES_DOWN = _numbers(0, 3)

# The first column of the table of lengths: how many were seen.
(SEEN,) = _numbers(0, 1)

# The first row of the timelines.
(MACHINE,) = _numbers(0, 1)

# Reservations that are no start: none yet, and one that was cancelled.
NONE_YET, CANCELLED = np.int64(-1), np.int64(-2)

# Kinds of policy, in the order of their names in the registry.
STRICT, GREEDY, LIST, EASY, ORDERED, CP, CONSERVATIVE, DEADLINE, DEADLINE_EARLY = _numbers(0, 9)

# Kinds of reservation under the deadline policy.
DEFINITIVE, TENTATIVE, TEMPORARY = _numbers(0, 3)


Records = np.recarray[Any, np.dtype[Any]]


@by_address
class State(NamedTuple):
    """Everything that a replay reads and writes.

    Attributes
    ----------
    jobs
        The jobs in submit order, each a `JOB`.
    queue, backfill
        Jobs that wait, by place: in the order of the queue and in that of backfilling.
    ends, dues
        Heaps of the jobs that run: by when they end, and by when they are expected to where that is before.
    lists
        Other lists of jobs by place, each entry a `LISTS`.
    first
        First group, first unit and first follower of each job, and the ends of the last.
    group_count, group_amount
        How many equal units each group has, and what each of them asks of every resource.
    follower
        Jobs that wait for each job, and 1 where for its end, 0 where for its start.
    units, pins
        The units; and, under policies that plan the whole queue on several nodes, where they are pinned
        (`planner.online.kernel.plans`).
    times, free, length
        Timelines of what running jobs (and kept reservations) leave free (`planner.machine.timeline`): one row per
        node, then one for the site's power if that is limited. As many rows follow for plans that a round makes and
        forgets.
    capacity, most
        What each empty node has of every resource, and of the first one alone.
    price_s, price_sum
        What energy costs: moments at which its price changes [s], and what a kW costs from the first of them until each
        [EUR].
    paid
        What a kW costs from the moment ``paid_from`` until each quarter of an hour after it, as far as is known [EUR].
    stream
        Random numbers of the search.
    taken
        Which parts of their estimates jobs took lately: one row per kind of job, then one per user, and a last one for
        all jobs; the first column counts them.
    bunch, member, bunch_times, bunch_free, bucket
        Plans by bunches of nodes: the bunches, the nodes in them, their timelines, and a table to find those that are
        alike (`planner.online.kernel.bunches`); all empty under policies that do not plan the whole queue anew.
    learned
        What jobs of a plan asked and where they started, which bounds later ones (`planner.machine.earliest`).
    full
        The last round in which the nodes had no room for a job of each shape.
    refused
        What EASY remembers of jobs of each shape that could not be backfilled (`easy_list_rounds`).
    ready, weight, known, least, watts, cells, pattern, lengths
        Scratch space.
    changes
        What happens to nodes, in order of time.
    shut
        When all nodes go down together, and from when on that is known: a row for each such moment.
    clock
        Counters and settings, one `CLOCK`.
    """

    jobs: Records
    queue: Ints
    backfill: Ints
    ends: Records
    dues: Records
    lists: Records
    first: Records
    group_count: Ints
    group_amount: Ints
    follower: Ints
    units: Records
    pins: Records
    times: Ints
    free: Ints
    length: Ints
    capacity: Ints
    most: Ints
    price_s: Ints
    price_sum: Floats
    paid: Floats
    taken: Floats
    stream: npt.NDArray[np.uint64]
    bunch: Ints
    member: Ints
    bunch_times: Ints
    bunch_free: Ints
    bucket: Ints
    learned: Ints
    full: Ints
    refused: Ints
    ready: Ints
    weight: Ints
    known: Ints
    least: Ints
    watts: Ints
    cells: Ints
    pattern: Ints
    lengths: Ints
    changes: Records
    shut: Ints
    clock: Any


def records(count: int, kind: np.dtype[Any], value: int = 0) -> Records:
    """So many records of a kind, with a value in all fields; compiled code and Python read ``found[place].field``."""
    return np.full(count, value, dtype=kind).view(np.recarray)


FIRST_CAPACITY = 64
"""Entries that a row of the timeline has room for at first."""


def widened(state: State, needed: int) -> State:
    """The same state with timelines that have room for so many entries in each row."""
    rows, held, resources = state.free.shape
    capacity = held
    while capacity < needed:
        capacity *= 2
    times = np.zeros((rows, capacity), dtype=np.int64)
    free = np.zeros((rows, capacity, resources), dtype=np.int64)
    times[:, :held], free[:, :held] = state.times, state.free
    return state._replace(times=times, free=free)
