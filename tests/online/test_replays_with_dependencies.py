"""Jobs that wait for others in replays and walks: by hand, against slow simulators, with cancelled jobs, lost nodes."""

from __future__ import annotations

from dataclasses import replace as with_changes

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.cp.engines import ENGINES
from planner.cp.queue_model import EngineSolver
from planner.domain.job import parse_dependencies
from planner.domain.plan import DEFERRED
from planner.domain.precedence import links_of
from planner.domain.problem import Running, executed
from planner.domain.trace import Trace, pool_trace
from planner.methods import RULES
from planner.online.audit_replay import violations
from planner.online.day_under_policy import carry_out, easy_plan, look_ahead, rule_plan
from planner.online.holding import NO_HOLDING
from planner.online.outages import Outages
from planner.online.policies import KINDS, policy_named
from planner.online.predictors import Last2
from planner.online.replay import Replay, replay
from planner.runs.measured_replays import outcome_of
from tests.dependent_jobs import crowded
from tests.online.test_replay import POLICIES, due_soon, estimates_of, slow_starts
from tests.online.traces import random_cluster_trace, random_trace
from tests.plain_day import HOUR, day, job

NAMES = (
    "strict",
    "greedy",
    "list",
    "easy",
    "order-awf",
    "cp-awf",
    "conservative",
    "deadline",
    "deadline-early",
)

CPSAT = EngineSolver(ENGINES["cpsat"], 0.1)


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def pool(*jobs: tuple[str, int, int, int, str], processors: int = 4) -> Trace:
    """Jobs of a name, submission, length, width and dependencies."""
    ids, submit, length, width, after = zip(*jobs, strict=True)
    times = (ints(*submit), ints(*length), ints(*length), ints(*width))
    return pool_trace(ids, *times, processors, after=[parse_dependencies(text) for text in after], source="by hand")


def play(trace: Trace, policy: str, **options: object) -> Replay:
    """A replay that breaks no rule."""
    result = replay(trace, policy_named(policy), trace.requested_s, solver=CPSAT, **options)  # type: ignore[arg-type]
    assert violations(result) == []
    return result


@pytest.mark.parametrize("policy", NAMES)
def test_a_job_joins_when_the_others_have_come_and_waits_from_then_on(policy: str) -> None:
    """a runs 0 to 10, so b joins at 10, c with the start of b, and d when both have ended; e waits for nobody known.

    All four processors are free for each of them at once but for c, which is beside b.
    """
    trace = pool(
        ("a", 0, 10, 2, ""),
        ("b", 1, 5, 2, "afterok:a"),
        ("c", 2, 9, 2, "after:b"),
        ("d", 3, 1, 4, "afterany:c:b"),
        ("e", 4, 2, 2, "afterok:gone"),
    )
    result = play(trace, policy)
    assert result.start_s.tolist() == [0, 10, 10, 19, 4]
    assert result.ready_s.tolist() == [0, 10, 10, 19, 4]
    assert outcome_of(result).wait_s.tolist() == [0] * 5


@pytest.mark.parametrize("policy", NAMES)
def test_a_job_that_cannot_start_when_it_joins_waits_in_the_queue(policy: str) -> None:
    """x holds all from 3 to 13: b is ready at 3, when a ends, and starts at 13 after 10 s."""
    trace = pool(("a", 0, 3, 2, ""), ("x", 1, 10, 4, ""), ("b", 2, 5, 2, "afterok:a"))
    result = play(trace, policy)
    assert result.start_s.tolist() == [0, 3, 13]
    assert outcome_of(result).wait_s.tolist() == [0, 2, 10]


@pytest.mark.parametrize("policy", NAMES)
def test_a_job_that_is_cancelled_before_it_starts_keeps_nobody_waiting(policy: str) -> None:
    """b waits for the end of a and is cancelled at 4; c, which waits for b, joins then. d is cancelled as it comes."""
    trace = pool(
        ("a", 0, 10, 2, ""),
        ("b", 1, 5, 1, "afterok:a"),
        ("c", 2, 5, 1, "afterok:b"),
        ("d", 3, 5, 1, "afterok:a"),
        ("e", 3, 5, 1, "after:d,after:c"),
    )
    result = play(trace, policy, cancel_s=ints(-1, 4, -1, 3, -1))
    assert result.start_s.tolist() == [0, -1, 4, -1, 4]
    assert result.ready_s[[2, 4]].tolist() == [4, 4]


