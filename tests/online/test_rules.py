"""Claims about the rule baselines: what a slow and obvious walk through time does, they do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.domain.plan import DEFERRED
from planner.domain.problem import Problem, Running
from planner.domain.situation import NodeOutage
from planner.methods import METHODS, Params, method_named, rule_results
from planner.online.day_under_policy import RULES, STRICT, rule_order, rule_plan
from tests.factories import DAY, random_problem
from tests.plain_day import HOUR, day
from tests.plain_day import job as a_job

NAMES = [f"{rule}{strict}" for rule in RULES for strict in (STRICT, "")]


def slow_walk(problem: Problem, name: str) -> tuple[list[int], list[int]]:
    """Starts and nodes by a walk over all events with plain lists: no heap, no memory of what failed."""
    columns, capacity = problem.columns, problem.nodes.capacity
    length = problem.horizon.length_s
    limit = problem.cluster.power_limit_w
    start = [DEFERRED] * len(problem.jobs)
    node_of_unit = [DEFERRED] * int(columns.unit_ptr[-1])
    holds: list[tuple[int, int, list[tuple[int, np.ndarray]]]] = []
    running, unit = problem.running_columns, 0
    for work, power in zip(problem.running, running.power_mw, strict=True):
        taken = []
        for node in work.nodes:
            taken.append((node, running.group_amount[running.unit_group[unit]]))
            unit += 1
        holds.append((work.end_s, int(power), taken))
    order = rule_order(problem, name).tolist()
    moment, blocked = 0, False
    while moment < length:
        free, power_left = capacity.copy(), None if limit is None else int(limit * 1000)
        for end, power, taken in holds:
            if end > moment:
                for node, amount in taken:
                    free[node] -= amount
                power_left = None if power_left is None else power_left - power
        waits = blocked and any(end > moment for end, _, _ in holds) and all(end != moment for end, _, _ in holds)
        for job in [] if waits else order:
            if start[job] != DEFERRED or columns.release_s[job] > moment:
                continue
            nodes = slow_pack(problem, job, free)
            power = int(columns.power_mw[job])
            if nodes is None or (power_left is not None and power > power_left):
                blocked = name.endswith(STRICT)
                if blocked:
                    break
                continue
            start[job] = moment
            first = int(columns.unit_ptr[job])
            node_of_unit[first : first + len(nodes)] = nodes
            taken = [(node, columns.group_amount[columns.unit_group[first + k]]) for k, node in enumerate(nodes)]
            for node, amount in taken:
                free[node] -= amount
            power_left = None if power_left is None else power_left - power
            holds.append((moment + int(columns.duration_s[job]), power, taken))
            blocked = False
        events = [end for end, _, _ in holds] + columns.release_s.tolist()
        moment = min([event for event in events if event > moment], default=length)
    return start, node_of_unit


def slow_pack(problem: Problem, job: int, free: np.ndarray) -> list[int] | None:
    """Nodes in number order; odd units where they cost the fewest units of the largest group."""
    columns, free = problem.columns, free.copy()
    groups = list(range(int(columns.group_ptr[job]), int(columns.group_ptr[job + 1])))
    main = max(groups, key=lambda group: (columns.group_count[group], -group))

    def copies(left: np.ndarray, group: int) -> int:
        asked = columns.group_amount[group] > 0
        amount = columns.group_amount[group][asked]
        return max(0, min(int((left[asked] // amount).min()), int(columns.group_count[main])))

    chosen: dict[int, list[int]] = {group: [] for group in groups}
    for group in groups:
        for _ in range(int(columns.group_count[group]) if group != main else 0):
            best = None
            for node in range(len(free)):
                if np.all(free[node] >= columns.group_amount[group]):
                    loss = copies(free[node], main) - copies(free[node] - columns.group_amount[group], main)
                    if best is None or loss < best[0]:
                        best = (loss, node)
            if best is None:
                return None
            free[best[1]] -= columns.group_amount[group]
            chosen[group].append(best[1])
    for node in range(len(free)):
        chosen[main] += [node] * copies(free[node], main)
    if len(chosen[main]) < columns.group_count[main]:
        return None
    chosen[main] = chosen[main][: int(columns.group_count[main])]
    return [node for group in groups for node in chosen[group]]


@pytest.mark.parametrize("name", NAMES)
def test_same_as_slow_walk(name: str) -> None:
    """On random days with shared nodes, odd units, running work and power limits, every start and node is the same."""
    for seed in range(40):
        problem = random_problem(np.random.default_rng(seed), jobs=14)
        start, nodes = slow_walk(problem, name)
        plan = rule_plan(problem, name).plan
        assert plan.start_s.tolist() == start, seed
        assert plan.node_of_unit.tolist() == nodes, seed


def test_all_rules_at_once_are_each_alone() -> None:
    """Played on one trace, with priorities and jobs that may not begin today: plan and money of every rule's method."""
    for seed in range(10):
        problem = random_problem(np.random.default_rng(seed), jobs=14, extras=True)
        late = replace(problem.jobs[0], begin_unix=problem.horizon.end_unix + 1)
        problem = replace(problem, jobs=(late, replace(problem.jobs[1], priority=9.0), *problem.jobs[2:]))
        found = rule_results(problem)
        assert sorted(found) == sorted(NAMES)
        for name, result in found.items():
            alone = method_named(name)(problem, Params(), lambda best: False)
            assert result.plan.start_s.tolist() == alone.plan.start_s.tolist()
            assert result.plan.node_of_unit.tolist() == alone.plan.node_of_unit.tolist()
            assert result.ledger.totals == alone.ledger.totals


