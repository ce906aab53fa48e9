"""The tables of the study: money and waiting by group, and all groups at a glance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from planner.pages.markup import Column, hours, percent, plain, signed_percent
from planner.runs.figures import Row
from planner.studies.operation.cells import AS_IS, HOLD, MAX_DELAYS_H, OVERLOAD
from planner.studies.report import StudyTable

SITES = {"curie": "CEA Curie", "sample": "Sample site"}
TARIFFS = {
    "fr-2012": "French prices of 2012",
    "de-2021": "German prices of 2021",
    "de-2022": "German prices of 2022",
    "flat": "flat tariff",
    "bands": "made-up hourly prices",
}
STATIC_WORDS = {"static": "day plans", "static-ahead": "day plans, the day known ahead"}


@dataclass(frozen=True)
class Figure:
    """A column: its heading and unit, and how it is read off a row."""

    title: str
    unit: str
    text: Callable[[Row], str]


def group_title(row: Row) -> str:
    """A group in words."""
    load = f"load {row['load_fraction']:.2f}" + (" as it is" if row["load"] == AS_IS else "")
    return f"{SITES[row['site']]}, {TARIFFS[row['tariff']]}, {load}"


def policy_words(row: Row) -> str:
    """A policy in words: ``hold, 6 h``."""
    told = STATIC_WORDS.get(row["policy"]) or str(row["policy"])
    return told if row["max_delay_h"] is None else f"{told}, {row['max_delay_h']} h"


def group_tables(rows: Sequence[Row]) -> list[StudyTable]:
    """Money and waiting of the policies of one group, one row per policy."""
    title = group_title(rows[0])
    money = [each for each in MONEY if any(each.text(row) for row in rows)]
    return [
        _table(f"Money and energy: {title}; {rows[0]['days']} calendar days, {rows[0]['jobs']:,} jobs", money, rows),
        _table(f"Waiting and fairness: {title}", WAITING, rows),
    ]


def glance_table(groups: Sequence[Sequence[Row]]) -> StudyTable:
    """One row per group: EASY's energy cost, and what holding saves of it by promise, of what the bound allows."""
    columns = [Column("site, tariff, load", number=False), Column("EASY's energy cost", "EUR")]
    columns += [Column(f"promise {each} h", "saved of limit; wait") for each in MAX_DELAYS_H]
    lines = []
    for rows in groups:
        whole = {row["max_delay_h"]: row for row in rows if (row["policy"], row["estimate"]) == (HOLD, "requested")}
        cost = next(row["energy_cost_eur"] for row in rows if row["policy"] == "easy")
        cells = [_saved_words(whole.get(each), cost) for each in MAX_DELAYS_H]
        lines.append((group_title(rows[0]), plain(cost, 2), *cells))
    title = "Holding on requested times: saved of EASY's energy cost, limit, mean wait added"
    return StudyTable(title, tuple(columns), tuple(lines))


def days_table(rows: Sequence[Row]) -> StudyTable | None:
    """On an overloaded machine, what each policy has earned by the end of each day against EASY; None elsewhere."""
    if rows[0]["load_fraction"] < OVERLOAD:
        return None
    earned = [list(accumulate(map(float, str(row["profit_by_day_eur"]).split(";")))) for row in rows]
    easy = earned[next(place for place, row in enumerate(rows) if row["policy"] == "easy")]
    columns = [Column("policy", number=False), *(Column(f"day {day + 1}", "against EASY") for day in range(len(easy)))]
    lines = [
        (
            f"{policy_words(row)} ({row['estimate']})",
            *(signed_percent(a / b - 1) for a, b in zip(own, easy, strict=True)),
        )
        for row, own in zip(rows, earned, strict=True)
    ]
    return StudyTable(
        f"Profit from the first day to the end of each: {group_title(rows[0])}", tuple(columns), tuple(lines)
    )


def groups_of(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each group, in the order of the table."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["site"], row["tariff"], row["load"]), []).append(row)
    return list(groups.values())


def _table(title: str, figures: Sequence[Figure], rows: Sequence[Row]) -> StudyTable:
    columns = (Column("policy", number=False), *(Column(each.title, each.unit) for each in figures))
    lines = [(f"{policy_words(row)} ({row['estimate']})", *(each.text(row) for each in figures)) for row in rows]
    return StudyTable(title, columns, tuple(lines))


def _saved_words(row: Row | None, cost_eur: float) -> str:
    if row is None:
        return ""
    limit = "" if row["bound_saves_eur"] is None else percent(row["bound_saves_eur"] / cost_eur)
    saved = percent(row["saved_percent"] / 100)
    return f"{saved} of {limit}; {hours(row['added_wait_s'])}" if limit else f"{saved}; {hours(row['added_wait_s'])}"


def _number(key: str, digits: int = 0) -> Callable[[Row], str]:
    return lambda row: "" if row[key] is None else plain(row[key], digits)


def _share(key: str, part: float = 1.0) -> Callable[[Row], str]:
    return lambda row: "" if row[key] is None else percent(row[key] / part)


def _duration(key: str) -> Callable[[Row], str]:
    return lambda row: "" if row[key] is None else hours(row[key])


MONEY = (
    Figure("profit", "EUR", _number("profit_eur", 2)),
    Figure("revenue", "EUR", _number("revenue_eur", 2)),
    Figure("energy cost", "EUR", _number("energy_cost_eur", 2)),
    Figure("saved against EASY", "EUR", _number("saved_eur", 2)),
    Figure("saved", "of EASY's", _share("saved_percent", 100)),
    Figure("limit on the saving", "EUR", _number("bound_saves_eur", 2)),
    Figure("share of the limit", "", _share("share_of_bound")),
    Figure("IT", "kWh", _number("it_kwh")),
    Figure("cooling", "kWh", _number("cooling_kwh")),
    Figure("CO2", "kg", _number("carbon_kg")),
    Figure("in use", "submission days", _share("utilisation_fraction")),
    Figure("profit", "EUR, submission days", _number("submitted_days_profit_eur", 2)),
    Figure("over EASY", "submission days", _share("submitted_days_over_easy_percent", 100)),
)
WAITING = (
    Figure("mean wait", "", _duration("mean_wait_s")),
    Figure("added to EASY's", "", _duration("added_wait_s")),
    Figure("95 % wait less than", "", _duration("wait95_s")),
    Figure("longest wait", "", _duration("longest_wait_s")),
    Figure("bounded slowdown", "", _number("bsld", 2)),
    Figure("AWF", "", _duration("awf_s")),
    Figure("P2SF", "", _duration("p2sf_s")),
    Figure("held", "jobs", _number("held_jobs")),
    Figure("longest hold", "", _duration("longest_hold_s")),
    Figure("held too long", "jobs", _number("broken_promises")),
    Figure("time", "s of CPU", _number("cpu_s", 1)),
)
