"""One run held against another: what the difference is made of, over which range it lies, and the answer in words.

Scenarios are compared like with like: EASY with EASY, a method's plans with the same method's. Where machine and jobs
are the same, the schedule of one is settled under the rules of the other. What that changes is the scenario's own
doing; the rest comes from other start times and from more or less work within the days.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from planner.accounting.settle import settle
from planner.domain.ledger import Totals
from planner.domain.situation import SiteState
from planner.inputs.build import frame, rates_of
from planner.runs.compare_columns import Row, Sums, cents, volume_eur
from planner.scenario.schema import Scenario
from planner.store.read_day import WrittenDay
from planner.units import clock

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
    "cluster": "node sleep and idle power",
    "revenue": "prices of work",
}
"""Sections that can change what a schedule comes to, in words."""


def same_ground(one: Scenario, other: Scenario) -> bool:
    """Whether a schedule of one scenario is one of the other, too: the same jobs on the same nodes."""

    def told(scenario: Scenario) -> tuple[object, ...]:
        nodes = [(each.name, each.count, dict(each.capacity), each.nodes) for each in scenario.cluster.classes]
        ways = scenario.rules.execute, scenario.outages, scenario.zone, scenario.seed
        return scenario.jobs, scenario.power, nodes, *ways

    return told(one) == told(other)


def what_differs(one: Scenario, other: Scenario) -> str:
    """In which of the sections that are settled two scenarios differ, in words."""
    found = [words for name, words in SETTLED.items() if getattr(one, name) != getattr(other, name)]
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
        mixed = any(pair["year_eur"] > 0 for pair in told) and any(pair["year_eur"] < 0 for pair in told)
        years = dict.fromkeys(_year(pair["year_eur"], currency, mixed) for pair in told)
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


def _year(value: float, currency: str, mixed: bool) -> str:
    """What a year comes to; said to be gained or lost where some of the runs gain and some lose."""
    return _money(abs(value), currency) + ((" gained" if value > 0 else " lost") if mixed else "")


def _years(years: float | None) -> str:
    return "never" if years is None else f"{years:,.1f} years"


def _days(days: int) -> str:
    return f"{days} day{'s' if days > 1 else ''}"


def _money(value: float, currency: str, digits: int = 2) -> str:
    return f"{value:,.{digits}f} {currency}"


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else round(one - other, 1)
