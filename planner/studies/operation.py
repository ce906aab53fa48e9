"""The study of daily operation: weeks of real jobs with real runtimes and prices, some jobs held for cheaper hours."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from planner.errors import InputError
from planner.limits import Bounds
from planner.pages.markup import Column, Html, hours, percent, plain
from planner.pages.scatter import Axis, Point, Series, scatter
from planner.places import data_folder
from planner.runs.compare_results import Row
from planner.studies.operation_replays import (
    PARTS,
    SAMPLE,
    TRACES,
    limit_figures,
    moved_prices,
    week_figures,
)
from planner.studies.report import Shown, StudyReport, StudySection, StudyTable, grouped, numbers, table_of, words
from planner.studies.study import Study, StudyCell, option, require_known

TUNED = ("2012-03-05", "2012-03-26", "2012-04-16", "2012-05-21", "2012-07-09")
UNSEEN = ("2012-04-02", "2012-05-07", "2012-06-25", "2012-07-16", "2012-08-20", "2012-08-27")
"""Mondays of Curie's weeks: what defaults were tuned on, and what was named before that and never tuned on."""

OTHERS = (("hpc2n", "2003-03-10"), ("blue", "2001-05-07"))
BUSY_WEEK = "2012-08-20"
MAX_DELAYS_H, FEW_H = (0, 2, 6, 12, 24), (6, 24)
TARIFFS = {"fr-2012": "French prices of 2012", "de-2021": "German of 2021", "de-2022": "German of 2022"}
TARIFFS |= {"flat": "flat, with flat cooling", "bands": "made-up hourly prices"}
LOADS, OVERLOADS = (0.7, 0.9), (1.1, 1.45)
PREDICTED, KNOWN = "requested", "actual"
LITTLE_WAIT_S = 15 * 60
OVERLOAD = 1.0
GROUP = ("week", "tariff", "load_asked")
HOUR_S = 3600.0


@dataclass(frozen=True)
class Held:
    """One cell: a week of a site at a tariff and a load, and how jobs are held on it."""

    site: str
    first: str
    hours: int
    tariff: str = "fr-2012"
    load: float | None = None
    estimate: str = PREDICTED
    repeat: int = 0
    without: str = ""

    @property
    def group(self) -> str:
        """The week, tariff and load, such as ``curie-2012-04-02/fr-2012/as-is``."""
        return f"{self.site}-{self.first}/{self.tariff}/{'as-is' if self.load is None else self.load}"

    @property
    def name(self) -> str:
        """Its name, such as ``curie-2012-04-02/fr-2012/as-is/6h/requested/0``."""
        part = f"/without {self.without}" if self.without else ""
        return f"{self.group}/{self.hours}h/{self.estimate}/{self.repeat}{part}"


def all_cells(repeats: int) -> list[Held]:
    """Every week with every promise; parts, tariffs and loads on some weeks that were never tuned on.

    On weeks never tuned on, promises of 6 and 24 h are repeated.
    """
    found = []
    for site, first in (*(("curie", first) for first in (*UNSEEN, *TUNED)), *OTHERS):
        times = 1 if site == "curie" and first in TUNED else repeats
        found += [Held(site, first, each) for each in MAX_DELAYS_H if each not in FEW_H]
        found += [Held(site, first, each, estimate=of, repeat=k)
                  for of in (PREDICTED, KNOWN) for each in FEW_H for k in range(times)]  # fmt: skip
        found.append(Held(site, first, 24, "flat"))
    for first in UNSEEN[2:5]:
        found += [Held("curie", first, each, without=part) for each in FEW_H for part in PARTS if part]
    for tariff in ("de-2021", "de-2022"):
        found += [Held("curie", first, each, tariff, repeat=k)
                  for first in (UNSEEN[3], BUSY_WEEK) for each in FEW_H for k in range(repeats)]  # fmt: skip
    for load in (*LOADS, *OVERLOADS):
        found += [Held("curie", BUSY_WEEK, each, load=load, repeat=k) for each in FEW_H for k in range(repeats)]
    found += [Held("curie", BUSY_WEEK, 0, load=load) for load in OVERLOADS]
    found += [Held(SAMPLE, "2024-06-03", each, "bands", load=0.7) for each in (0, *FEW_H)]
    return found


