"""One day under a policy of the simulator: EASY and the rules of schedulers, to compare a plan with, and ``hold``.

The problem of a day becomes a trace and what has happened by then: work that runs, nodes that are out, and all that the
queue knows of its jobs. It is made as the traces of `plan simulate` are, so a policy does the same on both.

Under ``hold`` a day is planned from now on, and it is carried out with real runtimes: both are replays from what is
true now. A plan lets every job run as long as planning thinks; carrying a day out, jobs become known when they are
submitted and end when they really do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from planner.accounting.settle import settle
from planner.domain.columns import Floats, Ints
from planner.domain.job import Job
from planner.domain.job_order import by_priority, overdue_first, profit_per_kw
from planner.domain.plan import DEFERRED, Plan
from planner.domain.precedence import waiting_in_vain
from planner.domain.problem import Problem, Running, executed, ran_s
from planner.domain.result import BestSoFar, Candidate, Hold, Listener, Result, never
from planner.domain.situation import UNTIL_FURTHER_NOTICE_S
from planner.domain.trace import Trace, cluster_trace_of
from planner.online.audit_replay import require_sound
from planner.online.estimates import estimate_named
from planner.online.holding import NO_HOLDING, Holding
from planner.online.initial_state import Past
from planner.online.outages import UNTIL_FURTHER_NOTICE, Outages
from planner.online.policies import HOLD, Policy, policy_named
from planner.online.predictors import Predictor
from planner.online.replay import Replay, replay
from planner.units import SECONDS_PER_HOUR

EASY = Policy("easy")

STRICT = "-strict"
"""Ending of the names of rules that stop at the first job that does not fit, until some job has ended."""

NEVER_AGAIN_S = 10**9
"""In a plan holds are decided once, with what is known now."""


class DayTrace:
    """A problem as a trace with a past: jobs that wait, those that have started, and those of days before.

    They are in order of release; those that wait for jobs that never run are left out. ``happened`` is the same problem
    with jobs as long as they run in the replay; ``expected_s`` is how long planning thinks that each job of the trace
    runs. Jobs of days before have gone: they tell how long jobs last, and how many come.
    """

    def __init__(self, problem: Problem, happened: Problem, history: tuple[Job, ...] = ()) -> None:
        self._problem = problem
        # The clocks of a site may differ by a second: nobody starts before the submission.
        started = [
            replace(job, submit_unix=min(job.submit_unix, self._unix(work.start_s)), begin_unix=None, after=())
            for job, work in zip(problem.started_jobs, problem.running, strict=True)
        ]
        known = {job.id for job in (*problem.jobs, *started)}
        before = [replace(job, after=(), begin_unix=None) for job in history if job.id not in known]
        jobs = [*problem.jobs, *started, *before]
        lasts_s = [job.planned_s for job in happened.jobs] + [work.end_s - work.start_s for work in happened.running]
        lasts_s += [ran_s(job) for job in before]
        expected_s = [job.planned_s for job in problem.jobs] + [self._expected_s(work) for work in problem.running]
        expected_s += [job.planned_s for job in before]
        in_vain = waiting_in_vain(problem.jobs, problem.never)
        places = (place for place, job in enumerate(jobs) if job.id not in in_vain)
        self._order = sorted(places, key=lambda place: (jobs[place].release_unix, jobs[place].submission_key))
        self._jobs = [jobs[place] for place in self._order]
        self.origin_unix = min([problem.horizon.start_unix, *(job.submit_unix for job in jobs)])
        self.expected_s: Ints = np.array([expected_s[place] for place in self._order], dtype=np.int64)
        runtime_s = np.array([lasts_s[place] for place in self._order], dtype=np.int64)
        asked_s = np.array([job.requested_s for job in self._jobs], dtype=np.int64)
        self.trace: Trace = cluster_trace_of(
            self._jobs,
            runtime_s,
            np.maximum(np.maximum(asked_s, self.expected_s), runtime_s),
            problem.cluster,
            origin_unix=self.origin_unix,
            source=f"the jobs of {problem.horizon.day}",
        )
        self._is_history = np.array([place >= len(jobs) - len(before) for place in self._order], dtype=np.bool_)

    def play(
        self,
        policy: Policy,
        estimate: Ints | Predictor | None = None,
        *,
        order: Ints | None = None,
        holding: Holding = NO_HOLDING,
    ) -> Replay:
        """Replay from now until the end of the problem, with the lengths that planning expects unless others are given.

        ``order`` are the problem's jobs in an order of the queue, in place of that of the site or of their priorities.
        """
        problem, shift = self._problem, self._shift_s
        return replay(
            self.trace,
            policy,
            self.expected_s if estimate is None else estimate,
            holding=holding,
            past=self._past(),
            cancel_s=np.where(self._is_history, self.trace.submit_s, -1),
            until_s=problem.horizon.length_s + shift,
            outages=_outages(problem, shift),
            rank=self._places() if order is None else self._rank(order),
        )

    def plan_of(self, happened: Replay) -> Plan:
        """What the replay did, as a plan of the problem."""
        columns, shift = self._problem.columns, self._shift_s
        start_s: Ints = np.full(len(columns), DEFERRED, dtype=np.int64)
        node_of_unit: Ints = np.full(int(columns.unit_ptr[-1]), DEFERRED, dtype=np.int64)
        for index, place in enumerate(self._order):
            if place < len(columns) and happened.start_s[index] >= 0:
                start_s[place] = happened.start_s[index] - shift
                node_of_unit[columns.unit_ptr[place] : columns.unit_ptr[place + 1]] = self._units(happened, index)
        return Plan(start_s, node_of_unit)

    def _past(self) -> Past:
        count, waiting = len(self._order), len(self._problem.jobs)
        start_s = np.full(count, -1, dtype=np.int64)
        nodes = np.full(int(self.trace.unit_ptr[-1]), -1, dtype=np.int64)
        for index, place in enumerate(self._order):
            if place >= waiting and not self._is_history[index]:
                work = self._problem.running[place - waiting]
                start_s[index] = work.start_s + self._shift_s
                nodes[self.trace.unit_ptr[index] : self.trace.unit_ptr[index + 1]] = work.nodes
        given = np.array([self._promised(job) for job in self._jobs], dtype=np.int64).reshape(count, 2)
        reference_s, latest_s = np.where(given >= 0, given - self.origin_unix, -1).T.copy()
        return Past(self._problem.now_s + self._shift_s, start_s, nodes, reference_s, latest_s, self._is_history)

    def _promised(self, job: Job) -> tuple[int, int]:
        """Since when a job could have started, and until when it may be held [Unix s]; -1 where that is open.

        One whose begin has moved since keeps its last moment, unless it may not begin before that.
        """
        if not job.may_hold:
            return self.origin_unix, self.origin_unix
        if job.promise is None:
            return -1, -1
        reference_unix = max(job.promise.reference_unix, job.release_unix)
        return reference_unix, max(job.promise.latest_unix, reference_unix)

    def _rank(self, order: Ints) -> Ints:
        """The place in an order of each job of the trace; those that have started have none."""
        rank = {int(place): number for number, place in enumerate(order)}
        return np.array([rank.get(place, 0) for place in self._order], dtype=np.int64)

    def _places(self) -> Ints | None:
        """The place in the site's queue of each job of the trace; None where nobody says."""
        if all(job.queue_place is None for job in self._problem.jobs):
            return None
        return np.array([job.queue_place or 0 for job in self._jobs], dtype=np.int64)

    def _expected_s(self, work: Running) -> int:
        """How long planning thinks that a job lasts which has started, or thought so before it ended [s]."""
        return work.job.planned_s if work.end_s <= self._problem.now_s else work.end_s - work.start_s

    def _units(self, happened: Replay, index: int) -> Ints:
        return happened.node_of_unit[self.trace.unit_ptr[index] : self.trace.unit_ptr[index + 1]]

    @property
    def _shift_s(self) -> int:
        """When the problem begins [s of the trace]."""
        return self._problem.horizon.start_unix - self.origin_unix

    def _unix(self, offset_s: int) -> int:
        return self._problem.horizon.start_unix + offset_s


