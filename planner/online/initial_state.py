"""The state of a replay before its first event."""

from __future__ import annotations

import numpy as np

from planner.domain.columns import Floats, Ints, distinct_rows
from planner.domain.packing import most_cells
from planner.domain.trace import Trace
from planner.online.kernel.state import State
from planner.online.objectives import FORMS
from planner.online.outages import NO_OUTAGES, Outages
from planner.online.past import Past
from planner.online.policies import KINDS, PLANNING, Policy
from planner.online.prices import NO_PROFIT, ProfitTerms
from planner.online.queue_search import USUAL_SEARCH, QueueSearch
from planner.units import MILLI

BUNCH_ENTRIES = 1 << 16
"""Entries of all timelines of bunches together, about; a plan that needs a longer one goes on in plain rows."""


def initial_state(
    trace: Trace,
    policy: Policy,
    estimate: Ints,
    deadline_s: Ints,
    *,
    correction: int = 0,
    rounds: str = "second",
    predicted: bool = False,
    profit: ProfitTerms = NO_PROFIT,
    max_delay_s: int = 0,
    past: Past | None = None,
    outages: Outages = NO_OUTAGES,
    cancel_s: Ints | None = None,
    rank: Ints | None = None,
    search: QueueSearch = USUAL_SEARCH,
    per_second: int = 1,
) -> State:
    """The state before the first event; ``correction`` is the number of a rule of correction.

    Times of the trace and estimates are in ticks, of which there are so many ``per_second``.
    """
    from planner.machine.timeline import NEVER
    from planner.online.kernel import state as places
    from planner.online.kernel.floors import REMEMBERED_STARTS
    from planner.online.kernel.likely import REMEMBERED_LENGTHS
    from planner.online.kernel.queue_order import ORDER_CODES, backfill_code, queue_code

    count, units = len(trace), int(trace.unit_ptr[-1])
    nodes, resources = trace.machine.capacity.shape
    limited = trace.machine.power_limit >= 0
    rows = nodes + (1 if limited else 0)
    free = np.zeros((2 * rows, places.FIRST_CAPACITY, resources), dtype=np.int64)
    free[:nodes, 0] = trace.machine.capacity
    if limited:
        free[nodes, 0, 0] = trace.machine.power_limit
    job = np.zeros((places.JOB_ROWS, count), dtype=np.int64)
    job[places.SUBMIT], job[places.RUNTIME], job[places.REQUESTED] = trace.submit_s, trace.runtime_s, trace.requested_s
    job[places.ESTIMATE] = np.maximum(estimate, 1)
    job[places.DEADLINE_S] = np.where(deadline_s >= 0, deadline_s, NEVER)
    job[places.WIDTH], job[places.POWER] = trace.width, trace.power_mw
    if rank is not None:
        job[places.RANK_FIRST] = job[places.BACK_FIRST] = rank
    elif trace.priority is not None:
        job[places.RANK_FIRST] = -np.round(trace.priority * MILLI)
        job[places.BACK_FIRST] = job[places.RANK_FIRST]
    kinds, job[places.LIKE_KIND] = distinct_rows(np.column_stack([trace.user, trace.requested_s]))
    job[places.LIKE_USER] = trace.user + 1 + len(kinds)
    job[places.START] = job[places.RESERVED] = job[places.SAVED_START] = places.NONE_YET
    job[places.REFERENCE] = job[places.LATEST] = job[places.HOLD_UNTIL] = places.NONE_YET
    job[places.READY] = trace.submit_s
    job[places.CANCEL_S] = NEVER if cancel_s is None else np.where(cancel_s >= 0, cancel_s, NEVER)
    clock = np.zeros(places.CLOCK_SIZE, dtype=np.int64)
    clock[places.POLICY] = KINDS.index(policy.kind)
    is_requested = not (predicted or np.array_equal(estimate, trace.runtime_s))
    is_requested = is_requested and np.array_equal(estimate, trace.requested_s)
    clock[places.ORDER] = queue_code(policy.kind, policy.order, is_requested=is_requested)
    clock[places.BACKFILL_ORDER] = backfill_code(policy.order, policy.backfill_order)
    clock[places.CORRECTION] = correction
    clock[places.NODES], clock[places.LIMITED] = nodes, int(limited)
    clock[places.HAS_CANCELS] = int(cancel_s is not None and np.any(cancel_s >= 0))
    clock[places.SCAN_ONLY_IF_FITS] = int(policy.scans_only_if_fits(rounds, predicted=predicted))
    clock[places.EVERY_EVENT] = int(rounds == "event")
    clock[places.PER_SECOND] = per_second
    clock[places.AS_RULE] = int(policy.as_rule)
    clock[places.AHEAD_S] = profit.ahead_s
    clock[places.HOLDS], clock[places.MAX_DELAY_S] = int(policy.holds), max_delay_s
    clock[places.UNTIL] = clock[places.RESUME_AT] = NEVER
    if policy.objective is not None:
        clock[places.OBJECTIVE] = FORMS.index(policy.objective.form)
        clock[places.EVALUATIONS] = search.evaluations
        seeds = policy.objective.seeds if policy.plus else ()
        clock[places.SEEDS] = sum(1 << ORDER_CODES[order] for order in seeds)
    unit_rows = places.UNIT_ROWS if policy.kind in PLANNING and nodes > 1 else places.PIN
    unit = np.full((unit_rows, units), 0 if nodes == 1 else -1, dtype=np.int64)
    exponent = 0.0 if policy.objective is None else policy.objective.exponent
    taken = np.zeros((int(job[places.LIKE_USER].max(initial=-1)) + 2, 1 + REMEMBERED_LENGTHS))
    if past is not None:
        _take_past(trace, past, job, unit, clock)
        _remember_ended(past, job, taken)
    _wait_for_others(trace, past, job)
    most_at_once = max(nodes, _most_at_once(trace))
    return places.State(
        job=job,
        ptr=np.array([trace.group_ptr, trace.unit_ptr, trace.waits.follower_ptr], dtype=np.int64),
        group_count=trace.group_count,
        group_amount=trace.group_amount,
        follower=trace.waits.followers,
        unit=unit,
        times=np.zeros((2 * rows, places.FIRST_CAPACITY), dtype=np.int64),
        free=free,
        length=np.ones(2 * rows, dtype=np.int64),
        price_s=profit.price_s,
        price_sum=profit.eur_per_kw,
        paid=np.zeros(2),
        room=np.zeros(0),
        worth=np.array([profit.eur_per_waiting_hour, profit.eur_per_width_hour, exponent, np.inf, 0.0]),
        taken=taken,
        stream=np.array([search.seed], dtype=np.uint64),
        capacity=trace.machine.capacity,
        most=np.ascontiguousarray(trace.machine.capacity[:, 0]),
        **_bunches(nodes if policy.kind in ("list", *PLANNING) and nodes > 1 else 0, resources),
        learned=np.zeros((2, REMEMBERED_STARTS), dtype=np.int64),
        ready=np.zeros(most_at_once, dtype=np.int64),
        weight=np.zeros(most_at_once, dtype=np.int64),
        known=np.zeros(nodes, dtype=np.int64),
        least=np.zeros((nodes, resources), dtype=np.int64),
        watts=np.zeros(1, dtype=np.int64),
        cells=np.zeros(most_cells(trace.group_ptr, trace.group_count, nodes), dtype=np.int64),
        pattern=np.zeros(int(np.diff(trace.group_ptr).max(initial=1)), dtype=np.int64),
        saved=np.zeros(count if policy.holds else 0),
        lengths=np.zeros(REMEMBERED_LENGTHS, dtype=np.int64),
        change=outages.changes(0 if past is None else past.moment_s),
        clock=clock,
    )


