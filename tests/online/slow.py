"""Slow and obvious simulators of a pool and of nodes, written from the policies' definitions and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from planner.domain.trace import Trace
from planner.online.predictors import Predictor

Interval = tuple[int, int, Any]
"""Start and end of what is held, and how much: a width, or on nodes a column of amounts."""


@dataclass
class SlowPool:
    """One replay; every question is answered by looking at every second that matters."""

    submit: list[int]
    runtime: list[int]
    requested: list[int]
    width: list[int]
    estimate: list[int]
    processors: int
    start: dict[int, int] = field(default_factory=dict)
    expected: dict[int, int] = field(default_factory=dict)
    reserved: dict[int, int] = field(default_factory=dict)
    queue: list[int] = field(default_factory=list)
    held_by: dict[int, Any] = field(default_factory=dict)
    deadline: dict[int, int] = field(default_factory=dict)
    tentative: set[int] = field(default_factory=set)
    trace: Trace | None = None
    predictor: Predictor | None = None
    refreshes: bool = False
    scans_only_if_fits: bool = False
    after: dict[int, list[tuple[int, bool]]] = field(default_factory=dict)
    apart: list[int] = field(default_factory=list)
    joined_at: dict[int, int] = field(default_factory=dict)

    def run(
        self, policy: str, key: object = None, backfill_key: object = None, *, every_event: bool = False
    ) -> list[int]:
        """Starts of all jobs under a policy, with a round after all events of a second or after every one."""
        jobs = range(len(self.submit))
        running: set[int] = set()
        now = -1
        while True:
            moments = [self.submit[j] for j in jobs if self.submit[j] > now]
            moments += [self.start[j] + self.runtime[j] for j in running]
            moments += [s for j, s in self.reserved.items() if j in self.queue]
            if not moments:
                return [self.start[j] for j in jobs]
            now = min(moments)
            ended = [j for j in self.start if j in running and self.start[j] + self.runtime[j] == now]
            arrived = [j for j in jobs if self.submit[j] == now]
            broken = self._correct(now, running if every_event else running - set(ended))
            rounds = [(arrived, ended)]
            if every_event and arrived + ended:
                rounds = [([j], []) for j in arrived] + [([], [j]) for j in ended]
            for newcomers, gone in rounds:
                early = any(self.expected[j] > now for j in gone)
                running -= set(gone)
                self.apart += newcomers
                joined, scans = self._join(now, running), bool(gone)
                self._learn(now, newcomers, gone)
                while True:
                    held = [(now, self.expected[j], self.held_by[j]) for j in running]
                    if policy in ("conservative", "deadline", "deadline-early"):
                        started = getattr(self, f"_{policy.replace('-', '_')}")(now, held, early, broken)
                    else:
                        order = sorted(self.queue, key=key) if key else list(self.queue)  # type: ignore[arg-type]
                        started = getattr(self, f"_{policy}")(now, held, order, joined, scans, backfill_key)
                    early = broken = False
                    for j in started:
                        self.start[j] = now
                        self.expected[j] = now + self.estimate[j]
                        self.queue.remove(j)
                        running.add(j)
                    joined, scans = self._join(now, running), True
                    if not joined:
                        break
            for j in (j for j in self.start if self.start[j] == now and self.predictor):
                self.predictor.begin(j, now)

    def _join(self, now: int, running: set[int]) -> list[int]:
        """Let those join the queue for whom all has come first that they wait for, in submit order."""

        def has_come(other: int, is_end: bool) -> bool:
            return other in self.start and not (is_end and other in running)

        joined = [j for j in self.apart if all(has_come(*each) for each in self.after.get(j, []))]
        self.apart = [j for j in self.apart if j not in joined]
        self.queue = sorted(self.queue + joined)
        self.joined_at |= dict.fromkeys(joined, now)
        return joined

    def _learn(self, now: int, newcomers: list[int], gone: list[int]) -> None:
        """Predict those who came, learn from those who went, and predict anew where the policy does."""
        if self.predictor is None:
            return
        for j in newcomers:
            self.estimate[j] = max(1, self.predictor.predict(j, now))
        for j in gone:
            self.predictor.complete(j, now)
        for j in self.queue if self.refreshes else []:
            self.estimate[j] = max(1, self.predictor.predict(j, now))

    def _correct(self, now: int, running: set[int]) -> bool:
        """Believe the requests of running jobs that outlived their estimates; whether that holds anything longer."""
        outlived = [
            j for j in running if self.expected[j] < self.start[j] + self.runtime[j] and self.expected[j] <= now
        ]
        for j in outlived:
            self.expected[j] = max(self.expected[j] + 1, self.start[j] + self.requested[j])
        return any(self.expected[j] > now for j in outlived)

    def room(self, held: list[Interval], job: int, start: int) -> Any:
        """What a job would hold from a start on, or None if it has no room."""
        has_room = all(self.width[job] + used <= self.processors for used in self.held_during(held, job, start))
        return self.width[job] if has_room else None

    def held_during(self, held: list[Interval], job: int, start: int) -> Iterator[Any]:
        """What is held during a job, second by second where anything changes."""
        end = start + self.estimate[job]
        moments = [start, *(s for s, _, _ in held if start < s < end)]
        return (sum(use for s, e, use in held if s <= moment < e) for moment in moments)

    def fits(self, held: list[Interval], job: int, start: int) -> bool:
        """Whether a job has room from a start on."""
        return self.room(held, job, start) is not None

    def earliest(self, held: list[Interval], job: int, now: int) -> int:
        """The first start with room."""
        return next(t for t in sorted({now, *(e for _, e, _ in held if e > now)}) if self.fits(held, job, t))

    def hold(self, held: list[Interval], job: int, start: int) -> None:
        """Add a job to what is held."""
        self.held_by[job] = self.room(held, job, start)
        held.append(self.interval(job, start))

    def interval(self, job: int, start: int) -> Interval:
        """What a job holds that has room from a start on."""
        return start, start + self.estimate[job], self.held_by[job]

    def _strict(self, now, held, order, *_):  # type: ignore[no-untyped-def]
        started = []
        for job in order:
            if not self.fits(held, job, now):
                break
            self.hold(held, job, now)
            started.append(job)
        return started

    def _greedy(self, now, held, order, *_):  # type: ignore[no-untyped-def]
        started = []
        for job in order:
            if self.fits(held, job, now):
                self.hold(held, job, now)
                started.append(job)
        return started

    def _list(self, now, held, order, *_):  # type: ignore[no-untyped-def]
        started = []
        for job in order:
            start = self.earliest(held, job, now)
            self.hold(held, job, start)
            if start == now:
                started.append(job)
        return started

    def _easy(self, now, held, order, arrived, ended, backfill_key):  # type: ignore[no-untyped-def]
        if self.scans_only_if_fits and not ended and not any(self.fits(held, job, now) for job in arrived):
            return []
        started = []
        waiting = list(order)
        while waiting and self.fits(held, waiting[0], now):
            self.hold(held, waiting[0], now)
            started.append(waiting.pop(0))
        if len(waiting) < 2:
            return started
        head, *rest = waiting
        rest = sorted(rest, key=backfill_key) if backfill_key else sorted(rest)
        shadow = self.earliest(held, head, now)
        self.held_by[head] = self.room(held, head, shadow)
        for job in rest:
            with_head = [*held, self.interval(head, shadow)]
            if self.fits(with_head, job, now):
                self.hold(with_head, job, now)
            elif self._leaves_room(held, job, now, head, shadow):
                self.hold(held.copy(), job, now)
                self.held_by[head] = self.room([*held, self.interval(job, now)], head, shadow)
            else:
                continue
            held.append(self.interval(job, now))
            started.append(job)
            assert self.earliest(held, head, now) == shadow, "EASY delayed the reservation of its head"
        return started

    def _leaves_room(self, held: list[Interval], job: int, now: int, head: int, shadow: int) -> bool:
        """Whether the head still has room at its time, wherever, when a job takes the first nodes with room now."""
        taken = self.room(held, job, now)
        return taken is not None and self.fits([*held, (now, now + self.estimate[job], taken)], head, shadow)

    def _conservative(self, now, held, early, broken):  # type: ignore[no-untyped-def]
        if broken:
            self._renew(now, held)
        elif early:
            self._compress(now, held)
        for job in self.queue:
            if job not in self.reserved:
                self._reserve(now, held, job)
        return [job for job in self.queue if self.reserved[job] == now]

    def _deadline_early(self, now, held, early, broken):  # type: ignore[no-untyped-def]
        return self._deadline(now, held, early, broken, reconsiders=True)

    def _deadline(self, now, held, early, broken, *, reconsiders=False):  # type: ignore[no-untyped-def]
        if broken:
            self._renew(now, held)
        if early and reconsiders:
            self._give_way(now, held, None)
        elif early:
            self._compress(now, held)
        for job in self.queue:
            if job in self.reserved:
                continue
            if job not in self.deadline:
                self._give_way(now, held, job)
                continue
            self._reserve(now, held, job)
            if not self._misses(job):
                self.tentative.add(job)
        return [job for job in self.queue if self.reserved[job] == now]

    def _renew(self, now: int, held: list[Interval]) -> None:
        """Reserve for all anew, in submit order."""
        known = [job for job in self.queue if self.reserved.pop(job, None) is not None]
        for job in known:
            self._reserve(now, held, job)

    def _others(self, held: list[Interval], job: int) -> list[Interval]:
        """What is held by all but one job."""
        waiting = (j for j in self.queue if j in self.reserved and j != job)
        return held + [self.interval(j, self.reserved[j]) for j in waiting]

    def _reserve(self, now: int, held: list[Interval], job: int) -> None:
        """Reserve the earliest start beside all others."""
        others = self._others(held, job)
        self.reserved[job] = self.earliest(others, job, now)
        self.held_by[job] = self.room(others, job, self.reserved[job])

    def _compress(self, now: int, held: list[Interval]) -> None:
        """In submit order, move every reservation to its earliest start; it keeps its nodes if that is no earlier."""
        for job in (job for job in self.queue if job in self.reserved):
            start, holds = self.reserved[job], self.held_by[job]
            self._reserve(now, held, job)
            assert self.reserved[job] <= start, "a reservation moved later"
            if self.reserved[job] == start:
                self.held_by[job] = holds

    def _misses(self, job: int) -> bool:
        """Whether a job's reservation ends after its deadline."""
        return self.reserved[job] + self.estimate[job] > self.deadline[job]

    def _give_way(self, now: int, held: list[Interval], new: int | None) -> None:
        """Let tentative jobs go behind the new one, and those that would miss before it; see the policy."""
        before = dict(self.reserved), dict(self.held_by)
        able = [job for job in self.queue if job in self.tentative]
        for job in able:
            del self.reserved[job]
        if new is None:
            self._compress(now, held)
        newcomers = [] if new is None else [new]
        first: list[int] = []
        while True:
            behind = [job for job in able if job not in first]
            for job in [*sorted(first), *newcomers, *behind]:
                self._reserve(now, held, job)
            if late := [job for job in behind if self._misses(job)]:
                more = late[:1]
            elif late := [job for job in sorted(first) if self._misses(job)]:
                more = [job for job in behind if job < late[-1]]
            else:
                self.tentative -= set(first)
                return
            if not more:
                self.reserved, self.held_by = before
                if new is None:
                    self._compress(now, held)
                else:
                    self._reserve(now, held, new)
                return
            first += more
            for job in [*able, *newcomers]:
                del self.reserved[job]


@dataclass
class SlowNodes(SlowPool):
    """The same on nodes with several resources, and a power limit if the machine has one.

    What is held is a column: every resource of every node, then the power. A job's units go to the first nodes with
    room, group by group.
    """

    def room(self, held: list[Interval], job: int, start: int) -> Any:
        """The column of a job, or None if it has no room."""
        assert self.trace is not None
        machine = self.trace.machine
        limit = machine.power_limit if machine.power_limit >= 0 else 10**9
        free = np.append(machine.capacity, limit)
        for used in self.held_during(held, job, start):
            free = np.minimum(free, np.append(machine.capacity, limit) - used)
        taken = np.zeros_like(free)
        taken[-1] = self.trace.power_mw[job]
        nodes, resources = machine.capacity.shape
        for group in range(self.trace.group_ptr[job], self.trace.group_ptr[job + 1]):
            wanted = int(self.trace.group_count[group])
            for node in range(nodes):
                here = slice(node * resources, (node + 1) * resources)
                while wanted and np.all(taken[here] + self.trace.group_amount[group] <= free[here]):
                    taken[here] += self.trace.group_amount[group]
                    wanted -= 1
            if wanted:
                return None
        return taken if taken[-1] <= free[-1] else None
