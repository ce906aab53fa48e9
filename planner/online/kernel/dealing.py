"""Which nodes jobs had that were replayed on rows of like nodes: the first ones with room, start after start."""

from __future__ import annotations

from planner.compiled import kernel, part


@kernel
def deal(by_start, by_end, start, end, is_past, unit_ptr, row_of_unit, by_row, first, left, node_of_unit):
    """Write the node of each unit that has none yet.

    ``by_row`` has the nodes, row after row, those of a row from ``first`` on; ``left`` is how many units each node has
    room for. What ends in a second leaves its nodes to what starts in it. Jobs of the past come first, as they are.
    """
    for job in by_start:
        if is_past[job] > 0:
            for unit in range(unit_ptr[job], unit_ptr[job + 1]):
                left[node_of_unit[unit]] -= 1
    gone = 0
    for job in by_start:
        if is_past[job] > 0:
            continue
        while gone < len(by_end) and end[by_end[gone]] <= start[job]:
            for unit in range(unit_ptr[by_end[gone]], unit_ptr[by_end[gone] + 1]):
                if node_of_unit[unit] >= 0:
                    left[node_of_unit[unit]] += 1
            gone += 1
        _give_nodes(job, unit_ptr, row_of_unit, by_row, first, left, node_of_unit)


@part
def _give_nodes(job, unit_ptr, row_of_unit, by_row, first, left, node_of_unit):
    """Give each unit of a job the first node of its row with room; rows of one node are known already."""
    row, place = -1, 0
    for unit in range(unit_ptr[job], unit_ptr[job + 1]):
        if node_of_unit[unit] >= 0:
            left[node_of_unit[unit]] -= 1
            continue
        if row_of_unit[unit] != row:
            row = row_of_unit[unit]
            place = first[row]
        while place < first[row + 1] and left[by_row[place]] <= 0:
            place += 1
        if place < first[row + 1]:
            node_of_unit[unit] = by_row[place]
            left[by_row[place]] -= 1
