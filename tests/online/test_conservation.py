"""Nothing is lost and nothing is promised in vain, whatever happens: jobs go, nodes go and return, estimates are wrong.

What is checked here is checked with plain loops over seconds, and shares no code with the policies.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace as with_changes
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from planner.domain.trace import Machine, Trace, pool_trace
from planner.errors import InputError
from planner.machine.timeline import NEVER
from planner.online.audit_replay import violations
from planner.online.initial_state import Past
from planner.online.outages import UNTIL_FURTHER_NOTICE, LostRun, Outages
from planner.online.policies import KINDS, policy_named
from planner.online.predictors import Last2
from planner.online.replay import Replay
from planner.online.replay import replay as replay_with
from tests.online.hard_days import hard_day, nothing_found
from tests.online.runs import Run, runs_of, units_of
from tests.online.traces import as_nodes

replay = partial(replay_with, solver=nothing_found)
"""A replay; only the policy ``cp`` has a use for an engine."""

SEEDS = range(48)
FEW = range(0, 48, 3)


def require_room(result: Replay) -> None:
    """No node is over-used in any second, nothing runs where it must not, and nothing starts before its time."""
    trace, outages = result.trace, result.outages
    used: Counter[tuple[int, int, int]] = Counter()
    drawn: Counter[int] = Counter()
    for run in runs_of(result):
        assert run.start >= trace.submit_s[run.job]
        assert run.end > run.start
        end = min(run.end, result.until_s)
        for second in range(run.start, end):
            drawn[second] += int(trace.power_mw[run.job])
        for node, amount in zip(run.nodes, units_of(result, run.job), strict=True):
            for second in range(run.start, end):
                for resource, asked in enumerate(amount):
                    used[node, second, resource] += asked
            for k in range(len(outages)):
                if outages.node[k] == node:
                    first, last = int(outages.start_s[k]), int(outages.end_s[k])
                    assert not first <= run.start < last, "starts on a lost node"
                    assert outages.drains[k] or end <= first or run.start >= last, "runs on a lost node"
    for (node, second, resource), amount in used.items():
        assert amount <= trace.machine.capacity[node, resource], f"node {node} at {second} s"
    if trace.machine.power_limit >= 0:
        assert max(drawn.values(), default=0) <= trace.machine.power_limit


def require_true_runs(result: Replay) -> None:
    """Runs of one job do not overlap; a run is lost when a node of it goes down, and lasts its runtime otherwise."""
    trace, outages = result.trace, result.outages
    by_job: dict[int, list[Run]] = {}
    for run in sorted(runs_of(result), key=lambda run: run.start):
        by_job.setdefault(run.job, []).append(run)
    for job, runs in by_job.items():
        assert [run.lost for run in runs[:-1]] == [True] * (len(runs) - 1)
        assert all(one.end <= other.start for one, other in pairwise(runs))
        assert sum(run.lost for run in runs) == result.restarts[job]
        for run in runs:
            assert run.end - run.start <= trace.runtime_s[job]
            if run.lost:
                downs = zip(outages.node, outages.start_s, outages.drains, strict=True)
                assert any(node in run.nodes and at == run.end and not drains for node, at, drains in downs)
            elif result.cancel_s[job] < 0:
                assert run.end - run.start == trace.runtime_s[job]
            else:
                assert run.end == min(run.start + trace.runtime_s[job], result.cancel_s[job])


def state_at(whole: Replay, runs: list[Run], job: int, moment: int) -> str:
    """What a job is just before a moment, by all that happened in the whole replay."""
    if whole.trace.submit_s[job] >= moment:
        return "not yet submitted"
    if whole.is_cancelled[job] and whole.cancel_s[job] < moment:
        return "cancelled"
    begun = [run for run in runs if run.job == job and run.start < moment]
    if not begun or (begun[-1].lost and begun[-1].end < moment):
        return "waiting"
    return "running" if begun[-1].end >= moment else "finished"


def require_same_until(whole: Replay, cut: Replay, moment: int) -> None:
    """A replay that stops at a moment is the whole one until then, and every job is in exactly one state."""
    runs = sorted(runs_of(whole), key=lambda run: run.start)
    assert cut.lost_runs == tuple(run for run in whole.lost_runs if run.lost_at_s < moment)
    for job in range(len(whole.trace)):
        has_started, is_cancelled = bool(cut.is_started[job]), bool(cut.is_cancelled[job])
        is_over = has_started and cut.end_s[job] < moment
        states = {
            "not yet submitted": bool(whole.trace.submit_s[job] >= moment) and not has_started and not is_cancelled,
            "waiting": bool(whole.trace.submit_s[job] < moment) and not has_started and not is_cancelled,
            "running": has_started and not is_over,
            "finished": is_over and not is_cancelled,
            "cancelled": is_cancelled,
        }
        assert [name for name, holds in states.items() if holds] == [state_at(whole, runs, job, moment)], job
        if has_started:
            last = [run for run in runs if run.job == job and run.start < moment][-1]
            assert (cut.start_s[job], cut.end_s[job]) == (last.start, last.end) or last.lost


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("policy", KINDS)
def test_every_job_is_in_one_state_and_no_node_is_over_used(policy: str) -> None:
    """All jobs start or are cancelled; every rule holds at every second, also by the planner's own check."""
    lost = cancelled = 0
    for seed in SEEDS:
        day = hard_day(seed)
        result = day.replay(policy)
        require_room(result)
        require_true_runs(result)
        assert violations(result) == []
        assert np.all(result.is_started | result.is_cancelled)
        lost += len(result.lost_runs)
        cancelled += int(result.is_cancelled.sum())
        moments = {int(m) for m in np.random.default_rng(seed).integers(0, 400, 4)}
        moments |= {run.lost_at_s for run in result.lost_runs[:2]} | {int(day.outages.end_s.max(initial=1))}
        for moment in sorted(moments | {moment + 1 for moment in moments}):
            cut = day.replay(policy, until_s=moment)
            require_room(cut)
            assert violations(cut) == []
            require_same_until(result, cut, moment)
    assert lost > 20
    assert cancelled > 40


