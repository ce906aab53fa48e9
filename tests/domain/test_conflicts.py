"""Claims about conflicts of a snapshot with the last plan: each is named once, news is none, and no job is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import Job, UnitGroup
from planner.domain.situation import LeftAlone, Situation, StartedJob
from planner.domain.situation_check import PlannedRun, situation_conflicts

CLUSTER = Cluster((NodeClass("cpu", 9, {"cores": 8}),))
NOW = 1717228800
"""2024-06-01T08:00:00Z."""
PLANNED = PlannedRun(NOW - 60, NOW + 3600, (0, 1))


def job(identity: str) -> Job:
    return Job(identity, 0, 3600, (UnitGroup.of(2, {"cores": 4.0}),), 10.0)


def running(identity: str, start: int = NOW - 60, nodes: tuple[int, ...] = (0, 1)) -> StartedJob:
    return StartedJob(job(identity), start, nodes)


def test_every_kind_in_words() -> None:
    """One sentence each, in the order in which people count the ids."""
    snapshot = Situation(
        NOW, pending=(job("j1"),), started=(running("j3", nodes=(2, 3)), running("j4", start=NOW - 30))
    )
    schedule = dict.fromkeys(("j1", "j2", "j3", "j4"), PLANNED)
    assert situation_conflicts(snapshot, schedule, {"j10"}, CLUSTER) == [
        "job j1 was planned to start at 2024-06-01T07:59:00Z but is still pending",
        "job j2 was planned to run from 2024-06-01T07:59:00Z but is gone",
        "job j3 was planned on cpu[1-2] but runs on cpu[3-4]",
        "job j4 was planned from 2024-06-01T07:59:00Z but runs since 2024-06-01T07:59:30Z",
        "job j10 was planned to wait but is gone",
    ]


@pytest.mark.parametrize(
    ("snapshot", "schedule", "deferred"),
    [
        pytest.param(Situation(NOW, started=(running("a"),)), {"a": PLANNED}, (), id="as planned"),
        pytest.param(
            Situation(NOW, started=(running("a", nodes=(1, 0)),)), {"a": PLANNED}, (), id="units changed places"
        ),
        pytest.param(Situation(NOW, started=(running("a", NOW - 99),)), {"a": PLANNED}, (), id="earlier than planned"),
        pytest.param(Situation(NOW, started=(running("a"),)), {}, ("a",), id="planned to wait, runs"),
        pytest.param(Situation(NOW, started=(running("a"),), pending=(job("b"),)), {}, (), id="new"),
        pytest.param(Situation(NOW, pending=(job("a"),)), {}, ("a",), id="waits as planned"),
        pytest.param(Situation(NOW, pending=(job("a"),)), {"a": PlannedRun(NOW, NOW + 9, (0, 1))}, (), id="due now"),
        pytest.param(Situation(NOW, withdrawn=(job("a"),)), {"a": PLANNED}, (), id="withdrawn"),
        pytest.param(Situation(NOW, left_alone=(LeftAlone("a", "held"),)), {"a": PLANNED}, (), id="left alone"),
    ],
)
def test_what_is_no_conflict(snapshot: Situation, schedule: dict[str, PlannedRun], deferred: tuple[str, ...]) -> None:
    """What went as planned, and news."""
    assert situation_conflicts(snapshot, schedule, deferred, CLUSTER) == []


def test_a_job_can_be_elsewhere_and_late() -> None:
    """Then it has two conflicts; one that has ended is spoken of in the past."""
    ended = replace(running("a", NOW - 30, (7, 7)), end_unix=NOW)
    assert situation_conflicts(Situation(NOW, started=(ended,)), {"a": PLANNED}, (), CLUSTER) == [
        "job a was planned on cpu[1-2] but ran on cpu8",
        "job a was planned from 2024-06-01T07:59:00Z but ran from 2024-06-01T07:59:30Z",
    ]


def test_jobs_of_the_snapshot_stay_as_they_are() -> None:
    """A conflict has a name and no consequence."""
    snapshot = Situation(NOW, pending=(job("a"),), started=(running("b", nodes=(2, 3)),))
    before = replace(snapshot)
    situation_conflicts(snapshot, {"a": PLANNED, "b": PLANNED, "c": PLANNED}, {"d"}, CLUSTER)
    assert snapshot == before
