"""What a comparison says of runs: their rows, sums and savings; and one held against another, up to an answer in words.

Scenarios are compared like with like: EASY with EASY, a method's plans with the same method's. Where machine and jobs
are the same, the schedule of one is settled under the rules of the other. What that changes is the scenario's own
doing; the rest comes from other start times and from more or less work within the days.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from planner.accounting.settle import settle
from planner.domain.day_summary import DaySummary
from planner.domain.horizon import Horizon
from planner.domain.ledger import Totals
from planner.domain.situation import SiteState
from planner.inputs.build import frame
from planner.inputs.prices import rates_of
from planner.scenario.schema import Scenario
from planner.store.read_day import WrittenDay
from planner.units import clock, rounded

Row = dict[str, Any]
Sums = Mapping[str, float]

TOTALS = (
    "profit_eur",
    "revenue_eur",
    "energy_cost_eur",
    "it_cost_eur",
    "cooling_cost_eur",
    "carbon_cost_eur",
    "demand_cost_eur",
    "it_kwh",
    "cooling_kwh",
    "bought_kwh",
    "solar_kwh",
    "fed_kwh",
    "curtailed_kwh",
    "discharged_kwh",
    "fees_eur",
    "feed_in_eur",
    "battery_eur",
    "asleep_h",
    "carbon_kg",
    "core_hours",
)
"""Columns that are taken from the totals of a summary, and add up over days."""

JOBS = ("started", "finished", "rejected", "missed_deadlines")
"""Counts that add up over days."""

STANDING = ("running", "deferred")
"""Counts that stand at the end of a day."""

SAVINGS = ("saved_eur", "saved_percent", "saved_volume_eur", "saved_energy_cost_eur", "saved_kwh", "saved_carbon_kg")
"""What a run saves against EASY of the same scenario; volume: what of it is other work within the days."""


def day_rows(names: Mapping[str, str], summaries: Sequence[DaySummary]) -> list[Row]:
    """One row per day: ``names`` such as scenario and method, then the figures of its summary."""
    rows = []
    for summary in summaries:
        rows.append(
            {**names, "day": summary.day.isoformat()}
            | {name: getattr(summary.totals, name) for name in TOTALS}
            | {"pue": summary.totals.pue, "utilisation_fraction": summary.utilisation_fraction}
            | {name: getattr(summary.jobs, name) for name in (*JOBS, *STANDING)}
            | {"bound_eur": summary.profit_bound_eur, "gap_fraction": summary.profit_gap_fraction}
            | {"status": summary.status}
        )
    return rows


def run_row(names: Mapping[str, str], summaries: Sequence[DaySummary]) -> Row:
    """The sums of a run; its makespan is from the start of its first day to the end of its last job."""
    horizons = [summary.horizon for summary in summaries]
    ends = [h.start_unix + s.last_end_s for h, s in zip(horizons, summaries, strict=True) if s.last_end_s]
    last_end_unix = max(ends, default=horizons[0].start_unix)
    return sum_row(names, day_rows(names, summaries), horizons, last_end_unix)


def sum_row(names: Mapping[str, str], rows: Sequence[Row], horizons: Sequence[Horizon], last_end_unix: int) -> Row:
    """The sums of the rows of days."""
    sums = {name: round(math.fsum(row[name] for row in rows), 6) for name in TOTALS}
    hours = math.fsum(horizon.length_s for horizon in horizons)
    used = math.fsum(row["utilisation_fraction"] * h.length_s for row, h in zip(rows, horizons, strict=True))
    bounds = [row["bound_eur"] for row in rows]
    return (
        {**names, "days": len(rows)}
        | sums
        | {
            "kwh": round(sums["it_kwh"] + sums["cooling_kwh"], 6),
            "pue": round(1 + sums["cooling_kwh"] / sums["it_kwh"], 6) if sums["it_kwh"] else 1.0,
            "utilisation_fraction": round(used / hours, 6),
            "makespan_h": round((last_end_unix - horizons[0].start_unix) / 3600, 3),
        }
        | {name: sum(row[name] for row in rows) for name in JOBS}
        | {name: rows[-1][name] for name in STANDING}
        | {"bound_eur": round(math.fsum(bounds), 6) if all(bound is not None for bound in bounds) else None}
        | {"days_without_plan": sum(row["status"] == "nothing" for row in rows)}
    )


def cents(value: float) -> float:
    return round(value, 2) + 0.0


def volume_eur(base: Sums, other: Sums) -> float:
    """What more or less work within the days brings, at what core-hours earn in each and cost in the base."""
    hours = base["core_hours"]
    each = (base["revenue_eur"] - base["profit_eur"]) / hours if hours else 0.0
    return cents(other["revenue_eur"] - base["revenue_eur"] - each * (other["core_hours"] - hours))


def with_saving(row: Row, easy: Row | None) -> Row:
    """A run with what it saves against EASY: positive is better; None where there is no EASY to compare with."""
    if easy is None:
        return row | dict.fromkeys(SAVINGS)
    more = row["profit_eur"] - easy["profit_eur"]
    saved = {
        "saved_eur": more,
        "saved_percent": 100 * more / abs(easy["profit_eur"]) if easy["profit_eur"] else None,
        "saved_volume_eur": volume_eur(easy, row),
        **{f"saved_{name}": easy[name] - row[name] for name in ("energy_cost_eur", "kwh", "carbon_kg")},
    }
    return row | {name: None if value is None else rounded(value) for name, value in saved.items()}


def with_difference(row: Row, base: Row | None) -> Row:
    """A run with what it earns more than the baseline, in money and in percent of the baseline's profit."""
    if base is None:
        return row | {"profit_difference_eur": None, "profit_difference_percent": None}
    more = row["profit_eur"] - base["profit_eur"]
    percent = 100 * more / abs(base["profit_eur"]) if base["profit_eur"] else None
    return row | {
        "profit_difference_eur": rounded(more),
        "profit_difference_percent": None if percent is None else rounded(percent),
    }