@pytest.mark.slow(keep=3)
@pytest.mark.parametrize("policy", NAMES)
def test_a_replay_goes_on_from_a_past_with_jobs_that_wait_for_others(policy: str) -> None:
    """Stopped at any second and gone on with, it gives what it gives in one piece."""
    trace = with_random_links(random_trace(11, jobs=25), 11)[0]
    whole = play(trace, policy)
    for moment in range(1, int(whole.end_s.max()), 29):
        first = replay(trace, policy_named(policy), trace.requested_s, until_s=moment, solver=CPSAT)
        rest = play(trace, policy, past=first.past_at(moment))
        if policy in ("strict", "greedy", "list", "easy"):  # the others reserve, or search, anew
            assert rest.start_s.tolist() == whole.start_s.tolist(), moment
            assert rest.ready_s.tolist() == whole.ready_s.tolist(), moment


@pytest.mark.parametrize("policy", NAMES)
def test_who_waits_for_the_end_of_a_job_waits_for_its_next_run_when_the_first_is_lost(policy: str) -> None:
    """a is lost at 5 and runs again from 8 to 18: b starts then, c has started with the first run.

    d waits for x, too, which runs from 9 to 12: that a starts a second time is not the end of x.
    """
    trace = pool(
        ("a", 0, 10, 1, ""),
        ("b", 1, 2, 1, "afterok:a"),
        ("c", 1, 1, 1, "after:a"),
        ("d", 1, 1, 1, "after:a,afterok:x"),
        ("x", 9, 3, 1, ""),
        processors=1,
    )
    trace = with_changes(trace, machine=with_changes(trace.machine, capacity=np.array([[2]], dtype=np.int64)))
    lost = Outages(ints(0), ints(5), ints(8), ints(5), np.array([False]), np.array([False]))
    result = play(trace, policy, outages=lost)
    assert result.start_s.tolist() == [8, 18, 1, 12, 9]
    assert result.ready_s.tolist() == [0, 18, 1, 12, 9]


def with_random_links(trace: Trace, seed: int) -> tuple[Trace, dict[int, list[tuple[int, bool]]]]:
    """The trace with dependencies of half of its jobs: chains, fans and joins, also on jobs submitted later."""
    rng = np.random.default_rng([seed, 7])
    order = rng.permutation(len(trace)).tolist()
    texts, after = [""] * len(trace), dict[int, list[tuple[int, bool]]]()
    for place, one in enumerate(order):
        near = [*order[max(0, place - 3) : place], *order[: min(1, place)]]
        if not near or rng.random() < 0.5:
            continue
        chosen = sorted({int(rng.choice(near)) for _ in range(int(rng.integers(1, 4)))})
        kinds = [("after", "afterok", "afterany")[int(rng.integers(0, 3))] for _ in chosen]
        texts[one] = ",".join(f"{kind}:{trace.ids[other]}" for kind, other in zip(kinds, chosen, strict=True))
        after[one] = [(other, kind != "after") for kind, other in zip(kinds, chosen, strict=True)]
    links = links_of(trace.ids, [parse_dependencies(text) for text in texts])
    return with_changes(trace, links=links), after


@pytest.mark.slow(keep=14)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("rounds", ["second", "event"])
def test_the_slow_simulators_agree(policy: str, rounds: str) -> None:
    """On a pool and on nodes, with exact, long and short estimates: the same starts, and the same joining of queues."""
    for seed in range(4):
        for plain in (random_trace(seed, jobs=25), random_cluster_trace(seed, jobs=12)):
            trace, after = with_random_links(plain, seed)
            due = due_soon(trace, seed) if policy.startswith("deadline") else np.full(len(trace), -1)
            for name, estimate in estimates_of(trace).items():
                result = replay(trace, policy_named(policy), estimate, rounds=rounds, deadline_s=due)
                joined_at: dict[int, int] = {}
                every = rounds == "event"
                slow = slow_starts(
                    trace, policy, estimate, every_event=every, deadline_s=due, after=after, joined_at=joined_at
                )
                assert result.start_s.tolist() == slow, f"seed {seed}, {name}"
                assert result.ready_s.tolist() == [joined_at[job] for job in range(len(trace))]
                assert violations(result) == []


