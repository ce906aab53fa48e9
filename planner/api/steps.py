"""Steps of `plan --day` by themselves: a scenario loaded, a day built, planned, and bounded."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

from planner import defaults
from planner.accounting.bound import Bound, profit_bound
from planner.domain.problem import Problem
from planner.inputs.build import Day
from planner.inputs.build import build_day as _build_day
from planner.methods import LOOKING_AHEAD, Params, usual_method
from planner.planning.outlook import with_time_ahead
from planner.planning.plan_day import PlannedDay
from planner.planning.plan_day import plan_day as _plan_day
from planner.runs.check_request import open_scenario, parse_day
from planner.scenario.schema import Scenario


def load_scenario(name: str | Path | None = None, settings: Mapping[str, object] | None = None) -> Scenario:
    """A scenario by its name or file; names are looked up in ``./scenarios`` and among the shipped ones.

    Without a name it is ``site`` where there is one, else ``sample``. ``settings`` replace keys, such as
    ``{"tariff.eur_per_kwh": 0.2}``. InputError says all that is wrong, and where.
    """
    return open_scenario(name, as_settings(settings), slurm=True)


def as_settings(settings: Mapping[str, object] | None) -> tuple[str, ...]:
    """Keys and values as `--set` takes them."""
    import json

    return tuple(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in (settings or {}).items())


def build_day(scenario: Scenario, day: str | dt.date) -> Day:
    """Read every input of a day; its ``problem`` has all numbers, ``rejected`` the jobs that can never run."""
    return _build_day(scenario, parse_day(day, scenario.zone))


def plan_day(
    day: Day,
    method: str | None = None,
    *,
    time_limit_s: float = defaults.TIME_LIMIT_S,
    iterations: int = defaults.ITERATIONS,
    bound_time_s: float = defaults.BOUND_TIME_S,
    workers: int = 0,
) -> PlannedDay:
    """Plan a day by a method of `plan show methods`; the plan is audited, and its profit bounded.

    Without a ``method`` it is the one that `plan --day` takes.

    The result has the plan in ``result.plan``, what follows from it in ``ledger``, who does not start in ``deferrals``,
    and in ``bound`` what no plan can exceed, unless ``bound_time_s`` is 0. The same steps and seed give the same plan,
    as long as the time limit does not end them.
    """
    params = Params(
        method or usual_method(day.scenario),
        time_limit_s=time_limit_s,
        iterations=iterations,
        bound_time_s=bound_time_s,
        workers=workers,
        baselines=False,
    )
    built = with_time_ahead(day) if params.method in LOOKING_AHEAD and day.ahead is None else day
    return _plan_day(built, params.under(day.scenario))


def bound(problem: Problem, time_limit_s: float = defaults.BOUND_TIME_S) -> Bound:
    """What no plan of the day can exceed, in ``profit_eur``; ``gap_fraction`` says how far below it a profit is."""
    return profit_bound(problem, time_limit_s=time_limit_s)
