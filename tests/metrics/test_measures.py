"""The metrics on jobs whose numbers can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from planner.errors import InputError
from planner.metrics import METRICS, Outcome, measure, metric_named


def outcome(submit: list[int], start: list[int], runtime: list[int], width: list[int], **more: object) -> Outcome:
    """Jobs on four processors."""
    count = len(submit)
    none = np.full(count, -1)
    columns = {
        "promise_s": none,
        "held_until_s": none,
        "deadline_s": none,
        "estimate_s": np.array(runtime),
        "reference_s": none,
        **more,
    }
    return Outcome(
        np.array(submit, dtype=np.int64),
        np.array(start, dtype=np.int64),
        np.array(runtime, dtype=np.int64),
        np.array(width, dtype=np.float64),
        4.0,
        **columns,
    )


TWO = outcome([0, 0], [0, 20], [20, 5], [4, 2])
"""a: width 4, 0 to 20; b: width 2, waits 20 s and runs 5 s."""


def test_slowdown_flow_and_area() -> None:
    """F = 20 and 25; BSLD (1 + 2.5) / 2; AWF (80 * 20 + 10 * 25) / 90; stretch (1 + 5) / 2."""
    assert METRICS["bsld"].of(TWO) == pytest.approx(1.75)
    assert METRICS["af"].of(TWO) == 22.5
    assert METRICS["awf"].of(TWO) == pytest.approx(1850 / 90)
    assert METRICS["wait"].of(TWO) == 10
    assert METRICS["stretch"].of(TWO) == 3
    assert METRICS["max-stretch"].of(TWO) == 5


def test_powered_flow() -> None:
    """a = 2: 3/4 * (4 * 20^4 + 2 * (25^4 - 20^4)) / (4 * 20^3 + 2 * (25^3 - 20^3)); a = 0 is (F + Q) / 2 by area."""
    above = 4 * 20**4 + 2 * (25**4 - 20**4)
    below = 4 * 20**3 + 2 * (25**3 - 20**3)
    assert METRICS["p2sf"].of(TWO) == pytest.approx(0.75 * above / below)
    assert metric_named("p2sf").of(TWO) == metric_named("P2SF").of(TWO) == metric_named("p2.0sf").of(TWO)
    assert metric_named("p0sf").of(TWO) == pytest.approx((80 * 10 + 10 * 22.5) / 90)


def test_capacity() -> None:
    """25 s on 4 processors: 90 of 100 processor-seconds are used; nothing idles while b waits."""
    assert METRICS["makespan"].of(TWO) == 25
    assert METRICS["utilisation"].of(TWO) == pytest.approx(0.9)
    assert METRICS["loc"].of(TWO) == 0
    # b of width 2 waits 10 s beside a of width 3: one processor idles for 10 of 15 s
    held = outcome([0, 0], [0, 10], [10, 5], [3, 2])
    assert METRICS["loc"].of(held) == pytest.approx(10 / 60)


def test_deadlines() -> None:
    """b ends at 25: within 50 it used half; within 20 it is a miss."""
    late = outcome([0, 0], [0, 20], [20, 5], [4, 2], deadline_s=np.array([-1, 50]))
    assert (METRICS["deadlines"].of(late), METRICS["misses"].of(late), METRICS["usage"].of(late)) == (1, 0, 0.5)
    missed = outcome([0, 0], [0, 20], [20, 5], [4, 2], deadline_s=np.array([-1, 20]))
    assert METRICS["misses"].of(missed) == 1
    before = outcome([10, 10], [10, 20], [20, 5], [4, 2], deadline_s=np.array([10, 25]))
    assert METRICS["misses"].of(before) == 1
    assert METRICS["usage"].of(before) == 1, "of the one whose deadline is after its submission"
    assert math.isnan(METRICS["usage"].of(TWO))


def test_accuracy() -> None:
    """Runtimes 20 and 5, estimates 20 and 15: R2 = 1 - 100 / 112.5; estimates 10 and 5: one of two too short."""
    long = outcome([0, 0], [0, 20], [20, 5], [4, 2], estimate_s=np.array([20, 15]))
    assert METRICS["r2"].of(long) == pytest.approx(1 - 100 / 112.5)
    assert METRICS["under"].of(long) == 0
    assert METRICS["under"].of(outcome([0, 0], [0, 20], [20, 5], [4, 2], estimate_s=np.array([10, 5]))) == 0.5


def test_trimming_drops_warm_up_and_cool_down() -> None:
    """Of 200 jobs ending at 1, 2, ..., the first two (1 %) and those from 199 on are out; of 99 none is 1 %."""
    submit = list(range(200))
    jobs = outcome(submit, submit, [1] * 200, [1] * 200)
    steady = jobs.trimmed("steady")
    assert (int(steady.end_s.min()), int(steady.end_s.max())) == (3, 198)
    assert int(jobs.where(jobs.end_s < 100).trimmed("steady").end_s.min()) == 1
    assert len(jobs.trimmed("none")) == 200
    # the machine as a whole is measured over all jobs, whatever is trimmed
    values = measure(jobs, [metric_named("makespan"), metric_named("wait")], "steady")
    assert values == {"makespan": 200, "wait": 0}


def test_trimming_drops_the_job_that_ends_last() -> None:
    """Not the one that was submitted last; of several that end last, the first submitted."""
    jobs = outcome([0, 1, 2, 3], [0, 1, 2, 3], [5, 9, 1, 7], [1] * 4)  # ends 5, 10, 3, 10
    assert jobs.trimmed("last").submit_s.tolist() == [0, 2, 3]
    assert len(jobs.where(jobs.end_s < 0).trimmed("last")) == 0


def test_unknown_names_list_the_known_ones() -> None:
    """Metrics and trimming rules."""
    with pytest.raises(InputError, match="unknown metric 'speed'; known: bsld, af, awf, p2sf"):
        metric_named("speed")
    with pytest.raises(InputError, match="unknown trimming rule 'some'; known: none, steady"):
        TWO.trimmed("some")


@pytest.mark.parametrize("name", METRICS)
def test_no_jobs_have_no_metrics(name: str) -> None:
    """An empty outcome gives NaN, or zero where something is counted; never an error."""
    nobody = outcome([], [], [], [])
    value = metric_named(name).of(nobody)
    assert math.isnan(value) or value == 0


@pytest.mark.parametrize("name", METRICS)
def test_metrics_do_not_depend_on_the_order_of_jobs_or_on_when_time_begins(name: str) -> None:
    """The same jobs in another order and a million seconds later."""
    rng = np.random.default_rng(0)
    submit, wait = rng.integers(0, 100, 30), rng.integers(0, 50, 30)
    runtime, width = rng.integers(1, 60, 30), rng.integers(1, 4, 30)
    jobs = outcome(submit, submit + wait, runtime, width)  # type: ignore[arg-type]
    other = rng.permutation(30)
    later = submit + 10**6
    mixed = outcome(later[other], (later + wait)[other], runtime[other], width[other])  # type: ignore[arg-type]
    metric = metric_named(name)
    assert metric.of(jobs) == pytest.approx(metric.of(mixed), nan_ok=True)


def test_figures_of_holds() -> None:
    """Two jobs are held: one for 5 s, as long as promised, one for 20 s, 10 s too long, however late it starts."""
    jobs = outcome(
        [0, 0, 0],
        [10, 25, 90],
        [5, 5, 5],
        [1, 1, 1],
        reference_s=np.array([10, 20, 30]),
        promise_s=np.array([20, 25, 40]),
        held_until_s=np.array([-1, 25, 50]),
    )
    assert METRICS["held"].of(jobs) == 2
    assert METRICS["hold"].of(jobs) == 12.5
    assert METRICS["max-hold"].of(jobs) == 20
    assert METRICS["broken"].of(jobs) == 1
    assert METRICS["max-wait"].of(jobs) == 90
    assert METRICS["wait95"].of(jobs) == pytest.approx(83.5)


def test_a_hold_that_ends_with_the_first_second_counts() -> None:
    """A job that is held until second 0 of the trace was held."""
    held = {"reference_s": np.array([-20]), "promise_s": np.array([5]), "held_until_s": np.array([0])}
    assert METRICS["max-hold"].of(outcome([-20], [0], [5], [1], **held)) == 20


def test_figures_of_holds_are_nan_where_nothing_is_held() -> None:
    """EASY promises nothing: no figure pretends that it did."""
    assert all(math.isnan(METRICS[name].of(TWO)) for name in ("held", "hold", "max-hold", "broken"))
