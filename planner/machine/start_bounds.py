"""What earlier jobs teach about later ones: a job that asks at least as much cannot start sooner.

A row holds what one job asked and the earliest start found for it: an amount for each resource, then the columns named
below. Reservations are only ever added, so the row stays true for the rest of the placement.
"""

from __future__ import annotations

from planner.compiled import part

UNITS, DURATION, RELEASE, POWER, START = 0, 1, 2, 3, 4
"""Columns of a row after the amounts."""

BOUND_COLUMNS = 5


@part
def learned_start(rows, remembered, amount, count, duration, release, power):
    """The latest start found for an earlier job that asked no more than this one; at least the release."""
    start = release
    resources = amount.shape[0]
    for row in range(min(remembered, rows.shape[0])):
        if (
            rows[row, resources + START] > start
            and rows[row, resources + UNITS] <= count
            and rows[row, resources + DURATION] <= duration
            and rows[row, resources + RELEASE] <= release
            and rows[row, resources + POWER] <= power
        ):
            asks_more = True
            for resource in range(resources):
                if rows[row, resource] > amount[resource]:
                    asks_more = False
                    break
            if asks_more:
                start = rows[row, resources + START]
    return start


@part
def remember(rows, remembered, amount, count, duration, release, power, start):
    """Keep what a job asked and where it could start, in place of the oldest."""
    resources = amount.shape[0]
    row = remembered % rows.shape[0]
    for resource in range(resources):
        rows[row, resource] = amount[resource]
    rows[row, resources + UNITS] = count
    rows[row, resources + DURATION] = duration
    rows[row, resources + RELEASE] = release
    rows[row, resources + POWER] = power
    rows[row, resources + START] = start