@dataclass(frozen=True, kw_only=True)
class OperationStudy(Study):
    """Weeks of real jobs under EASY, and with jobs held for cheaper hours for up to 24 h.

    Every replay has the runtimes that jobs really had, and is settled on what happened. Beside it stands what no
    schedule saves more of whose jobs start within so many hours of EASY's, with all known ahead.

    Without any data: plan study operation --sites sample
    """

    name = "operation"
    title = "Daily operation: what holding jobs saves, and what it costs in waiting"
    reading = (
        "A promise of 6 h: no job is held for more than 6 h in all, from the first moment at which the scheduler would"
        " have started it. The limit is proven: with all jobs, runtimes and prices known ahead, no schedule in which"
        " every job starts within 6 h of its start under EASY saves more. Figures with a spread are means over repeats"
        " in which every submission is moved by up to 60 s, and their standard deviation; limits are of the first.",
        "Predicted: EASY believes the times that jobs ask for, and holds are decided on how long jobs of the same user"
        " lasted that had ended by then. Known: both know how long every job runs. Eight days before each week run"
        " under EASY. Prices of another year are those of the same calendar day and hour. At another load all real and"
        " requested times are longer or shorter by one factor.",
    )
    sites: tuple[str, ...] = option((*TRACES, SAMPLE), "names", "By commas.", "--sites")
    only: tuple[str, ...] = option(
        (), "texts", "Cells whose names fit, such as 'curie-2012-04-02/fr-2012/as-is/6h/*'; may be repeated.",
        metavar="PATTERN",
    )  # fmt: skip
    repeats: int = option(5, "number", "With submissions moved, on weeks never tuned on.", bounds=Bounds(1, 50))
    bound_time: float = option(600.0, "time", "For each limit, at most.")
    bounds: bool = option(True, "flag", "Whether limits are worked out.", "--bounds/--no-bounds")
    data: Path | None = option(None, "path", "Folder of traces and prices; default PLANNER_DATA.", metavar="DIR")

    def __post_init__(self) -> None:
        require_known("site", self.sites, (*TRACES, SAMPLE))

    def held(self) -> list[Held]:
        """What is replayed."""
        offered = [each for each in all_cells(self.repeats) if each.site in self.sites]
        taken = [each for each in offered if not self.only or any(fnmatchcase(each.name, one) for one in self.only)]
        if not taken:
            groups = ", ".join(dict.fromkeys(each.group for each in offered))
            raise InputError(
                f"no cell of the study fits {', '.join(self.only)}; write GROUP/HOURS/ESTIMATE/REPEAT such as"
                f" 'curie-2012-04-02/fr-2012/as-is/6h/requested/0', with one of the groups {groups}"
            )
        return taken

    def cells(self) -> list[StudyCell]:
        """Replays week by week, then limits."""
        held = sorted(self.held(), key=lambda each: (each.site, each.first, each.load or 0, each.repeat, each.estimate))
        return [self._replayed(each) for each in held] + self._limits(held)

    def _replayed(self, each: Held) -> StudyCell:
        given = self._given(each) | {"repeat": each.repeat, "estimate": each.estimate, "hours": each.hours}
        labels = self._labels(each) | {"estimate": each.estimate, "repeat": each.repeat, "without": each.without}
        given |= {"without": each.without, "is_flat": each.tariff == "flat"}
        return StudyCell(each.name, labels, week_figures, given)

    def _limits(self, held: Sequence[Held]) -> list[StudyCell]:
        few = [each for each in held if each.hours in FEW_H and each.tariff != "flat" and not each.without]
        wanted = {(each.group, each.hours): each for each in few if each.load not in OVERLOADS}
        if not self.bounds:
            return []
        return [
            StudyCell(
                f"{group}/limit/{each.hours}h",
                self._labels(each),
                limit_figures,
                self._given(each) | {"hours": each.hours, "time_limit_s": self.bound_time},
                kind="limits",
            )
            for (group, _), each in wanted.items()
        ]

    def _labels(self, each: Held) -> Row:
        known = each.first in TUNED and each.site == "curie"
        load = "as it is" if each.load is None else f"{each.load:g}"
        return {
            "site": each.site,
            "week": f"{each.site} {each.first}",
            "tuned_on": known,
            "tariff": each.tariff,
            "load_asked": load,
            "max_delay_h": each.hours,
        }

    def _given(self, each: Held) -> dict[str, Any]:
        first = dt.date.fromisoformat(each.first)
        data = None if each.site == SAMPLE else data_folder(self.data)
        return {
            "site": each.site,
            "trace": None if data is None else data / TRACES[each.site].file,
            "prices": None if data is None else moved_prices(data, each.tariff, first, self.folder / "tables"),
            "first": each.first,
            "load": each.load,
        }

    def report(self, found: Sequence[Row]) -> StudyReport:
        """Shares of the limit, what parts are worth, who starts late, and whether nothing changes where it must not."""
        rows = rows_of(found)
        usual = [row for row in rows if not row["without"] and row["max_delay_h"]]
        changing = [row for row in usual if row["tariff"] != "flat"]
        whole = [row for row in changing if row["estimate"] == PREDICTED and row["load_asked"] == "as it is"]
        sections = [
            StudySection("Money against waiting", [picture(whole), regimes_table(changing)]),
            StudySection("Week by week", [week_table(changing)]),
            StudySection(
                "What each part is worth", [parts_table(rows_of([row for row in found if not row.get("repeat")]))]
            ),
            StudySection("Starts beside EASY's", [late_table(changing)]),
            StudySection("Where nothing may change", [same_table(rows)]),
        ]
        replays = [row for row in found if "held" in row]
        worst = max((row["longest_hold_s"] - row["max_delay_h"] * HOUR_S for row in replays), default=0.0)
        notes = (
            f"{len(replays)} replays audited: every job once, for its real time, on a machine never over-full; the"
            f" longest hold ends {plain(-worst / 60, 1)} min before or at its promise.",
        )
        return StudyReport(rows, {"operation.csv": rows, "replays.csv": replays}, sections, notes)


