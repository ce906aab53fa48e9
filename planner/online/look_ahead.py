"""A day under the policy ``hold``: as it is planned from now on, and as it is carried out with real runtimes.

Both are replays from what is true now. A plan lets every job run as long as planning thinks; carrying a day out, jobs
become known when they are submitted and end when they really do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.accounting.settle import settle
from planner.domain.candidate import BestSoFar, Candidate, Listener, never
from planner.domain.closed_room import UNTIL_FURTHER_NOTICE_S
from planner.domain.cluster_trace import cluster_trace_of
from planner.domain.columns import Ints
from planner.domain.executed import executed, ran_s
from planner.domain.job import Job
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem, Running
from planner.domain.promises import Hold
from planner.domain.result import Result
from planner.domain.trace import Trace
from planner.online.check import require_sound
from planner.online.estimates import estimate_named
from planner.online.holding import Holding
from planner.online.outages import UNTIL_FURTHER_NOTICE, Outages
from planner.online.past import Past
from planner.online.policies import policy_named
from planner.online.predictor import Predictor
from planner.online.replay import Replay, replay
from planner.units import SECONDS_PER_HOUR

METHOD = "hold"


NEVER_AGAIN_S = 10**9
"""In a plan holds are decided once, with what is known now."""


def look_ahead(problem: Problem, holding: Holding, on_trial: Listener | None = None) -> Result:
    """The time ahead as the site's scheduler goes through it, with every job as long as planning thinks.

    Its holds are those of jobs that the scheduler would start now, or would have started before.
    """
    once = replace(holding, params=replace(holding.params, every_s=NEVER_AGAIN_S))
    found = _play(problem, problem, once, None, on_trial)
    now_unix = problem.horizon.start_unix + problem.now_s
    return replace(found, holds=tuple(each for each in found.holds if each.reference_unix <= now_unix))


def carry_out(
    problem: Problem, holding: Holding, *, estimate: str = "requested", on_trial: Listener | None = None
) -> Result:
    """The day with real runtimes; the plan is one of the day as it was carried out."""
    return _play(problem, executed(problem), holding, estimate, on_trial)


def _play(problem: Problem, real: Problem, holding: Holding, estimate: str | None, on_trial: Listener | None) -> Result:
    """The result of a replay of the problem, in which jobs are as long as in the real one."""
    plan = Plan.of(real, {})
    holds: tuple[Hold, ...] = ()
    if problem.jobs:
        scene = Scene(problem, real, holding.history)
        thought = scene.trace.requested_s if estimate is None else estimate_named(estimate).make_whole(scene.trace)
        happened = scene.play(thought, holding)
        require_sound(happened)
        plan, holds = scene.plan_of(happened), scene.holds_of(happened)
    so_far = BestSoFar(never, on_trial)
    found = Candidate(plan, settle(real, plan), METHOD)
    so_far.keep_if_better(found)
    so_far.trials.append(found.trial)
    so_far.tell(found.trial)
    return so_far.result(METHOD, leaves_room=True, holds=holds)


class Scene:
    """A problem as a trace with a past: waiting jobs, those that run, and those of days before, in order of release.

    ``real`` is the same problem with jobs as long as they run in the replay. Jobs of days before have gone: they tell
    how long jobs last, and how many come.
    """

    def __init__(self, problem: Problem, real: Problem, history: tuple[Job, ...] = ()) -> None:
        self._problem = problem
        # What has ended is of interest too: it tells how long jobs like it last.
        running = list(zip(problem.running, real.running, strict=True))
        # The clocks of a site may differ by a second: nobody starts before the submission.
        early = [
            replace(job, submit_unix=min(job.submit_unix, self._unix(work.start_s)), begin_unix=None, after=())
            for job, work in zip(problem.started_jobs, problem.running, strict=True)
        ]
        known = {job.id for job in (*problem.jobs, *early)}
        before = [replace(job, after=(), begin_unix=None) for job in history if job.id not in known]
        jobs = [*problem.jobs, *early, *before]
        lengths = [job.planned_s for job in real.jobs] + [truth.end_s - truth.start_s for _, truth in running]
        lengths += [ran_s(job) for job in before]
        thought = [job.planned_s for job in problem.jobs] + [self._thought_s(work) for work, _ in running]
        thought += [job.planned_s for job in before]
        # A job is left out for which others come first so late that it cannot start within the problem.
        too_late = set(np.flatnonzero(real.columns.release_s >= problem.horizon.length_s).tolist())
        places = (place for place in range(len(jobs)) if place not in too_late)
        self._order = sorted(places, key=lambda place: jobs[place].release_unix)
        self._running = [work for work, _ in running]
        self.origin_unix = min(problem.horizon.start_unix, *(job.submit_unix for job in jobs))
        self.trace: Trace = cluster_trace_of(
            [jobs[place] for place in self._order],
            np.array([lengths[place] for place in self._order], dtype=np.int64),
            np.array([max(thought[place], lengths[place]) for place in self._order], dtype=np.int64),
            problem.cluster,
            origin_unix=self.origin_unix,
            source=f"the jobs of {problem.horizon.day}",
        )
        self._promises = [jobs[place].promise for place in self._order]
        self._is_history = np.array([place >= len(jobs) - len(before) for place in self._order], dtype=np.bool_)

    def play(self, estimate: Ints | Predictor, holding: Holding) -> Replay:
        """Replay from now until the end of the problem."""
        problem, shift = self._problem, self._problem.horizon.start_unix - self.origin_unix
        return replay(
            self.trace,
            policy_named(METHOD),
            estimate,
            holding=holding,
            past=self._past(problem.now_s + shift),
            cancel_s=np.where(self._is_history, self.trace.submit_s, -1),
            until_s=problem.horizon.length_s + shift,
            outages=_outages(problem, shift),
        )

    def plan_of(self, happened: Replay) -> Plan:
        """What the replay did, as a plan of the problem."""
        problem, shift = self._problem, self._problem.horizon.start_unix - self.origin_unix
        start_s: Ints = np.full(len(problem.jobs), DEFERRED, dtype=np.int64)
        node_of_unit: Ints = np.full(int(problem.columns.unit_ptr[-1]), DEFERRED, dtype=np.int64)
        for index, place in enumerate(self._order):
            if place < len(problem.jobs) and happened.start_s[index] >= 0:
                start_s[place] = happened.start_s[index] - shift
                first, last = problem.columns.unit_ptr[place : place + 2]
                node_of_unit[first:last] = happened.node_of_unit[self._units(index)]
        return Plan(start_s, node_of_unit)

    def holds_of(self, happened: Replay) -> tuple[Hold, ...]:
        """The jobs of the problem that were held, or are at the end."""
        now_s = self._unix(self._problem.now_s) - self.origin_unix
        found = []
        for index in np.flatnonzero(happened.held_until_s >= 0).tolist():
            reference_s, until_s, latest_s = (
                int(each[index]) for each in (happened.reference_s, happened.held_until_s, happened.latest_s)
            )
            waiting_h = max(0, until_s - max(now_s, reference_s)) / SECONDS_PER_HOUR
            found.append(
                Hold(
                    job_id=self.trace.ids[index],
                    reference_unix=self.origin_unix + reference_s,
                    until_unix=self.origin_unix + until_s,
                    latest_unix=self.origin_unix + latest_s,
                    saved_eur=float(happened.saved_eur[index]),
                    waiting_eur=happened.eur_per_waiting_hour * waiting_h,
                )
            )
        return tuple(found)

    def _past(self, moment_s: int) -> Past:
        count, waiting = len(self._order), len(self._problem.jobs)
        start_s = np.full(count, -1, dtype=np.int64)
        nodes = np.full(int(self.trace.unit_ptr[-1]), -1, dtype=np.int64)
        for index, place in enumerate(self._order):
            if place >= waiting and not self._is_history[index]:
                work = self._running[place - waiting]
                start_s[index] = self._unix(work.start_s) - self.origin_unix
                nodes[self._units(index)] = work.nodes
        times = [(-1, -1) if p is None else (p.reference_unix, p.latest_unix) for p in self._promises]
        given = np.array(times, dtype=np.int64).reshape(count, 2)
        reference_s, latest_s = np.where(given >= 0, given - self.origin_unix, -1).T.copy()
        return Past(moment_s, start_s, nodes, reference_s, latest_s, self._is_history)

    def _thought_s(self, work: Running) -> int:
        """How long planning thinks that a job lasts which has started, or thought so before it ended [s]."""
        return work.job.planned_s if work.end_s <= self._problem.now_s else work.end_s - work.start_s

    def _units(self, index: int) -> slice:
        return slice(int(self.trace.unit_ptr[index]), int(self.trace.unit_ptr[index + 1]))

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
