"""The state of a search, its settings, and how a job is put on or taken off."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from planner.compiled import by_address, part
from planner.domain.columns import Floats, Ints
from planner.machine.place import hold_job
from planner.search.kernel.money import add_job

STEPS, ACCEPTED, IMPROVED = 0, 1, 2
"""Counts of a search."""

CURRENT, BEST = 0, 1
"""Profits of a search [EUR]."""

LARGE, LONG, WIDE, SHORT, THRIFTY = 0, 1, 2, 3, 4
"""The sizes that jobs can be put back by; each is smallest for the job that goes first."""

EARLIEST, PRICED, WANDERING = 0, 1, 2
"""Where a step puts its jobs back."""


@by_address
class SearchState(NamedTuple):
    """Where a search stands; the rest is scratch space.

    Attributes
    ----------
    start_of, node_of_unit
        The present placement.
    best_start_of, best_node_of_unit
        The best one so far.
    members, slot, placed
        The jobs that may be moved, the placed ones first; where each stands in that list (-1: it may not be moved); how
        many are placed.
    keys
        Sizes of the jobs that they can be put back by; shape (keys, jobs).
    near, near_at
        The jobs in the order of their start, and in that of their first node and start, as they were when the search
        was last looked at; and where each stands in these orders.
    worth
        What each job is worth per core-equivalent and second (`planner.search.orderings.job_worth_per_core_s`) [EUR].
    first_node
        Node of the first unit of each placed job.
    earns
        What each job earns a second [EUR].
    latest
        Last start of each job that meets its deadline; after the day where none falls on it today.
    profits, counts, stream
        Profit now and at best; steps, accepted and improving ones; random numbers.
    pending
        Jobs of a step that waits for the cut of a battery beside the plan that it made; 0 where none waits.
    out, rank, old_start_of, old_nodes, times, gains
        Jobs of this step, their order, where they were, and times to look at.
    """

    start_of: Ints
    node_of_unit: Ints
    best_start_of: Ints
    best_node_of_unit: Ints
    members: Ints
    slot: Ints
    placed: Ints
    keys: Floats
    near: Ints
    near_at: Ints
    worth: Floats
    first_node: Ints
    earns: Floats
    latest: Ints
    profits: Floats
    counts: Ints
    stream: npt.NDArray[np.uint64]
    pending: Ints
    out: Ints
    rank: Floats
    old_start_of: Ints
    old_nodes: Ints
    times: Ints
    gains: Floats


class Habits(NamedTuple):
    """The settings of a search.

    Attributes
    ----------
    largest
        Most jobs taken out in a step.
    guests
        Most waiting jobs that compete in a step.
    priced
        Chance that jobs go where they cost least among a few times, instead of at their earliest start.
    wanders
        Chance that jobs go to some time and some nodes, whatever they cost.
    exact
        Whether the cost of a time is worked out for the whole job, with the sun and the rows of the table that it
        reaches, instead of at the present rates.
    may_refuse
        Whether jobs that lose money may be left waiting.
    sooner
        Whether steps are kept for jobs that start sooner at no loss, instead of for profit.
    """

    largest: int
    guests: int
    priced: float
    wanders: float
    exact: bool
    may_refuse: bool
    sooner: bool = False


@part
def put_on(timelines, jobs, money, tally, state, job, start):
    """Reserve a job's nodes, count its money, and list it as placed."""
    units = state.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
    hold_job(timelines, jobs, job, np.int64(1), start, start + jobs.duration[job], units)
    add_job(money, tally, jobs, job, start, np.int64(1))
    state.start_of[job] = start
    state.first_node[job] = units[0]
    _swap(state, state.slot[job], state.placed[0])
    state.placed[0] += 1


@part
def take_off(timelines, jobs, money, tally, state, job):
    """Give a job's nodes back, discount its money, and list it as waiting."""
    start = state.start_of[job]
    units = state.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
    add_job(money, tally, jobs, job, start, np.int64(-1))
    hold_job(timelines, jobs, job, np.int64(-1), start, start + jobs.duration[job], units)
    state.start_of[job] = -1
    state.placed[0] -= 1
    _swap(state, state.slot[job], state.placed[0])


@part
def _swap(state, one, other):
    """Exchange two places of the list of jobs."""
    first, second = state.members[one], state.members[other]
    state.members[one], state.members[other] = second, first
    state.slot[first], state.slot[second] = other, one