def rows_of(found: Sequence[Row]) -> list[Row]:
    """One row per week, tariff, load, promise and estimate: means over the repeats, with their spread."""
    limits = {(*(row[name] for name in GROUP), row["max_delay_h"]): row for row in found if "limit_eur" in row}
    rows = []
    names = ("site", "week", "tuned_on", "tariff", "load_asked", "max_delay_h", "estimate", "without")
    for group in grouped([row for row in found if "held" in row], *names):
        saved = [100 * (1 - each["energy_eur"] / each["easy_eur"]) for each in group]
        limit = limits.get((*(group[0][name] for name in GROUP), group[0]["max_delay_h"]))
        most = None if limit is None else 100 * limit["limit_eur"] / limit["easy_eur"]
        easy_s, wait_s = (mean(each[name] for each in group) for name in ("easy_wait_s", "wait_s"))
        row: Row = {name: group[0][name] for name in names} | {"repeats": len(group), "load": group[0]["load"]}
        row |= {"jobs": group[0]["jobs"], "easy_eur": round(mean(each["easy_eur"] for each in group), 4)}
        row |= {"saved_percent": round(mean(saved), 4), "saved_spread": _spread(saved), "limit_percent": _round(most)}
        row |= {"share": _round(mean(saved) / most if most else None)}
        row |= {"share_spread": _round(_spread(saved) / most if most and len(saved) > 1 else None)}
        row |= {"easy_wait_s": round(easy_s, 1), "wait_s": round(wait_s, 1)}
        row |= {"wait_ratio": _round(wait_s / easy_s if easy_s else None)}
        for name in ("wait95_s", "longest_wait_s", "held", "longest_hold_s", "same_starts"):
            row[name] = round(mean(each[name] for each in group), 1)
        for name in ("later_than_allowed", "late_mean_s", "late95_s", "cpu_s"):
            row[name] = round(mean(each[name] for each in group), 3)
        row["latest_s"] = max(each["latest_s"] for each in group)
        rows.append(row)
    return rows


