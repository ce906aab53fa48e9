"""What a week is worth once all its jobs have run: plans against EASY, with the same jobs from the same beginning.

python benchmarks/emptied_weeks.py                                 all weeks and tariffs, seed 0
python benchmarks/emptied_weeks.py --seeds 0,1,2                   three seeds
python benchmarks/emptied_weeks.py --weeks 2024-03-11 --tariffs flat --set goal.waiting=0.003

The submissions of seven days, planned night by night until the queue is empty, with every job as long as it asked.
Each line: profit at the end, bills and energy against EASY; mean, 95 % and longest wait, EASY's in brackets; the jobs
over 48 h; the CPU time. Prices are those of the shipped scenarios (flat, hourly) or of Germany, in weeks of 2021 and
2022. ``--curie N`` plans weeks of CEA Curie on a machine of N nodes, which empties.
"""

from __future__ import annotations

import argparse
import datetime as dt
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from days import data_folder

from planner.domain.horizon import Horizon
from planner.methods import Params
from planner.places import shipped_folder
from planner.runs.rolling import run_days
from planner.scenario.load import load_scenario
from planner.scenario.schema import Scenario
from planner.store.read_tables import read_table, take_in, waits_of
from planner.store.write_tables import SCHEDULE_COLUMNS

WEEKS = ("2024-01-08", "2024-06-01", "2024-10-07")
CURIE_WEEKS = ("2012-06-12", "2012-08-07")
TARIFFS = ("flat", "hourly", "DE 2021", "DE 2022")
AMPLE_TIME_S = 3600.0
DAYS = 7


@dataclass(frozen=True)
class Week:
    """What a week came to: money at the end, and the waits of all its jobs [h]."""

    profit_eur: float
    bills_eur: float
    energy_eur: float
    wait_h: np.ndarray
    cpu_s: float


def scenario_of(tariff: str, seed: int, more: tuple[str, ...], curie: int = 0) -> Scenario:
    """The sample site, or weeks of Curie on so many nodes, under a tariff."""
    settings = [f"seed={seed}", *more]
    if curie:
        trace = data_folder() / "swf" / "CEA-Curie-2011-2.1-cln.swf.gz"
        settings += [f"jobs.source={trace}", "jobs.core_scale=9600/93312", "zone=UTC", "cluster.classes.gpu=null"]
        settings += [f"cluster.classes.cpu.count={curie}"]
    if tariff.startswith("DE"):
        prices = data_folder() / "prices" / f"DE-LU_electricity_prices_{tariff[3:]}.csv.gz"
        settings += [f"tariff={{kind: hourly, file: {prices}, unit: EUR/MWh}}"]
    base = "hourly-tariff" if tariff == "hourly" else "sample"
    return load_scenario(base, folders=[shipped_folder() / "scenarios"], overrides=settings)


def week_of(scenario: Scenario, method: str, first: dt.date, iterations: int) -> Week:
    """A week run until its queue is empty."""
    params = Params(
        method,
        time_limit_s=AMPLE_TIME_S,
        iterations=iterations,
        bound_time_s=0.0,
        page=False,
        baselines=False,
    )
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        last = first + dt.timedelta(days=DAYS - 1)
        done = list(run_days(scenario, params, first, last, Path(folder), until_empty=True))
        came: dict[str, tuple[int, int]] = {}
        waits = []
        for each in done:
            horizon = Horizon(each.day, scenario.zone)
            table = read_table(each.folder / "schedule.csv", SCHEDULE_COLUMNS)
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


def told(ours: Week, easy: Week) -> str:
    """A week against EASY, in one line."""

    def percent(one: float, other: float) -> str:
        return f"{100 * (one / other - 1):+7.3f} %"

    waits = "  ".join(
        f"{how(ours.wait_h):6.2f} ({how(easy.wait_h):6.2f})"
        for how in (np.mean, lambda each: np.percentile(each, 95), np.max)
    )
    over = f"{int((ours.wait_h > 48).sum()):4d} ({int((easy.wait_h > 48).sum()):4d})"
    assert len(ours.wait_h) == len(easy.wait_h), "not the same jobs"
    return (
        f"profit {ours.profit_eur:10,.2f} {percent(ours.profit_eur, easy.profit_eur)}"
        f"  bills {percent(ours.bills_eur, easy.bills_eur)}  energy {percent(ours.energy_eur, easy.energy_eur)}"
        f"  waits {waits} h  over 48 h {over}  {ours.cpu_s:5.0f} s"
    )


def main() -> None:
    """Print one line per week, tariff and seed."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--weeks", default="")
    asked.add_argument("--tariffs", default=",".join(TARIFFS))
    asked.add_argument("--seeds", default="0")
    asked.add_argument("--iterations", type=int, default=20_000)
    asked.add_argument("--curie", type=int, default=0, metavar="NODES")
    asked.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = asked.parse_args()
    weeks = given.weeks or ",".join(CURIE_WEEKS if given.curie else WEEKS)
    for week in weeks.split(","):
        for tariff in given.tariffs.split(","):
            for seed in map(int, given.seeds.split(",")):
                scenario = scenario_of(tariff, seed, tuple(given.set), given.curie)
                first = dt.date.fromisoformat(week)
                first = first.replace(year=int(tariff[3:])) if tariff.startswith("DE") and not given.curie else first
                easy = week_of(scenario, "easy", first, given.iterations)
                ours = week_of(scenario, "harvest", first, given.iterations)
                print(f"{week}  {tariff:8} seed {seed}  {len(easy.wait_h):6d} jobs  {told(ours, easy)}", flush=True)


if __name__ == "__main__":
    main()
