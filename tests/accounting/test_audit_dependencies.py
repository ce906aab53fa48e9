"""The audit of dependencies: who started too soon, and who could have started after all that it waits for."""

from __future__ import annotations

import pytest

from planner.accounting.audit import audit
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem, Running
from tests.plain_day import HOUR, LENGTH, day, job


def broken(problem: Problem, **starts: tuple[int, int]) -> list[str]:
    """Rules that a plan of starts [s] and nodes breaks, with the job."""
    placements = {name: Placement(name, start, (node,)) for name, (start, node) in starts.items()}
    return [f"{found.rule} {found.where}" for found in audit(problem, Plan.of(problem, placements))]


@pytest.mark.parametrize(("kind", "allowed_s"), [("after", HOUR), ("afterok", 3 * HOUR), ("afterany", 3 * HOUR)])
def test_a_start_before_what_must_come_first_is_found(kind: str, allowed_s: int) -> None:
    """a runs from 1 to 3: b may start with it, or when it has ended, and not a second before."""
    problem = day(job("a", 2), job("b", 1, after=f"{kind}:a"), nodes=2)
    assert broken(problem, a=(HOUR, 0), b=(allowed_s, 1)) == []
    assert broken(problem, a=(HOUR, 0), b=(allowed_s - 1, 1)) == ["dependency job b"]


def test_a_start_before_the_end_of_a_started_job_is_found() -> None:
    """r is expected to end at two; that it has started is enough for c."""
    held = Running(job("r", 3, release_s=-HOUR), -HOUR, 2 * HOUR, (0,))
    problem = day(job("b", 1, after="afterok:r"), job("c", 1, after="after:r"), nodes=3, running=(held,))
    assert broken(problem, b=(2 * HOUR, 1), c=(0, 2)) == []
    assert broken(problem, b=(2 * HOUR - 1, 1), c=(0, 2)) == ["dependency job b"]


def test_a_start_without_the_job_that_must_come_first_is_found() -> None:
    """a is deferred for want of room, z can never run, and nobody knows y: it is long gone."""
    late = Running(job("r", 50, release_s=-HOUR), -HOUR, 2 * LENGTH, (0,))
    jobs = (job("a", 1, units=((2, 4.0),)), job("b", 1, after="after:a"), job("c", 1, after="afterok:z"))
    problem = day(*jobs, job("d", 1, after="afterok:y"), nodes=2, running=(late,), never=["z"])
    assert broken(problem, d=(0, 1)) == []
    assert broken(problem, b=(0, 1), c=(HOUR, 1), d=(2 * HOUR, 1)) == ["dependency job b", "dependency job c"]


def test_the_audit_says_from_when_a_job_may_start() -> None:
    """b may start when a ends, at two; c never, as what it waits for does not run."""
    problem = day(job("a", 2), job("b", 1, after="afterok:a"), job("c", 1, after="afterok:z"), nodes=3, never=["z"])
    plan = Plan.of(problem, {name: Placement(name, 0, (node,)) for node, name in enumerate("abc")})
    assert [found.detail for found in audit(problem, plan)] == [
        "starts at 0 s, allowed from 7200 s",
        "starts at 0 s, though what it waits for does not run",
    ]


def test_a_deferred_job_could_have_started_only_after_what_it_waits_for() -> None:
    """a ends at 23: b has an hour left on the other node. With a until midnight b has none today."""
    problem = day(job("a", 2), job("b", 1, after="afterok:a"), nodes=2)
    assert broken(problem, a=(21 * HOUR, 0)) == ["defer job b"]
    assert broken(problem, a=(22 * HOUR, 0)) == []


def test_a_deadline_could_be_met_only_between_what_comes_before_and_what_comes_after() -> None:
    """b is due at 10. a ends at 2, so that it could run from 2 on; c, which waits for its end, starts at 12."""
    jobs = (job("a", 2), job("b", 1, due_s=10 * HOUR, after="afterok:a"), job("c", 1, after="afterok:b"))
    problem = day(*jobs, nodes=2)
    assert broken(problem, a=(0, 0), b=(9 * HOUR, 1), c=(12 * HOUR, 0)) == []
    assert broken(problem, a=(0, 0), b=(10 * HOUR, 1), c=(12 * HOUR, 0)) == ["deadline job b"]
    assert broken(problem, a=(9 * HOUR, 0), b=(11 * HOUR, 1), c=(12 * HOUR, 0)) == []