YEAR_DAYS = 365.25
WHOLE_YEAR = 365
"""From so many days on an answer is told as that of a year."""

SETTLED = {
    "cooling": "cooling",
    "weather": "weather",
    "tariff": "tariff",
    "fees": "fees",
    "demand": "demand charge",
    "solar": "photovoltaics",
    "feed_in": "feed-in",
    "battery": "battery",
    "carbon": "carbon",
    "revenue": "prices of work",
}
"""Sections that can change what a schedule comes to, in words."""


def _ground(scenario: Scenario) -> dict[str, object]:
    """What a schedule is made of and must keep, in words: the jobs, where they may run, and the rules of it."""
    cluster = scenario.cluster
    return {
        "jobs": scenario.jobs,
        "power of jobs": scenario.power,
        "nodes": [(each.name, each.count, dict(each.capacity), each.nodes) for each in cluster.classes],
        "power limit": cluster.power_limit_w,
        "partitions": cluster.partitions,
        "nodes out of service": scenario.outages,
        "rules": scenario.rules,
        "time zone": scenario.zone,
        "seed": scenario.seed,
    }


def _settled(scenario: Scenario) -> dict[str, object]:
    """What can change what a schedule comes to, in words."""
    idle = [(each.name, each.idle_w, each.sleep_w) for each in scenario.cluster.classes]
    sections = {words: getattr(scenario, name) for name, words in SETTLED.items()}
    return sections | {"node sleep and idle power": (idle, scenario.cluster.idle_rule)}


def same_ground(one: Scenario, other: Scenario) -> bool:
    """Whether a schedule of one scenario is one of the other, too: the same jobs, nodes, limits and rules."""
    return _ground(one) == _ground(other)


def what_differs(one: Scenario, other: Scenario) -> str:
    """In what two scenarios differ, in words."""
    before, after = (_ground(each) | _settled(each) for each in (one, other))
    found = [words for words in before if before[words] != after[words]]
    return ", ".join(found) or ("goal" if one.goal != other.goal else "scenario")


