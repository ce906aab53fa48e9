"""One day planned: a method run on its problem, the plan audited and carried out, and every job accounted for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np

from planner import limits
from planner.accounting.audit import audit, require_bills, require_clean, why_broken
from planner.accounting.bound import Bound, profit_bound
from planner.accounting.promises import promises_of, with_promises
from planner.accounting.settle import settle
from planner.defaults import ITERATIONS
from planner.domain.day_summary import AheadSummary, Booked
from planner.domain.job import Job
from planner.domain.ledger import Ledger
from planner.domain.plan import Deferral, Plan, cut_plan, may_begin
from planner.domain.problem import Problem, executed
from planner.domain.result import Candidate, MaxRuntime, Promises, Result
from planner.errors import AuditError
from planner.inputs.build import Day
from planner.methods import HASTENED, LOOKING_AHEAD, Params, method_named
from planner.online.day_under_policy import carry_out, easy_plan, rule_plan
from planner.online.holding import Holding
from planner.planning.baselines import Baselines, baselines_of
from planner.planning.carbon_goal import Limited, WholeRuns, goodness, limited_bound, weighed, within_limit
from planner.planning.compile_first import make_ready
from planner.planning.deferral_reasons import deferrals_of, why_late
from planner.planning.hold_settings import holding_of_day
from planner.planning.outlook import (
    MOST_RAISES,
    after_the_day,
    ahead_summary,
    best_of,
    lets_wait,
    mean_wait_s,
    sooner_paid,
    whole_runs,
    with_dearer_waits,
)
from planner.search.decode import decode_after

BOUND_TOLERANCE = 5e-4
"""The bound is at most this part above the best one: 0.05 % in a gap of a percent is near enough, and quick."""

SOONER_SHARE, SOONER_TIME_SHARE = 0.25, 0.1
"""Steps for starting jobs sooner, as part of those of the search; and the most time, as part of its limit."""


@dataclass(frozen=True)
class PlannedDay:
    """A day with its audited result and its bound; every known job is placed, deferred or rejected.

    Attributes
    ----------
    result
        The plan, with the ledger that it promises.
    happened, ledger
        The day as it was carried out, and its ledger. With ``execute: actual`` jobs end at their real runtime; else
        these are the problem itself and the ledger of the result.
    deferrals
        Jobs that do not start today, with reasons.
    bound
        Limit on the profit of any plan, with every job as long as it asked; None when it was not asked for.
    real_bound
        Limit on the profit of any schedule with real runtimes, all known ahead; None without ``execute: actual``.
    promises
        How the promises to users are kept; None where there are none.
    booked
        What the books say, for a day that is not planned but booked.
    baselines
        What rules and EASY make of the day; None when they were not asked for.
    carbon_runs_kg
        What the day emits with the whole runs of the work that starts on it; None where there is no limit on that.
    ahead
        What is said of the time on which the day was decided; None where that is the day itself.
    """

    day: Day
    result: Result
    happened: Problem
    ledger: Ledger
    deferrals: tuple[tuple[Job, Deferral], ...]
    bound: Bound | None
    real_bound: Bound | None = None
    promises: Promises | None = None
    booked: Booked | None = None
    baselines: Baselines | None = None
    carbon_runs_kg: float | None = None
    ahead: AheadSummary | None = None


def plan_day(day: Day, params: Params) -> PlannedDay:
    """Plan a day, audit the plan and bound the profit of all plans.

    A day that looks ahead is decided on the longer stretch, and then cut to the day: what the plan starts later waits.

    A plan that breaks a rule is a bug of its method; the best simple plan that breaks none then stands in for it, and
    the result says so.

    The bound is worked out beside the search, which has its own time limit: ``on_bound`` is called with it while the
    search goes on, unless that looks ahead. What is carried out with real runtimes has a bound of its own: the plan's
    does not limit it. So is what rules and EASY make of the day.
    """
    rules, method, on_bound = day.scenario.rules, params.method, params.on_bound
    bound_time_s, with_baselines = params.bound_time_s, params.baselines
    if method == "hold" and rules.execute == "actual":
        planned = _carried_out(day, params, bound_time_s=bound_time_s, on_bound=on_bound)
        if not with_baselines:
            return planned
        # Rules plan with the lengths that they are compared by; EASY expects what the site's scheduler does.
        expecting = easy_plan(planned.day.problem, planned.happened)
        return replace(planned, baselines=baselines_of(planned.happened, planned.happened, expecting))
    given_up = threading.Event()
    is_real = rules.execute == "actual"
    happened = executed(day.problem) if is_real else day.problem
    with ThreadPoolExecutor(max_workers=1) as pool:
        # What a search says on the way is of all days that it plans, and not to be held against the day's bound.
        heard = on_bound if day.ahead is None else None
        # Where more counts than today, how far today is from its bound says little: the prices of a queue will do.
        steps = None if day.outlook is None else 0
        bounding = pool.submit(_bound, day.problem, bound_time_s, heard, given_up, steps)
        bounding_real = pool.submit(_bound, happened, bound_time_s if is_real else 0.0, None, given_up)
        try:
            step = params.on_step
            step("making the search ready, which takes longest the first time")
            make_ready(method, day.ahead or day.problem)
            step("searching")
            day, (result, later, limited, whole) = _kept_short(day, params)
            easy = None if is_real else _easy_of(day)
            comparing = pool.submit(baselines_of, day.problem, happened, easy) if with_baselines else None
            if method in HASTENED and day.outlook is None and not _has_carbon_goal(day):
                result = _hastened(day.problem, result, params)
            step("proving what no plan can exceed")
            # Bounds of the time ahead are compiled code for the most part, and rules are not: both at once.
            ahead = None if day.outlook is None else ahead_summary(day, whole, with_bounds=bound_time_s > 0)
            bound, real_bound = bounding.result(), bounding_real.result()
            bound = _within_limit(day, bound, limited, bound_time_s, given_up)
            baselines = None if comparing is None else comparing.result()
        except BaseException:
            given_up.set()
            raise
    ledger = settle(happened, result.plan) if is_real else result.ledger
    require_bills(happened, ledger)
    day = replace(day, problem=with_promises(day.problem, result.holds))
    deferrals = (*deferrals_of(day, result, later), *day.rejected, *day.withdrawn)
    _require_all_told(day, result, deferrals)
    promises = promises_of(day.problem, result.plan, later, reason=why_late(result.method))
    return PlannedDay(
        *(day, result, happened, ledger, deferrals, bound, real_bound, promises),
        baselines=baselines,
        carbon_runs_kg=None if limited is None else limited.emitted_kg,
        ahead=ahead,
    )


def _easy_of(day: Day) -> Plan | None:
    """EASY's plan of the day, where that of its outlook is known: EASY decides today without a look at tomorrow."""
    return None if day.outlook is None else cut_plan(day.problem, day.outlook.easy, day.problem.horizon.length_s)


