"""Bunches of nodes: nodes with one and the same timeline, at which a plan looks at once.

What runs leaves few different timelines on a large machine: all idle nodes are alike, and so are all nodes of a job
that has them for itself. A plan begins with the bunches of the machine, which stay as they are, so that the next plan
of the round begins with them again. Who takes room on nodes of a bunch parts them from it: they become a new bunch with
a timeline of its own, or join the one that was made for the same room in the same time. The nodes of a bunch are a list
in order of their numbers; equal units always take the first of them, so no list is ever sorted.

Rows are short and lie close together; a plan that needs longer ones is spread over the rows of the nodes
(`planner.online.kernel.plans`).
"""

from __future__ import annotations

from planner.compiled import part
from planner.machine.timeline import NEVER, are_alike, copy_row, hold_units

# Rows of the table of bunches: how long the timeline is, which nodes there are, the last new bunch that was parted
# from it and for what, how often its timeline was changed, scratch space for the search of starts and nodes, and what
# its timeline has free of the first resource in the beginning, and until when.
LENGTH, SIZE, HEAD, TAIL, CHILD, CHILD_VERSION, CHILD_GROUP, CHILD_COPIES, CHILD_START, CHILD_END, VERSION = range(11)
ROOM, AT, TAKEN, LAST, FROM, IS_START, FIRST_FREE, FIRST_CHANGE = range(11, 19)
MACHINE_SIZE, MACHINE_HEAD, MACHINE_TAIL = range(19, 22)
BUNCH_ROWS = 22

# Rows of the table of nodes: the bunch of each, its neighbours in the list; and the same before the plan.
OF, NEXT, BEFORE, MACHINE_OF, MACHINE_NEXT, MACHINE_BEFORE = range(6)
MEMBER_ROWS = 6

NOBODY = -1
"""No node, or no bunch."""

SPARE_ENTRIES = 4
"""Entries that a row must have left before a job is placed, which needs two of them."""


@part
def has_bunches(state):
    """Whether plans look at bunches: under policies that plan the whole queue anew, on several nodes."""
    return state.bunch.shape[1] > 0


@part
def bunch_machine(state):
    """Put the nodes of the machine into bunches; returns whether their timelines are short enough for that."""
    for place in range(state.bucket.shape[0]):
        state.bucket[place] = NOBODY
    count = 0
    for node in range(state.clock.nodes):
        if state.length[node] > state.bunch_times.shape[1] - SPARE_ENTRIES:
            return False
        place = _bucket_of(state, node)
        bunch = state.bucket[place]
        if bunch == NOBODY:
            bunch = count
            count += 1
            state.bucket[place] = bunch
            _begin_machine_bunch(state, bunch, node)
        else:
            before = state.bunch[MACHINE_TAIL, bunch]
            state.member[MACHINE_NEXT, before], state.member[MACHINE_BEFORE, node] = node, before
        state.member[MACHINE_OF, node], state.member[MACHINE_NEXT, node] = bunch, NOBODY
        state.bunch[MACHINE_TAIL, bunch] = node
        state.bunch[MACHINE_SIZE, bunch] += 1
    state.clock.machine_bunches = count
    return True


@part
def _bucket_of(state, node):
    """Where in the table of buckets the bunch of a node is, or would be."""
    digest = state.length[node]
    for entry in range(state.length[node]):
        digest = ((digest * 1_000_003) ^ state.times[node, entry]) & 0xFFFFFFFFFF
        for resource in range(state.free.shape[2]):
            digest = ((digest * 1_000_003) ^ state.free[node, entry, resource]) & 0xFFFFFFFFFF
    last = state.bucket.shape[0] - 1
    place = (digest ^ (digest >> 20)) & last
    while state.bucket[place] != NOBODY and not _is_alike(state, state.bucket[place], node):
        place = (place + 1) & last
    return place


@part
def _is_alike(state, bunch, node):
    """Whether a node of the machine has the timeline of a bunch."""
    return are_alike(
        state.times, state.free, state.length, node, state.bunch_times, state.bunch_free, state.bunch[LENGTH], bunch
    )


@part
def _begin_machine_bunch(state, bunch, node):
    """Begin a bunch with the timeline of a node of the machine."""
    state.bunch[VERSION, bunch] = 0
    state.bunch[MACHINE_HEAD, bunch], state.bunch[MACHINE_SIZE, bunch] = node, 0
    state.member[MACHINE_BEFORE, node] = NOBODY
    copy_row(
        state.times, state.free, state.length, node, state.bunch_times, state.bunch_free, state.bunch[LENGTH], bunch
    )
    _note_beginning(state, bunch)


@part
def _note_beginning(state, bunch):
    """Note what a bunch has free of the first resource in the beginning, and until when."""
    state.bunch[FIRST_FREE, bunch] = state.bunch_free[bunch, 0, 0]
    state.bunch[FIRST_CHANGE, bunch] = state.bunch_times[bunch, 1] if state.bunch[LENGTH, bunch] > 1 else NEVER