def settled_under(scenario: Scenario, days: Sequence[WrittenDay]) -> list[tuple[dt.date, Totals]]:
    """What written days come to under another scenario, with their schedules as they are."""
    settled, state = [], None
    for day in days:
        horizon = day.happened.horizon
        empty, _ = frame(scenario, horizon)
        rates = rates_of(scenario, horizon.day, state)
        problem = replace(day.happened, cluster=empty.cluster, segments=empty.segments, table=empty.table, rates=rates)
        ledger = settle(problem, day.plan)
        state = SiteState.after(horizon.day, rates, ledger)
        settled.append((horizon.day, ledger.totals))
    return settled


def pair_of(
    base: Row, other: Row, days: Sequence[Row], under: Sums | None, scenarios: tuple[Scenario, Scenario]
) -> Row:
    """One run less another: the difference in profit, its parts, its range over the days, and what a year comes to.

    ``days`` are the rows of the days of all runs. ``under`` are the sums of the base's schedule under the other's
    scenario; None where that is not one of its schedules. ``scenarios`` are those of the two.
    """
    total = cents(other["profit_eur"] - base["profit_eur"])
    found: Row = {
        "scenario": other["scenario"],
        "method": other["method"],
        "kind": other["kind"],
        "against_scenario": base["scenario"],
        "against_method": base["method"],
        "days": other["days"],
        "differs_in": "" if scenarios[0] is scenarios[1] else what_differs(*scenarios),
        "more_eur": total,
        "same_schedule_eur": None,
        "start_times_eur": None,
        "volume_eur": None,
        "revenue_more_eur": cents(other["revenue_eur"] - base["revenue_eur"]),
        "wait_more_s": _less(other["mean_wait_s"], base["mean_wait_s"]),
    }
    if under is not None:
        own = cents(under["profit_eur"] - base["profit_eur"])
        volume = volume_eur(under, other)
        found |= {"same_schedule_eur": own, "volume_eur": volume, "start_times_eur": cents(total - own - volume)}
    dates = [day["day"] for day in days if _key(day) == _key(other)]
    year = _year_of(other, scenarios[1], dates) - _year_of(base, scenarios[0], dates)
    return found | _range(base, other, days) | {"year_eur": cents(year)}


def _key(run: Row) -> tuple[str, str, str]:
    return run["scenario"], run["method"], run["kind"]


def _year_of(run: Row, scenario: Scenario, dates: Sequence[str]) -> float:
    """The profit of a year like the days of a run: a charge on peaks of months is paid twelve times."""
    monthly: float = run["demand_cost_eur"] if scenario.demand.period == "month" else 0.0
    by_day: float = run["profit_eur"] + monthly
    months = {date[:7] for date in dates}
    return by_day / len(dates) * YEAR_DAYS - monthly / len(months) * 12


def _range(base: Row, other: Row, days: Sequence[Row]) -> Row:
    """The days with the lowest, the middle and the highest difference."""

    def profits(run: Row) -> dict[str, float]:
        return {day["day"]: day["profit_eur"] for day in days if _key(day) == _key(run)}

    before, after = profits(base), profits(other)
    more = sorted((cents(after[day] - before[day]), day) for day in before if day in after)
    return {
        "lowest_day_eur": more[0][0],
        "lowest_day": more[0][1],
        "median_day_eur": cents(median(each for each, _ in more)),
        "highest_day_eur": more[-1][0],
        "highest_day": more[-1][1],
    }


def with_members(pair: Row, members: Sequence[Row]) -> Row:
    """A pair with its range over the members of a forecast that both runs have."""

    def profits(scenario: str, method: str) -> dict[tuple[str, str], float]:
        own = [row for row in members if (row["scenario"], row["method"]) == (scenario, method)]
        return {(row["forecast"], row["member"]): row["profit_eur"] for row in own if row["forecast"] != "mean"}

    before = profits(pair["against_scenario"], pair["against_method"])
    after = profits(pair["scenario"], pair["method"])
    more = [cents(after[each] - before[each]) for each in before if each in after]
    low, high = (min(more), max(more)) if more else (None, None)
    return pair | {"members": len(more), "lowest_member_eur": low, "highest_member_eur": high}


