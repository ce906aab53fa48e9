"""The walk of HarvestSearch, pinned as those of its chains are (`test_walks`)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.domain.candidate import never
from planner.domain.search_params import HarvestParams
from planner.search.harvest import harvest
from tests.factories import random_problem

NAMES = (
    "tiers of 0.8 by 4 h, size 0.0/1.0",
    "tiers of 0.768 by 4.1 h, size -0.0/1.2",
    "tiers of 0.523 by 3.6 h, size 0.2/0.9",
    "tiers of 0.748 by 4.7 h, size -0.2/1.0",
    "tiers of 0.766 by 3.1 h, size 0.1/1.1",
    "tiers of 0.6 by 1 h, size 1.0/0.5",
    "tiers of 1 by day, size 1.0/1.0",
    "tiers of 0.05 by day, size 0.0/1.0",
    "tiers of 0.824 by 5.2 h, size 0.2/1.0",
    "tiers of 0.1 by 0.25 h, size 0.0/-1.0",
    "rebuilt from tiers of 0.8 by 4 h, size 0.0/1.0",
)

PROFITS = (8.260564, 8.260564, 8.260564, 8.260564, 8.007436, 7.880588, 7.796788, 7.755513, 7.695801, 7.695157, 8.477697)

STARTED = (9, 9, 9, 9, 9, 10, 10, 10, 8, 10, 9)

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
