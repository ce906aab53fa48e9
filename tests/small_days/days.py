"""Random days of eight seconds with everything that a day may have, and what must hold on each of them.

Every plan of such a day can be looked at (`tests.cp.enumeration`, which shares no code with the planner). So the chain

    worth of the search  <=  the best of all plans  <=  the proven bound

can be checked: where waiting counts nothing and all time alike, the worth is the profit. And no job may be rejected
that some assignment of its units to nodes would let run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, product

import numpy as np

from planner.accounting.audit import audit
from planner.accounting.bound import profit_bound
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, IdleRule, NodeClass
from planner.domain.ever_fits import Fit
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import Plan
from planner.domain.problem import Problem, Running
from planner.domain.rates import Battery, Rates, UsePrice
from planner.domain.result import never
from planner.search.harvest import harvest
from planner.search.multisearch import multisearch
from tests.cp.enumeration import NoPlanError, best_plan
from tests.cp.instances import LENGTH_S, SHORT, kinked_table, short_segments
from tests.dependent_jobs import dependent_jobs
from tests.factories import with_linear_cooling, with_waits


@dataclass(frozen=True)
class Checked:
    """What was found on a day; ``broken`` says in words what must not be.

    ``is_held``: the best of all plans meets every deadline of the day, as the search must; where they cannot all be met
    it is the best whatever it misses.
    """

    seed: int
    multisearch_eur: float
    harvest_eur: float
    optimum_eur: float
    bound_eur: float
    rejected: int
    is_held: bool
    broken: tuple[str, ...]


def small_day(seed: int) -> tuple[Problem, list[Job]]:
    """A random day, and all jobs that were asked for, whether they fit the machine or not; on odd days some wait."""
    rng = np.random.default_rng(seed)
    cluster = _cluster(rng)
    asked = [_job(rng, number, cluster, mixed=number == 0) for number in range(3)]
    # Streams of their own: whatever rules there are, the rest of the day stays as it was.
    rules = np.random.default_rng([seed, 1])
    asked = [_ruled(rules, job, cluster) for job in asked]
    if seed % 2:
        asked = list(dependent_jobs(np.random.default_rng([seed, 2]), asked, ["r"]))
    running: tuple[Running, ...] = ()
    if rng.random() < 0.5:
        alone = bool(rules.random() < 0.3)
        held = Job("r", SHORT.start_unix - 50, 100, (UnitGroup.of(1, {"cores": 2.0}),), 90.5, exclusive=alone)
        running = (Running(held, -50, int(rng.integers(1, LENGTH_S + 2)), (0,)),)
    has_extras = bool(rng.random() < 0.7)
    problem = Problem(
        horizon=SHORT,
        cluster=cluster,
        jobs=tuple(job for job in asked if Fit(cluster).why_never(job) is None),
        never=frozenset(job.id for job in asked if Fit(cluster).why_never(job) is not None),
        segments=short_segments(rng, extras=has_extras),
        table=kinked_table(rng),
        rates=Rates(
            eur_per_core_hour=float(rng.choice([0.5, 0.02, 0.008])),
            demand_eur_per_kw=0.00002 if has_extras and rng.random() < 0.5 else 0.0,
            demand_interval_s=3,
            carbon_eur_per_tonne=80.0 if has_extras else 0.0,
        ),
        running=running,
        defer="free",
    )
    return problem, asked


def with_contracts(problem: Problem, seed: int) -> Problem:
    """The same day with contracts and machines as sites have them, whichever chance has it."""
    rng = np.random.default_rng([seed, 3])
    classes, rates = problem.cluster.classes, problem.rates
    sleep_w = [round(float(rng.uniform(0, each.idle_w)), 1) if rng.random() < 0.7 else None for each in classes]
    rule = IdleRule(bool(rng.random() < 0.5), int(rng.integers(0, 3)), int(rng.integers(0, 3)))
    nodes = [replace(each, sleep_w=asleep) for each, asleep in zip(classes, sleep_w, strict=True)]
    battery = None
    if len(problem.jobs) < 3 or rng.random() < 0.2:
        size = round(float(rng.uniform(0.0001, 0.002)), 5)
        battery = Battery(size, round(float(rng.uniform(0.05, 0.4)), 3), float(rng.uniform(0.6, 1)), 0.0, 0.0)
        battery = replace(battery, start_kwh=size * float(rng.random()), end_kwh=size * float(rng.random()))
    return replace(
        problem,
        cluster=replace(problem.cluster, classes=tuple(nodes), idle_rule=rule),
        segments=tuple(
            replace(
                each,
                fee_eur_per_kwh=round(float(rng.uniform(0, 0.2)), 3) if rng.random() < 0.6 else 0.0,
                feed_in_eur_per_kwh=round(float(rng.uniform(-0.05, 0.4)), 3) if rng.random() < 0.6 else 0.0,
            )
            for each in problem.segments
        ),
        rates=replace(
            rates,
            eur_per_hour={"memory_gb": 0.02, "cores": 0.01} if rng.random() < 0.5 else {},
            class_prices={"cpu": UsePrice(0.03, {"cores": 0.002})} if rng.random() < 0.5 else {},
            qos_factors={"": 0.8},
            demand_so_far_kw=round(float(rng.uniform(0, 0.5)), 3) if rates.demand_eur_per_kw else 0.0,
            battery=battery,
        ),
    )


def with_storage(problem: Problem, seed: int) -> Problem:
    """The same day with sun, a demand charge and a battery that all matter, and with two of its jobs."""
    rng = np.random.default_rng([seed, 4])
    load_kw = 0.0001 + sum(job.power_w for job in problem.jobs) / 1000
    size = load_kw * float(rng.uniform(0.5, 4)) / 3600
    battery = Battery(size, load_kw * float(rng.uniform(0.2, 1)), float(rng.uniform(0.6, 1)), 0.0, 0.0)
    kept = problem.jobs[:2]
    names = {job.id for job in kept}
    return replace(
        problem,
        jobs=kept,
        never=problem.never | {job.id for job in problem.jobs if job.id not in names},
        segments=tuple(
            replace(each, solar_w=round(float(rng.uniform(0, 800 * load_kw)), 1) if rng.random() < 0.6 else 0.0)
            for each in problem.segments
        ),
        rates=replace(
            problem.rates,
            eur_per_core_hour=0.02,
            demand_eur_per_kw=float(rng.uniform(0.00002, 0.0004)),
            demand_interval_s=int(rng.integers(1, 4)),
            battery=replace(battery, start_kwh=size * float(rng.random()), end_kwh=size * float(rng.random())),
        ),
    )


def check_day(
    seed: int,
    iterations: int = 6000,
    *,
    contracts: bool = False,
    linear: bool = False,
    storage: bool = False,
    waits: bool = False,
) -> Checked:
    """Search a day and hold the search against the best of all plans, the bound and the rules.

    ``linear``: cooling is linear between the cells of the table. ``waits``: waiting counts, and the second half of the
    day in full, by half or nothing, as in what a night maximises.
    """
    problem, asked = small_day(seed)
    if linear:
        problem = with_linear_cooling(problem, np.random.default_rng([seed, 3]))
    if contracts:
        problem = with_contracts(problem, seed)
    if storage:
        problem, asked = with_storage(problem, seed), []
    if waits:
        problem = with_waits(problem, seed, counts=(1.0, 0.5, 0.0)[seed % 3])
    broken = [
        f"job {job.id} is rejected though it fits"
        for job in asked
        if job not in problem.jobs and fits_by_trying(problem.cluster, job)
    ]
    first = multisearch(problem)
    found = harvest(problem, seed=0, workers=1, stop=never, time_limit_s=60, iterations=iterations)
    optimum, is_held = _optimum(problem)
    best = settle(problem, optimum).worth_eur
    bound = profit_bound(problem).profit_eur
    broken += [f"harvest: {violation}" for violation in audit(problem, found.plan)]
    full = replace(problem, defer="full")
    broken += [f"multisearch, defer: full: {violation}" for violation in audit(full, multisearch(full).plan)]
    chain = (first.ledger.worth_eur, found.ledger.worth_eur, best, bound)
    names = ("multisearch, harvest", "harvest, optimum", "optimum, bound")
    for (lower, upper), both in zip(pairwise(chain), names, strict=True):
        if lower > upper + 1e-9:
            broken.append(f"{both}: {lower} > {upper}")
    return Checked(seed, *chain, sum(job not in problem.jobs for job in asked), is_held, tuple(broken))


def _optimum(problem: Problem) -> tuple[Plan, bool]:
    """The best of all plans that meet every deadline of the day, or the best of all; and which of them it is."""
    latest_s = {}
    for number, job in enumerate(problem.jobs):
        if job.deadline_unix is not None and job.deadline_unix - job.requested_s < problem.horizon.end_unix:
            latest_s[number] = job.deadline_unix - job.requested_s - problem.horizon.start_unix
    try:
        return best_plan(problem, must_start=tuple(latest_s), latest_s=latest_s), True
    except NoPlanError:
        return best_plan(problem), False


def lost_share(days: Sequence[Checked]) -> float:
    """What the search earns less than the best of all plans where all deadlines can be met, as a part of that."""
    held = [day for day in days if day.is_held]
    return sum(day.optimum_eur - day.harvest_eur for day in held) / sum(abs(day.optimum_eur) for day in held)


def fits_by_trying(cluster: Cluster, job: Job) -> bool:
    """Whether a job runs on the empty machine, by trying every assignment of its units, in exact numbers."""
    if cluster.power_limit_w is not None and exact(job.power_w) > exact(cluster.power_limit_w):
        return False
    nodes = [node_class for node_class in cluster.classes for _ in range(node_class.count)]
    units = [group for group in job.units for _ in range(group.count)]
    allowed = [not job.classes or node_class.name in job.classes for node_class in nodes]
    return any(
        all(allowed[node] for node in chosen)
        and not (job.exclusive and len(set(chosen)) < len(chosen))
        and all(
            sum(exact(unit.amount(name)) for unit, node in zip(units, chosen, strict=True) if node == number)
            <= exact(node_class.capacity.get(name, 0.0))
            for number, node_class in enumerate(nodes)
            for name in {name for unit in units for name, _ in unit.amounts}
        )
        for chosen in product(range(len(nodes)), repeat=len(units))
    )


def exact(value: float) -> Fraction:
    """A number to the thousandth, as amounts and watts are held."""
    return Fraction(round(value * 1000), 1000)


def _cluster(rng: np.random.Generator) -> Cluster:
    idle = 60.0 if rng.random() < 0.4 else 0.0
    classes = [NodeClass("cpu", int(rng.integers(1, 3)), {"cores": 4, "memory_gb": 4}, idle_w=idle)]
    if rng.random() < 0.5:
        classes.append(NodeClass("gpu", 1, {"cores": 6, "memory_gb": 3, "gpus": 2}, idle_w=idle))
    limit = round(float(rng.uniform(250, 900)), 1) if rng.random() < 0.4 else None
    return Cluster(tuple(classes), power_limit_w=limit)


def _ruled(rng: np.random.Generator, job: Job, cluster: Cluster) -> Job:
    """The job with rules of the queue, where chance has it so."""
    names = [node_class.name for node_class in cluster.classes]
    if rng.random() < 0.3 and len(names) > 1:
        job = replace(job, classes=(names[int(rng.integers(len(names)))],))
    if rng.random() < 0.25:
        job = replace(job, begin_unix=SHORT.start_unix + int(rng.integers(-3, LENGTH_S + 2)))
    return replace(job, exclusive=bool(rng.random() < 0.25))


def _job(rng: np.random.Generator, number: int, cluster: Cluster, *, mixed: bool) -> Job:
    node_class = cluster.classes[int(rng.integers(0, len(cluster.classes)))]

    def amounts() -> dict[str, float]:
        asked = {"cores": float(rng.integers(1, 5))}
        if rng.random() < 0.4:
            asked["memory_gb"] = float(rng.integers(1, 4))
        if "gpus" in node_class.capacity and rng.random() < 0.5:
            asked["gpus"] = float(rng.integers(1, 3))
        return asked

    groups = [UnitGroup.of(int(rng.integers(1, 3)), amounts())]
    if mixed:
        sizes = [(2, 1), (1, 1), (1, 2)][int(rng.integers(0, 3))]
        groups = [UnitGroup.of(count, amounts()) for count in sizes]
    limit_w = cluster.power_limit_w
    power_w = limit_w if limit_w is not None and rng.random() < 0.2 else round(float(rng.uniform(50, 400)), 3)
    requested_s = int(rng.integers(1, LENGTH_S + 3))
    submit_unix = SHORT.start_unix + int(rng.integers(-3, LENGTH_S - 2))
    is_due = rng.random() < 0.25
    return Job(
        id=f"j{number}",
        submit_unix=submit_unix,
        requested_s=requested_s,
        units=tuple(groups),
        power_w=power_w,
        revenue_weight=float(rng.choice([0.5, 1.0, 2.0])),
        deadline_unix=submit_unix + requested_s + int(rng.integers(0, 6)) if is_due else None,
    )
