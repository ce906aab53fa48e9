"""MultiSearch and its orderings: contracts that every one of them keeps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from planner.accounting.audit import audit
from planner.accounting.settle import settle
from planner.domain.cluster import Cluster, NodeClass
from planner.domain.job import counting_key
from planner.domain.problem import Problem
from planner.domain.rates import Rates
from planner.domain.result import MaxRuntime, Trial
from planner.search.decode import decode
from planner.search.multisearch import multisearch
from planner.search.orderings import KEYS, ORDERINGS, describe, job_margin_per_s, job_order
from tests.factories import DAY, flat_table, random_problem, random_segments


def starts(problem: Problem, plan) -> dict[str, tuple[int, tuple[int, ...]]]:
    return {placed.job_id: (placed.start_s, placed.nodes) for placed in plan.placements(problem)}


def test_every_ordering_has_a_name_and_a_sentence() -> None:
    """Every key is there both ways."""
    assert len(set(ORDERINGS)) == 2 * len(KEYS)
    assert all(describe(name).startswith(("by increasing", "by decreasing")) for name in ORDERINGS)


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_an_ordering_does_not_depend_on_the_order_of_the_file(ordering: str) -> None:
    """Shuffling the jobs changes no start and no node."""
    problem = random_problem(np.random.default_rng(3), jobs=20)
    shuffled = dataclasses.replace(
        problem, jobs=tuple(problem.jobs[k] for k in np.random.default_rng(4).permutation(len(problem.jobs)))
    )
    one = decode(problem, job_order(problem, ordering))
    two = decode(shuffled, job_order(shuffled, ordering))
    assert starts(problem, one) == starts(shuffled, two)


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_an_ordering_sorts_by_what_it_says(ordering: str) -> None:
    """Increasing and decreasing run through the same values in opposite directions, apart from urgent jobs."""
    problem = random_problem(np.random.default_rng(5), jobs=30)
    opposite = ("-" if ordering[0] == "+" else "+") + ordering[1:]
    assert sorted(job_order(problem, ordering)) == list(range(30))
    distinct = {"power", "area", "duration", "latest-start"}
    if ordering[1:] in distinct:
        assert job_order(problem, ordering).tolist() == job_order(problem, opposite)[::-1].tolist()


@pytest.mark.parametrize("ordering", ORDERINGS)
def test_ties_go_to_the_older_job_and_then_by_id_as_people_count(ordering: str) -> None:
    """Equal jobs, all submitted before midnight: 10 is the oldest, 9 and 11 came in one second, 8 came last."""
    problem = random_problem(np.random.default_rng(6), jobs=1)
    submits = {"8": -10, "9": -20, "11": -20, "10": -30}
    jobs = tuple(
        dataclasses.replace(problem.jobs[0], id=name, submit_unix=DAY.start_unix + submit)
        for name, submit in submits.items()
    )
    problem = dataclasses.replace(problem, jobs=jobs)
    assert [jobs[k].id for k in job_order(problem, ordering)] == ["10", "9", "11", "8"]


def test_people_count_by_value() -> None:
    """Runs of digits compare by value, leading zeros and all, and digits come after nothing and before nothing else."""
    ids = ["a10", "a9", "a", "10b", "9", "010", "a9.2", "a9.10", "9" * 5000, "b"]
    assert sorted(ids, key=counting_key) == ["a", "a9", "a9.2", "a9.10", "a10", "b", "9", "010", "10b", "9" * 5000]


def test_jobs_due_today_go_first() -> None:
    """A job whose latest start falls on this day leads every ordering."""
    problem = random_problem(np.random.default_rng(6), jobs=12)
    due = dataclasses.replace(problem.jobs[7], submit_unix=DAY.start_unix, deadline_unix=DAY.start_unix + 80000)
    problem = dataclasses.replace(problem, jobs=(*problem.jobs[:7], due, *problem.jobs[8:]))
    assert all(job_order(problem, name)[0] == 7 for name in ORDERINGS)


def test_loss_making_jobs_sort_behind_profitable_ones() -> None:
    """Mean power over profit, increasing, ends with the jobs that lose money."""
    problem = random_problem(np.random.default_rng(8), jobs=20)
    problem = dataclasses.replace(problem, rates=Rates(0.003))
    margin = job_margin_per_s(problem)
    assert (margin < 0).any()
    assert (margin > 0).any()
    loses = margin[job_order(problem, "+power-over-profit")] < 0
    assert np.all(np.diff(loses.astype(int)) >= 0)


def test_the_best_plan_is_kept_and_settled() -> None:
    """The result's profit is the settled profit of its plan, and the largest of all trials."""
    for seed in range(10):
        problem = random_problem(np.random.default_rng(seed), jobs=15, extras=True)
        result = multisearch(problem)
        assert result.ledger.profit_eur == settle(problem, result.plan).profit_eur
        assert result.ledger.profit_eur == max(trial.profit_eur for trial in result.trials)
        assert [trial.name for trial in result.trials] == list(ORDERINGS)
        assert audit(problem, result.plan) == []


