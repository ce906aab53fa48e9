"""What the search of PCP'21 reads and writes: the jobs, the timelines of the nodes, and a level per placed job."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from planner.domain.columns import Floats, Ints

# Places in the table of counters.
LEVEL, STEPS, SOLUTIONS, IS_CUT = np.arange(4, dtype=np.int64)
COUNTERS = 4

# Rows of the table of units: the node of each unit now, and in the best plan; its group.
NODE, BEST_NODE, GROUP = np.arange(3, dtype=np.int64)

# Rows of the table of jobs: how long it runs and what it draws; whether it is placed, and when; the best start.
LENGTH, POWER, IS_PLACED, START, BEST_START = np.arange(5, dtype=np.int64)

# Rows of the table of costs: of a start now, and of every second later.
AT_ONCE, PER_SECOND = np.arange(2, dtype=np.int64)


class Tables(NamedTuple):
    """Everything of one search; jobs in order of priority.

    Attributes
    ----------
    job, cost
        One column per job; the rows are named above.
    group_ptr, group_count, group_amount, unit_ptr
        Groups of equal units: where those of each job begin, how many units each has, and what a unit asks of every
        resource; where the units of each job begin.
    unit
        One column per unit; the rows are named above.
    times, free, length
        Timelines of what is free (`planner.machine.timeline`): one row per node, then one for power if it is limited.
    capacity, most
        The most that each node ever has free of every resource, and of the first one alone.
    earliest
        One row per level: before when no job can start beside those that are placed.
    moment, chosen, spent
        Per level: the second that is looked at, the job that is placed there (-1: none yet), and what the jobs of the
        levels before cost.
    known, ready, least, watts
        Scratch space.
    counter, best
        Counters, named above, and what the best plan costs.
    """

    job: Ints
    cost: Floats
    group_ptr: Ints
    group_count: Ints
    group_amount: Ints
    unit_ptr: Ints
    unit: Ints
    times: Ints
    free: Ints
    length: Ints
    capacity: Ints
    most: Ints
    earliest: Ints
    moment: Ints
    chosen: Ints
    spent: Floats
    known: Ints
    ready: Ints
    least: Ints
    watts: Ints
    counter: Ints
    best: Floats
