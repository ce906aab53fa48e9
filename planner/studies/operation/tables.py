"""The tables of the study: money and waiting by group, the parts of re-planning, and all groups at a glance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from planner.pages.formats import hours, percent, plain, signed_percent
from planner.pages.grid import Column
from planner.runs.figures import Row
from planner.studies.operation.cells import ABLATED_H, AS_IS, CHANGES, KNOWN, MAX_DELAYS_H, OVERLOAD, REPLAN, STATIC
from planner.studies.report import StudyTable as Table

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
    """A policy in words: ``replan, 6 h, without repair``."""
    told = STATIC_WORDS.get(row["policy"]) or str(row["policy"])
    if row["max_delay_h"] is not None:
        told += f", {row['max_delay_h']} h"
    if row["waiting_core_hours"] is not None:
        told += f", an hour of waiting counts {row['waiting_core_hours']} core-hours"
    return told + (f", {row['change']}" if row["change"] else "")


def group_tables(rows: Sequence[Row]) -> list[Table]:
    """Money and waiting of the policies of one group, one row per policy."""
    title = group_title(rows[0])
    money = [each for each in MONEY if any(each.text(row) for row in rows)]
    return [
        _table(f"Money and energy: {title}; {rows[0]['days']} calendar days, {rows[0]['jobs']:,} jobs", money, rows),
        _table(f"Waiting and fairness: {title}", WAITING, rows),
    ]


def glance_table(groups: Sequence[Sequence[Row]]) -> Table:
    """One row per group: EASY's energy cost, and what re-planning saves of it by promise, of what the bound allows."""
    columns = [Column("site, tariff, load", number=False), Column("EASY's energy cost", "EUR")]
    columns += [Column(f"promise {each} h", "saved of limit; wait") for each in MAX_DELAYS_H]
    lines = []
    for rows in groups:
        whole = {row["max_delay_h"]: row for row in rows if _is_whole(row, "requested")}
        cost = next(row["energy_cost_eur"] for row in rows if row["policy"] == "easy")
        cells = [_saved_words(whole.get(each), cost) for each in MAX_DELAYS_H]
        lines.append((group_title(rows[0]), plain(cost, 2), *cells))
    title = "Re-planning on requested times: saved of EASY's energy cost, limit for the same promises, mean wait added"
    return Table(title, tuple(columns), tuple(lines))


def parts_table(rows: Sequence[Row]) -> Table | None:
    """What each part of re-planning does: saved and mean wait with it left out or added; None without such rows."""
    if not any(row["change"] for row in rows):
        return None
    columns = [Column("", number=False)]
    columns += [Column(f"promise {each} h", unit) for each in ABLATED_H for unit in ("saved", "mean wait", "broken")]
    lines: list[tuple[str, list[Row | None]]] = []
    for words, estimate, change in (
        ("as by default", "requested", ""),
        *((change, "requested", change) for change in CHANGES),
        ("with predicted runtimes (last2)", "last2", ""),
        ("with real runtimes, as if known", KNOWN, ""),
    ):
        lines.append((words, [_replanned(rows, each, estimate, change) for each in ABLATED_H]))
    for name in STATIC:
        static = next((row for row in rows if row["policy"] == name), None)
        lines.append((STATIC_WORDS[name], [static] * len(ABLATED_H)))
    told = [(words, *(text for row in found for text in _part_words(row))) for words, found in lines if any(found)]
    return Table(f"What each part of re-planning does: {group_title(rows[0])}", tuple(columns), tuple(told))


def days_table(rows: Sequence[Row]) -> Table | None:
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
    return Table(
        f"Profit from the first day to the end of each: {group_title(rows[0])}", tuple(columns), tuple(lines)
    )


def groups_of(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each group, in the order of the table."""
    groups: dict[tuple[str, str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault((row["site"], row["tariff"], row["load"]), []).append(row)
    return list(groups.values())


def _table(title: str, figures: Sequence[Figure], rows: Sequence[Row]) -> Table:
    columns = (Column("policy", number=False), *(Column(each.title, each.unit) for each in figures))
    lines = [(f"{policy_words(row)} ({row['estimate']})", *(each.text(row) for each in figures)) for row in rows]
    return Table(title, columns, tuple(lines))


def _is_whole(row: Row, estimate: str) -> bool:
    is_default = not row["change"] and row["waiting_core_hours"] is None
    return bool(row["policy"] == REPLAN and row["estimate"] == estimate and is_default)


def _replanned(rows: Sequence[Row], max_delay_h: int, estimate: str, change: str) -> Row | None:
    wanted = (REPLAN, max_delay_h, estimate, change, None)
    keys = ("policy", "max_delay_h", "estimate", "change", "waiting_core_hours")
    return next((row for row in rows if tuple(row[key] for key in keys) == wanted), None)


def _saved_words(row: Row | None, cost_eur: float) -> str:
    if row is None:
        return ""
    limit = "" if row["bound_saves_eur"] is None else percent(row["bound_saves_eur"] / cost_eur)
    saved = percent(row["saved_percent"] / 100)
    return f"{saved} of {limit}; {hours(row['added_wait_s'])}" if limit else f"{saved}; {hours(row['added_wait_s'])}"


def _part_words(row: Row | None) -> tuple[str, str, str]:
    if row is None:
        return "", "", ""
    broken = row["broken_promises"]
    return percent(row["saved_percent"] / 100), hours(row["mean_wait_s"]), "" if broken is None else plain(broken)


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
    Figure("share of the limit", "own promises", _share("share_of_bound")),
    Figure("share of the limit", "EASY's starts", _share("share_of_easy_bound")),
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
    Figure("jobs delayed", "", _number("delayed_jobs")),
    Figure("longest delay", "", _duration("longest_delay_s")),
    Figure("promises broken", "jobs", _number("broken_promises")),
    Figure("time", "s of CPU", _number("cpu_s", 1)),
)
