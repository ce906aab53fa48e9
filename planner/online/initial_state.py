"""What a replay begins with: what has happened before it, and its state before its first event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from planner.domain.columns import Floats, Ints, distinct_rows
from planner.domain.method_params import LEAST_MARGIN_S, MARGIN_PART
from planner.domain.plan import most_cells
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.machine.earliest import BOUND_COLUMNS
from planner.machine.timeline import NEVER
from planner.online.kernel import state as places
from planner.online.kernel.bunches import BUNCH_ROWS, MEMBER_ROWS
from planner.online.kernel.likely_lengths import REMEMBERED_LENGTHS
from planner.online.kernel.plans import REMEMBERED_STARTS
from planner.online.kernel.queue_order import ORDER_CODES, backfill_code
from planner.online.kernel.state import Records, State
from planner.online.objectives import FORMS, NO_PROFIT, ProfitTerms
from planner.online.outages import NO_OUTAGES, Outages
from planner.online.policies import KINDS, PLANNING, SIMPLE, USUAL_SEARCH, Policy, QueueSearch
from planner.units import MILLI


@dataclass(frozen=True, eq=False)
class Past:
    """A moment of a trace and all that is decided by then.

    ``start_s`` and ``node_of_unit`` are -1 for jobs that have not started. Under policies that hold jobs,
    ``reference_s`` is the first moment at which the scheduler would have started each job, and ``latest_s`` until when
    it may be held; -1 where that moment has not come yet. ``is_history`` says which jobs have ended on days before,
    nobody needs to know where; None: no job.
    """

    moment_s: int
    start_s: Ints
    node_of_unit: Ints
    reference_s: Ints
    latest_s: Ints
    is_history: np.ndarray[tuple[int], np.dtype[np.bool_]] | None = None

    def require_possible(self, trace: Trace) -> None:
        """InputError when a past does not belong to a trace or cannot have happened on its machine.

        What runs may ask more of a node than it has: Slurm may let jobs share cores, and what ran, ran.
        """
        for column, entries in (
            (self.start_s, len(trace)),
            (self.reference_s, len(trace)),
            (self.latest_s, len(trace)),
            (self.node_of_unit, int(trace.unit_ptr[-1])),
        ):
            if len(column) != entries:
                raise InputError(f"{trace.source}: a past of {len(column)} entries where the trace has {entries}")
        started = self.start_s >= 0
        wrong = np.flatnonzero(started & ((self.start_s > self.moment_s) | (self.start_s < trace.submit_s)))
        if len(wrong):
            job = int(wrong[0])
            raise InputError(
                f"{trace.source}: job {trace.ids[job]} has started at {self.start_s[job]} s; give a start from its"
                f" submission, {trace.submit_s[job]} s, to the moment, {self.moment_s} s"
            )
        nodes = len(trace.machine.capacity)
        unit_started = np.repeat(started, np.diff(trace.unit_ptr))
        if np.any(unit_started & ((self.node_of_unit < 0) | (self.node_of_unit >= nodes))):
            raise InputError(f"{trace.source}: a job of the past is on no node of {nodes}")


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
    count, units = len(trace), int(trace.unit_ptr[-1])
    nodes, resources = trace.machine.capacity.shape
    limited = trace.machine.power_limit >= 0
    rows = nodes + (1 if limited else 0)
    free = np.zeros((2 * rows, places.FIRST_CAPACITY, resources), dtype=np.int64)
    free[:nodes, 0] = trace.machine.capacity
    if limited:
        free[nodes, 0, 0] = trace.machine.power_limit
    jobs = places.records(count, places.JOB)
    jobs["submit"], jobs["runtime"], jobs["requested"] = trace.submit_s, trace.runtime_s, trace.requested_s
    jobs["estimate"] = np.maximum(estimate, 1)
    jobs["deadline_s"] = np.where(deadline_s >= 0, deadline_s, NEVER)
    jobs["width"], jobs["power"] = trace.width, trace.power_mw
    if rank is not None:
        jobs["rank_first"] = jobs["back_first"] = rank
    elif trace.priority is not None:
        jobs["rank_first"] = -np.round(trace.priority * MILLI)
        jobs["back_first"] = jobs["rank_first"]
    kinds, jobs["like_kind"] = distinct_rows(np.column_stack([trace.user, trace.requested_s]))
    named, of_name = distinct_rows(np.column_stack([trace.user, trace.requested_s, trace.name]))
    jobs["like_name"] = of_name + len(kinds)
    jobs["like_user"] = trace.user + 1 + len(kinds) + len(named)
    shapes, of_group = distinct_rows(np.column_stack([trace.group_amount, trace.group_count]))
    is_one_group, own = np.diff(trace.group_ptr) == 1, len(shapes) + np.arange(count)
    jobs["shape"] = np.where(is_one_group, of_group[trace.group_ptr[:-1]], own)
    jobs["start"] = jobs["reserved"] = jobs["saved_start"] = places.NONE_YET
    jobs["reference"] = jobs["hold_until"] = places.NONE_YET
    jobs["latest"] = _in_time(trace, jobs["deadline_s"], per_second) if policy.holds else places.NONE_YET
    jobs["ready"] = trace.submit_s
    jobs["cancel_s"] = NEVER if cancel_s is None else np.where(cancel_s >= 0, cancel_s, NEVER)
    clock = places.records(1, places.CLOCK)[0]
    clock.policy = KINDS.index(policy.kind)
    clock.order = ORDER_CODES[policy.order]
    clock.backfill_order = backfill_code(policy.order, policy.backfill_order)
    clock.correction = correction
    clock.nodes, clock.limited = nodes, int(limited)
    clock.crowd = NEVER if limited or policy.kind not in SIMPLE else _most_on_a_row(trace)
    clock.has_cancels = int(cancel_s is not None and np.any(cancel_s >= 0))
    clock.scan_only_if_fits = int(policy.scans_only_if_fits(rounds, predicted=predicted))
    clock.every_event = int(rounds == "event")
    clock.per_second = per_second
    clock.as_rule = int(policy.as_rule)
    clock.ahead_s = profit.ahead_s
    clock.holds, clock.max_delay_s = int(policy.holds), max_delay_s
    clock.until = clock.resume_at = NEVER
    if policy.objective is not None:
        clock.objective = FORMS.index(policy.objective.form)
        clock.evaluations = search.evaluations
        seeds = policy.objective.seeds if policy.plus else ()
        clock.seeds = sum(1 << ORDER_CODES[order] for order in seeds)
        clock.exponent = policy.objective.exponent
    clock.eur_per_waiting_hour, clock.eur_per_width_hour = profit.eur_per_waiting_hour, profit.eur_per_width_hour
    clock.eur_per_held_hour = np.inf
    unit = places.records(units, places.UNIT, 0 if nodes == 1 else -1)
    pins = places.records(units if policy.kind in PLANNING and nodes > 1 else 0, places.PINS, -1)
    first = places.records(count + 1, places.FIRST)
    first["group"], first["unit"], first["follower"] = trace.group_ptr, trace.unit_ptr, trace.waits.follower_ptr
    taken = np.zeros((int(jobs["like_user"].max(initial=-1)) + 2, 1 + REMEMBERED_LENGTHS))
    if past is not None:
        _take_past(trace, past, jobs, unit, clock)
        _remember_ended(past, jobs, taken)
    _wait_for_others(trace, past, jobs)
    most_at_once = max(nodes, _most_at_once(trace.machine.capacity, shapes))
    return places.State(
        jobs=jobs,
        queue=np.zeros(count, dtype=np.int64),
        backfill=np.zeros(count, dtype=np.int64),
        ends=places.records(count, places.HEAP),
        dues=places.records(count, places.HEAP),
        lists=places.records(count, places.LISTS),
        first=first,
        group_count=trace.group_count,
        group_amount=trace.group_amount,
        follower=trace.waits.followers,
        units=unit,
        pins=pins,
        times=np.zeros((2 * rows, places.FIRST_CAPACITY), dtype=np.int64),
        free=free,
        length=np.ones(2 * rows, dtype=np.int64),
        price_s=profit.price_s,
        price_sum=profit.eur_per_kw,
        paid=np.zeros(2),
        taken=taken,
        stream=np.array([search.seed], dtype=np.uint64),
        capacity=trace.machine.capacity,
        most=np.ascontiguousarray(trace.machine.capacity[:, 0]),
        **_bunches(nodes if policy.kind in ("list", *PLANNING) and nodes > 1 else 0, resources),
        learned=np.zeros((REMEMBERED_STARTS, resources + BOUND_COLUMNS), dtype=np.int64),
        full=np.zeros(len(shapes) + count, dtype=np.int64),
        refused=np.full((len(shapes) + count, 4), -1, dtype=np.int64),
        ready=np.zeros(most_at_once, dtype=np.int64),
        weight=np.zeros(most_at_once, dtype=np.int64),
        known=np.zeros(nodes, dtype=np.int64),
        least=np.zeros((nodes, resources), dtype=np.int64),
        watts=np.zeros(1, dtype=np.int64),
        cells=np.zeros(most_cells(trace.group_ptr, trace.group_count, nodes), dtype=np.int64),
        pattern=np.zeros(int(np.diff(trace.group_ptr).max(initial=1)), dtype=np.int64),
        lengths=np.zeros(REMEMBERED_LENGTHS, dtype=np.int64),
        changes=outages.changes(0 if past is None else past.moment_s),
        shut=outages.shut(nodes) if policy.holds else np.zeros((0, 2), dtype=np.int64),
        clock=clock,
    )


def _in_time(trace: Trace, deadline_s: Ints, per_second: int) -> Ints:
    """Until when each job may be held so that it ends by its deadline, and those that wait for it by theirs; else -1.

    Jobs are counted on to run as long as they ask, and a hold ends some time before that, as other jobs may be first.
    """
    if not (deadline_s < NEVER).any():
        return np.full(len(trace), places.NONE_YET)
    lasts_s = trace.requested_s
    last_s = np.where(deadline_s < NEVER, deadline_s - lasts_s, NEVER)
    changed = trace.links is not None
    while changed:
        changed = False
        for job in range(len(trace) - 1, -1, -1):  # those that come later mostly wait for those before
            if last_s[job] >= NEVER:
                continue
            for other, is_end in trace.waits.before_of(job):
                needed_s = last_s[job] - (lasts_s[other] if is_end else 0)
                changed |= bool(needed_s < last_s[other])
                last_s[other] = min(last_s[other], needed_s)
    margin_s = np.maximum(LEAST_MARGIN_S * per_second, lasts_s // MARGIN_PART)
    return np.where(last_s < NEVER, np.maximum(0, last_s - margin_s), places.NONE_YET)


def _take_past(trace: Trace, past: Past, jobs: Records, unit: Records, clock: Any) -> None:
    """Write a past into the tables; the kernel goes on from it at its moment."""
    moment = past.moment_s
    started = past.start_s >= 0
    running = started & (np.minimum(past.start_s + trace.runtime_s, jobs["cancel_s"]) >= moment)
    jobs["start"] = past.start_s
    jobs["reference"] = past.reference_s
    longest = past.reference_s + clock.max_delay_s
    in_time = np.where(jobs["latest"] >= 0, jobs["latest"], NEVER)
    held = np.minimum(np.minimum(past.latest_s, longest), in_time)
    jobs["latest"] = np.where(past.reference_s >= 0, held, jobs["latest"])
    of_started = np.repeat(started, np.diff(trace.unit_ptr))
    unit["node"][of_started] = past.node_of_unit[of_started]
    order = np.flatnonzero(running)
    order = order[np.argsort(past.start_s[order], kind="stable")]
    jobs["started_at"][order] = np.arange(len(order))
    clock.started = len(order)
    clock.arrived = np.searchsorted(trace.submit_s, moment, side="right")
    clock.resume_at = clock.now = moment
    clock.resumes = len(order) + min(clock.crowd, np.count_nonzero(~started[: clock.arrived]))


def _wait_for_others(trace: Trace, past: Past | None, jobs: Records) -> None:
    """Count what each job waits for that has not come first yet, and note since when the others are ready."""
    if not len(trace.waits):
        return
    moment = -1 if past is None else past.moment_s
    start, cancel = jobs["start"], jobs["cancel_s"]
    end = np.where(start >= 0, np.minimum(start + jobs["runtime"], cancel), NEVER)
    # What was cancelled before it started has gone; what ends at the moment itself ends as the replay goes on.
    gone = np.where((start < 0) & (cancel <= moment), cancel, NEVER)
    for index in range(len(trace)):
        for other, is_end in trace.waits.before_of(index):
            come = min(int(gone[other]), int(end[other]) if is_end else int(start[other]))
            is_open = come < 0 or come > moment or (is_end and come == end[other] == moment)
            if start[index] >= 0:
                # What has started has waited long enough, whatever the others did.
                jobs["ready"][index] = max(jobs["ready"][index], min(come, start[index]))
            elif is_open:
                jobs["open"][index] += 1
            else:
                jobs["ready"][index] = max(jobs["ready"][index], come)


def _remember_ended(past: Past, jobs: Records, taken: Floats) -> None:
    """Write the lengths of the jobs that ended before the moment of a past, in the order of their ends."""
    start_s = past.start_s
    if past.is_history is not None:
        start_s = np.where(past.is_history, jobs["submit"], start_s)
    end_s = start_s + jobs["runtime"]
    ended = np.flatnonzero((start_s >= 0) & (end_s < past.moment_s))
    ended = ended[np.lexsort((start_s[ended], end_s[ended]))]
    part = jobs["runtime"][ended] / jobs["estimate"][ended]
    last = np.full(len(ended), len(taken) - 1)
    for of in (jobs["like_name"][ended], jobs["like_kind"][ended], jobs["like_user"][ended], last):
        by_row = np.argsort(of, kind="stable")
        rows, parts = of[by_row], part[by_row]
        number = np.arange(len(rows)) - np.searchsorted(rows, rows)
        # Later ones take the places of earlier ones.
        taken[rows, 1 + number % (taken.shape[1] - 1)] = parts
        np.add.at(taken[:, places.SEEN], rows, 1.0)


def _bunches(nodes: int, resources: int) -> dict[str, Ints]:
    """The tables of bunches of nodes, of which there are no more than twice as many as nodes.

    Rows are long where there are few nodes, and never a power of two, or they would get into each other's way in the
    caches of the processor.
    """
    entries = min(max(BUNCH_ENTRIES // max(nodes, 1), 64), 1024) - 1
    shapes = {
        "bunch": (BUNCH_ROWS, 2 * nodes),
        "member": (MEMBER_ROWS, nodes),
        "bunch_times": (2 * nodes, entries),
        "bunch_free": (2 * nodes, entries, resources),
        "bucket": (1 << (2 * nodes).bit_length(),),
    }
    return {name: np.zeros(shape, dtype=np.int64) for name, shape in shapes.items()}


def _most_on_a_row(trace: Trace) -> int:
    """How many units share a row at most, by what each asks at least."""
    least = trace.group_amount.min(axis=0, initial=np.iinfo(np.int64).max)
    asked = least > 0
    return int(np.min(trace.machine.capacity[:, asked].max(axis=0) // least[asked], initial=len(trace)))


def _most_at_once(capacity: Ints, shapes: Ints) -> int:
    """The most units of one shape that the empty machine takes at once, as far as any job asks."""
    most = 0
    for asked in shapes:
        amount, count = asked[:-1], asked[-1]
        copies = np.min(capacity[:, amount > 0] // amount[amount > 0], axis=1)
        most = max(most, int(np.minimum(copies, count).sum()))
    return most
