"""What a week is worth once all its jobs have run: plans against EASY, with the same jobs from the same beginning.

python benchmarks/emptied_weeks.py                                 all weeks and tariffs, seed 0
python benchmarks/emptied_weeks.py --seeds 0,1,2                   three seeds
python benchmarks/emptied_weeks.py --weeks 2024-03-11 --tariffs flat --set goal.waiting=0.003 --table other.csv

The submissions of seven days, planned night by night until the queue is empty, with every job as long as it asked.
Each line: profit at the end, bills and energy against EASY; mean, 95 % and longest wait, EASY's in brackets; the jobs
over 48 h; the CPU time; and what is worse than it should be. Prices are those of the shipped scenarios (flat, hourly),
or of Germany in 2021 and 2022, moved to the week. ``--curie N`` plans weeks of CEA Curie on a machine of N nodes, which
empties. Every row is kept in the table, and one that is there is not made again: delete the file to begin anew.
``--markdown`` prints the table as it is, a line for each week and tariff with the worst of its seeds.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import tempfile
import time
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from days import ROOT, curie_jobs, plain_params

from planner.domain.horizon import Horizon
from planner.places import data_folder, shipped_folder
from planner.runs.run_days import run_days
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.store.read_tables import read_table, take_in, waits_of
from planner.studies.operation_replays import moved_prices

WEEKS = ("2024-01-08", "2024-06-01", "2024-10-07")
CURIE_WEEKS = ("2012-06-12", "2012-08-07")
TARIFFS = ("flat", "hourly", "de-2021", "de-2022")
TABLE = ROOT / "reports" / "studies" / "emptied-weeks" / "weeks.csv"
DAYS = 7

PROFIT_LOSS, LONGEST_MORE = 0.0002, 0.1
"""By how much the profit may be below EASY's, and the longest wait above it."""


@dataclass(frozen=True)
class Week:
    """What a week came to: money at the end, and the waits of all its jobs [h]."""

    profit_eur: float
    bills_eur: float
    energy_eur: float
    wait_h: np.ndarray
    cpu_s: float

    def figures(self) -> dict[str, Any]:
        """What is compared, by name."""
        return {
            "profit_eur": self.profit_eur,
            "bills_eur": self.bills_eur,
            "energy_eur": self.energy_eur,
            "mean_h": float(self.wait_h.mean()),
            "p95_h": float(np.percentile(self.wait_h, 95)),
            "longest_h": float(self.wait_h.max()),
            "over_48_h": int((self.wait_h > 48).sum()),
        }


@dataclass(frozen=True)
class Row:
    """A week under the plans and under EASY."""

    site: str
    week: str
    tariff: str
    seed: int
    settings: str
    jobs: int
    profit_eur: float
    easy_profit_eur: float
    bills_eur: float
    easy_bills_eur: float
    energy_eur: float
    easy_energy_eur: float
    mean_h: float
    easy_mean_h: float
    p95_h: float
    easy_p95_h: float
    longest_h: float
    easy_longest_h: float
    over_48_h: int
    easy_over_48_h: int
    cpu_s: float

    @property
    def key(self) -> tuple[str, ...]:
        """What tells rows apart."""
        return self.site, self.week, self.tariff, str(self.seed), self.settings

    @property
    def worse(self) -> list[str]:
        """What is worse than it should be."""
        told = {
            "profit": self.profit_eur < self.easy_profit_eur * (1 - PROFIT_LOSS),
            "energy": self.tariff != "flat" and self.energy_eur >= self.easy_energy_eur,
            "mean wait": self.mean_h > self.easy_mean_h,
            "95 % wait": self.p95_h > self.easy_p95_h,
            "longest wait": self.longest_h > self.easy_longest_h * (1 + LONGEST_MORE),
        }
        return [name for name, is_worse in told.items() if is_worse]

    def told(self) -> str:
        """The row in one line."""

        def percent(one: float, other: float) -> str:
            return f"{100 * (one / other - 1):+7.3f} %"

        pairs = ((getattr(self, name), getattr(self, f"easy_{name}")) for name in ("mean_h", "p95_h", "longest_h"))
        waits = "  ".join(f"{ours:6.2f} ({easy:6.2f})" for ours, easy in pairs)
        return (
            f"{self.site:10} {self.week}  {self.tariff:8} seed {self.seed}  {self.jobs:6d} jobs"
            f"  profit {self.profit_eur:10,.2f} {percent(self.profit_eur, self.easy_profit_eur)}"
            f"  bills {percent(self.bills_eur, self.easy_bills_eur)}"
            f"  energy {percent(self.energy_eur, self.easy_energy_eur)}  waits {waits} h"
            f"  over 48 h {self.over_48_h:4d} ({self.easy_over_48_h:4d})  {self.cpu_s:5.0f} s"
            f"{'  WORSE: ' + ', '.join(self.worse) if self.worse else ''}"
        )


def scenario_of(tariff: str, first: dt.date, seed: int, more: list[str], curie: int, folder: Path) -> Scenario:
    """The sample site, or weeks of Curie on so many nodes, under a tariff."""
    settings = [f"seed={seed}", *more]
    if curie:
        # What such a machine draws may be more than the sample's table of cooling has.
        settings += [*curie_jobs(curie), f"cooling.table={shipped_folder() / 'tables' / 'air-300kw.csv'}"]
    if tariff.startswith("de-"):
        prices = moved_prices(data_folder(), tariff, first, folder)
        settings += [f"tariff={{kind: hourly, file: {prices}, unit: EUR/MWh}}"]
    base = "hourly-tariff" if tariff == "hourly" else "sample"
    return load_scenario(base, folders=[shipped_folder() / "scenarios"], overrides=settings)


