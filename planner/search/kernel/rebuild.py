"""The main loop of RebuildSearch: take a few jobs out, put them back otherwise, keep what pays.

One step: choose jobs that lie near each other (`ruin`), lift them off the board, let some waiting jobs compete with
them, and place them all again one by one in a new order (`recreate`). The day's profit is that of `settle`. A worse
plan is kept with a probability that falls with the loss and with the temperature; otherwise everything goes back to
where it was.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, part
from planner.search.kernel.chance import fraction
from planner.search.kernel.money import profit
from planner.search.kernel.recreate import recreate
from planner.search.kernel.ruin import ruin
from planner.search.kernel.stand import ACCEPTED, BEST, CURRENT, IMPROVED, STEPS, put_on, take_off


@kernel
def rebuild(board, jobs, money, tally, stand, habits, temperature, steps):
    """Take a number of steps; returns how many were taken: fewer when a timeline may run out of room."""
    stand.profits[CURRENT] = profit(money, tally, board)
    for step in range(steps):
        if _is_tight(board, habits):
            return step
        count = ruin(stand, habits)
        if count == 0:
            return steps
        _lift(board, jobs, money, tally, stand, count)
        recreate(board, jobs, money, tally, stand, habits, count)
        found = profit(money, tally, board)
        stand.counts[STEPS] += 1
        loss = stand.profits[CURRENT] - found
        if loss <= 0 or (temperature > 0 and fraction(stand.stream) < np.exp(-loss / temperature)):
            stand.profits[CURRENT] = found
            stand.counts[ACCEPTED] += 1
            if found > stand.profits[BEST]:
                stand.counts[IMPROVED] += 1
                stand.profits[BEST] = found
                _note_best(stand)
        else:
            _undo(board, jobs, money, tally, stand, count)
    return steps


@part
def _is_tight(board, habits):
    """Whether a timeline might run out of room within one step."""
    margin = 4 * (habits.largest + habits.guests)
    longest = np.int64(0)
    for node in range(board.length.shape[0]):
        longest = max(longest, board.length[node])
    return longest + margin > board.times.shape[1]


@part
def _lift(board, jobs, money, tally, stand, count):
    """Take the chosen jobs off the board, and note where they were."""
    base = np.int64(0)
    for index in range(count):
        job = stand.out[index]
        stand.old_start_of[index] = stand.start_of[job]
        units = stand.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
        for unit in range(units.shape[0]):
            stand.old_nodes[base + unit] = units[unit]
        base += units.shape[0]
        if stand.start_of[job] >= 0:
            take_off(board, jobs, money, tally, stand, job)


@part
def _undo(board, jobs, money, tally, stand, count):
    """Put the jobs of a step back to where they were."""
    for index in range(count):
        if stand.start_of[stand.out[index]] >= 0:
            take_off(board, jobs, money, tally, stand, stand.out[index])
    base = np.int64(0)
    for index in range(count):
        job = stand.out[index]
        units = stand.node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]]
        for unit in range(units.shape[0]):
            units[unit] = stand.old_nodes[base + unit]
        base += units.shape[0]
        if stand.old_start_of[index] >= 0:
            put_on(board, jobs, money, tally, stand, job, stand.old_start_of[index])


@part
def _note_best(stand):
    """Copy the present placement to the best one."""
    for job in range(stand.start_of.shape[0]):
        stand.best_start_of[job] = stand.start_of[job]
    for unit in range(stand.node_of_unit.shape[0]):
        stand.best_node_of_unit[unit] = stand.node_of_unit[unit]
