"""Claims about what a snapshot may say: one line for everything that cannot be true of the machine."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.situation import (
    UNTIL_FURTHER_NOTICE_S,
    NodeOutage,
    NodeState,
    Outage,
    Situation,
    StartedJob,
    node_outages,
)
from planner.domain.situation_check import require_possible
from planner.errors import InputError
from planner.units import utc_text
from tests.factories import DAY

CLUSTER = Cluster((NodeClass("cpu", 3, {"cores": 8, "memory_gb": 16}), NodeClass("gpu", 1, {"cores": 4, "gpus": 2})))
NOW = 1717228800
"""2024-06-01T08:00:00Z."""


def job(identity: str, units: int = 1, **amounts: float) -> Job:
    return Job(identity, NOW - 5000, 3600, (UnitGroup.of(units, amounts or {"cores": 4.0}),), 10.0)


def started(each: Job, start: int, *nodes: int, end: int | None = None) -> StartedJob:
    """A job that started so many seconds before now."""
    return StartedJob(each, NOW - start, nodes, None if end is None else NOW - end)


def check(*jobs: StartedJob, outages: tuple[Outage, ...] = ()) -> None:
    require_possible(Situation(NOW, started=jobs, outages=outages, source="now.csv"), CLUSTER)


def says(line: str, act: Callable[[], object]) -> None:
    with pytest.raises(InputError) as caught:
        act()
    assert str(caught.value) == line


def test_a_snapshot_without_started_jobs_is_possible() -> None:
    """Also one whose waiting jobs are too large: that is for planning to say."""
    require_possible(Situation(NOW), CLUSTER)
    require_possible(Situation(NOW, pending=(job("a", cores=99.0),), withdrawn=(job("b", cores=99.0),)), CLUSTER)


def test_a_full_node_and_one_after_the_other_are_possible() -> None:
    """A job may start on the second at which another ends."""
    check(started(job("a"), 100, 0), started(job("b"), 50, 0), started(job("c", cores=8.0), 200, 0, end=100))


def test_over_use_names_node_resource_amount_and_jobs() -> None:
    """Four and five cores of eight, from the start of the second job."""
    says(
        "now.csv: node cpu2 has 8 cores, but jobs a and b hold 9 from 2024-06-01T07:59:10Z, 1 too many;"
        " correct their nodes, times or sizes",
        lambda: check(started(job("a"), 100, 1), started(job("b", cores=5.0), 50, 1), started(job("c"), 10, 0)),
    )


def test_over_use_in_the_past_counts() -> None:
    """Jobs that have ended since then; the job without memory is not named."""
    says(
        "now.csv: node cpu1 has 16 memory_gb, but jobs a and b hold 20.5 from 2024-06-01T07:55:00Z, 4.5 too many;"
        " correct their nodes, times or sizes",
        lambda: check(
            started(job("a", cores=1.0, memory_gb=10.0), 400, 0, end=200),
            started(job("b", cores=1.0, memory_gb=10.5), 300, 0, end=100),
            started(job("c", cores=1.0), 400, 0),
        ),
    )


def test_one_job_can_over_use_a_node_and_many_are_not_all_named() -> None:
    """Units of one job on one node; six jobs on another."""
    says(
        "now.csv: node cpu1 has 8 cores, but job a holds 12 from 2024-06-01T07:59:50Z, 4 too many;"
        " correct their nodes, times or sizes",
        lambda: check(started(job("a", 3), 10, 0, 0, 0)),
    )
    many = [started(job(f"j{k}", cores=2.0), 10, 0) for k in range(6)]
    says(
        "now.csv: node cpu1 has 8 cores, but jobs j0, j1, j2, j3 and 2 more hold 12 from 2024-06-01T07:59:50Z,"
        " 4 too many; correct their nodes, times or sizes",
        lambda: check(*many),
    )


def test_over_use_at_the_moment_itself() -> None:
    """Two jobs that start right now share no node that is too small for both."""
    says(
        "now.csv: node cpu1 has 8 cores, but jobs a and b hold 9 from 2024-06-01T08:00:00Z, 1 too many;"
        " correct their nodes, times or sizes",
        lambda: check(started(job("a"), 0, 0), started(job("b", cores=5.0), 0, 0)),
    )


@pytest.mark.parametrize("seed", range(100))
def test_over_use_is_found_exactly_when_counting_by_hand_finds_it(seed: int) -> None:
    """Against the sum at every second; the second and amount that the line gives are the first ones."""
    rng = np.random.default_rng(seed)
    jobs = []
    for k in range(int(rng.integers(1, 9))):
        begun = int(rng.integers(0, 30))
        end = None if rng.random() < 0.4 else int(rng.integers(0, begun + 1))
        nodes = tuple(int(node) for node in rng.integers(0, 3, int(rng.integers(1, 3))))
        jobs.append(started(job(f"j{k}", len(nodes), cores=float(rng.integers(1, 5))), begun, *nodes, end=end))
    first = None
    for second in range(NOW - 30, NOW + 1):
        for node in range(3):
            used = sum(
                each.job.units[0].amount("cores") * each.nodes.count(node)
                for each in jobs
                if each.start_unix <= second and (each.end_unix is None or second < each.end_unix)
            )
            if used > 8 and first is None:
                first = f"node cpu{node + 1} has 8 cores, .* hold[s]? {used:g} from {re.escape(utc_text(second))}, "
    if first is None:
        check(*jobs)
    else:
        with pytest.raises(InputError, match=first):
            check(*jobs)


def outage(state: NodeState, start: int, end: int | None, node: int = 0) -> Outage:
    """From and to so many seconds after now."""
    return Outage(node, NOW + start, None if end is None else NOW + end, state)


@pytest.mark.parametrize(("state", "words"), [("down", "down"), ("maintenance", "in maintenance")])
def test_nothing_runs_on_a_node_that_is_down(state: NodeState, words: str) -> None:
    """Neither when it is down nor in its maintenance; before and after, yes."""
    line = f"now.csv: job a runs on node cpu1, which is {words}; correct the state of one of them"
    for window in ((-100, None), (0, None), (-100, 1)):
        says(line, lambda window=window: check(started(job("a"), 10, 0), outages=(outage(state, *window),)))
    for window in ((1, None), (1, 100), (-100, 0)):
        check(started(job("a"), 10, 0), outages=(outage(state, *window),))
    check(started(job("a"), 10, 0, end=5), outages=(outage(state, -100, None),))


def test_a_drained_node_lets_its_jobs_end() -> None:
    """What runs there may go on."""
    check(started(job("a"), 10, 0), outages=(outage("drain", -100, None),))


def test_nodes_that_do_not_exist() -> None:
    """Of a job, and of an outage."""
    says("now.csv: job a is on node 4; the nodes are 0 to 3", lambda: check(started(job("a"), 10, 4)))
    says(
        "now.csv: node 4 is said to be drain; the nodes are 0 to 3",
        lambda: check(outages=(outage("drain", 0, None, 4),)),
    )


def test_a_started_job_that_never_fits() -> None:
    """By its size, and by a resource that no node has."""
    tail = "; correct its size or the cluster"
    says(
        f"now.csv: job a cannot have started here: a unit asks for 9 cores, more than any node has{tail}",
        lambda: check(started(job("a", cores=9.0), 10, 0)),
    )
    says(
        f"now.csv: job a cannot have started here: asks for tapes, which no node has{tail}",
        lambda: check(started(job("a", cores=1.0, tapes=1.0), 10, 0, end=5)),
    )


def test_times_and_units_of_a_started_job() -> None:
    """End before start, cancelled without an end, another number of nodes than of units."""
    says(
        "job a ends at 2024-06-01T07:59:00Z, before its start at 2024-06-01T07:59:50Z; correct its times",
        lambda: started(job("a"), 10, 0, end=60),
    )
    says("job a is cancelled but has no end; give its end", lambda: StartedJob(job("a"), 0, (0,), cancelled=True))
    says("job a has 2 units on 1 nodes; give one node per unit", lambda: started(job("a", 2), 10, 0))


def test_nothing_is_after_the_moment() -> None:
    """Neither a start nor an end; both may be at the moment."""
    says(
        "now.csv: job a starts at 2024-06-01T08:00:01Z, after the moment of the snapshot, 2024-06-01T08:00:00Z;"
        " correct one of them",
        lambda: check(started(job("a"), -1, 0)),
    )
    says(
        "now.csv: job a ends at 2024-06-01T08:00:01Z, after the moment of the snapshot, 2024-06-01T08:00:00Z;"
        " correct one of them",
        lambda: check(started(job("a"), 5, 0, end=-1)),
    )
    check(started(job("a"), 0, 0, end=0))


def test_a_job_has_one_state() -> None:
    """Waiting and running at once is neither."""
    says(
        "now.csv: job a is there twice; give every job one state",
        lambda: Situation(NOW, pending=(job("a"),), started=(started(job("a"), 1, 0),), source="now.csv"),
    )


def test_an_outage_ends_after_it_begins() -> None:
    """An empty one is a slip."""
    says(
        "an outage ends at 2024-06-01T08:00:00Z, not after its start at 2024-06-01T08:00:00Z; correct its times",
        lambda: outage("down", 0, 0),
    )


def test_outages_in_seconds_of_a_day() -> None:
    """One that began the day before closes the node from midnight on; one of yesterday is over and does not count."""
    midnight = DAY.start_unix
    outages = (
        Outage(0, midnight - 5000, midnight + 700, "drain"),
        Outage(1, midnight + 60, None, "drain"),
        Outage(2, midnight - 5000, midnight, "drain"),
    )
    assert node_outages(outages, DAY) == (NodeOutage(0, 0, 700), NodeOutage(1, 60, UNTIL_FURTHER_NOTICE_S))