def week_of(scenario: Scenario, method: str, first: dt.date, iterations: int) -> Week:
    """A week run until its queue is empty."""
    params = plain_params(method, iterations)
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        last = first + dt.timedelta(days=DAYS - 1)
        done = list(run_days(scenario, params, first, last, Path(folder), until_empty=True))
        came: dict[str, tuple[int, int]] = {}
        waits = []
        for each in done:
            horizon = Horizon(each.day, scenario.zone)
            table = read_table(each.folder, "schedule")
            state = table.columns.index("state")
            is_new = np.array([row[state] != "carried" for row in table.rows], dtype=np.bool_)
            waits.append(waits_of(table, horizon, came)[is_new])
            take_in(came, table, horizon)
    totals = [each.summary.totals for each in done]
    return Week(
        profit_eur=sum(each.profit_eur for each in totals),
        bills_eur=sum(each.revenue_eur for each in totals),
        energy_eur=sum(each.energy_cost_eur for each in totals),
        wait_h=np.concatenate(waits) / 3600,
        cpu_s=time.process_time() - began,
    )


def row_of(key: tuple[str, ...], ours: Week, easy: Week) -> Row:
    """A week against EASY."""
    assert len(ours.wait_h) == len(easy.wait_h), "not the same jobs"
    site, week, tariff, seed, settings = key
    figures = ours.figures() | {f"easy_{name}": value for name, value in easy.figures().items()}
    return Row(site, week, tariff, int(seed), settings, len(ours.wait_h), cpu_s=ours.cpu_s, **figures)


def rows_in(path: Path) -> dict[tuple[str, ...], Row]:
    """The rows that a table has, by what tells them apart."""
    if not path.exists():
        return {}
    kinds = {"int": int, "float": float, "str": str}
    with path.open(encoding="utf-8", newline="") as file:
        rows = [
            Row(**{each.name: kinds[str(each.type)](row[each.name]) for each in fields(Row)})
            for row in csv.DictReader(file)
        ]
    return {row.key: row for row in rows}


def write_rows(path: Path, rows: list[Row]) -> None:
    """Write a table whole, in the place of the one before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = path.with_suffix(".new")
    with made.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([each.name for each in fields(Row)])
        for row in rows:
            writer.writerow([round(each, 4) if isinstance(each, float) else each for each in asdict(row).values()])
    made.replace(path)


def markdown(rows: list[Row]) -> str:
    """The table of a document: a line for each week and tariff, with the worst of its seeds in every column."""

    def worst(group: list[Row], name: str) -> float:
        """How much more something is than under EASY, in the row in which it is most so [%]."""
        return max(100 * (float(getattr(row, name)) / float(getattr(row, f"easy_{name}")) - 1) for row in group)

    lines = [
        "| site, week | prices | seeds | profit | energy cost | mean wait | 95 % wait | longest wait |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    cells = {(row.site, row.week, row.tariff): row for row in rows if not row.settings}
    for key in cells:
        group = [row for row in rows if (row.site, row.week, row.tariff) == key and not row.settings]
        profit = min(100 * (row.profit_eur / row.easy_profit_eur - 1) for row in group)
        waits = [f"{worst(group, name):+.1f} %" for name in ("mean_h", "p95_h", "longest_h")]
        energy = f"{worst(group, 'energy_eur'):+.3f} %"
        told = [f"{key[0]}, {key[1]}", key[2], str(len(group)), f"{profit:+.3f} %"]
        lines.append(f"| {' | '.join([*told, energy, *waits])} |")
    return "\n".join(lines)


def main() -> None:
    """Make the rows that the table does not have, and print one line for each."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--weeks", default="")
    asked.add_argument("--tariffs", default=",".join(TARIFFS))
    asked.add_argument("--seeds", default="0")
    asked.add_argument("--iterations", type=int, default=20_000)
    asked.add_argument("--curie", type=int, default=0, metavar="NODES")
    asked.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    asked.add_argument("--table", type=Path, default=TABLE)
    asked.add_argument("--markdown", action="store_true")
    given = asked.parse_args()
    if given.markdown:
        print(markdown(list(rows_in(given.table).values())))
        return
    site = f"curie-{given.curie}" if given.curie else "sample"
    weeks = (given.weeks or ",".join(CURIE_WEEKS if given.curie else WEEKS)).split(",")
    cells = [(w, t, s) for s in given.seeds.split(",") for w in weeks for t in given.tariffs.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        for week, tariff, seed in cells:
            rows, key = rows_in(given.table), (site, week, tariff, seed, " ".join(given.set))
            if key not in rows:
                first = dt.date.fromisoformat(week)
                scenario = scenario_of(tariff, first, int(seed), given.set, given.curie, Path(folder))
                easy, ours = (week_of(scenario, each, first, given.iterations) for each in ("easy", "harvest"))
                rows = rows_in(given.table) | {key: row_of(key, ours, easy)}
                write_rows(given.table, list(rows.values()))
            print(rows[key].told(), flush=True)


if __name__ == "__main__":
    main()
