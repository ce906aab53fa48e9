"""The summary of a day: the numbers of ``summary.json``."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from planner.accounting.bound import Bound
from planner.domain.day_summary import DayFigures, DaySummary, DayTotals, JobCounts
from planner.domain.ledger import Ledger
from planner.domain.plan import Plan
from planner.domain.problem import Problem
from planner.planning.baselines import easy_day, waits_of
from planner.planning.plan_day import PlannedDay
from planner.units import rounded


def summarise(planned: PlannedDay, *, conflicts: int = 0) -> DaySummary:
    """Totals, jobs, method and trials of a planned day; EASY and rules where these were tried as well."""
    day, result, bound, baselines = planned.day, planned.result, planned.bound, planned.baselines
    limit_eur, gap = _limit(bound, result.ledger.profit_eur)
    real_limit_eur, real_gap = _limit(planned.real_bound, planned.ledger.profit_eur)
    return DaySummary(
        scenario=day.scenario.name,
        day=day.problem.horizon.day,
        zone=day.problem.horizon.zone,
        currency=day.scenario.currency,
        method=result.method,
        status=result.status,
        solve_s=round(result.solve_s, 3),
        found_s=None if result.found_s is None else round(result.found_s, 3),
        best_trial=result.best_trial,
        cut_short=result.cut_short,
        leaves_room=result.leaves_room,
        stands_in_for=result.stands_in_for or None,
        bound_eur=limit_eur,
        gap_fraction=gap,
        real_bound_eur=real_limit_eur,
        real_gap_fraction=real_gap,
        execute=day.scenario.rules.execute if planned.booked is None else "actual",
        planned_profit_eur=rounded(result.ledger.profit_eur),
        **vars(
            figures(
                planned.happened,
                result.plan,
                planned.ledger,
                rejected=len(day.rejected),
                withdrawn=len(day.withdrawn),
            )
        ),
        carbon_limit_kg=day.scenario.goal.carbon_limit_kg,
        carbon_runs_kg=None if planned.carbon_runs_kg is None else rounded(planned.carbon_runs_kg),
        waits=waits_of(planned.happened, result.plan),
        easy=None if baselines is None else easy_day(baselines, planned.happened, planned.ledger.totals),
        ahead=planned.ahead,
        trials=tuple(replace(trial, profit_eur=rounded(trial.profit_eur)) for trial in result.trials),
        inputs=tuple(day.intakes),
        moment=None if day.situation.nightly else day.problem.horizon.to_datetime(day.problem.now_s).isoformat(),
        conflicts=conflicts,
        promises=planned.promises,
        baselines=None if baselines is None else baselines.rules,
        booked=planned.booked,
        holds=tuple(
            replace(each, saved_eur=rounded(each.saved_eur), waiting_eur=rounded(each.waiting_eur))
            for each in result.holds
        ),
    )


def _limit(bound: Bound | None, profit_eur: float) -> tuple[float | None, float | None]:
    """A limit on a profit, and how far the profit is from it; None where it is not known."""
    if bound is None:
        return None, None
    gap = bound.gap_fraction(profit_eur)
    return rounded(bound.profit_eur), None if gap is None else rounded(gap)


def figures(problem: Problem, plan: Plan, ledger: Ledger, *, rejected: int, withdrawn: int = 0) -> DayFigures:
    """What follows from the plan alone. The problem is the day as it was carried out."""
    planned, has_run = int(plan.is_placed.sum()), len(problem.running)
    carried_in = sum(work.start_s < 0 or problem.now_s == 0 for work in problem.running)
    ends_s = np.append(problem.running_end_s, (plan.start_s + problem.columns.duration_s)[plan.is_placed])
    running = int((ends_s > problem.horizon.length_s).sum())
    return DayFigures(
        totals=DayTotals.of(ledger.totals),
        peak_kw=rounded(ledger.peak_kw),
        site_cost_eur=rounded(ledger.site_cost_eur),
        utilisation_fraction=rounded(_utilisation(problem, ledger)),
        jobs=JobCounts(
            known=len(problem.jobs) + has_run - carried_in + rejected + withdrawn,
            started=planned + has_run - carried_in,
            carried_in=carried_in,
            finished=has_run + planned - running,
            running=running,
            deferred=len(problem.jobs) - planned,
            rejected=rejected,
            missed_deadlines=_missed_deadlines(problem, plan),
            withdrawn=withdrawn,
        ),
        segments=len(problem.segments),
        last_end_s=int(ends_s.max(initial=0)),
    )


def _utilisation(problem: Problem, ledger: Ledger) -> float:
    """Cores in use over all cores, on the day's average."""
    asked = [work.job for work in problem.running] + list(problem.jobs)
    cores = {job.id: job.total("cores") for job in asked}
    lines = ledger.jobs
    used = math.fsum(
        cores[name] * (end_s - start_s)
        for name, start_s, end_s in zip(lines.job_ids, lines.start_s.tolist(), lines.end_s.tolist(), strict=True)
    )
    return used / (problem.cluster.total("cores") * problem.horizon.length_s)


def _missed_deadlines(problem: Problem, plan: Plan) -> int:
    start = np.where(plan.is_placed, plan.start_s, problem.horizon.length_s)
    late = sum(
        work.job.deadline_unix is not None and work.end_s > problem.horizon.to_s(work.job.deadline_unix)
        for work in problem.running
        if work.start_s >= 0 and problem.now_s
    )
    return int((start > problem.columns.latest_start_s).sum()) + late
