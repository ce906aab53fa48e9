"""Claims about holding work for cheaper hours: how long, for which hours, and what is learned from jobs that ended.

Small cases by hand: a pool of processors, jobs of 1 kW each, and a price for every hour.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.domain.trace import Trace, pool_trace
from planner.online.past import Past
from planner.online.policies import policy_named
from planner.online.replanning import FOREVER_S, Replanning
from planner.online.replay import replay

HOUR = 3600
KILOWATT = 1_000_000
DEAR, CHEAP = 10.0, 1.0


def jobs(
    lengths: list[int],
    *,
    asked: list[int] | None = None,
    at: list[int] | None = None,
    users: list[int] | None = None,
    processors: int = 1,
) -> Trace:
    """Jobs of one processor; ``lengths`` are runtimes, and requests too unless others are given."""
    count = len(lengths)
    trace = pool_trace(
        tuple(f"j{k}" for k in range(count)),
        np.array([0] * count if at is None else at),
        np.array(lengths),
        np.array(lengths if asked is None else asked),
        np.ones(count, dtype=np.int64),
        processors,
        user=None if users is None else np.array(users),
    )
    return replace(trace, power_mw=np.full(count, KILOWATT))


def starts(
    trace: Trace, prices: list[float], *, waiting: float = 0.01, max_delay_s: int = 24 * HOUR, steps: int = 0
) -> list[int]:
    """Starts under replan with an hourly price each [EUR/kWh]; the last one stays."""
    edges = np.append(np.arange(len(prices)) * HOUR, FOREVER_S)
    options = Replanning(
        max_delay_s=max_delay_s,
        price_s=edges,
        price_eur_per_kwh=np.array(prices),
        eur_per_waiting_hour=waiting,
        steps=steps,
    )
    return replay(trace, policy_named("replan"), trace.requested_s, replanning=options).start_s.tolist()


@pytest.mark.parametrize(("waiting", "start"), [(4.0, 2 * HOUR), (5.0, 0)])
def test_a_job_is_held_if_that_saves_more_than_its_waiting_counts_for(waiting: float, start: int) -> None:
    """An hour of work is 9 cheaper two hours later: held where an hour of waiting counts 4, not where it counts 5."""
    assert starts(jobs([HOUR]), [DEAR, DEAR, CHEAP, DEAR], waiting=waiting) == [start]


@pytest.mark.parametrize(("waiting", "start"), [(4.0, 5 * HOUR), (5.0, 3 * HOUR)])
def test_what_is_saved_is_the_mean_of_what_jobs_like_it_would_save(waiting: float, start: int) -> None:
    """The same where three jobs of the kind have ended, each after an hour."""
    trace = jobs([HOUR, HOUR, HOUR, HOUR], asked=[HOUR] * 4, at=[0, 0, 0, 3 * HOUR], users=[0] * 4, processors=4)
    assert starts(trace, [CHEAP, CHEAP, CHEAP, DEAR, DEAR, CHEAP, DEAR], waiting=waiting)[3] == start


@pytest.mark.parametrize(("hours", "start"), [(2, 2 * HOUR), (1, 0)])
def test_nothing_is_held_beyond_its_promise(hours: int, start: int) -> None:
    """The machine is empty, so the reference start is now: an hour's delay does not reach the cheap hour."""
    assert starts(jobs([HOUR]), [DEAR, DEAR, CHEAP, DEAR], max_delay_s=hours * HOUR) == [start]


def test_without_delay_a_job_is_held_until_its_reference_start() -> None:
    """The first job is believed to last three hours and ends after one: the second may still wait for the cheap one."""
    trace = jobs([HOUR, HOUR], asked=[3 * HOUR, HOUR])
    assert starts(trace, [DEAR, DEAR, DEAR, CHEAP, DEAR], max_delay_s=0) == [0, 3 * HOUR]


