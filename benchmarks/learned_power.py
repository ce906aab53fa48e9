"""What wrong power costs: ``python benchmarks/learned_power.py [--iterations 20000] [--seed 0]``, two minutes.

Four days of EURORA, the single-node jobs that have a figure and fit its nodes, all of a day's submissions known. Each
day is planned four times: with the true power, with power learned from jobs that had ended by its midnight, and with
9.455 and 12 W per core. Every plan is settled with the true power. Printed is how much less a plan earns than the
plan that knew the truth, with thin margins (0.002 EUR per core-hour, about what its energy costs) and rich ones (0.02),
where profit alone decides what runs. The search is no exact one: on the busiest day, with rich margins, plans of one
model differ by 0.7 % from seed to seed, and by 3 % after only 3,000 steps.
"""

from __future__ import annotations

import argparse
import datetime as dt
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from eurora import SOURCE, write_site

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.domain.problem import Problem
from planner.domain.result import MaxRuntime
from planner.inputs.build import build_day
from planner.inputs.jobs.power_models import limits_of, per_core
from planner.methods import Params, method_named
from planner.places import data_folder, shipped_folder
from planner.power.learned import Asked, FinishedJob, PowerLimits, PowerModel, learned_from
from planner.runs.power_sources import finished_jobs, saved_sources
from planner.scenario.load import load_scenario

DAYS = ("2014-04-01", "2014-04-02", "2014-04-03", "2014-04-04")
MARGINS = {"thin": 0.002, "rich": 0.02}


def learned_until(jobs: tuple[FinishedJob, ...], moment_unix: int, limits: PowerLimits) -> PowerModel:
    """The model that a site would have had at a moment; 9.455 W per core where it knows nothing."""
    learned = learned_from(job for job in jobs if job.end_unix < moment_unix)
    constant = per_core(9.455)

    def power_w(asked: Asked) -> float:
        found = learned.predict(asked)
        return constant(asked) if found is None else limits.bounded(asked, found.power_w)

    return power_w


def with_power(problem: Problem, power_w: Callable[[str], float]) -> Problem:
    """The same day with other power."""
    return replace(problem, jobs=tuple(replace(job, power_w=power_w(job.id)) for job in problem.jobs))


def profits(problem: Problem, models: Sequence[PowerModel], asked: Mapping[str, Asked], params: Params) -> list[float]:
    """What the plan that knows the truth earns, and what those of the models do, all at the true power."""
    found = []
    drawn: list[Callable[[str], float]] = [partial(lambda model, name: model(asked[name]), model) for model in models]
    days = [problem, *(with_power(problem, power_w) for power_w in drawn)]
    for day in days:
        plan = method_named("harvest")(day, params, MaxRuntime(600)).plan
        assert not audit(problem, plan)
        found.append(settle(problem, plan).profit_eur)
    return found


def main() -> None:
    """Print the losses."""
    parser = argparse.ArgumentParser(description="What wrong power costs.")
    parser.add_argument("--iterations", type=int, default=20_000, help="steps of each search")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    params = Params(seed=given.seed, workers=1, iterations=given.iterations)
    print(f"{'':<20}{'jobs':>6}{'true profit':>13}{'learned':>15}{'9.455 W/core':>15}{'12 W/core':>15}")
    with tempfile.TemporaryDirectory() as folder:
        table, site = write_site(Path(folder), data_folder() / SOURCE)
        for margin, eur in MARGINS.items():
            settings = ("jobs.visibility=day", "jobs.lookback=0d", f"revenue.eur_per_core_hour={eur}")
            scenario = load_scenario(site, folders=[shipped_folder() / "scenarios"], overrides=settings)
            finished = finished_jobs(saved_sources([table], scenario), scenario, None, one_node=True).jobs
            asked = {job.asked.job_id: job.asked for job in finished}
            of_days = []
            for day in DAYS:
                whole = build_day(scenario, dt.date.fromisoformat(day)).problem
                problem = replace(whole, jobs=tuple(job for job in whole.jobs if job.id in asked))
                learned = learned_until(finished, problem.horizon.start_unix, limits_of(scenario))
                earned = profits(problem, [learned, per_core(9.455), per_core(12.0)], asked, params)
                of_days.append(earned)
                show(f"{margin}, {day}", f"{len(problem.jobs):,}", earned)
            show(f"{margin}, all days", "", [sum(each) for each in zip(*of_days, strict=True)])


def show(what: str, jobs: str, earned: Sequence[float]) -> None:
    """Print a line: the profit of the plan that knew the truth, and what the others lose."""
    best, *others = earned
    losses = "".join(f"{100 * (best - each) / best:>13.1f} %" for each in others)
    print(f"{what:<20}{jobs:>6}{best:>13.2f}{losses}", flush=True)


if __name__ == "__main__":
    main()
