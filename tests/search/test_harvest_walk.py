"""The walk of HarvestSearch, pinned as those of its chains are (`test_walks`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.domain.method_params import HarvestParams
from planner.domain.result import never
from planner.search.harvest import harvest
from tests.factories import random_problem

NAMES = (
    "tiers of 1.4 by day, size 0.3/1.0",
    "tiers of 1.4 by day, size 0.0/1.0",
    "tiers of 1.4 by day, size 0.5/1.0",
    "tiers of 1.46 by day, size 0.4/0.9",
    "tiers of 1.39 by day, size 0.5/1.1",
    "tiers of 1.2 by day, size 0.2/1.1",
    "tiers of 1.23 by day, size 0.3/1.1",
    "tiers of 1 by day, size 0.3/1.0",
    "tiers of 1 by day, size 0.0/1.0",
    "tiers of 2 by day, size 0.3/1.0",
    "rebuilt from tiers of 1.4 by day, size 0.3/1.0",
)

PROFITS = (7.93059, 7.93059, 7.93059, 7.93059, 7.93059, 7.882272, 7.882272, 7.796788, 7.796788, 7.746345, 7.932605)

STARTED = (10, 10, 10, 10, 10, 10, 10, 10, 10, 8, 10)

STARTS = [
    -1,
    -1,
    -1,
    -1,
    -1,
    -1,
    -1,
    -1,
    64922,
    -1,
    -1,
    -1,
    17848,
    64922,
    -1,
    20803,
    -1,
    66755,
    -1,
    0,
    -1,
    38700,
    -1,
    -1,
    -1,
    -1,
    0,
    58061,
    939,
    -1,
]


def test_the_walk_of_harvest() -> None:
    """Two batches of tiered orders, of which some help, and then a rebuilt plan: 80 steps, too few to find the best."""
    problem = replace(random_problem(np.random.default_rng(2), jobs=30, extras=True), defer="free")
    params = HarvestParams(tier_share=0.9, meetings=2)
    found = harvest(problem, seed=3, workers=1, stop=never, time_limit_s=60, iterations=1080, params=params)
    names, profits, started = zip(
        *((trial.name, trial.profit_eur, trial.started) for trial in found.trials[22:]), strict=True
    )
    assert names == NAMES
    assert profits == pytest.approx(PROFITS, abs=1e-6)
    assert started == STARTED
    assert found.plan.start_s.tolist() == STARTS