def _has_carbon_goal(day: Day) -> bool:
    goal = day.scenario.goal
    return bool(goal.carbon_weight) or goal.carbon_limit_kg is not None


Decided = tuple[Result, dict[str, int], Limited | None, Plan]
"""The result of a day, when jobs start that it starts later, how a limit on CO2 is kept, and the plan of all the time
on which the day was decided."""


def _kept_short(day: Day, params: Params) -> tuple[Day, Decided]:
    """The day decided: anew with dearer waiting, where a default price of it lets jobs wait longer than EASY does.

    HarvestSearch alone does so, within its time, and not to keep a limit on CO2, which has searches of its own.
    """
    ends_s = time.monotonic() + params.time_limit_s
    decided = _decided(day, params)
    if params.method != "harvest" or day.scenario.goal.carbon_limit_kg is not None:
        return day, decided
    for _ in range(MOST_RAISES):
        result, *_, plan = decided
        if result.cut_short or not lets_wait(day, plan):
            break
        params.on_step("searching again, as jobs would wait longer than under EASY")
        dearer = with_dearer_waits(day)
        again = _decided(dearer, replace(params, time_limit_s=max(0.0, ends_s - time.monotonic())))
        found_s = None if again[0].found_s is None else result.solve_s + again[0].found_s
        spent_s, is_cut = result.solve_s + again[0].solve_s, again[0].cut_short
        if mean_wait_s(dearer, again[-1]) >= mean_wait_s(day, plan):
            return day, (replace(result, solve_s=spent_s, cut_short=is_cut), *decided[1:])
        day, decided = dearer, (replace(again[0], solve_s=spent_s, found_s=found_s), *again[1:])
    return day, decided


def _decided(day: Day, params: Params) -> Decided:
    """The result of the day, when jobs start that it starts later, and how a limit on CO2 is kept, if there is one.

    The last is the plan of all the time on which the day was decided.
    """
    goal, ahead = day.scenario.goal, day.ahead
    if goal.carbon_limit_kg is not None:
        limited = _limited(day, params, goal.carbon_limit_kg)
        plan = limited.result.plan
        if ahead is None:
            return limited.result, {}, limited, plan
        length_s = day.problem.horizon.length_s
        later = decode_after(ahead, plan, length_s, from_s=length_s)
        return limited.result, _begins(ahead, later, plan), limited, later
    problem = weighed(day.problem, goal.carbon_weight)
    if ahead is None:
        result = _searched(replace(day, problem=problem), params)
        return result, {}, None, result.plan
    result = _searched(replace(day, problem=problem, ahead=weighed(ahead, goal.carbon_weight)), params)
    kept, begins = cut_to_day(day.problem, ahead, result)
    return kept, begins, None, result.plan


