"""Learned power by hand: the decaying mean, the hierarchy of profiles, and the limits of what nodes can draw."""

from __future__ import annotations

from typing import Any

import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.power.learned import (
    LEVELS,
    Asked,
    LearnedPower,
    PowerLimits,
    Prediction,
    has_own_nodes,
    keys_of,
    learned_from,
)
from planner.power.prediction_errors import power_errors
from tests.finished_jobs import asked, finished

ANN = {"user": "ann", "account": "physics", "name": "relax", "partition": "batch"}
CLUSTER = Cluster(
    (
        NodeClass("thin", 4, {"cores": 4}, idle_w=40.0),
        NodeClass("wide", 2, {"cores": 8, "gpus": 2}, idle_w=100.0),
    )
)


def guess(learned: LearnedPower, request: Asked) -> Prediction:
    """A prediction that must be there."""
    found = learned.predict(request)
    assert found is not None
    return found


def test_a_decaying_mean_by_hand() -> None:
    """Of 10, 20 and 40 W per core at 0.9: (0.81 * 10 + 0.9 * 20 + 40) / (0.81 + 0.9 + 1) = 66.1 / 2.71."""
    learned = learned_from([finished(k, 10 + k, watts * 4, str(k)) for k, watts in enumerate((10, 20, 40))])
    assert guess(learned, asked()).power_w == pytest.approx(4 * 66.1 / 2.71)


def test_the_order_of_the_tables_is_irrelevant() -> None:
    """Jobs are learned in the order of their ends, in whatever order they come."""
    jobs = [finished(k, 100 - 7 * k, 10.0 * k, str(k)) for k in range(6)]
    assert learned_from(jobs).groups == learned_from(reversed(jobs)).groups


def test_the_most_specific_group_with_history_says_it() -> None:
    """ann's relax drew 40 W, her other jobs 80, others of the size 120: each request finds the nearest of them."""
    learned = learned_from(
        [
            finished(0, 1, 120.0, "1", user="bob", name="x"),
            finished(0, 2, 80.0, "2", user="ann", name="other"),
            finished(0, 3, 40.0, "3", **ANN),
        ]
    )
    same = guess(learned, asked(**ANN))
    assert (same.power_w, same.level) == (40.0, LEVELS.index(("user", "account", "name", "partition", "request")))
    longer = guess(learned, asked(**ANN, requested_s=7200))
    assert (longer.power_w, longer.level) == (40.0, LEVELS.index(("user", "name", "partition", "size")))
    bob = guess(learned, asked(user="bob", name="new"))
    assert (bob.power_w, bob.level) == (120.0, LEVELS.index(("user", "size")))
    # carl is unknown: (0.81 * 30 + 0.9 * 20 + 10) / 2.71 W per core, of all three jobs of the size.
    carl = guess(learned, asked(user="carl"))
    assert carl.level == LEVELS.index(("size",))
    assert carl.power_w == pytest.approx(4 * (0.81 * 30 + 0.9 * 20 + 10) / 2.71)


@pytest.mark.parametrize(
    ("missing", "left"),
    [
        ((), list(range(8))),
        (("account",), [1, 2, 3, 4, 5, 6, 7]),
        (("name",), [3, 4, 5, 6, 7]),
        (("partition",), [2, 3, 6, 7]),
        (("user", "name", "account"), [4, 5, 6, 7]),
        (("user", "name", "account", "partition"), [6, 7]),
    ],
)
def test_levels_that_a_job_lacks_something_for_are_skipped(missing: tuple[str, ...], left: list[int]) -> None:
    """Without a name no level with names is looked at: jobs without one are no group of their own."""
    known = {name: text for name, text in ANN.items() if name not in missing}
    assert [level for level, _ in keys_of(asked(**known))] == left


@pytest.mark.parametrize(
    ("other", "same_size"),
    [
        ({"more": {"memory_gb": 9.0}}, True),
        ({"requested_s": 60}, True),
        ({"more": {"gpus": 1.0}}, False),
        ({"cores": 2, "count": 2}, False),
        ({"cores": 8}, False),
    ],
)
def test_size_is_units_and_resources_but_not_memory(other: dict[str, Any], same_size: bool) -> None:
    """Two units of two cores are another size than one of four; memory and time are part of the request alone."""
    level = LEVELS.index(("size",))
    assert (dict(keys_of(asked()))[level] == dict(keys_of(asked(**other)))[level]) == same_size


