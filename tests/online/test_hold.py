"""Holding jobs for cheaper hours: nothing changes where nothing is gained, and promises are kept to the second."""

from __future__ import annotations

import math
from dataclasses import replace as with_changes
from pathlib import Path

import numpy as np
import pytest

from planner.compiled import kernel_of
from planner.domain.columns import Ints
from planner.domain.method_params import HoldParams, Strength
from planner.domain.trace import Machine, Trace, first_jobs, pool_trace
from planner.errors import InputError
from planner.inputs.traces import read_pool
from planner.online.audit_replay import violations
from planner.online.expected_prices import QUARTER_S, EnergyCosts
from planner.online.holding import Holding
from planner.online.initial_state import Past, _remember_ended
from planner.online.kernel import rollout
from planner.online.kernel.hold_one_job import cheapest_start
from planner.online.kernel.likely_lengths import REMEMBERED_LENGTHS
from planner.online.kernel.state import SEEN
from planner.online.outages import Outages
from planner.online.policies import policy_named
from planner.online.replay import Replay, replay
from tests.online.hard_days import HardDay, hard_day
from tests.online.traces import as_nodes, random_cluster_trace, random_trace

HOUR = 3600
DAY = 24 * HOUR
ORIGIN = 1_700_006_400
"""A midnight of UTC."""

RULE = kernel_of(cheapest_start)

BASES = ("easy", "easy-sjbf", "saf-easy", "conservative", "greedy", "strict")
MACHINES = {"pool": random_trace, "nodes": lambda seed: as_nodes(random_trace(seed)), "classes": random_cluster_trace}


def slower(trace: Trace, factor: int = 240) -> Trace:
    """The same jobs with all times longer by a factor, and with a date: seconds become minutes, a trace a day."""
    power_mw = trace.width * 10**6 * np.random.default_rng(len(trace)).integers(1, 9, len(trace))
    return with_changes(
        trace,
        submit_s=trace.submit_s * factor,
        runtime_s=trace.runtime_s * factor,
        requested_s=trace.requested_s * factor,
        power_mw=np.minimum(power_mw, 10**8) if trace.machine.power_limit < 0 else trace.power_mw,
        origin_unix=ORIGIN,
    )


