"""Shares of a node: what units take of nodes of each class, in every measure of which no node has more than one.

A measure gives each unit a share such that the units on one node never add up to more than 1. Each resource is one:
amount over capacity. Another one per resource sees that wide units cannot share a node: 1 for units of more than half
of the node, 1/2 for exactly half, 0 for less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from planner.domain.columns import Floats, Ints
from planner.domain.problem import Problem


@dataclass(frozen=True)
class Shares:
    """Measures of node room: ``class_of`` each, and the share that a unit of each group takes, NaN-free.

    ``of_group`` has one row per measure and one column per group of the jobs; ``of_running`` likewise for running work.
    ``fits`` says which groups can be on which class at all; shape (groups, classes).
    """

    class_of: Ints
    of_group: Floats
    of_running: Floats
    fits: npt.NDArray[np.bool_]


def node_shares(problem: Problem) -> Shares:
    """All measures that some other one does not make idle."""
    capacities = problem.class_capacity
    amounts = problem.columns.group_amount
    running = problem.running_columns.group_amount
    fits = np.all(amounts[:, None, :] <= capacities[None, :, :], axis=2)
    classes, rows = [], []
    for index, capacity in enumerate(capacities):
        able = np.concatenate([fits[:, index], np.all(running <= capacity, axis=1)])
        asked = np.where(able[:, None], np.concatenate([amounts, running]), 0)
        measures = [row for r in np.flatnonzero(capacity) for row in _measures(asked[:, r], int(capacity[r]))]
        kept = _undominated(measures)
        classes += [index] * len(kept)
        rows += kept
    table = np.array(rows).reshape(len(rows), len(amounts) + len(running))
    return Shares(np.array(classes, dtype=np.int64), table[:, : len(amounts)], table[:, len(amounts) :], fits)


def _measures(amount: Ints, capacity: int) -> list[Floats]:
    plain = amount / capacity
    halves = np.select([2 * amount > capacity, 2 * amount == capacity], [1.0, 0.5], 0.0)
    return [plain, halves]


def _undominated(measures: list[Floats]) -> list[Floats]:
    """The measures that are not everywhere at most another one; of equal ones the first."""
    kept: list[Floats] = []
    for index, row in enumerate(measures):
        others = measures[index + 1 :]
        if not any(np.all(row <= other) for other in kept) and not any(
            np.all(row <= other) and np.any(row < other) for other in others
        ):
            kept.append(row)
    return kept
