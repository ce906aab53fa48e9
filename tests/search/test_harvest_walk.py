"""The walk of HarvestSearch, pinned as those of its chains are (`test_walks`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.domain.result import never
from planner.domain.search_params import HarvestParams
from planner.search.harvest import harvest
from tests.factories import random_problem

NAMES = (
    "tiers of 2 by 4 h, size 0.3/1.0",
    "tiers of 1.4 by 4 h, size 1.0/1.0",
    "tiers of 1.71 by 4.4 h, size 0.2/1.1",
    "tiers of 1.94 by 4.7 h, size 0.3/1.2",
    "tiers of 1.95 by 3.7 h, size 0.4/1.3",
    "tiers of 1.75 by 4.8 h, size 0.3/1.1",
    "tiers of 2.21 by 4.6 h, size -0.1/1.2",
    "tiers of 1.98 by 4.9 h, size 0.5/1.1",
    "tiers of 2.08 by 5.1 h, size 0.4/0.9",
    "tiers of 1.4 by day, size 0.3/1.0",
    "rebuilt from tiers of 2 by 4 h, size 0.3/1.0",
)

PROFITS = (8.260564, 8.260564, 8.260564, 8.260564, 8.260564, 8.260564, 8.260564, 8.260564, 8.166473, 7.93059, 8.477697)

STARTED = (9, 9, 9, 9, 9, 9, 9, 9, 7, 10, 9)

STARTS = [
    -1,
    -1,
    -1,
    -1,
    -1,
    79945,
    -1,
    58061,
    -1,
    -1,
    -1,
    -1,
    -1,
    70531,
    -1,
    20803,
    11706,
    -1,
    -1,
    0,
    -1,
    46674,
    -1,
    -1,
    -1,
    -1,
    0,
    -1,
    -1,
    70531,
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
