"""The policy ``order`` beside plain enumeration: all orders of a small queue, and all starts of a tiny one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import permutations, product

import numpy as np
import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.intake import Intake
from planner.domain.rates import Rates, UsePrice
from planner.domain.trace import Trace, pool_trace
from planner.errors import InputError
from planner.inputs.traces import Source
from planner.online.audit_replay import violations
from planner.online.estimates import estimate_named
from planner.online.objectives import FOREVER_S, ProfitTerms, objective_named
from planner.online.policies import POLICIES, QueueSearch, policy_named
from planner.online.replay import replay
from planner.runs.measured_replays import Measurement, simulate
from tests.factories import DAY
from tests.online.traces import as_nodes, placed, random_cluster_trace, random_trace
from tests.plain_day import day

Cost = Callable[[int, int, int], float]
"""What a job of a width and a length costs after a wait."""

SUMS: dict[str, Cost] = {
    "af": lambda width, length, wait: wait + length,
    "awf": lambda width, length, wait: width * length * (wait + length),
    "bsld": lambda width, length, wait: max(1.0, (wait + length) / max(length, 10)),
    "p2sf": lambda width, length, wait: width * ((wait + length) ** 4 - wait**4),
    "p0.5sf": lambda width, length, wait: width * ((wait + length) ** 2.5 - wait**2.5),
    "stretch": lambda width, length, wait: (wait + length) / length,
    "bsld-ahead": lambda width, length, wait: (wait + length) * length**-0.4,
    "af-ahead": lambda width, length, wait: (wait + length) * ((wait + length) ** 2 / length) ** 0.3,
}
ENOUGH = QueueSearch(evaluations=400)


def small_queue(seed: int, jobs: int, *, longest: int = 40, processors: int = 6) -> Trace:
    """Jobs that all come at once, after one that came before and fills part of the pool."""
    rng = np.random.default_rng(seed)
    submit = np.array([0, *[5] * jobs])
    runtime = np.array([int(rng.integers(6, 12 + longest)), *rng.integers(1, longest + 1, jobs)])
    width = np.array([int(rng.integers(1, processors + 1)), *rng.integers(1, processors + 1, jobs)])
    return pool_trace(tuple(f"j{k}" for k in range(jobs + 1)), submit, runtime, runtime, width, processors)


def starts_in_order(trace: Trace, order: tuple[int, ...]) -> dict[int, int]:
    """Every job that came at once at its earliest second, one after another, beside the one that came before."""
    starts = placed(trace, (0, *order))
    return {job: starts[job] for job in order}


def total(trace: Trace, cost: Cost, starts: dict[int, int]) -> float:
    """The objective of the jobs that come at once."""
    return sum(cost(int(trace.width[job]), int(trace.runtime_s[job]), start - 5) for job, start in starts.items())


def found_by(trace: Trace, policy: str, search: QueueSearch = ENOUGH) -> dict[int, int]:
    """The starts of the jobs that come at once under a policy."""
    result = replay(trace, policy_named(policy), trace.runtime_s, search=search)
    assert not violations(result)
    return {job: int(result.start_s[job]) for job in range(1, len(trace))}


@pytest.mark.slow(keep=10)
@pytest.mark.parametrize("seed", range(24))
def test_no_order_of_a_small_queue_is_better(seed: int) -> None:
    """Runtimes are known and nobody comes later, so the whole replay is the plan of the first round, or better."""
    trace = small_queue(seed, 3 + seed % 4)
    plans = [starts_in_order(trace, each) for each in permutations(range(1, len(trace)))]
    for objective, cost in SUMS.items():
        best = min(total(trace, cost, starts) for starts in plans)
        assert total(trace, cost, found_by(trace, f"order-{objective}")) == pytest.approx(best)
        assert total(trace, cost, found_by(as_nodes(trace), f"order-{objective}")) == pytest.approx(best)


@pytest.mark.parametrize("seed", range(10))
def test_no_schedule_at_all_is_better(seed: int) -> None:
    """Three short jobs at every combination of seconds: waiting for nothing never pays."""
    trace = small_queue(seed, 3, longest=4, processors=4)
    latest = 5 + int(trace.runtime_s.sum())
    every = [dict(zip(range(1, 4), starts, strict=True)) for starts in product(range(5, latest), repeat=3)]
    plans = [starts for starts in every if is_possible(trace, starts)]
    for objective, cost in SUMS.items():
        best = min(total(trace, cost, starts) for starts in plans)
        assert total(trace, cost, found_by(trace, f"order-{objective}")) == pytest.approx(best)


def is_possible(trace: Trace, starts: dict[int, int]) -> bool:
    """Whether there are processors enough at every start; at all other times fewer jobs run."""
    length, width, processors = trace.runtime_s.tolist(), trace.width.tolist(), trace.machine.processors
    runs = {0: 0, **starts}
    return all(
        sum(width[job] for job, start in runs.items() if start <= moment < start + length[job]) <= processors
        for moment in runs.values()
    )


@pytest.mark.parametrize("objective", SUMS)
def test_a_round_is_never_worse_than_the_list_plans(objective: str) -> None:
    """Without a single change the best list plan is taken, with changes one that is no worse."""
    cost = SUMS[objective]
    for seed in range(10):
        trace = small_queue(seed, 12, processors=8)
        lists = ("list", "sjf-list", "saf-list", "laf-list", "spf-list", "lrf-list")
        best = min(total(trace, cost, found_by(trace, each)) for each in lists)
        seeds = total(trace, cost, found_by(trace, f"order-{objective}", QueueSearch(0)))
        assert seeds <= best * (1 + 1e-12)
        assert total(trace, cost, found_by(trace, f"order-{objective}", QueueSearch(5))) <= best * (1 + 1e-12)


@pytest.mark.parametrize("objective", ["bsld", "p2sf"])
def test_a_plus_improves_each_of_the_published_seeds(objective: str) -> None:
    """It is no worse than they are, and differs from the plain form on some queues."""
    cost, seeds = SUMS[objective], [f"{order}-list" for order in objective_named(objective).seeds]
    differs = 0
    for seed in range(12):
        trace = small_queue(seed, 14, processors=8)
        plus = total(trace, cost, found_by(trace, f"order-{objective}+", QueueSearch(1)))
        plain = total(trace, cost, found_by(trace, f"order-{objective}", QueueSearch(1)))
        best = min(total(trace, cost, found_by(trace, each.replace("fcfs-", ""))) for each in seeds)
        assert plus <= best * (1 + 1e-12)
        differs += plus != plain
    assert differs


def test_replays_on_pools_and_nodes_break_no_rule_and_repeat() -> None:
    """Nodes of two classes with two resources, with wrong estimates; the same seed gives the same replay."""
    for seed in range(6):
        for trace in (random_trace(seed), random_cluster_trace(seed), random_cluster_trace(seed, power_limit=30_000)):
            for name in ("order-af", "order-p2sf-ratio", "order-bsld+"):
                runs = [replay(trace, policy_named(name), trace.requested_s, search=QueueSearch(3, 7)) for _ in "ab"]
                assert not violations(runs[0])
                assert np.array_equal(runs[0].start_s, runs[1].start_s)


def test_names_say_what_is_optimised() -> None:
    """Every known name leads to a policy of that name; what is not known is named with what is."""
    for name in POLICIES:
        if name.startswith("order"):
            assert policy_named(name).name == name
    assert policy_named("order").name == "order-af"
    assert policy_named("ORDER-P3SF").objective == objective_named("p3sf")
    with pytest.raises(InputError, match="unknown local objective 'speed'; known: af, awf, bsld, p2sf"):
        policy_named("order-speed")
    with pytest.raises(InputError, match="order-af\\+: no seeds were published"):
        policy_named("order-af+")
    with pytest.raises(InputError, match="unknown local objective 'p99sf'"):
        policy_named("order-p99sf")


EDGES, PRICES = [0, 20, 45, 60], [0.5, 0.1, 0.9, 0.3]
"""Prices [EUR/kWh] from each of some seconds on."""


def prices() -> ProfitTerms:
    """Seconds with prices of their own; an hour of waiting counts 2 EUR, a processor earns 1 EUR in an hour."""
    return ProfitTerms(
        price_s=np.array([*EDGES, FOREVER_S]),
        price_eur_per_kwh=np.array(PRICES),
        eur_per_waiting_hour=2.0,
        eur_per_width_hour=1.0,
        ahead_s=10**6,
    )


def test_what_the_time_ahead_costs_and_earns() -> None:
    """An hour at 0.1 and 23 at 0.4 EUR/kWh, then their mean 0.3875; the jobs draw 2 kW a core, of 4 cores in all.

    Three cores in four earn 0.2 EUR in an hour, the others 0.5, as a GPU for each of them earns 0.3.
    """
    trace = replace(small_queue(0, 2), origin_unix=DAY.start_unix - 50)
    trace = replace(trace, power_mw=trace.width * 2 * 10**6)
    mixed = Cluster((NodeClass("cpu", 3, {"cores": 4}), NodeClass("gpu", 2, {"cores": 2, "gpus": 2})))
    rates = Rates(0.2, class_prices={"gpu": UsePrice(0.2, {"gpus": 0.3})})
    problem = replace(day(prices=(0.1, 0.4)), cluster=mixed, rates=rates)
    found = ProfitTerms.of(problem, trace)
    assert found.price_s.tolist() == [50, 3650, 86450, FOREVER_S]
    assert found.price_eur_per_kwh == pytest.approx([0.1, 0.4, 0.3875])
    assert found.eur_per_waiting_hour == pytest.approx(2.5 * 2.0 * (0.1 + 0.4 + 0.3875) / 3)
    assert found.eur_per_width_hour == pytest.approx(0.75 * 0.2 + 0.25 * 0.5)
    assert found.eur_per_kw[:3] == pytest.approx([0.0, 0.1, 0.1 + 23 * 0.4])


def money(trace: Trace, starts: dict[int, int]) -> float:
    """Energy and waiting less revenue of the jobs that come at once, second by second [EUR]."""
    lost = 0.0
    for job, start in starts.items():
        lost += 2.0 * (start - 5) / 3600
        for second in range(start, start + int(trace.runtime_s[job])):
            price = PRICES[max(k for k, edge in enumerate(EDGES) if edge <= second)]
            lost += price * trace.power_mw[job] / 1e6 / 3600 - float(trace.width[job]) / 3600
    return lost


@pytest.mark.parametrize("seed", range(8))
def test_no_order_earns_more(seed: int) -> None:
    """Jobs of very different power, so that it counts who runs in the dear seconds."""
    trace = small_queue(seed, 4)
    power = np.random.default_rng(seed).integers(1, 40, len(trace)) * 10**6
    trace = replace(trace, power_mw=power)
    best = min(money(trace, starts_in_order(trace, each)) for each in permutations(range(1, len(trace))))
    for machine in (trace, as_nodes(trace)):
        result = replay(machine, policy_named("order-profit"), trace.runtime_s, search=ENOUGH, profit=prices())
        found = {job: int(result.start_s[job]) for job in range(1, len(trace))}
        assert money(trace, found) <= best + 1e-9  # less where a later round puts off what an earlier one had planned


def test_only_what_is_earned_in_the_time_ahead_counts() -> None:
    """An hour ahead, and two processors: the job of both goes before the one of one that was submitted before it."""
    hour = 3600
    trace = pool_trace(
        ("one", "both"), np.zeros(2, dtype=np.int64), np.full(2, hour), np.full(2, hour), np.array([1, 2]), 2
    )
    options = replace(prices(), ahead_s=hour, eur_per_waiting_hour=0.0)
    result = replay(trace, policy_named("order-profit"), trace.runtime_s, profit=options)
    assert result.start_s.tolist() == [hour, 0]


@pytest.mark.parametrize(("dear_first", "order"), [(True, [1, 0]), (False, [0, 1])])
def test_what_draws_much_waits_for_the_cheap_hour(dear_first: bool, order: list[int]) -> None:
    """Two jobs of an hour on one processor, one draws ten times as much; one of the two hours is dear."""
    hour = 3600
    trace = pool_trace(
        ("much", "little"), np.zeros(2, dtype=np.int64), np.full(2, hour), np.full(2, hour), np.ones(2, np.int64), 1
    )
    trace = replace(trace, power_mw=np.array([10**7, 10**6]))
    options = ProfitTerms(
        price_s=np.array([0, hour, FOREVER_S]), price_eur_per_kwh=np.array([0.9, 0.1] if dear_first else [0.1, 0.9])
    )
    result = replay(trace, policy_named("order-profit"), trace.runtime_s, profit=options)
    assert np.argsort(result.start_s).tolist() == order


def test_money_is_no_objective_of_engines_and_needs_a_scenario() -> None:
    with pytest.raises(InputError, match="engines plan for sums that no wait lowers"):
        policy_named("cp-profit")
    source = Source(small_queue(0, 2), Intake("x"))
    with pytest.raises(InputError, match="'order-profit' needs a scenario"):
        simulate(source, [policy_named("order-profit")], [estimate_named("actual")], Measurement.named(["af"]))
