"""Units of several sizes: whether they fit is decided as trying every assignment decides it, twice over."""

from __future__ import annotations

import numpy as np
import pytest

from planner.compiled import kernel_of
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.ever_fits import Fit
from planner.domain.job import Job, UnitGroup
from planner.domain.plan import MOST_CELLS, is_decidable, main_group, nodes_for, other_combinations
from planner.machine.choose_nodes import pack_exactly


def fits_by_trying(free: np.ndarray, units: list[np.ndarray]) -> bool:
    """Whether some assignment of units to nodes keeps within what is free, found by trying all of them."""
    if not units:
        return True
    for node in range(len(free)):
        left = free.copy()
        left[node] -= units[0]
        if np.all(left >= 0) and fits_by_trying(left, units[1:]):
            return True
    return False


def compiled_nodes(free: np.ndarray, amounts: list[np.ndarray], counts: list[int]) -> list[int] | None:
    chosen = np.full(sum(counts), -1, dtype=np.int64)
    cells = np.zeros(other_combinations(counts) * (len(free) + 1), dtype=np.int64)
    groups, main = len(counts), main_group(counts)
    found = kernel_of(pack_exactly)(
        free, np.array(amounts), np.array(counts), 0, groups, main, cells, np.zeros(groups, np.int64), chosen
    )
    return chosen.tolist() if found else None


def over_used(free: np.ndarray, units: list[np.ndarray], nodes: list[int]) -> bool:
    left = free.copy()
    for node, amount in zip(nodes, units, strict=True):
        left[node] -= amount
    return bool(np.any(left < 0))


def test_both_packings_decide_as_trying_every_assignment_does(is_whole: bool) -> None:
    """Random machines of one to four nodes, jobs of two or three sizes: the same answer, and nodes with room."""
    answers = {True: 0, False: 0}
    machines = 500 if is_whole else 100
    for seed in range(machines):
        rng = np.random.default_rng(seed)
        nodes, resources, groups = (int(rng.integers(low, high)) for low, high in ((1, 5), (1, 3), (2, 4)))
        free = rng.integers(0, 12, (nodes, resources))
        amounts = [rng.integers(0, 6, resources) + (np.arange(resources) == 0) for _ in range(groups)]
        counts = [int(count) for count in rng.integers(1, 4, groups)]
        units = [amount for amount, count in zip(amounts, counts, strict=True) for _ in range(count)]
        fits = fits_by_trying(free, units)
        answers[fits] += 1
        slow = nodes_for(free, amounts, counts)
        in_a_row = None if slow is None else [node for nodes in slow for node in nodes]
        for found in (in_a_row, compiled_nodes(free, amounts, counts)):
            assert (found is not None) == fits, f"seed {seed}"
            assert found is None or not over_used(free, units, found), f"seed {seed}"
    assert min(answers.values()) > machines / 5


@pytest.mark.parametrize("sizes", [(4, 3), (3, 4)])
def test_a_job_that_fits_only_one_way_is_taken_however_it_is_written(sizes: tuple[int, int]) -> None:
    """3 nodes of 10 cores take 4 units of 4 cores and 4 of 3 as 4+3+3, 4+3+3, 4+4: 28 of 30 cores."""
    cluster = Cluster((NodeClass("n", 3, {"cores": 10}),))
    units = tuple(UnitGroup.of(4, {"cores": size}) for size in sizes)
    assert Fit(cluster).why_never(Job("a", 0, 60, units, 1.0)) is None


def test_a_job_that_fits_in_no_way_is_refused() -> None:
    """3 nodes of 10 cores have the 30 cores that 2 units of 6 and 6 of 3 ask for, but beside a 6 only one 3 fits."""
    cluster = Cluster((NodeClass("n", 3, {"cores": 10}),))
    units = (UnitGroup.of(2, {"cores": 6}), UnitGroup.of(6, {"cores": 3}))
    assert Fit(cluster).why_never(Job("a", 0, 60, units, 1.0)) == "its units do not fit on the empty machine together"


def test_what_cannot_be_decided_is_not_refused() -> None:
    """25 different sizes have 2^24 combinations on 25 nodes: too many to look at, so the job may stay."""
    cluster = Cluster((NodeClass("n", 25, {"cores": 100}),))
    units = tuple(UnitGroup.of(1, {"cores": 50 + size}) for size in range(25))
    counts = [group.count for group in units]
    assert other_combinations(counts) * 26 > MOST_CELLS
    assert not is_decidable(counts, 25)
    assert Fit(cluster).why_never(Job("a", 0, 60, units, 1.0)) is None


@pytest.mark.parametrize("limit_kw", [64.1, 32.3, 128.2, 0.0011])
def test_a_job_that_draws_just_the_limit_fits(limit_kw: float) -> None:
    """64.1 kW times 1000 is 64,099.99999999999 W as a number; the limit is still 64,100,000 mW."""
    cluster = Cluster((NodeClass("n", 1, {"cores": 1}),), power_limit_w=limit_kw * 1000)
    units = (UnitGroup.of(1, {"cores": 1}),)
    power_w = round(limit_kw * 1000, 3)
    assert cluster.power_limit_mw == round(limit_kw * 1e6)
    assert Fit(cluster).why_never(Job("a", 0, 60, units, power_w)) is None
    assert "more than the site's limit" in str(Fit(cluster).why_never(Job("a", 0, 60, units, power_w + 0.002)))
