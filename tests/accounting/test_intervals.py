"""Energy, overlaps and unions of intervals, against counting second by second."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from planner.accounting.could_have_started import FOR_EVER, step_table
from planner.accounting.intervals import energy_between, merged_intervals, overlap_s

SECONDS = 40


def test_energy_and_overlaps_are_those_of_every_second() -> None:
    """200 random sets of 0 to 5 intervals between random edges; intervals may be empty or reach beyond the edges."""
    for seed in range(200):
        draw = np.random.default_rng(seed)
        count = int(draw.integers(0, 6))
        start = draw.integers(0, 30, count)
        end = start + draw.integers(0, 10, count)
        power = draw.integers(0, 9, count)
        edges = np.unique(draw.integers(0, SECONDS, 4))
        runs = np.array([[s <= k < e for k in range(SECONDS)] for s, e in zip(start, end, strict=True)])
        runs = runs.reshape(count, SECONDS)
        seconds = np.array([runs[:, a:b].sum(axis=1) for a, b in pairwise(edges)])
        seconds = seconds.reshape(len(edges) - 1, count).T
        assert overlap_s(edges, start, end).tolist() == seconds.tolist()
        energy = energy_between(edges, start, end, power)
        assert energy.dtype == np.int64
        assert energy.tolist() == (power @ seconds).tolist()


def test_the_union_of_intervals_is_that_of_their_seconds() -> None:
    """200 random sets: each owner's seconds, in as few pieces as there are; pieces that touch are one."""
    for seed in range(200):
        draw = np.random.default_rng(seed)
        count = int(draw.integers(0, 8))
        owner, start = draw.integers(0, 3, count), draw.integers(0, 30, count)
        end = start + draw.integers(1, 10, count)
        expected = []
        for who in range(3):
            held = {k for o, s, e in zip(owner, start, end, strict=True) if o == who for k in range(s, e)}
            firsts, lasts = sorted(k for k in held if k - 1 not in held), sorted(k for k in held if k + 1 not in held)
            expected += [(who, first, last + 1) for first, last in zip(firsts, lasts, strict=True)]
        merged = merged_intervals(owner, start, end)
        assert [tuple(map(int, row)) for row in zip(*merged, strict=True)] == expected


def test_a_table_of_steps_says_what_is_free_in_every_second() -> None:
    """200 random machines: every second lies in one entry of each row, which says what is left of the row then."""
    for seed in range(200):
        draw = np.random.default_rng(seed)
        capacity, count = draw.integers(0, 9, (2, 2)), int(draw.integers(0, 6))
        row, start, amount = draw.integers(0, 2, count), draw.integers(0, 30, count), draw.integers(0, 4, (count, 2))
        end = start + draw.integers(1, 10, count)
        free = np.repeat(capacity[:, None], SECONDS, axis=1)
        for r, s, e, taken in zip(row, start, end, amount, strict=True):
            free[r, s:e] -= taken
        table = step_table(capacity, row, start, end, amount)
        for r in range(2):
            mine = table.row == r
            assert table.time_s[mine][0] == 0
            assert table.until_s[mine].tolist() == [*table.time_s[mine][1:].tolist(), FOR_EVER]
            assert np.all(np.diff(table.time_s[mine]) > 0)
            said = np.repeat(table.free[mine], np.diff([*table.time_s[mine], SECONDS]), axis=0)
            assert said.tolist() == free[r].tolist()