def _spread(values: Sequence[float]) -> float:
    return round(stdev(values), 4) if len(values) > 1 else 0.0


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def regime(row: Row) -> str:
    """How full the machine is, by its load and by what waiting there is under EASY."""
    if row["load"] > OVERLOAD:
        return "overloaded"
    return "little waiting" if row["easy_wait_s"] < LITTLE_WAIT_S else "queued"


def regimes_table(rows: Sequence[Row]) -> StudyTable:
    """Means over the weeks that were never tuned on, by how full the machine is."""
    unseen = [{**row, "regime": regime(row)} for row in rows if not row["tuned_on"] and row["max_delay_h"] in FEW_H]
    lines = []
    for group in grouped(unseen, "regime", "max_delay_h", "estimate"):
        shares = [row["share"] for row in group if row["share"] is not None]
        line: Row = {name: group[0][name] for name in ("regime", "max_delay_h", "estimate")} | {"weeks": len(group)}
        line |= {"saved": mean(row["saved_percent"] for row in group), "share": mean(shares) if shares else None}
        line |= {"easy_wait_s": mean(row["easy_wait_s"] for row in group)}
        line |= {"wait_s": mean(row["wait_s"] for row in group)}
        lines.append(line)
    lines.sort(key=lambda line: (line["regime"], line["max_delay_h"], line["estimate"]))
    columns: list[Shown] = [words("machine", "regime"), numbers("promise", "h", "max_delay_h"), ESTIMATE]
    columns += [numbers("weeks", "", "weeks"), numbers("saved", "%", "saved", 2), SHARE]
    columns += [_hours("EASY's mean wait", "easy_wait_s"), _hours("mean wait", "wait_s")]
    return table_of("Weeks, tariffs and loads that were never tuned on, means", lines, columns)


def week_table(rows: Sequence[Row]) -> StudyTable:
    """Every week with every promise."""
    columns = [*WHAT, TUNED_ON, numbers("saved", "%", "saved_percent", 2), SPREAD, SHARE]
    columns += [_hours("EASY's mean wait", "easy_wait_s"), _hours("mean wait", "wait_s")]
    columns += [_hours("95 % wait less than", "wait95_s"), numbers("time", "s of CPU", "cpu_s", 1)]
    return table_of("Saved of EASY's energy cost", rows, columns)


def parts_table(rows: Sequence[Row]) -> StudyTable:
    """What is saved without each part, on weeks never tuned on; single replays."""
    lines = []
    weeks = {row["week"] for row in rows if row["without"]}
    chosen = [row for row in rows if row["week"] in weeks and row["tariff"] == "fr-2012"]
    chosen = [row for row in chosen if row["load_asked"] == "as it is" and row["max_delay_h"] in FEW_H]
    for group in grouped(chosen, "max_delay_h", "without", "estimate"):
        if group[0]["estimate"] == KNOWN and group[0]["without"]:
            continue
        part = group[0]["without"]
        told = "runtimes known" if group[0]["estimate"] == KNOWN else PARTS[part]
        line: Row = {"part": told, "max_delay_h": group[0]["max_delay_h"], "weeks": len(group)}
        line |= {name: mean(row[name] for row in group) for name in ("saved_percent", "wait_s")}
        lines.append(line)
    lines.sort(key=lambda line: (line["max_delay_h"], line["part"] != PARTS[""]))
    columns: list[Shown] = [numbers("promise", "h", "max_delay_h"), words("holds are decided", "part")]
    columns += [numbers("weeks", "", "weeks"), numbers("saved", "%", "saved_percent", 2), _hours("mean wait", "wait_s")]
    return table_of("The same weeks with one part changed, means of single replays", lines, columns)


