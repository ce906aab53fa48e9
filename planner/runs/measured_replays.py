"""Policies and estimates replayed on one trace, and schedules that know all ahead; checked, measured, in one table."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from planner.defaults import DISPATCH_STEPS, ROUND_ENGINE, ROUND_TIME_S
from planner.domain.trace import draw_deadlines
from planner.domain.waiting_queue import QueueSolver
from planner.errors import InputError
from planner.inputs.traces import Source
from planner.metrics import MONEY, TRIMMING, LateTable, Metric, Outcome, late_starts, measure, metric_named
from planner.online.audit_replay import require_sound
from planner.online.estimates import Estimate, estimate_named
from planner.online.holding import NO_HOLDING, Holding
from planner.online.lower_bounds import BOUNDED, lower_bound
from planner.online.objectives import NO_PROFIT, Objective
from planner.online.offline import OfflineSchedule, improve_schedule, make_search_ready, require_pool
from planner.online.policies import USUAL_SEARCH, OfflineSearch, Policy, QueueSearch, policy_named
from planner.online.replay import Replay, make_ready, replay
from planner.planning.energy_costs import profit_terms_of
from planner.planning.hold_settings import holding_of_trace
from planner.scenario.schema import Scenario
from planner.units import SECONDS_PER_HOUR

if TYPE_CHECKING:
    from planner.online.round_watch import RoundWatch

OnRun = Callable[[str, int, int], None]
"""Is called with a run: its name, and how many jobs of how many have finished."""


@dataclass(frozen=True)
class ReplayRun:
    """One replay with its metrics; ``counted`` says how many jobs the trimming rule left.

    ``remark`` is a line for people below the table, ``at_least`` what no schedule can be below in the metric that an
    off-line schedule was made for, if that is known. ``late`` has starts beside the base of a policy that holds jobs.
    """

    policy: str
    estimate: str
    replay: Replay
    values: dict[str, float]
    counted: int
    cpu_s: float
    remark: str = ""
    at_least: float | None = None
    late: LateTable | None = None

    def row(self) -> dict[str, object]:
        """The run as a line of a table."""
        return {
            "policy": self.policy,
            "estimate": self.estimate,
            "jobs": self.counted,
            **self.values,
            **({} if self.at_least is None else {"at_least": self.at_least}),
            "cpu_s": round(self.cpu_s, 3),
        }

    def late_rows(self) -> list[dict[str, object]]:
        """Starts beside the base without holds: of all jobs, then by class of nodes and by account, worst first."""
        if self.late is None:
            return []
        run = {"run": f"{self.policy}, {self.estimate}"}
        found = [run | {"jobs of": "all", **self.late.all_jobs.as_dict()}]
        for what, groups in self.late.by.items():
            found += [run | {"jobs of": f"{what} {name}", **told.as_dict()} for name, told in groups.items()]
        return found

    def engine_row(self) -> dict[str, object]:
        """How the engine of a cp policy did; nothing for the others."""
        counts = self.replay.engine_counts
        return {} if counts is None else {f"engine_{name}": value for name, value in asdict(counts).items()}

    def engine_line(self, used: RoundEngine) -> str:
        """The same as a line for people; empty for the others."""
        counts = self.replay.engine_counts
        if counts is None:
            return ""
        rounds = f"{counts.rounds:,} rounds, {counts.proven:,} proven optimal, {counts.fallbacks:,} fell back to list"
        return f"{self.policy}, {self.estimate}: {used.words(self.replay.policy)} planned {rounds}"


@dataclass(frozen=True)
class Measurement:
    """What is measured: metrics by name, the trimming rule, and the scenario for those about energy and money."""

    metrics: tuple[Metric, ...]
    money: tuple[str, ...]
    trimming: str = "none"
    scenario: Scenario | None = None

    @classmethod
    def named(cls, names: list[str], trimming: str = "none", scenario: Scenario | None = None) -> Measurement:
        """From names; InputError lists the known ones."""
        if trimming not in TRIMMING:
            raise InputError(f"unknown trimming rule {trimming!r}; known: {', '.join(TRIMMING)}")
        money = tuple(name for name in names if name in MONEY)
        if money and scenario is None:
            raise InputError(f"metric {money[0]!r} needs a scenario: what energy costs, and how it is cooled")
        return cls(tuple(metric_named(name) for name in names if name not in MONEY), money, trimming, scenario)


@dataclass(frozen=True)
class Conduct:
    """How traces are replayed: corrections, rounds, predictions, who is given a deadline, and what ``order`` tries."""

    correction: str = "request"
    rounds: str = "second"
    predictions: str = "usual"
    deadline_percent: float = 0.0
    seed: int = 0
    evaluations: int = USUAL_SEARCH.evaluations

    def changed(self) -> str:
        """What differs from the usual, in words."""
        items = asdict(self).items()
        return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in items if value != getattr(USUAL, name))


USUAL = Conduct()


@dataclass(frozen=True)
class RoundEngine:
    """The engine of the cp policies, how long it may take in each round [s], and the steps of a search without one."""

    engine: str = ROUND_ENGINE
    time_limit_s: float = ROUND_TIME_S
    dispatch_steps: int = DISPATCH_STEPS

    def solver(self, policy: Policy, seed: int) -> QueueSolver | None:
        """What plans the queues, if the policy needs it; SolverError with the remedy when its engine is missing."""
        if policy.kind != "cp":
            return None
        if policy.dispatcher:
            from planner.cp.dispatchers import dispatcher_named

            return dispatcher_named(
                policy.dispatcher,
                engine=self.engine,
                time_limit_s=self.time_limit_s,
                steps=self.dispatch_steps,
                seed=seed,
            )

        from planner.cp.engines import engine_named
        from planner.cp.queue_model import EngineSolver

        return EngineSolver(engine_named(self.engine), self.time_limit_s, seed)

    def row(self, policies: list[Policy]) -> dict[str, object]:
        """What some policies make use of, by name."""
        limits: dict[str, object] = {"engine": self.engine, "time_limit_s": self.time_limit_s}
        found = limits if any(each.needs_engine for each in policies) else {}
        if any(each.kind == "cp" and not each.needs_engine for each in policies):
            found |= {"dispatch_steps": self.dispatch_steps}
        return found

    def words(self, policy: Policy) -> str:
        """Who plans the queues of a policy, and with what limit."""
        if not policy.needs_engine:
            return f"a search with {self.dispatch_steps:,} steps"
        return f"{self.engine} with {self.time_limit_s:g} s"


USUAL_ENGINE = RoundEngine()


def simulate(
    source: Source,
    policies: list[Policy],
    estimates: list[Estimate],
    measured: Measurement,
    *,
    conduct: Conduct = USUAL,
    engine: RoundEngine = USUAL_ENGINE,
    watch: RoundWatch | None = None,
    on_run: OnRun | None = None,
) -> list[ReplayRun]:
    """Replay every policy with every estimate; each replay is checked before it is measured.

    A watch times the rounds of one replay after the other, and has those of the last in the end.
    """
    solvers = {policy: engine.solver(policy, conduct.seed) for policy in policies}
    deadlines = draw_deadlines(source.trace, conduct.deadline_percent, conduct.seed)
    profit, holding = NO_PROFIT, NO_HOLDING
    needy = next((policy for policy in policies if policy.needs_prices), None)
    if needy is not None:
        if measured.scenario is None:
            raise InputError(f"policy {needy.name!r} needs a scenario: what energy costs, and what work earns")
        profit = profit_terms_of(measured.scenario, source.trace)
    if measured.scenario is not None and any(policy.holds for policy in policies):
        holding = holding_of_trace(measured.scenario, source.trace)
    as_asked: dict[str, Any] = {
        "correction": conduct.correction,
        "rounds": conduct.rounds,
        "predictions": conduct.predictions,
        "deadline_s": deadlines,
    }
    runs = []
    for estimate in estimates:
        for policy in policies:
            make_ready(policy, estimate.make, solvers[policy], is_watched=watch is not None, rounds=conduct.rounds)
            title = f"{policy.name}, {estimate.name}"
            began = cpu_now_s()
            result = replay(
                source.trace,
                policy,
                estimate.make(source.trace),
                **as_asked,
                profit=profit,
                holding=holding if policy.holds else NO_HOLDING,
                search=QueueSearch(conduct.evaluations, conduct.seed),
                solver=solvers[policy],
                watch=watch,
                on_progress=None if on_run is None else lambda done, of, title=title: on_run(title, done, of),  # type: ignore[misc]
            )
            cpu_s = cpu_now_s() - began
            run = checked_run(source, (policy.name, estimate.name), result, measured, cpu_s)
            if policy.holds and holding.may_hold and measured.scenario is not None:
                believed = estimate.make(source.trace)
                shadow = replay(source.trace, replace(policy, holds=False), believed, **as_asked)
                run = _beside(run, shadow, source, measured.scenario)
            if policy.holds and not np.any(result.held_until_s >= 0):
                why = _why_unheld(measured.scenario, holding)
                run = replace(run, remark=f"{policy.name}: nothing is held: {why}") if why else run
            runs.append(run)
    return runs


def _why_unheld(scenario: Scenario | None, holding: Holding) -> str:
    """Why no job can be held, whichever it is; empty where one could have been."""
    if scenario is None:
        return "without a scenario there are no prices and no rules.max_delay; give --scenario"
    if scenario.rules.max_delay_s is None:
        return "the scenario has no rules.max_delay; give --set rules.max_delay=6h"
    if not scenario.rules.max_delay_s:
        return "rules.max_delay is 0; give --set rules.max_delay=6h"
    known = np.empty(0) if holding.costs is None else holding.costs.eur_per_kwh
    known = known[~np.isnan(known)]
    return "" if len(known) and np.ptp(known) else "electricity costs the same at all hours; give prices by the hour"


def _beside(run: ReplayRun, shadow: Replay, source: Source, scenario: Scenario) -> ReplayRun:
    """The run with its starts beside those of its base without holds, in all and by class of nodes and account."""
    trace, cluster = source.trace, scenario.cluster
    first_node = run.replay.node_of_unit[trace.unit_ptr[:-1]].tolist()
    groups = {
        "class": [cluster.classes[cluster.class_index(max(0, node))].name for node in first_node],
        "account": [job.account or "none" for job in source.jobs],
    }
    late = late_starts(run.replay, shadow, run.replay.max_delay_s, groups=groups)
    told = late.all_jobs
    mean, most, worst = (f"{each / 60:.0f} min" for each in (told.late_mean_s, told.late95_s, told.latest_s))
    words = (
        f"{run.policy}, {run.estimate}: {told.later_than_allowed:,} of {told.late_of:,} jobs start more than"
        f" {run.replay.max_delay_s / SECONDS_PER_HOUR:g} h after their start under {shadow.policy.name} without holds;"
        f" mean {mean}, 95 % less than {most}, worst {worst}"
    )
    return replace(run, late=late, remark=words)


def checked_run(
    source: Source, names: tuple[str, str], result: Replay, measured: Measurement, cpu_s: float, remark: str = ""
) -> ReplayRun:
    """A replay under the names of its policy and its estimate, checked and then measured."""
    require_sound(result)
    outcome = outcome_of(result)
    values = measure(outcome, list(measured.metrics), measured.trimming)
    return ReplayRun(*names, result, values, len(outcome.trimmed(measured.trimming)), cpu_s, remark)


def cpu_now_s() -> float:
    """CPU time of this process and of those that it started and that have ended, as engines of their own do [s]."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def outcome_of(result: Replay) -> Outcome:
    """What metrics need of a replay; a job that waits for others counts as submitted when it joins the queue."""
    trace = result.trace
    return Outcome(
        submit_s=result.ready_s,
        start_s=result.start_s,
        runtime_s=trace.runtime_s,
        width=trace.processors_of,
        processors=trace.machine.processors,
        deadline_s=result.deadline_s,
        estimate_s=result.estimate_s,
        reference_s=result.reference_s,
        promise_s=result.latest_s,
        held_until_s=result.held_until_s,
    )