def test_the_number_of_workers_changes_nothing() -> None:
    """One, two or five threads give the same plan and the same trials."""
    problem = random_problem(np.random.default_rng(1), jobs=25)
    results = [multisearch(problem, workers=workers) for workers in (1, 2, 5)]
    assert len({result.best_trial for result in results}) == 1
    assert len({result.trials for result in results}) == 1
    assert all(np.array_equal(results[0].plan.node_of_unit, result.plan.node_of_unit) for result in results)


def test_a_day_without_jobs_and_a_day_with_one() -> None:
    """Nothing to do earns nothing; one job starts at its release."""
    empty = random_problem(np.random.default_rng(2), jobs=0)
    empty = dataclasses.replace(empty, running=())
    assert multisearch(empty).ledger.profit_eur == 0
    one = random_problem(np.random.default_rng(2), jobs=1)
    one = dataclasses.replace(one, running=())
    assert multisearch(one).plan.start_s.tolist() == one.columns.release_s.tolist()


def test_the_problem_is_left_as_it_was() -> None:
    """A search writes into nothing that it was given."""
    problem = random_problem(np.random.default_rng(9), jobs=12)
    before = [np.array(getattr(problem.columns, f.name)) for f in dataclasses.fields(problem.columns)]
    multisearch(problem)
    after = [getattr(problem.columns, f.name) for f in dataclasses.fields(problem.columns)]
    assert all(np.array_equal(one, two) for one, two in zip(before, after, strict=True))


def test_a_stop_ends_the_search_with_the_best_so_far() -> None:
    """After four orderings there are four trials; with no time at all there is one."""
    problem = random_problem(np.random.default_rng(10), jobs=12)
    answers = iter([False] * 3)
    assert len(multisearch(problem, stop=lambda best: next(answers, True)).trials) == 4
    assert len(multisearch(problem, stop=MaxRuntime(0)).trials) == 1


def test_an_interrupt_returns_the_best_so_far() -> None:
    """Ctrl-C after three orderings keeps their best plan."""
    problem = random_problem(np.random.default_rng(11), jobs=12)
    heard: list[Trial] = []

    def interrupt(trial: Trial) -> None:
        heard.append(trial)
        if len(heard) == 3:
            raise KeyboardInterrupt

    result = multisearch(problem, on_trial=interrupt)
    assert result.ledger.profit_eur == max(trial.profit_eur for trial in heard)


def test_shifting_all_times_changes_nothing() -> None:
    """The same jobs a day later give the same starts."""
    problem = random_problem(np.random.default_rng(12), jobs=12)
    later = dataclasses.replace(
        problem,
        horizon=DAY.next_day(),
        jobs=tuple(dataclasses.replace(job, submit_unix=job.submit_unix + 86400) for job in problem.jobs),
        running=tuple(
            dataclasses.replace(r, job=dataclasses.replace(r.job, submit_unix=r.job.submit_unix + 86400))
            for r in problem.running
        ),
    )
    assert np.array_equal(multisearch(problem).plan.start_s, multisearch(later).plan.start_s)


def test_a_large_machine_with_one_job_uses_the_lowest_nodes() -> None:
    """Nodes are taken in order of their number."""
    rng = np.random.default_rng(13)
    cluster = Cluster((NodeClass("n", 50, {"cores": 4, "memory_gb": 8}),))
    job = dataclasses.replace(random_problem(rng, jobs=1).jobs[0], submit_unix=DAY.start_unix)
    job = dataclasses.replace(job, units=(dataclasses.replace(job.units[0], count=6, amounts=(("cores", 2.0),)),))
    problem = Problem(DAY, cluster, (job,), random_segments(rng), flat_table(), Rates(0.02))
    assert multisearch(problem).plan.node_of_unit.tolist() == [0, 0, 1, 1, 2, 2]


def test_free_deferral_never_keeps_a_loss() -> None:
    """With electricity at 5 EUR/kWh every job loses money: under `defer: free` the day is left empty."""
    problem = random_problem(np.random.default_rng(14), jobs=12)
    dear = tuple(dataclasses.replace(s, price_eur_per_kwh=5.0) for s in problem.segments)
    problem = dataclasses.replace(problem, segments=dear, defer="free", running=())
    result = multisearch(problem)
    assert result.ledger.profit_eur == 0
    assert not result.plan.is_placed.any()
    assert multisearch(dataclasses.replace(problem, defer="full")).ledger.profit_eur < 0
