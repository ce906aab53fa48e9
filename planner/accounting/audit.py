"""The audit: every rule of the day checked on a finished plan and its bills, with no code shared with any search.

Rules
-----
``start``      a job starts after its submission and the begin it asked for, not before now, and within the day
``units``      every unit of a placed job is on a node of the cluster, no unit of a deferred job is
``classes``    every unit of a placed job is on a node of a class on which the job may run
``exclusive``  no unit of another job is on the node of a job that has its nodes for itself, at any second from now on
``outage``     no unit of a placed job is on a node during one of its outages
``capacity``   while a placed job is on a node, use of every resource stays within capacity at every second from now on
``power``      while a placed job draws power, all jobs together stay within the site's limit from now on
``dependency`` a job starts after all that it waits for has started or ended
``defer``      under ``defer: full`` no deferred job could start today in the finished plan
``deadline``   a job that ends after its deadline, or is deferred past it, could not have met it in this plan
``bill``       every job pays for its hours by what it asked, whatever nodes it was given (`require_bills`)

Cost: a sort of the units, and one pass over them for each deferred job that does not ask at least as much as another
one already shown to have no room.

A plan of a search that breaks a rule is a bug of the planner, which must not pass for a plan that earns less. A site
must not be left without a plan, so the search goes on without the broken one, and its result says so: on stderr and in
summary.json (``stands_in_for``). Tests turn `raises` on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from planner.accounting.could_have_started import FOR_EVER, Room, first_starts, occupation, step_table
from planner.domain.cluster import NodeClass
from planner.domain.columns import Ints, JobColumns
from planner.domain.job import Job, UnitGroup
from planner.domain.ledger import Ledger
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.rates import Rates
from planner.domain.situation_check import Stay, meetings
from planner.errors import AuditError
from planner.units import MILLI, SECONDS_PER_HOUR

CENTS = 1e-9
"""The part of a bill, and the money, by which a bill may differ from what is worked out here."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule, where, and how."""

    rule: str
    where: str
    detail: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.where}: {self.detail}"


def require_clean(problem: Problem, plan: Plan, *, leaves_room: bool = False) -> None:
    """Raise AuditError with the violations of a plan, if it has any."""
    violations = audit(problem, plan, leaves_room=leaves_room)
    if violations:
        raise AuditError(f"the plan breaks {broken_rules(violations)}")


def broken_rules(violations: Sequence[Violation]) -> str:
    """How many rules are broken, and the first few of them in words."""
    shown = "; ".join(str(violation) for violation in violations[:5])
    more = f" (+{len(violations) - 5} more)" if len(violations) > 5 else ""
    return f"{len(violations)} rule{'s' if len(violations) > 1 else ''}: {shown}{more}"


def audit(problem: Problem, plan: Plan, *, leaves_room: bool = False) -> list[Violation]:
    """All violations of the day's rules by a plan; none is the only good answer.

    ``leaves_room`` is for methods that promise nothing about ``defer`` and ``deadline``, such as rules that walk
    through time.
    """
    columns = problem.columns
    if len(plan.start_s) != len(columns) or len(plan.node_of_unit) != columns.unit_ptr[-1]:
        return [Violation("units", "plan", "it has another number of jobs or units than the problem")]
    violations = _starts(problem, plan) + _units(problem, plan)
    if violations:
        return violations
    violations = _classes(problem, plan) + _exclusive(problem, plan) + _outages(problem, plan)
    violations += _capacity(problem, plan) + _power(problem, plan) + _dependencies(problem, plan)
    if violations or leaves_room:
        return violations
    return _deferrals(problem, plan) + _deadlines(problem, plan)


def _starts(problem: Problem, plan: Plan) -> list[Violation]:
    submitted = np.array([problem.horizon.to_s(job.submit_unix) for job in problem.jobs], dtype=np.int64)
    asked = [0 if job.begin_unix is None else problem.horizon.to_s(job.begin_unix) for job in problem.jobs]
    release = np.maximum(np.maximum(submitted, problem.now_s), np.array(asked, dtype=np.int64))
    end = problem.starts_end_s
    bad = plan.is_placed & ((plan.start_s < release) | (plan.start_s >= end))
    return [
        Violation(
            "start",
            f"job {problem.jobs[job].id}",
            f"starts at {plan.start_s[job]} s, allowed {release[job]} to {end - 1} s",
        )
        for job in np.flatnonzero(bad)
    ]


