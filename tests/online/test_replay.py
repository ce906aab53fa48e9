"""The replay against slow simulators written from the definitions, and what every policy promises."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace as with_changes
from types import MappingProxyType

import numpy as np
import pytest

from planner.domain.trace import Trace, draw_deadlines, pool_trace
from planner.errors import AuditError, InputError
from planner.online.audit_replay import require_sound, violations
from planner.online.estimates import IN_TICKS, RealEstimates, estimate_named
from planner.online.kernel import state
from planner.online.policies import KINDS, RESERVING, Policy, policy_named
from planner.online.predictors import Predictor
from planner.online.replay import ROUNDS, replay
from tests.online.slow import SlowNodes, SlowPool
from tests.online.traces import one_group_each, random_cluster_trace, random_trace

POLICIES = (
    "strict",
    "greedy",
    "list",
    "saf-list",
    "easy",
    "easy-sjbf",
    "saf-easy",
    "sjf-easy",
    "sjf-easy-fcfs",
    "saf-easy-sjbf",
    "lrf-easy-labf",
    "conservative",
    "deadline",
    "deadline-early",
)
REFRESHING = ("greedy", "list", "saf-list", "easy", "easy-sjbf")
EMPTY = np.zeros(0, dtype=np.int64)


def estimates_of(trace: Trace) -> dict[str, np.ndarray]:
    """Exact, too long, and too short estimates."""
    half = np.maximum(1, trace.runtime_s // 2)
    return {"actual": trace.runtime_s, "requested": trace.requested_s, "half": half}


def due_soon(trace: Trace, seed: int) -> np.ndarray:
    """Deadlines that are hard to keep, for three of five jobs; -1 for the others."""
    rng, count = np.random.default_rng(seed), len(trace)
    slack = trace.requested_s * rng.integers(1, 5, count) + rng.integers(0, 80, count)
    return np.where(rng.random(count) < 0.6, trace.submit_s + slack, -1)


def slow_starts(
    trace: Trace,
    policy: str,
    estimate: np.ndarray,
    *,
    predictor: Predictor | None = None,
    every_event: bool = False,
    deadline_s: np.ndarray = EMPTY,
    after: Mapping[int, list[tuple[int, bool]]] = MappingProxyType({}),
    joined_at: dict[int, int] | None = None,
    refreshes: bool | None = None,
) -> list[int]:
    """Starts by the slow simulator; ``joined_at`` is filled with when each job joins its queue."""
    chosen = policy_named(policy)
    columns = (trace.submit_s, trace.runtime_s, trace.requested_s, trace.width, estimate)
    is_pool = len(trace.machine.capacity) == 1
    slow = (SlowPool if is_pool else SlowNodes)(
        *(column.tolist() for column in columns),
        processors=int(trace.machine.processors),
        deadline={job: due for job, due in enumerate(deadline_s.tolist()) if due >= 0},
        trace=trace,
        predictor=predictor,
        refreshes=policy in REFRESHING and not every_event if refreshes is None else refreshes,
        scans_only_if_fits=policy == "easy" or (policy == "easy-sjbf" and predictor is not None and not every_event),
        after=dict(after),
        joined_at={} if joined_at is None else joined_at,
    )
    w, e = slow.width, slow.estimate
    keys = {
        "fcfs": None,
        "sjf": lambda j: (e[j], w[j], j),
        "ljf": lambda j: (-e[j], -w[j], j),
        "saf": lambda j: (w[j] * e[j], j),
        "laf": lambda j: (-w[j] * e[j], j),
        "laljf": lambda j: (-w[j] * e[j], -e[j], j),
        "spf": lambda j: (w[j] * e[j] ** 2, w[j] * e[j], j),
        "srf": lambda j: (w[j], e[j], j),
        "lrf": lambda j: (-w[j], -e[j], j),
        "sjbf": lambda j: (e[j], j),
    }
    backfill = keys["sjbf" if policy == "easy-sjbf" else chosen.backfill_order]
    return slow.run(chosen.kind, keys[chosen.order], backfill, every_event=every_event)


@pytest.mark.slow(keep=10)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("kind", ["actual", "requested", "half"])
@pytest.mark.parametrize("policy", [name for name in POLICIES if not name.startswith("deadline")])
def test_starts_equal_those_of_the_slow_simulator(policy: str, kind: str, rounds: str) -> None:
    """Job by job, on crowded random traces; the slow EASY and CBF also check that they delay nobody."""
    for seed in range(12):
        trace = random_trace(seed)
        estimate = estimates_of(trace)[kind]
        ours = replay(trace, policy_named(policy), estimate, rounds=rounds).start_s.tolist()
        assert ours == slow_starts(trace, policy, estimate, every_event=rounds == "event"), f"seed {seed}"


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("kind", ["actual", "requested", "half"])
@pytest.mark.parametrize("policy", ["deadline", "deadline-early"])
def test_starts_with_deadlines_equal_those_of_the_slow_simulator(policy: str, kind: str, rounds: str) -> None:
    """Deadlines of one to four requests and a little more, for most jobs: some give way, some cannot."""
    for seed in range(24):
        trace = random_trace(seed, jobs=30, processors=4 + seed % 5)
        due = due_soon(trace, seed)
        estimate = estimates_of(trace)[kind]
        ours = replay(trace, policy_named(policy), estimate, deadline_s=due, rounds=rounds).start_s.tolist()
        slow = slow_starts(trace, policy, estimate, deadline_s=due, every_event=rounds == "event")
        assert ours == slow, f"seed {seed}"


@pytest.mark.slow(keep=6)
@pytest.mark.parametrize("limit", [-1, 70])
@pytest.mark.parametrize("policy", POLICIES)
def test_starts_on_nodes_equal_those_of_the_slow_simulator(policy: str, limit: int) -> None:
    """Nodes of two classes with two resources, with a power limit and without; every job of equal units."""
    for seed in range(2):
        trace = one_group_each(random_cluster_trace(seed, power_limit=limit))
        due = due_soon(trace, seed)
        for kind, estimate in estimates_of(trace).items():
            ours = replay(trace, policy_named(policy), estimate, deadline_s=due).start_s.tolist()
            assert ours == slow_starts(trace, policy, estimate, deadline_s=due), (seed, kind)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("name", ["last2", "hierarchy", "survival-3", "data", "cvh"])
def test_starts_with_predictions_equal_those_of_the_slow_simulator(name: str, rounds: str) -> None:
    """Who is asked and taught when, job by job: at arrival, at the end, and anew in rounds of some policies."""
    for policy in (name for name in POLICIES if not name.startswith("deadline")):
        for seed in range(4):
            trace = random_trace(seed, jobs=60)
            ours = replay(trace, policy_named(policy), estimate_named(name).make(trace), rounds=rounds)
            predictor = estimate_named(name).make(trace)
            assert not isinstance(predictor, np.ndarray)
            starts = slow_starts(trace, policy, trace.requested_s, predictor=predictor, every_event=rounds == "event")
            assert ours.start_s.tolist() == starts, (policy, seed)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("predictions", ["arrival", "round"])
@pytest.mark.parametrize("rounds", ROUNDS)
def test_predictions_are_kept_or_made_anew_whenever_rounds_run(rounds: str, predictions: str) -> None:
    """Two switches of their own: every pair of them against the slow simulator, for policies without reservations."""
    every_event = rounds == "event"
    for policy in (name for name in POLICIES if name not in RESERVING):
        for name in ("last2", "cvh"):
            for seed in range(3):
                trace = random_trace(seed, jobs=60)
                ours = replay(
                    trace,
                    policy_named(policy),
                    estimate_named(name).make(trace),
                    rounds=rounds,
                    predictions=predictions,
                )
                predictor = estimate_named(name).make(trace)
                assert not isinstance(predictor, np.ndarray | RealEstimates)
                starts = slow_starts(
                    trace, policy, trace.requested_s, predictor=predictor, every_event=every_event,
                    refreshes=predictions == "round",
                )  # fmt: skip
                assert ours.start_s.tolist() == starts, (policy, name, seed)


def test_predictions_of_reservations_are_kept() -> None:
    """A reservation is as long as the prediction with which it was made; other words are refused as well."""
    trace = random_trace(0)
    predictor = estimate_named("last2").make(trace)
    with pytest.raises(InputError, match="policy conservative keeps reservations"):
        replay(trace, policy_named("conservative"), predictor, predictions="round")
    with pytest.raises(InputError, match="unknown predictions 'never'; known: usual, arrival, round"):
        replay(trace, policy_named("easy"), predictor, predictions="never")


@pytest.mark.slow(keep=10)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("factor", [0.5, 0.75, 1.25])
@pytest.mark.parametrize("policy", [name for name in POLICIES if policy_named(name).kind in IN_TICKS])
def test_estimates_in_parts_of_a_second_equal_the_slow_simulator(policy: str, factor: float, rounds: str) -> None:
    """The slow simulator counts in real numbers, of which halves and quarters are exact."""
    for seed in range(8):
        trace = random_trace(seed)
        made = estimate_named(f"actual*{factor}").make(trace)
        assert isinstance(made, RealEstimates)
        ours = replay(trace, policy_named(policy), made, rounds=rounds)
        assert violations(ours) == []
        assert np.array_equal(ours.estimate_s, trace.runtime_s * factor)
        slow = slow_starts(trace, policy, trace.runtime_s * factor, every_event=rounds == "event")
        assert ours.start_s.tolist() == slow, f"seed {seed}"


def test_estimates_in_parts_of_a_second_by_hand() -> None:
    """Of 5 and 6 s, halved, the shorter is 2.5 s and goes first; rounded up both are 3 s, and the older goes first.

    Corrected in steps, c is thought to end at 60.5 s after half a second of its two; so d, of 30 s, starts beside it.
    """
    runtime = np.array([10, 6, 5])
    trace = pool_trace(tuple("abc"), np.array([0, 1, 2]), runtime, runtime, np.array([4, 4, 4]), 4)
    half = estimate_named("actual*0.5")
    assert replay(trace, policy_named("sjf-list"), half.make(trace)).start_s.tolist() == [0, 15, 10]
    assert replay(trace, policy_named("sjf-list"), half.make_whole(trace)).start_s.tolist() == [0, 10, 16]
    runtime = np.array([99, 40, 30])
    steps = pool_trace(tuple("cbd"), np.array([0, 51, 51]), runtime, runtime, np.array([2, 4, 2]), 4)
    made = RealEstimates(np.array([99, 80, 60]), 2)
    starts = replay(steps, policy_named("easy"), made, correction="steps").start_s.tolist()
    # 49.5 s and a minute: thought to end at 109.5, cut at the request of 99; d is done at 81
    assert starts == [0, 99, 51]


def test_where_parts_of_a_second_cannot_be() -> None:
    """Policies that plan in whole seconds, parts that are too fine, and keys beyond 64 bits say what to do."""
    trace = random_trace(0)
    half = estimate_named("actual*0.5").make(trace)
    with pytest.raises(InputError, match=r"policy order-af counts in whole seconds here.*round the estimates up"):
        replay(trace, policy_named("order-af"), half)
    with pytest.raises(InputError, match="policy conservative counts in whole seconds"):
        replay(trace, policy_named("conservative"), half)
    with pytest.raises(InputError, match=r"these in 10,000 parts; give a factor of three digits"):
        replay(trace, policy_named("easy"), estimate_named("actual*0.3333").make(trace))
    huge = with_changes(trace, runtime_s=trace.runtime_s + 2**30, requested_s=trace.requested_s + 2**30)
    with pytest.raises(InputError, match="spf-list: width times squared estimate goes beyond 64 bits"):
        replay(huge, policy_named("spf-list"), estimate_named("actual*0.501").make(huge))


@pytest.mark.parametrize("order", ["sjf", "ljf", "laf", "laljf", "spf", "srf", "lrf"])
def test_every_order_equals_its_definition(order: str) -> None:
    """Lists in every order, against the slow simulator with the key as it is defined."""
    for seed in range(6):
        trace = random_trace(100 + seed)
        starts = replay(trace, policy_named(f"{order}-list"), trace.requested_s).start_s
        assert starts.tolist() == slow_starts(trace, f"{order}-list", trace.requested_s)


@pytest.mark.slow(keep=14)
@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_is_sound_and_deterministic(policy: str, rounds: str) -> None:
    """No processor over-used, nobody early, the same twice, inputs unchanged; with exact, long and short estimates."""
    for seed in range(6):
        trace = random_trace(200 + seed)
        before = [column.copy() for column in (trace.submit_s, trace.runtime_s, trace.requested_s, trace.width)]
        for estimate in estimates_of(trace).values():
            deadlines = draw_deadlines(trace, 50, seed)
            first = replay(trace, policy_named(policy), estimate, deadline_s=deadlines, rounds=rounds)
            again = replay(trace, policy_named(policy), estimate, deadline_s=deadlines, rounds=rounds)
            assert violations(first) == []
            assert np.array_equal(first.start_s, again.start_s)
        after = (trace.submit_s, trace.runtime_s, trace.requested_s, trace.width)
        assert all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.slow(keep=12)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("limit", [-1, 70])
def test_clusters_are_never_over_used(policy: str, limit: int) -> None:
    """Nodes of two classes, two resources, groups of units, and a power limit: every rule holds."""
    for seed in range(6):
        trace = random_cluster_trace(seed, power_limit=limit)
        for estimate in (trace.runtime_s, trace.requested_s, np.maximum(1, trace.runtime_s // 2)):
            deadlines = draw_deadlines(trace, 50, seed)
            for rounds in ROUNDS:
                result = replay(trace, policy_named(policy), estimate, deadline_s=deadlines, rounds=rounds)
                assert violations(result) == []


def test_strict_starts_in_submit_order() -> None:
    """First come, first served: starts never go back."""
    for seed in range(10):
        trace = random_trace(400 + seed)
        assert np.all(np.diff(replay(trace, policy_named("strict"), trace.requested_s).start_s) >= 0)


def test_list_with_exact_estimates_delays_nobody_for_a_later_job() -> None:
    """Leaving out the last job changes no start of the others, when runtimes are known."""
    for seed in range(10):
        trace = random_trace(500 + seed)
        whole = replay(trace, policy_named("list"), trace.runtime_s).start_s
        for kept in (39, 30, 17):
            fewer = pool_trace(
                trace.ids[:kept],
                trace.submit_s[:kept],
                trace.runtime_s[:kept],
                trace.requested_s[:kept],
                trace.width[:kept],
                10,
            )
            assert np.array_equal(replay(fewer, policy_named("list"), fewer.runtime_s).start_s, whole[:kept])


def test_list_and_conservative_agree_when_runtimes_are_known() -> None:
    """Nothing ends early, so reservations made at submission are those made in every round."""
    for seed in range(10):
        trace = random_trace(600 + seed)
        starts = [replay(trace, policy_named(p), trace.runtime_s).start_s for p in ("list", "conservative")]
        assert np.array_equal(*starts)


def test_deadline_policy_breaks_no_deadline_that_its_first_reservation_met() -> None:
    """With estimates that are never too short, every promise is kept; and some promises are made."""
    promised = 0
    for seed in range(30):
        trace = random_trace(700 + seed, jobs=60)
        # tight enough to matter: the studies' rule leaves a day
        deadlines = np.where(np.arange(60) % 2, trace.submit_s + 3 * trace.requested_s + 40, -1)
        for estimate in (trace.runtime_s, trace.requested_s):
            result = replay(trace, policy_named("deadline"), estimate, deadline_s=deadlines)
            kept = result.promised > 0
            assert np.all(result.end_s[kept] <= deadlines[kept]), f"seed {seed}"
            promised += int(kept.sum())
    assert promised > 100


def test_deadline_policy_without_deadlines_is_conservative() -> None:
    """Regular jobs alone are served conservatively."""
    for seed in range(8):
        trace = random_trace(800 + seed)
        starts = [replay(trace, policy_named(p), trace.requested_s).start_s for p in ("deadline", "conservative")]
        assert np.array_equal(*starts)


def test_deadline_policy_lets_regular_jobs_go_first() -> None:
    """A job that can wait is reserved at 100 on all processors; a regular one overtakes it, unless it is due soon."""
    trace = pool_trace(
        ("running", "patient", "regular"),
        np.array([0, 1, 2]),
        np.array([100, 50, 50]),
        np.array([100, 50, 50]),
        np.array([10, 10, 10]),
        10,
    )
    late = np.array([-1, 1000, -1])
    assert replay(trace, policy_named("deadline"), trace.requested_s, deadline_s=late).start_s.tolist() == [0, 150, 100]
    # due at 199, it could not wait for the other: it keeps its place
    tight = np.array([-1, 199, -1])
    assert replay(trace, policy_named("deadline"), trace.requested_s, deadline_s=tight).start_s.tolist() == [
        0,
        100,
        150,
    ]


@pytest.mark.parametrize("policy", POLICIES)
def test_shifting_all_times_shifts_all_starts(policy: str) -> None:
    """Nothing depends on when a trace begins."""
    trace = random_trace(900)
    later = with_changes(trace, submit_s=trace.submit_s + 10**9)
    here, there = (replay(t, policy_named(policy), t.requested_s).start_s for t in (trace, later))
    assert np.array_equal(here + 10**9, there)


@pytest.mark.parametrize("policy", POLICIES)
def test_no_jobs_and_one_job(policy: str) -> None:
    """An empty trace ends at once; a single job starts when it is submitted."""
    nobody = pool_trace((), EMPTY, EMPTY, EMPTY, EMPTY, 4)
    assert len(replay(nobody, policy_named(policy), EMPTY).start_s) == 0
    single = np.array([7])
    alone = pool_trace(("a",), single, single, single, np.array([4]), 4)
    assert replay(alone, policy_named(policy), single).start_s.tolist() == [7]


def test_a_round_sees_all_completions_and_arrivals_of_its_second() -> None:
    """A job of width 4 ends at 10, when two others arrive: sjf starts the shorter, though later in the file."""
    trace = pool_trace(
        ("a", "b", "c"), np.array([0, 10, 10]), np.array([10, 9, 5]), np.array([10, 9, 5]), np.array([4, 4, 4]), 4
    )
    assert replay(trace, policy_named("sjf-list"), trace.requested_s).start_s.tolist() == [0, 15, 10]


def test_a_round_an_event_knows_of_one_completion_after_the_other() -> None:
    """Two jobs end early at 10. Between their ends d takes the place that c, which needs both, would have had."""
    requested = np.array([20, 20, 5, 10])
    trace = pool_trace(
        tuple("abcd"), np.array([0, 0, 1, 2]), np.array([10, 10, 5, 10]), requested, np.array([2, 2, 3, 2]), 4
    )
    starts = {
        rounds: replay(trace, policy_named("easy"), requested, rounds=rounds).start_s.tolist() for rounds in ROUNDS
    }
    assert starts == {"second": [0, 0, 10, 15], "event": [0, 0, 20, 10]}


def test_a_job_that_outlives_its_estimate_is_corrected() -> None:
    """Believed to end at 5, it ends at 20: the job behind it waits; the estimate was corrected once, to the request."""
    trace = pool_trace(("a", "b"), np.array([0, 6]), np.array([20, 5]), np.array([30, 5]), np.array([4, 4]), 4)
    result = replay(trace, policy_named("list"), np.array([5, 5]))
    assert result.start_s.tolist() == [0, 20]
    assert result.corrections.tolist() == [1, 0]
    doubled = replay(trace, policy_named("list"), np.array([5, 5]), correction="double")
    # looked at when b arrives at 6 and when a ends at 20: 5 -> 10 -> 20
    assert doubled.corrections.tolist() == [2, 0]


def test_doubling_goes_beyond_the_request() -> None:
    """Believed to run 16 s, a is then given 20, its request, or 32; b, which needs all, waits for it; c may fit in."""
    trace = pool_trace(
        ("a", "b", "c"), np.array([0, 17, 18]), np.array([19, 5, 9]), np.array([20, 5, 9]), np.array([2, 4, 2]), 4
    )
    estimate = np.array([16, 5, 9])
    starts = {
        correction: replay(trace, policy_named("easy"), estimate, correction=correction).start_s.tolist()
        for correction in ("request", "double")
    }
    assert starts == {"request": [0, 19, 24], "double": [0, 27, 18]}


def test_unknown_names_list_the_known_ones() -> None:
    """Policies, orders, corrections and rounds."""
    trace = random_trace(0)
    with pytest.raises(InputError, match="unknown policy 'eazy'; known: strict, greedy, list"):
        policy_named("eazy")
    with pytest.raises(InputError, match="unknown order 'xyz' in policy 'xyz-list'; known: fcfs, sjf"):
        policy_named("xyz-list")
    with pytest.raises(InputError, match="unknown correction 'never'; known: request, steps, double"):
        replay(trace, policy_named("easy"), trace.runtime_s, correction="never")
    with pytest.raises(InputError, match="unknown order 'fcbf' in policy 'easy-fcbf'"):
        policy_named("easy-fcbf")
    with pytest.raises(InputError, match="'conservative' has no orders"):
        policy_named("saf-conservative")
    with pytest.raises(InputError, match="'list' has one order"):
        Policy("list", "saf", "sjf")
    with pytest.raises(InputError, match="unknown rounds 'never'; known: second, event"):
        replay(trace, policy_named("easy"), trace.runtime_s, rounds="never")


def test_names_of_policies() -> None:
    """Every way to write a policy leads to the same one, and back to its name."""
    assert policy_named("List-REG") == policy_named("list") == policy_named("justbf")
    assert policy_named("saf-list") == policy_named("list-saf")
    assert policy_named("easy-sjbf").backfill_order == "sjf"
    assert policy_named("saf-easy") == policy_named("saf-easy-sabf")
    assert policy_named("saf-easy-fcfs").backfill_order == "fcfs"
    assert [policy_named(name).name for name in POLICIES] == list(POLICIES)


def test_kinds_have_the_numbers_of_the_kernel() -> None:
    """The registry and the compiled code count the kinds of policy in the same order; ORDER is a place of the clock."""
    names = ["ORDERED" if kind == "order" else kind.upper().replace("-", "_") for kind in KINDS]
    assert [getattr(state, name) for name in names] == list(range(len(KINDS)))


def test_the_check_finds_what_is_wrong() -> None:
    """A start before submission, and two jobs at once where one has room."""
    trace = pool_trace(("a", "b"), np.array([5, 5]), np.array([9, 9]), np.array([9, 9]), np.array([3, 3]), 4)
    good = replay(trace, policy_named("list"), trace.runtime_s)
    require_sound(good)
    assert "starts at 4 s" in violations(with_changes(good, start_s=np.array([4, 20])))[0]
    with pytest.raises(AuditError, match="over-used at 13 s"):
        require_sound(with_changes(good, start_s=np.array([5, 13])))