def _limited(day: Day, params: Params, limit_kg: float) -> Limited:
    """The best plan found within a limit on CO2, of a day on which jobs count with their whole runs."""
    whole = whole_runs(day)
    runs = WholeRuns(day.problem, whole)
    seen = sooner_paid(whole) if params.method in LOOKING_AHEAD else day.problem
    found: list[Result] = []

    def decide(weight: float) -> Result:
        result = _searched(replace(day, problem=weighed(seen, weight), ahead=None, outlook=None), params)
        found.append(replace(result, ledger=settle(day.problem, result.plan)))
        return found[-1]

    most = limits.EUR_PER_TONNE.high - day.problem.rates.carbon_eur_per_tonne
    best = within_limit(decide, runs.emitted_kg, day.scenario.goal.carbon_weight, limit_kg, most)
    if day.problem.defer == "full":
        return best
    leaner = [lean for each in found if (lean := runs.leaner(each, limit_kg)) is not None]
    kept = [Limited.of(each, runs.emitted_kg, best.weight_eur_per_tonne, limit_kg) for each in leaner]
    return max([best, *kept], key=goodness)


def _within_limit(
    day: Day, bound: Bound | None, limited: Limited | None, time_s: float, given_up: threading.Event
) -> Bound | None:
    """The bound on plans that emit no more than the limit, where there is one that binds and is kept."""
    limit_kg = day.scenario.goal.carbon_limit_kg
    if bound is None or limit_kg is None or limited is None or not limited.is_kept or not limited.weight_eur_per_tonne:
        return bound
    weight = limited.weight_eur_per_tonne
    rates = replace(day.problem.rates, carbon_weight_eur_per_tonne=weight).counted
    dearer = _bound(replace(day.problem, rates=rates), time_s, None, given_up)
    # What started before counts on its own day, and is emitted on this one all the same.
    on_the_day_kg = limit_kg + WholeRuns(day.problem, day.problem).carried_in_kg
    return bound if dearer is None else limited_bound(bound, dearer, weight, on_the_day_kg)


def _searched(day: Day, params: Params) -> Result:
    """The accepted result of a method, of the day or of the day and the time after it."""
    problem, method = day.ahead or day.problem, params.method
    # As many steps for each of the days that are planned together; the outlook, and whole runs, are all one.
    is_one = day.outlook is not None or problem.starts_before_s is not None
    days = 1 if is_one else sum(1 for _ in problem.horizon.days())
    steps = None if params.iterations is None else params.iterations * days
    params = replace(params, iterations=steps)
    if day.outlook is not None:
        params = replace(params, first=day.outlook.easy)
    if method == "hold":
        params = replace(params, holding=_holding_of(day, problem))
    result = accepted(problem, method_named(method)(problem, params, MaxRuntime(params.time_limit_s)))
    if day.ahead is None or method == "hold":
        return result
    plan = after_the_day(day.problem, day.ahead, result.plan)
    if day.outlook is not None:
        easy = after_the_day(day.problem, day.ahead, day.outlook.easy)
        # CO2 counts as it is weighed, but what jobs count by their priority is to cost nothing against EASY.
        in_full = replace(problem, rates=problem.rates.counted)
        if not audit(problem, easy) and best_of(in_full, [plan, easy]) is easy:
            plan, result = easy, _named_easy(problem, result, easy)
    return replace(result, plan=plan, ledger=settle(day.ahead, plan))


def _named_easy(problem: Problem, result: Result, easy: Plan) -> Result:
    """The result of a search whose plan is worth less than EASY's: EASY's is one more candidate, and is taken.

    Like the others it is told by what jobs count, with their priorities.
    """
    trial = Candidate(easy, settle(problem.counted, easy), "easy").trial
    return replace(result, best_trial="easy", trials=(*result.trials, trial), status="found", found_s=None)


def _holding_of(day: Day, problem: Problem) -> Holding:
    """How jobs of a problem of the day are held, beginning with the strength of the last plan."""
    return replace(holding_of_day(day.scenario, problem), strength=day.situation.strength)


