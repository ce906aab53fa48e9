"""Starts beside a shadow without holds."""

from __future__ import annotations

import numpy as np
import pytest

from planner.metrics import LateStarts, late_starts
from planner.online.policies import policy_named
from planner.online.replay import replay
from tests.online.test_hold import HOUR, held_replay, prices, slower
from tests.online.traces import random_trace


def test_late_starts_are_counted_job_by_job() -> None:
    """All jobs, and by account, against a look at every job."""
    trace = slower(random_trace(3))
    shadow = replay(trace, policy_named("easy"), trace.requested_s)
    held = held_replay(trace, "easy", prices(3), 6)
    accounts = [f"account{k % 3}" for k in range(len(trace))]
    found = late_starts(held, shadow, 2 * HOUR, groups={"account": accounts})
    late = [int(a) - int(b) for a, b in zip(held.start_s, shadow.start_s, strict=True)]
    assert found.all_jobs.late_of == len(trace)
    assert found.all_jobs.later_than_allowed == sum(each > 2 * HOUR for each in late) > 0
    assert found.all_jobs.latest_s == max(late)
    assert found.all_jobs.late_mean_s == pytest.approx(sum(late) / len(late), abs=0.1)
    for name, told in found.by["account"].items():
        own = [each for each, account in zip(late, accounts, strict=True) if account == name]
        assert (told.late_of, told.latest_s) == (len(own), max(own))
    worst = [told.latest_s for told in found.by["account"].values()]
    assert worst == sorted(worst, reverse=True)


def test_only_jobs_that_start_in_both_count() -> None:
    trace = slower(random_trace(3))
    shadow = replay(trace, policy_named("easy"), trace.requested_s)
    half = replay(trace, policy_named("easy"), trace.requested_s, until_s=int(np.median(shadow.start_s)))
    found = late_starts(half, shadow, 0).all_jobs
    assert 0 < found.late_of == int(half.is_started.sum()) < len(trace)
    none = late_starts(half, shadow, 0, np.zeros(len(trace), dtype=np.bool_))
    assert none.all_jobs == LateStarts(0, 0, 0.0, 0.0, 0)