def _outages(problem: Problem, shift: int) -> Outages:
    """The outages of the problem, known from the start; what runs there is fixed and not lost."""
    known = problem.outages
    ends = [UNTIL_FURTHER_NOTICE if each.end_s >= UNTIL_FURTHER_NOTICE_S else each.end_s + shift for each in known]
    return Outages(
        node=np.array([each.node for each in known], dtype=np.int64),
        start_s=np.array([max(0, each.start_s + shift) for each in known], dtype=np.int64),
        end_s=np.array(ends, dtype=np.int64),
        known_from_s=np.zeros(len(known), dtype=np.int64),
        drains=np.ones(len(known), dtype=np.bool_),
        is_open=np.zeros(len(known), dtype=np.bool_),
    )


def _submit(problem: Problem) -> Ints:
    return np.array([job.submit_unix for job in problem.jobs], dtype=np.int64)


def _wallclock(problem: Problem) -> Ints:
    return problem.columns.duration_s


def _profit_over_cost(problem: Problem) -> Floats:
    return -profit_per_kw(problem, problem.columns)


RULES: dict[str, Callable[[Problem], Ints | Floats]] = {
    "est": _submit,
    "wt": _wallclock,
    "profit": _profit_over_cost,
}
"""Keys, the least first; ties go by submit time, then id. Profit over cost sorts as profit per kW does."""


