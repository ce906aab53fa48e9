"""Predictors and estimates: what each says, and that none knows the future."""

from __future__ import annotations

from dataclasses import replace as with_changes

import numpy as np
import pytest

from planner.domain.trace import Trace, pool_trace
from planner.errors import InputError
from planner.online.audit_replay import violations
from planner.online.estimates import RealEstimates, estimate_named
from planner.online.policies import policy_named
from planner.online.predictors import PREDICTORS, Survivors, predictor_named
from planner.online.replay import ROUNDS, replay
from tests.online.traces import random_trace


def three_jobs(**more: object) -> Trace:
    """One user's jobs of runtimes 10, 20 and 60 with a request of 100."""
    runtimes, ones = np.array([10, 20, 60]), np.array([1, 1, 1])
    columns = {"user": np.zeros(3, dtype=np.int64), "name": np.array([7, 7, 7]), **more}
    return pool_trace(("a", "b", "c"), np.array([0, 1, 2]), runtimes, np.full(3, 100), ones, 4, **columns)


@pytest.mark.slow(keep=14)
@pytest.mark.parametrize("name", PREDICTORS)
@pytest.mark.parametrize("policy", ["easy", "list", "easy-sjbf", "conservative"])
@pytest.mark.parametrize("rounds", ROUNDS)
def test_predictions_do_not_know_the_future(name: str, policy: str, rounds: str) -> None:
    """Jobs that end at or after a moment may end later still: nothing decided or predicted before it changes."""
    for seed in range(3):
        trace = random_trace(seed, jobs=60)
        result = replay(trace, policy_named(policy), estimate_named(name).make(trace), rounds=rounds)
        moment = int(np.median(trace.submit_s))
        unfinished = result.end_s >= moment
        other = with_changes(trace, runtime_s=np.where(unfinished, trace.requested_s, trace.runtime_s))
        again = replay(other, policy_named(policy), estimate_named(name).make(other), rounds=rounds)
        known = trace.submit_s < moment
        assert np.array_equal(result.estimate_s[known], again.estimate_s[known])
        before = result.start_s < moment
        assert np.array_equal(result.start_s[before], again.start_s[before])


@pytest.mark.parametrize("name", PREDICTORS)
def test_every_predictor_is_capped_sound_and_deterministic(name: str) -> None:
    """Estimates lie between 1 s and the requested time; the same trace gives the same; no rule is broken."""
    trace = random_trace(11, jobs=80)
    for policy in ("easy", "list", "conservative", "deadline"):
        first, again = (replay(trace, policy_named(policy), estimate_named(name).make(trace)) for _ in range(2))
        assert violations(first) == []
        assert np.all((first.estimate_s >= 1) & (first.estimate_s <= trace.requested_s))
        assert np.array_equal(first.estimate_s, again.estimate_s)
        assert np.array_equal(first.start_s, again.start_s)


def test_last2_is_the_mean_of_two_completed_jobs() -> None:
    """The request before there are two; then (10 + 20) / 2."""
    predictor = predictor_named("last2")(three_jobs())
    predictor.complete(0, 10)
    assert predictor.predict(2, 11) == 100
    predictor.complete(1, 21)
    assert predictor.predict(2, 22) == 15


def test_hierarchy_takes_the_most_specific_group() -> None:
    """A decaying mean, (20 + 0.8 * 10) / 1.8 = 15.56, of like jobs; another user's job is the next best."""
    predictor = predictor_named("hierarchy")(three_jobs())
    assert predictor.predict(2, 0) == 100
    predictor.complete(0, 10)
    predictor.complete(1, 21)
    assert predictor.predict(2, 22) == 16
    stranger = predictor_named("hierarchy")(three_jobs(user=np.array([0, 0, 1])))
    stranger.complete(0, 10)
    assert stranger.predict(2, 11) == 10