def _units(problem: Problem, plan: Plan) -> list[Violation]:
    pointers = problem.columns.unit_ptr
    placed = np.repeat(plan.is_placed, np.diff(pointers))
    node = plan.node_of_unit
    bad = np.where(placed, (node < 0) | (node >= problem.cluster.node_count), node != DEFERRED)
    return [
        Violation(
            "units",
            f"job {problem.jobs[np.searchsorted(pointers, unit, side='right') - 1].id}",
            f"a unit is on node {node[unit]} of {problem.cluster.node_count}",
        )
        for unit in np.flatnonzero(bad)
    ]


def _classes(problem: Problem, plan: Plan) -> list[Violation]:
    cluster, allowed = problem.cluster, {job.id: job.classes for job in problem.jobs if job.classes}
    violations = []
    for placed in plan.placements(problem) if allowed else ():
        for node in sorted(set(placed.nodes)) if placed.job_id in allowed else ():
            if cluster.classes[cluster.class_index(node)].name not in allowed[placed.job_id]:
                only = ", ".join(allowed[placed.job_id])
                detail = f"runs on {cluster.node_name(node)}, but may only run on {only}"
                violations.append(Violation("classes", f"job {placed.job_id}", detail))
    return violations


def _exclusive(problem: Problem, plan: Plan) -> list[Violation]:
    jobs = {job.id: job for job in (*problem.jobs, *(work.job for work in problem.running))}
    if not any(job.exclusive for job in jobs.values()):
        return []
    held = [(work.job.id, work.start_s, work.end_s, work.nodes) for work in problem.running]
    for placed in plan.placements(problem):
        end_s = placed.start_s + jobs[placed.job_id].planned_s
        held.append((placed.job_id, placed.start_s, end_s, placed.nodes))
    return [
        Violation(
            "exclusive",
            f"node {problem.cluster.node_name(second.node)} from {second.start} s",
            f"jobs {first.job} and {second.job} share it, and one of them has its nodes for itself",
        )
        for first, second in meetings(
            Stay(node, start_s, end_s, job, jobs[job].exclusive)
            for job, start_s, end_s, nodes in held
            for node in nodes
        )
        if min(first.end, second.end) > problem.now_s
    ]


def _outages(problem: Problem, plan: Plan) -> list[Violation]:
    columns = problem.columns
    unit_job = np.repeat(np.arange(len(columns)), np.diff(columns.unit_ptr))
    start, end = plan.start_s[unit_job], (plan.start_s + columns.duration_s)[unit_job]
    violations = []
    for outage in problem.outages:
        bad = (plan.node_of_unit == outage.node) & (start < outage.end_s) & (end > outage.start_s)
        violations += [
            Violation(
                "outage",
                f"job {problem.jobs[job].id}",
                f"runs on {problem.cluster.node_name(outage.node)}, which is out of use from {outage.start_s} s",
            )
            for job in np.unique(unit_job[bad & plan.is_placed[unit_job]])
        ]
    return violations


def _capacity(problem: Problem, plan: Plan) -> list[Violation]:
    held = occupation(problem, plan)
    # Hidden columns stand for rules that are checked by themselves.
    capacity, amount = (
        table[:, : len(problem.cluster.resources)] for table in (problem.nodes.capacity, held.unit_amount)
    )
    table = step_table(capacity, held.unit_node, held.unit_start_s, held.unit_end_s, amount)
    entry, resource = np.nonzero((table.free < 0) & (table.until_s > problem.now_s)[:, None])
    columns = problem.columns
    unit_job = np.repeat(np.arange(len(columns)), np.diff(columns.unit_ptr))
    start, end = plan.start_s[unit_job], (plan.start_s + columns.duration_s)[unit_job]

    def is_planned(k: int) -> bool:
        """Whether the plan has put something there: a site may let jobs share more than a node has."""
        here = plan.node_of_unit == table.row[k]
        return bool(np.any(here & (start < table.until_s[k]) & (end > table.time_s[k])))

    return [
        Violation(
            "capacity",
            f"node {problem.cluster.node_name(int(table.row[k]))} from {table.time_s[k]} s",
            f"{-table.free[k, r] / MILLI:g} {problem.cluster.resources[r]} too many",
        )
        for k, r in zip(entry.tolist(), resource.tolist(), strict=True)
        if is_planned(k)
    ]


