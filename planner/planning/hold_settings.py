"""How the jobs of a trace or of a day are held, by what a scenario says of it."""

from __future__ import annotations

from dataclasses import replace

from planner.domain.ever_fits import Fit
from planner.domain.job import Job
from planner.domain.problem import Problem
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.inputs.books.measured_power import ended_jobs
from planner.inputs.jobs.read import submitted_jobs
from planner.limits import DAY_S
from planner.online.holding import Holding
from planner.planning.energy_costs import energy_costs, last_end_s, origin_of
from planner.scenario.schema import Scenario
from planner.units import MILLI

BUSY_FRACTION = 0.8
"""How full the machine is taken to be for its cooling and for the use of its own sun."""


def holding_of_trace(scenario: Scenario, trace: Trace) -> Holding:
    """How jobs of a trace are held, by what is known of prices and weather at each moment."""
    origin, width = origin_of(trace), float(trace.width.sum())
    full = float(trace.machine.capacity[:, 0].sum()) / width if width else 0.0
    return holding_of(scenario, origin, origin + last_end_s(trace), full * float(trace.power_mw.sum()) / MILLI)


def holding_of_day(scenario: Scenario, problem: Problem) -> Holding:
    """How jobs of a day, or of the day and the time after it, are held."""
    jobs, horizon = [*problem.jobs, *problem.started_jobs], problem.horizon
    resource = problem.cluster.resources[0]
    width = sum(job.total(resource) for job in jobs)
    full = problem.cluster.total(resource) / width if width else 0.0
    holding = holding_of(scenario, horizon.start_unix, horizon.end_unix, full * sum(job.power_w for job in jobs))
    return replace(holding, history=_history(scenario, problem)) if holding.may_hold else holding


def holding_of(scenario: Scenario, first_unix: int, last_unix: int, full_w: float) -> Holding:
    """How jobs are held on a stretch of time on a machine that draws so much when all of it is busy."""
    max_delay_s = scenario.rules.max_delay_s or 0
    last_unix += max_delay_s + DAY_S
    return Holding(
        max_delay_s=max_delay_s,
        costs=energy_costs(scenario, first_unix, last_unix, BUSY_FRACTION * full_w) if max_delay_s else None,
        eur_per_waiting_hour=scenario.goal.waiting,
        params=scenario.hold.params(),
        seed=scenario.seed,
    )


def _history(scenario: Scenario, problem: Problem) -> tuple[Job, ...]:
    """The jobs of the days before whose runtimes are known: of ``hold.history``, else of the scenario's own jobs.

    None where these come from Slurm, which tells of its queue alone.
    """
    first_unix = problem.horizon.start_unix - (1 + max(scenario.hold.params().days_back)) * DAY_S
    window = (first_unix, problem.horizon.start_unix + problem.now_s)
    try:
        if scenario.hold.history is not None:
            jobs = ended_jobs(scenario.hold.history, scenario, window)
        else:
            jobs, _ = submitted_jobs(scenario, window)
    except InputError:
        if scenario.hold.history is not None:
            raise
        return ()
    fit = Fit(scenario.cluster)
    return tuple(job for job in jobs if job.runtime_s and fit.why_never(job) is None)