@part
def back_to_machine(state):
    """Bring back the bunches of the machine."""
    for node in range(state.clock.nodes):
        state.member[OF, node] = state.member[MACHINE_OF, node]
        state.member[NEXT, node] = state.member[MACHINE_NEXT, node]
        state.member[BEFORE, node] = state.member[MACHINE_BEFORE, node]
    for bunch in range(state.clock.machine_bunches):
        state.bunch[SIZE, bunch] = state.bunch[MACHINE_SIZE, bunch]
        state.bunch[HEAD, bunch], state.bunch[TAIL, bunch] = (
            state.bunch[MACHINE_HEAD, bunch],
            state.bunch[MACHINE_TAIL, bunch],
        )
        state.bunch[CHILD, bunch] = NOBODY
    state.clock.bunches, state.clock.crowded = state.clock.machine_bunches, 0


@part
def take_first(state, bunch, count, last, group, copies, start, end):
    """Take room for units of a group on the first nodes of a bunch, up to ``last``: so many on each, start to end."""
    if count == state.bunch[SIZE, bunch] and bunch >= state.clock.machine_bunches:
        _change(state, bunch, state.group_amount[group], copies, start, end)
        return
    child = _known_child(state, bunch, group, copies, start, end)
    if child == NOBODY:
        child = _new_bunch(state, bunch)
        _change(state, child, state.group_amount[group], copies, start, end)
        state.bunch[CHILD, bunch], state.bunch[CHILD_VERSION, bunch] = child, state.bunch[VERSION, child]
        state.bunch[CHILD_GROUP, bunch], state.bunch[CHILD_COPIES, bunch] = group, copies
        state.bunch[CHILD_START, bunch], state.bunch[CHILD_END, bunch] = start, end
    _move_first(state, bunch, child, count, last)


@part
def hold_on_node(state, node, amount, copies, start, end):
    """Take room for units on one node, or give it back (copies below 0); the node is parted from its bunch."""
    bunch = state.member[OF, node]
    if state.bunch[SIZE, bunch] > 1 or bunch < state.clock.machine_bunches:
        own = _new_bunch(state, bunch)
        _unlink(state, bunch, node)
        state.bunch[HEAD, own], state.bunch[TAIL, own], state.bunch[SIZE, own] = node, node, 1
        state.member[OF, node], state.member[NEXT, node], state.member[BEFORE, node] = own, NOBODY, NOBODY
        bunch = own
    _change(state, bunch, amount, copies, start, end)


@part
def _known_child(state, bunch, group, copies, start, end):
    """The bunch that was parted from another one for the same units in the same time; else NOBODY."""
    child = state.bunch[CHILD, bunch]
    if (
        child == NOBODY
        or state.bunch[CHILD_VERSION, bunch] != state.bunch[VERSION, child]
        or state.bunch[CHILD_COPIES, bunch] != copies
        or state.bunch[CHILD_START, bunch] != start
        or state.bunch[CHILD_END, bunch] != end
    ):
        return NOBODY
    for resource in range(state.group_amount.shape[1]):
        if state.group_amount[group, resource] != state.group_amount[state.bunch[CHILD_GROUP, bunch], resource]:
            return NOBODY
    return child


@part
def _new_bunch(state, bunch):
    """A bunch without nodes, with the timeline of another one. As none is ever left empty, there is always room."""
    new = state.clock.bunches
    state.clock.bunches += 1
    times, free, length = state.bunch_times, state.bunch_free, state.bunch[LENGTH]
    copy_row(times, free, length, bunch, times, free, length, new)
    state.bunch[SIZE, new] = 0
    state.bunch[HEAD, new], state.bunch[TAIL, new], state.bunch[CHILD, new] = NOBODY, NOBODY, NOBODY
    state.bunch[VERSION, new] = 0
    return new


@part
def _change(state, bunch, amount, copies, start, end):
    """Take room on the timeline of a bunch."""
    hold_units(state.bunch_times, state.bunch_free, state.bunch[LENGTH], bunch, amount, copies, start, end)
    _note_beginning(state, bunch)
    state.bunch[VERSION, bunch] += 1
    state.bunch[CHILD, bunch] = NOBODY
    if state.bunch[LENGTH, bunch] > state.bunch_times.shape[1] - SPARE_ENTRIES:
        state.clock.crowded = 1


@part
def _move_first(state, bunch, target, count, last):
    """Move the first nodes of a bunch, up to ``last``, to the end of another one, whose nodes come before them."""
    member, first = state.member, state.bunch[HEAD, bunch]
    rest = member[NEXT, last]
    node = first
    while node != rest:
        member[OF, node] = target
        node = member[NEXT, node]
    tail = state.bunch[TAIL, target]
    if tail == NOBODY:
        state.bunch[HEAD, target] = first
    else:
        member[NEXT, tail], member[BEFORE, first] = first, tail
    member[NEXT, last] = NOBODY
    state.bunch[TAIL, target] = last
    state.bunch[SIZE, target] += count
    state.bunch[HEAD, bunch] = rest
    state.bunch[SIZE, bunch] -= count
    if rest == NOBODY:
        state.bunch[TAIL, bunch] = NOBODY
    else:
        member[BEFORE, rest] = NOBODY


@part
def _unlink(state, bunch, node):
    """Take a node out of the list of its bunch."""
    after, before = state.member[NEXT, node], state.member[BEFORE, node]
    if before == NOBODY:
        state.bunch[HEAD, bunch] = after
    else:
        state.member[NEXT, before] = after
    if after == NOBODY:
        state.bunch[TAIL, bunch] = before
    else:
        state.member[BEFORE, after] = before
    state.bunch[SIZE, bunch] -= 1
