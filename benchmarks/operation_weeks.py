"""The study of operation on weeks that re-planning was not tuned on: how far its figures differ from week to week.

    python benchmarks/operation_weeks.py                          four weeks of Curie, French prices
    python benchmarks/operation_weeks.py --weeks 2012-03-19 --bound-time 0

Every week is Monday to Friday. At the load of the trace EASY meets ``replan`` with promises of 0, 6, 12 and 24 h, and
with 24 h where nothing is held. At a load of 1.45 EASY, EASY-SJBF and list scheduling meet ``replan`` with 24 h, with
its defaults and without holding. The weeks were chosen before any of them was run; on those in `SEEN` the defaults were
chosen. Needs PLANNER_DATA. Pieces are kept below ``--out``, so that an interrupted run goes on.
"""

from __future__ import annotations

import argparse
import datetime as dt
from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from statistics import mean

from planner.runs.figures import Row
from planner.studies.operation.cells import CURIE, RULES, Cell, Group, baseline_of
from planner.studies.operation.run import Study
from planner.studies.operation.sites import Days, Ground
from planner.studies.operation.tables import policy_words

WEEKS = ("2012-02-13", "2012-04-16", "2012-06-25", "2012-08-20")
SEEN = ("2012-03-19", "2012-05-14", "2012-06-11", "2012-07-30", "2012-09-03")
NOT_HELD = "without holding"
ASKED = {"0 h": (0, ""), f"24 h {NOT_HELD}": (24, NOT_HELD), "6 h": (6, ""), "12 h": (12, ""), "24 h": (24, "")}
"""Ways to re-plan: the promise [h], and what is changed."""
OVERLOAD = "1.45"
MINUTE_S = 60


def main() -> None:
    """Run what is missing and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weeks", nargs="+", default=WEEKS, help=f"Mondays; the defaults saw {', '.join(SEEN)}")
    parser.add_argument("--tariff", default="fr-2012")
    parser.add_argument("--bound-time", type=float, default=60.0, help="seconds for each bound; 0 leaves bounds out")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--out", type=Path, default=Path("reports/studies/operation-weeks"))
    parser.add_argument("--skip-overload", action="store_true")
    asked = parser.parse_args()
    rows = {week: _rows(asked, dt.date.fromisoformat(week)) for week in asked.weeks}
    print(_as_it_is(rows, asked.tariff))
    if not asked.skip_overload:
        print(_overloaded(rows, asked.tariff))


def _rows(asked: argparse.Namespace, monday: dt.date) -> list[Row]:
    folder = asked.out / f"{monday}"
    (folder / "tables").mkdir(parents=True, exist_ok=True)
    ground = Ground(folder / "tables", curie_days=Days(monday, monday + dt.timedelta(days=4)))
    group, full = Group(CURIE, asked.tariff), Group(CURIE, asked.tariff, OVERLOAD)
    cells = [baseline_of(group), *(Cell(group, "replan", max_delay_h=h, change=c) for h, c in ASKED.values())]
    study = Study(cells, ground, folder / "as-is", asked.bound_time, asked.workers)
    rows = study.run(on_done=print)
    if asked.skip_overload:
        return rows
    crowded = [Cell(full, name) for name in RULES if name != "conservative"]
    crowded += [Cell(full, "replan", max_delay_h=24, change=change) for change in ("", NOT_HELD)]
    return rows + Study(crowded, ground, folder / "overloaded", 0, asked.workers).run(on_done=print)


def _as_it_is(weeks: dict[str, list[Row]], tariff: str) -> str:
    """A line per week, and their means: saved, its limit for the same promises, and waiting."""
    head = ["week", "load", "EASY's wait", "EASY's slowdown"]
    head += [f"{name}: saved of limit (share; EASY's starts); wait; slowdown; late" for name in ASKED]
    lines = []
    for week, rows in weeks.items():
        easy, *replanned = [row for row in rows if row["load"] == "as-is"]
        words = [f"{easy['load_fraction']:.2f}", f"{easy['mean_wait_s'] / MINUTE_S:.1f} min", f"{easy['bsld']:.2f}"]
        lines.append([week, *words, *(_words(row, easy) for row in replanned)])
    by_way = zip(*([row for row in rows if row["load"] == "as-is"][1:] for rows in weeks.values()), strict=True)
    lines.append(["mean (least to most)", "", "", "", *(_spread(rows) for rows in by_way)])
    return _markdown(f"{tariff}, load as it is", head, lines)


def _words(row: Row, easy: Row) -> str:
    limit = (
        "" if row["bound_saves_eur"] is None else f" of {100 * row['bound_saves_eur'] / easy['energy_cost_eur']:.1f}"
    )
    shares = [row[key] for key in ("share_of_bound", "share_of_easy_bound") if row[key] is not None]
    told = f" ({'; '.join(f'{share:.0%}' for share in shares)})" if shares else ""
    waits = f"{row['mean_wait_s'] / MINUTE_S:.1f} min; {row['bsld']:.2f}; {row['broken_promises']}"
    return f"{row['saved_percent']:.1f}{limit} %{told}; {waits}"


def _spread(rows: Sequence[Row]) -> str:
    saved = [row["saved_percent"] for row in rows]
    shares = [row["share_of_bound"] for row in rows if row["share_of_bound"] is not None]
    added = [row["added_wait_s"] / MINUTE_S for row in rows]
    told = f" ({mean(shares):.0%}: {min(shares):.0%} to {max(shares):.0%})" if shares else ""
    return (
        f"{mean(saved):.1f} % ({min(saved):.1f} to {max(saved):.1f}){told}; wait {mean(added):+.1f} min"
        f" ({min(added):+.1f} to {max(added):+.1f})"
    )


def _overloaded(weeks: dict[str, list[Row]], tariff: str) -> str:
    """A line per week and policy: what it has earned by the end of each day against EASY, and waiting."""
    lines = []
    for week, rows in weeks.items():
        crowded = [row for row in rows if row["load"] == OVERLOAD]
        easy = _earned(crowded[0])
        for row in crowded:
            name = policy_words(row)
            against = [f"{100 * (own / base - 1):+.1f} %" for own, base in zip(_earned(row), easy, strict=True)][:7]
            lines.append([week, name, *against, f"{row['mean_wait_s'] / MINUTE_S:.0f} min", f"{row['bsld']:.0f}"])
    head = ["week", "policy", *(f"day {day}" for day in range(1, 8)), "wait", "slowdown"]
    return _markdown(f"{tariff}, load {OVERLOAD}: profit from the first day to the end of each", head, lines)


def _earned(row: Row) -> list[float]:
    return list(accumulate(map(float, str(row["profit_by_day_eur"]).split(";"))))


def _markdown(title: str, head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [head, ["---"] * len(head), *lines]
    return "\n".join([f"**{title}**", "", *("| " + " | ".join(row) + " |" for row in rows), ""])


if __name__ == "__main__":
    main()
