"""The parts of the machine, each against a slow and obvious twin."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from planner.compiled import kernel_of
from planner.machine import heap, rng, timeline
from planner.machine.choose_nodes import cheapest_node, copies_until, pack_anywhere, share_out
from planner.machine.earliest import BOUND_COLUMNS, learned_start, remember, smallest
from planner.machine.node_timelines import JobTable, NodeTimelines, kernel_jobs, new_timelines
from planner.search.decode import place_all

SECONDS = 60
"""Length of the dense timelines, second by second; what the last one says holds for ever."""


def test_a_heap_gives_jobs_back_as_heapq_does() -> None:
    """600 random pushes and pops with many equal keys: the smallest key first, then the smallest tie."""
    push, pop = kernel_of(heap.push), kernel_of(heap.pop)
    draw = np.random.default_rng(0)
    keys, jobs, ties = np.zeros(300), np.zeros(300, np.int64), draw.permutation(300)
    expected: list[tuple[float, int, int]] = []
    for job in range(300):
        key = float(draw.integers(0, 6))
        push(keys, jobs, ties, len(expected), key, job)
        heapq.heappush(expected, (key, int(ties[job]), job))
        while expected and draw.random() < (0.3 if job < 299 else 1.0):
            assert pop(keys, jobs, ties, len(expected)) == heapq.heappop(expected)[2]
    assert not expected


def test_a_job_is_removed_from_anywhere_in_a_heap() -> None:
    """Of 40 jobs with many equal keys every third goes, first, last and within; the rest come in order."""
    push, pop, remove = kernel_of(heap.push), kernel_of(heap.pop), kernel_of(heap.remove)
    for seed in range(20):
        draw = np.random.default_rng(seed)
        keys, jobs, ties = np.zeros(40), np.zeros(40, np.int64), draw.permutation(40)
        left = {}
        for job in range(40):
            left[job] = float(draw.integers(0, 6))
            push(keys, jobs, ties, job, left[job], job)
        for job in draw.permutation(40)[:13].tolist():
            assert remove(keys, jobs, ties, len(left), job)
            del left[job]
            assert not remove(keys, jobs, ties, len(left), job)
        order = sorted(left, key=lambda job: (left[job], ties[job]))
        assert [int(pop(keys, jobs, ties, len(left) - k)) for k in range(len(order))] == order


def test_the_kth_smallest_is_that_of_a_sorted_list() -> None:
    """400 random lists of 1 to 12 values of which the last ones do not count."""
    select = kernel_of(smallest)
    draw = np.random.default_rng(0)
    for _ in range(400):
        values = draw.integers(0, 9, int(draw.integers(1, 13)))
        length = int(draw.integers(1, len(values) + 1))
        rank = int(draw.integers(1, length + 1))
        assert select(values.copy(), length, rank) == sorted(values[:length].tolist())[rank - 1]


def mixed_fraction(state: int) -> tuple[int, float]:
    """The next state of splitmix64 and its fraction, in Python's whole numbers."""
    mask = 2**64 - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    mixed = state
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return state, ((mixed ^ (mixed >> 31)) >> 11) / 2**53


@pytest.mark.filterwarnings("ignore:overflow")
def test_random_numbers_are_those_of_splitmix64() -> None:
    """From seed 0 the published first number is 0xE220A8397B1DCDAF; whole numbers are parts of the limit."""
    fraction, below = kernel_of(rng.fraction), kernel_of(rng.below)
    stream = np.zeros(1, np.uint64)
    assert fraction(stream) == (0xE220A8397B1DCDAF >> 11) / 2**53
    state = int(stream[0])
    for limit in range(1, 50):
        state, expected = mixed_fraction(state)
        assert below(stream, limit) == int(expected * limit)


