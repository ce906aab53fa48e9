"""Claims about dealing units to named nodes: found exactly when trying every way finds one, and within capacity."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.situation import StartedJob
from planner.errors import InputError
from planner.inputs.deal_units import Dealer, deal_units, has_choice

CLUSTER = Cluster((NodeClass("cpu", 4, {"cores": 8}), NodeClass("gpu", 2, {"cores": 4, "gpus": 2})))


def job(identity: str, *groups: tuple[int, dict[str, float]]) -> Job:
    return Job(identity, 0, 3600, tuple(UnitGroup.of(count, amounts) for count, amounts in groups), 10.0)


def is_right(free: np.ndarray, units: list[np.ndarray], places: tuple[int, ...] | list[int]) -> bool:
    """Whether every node has a unit, and none more than it has room for."""
    left = free.copy()
    for place, unit in zip(places, units, strict=True):
        left[place] -= unit
    return bool(np.all(left >= 0)) and set(places) == set(range(len(free)))


def test_dealt_exactly_when_some_way_is_right() -> None:
    """Against every assignment of up to six units to up to three nodes."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        free = rng.integers(1, 7, (int(rng.integers(1, 4)), 2))
        groups = int(rng.integers(1, 4))
        counts = tuple(int(count) for count in rng.integers(1, 3, groups))
        amounts = [np.array([int(rng.integers(1, 4)), int(rng.integers(0, 4))]) for _ in range(groups)]
        units = [amount for amount, count in zip(amounts, counts, strict=True) for _ in range(count)]
        possible = any(is_right(free, units, places) for places in product(range(len(free)), repeat=len(units)))
        dealt = deal_units(free, amounts, counts)
        assert (dealt is not None) == possible, seed
        assert dealt is None or is_right(free, units, dealt), seed


def test_as_many_nodes_as_units_get_one_each() -> None:
    """Although the first node could take several."""
    assert Dealer(CLUSTER, ()).deal(job("a", (3, {"cores": 2})), (0, 1, 3), 0, None) == (0, 1, 3)


def test_fewer_nodes_are_filled_in_turn() -> None:
    """Six units of two cores on nodes of eight: four on the first, as the second needs one, and the rest there."""
    assert Dealer(CLUSTER, ()).deal(job("a", (6, {"cores": 2})), (0, 1), 0, None) == (0, 0, 0, 0, 1, 1)


def test_the_odd_unit_goes_where_it_fits() -> None:
    """The unit that asks for a GPU is on the GPU node, whichever group it is."""
    mixed = job("a", (1, {"cores": 4, "gpus": 1}), (2, {"cores": 8}))
    assert Dealer(CLUSTER, ()).deal(mixed, (0, 1, 4), 0, None) == (4, 0, 1)


def test_what_others_hold_at_the_time_counts() -> None:
    """A job of one core on the first node leaves room for three units of two there, but not once it has ended."""
    wide, other = job("a", (5, {"cores": 2})), StartedJob(job("b", (1, {"cores": 1})), 0, (0,), 100)
    dealer = Dealer(CLUSTER, {0, 1})
    dealer.take(other)
    assert dealer.deal(wide, (0, 1), 99, None) == (0, 0, 0, 1, 1)
    assert dealer.deal(wide, (0, 1), 100, None) == (0, 0, 0, 0, 1)


def test_no_room_beside_others_is_dealt_as_if_alone() -> None:
    """That the jobs hold too much together is said elsewhere, with their names."""
    dealer = Dealer(CLUSTER, {0, 1})
    dealer.take(StartedJob(job("b", (1, {"cores": 8})), 0, (0,)))
    assert dealer.deal(job("a", (3, {"cores": 4})), (0, 1), 50, None) == (0, 0, 1)


def test_units_that_cannot_be_dealt() -> None:
    """More nodes than units, and more units than the nodes can take, are each one line."""
    dealer = Dealer(CLUSTER, ())
    with pytest.raises(InputError, match=r"^job a has 1 units on 2 nodes; name at most one node per unit$"):
        dealer.deal(job("a", (1, {"cores": 1})), (0, 1), 0, None)
    line = r"^the 5 units of job a do not fit on cpu\[1-2\]; correct its nodes or its size, or give unit_nodes$"
    with pytest.raises(InputError, match=line):
        dealer.deal(job("a", (5, {"cores": 4})), (0, 1), 0, None)


@pytest.mark.slow
def test_hundreds_of_nodes_and_sizes_end_soon() -> None:
    """A wide job with an odd last unit is dealt; one of countless ways is given up."""
    big = Cluster((NodeClass("n", 3000, {"cores": 8}),))
    wide = job("a", (2999, {"cores": 8}), (1, {"cores": 3}))
    assert Dealer(big, ()).deal(wide, range(3000), 0, None) == tuple(range(3000))
    sizes = [(1, {"cores": 1 + k / 1000}) for k in range(30)]
    with pytest.raises(InputError, match="do not fit on"):
        Dealer(big, ()).deal(job("b", *sizes), range(4), 0, None)


def test_when_there_is_a_choice() -> None:
    """One node, or equal units on as many nodes, leave none."""
    equal, mixed = job("a", (2, {"cores": 1})), job("b", (1, {"cores": 1}), (1, {"cores": 2}))
    assert [has_choice(equal, nodes) for nodes in ((0,), (0, 1))] == [False, False]
    assert has_choice(job("c", (3, {"cores": 1})), (0, 1))
    assert has_choice(mixed, (0, 1))
    assert Counter(Dealer(CLUSTER, ()).deal(mixed, (0, 1), 0, None)) == {0: 1, 1: 1}
