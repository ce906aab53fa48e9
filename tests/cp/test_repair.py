"""Claims about repair: a job is put at its earliest start, and moved for its deadline alone, never later."""

from __future__ import annotations

import numpy as np
import pytest

from planner.cp.repair import finish, insert, repair
from planner.domain import plan
from planner.domain.plan import DEFERRED, Placement, Plan
from planner.domain.problem import Problem, Running
from planner.errors import AuditError
from tests.plain_day import HOUR, day, job


def held_until_two(*jobs: object, **more: object) -> Problem:
    """A node that is held until 2:00."""
    running = (Running(job("held", 5), -HOUR, 2 * HOUR, (0,)),)
    return day(*jobs, running=running, **more)  # type: ignore[arg-type]


def test_a_job_is_inserted_at_its_earliest_start() -> None:
    """Free from 2:00 to 4:00 and from 6:00 on: two hours go to 2:00, a second more goes to 6:00."""
    placed = {"a": Placement("a", 4 * HOUR, (0,))}
    for hours, start in ((2, 2 * HOUR), (2 + 1 / HOUR, 6 * HOUR)):
        problem = held_until_two(job("a", 2), job("b", hours))
        found = insert(problem, Plan.of(problem, placed), 1)
        assert found is not None
        assert found.start_s.tolist() == [4 * HOUR, start]


def test_a_job_is_inserted_from_the_given_moment_on() -> None:
    """Asked for from 3:00 on it starts then; in the last second of the day it starts, and after that it does not."""
    problem = held_until_two(job("a", 2))
    nothing = Plan.of(problem, {})
    for moment in (3 * HOUR, 24 * HOUR - 1):
        found = insert(problem, nothing, 0, moment)
        assert found is not None
        assert found.start_s.tolist() == [moment]


def test_power_holds_a_job_back_to_the_milliwatt() -> None:
    """Beside 1000 W until 2:00 a job of 1000 W starts at once below 2000 W, and at 2:00 below 1999.999 W."""
    for limit_w, start in ((2000.0, 0), (1999.999, 2 * HOUR)):
        problem = held_until_two(job("a", 1), nodes=2, limit_w=limit_w)
        found = insert(problem, Plan.of(problem, {}), 0)
        assert found is not None
        assert found.start_s.tolist() == [start]