def _power(problem: Problem, plan: Plan) -> list[Violation]:
    limit_mw = problem.cluster.power_limit_mw
    if limit_mw is None:
        return []
    held = occupation(problem, plan)
    limit = np.array([[limit_mw]], dtype=np.int64)
    site = np.zeros(len(held.job_start_s), dtype=np.int64)
    table = step_table(limit, site, held.job_start_s, held.job_end_s, held.job_power_mw[:, None])
    start, end = plan.start_s[plan.is_placed], (plan.start_s + problem.columns.duration_s)[plan.is_placed]
    draws = problem.columns.power_mw[plan.is_placed] > 0
    return [
        Violation("power", f"from {table.time_s[k]} s", f"{-table.free[k, 0] / MILLI:g} W over the limit")
        for k in np.flatnonzero((table.free[:, 0] < 0) & (table.until_s > problem.now_s))
        # Where the plan adds nothing, what has started draws too much by itself.
        if np.any(draws & (start < table.until_s[k]) & (end > table.time_s[k]))
    ]


def _dependencies(problem: Problem, plan: Plan) -> list[Violation]:
    first_s = first_starts(problem, plan)
    late = plan.is_placed & (plan.start_s < first_s)
    return [
        Violation(
            "dependency",
            f"job {problem.jobs[job].id}",
            f"starts at {plan.start_s[job]} s, "
            + (
                "though what it waits for does not run"
                if first_s[job] >= FOR_EVER
                else f"allowed from {first_s[job]} s"
            ),
        )
        for job in np.flatnonzero(late)
    ]


def _deferrals(problem: Problem, plan: Plan) -> list[Violation]:
    deferred = np.flatnonzero(~plan.is_placed)
    if problem.defer == "free" or not len(deferred):
        return []
    first_s = first_starts(problem, plan)
    room, hopeless = Room(problem, plan), _Hopeless(problem.columns, first_s)
    latest = problem.starts_end_s - 1
    violations = []
    for job in hopeless.smallest_first(deferred):
        if hopeless.covers(job):
            continue
        if room.can_start(job, int(first_s[job]), latest):
            violations.append(Violation("defer", f"job {problem.jobs[job].id}", "deferred though it could start today"))
        else:
            hopeless.add(job)
    return violations


def _deadlines(problem: Problem, plan: Plan) -> list[Violation]:
    columns, first_s = problem.columns, first_starts(problem, plan)
    start = np.where(plan.is_placed, plan.start_s, problem.starts_end_s)
    missed = np.flatnonzero((start > columns.latest_start_s) & (columns.latest_start_s >= first_s))
    return [
        Violation("deadline", f"job {problem.jobs[job].id}", "misses a deadline that it could have met")
        for job in missed
        if Room(problem, plan, without=int(job)).can_start(
            int(job), int(first_s[job]), int(columns.latest_start_s[job])
        )
    ]


class _Hopeless:
    """Jobs of equal units shown to have no room: a job that asks at least as much has none either."""

    def __init__(self, columns: JobColumns, first_s: Ints) -> None:
        self._columns = columns
        groups = np.diff(columns.group_ptr)
        largest = columns.group_ptr[:-1].copy()
        for job in np.flatnonzero(groups > 1):
            largest[job] += np.argmax(columns.group_count[columns.group_ptr[job] : columns.group_ptr[job + 1]])
        self._is_even = groups == 1
        # Amounts and number of the largest group, duration, first possible start and power of every job.
        self._asks = np.column_stack(
            [columns.group_amount[largest], columns.group_count[largest], columns.duration_s, first_s, columns.power_mw]
        )
        self._covered = np.zeros(len(self._asks), dtype=bool)

    def smallest_first(self, jobs: Ints) -> list[int]:
        """The jobs, those that ask little first, so that they speak for the others."""
        columns = self._columns
        size = np.diff(columns.unit_ptr)[jobs]
        return [int(job) for job in jobs[np.lexsort((columns.duration_s[jobs], size))]]

    def covers(self, job: int) -> bool:
        return bool(self._covered[job])

    def add(self, job: int) -> None:
        if self._is_even[job]:
            self._covered |= np.all(self._asks >= self._asks[job], axis=1)


