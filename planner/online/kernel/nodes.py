"""Jobs on the nodes of a replay: the earliest start at which all units have room, and holding nodes for them.

A pool of processors is a machine of one node. On several nodes, each node names its own earliest start with room for
one unit, for two at once, and so on; the U-th smallest of these is the next time at which U equal units can start.
Units of several sizes go one group after another to the first nodes with room; where that fails, a table over the nodes
decides whether there is any room (`planner.domain.plan`).
"""

from __future__ import annotations

import numpy as np

from planner.compiled import kernel, part
from planner.machine.choose_nodes import copies_in, copies_until, pack_exactly, share_out
from planner.machine.earliest import earliest_for_many
from planner.machine.timeline import NEVER, first_room, hold_units, least_free


@part
def earliest_start(state, rows, job, earliest, latest):
    """Earliest start of a job from ``earliest`` to ``latest`` by the timelines that begin at a row; else NEVER.

    The nodes that it would have are noted with its units.
    """
    first, last = state.first[job].group, state.first[job + 1].group
    duration = state.jobs[job].estimate
    nodes, limited = state.clock.nodes, state.clock.limited > 0
    if nodes == 1 and not limited and last - first == 1:
        amount, count = state.group_amount[first], state.group_count[first]
        return first_room(state.times, state.free, state.length, rows, amount, count, duration, earliest, latest)
    start = earliest
    while start <= latest:
        moved = start
        if limited:
            moved = first_power(state, rows + nodes, job, duration, moved, latest)
        for group in range(first, last):
            if moved <= latest:
                moved = _earliest_for_group(state, rows, group, duration, moved, latest)
        if moved == start and moved <= latest:
            if _choose_nodes(state, rows, job, start, start + duration):
                return start
            moved = _next_change(state, rows, start)
        start = moved
    return NEVER


@part
def earliest_at(state, rows, job, earliest):
    """Earliest start of a job on the nodes that are noted with its units; NEVER if they have no room any more."""
    add_up_units(state, state.units.node, job)
    duration = state.jobs[job].estimate
    times, free, length, latest = state.times, state.free, state.length, NEVER - 1
    start = earliest
    while True:
        moved = start
        if state.clock.limited > 0:
            moved = first_power(state, rows + state.clock.nodes, job, duration, moved, latest)
        for unit in range(state.first[job].unit, state.first[job + 1].unit):
            node = state.units[unit].node
            moved = first_room(
                times, free, length, rows + node, state.least[node], np.int64(1), duration, moved, latest
            )
        if moved in (start, NEVER):
            return moved
        start = moved


@part
def add_up_units(state, nodes, job):
    """Write what the units of a job ask together of each of their nodes; other nodes stay as they are."""
    for unit in range(state.first[job].unit, state.first[job + 1].unit):
        for resource in range(state.least.shape[1]):
            state.least[nodes[unit], resource] = 0
    unit = state.first[job].unit
    for group in range(state.first[job].group, state.first[job + 1].group):
        for _ in range(state.group_count[group]):
            for resource in range(state.least.shape[1]):
                state.least[nodes[unit], resource] += state.group_amount[group, resource]
            unit += 1


