"""The state of a replay in a few tables: jobs, what they ask, timelines, and the clock with its counters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Floats, Ints


def _places(first: int, last: int) -> list[np.int64]:
    """Numbers from first to before last; as numpy's, since compiled code is made anew for every plain literal."""
    return list(np.arange(first, last, dtype=np.int64))


# Rows of the table of jobs: what a job is, what was decided, and (from QUEUE on) lists of jobs.
SUBMIT, RUNTIME, REQUESTED, ESTIMATE, DEADLINE_S, WIDTH, POWER = _places(0, 7)
START, EXPECTED_END, RESERVED, KIND, CORRECTIONS, STARTED_AT, SAVED_START = _places(7, 14)
RANK_A, RANK_B, BACK_A, BACK_B = _places(14, 18)
QUEUE, BACKFILL, END_KEY, END_JOB, DUE_KEY, DUE_JOB, FINISHED_JOB = _places(18, 25)
PROMISED, TRIED_ORDER, BEST_ORDER, CANCEL_S, RESTARTS, RANK_FIRST, BACK_FIRST = _places(25, 32)
OPEN, READY, HELD_JOB, JOINING_JOB, URGENCY, LIKE_KIND, LIKE_USER = _places(32, 39)
REFERENCE, LATEST, HOLD_UNTIL, ON_HOLD = _places(39, 43)
JOB_ROWS = 43

# Rows of the tables of pointers and units.
GROUPS, UNITS, FOLLOWERS = _places(0, 3)
NODE, SAVED, PIN, TRIED_PIN, BEST_PIN = _places(0, 5)
UNIT_ROWS, UNPINNED = 5, np.int64(-1)

# Places in the clock: counters, then settings.
NOW, ARRIVED, QUEUED, RUNNING, EXPECTED, FINISHED, ROUNDS, SCAN, FRESH, EARLY, BROKEN, STARTED = _places(0, 12)
POLICY, ORDER, BACKFILL_ORDER, CORRECTION, NODES, LIMITED, SCAN_ONLY_IF_FITS, EVERY_EVENT = _places(12, 20)
AHEAD_S, UNTIL, RESUME_AT, RESUMES, LEFT, CHANGES, HAS_CANCELS, PER_SECOND = _places(20, 28)
HELD, JOINING, OBJECTIVE, EVALUATIONS, SEEDS = _places(28, 33)
BUNCHES, MACHINE_BUNCHES, CAN_BUNCH, BUNCHED, CROWDED, LEARNED, LOOKS = _places(33, 40)
HOLDS, HOLDING, MAX_DELAY_S, LOOKED_AT, PAID_FROM, ROOM_FROM = _places(40, 46)
AS_RULE, BLOCKED = _places(46, 48)
CLOCK_SIZE = 48

# Rows of the table of what happens to nodes, and what can happen.
MOMENT, CHANGE, OUT_NODE, OUT_START, OUT_END = _places(0, 5)
CHANGE_ROWS = 5
RETURNS, ANNOUNCED, GOES_DOWN = _places(0, 3)

# Places in the table of what things are worth.
EUR_PER_WAITING_HOUR, EUR_PER_WIDTH_HOUR, EXPONENT, EUR_PER_HELD_HOUR, LEAST_EUR_PER_KWH = _places(0, 5)

# The first column of the table of lengths: how many were seen.
(SEEN,) = _places(0, 1)

# The first row of the timelines.
(MACHINE,) = _places(0, 1)

# Reservations that are no start: none yet, and one that was cancelled.
NONE_YET, CANCELLED = np.int64(-1), np.int64(-2)

# Kinds of policy, in the order of their names in the registry.
STRICT, GREEDY, LIST, EASY, ORDERED, CP, CONSERVATIVE, DEADLINE, DEADLINE_EARLY = _places(0, 9)

# Kinds of reservation under the deadline policy.
DEFINITIVE, TENTATIVE, TEMPORARY = _places(0, 3)


class State(NamedTuple):
    """Everything that a replay reads and writes; few tables, because compiled code takes each one apart in every call.

    Attributes
    ----------
    job
        One column per job, in submit order; the rows are named above. Starts and reservations are below 0 where there
        are none.
    ptr
        First group, first unit and first follower of each job, and the ends of the last.
    group_count, group_amount
        How many equal units each group has, and what each of them asks of every resource.
    follower
        Jobs that wait for each job, and 1 where for its end, 0 where for its start.
    unit
        Node of each unit, and a place to note it; under policies that plan the whole queue on several nodes also the
        node that it is pinned to: in the plan of the queue, in the tried one and in the best one
        (`planner.online.kernel.pins`).
    times, free, length
        Timelines of what running jobs (and kept reservations) leave free (`planner.machine.timeline`): one row per
        node, then one for the site's power if that is limited. As many rows follow for plans that a round makes and
        forgets.
    capacity, most
        What each empty node has of every resource, and of the first one alone.
    price_s, price_sum
        What energy costs: moments at which its price changes [s], and what a kW costs from the first of them until each
        [EUR].
    paid, room, saved
        What a kW costs from the moment ``PAID_FROM`` until each quarter of an hour after it, as far as is known [EUR];
        what each quarter of an hour from ``ROOM_FROM`` on has left for work that is held [width]; and what the energy
        of each held job costs less at the end of its hold than when it was held last [EUR].
    worth
        What an hour of waiting of one job counts for, and what a width of one earns in an hour [EUR]; the exponent of a
        local objective; what an hour for which a job is held counts for [EUR], infinite where nothing is held, and what
        a kWh costs at least [EUR].
    stream
        Random numbers of the search.
    taken
        Which parts of their estimates jobs took lately: one row per kind of job, then one per user, and a last one for
        all jobs; the first column counts them.
    bunch, member, bunch_times, bunch_free, bucket
        Plans by bunches of nodes: the bunches, the nodes in them, their timelines, and a table to find those that are
        alike (`planner.online.kernel.bunches`); all empty under policies that do not plan the whole queue anew.
    learned
        Jobs of a plan and their starts, which bound later ones (`planner.online.kernel.floors`).
    ready, weight, known, least, watts, cells, pattern, lengths
        Scratch space.
    change
        What happens to nodes, one column per change, in order of time; the rows are named above.
    clock
        Counters and settings; the places are named above.
    """

    job: Ints
    ptr: Ints
    group_count: Ints
    group_amount: Ints
    follower: Ints
    unit: Ints
    times: Ints
    free: Ints
    length: Ints
    capacity: Ints
    most: Ints
    price_s: Ints
    price_sum: Floats
    paid: Floats
    room: Floats
    saved: Floats
    worth: Floats
    taken: Floats
    stream: npt.NDArray[np.uint64]
    bunch: Ints
    member: Ints
    bunch_times: Ints
    bunch_free: Ints
    bucket: Ints
    learned: Ints
    ready: Ints
    weight: Ints
    known: Ints
    least: Ints
    watts: Ints
    cells: Ints
    pattern: Ints
    lengths: Ints
    change: Ints
    clock: Ints


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