def prices(seed: int, days: int = 12) -> EnergyCosts:
    """A price for every hour, known from 13:00 of the day before on, and cooling that changes too."""
    rng = np.random.default_rng(seed)
    quarters = np.arange(days * DAY // QUARTER_S)
    day = quarters * QUARTER_S // DAY
    usual = 0.2 + 0.1 * np.sin(quarters / len(quarters) * days * 2 * np.pi + rng.uniform(0, 6))
    return EnergyCosts(
        first_unix=ORIGIN - 3 * DAY,
        eur_per_kwh=usual + np.repeat(rng.normal(0, 0.05, len(quarters) // 4), 4),
        known_from_unix=ORIGIN - 3 * DAY + (day - 1) * DAY + 13 * HOUR,
        cooled=1.2 + 0.1 * rng.random(len(quarters)),
    )


def held_replay(trace: Trace, base: str, costs: EnergyCosts, hours: float, **more: object) -> Replay:
    """A replay in which jobs may be held for so many hours, at nearly any gain."""
    holding = Holding(round(hours * HOUR), costs, 0.001)
    return replay(trace, policy_named(f"hold:{base}"), trace.requested_s, holding=holding, **more)  # type: ignore[arg-type]


@pytest.mark.slow(keep=9)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("base", BASES)
def test_starts_are_those_of_the_base_where_nothing_is_to_be_gained(base: str, machine: str) -> None:
    """At 0 h, and with one price at all times, job by job."""
    for seed in range(4):
        trace = slower(MACHINES[machine](seed))
        plain = replay(trace, policy_named(base), trace.requested_s)
        costs = prices(seed)
        flat = with_changes(costs, eur_per_kwh=np.full_like(costs.cooled, 0.3), cooled=np.full_like(costs.cooled, 1.3))
        for result in (held_replay(trace, base, costs, 0), held_replay(trace, base, flat, 24)):
            assert result.start_s.tolist() == plain.start_s.tolist()
            assert np.array_equal(result.node_of_unit, plain.node_of_unit)
            assert not np.any(result.held_until_s >= 0)
            assert result.round_count == plain.round_count


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("base", ["easy", "easy-sjbf", "conservative"])
def test_kth_is_as_under_the_base_where_nothing_is_to_be_gained(base: str, planner_data: Path) -> None:
    """The first 3,000 jobs on 100 processors, job by job."""
    trace = first_jobs(read_pool(planner_data / "swf" / "KTH-SP2-filtered.swf.gz").trace, 3000)
    trace = with_changes(trace, origin_unix=ORIGIN, power_mw=trace.width * 10**5)
    plain = replay(trace, policy_named(base), trace.requested_s)
    costs = prices(0, int(trace.submit_s[-1] // DAY) + 20)
    flat = with_changes(costs, eur_per_kwh=np.full_like(costs.cooled, 0.3), cooled=np.full_like(costs.cooled, 1.3))
    for result in (held_replay(trace, base, costs, 0), held_replay(trace, base, flat, 24)):
        assert result.start_s.tolist() == plain.start_s.tolist()


@pytest.mark.slow(keep=9)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("base", BASES)
def test_holds_end_in_time_and_nothing_breaks(base: str, machine: str) -> None:
    """Every job runs once, none is held for longer than six hours, and some are held."""
    held = 0
    for seed in range(4):
        trace = slower(MACHINES[machine](seed))
        result = held_replay(trace, base, prices(seed), 6)
        assert violations(result) == []
        assert np.all(result.is_started)
        is_held = result.held_until_s >= 0
        assert np.all((result.held_until_s - result.reference_s)[is_held] <= 6 * HOUR)
        assert np.all(result.start_s[is_held] >= result.held_until_s[is_held])
        assert np.array_equal(result.latest_s[is_held], result.reference_s[is_held] + 6 * HOUR)
        held += int(is_held.sum())
    assert held > 10


def hard(seed: int) -> HardDay:
    """A day on which nodes go, jobs are cancelled and estimates are wrong, with all times in minutes."""
    day, factor = hard_day(seed), 240
    outages = day.outages
    return with_changes(
        day,
        trace=slower(day.trace, factor),
        estimate=None if day.estimate is None else day.estimate * factor,
        cancel_s=np.where(day.cancel_s >= 0, day.cancel_s * factor, -1),
        outages=with_changes(
            outages,
            start_s=outages.start_s * factor,
            end_s=outages.end_s * factor,
            known_from_s=outages.known_from_s * factor,
        ),
    )


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("base", ["easy", "conservative"])
def test_held_jobs_meet_outages_and_cancellations(base: str) -> None:
    """All jobs start or are cancelled, none is held for longer than allowed; a cut and what follows it are as sound."""
    held = cancelled_while_held = 0
    for seed in range(24):
        day = with_changes(hard(seed), holding=Holding(6 * HOUR, prices(seed), 0.001))
        result = day.replay(f"hold:{base}")
        assert violations(result) == []
        assert np.all(result.is_started | result.is_cancelled)
        is_held = result.held_until_s >= 0
        held += int(is_held.sum())
        cancelled_while_held += int(np.sum(is_held & ~result.is_started & (result.held_until_s == result.cancel_s)))
        moment = 10 * HOUR + 77
        cut = day.replay(f"hold:{base}", until_s=moment)
        assert violations(cut) == []
        assert np.array_equal(cut.start_s, np.where(result.start_s < moment, result.start_s, -1)) or result.lost_runs
        on = day.replay(f"hold:{base}", past=cut.past_at(moment))
        assert violations(on) == []
        first = cut.reference_s >= 0
        assert np.array_equal(on.reference_s[first], cut.reference_s[first])
    assert held > 30
    assert cancelled_while_held > 0


def test_the_check_finds_holds_that_are_too_long() -> None:
    """Too long, too early, beyond the start, or none that is recorded: each is found."""
    trace = with_changes(slower(random_trace(0)), machine=Machine.pool(25))
    good = held_replay(trace, "easy", prices(0), 6)
    assert violations(good) == []
    job = int(np.flatnonzero(good.held_until_s >= 0)[0])

    def changed(name: str, value: int) -> list[str]:
        entries = getattr(good, name).copy()
        entries[job] = value
        return violations(with_changes(good, **{name: entries}))

    since, until = int(good.reference_s[job]), int(good.held_until_s[job])
    assert f"is held for {until - since + 6 * HOUR} s" in changed("reference_s", since - 6 * HOUR)[-1]
    assert "submitted at" in changed("reference_s", int(trace.submit_s[job]) - 1)[0]
    assert "held until" in changed("held_until_s", int(good.start_s[job]) + 1)[-1]
    secret = violations(with_changes(good, held_until_s=np.full(len(trace), -1)))
    assert "first in line and with room" in secret[0]
    assert "none may be" in violations(with_changes(good, policy=policy_named("easy")))[0]


@pytest.mark.parametrize("second_hour", [0.5, 0.3])
def test_a_held_head_blocks_nobody(second_hour: float) -> None:
    """Both fit; the first, long and thirsty, is held until the cheap hour, the second starts at once.

    What is saved counts from the begin of the hold, though that is decided anew after an hour.
    """
    hour = np.array([HOUR, 60])
    trace = pool_trace(("much", "little"), np.zeros(2, np.int64), hour, hour, np.array([2, 2]), 2, origin_unix=ORIGIN)
    trace = with_changes(trace, power_mw=np.array([10**9, 1]))
    costs = prices(0)
    hours = (np.arange(len(costs.cooled)) * QUARTER_S // HOUR) % 24
    price = np.where(hours < 1, 0.5, np.where(hours < 2, second_hour, 0.1))
    costs = with_changes(costs, eur_per_kwh=price, cooled=np.ones(len(costs.cooled)))
    result = replay(trace, policy_named("hold"), trace.runtime_s, holding=Holding(6 * HOUR, costs, 0.01))
    assert result.start_s.tolist() == [2 * HOUR, 0]
    assert result.saved_eur[0] == pytest.approx(0.4 * 1000)


@pytest.mark.parametrize("known_from", [0, 3 * HOUR])
def test_nobody_is_held_into_an_outage_of_the_whole_machine(known_from: int) -> None:
    """Cheap from 4:00 on, no node works from 5:00 on: a job of 1.5 h may be held until 2:30, as an hour is left."""
    long, at = np.array([90 * 60]), np.array([60])
    trace = pool_trace(("a",), at, long, long, np.array([1]), 1, origin_unix=ORIGIN)
    trace = with_changes(trace, power_mw=np.array([10**9]))
    costs = prices(0)
    hours = (costs.first_unix - ORIGIN + QUARTER_S * np.arange(len(costs.eur_per_kwh))) / HOUR
    costs = with_changes(
        costs,
        eur_per_kwh=np.where(hours < 4, 0.5, 0.1),
        known_from_unix=np.full(len(hours), costs.first_unix),
        cooled=np.ones(len(hours)),
    )
    shut, flags = np.array([5 * HOUR]), np.ones(1, dtype=np.bool_)
    outage = Outages(np.zeros(1, dtype=np.int64), shut, shut + DAY, np.array([known_from]), flags, ~flags)
    assert held_replay(trace, "easy", costs, 6).start_s[0] == 4 * HOUR
    result = held_replay(trace, "easy", costs, 6, outages=outage)
    assert violations(result) == []
    # What is announced at 3:00 finds the job held: it is let go at once, and ends in time.
    assert result.start_s[0] <= (150 * 60 if known_from == 0 else 3 * HOUR)


def test_moments_at_which_all_nodes_go_down_together() -> None:
    """Two nodes: at 10 both are down, at 40 one is down twice, at 60 both again, the second known sooner."""
    node = np.array([0, 1, 0, 0, 0, 1])
    start, end = np.array([5, 10, 40, 42, 55, 60]), np.array([20, 30, 50, 51, 90, 70])
    flags = np.zeros(6, dtype=np.bool_)
    outages = Outages(node, start, end, np.array([2, 10, 0, 0, 7, 3]), flags, flags)
    assert outages.shut(2).tolist() == [[10, 10], [60, 7]]
    assert outages.shut(3).tolist() == []


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("base", ["easy", "conservative"])
def test_prices_that_nobody_knows_change_nothing(base: str) -> None:
    """Turning round the prices of a day, or making them up, changes no start before their publication."""
    changed_later = 0
    for seed in range(6):
        trace = slower(random_trace(seed), 700)
        costs = prices(seed)
        plain = held_replay(trace, base, costs, 12)
        for day in range(1, 5):
            first = (day + 3) * DAY // QUARTER_S
            turned = costs.eur_per_kwh.copy()
            turned[first : first + DAY // QUARTER_S] = turned[first : first + DAY // QUARTER_S][::-1] + 0.01
            other = held_replay(trace, base, with_changes(costs, eur_per_kwh=turned), 12)
            published_s = (day - 1) * DAY + 13 * HOUR
            before = plain.start_s < published_s
            assert np.array_equal(before, other.start_s < published_s)
            assert np.array_equal(plain.start_s[before], other.start_s[before])
            changed_later += int(np.sum(plain.start_s != other.start_s))
    assert changed_later > 0


def test_weather_to_come_changes_nothing() -> None:
    """Cooling of hours that have not come yet is not known."""
    trace = slower(random_trace(1), 700)
    costs = prices(1)
    plain = held_replay(trace, "easy", costs, 12)
    cooled = costs.cooled.copy()
    moment_s = DAY + 7 * HOUR
    cooled[(moment_s + 3 * DAY) // QUARTER_S + 1 :] += 0.4
    other = held_replay(trace, "easy", with_changes(costs, cooled=cooled), 12)
    before = plain.start_s < moment_s
    assert before.any()
    assert np.array_equal(plain.start_s[before], other.start_s[before])


def test_what_is_not_known_is_as_on_the_last_days() -> None:
    """At noon of day 3 prices are known until midnight: tomorrow's 09:00 is the mean of 09:00 of days 1 to 3."""
    costs = prices(5)
    by_day = costs.eur_per_kwh.reshape(-1, DAY // QUARTER_S)
    flat = with_changes(costs, cooled=np.ones(len(costs.cooled)))
    now = costs.first_unix + 3 * DAY + 12 * HOUR
    known = flat.known_at(now, 2 * DAY // QUARTER_S)
    assert known[:48] == pytest.approx(by_day[3, 48:])
    nine = 12 * 4 + 9 * 4
    assert known[nine] == pytest.approx(by_day[1:4, 36].mean())
    later = flat.known_at(now + HOUR, 2 * DAY // QUARTER_S)
    assert later[nine - 4] == pytest.approx(by_day[4, 36])


def test_days_to_come_are_expected_as_days_of_their_kind() -> None:
    """The first of the days is a Sunday: the next one is as it was, a Saturday as all days that are known."""
    costs = prices(5)
    by_day = costs.eur_per_kwh.reshape(-1, DAY // QUARTER_S)
    flat = with_changes(costs, cooled=np.ones(len(costs.cooled)))
    now = costs.first_unix + 5 * DAY + 12 * HOUR
    known = flat.known_at(now, 3 * DAY // QUARTER_S)[48:240].reshape(-1, 96)
    assert known[1] == pytest.approx(by_day[0])
    assert known[0] == pytest.approx(by_day[3:6].mean(axis=0))
    after_a_week = flat.known_at(now + 7 * DAY, 2 * DAY // QUARTER_S)
    assert after_a_week[48 : 48 + 96] == pytest.approx(by_day[6])
    west = with_changes(flat, first_unix=flat.first_unix + 5 * HOUR, known_from_unix=flat.known_from_unix + 5 * HOUR)
    assert west.known_at(now + 5 * HOUR, 3 * DAY // QUARTER_S)[48 + 96 : 48 + 192] == pytest.approx(by_day[0])


def expected_lengths(submit_s: Ints, runtime_s: Ints, requested_s: Ints) -> list[list[int]]:
    """How long jobs are expected to last that wait or stand for arrivals, at each decision; all are of one user."""
    from planner.online.holding import _outlook

    count = len(submit_s)
    trace = pool_trace(
        tuple(map(str, range(count))), submit_s, runtime_s, requested_s, np.ones(count, np.int64), 4,
        user=np.zeros(count, dtype=np.int64), origin_unix=ORIGIN,
    )  # fmt: skip
    trace = with_changes(trace, power_mw=np.full(count, 10**8))
    seen: list[list[int]] = []

    def noted(state: object, trace: object, now_s: int, present: tuple[list[int], list[int]], *given: object) -> object:
        found = _outlook(state, trace, now_s, present, *given)  # type: ignore[arg-type]
        seen.append(found.job[rollout.LENGTH, len(present[0]) :].tolist())
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("planner.online.holding._outlook", noted)
        replay(trace, policy_named("hold"), trace.requested_s, holding=Holding(6 * HOUR, prices(0), 0.001))
    return seen


def test_what_stands_for_arrivals_is_as_long_as_it_was() -> None:
    """Ten short jobs that asked for a day, then six that took it: a day later the ten are expected again as short."""
    short, whole = np.full(10, 60), np.full(6, 20 * HOUR)
    submit = np.concatenate([np.arange(10), 3600 + np.arange(6), [30 * HOUR]])
    runtime = np.concatenate([short, whole, [60]])
    # A day after the first submissions all ten are expected, each for a minute.
    assert any(lengths[:10] == [60] * 10 for lengths in expected_lengths(submit, runtime, np.full(17, DAY)))


def test_nobody_knows_how_long_a_job_lasts_that_still_runs() -> None:
    """It came yesterday, asked for 40 h and runs 30: another one like it is expected to take all that was asked."""
    submit, runtime, asked = np.array([2, 25]) * HOUR, np.array([30 * HOUR, 60]), np.array([40, 1]) * HOUR
    expected = [length for lengths in expected_lengths(submit, runtime, asked) for length in lengths]
    assert 40 * HOUR in expected
    assert 30 * HOUR not in expected


def test_missing_prices_are_expected_and_no_error() -> None:
    """A file that ends today: tomorrow is as the days before; and with nothing at all, nothing is held."""
    costs = prices(2)
    ends = with_changes(costs, eur_per_kwh=np.where(np.arange(len(costs.cooled)) < 4 * 96, costs.eur_per_kwh, np.nan))
    trace = slower(random_trace(2), 700)
    assert violations(held_replay(trace, "easy", ends, 12)) == []
    nothing = with_changes(costs, eur_per_kwh=np.full(len(costs.cooled), np.nan))
    plain = replay(trace, policy_named("easy"), trace.requested_s)
    assert held_replay(trace, "easy", nothing, 12).start_s.tolist() == plain.start_s.tolist()


@pytest.mark.parametrize("seed", range(30))
def test_the_rule_finds_the_cheapest_quarter(seed: int) -> None:
    """Against a look at every quarter, cost by cost and second by second."""
    rng = np.random.default_rng(seed)
    price = rng.normal(0.1, 0.15, 200)
    paid = np.concatenate([[0.0], np.cumsum(price * 0.25)])
    lengths = rng.integers(60, 20_000, 6)
    count = int(rng.integers(1, 7))
    now, last, rate = int(rng.integers(0, 9000)), int(rng.integers(9000, 90_000)), float(rng.choice([0.0, 0.02, 0.5]))

    def cost(start: int) -> float:
        total = 0.0
        for length in lengths[:count].tolist():
            at = np.arange(start, start + length) // QUARTER_S
            total += float(price[at].sum()) / HOUR
        return 3.0 * total / count + rate * (start - now) / HOUR

    quarters = [q for q in range(0, last + 1, QUARTER_S) if q > now]
    best = min([now, *quarters], key=cost)
    found = RULE(paid, 0, float(price.min()), 3.0, lengths, count, now, last, rate)
    assert cost(int(found)) == pytest.approx(cost(best))


@pytest.mark.parametrize("seed", range(20))
def test_the_look_ahead_is_the_simulators_easy(seed: int) -> None:
    """With nothing held, what the time ahead costs is what EASY's own starts cost, job by job in energy and waiting."""
    trace = slower(random_trace(seed, jobs=60))
    count, now = len(trace), 0
    job = np.zeros((rollout.OUTLOOK_ROWS, count), dtype=np.int64)
    job[rollout.WIDTH], job[rollout.ESTIMATE], job[rollout.LENGTH] = trace.width, trace.requested_s, trace.runtime_s
    job[rollout.ARRIVE], job[rollout.REFERENCE], job[rollout.COUNT] = trace.submit_s, -1, 1
    quarters = 96 * 20
    price = np.random.default_rng(seed).random(quarters)
    paid = np.concatenate([[0.0], np.cumsum(price * 0.25)])
    outlook = rollout.Outlook(
        job=job,
        likely=np.repeat(trace.requested_s[:, None], 6, axis=1),
        power_kw=trace.power_mw / 1e6,
        list=np.zeros((rollout.LIST_ROWS, count), dtype=np.int64),
        counter=np.zeros(rollout.COUNTERS, dtype=np.int64),
        paid=paid,
    )
    found = rollout.rollout(outlook, 0, now, 0, float(price.min()), 10, 6 * HOUR, 0.7, np.inf)
    easy = replay(trace, policy_named("easy"), trace.requested_s)
    spent = np.interp(easy.end_s, QUARTER_S * np.arange(quarters + 1), paid)
    spent -= np.interp(easy.start_s, QUARTER_S * np.arange(quarters + 1), paid)
    told = float(spent @ trace.power_mw / 1e6) + 0.7 * float(easy.wait_s.sum()) / HOUR
    assert found == pytest.approx(told)
    held = rollout.rollout(outlook, 0, now, 0, float(price.min()), 10, 6 * HOUR, 0.0, 0.0)
    assert held != pytest.approx(told - 0.7 * float(easy.wait_s.sum()) / HOUR), "with a hold some starts differ"


@pytest.mark.parametrize(("reference_s", "spent_eur"), [(0, 1.0), (-1, 0.0)])
def test_the_look_ahead_holds_for_no_longer_than_was_promised(reference_s: int, spent_eur: float) -> None:
    """At 2:00 energy is free from 4:00 on, and jobs may be held for 3 h.

    A job that could have started in the first second of all, at midnight, has to start by 3:00; a new one can wait.
    """
    quarters, now = 40, 2 * HOUR
    job = np.ones((rollout.OUTLOOK_ROWS, 1), dtype=np.int64)
    job[[rollout.ESTIMATE, rollout.LENGTH]], job[rollout.ARRIVE], job[rollout.REFERENCE] = HOUR, now, reference_s
    outlook = rollout.Outlook(
        job=job,
        likely=np.array([[HOUR]]),
        power_kw=np.ones(1),
        list=np.zeros((rollout.LIST_ROWS, 1), dtype=np.int64),
        counter=np.zeros(rollout.COUNTERS, dtype=np.int64),
        paid=np.minimum(np.arange(quarters + 1) * 0.25, 2.0),
    )
    assert rollout.rollout(outlook, 0, now, now, 0.0, 1, 3 * HOUR, 0.0, 0.0) == pytest.approx(spent_eur)


def test_a_replay_begins_with_the_strength_of_the_one_before() -> None:
    """Where staying counts for all, the strength stays; where it counts for nothing, all come to the same in the end.
    Before anything can be compared, jobs are held all the same."""
    trace, costs = slower(random_trace(3)), prices(3)

    def played(strength: float | None, stay_fraction: float) -> Replay:
        params = HoldParams(stay_fraction=stay_fraction)
        before = None if strength is None else Strength(strength, 0)
        holding = Holding(6 * HOUR, costs, 0.001, params, strength=before)
        return replay(trace, policy_named("hold"), trace.requested_s, holding=holding)

    easy = replay(trace, policy_named("easy"), trace.requested_s)
    starts = []
    for strength in (1.0, 4.0, 16.0, math.inf):
        stays = played(strength, 10.0)
        assert stays.strength is not None
        assert stays.strength.value == strength
        starts.append(stays.start_s)
        assert played(strength, 0.0).strength == played(None, 0.0).strength != stays.strength
    assert sum(np.array_equal(starts[-1], each) for each in (*starts, easy.start_s)) == 1
    assert starts[-1][0] > easy.start_s[0], "the first job, of which nothing tells"
    unknown = played(3.0, 10.0).strength
    assert unknown == played(None, 10.0).strength
    assert unknown is not None
    assert unknown.value == 4.0


def test_policies_that_hold_are_named_by_their_base() -> None:
    assert policy_named("hold") == policy_named("hold:easy")
    assert [policy_named(f"hold:{base}").name for base in BASES[1:]] == [f"hold:{base}" for base in BASES[1:]]
    for name in ("hold:list", "hold:order-af", "hold:nothing"):
        with pytest.raises(InputError):
            policy_named(name)


def test_the_past_is_remembered_as_it_would_have_been_seen() -> None:
    """Ended jobs one after the other, each in the rows of its name, kind, user and of all: the last six stay.

    Of those that end in one second the one that started first is seen first.
    """
    rng = np.random.default_rng(4)
    count, rows = 60, 9
    names = ("submit", "runtime", "estimate", "like_name", "like_kind", "like_user")
    jobs = np.zeros(count, dtype=[(name, np.int64) for name in names])
    jobs["runtime"], jobs["estimate"] = rng.integers(1, 50, count), 50
    jobs["like_name"], jobs["like_kind"] = rng.integers(0, 4, count), rng.integers(4, 7, count)
    jobs["like_user"] = 7
    start_s = np.where(rng.random(count) < 0.2, -1, rng.integers(0, 100, count))
    past = Past(100, start_s, np.zeros(0, dtype=np.int64), start_s, start_s)
    found = np.zeros((rows, 1 + REMEMBERED_LENGTHS))
    _remember_ended(past, jobs, found)  # type: ignore[arg-type]
    expected = np.zeros_like(found)
    ended = [k for k in range(count) if start_s[k] >= 0 and start_s[k] + jobs["runtime"][k] < 100]
    for k in sorted(ended, key=lambda k: (int(start_s[k] + jobs["runtime"][k]), int(start_s[k]))):
        for row in (jobs["like_name"][k], jobs["like_kind"][k], jobs["like_user"][k], rows - 1):
            expected[row, 1 + int(expected[row, SEEN]) % REMEMBERED_LENGTHS] = jobs["runtime"][k] / 50
            expected[row, SEEN] += 1
    assert expected[-1, SEEN] > 2 * REMEMBERED_LENGTHS
    assert np.array_equal(found, expected)
