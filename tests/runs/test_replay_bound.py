"""The clairvoyant bound holds: no schedule that keeps its promises settles to more over the same days."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from planner.accounting.settle import settle
from planner.domain.horizon import Horizon
from planner.domain.segment import split_segments
from planner.errors import InputError
from planner.inputs.build import frame
from planner.inputs.traces import Source
from planner.online.audit_replay import violations
from planner.online.policies import policy_named
from planner.online.replay import Replay, replay
from planner.runs import replay_ledger
from planner.runs.bounds_over_days import clairvoyant_bound, limit_beside
from planner.runs.replay_ledger import settle_replays, settle_window, sum_of_days
from planner.scenario.schema import Scenario
from tests.runs.replayed_site import FIRST_DAY, random_site


@pytest.fixture(autouse=True)
def _frames_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a site are read once per day, however many schedules are settled."""
    known: dict[tuple[int, Horizon], Any] = {}

    def remembered(scenario: Scenario, horizon: Horizon, **how: bool) -> Any:
        if (id(scenario), horizon) not in known:
            known[id(scenario), horizon] = frame(scenario, horizon, **how)
        return known[id(scenario), horizon]

    monkeypatch.setattr(replay_ledger, "frame", remembered)


def easy(source: Source) -> Replay:
    return replay(source.trace, policy_named("easy"), source.trace.requested_s)


def profit(scenario: Scenario, source: Source, run: Replay, days: int) -> float:
    return sum_of_days(settle_window(scenario, source.jobs, run, first_day=FIRST_DAY, days=days))["profit_eur"]


def schedules(run: Replay, latest_s: np.ndarray, nodes: int) -> Iterator[Replay]:
    """Every choice of nodes and of starts from a grid between submission and latest start that fits the machine."""
    submit_s = run.trace.submit_s
    starts = [
        sorted({int(a + (b - a) * part) for part in (0, 0.3, 1)}) for a, b in zip(submit_s, latest_s, strict=True)
    ]
    for chosen in product(*(product(each, range(nodes)) for each in starts)):
        start_s, node = (np.array(column, dtype=np.int64) for column in zip(*chosen, strict=True))
        made = replace(run, start_s=start_s, node_of_unit=node)
        if not violations(made):
            yield made


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("seed", range(8))
def test_no_schedule_of_a_grid_earns_more(tmp_path: Path, seed: int) -> None:
    """With three jobs on one or two nodes, all starts of a grid in time and all nodes settle to at most the bound."""
    nodes = 1 + seed % 2
    scenario, source = random_site(tmp_path, seed, jobs=3, nodes=nodes, one_unit=True)
    run = easy(source)
    slack_s = np.random.default_rng(seed).integers(0, 40_000, len(source.jobs))
    latest_s = run.start_s + slack_s
    bound = clairvoyant_bound(scenario, source.jobs, source.trace, latest_s, first_day=FIRST_DAY, days=2)
    earned = [profit(scenario, source, made, 2) for made in schedules(run, latest_s, nodes)]
    assert len(earned) > 1
    assert max(earned) <= bound.profit_eur


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("policy", ["easy", "conservative"])
@pytest.mark.parametrize("seed", range(6))
def test_no_replay_earns_more(tmp_path: Path, seed: int, policy: str) -> None:
    """Its own starts, or somewhat later ones, promised: a replay earns at most the bound, also over its first day."""
    scenario, source = random_site(tmp_path, 100 + seed, jobs=25, nodes=3)
    run = replay(source.trace, policy_named(policy), source.trace.requested_s)
    for days, slack_s in product((1, 2, 4), (0, 3 * 3600)):
        bound = clairvoyant_bound(
            scenario, source.jobs, source.trace, run.start_s + slack_s, first_day=FIRST_DAY, days=days
        )
        assert profit(scenario, source, run, days) <= bound.profit_eur


