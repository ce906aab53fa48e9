"""What earlier jobs teach about later ones: whoever asks at least as much cannot start sooner.

A row of the memory holds what one job asked (amounts, units, time, release, power) and the earliest start found for it.
Reservations are only ever added, so the row stays true for the rest of the placement.
"""

from __future__ import annotations

from planner.compiled import part


@part
def learned_start(memory, remembered, amount, count, duration, release, power):
    """The latest start found for an earlier job that asked no more than this one; at least the release."""
    start = release
    resources = amount.shape[0]
    for row in range(min(remembered, memory.shape[0])):
        if (
            memory[row, resources + 4] > start
            and memory[row, resources] <= count
            and memory[row, resources + 1] <= duration
            and memory[row, resources + 2] <= release
            and memory[row, resources + 3] <= power
        ):
            asks_more = True
            for resource in range(resources):
                if memory[row, resource] > amount[resource]:
                    asks_more = False
                    break
            if asks_more:
                start = memory[row, resources + 4]
    return start


@part
def remember(memory, remembered, amount, count, duration, release, power, start):
    """Keep what a job asked and where it could start, in place of the oldest."""
    resources = amount.shape[0]
    row = remembered % memory.shape[0]
    for resource in range(resources):
        memory[row, resource] = amount[resource]
    memory[row, resources] = count
    memory[row, resources + 1] = duration
    memory[row, resources + 2] = release
    memory[row, resources + 3] = power
    memory[row, resources + 4] = start
