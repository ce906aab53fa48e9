"""Claims about the rule baselines: what a slow and obvious walk through time does, they do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.domain.plan import DEFERRED
from planner.domain.problem import Problem
from planner.methods import METHODS, Params, method_named
from planner.online.day_rules import RULES, STRICT, rule_order, walk_rule
from tests.factories import random_problem

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
    moment = 0
    while moment < length:
        free, power_left = capacity.copy(), None if limit is None else int(limit * 1000)
        for end, power, taken in holds:
            if end > moment:
                for node, amount in taken:
                    free[node] -= amount
                power_left = None if power_left is None else power_left - power
        for job in order:
            if start[job] != DEFERRED or columns.release_s[job] > moment:
                continue
            nodes = slow_pack(problem, job, free)
            power = int(columns.power_mw[job])
            if nodes is None or (power_left is not None and power > power_left):
                if name.endswith(STRICT):
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
        plan = walk_rule(problem, name).plan
        assert plan.start_s.tolist() == start, seed
        assert plan.node_of_unit.tolist() == nodes, seed


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
        one = {p.job_id: p for p in walk_rule(problem, name).plan.placements(problem)}
        other = {p.job_id: p for p in walk_rule(turned, name).plan.placements(turned)}
        assert one == other


def test_strict_waits_and_the_other_skips() -> None:
    """Strict never starts a job before an earlier one of the rule that was there and waits; the other may."""
    skipped = 0
    for seed in range(30):
        problem = random_problem(np.random.default_rng(seed), jobs=14)
        order, release = rule_order(problem, "est"), problem.columns.release_s
        for name in ("est-strict", "est"):
            plan = walk_rule(problem, name).plan
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


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_do(name: str) -> None:
    """A day without jobs is an empty plan."""
    problem = replace(random_problem(np.random.default_rng(0)), jobs=())
    assert len(walk_rule(problem, name).plan.start_s) == 0


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