def test_survival_is_a_time_that_few_outlive() -> None:
    """After many runs of 10 s hardly any weight is left above 10 s; one run of 60 s changes that."""
    predictor = predictor_named("survival-2")(three_jobs())
    predictor.complete(0, 10)
    assert predictor.predict(2, 11) == 100
    for _ in range(60):
        predictor.complete(0, 10)
    assert predictor.predict(2, 12) == 10
    predictor.complete(2, 80)
    assert predictor.predict(2, 81) == 60


def test_survivors_follow_the_curve_of_weighted_runtimes() -> None:
    """Summed anew from all runtimes: less than 3 % of the weight lies beyond the time, and 3 % or more from it on.

    The made-up run of 600 s counts 60 where it lies beyond the time, but 1 in the whole, as in the published code.
    """
    random = np.random.default_rng(5)
    times = set()
    for _ in range(50):
        group, runs = Survivors(600, 0.97), []
        for count, runtime in enumerate(random.choice([5, 20, 21, 90, 300, 599, 600], size=80).tolist()):
            group.add(runtime)
            runs = [(seconds, weight * 0.9) for seconds, weight in runs] + [(runtime, float(runtime))]
            allowed = 0.03 * (sum(weight for _, weight in runs) + 0.9 ** (count + 1))
            made_up = (600, 60 * 0.9**count)
            assert sum(weight for seconds, weight in [made_up, *runs] if seconds > group.time_s) < allowed + 1e-9
            assert sum(weight for seconds, weight in [made_up, *runs] if seconds >= group.time_s) >= allowed - 1e-9
            times.add(group.time_s)
    assert times == {300, 599, 600}


def test_data_goes_from_strict_to_loose() -> None:
    """The last job of the same name, width and request; else of the same width; else the request."""
    predictor = predictor_named("data")(three_jobs(name=np.array([7, 8, 7])))
    predictor.complete(0, 10)
    predictor.complete(1, 21)
    assert predictor.predict(2, 22) == 10
    nameless = predictor_named("data")(three_jobs(name=np.array([7, 8, -1])))
    nameless.complete(0, 10)
    assert nameless.predict(2, 11) == 10
    assert predictor_named("data")(three_jobs()).predict(0, 0) == 100


def test_the_learned_predictor_learns() -> None:
    """A user whose jobs always run 50 of 1000 s is predicted far below the request after some hundreds of them."""
    count = 600
    trace = pool_trace(
        tuple(map(str, range(count))),
        np.arange(count) * 100,
        np.full(count, 50),
        np.full(count, 1000),
        np.full(count, 2),
        4,
        user=np.zeros(count, dtype=np.int64),
    )
    result = replay(trace, policy_named("easy"), estimate_named("cvh").make(trace))
    assert np.median(result.estimate_s[-50:]) < 200


def test_scaled_estimates() -> None:
    """Not capped, and rounded up only if asked: 7 s times 0.5 is 3.5 s or 4 s, times 2 is 14 s."""
    trace = pool_trace(("a",), np.array([0]), np.array([7]), np.array([9]), np.array([1]), 4)
    half = estimate_named("actual*0.5").make(trace)
    assert isinstance(half, RealEstimates)
    assert half.seconds.tolist() == [3.5]
    assert estimate_named("actual*0.5").make_whole(trace).tolist() == [4]
    assert estimate_named("actual*2").make(trace).tolist() == [14]
    assert estimate_named("requested*0.01").make_whole(trace).tolist() == [1]


def test_unknown_estimates_list_the_known_ones() -> None:
    """Names, factors and probabilities that cannot be."""
    with pytest.raises(InputError, match="unknown estimate or predictor 'oracle'; known: actual, requested"):
        estimate_named("oracle")
    with pytest.raises(InputError, match="the factor must be a number above 0"):
        estimate_named("actual*zero")
    with pytest.raises(InputError, match="only actual and requested times can be scaled"):
        estimate_named("last2*2")
    with pytest.raises(InputError, match="a percentage between 0 and 100"):
        estimate_named("survival-x")
    with pytest.raises(InputError, match="unknown predictor 'oracle'; known: last2"):
        predictor_named("oracle")
