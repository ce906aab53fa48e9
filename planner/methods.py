"""Methods: every way from a problem to a result, by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from planner.domain.problem import Problem
from planner.domain.result import Result, Trial
from planner.errors import InputError

Stop = Callable[[float], bool]


@dataclass(frozen=True)
class Params:
    """What a method may be told besides the problem.

    ``workers`` never changes an answer; ``on_trial`` hears of each candidate as it is tried.
    """

    seed: int = 0
    workers: int = 0
    on_trial: Callable[[Trial], None] | None = None

    @property
    def worker_count(self) -> int:
        """Workers to use: as asked, or one per core that this process may use."""
        return self.workers or len(os.sched_getaffinity(0))


Method = Callable[[Problem, Params, Stop], Result]


def _multisearch(problem: Problem, params: Params, stop: Stop) -> Result:
    from planner.search.multisearch import multisearch

    return multisearch(problem, workers=params.worker_count, stop=stop, on_trial=params.on_trial)


METHODS: dict[str, tuple[Method, str]] = {
    "multisearch": (_multisearch, "places jobs at their earliest starts in 22 orders and keeps the best plan"),
}

DEFAULT_METHOD = "multisearch"


def method_named(name: str) -> Method:
    """The method of that name; InputError lists the known ones."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}; known: {', '.join(METHODS)}")
    return METHODS[name][0]
