"""The rule baselines: EST, WT and Profit, strict and not, walking through time as common schedulers do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from planner.accounting.settle import settle
from planner.domain.candidate import BestSoFar, Candidate, Listener, never
from planner.domain.columns import Floats, Ints, job_columns
from planner.domain.job_order import by_priority, overdue_first, profit_per_kw
from planner.domain.packing import most_cells
from planner.domain.plan import DEFERRED, Plan
from planner.domain.problem import Problem
from planner.domain.result import Result
from planner.machine.node_timelines import Jobs, jobs_of, most_groups
from planner.online.kernel.dispatch import Machine, walk
from planner.online.kernel.line import Line


def _submit(problem: Problem) -> Ints:
    return np.array([job.submit_unix for job in problem.jobs], dtype=np.int64)


def _wallclock(problem: Problem) -> Ints:
    return problem.columns.duration_s


def _profit_over_cost(problem: Problem) -> Floats:
    return -profit_per_kw(problem, problem.columns)


RULES: dict[str, Callable[[Problem], Ints | Floats]] = {
    "est": _submit,
    "wt": _wallclock,
    "profit": _profit_over_cost,
}
"""Keys, the least first; ties go by submit time, then id. Profit over cost sorts as profit per kW does."""

STRICT = "-strict"
"""Ending of the names of rules that stop at the first job that does not fit, until some job has ended."""


def rule_order(problem: Problem, name: str) -> Ints:
    """Indices of the problem's jobs in the order of a rule: by priority first, unless its key knows what they count."""
    rule = name.removesuffix(STRICT)
    order = np.lexsort((problem.submission_rank, RULES[rule](problem))).astype(np.int64)
    return overdue_first(problem, order if rule == "profit" else by_priority(problem, order))


def walk_rule(problem: Problem, name: str, on_trial: Listener | None = None) -> Result:
    """The plan that a rule makes: at each arrival or completion it starts what fits now, nodes in number order."""
    so_far = BestSoFar(never, on_trial)
    plan = _walk(problem, rule_order(problem, name), strict=name.endswith(STRICT))
    found = Candidate(plan, settle(problem, plan), name)
    so_far.keep_if_better(found)
    so_far.trials.append(found.trial)
    so_far.tell(found.trial)
    return so_far.result(name, leaves_room=True)


def _walk(problem: Problem, order: Ints, *, strict: bool) -> Plan:
    ground = ground_of(problem, problem.columns.duration_s, order)
    length_s = np.int64(problem.horizon.length_s)
    walk(ground.machine, ground.jobs, ground.line, strict, length_s, ground.start_s, ground.node_of_unit)
    return ground.plan


@dataclass(frozen=True, eq=False)
class Ground:
    """What a walk begins with, and where it writes starts and nodes: first of jobs that wait, then of others."""

    machine: Machine
    jobs: Jobs
    line: Line
    start_s: Ints
    node_of_unit: Ints
    count: int

    @property
    def plan(self) -> Plan:
        """What was written for the jobs that waited."""
        units = int(self.jobs.unit_ptr[self.count])
        return Plan(self.start_s[: self.count].copy(), self.node_of_unit[:units].copy())


def ground_of(problem: Problem, expected_s: Ints, order: Ints) -> Ground:
    """The beginning of a walk through a day: jobs that wait in an order of theirs, and all that has started.

    ``expected_s`` is how long the jobs that wait are thought to run [s].
    """
    count, running = len(problem.jobs), len(problem.running)
    everything = [*problem.jobs, *problem.started_jobs]
    columns = job_columns(everything, problem.cluster, problem.horizon, problem.now_s, problem.restrictions)
    # What has started waits for nobody; whoever waits for its end is released then.
    links, none_left = problem.columns.links, [(0, running)]
    columns = replace(
        columns,
        release_s=np.concatenate([problem.columns.release_s, columns.release_s[count:]]),
        links=replace(
            links,
            before_ptr=np.pad(links.before_ptr, none_left, mode="edge"),
            follower_ptr=np.pad(links.follower_ptr, none_left, mode="edge"),
        ),
    )
    jobs = jobs_of(columns)
    start_s = np.full(count + running, DEFERRED, dtype=np.int64)
    node_of_unit = np.full(int(columns.unit_ptr[-1]), DEFERRED, dtype=np.int64)
    node_of_unit[columns.unit_ptr[count] :] = problem.running_nodes
    rank = np.empty(count, dtype=np.int64)
    rank[order] = np.arange(count)
    # With outages ahead, whether there is room depends on how long a job runs.
    lengths_s = expected_s.tolist() if problem.outages else [0] * count
    asked = [
        (job.units, job.classes, job.exclusive, length_s) for job, length_s in zip(problem.jobs, lengths_s, strict=True)
    ]
    shapes = {shape: number for number, shape in enumerate(dict.fromkeys(asked))}
    cores = np.concatenate([[0], np.cumsum(columns.group_count * columns.group_amount[:, 0])])[columns.group_ptr]
    line = Line(
        arrivals=np.lexsort((rank, columns.release_s[:count])).astype(np.int64),
        rank=rank,
        shape=np.array([shapes[shape] for shape in asked], dtype=np.int64),
        cores=np.diff(cores).astype(np.int64),
        open=np.diff(links.before_ptr),
        is_released=np.zeros(count, dtype=np.int64),
        ready=np.zeros(count, dtype=np.int64),
        ready_count=np.zeros(1, dtype=np.int64),
        queue=np.zeros(count, dtype=np.int64),
        failed=np.zeros(len(shapes), dtype=np.int64),
    )
    machine = _opening(problem, jobs, columns.group_amount[columns.unit_group[columns.unit_ptr[count] :]], count)
    return Ground(machine, jobs, line, start_s, node_of_unit, count)


def _opening(problem: Problem, jobs: Jobs, running_amounts: Ints, count: int) -> Machine:
    """The machine with all that has started, which ends as the rule walks; the heap of ends may begin sorted.

    Until now nothing else starts, so that it does not matter when started work began.
    """
    free = problem.nodes.capacity.copy()
    np.subtract.at(free, problem.running_nodes, running_amounts)
    limit_mw = problem.cluster.power_limit_mw
    left_mw = (limit_mw or 0) - int(problem.running_columns.power_mw.sum())
    running = len(problem.running)
    ends = problem.running_end_s
    by_end = np.argsort(ends, kind="stable")
    end_time, end_job = np.zeros(count + running, dtype=np.int64), np.zeros(count + running, dtype=np.int64)
    end_time[:running], end_job[:running] = ends[by_end], by_end + count
    return Machine(
        free=free,
        cores_left=np.array([free[:, 0].sum()], dtype=np.int64),
        power_left_mw=np.array([left_mw], dtype=np.int64),
        is_limited=limit_mw is not None,
        end_time=end_time,
        end_job=end_job,
        running=np.array([running], dtype=np.int64),
        out_node=np.array([outage.node for outage in problem.outages], dtype=np.int64),
        out_start=np.array([outage.start_s for outage in problem.outages], dtype=np.int64),
        out_end=np.array([outage.end_s for outage in problem.outages], dtype=np.int64),
        open=np.zeros_like(free) if problem.outages else free,
        least=np.zeros_like(free),
        taken=np.zeros(len(free), dtype=np.int64),
        cells=np.zeros(most_cells(jobs.group_ptr, jobs.group_count, len(free)), dtype=np.int64),
        pattern=np.zeros(most_groups(jobs), dtype=np.int64),
    )
