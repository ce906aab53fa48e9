"""Every ordering worked out by hand on a small day, and how many of them differ on a day like those of a trace."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from planner.domain.job import Job, UnitGroup
from planner.domain.problem import Problem
from planner.search.orderings import ORDERINGS, job_order, to_digits
from tests.factories import DAY
from tests.plain_day import HOUR, day, job

JOBS = (
    job("a", 10, units=[(2, 1)], power_w=400, release_s=1 * HOUR),
    job("b", 2, units=[(1, 4)], power_w=900, release_s=3 * HOUR),
    job("c", 1, units=[(3, 2)], power_w=600, release_s=2 * HOUR),
    job("d", 23, units=[(1, 3)], power_w=500, release_s=4 * HOUR),
)
"""At 0.10 EUR a core-hour and 0.10 EUR a kWh, without cooling.

        first  last   hours  units  per node  total  area  power  profit of the whole job           EUR/W
    a    1:00  14:00   10      2       1        2      20   400 W  (0.2 - 0.04) * 10 = 1.60 EUR     0.0040
    b    3:00  22:00    2      1       4        4       8   900 W  (0.4 - 0.09) *  2 = 0.62 EUR     0.00069
    c    2:00  23:00    1      3       2        6       6   600 W  (0.6 - 0.06) *  1 = 0.54 EUR     0.00090
    d    4:00   4:00   23      1       3        3      69   500 W  (0.3 - 0.05) * 23 = 5.75 EUR     0.0115

The last start of d would be 1:00, before its first one.
"""

BY_HAND = {
    "earliest-start": "acbd",
    "latest-start": "dabc",
    "duration": "cbad",
    "units": "bdac",
    "per-node": "acdb",
    "total": "adbc",
    "area": "cbad",
    "power": "adcb",
    "power-over-profit": "dacb",
    "power-over-profit-short": "dacb",
    "power-over-profit-long": "dacb",
}


def names(problem: Problem, ordering: str) -> str:
    """Ids of the jobs in the sequence of an ordering."""
    return "".join(problem.jobs[k].id for k in job_order(problem, ordering))


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_a_small_day_by_hand(ordering: str) -> None:
    """Every key as in the table, forwards and backwards; b and d have one unit each and b is the older one."""
    forwards = BY_HAND[ordering[1:]]
    backwards = "cabd" if ordering[1:] == "units" else forwards[::-1]
    assert names(day(*JOBS), ordering) == (forwards if ordering[0] == "+" else backwards)


def test_a_last_start_is_never_before_the_first() -> None:
    """30 and 40 hours cannot end today: both have to start as they come, the shorter one first.

    20 h may wait until 4:00. By decreasing duration it is the longest one that goes first.
    """
    problem = day(job("x", 40, release_s=2 * HOUR), job("y", 30, release_s=HOUR), job("z", 20))
    assert names(problem, "+latest-start") == "yxz"
    assert names(problem, "-latest-start") == "zxy"
    assert names(problem, "-duration") == "xyz"


def test_equals_in_power_over_profit_go_as_the_key_says() -> None:
    """Three jobs of four cores earn 0.4 EUR an hour less what they draw.

    "e" draws 1 kW for 10 h and "f" 1.1 kW for 11.33 h: (0.4 - 0.1) * 10 / 1000 = 0.0030 EUR/W and
    (0.4 - 0.11) * 11.33 / 1100 = 0.00299 EUR/W, which are 0.0030 both. "g" draws 1 kW for 11 h: 0.0033 EUR/W.
    The oldest is "f", and the longest of the equals.
    """
    problem = day(
        job("e", 10, power_w=1000, release_s=HOUR),
        job("f", 11.33, power_w=1100),
        job("g", 11, power_w=1000, release_s=2 * HOUR),
    )
    assert names(problem, "+power-over-profit") == "gfe"
    assert names(problem, "-power-over-profit") == "feg"
    assert names(problem, "+power-over-profit-short") == "gef"
    assert names(problem, "-power-over-profit-short") == "efg"
    assert names(problem, "+power-over-profit-long") == "gfe"
    assert names(problem, "-power-over-profit-long") == "feg"


def test_the_profit_is_that_of_the_whole_job() -> None:
    """Both earn the same a second for the same power: the one of two hours earns twice as much in all."""
    assert names(day(job("p", 1), job("q", 2)), "+power-over-profit") == "qp"


def test_significant_digits() -> None:
    """Two digits of large and small numbers; what rounds up to the next power of ten is that number itself."""
    values = np.array([1234.0, 0.001251, -0.0449, 99.6, 100.2, 0.0996, 0.1002, 0.0, np.inf])
    rounded = to_digits(values, 2).tolist()
    assert rounded == pytest.approx([1200, 0.0013, -0.045, 100, 100, 0.1, 0.1, 0, np.inf], rel=1e-12)
    assert rounded[3] == rounded[4]
    assert rounded[5] == rounded[6]


def trace_like_day(jobs: int = 400) -> Problem:
    """Jobs as in a trace: a few usual time limits, sizes of all kinds, and between 7.8 and 11.11 W for each core."""
    rng = np.random.default_rng(1)
    made = []
    for number in range(jobs):
        cores = int(rng.choice([1, 2, 3, 4, 8, 13, 32]))
        whole, rest = divmod(cores, 4)
        units = [UnitGroup.of(whole, {"cores": 4.0})] if whole else []
        units += [UnitGroup.of(1, {"cores": float(rest)})] if rest else []
        made.append(
            Job(
                str(number),
                DAY.start_unix + int(rng.integers(0, 20)) * HOUR,
                int(rng.choice([1800, 3600, 7200, 10800, 36000, 43200, 72000, 86400])),
                tuple(units),
                round(cores * float(rng.uniform(7.8, 11.11)), 3),
            )
        )
    return replace(day(nodes=8), jobs=tuple(made))


def test_all_orderings_differ_on_a_day_like_those_of_a_trace() -> None:
    """22 different sequences."""
    problem = trace_like_day()
    assert len({job_order(problem, ordering).tobytes() for ordering in ORDERINGS}) == len(ORDERINGS) == 22
