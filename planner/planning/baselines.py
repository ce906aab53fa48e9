"""The planned day under EASY, and what the rules of common schedulers would earn on it, to compare a plan with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from planner.accounting.could_have_started import ready_moments
from planner.accounting.settle import settle
from planner.domain.day_summary import Baseline, EasyDay
from planner.domain.job import Job
from planner.domain.ledger import Totals
from planner.domain.plan import Plan
from planner.domain.problem import Problem, Running
from planner.domain.waits import Waits
from planner.methods import rule_results
from planner.online.day_under_policy import easy_plan
from planner.units import rounded


@dataclass(frozen=True)
class Baselines:
    """What a day is without a search: what each rule would earn, and EASY's plan with its totals."""

    rules: tuple[Baseline, ...]
    easy_plan: Plan
    easy_totals: Totals


def baselines_of(problem: Problem, happened: Problem, easy: Plan | None = None) -> Baselines:
    """What rules and EASY make of a day; ``easy`` is EASY's plan where that is known already.

    EASY is the simulator's, from the same beginning. It expects that jobs run as long as planning thinks. They end as
    in the day that was carried out, so that both are on the same footing.
    """
    plan = easy_plan(problem, happened) if easy is None else easy
    return Baselines(rule_baselines(problem), plan, settle(happened, plan).totals)


def easy_day(baselines: Baselines, happened: Problem, ours: Totals) -> EasyDay:
    """The day under EASY, and what the plan, as it was carried out, saves against it."""
    plan, easy = baselines.easy_plan, baselines.easy_totals
    return EasyDay(
        profit_eur=rounded(easy.profit_eur),
        revenue_eur=rounded(easy.revenue_eur),
        energy_cost_eur=rounded(easy.energy_cost_eur),
        kwh=rounded(easy.it_kwh + easy.cooling_kwh),
        carbon_kg=rounded(easy.carbon_kg),
        started=_started_before(happened) + int(plan.is_placed.sum()),
        deferred=int((~plan.is_placed).sum()),
        waits=waits_of(happened, plan),
        saved_eur=rounded(ours.profit_eur - easy.profit_eur),
        saved_energy_cost_eur=rounded(easy.energy_cost_eur - ours.energy_cost_eur),
        saved_kwh=rounded(easy.it_kwh + easy.cooling_kwh - ours.it_kwh - ours.cooling_kwh),
        saved_carbon_kg=rounded(easy.carbon_kg - ours.carbon_kg),
    )


def waits_of(problem: Problem, plan: Plan) -> Waits:
    """How long jobs wait in a plan: from submission, their user's begin, or all that they wait for having come first.

    A job that the plan defers waits until the end of the day at least.
    """
    before = [work for work in problem.running if _is_todays(problem, work)]
    came_s = {work.job.id: (work.start_s, work.end_s) for work in problem.running}
    started_s = [_ready_s(problem, work.job, came_s) for work in before]
    ready_s = np.concatenate([ready_moments(problem, plan), np.array(started_s, dtype=np.int64)])
    start_s = np.concatenate([plan.start_s, np.array([work.start_s for work in before], dtype=np.int64)])
    return Waits.of(ready_s, start_s, problem.horizon.length_s)


def _ready_s(problem: Problem, job: Job, came_s: Mapping[str, tuple[int, int]]) -> int:
    """When a job that has started could first: what it waited for and is not known had come first by midnight [s]."""
    first_s = [came_s.get(needed.job_id, (0, 0))[needed.waits_for_end] for needed in job.after]
    return max([problem.horizon.to_s(job.release_unix), *first_s])


def _started_before(problem: Problem) -> int:
    """Jobs that had started today before the moment from which the day was planned."""
    return sum(_is_todays(problem, work) for work in problem.running)


def _is_todays(problem: Problem, work: Running) -> bool:
    return problem.now_s > 0 and work.start_s >= 0


def rule_baselines(problem: Problem) -> tuple[Baseline, ...]:
    """Profit, revenue, cost and started jobs of each rule, with every job as long as it asked."""
    found = []
    for name, result in rule_results(problem).items():
        totals = result.ledger.totals
        found.append(
            Baseline(
                name,
                profit_eur=rounded(totals.profit_eur),
                revenue_eur=rounded(totals.revenue_eur),
                energy_cost_eur=rounded(totals.energy_cost_eur),
                started=int(result.plan.is_placed.sum()),
            )
        )
    return tuple(found)
