"""The parts of a day that RelaxationSearch gives its engine one after another: which jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from planner.cp.subproblem import Subproblem, subproblem_around
from planner.domain.columns import Ints
from planner.domain.plan import Plan
from planner.domain.problem import Problem

Picker = Callable[[Problem, Plan, np.random.Generator, int], Ints]
"""Picks about this many jobs of a plan."""


def neighbourhoods(
    problem: Problem, rng: np.random.Generator, size: int
) -> Iterator[tuple[str, Callable[[Plan], Subproblem]]]:
    """Ever new neighbourhoods in turn: a stretch of time, a set of nodes, jobs at random."""
    while True:
        for name, pick in PICKERS.items():

            def subproblem_of(plan: Plan, pick: Picker = pick) -> Subproblem:
                return subproblem_around(problem, plan, pick(problem, plan, rng, size), rng)

            yield name, subproblem_of


def pick_stretch(problem: Problem, plan: Plan, rng: np.random.Generator, size: int) -> Ints:
    """Jobs that start around a moment of the day, with some deferred ones that could."""
    waiting = _some_deferred(problem, plan, rng, size // 4)
    placed = np.flatnonzero(plan.is_placed)
    moment = int(rng.integers(0, problem.horizon.length_s))
    near = placed[np.argsort(np.abs(plan.start_s[placed] - moment), kind="stable")][: size - len(waiting)]
    return np.concatenate([near, waiting])


def pick_nodes(problem: Problem, plan: Plan, rng: np.random.Generator, size: int) -> Ints:
    """Jobs on some nodes, drawn until there are enough, with some deferred ones."""
    waiting = _some_deferred(problem, plan, rng, size // 4)
    unit_job = np.repeat(np.arange(len(problem.jobs)), np.diff(problem.columns.unit_ptr))
    chosen: set[int] = set()
    for node in rng.permutation(problem.cluster.node_count):
        here = set(unit_job[plan.node_of_unit == node].tolist())
        if len(chosen | here) > size - len(waiting):
            break
        chosen |= here
    return np.concatenate([np.array(sorted(chosen), dtype=np.int64), waiting])


def pick_any(problem: Problem, plan: Plan, rng: np.random.Generator, size: int) -> Ints:
    """Jobs at random, placed or not."""
    return rng.permutation(len(problem.jobs))[:size].astype(np.int64)


PICKERS: dict[str, Picker] = {"stretch": pick_stretch, "nodes": pick_nodes, "any": pick_any}


def _some_deferred(problem: Problem, plan: Plan, rng: np.random.Generator, most: int) -> Ints:
    single = np.diff(problem.columns.unit_ptr) == 1
    deferred = np.flatnonzero(~plan.is_placed & single)
    return rng.permutation(deferred)[:most].astype(np.int64)