def late_table(rows: Sequence[Row]) -> StudyTable:
    """How much later jobs start than under EASY without holds."""
    columns = [*WHAT, numbers("jobs", "", "jobs"), numbers("held", "jobs", "held")]
    columns += [numbers("later than promised", "jobs", "later_than_allowed", 1), _hours("mean", "late_mean_s")]
    columns += [_hours("95 % less than", "late95_s"), _hours("worst", "latest_s")]
    return table_of("Starts against EASY without holds; no job is held for longer than promised", rows, columns)


def same_table(rows: Sequence[Row]) -> StudyTable:
    """Weeks at 0 h and at a flat tariff: as many starts as EASY's as there are jobs."""
    chosen = [row for row in rows if not row["max_delay_h"] or row["tariff"] == "flat"]
    columns = [*WHAT, numbers("jobs", "", "jobs"), numbers("start as under EASY", "jobs", "same_starts")]
    return table_of("No promise, or one price and one temperature at all times: starts are EASY's", chosen, columns)


def picture(rows: Sequence[Row]) -> Html:
    """Money saved against waiting added at the first tariff: a line per week through its promises."""
    series = []
    drawn = [row for row in rows if row["tariff"] == rows[0]["tariff"]]
    prices = f", {TARIFFS[drawn[0]['tariff']]}" if drawn else ""
    for place, group in enumerate(grouped(drawn, "week")):
        colour = f"a{place % 9}"
        points = [
            Point(
                f"{row['max_delay_h']} h",
                (row["wait_s"] - row["easy_wait_s"]) / HOUR_S,
                row["saved_percent"],
                f"{row['week']}, {row['max_delay_h']} h: {row['saved_percent']:.2f} % saved, mean wait"
                f" {hours(row['wait_s'])}, EASY's {hours(row['easy_wait_s'])}",
                colour,
                ring=bool(row["tuned_on"]),
            )
            for row in sorted(group, key=lambda row: int(row["max_delay_h"]))
        ]
        series.append(Series(group[0]["week"], colour, points, joined=True, dashed=bool(group[0]["tuned_on"])))
    return scatter(
        f"Saved against EASY, and what it costs in waiting{prices}; weeks tuned on are dashed",
        series,
        Axis("mean wait added to EASY's", lambda value: hours(value * HOUR_S)),
        Axis("saved of EASY's energy cost", _percent),
        beside=Axis("saved of EASY's energy cost", _percent),
        name="picture",
    )


def _percent(value: float) -> str:
    return percent(value / 100)


def _hours(title: str, key: str) -> Shown:
    return Column(title), lambda row: hours(row[key])


SPREAD: Shown = (Column("spread", "%"), lambda row: plain(row["saved_spread"], 2) if row["repeats"] > 1 else "")
TUNED_ON: Shown = (Column("tuned on", number=False), lambda row: "yes" if row["tuned_on"] else "no")
ESTIMATE: Shown = (
    Column("runtimes", number=False),
    lambda row: "known" if row["estimate"] == KNOWN else "predicted",
)
SHARE: Shown = (Column("share of the limit"), lambda row: "" if row["share"] is None else percent(row["share"]))
WHAT: tuple[Shown, ...] = (
    words("week", "week"),
    (Column("tariff", number=False), lambda row: TARIFFS[row["tariff"]]),
    (Column("load"), lambda row: plain(row["load"], 2)),
    numbers("promise", "h", "max_delay_h"),
    ESTIMATE,
)