raises = False
"""Whether a broken plan ends everything with AuditError."""


def why_broken(whose: str, violations: Sequence[Violation]) -> str:
    """Whose plan breaks which rules, in words; empty when it breaks none."""
    if not violations:
        return ""
    why = f"the plan of {whose} breaks {broken_rules(violations)}"
    if raises:
        raise AuditError(why)
    return why


def require_bills(problem: Problem, ledger: Ledger) -> None:
    """Raise AuditError with the bills of a ledger that are not what the jobs asked for, if there are any.

    A unit pays the price of the cheapest class that its job may use and that has room for it. All is worked out again
    from jobs, classes and prices, job by job, with no code shared with the ledger or any search.
    """
    if wrong := wrong_bills(problem, ledger):
        raise AuditError(f"the bills break {broken_rules(wrong)}")


def wrong_bills(problem: Problem, ledger: Ledger) -> list[Violation]:
    """The jobs whose bill is not what they asked for."""
    jobs = {job.id: job for job in (*problem.jobs, *(work.job for work in problem.running))}
    prices: dict[tuple[tuple[UnitGroup, ...], tuple[str, ...]], float] = {}
    lines, wrong = ledger.jobs, []
    edges = [0, *(each.end_s for each in problem.segments)]
    counted_s = np.cumsum([0.0, *(each.length_s * each.counts for each in problem.segments)])
    hours = (np.interp(lines.end_s, edges, counted_s) - np.interp(lines.start_s, edges, counted_s)) / SECONDS_PER_HOUR
    for job_id, ran_h, billed in zip(lines.job_ids, hours.tolist(), lines.revenue_eur.tolist(), strict=True):
        job = jobs[job_id]
        asked = (job.units, job.classes)
        if asked not in prices:
            prices[asked] = _eur_per_hour(problem, job)
        owed = prices[asked] * _factor(problem.rates, job) * ran_h
        if not math.isclose(billed, owed, rel_tol=CENTS, abs_tol=CENTS):
            wrong.append(Violation("bill", f"job {job_id}", f"pays {billed:.6f}, and by what it asked {owed:.6f}"))
    return wrong


def _factor(rates: Rates, job: Job) -> float:
    return job.revenue_weight * rates.account_factors.get(job.account, 1.0) * rates.qos_factors.get(job.qos, 1.0)


def _eur_per_hour(problem: Problem, job: Job) -> float:
    """What a job pays for an hour: each unit at its cheapest class."""
    total = 0.0
    for group in job.units:
        room = [each for each in problem.cluster.classes if _has_room(each, group)]
        allowed = [each for each in room if not job.classes or each.name in job.classes]
        total += group.count * min((_on(problem.rates, each, group) for each in allowed or room), default=0.0)
    return total


def _thousandths(group: UnitGroup) -> dict[str, int]:
    """What a unit asks for, in thousandths rounded up; whoever asks for something asks for one."""
    return {name: max(1, math.ceil(round(amount * MILLI, 3))) for name, amount in group.amounts}


def _has_room(node_class: NodeClass, group: UnitGroup) -> bool:
    return all(
        asked <= math.floor(round(node_class.capacity.get(name, 0.0) * MILLI, 3))
        for name, asked in _thousandths(group).items()
    )


def _on(rates: Rates, node_class: NodeClass, group: UnitGroup) -> float:
    """What an hour of a unit costs at the prices of a class."""
    price = rates.class_prices.get(node_class.name, rates)
    asked = _thousandths(group)
    share = max(amount / math.floor(round(node_class.capacity[name] * MILLI, 3)) for name, amount in asked.items())
    on_top = sum(asked.get(name, 0) / MILLI * eur for name, eur in price.eur_per_hour.items())
    return share * node_class.capacity["cores"] * price.eur_per_core_hour + on_top
