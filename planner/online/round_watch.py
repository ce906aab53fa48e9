"""What every dispatch of a replay takes, and an end to a replay that takes too long."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from planner.online.kernel.state import State
from planner.online.kernel.steps import has_startable
from planner.online.policies import EngineCounts
from planner.online.replay_loops import Schedule
from planner.online.solver_rounds import PlannedRounds


@dataclass(frozen=True)
class Stopped:
    """Where a replay was stopped: the second, how many jobs had started, how many waited, and the rounds so far."""

    moment_s: int
    started: int
    waiting: int
    rounds: int
    engine_counts: EngineCounts | None


class OutOfTimeError(Exception):
    """A replay has taken all the time that it may take."""

    def __init__(self, stopped: Stopped) -> None:
        super().__init__(f"stopped at second {stopped.moment_s}")
        self.stopped = stopped


class RoundWatch:
    """Times the rounds of a replay in which a policy had something to decide: some waiting job had room.

    ``clock`` tells seconds, of CPU or of the day. When a replay has taken ``limit_s`` of them, it ends with an
    OutOfTimeError after the round at hand.
    """

    def __init__(self, clock: Callable[[], float], limit_s: float = math.inf) -> None:
        self.dispatch_s: list[float] = []
        self.own_s = 0.0
        """What the watch itself has taken [s]."""
        self._clock = clock
        self._limit_s = limit_s
        self._began_s = 0.0

    @property
    def spent_s(self) -> float:
        """What the replay has taken so far, without the watch [s]."""
        return self._clock() - self._began_s - self.own_s

    def over(self, schedule: Schedule, planned: PlannedRounds | None) -> Schedule:
        """The same rounds, watched from now on."""
        self.dispatch_s, self.own_s, self._began_s = [], 0.0, self._clock()

        def watched(state: State, now: int) -> None:
            looked_s = self._clock()
            is_choice = _has_startable(state, now)
            rounds = int(state.clock.rounds)
            began_s = self._clock()
            schedule(state, now)
            took_s = self._clock() - began_s
            self.own_s += began_s - looked_s
            if is_choice and state.clock.rounds > rounds:
                self.dispatch_s.append(took_s)
            if self.spent_s > self._limit_s:
                clock = state.clock
                started, waiting, done = (int(each) for each in (clock.started, clock.queued, clock.rounds))
                counts = None if planned is None else planned.counts
                raise OutOfTimeError(Stopped(now, started, waiting, done, counts))

        return watched


def _has_startable(state: State, now: int) -> bool:
    """Whether some waiting job has room now, beside what runs; the nodes that jobs have in mind stay as they are."""
    queue = state.queue[: int(state.clock.queued)]
    if len(queue) == 0:
        return False
    units = slice(state.first["unit"][queue.min()], state.first["unit"][queue.max() + 1])
    nodes = state.units["node"][units].copy()
    found = bool(has_startable(state, now))
    state.units["node"][units] = nodes
    return found