def with_money(runs: list[ReplayRun], source: Source, measured: Measurement) -> list[ReplayRun]:
    """The runs with their energy and money, all settled over the same days: idle nodes draw power on each of them."""
    if not measured.money or measured.scenario is None:
        return runs
    from planner.runs.replay_ledger import settle_replays, sum_of_days

    settled = settle_replays(measured.scenario, source.jobs, [run.replay for run in runs])
    totals = [sum_of_days(days) for days in settled]
    return [
        replace(run, values=run.values | {name: found[name] for name in measured.money})
        for run, found in zip(runs, totals, strict=True)
    ]


def simulate_offline(
    source: Source,
    objectives: list[Objective],
    measured: Measurement,
    search: OfflineSearch,
    *,
    conduct: Conduct = USUAL,
    on_run: OnRun | None = None,
) -> list[ReplayRun]:
    """Improve for every objective what the on-line policy ``order`` for it does with actual runtimes.

    Beside it stands what no schedule can be below, where that can be proven.
    """
    trace = source.trace
    require_pool(trace)
    deadlines = draw_deadlines(trace, conduct.deadline_percent, conduct.seed)
    runs = []
    for objective in objectives:
        policy, name = policy_named(f"order-{objective.name}"), f"offline-{objective.name}"
        make_ready(policy, estimate_named("actual").make, rounds=conduct.rounds)
        make_search_ready()
        began = time.process_time()
        first = replay(
            trace,
            policy,
            trace.runtime_s,
            rounds=conduct.rounds,
            deadline_s=deadlines,
            search=QueueSearch(conduct.evaluations, conduct.seed),
        )
        found = improve_schedule(
            trace,
            objective,
            first.start_s,
            search,
            on_steps=None if on_run is None else lambda done, of, name=name: on_run(name, done, of),  # type: ignore[misc]
        )
        cpu_s = time.process_time() - began
        result = replace(first, start_s=found.start_s)
        remark = _remark(name, policy.name, found)
        run = checked_run(source, (name, "actual"), result, measured, cpu_s, remark)
        if search.bound_steps > 0 and objective.name in BOUNDED:
            run = _with_bound(run, objective.name, search.bound_steps)
        runs.append(run)
    return runs


def _remark(name: str, first: str, found: OfflineSchedule) -> str:
    """How far the search came."""
    part = found.value / found.first_value if found.first_value else 1.0
    return f"{name}: {100 * part:.2f} % of the objective of {first}, from which it started; {found.steps:,} steps"


def _with_bound(run: ReplayRun, metric: str, steps: int) -> ReplayRun:
    """The run with what no schedule can be below in its metric, and how far above that it is; all jobs count."""
    least = lower_bound(run.replay.trace, metric, steps=steps).value
    value = measure(outcome_of(run.replay), [metric_named(metric)], "none")[metric]
    gap = f"{100 * (value / least - 1):.1f} %"
    words = f"; {metric} is {value:,.2f}, and no schedule is below {least:,.2f}: a gap of {gap}"
    return replace(run, at_least=least, remark=run.remark + words)