class DenseTimelines:
    """Timelines of two nodes with two resources, beside a table of what is free in every second."""

    def __init__(self) -> None:
        self.times, self.free = np.zeros((4, 64), np.int64), np.zeros((4, 64, 2), np.int64)
        self.length = np.ones(4, np.int64)
        self.free[:, 0] = 6
        self.dense = np.full((2, SECONDS, 2), 6)

    @property
    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.times, self.free, self.length

    def entries(self, node: int) -> list[tuple[int, list[int]]]:
        pairs = zip(self.times[node, : self.length[node]], self.free[node], strict=False)
        return [(int(moment), values.tolist()) for moment, values in pairs]

    def changes(self, node: int, since: int = 0) -> list[tuple[int, list[int]]]:
        """The entries that the table asks for: one where a node's row differs from the second before."""
        row = self.dense[node]
        moments = [since, *(k for k in range(since + 1, SECONDS) if row[k].tolist() != row[k - 1].tolist())]
        return [(moment, row[moment].tolist()) for moment in moments]


def test_timelines_say_what_a_table_by_the_second_says() -> None:
    """Units held and given back at random: the same entries, first rooms, copies, least free amounts and tops."""
    hold, first = kernel_of(timeline.hold_units), kernel_of(timeline.first_room)
    least_free, note_tops = kernel_of(timeline.least_free), kernel_of(timeline.note_tops)
    copies_in_time = kernel_of(copies_until)
    draw = np.random.default_rng(1)
    found_room = 0
    for _ in range(40):
        lines, held = DenseTimelines(), []
        for _ in range(14):
            node, copies = int(draw.integers(0, 2)), int(draw.integers(1, 3))
            start, amount = int(draw.integers(0, 40)), draw.integers(0, 3, 2)
            end = start + int(draw.integers(1, 15))
            if held and draw.random() < 0.3:
                node, amount, copies, start, end = held.pop(int(draw.integers(0, len(held))))
                copies = -copies
            elif np.all(lines.dense[node, start:end] >= copies * amount):
                held.append((node, amount, copies, start, end))
            else:
                continue
            hold(*lines.rows, node, amount, copies, start, end)
            lines.dense[node, start:end] -= copies * amount
            assert lines.entries(node) == lines.changes(node)

            tops = np.full((5, 2), -7)
            note_tops(*lines.rows, tops, 10, node, start, end)
            buckets = range(start // 10, min((end - 1) // 10, 4) + 1)
            by_hand = [lines.dense[node, 10 * k : 10 * k + 10, 0].max() if k in buckets else -7 for k in range(5)]
            assert tops[:, node].tolist() == by_hand
            assert np.all(tops[:, 1 - node] == -7)

            asked, span = draw.integers(0, 4, 2), int(draw.integers(1, 9))
            copies, earliest = int(draw.integers(1, 3)), int(draw.integers(0, 50))
            latest = earliest + int(draw.integers(-1, 25))
            padded = np.concatenate([lines.dense[node], np.repeat(lines.dense[node, -1:], 60, axis=0)])
            starts = (s for s in range(earliest, latest + 1) if np.all(padded[s : s + span] >= copies * asked))
            expected = next(starts, timeline.NEVER)
            found_room += expected < timeline.NEVER
            assert first(*lines.rows, node, asked, copies, span, earliest, latest) == expected

            most, until = int(draw.integers(1, 5)), earliest + span
            fitting = (k for k in range(most, 0, -1) if np.all(padded[earliest:until] >= k * asked))
            assert copies_in_time(*lines.rows, node, asked, most, earliest, until) == next(fitting, 0)

            least = np.zeros(2, np.int64)
            least_free(*lines.rows, node, start, end, least)
            assert least.tolist() == lines.dense[node, start:end].min(axis=0).tolist()
    assert 100 < found_room < 500


def test_the_past_is_forgotten_and_rows_are_copied() -> None:
    """Rows begin at the present second, say the same from there on, and are written again below themselves."""
    hold, forget, copy = (kernel_of(f) for f in (timeline.hold_units, timeline.forget_past, timeline.copy_rows))
    draw = np.random.default_rng(2)
    for _ in range(60):
        lines = DenseTimelines()
        for node in (0, 0, 0, 1):
            start, amount = int(draw.integers(0, 30)), draw.integers(0, 3, 2)
            end = start + int(draw.integers(1, 20))
            hold(*lines.rows, node, amount, 1, start, end)
            lines.dense[node, start:end] -= amount
        for now in sorted(draw.integers(0, 50, 3).tolist()):
            forget(*lines.rows, 2, now)
            for node in (0, 1):
                assert lines.entries(node) == lines.changes(node, since=now)
        copy(*lines.rows, 2)
        assert [lines.entries(node) for node in (2, 3)] == [lines.entries(node) for node in (0, 1)]


def test_what_is_learned_is_the_latest_start_of_whoever_asked_no_more() -> None:
    """300 jobs of a few sizes remembered in four rows: only the last four teach, and only those that asked no more."""
    learn, keep = kernel_of(learned_start), kernel_of(remember)
    draw = np.random.default_rng(3)
    rows = np.zeros((4, 2 + BOUND_COLUMNS), np.int64)
    told: list[tuple[list[int], int]] = []
    later = 0
    for count in range(300):
        amount, asked = draw.integers(0, 3, 2), draw.integers(1, 4, 4).tolist()
        units, duration, release, power = asked
        teachers = [start for row, start in told[-4:] if np.all(np.array(row) <= [*amount, *asked])]
        expected = max([release, *teachers])
        later += expected > release
        assert learn(rows, count, amount, units, duration, release, power) == expected
        start = int(draw.integers(1, 9))
        keep(rows, count, amount, units, duration, release, power, start)
        told.append(([*amount.tolist(), *asked], start))
    assert later > 30


def test_an_odd_unit_goes_where_it_costs_the_fewest_main_units() -> None:
    """500 random machines: the least loss, the lowest node among equals, and -1 where no node takes it."""
    cheapest = kernel_of(cheapest_node)
    draw = np.random.default_rng(4)
    nowhere = 0
    for _ in range(500):
        least = draw.integers(0, 9, (int(draw.integers(1, 5)), 2))
        amount, main, wanted = draw.integers(0, 6, 2), draw.integers(0, 4, 2), int(draw.integers(1, 5))
        taken = np.array([copies(row, main, wanted) for row in least])
        losses = [
            (int(taken[node]) - copies(row - amount, main, wanted), node)
            for node, row in enumerate(least)
            if np.all(row >= amount)
        ]
        loss, node = min(losses, default=(timeline.NEVER, -1))
        nowhere += node < 0
        assert cheapest(least, taken, amount, main, wanted) == (node, loss)
    assert 20 < nowhere < 400


def copies(free: np.ndarray, amount: np.ndarray, most: int) -> int:
    """How many units fit, counted one by one."""
    return max(k for k in range(most + 1) if k == 0 or np.all(free >= k * amount))


def jobs_of(counts: list[int], amounts: list[list[int]]) -> JobTable:
    """One job of groups of units, and one before it that is not asked about."""
    groups, units = len(counts), sum(counts)
    return kernel_jobs(
        release=np.zeros(2, np.int64),
        duration=np.full(2, 5),
        power=np.zeros(2, np.int64),
        group_ptr=np.array([0, 1, 1 + groups]),
        group_count=np.array([2, *counts]),
        group_amount=np.array([[1, 1], *amounts]),
        unit_ptr=np.array([0, 2, 2 + units]),
    )


def test_units_of_several_sizes_share_the_room_as_written() -> None:
    """Three nodes of 8 cores and 8 GB, 3 main units of (3, 1) and odd ones of (8, 0) and (2, 8).

    Empty nodes take two main units each, at most three at once. The unit of 8 cores costs two of them on any node, so
    it goes to node 0; that of 8 GB costs two on node 1, and node 2 alone cannot take three. With a fourth node it can.
    """
    share = kernel_of(share_out)
    for nodes, fits in ((3, False), (4, True)):
        counts, amounts = np.array([1, 3, 1]), np.array([[8, 0], [3, 1], [2, 8]])
        least, taken = np.full((nodes, 2), 8), np.full(nodes, 2)
        chosen = np.full(5, -9)
        assert share(least, taken, 2 * nodes, amounts, counts, 0, 3, 1, chosen) == fits
        if fits:
            assert chosen.tolist() == [0, 2, 2, 3, 1]
            assert least.tolist() == [[0, 8], [6, 0], [8, 8], [8, 8]]


def machine(jobs: JobTable, capacity: list[list[int]]) -> NodeTimelines:
    return new_timelines(np.array(capacity), day_end=20, power_limit=-1, jobs=jobs)


@pytest.mark.filterwarnings("ignore:overflow")
def test_units_that_go_anywhere_count_from_a_random_node() -> None:
    """The same nodes as a twin that draws the same numbers, and no when a unit finds no node at all."""
    anywhere = kernel_of(pack_anywhere)
    draw = np.random.default_rng(5)
    outcomes = []
    for seed in range(60):
        capacity = draw.integers(1, 9, (int(draw.integers(1, 5)), 2))
        counts, amounts = [2, 1], draw.integers(1, 5, (2, 2)).tolist()
        jobs = jobs_of(counts, amounts)
        chosen = np.full(5, -9)
        fits = anywhere(machine(jobs, capacity.tolist()), jobs, 1, 0, 5, np.array([seed], np.uint64), chosen)
        left, state, expected = capacity.copy(), seed, []
        for amount in (amounts[0], amounts[0], amounts[1]):
            state, part = mixed_fraction(state)
            first, nodes = int(part * len(left)), len(left)
            turns = [(first + k) % nodes for k in range(nodes)]
            node = next((node for node in turns if np.all(left[node] >= amount)), -1)
            if node < 0:
                break
            left[node] -= amount
            expected.append(node)
        assert fits == (len(expected) == 3)
        assert chosen[2 : 2 + len(expected)].tolist() == expected
        outcomes.append(fits)
    assert 15 < sum(outcomes) < 55


@pytest.mark.parametrize(("day_end", "bucket_s", "buckets"), [(86400, 900, 96), (97, 2, 49), (20, 1, 20)])
def test_a_day_has_at_most_96_buckets(day_end: int, bucket_s: int, buckets: int) -> None:
    """A quarter of an hour each on a usual day; a second is the shortest."""
    jobs = jobs_of([1], [[1, 1]])
    timelines = new_timelines(np.full((3, 2), 4), day_end=day_end, power_limit=-1, jobs=jobs)
    assert (timelines.bucket_s, timelines.tops.shape, timelines.crests.shape) == (bucket_s, (buckets, 3), (buckets,))


def test_a_start_that_was_found_speaks_for_later_jobs() -> None:
    """The second of two equal jobs is not looked for before the start that is remembered of the first.

    On an empty machine both start at 0. Had the first one found room at 7 only, so would the second.
    """
    jobs = kernel_jobs(
        release=np.zeros(2, np.int64),
        duration=np.full(2, 5),
        power=np.zeros(2, np.int64),
        group_ptr=np.arange(3),
        group_count=np.ones(2, np.int64),
        group_amount=np.ones((2, 2), np.int64),
        unit_ptr=np.arange(3),
    )
    timelines = machine(jobs, [[4, 4]])
    start_of, nodes = np.full(2, -1), np.full(2, -1)
    place_all(timelines, jobs, np.array([0]), start_of, nodes)
    assert timelines.remembered.tolist() == [1]
    # amounts 1 and 1, one unit, 5 s, released at 0, no power, start 0
    assert timelines.start_bounds[0].tolist() == [1, 1, 1, 5, 0, 0, 0]
    timelines.start_bounds[0, -1] = 7
    place_all(timelines, jobs, np.array([1]), start_of, nodes)
    assert start_of.tolist() == [0, 7]