def test_nothing_known_is_no_prediction() -> None:
    """Of a size that was never seen nothing is guessed."""
    assert learned_from([finished(0, 1, 10.0)]).predict(asked(cores=3)) is None


@pytest.mark.parametrize(
    ("request_", "power_w", "bounded_w"),
    [
        # Four cores are all of a thin node (40 W idle) and half of a wide one (50 W): 40 W at least.
        (asked(cores=4), 10.0, 40.0),
        # One core: a quarter of 40 W is less than an eighth of 100 W.
        (asked(cores=1), 1.0, 10.0),
        (asked(cores=1, exclusive=True), 1.0, 40.0),
        # A GPU is half of a wide node, and thin nodes have none.
        (asked(cores=1, more={"gpus": 1}), 1.0, 50.0),
        (asked(cores=4, classes=("wide",)), 10.0, 50.0),
        # At most 30 W per core and 200 W per node.
        (asked(cores=4), 500.0, 120.0),
        (asked(cores=8, count=2), 5000.0, 400.0),
        (asked(cores=4), 77.0, 77.0),
    ],
)
def test_power_is_bounded_by_what_nodes_can_draw(request_: Asked, power_w: float, bounded_w: float) -> None:
    """Not below the share of idle nodes, not above the maxima of the site."""
    assert PowerLimits(CLUSTER, 30.0, 200.0).bounded(request_, power_w) == bounded_w


def test_a_unit_that_fills_a_node_fits_whatever_its_amount_was_summed_of() -> None:
    """0.1 and 0.2 GB are a little more than the 0.3 GB of a node to a computer: the job has the node to itself."""
    cluster = Cluster((NodeClass("thin", 1, {"cores": 4, "memory_gb": 0.3}, idle_w=40.0),))
    request = asked(cores=4, more={"memory_gb": 0.1 + 0.2})
    assert has_own_nodes(request, cluster)
    assert PowerLimits(cluster).bounded(request, 1.0) == pytest.approx(40.0)


def test_without_maxima_only_idle_power_bounds() -> None:
    """Where the site says no maximum there is none."""
    assert PowerLimits(CLUSTER).bounded(asked(), 1e6) == 1e6


@pytest.mark.parametrize(
    ("request_", "alone"),
    [
        (asked(cores=8), True),
        (asked(cores=4), False),
        (asked(cores=4, classes=("thin",)), True),
        (asked(cores=1, exclusive=True), True),
        (asked(cores=7, more={"gpus": 2}), False),
        (asked(cores=64), False),
    ],
)
def test_who_has_nodes_for_himself(request_: Asked, alone: bool) -> None:
    """Exclusive jobs, and jobs whose units take all cores wherever they may run; four cores may share a wide node."""
    assert has_own_nodes(request_, CLUSTER) is alone


def test_without_a_cluster_only_exclusive_jobs_are_alone() -> None:
    """Nobody knows how many cores a node has."""
    assert has_own_nodes(asked(cores=1, exclusive=True), None)
    assert not has_own_nodes(asked(cores=1000), None)


def test_errors_by_hand() -> None:
    """Predicted 12, 18, 33 for 10, 20, 30: MAE 7/3, relative 20, 10 and 10 %, R2 1 - 17/200, bias 3/60."""
    found = power_errors([12.0, 18.0, 33.0], [10.0, 20.0, 30.0])
    assert (found.jobs, found.mae_w) == (3, pytest.approx(7 / 3))
    assert found.median_relative == pytest.approx(0.1)
    assert found.r2 == pytest.approx(1 - 17 / 200)
    assert found.bias == pytest.approx(3 / 60)


def test_errors_that_do_not_exist() -> None:
    """Without jobs, with one job or with jobs that drew nothing some figures have no meaning."""
    assert power_errors([], []).mae_w is None
    assert power_errors([1.0], [2.0]).r2 is None
    assert power_errors([1.0], [0.0]).median_relative is None
    assert power_errors([1.0], [0.0]).bias is None
