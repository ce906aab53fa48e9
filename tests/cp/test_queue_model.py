"""The model of a scheduling round beside plain enumeration of starts and nodes, and what it keeps of curved costs."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from planner.cp import queue_model
from planner.cp.engines import ENGINES
from planner.cp.engines.engine import UNKNOWN, Engine, EngineAnswer, Heard
from planner.cp.queue_model import EngineSolver, QueueModel, as_one_node, costs_of, seat_count
from planner.domain.columns import Floats, Ints
from planner.domain.waiting_queue import FreeRoom, QueuePlan, WaitingQueue
from planner.errors import SolverError

CPSAT = EngineSolver(ENGINES["cpsat"], 60.0)


def installed() -> list[EngineSolver]:
    """Every engine that is installed."""
    return [EngineSolver(engine, 60.0) for engine in ENGINES.values() if engine.available()]


def random_queue(seed: int, jobs: int, *, nodes: int = 2, resources: int = 2, power: int | None = None) -> WaitingQueue:
    """Jobs of one or two groups of units on nodes that something runs on for a while; P2SF of fresh and old jobs."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(1, 3, jobs) if nodes > 1 else np.ones(jobs, dtype=np.int64)
    length, waited = rng.integers(1, 6, jobs), rng.integers(0, 4, jobs)
    total = int(groups.sum())

    def cost(job: Ints, start_s: Ints) -> Floats:
        wait = start_s + waited[job]
        return ((wait + length[job]) ** 4.0 - wait**4.0).astype(float)

    def room(kinds: int, most: int) -> FreeRoom:
        until = int(rng.integers(1, 5))
        busy = rng.integers(0, most + 1, kinds)
        return FreeRoom(np.array([0, until]), np.array([most - busy, [most] * kinds]))

    return WaitingQueue(
        length_s=length,
        power_mw=rng.integers(1, 5, jobs),
        group_ptr=np.concatenate([[0], np.cumsum(groups)]),
        group_count=np.ones(total, dtype=np.int64) if nodes > 1 else rng.integers(1, 3, total),
        group_amount=rng.integers(1, 3, (total, resources)),
        nodes=tuple(room(resources, 4) for _ in range(nodes)),
        power=None if power is None else room(1, power),
        cost=cost,
    )


def one_after_another(queue: WaitingQueue) -> QueuePlan:
    """All jobs in turn when everything that runs has ended, each unit on the first node that has room for it."""
    starts = queue.last_change_s + np.cumsum([0, *queue.length_s[:-1]])
    nodes: list[int] = []
    for job in range(len(queue)):
        left = [room.free[-1].copy() for room in queue.nodes]
        for group in queue.groups_of(job):
            for _ in range(int(queue.group_count[group])):
                node = next(k for k, free in enumerate(left) if np.all(free >= queue.group_amount[group]))
                left[node] -= queue.group_amount[group]
                nodes.append(node)
    return QueuePlan(starts, np.array(nodes))


def fits(queue: WaitingQueue, starts: tuple[int, ...], nodes: tuple[int, ...]) -> bool:
    """Whether every node, and the power, has room at every second in which anything begins."""
    moments = {*starts, *(int(m) for room in queue.nodes for m in room.moment_s)}
    moments |= set() if queue.power is None else {int(m) for m in queue.power.moment_s}
    job_of = [job for job in range(len(queue)) for g in queue.groups_of(job) for _ in range(queue.group_count[g])]
    group_of = np.repeat(np.arange(len(queue.group_count)), queue.group_count)
    for moment in moments:
        runs = [starts[job] <= moment < starts[job] + queue.length_s[job] for job in range(len(queue))]
        for node, room in enumerate(queue.nodes):
            used = sum(
                (
                    queue.group_amount[g]
                    for g, j, n in zip(group_of, job_of, nodes, strict=True)
                    if n == node and runs[j]
                ),
                np.zeros(room.free.shape[1], dtype=np.int64),
            )
            if np.any(used > room.at(np.array([moment]))[0]):
                return False
        if queue.power is not None and queue.power_mw[runs].sum() > queue.power.at(np.array([moment]))[0, 0]:
            return False
    return True