def _hastened(problem: Problem, result: Result, params: Params) -> Result:
    """The result with jobs started sooner where that costs next to nothing; takes a little time beyond the limit.

    Only where every job starts: what the next day can do with those that wait depends on what still runs at midnight.
    """
    if not (result.plan.is_placed | ~may_begin(problem)).all():
        return result
    from planner.search.shorter_waits import sooner

    steps = round(SOONER_SHARE * (params.iterations or ITERATIONS))
    stop = MaxRuntime(SOONER_TIME_SHARE * params.time_limit_s)
    return sooner(problem, result, seed=params.seed, steps=steps, stop=stop)


def _carried_out(
    day: Day, params: Params, *, bound_time_s: float, on_bound: Callable[[float], None] | None
) -> PlannedDay:
    """The day as the scheduler carries it out with real runtimes, and with jobs held for cheaper hours."""
    happened = executed(day.problem)
    holding = _holding_of(day, day.problem)
    result = carry_out(day.problem, holding, estimate=day.scenario.rules.estimate, on_trial=params.on_trial)
    require_clean(happened, result.plan, leaves_room=True)
    require_bills(happened, result.ledger)
    bound = _bound(happened, bound_time_s, on_bound, threading.Event())
    day = replace(day, problem=with_promises(day.problem, result.holds))
    deferrals = (*deferrals_of(day, result, {}), *day.rejected, *day.withdrawn)
    _require_all_told(day, result, deferrals)
    promises = promises_of(day.problem, result.plan, reason=why_late(result.method))
    # Nothing was planned with jobs as long as they asked, so there is nothing to bound there.
    return PlannedDay(day, result, happened, result.ledger, deferrals, None, bound, promises)


def cut_to_day(problem: Problem, ahead: Problem, result: Result) -> tuple[Result, dict[str, int]]:
    """The part of a result that is of the day, and when the jobs that it starts later are planned to start [s].

    Of the day alone the audit can only ask that no rule about room is broken: a job may start tomorrow although it had
    room today.
    """
    plan = cut_plan(problem, result.plan, problem.horizon.length_s)
    require_clean(problem, plan, leaves_room=True)
    later = _begins(ahead, result.plan, plan)
    return replace(result, plan=plan, ledger=settle(problem, plan), leaves_room=True), later


def _begins(ahead: Problem, plan: Plan, today: Plan) -> dict[str, int]:
    """When the jobs start that a plan starts after the day [s]."""
    return {ahead.jobs[job].id: int(plan.start_s[job]) for job in np.flatnonzero(plan.is_placed & ~today.is_placed)}


def accepted(problem: Problem, result: Result) -> Result:
    """The result if the audit accepts its plan; else the best plan of one ordering that it accepts, else a rule's.

    A site must not be left without a plan. AuditError when not even these keep the rules.
    """
    why = why_broken(result.method, audit(problem, result.plan, leaves_room=result.leaves_room))
    if not why:
        return result
    for other in _simple_results(problem):
        if not audit(problem, other.plan, leaves_room=other.leaves_room):
            return replace(other, stands_in_for=why)
    raise AuditError(why)


def _simple_results(problem: Problem) -> Iterator[Result]:
    """Results without any search: one for each ordering, the best first, then the oldest rule's."""
    from planner.search.multisearch import multisearch
    from planner.search.orderings import ORDERINGS

    single = [multisearch(problem, orderings=(ordering,)) for ordering in ORDERINGS]
    yield from sorted(single, key=lambda result: -result.ledger.profit_eur)
    yield rule_plan(problem, "est")


def _bound(
    problem: Problem,
    time_s: float,
    on_bound: Callable[[float], None] | None,
    given_up: threading.Event,
    steps: int | None = None,
) -> Bound | None:
    if time_s <= 0:
        return None
    bound = profit_bound(
        problem,
        time_limit_s=time_s,
        tolerance=BOUND_TOLERANCE,
        descent_steps=steps,
        is_wanted=lambda: not given_up.is_set(),
    )
    if on_bound is not None:
        on_bound(bound.profit_eur)
    return bound


def _require_all_told(day: Day, result: Result, deferrals: tuple[tuple[Job, Deferral], ...]) -> None:
    """AuditError unless every job that is known to the day is accounted for exactly once."""
    placed = [placement.job_id for placement in result.plan.placements(day.problem)]
    told = sorted([*placed, *(why.job_id for _, why in deferrals)])
    others = (job.id for job, _ in (*day.rejected, *day.withdrawn))
    known = sorted([*(job.id for job in day.problem.jobs), *others])
    if told != known:
        raise AuditError(f"of {len(known)} jobs known to {day.problem.horizon.day}, {len(told)} are accounted for")