def _take_past(trace: Trace, past: Past, job: Ints, unit: Ints, clock: Ints) -> None:
    """Write a past into the tables; the kernel goes on from it at its moment."""
    from planner.online.kernel import state as places

    moment = past.moment_s
    started = past.start_s >= 0
    running = started & (np.minimum(past.start_s + trace.runtime_s, job[places.CANCEL_S]) >= moment)
    job[places.START] = past.start_s
    job[places.REFERENCE] = past.reference_s
    longest = past.reference_s + clock[places.MAX_DELAY_S]
    job[places.LATEST] = np.where(past.reference_s >= 0, np.minimum(past.latest_s, longest), -1)
    of_started = np.repeat(started, np.diff(trace.unit_ptr))
    unit[places.NODE, of_started] = past.node_of_unit[of_started]
    order = np.flatnonzero(running)
    order = order[np.argsort(past.start_s[order], kind="stable")]
    job[places.STARTED_AT, order] = np.arange(len(order))
    clock[places.STARTED] = len(order)
    clock[places.ARRIVED] = np.searchsorted(trace.submit_s, moment, side="right")
    clock[places.RESUME_AT] = clock[places.NOW] = moment
    clock[places.RESUMES] = len(order) + np.count_nonzero(~started[: clock[places.ARRIVED]])


