"""The models of the dispatchers held against their golden texts, and how long each of them searches."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from planner.cp.dispatchers import LATER, NO_NODE, Hcp19, Pcp19, climb, with_nodes
from planner.cp.engines.engine import UNKNOWN, EngineAnswer
from planner.cp.queue_model import QueueModel, as_one_node
from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import NOTHING_FOUND, FreeRoom, QueueAnswer, QueuePlan, WaitingQueue
from planner.errors import SolverError
from tests.cp.test_queue_model import Scripted, one_after_another

GOLDEN = Path(__file__).parent / "golden_dispatch"


def small(units: int = 4) -> WaitingQueue:
    """A job of one unit and one of four, on a node with four cores and two GPUs and one with three cores and none.

    On the first node two cores are taken until second 3.
    """

    def cost(job: Ints, start_s: Ints) -> Floats:
        length = np.array([4, 5])[job]
        return (start_s + length) / length

    return WaitingQueue(
        length_s=np.array([4, 5]),
        power_mw=np.array([30, 20]),
        group_ptr=np.array([0, 1, 2]),
        group_count=np.array([1, units]),
        group_amount=np.array([[2, 1], [1, 0]]) * 1000,
        nodes=(
            FreeRoom(np.array([0, 3]), np.array([[2, 2], [4, 2]]) * 1000),
            FreeRoom(np.array([0]), np.array([[3, 0]]) * 1000),
        ),
        power=FreeRoom(np.array([0]), np.array([[40]])),
        cost=cost,
    )


def docplex_text(queue: WaitingQueue) -> str:
    """The CPO text of a queue's model, without line numbers and dates."""
    lines = QueueModel(queue, one_after_another(queue)).cpo.get_cpo_string().splitlines()
    return "\n".join(line for line in lines if line and not line.startswith(("//", "#"))) + "\n"


TEXTS: dict[str, Callable[[], str]] = {
    "hcp19.cpo": lambda: docplex_text(as_one_node(small())),
    "pcp19.cpo": lambda: docplex_text(small()),
}


@pytest.mark.parametrize("name", TEXTS)
def test_models_read_as_before(name: str) -> None:
    """The text of a model is its golden text; GOLDEN=write renews it."""
    if os.environ.get("GOLDEN") == "write":
        GOLDEN.mkdir(exist_ok=True)
        (GOLDEN / name).write_text(TEXTS[name](), encoding="utf-8")
    assert TEXTS[name]() == (GOLDEN / name).read_text(encoding="utf-8")


def test_every_text_has_a_model() -> None:
    """A text without a model fails here."""
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(TEXTS)


def test_the_limit_doubles_until_the_plan_gets_no_better_twice() -> None:
    """Costs of the plans asked for, one after another; None is no plan, and a proof ends it at once."""
    queue = small()

    def asked(starts: list[int | None], proven_at: int = 99) -> tuple[list[int], int | None]:
        heard: list[int] = []

        def ask(factor: int) -> QueueAnswer:
            start = starts[len(heard)]
            heard.append(factor)
            plan = None if start is None else QueuePlan(np.array([start, start]), None)
            return QueueAnswer(plan, is_proven=len(heard) == proven_at)

        best = climb(queue, ask)
        return heard, None if best.plan is None else int(best.plan.start_s[0])

    assert asked([9, 9, 9]) == ([1, 2, 4], 9)
    assert asked([9, 8, 8, 8]) == ([1, 2, 4, 8], 8)
    assert asked([9, 8, 8, 7, 7]) == ([1, 2, 4, 8, 16], 7)
    assert asked([9, 10, 10]) == ([1, 2, 4], 9)
    assert asked([None, None, None, 9, 9]) == ([1, 2, 4, 8, 16], 9)
    assert asked([None] * 5) == ([1, 2, 4, 8, 16], None)
    assert asked([9, 8], proven_at=2) == ([1, 2], 8)


def test_an_engine_that_fails_has_no_answer() -> None:
    """It finds nothing in 31 times the limit, dies, is too small, or has more choices than are worth a try."""
    queue = small()
    known = one_after_another(queue)
    for make in (Hcp19, Pcp19):
        slow = Scripted(*[UNKNOWN] * 5)
        assert make(slow, 0.5)(queue, known).plan is None
        assert slow.limits_s == [0.5, 1.0, 2.0, 4.0, 8.0]
        assert make(Scripted(SolverError("died")), 0.5)(queue, known).plan is None
        assert make(Scripted(takes=False), 0.5)(queue, known).plan is None
        with pytest.raises(KeyboardInterrupt):
            make(Scripted(EngineAnswer("unknown", interrupted=True)), 0.5)(queue, known)


def test_too_many_choices_of_nodes_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """PCP'19 grows with the machine; beyond a size it counts as not solved."""
    from planner.cp import dispatchers

    queue = small()
    monkeypatch.setattr(dispatchers, "MOST_SEATS", 2)
    assert Pcp19(Scripted(), 0.5)(queue, one_after_another(queue)) == NOTHING_FOUND


def test_the_engine_is_not_asked_where_the_known_plan_starts_all() -> None:
    """HCP'19 gives nodes by best fit to all jobs of such a plan."""
    queue = small(units=2)
    known = QueuePlan(np.zeros(2, dtype=np.int64), np.array([0, 1, 1]))
    plan = Hcp19(Scripted(), 0.5)(queue, known).plan
    assert plan is not None
    assert plan.start_s.tolist() == [0, 0]


def test_best_fit_takes_the_fullest_node_with_room() -> None:
    """Node 1 has 3,000 of all resources free and node 0 has 4,000: the fullest goes first, if a unit fits there.

    The first job asks a GPU, which only node 0 has; that has no core left then. Four units of the second job find three
    cores on node 1, so it starts only where the first one does not.
    """
    plan = with_nodes(small(units=2), np.array([0, 0]))
    assert plan.node_of_unit is not None
    assert (plan.start_s.tolist(), plan.node_of_unit.tolist()) == ([0, 0], [0, 1, 1])
    plan = with_nodes(small(), np.array([0, 0]))
    assert plan.node_of_unit is not None
    assert (plan.start_s.tolist(), plan.node_of_unit.tolist()) == ([0, LATER], [0, *[NO_NODE] * 4])
    plan = with_nodes(small(), np.array([2, 0]))
    assert plan.node_of_unit is not None
    assert (plan.start_s.tolist(), plan.node_of_unit.tolist()) == ([2, 0], [NO_NODE, 1, 1, 1, 0])