@pytest.mark.parametrize("seed", range(8))
def test_what_cannot_move_earns_its_bound(tmp_path: Path, seed: int) -> None:
    """When every job must start at its submission, nothing is left open, and the bound is the profit."""
    scenario, source = random_site(tmp_path, 200 + seed, jobs=8, nodes=20, one_unit=True, plain=True)
    run = easy(source)
    assert np.all(run.wait_s == 0)
    bound = clairvoyant_bound(scenario, source.jobs, source.trace, run.start_s, first_day=FIRST_DAY, days=3)
    assert bound.profit_eur == pytest.approx(profit(scenario, source, run, 3), abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_nothing_is_saved_where_nothing_can_move(tmp_path: Path, seed: int) -> None:
    """From the second day on too, when what runs since the first one goes on: all start as under EASY, at once."""
    scenario, source = random_site(tmp_path, 200 + seed, jobs=8, nodes=20, one_unit=True, plain=True)
    run = easy(source)
    for first_day in (FIRST_DAY, FIRST_DAY + dt.timedelta(days=1)):
        found = limit_beside(scenario, source.jobs, run, 0, first_day=first_day, time_limit_s=60)
        assert found.saved_eur == pytest.approx(0, abs=1e-4)
    later = limit_beside(scenario, source.jobs, run, 6 * 3600, first_day=first_day, time_limit_s=60)
    assert later.saved_eur > 0.001


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("seed", range(5))
def test_looser_promises_never_lower_it(tmp_path: Path, seed: int) -> None:
    """Whatever keeps a promise keeps a later one; within what better prices could still bring."""
    scenario, source = random_site(tmp_path, 300 + seed, jobs=20, nodes=3)
    run = easy(source)
    bounds = [
        clairvoyant_bound(scenario, source.jobs, source.trace, run.start_s + slack_s, first_day=FIRST_DAY, days=4)
        for slack_s in (0, 3600, 6 * 3600, 24 * 3600, 10**7)
    ]
    for tighter, looser in pairwise(bounds):
        assert tighter.slack_eur is not None
        assert tighter.profit_eur <= looser.profit_eur + tighter.slack_eur + 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_days_settled_one_by_one_are_the_window_cut_at_midnight(tmp_path: Path, seed: int) -> None:
    """Segments that go on over midnight are two in the days: with these cuts one settlement gives the days' sum."""
    scenario, source = random_site(tmp_path, 400 + seed, jobs=25, nodes=3, plain=True)
    run, origin = easy(source), source.trace.origin_unix
    assert origin is not None
    days = settle_window(scenario, source.jobs, run, first_day=FIRST_DAY, days=4)
    window = replay_ledger.window_of(scenario, FIRST_DAY, 4)
    problem, plan = replay_ledger._as_planned(
        frame(scenario, window)[0], source.jobs, run, run.start_s + origin, run.end_s + origin
    )
    cut = replace(problem, segments=split_segments(problem.segments, [day * 86400 for day in range(4)]))
    total = sum_of_days(days)
    assert settle(cut, plan).profit_eur == pytest.approx(total["profit_eur"])
    assert len(cut.segments) == sum(len(frame(scenario, day)[0].segments) for day in window.days())


def test_a_window_has_its_days_whether_or_not_anything_runs(tmp_path: Path) -> None:
    """An empty day after the work is settled too; those before it are the days of the replay."""
    scenario, source = random_site(tmp_path, 1, jobs=5)
    run = easy(source)
    own = dict(settle_replays(scenario, source.jobs, [run])[0])
    first = min(own)
    days = settle_window(scenario, source.jobs, run, first_day=first, days=len(own) + 1)
    assert [day for day, _ in days] == [first + dt.timedelta(days=k) for k in range(len(own) + 1)]
    assert dict(days[:-1]) == own
    assert days[-1][1].work_kwh == 0.0


def test_a_window_that_begins_too_late_or_a_promise_before_the_submission_is_refused(tmp_path: Path) -> None:
    """Work from before the window would be missing in the bound; a job cannot start before it is there."""
    scenario, source = random_site(tmp_path, 1, jobs=5)
    late = FIRST_DAY + dt.timedelta(days=2)
    trace = source.trace
    with pytest.raises(InputError, match="was submitted before 2024-06-03"):
        clairvoyant_bound(scenario, source.jobs, trace, trace.submit_s, first_day=late, days=2)
    with pytest.raises(InputError, match="would have to start before it is submitted"):
        clairvoyant_bound(scenario, source.jobs, trace, trace.submit_s - 1, first_day=FIRST_DAY, days=2)
