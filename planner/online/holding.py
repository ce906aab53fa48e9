"""Holding jobs for cheaper hours: every hour it is decided how much that is worth, by trying out the time ahead.

The scheduler decides who starts where; what is decided here is one thing: this job not before then. The rule that holds
a job (`planner.online.kernel.hold_one_job`) weighs what energy costs at a later start against an hour of waiting at its
price, times a strength. Which strength is best, or whether nothing is to be held, depends on what will arrive and on
how full the machine is. So every hour the next day is run through with each of them, with arrivals as on days before
and with runtimes as of the jobs that ended, and the cheapest is used for the next hour.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from planner.domain.columns import Ints
from planner.domain.job import Job
from planner.domain.method_params import HoldParams, Strength
from planner.domain.trace import Trace
from planner.limits import DAY_S
from planner.machine.timeline import NEVER
from planner.online.expected_prices import QUARTER_S, EnergyCosts
from planner.online.kernel import rollout as of
from planner.online.kernel import steps
from planner.online.kernel.hold_one_job import look_again, note_outlook
from planner.online.kernel.state import State
from planner.online.replay_loops import Playing
from planner.units import MILLI, SECONDS_PER_HOUR

LEAST_DIFFERENCE = 1e-9
"""Hours whose costs differ by no more than this part are the same."""

BEYOND_S = 2 * DAY_S
"""How far costs are told beyond the last moment until which jobs may be held [s]."""

USUAL_WEEK_S = 7 * DAY_S
"""The jobs of so long tell what an hour of waiting is worth where the site does not say [s]."""


@dataclass(frozen=True, eq=False)
class Holding:
    """What policies need to know that hold jobs.

    Attributes
    ----------
    max_delay_s
        How long a job may be held at most, from the first moment at which the scheduler would have started it [s].
    costs
        What energy costs, and from when on that is known; None: nobody knows, and nothing is held.
    eur_per_waiting_hour
        What an hour of waiting of one job counts for; None: a part of what the energy of the mean job costs.
    seed
        Seed of the runtimes that are drawn.
    history
        Jobs of the days before, for plans of days.
    strength
        How strongly it was best to hold before; None: nobody knows.
    is_decided
        Whether that stands, and is not compared with others again.
    """

    max_delay_s: int = 0
    costs: EnergyCosts | None = None
    eur_per_waiting_hour: float | None = None
    params: HoldParams = field(default_factory=HoldParams)
    seed: int = 0
    history: tuple[Job, ...] = ()
    strength: Strength | None = None
    is_decided: bool = False

    @property
    def may_hold(self) -> bool:
        """Whether anything can be held at all."""
        return self.max_delay_s > 0 and self.costs is not None


NO_HOLDING = Holding()


class HoldingReplay:
    """A replay whose holds are decided anew every hour, as long as there is something to decide.

    ``best_strength`` is the one that was the cheapest when they were last compared; None: never yet. While nothing can
    be compared, jobs are held with the last one, or with a usual one where that was not to hold.
    """

    def __init__(self, playing: Playing, trace: Trace, holding: Holding, *, first_s: int) -> None:
        self._playing = playing
        self._trace = trace
        self._origin_unix = trace.origin_unix or 0
        self._holding = holding
        self._next_s = first_s
        strengths, best = holding.params.strengths, holding.strength
        self.best_strength = best if best is not None and best.value in (math.inf, *strengths) else None
        self._strength = strengths[len(strengths) // 2]
        if best is not None and best.value in strengths:
            self._strength = best.value
        self.eur_per_hour = 0.0

    @property
    def state(self) -> State:
        """The state of the replay."""
        return self._playing.state

    @state.setter
    def state(self, state: State) -> None:
        self._playing.state = state

    def run_until(self, moment_s: int) -> None:
        """Replay all that happens before a moment."""
        while True:
            self.state.clock.until = moment_s
            upcoming = int(steps.next_second(self.state))
            if upcoming == NEVER:
                return
            if upcoming >= self._next_s:
                is_holding = self.state.clock.holding > 0
                now_s = self._next_s if is_holding else max(self._next_s, self._hour_of(upcoming))
                self._decide(now_s)
                self._next_s = self._hour_of(now_s) + self._holding.params.every_s
            self._playing.run_until(min(moment_s, self._next_s))

    def _hour_of(self, moment_s: int) -> int:
        """The last moment at which holds are decided regularly, until a given one."""
        every = self._holding.params.every_s
        return moment_s - (moment_s + self._origin_unix) % every

    def _decide(self, now_s: int) -> None:
        """Release what is held, and decide how much is held from now on."""
        costs = self._holding.costs
        assert costs is not None
        quarters = -(-(self._holding.max_delay_s + BEYOND_S) // QUARTER_S)
        known = costs.known_at(now_s + self._origin_unix, quarters)
        paid = np.concatenate([np.zeros(1), np.cumsum(known * (QUARTER_S / SECONDS_PER_HOUR))])
        state = self.state._replace(paid=paid)
        self.state = state
        state.clock.paid_from = now_s - (now_s + self._origin_unix) % QUARTER_S
        state.clock.least_eur_per_kwh = known.min()
        capacity = int(self._trace.machine.capacity[:, 0].sum())
        look_again(state, now_s)
        state.clock.eur_per_held_hour = math.inf
        if float(np.ptp(known)) <= LEAST_DIFFERENCE * float(np.abs(known).max()):
            return
        eur_per_hour = self.eur_per_hour = self._eur_per_waiting_hour(now_s, float(known.mean()))
        if eur_per_hour == math.inf:
            return
        self._strength = self._cheapest_strength(now_s, eur_per_hour, capacity)
        if self._strength < math.inf:
            state.clock.eur_per_held_hour = eur_per_hour * self._strength

    def _eur_per_waiting_hour(self, now_s: int, eur_per_kwh: float) -> float:
        """What an hour of waiting counts for: as the site says, or by the jobs of the last week; infinite without."""
        if self._holding.eur_per_waiting_hour is not None:
            return self._holding.eur_per_waiting_hour
        trace, jobs = self._trace, self.state.jobs
        first, last = np.searchsorted(trace.submit_s, (now_s - USUAL_WEEK_S, now_s))
        if first == last:
            return math.inf
        start, runtime, submit = jobs["start"][first:last], trace.runtime_s[first:last], trace.submit_s[first:last]
        # What stands for days before has gone at its submission, and its runtime is known.
        has_ended = np.where(start >= 0, start + runtime <= now_s, jobs["cancel_s"][first:last] == submit)
        length_s = np.where(has_ended, runtime, jobs["estimate"][first:last])
        kwh = float(np.mean(trace.power_mw[first:last] / MILLI**2 * length_s)) / SECONDS_PER_HOUR
        return self._holding.params.waiting_fraction * kwh * abs(eur_per_kwh)

    def _cheapest_strength(self, now_s: int, eur_per_hour: float, capacity: int) -> float:
        """The strength at which energy and waiting cost least in the time ahead; infinite: hold nothing."""
        best, params, state = self.best_strength, self._holding.params, self.state
        if best is not None and self._holding.is_decided:
            return best.value
        strengths = (math.inf, *params.strengths)
        total = np.zeros(len(strengths))
        paid_from, least = int(state.clock.paid_from), float(state.clock.least_eur_per_kwh)
        running = _running(state, now_s)
        present = running, _waiting(state, now_s)
        for number, days_back in enumerate(self._days_back(now_s)):
            stream = np.random.default_rng([self._holding.seed, max(0, now_s), number])
            outlook = _outlook(state, self._trace, now_s, present, days_back * DAY_S, params.ahead_s, stream)
            for place, strength in enumerate(strengths):
                held = math.inf if strength == math.inf else strength * eur_per_hour
                total[place] += of.rollout(
                    outlook,
                    len(running),
                    now_s,
                    paid_from,
                    least,
                    capacity,
                    self._holding.max_delay_s,
                    eur_per_hour,
                    held,
                )
        if not np.ptp(total):
            return self._strength
        before = self._strength if best is None else best.value
        keeps = np.array([each == before for each in strengths])
        total -= keeps * params.stay_fraction * np.abs(total)
        self.best_strength = Strength(strengths[int(np.argmin(total))], now_s + self._origin_unix)
        return self.best_strength.value

    def _days_back(self, now_s: int) -> tuple[int, ...]:
        """How many days ago jobs arrived as they may arrive now: as far as there were such days, else yesterday."""
        first_s = int(self._trace.submit_s[0]) if len(self._trace) else now_s
        known = tuple(days for days in self._holding.params.days_back if now_s - days * DAY_S >= first_s)
        return known or (1,)


def _running(state: State, now_s: int) -> Ints:
    """The jobs that run at a moment."""
    jobs = state.jobs[: state.clock.arrived]
    start = jobs["start"]
    return np.flatnonzero((start >= 0) & (np.minimum(start + jobs["runtime"], jobs["cancel_s"]) > now_s))


def _waiting(state: State, now_s: int) -> Ints:
    """The jobs that wait and may start at a moment, in the order of the queue."""
    known = state.jobs[: state.clock.arrived]
    waiting = np.flatnonzero((known["start"] < 0) & (known["cancel_s"] > now_s) & (known["open"] == 0))
    return waiting[np.lexsort((waiting, *(known[rank][waiting] for rank in ("rank_b", "rank_a", "rank_first"))))]


def _outlook(
    state: State,
    trace: Trace,
    now_s: int,
    present: tuple[Ints, Ints],
    back_s: int,
    ahead_s: int,
    stream: np.random.Generator,
) -> of.Outlook:
    """What may lie ahead of the jobs that run and wait at present, with arrivals as so long before."""
    running, waiting = present
    first, last = np.searchsorted(trace.submit_s, (now_s - back_s, min(now_s, now_s - back_s + ahead_s)))
    jobs = np.concatenate([running, waiting, np.arange(first, last)])
    count, lasting = len(jobs), len(running) + len(waiting)
    table = np.zeros((of.OUTLOOK_ROWS, count), dtype=np.int64)
    likely = np.zeros((count, len(state.lengths)), dtype=np.int64)
    note_outlook(state, jobs, lasting, now_s, likely, table[of.COUNT])
    table[of.WIDTH], table[of.ESTIMATE] = state.jobs["width"][jobs], np.maximum(1, state.jobs["estimate"][jobs])
    table[of.LENGTH] = likely[np.arange(count), stream.integers(table[of.COUNT])]
    table[of.ARRIVE, :lasting] = now_s
    table[of.ARRIVE, lasting:] = trace.submit_s[first:last] + back_s
    table[of.REFERENCE] = -1
    table[of.REFERENCE, len(running) : lasting] = state.jobs["reference"][waiting]
    table[of.EXPECTED] = np.maximum(state.jobs["expected_end"][jobs], state.jobs["start"][jobs] + table[of.ESTIMATE])
    return of.Outlook(
        job=table,
        likely=likely,
        power_kw=trace.power_mw[jobs] / MILLI**2,
        list=np.zeros((of.LIST_ROWS, count), dtype=np.int64),
        counter=np.zeros(of.COUNTERS, dtype=np.int64),
        paid=state.paid,
    )
