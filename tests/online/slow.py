"""Slow and obvious simulators of one pool, written from the policies' definitions and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from planner.online.replay import Predictor

Interval = tuple[int, int, int]
"""Start, end and width of what is held."""


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
    predictor: Predictor | None = None
    refreshes: bool = False
    scans_only_if_fits: bool = False

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
            moments += [s for j, s in self.reserved.items() if j in self.queue and policy == "conservative"]
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
                self.queue += newcomers
                self._learn(now, newcomers, gone)
                held = [(now, self.expected[j], self.width[j]) for j in running]
                if policy == "conservative":
                    started = self._conservative(now, held, early, broken)
                else:
                    order = sorted(self.queue, key=key) if key else list(self.queue)  # type: ignore[arg-type]
                    started = getattr(self, f"_{policy}")(now, held, order, newcomers, bool(gone), backfill_key)
                broken = False
                for j in started:
                    self.start[j] = now
                    self.expected[j] = now + self.estimate[j]
                    self.queue.remove(j)
                    running.add(j)
            for j in (j for j in self.start if self.start[j] == now and self.predictor):
                self.predictor.begin(j, now)

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

    def fits(self, held: list[Interval], job: int, start: int) -> bool:
        """Whether a job has room from a start on, second by second where anything changes."""
        end = start + self.estimate[job]
        moments = [start, *(s for s, _, _ in held if start < s < end)]
        return all(
            self.width[job] + sum(w for s, e, w in held if s <= moment < e) <= self.processors for moment in moments
        )

    def earliest(self, held: list[Interval], job: int, now: int) -> int:
        """The first start with room."""
        return next(t for t in sorted({now, *(e for _, e, _ in held if e > now)}) if self.fits(held, job, t))

    def hold(self, held: list[Interval], job: int, start: int) -> None:
        """Add a job to what is held."""
        held.append((start, start + self.estimate[job], self.width[job]))

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
        for job in rest:
            with_head = [*held, (shadow, shadow + self.estimate[head], self.width[head])]
            if self.fits(with_head, job, now):
                self.hold(held, job, now)
                started.append(job)
                assert self.earliest(held, head, now) == shadow, "EASY delayed the reservation of its head"
        return started

    def _conservative(self, now, held, early, broken):  # type: ignore[no-untyped-def]
        if broken:
            for job in self.queue:
                self.reserved.pop(job, None)

        def others(job: int) -> list[Interval]:
            kept = [
                (self.reserved[j], self.reserved[j] + self.estimate[j], self.width[j])
                for j in self.queue
                if j in self.reserved and j != job
            ]
            return held + kept

        known = [job for job in self.queue if job in self.reserved]
        if early and not broken:
            for job in known:
                moved = self.earliest(others(job), job, now)
                assert moved <= self.reserved[job], "conservative moved a start later"
                self.reserved[job] = moved
        for job in self.queue:
            if job not in self.reserved:
                self.reserved[job] = self.earliest(others(job), job, now)
        return [job for job in self.queue if self.reserved[job] == now]
