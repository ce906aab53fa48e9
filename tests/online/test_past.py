"""Replays that stop at a moment and go on from there."""

from __future__ import annotations

from dataclasses import replace as with_changes

import numpy as np
import pytest

from planner.domain.job import Dependency
from planner.domain.trace import Trace, pool_trace
from planner.errors import InputError
from planner.online.audit_replay import violations
from planner.online.estimates import estimate_named
from planner.online.initial_state import Past
from planner.online.policies import policy_named
from planner.online.replay import Replay, replay
from tests.online.traces import as_nodes, random_cluster_trace, random_trace

TRACES = {
    "pool": random_trace,
    "nodes": lambda seed: as_nodes(random_trace(seed, jobs=25)),
    "cluster": random_cluster_trace,
}


def moments_of(trace: Trace, whole: Replay, seed: int) -> list[int]:
    """Some random moments, one at which a job ends, and one at which a job is submitted."""
    rng = np.random.default_rng(seed)
    return [*rng.integers(1, whole.end_s.max(), 3).tolist(), int(whole.end_s[7]), int(trace.submit_s[9])]


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("machine", TRACES)
@pytest.mark.parametrize("policy", ["strict", "greedy", "list", "saf-list", "easy", "easy-sjbf"])
def test_policies_without_reservations_go_on_as_if_nothing_had_been_cut(policy: str, machine: str) -> None:
    """Every start is that of the whole replay, those before the cut and those after it.

    Where estimates are too short only at moments at which something happens: a round between two events would learn of
    an estimate that was outlived since the last one.
    """
    for seed in range(4):
        trace = TRACES[machine](seed)
        for estimate in (trace.requested_s, np.maximum(1, trace.runtime_s // 3)):
            for correction in ("request", "steps", "double"):
                run = {"correction": correction}
                whole = replay(trace, policy_named(policy), estimate, **run)  # type: ignore[arg-type]
                is_long = np.all(estimate >= trace.runtime_s)
                for moment in moments_of(trace, whole, seed)[0 if is_long else 3 :]:
                    cut = replay(trace, policy_named(policy), estimate, until_s=moment, **run)  # type: ignore[arg-type]
                    assert np.array_equal(cut.start_s, np.where(whole.start_s < moment, whole.start_s, -1))
                    past = cut.past_at(moment)
                    on = replay(trace, policy_named(policy), estimate, past=past, **run)  # type: ignore[arg-type]
                    assert on.start_s.tolist() == whole.start_s.tolist(), (seed, moment)
                    assert violations(on) == []


@pytest.mark.parametrize("machine", TRACES)
@pytest.mark.parametrize("policy", ["conservative", "deadline"])
def test_policies_with_reservations_stay_sound(policy: str, machine: str) -> None:
    """What started stays, every job starts once, no node is over-used."""
    for seed in range(4):
        trace = TRACES[machine](seed)
        whole = replay(trace, policy_named(policy), trace.requested_s)
        for moment in moments_of(trace, whole, seed):
            cut = replay(trace, policy_named(policy), trace.requested_s, until_s=moment)
            past = cut.past_at(moment)
            on = replay(trace, policy_named(policy), trace.requested_s, past=past)
            assert violations(on) == []
            assert np.all(on.is_started)
            before = cut.is_started
            assert np.array_equal(on.start_s[before], cut.start_s[before])
            assert np.all(on.start_s[~before] >= moment)


@pytest.mark.parametrize("name", ["last2", "cvh"])
def test_a_predictor_learns_from_the_past(name: str) -> None:
    """With a fresh predictor the rest of the replay is as if nothing had been cut."""
    for seed in range(3):
        trace = random_trace(seed)
        policy = policy_named("list")
        whole = replay(trace, policy, estimate_named(name).make(trace))
        for moment in moments_of(trace, whole, seed):
            cut = replay(trace, policy, estimate_named(name).make(trace), until_s=moment)
            on = replay(trace, policy, estimate_named(name).make(trace), past=cut.past_at(moment))
            assert on.start_s.tolist() == whole.start_s.tolist(), (seed, moment)


def test_a_predictor_hears_of_ends_in_one_second_in_the_order_of_starts() -> None:
    """Both end at 10; a began at 5, after b at 2, so it is the last of the user's whose length is known: 5, not 8."""
    trace = pool_trace(
        ("x", "a", "b", "k"),
        *(np.array(column) for column in ([0, 1, 2, 12], [5, 5, 8, 20], [5, 100, 100, 100], [1, 1, 1, 1])),
        3,
        user=np.array([0, 1, 1, 1]),
        after=[(), (Dependency("afterok", "x"),), (), ()],
    )
    policy, believed = policy_named("easy"), estimate_named("data")
    whole = replay(trace, policy, believed.make(trace))
    past = replay(trace, policy, believed.make(trace), until_s=11).past_at(11)
    on = replay(trace, policy, believed.make(trace), past=past)
    assert whole.start_s.tolist() == [0, 5, 2, 12]
    assert on.estimate_s.tolist()[3] == whole.estimate_s.tolist()[3] == 5


@pytest.mark.parametrize("rounds", ["second", "event"])
def test_a_job_that_has_outlived_its_estimate_is_corrected_at_the_moment(rounds: str) -> None:
    """Started at 0 and expected until 10, it still runs at 50: then the request of 100 counts, and it ends at 60.

    The second job, of 30 s, would delay the third, which waits for all three processors at 100.
    """
    trace = pool_trace(
        ("a", "b", "c"),
        np.array([0, 1, 2]),
        np.array([60, 5, 51]),
        np.array([100, 5, 51]),
        np.array([2, 3, 1]),
        3,
    )
    past = Past(50, np.array([0, -1, -1]), np.array([0, -1, -1]), np.full(3, -1), np.full(3, -1))
    estimate = np.array([10, 5, 51])
    # c would end at 101, after b can start: it waits; at 60 a ends, b runs until 65
    assert replay(trace, policy_named("easy"), estimate, past=past, rounds=rounds).start_s.tolist() == [0, 60, 65]
    shorter = np.array([10, 5, 50])
    assert replay(trace, policy_named("easy"), shorter, past=past, rounds=rounds).start_s.tolist() == [0, 101, 50]


def test_jobs_that_ended_before_take_no_part() -> None:
    """The first has ended at 10, the second at the moment itself; the third finds the pool empty."""
    times = np.array([10, 20, 5])
    trace = pool_trace(("a", "b", "c"), np.array([0, 0, 3]), times, times, np.array([1, 1, 2]), 2)
    past = Past(20, np.array([0, 0, -1]), np.array([0, 0, -1]), np.full(3, -1), np.full(3, -1))
    result = replay(trace, policy_named("conservative"), times, past=past)
    assert result.start_s.tolist() == [0, 0, 20]
    assert result.wait_s.tolist() == [0, 0, 17]


def test_a_stopped_replay_knows_who_has_not_started() -> None:
    """At 5 only the first of two jobs of a full pool has started."""
    times = np.array([10, 10])
    trace = pool_trace(("a", "b"), np.array([0, 0]), times, times, np.array([2, 2]), 2)
    result = replay(trace, policy_named("easy"), times, until_s=5)
    assert result.is_started.tolist() == [True, False]
    assert result.wait_s.tolist() == [0, -1]
    assert result.end_s.tolist() == [10, -1]
    assert result.node_of_unit.tolist() == [0, -1]
    assert violations(result) == []


def test_a_past_that_cannot_have_happened_is_refused() -> None:
    """Starts after the moment or before submission, no node, another trace."""
    times = np.array([10, 10])
    trace = pool_trace(("a", "b"), np.array([0, 3]), times, times, np.array([2, 2]), 2)
    none = np.full(2, -1)
    past = Past(5, np.array([0, -1]), np.array([0, -1]), none, none)
    assert replay(trace, policy_named("easy"), times, past=past).start_s.tolist() == [0, 10]
    for wrong, words in (
        (with_changes(past, start_s=np.array([6, -1])), "job a has started at 6 s"),
        (with_changes(past, start_s=np.array([0, 2])), "job b has started at 2 s"),
        (with_changes(past, node_of_unit=none), "on no node of 1"),
        (with_changes(past, start_s=np.array([0])), "a past of 1 entries where the trace has 2"),
    ):
        with pytest.raises(InputError, match=words):
            replay(trace, policy_named("easy"), times, past=wrong)


def test_nothing_comes_on_top_of_a_past_that_shares_more_than_there_is() -> None:
    """Two jobs of 2 on a pool of 2, until 10 and 14: what ran, ran. A third of 2 starts at 14, and not before."""
    times = np.array([10, 10, 10])
    trace = pool_trace(("a", "b", "c"), np.array([0, 3, 5]), times, times, np.array([2, 2, 2]), 2)
    none = np.full(3, -1)
    past = Past(5, np.array([0, 4, -1]), np.array([0, 0, -1]), none, none)
    result = replay(trace, policy_named("easy"), times, past=past)
    assert result.start_s.tolist() == [0, 4, 14]
    assert violations(result) == []
    for sooner in (9, 12):  # beside both, and beside the second alone
        assert violations(with_changes(result, start_s=np.array([0, 4, sooner])))