def easy_plan(problem: Problem, happened: Problem) -> Plan:
    """What EASY starts on a day, knowing only jobs that are submitted and the times that they ask for.

    The ``problem`` has every job as long as planning thinks, ``happened`` the same jobs as long as they ran.
    """
    day = DayTrace(problem, happened)
    return day.plan_of(day.play(EASY))


def rule_plan(problem: Problem, name: str, on_trial: Listener | None = None, day: DayTrace | None = None) -> Result:
    """The plan that a rule makes: at each arrival or completion it starts what fits now, nodes in number order.

    ``day`` is the trace of the problem, where that is made already.
    """
    day = day or DayTrace(problem, problem)
    policy = Policy("strict" if name.endswith(STRICT) else "greedy", as_rule=True)
    return result_of(problem, day.plan_of(day.play(policy, order=rule_order(problem, name))), name, on_trial)


def easy_result(problem: Problem, on_trial: Listener | None = None) -> Result:
    """EASY's plan, with every job as long as planning thinks."""
    return result_of(problem, easy_plan(problem, problem), "easy", on_trial)


def result_of(problem: Problem, plan: Plan, name: str, on_trial: Listener | None, **more: Any) -> Result:
    """The result of a plan that was not searched for, settled; it may leave room."""
    so_far = BestSoFar(never, on_trial)
    found = Candidate(plan, settle(problem, plan), name)
    so_far.keep_if_better(found)
    so_far.trials.append(found.trial)
    so_far.tell(found.trial)
    return so_far.result(name, leaves_room=True, **more)


def rule_order(problem: Problem, name: str) -> Ints:
    """Indices of the problem's jobs in the order of a rule: by priority first, unless its key knows what they count."""
    rule = name.removesuffix(STRICT)
    order = np.lexsort((problem.submission_rank, RULES[rule](problem))).astype(np.int64)
    return overdue_first(problem, order if rule == "profit" else by_priority(problem, order))


def look_ahead(problem: Problem, holding: Holding, on_trial: Listener | None = None) -> Result:
    """The time ahead as the site's scheduler goes through it, with every job as long as planning thinks.

    Its holds are those of jobs that the scheduler would start before holds are decided anew, or would have started. How
    strongly to hold is decided no more often than when days are carried out: a plan of the same hour as the last
    decision keeps to that.
    """
    every_s, now_unix = holding.params.every_s, problem.horizon.start_unix + problem.now_s
    before = holding.strength
    is_decided = before is not None and before.decided_unix // every_s == now_unix // every_s
    params = replace(holding.params, every_s=NEVER_AGAIN_S)
    found = _play(problem, problem, replace(holding, params=params, is_decided=is_decided), None, on_trial)
    next_unix = now_unix + every_s
    return replace(found, holds=tuple(each for each in found.holds if each.reference_unix < next_unix))


def carry_out(
    problem: Problem, holding: Holding, *, estimate: str = "requested", on_trial: Listener | None = None
) -> Result:
    """The day with real runtimes; the plan is one of the day as it was carried out."""
    return _play(problem, executed(problem), holding, estimate, on_trial)


def _play(problem: Problem, real: Problem, holding: Holding, estimate: str | None, on_trial: Listener | None) -> Result:
    """The result of a replay of the problem, in which jobs are as long as in the real one."""
    plan = Plan.of(real, {})
    holds: tuple[Hold, ...] = ()
    strength = holding.strength
    if problem.jobs:
        day = DayTrace(problem, real, holding.history)
        thought = None if estimate is None else estimate_named(estimate).make_whole(day.trace)
        happened = day.play(policy_named(HOLD), thought, holding=holding)
        require_sound(happened)
        plan, holds = day.plan_of(happened), _holds_of(day, happened, problem.horizon.start_unix + problem.now_s)
        strength = strength if happened.strength is None else happened.strength
    return result_of(real, plan, HOLD, on_trial, holds=holds, strength=strength)


def _holds_of(day: DayTrace, happened: Replay, now_unix: int) -> tuple[Hold, ...]:
    """The jobs of a day that were held, or are at the end."""
    found = []
    for index in np.flatnonzero(happened.held_until_s >= 0).tolist():
        reference_s, until_s, latest_s = (
            int(each[index]) for each in (happened.reference_s, happened.held_until_s, happened.latest_s)
        )
        waiting_h = max(0, until_s - max(now_unix - day.origin_unix, reference_s)) / SECONDS_PER_HOUR
        found.append(
            Hold(
                job_id=day.trace.ids[index],
                reference_unix=day.origin_unix + reference_s,
                until_unix=day.origin_unix + until_s,
                latest_unix=day.origin_unix + latest_s,
                saved_eur=float(happened.saved_eur[index]),
                waiting_eur=happened.eur_per_waiting_hour * waiting_h,
            )
        )
    return tuple(found)