@part
def may_start_now(state, job):
    """Whether each group of a job, by itself, has room on the nodes as they are now; if not, it cannot start now.

    Most jobs of a long queue end here, so it looks at the first entries of the timelines and no further. Nodes only
    fill up in a round: who asks the same as a job that had no room is not looked at again.
    """
    shape = state.jobs[job].shape
    if state.full[shape] == state.clock.rounds:
        return False
    for group in range(state.first[job].group, state.first[job + 1].group):
        wanted = state.group_count[group]
        for node in range(state.clock.nodes):
            copies = wanted
            for resource in range(state.group_amount.shape[1]):
                amount = state.group_amount[group, resource]
                if amount > 0:
                    free = state.free[node, 0, resource]
                    copies = min(copies, free // amount if free >= amount else np.int64(0))
                    if copies == 0:
                        break
            wanted -= copies
            if wanted == 0:
                break
        if wanted > 0:
            state.full[shape] = state.clock.rounds
            return False
    return True


@part
def hold_job(state, rows, job, sign, start, end):
    """Hold the nodes of a job from start to end (sign 1), or give them back (sign -1)."""
    if start >= end:
        return
    unit = state.first[job].unit
    for group in range(state.first[job].group, state.first[job + 1].group):
        for _ in range(state.group_count[group]):
            _hold(state, rows + state.units[unit].node, state.group_amount[group], sign, start, end)
            unit += 1
    if state.clock.limited > 0:
        state.watts[0] = state.jobs[job].power
        _hold(state, rows + state.clock.nodes, state.watts, sign, start, end)


@part
def save_nodes(state, job):
    """Note the nodes of a job."""
    for unit in range(state.first[job].unit, state.first[job + 1].unit):
        state.units[unit].saved = state.units[unit].node


@part
def restore_nodes(state, job):
    """Bring back the noted nodes of a job."""
    for unit in range(state.first[job].unit, state.first[job + 1].unit):
        state.units[unit].node = state.units[unit].saved


@part
def plan_rows(state):
    """First of the rows that are for plans."""
    return state.length.shape[0] // 2


@part
def idle_now(state):
    """What all nodes together have free of the first resource now."""
    idle = np.int64(0)
    for node in range(state.clock.nodes):
        idle += max(np.int64(0), state.free[node, 0, 0])  # below 0 where a node is drained
    return idle


@part
def _hold(state, row, amount, sign, start, end):
    """Take a unit's room on a row (sign 1), or give it back (sign -1)."""
    hold_units(state.times, state.free, state.length, row, amount, sign, start, end)


@part
def first_power(state, row, job, duration, earliest, latest):
    """Earliest start at which the site has the power that a job draws; else NEVER."""
    state.watts[0] = state.jobs[job].power
    one = np.int64(1)
    return first_room(state.times, state.free, state.length, row, state.watts, one, duration, earliest, latest)


@part
def _earliest_for_group(state, rows, group, duration, earliest, latest):
    """Earliest start at which all units of a group have room at once; else a time after ``latest``."""
    if earliest == latest:
        return earliest if _has_room_for_group(state, rows, group, earliest, earliest + duration) else NEVER
    for node in range(state.clock.nodes):
        state.known[node] = -1
    return earliest_for_many(
        state.times, state.free, state.length, rows, state.capacity, state.most, state.known, state.ready,
        state.group_amount[group], state.group_count[group], duration, earliest, latest, latest,
    )  # fmt: skip


@part
def _has_room_for_group(state, rows, group, start, end):
    """Whether all units of a group have room from start to end, nothing else of their job counted."""
    amount, wanted = state.group_amount[group], state.group_count[group]
    for node in range(state.clock.nodes):
        wanted -= copies_until(state.times, state.free, state.length, rows + node, amount, wanted, start, end)
        if wanted == 0:
            return True
    return False


@part
def _choose_nodes(state, rows, job, start, end):
    """Give every unit the first node with room, group after group; where that fails a table decides. False if none."""
    first, last = state.first[job].group, state.first[job + 1].group
    unit = state.first[job].unit
    if last - first == 1:
        wanted = state.group_count[first]
        for node in range(state.clock.nodes):
            amount = state.group_amount[first]
            copies = copies_until(state.times, state.free, state.length, rows + node, amount, wanted, start, end)
            for _ in range(copies):
                state.units[unit].node = node
                unit += 1
            wanted -= copies
            if wanted == 0:
                return True
        return False
    if state.clock.as_rule > 0 and _share_out(state, rows, job, start, end):
        return True
    _look(state, rows, start, end)
    for group in range(first, last):
        wanted = state.group_count[group]
        for node in range(state.clock.nodes):
            copies = copies_in(state.least[node], state.group_amount[group], wanted)
            for resource in range(state.least.shape[1]):
                state.least[node, resource] -= copies * state.group_amount[group, resource]
            for _ in range(copies):
                state.units[unit].node = node
                unit += 1
            wanted -= copies
            if wanted == 0:
                break
        if wanted > 0:
            _look(state, rows, start, end)
            return pack_units(state, job)
    return True


@part
def _look(state, rows, start, end):
    """Write what each node has free from start to end."""
    for node in range(state.clock.nodes):
        least_free(state.times, state.free, state.length, rows + node, start, end, state.least[node])


@part
def _share_out(state, rows, job, start, end):
    """Choose nodes for units of several sizes as plans do: odd ones where they cost the fewest units of the main group.

    False if that finds no room for all; with several odd units there may be some.
    """
    main, room = _main_group(state, job), np.int64(0)
    amount, wanted = state.group_amount, state.group_count[main]
    _look(state, rows, start, end)
    for node in range(state.clock.nodes):
        state.known[node] = copies_in(state.least[node], amount[main], wanted)
        room += state.known[node]
    return share_out(
        state.least, state.known, room, amount, state.group_count, state.first[job].group, state.first[job + 1].group,
        main, state.units.node[state.first[job].unit : state.first[job + 1].unit],
    )  # fmt: skip


@part
def _main_group(state, job):
    """The first of the groups of a job with the most units."""
    main = state.first[job].group
    for group in range(main, state.first[job + 1].group):
        if state.group_count[group] > state.group_count[main]:
            main = group
    return main


@part
def pack_units(state, job):
    """Choose nodes for units of several sizes out of what is noted that each has free; False if there is no room."""
    first, last = state.first[job].group, state.first[job + 1].group
    return pack_exactly(
        state.least, state.group_amount, state.group_count, first, last, _main_group(state, job), state.cells,
        state.pattern, state.units.node[state.first[job].unit : state.first[job + 1].unit],
    )  # fmt: skip


@part
def _next_change(state, rows, moment):
    """The first moment after a given one at which anything changes on a node; else NEVER."""
    change = NEVER
    for node in range(state.clock.nodes):
        for entry in range(state.length[rows + node]):
            if state.times[rows + node, entry] > moment:
                change = min(change, state.times[rows + node, entry])
                break
    return change


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
