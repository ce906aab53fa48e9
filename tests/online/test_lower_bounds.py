"""Lower bounds of whole traces: never above any schedule, and as high as simple reasoning says."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest

from planner.domain.job import parse_dependencies
from planner.domain.trace import Trace, pool_trace
from planner.errors import InputError
from planner.inputs.traces import read_pool
from planner.metrics import measure, metric_named
from planner.online.lower_bounds import BOUNDED, LinearCost, PoweredCost, PricedJobs, Slots, lower_bound
from planner.online.policies import policy_named
from planner.online.replay import replay
from planner.runs.measured_replays import outcome_of
from tests.online.traces import random_trace

Starts = tuple[int, ...]


def small_trace(seed: int, jobs: int, longest_s: int) -> Trace:
    """A few jobs that crowd a machine of one to six processors."""
    rng = np.random.default_rng(seed)
    processors = int(rng.integers(1, 7))
    runtime = rng.integers(1, longest_s + 1, jobs)
    return pool_trace(
        tuple(str(k) for k in range(jobs)),
        np.sort(rng.integers(0, longest_s, jobs)),
        runtime,
        runtime,
        rng.integers(1, processors + 1, jobs),
        processors,
    )


def plain_jobs(trace: Trace) -> list[tuple[int, int, int]]:
    """Submission, runtime and width of each job."""
    columns = (trace.submit_s.tolist(), trace.runtime_s.tolist(), trace.width.tolist())
    return list(zip(*columns, strict=True))


def af(trace: Trace, starts: Starts) -> float:
    """Mean response."""
    return sum(s + p - r for s, (r, p, _) in zip(starts, plain_jobs(trace), strict=True)) / len(trace)


def awf(trace: Trace, starts: Starts) -> float:
    """Response weighted by work."""
    each = list(zip(starts, plain_jobs(trace), strict=True))
    return sum(w * p * (s + p - r) for s, (r, p, w) in each) / sum(w * p for _, (_, p, w) in each)


def bsld(trace: Trace, starts: Starts) -> float:
    """Mean bounded slowdown."""
    each = zip(starts, plain_jobs(trace), strict=True)
    return sum(max(1.0, (s + p - r) / max(p, 10)) for s, (r, p, _) in each) / len(trace)


def p2sf(trace: Trace, starts: Starts) -> float:
    """P2SF in whole numbers."""
    each = list(zip(starts, plain_jobs(trace), strict=True))
    above = sum(w * ((s + p - r) ** 4 - (s - r) ** 4) for s, (r, p, w) in each)
    return 3 * above / (4 * sum(w * ((s + p - r) ** 3 - (s - r) ** 3) for s, (r, p, w) in each))


BY_HAND: dict[str, Callable[[Trace, Starts], float]] = {"af": af, "awf": awf, "bsld": bsld, "p2sf": p2sf}


def has_room(trace: Trace, starts: dict[int, int]) -> bool:
    """Whether some jobs fit on the machine: it is fullest when one of them starts."""
    jobs = plain_jobs(trace)
    return all(
        sum(jobs[k][2] for k, s in starts.items() if s <= moment < s + jobs[k][1]) <= trace.machine.processors
        for moment in starts.values()
    )


def every_schedule(trace: Trace, longest_wait_s: int) -> Iterator[Starts]:
    """All starts, second by second."""
    for starts in product(*(range(r, r + longest_wait_s + 1) for r, _, _ in plain_jobs(trace))):
        if has_room(trace, dict(enumerate(starts))):
            yield starts


def list_schedules(trace: Trace) -> Iterator[Starts]:
    """Each job at its earliest start, in every order: the best of AF, AWF and BSLD is among them."""
    jobs = plain_jobs(trace)
    for order in permutations(range(len(jobs))):
        starts: dict[int, int] = {}
        for job in order:
            ends = {start + jobs[other][1] for other, start in starts.items()}
            moments = sorted({jobs[job][0]} | {end for end in ends if end > jobs[job][0]})
            starts[job] = next(moment for moment in moments if has_room(trace, starts | {job: moment}))
        yield tuple(starts[k] for k in range(len(jobs)))


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("first", range(0, 100, 20))
def test_no_schedule_of_three_jobs_is_below(first: int) -> None:
    """A hundred traces: every start of every job is tried, waiting for nothing included."""
    for seed in range(first, first + 20):
        trace = small_trace(seed, 3, 6)
        schedules = list(every_schedule(trace, 12))
        for name, metric in BY_HAND.items():
            best = min(metric(trace, starts) for starts in schedules)
            assert lower_bound(trace, name, steps=200).value <= best, (seed, name)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("first", range(0, 100, 20))
def test_no_order_of_five_jobs_is_below(first: int) -> None:
    """A hundred traces: jobs of up to 30 s, placed in all 120 orders."""
    for seed in range(first, first + 20):
        trace = small_trace(1000 + seed, 5, 30)
        schedules = set(list_schedules(trace))
        for name, metric in BY_HAND.items():
            best = min(metric(trace, starts) for starts in schedules)
            assert lower_bound(trace, name, steps=200).value <= best, (seed, name)


def test_small_traces_leave_little() -> None:
    """Over twenty traces, more than half of what jobs wait in the best schedule is proven."""
    for name in ("af", "awf", "bsld"):
        waits = proven = 0.0
        for seed in range(20):
            trace = small_trace(1000 + seed, 5, 30)
            bound = lower_bound(trace, name, steps=200)
            waits += min(BY_HAND[name](trace, starts) for starts in list_schedules(trace)) - bound.alone
            proven += bound.value - bound.alone
        assert proven > 0.5 * waits, name


@pytest.mark.parametrize("name", ["af", "awf", "bsld"])
def test_one_processor_and_jobs_that_are_all_there_are_solved(name: str) -> None:
    """Most weight per runtime first is best there, and the fluid machine does just that."""
    rng = np.random.default_rng(3)
    runtime = rng.integers(10, 100, 5)
    trace = pool_trace(tuple("abcde"), np.full(5, 50), runtime, runtime, np.ones(5, dtype=int), 1)
    best = min(BY_HAND[name](trace, starts) for starts in list_schedules(trace))
    assert lower_bound(trace, name, steps=0).fluid == pytest.approx(best, rel=1e-12)


def test_a_job_that_comes_later_stops_the_fluid_machine() -> None:
    """Two processors. A (2 wide, 10 s) from 0, B (1 wide, 2 s) from 4: B has 1 s of the machine, from 4 to 5.

    A is worked on from 0 to 4 and from 5 to 11: its mean moment is (4 x 2 + 6 x 8) / 10 = 5.6, that of B is 4.5, half
    a second after its submission. AF is at least ((5.6 + 5) + (0.5 + 1)) / 2 = 6.05.
    """
    trace = pool_trace(("a", "b"), np.array([0, 4]), np.array([10, 2]), np.array([10, 2]), np.array([2, 1]), 2)
    assert lower_bound(trace, "af", steps=0).fluid == pytest.approx(6.05, rel=1e-12)


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("name", BOUNDED)
def test_more_steps_never_prove_less(name: str) -> None:
    """From none to seven rounds; what is left over of a round is not taken."""
    trace = random_trace(5)
    bounds = [lower_bound(trace, name, steps=steps).priced for steps in (0, 199, 200, 400, 600, 1000, 1400)]
    assert bounds == sorted(bounds)
    assert bounds[0] == bounds[1] < bounds[2]


@pytest.mark.parametrize("name", BOUNDED)
def test_no_bound_is_below_that_of_jobs_by_themselves(name: str) -> None:
    """Prices, if they prove anything, only add to it; and without waiting nothing is proven beyond it."""
    for seed in range(5):
        trace = random_trace(seed)
        bound = lower_bound(trace, name, steps=600)
        assert bound.value == max(bound.alone, bound.priced, -math.inf if name == "p2sf" else bound.fluid)
        assert bound.priced > 1.01 * bound.alone
        wide = replace(trace, machine=random_trace(seed, processors=10_000).machine)
        free = lower_bound(wide, name, steps=200)
        assert free.value == pytest.approx(bound.alone, rel=1e-6)


@pytest.mark.parametrize("name", BOUNDED)
def test_seven_times_the_processors_for_jobs_of_seven_times_the_width(name: str) -> None:
    """Only shares of the machine count; nor does it matter when the trace begins."""
    trace = random_trace(2)
    plain = lower_bound(trace, name, steps=600).value
    columns = (trace.runtime_s, trace.requested_s)
    wide = pool_trace(trace.ids, trace.submit_s, *columns, 7 * trace.width, 70)
    later = pool_trace(trace.ids, trace.submit_s + 10**9, *columns, trace.width, 10)
    assert lower_bound(wide, name, steps=600).value == pytest.approx(plain, rel=1e-3)
    assert lower_bound(later, name, steps=600).value == plain


def test_waiting_for_nothing_can_lower_p2sf() -> None:
    """A job of 100 s and one of 1 s, both on one of two processors: the short one does well to wait.

    P2SF is a mean of ages weighted by age^2 and width: ages of the short job below the mean lower it.
    """
    trace = pool_trace(("a", "b"), np.array([0, 0]), np.array([100, 1]), np.array([100, 1]), np.array([1, 1]), 2)
    waits = {wait: p2sf(trace, (0, wait)) for wait in range(200)}
    best = min(waits, key=lambda wait: waits[wait])
    assert best > 0
    assert waits[best] < waits[0]
    assert lower_bound(trace, "p2sf", steps=0).value == pytest.approx(waits[best], rel=1e-5)
    assert lower_bound(trace, "p2sf", steps=0).value <= waits[best]


def priced_jobs(seed: int) -> tuple[PricedJobs, Slots, np.ndarray, Callable[[int, int], float]]:
    """Jobs, slots with random prices, some of them zero, and what a processor costs from one second to another."""
    rng = np.random.default_rng(seed)
    trace = small_trace(seed, 6, 40)
    jobs = PricedJobs.of(trace)
    edges = np.unique(np.concatenate([[0.0, 150.0], rng.integers(1, 150, 12).astype(float)]))
    price = rng.random(len(edges) - 1) * rng.integers(0, 2, len(edges) - 1)
    each_second = np.concatenate([np.repeat(price, np.diff(edges).astype(int)), np.zeros(500)])
    return jobs, Slots(edges, jobs), price, lambda start, stop: float(each_second[start:stop].sum())


@pytest.mark.parametrize("seed", range(30))
def test_the_cheapest_start_is_found(seed: int) -> None:
    """Against all starts, second by second: cost, and the processors taken."""
    jobs, slots, price, paid = priced_jobs(seed)
    rng = np.random.default_rng(seed)
    slope, flat = rng.random(len(jobs)) / 5, jobs.release_s + rng.integers(0, 9, len(jobs))
    total = 0.0
    for k, (r, p, w) in enumerate(jobs.table.T.astype(int).tolist()):
        total += min(slope[k] * max(0.0, s - flat[k]) + w * paid(s, s + p) for s in range(r, 400))
    found = LinearCost(jobs, 0.0, slope, flat).value(slots, price)
    assert found == pytest.approx(total - jobs.processors * paid(0, 150), rel=1e-8, abs=1e-8)
    if not price.any():
        return
    # no job gains by starting elsewhere, so the processors taken are the slope of the value over the prices
    for slot in range(len(slots)):
        more = price.copy()
        more[slot] += 1e-7
        rise = (LinearCost(jobs, 0.0, slope, flat).value(slots, more) - found) / 1e-7
        LinearCost(jobs, 0.0, slope, flat).value(slots, price)
        wanted = slots.taken()[slot] - jobs.processors * slots.length_s[slot]
        assert rise <= wanted + 1e-3


@pytest.mark.parametrize("seed", range(30))
def test_the_cheapest_start_for_p2sf_is_found(seed: int) -> None:
    """Nothing on a grid of starts costs less, and the finer the grid the nearer it comes."""
    jobs, slots, price, paid = priced_jobs(seed)
    price = price * 1e-13
    cost = PoweredCost(jobs)
    cost.quotient *= 1.5

    def of(s: float, r: float, p: float, w: float) -> float:
        wait, response = (s - r) / 86400, (s + p - r) / 86400
        above, below = response**4 - wait**4, response**3 - wait**3
        return float(w * (0.75 * above - cost.quotient * below))

    total = -jobs.processors * 1e-13 * paid(0, 150)
    for r, p, w in jobs.table.T.astype(int).tolist():
        total += min(of(s, r, p, w) + w * 1e-13 * paid(s, s + p) for s in range(r, 400))
    found = cost.value(slots, price)
    size = abs(total) + jobs.processors * 1e-13 * paid(0, 150)
    assert total - 0.02 * size <= found <= total + 1e-9 * size


@pytest.mark.slow
def test_a_part_of_kth_under_several_policies(planner_data: Path) -> None:
    """The first 2,000 jobs: no policy is below the bound, and more than what jobs take by themselves is proven."""
    whole = read_pool(planner_data / "swf" / "KTH-SP2-filtered.swf.gz").trace
    columns = (whole.submit_s, whole.runtime_s, whole.requested_s, whole.width)
    trace = pool_trace(whole.ids[:2000], *(column[:2000] for column in columns), 100)
    runs = [replay(trace, policy_named(policy), trace.runtime_s) for policy in ("list", "easy", "saf-list")]
    for name in BOUNDED:
        bound = lower_bound(trace, name, steps=600)
        assert bound.value > 1.005 * bound.alone, name
        for run in runs:
            assert bound.value <= measure(outcome_of(run), [metric_named(name)], "none")[name], name


def test_what_has_no_bound() -> None:
    """Unknown metrics, jobs that wait for others; and a trace without jobs has nothing to measure."""
    trace = random_trace(0, jobs=2)
    with pytest.raises(InputError, match="'wait'; known: af, awf, bsld, p2sf"):
        lower_bound(trace, "wait")
    one = np.array([1, 1])
    linked = pool_trace(("a", "b"), one, one, one, one, 4, after=[(), parse_dependencies("afterok:a")])
    with pytest.raises(InputError, match="wait for others"):
        lower_bound(linked, "af")
    none = np.array([], dtype=np.int64)
    assert math.isnan(lower_bound(pool_trace((), none, none, none, none, 4), "af").value)
