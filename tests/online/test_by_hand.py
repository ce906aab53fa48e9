"""Traces of a few jobs whose starts can be worked out by hand, and the numbers of the learned predictor."""

from __future__ import annotations

from dataclasses import replace as with_changes

import numpy as np
import pytest

from planner.domain.trace import Machine, draw_deadlines, pool_trace
from planner.errors import InputError
from planner.online.audit_replay import violations
from planner.online.kernel.regression_step import FEATURES, learn, predicted, products
from planner.online.learned_regression import Learned
from planner.online.policies import ORDERS, POLICIES, policy_named
from planner.online.predictors import Survivors, predictor_named
from planner.online.replay import replay
from tests.online.traces import as_nodes, random_trace

HOUR = 3600


@pytest.mark.parametrize(
    ("arrives", "fits", "requested"),
    [(12, 58, 500), (71, 239, 500), (311, 189, 500), (360_011, 639_989, 10**6)],
    ids=["10 + 60 s", "10 + 300 s", "the request", "after all steps"],
)
def test_steps_of_correction(arrives: int, fits: int, requested: int) -> None:
    """Two of four processors run a job that was believed to take 10 s; then 70, 310, 910, ..., and never its request.

    All four are reserved for the next one where the first is believed to end. Another job on the two free ones starts
    as it comes if it ends by then, and a second more is too long.
    """
    for estimate in (fits, fits + 1):
        runtime = np.array([requested * 9 // 10, 5, estimate])
        trace = pool_trace(
            ("a", "b", "c"),
            np.array([0, 11, arrives]),
            runtime,
            np.array([requested, 5, estimate]),
            np.array([2, 4, 2]),
            4,
        )
        result = replay(trace, policy_named("easy"), np.array([10, 5, estimate]), correction="steps")
        assert (result.start_s[2] == arrives) == (estimate == fits)


@pytest.mark.parametrize("every_s", [0, 1])
def test_timelines_grow_with_what_runs(every_s: int) -> None:
    """150 jobs that come at once, or one each second, and end at 150 different moments fill the first of two nodes.

    A job as large as a node then starts at once on the second: nothing was written beyond the row of the first.
    """
    count = 150
    runtime = np.append(1000 + 3 * np.arange(count), 10)
    width = np.append(np.ones(count, dtype=np.int64), count)
    trace = pool_trace(
        tuple(map(str, range(count + 1))), every_s * np.arange(count + 1), runtime, runtime, width, count
    )
    trace = with_changes(trace, machine=Machine(np.full((2, 1), count)), group_amount=width[:, None])
    for policy in ("strict", "greedy", "list", "easy", "conservative", "deadline"):
        result = replay(trace, policy_named(policy), runtime)
        assert result.start_s.tolist() == trace.submit_s.tolist()
        assert result.node_of_unit.tolist() == [0] * count + [1]
        assert violations(result) == []


def test_deadlines_of_studies() -> None:
    """A day after submission, or ten times the request where that is longer; for as many jobs as are asked for."""
    requested = np.array([HOUR, 3 * HOUR])
    trace = pool_trace(("a", "b"), np.array([5, 7]), np.array([60, 60]), requested, np.array([1, 1]), 4)
    assert draw_deadlines(trace, 100, 0).tolist() == [24 * HOUR + 5, 30 * HOUR + 7]
    assert draw_deadlines(trace, 0, 0).tolist() == [-1, -1]
    many = random_trace(0, jobs=1000)
    half, most, other = (draw_deadlines(many, *draw) >= 0 for draw in ((50, 3), (80, 3), (50, 4)))
    assert [half.sum(), most.sum(), other.sum()] == [500, 800, 500]
    assert 350 < (half & most).sum() < 450  # independent draws share 400 of 1000, one within the other 500
    assert (half != other).any()
    assert (half == (draw_deadlines(many, 50, 3) >= 0)).all()
    for percent in (-0.1, 100.1):
        with pytest.raises(InputError, match="from 0 to 100"):
            draw_deadlines(trace, percent, 0)


def test_policies_that_are_listed() -> None:
    """Kinds; list, greedy, strict, easy with each of eight orders, easy with that order beside it; and objectives."""
    orders = [order for order in ORDERS if order != "fcfs"]
    named = [f"{order}-{kind}" for order in orders for kind in ("list", "greedy", "strict", "easy")]
    named += [f"easy-{order[:-1]}bf" for order in orders] + ["saf-easy-sjbf"]
    sums = ("af", "awf", "bsld", "p2sf", "bsld-ahead", "af-ahead", "stretch", "bsld+", "p2sf+")
    named += [f"{kind}-{each}" for kind in ("order", "cp") for each in sums] + ["order-p2sf-ratio", "order-profit"]
    named += ["hcp19", "pcp19", "pcp21", "pcp21s"]
    kinds = {"strict", "greedy", "list", "easy", "conservative", "deadline", "deadline-early", "hold"}
    assert set(POLICIES) == {*kinds, *named}
    assert all(policy_named(name).name == name for name in POLICIES)


def test_who_must_be_sure_of_all_is_told_the_longest_runtime() -> None:
    """No share is beyond it, so the time goes up to the last runtime and no further."""
    group = Survivors(600, 1.0)
    for runtime, longest in ((20, 600), (700, 700), (650, 700)):
        group.add(runtime)
        assert group.time_s == longest


def test_features_of_the_learned_predictor() -> None:
    """What is known of the fourth job of a user at 1000 s, of a day and of a week.

    The first job (submitted at 0, 100 s on 2) ended at 100 and the second (at 10, 300 s on 4) at 310; the third (at
    20, on 3) has run since 400. Ages of the completed ones are capped by the request of 995 s: the last was submitted
    990 s ago, the one before 1000 s.
    """
    trace = pool_trace(
        tuple("abcd"),
        np.array([0, 10, 20, 21600]),
        np.array([100, 300, 700, 5]),
        np.array([200, 400, 800, 995]),
        np.array([2, 4, 3, 6]),
        8,
        user=np.zeros(4, dtype=np.int64),
    )
    predictor = Learned(trace)
    nobody = predictor._describe(3, 1000)
    assert nobody[:9].tolist() == [995, 995, 995, 995, 995, 995, 0, 0, 0]
    for job, start in ((0, 0), (1, 10), (2, 400)):
        predictor.predict(job, start)
        predictor.begin(job, start)
    predictor.complete(0, 100)
    one = predictor._describe(3, 1000)
    assert one[:9].tolist() == [995, 995, 995, 995, 995, 995, 100, 900, 3]
    predictor.complete(1, 310)
    two = predictor._describe(3, 1000)
    # last three, request, means of two and three (of two, as there are but two), mean runtime, since the last end,
    # width over the mean width of 3
    assert two[:9].tolist() == [990, 995, 995, 995, 992.5, 992.5, 200, 690, 2]
    # running: processors, seconds of all, jobs, seconds of the longest; then 6:00 as an angle, and the width
    assert two[9:13].tolist() == [3, 600, 1, 600]
    assert two[13:].tolist() == pytest.approx([0, 1, np.cos(np.pi / 14), np.sin(np.pi / 14), 6])
    predictor.complete(2, 1100)
    three = predictor._describe(3, 1100)
    assert three[:3].tolist() == [995, 995, 995]
    assert three[5] == pytest.approx(0.33 * 3 * 995)


def test_a_step_of_learning() -> None:
    """Against the same step on whole arrays, by the formula of normalised adaptive gradients."""
    rng = np.random.default_rng(2)
    model, progress = np.zeros((3, FEATURES)), np.array([1.0, 1e-9])
    model[1:] = 1e-9
    weight, largest, steep = model.copy()
    count, norm = progress
    features = np.ones(FEATURES)
    for runtime in (50.0, 400.0, 3.0, 90.0):
        base = rng.normal(size=18) * 10
        products(base, features)
        pairs = [base[i] * base[j] for i in range(16) for j in range(i + 1, 16)]
        assert features.tolist() == pytest.approx([1, *base, *pairs, *(base * base)])
        size = np.maximum(largest, abs(features))
        weight, largest = weight * largest / size, size
        norm += ((features / largest) ** 2).sum()
        error = weight @ features - runtime
        assert error != 0
        slope = 1.5 * features * (2 * error if error > 0 else -1) + 4e9 * weight
        steep = steep + slope**2
        weight = weight - 5000 * slope / (np.sqrt(norm * steep / count) * largest)
        count += 2
        learn(model, progress, features, runtime, 1.5)
        assert model[0] == pytest.approx(weight, rel=1e-9)
        assert predicted(model, features) == pytest.approx(weight @ features, rel=1e-6)
    assert progress.tolist() == pytest.approx([9, norm])


def test_a_replay_on_nodes_names_the_nodes_that_were_free() -> None:
    """One of three nodes is taken until 10: the next job has the second and third, and the last one waits for two."""
    seconds = np.array([10, 20, 5])
    trace = pool_trace(("a", "b", "c"), np.array([0, 1, 2]), seconds, seconds, np.array([1, 2, 2]), 3)
    result = replay(as_nodes(trace), policy_named("conservative"), seconds)
    assert result.start_s.tolist() == [0, 1, 21]
    assert result.node_of_unit.tolist() == [0, 1, 2, 0, 1]
    assert result.end_s.tolist() == [10, 21, 26]


def test_the_first_job_that_ends_is_learned_from() -> None:
    """It asked for 100 s and ran for 10: the next one like it, which comes later, is believed to do the same."""
    ones = np.array([1, 1])
    trace = pool_trace(("a", "b"), np.array([0, 20]), 10 * ones, 100 * ones, ones, 4, user=0 * ones)
    result = replay(trace, policy_named("easy"), predictor_named("data")(trace))
    assert result.estimate_s.tolist() == [100, 10]


def test_a_job_that_started_in_second_zero_is_not_started_again() -> None:
    """Two nodes of one processor, three jobs in second 0: a starts, b needs both nodes and is reserved at 10 s.

    c ends by then, so it starts beside that reservation on the second node.
    """
    trace = as_nodes(
        pool_trace(
            ("a", "b", "c"),
            np.array([0, 0, 0]),
            np.array([10, 10, 5]),
            np.array([10, 10, 5]),
            np.array([1, 2, 1]),
            2,
        )
    )
    assert replay(trace, policy_named("easy"), trace.requested_s).start_s.tolist() == [0, 10, 0]


def test_many_units_on_one_node_with_a_power_limit() -> None:
    """One node of 64 processors, a limit of 100 mW: a has 40 units and draws 60 mW, b has 20 and draws 50 mW.

    There is room for both, but not power: b starts when a has ended.
    """
    seconds = np.array([10, 10])
    pool = pool_trace(("a", "b"), np.array([0, 0]), seconds, seconds, np.array([40, 20]), 64)
    trace = with_changes(
        pool,
        machine=Machine(np.array([[64]]), power_limit=100),
        group_count=np.array([40, 20]),
        group_amount=np.ones((2, 1), dtype=np.int64),
        unit_ptr=np.array([0, 40, 60]),
        power_mw=np.array([60, 50]),
    )
    result = replay(trace, policy_named("easy"), seconds)
    assert result.start_s.tolist() == [0, 10]
    assert violations(result) == []


@pytest.mark.parametrize("column", range(3))
def test_a_trace_has_no_job_without_runtime_requested_time_or_width(column: int) -> None:
    """One such job among others is refused."""
    columns = [np.array([60, 60]), np.array([60, 60]), np.array([1, 1])]
    columns[column] = np.array([0, 60])
    with pytest.raises(InputError, match="a job without runtime, requested time or width; clean the trace first"):
        pool_trace(("a", "b"), np.array([5, 7]), *columns, 4)