class Watched(Last2):
    """Notes what it is taught."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self.completed: list[tuple[int, int]] = []
        self.stopped: list[tuple[int, int]] = []
        self.begun: list[tuple[int, int]] = []

    def complete(self, job: int, now: int) -> None:
        """Note a completion."""
        self.completed.append((job, now))
        super().complete(job, now)

    def stop(self, job: int, now: int) -> None:
        """Note a run that was not done."""
        self.stopped.append((job, now))

    def begin(self, job: int, now: int) -> None:
        """Note a start."""
        self.begun.append((job, now))


@pytest.mark.parametrize("policy", KINDS)
def test_a_predictor_learns_from_completed_runs_alone(policy: str) -> None:
    """Every run begins; it completes, or it stops because it is cancelled or lost."""
    for seed in FEW:
        day = with_changes(hard_day(seed), estimate=None)
        watched = Watched(day.trace)
        result = day.replay(policy, predictor=watched)
        runs = runs_of(result)
        done = [run for run in runs if not run.lost and not result.is_cancelled[run.job]]
        assert sorted(watched.completed) == sorted((run.job, run.end) for run in done)
        assert sorted(watched.stopped) == sorted((run.job, run.end) for run in runs if run not in done)
        assert sorted(watched.begun) == sorted((run.job, run.start) for run in runs)


@pytest.mark.slow(keep=4)
@pytest.mark.parametrize("policy", KINDS)
def test_a_day_goes_on_from_a_cut_with_outages_and_cancellations(policy: str) -> None:
    """What started stays, the rest starts later or is cancelled, and every rule holds."""
    for seed in FEW:
        day = hard_day(4000 + seed)
        for moment in (60, 150, 240):
            cut = day.replay(policy, until_s=moment)
            on = day.replay(policy, past=cut.past_at(moment))
            require_room(on)
            assert violations(on) == []
            assert np.all(on.is_started | on.is_cancelled)
            kept = cut.is_started & (on.restarts == 0)
            assert np.array_equal(on.start_s[kept], cut.start_s[kept])
            assert np.all(on.start_s[~cut.is_started & on.is_started] >= moment)
            assert np.array_equal(cut.is_cancelled & on.is_cancelled, cut.is_cancelled)


def one_outage(
    node: int, start: int, end: int, *, known: int | None = None, drains: bool = False, is_open: bool = False
) -> Outages:
    """A single outage."""
    return Outages(
        np.array([node]),
        np.array([start]),
        np.array([end]),
        np.array([start if known is None else known]),
        np.array([drains]),
        np.array([is_open]),
    )


def two_nodes(submit: list[int], times: list[int], width: list[int]) -> Trace:
    """Jobs on two nodes of one processor each."""
    count = len(submit)
    ids = tuple(f"j{k}" for k in range(count))
    return as_nodes(pool_trace(ids, np.array(submit), np.array(times), np.array(times), np.array(width), 2))


@pytest.mark.parametrize("policy", KINDS)
def test_a_lost_job_runs_again_from_the_beginning(policy: str) -> None:
    """It runs on node 0 from 0 to 6 and is lost; node 1 is free for it at once, and it takes its 10 s again."""
    trace = two_nodes([0], [10], [1])
    result = replay(trace, policy_named(policy), trace.requested_s, outages=one_outage(0, 6, 50))
    assert result.start_s.tolist() == [6]
    assert result.end_s.tolist() == [16]
    assert result.node_of_unit.tolist() == [1]
    assert result.restarts.tolist() == [1]
    assert [(run.job, run.start_s, run.lost_at_s, run.nodes) for run in result.lost_runs] == [(0, 0, 6, (0,))]


@pytest.mark.parametrize("policy", KINDS)
def test_nothing_is_planned_into_an_announced_outage(policy: str) -> None:
    """The job needs both nodes for 10 s: at 5 it would run into the outage of 12 to 30, so it starts at 30."""
    trace = two_nodes([5], [10], [2])
    known = one_outage(1, 12, 30, known=2)
    assert replay(trace, policy_named(policy), trace.requested_s, outages=known).start_s.tolist() == [30]
    surprise = replay(trace, policy_named(policy), trace.requested_s, outages=one_outage(1, 12, 30))
    assert surprise.start_s.tolist() == [30]
    assert [run.start_s for run in surprise.lost_runs] == [5]


@pytest.mark.parametrize("policy", KINDS)
def test_a_drained_node_lets_its_job_end(policy: str) -> None:
    """The first job ends on node 0, which is drained from 5 on; the second takes node 1, and the third waits for it."""
    trace = two_nodes([0, 6, 7], [10, 10, 10], [1, 1, 1])
    drained = one_outage(0, 5, 40, drains=True)
    result = replay(trace, policy_named(policy), trace.requested_s, outages=drained)
    assert result.start_s.tolist() == [0, 6, 16]
    assert result.node_of_unit.tolist() == [0, 1, 1]
    assert result.lost_runs == ()


@pytest.mark.parametrize("policy", KINDS)
def test_a_job_waits_for_a_node_that_nobody_knows_when_returns(policy: str) -> None:
    """It needs both nodes; node 1 is down from 0 on, until further notice, and returns at 70."""
    trace = two_nodes([5], [10], [2])
    open_end = one_outage(1, 0, 70, is_open=True)
    assert replay(trace, policy_named(policy), trace.requested_s, outages=open_end).start_s.tolist() == [70]


@pytest.mark.parametrize("policy", KINDS)
def test_a_queue_that_can_never_start_is_an_error(policy: str) -> None:
    """Node 1 never returns; the narrow job runs, the wide one is named. A stopped replay just has it waiting."""
    trace = two_nodes([5, 6], [10, 10], [2, 1])
    gone = one_outage(1, 0, UNTIL_FURTHER_NOTICE)
    with pytest.raises(InputError, match="jobs can never start, j0"):
        replay(trace, policy_named(policy), trace.requested_s, outages=gone)
    stopped = replay(trace, policy_named(policy), trace.requested_s, outages=gone, until_s=500)
    assert stopped.start_s.tolist() == [-1, -1 if policy == "strict" else 6]


@pytest.mark.parametrize("policy", KINDS)
def test_cancelled_jobs_leave_at_once(policy: str) -> None:
    """The first ends at 4 instead of 10, the second never starts, so the third has all its 50 s from 4 on."""
    trace = two_nodes([0, 1, 2], [10, 20, 50], [2, 2, 2])
    cancel = np.array([4, 3, -1])
    result = replay(trace, policy_named(policy), trace.requested_s, cancel_s=cancel)
    assert result.start_s.tolist() == [0, -1, 4]
    assert result.end_s.tolist() == [4, -1, 54]
    assert result.is_cancelled.tolist() == [True, True, False]


@pytest.mark.parametrize("policy", KINDS)
def test_a_job_may_be_cancelled_in_the_second_in_which_all_begins(policy: str) -> None:
    """Both come at 0, where the first takes all nodes and the second is cancelled."""
    trace = two_nodes([0, 0], [10, 10], [2, 2])
    result = replay(trace, policy_named(policy), trace.requested_s, cancel_s=np.array([-1, 0]))
    assert result.start_s.tolist() == [0, -1]
    assert result.is_cancelled.tolist() == [False, True]


@pytest.mark.parametrize("policy", KINDS)
def test_a_job_lost_with_its_node_and_cancelled_later_is_cancelled(policy: str) -> None:
    """Lost at 6; it would start again at 50, but is cancelled at 20."""
    trace = two_nodes([0], [10], [2])
    lost = one_outage(0, 6, 50)
    result = replay(trace, policy_named(policy), trace.requested_s, outages=lost, cancel_s=np.array([20]))
    assert result.start_s.tolist() == [-1]
    assert result.is_cancelled.tolist() == [True]
    assert len(result.lost_runs) == 1


def test_what_cannot_be_is_refused() -> None:
    """Outages that end before they begin, are known too late, or are of no node; jobs cancelled before they exist."""
    trace = two_nodes([5], [10], [1])
    for outage in ((0, 5, 5, None), (0, 5, 9, 6)):
        with pytest.raises(InputError, match="it must end after it begins, and be known by then"):
            one_outage(*outage[:3], known=outage[3])
    with pytest.raises(InputError, match="an outage of node 2; the machine has nodes 0 to 1"):
        replay(trace, policy_named("easy"), trace.requested_s, outages=one_outage(2, 0, 1))
    with pytest.raises(InputError, match="job j0 is cancelled at 4 s, before its submission at 5 s"):
        replay(trace, policy_named("easy"), trace.requested_s, cancel_s=np.array([4]))
    assert UNTIL_FURTHER_NOTICE == NEVER


def test_the_check_finds_runs_on_lost_nodes() -> None:
    """A job runs on node 0 from 0 to 10: an outage within is found, a start in a drain, and a second run."""
    trace = two_nodes([0], [10], [1])
    good = replay(trace, policy_named("easy"), trace.requested_s)
    assert violations(good) == []
    for outage, wrong in (
        (one_outage(0, 9, 20), 1),
        (one_outage(0, 10, 20), 0),
        (one_outage(1, 9, 20), 0),
        (one_outage(0, 9, 20, drains=True), 0),
        (one_outage(0, 0, 20, drains=True), 1),
    ):
        assert len(violations(with_changes(good, outages=outage))) == wrong
    twice = with_changes(good, lost_runs=(LostRun(0, 0, 5, (0,)),))
    assert violations(twice) == ["node 0 is over-used at 0 s"]


def test_a_job_that_a_past_has_on_a_lost_node_is_lost_at_its_moment() -> None:
    """Node 0 is down since 10, and still the past of 20 has a job there: it runs again, on node 1."""
    trace = two_nodes([0], [50], [1])
    none = np.array([-1])
    past = Past(20, np.array([0]), np.array([0]), none, none)
    result = replay(trace, policy_named("easy"), trace.requested_s, past=past, outages=one_outage(0, 10, 90))
    assert (result.start_s.tolist(), result.node_of_unit.tolist()) == ([20], [1])
    assert result.lost_runs == (LostRun(0, 0, 20, (0,)),)


@pytest.mark.parametrize("policy", KINDS)
def test_the_estimate_of_a_lost_run_is_forgotten(policy: str) -> None:
    """Lost at 5 on node 0 and begun again on node 1, the first job is expected until 15, not until 10 any more.

    So at 12 the second job finds the other processor of node 1 free.
    """
    trace = with_changes(two_nodes([0, 12], [30, 3], [1, 1]), machine=Machine(np.array([[2], [2]])))
    result = replay(trace, policy_named(policy), np.array([10, 3]), outages=one_outage(0, 5, 200))
    assert result.start_s.tolist() == [5, 12]
    assert result.node_of_unit.tolist() == [1, 1]


def test_the_corrections_of_a_lost_run_are_forgotten() -> None:
    """Corrected at 12 and lost at 20, the first job begins again with its first estimate, corrected once, at 40."""
    trace = two_nodes([0, 12, 40], [30, 1, 1], [1, 1, 1])
    lost = one_outage(0, 20, 200)
    result = replay(trace, policy_named("greedy"), np.array([10, 1, 1]), outages=lost, correction="steps")
    assert result.start_s.tolist() == [20, 12, 50]
    assert result.corrections.tolist() == [1, 0, 0]


def test_easy_starts_nothing_on_a_pool_that_an_announced_outage_would_cut_short() -> None:
    """The head (15 s, the whole pool) starts at 30, after the outage.

    At 4, when the second job ends, there is room for the last: it would end at 29, before the head starts, but after
    the outage has begun at 20.
    """
    times = np.array([10, 4, 15, 25])
    trace = pool_trace(("a", "b", "c", "d"), np.array([0, 0, 1, 2]), times, times, np.array([3, 1, 4, 1]), 4)
    result = replay(trace, policy_named("easy"), times, outages=one_outage(0, 20, 30, known=0))
    assert result.start_s.tolist() == [0, 0, 30, 45]
    assert result.lost_runs == ()
