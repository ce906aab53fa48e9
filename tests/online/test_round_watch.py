"""Claims about watched replays: they are the same replays, every dispatch is timed, and they end when time is over."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from planner.cp.dispatchers import Pcp21
from planner.domain.trace import Trace, pool_trace
from planner.online.policies import policy_named
from planner.online.predictors import predictor_named
from planner.online.replay import replay
from planner.online.round_watch import OutOfTimeError, RoundWatch, Stopped
from tests.online.traces import random_cluster_trace


def ticking() -> RoundWatch:
    """A watch whose clock goes on by a second with each look."""
    return RoundWatch(count().__next__)


def one_after_another() -> Trace:
    """Three jobs of 10 s on one processor, at 0, 1 and 2."""
    ones, times = np.ones(3, dtype=np.int64), np.full(3, 10)
    return pool_trace(("a", "b", "c"), np.arange(3), times, times, ones, 1)


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("policy", ["easy", "list", "spf-list", "conservative", "order-stretch", "pcp21s"])
def test_a_watched_replay_is_the_same(policy: str) -> None:
    """With given estimates, which kernels replay unless watched, and with a predictor."""
    trace = random_cluster_trace(5)
    solver = Pcp21(steps=50, starts_first=True)
    for believed in (lambda: trace.requested_s, lambda: predictor_named("last2")(trace)):
        watch = ticking()
        plain, watched = (
            replay(trace, policy_named(policy), believed(), solver=solver, watch=each) for each in (None, watch)
        )
        assert plain.start_s.tolist() == watched.start_s.tolist()
        assert plain.node_of_unit.tolist() == watched.node_of_unit.tolist()
        assert plain.round_count == watched.round_count
        assert 0 < len(watch.dispatch_s) <= watched.round_count


def test_a_dispatch_is_a_round_in_which_a_waiting_job_has_room() -> None:
    """At 1 and 2 jobs come that have none; at 0, 10 and 20 one starts. Each look at the clock is a second."""
    watch = ticking()
    result = replay(one_after_another(), policy_named("list"), np.full(3, 10), watch=watch)
    assert result.start_s.tolist() == [0, 10, 20]
    assert watch.dispatch_s == [1, 1, 1]
    # Seconds 0, 1, 2, 10, 20 and 30, each with one look before and one after the question who has room.
    assert watch.own_s == 6


def test_a_replay_ends_when_its_time_is_over() -> None:
    """Four looks at the clock a second, of which three are the replay's: after second 1 six have passed."""
    watch = RoundWatch(count().__next__, limit_s=5)
    with pytest.raises(OutOfTimeError) as told:
        replay(one_after_another(), policy_named("list"), np.full(3, 10), watch=watch)
    assert told.value.stopped == Stopped(moment_s=1, started=1, waiting=1, rounds=2, engine_counts=None)