def test_a_predictor_hears_of_every_start_and_end() -> None:
    """Also of jobs that join the queue and start in one round."""

    class Counting(Last2):
        begun: list[int]

        def begin(self, job: int, now_s: int) -> None:
            self.begun.append(job)
            super().begin(job, now_s)

    by_hand = pool(("a", 0, 10, 2, ""), ("b", 0, 5, 2, "after:a"))
    for trace in (by_hand, with_random_links(random_trace(3, jobs=25), 3)[0]):
        predictor = Counting(trace)
        predictor.begun = []
        result = replay(trace, policy_named("easy"), predictor)
        assert sorted(predictor.begun) == list(range(len(trace)))
        assert violations(result) == []


def test_the_check_finds_a_job_that_starts_too_soon() -> None:
    """A start a second before the end of the other, and one without the other."""
    trace = pool(("a", 0, 10, 2, ""), ("b", 1, 5, 2, "afterok:a"))
    result = play(trace, "easy")
    assert violations(with_changes(result, start_s=ints(0, 9))) == ["job b starts at 9 s, before job a"]
    assert violations(with_changes(result, start_s=ints(-1, 9))) == ["job b starts at 9 s, before job a"]


def test_every_kind_of_policy_is_among_those_looked_at() -> None:
    """A new kind must be added here."""
    assert {policy_named(name).kind for name in NAMES} == set(KINDS)


@pytest.mark.parametrize("method", RULES)
def test_a_rule_starts_a_job_in_the_second_in_which_the_others_have_come_first(method: str) -> None:
    """a from 0 to 2 h, b after its end, c with the start of b on the other node, d after a job that runs until 5 h."""
    held = Running(job("r", 6, release_s=-HOUR), -HOUR, 5 * HOUR, (0,))
    waits = {"b": "afterok:a", "c": "after:b", "d": "afterany:r", "e": "afterok:z"}
    jobs = (job("a", 2), *(job(name, 1, after=text) for name, text in waits.items()))
    problem = day(*jobs, nodes=3, running=(held,), never=["z"])
    found = rule_plan(problem, method).plan
    assert found.start_s.tolist() == [0, 2 * HOUR, 2 * HOUR, 5 * HOUR, DEFERRED]


def test_easy_lets_a_job_join_when_the_other_really_ends() -> None:
    """a asks for 5 h and takes 2: b joins then; c asks for what is left beside it at once."""
    problem = day(job("a", 5), job("b", 1, after="afterok:a"), job("c", 1, after="after:b"), nodes=2)
    real = with_changes(problem, jobs=tuple(with_changes(each, runtime_s=2 * HOUR) for each in problem.jobs))
    assert easy_plan(problem, executed(real)).start_s.tolist() == [0, 2 * HOUR, 2 * HOUR]


@pytest.mark.parametrize("block", range(3))
def test_walks_through_crowded_days_are_clean(block: int) -> None:
    """Rules, EASY with real runtimes, the time ahead and carried out: no job starts before those it waits for."""
    for seed in range(5 * block, 5 * block + 5):
        rng = np.random.default_rng(seed)
        problem = crowded(seed)
        jobs = tuple(with_changes(j, runtime_s=int(rng.integers(1, j.requested_s + 1))) for j in problem.jobs)
        problem = with_changes(problem, jobs=tuple(sorted(jobs, key=lambda each: each.submission_key)))
        real = executed(problem)
        plans = {name: (problem, rule_plan(problem, name).plan) for name in RULES}
        plans["easy"] = (real, easy_plan(problem, real))
        plans["hold"] = (problem, look_ahead(problem, NO_HOLDING).plan)
        plans["carried out"] = (real, carry_out(problem, NO_HOLDING).plan)
        for name, (of, plan) in plans.items():
            assert audit(of, plan, leaves_room=True) == [], f"seed {seed}, {name}"
