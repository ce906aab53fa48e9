"""Nodes for units of several sizes, decided exactly: the compiled form of what `planner.domain.plan` explains.

A row of the table is for the nodes so far, a cell for a combination of how many units of the other groups they
hold; it says how many units of the main group they hold besides at most, -1 where the combination does not fit.
"""

from __future__ import annotations

import numpy as np

from planner.compiled import part


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
