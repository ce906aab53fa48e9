"""The rates of a day, by a scenario and what the day before left: use, demand charge, carbon, battery."""

from __future__ import annotations

import datetime as dt

from planner.domain.rates import Battery, Rates
from planner.domain.situation import SiteState
from planner.scenario.schema import Scenario


def rates_of(scenario: Scenario, day: dt.date, state: SiteState | None = None) -> Rates:
    """The rates of a day; ``state`` is what the day before left, None on a first day."""
    revenue, demand = scenario.revenue, scenario.demand
    return Rates(
        eur_per_core_hour=revenue.eur_per_core_hour,
        demand_eur_per_kw=demand.eur_per_kw,
        demand_interval_s=demand.interval_s,
        carbon_eur_per_tonne=scenario.carbon.eur_per_tonne,
        eur_per_hour=revenue.eur_per_hour,
        class_prices=revenue.class_prices(),
        account_factors=revenue.accounts,
        qos_factors=revenue.qos,
        demand_so_far_kw=_so_far_kw(scenario, day, state),
        battery=_battery(scenario, state),
        carbon_weight_eur_per_tonne=scenario.goal.carbon_weight,
    )


def _so_far_kw(scenario: Scenario, day: dt.date, state: SiteState | None) -> float:
    """The peak that is charged already: that of the month so far, where the month is what is charged."""
    if scenario.demand.period == "day":
        return 0.0
    if state is None:
        return scenario.demand.peak_kw
    return state.peak_kw if state.is_of_month(day) else 0.0


def _battery(scenario: Scenario, state: SiteState | None) -> Battery | None:
    chosen = scenario.battery
    if not chosen.capacity_kwh:
        return None
    held = chosen.start_fraction * chosen.capacity_kwh
    if state is not None and state.battery_kwh is not None:
        held = min(state.battery_kwh, chosen.capacity_kwh)
    return Battery(
        chosen.capacity_kwh, chosen.power_kw, chosen.efficiency, held, chosen.end_fraction * chosen.capacity_kwh
    )
