"""Methods: every way from a problem to a result, by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeVar

from planner.defaults import BOUND_TIME_S, METHOD, ROUND_ENGINE, TIME_LIMIT_S
from planner.domain.method_params import SearchParams
from planner.domain.problem import Problem
from planner.domain.result import Listener, Result, Stop
from planner.errors import InputError, SolverError
from planner.scenario.schema import Scenario

if TYPE_CHECKING:
    from planner.domain.plan import Mask, Plan
    from planner.online.holding import Holding


def _nothing(*what: object) -> None:
    """What those do who are told something and do not care."""


@dataclass(frozen=True)
class Params:
    """How days are planned, whatever the day: one object from the command line or a script down to the method.

    Attributes
    ----------
    method
        The name of the method.
    seed, search
        Where randomness begins, and the parameters of each method; both are a scenario's (`under`).
    workers
        Threads, 0 for one per core; they never change an answer.
    engine
        The CP engine by name; None lets the planner choose.
    time_limit_s
        When a search ends; what an engine gets that cannot ask ``stop``.
    iterations
        Limits a search by its own steps, so that the answer depends on the seed alone; None leaves it to the clock.
    bound_time_s
        Time for the bound on the profit; 0 leaves it out.
    baselines, page
        Whether a day is compared with rules and EASY, and whether it gets its page.
    holding
        What ``hold`` must know to hold anything.
    first
        A plan of the problem that a search may begin with, and must not be worse than.
    also, command, rebook
        Further formats to write; the command line, for provenance; whether days that are booked may be written over.
    on_trial, on_bound, on_step
        Who is told of each candidate as it is tried, of the bound, and of what is done next.
    still_wanted
        Is called before a day is written, and may raise.
    """

    method: str = METHOD
    seed: int = 0
    workers: int = 0
    engine: str | None = None
    time_limit_s: float = TIME_LIMIT_S
    iterations: int | None = None
    bound_time_s: float = BOUND_TIME_S
    search: SearchParams = field(default_factory=SearchParams)
    holding: Holding | None = None
    first: Plan | None = None
    baselines: bool = True
    page: bool = True
    also: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    rebook: bool = False
    on_trial: Listener | None = None
    on_bound: Callable[[float], None] = _nothing
    on_step: Callable[[str], None] = _nothing
    still_wanted: Callable[[], None] = _nothing

    def __post_init__(self) -> None:
        method_named(self.method)

    def under(self, scenario: Scenario) -> Params:
        """The same with what a scenario says of searches."""
        search = replace(scenario.search.params(), hold=scenario.hold.params())
        return replace(self, seed=scenario.seed, search=search)

    @property
    def worker_count(self) -> int:
        """Workers to use: as asked, or one per core that this process may use."""
        return self.workers or len(os.sched_getaffinity(0))


Method = Callable[[Problem, Params, Stop], Result]


def _multisearch(problem: Problem, params: Params, stop: Stop) -> Result:
    from planner.search.multisearch import multisearch

    return multisearch(problem, workers=params.worker_count, stop=stop, on_trial=params.on_trial)


def _relaxation(problem: Problem, params: Params, stop: Stop) -> Result:
    from functools import partial

    from planner.cp.relaxation import relaxation_search
    from planner.search.decode import decode

    return relaxation_search(
        problem,
        _multisearch(problem, params, stop),
        engine=params.engine,
        seed=params.seed,
        workers=params.worker_count,
        stop=stop,
        complete=partial(decode, problem),
        on_trial=params.on_trial,
        params=params.search.relaxation,
    )


def _cp(problem: Problem, params: Params, stop: Stop) -> Result:
    from functools import partial

    from planner.cp.cp_method import default_search
    from planner.search.decode import decode

    return default_search(
        problem,
        engine=params.engine,
        time_limit_s=params.time_limit_s,
        seed=params.seed,
        workers=params.worker_count,
        stop=stop,
        complete=partial(decode, problem),
        on_trial=params.on_trial,
    )


def _delay(problem: Problem, params: Params, stop: Stop) -> Result:
    from planner.search.delay import delay_search

    return delay_search(
        problem, workers=params.worker_count, stop=stop, params=params.search.delay, on_trial=params.on_trial
    )


def _harvest(problem: Problem, params: Params, stop: Stop) -> Result:
    from planner.search.harvest import harvest

    return harvest(
        problem,
        seed=params.seed,
        workers=params.worker_count,
        stop=stop,
        time_limit_s=params.time_limit_s,
        iterations=params.iterations,
        params=params.search.harvest,
        known=params.first,
        on_trial=params.on_trial,
    )


def _hold(problem: Problem, params: Params, stop: Stop) -> Result:
    from planner.online.day_under_policy import look_ahead
    from planner.online.holding import NO_HOLDING

    return look_ahead(problem, params.holding or NO_HOLDING, params.on_trial)


def _easy(problem: Problem, params: Params, stop: Stop) -> Result:
    from planner.online.day_under_policy import easy_result

    return easy_result(problem, params.on_trial)


def _rule(name: str) -> Method:
    def method(problem: Problem, params: Params, stop: Stop) -> Result:
        from planner.online.day_under_policy import rule_plan

        return rule_plan(problem, name, params.on_trial)

    return method


@dataclass(frozen=True)
class _Seen:
    """A problem as methods see it: ``jobs`` are those that may begin before its end, ``counted`` those at what they
    count, with their priorities.
    """

    whole: Problem
    kept: Mask
    jobs: Problem
    counted: Problem

    @classmethod
    def of(cls, problem: Problem) -> _Seen:
        """What methods see of a problem."""
        from planner.domain.plan import may_begin, without_others

        kept = may_begin(problem)
        jobs = problem if kept.all() else without_others(problem, kept)
        return cls(problem, kept, jobs, jobs.counted)

    def of_all(self, result: Result) -> Result:
        """A result with the jobs that the method did not see, which wait, and in money."""
        from planner.accounting.settle import settle
        from planner.domain.plan import with_others

        if not self.kept.all():
            result = replace(result, plan=with_others(self.whole, self.kept, result.plan))
        return result if self.counted is self.jobs else replace(result, ledger=settle(self.whole, result.plan))


def _of_rules(method: Method) -> Method:
    """The method for days with rules of the queue that it need not know.

    It never sees jobs that may not begin today, and its plan defers them. Jobs count their priority times what they
    earn; the plan is settled in money in the end.
    """

    def whole(problem: Problem, params: Params, stop: Stop) -> Result:
        from planner.domain.plan import only

        seen = _Seen.of(problem)
        if params.first is not None and seen.counted is not problem:
            params = replace(params, first=only(problem, seen.kept, params.first))
        return seen.of_all(method(seen.counted, params, stop))

    return whole


def rule_results(problem: Problem) -> dict[str, Result]:
    """What each of the rules makes of a day, as its method does; by name."""
    from planner.online.day_under_policy import DayTrace, rule_plan

    seen = _Seen.of(problem)
    day = DayTrace(seen.counted, seen.counted)
    return {name: seen.of_all(rule_plan(seen.counted, name, day=day)) for name in RULES}


_METHODS: dict[str, tuple[Method, str]] = {
    "harvest": (
        _harvest,
        "packs the best-paying work tightly, then rebuilds the plan piece by piece: the planner's own",
    ),
    "multisearch": (_multisearch, "places jobs at their earliest starts in every ordering and keeps the best plan"),
    "relaxation": (
        _relaxation,
        "improves MultiSearch's plan with a CP engine: starts, and nodes of single-unit jobs",
    ),
    "delay": (_delay, "pushes one job after another later and places the jobs after it again, from MultiSearch's plan"),
    "hold": (_hold, "goes through the time ahead as EASY would, and holds jobs for cheaper hours as promises allow"),
    "easy": (_easy, "first come first served with backfilling, as common schedulers have it: EASY of the simulator"),
    "cp": (_cp, "gives the whole day to a CP engine from nothing: the baseline of the published study"),
    "est-strict": (
        _rule("est-strict"),
        "rule: first come first served, waiting for a completion where the first does not fit",
    ),
    "est": (_rule("est"), "rule: first come first served, skipping what does not fit now"),
    "wt-strict": (
        _rule("wt-strict"),
        "rule: shortest requested time, waiting for a completion where the first does not fit",
    ),
    "wt": (_rule("wt"), "rule: shortest requested time first, skipping what does not fit now"),
    "profit-strict": (
        _rule("profit-strict"),
        "rule: highest profit over cost, waiting for a completion where the first does not fit",
    ),
    "profit": (_rule("profit"), "rule: highest profit over cost first, skipping what does not fit now"),
}

METHODS = {name: (_of_rules(method), said) for name, (method, said) in _METHODS.items()}
"""Every method by name, and a sentence about it."""

RULES = ("est", "est-strict", "wt", "wt-strict", "profit", "profit-strict")
"""Those that model common schedulers."""

LOOKING_AHEAD = ("harvest", "multisearch", "relaxation", "delay")
"""Those that may plan several days together, of which the first is kept."""

HASTENED = ("harvest",)
"""Those whose plan is gone over once more, so that jobs start sooner where that costs next to nothing."""

WITHOUT_CARBON = ("hold", "easy", "est", "est-strict", "wt", "wt-strict")
"""Those whose plans are the same whatever a tonne of CO2 counts (`goal.carbon_weight`)."""

ENGINE_METHODS = {"relaxation": "planner.cp.relaxation", "cp": "planner.cp.cp_method"}
"""Those that run a CP engine, with the module to load before the clock starts."""


def method_named(name: str) -> Method:
    """The method of that name; InputError lists the known ones."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}; known: {', '.join(METHODS)}")
    return METHODS[name][0]


def usual_method(scenario: Scenario, *, from_moment: bool = False) -> str:
    """The method where nobody names one: what keeps promises, where a site gives any or plans from a moment on."""
    return "hold" if from_moment or scenario.rules.max_delay_s is not None else METHOD


class _Engined(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def needs_engine(self) -> bool: ...


P = TypeVar("P", bound=_Engined)


def with_engine(policies: Sequence[P], engine: str) -> tuple[list[P], str]:
    """The policies that can run with an engine, and a line on those that cannot for want of it, or nothing.

    SolverError with the remedy when no policy is left, or when the engine was asked for and is not there.
    """
    needing = [each.name for each in policies if each.needs_engine]
    if not needing and engine == ROUND_ENGINE:
        return list(policies), ""
    try:
        require_engine(engine)
    except SolverError as error:
        left = [each for each in policies if not each.needs_engine]
        if not needing or not left:
            raise
        return left, f"{', '.join(needing)} did not run: {error}"
    return list(policies), ""


def require_engine(name: str) -> None:
    """SolverError with the remedy when a CP engine is not known or not installed."""
    from planner.cp.engines import engine_named

    engine_named(name)
