"""Nodes for the units of a job at a given start, in order of node number.

For units of several sizes it is decided exactly where there is room, as `planner.domain.plan` explains: a row of the
table is for the nodes so far, a cell for a combination of how many units of the other groups they hold; it says how
many units of the main group they hold besides at most, -1 where the combination does not fit.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part
from planner.machine.rng import below
from planner.machine.timeline import NEVER, entry_at, least_free


@part
def pack_equal(timelines, amount, start, end, chosen):
    """Choose nodes for equal units; there is room for all of them."""
    top = timelines.tops[start // timelines.bucket_s]
    unit = 0
    for node in range(top.shape[0]):
        if top[node] < amount[0]:
            continue
        least_free(timelines.times, timelines.free, timelines.length, node, start, end, timelines.least[node])
        for _ in range(copies_in(timelines.least[node], amount, chosen.shape[0] - unit)):
            chosen[unit] = node
            unit += 1
        if unit == chosen.shape[0]:
            return


@part
def pack_anywhere(timelines, jobs, job, start, end, stream, node_of_unit):
    """Choose for each unit a node with room, counting from a random one; returns whether all found one."""
    nodes = timelines.least.shape[0]
    for node in range(nodes):
        least_free(timelines.times, timelines.free, timelines.length, node, start, end, timelines.least[node])
    unit = jobs.unit_ptr[job]
    for group in range(jobs.group_ptr[job], jobs.group_ptr[job + 1]):
        amount = jobs.group_amount[group]
        for _ in range(jobs.group_count[group]):
            first = below(stream, nodes)
            turn = 0
            while turn < nodes and copies_in(timelines.least[(first + turn) % nodes], amount, np.int64(1)) == 0:
                turn += 1
            if turn == nodes:
                return False
            node = (first + turn) % nodes
            for resource in range(amount.shape[0]):
                timelines.least[node, resource] -= amount[resource]
            node_of_unit[unit] = node
            unit += 1
    return True


@part
def pack_mixed(timelines, jobs, job, start, end, node_of_unit):
    """Choose nodes for units of several sizes; returns whether all found room.

    Each odd unit goes where it costs the fewest units of the main group, ties to the lowest node number. When several
    odd ones find no room that way, it is decided exactly whether there is any.
    """
    first, last, main = jobs.group_ptr[job], jobs.group_ptr[job + 1], jobs.main[job]
    amount, count, chosen = (
        jobs.group_amount,
        jobs.group_count,
        node_of_unit[jobs.unit_ptr[job] : jobs.unit_ptr[job + 1]],
    )
    room = _look(timelines, jobs, job, start, end)
    if share_out(timelines.least, timelines.taken, room, amount, count, first, last, main, chosen):
        return True
    if chosen.shape[0] <= count[main] + 1:
        return False
    _look(timelines, jobs, job, start, end)
    return pack_exactly(timelines.least, amount, count, first, last, main, timelines.cells, timelines.pattern, chosen)


@part
def _look(timelines, jobs, job, start, end):
    """Write what each node has free for a job and how many main units it takes; returns their sum."""
    least, taken = timelines.least, timelines.taken
    main = jobs.main[job]
    room, fewest = np.int64(0), NEVER
    for group in range(jobs.group_ptr[job], jobs.group_ptr[job + 1]):
        fewest = min(fewest, jobs.group_amount[group, 0])
    top = timelines.tops[start // timelines.bucket_s]
    for node in range(least.shape[0]):
        if top[node] < fewest:
            taken[node] = 0
            for resource in range(least.shape[1]):
                least[node, resource] = 0
            continue
        least_free(timelines.times, timelines.free, timelines.length, node, start, end, least[node])
        taken[node] = copies_in(least[node], jobs.group_amount[main], jobs.group_count[main])
        room += taken[node]
    return room


@part
def share_out(least, taken, room, amount, count, first, last, main, chosen):
    """Give the units of the groups from ``first`` to ``last`` the room that there is; returns whether all found some.

    ``least`` is what each node has free, ``taken`` how many units of the main group it would take, ``room`` their sum.
    """
    wanted = count[main]
    unit = np.int64(0)
    main_unit = unit
    for group in range(first, last):
        if group == main:
            main_unit = unit
            unit += wanted
            continue
        for _ in range(count[group]):
            node, loss = cheapest_node(least, taken, amount[group], amount[main], wanted)
            if node < 0 or room - loss < wanted:
                return False
            for resource in range(least.shape[1]):
                least[node, resource] -= amount[group, resource]
            taken[node] -= loss
            room -= loss
            chosen[unit] = node
            unit += 1
    placed = np.int64(0)
    for node in range(least.shape[0]):
        for _ in range(min(taken[node], wanted - placed)):
            chosen[main_unit + placed] = node
            placed += 1
    return placed == wanted


@part
def cheapest_node(least, taken, amount, main_amount, wanted):
    """The node that takes an odd unit at the least loss of main units, and that loss; -1 when none takes it."""
    best, best_loss = np.int64(-1), NEVER
    for node in range(least.shape[0]):
        if copies_in(least[node], amount, np.int64(1)) == 0:
            continue
        left = wanted
        for resource in range(amount.shape[0]):
            if main_amount[resource] > 0:
                left = min(left, (least[node, resource] - amount[resource]) // main_amount[resource])
        loss = taken[node] - max(left, 0)
        if loss < best_loss:
            best, best_loss = node, loss
            if loss == 0:
                break
    return best, best_loss


@part
def copies_in(least, amount, most):
    """How many equal units fit into what is free, at most ``most``."""
    copies = most
    for resource in range(amount.shape[0]):
        asked = amount[resource]
        if asked > 0 and copies * asked > least[resource]:
            if least[resource] < asked:
                return np.int64(0)
            copies = least[resource] // asked
    return copies


@part
def copies_until(times, free, length, node, amount, most, start, end):
    """How many equal units a node has room for all the way from start to end, at most ``most``."""
    entry = entry_at(times, length, node, start)
    copies = copies_in(free[node, entry], amount, most)
    entry += 1
    while copies > 0 and entry < length[node] and times[node, entry] < end:
        copies = copies_in(free[node, entry], amount, copies)
        entry += 1
    return copies


@part
def pack_exactly(free, amount, count, first, last, main, table, taken, chosen):
    """Choose a node for every unit of the groups from ``first`` to ``last``; returns whether all fit.

    ``free`` is what each node has, ``table`` and ``taken`` (as long as there are groups) are scratch space; with too
    small a table nothing is decided, and the answer is no.
    """
    cells = np.int64(1)
    for group in range(first, last):
        if group != main:
            cells *= count[group] + 1
    if cells * (free.shape[0] + 1) > table.shape[0]:
        return False
    for cell in range(cells):
        table[cell] = -1
    table[0] = 0
    for node in range(free.shape[0]):
        before, row = node * cells, (node + 1) * cells
        for cell in range(cells):
            table[row + cell] = -1
        for group in range(last - first):
            taken[group] = 0
        while True:
            copies = _main_copies(free, node, amount, count, first, last, main, taken)
            _spread(table, before, row, cells, copies, count, first, last, main, taken)
            if not _next_pattern(free, node, amount, count, first, last, main, taken):
                break
        if table[row + cells - 1] >= count[main]:
            _trace(free, node, amount, count, first, last, main, table, cells, taken, chosen)
            return True
    return False


@part
def _main_copies(free, node, amount, count, first, last, main, taken):
    """Units of the main group that a node holds besides those taken of the others."""
    copies = count[main]
    for resource in range(free.shape[1]):
        if amount[main, resource] > 0:
            left = free[node, resource]
            for group in range(first, last):
                left -= taken[group - first] * amount[group, resource]
            copies = min(copies, left // amount[main, resource])
    return max(copies, 0)


@part
def _next_pattern(free, node, amount, count, first, last, main, taken):
    """Count ``taken`` up to the next combination of other groups that the node can hold; False after the last."""
    for group in range(first, last):
        if group == main:
            continue
        taken[group - first] += 1
        if taken[group - first] <= count[group] and _holds(free, node, amount, first, last, taken):
            return True
        taken[group - first] = 0
    return False


@part
def _holds(free, node, amount, first, last, taken):
    """Whether a node has room for what is taken."""
    for resource in range(free.shape[1]):
        left = free[node, resource]
        for group in range(first, last):
            left -= taken[group - first] * amount[group, resource]
        if left < 0:
            return False
    return True


@part
def _source(cell, count, first, last, main, taken):
    """The cell that a node's part leads from to this one; -1 when there is none."""
    source, stride, rest = np.int64(0), np.int64(1), cell
    for group in range(first, last):
        if group == main:
            continue
        held = rest % (count[group] + 1) - taken[group - first]
        if held < 0:
            return np.int64(-1)
        source += held * stride
        rest //= count[group] + 1
        stride *= count[group] + 1
    return source


