"""How the policy ``replan`` goes about a trace under a scenario: its promise, its prices, and what waiting is worth."""

from __future__ import annotations

import numpy as np

from planner.bounds import DAY_S
from planner.domain.columns import Floats, Ints
from planner.domain.horizon import Horizon
from planner.domain.problem import Problem
from planner.domain.trace import Trace
from planner.errors import InputError
from planner.inputs.build import frame
from planner.online.replanning import Replanning
from planner.scenario.schema import Scenario
from planner.units import MILLI

FOREVER_S = 10**12
"""The price after the last known hour holds until then [s]."""


def replanning_of(scenario: Scenario, trace: Trace) -> Replanning:
    """What the scenario says about re-planning, for the time of a trace."""
    if trace.origin_unix is None:
        raise InputError(f"{trace.source}: the trace has no date; add UnixStartTime for the price of the hour")
    last_s = int(trace.submit_s[-1] + trace.requested_s.max()) if len(trace) else 0
    horizon = Horizon.of_unix(trace.origin_unix, scenario.zone)
    length_s = trace.origin_unix - horizon.start_unix + last_s + scenario.rules.max_delay_s + DAY_S
    problem, _ = frame(scenario, Horizon.from_moment(horizon.start_unix, length_s, scenario.zone))
    edges_s, price = energy_prices(problem, trace)
    rules = scenario.replan
    cores = float(trace.processors_of.sum())
    kw_per_core = float(trace.power_mw.sum()) / MILLI**2 / cores if cores else 0.0
    return Replanning(
        max_delay_s=scenario.rules.max_delay_s,
        every_s=rules.every_s,
        price_s=edges_s,
        price_eur_per_kwh=price,
        eur_per_waiting_hour=rules.waiting_core_hours * kw_per_core * float(price.mean()),
        eur_per_width_hour=scenario.revenue.eur_per_core_hour / trace.machine.scale,
        steps=rules.steps,
        ahead_s=rules.ahead_s,
        seed=scenario.seed,
        repairs=rules.repairs,
        holds=rules.holds,
    )


def energy_prices(problem: Problem, trace: Trace) -> tuple[Ints, Floats]:
    """What a kWh of a job costs with its cooling and its carbon: moments of change [s of the trace], prices between.

    Cooling is taken at the mean power of a machine in full use. The last price is the mean of all.
    """
    columns = problem.segment_columns
    factor = problem.table.cooling[_busy_row(problem, trace), columns.table_column]
    price = columns.full_price_eur_per_kwh * (1.0 + factor)
    origin = 0 if trace.origin_unix is None else trace.origin_unix
    edges = columns.edges_s + (problem.horizon.start_unix - origin)
    mean = float(np.average(price, weights=columns.length_s))
    return np.append(edges, FOREVER_S), np.append(price, mean)


def _busy_row(problem: Problem, trace: Trace) -> int:
    """Row of the PUE table for a machine on which all cores run work of the trace's mean power."""
    cores = float(trace.processors_of.sum())
    watts = float(trace.power_mw.sum()) / MILLI / cores * trace.machine.processors if cores else 0.0
    row = round((watts - problem.table.first_power_w) / problem.table.power_step_w)
    return int(np.clip(row, 0, len(problem.table.cooling) - 1))
