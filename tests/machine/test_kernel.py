"""The placement kernel against a slow and obvious reference."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from planner.compiled import kernel
from planner.machine import timeline
from planner.machine.node_timelines import kernel_jobs, new_timelines
from planner.search.decode import place_all

NO_LIMIT = -1


class Instance:
    """A small random instance as the kernel takes it, with times of a few dozen seconds."""

    def __init__(self, seed: int, *, several_odd: bool = False) -> None:
        rng = np.random.default_rng(seed)
        self.day_end = int(rng.integers(5, 40))
        resources = int(rng.integers(1, 4))
        nodes = int(rng.integers(1, 5))
        kinds = rng.integers(1, 9, (2, resources))
        self.capacity = kinds[np.sort(rng.integers(0, 2, nodes))].astype(np.int64)
        jobs = int(rng.integers(1, 9))
        self.release = rng.integers(0, self.day_end, jobs)
        self.duration = rng.integers(1, 15, jobs)
        self.power = rng.integers(0, 10, jobs)
        counts, amounts, lengths = [], [], []
        for _ in range(jobs):
            groups = 2 if rng.random() < 0.35 else 1
            sizes = [int(rng.integers(1, 4))] + [1] * (groups - 1)
            if several_odd:
                sizes = [[2, 2], [2, 1, 1], [1, 1, 1], [3, 2]][int(rng.integers(0, 4))]
                groups = len(sizes)
            if rng.random() < 0.5:
                sizes.reverse()
            lengths.append(groups)
            counts += sizes
            amounts += [rng.integers(0, 6, resources) for _ in sizes]
        for amount in amounts:
            amount[0] = max(1, amount[0])
        self.group_ptr = np.concatenate([[0], np.cumsum(lengths)])
        self.group_count = np.array(counts)
        self.group_amount = np.array(amounts)
        self.unit_ptr = np.concatenate([[0], np.cumsum(counts)])[self.group_ptr]
        self.order = rng.permutation(jobs)
        self.limit = int(rng.integers(5, 25)) if rng.random() < 0.4 else NO_LIMIT
        self._add_running(rng)

    def _add_running(self, rng: np.random.Generator) -> None:
        self.running_node, self.running_end, self.running_amount = [], [], []
        left = self.capacity.copy()
        self.running_power, power_left = [], self.limit if self.limit >= 0 else 99
        for _ in range(int(rng.integers(0, 4))):
            node = int(rng.integers(0, len(left)))
            amount = np.array([int(rng.integers(0, free + 1)) for free in left[node]])
            power = int(rng.integers(0, power_left + 1))
            left[node] -= amount
            power_left -= power
            self.running_node.append(node)
            self.running_end.append(int(rng.integers(1, 30)))
            self.running_amount.append(amount)
            self.running_power.append(power)

    def place(self) -> tuple[np.ndarray, np.ndarray]:
        jobs = kernel_jobs(
            release=self.release,
            duration=self.duration,
            power=self.power,
            group_ptr=self.group_ptr,
            group_count=self.group_count,
            group_amount=self.group_amount,
            unit_ptr=self.unit_ptr,
        )
        running = len(self.running_node)
        timelines = new_timelines(
            self.capacity, day_end=self.day_end, power_limit=self.limit, jobs=jobs, running=running, width=4
        )
        ends, one_each = np.array(self.running_end, np.int64), np.arange(running + 1)
        held = kernel_jobs(
            release=np.zeros(running, np.int64),
            duration=ends,
            power=np.array(self.running_power, np.int64),
            group_ptr=one_each,
            group_count=np.ones(running, np.int64),
            group_amount=np.array(self.running_amount, np.int64).reshape(running, self.capacity.shape[1]),
            unit_ptr=one_each,
        )
        nodes = np.array(self.running_node, np.int64)
        timelines = place_all(timelines, held, one_each[:-1], np.zeros(running, np.int64), nodes)
        start_of = np.full(len(self.release), -9)
        node_of_unit = np.full(self.unit_ptr[-1], -9)
        place_all(timelines, jobs, self.order, start_of, node_of_unit)
        return start_of, node_of_unit

    def units(self, job: int) -> list[np.ndarray]:
        groups = range(self.group_ptr[job], self.group_ptr[job + 1])
        return [self.group_amount[group] for group in groups for _ in range(self.group_count[group])]


def earliest_by_trying(instance: Instance, job: int, free: np.ndarray, power: np.ndarray) -> int:
    """Earliest start by trying every second and every assignment of units to nodes; -1 when there is none."""
    units = instance.units(job)
    for start in range(instance.release[job], instance.day_end):
        window = slice(start, start + instance.duration[job])
        if instance.limit >= 0 and np.any(power[window] + instance.power[job] > instance.limit):
            continue
        least = free[window].min(axis=0)
        for nodes in product(range(len(least)), repeat=len(units)):
            left = least.copy()
            for node, amount in zip(nodes, units, strict=True):
                left[node] -= amount
            if np.all(left >= 0):
                return start
    return -1


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("block", range(10))
def test_every_start_is_the_earliest_there_is(block: int) -> None:
    """Given what was placed before, no job could start a second earlier: 2,000 random instances, all packings tried."""
    for seed in range(block * 100, block * 100 + 100):
        require_earliest_starts(Instance(seed), seed)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("block", range(3))
def test_every_start_is_the_earliest_with_several_odd_units_too(block: int) -> None:
    """The same for jobs of two or three sizes of units, for which no rule of thumb finds all the room there is."""
    for seed in range(block * 40, block * 40 + 40):
        require_earliest_starts(Instance(seed, several_odd=True), seed)


def require_earliest_starts(instance: Instance, seed: int) -> None:
    """Every job of an instance starts when trying every second and every packing says, on nodes that have the room."""
    start_of, node_of_unit = instance.place()
    seconds = 2 * 40 + 60
    free = np.repeat(instance.capacity[None], seconds, axis=0)
    power = np.zeros(seconds, dtype=np.int64)
    rows = zip(
        instance.running_node, instance.running_end, instance.running_amount, instance.running_power, strict=True
    )
    for node, end, amount, watts in rows:
        free[:end, node] -= amount
        power[:end] += watts
    for job in instance.order:
        expected = earliest_by_trying(instance, job, free, power)
        assert start_of[job] == expected, f"seed {seed}, job {job}"
        nodes = node_of_unit[instance.unit_ptr[job] : instance.unit_ptr[job + 1]]
        if expected < 0:
            assert np.all(nodes == -1)
            continue
        window = slice(expected, expected + instance.duration[job])
        for node, amount in zip(nodes, instance.units(job), strict=True):
            free[window, node] -= amount
        power[window] += instance.power[job]
        assert free.min() >= 0, f"seed {seed}, job {job}: a node is over-used"


def test_timelines_grow_with_the_number_of_jobs() -> None:
    """Many short jobs with gaps between them outgrow the first timeline of a node, and all keep their place."""
    instance = Instance(0)
    count = 500
    instance.day_end, instance.limit, instance.capacity = 10_000, NO_LIMIT, np.ones((1, 1), np.int64)
    instance.release, instance.duration = np.arange(count) * 10, np.full(count, 3)
    instance.power, instance.order = np.zeros(count, np.int64), np.random.default_rng(0).permutation(count)
    instance.group_ptr = instance.unit_ptr = np.arange(count + 1)
    instance.group_count, instance.group_amount = np.ones(count, np.int64), np.ones((count, 1), np.int64)
    instance.running_node, instance.running_end, instance.running_amount, instance.running_power = [], [], [], []
    assert np.array_equal(instance.place()[0], instance.release)


@kernel
def hold_first_room(times, free, length, tops, node, amount, duration, earliest, latest):
    """Hold the first room on a node and note its tops; returns where it was."""
    at = timeline.first_room(times, free, length, node, amount, np.int64(1), duration, earliest, latest)
    if at < timeline.NEVER:
        timeline.hold_units(times, free, length, node, amount, np.int64(1), at, at + duration)
        timeline.note_tops(times, free, length, tops, np.int64(10), node, at, at + duration)
    return at


def without_compiling(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """The same as plain Python, all the way down."""
    for name in ("entry_at", "first_room", "hold_units", "note_tops", "_cut", "_join"):
        monkeypatch.setattr(timeline, name, getattr(timeline, name).py_func)
    return hold_first_room.py_func


@pytest.mark.skipif(not hasattr(hold_first_room, "py_func"), reason="nothing is compiled")
def test_the_compiled_timelines_and_their_python_twins_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilation changes nothing: first room, reserving and tops give the same on random timelines."""
    results = []
    for compiled in (True, False):
        run = hold_first_room if compiled else without_compiling(monkeypatch)
        rng = np.random.default_rng(5)
        found = []
        for _ in range(60):
            times, free = np.zeros((2, 64), np.int64), np.zeros((2, 64, 2), np.int64)
            length, tops = np.ones(2, np.int64), np.full((10, 2), 9)
            free[:, 0] = 9
            for _ in range(12):
                node, start = int(rng.integers(0, 2)), int(rng.integers(0, 80))
                amount, duration = rng.integers(0, 3, 2), int(rng.integers(1, 25))
                found.append(int(run(times, free, length, tops, node, amount, duration, start, 99)))
            found += [times.tolist(), free.tolist(), length.tolist(), tops.tolist()]
        results.append(found)
    assert results[0] == results[1]