@pytest.mark.parametrize("name", NAMES)
def test_audited_and_settled(name: str) -> None:
    """A rule's plan breaks no rule of the machine, says that it may leave room, and is a method by its name."""
    for seed in range(10):
        problem = random_problem(np.random.default_rng(seed), jobs=14, extras=True)
        result = method_named(name)(problem, Params(), lambda best: False)
        assert result.leaves_room
        assert result.method == name
        assert audit(problem, result.plan, leaves_room=True) == []
        assert result.trials[0].profit_eur == result.ledger.profit_eur


def test_order_of_the_file_is_irrelevant() -> None:
    """The same jobs in another order start at the same time on the same nodes."""
    problem = random_problem(np.random.default_rng(3), jobs=16)
    turned = replace(problem, jobs=problem.jobs[::-1])
    for name in NAMES:
        one = {p.job_id: p for p in rule_plan(problem, name).plan.placements(problem)}
        other = {p.job_id: p for p in rule_plan(turned, name).plan.placements(turned)}
        assert one == other


def test_strict_waits_and_the_other_skips() -> None:
    """Strict never starts a job before an earlier one of the rule that was there and waits; the other may."""
    skipped = 0
    for seed in range(30):
        problem = random_problem(np.random.default_rng(seed), jobs=14)
        order, release = rule_order(problem, "est"), problem.columns.release_s
        for name in ("est-strict", "est"):
            plan = rule_plan(problem, name).plan
            starts = np.where(plan.is_placed, plan.start_s, problem.horizon.length_s)[order]
            later = [
                starts[k] < starts[j] and release[order[j]] <= starts[k]
                for j in range(len(order))
                for k in range(j + 1, len(order))
            ]
            if name == "est-strict":
                assert not any(later)
            skipped += any(later)
    assert skipped


def strict_hours(problem: Problem, name: str) -> list[float | None]:
    """Starts of a rule in hours; None for jobs that do not start."""
    starts = rule_plan(problem, name).plan.start_s.tolist()
    return [None if start == DEFERRED else start / HOUR for start in starts]


HALF, FULL = [(1, 2.0)], [(1, 4.0)]
"""Half a node, and a whole one."""


