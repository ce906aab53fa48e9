"""Jobs that have their nodes for themselves: who meets whom, what fits, and which snapshots can be."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.columns import Restrictions, job_columns, node_columns
from planner.domain.ever_fits import Fit
from planner.domain.job import Job, UnitGroup
from planner.domain.situation import Situation, StartedJob
from planner.domain.situation_check import Stay, meetings, require_possible
from planner.errors import InputError
from tests.factories import DAY

CLUSTER = Cluster((NodeClass("cpu", 2, {"cores": 4}), NodeClass("fat", 1, {"cores": 8})))
JOB = Job("a", 0, 60, (UnitGroup.of(1, {"cores": 1.0}),), 10.0)
ALONE = replace(JOB, id="x", exclusive=True)


@pytest.mark.parametrize("seed", range(30))
def test_meetings_are_found(seed: int) -> None:
    """A meeting is found exactly where some pair of stays, looked at one by one, is one; and each that is found is."""
    rng = np.random.default_rng(seed)
    stays = []
    for number in range(8):
        start = int(rng.integers(0, 12))
        end = start + int(rng.integers(0, 4))
        stays.append(Stay(int(rng.integers(0, 2)), start, end, f"j{number}", bool(rng.random() < 0.3)))

    def met(one: Stay, other: Stay) -> bool:
        if one.node != other.node or not (one.exclusive or other.exclusive):
            return False
        return any(one.start <= second < one.end and other.start <= second < other.end for second in range(20))

    pairs = [pair for pair in combinations(stays, 2) if met(*pair)]
    found = meetings(stays)
    assert bool(found) == bool(pairs)
    assert all(met(one, other) for one, other in found if one.start < one.end and other.start < other.end)


def test_units_of_one_job_do_not_meet() -> None:
    """Two units of a job on a node are one stay."""
    assert meetings([Stay(0, 0, 5, "x", True)] * 2) == []


def test_exclusive_units_ask_for_all_of_a_column_of_which_others_ask_for_little() -> None:
    """Beside one exclusive unit nothing fits; ordinary units never meet the limit, however small they are."""
    tiny = replace(JOB, units=(UnitGroup.of(1, {"cores": 0.001}),))
    jobs = [tiny, ALONE]
    restrictions = Restrictions.of(jobs)
    nodes, columns = node_columns(CLUSTER, restrictions), job_columns(jobs, CLUSTER, DAY, restrictions=restrictions)
    room = nodes.capacity[:, -1]
    assert set(room.tolist()) == {8000}
    assert columns.group_amount[:, -1].tolist() == [1, 8000]
    assert nodes.capacity[2, 0] // columns.group_amount[0, 0] <= 8000
    assert columns.group_core_equivalents.tolist() == [[0.001, 0.001], [1.0, 1.0]]


@pytest.mark.parametrize(
    ("units", "reason"),
    [
        ([(3, 1)], None),
        ([(4, 1)], "asks for 4 units of 1 cores with a node each, the machine takes 3 at once"),
        ([(2, 1), (2, 2)], "its units do not fit on the empty machine together"),
        ([(2, 1), (1, 8)], None),
    ],
)
def test_each_unit_needs_a_node(units: list[tuple[int, int]], reason: str | None) -> None:
    """A job fits only if the machine has a node for each of its units."""
    groups = tuple(UnitGroup.of(count, {"cores": cores}) for count, cores in units)
    assert Fit(CLUSTER).why_never(replace(ALONE, units=groups)) == reason


@pytest.mark.parametrize(
    ("started", "message"),
    [
        ([StartedJob(ALONE, 10, (0,)), StartedJob(JOB, 5, (1,))], None),
        ([StartedJob(ALONE, 10, (0,)), StartedJob(JOB, 5, (0,), end_unix=10)], None),
        (
            [StartedJob(ALONE, 10, (0,)), StartedJob(JOB, 5, (0,), end_unix=11)],
            "now: job x has its nodes for itself, but job a is on cpu1 too from 1970-01-01T00:00:10Z; correct their"
            " nodes or times",
        ),
        (
            [StartedJob(replace(ALONE, units=(UnitGroup.of(2, {"cores": 1.0}),)), 10, (1, 1))],
            "now: job x has its nodes for itself, but several units on cpu2; make one unit of them, or correct its"
            " nodes",
        ),
    ],
)
def test_snapshots(started: list[StartedJob], message: str | None) -> None:
    """A snapshot in which somebody shares an exclusive node cannot be true."""
    snapshot = Situation(100, started=tuple(started), source="now")
    if message is None:
        require_possible(snapshot, CLUSTER)
        return
    with pytest.raises(InputError) as error:
        require_possible(snapshot, CLUSTER)
    assert str(error.value) == message
