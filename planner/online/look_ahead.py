"""A day under the policy ``replan``: as it is planned from now on, and as it is carried out with real runtimes.

Both are replays from what is true now. A plan lets every job run as long as planning thinks; carrying a day out, jobs
become known when they are submitted and end when they really do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from planner.accounting.settle import settle
from planner.domain.candidate import BestSoFar, Candidate, Listener, never
from planner.domain.closed_room import UNTIL_FURTHER_NOTICE_S
from planner.domain.cluster_trace import cluster_trace_of
from planner.domain.columns import Ints
from planner.domain.executed import executed
from planner.domain.job import Promise
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem, Running
from planner.domain.result import Result
from planner.domain.search_params import ReplanParams
from planner.domain.trace import Trace
from planner.online.estimates import estimate_named
from planner.online.outages import UNTIL_FURTHER_NOTICE, Outages
from planner.online.past import Past
from planner.online.policies import Policy
from planner.online.predictor import Predictor
from planner.online.replanning import Replanning
from planner.online.replay import LATE_REASONS, Replay, replay

METHOD = "replan"


@dataclass(frozen=True)
class CarriedOut:
    """A day as the loop carried it out: its result, what users were promised on arrival, and why it was broken."""

    result: Result
    promises: dict[str, Promise]
    reasons: dict[str, str]


def look_ahead(problem: Problem, params: ReplanParams, *, seed: int = 0, on_trial: Listener | None = None) -> Result:
    """The plan that keeps the promises of the problem's jobs, repairs, searches and holds as the loop does."""
    if not problem.jobs:
        return _result(problem, Plan.of(problem, {}), on_trial)
    scene = Scene(problem, problem)
    happened = scene.play(params, scene.trace.requested_s, max_delay_s=scene.longest_promise_s, seed=seed)
    return _result(problem, scene.plan_of(happened), on_trial)


def promised(problem: Problem, max_delay_s: int) -> dict[str, Promise]:
    """A promise for every job that waits and has none yet: its reference start and the delay that the site allows.

    It is what the loop would promise if the jobs arrived now, in the order of their submission.
    """
    now_unix = problem.horizon.start_unix + problem.now_s
    new = {job.id for job in problem.jobs if job.promise is None and job.release_unix <= now_unix}
    if not new:
        return {}
    scene = Scene(problem, problem)
    params = ReplanParams(steps=0, holds=False)
    moment = scene.play(params, scene.trace.requested_s, max_delay_s=max_delay_s, until_s=problem.now_s + 1)
    return {job: promise for job, promise in scene.promises_of(moment).items() if job in new}


def carry_out(
    problem: Problem,
    params: ReplanParams,
    *,
    max_delay_s: int,
    estimate: str = "requested",
    seed: int = 0,
    on_trial: Listener | None = None,
) -> CarriedOut:
    """The day with real runtimes, re-planned at every event; the plan is one of the day as it was carried out."""
    real = executed(problem)
    if not problem.jobs:
        return CarriedOut(_result(real, Plan.of(real, {}), on_trial), {}, {})
    scene = Scene(problem, real)
    thought = estimate_named(estimate).make_whole(scene.trace)
    happened = scene.play(params, thought, max_delay_s=max_delay_s, seed=seed)
    late = [(job, int(why)) for job, why in zip(scene.trace.ids, happened.late_reason, strict=True) if why]
    reasons = {job: LATE_REASONS[why] for job, why in late}
    return CarriedOut(_result(real, scene.plan_of(happened), on_trial), scene.promises_of(happened), reasons)


def _result(problem: Problem, plan: Plan, on_trial: Listener | None) -> Result:
    so_far = BestSoFar(never, on_trial)
    found = Candidate(plan, settle(problem, plan), METHOD)
    so_far.keep_if_better(found)
    so_far.trials.append(found.trial)
    so_far.tell(found.trial)
    return so_far.result(METHOD, leaves_room=True)


class Scene:
    """A problem as a trace with a past: waiting jobs first, then those that run, brought into order of release.

    ``real`` is the same problem with jobs as long as they run in the replay.
    """

    def __init__(self, problem: Problem, real: Problem) -> None:
        self._problem = problem
        # What has ended is of interest too: it tells how long jobs like it last.
        running = list(zip(problem.running, real.running, strict=True))
        # The clocks of a site may differ by a second: nobody starts before the submission.
        early = [
            replace(job, submit_unix=min(job.submit_unix, self._unix(work.start_s)), begin_unix=None, after=())
            for job, work in zip(problem.started_jobs, problem.running, strict=True)
        ]
        jobs = [*problem.jobs, *early]
        lengths = [job.planned_s for job in real.jobs] + [truth.end_s - truth.start_s for _, truth in running]
        thought = [job.planned_s for job in problem.jobs] + [self._thought_s(work) for work, _ in running]
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

    @property
    def longest_promise_s(self) -> int:
        """The largest delay that any job was promised at most [s]."""
        given = (each.latest_unix - each.reference_unix for each in self._promises if each is not None)
        return max(given, default=0)

    def play(
        self,
        params: ReplanParams,
        estimate: Ints | Predictor,
        *,
        max_delay_s: int,
        seed: int = 0,
        until_s: int | None = None,
    ) -> Replay:
        """Replay from now until a moment of the problem, or its end."""
        problem, shift = self._problem, self._problem.horizon.start_unix - self.origin_unix
        return replay(
            self.trace,
            Policy(METHOD),
            estimate,
            replanning=Replanning.of(problem, self.trace, params, max_delay_s=max_delay_s, seed=seed),
            past=self._past(problem.now_s + shift),
            until_s=(problem.horizon.length_s if until_s is None else until_s) + shift,
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

    def promises_of(self, happened: Replay) -> dict[str, Promise]:
        """What the jobs were promised by then."""
        pairs = zip(happened.reference_s.tolist(), happened.latest_s.tolist(), strict=True)
        return {
            job: Promise(self.origin_unix + reference, self.origin_unix + latest)
            for job, (reference, latest) in zip(self.trace.ids, pairs, strict=True)
            if reference >= 0
        }

    def _past(self, moment_s: int) -> Past:
        count, waiting = len(self._order), len(self._problem.jobs)
        start_s = np.full(count, -1, dtype=np.int64)
        nodes = np.full(int(self.trace.unit_ptr[-1]), -1, dtype=np.int64)
        for index, place in enumerate(self._order):
            if place >= waiting:
                work = self._running[place - waiting]
                start_s[index] = self._unix(work.start_s) - self.origin_unix
                nodes[self._units(index)] = work.nodes
        times = [(-1, -1) if p is None else (p.reference_unix, p.latest_unix) for p in self._promises]
        given = np.array(times, dtype=np.int64).reshape(count, 2)
        reference_s, latest_s = np.where(given >= 0, given - self.origin_unix, -1).T.copy()
        return Past(moment_s, start_s, nodes, reference_s, latest_s)

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
