"""The room that jobs are held for: a job that outlives all that is known of its kind holds its nodes all the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from planner.domain.method_params import HoldParams
from planner.domain.trace import pool_trace
from planner.online.expected_prices import QUARTER_S, EnergyCosts
from planner.online.holding import Holding
from planner.online.policies import policy_named
from planner.online.replay import replay

HOUR = 3600
DAY = 24 * HOUR
ORIGIN = 1_700_006_400
"""A midnight of UTC."""


def test_a_job_past_its_likely_length_holds_room_until_its_expected_end() -> None:
    """Two processors; a job that asked for ten hours has one of them at 6:00, though those like it ran for an hour.

    At 6:00 two more come, and 8:00 to 8:15 is cheap. Beside the long job, expected until 12:00, one of them has room
    then and is held; the other starts at once.
    """
    submit_h, runtime_h = [0, 0, 1, 2, 6, 6], [1, 1, 1, 10, 1, 1]
    asked_h = [10, 10, 10, 10, 1, 1]
    trace = pool_trace(
        tuple(f"j{k}" for k in range(6)),
        *(np.array(hours) * HOUR for hours in (submit_h, runtime_h, asked_h)),
        np.ones(6, dtype=np.int64),
        2,
        user=np.zeros(6, dtype=np.int64),
    )
    trace = replace(trace, power_mw=np.full(6, 10**6), origin_unix=ORIGIN)
    eur_per_kwh = np.ones(6 * DAY // QUARTER_S)
    eur_per_kwh[8 * HOUR // QUARTER_S] = 0.01
    early = np.full(len(eur_per_kwh), ORIGIN - DAY)
    costs = EnergyCosts(ORIGIN, eur_per_kwh, known_from_unix=early, cooled=np.ones(len(eur_per_kwh)))
    always = HoldParams(strengths=(1.0,), stay_fraction=1.0)
    holding = Holding(3 * HOUR, costs, 0.001, params=always)
    starts = replay(trace, policy_named("hold:easy"), trace.requested_s, holding=holding).start_s
    assert (starts / HOUR).tolist() == [0, 0, 1, 2, 8, 6]