@part
def _spread(table, before, row, cells, copies, count, first, last, main, taken):
    """Let every cell of a row be reached from the row before with what is taken on this node."""
    for cell in range(cells):
        source = _source(cell, count, first, last, main, taken)
        if source >= 0 and table[before + source] >= 0:
            table[row + cell] = max(table[row + cell], min(table[before + source] + copies, count[main]))


@part
def _trace(free, node, amount, count, first, last, main, table, cells, taken, chosen):
    """Write the nodes that led to the last cell of a node's row."""
    cell = cells - 1
    while node >= 0:
        before, here = node * cells, table[(node + 1) * cells + cell]
        for group in range(last - first):
            taken[group] = 0
        while True:
            copies = _main_copies(free, node, amount, count, first, last, main, taken)
            source = _source(cell, count, first, last, main, taken)
            if (
                source >= 0
                and table[before + source] >= 0
                and min(table[before + source] + copies, count[main]) == here
            ):
                break
            if not _next_pattern(free, node, amount, count, first, last, main, taken):
                break
        _write(node, cell, table[before + source], here, count, first, last, main, taken, chosen)
        cell = source
        node -= 1


@part
def _write(node, cell, main_before, main_after, count, first, last, main, taken, chosen):
    """Give the units that a node takes their node."""
    base, rest = np.int64(0), cell
    for group in range(first, last):
        if group == main:
            for unit in range(main_before, main_after):
                chosen[base + unit] = node
        else:
            held = rest % (count[group] + 1)
            for unit in range(held - taken[group - first], held):
                chosen[base + unit] = node
            rest //= count[group] + 1
        base += count[group]