def least_cost(queue: WaitingQueue) -> float:
    """The best of all starts and all nodes."""
    jobs, latest = np.arange(len(queue)), queue.last_change_s + int(queue.length_s.sum())
    units = int(queue.group_count.sum())
    every = sorted(product(range(latest + 1), repeat=len(queue)), key=lambda s: queue.cost(jobs, np.array(s)).sum())
    for starts in every:
        if any(fits(queue, starts, nodes) for nodes in product(range(len(queue.nodes)), repeat=units)):
            return float(queue.cost(jobs, np.array(starts)).sum())
    raise AssertionError("nothing fits")


def value(queue: WaitingQueue, starts: Ints) -> float:
    """What starts cost."""
    return float(queue.cost(np.arange(len(queue)), starts).sum())


@pytest.mark.parametrize("solver", installed(), ids=lambda solver: solver.engine.name)
@pytest.mark.parametrize(("nodes", "jobs", "power"), [(1, 3, None), (2, 2, None), (2, 2, 5), (1, 2, 5)])
def test_the_engine_finds_the_best_of_all_starts_and_nodes(
    solver: EngineSolver, nodes: int, jobs: int, power: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exactly, where curved costs have a line for every second; from a known plan, and from nothing."""
    monkeypatch.setattr(queue_model, "PRECISION", 1e-9)
    found = 0
    for seed in range(12):
        queue = random_queue(seed, jobs, nodes=nodes, power=power)
        known = one_after_another(queue)
        best = least_cost(queue)
        for from_known in (True, False):
            answer = solver(queue, known, from_known=from_known)
            assert answer.is_proven
            assert answer.plan is not None
            assert answer.plan.node_of_unit is not None
            assert fits(queue, tuple(answer.plan.start_s.tolist()), tuple(answer.plan.node_of_unit.tolist()))
            assert value(queue, answer.plan.start_s) == pytest.approx(best, rel=1e-6), seed
        found += best < value(queue, known.start_s)
    assert found > 6


def test_known_plans_are_plans_of_the_model() -> None:
    """With the starts held where they are, the model still has a solution: nodes as in the known plan."""
    for seed in range(20):
        queue = random_queue(seed, 4, nodes=3, power=8)
        known = one_after_another(queue)
        model = QueueModel(queue, known)
        for interval, start in zip(model._jobs, known.start_s.tolist(), strict=True):
            interval.set_start(start)
        answer = ENGINES["cpsat"].solve(model.cpo, time_limit_s=60)
        assert answer.status == "optimal"


def test_a_curved_cost_is_kept_to_its_precision() -> None:
    """Between its points the largest line is above the cost, by at most PRECISION of it; a straight one is exact."""
    queue = replace(random_queue(3, 3), length_s=np.array([500, 20_000, 3]), nodes=(FreeRoom(np.array([0, 90_000]),
        np.array([[0, 0], [4, 4]])),), group_ptr=np.arange(4), group_count=np.ones(3, dtype=np.int64),
        group_amount=np.ones((3, 2), dtype=np.int64))  # fmt: skip
    length = queue.length_s
    for power in (2.0, 2.5, 4.0, 10.0):

        def cost(job: Ints, start_s: Ints, power: float = power) -> Floats:
            wait = (start_s + 7) / 86_400
            return np.asarray((wait + length[job] / 86_400) ** power - wait**power)

        curved = replace(queue, cost=cost)
        known = np.array([90_000, 110_000, 90_500])
        costs = costs_of(curved, known)
        unit = 2.0 ** (np.ceil(np.log2(cost(np.arange(3), known).sum())) - queue_model.COST_BITS)
        for job, (latest, lines) in enumerate(zip(costs.latest_s, costs.lines, strict=True)):
            starts = np.unique(np.linspace(0, latest, 999).astype(np.int64))
            ours = np.max([slope * starts + offset for slope, offset in lines], axis=0) * unit
            exact = cost(np.full(len(starts), job), starts)
            slack = 1e-6 * exact + unit * (latest + 1)
            assert np.all(ours >= exact - slack)
            assert np.all(ours <= exact * (1 + queue_model.PRECISION) + slack)
            assert len(lines) == 1 if power == 2.0 else len(lines) < 300


def test_latest_starts_leave_out_only_what_is_worse() -> None:
    """A second later a job alone would cost more than the whole known plan has above its least."""
    queue = random_queue(5, 4)
    known = one_after_another(queue)
    jobs, now = np.arange(4), np.zeros(4, dtype=np.int64)
    spare = value(queue, known.start_s) - value(queue, now)
    latest = np.array(costs_of(queue, known.start_s).latest_s)
    last = queue.last_change_s + int(queue.length_s.sum())
    assert np.all(queue.cost(jobs, latest) - queue.cost(jobs, now) <= spare * (1 + 1e-6))
    assert np.all((queue.cost(jobs, latest + 1) - queue.cost(jobs, now) > spare) | (latest == last))


@pytest.mark.parametrize(("limit", "scale"), [("MOST_SEATS", 1), ("SEATS_PER_S", CPSAT.time_limit_s)])
def test_too_many_nodes_are_planned_as_one(limit: str, scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than the limit: nothing is proven then, and the starts are those of a machine without borders."""
    queue = random_queue(1, 3, nodes=3)
    whole = as_one_node(queue)
    for moment in range(8):
        at = np.array([moment])
        assert np.array_equal(whole.nodes[0].at(at), sum(room.at(at) for room in queue.nodes))
    assert seat_count(whole) == 0
    known = one_after_another(queue)
    monkeypatch.setattr(queue_model, limit, seat_count(queue) / scale)
    exact = CPSAT(queue, known, from_known=True)
    monkeypatch.setattr(queue_model, limit, (seat_count(queue) - 1) / scale)
    rough = CPSAT(queue, known, from_known=True)
    assert (exact.is_proven, rough.is_proven) == (True, False)
    assert exact.plan is not None
    assert rough.plan is not None
    assert rough.plan.node_of_unit is None
    assert value(queue, rough.plan.start_s) <= value(queue, exact.plan.start_s)


class Scripted(Engine):
    """An engine that answers as it is told, and notes the time that it was given."""

    name = "scripted"
    limits = remedy = ""

    def __init__(self, *answers: EngineAnswer | Exception, takes: bool = True) -> None:
        self.answers, self.takes = list(answers), takes
        self.limits_s: list[float] = []

    def available(self) -> bool:
        return True

    def version(self) -> str | None:
        return "1"

    def fits(self, model: object) -> bool:
        return self.takes

    def solve(
        self, model: object, *, time_limit_s: float, seed: int = 0, workers: int = 1, heard: Heard | None = None
    ) -> EngineAnswer:
        self.limits_s.append(time_limit_s)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_an_engine_that_finds_nothing_gets_twice_the_time_once() -> None:
    """Then the round is without an answer; one that dies, or is too small, is not asked again."""
    queue = random_queue(2, 3)
    known = one_after_another(queue)
    slow = Scripted(UNKNOWN, UNKNOWN, UNKNOWN)
    assert EngineSolver(slow, 1.5)(queue, known, from_known=True).plan is None
    assert slow.limits_s == [1.5, 3.0]
    dying = Scripted(SolverError("died"), UNKNOWN)
    assert EngineSolver(dying, 1.5)(queue, known, from_known=True).plan is None
    assert dying.limits_s == [1.5]
    small = Scripted(takes=False)
    assert EngineSolver(small, 1.5)(queue, known, from_known=True).plan is None
    assert small.limits_s == []


def test_an_interrupt_ends_the_replay() -> None:
    """Ctrl-C is for the whole command, not for one round."""
    queue = random_queue(2, 3)
    with pytest.raises(KeyboardInterrupt):
        EngineSolver(Scripted(EngineAnswer("unknown", interrupted=True)), 1.0)(
            queue, one_after_another(queue), from_known=True
        )


def test_the_size_of_a_long_queue_is_that_of_its_starts() -> None:
    """The Community Edition takes queues of 140 jobs on a pool: log2(140) bits each."""
    from planner.cp.engines.engine import COMMUNITY_BITS, bits

    for jobs, is_small in ((140, True), (141, False)):
        queue = replace(random_queue(0, jobs, nodes=1), cost=lambda job, start_s: start_s + 1.0)
        model = QueueModel(queue, one_after_another(queue))
        assert (bits(model.cpo) <= COMMUNITY_BITS) == is_small