def test_a_job_that_is_too_much_to_pack_is_not_inserted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two units of a core and one of two on two nodes: a table of 2 rows for the one, times 3 for the nodes."""
    problem = day(job("a", 1, units=((2, 1.0), (1, 2.0))), nodes=2)
    for most_cells, is_inserted in ((6, True), (5, False)):
        monkeypatch.setattr(plan, "MOST_CELLS", most_cells)
        assert (insert(problem, Plan.of(problem, {}), 0) is not None) == is_inserted


def test_repair_starts_what_has_room_as_early_as_it_can() -> None:
    """The deferred job fits before and after the other one; it is started at 2:00, when the node becomes free."""
    problem = held_until_two(job("a", 2), job("b", 1))
    mended = repair(problem, Plan.of(problem, {"a": Placement("a", 4 * HOUR, (0,))}), "x", [])
    assert mended is not None
    assert mended.start_s.tolist() == [4 * HOUR, 2 * HOUR]


def test_repair_moves_a_job_forward_for_its_deadline() -> None:
    """Due at 4:00 and planned for 3:01, a job of an hour is moved to 2:00, the earliest start, and nothing else is."""
    problem = held_until_two(job("due", 1, due_s=4 * HOUR), job("other", 1))
    placed = {"due": Placement("due", 3 * HOUR + 60, (0,)), "other": Placement("other", 5 * HOUR, (0,))}
    mended = repair(problem, Plan.of(problem, placed), "x", [])
    assert mended is not None
    assert mended.start_s.tolist() == [2 * HOUR, 5 * HOUR]


def both_at_once() -> tuple[Problem, Plan]:
    """Two jobs at once on one node, which no engine may answer and no job that is added mends."""
    problem = day(job("a", 1), job("b", 1))
    return problem, Plan.of(problem, {name: Placement(name, 0, (0,)) for name in "ab"})


def test_what_cannot_be_mended_is_an_error_in_tests() -> None:
    """It is a bug of the model or of the engine."""
    problem, both = both_at_once()
    with pytest.raises(AuditError, match="the plan of the engine, nodes 3, breaks 1 rule: capacity: node n1"):
        repair(problem, both, "nodes 3", [])


@pytest.mark.usefixtures("lenient_audit")
def test_what_cannot_be_mended_is_given_up_and_told() -> None:
    """In production the search goes on without it."""
    problem, both = both_at_once()
    told: list[str] = []
    assert repair(problem, both, "nodes 3", told) is None
    assert [text.partition(": ")[0] for text in told] == ["the plan of the engine, nodes 3, breaks 1 rule"]


@pytest.mark.usefixtures("lenient_audit")
def test_what_a_placement_breaks_is_told_too() -> None:
    """Starts without nodes that are placed on top of each other: nothing comes of it, and both attempts are told."""
    problem, both = both_at_once()
    told: list[str] = []
    assert finish(problem, None, both.start_s, lambda order, release: both, "pooled", told) is None
    assert [text.partition(": ")[0] for text in told] == ["the plan of pooled, placed again, breaks 1 rule"] * 2


def test_a_placement_from_later_starts_on_may_leave_room() -> None:
    """The job that is due at 2:00 and was said to start at 5:00 misses its deadline there: no bug, and not taken."""
    problem = day(job("due", 1, due_s=2 * HOUR))
    plans = {start_s: Plan.of(problem, {"due": Placement("due", start_s, (0,))}) for start_s in (0, 5 * HOUR)}
    told: list[str] = []
    found = finish(problem, None, np.array([5 * HOUR]), lambda order, release: plans[int(release[0])], "x", told)
    assert found is not None
    assert found.plan.start_s.tolist() == [0]
    assert told == []


def test_starts_without_nodes_become_a_plan_from_these_starts_on() -> None:
    """An engine says 5:00 and 3:00, and leaves the third out: all three start, none before what was said.

    The third has an hour at midnight, once the others stand.
    """
    problem = day(job("a", 1), job("b", 2), job("c", 1))
    found = finish(problem, None, np.array([5 * HOUR, 3 * HOUR, DEFERRED]), None, "x", [])
    assert found is not None
    assert found.plan.start_s.tolist() == [5 * HOUR, 3 * HOUR, 0]


def test_what_an_engine_left_out_stays_out_where_it_may() -> None:
    """Under `defer: free` the job without a deadline is not added; the one that is due today is."""
    problem = day(job("a", 1), job("free", 1), job("due", 1, due_s=24 * HOUR), defer="free")
    found = finish(problem, None, np.array([2 * HOUR, DEFERRED, DEFERRED]), None, "x", [])
    assert found is not None
    assert found.plan.start_s.tolist() == [2 * HOUR, DEFERRED, 0]


def test_an_engine_s_plan_is_taken_with_what_it_left_out() -> None:
    """The plan stands as it is, at 4:00, and the job that was left out is started at midnight."""
    problem = day(job("a", 2), job("b", 1))
    plan = Plan.of(problem, {"a": Placement("a", 4 * HOUR, (0,))})
    found = finish(problem, plan, plan.start_s, None, "x", [])
    assert found is not None
    assert found.plan.start_s.tolist() == [4 * HOUR, 0]


@pytest.mark.usefixtures("lenient_audit")
def test_a_plan_that_cannot_be_mended_is_decoded_again() -> None:
    """Two jobs at once on one node: the sequence is placed again, by whoever does that, and the broken plan is told."""
    problem, both = both_at_once()
    told: list[str] = []
    apart = Plan.of(problem, {"a": Placement("a", 0, (0,)), "b": Placement("b", HOUR, (0,))})
    found = finish(problem, both, both.start_s, lambda order, release: apart, "x", told)
    assert found is not None
    assert found.plan is apart
    assert len(told) == 1