def with_payback(pair: Row, invest_eur: float) -> Row:
    """A pair with the years after which an investment has paid; None where it never does."""
    years = invest_eur / pair["year_eur"] if pair["year_eur"] > 0 else None
    return pair | {"invest_eur": invest_eur, "payback_years": None if years is None else round(years, 1)}


def answer_of(pairs: Sequence[Row], currency: str, invest_eur: float | None) -> list[str]:
    """What the pairs say, in a sentence for each scenario that is held against another, or for the methods of one."""
    if not pairs:
        return []
    if all(pair["scenario"] == pair["against_scenario"] for pair in pairs):
        return [_against_easy(pairs, currency)]
    by_scenario: dict[str, list[Row]] = {}
    for pair in pairs:
        by_scenario.setdefault(pair["scenario"], []).append(pair)
    return [_against_scenario(group, currency, invest_eur) for group in by_scenario.values()]


def _against_scenario(group: Sequence[Row], currency: str, invest_eur: float | None) -> str:
    easy = next((pair for pair in group if (pair["kind"], pair["method"]) == ("policy", "easy")), None)
    planned = next((pair for pair in group if pair["kind"] == "plan"), None)
    told = [pair for pair in (easy, planned) if pair is not None]
    first, days = told[0], group[0]["days"]
    per, when = ("year_eur", " a year") if days >= WHOLE_YEAR else ("more_eur", f" over {_days(days)}")
    how = "with the same schedule" if first["same_schedule_eur"] == first["more_eur"] else "under EASY"
    if first is planned:
        how = f"with plans made for it ({first['method']})"
    than = "than" if first[per] else "as"
    sentence = f"{first['scenario']} {_told(first, per, currency)} {than} {first['against_scenario']}{when} {how}"
    for pair in told[1:]:
        is_same = pair["more_eur"] == first["more_eur"]
        more = "as" if is_same else f"and {_told(pair, per, currency)}"
        sentence += f", {more} with plans made for it ({pair['method']})"
    if per == "more_eur":
        years = dict.fromkeys(_year(pair["year_eur"], currency) for pair in told)
        sentence += f"; a year like this: {' and '.join(years)}"
    if invest_eur is not None:
        paid = dict.fromkeys(_years(pair["payback_years"]) for pair in told)
        sentence += f"; payback of {_money(invest_eur, currency, 0)}: {' and '.join(paid)}"
    return f"{sentence}."


def _against_easy(pairs: Sequence[Row], currency: str) -> str:
    days = pairs[0]["days"]
    parts = []
    for pair in pairs:
        value = pair["more_eur"]
        words = f"{pair['method']} earns {_money(abs(value), currency)} {'more' if value > 0 else 'less'} than EASY"
        if not value:
            words = f"{pair['method']} earns as much as EASY"
        if pair["wait_more_s"] is not None and abs(pair["wait_more_s"]) >= 60:
            longer = "longer" if pair["wait_more_s"] > 0 else "less long"
            words += f" and jobs wait {clock(abs(pair['wait_more_s']))} {longer} on average"
        parts.append(words)
    return f"Over {_days(days)} on the same jobs, {'; '.join(parts)}."


def _told(pair: Row, per: str, currency: str) -> str:
    """A difference in words: of money that is earned, or of cost where the same work is billed."""
    value = pair[per]
    verb = "earns" if pair["revenue_more_eur"] else "costs"
    if not value:
        return f"{verb} as much"
    return f"{verb} {_money(abs(value), currency)} {'more' if (verb == 'earns') == (value > 0) else 'less'}"


def _year(value: float, currency: str) -> str:
    """What a year gains or loses: it may do the one where the days do the other, as a month's peak is paid in days."""
    return _money(abs(value), currency) + (" gained" if value > 0 else " lost" if value < 0 else "")


def _years(years: float | None) -> str:
    return "never" if years is None else f"{years:,.1f} years"


def _days(days: int) -> str:
    return f"{days} day{'s' if days > 1 else ''}"


def _money(value: float, currency: str, digits: int = 2) -> str:
    return f"{value:,.{digits}f} {currency}"


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else round(one - other, 1)