def test_a_job_ends_where_the_price_rises() -> None:
    """An hour and a half of work costs 3.5 if it ends with the cheap hour, and 5.5 or 6 if it begins with an hour."""
    assert starts(jobs([HOUR * 3 // 2]), [DEAR, 5.0, CHEAP, DEAR, DEAR]) == [HOUR * 3 // 2]


@pytest.mark.parametrize(("processors", "found"), [(1, [HOUR, 0]), (2, [HOUR, HOUR])])
def test_an_hour_that_is_full_is_waited_for_by_nobody_else(processors: int, found: list[int]) -> None:
    """One processor has room for one job in the cheap hour; the other job goes at once instead of after it."""
    prices = [DEAR, CHEAP, DEAR, DEAR]
    assert sorted(starts(jobs([HOUR] * 2, users=[0, 1], processors=processors), prices)) == sorted(found)


def test_running_work_leaves_less_room() -> None:
    """The first job runs through the cheap hour on one of two processors, so that one of two others waits for it."""
    trace = jobs([4 * HOUR, HOUR, HOUR], at=[0, 1000, 1000], processors=2, users=[0, 1, 2])
    found = starts(trace, [CHEAP, CHEAP, 0.0, DEAR, DEAR])
    assert found[0] == 0
    assert sorted(found[1:]) == [1000, 2 * HOUR]


def test_jobs_of_a_kind_that_ends_at_once_are_not_held() -> None:
    """Three jobs of one user asked for an hour and took 10 s: a fourth has little to save; one that takes it does."""
    trace = jobs(
        [10, 10, 10, 10, HOUR],
        asked=[HOUR] * 5,
        at=[0, 20, 40, 2 * HOUR, 2 * HOUR],
        users=[0, 0, 0, 0, 1],
        processors=2,
    )
    # The other user is not known, so all users' jobs tell of that job, until three of its own have ended.
    prices = [CHEAP, CHEAP, DEAR, CHEAP, DEAR]
    assert starts(trace, prices, waiting=1.0)[3] == 2 * HOUR
    whole = jobs([HOUR] * 4, at=[0, 0, 0, 2 * HOUR], users=[0] * 4, processors=4)
    assert starts(whole, prices, waiting=1.0)[3] == 3 * HOUR


def test_what_a_user_asks_tells_kinds_apart() -> None:
    """Jobs that asked for an hour ended at once, those that asked for two hours took them: only these are held."""
    trace = jobs(
        [10, 10, 10, 2 * HOUR, 2 * HOUR, 2 * HOUR, 10, 2 * HOUR],
        asked=[HOUR] * 3 + [2 * HOUR] * 3 + [HOUR, 2 * HOUR],
        at=[0] * 6 + [3 * HOUR] * 2,
        users=[0] * 8,
        processors=8,
    )
    found = starts(trace, [CHEAP] * 3 + [DEAR, CHEAP, CHEAP, CHEAP, DEAR], waiting=1.0)
    assert found[6:] == [3 * HOUR, 4 * HOUR]


def test_one_of_many_unknown_jobs_shows_the_way() -> None:
    """Five jobs of a new kind ask for an hour and take 10 s: the first starts at once, and has soon told of the others.

    A quarter of an hour later, when holds are decided anew, none of them is held any more.
    """
    trace = jobs([10] * 5, asked=[HOUR] * 5, users=[0] * 5, processors=5)
    assert starts(trace, [DEAR, CHEAP, DEAR], waiting=0.5) == [0, 900, 900, 900, 900]
    alone = jobs([10], asked=[HOUR], users=[0], processors=5)
    assert starts(alone, [DEAR, CHEAP, DEAR], waiting=0.5) == [HOUR]


def test_nothing_is_held_while_much_work_waits_for_room() -> None:
    """A job could save 9 by eight hours of waiting, which count 8. It is held, unless too much work waits for room.

    That is more than an eighth of the day ahead on four processors: five hours on three of them are, three are not.
    """
    prices = [DEAR] * 9 + [CHEAP] + [DEAR] * 20
    for hours, start in ((5, HOUR), (3, 9 * HOUR)):
        trace = jobs([6 * HOUR, hours * HOUR, HOUR], at=[0, 0, HOUR], users=[0, 1, 2], processors=4)
        assert starts(_of_widths(trace, [2, 3, 1]), prices, waiting=1.0)[2] == start


@pytest.mark.parametrize(("hours", "start"), [(9, 11 * HOUR), (10, 10 * HOUR)])
def test_nothing_is_held_where_more_work_came_than_the_machine_can_do(hours: int, start: int) -> None:
    """Within ten hours came nine of the whole machine's work and one of a quarter of it, or ten and one."""
    trace = _of_widths(jobs([hours * HOUR, HOUR], at=[0, 10 * HOUR], users=[0, 1], processors=4), [4, 1])
    assert starts(trace, [DEAR] * 11 + [CHEAP] + [DEAR] * 20)[1] == start


@pytest.mark.parametrize(("asked_h", "start"), [(24, 10 * HOUR), (8, 11 * HOUR)])
def test_jobs_that_run_longer_than_others_like_them_count_for_what_they_have_run(asked_h: int, start: int) -> None:
    """The fifth job takes three quarters of the machine for ten hours, or for eight; those of its kind took seconds."""
    lengths = [10, 10, 10, 10 * HOUR, min(12, asked_h) * HOUR, HOUR]
    asked = [asked_h * HOUR] * 3 + [10 * HOUR, asked_h * HOUR, HOUR]
    trace = jobs(lengths, asked=asked, at=[0, 0, 0, 0, 20, 10 * HOUR], users=[1, 1, 1, 0, 1, 2], processors=4)
    found = starts(_of_widths(trace, [1, 1, 1, 1, 3, 1]), [DEAR] * 11 + [CHEAP] + [DEAR] * 20)
    assert found[3:5] == [0, 20]
    assert found[5] == start


def _of_widths(trace: Trace, widths: list[int]) -> Trace:
    """The same jobs on more processors each; only the last one draws power, so that no other is held."""
    power = np.zeros(len(widths), dtype=np.int64)
    power[-1] = KILOWATT
    return replace(trace, width=np.array(widths), group_amount=np.array([[each] for each in widths]), power_mw=power)


@pytest.mark.parametrize(("steps", "short"), [(0, 12 * HOUR), (100, HOUR)])
def test_a_search_lets_the_short_job_go_first(steps: int, short: int) -> None:
    """One processor is busy for an hour, then 11 h of work were submitted before 10 s; both are done within the day."""
    trace = jobs([HOUR, 11 * HOUR, 10], at=[0, 60, 61], users=[0, 1, 2], processors=1)
    assert starts(trace, [DEAR, DEAR], steps=steps)[2] == short


@pytest.mark.parametrize(("took", "start"), [(10, 2 * HOUR), (HOUR, 3 * HOUR)])
def test_jobs_that_ended_before_the_moment_tell_too(took: int, start: int) -> None:
    """A replay that begins at the second hour: three jobs like the waiting one took 10 s, or all of the hour."""
    trace = jobs([took] * 4, asked=[HOUR] * 4, at=[0, 0, 0, 2 * HOUR], users=[0] * 4, processors=4)
    unknown = np.full(4, -1, dtype=np.int64)
    past = Past(2 * HOUR, np.array([0, 0, 0, -1]), np.array([0, 0, 0, -1]), unknown, unknown)
    options = Replanning(
        max_delay_s=24 * HOUR,
        price_s=np.append(np.arange(5) * HOUR, FOREVER_S),
        price_eur_per_kwh=np.array([CHEAP, CHEAP, DEAR, CHEAP, DEAR]),
        eur_per_waiting_hour=1.0,
    )
    found = replay(trace, policy_named("replan"), trace.requested_s, replanning=options, past=past)
    assert found.start_s[3] == start
