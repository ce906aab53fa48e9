"""Claims about the audit at its edges: a milliwatt, a second, and jobs that speak for others."""

from __future__ import annotations

import pytest

from planner.accounting.audit import Violation, audit, broken_rules
from planner.domain.plan import Placement, Plan
from planner.domain.problem import Problem
from tests.plain_day import HOUR, day, job


def broken(problem: Problem, **starts: tuple[int, int]) -> list[str]:
    """Rule and place of every violation of a plan; each job has one unit, with a start and a node."""
    placements = {name: Placement(name, start, (node,)) for name, (start, node) in starts.items()}
    return [f"{found.rule} {found.where}" for found in audit(problem, Plan.of(problem, placements))]


@pytest.mark.parametrize(("limit_w", "found"), [(200.0, []), (199.999, ["power from 0 s"])])
def test_one_milliwatt_over_the_limit_is_found(limit_w: float, found: list[str]) -> None:
    """Two jobs of 100 W keep a limit of 200 W, and break one of 199.999 W."""
    problem = day(job("a", 1, power_w=100), job("b", 1, power_w=100), nodes=2, limit_w=limit_w)
    assert broken(problem, a=(0, 0), b=(0, 1)) == found


@pytest.mark.parametrize(("limit_w", "found"), [(200.0, ["defer job b"]), (199.999, [])])
def test_room_in_power_counts_to_the_milliwatt(limit_w: float, found: list[str]) -> None:
    """Beside 100 W that run all day, a job of 100 W has room below 200 W and none below 199.999 W."""
    problem = day(job("a", 30, power_w=100), job("b", 1, power_w=100), nodes=2, limit_w=limit_w)
    assert broken(problem, a=(0, 0)) == found


def test_a_deadline_that_only_the_first_second_meets_is_a_deadline() -> None:
    """Released at 1:00 and due at 2:00, a job of an hour has to start at once; 1:00 is its release and its last start.

    With a second less to its deadline nobody could meet it, and any start is as good.
    """
    problem = day(job("a", 1, release_s=HOUR, due_s=2 * HOUR))
    assert broken(problem, a=(HOUR, 0)) == []
    assert broken(problem, a=(HOUR + 1, 0)) == ["deadline job a"]
    assert broken(day(job("a", 1, release_s=HOUR, due_s=2 * HOUR - 1)), a=(HOUR + 1, 0)) == []


def test_a_deferred_job_past_its_deadline_is_found_to_the_second() -> None:
    """Under `defer: free` a job may wait for tomorrow if it can start at 24:00 and be in time; else it may not."""
    for due_s, found in ((25 * HOUR, []), (25 * HOUR - 1, ["deadline job a"])):
        assert broken(day(job("a", 1, due_s=due_s), defer="free")) == found


def test_a_job_refused_for_its_power_does_not_speak_for_a_thriftier_one() -> None:
    """Beside 100 W of 200 W all day, 150 W have no room; the same job with 50 W has."""
    held = job("held", 30, power_w=100)
    problem = day(held, job("greedy", 1, power_w=150), job("modest", 1, power_w=50), nodes=2, limit_w=200.0)
    assert broken(problem, held=(0, 0)) == ["defer job modest"]


def test_a_job_refused_for_its_cores_does_not_speak_for_a_smaller_one() -> None:
    """Beside two of four cores all day, four have no room; two have, even for longer."""
    problem = day(job("held", 30, units=[(1, 2)]), job("greedy", 1), job("modest", 2, units=[(1, 2)]))
    assert broken(problem, held=(0, 0)) == ["defer job modest"]


def test_a_job_refused_for_its_release_does_not_speak_for_an_earlier_one() -> None:
    """The node is held from 12:00 on: an hour from then on has no room, two hours from midnight on have."""
    held, greedy = job("held", 30), job("greedy", 1, release_s=12 * HOUR)
    assert broken(day(held, greedy, job("modest", 2)), held=(12 * HOUR, 0)) == ["defer job modest"]


def test_a_job_refused_for_its_time_does_not_speak_for_a_shorter_one() -> None:
    """Both nodes are held from 12:00 on: 13 h on one have no room before, an hour on both has."""
    held = (job("one", 30), job("two", 30))
    problem = day(*held, job("greedy", 13), job("modest", 1, units=[(2, 4)]), nodes=2)
    assert broken(problem, one=(12 * HOUR, 0), two=(12 * HOUR, 1)) == ["defer job modest"]


def test_a_job_of_several_sizes_speaks_for_nobody() -> None:
    """Two cores are left: one core and four have no room, two units of one core have, although each asks for more."""
    held = (job("one", 30), job("two", 30, units=[(1, 2)]))
    greedy, modest = job("greedy", 1, units=[(1, 1), (1, 4)]), job("modest", 2, units=[(2, 1)])
    assert broken(day(*held, greedy, modest, nodes=2), one=(0, 0), two=(0, 1)) == ["defer job modest"]


@pytest.mark.parametrize(("count", "told"), [(1, "1 rule: "), (5, "5 rules: "), (6, "6 rules: ")])
def test_five_broken_rules_are_told_and_the_rest_counted(count: int, told: str) -> None:
    """Of six rules five are told in words, and `(+1 more)` stands for the last; of five nothing is left to count."""
    text = broken_rules([Violation("start", f"job {k}", "early") for k in range(count)])
    assert text.startswith(told)
    assert text.count("early") == min(count, 5)
    assert text.endswith("(+1 more)" if count == 6 else "early")
