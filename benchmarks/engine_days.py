"""What a CP engine finds alone on days of the published study, beside MultiSearch from the same morning.

python benchmarks/engine_days.py 30 2012-08-07 2012-08-14        30 s for each day, every engine that is installed
python benchmarks/engine_days.py 30 2012-08-07 --form whole      the day as one model with all costs, nodes counted

Days follow one another as MultiSearch plans them, in air summer; ``--rolled DIR`` keeps them for the next time.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
import time
from functools import partial
from pathlib import Path

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.cp import cp_method as cp
from planner.cp.engines import ENGINES
from planner.cp.profit_model import ProfitModel
from planner.cp.repair import Seats
from planner.cp.subproblem import Subproblem, empty_plan
from planner.domain.horizon import Horizon
from planner.domain.problem import Problem
from planner.inputs.build import build
from planner.methods import Params
from planner.places import data_folder
from planner.runs.one_day import previous_of
from planner.runs.run_days import run_days
from planner.search.decode import decode
from planner.search.multisearch import multisearch
from planner.store.read_last_plan import situation_of
from planner.studies.curie23_setup import CALIBRATIONS, FIRST_DAY, study_scenario


def day_problem(day: dt.date, rolled: Path) -> Problem:
    """A day of the study as MultiSearch's plans of the days before leave it."""
    scenario = study_scenario("air-summer", data_folder(), CALIBRATIONS["ours"].settings)
    if day > FIRST_DAY:
        params = Params("multisearch", time_limit_s=3600.0, bound_time_s=0.0, page=False, baselines=False)
        for _ in run_days(scenario, params, FIRST_DAY, day - dt.timedelta(days=1), rolled):
            pass
    horizon = Horizon(day, scenario.zone)
    return build(scenario, horizon, *situation_of(scenario, horizon, previous_of(rolled, scenario, day))).problem


def found_in_windows(problem: Problem, engine: str, seconds: float, workers: int) -> tuple[str, float | None]:
    """What the method `cp` finds: its form, and the profit; None where it is nothing."""
    result = cp.default_search(
        problem, engine=engine, time_limit_s=seconds, workers=workers, complete=partial(decode, problem)
    )
    assert not audit(problem, result.plan, leaves_room=True)
    return result.best_trial, None if result.status == "nothing" else result.ledger.profit_eur


def found_at_once(problem: Problem, engine: str, seconds: float, workers: int) -> tuple[str, float | None]:
    """What an engine finds when the whole day is one model with all costs."""
    model = ProfitModel(problem, Subproblem.whole_day(problem, pooled=True))
    answer = ENGINES[engine].solve(model.cpo, time_limit_s=seconds, workers=workers)
    if answer.solution is None:
        return "whole day", None
    plan = Seats(problem, partial(decode, problem)).taken(empty_plan(problem), model.starts(answer.solution))
    return "whole day", settle(problem, plan).profit_eur if plan.is_placed.any() else None


def main() -> None:
    """Print one line per day and engine."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("seconds", type=float)
    asked.add_argument("days", nargs="+", type=dt.date.fromisoformat)
    asked.add_argument("--engine", choices=[name for name, engine in ENGINES.items() if engine.available()])
    asked.add_argument("--form", choices=["windows", "whole"], default="windows")
    asked.add_argument("--workers", type=int, default=2)
    asked.add_argument("--rolled", type=Path)
    given = asked.parse_args()
    engines = [given.engine] if given.engine else [name for name, engine in ENGINES.items() if engine.available()]
    find = found_in_windows if given.form == "windows" else found_at_once
    with tempfile.TemporaryDirectory() as made:
        for day in given.days:
            problem = day_problem(day, given.rolled or Path(made))
            best = multisearch(problem, workers=1).ledger.profit_eur
            held = settle(problem, empty_plan(problem)).profit_eur
            print(f"{day}: {len(problem.jobs)} jobs, running work {held:.2f} EUR, multisearch {best:.2f} EUR")
            for name in engines:
                began = time.perf_counter()
                form, profit = find(problem, name, given.seconds, given.workers)
                took = time.perf_counter() - began
                text = "nothing" if profit is None else f"{profit:.2f} EUR, {100 * profit / best:.1f} %"
                print(f"  {name:<14} {form:<45} {took:7.1f} s  {text}", flush=True)


if __name__ == "__main__":
    main()
