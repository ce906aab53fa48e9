"""The placement kernel against a slow and obvious reference."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from planner.search.kernel import place_in_order

NO_LIMIT = -1


class Instance:
    """A small random instance as the kernel takes it, with times of a few dozen seconds."""

    def __init__(self, seed: int, *, odd_units: bool = True) -> None:
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
            groups = 2 if odd_units and rng.random() < 0.35 else 1
            sizes = [int(rng.integers(1, 4))] + [1] * (groups - 1)
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

    def place(self, place=place_in_order):
        return place(
            self.order, self.release, self.duration, self.power, self.group_ptr, self.group_count,
            self.group_amount, self.unit_ptr, self.capacity,
            np.array(self.running_node, dtype=np.int64), np.array(self.running_end, dtype=np.int64),
            np.array(self.running_amount, dtype=np.int64).reshape(-1, self.capacity.shape[1]),
            np.array(self.running_end, dtype=np.int64), np.array(self.running_power, dtype=np.int64),
            self.limit, self.day_end,
        )  # fmt: skip

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


@pytest.mark.parametrize("block", range(8))
def test_every_start_is_the_earliest_there_is(block: int) -> None:
    """Given what was placed before, no job could start a second earlier: 4,000 random instances, all packings tried."""
    for seed in range(block * 500, block * 500 + 500):
        instance = Instance(seed)
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


def test_the_compiled_kernel_and_its_python_twin_agree() -> None:
    """Compilation changes nothing: the same starts and nodes from the plain Python functions."""
    for seed in range(40):
        instance = Instance(seed)
        compiled, plain = instance.place(), instance.place(place_in_order.py_func)
        assert np.array_equal(compiled[0], plain[0])
        assert np.array_equal(compiled[1], plain[1])


def test_timelines_grow_with_the_number_of_jobs() -> None:
    """Many short jobs with gaps between them outgrow the first timeline of a node, and all keep their place."""
    count = 500
    release = np.arange(count) * 10
    start_of, _ = place_in_order(
        np.random.default_rng(0).permutation(count), release, np.full(count, 3), np.zeros(count, np.int64),
        np.arange(count + 1), np.ones(count, np.int64), np.ones((count, 1), np.int64), np.arange(count + 1),
        np.ones((1, 1), np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 1), np.int64),
        np.zeros(0, np.int64), np.zeros(0, np.int64), NO_LIMIT, 10_000,
    )  # fmt: skip
    assert np.array_equal(start_of, release)