def _wait_for_others(trace: Trace, past: Past | None, job: Ints) -> None:
    """Count what each job waits for that has not come first yet, and note since when the others are ready."""
    from planner.machine.timeline import NEVER
    from planner.online.kernel import state as places

    if not len(trace.waits):
        return
    moment = -1 if past is None else past.moment_s
    start, cancel = job[places.START], job[places.CANCEL_S]
    end = np.where(start >= 0, np.minimum(start + job[places.RUNTIME], cancel), NEVER)
    # What was cancelled before it started has gone; what ends at the moment itself ends as the replay goes on.
    gone = np.where((start < 0) & (cancel <= moment), cancel, NEVER)
    for index in range(len(trace)):
        for other, is_end in trace.waits.before_of(index):
            come = min(int(gone[other]), int(end[other]) if is_end else int(start[other]))
            is_open = come < 0 or come > moment or (is_end and come == end[other] == moment)
            if start[index] >= 0:
                # What has started has waited long enough, whatever the others did.
                job[places.READY, index] = max(job[places.READY, index], min(come, start[index]))
            elif is_open:
                job[places.OPEN, index] += 1
            else:
                job[places.READY, index] = max(job[places.READY, index], come)


def _remember_ended(past: Past, job: Ints, taken: Floats) -> None:
    """Write the lengths of the jobs that ended before the moment of a past, in the order of their ends."""
    from planner.online.kernel import state as places

    start_s = past.start_s
    if past.is_history is not None:
        start_s = np.where(past.is_history, job[places.SUBMIT], start_s)
    end_s = start_s + job[places.RUNTIME]
    ended = np.flatnonzero((start_s >= 0) & (end_s < past.moment_s))
    for index in ended[np.argsort(end_s[ended], kind="stable")].tolist():
        for row in (int(job[places.LIKE_KIND, index]), int(job[places.LIKE_USER, index]), len(taken) - 1):
            place = 1 + int(taken[row, places.SEEN]) % (taken.shape[1] - 1)
            taken[row, place] = job[places.RUNTIME, index] / job[places.ESTIMATE, index]
            taken[row, places.SEEN] += 1


def _bunches(nodes: int, resources: int) -> dict[str, Ints]:
    """The tables of bunches of nodes, of which there are no more than twice as many as nodes.

    Rows are long where there are few nodes, and never a power of two, or they would get into each other's way in the
    caches of the processor.
    """
    from planner.online.kernel.bunches import BUNCH_ROWS, MEMBER_ROWS

    entries = min(max(BUNCH_ENTRIES // max(nodes, 1), 64), 1024) - 1
    shapes = {
        "bunch": (BUNCH_ROWS, 2 * nodes),
        "member": (MEMBER_ROWS, nodes),
        "bunch_times": (2 * nodes, entries),
        "bunch_free": (2 * nodes, entries, resources),
        "bucket": (1 << (2 * nodes).bit_length(),),
    }
    return {name: np.zeros(shape, dtype=np.int64) for name, shape in shapes.items()}


def _most_at_once(trace: Trace) -> int:
    """The most units of one kind that the empty machine takes at once, as far as any job asks."""
    capacity = trace.machine.capacity
    most = 0
    for asked in distinct_rows(np.column_stack([trace.group_amount, trace.group_count]))[0]:
        amount, count = asked[:-1], asked[-1]
        copies = np.min(capacity[:, amount > 0] // amount[amount > 0], axis=1)
        most = max(most, int(np.minimum(copies, count).sum()))
    return most
