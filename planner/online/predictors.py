"""Predictors of runtimes: each learns from completed jobs only, in the order in which they complete."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Hashable
from functools import partial
from itertools import product
from typing import Protocol

from planner.domain.trace import Trace
from planner.errors import InputError


class Predictor(Protocol):
    """Something that estimates runtimes from completed jobs; jobs are places in the trace."""

    def predict(self, job: int, now: int) -> int:
        """Estimate the runtime of a job that waits now [s]."""

    def complete(self, job: int, now: int) -> None:
        """Learn from a job that has just completed."""

    def begin(self, job: int, now: int) -> None:
        """Note that a job has started."""

    def stop(self, job: int, now: int) -> None:
        """Note that a run has ended before it was done; it teaches nothing about runtimes."""


class _Silent:
    """What predictors share: the columns of the trace that are known when a job arrives."""

    def __init__(self, trace: Trace) -> None:
        self._runtime: list[int] = trace.runtime_s.tolist()
        self._requested: list[int] = trace.requested_s.tolist()
        self._width: list[int] = trace.width.tolist()
        self._user: list[int] = trace.user.tolist()
        self._name: list[int] = trace.name.tolist()

    def begin(self, job: int, now: int) -> None:
        """Starts teach nothing."""

    def stop(self, job: int, now: int) -> None:
        """Nor do runs that were not done."""


class Last2(_Silent):
    """Mean runtime of the user's last two completed jobs; the requested time before there are two."""

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self._last: dict[int, tuple[int | None, int]] = {}

    def predict(self, job: int, now: int) -> int:
        """See the class."""
        before, last = self._last.get(self._user[job], (None, 0))
        return self._requested[job] if before is None else min(self._requested[job], (before + last) // 2)

    def complete(self, job: int, now: int) -> None:
        """Note the runtime."""
        known = self._last.get(self._user[job])
        self._last[self._user[job]] = (None if known is None else known[1], self._runtime[job])


class Hierarchy(_Silent):
    """Exponentially decaying mean over the most specific known group of jobs alike.

    Groups: every combination of name, user, requested time and width but the empty one, in that order of importance. A
    new runtime weighs 1, older ones 0.8 times as much as before.
    """

    KEEP = 0.8

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self._means: dict[Hashable, tuple[float, float]] = {}
        self._groups_of: dict[int, list[tuple[int | None, ...]]] = {}
        self._templates = [chosen for chosen in product((True, False), repeat=4) if any(chosen)]

    def predict(self, job: int, now: int) -> int:
        """See the class."""
        for group in self._groups(job):
            if group in self._means:
                weight, total = self._means[group]
                return min(self._requested[job], round(total / weight))
        return self._requested[job]

    def complete(self, job: int, now: int) -> None:
        """Add the runtime to all groups of the job."""
        for group in self._groups(job):
            weight, total = self._means.get(group, (0.0, 0.0))
            self._means[group] = (1 + self.KEEP * weight, self._runtime[job] + self.KEEP * total)
        del self._groups_of[job]

    def _groups(self, job: int) -> list[tuple[int | None, ...]]:
        if job not in self._groups_of:
            values = (self._name[job], self._user[job], self._requested[job], self._width[job])
            self._groups_of[job] = [
                tuple(v if used else None for v, used in zip(values, t, strict=True)) for t in self._templates
            ]
        return self._groups_of[job]


class Survival(_Silent):
    """The shortest time that past jobs of the same name, user, request and width outlive with probability below p.

    The survival curve is Kaplan and Meier's over weighted runtimes, see `Survivors`. Jobs cut at their request are
    censored there, which is where the estimate is capped too.
    """

    def __init__(self, trace: Trace, percent: float) -> None:
        super().__init__(trace)
        self._sure = 1 - percent / 100
        self._groups: dict[Hashable, Survivors] = {}

    def predict(self, job: int, now: int) -> int:
        """See the class."""
        group = self._groups.get(self._group(job))
        return self._requested[job] if group is None else group.time_s

    def complete(self, job: int, now: int) -> None:
        """Add the runtime to the job's group."""
        group = self._group(job)
        if group not in self._groups:
            self._groups[group] = Survivors(self._requested[job], self._sure)
        self._groups[group].add(self._runtime[job])

    def _group(self, job: int) -> tuple[int, int, int, int]:
        return self._name[job], self._user[job], self._requested[job], self._width[job]


class Survivors:
    """Runtimes of like jobs, and the shortest of them, ``time_s``, up to which a sure share of their weight lies.

    A runtime weighs as much as it is long, older ones 0.9 times as much as before; one made-up run of the requested
    time with a tenth of the weight stands at the beginning. The sums of the weights up to the time and beyond it are
    carried along, as in the published code: the sum up to the time begins with 1 and not with the weight of the made-up
    run, and that weight decays from the second runtime on.
    """

    KEEP, FIRST = 0.9, 0.1

    def __init__(self, requested_s: int, sure: float) -> None:
        self.time_s = requested_s
        self._sure = sure
        self._times = [requested_s]
        self._weights = {requested_s: (self.FIRST * requested_s, 0)}
        self._place = self._added = 0
        self._within, self._beyond = 1.0, 0.0

    def add(self, runtime_s: int) -> None:
        """Add a runtime, and move the time where the weights now say."""
        known = runtime_s in self._weights
        self._weights[runtime_s] = (runtime_s + (self._weight(runtime_s) if known else 0.0), self._added)
        if not known:
            insort(self._times, runtime_s)
            self._place += runtime_s < self.time_s
        self._within *= self.KEEP
        self._beyond *= self.KEEP
        if runtime_s > self.time_s:
            self._beyond += runtime_s
            self._lengthen()
        else:
            self._within += runtime_s
            if runtime_s < self.time_s:
                self._shorten()
        self._added += 1

    def _lengthen(self) -> None:
        """Go up until a sure share lies within."""
        while self._within / (self._within + self._beyond) <= self._sure and self._place + 1 < len(self._times):
            self._move(1)
            weight = self._weight(self.time_s)
            self._within += weight
            self._beyond -= weight

    def _shorten(self) -> None:
        """Go down as long as a sure share lies within."""
        weight = self._weight(self.time_s)
        while self._place > 0 and (self._within - weight) / (self._within + self._beyond) > self._sure:
            self._within -= weight
            self._beyond += weight
            self._move(-1)
            weight = self._weight(self.time_s)

    def _move(self, places: int) -> None:
        self._place += places
        self.time_s = self._times[self._place]

    def _weight(self, runtime_s: int) -> float:
        """What a runtime weighs by now."""
        weight, added = self._weights[runtime_s]
        weight *= self.KEEP ** (self._added - added)
        self._weights[runtime_s] = (weight, self._added)
        return weight


class SimilarJob(_Silent):
    """The runtime of the user's last completed job with a similar profile, else the requested time.

    Similar is, from strict to loose: the same name, width and request; name and width; name and request; name; width
    and request; width. Rules with the name are skipped for jobs without one.
    """

    RULES = ((1, 1, 1), (1, 1, 0), (1, 0, 1), (1, 0, 0), (0, 1, 1), (0, 1, 0))

    def __init__(self, trace: Trace) -> None:
        super().__init__(trace)
        self._last: dict[Hashable, int] = {}

    def predict(self, job: int, now: int) -> int:
        """See the class."""
        for profile in self._profiles(job):
            if profile in self._last:
                return min(self._requested[job], self._last[profile])
        return self._requested[job]

    def complete(self, job: int, now: int) -> None:
        """Note the runtime under every profile of the job."""
        for profile in self._profiles(job):
            self._last[profile] = self._runtime[job]

    def _profiles(self, job: int) -> list[tuple[int | None, ...]]:
        values = (self._name[job], self._width[job], self._requested[job])
        rules = self.RULES if self._name[job] >= 0 else self.RULES[4:]
        return [
            (self._user[job], *(v if used else None for v, used in zip(values, rule, strict=True))) for rule in rules
        ]


def _cvh(trace: Trace) -> Predictor:
    from planner.online.learned_regression import Learned

    return Learned(trace)


PREDICTORS: dict[str, tuple[Callable[[Trace], Predictor], str]] = {
    "last2": (Last2, "mean runtime of the user's last two completed jobs (Tsafrir, Etsion and Feitelson 2007)"),
    "hierarchy": (
        Hierarchy,
        "decaying mean over the most specific known group of like jobs (Goponenko et al. 2022)",
    ),
    "survival-2": (
        partial(Survival, percent=2),
        "shortest time that like jobs outlive with probability below 2 % (Goponenko et al. 2022)",
    ),
    "survival-3": (partial(Survival, percent=3), "the same with 3 %"),
    "survival-4": (partial(Survival, percent=4), "the same with 4 %"),
    "data": (
        SimilarJob,
        "runtime of the user's last job with a similar profile, else the request (Galleguillos et al. 2018)",
    ),
    "cvh": (_cvh, "on-line regression on quadratic features, tuned for bounded slowdown (Gaussier et al. 2015)"),
}
"""What makes each predictor for a trace, with a sentence and its source; all are capped by the requested time."""


def predictor_named(name: str) -> Callable[[Trace], Predictor]:
    """What makes a fresh predictor of that name for a trace; ``survival-p`` takes any p in percent."""
    if name in PREDICTORS:
        return PREDICTORS[name][0]
    if name.startswith("survival-"):
        return partial(Survival, percent=_percent(name.removeprefix("survival-"), name))
    raise InputError(f"unknown predictor {name!r}; known: {', '.join(PREDICTORS)}")


def _percent(text: str, name: str) -> float:
    try:
        percent = float(text)
    except ValueError:
        percent = -1.0
    if not 0 < percent < 100:
        raise InputError(f"predictor {name!r}: give a percentage between 0 and 100, as in survival-3")
    return percent