@pytest.mark.parametrize(("name", "expected"), [("wt-strict", [0, 5, 4]), ("wt", [0, 4, 2])])
def test_an_arrival_does_not_end_the_wait_for_a_completion(name: str, expected: list[float]) -> None:
    """One node of four cores. From 1:00 on the wide job does not fit beside the first, which ends at 4:00.

    The short one arrives at 2:00. It would fit and it sorts before the wide one, but a strict rule looks again at 4:00
    only: then the short one starts, and the wide one when that has ended. The other rule starts it as it comes.
    """
    jobs = (
        a_job("first", 4, units=HALF),
        a_job("wide", 2, units=FULL, release_s=HOUR),
        a_job("short", 1, units=HALF, release_s=2 * HOUR),
    )
    assert strict_hours(day(*jobs), name) == expected


def test_work_from_the_day_before_is_waited_for() -> None:
    """The same with the first job started at 22:00 and ending at 4:00: the queue is first looked at when it arrives."""
    carried = Running(a_job("first", 6, units=HALF), -2 * HOUR, 4 * HOUR, (0,))
    jobs = (a_job("wide", 2, units=FULL, release_s=HOUR), a_job("short", 1, units=HALF, release_s=2 * HOUR))
    assert strict_hours(day(*jobs, running=(carried,)), "wt-strict") == [5, 4]


def test_a_wait_ends_with_the_day() -> None:
    """What runs ends at 2:00 on the next day: the wide job waits for it all day, and so does whoever comes after it."""
    carried = Running(a_job("first", 28, units=HALF), -2 * HOUR, 26 * HOUR, (0,))
    jobs = (a_job("wide", 2, units=FULL), a_job("short", 1, units=HALF, release_s=2 * HOUR))
    assert strict_hours(day(*jobs, running=(carried,)), "wt-strict") == [None, None]
    assert strict_hours(day(*jobs, running=(carried,)), "wt") == [None, 2]


def test_where_nothing_runs_there_is_no_completion_to_wait_for() -> None:
    """The node is out from 10:00 to 11:00, in the way of twelve hours. The short job starts as it arrives, at 2:00.

    The long one starts when the node is back, which is as good as a completion.
    """
    jobs = (a_job("long", 12), a_job("short", 1, release_s=2 * HOUR))
    problem = replace(day(*jobs), outages=(NodeOutage(0, 10 * HOUR, 11 * HOUR),))
    assert strict_hours(problem, "wt-strict") == [11, 2]
    assert strict_hours(problem, "est-strict") == [11, 23]


@pytest.mark.parametrize("name", NAMES)
def test_ties_go_by_submission_and_then_by_number(name: str) -> None:
    """Equal jobs one after another: 10 is the oldest, 9 came before 11 in one second, and 100 before 8."""
    problem = random_problem(np.random.default_rng(6), jobs=1)
    submits = {"8": -10, "11": -20, "9": -20, "100": -15, "10": -30}
    jobs = tuple(replace(problem.jobs[0], id=each, submit_unix=DAY.start_unix + s) for each, s in submits.items())
    problem = replace(problem, jobs=jobs)
    assert [jobs[k].id for k in rule_order(problem, name)] == ["10", "9", "11", "100", "8"]


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_do(name: str) -> None:
    """A day without jobs is an empty plan."""
    problem = replace(random_problem(np.random.default_rng(0)), jobs=())
    assert len(rule_plan(problem, name).plan.start_s) == 0


@pytest.mark.parametrize("name", NAMES)
def test_overdue_goes_first(name: str) -> None:
    """A job that was deferred too often is first in every rule's order."""
    problem = random_problem(np.random.default_rng(5), jobs=12)
    last = int(rule_order(problem, name)[-1])
    overdue = replace(problem, overdue=frozenset({problem.jobs[last].id}))
    assert rule_order(overdue, name)[0] == last


def test_names() -> None:
    """The six rules are among the methods, each with its sentence."""
    assert set(NAMES) <= set(METHODS)
