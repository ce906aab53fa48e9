"""Jobs placed, lifted and placed again on machines whose day has few buckets, against a table by the second."""

from __future__ import annotations

import numpy as np
import pytest

from planner.compiled import kernel_of
from planner.machine import node_timelines
from planner.machine.node_timelines import JobTable, NodeTimelines, kernel_jobs, new_timelines
from planner.machine.place import hold_job
from planner.search.decode import place_all

WAITING = -1
RESOURCES = 2


class Machine:
    """A random small machine with jobs for it; ``free`` and ``power`` say by the second what is left."""

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.draw = draw
        self.day_end = int(draw.integers(15, 45))
        self.capacity = draw.integers(3, 9, (int(draw.integers(1, 4)), RESOURCES))
        self.limit = int(draw.integers(8, 20)) if seed % 3 == 0 else -1
        self.jobs = self._some_jobs(9)
        self.timelines = new_timelines(
            self.capacity, day_end=self.day_end, power_limit=self.limit, jobs=self.jobs, width=64
        )
        self.free = np.repeat(self.capacity[None], 80, axis=0)
        self.power = np.full(80, self.limit)
        self.start_of = np.full(9, WAITING)
        self.node_of_unit = np.full(int(self.jobs.unit_ptr[-1]), WAITING)

    def _some_jobs(self, count: int) -> JobTable:
        draw = self.draw
        sizes = [
            [[1], [2], [3], [1, 2], [2, 1, 1]][int(kind)] for kind in draw.choice(5, count, p=[0.3, 0.3, 0.2, 0.1, 0.1])
        ]
        flat = [size for groups in sizes for size in groups]
        return kernel_jobs(
            release=draw.integers(0, self.day_end, count),
            duration=draw.integers(1, 12, count),
            power=draw.integers(0, 9, count),
            group_ptr=np.cumsum([0, *map(len, sizes)]),
            group_count=np.array(flat),
            group_amount=draw.integers(0, 5, (len(flat), RESOURCES)) + (np.arange(RESOURCES) == 0),
            unit_ptr=np.cumsum([0, *map(sum, sizes)]),
        )

    def groups(self, job: int) -> range:
        return range(self.jobs.group_ptr[job], self.jobs.group_ptr[job + 1])

    def units(self, job: int) -> list[np.ndarray]:
        return [self.jobs.group_amount[g] for g in self.groups(job) for _ in range(self.jobs.group_count[g])]

    def nodes(self, job: int) -> np.ndarray:
        return self.node_of_unit[self.jobs.unit_ptr[job] : self.jobs.unit_ptr[job + 1]]

    def window(self, job: int, start: int) -> slice:
        return slice(start, start + int(self.jobs.duration[job]))

    def place(self, job: int) -> None:
        """Place a job by the kernel, and hold it against the table."""
        expected = self.earliest(job)
        place_all(self.timelines, self.jobs, np.array([job]), self.start_of, self.node_of_unit)
        assert self.start_of[job] == expected
        if expected == WAITING:
            assert np.all(self.nodes(job) == WAITING)
            return
        if len(self.groups(job)) == 1:
            assert self.nodes(job).tolist() == self.lowest_nodes(job, expected)
        self.count(job, -1)
        assert self.free.min() >= 0

    def lift(self, job: int) -> None:
        """Lift a job by the kernel and in the table."""
        start = int(self.start_of[job])
        end = start + self.jobs.duration[job]
        HOLD(self.timelines, self.jobs, job, np.int64(-1), start, end, self.nodes(job))
        self.count(job, 1)
        self.start_of[job] = WAITING

    def count(self, job: int, sign: int) -> None:
        window = self.window(job, int(self.start_of[job]))
        for node, amount in zip(self.nodes(job), self.units(job), strict=True):
            self.free[window, node] += sign * amount
        self.power[window] += sign * self.jobs.power[job] if self.limit >= 0 else 0

    def earliest(self, job: int) -> int:
        """The first second from which the power and some assignment of the units to nodes fits."""
        for start in range(int(self.jobs.release[job]), self.day_end):
            window = self.window(job, start)
            enough = self.limit < 0 or np.all(self.power[window] >= self.jobs.power[job])
            if enough and self.fits(self.free[window].min(axis=0), self.units(job)):
                return start
        return WAITING

    def fits(self, left: np.ndarray, units: list[np.ndarray]) -> bool:
        if not units:
            return True
        for node in range(len(left)):
            less = left.copy()
            less[node] -= units[0]
            if np.all(less[node] >= 0) and self.fits(less, units[1:]):
                return True
        return False

    def lowest_nodes(self, job: int, start: int) -> list[int]:
        """Equal units fill one node after another."""
        left = self.free[self.window(job, start)].min(axis=0)
        chosen = []
        for amount in self.units(job):
            node = next(node for node in range(len(left)) if np.all(left[node] >= amount))
            left[node] -= amount
            chosen.append(node)
        return chosen

    def tops(self) -> np.ndarray:
        """The most free cores of each node in each bucket."""
        width = int(self.timelines.bucket_s)
        return np.array([self.free[k : k + width, :, 0].max(axis=0) for k in range(0, self.day_end, width)])


HOLD = kernel_of(hold_job)


def require_true_notes(timelines: NodeTimelines, tops: np.ndarray) -> None:
    """The tops are those of the table, and no crest is below them."""
    assert timelines.tops.tolist() == tops.tolist()
    assert np.all(timelines.crests >= tops.max(axis=1))


@pytest.mark.parametrize("buckets", [1, 3, 7])
def test_jobs_placed_and_lifted_start_as_early_as_can_be(buckets: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """40 random machines: every start is the earliest there is, before and after other jobs were lifted."""
    monkeypatch.setattr(node_timelines, "BUCKETS", buckets)
    for seed in range(40):
        machine = Machine(seed)
        for job in range(9):
            machine.place(job)
        for _ in range(12):
            job = int(machine.draw.integers(0, 9))
            if machine.start_of[job] >= 0:
                machine.lift(job)
                require_true_notes(machine.timelines, machine.tops())
            other = int(machine.draw.integers(0, 9))
            if machine.start_of[other] < 0:
                machine.place(other)
                require_true_notes(machine.timelines, machine.tops())
